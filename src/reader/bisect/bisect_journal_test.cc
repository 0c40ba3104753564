// SPDX-License-Identifier: Apache-2.0
#include "reader/bisect/bisect_journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "os/this_process.h"

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

const JournalIdentity kTrace1 = {
    {"trace", "1"}, {"device", "llvmpipe, 10005:0000"}, {"driver", "Mesa 22.3.6"}};
const JournalIdentity kTrace2 = {
    {"trace", "2"}, {"device", "llvmpipe, 10005:0000"}, {"driver", "Mesa 22.3.6"}};

class BisectJournalTest : public ::testing::Test {
 protected:
  BisectJournalTest() { RemoveFiles(); }
  ~BisectJournalTest() override { RemoveFiles(); }
  void RemoveFiles() const {
    std::filesystem::remove(path_);
    for (const char* ending : {".old", ".old.1", ".old.2"}) {
      std::filesystem::remove(path_ + ending);
    }
  }

  std::string Text(const std::string& ending = "") const {
    std::ostringstream text;
    text << std::ifstream(path_ + ending, std::ios::binary).rdbuf();
    return text.str();
  }
  void Write(const std::string& text) const {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << text;
  }
  std::unique_ptr<BisectJournal> Open(const JournalIdentity& identity = kTrace1) const {
    Result<std::unique_ptr<BisectJournal>> journal = BisectJournal::Open(path_, identity);
    EXPECT_TRUE(journal.ok()) << journal.status().message();
    return journal.ok() ? std::move(*journal) : nullptr;
  }

  const std::string path_ = (std::filesystem::temp_directory_path() /
                             ("bisect_journal_test." + std::to_string(OwnProcessId()) + ".journal"))
                                .string();
};

BisectQuestion Question(uint64_t call) {
  return {{{Suspect::Kind::kCall, call, 0}}, ~uint64_t{0}};
}

// Counts what is really asked.
struct CountingProbe {
  std::vector<uint64_t> asked;
  Probe probe() {
    return [this](const BisectQuestion& question) -> Result<ProbeAnswer> {
      asked.push_back(question.left_out[0].call);
      return ProbeAnswer{static_cast<ProbeOutcome>(1 + asked.back() % 3), asked.back() * 10};
    };
  }
};

