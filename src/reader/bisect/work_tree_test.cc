// SPDX-License-Identifier: Apache-2.0
#include "reader/bisect/work_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cairn/marker_types.h"

#include "format/elimination/work_key.h"

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr uint64_t kFrame = ScopeIn(kRootScope, "Frame");
constexpr uint64_t kShadow = ScopeIn(kFrame, "Shadow");

WorkNote Note(uint64_t scope, uint32_t type, uint64_t pipeline, uint32_t ordinal,
              uint64_t submission, uint32_t position) {
  WorkNote note;
  note.scope = scope;
  note.group = GroupIn(scope, type, pipeline);
  note.key = KeyIn(note.group, ordinal);
  note.type = type;
  note.ordinal = ordinal;
  note.last_submission = submission;
  note.last_position = position;
  return note;
}

// Shadow: two draws of one pipeline, one of another, before a dispatch of Frame; and two copies.
WorkCatalogue Catalogue() {
  WorkCatalogue catalogue;
  catalogue.work = {Note(kFrame, CAIRN_MARKER_DISPATCH, 9, 1, 2, 6),
                    Note(kShadow, CAIRN_MARKER_DRAW, 8, 1, 2, 5),
                    Note(kShadow, CAIRN_MARKER_DRAW, 7, 2, 2, 4),
                    Note(kShadow, CAIRN_MARKER_DRAW, 7, 1, 2, 3),
                    Note(kFrame, CAIRN_MARKER_COPY_BUFFER, 0, 1, 1, 1),
                    Note(kFrame, CAIRN_MARKER_COPY_BUFFER, 0, 2, 1, 2)};
  return catalogue;
}

Suspect Scope(uint64_t number) {
  return {Suspect::Kind::kSubmission, number, 0};
}
Suspect Group(uint64_t scope, uint32_t index) {
  return {Suspect::Kind::kList, scope, index};
}
Suspect Work(uint64_t number) {
  return {Suspect::Kind::kCall, number, 0};
}

TEST(WorkTree, WhatRanLastStandsLast) {
  const WorkTree tree(Catalogue(), LeaveOutClass::kShader);
  ASSERT_EQ(2u, tree.tree().submissions.size());
  EXPECT_EQ(kShadow, tree.NoteOf(Scope(1)).scope);
  EXPECT_EQ(kFrame, tree.NoteOf(Scope(2)).scope);
  ASSERT_EQ(2u, tree.tree().submissions[0].lists.size());
  EXPECT_THAT(*tree.tree().submissions[0].lists[0].calls, ElementsAre(1, 2));
  EXPECT_THAT(*tree.tree().submissions[0].lists[1].calls, ElementsAre(3));
  EXPECT_EQ(1u, tree.NoteOf(Work(1)).ordinal);
  EXPECT_EQ(2u, tree.NoteOf(Work(2)).ordinal);
  EXPECT_EQ(GroupIn(kShadow, CAIRN_MARKER_DRAW, 8), tree.NoteOf(Work(3)).group);
  EXPECT_EQ(static_cast<uint32_t>(CAIRN_MARKER_DISPATCH), tree.NoteOf(Work(4)).type);
  EXPECT_EQ(3u, tree.CountOf(Scope(1)));
  EXPECT_EQ(2u, tree.CountOf(Group(1, 0)));
  EXPECT_EQ(1u, tree.CountOf(Work(1)));
}

TEST(WorkTree, QuestionsNameTheLargestPartsThatStay) {
  const WorkTree tree(Catalogue(), LeaveOutClass::kShader);
  const auto kept = [&](std::vector<Suspect> left_out) {
    BisectQuestion question;
    question.left_out = std::move(left_out);
    const BoardQuestion asked = tree.QuestionFor(question);
    EXPECT_EQ(LeaveOut::kUnlisted, asked.rules[static_cast<size_t>(LeaveOutClass::kShader)]);
    EXPECT_EQ(LeaveOut::kNothing, asked.rules[static_cast<size_t>(LeaveOutClass::kCopy)]);
    EXPECT_TRUE(std::is_sorted(asked.listed.begin(), asked.listed.end()));
    return asked.listed;
  };
  EXPECT_THAT(kept({Scope(2)}), ElementsAre(kShadow));
  EXPECT_THAT(kept({Scope(1), Scope(2)}), IsEmpty());
  EXPECT_THAT(kept({Group(1, 0)}),
              UnorderedElementsAre(GroupIn(kShadow, CAIRN_MARKER_DRAW, 8), kFrame));
  EXPECT_THAT(kept({Scope(2), Group(1, 1), Work(1)}),
              ElementsAre(KeyIn(GroupIn(kShadow, CAIRN_MARKER_DRAW, 7), 2)));
}

