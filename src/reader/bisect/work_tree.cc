// SPDX-License-Identifier: Apache-2.0
#include "reader/bisect/work_tree.h"

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

namespace cairn {
namespace {

using Kind = Suspect::Kind;
// The time when the last work of a scope or a group went to the GPU.
using Moment = std::pair<uint64_t, uint32_t>;

Moment MomentOf(const WorkNote& note) {
  return {note.last_submission, note.last_position};
}

bool LeavesOut(const BisectQuestion& question, const Suspect& suspect) {
  return std::binary_search(question.left_out.begin(), question.left_out.end(), suspect);
}

}  // namespace

WorkTree::WorkTree(const WorkCatalogue& catalogue, LeaveOutClass work_class,
                   std::vector<uint64_t> gone)
    : class_(work_class), gone_(std::move(gone)) {
  const auto is_gone = [this](uint64_t hash) {
    return std::find(gone_.begin(), gone_.end(), hash) != gone_.end();
  };
  std::map<uint64_t, Moment> scopes;
  std::map<uint64_t, Moment> groups;
  for (const WorkNote& note : catalogue.work) {
    if (LeaveOutClassOf(note.type) != work_class) continue;
    if (is_gone(note.key) || is_gone(note.group) || is_gone(note.scope)) continue;
    notes_.push_back(note);
    scopes[note.scope] = std::max(scopes[note.scope], MomentOf(note));
    groups[note.group] = std::max(groups[note.group], MomentOf(note));
  }
  const auto order = [&](const WorkNote& note) {
    return std::tuple(scopes[note.scope], note.scope, groups[note.group], note.group,
                      MomentOf(note), note.key);
  };
  std::sort(notes_.begin(), notes_.end(),
            [&](const WorkNote& one, const WorkNote& other) { return order(one) < order(other); });
  for (size_t i = 0; i < notes_.size(); ++i) {
    const bool new_scope = i == 0 || notes_[i].scope != notes_[i - 1].scope;
    if (new_scope) groups_.emplace_back();
    if (new_scope || notes_[i].group != notes_[i - 1].group) groups_.back().push_back({i, 0});
    ++groups_.back().back().count;
  }
  for (size_t i = 0; i < groups_.size(); ++i) {
    BisectTree::Submission submission = {i + 1, {}};
    for (const Group& group : groups_[i]) {
      std::vector<uint64_t> calls(group.count);
      for (size_t j = 0; j < group.count; ++j) calls[j] = group.first + j + 1;
      submission.lists.push_back(
          {0, std::make_shared<const std::vector<uint64_t>>(std::move(calls)), 0});
    }
    tree_.submissions.push_back(std::move(submission));
  }
}

// The largest parts of which nothing is left out; where something is gone, single work: it may be gone from any part.
std::vector<uint64_t> WorkTree::KeptHashes(const BisectQuestion& question) const {
  std::vector<uint64_t> hashes;
  for (const BisectTree::Submission& submission : tree_.submissions) {
    if (LeavesOut(question, {Kind::kSubmission, submission.call, 0})) continue;
    std::vector<uint64_t> parts;
    bool whole_scope = true;
    for (uint32_t i = 0; i < submission.lists.size(); ++i) {
      const Suspect list{Kind::kList, submission.call, i};
      if (LeavesOut(question, list)) {
        whole_scope = false;
        continue;
      }
      std::vector<uint64_t> keys;
      for (const uint64_t call : *submission.lists[i].calls) {
        const Suspect work{Kind::kCall, call, 0};
        if (!LeavesOut(question, work)) keys.push_back(HashOf(work));
      }
      if (gone_.empty() && keys.size() == submission.lists[i].calls->size()) {
        parts.push_back(HashOf(list));
      } else {
        whole_scope = false;
        parts.insert(parts.end(), keys.begin(), keys.end());
      }
    }
    if (whole_scope) parts = {HashOf({Kind::kSubmission, submission.call, 0})};
    hashes.insert(hashes.end(), parts.begin(), parts.end());
  }
  return hashes;
}

BoardQuestion WorkTree::QuestionFor(const BisectQuestion& question) const {
  if (!question.left_out.empty() && !question.rest_stays) return Keeping(KeptHashes(question));
  BoardQuestion asked;
  asked.listed = gone_;
  for (const Suspect& suspect : question.left_out) asked.listed.push_back(HashOf(suspect));
  if (asked.listed.empty()) return asked;
  asked.rules[static_cast<size_t>(class_)] = LeaveOut::kListed;
  std::sort(asked.listed.begin(), asked.listed.end());
  return asked;
}

BoardQuestion WorkTree::AloneQuestion(const std::vector<Suspect>& kept) const {
  std::vector<uint64_t> hashes;
  for (const Suspect& suspect : kept) hashes.push_back(HashOf(suspect));
  return Keeping(std::move(hashes));
}

BoardQuestion WorkTree::Keeping(std::vector<uint64_t> hashes) const {
  BoardQuestion asked;
  asked.rules[static_cast<size_t>(class_)] = LeaveOut::kUnlisted;
  if (class_ == LeaveOutClass::kCopy) {
    asked.rules[static_cast<size_t>(LeaveOutClass::kShader)] = LeaveOut::kAll;
  }
  std::sort(hashes.begin(), hashes.end());
  asked.listed = std::move(hashes);
  return asked;
}

const WorkTree::Group& WorkTree::GroupOf(const Suspect& suspect) const {
  return groups_[suspect.call - 1][suspect.list];
}

const WorkNote& WorkTree::NoteOf(const Suspect& suspect) const {
  switch (suspect.kind) {
    case Kind::kCall: return notes_[suspect.call - 1];
    case Kind::kList: return notes_[GroupOf(suspect).first];
    case Kind::kSubmission: break;
  }
  return notes_[groups_[suspect.call - 1].front().first];
}

size_t WorkTree::CountOf(const Suspect& suspect) const {
  switch (suspect.kind) {
    case Kind::kCall: return 1;
    case Kind::kList: return GroupOf(suspect).count;
    case Kind::kSubmission: break;
  }
  size_t count = 0;
  for (const Group& group : groups_[suspect.call - 1]) count += group.count;
  return count;
}

uint64_t WorkTree::HashOf(const Suspect& suspect) const {
  const WorkNote& note = NoteOf(suspect);
  switch (suspect.kind) {
    case Kind::kCall: return note.key;
    case Kind::kList: return note.group;
    case Kind::kSubmission: break;
  }
  return note.scope;
}

bool WorkTree::Keeps(const BisectQuestion& question, Kind kind, const WorkNote& note) const {
  const bool everything_goes = !question.left_out.empty() && !question.rest_stays;
  if (LeaveOutClassOf(note.type) != class_) {
    // Copies stay while the others are searched, and not the other way round.
    return class_ == LeaveOutClass::kShader || !everything_goes;
  }
  const auto meets = [&](uint64_t hash) {
    return hash == note.scope || (kind >= Kind::kList && hash == note.group) ||
           (kind == Kind::kCall && hash == note.key);
  };
  if (std::any_of(gone_.begin(), gone_.end(), meets)) return false;
  return std::none_of(question.left_out.begin(), question.left_out.end(), [&](const Suspect& out) {
    const WorkNote& other = NoteOf(out);
    // A part may hold the other.
    switch (std::min(out.kind, kind)) {
      case Kind::kSubmission: return other.scope == note.scope;
      case Kind::kList: return other.group == note.group;
      case Kind::kCall: break;
    }
    return other.key == note.key;
  });
}

}  // namespace cairn