#if !defined(_WIN32)  // where a file has the rights that its folder gives
// The journal describes a program, as reports do.
TEST_F(BisectJournalTest, NobodyElseMayReadIt) {
  const auto journal = Open();
  EXPECT_EQ(std::filesystem::status(path_).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}
#endif

TEST_F(BisectJournalTest, WhatWasAnsweredIsNotAskedAgain) {
  CountingProbe first;
  {
    const auto journal = Open();
    EXPECT_EQ(0u, journal->remembered());
    for (uint64_t call = 1; call <= 3; ++call) {
      ASSERT_TRUE(journal->Ask(Question(call), first.probe()).ok());
    }
  }
  EXPECT_THAT(first.asked, ElementsAre(1, 2, 3));

  CountingProbe second;
  const auto journal = Open();
  EXPECT_EQ(3u, journal->remembered());
  for (uint64_t call = 1; call <= 4; ++call) {
    EXPECT_EQ(call <= 3, journal->HasNext());
    const Result<ProbeAnswer> answer = journal->Ask(Question(call), second.probe());
    ASSERT_TRUE(answer.ok());
    EXPECT_EQ(static_cast<ProbeOutcome>(1 + call % 3), answer->outcome);
    EXPECT_EQ(call * 10, answer->place);
  }
  EXPECT_THAT(second.asked, ElementsAre(4));
  EXPECT_FALSE(journal->empty());
  EXPECT_TRUE(journal->Remove().ok());
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(BisectJournalTest, ACutFileCountsAsFarAsItsLinesAreComplete) {
  CountingProbe probe;
  for (uint64_t call = 1; call <= 3; ++call) {
    // A journal a call, so that each is flushed by more than its end.
    const auto journal = Open();
    for (uint64_t i = 1; i <= call; ++i) {
      ASSERT_TRUE(journal->Ask(Question(i), probe.probe()).ok());
    }
  }
  const std::string whole = Text();
  size_t header_bytes = 0;
  for (size_t cut = 0; cut <= whole.size(); ++cut) {
    const std::string part = whole.substr(0, cut);
    Write(part);
    const auto lines = static_cast<size_t>(std::count(part.begin(), part.end(), '\n'));
    const auto journal = Open();
    ASSERT_NE(nullptr, journal);
    const size_t head_lines = 2 + kTrace1.size();
    EXPECT_EQ(lines < head_lines ? 0 : lines - head_lines, journal->remembered()) << cut;
    EXPECT_EQ("", journal->put_aside()) << cut;
    CountingProbe rest;
    for (uint64_t i = 1; i <= 3; ++i) {
      ASSERT_TRUE(journal->Ask(Question(i), rest.probe()).ok());
    }
    EXPECT_THAT(ParseJournal(Text(), kTrace1, &header_bytes), SizeIs(3)) << cut;
  }
}

TEST_F(BisectJournalTest, AnotherTraceOrAnotherQuestionBeginsAnew) {
  CountingProbe probe;
  ASSERT_TRUE(Open()->Ask(Question(1), probe.probe()).ok());
  EXPECT_EQ(0u, Open(kTrace2)->remembered());

  {
    const auto journal = Open(kTrace2);
    for (uint64_t i = 1; i <= 3; ++i) ASSERT_TRUE(journal->Ask(Question(i), probe.probe()).ok());
  }
  CountingProbe other;
  const auto journal = Open(kTrace2);
  for (const uint64_t i : {1, 7, 3}) ASSERT_TRUE(journal->Ask(Question(i), other.probe()).ok());
  EXPECT_THAT(other.asked, ElementsAre(7, 3));
  size_t header_bytes = 0;
  const auto entries = ParseJournal(Text(), kTrace2, &header_bytes);
  ASSERT_THAT(entries, SizeIs(3));
  EXPECT_EQ(QuestionKey(Question(7)), entries[1].question);
}

// An answer of another device, driver, or time-out is none.
TEST_F(BisectJournalTest, WhatIsAboutSomethingElseIsPutAsideAndSaysWhatDiffers) {
  const std::pair<JournalIdentity, std::string> others[] = {
      {{{"trace", "1"}, {"device", "NVIDIA H200"}, {"driver", "Mesa 22.3.6"}},
       "device: there llvmpipe, 10005:0000, here NVIDIA H200"},
      {{{"trace", "1"}, {"device", "llvmpipe, 10005:0000"}, {"driver", "Mesa 25.0.7"}},
       "driver: there Mesa 22.3.6, here Mesa 25.0.7"},
      {{{"trace", "1"}, {"device", "x"}, {"driver", "y"}},
       "device: there llvmpipe, 10005:0000, here x; driver: there Mesa 22.3.6, here y"},
      {{{"trace", "1"}, {"device", "llvmpipe, 10005:0000"}},
       "driver: there Mesa 22.3.6, here not said"},
      {{{"trace", "1"},
        {"device", "llvmpipe, 10005:0000"},
        {"driver", "Mesa 22.3.6"},
        {"options", "hang-timeout 3 s"}},
       "options: there not said, here hang-timeout 3 s"},
      {{{"device", "llvmpipe, 10005:0000"}, {"trace", "1"}, {"driver", "Mesa 22.3.6"}},
       "it says the same in another order"},
  };
  for (const auto& [identity, difference] : others) {
    RemoveFiles();
    CountingProbe probe;
    ASSERT_TRUE(Open()->Ask(Question(1), probe.probe()).ok());
    const std::string before = Text();
    {
      const auto journal = Open(identity);
      ASSERT_NE(nullptr, journal);
      EXPECT_EQ(difference, journal->put_aside());
      EXPECT_EQ(0u, journal->remembered());
      // The journal belongs to this search from the beginning.
      EXPECT_FALSE(BisectJournal::Open(path_, identity).ok());
      ASSERT_TRUE(journal->Ask(Question(1), probe.probe()).ok());
    }
    EXPECT_EQ(before, Text(".old"));
    const auto again = Open(identity);
    EXPECT_EQ("", again->put_aside());
    EXPECT_EQ(1u, again->remembered());
    EXPECT_THAT(probe.asked, ElementsAre(1, 1));
  }
}

std::string FileWith(const std::string& identity, const std::string& entries) {
  return "cairn bisect journal 3\n" + identity + "answers\n" + entries;
}
constexpr char kAnEntry[] = "00000000000000ff clean 1 0 1\n";

// The GPU's answers are worth more than those that the CPU gives while it is away.
TEST_F(BisectJournalTest, WhatWasPutAsideBeforeStays) {
  const std::string gpu = FileWith("for device: NVIDIA H200\n", kAnEntry);
  const std::string cpu = FileWith("for device: llvmpipe\n", kAnEntry);
  for (const auto& [text, ending] : {std::pair{gpu, ".old"}, {cpu, ".old.1"}, {gpu, ".old.2"}}) {
    Write(text);
    const auto journal = Open();
    ASSERT_NE(nullptr, journal);
    EXPECT_EQ(path_ + ending, journal->old_path());
    EXPECT_EQ(text, Text(ending));
  }
  EXPECT_EQ(gpu, Text(".old"));
  EXPECT_EQ(cpu, Text(".old.1"));
}

TEST_F(BisectJournalTest, WhereThereIsNoAnswerNothingIsPutAside) {
  for (const std::string part : {"", "00000000000000ff cle"}) {
    Write(FileWith("for device: NVIDIA H200\n", part));
    const auto journal = Open();
    ASSERT_NE(nullptr, journal);
    EXPECT_EQ("", journal->put_aside());
    EXPECT_TRUE(journal->empty());
    EXPECT_FALSE(std::filesystem::exists(path_ + ".old"));
    EXPECT_THAT(Text(), HasSubstr("for device: llvmpipe"));
  }
}

TEST_F(BisectJournalTest, ARestartForgetsWhateverAJournalHolds) {
  {
    const auto journal = Open();
    ASSERT_TRUE(journal->Ask(Question(1), CountingProbe().probe()).ok());
    // A journal in use by another search stays.
    EXPECT_FALSE(BisectJournal::Open(path_, kTrace1, /*restart=*/true).ok());
    EXPECT_EQ(6, std::ranges::count(Text(), '\n'));
  }
  for (const std::string& text : {Text(), FileWith("for device: NVIDIA H200\n", kAnEntry)}) {
    Write(text);
    const auto journal = BisectJournal::Open(path_, kTrace1, /*restart=*/true);
    ASSERT_TRUE(journal.ok());
    EXPECT_EQ("", (*journal)->put_aside());
    EXPECT_EQ(0u, (*journal)->remembered());
    EXPECT_FALSE((*journal)->HasNext());
    EXPECT_EQ(5, std::ranges::count(Text(), '\n'));
    EXPECT_FALSE(std::filesystem::exists(path_ + ".old"));
  }
  Write("my notes\n");
  EXPECT_FALSE(BisectJournal::Open(path_, kTrace1, /*restart=*/true).ok());
  EXPECT_EQ("my notes\n", Text());
}

TEST_F(BisectJournalTest, ADamagedHeadDoesNotTakeTheAnswersWithIt) {
  for (const std::string head :
       {"cairn bisect journal 3\nfor tr\nfor device: x\nanswers\n",
        "cairn bisect journal 3\nfor trace: 1\nanswfrs\n", "cairn bisect journal 3x\nanswers\n",
        "cairn bisect journal 3\nf\x01r trace: 1\nanswers\n"}) {
    RemoveFiles();
    Write(head + kAnEntry);
    const auto journal = Open();
    ASSERT_NE(nullptr, journal);
    EXPECT_EQ("its head is damaged", journal->put_aside()) << head;
    EXPECT_EQ(head + kAnEntry, Text(".old"));
  }
}

TEST_F(BisectJournalTest, PlaysOfLessThanASecondHaveAnAverageToo) {
  std::string entries;
  for (int i = 0; i < 200; ++i) entries += "00000000000000ff clean 1 0 100\n";
  Write(FileWith("for trace: mine\n", entries));
  const auto journal = Open({{"trace", "mine"}});
  ASSERT_NE(nullptr, journal);
  EXPECT_EQ(200u, journal->remembered());
  EXPECT_EQ(100u, journal->AverageMs());
  EXPECT_FALSE(journal->empty());
}

TEST_F(BisectJournalTest, OtherVersionsArePutAside) {
  for (const std::string version : {"1", "2", "4"}) {
    Write("cairn bisect journal " + version + "\nfor trace 1\n00000000000000ff clean 1 0 1\n");
    const auto journal = Open();
    ASSERT_NE(nullptr, journal);
    EXPECT_EQ("it has the form of version " + version + " of journals, not 3",
              journal->put_aside());
    EXPECT_EQ(0u, journal->remembered());
  }
}

TEST_F(BisectJournalTest, TheHeadIsReadAsFarAsItIsWhole) {
  const std::string text = "cairn bisect journal 3\nfor a: 1\nfor b: x: y\nanswers\n";
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    const JournalHead head = ParseJournalHead(std::string_view(text).substr(0, cut));
    EXPECT_EQ(cut >= 23 ? 3u : 0u, head.version) << cut;
    EXPECT_EQ(cut == text.size(), head.whole) << cut;
    EXPECT_FALSE(head.damaged) << cut;
    EXPECT_EQ(cut == text.size() ? text.size() : 0, head.bytes) << cut;
    EXPECT_EQ((cut >= 32 ? 1u : 0u) + (cut >= 44 ? 1u : 0u), head.identity.size()) << cut;
  }
  EXPECT_EQ((JournalIdentity{{"a", "1"}, {"b", "x: y"}}), ParseJournalHead(text).identity);
  for (const std::string bad :
       {"cairn bisect journal 3\nfor a\nanswers\n", "cairn bisect journal 3\nanswer\n",
        "cairn bisect journal 4294967298\nanswers\n", "cairn bisect journal\nanswers\n"}) {
    EXPECT_FALSE(ParseJournalHead(bad).whole) << bad;
    // The last one is no journal at all.
    EXPECT_EQ(bad.starts_with("cairn bisect journal "), ParseJournalHead(bad).damaged) << bad;
  }
}

TEST_F(BisectJournalTest, UndecidedPlaysAreAskedAgainAfterAnInterruption) {
  const Probe undecided = [](const BisectQuestion&) -> Result<ProbeAnswer> {
    return ProbeAnswer{ProbeOutcome::kUndecided, 0, FailureKind::kNone, 0, "no memory"};
  };
  CountingProbe probe;
  {
    const auto journal = Open();
    EXPECT_EQ("no memory", journal->Ask(Question(1), undecided)->why);
    ASSERT_TRUE(journal->Ask(Question(1), probe.probe()).ok());
    ASSERT_TRUE(journal->Ask(Question(2), undecided).ok());
  }
  const auto journal = Open();
  EXPECT_EQ(1u, journal->remembered());
  ASSERT_TRUE(journal->Ask(Question(1), probe.probe()).ok());
  ASSERT_TRUE(journal->Ask(Question(2), probe.probe()).ok());
  EXPECT_THAT(probe.asked, ElementsAre(1, 2));
}

TEST_F(BisectJournalTest, KeepsHowItFailed) {
  const std::vector<ProbeAnswer> answers = {
      {ProbeOutcome::kFails, 1, FailureKind::kHang, 0},
      {ProbeOutcome::kFails, 2, FailureKind::kLost, 0},
      {ProbeOutcome::kFails, 3, FailureKind::kDied, 11},
      {ProbeOutcome::kFails, 4, FailureKind::kNone, 0},
      {ProbeOutcome::kFails, 5, FailureKind::kDied, static_cast<int>(0xC000'0005)},  // of Windows
      {ProbeOutcome::kInvalid, 0, FailureKind::kNone, 0}};
  {
    const auto journal = Open();
    for (size_t i = 0; i < answers.size(); ++i) {
      const Probe probe = [&](const BisectQuestion&) -> Result<ProbeAnswer> { return answers[i]; };
      ASSERT_TRUE(journal->Ask(Question(i), probe).ok());
    }
  }
  size_t header_bytes = 0;
  const auto entries = ParseJournal(Text(), kTrace1, &header_bytes);
  ASSERT_THAT(entries, SizeIs(answers.size()));
  for (size_t i = 0; i < answers.size(); ++i) {
    EXPECT_EQ(answers[i].outcome, entries[i].answer.outcome) << i;
    EXPECT_EQ(answers[i].place, entries[i].answer.place) << i;
    EXPECT_EQ(answers[i].kind, entries[i].answer.kind) << i;
    EXPECT_EQ(answers[i].signal, entries[i].answer.signal) << i;
  }
}

TEST_F(BisectJournalTest, IsOfOneSearchAtATime) {
  const auto journal = Open();
  const auto second = BisectJournal::Open(path_, kTrace1);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(StatusCode::kInvalidArgument, second.status().code());
  EXPECT_THAT(second.status().message(), HasSubstr("is in use"));
}

TEST_F(BisectJournalTest, SomebodyElsesFileIsLeftAlone) {
  Write("my notes\n");
  const auto journal = BisectJournal::Open(path_, kTrace1);
  ASSERT_FALSE(journal.ok());
  EXPECT_EQ(StatusCode::kInvalidArgument, journal.status().code());
  EXPECT_THAT(journal.status().message(), HasSubstr("is in the way"));
  EXPECT_EQ("my notes\n", Text());
  EXPECT_FALSE(BisectJournal::Open("/nowhere/at/all", kTrace1).ok());
}

TEST_F(BisectJournalTest, WhatFailsToBeAskedIsNotWritten) {
  const auto journal = Open();
  const Probe probe = [](const BisectQuestion&) -> Result<ProbeAnswer> {
    return Status(StatusCode::kIo, "stopped");
  };
  EXPECT_EQ("stopped", journal->Ask(Question(1), probe).status().message());
  EXPECT_EQ(
      "cairn bisect journal 3\nfor trace: 1\nfor device: llvmpipe, 10005:0000\n"
      "for driver: Mesa 22.3.6\nanswers\n",
      Text());
}

TEST_F(BisectJournalTest, DamagedLinesEndIt) {
  const std::string good = "00000000000000ff died 17 11 250\n";
  const JournalIdentity me = {{"trace", "mine"}};
  const std::string header = "cairn bisect journal 3\nfor trace: mine\nanswers\n";
  size_t header_bytes = 0;
  const auto entries = ParseJournal(header + good + good, me, &header_bytes);
  ASSERT_THAT(entries, SizeIs(2));
  EXPECT_EQ(header.size(), header_bytes);
  EXPECT_EQ(255u, entries[0].question);
  EXPECT_EQ(ProbeOutcome::kFails, entries[0].answer.outcome);
  EXPECT_EQ(17u, entries[0].answer.place);
  EXPECT_EQ(FailureKind::kDied, entries[0].answer.kind);
  EXPECT_EQ(11, entries[0].answer.signal);
  EXPECT_EQ(250u, entries[0].duration_ms);
  EXPECT_EQ(header.size() + good.size(), entries[0].end_offset);
  for (const std::string bad :
       {"00000000000000ff dead 17 0 250\n", "xyz clean 1 0 1\n", "ff clean 1 0\n",
        "ff clean 1 0 1 1\n", "ff clean -1 0 1\n", "ff died 1 -11 1\n", "ff died 1 999 1\n",
        "ff died 1 4294967296 1\n", "ff undecided 1 0 1\n", "ff clean 99999999999999999999 0 1\n",
        "ff  clean 1 0 1\n", "\n", " \n"}) {
    EXPECT_THAT(ParseJournal(header + good + bad + good, me, &header_bytes), SizeIs(1)) << bad;
  }
  EXPECT_THAT(ParseJournal(header + good, {{"trace", "yours"}}, &header_bytes), SizeIs(0));
  EXPECT_EQ(0u, header_bytes);
}

TEST(QuestionKey, DiffersWhereQuestionsDo) {
  const BisectQuestion all;
  BisectQuestion list = {{{Suspect::Kind::kList, 5, 0}}, ~uint64_t{0}};
  BisectQuestion other_list = {{{Suspect::Kind::kList, 5, 1}}, ~uint64_t{0}};
  BisectQuestion call = {{{Suspect::Kind::kCall, 5, 0}}, ~uint64_t{0}};
  BisectQuestion shorter = {{{Suspect::Kind::kCall, 5, 0}}, 9};
  BisectQuestion parts = all;
  parts.parts = KeptParts{5, 0, 2};
  BisectQuestion other_parts = all;
  other_parts.parts = KeptParts{5, 0, 3};
  const std::set<uint64_t> keys = {
      QuestionKey(all),     QuestionKey(list),  QuestionKey(other_list), QuestionKey(call),
      QuestionKey(shorter), QuestionKey(parts), QuestionKey(other_parts)};
  EXPECT_EQ(7u, keys.size());
}

// The whole of it: a search that is interrupted at each of its probes, and goes on.
TEST_F(BisectJournalTest, ASearchGoesOnWhereverItWasInterrupted) {
  BisectTree tree;
  for (uint64_t i = 1; i <= 20; ++i) {
    BisectTree::Submission submission = {i * 100, {}};
    submission.lists.push_back({1, std::make_shared<const std::vector<uint64_t>>(
                                       std::vector<uint64_t>{i * 100 - 3, i * 100 - 2})});
    tree.submissions.push_back(submission);
  }
  uint64_t plays = 0;
  uint64_t allowed = 0;
  const Probe gpu = [&](const BisectQuestion& question) -> Result<ProbeAnswer> {
    if (allowed == 0) return Status(StatusCode::kIo, "interrupted");
    --allowed;
    ++plays;
    const auto left_out = [&](const Suspect& suspect) {
      return std::binary_search(question.left_out.begin(), question.left_out.end(), suspect);
    };
    if (left_out({Suspect::Kind::kSubmission, 1300, 0}) ||
        left_out({Suspect::Kind::kCall, 1298, 0})) {
      return ProbeAnswer{};
    }
    return ProbeAnswer{ProbeOutcome::kFails, 1300};
  };
  uint64_t attempts = 0;
  for (;; ++attempts) {
    allowed = 1;
    const auto journal = Open();
    const Probe probe = [&](const BisectQuestion& question) { return journal->Ask(question, gpu); };
    const Result<BisectAnswer> answer = Bisect(tree, probe, {});
    if (!answer.ok()) {
      EXPECT_EQ("interrupted", answer.status().message());
      continue;
    }
    EXPECT_THAT(answer->culprits, ElementsAre(Suspect{Suspect::Kind::kCall, 1298, 0}));
    EXPECT_EQ(answer->probes, plays);
    break;
  }
  EXPECT_EQ(plays - 1, attempts);
}

}  // namespace
}  // namespace cairn