TEST(WorkTree, TheWholeAndTheRestAreAskedByWhatGoes) {
  const WorkTree tree(Catalogue(), LeaveOutClass::kShader);
  EXPECT_EQ(BoardQuestion(), tree.QuestionFor({}));
  BisectQuestion rest;
  rest.left_out = {Work(2)};
  rest.rest_stays = true;
  const BoardQuestion asked = tree.QuestionFor(rest);
  EXPECT_EQ(LeaveOut::kListed, asked.rules[static_cast<size_t>(LeaveOutClass::kShader)]);
  EXPECT_THAT(asked.listed, ElementsAre(KeyIn(GroupIn(kShadow, CAIRN_MARKER_DRAW, 7), 2)));
}

TEST(WorkTree, CopiesAreSearchedWithoutTheRest) {
  const WorkTree tree(Catalogue(), LeaveOutClass::kCopy);
  ASSERT_EQ(1u, tree.tree().submissions.size());
  BisectQuestion question;
  question.left_out = {Work(1)};
  const BoardQuestion asked = tree.QuestionFor(question);
  EXPECT_EQ(LeaveOut::kAll, asked.rules[static_cast<size_t>(LeaveOutClass::kShader)]);
  EXPECT_EQ(LeaveOut::kUnlisted, asked.rules[static_cast<size_t>(LeaveOutClass::kCopy)]);
  EXPECT_THAT(asked.listed, ElementsAre(KeyIn(GroupIn(kFrame, CAIRN_MARKER_COPY_BUFFER, 0), 2)));
  EXPECT_EQ(asked, tree.AloneQuestion({Work(2)}));
  question.rest_stays = true;
  EXPECT_EQ(LeaveOut::kNothing,
            tree.QuestionFor(question).rules[static_cast<size_t>(LeaveOutClass::kShader)]);
}

TEST(WorkTree, KnowsWhatStays) {
  const WorkTree tree(Catalogue(), LeaveOutClass::kShader);
  const auto keeps = [&](const Suspect& left_out, const Suspect& suspect) {
    BisectQuestion question;
    question.left_out = {left_out};
    return tree.Keeps(question, suspect.kind, tree.NoteOf(suspect));
  };
  EXPECT_FALSE(keeps(Scope(1), Work(2)));
  EXPECT_FALSE(keeps(Group(1, 0), Work(2)));
  EXPECT_FALSE(keeps(Work(2), Work(2)));
  EXPECT_FALSE(keeps(Work(2), Group(1, 0)));
  EXPECT_FALSE(keeps(Work(2), Scope(1)));
  EXPECT_TRUE(keeps(Work(1), Work(2)));
  EXPECT_TRUE(keeps(Group(1, 1), Work(2)));
  EXPECT_TRUE(keeps(Scope(2), Work(2)));
  EXPECT_TRUE(keeps(Work(4), Group(1, 0)));
}

// A culprit that was found is in no later run, whatever scope holds it.
TEST(WorkTree, WhatIsGoneStaysGone) {
  const uint64_t gone = KeyIn(GroupIn(kShadow, CAIRN_MARKER_DRAW, 7), 1);
  const WorkTree tree(Catalogue(), LeaveOutClass::kShader, {gone});
  EXPECT_EQ(2u, tree.CountOf(Scope(1)));
  const BoardQuestion whole = tree.QuestionFor({});
  EXPECT_EQ(LeaveOut::kListed, whole.rules[static_cast<size_t>(LeaveOutClass::kShader)]);
  EXPECT_THAT(whole.listed, ElementsAre(gone));
  BisectQuestion question;
  question.left_out = {Scope(2)};
  EXPECT_THAT(tree.QuestionFor(question).listed,
              UnorderedElementsAre(KeyIn(GroupIn(kShadow, CAIRN_MARKER_DRAW, 7), 2),
                                   KeyIn(GroupIn(kShadow, CAIRN_MARKER_DRAW, 8), 1)));
  question.rest_stays = true;
  EXPECT_THAT(tree.QuestionFor(question).listed, UnorderedElementsAre(gone, kFrame));
  const WorkTree all(Catalogue(), LeaveOutClass::kShader);
  EXPECT_FALSE(tree.Keeps({}, Suspect::Kind::kCall, all.NoteOf(Work(1))));
  EXPECT_TRUE(tree.Keeps({}, Suspect::Kind::kCall, all.NoteOf(Work(2))));
}

TEST(WorkTree, CopiesStayWhileOthersAreSearchedAndNotTheOtherWayRound) {
  const WorkTree shaders(Catalogue(), LeaveOutClass::kShader);
  const WorkTree copies(Catalogue(), LeaveOutClass::kCopy);
  BisectQuestion question;
  question.left_out = {Scope(1)};
  EXPECT_TRUE(shaders.Keeps(question, Suspect::Kind::kCall, copies.NoteOf(Work(1))));
  EXPECT_FALSE(copies.Keeps(question, Suspect::Kind::kCall, shaders.NoteOf(Work(1))));
  EXPECT_TRUE(copies.Keeps({}, Suspect::Kind::kCall, shaders.NoteOf(Work(1))));
}

}  // namespace
}  // namespace cairn
