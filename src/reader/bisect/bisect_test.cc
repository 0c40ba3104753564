// SPDX-License-Identifier: Apache-2.0
//
// The strategy against models of traces that fail in one way each.
#include "reader/bisect/bisect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Le;

Suspect Call(uint64_t number) {
  return {Suspect::Kind::kCall, number, 0};
}
Suspect List(uint64_t submission, uint32_t index) {
  return {Suspect::Kind::kList, submission, index};
}
Suspect Submission(uint64_t number) {
  return {Suspect::Kind::kSubmission, number, 0};
}

// Submission i (from 1) has the number i * 1000, list j of it the calls i * 1000 - 900 + j * 100 + k.
BisectTree Tree(uint64_t submissions, uint32_t lists, uint64_t calls) {
  BisectTree tree;
  for (uint64_t i = 1; i <= submissions; ++i) {
    BisectTree::Submission submission;
    submission.call = i * 1000;
    for (uint32_t j = 0; j < lists; ++j) {
      std::vector<uint64_t> numbers;
      for (uint64_t k = 0; k < calls; ++k) numbers.push_back(i * 1000 - 900 + j * 100 + k);
      submission.lists.push_back(
          {i * 10 + j, std::make_shared<const std::vector<uint64_t>>(std::move(numbers))});
    }
    tree.submissions.push_back(std::move(submission));
  }
  return tree;
}

// Keeps the work executed so far, submission by submission. The answer is that of the first
// submission for which `fails` returns true.
class ModelGpu {
 public:
  struct Executed {
    std::set<uint64_t> calls;
    std::set<uint64_t> submissions;
    uint64_t submission = 0;  // the last one that was not left out
  };
  using Fails = std::function<bool(const Executed&)>;

  ModelGpu(const BisectTree& tree, Fails fails) : tree_(tree), fails_(std::move(fails)) {}

  Probe probe() {
    return [this](const BisectQuestion& question) -> Result<ProbeAnswer> { return Play(question); };
  }
  const std::vector<BisectQuestion>& questions() const { return questions_; }

 private:
  ProbeAnswer Play(const BisectQuestion& question) {
    EXPECT_TRUE(std::is_sorted(question.left_out.begin(), question.left_out.end()));
    questions_.push_back(question);
    const auto left_out = [&](const Suspect& suspect) {
      return std::binary_search(question.left_out.begin(), question.left_out.end(), suspect);
    };
    Executed executed;
    for (const BisectTree::Submission& submission : tree_.submissions) {
      if (submission.call >= question.stop_before) break;
      if (!left_out(Submission(submission.call))) {
        executed.submission = submission.call;
        executed.submissions.insert(submission.call);
        for (uint32_t j = 0; j < submission.lists.size(); ++j) {
          if (left_out(List(submission.call, j))) continue;
          for (const uint64_t call : *submission.lists[j].calls) {
            if (!left_out(Call(call))) executed.calls.insert(call);
          }
        }
      }
      if (fails_(executed)) return {ProbeOutcome::kFails, submission.call};
    }
    return {};
  }

  const BisectTree& tree_;
  Fails fails_;
  std::vector<BisectQuestion> questions_;
};

BisectAnswer Find(const BisectTree& tree, ModelGpu& gpu, const BisectOptions& options = {}) {
  const Result<BisectAnswer> answer = Bisect(tree, gpu.probe(), options);
  EXPECT_TRUE(answer.ok()) << answer.status().message();
  return answer.ok() ? *answer : BisectAnswer{};
}

TEST(Bisect, OneCallIsNamedWhereverItIs) {
  const BisectTree tree = Tree(7, 3, 5);
  for (const BisectTree::Submission& submission : tree.submissions) {
    for (const BisectTree::List& list : submission.lists) {
      for (const uint64_t culprit : *list.calls) {
        ModelGpu gpu(tree, [&](const auto& executed) { return executed.calls.contains(culprit); });
        const BisectAnswer answer = Find(tree, gpu);
        EXPECT_TRUE(answer.found);
        EXPECT_THAT(answer.culprits, ElementsAre(Call(culprit)));
        EXPECT_EQ(submission.call, answer.place);
        EXPECT_EQ(2u, answer.failed);
        EXPECT_EQ(ProbeOutcome::kClean, answer.without);
      }
    }
  }
}

TEST(Bisect, AskingIsLogarithmic) {
  const BisectTree tree = Tree(300, 4, 50);
  ModelGpu gpu(tree, [](const auto& executed) { return executed.calls.contains(276'317); });
  const BisectAnswer answer = Find(tree, gpu);
  EXPECT_THAT(answer.culprits, ElementsAre(Call(276'317)));
  EXPECT_THAT(answer.probes, Le(20u));
  EXPECT_EQ(gpu.questions().size(), answer.probes);
}

TEST(Bisect, NothingAfterTheFailureIsPlayedAgain) {
  const BisectTree tree = Tree(10, 1, 4);
  ModelGpu gpu(tree, [](const auto& executed) { return executed.calls.contains(3102); });
  const BisectAnswer answer = Find(tree, gpu);
  EXPECT_THAT(answer.culprits, ElementsAre(Call(3102)));
  // All but the first plays, which did not know, and the last, which looks for something else.
  for (size_t i = 2; i + 1 < gpu.questions().size(); ++i) {
    EXPECT_EQ(5000u, gpu.questions()[i].stop_before) << i;
  }
  EXPECT_EQ(~uint64_t{0}, gpu.questions().back().stop_before);
}

TEST(Bisect, TwoCallsThatFailTogetherAreBothNamed) {
  const BisectTree tree = Tree(40, 2, 6);
  for (const auto& [first, second] : {std::pair<uint64_t, uint64_t>{2101, 38203},
                                      {17100, 17101},
                                      {17104, 17202},
                                      {38105, 39205},
                                      {100, 39205}}) {
    ModelGpu gpu(tree, [first = first, second = second](const auto& executed) {
      return executed.calls.contains(first) && executed.calls.contains(second);
    });
    const BisectAnswer answer = Find(tree, gpu);
    EXPECT_THAT(answer.culprits, ElementsAre(Call(first), Call(second)));
    EXPECT_EQ(ProbeOutcome::kClean, answer.without);
  }
}

TEST(Bisect, ThreeCallsInOneList) {
  const BisectTree tree = Tree(3, 1, 60);
  ModelGpu gpu(tree, [](const auto& executed) {
    return executed.calls.contains(1100) && executed.calls.contains(1133) &&
           executed.calls.contains(1159);
  });
  EXPECT_THAT(Find(tree, gpu).culprits, ElementsAre(Call(1100), Call(1133), Call(1159)));
}

// Fails like an NVIDIA H200: the dispatch that writes through a bad address finishes and its fence
// is signalled; the next dispatch never ends.
class LateGpu {
 public:
  LateGpu(const BisectTree& tree, uint64_t culprit, bool has_canary)
      : tree_(tree), culprit_(culprit), has_canary_(has_canary) {}

  ProbeAnswer Play(const BisectQuestion& question) {
    const auto left_out = [&](const Suspect& suspect) {
      return std::binary_search(question.left_out.begin(), question.left_out.end(), suspect);
    };
    bool poisoned = false;
    for (const BisectTree::Submission& submission : tree_.submissions) {
      if (submission.call >= question.stop_before) break;
      if (left_out(Submission(submission.call))) continue;
      for (uint32_t j = 0; j < submission.lists.size(); ++j) {
        if (left_out(List(submission.call, j))) continue;
        for (const uint64_t call : *submission.lists[j].calls) {
          if (left_out(Call(call))) continue;
          if (poisoned) return {ProbeOutcome::kFails, submission.call};
          poisoned = call == culprit_;
        }
      }
      if (poisoned && has_canary_) return {ProbeOutcome::kFails, submission.call};
    }
    return {};
  }

 private:
  const BisectTree& tree_;
  const uint64_t culprit_;
  const bool has_canary_;
};

TEST(Bisect, AFaultThatShowsInTheNextDispatchDoesNotMakeItTheCulprit) {
  const BisectTree tree = Tree(8, 2, 4);
  for (const BisectTree::Submission& submission : tree.submissions) {
    for (const BisectTree::List& list : submission.lists) {
      for (const uint64_t culprit : *list.calls) {
        LateGpu gpu(tree, culprit, /*has_canary=*/true);
        const Result<BisectAnswer> answer = Bisect(
            tree, [&](const BisectQuestion& q) -> Result<ProbeAnswer> { return gpu.Play(q); }, {});
        ASSERT_TRUE(answer.ok());
        EXPECT_THAT(answer->culprits, ElementsAre(Call(culprit)));
        EXPECT_EQ(submission.call, answer->place);
      }
    }
  }
}

// The canary prevents this: without it the last dispatch of a submission is found only together
// with the first one of the next submission, which is innocent.
TEST(Bisect, WithoutACanaryABystanderIsNamedToo) {
  const BisectTree tree = Tree(8, 1, 4);
  LateGpu gpu(tree, 3'103, /*has_canary=*/false);
  const Result<BisectAnswer> answer =
      Bisect(tree, [&](const BisectQuestion& q) -> Result<ProbeAnswer> { return gpu.Play(q); }, {});
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(5'000u, answer->place);
  ASSERT_EQ(2u, answer->culprits.size());
  EXPECT_EQ(Call(3'103), answer->culprits[0]);
  EXPECT_EQ(4'000u, answer->culprits[1].call / 1000 * 1000);
}

// A canary that notices nothing: the failure shows in the next submission that is executed, if there is
// one.
TEST(Bisect, AFaultThatOnlyALaterSubmissionShows) {
  const BisectTree tree = Tree(12, 2, 8);
  constexpr uint64_t kCulprit = 5'203;  // in submission 6000
  ModelGpu gpu(tree, [&](const auto& executed) {
    return executed.calls.contains(kCulprit) && *executed.calls.rbegin() > 6'000;
  });
  const BisectAnswer answer = Find(tree, gpu);
  EXPECT_EQ(7'000u, answer.place);
  ASSERT_EQ(2u, answer.culprits.size());
  EXPECT_EQ(Call(kCulprit), answer.culprits[0]);
  EXPECT_EQ(7u, answer.culprits[1].call / 1000 + 1);
}

TEST(Bisect, LuckIsLearntAndAskedAgain) {
  const BisectTree tree = Tree(20, 2, 10);
  for (uint32_t seed = 1; seed <= 50; ++seed) {
    uint32_t random = seed * 2654435761u;
    ModelGpu gpu(tree, [&](const auto& executed) {
      // Random once a submission: the failing one fails about half of the time.
      if (executed.submission != 14'000 || !executed.calls.contains(13'205)) return false;
      random = random * 1664525u + 1013904223u;
      return (random >> 16) % 2 == 0;
    });
    BisectOptions options;
    options.repeats = 8;
    const Result<BisectAnswer> answer = Bisect(tree, gpu.probe(), options);
    ASSERT_TRUE(answer.ok());
    ASSERT_TRUE(answer->found) << seed;
    // No other call is the culprit, for any random sequence.
    EXPECT_THAT(answer->culprits, ::testing::Contains(Call(13'205))) << seed;
  }
}

TEST(Bisect, AMachineThatFailsByItselfNowAndThen) {
  const BisectTree tree = Tree(20, 2, 10);
  for (uint32_t seed = 1; seed <= 50; ++seed) {
    uint32_t random = seed * 2654435761u;
    ModelGpu gpu(tree, [&](const auto& executed) {
      if (executed.calls.contains(13'205)) return true;
      random = random * 1664525u + 1013904223u;
      return (random >> 16) % 400 == 0;
    });
    const Result<BisectAnswer> answer = Bisect(tree, gpu.probe(), {});
    ASSERT_TRUE(answer.ok());
    if (!answer->found) continue;
    EXPECT_THAT(answer->culprits, ElementsAre(Call(13'205))) << seed;
  }
}

// The one failure among many plays that confirmed a culprit was another's: noise that shows now and then,
// in the same place. An answer that is asked for the first time is luck, too.
TEST(Bisect, OneFailureOfManyPlaysIsNoProof) {
  const BisectTree tree = Tree(20, 2, 10);
  std::set<std::vector<Suspect>> seen;
  uint64_t plays = 0;
  const Probe probe = [&](const BisectQuestion& question) -> Result<ProbeAnswer> {
    ++plays;
    const bool first = seen.insert(question.left_out).second;
    const bool whole = question.left_out.empty();
    if (whole ? plays % 2 == 0 : first || plays % 20 == 0) {
      return ProbeAnswer{ProbeOutcome::kFails, 14'000};
    }
    return ProbeAnswer{};
  };
  BisectOptions options;
  options.repeats = 4;
  const Result<BisectAnswer> answer = Bisect(tree, probe, options);
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(2u, answer->failed);
  EXPECT_FALSE(answer->found);
  EXPECT_EQ(NoCulprit::kContradiction, answer->no_culprit);
  EXPECT_EQ(answer->probes, answer->contradicted_after);
}

TEST(Bisect, WhatElseFailsNowAndThenIsLookedForMoreThanOnce) {
  const BisectTree tree = Tree(20, 1, 4);
  uint64_t plays = 0;
  ModelGpu gpu(tree, [&](const auto& executed) {
    if (executed.submission == 14'000 && executed.calls.contains(13'102)) return plays % 2 == 0;
    // Shows once the other is gone, in each third play.
    return executed.submission == 20'000 && !executed.calls.contains(13'102) && plays % 3 == 0;
  });
  const Probe model = gpu.probe();
  uint64_t without = 0;
  const Probe probe = [&](const BisectQuestion& question) {
    ++plays;
    // The first of them is clean.
    if (question.left_out == std::vector<Suspect>{Call(13'102)} && without++ == 0) plays = 1;
    return model(question);
  };
  BisectOptions options;
  options.repeats = 4;
  const Result<BisectAnswer> answer = Bisect(tree, probe, options);
  ASSERT_TRUE(answer.ok());
  ASSERT_TRUE(answer->found);
  EXPECT_THAT(answer->culprits, ElementsAre(Call(13'102)));
  EXPECT_EQ(3u, without);
  EXPECT_EQ(ProbeOutcome::kFails, answer->without);
  EXPECT_EQ(20'000u, answer->other_place);
}

// Leaving out the upload makes the process die where the whole trace hangs.
TEST(Bisect, AnotherKindOfFailureInTheSamePlaceIsNotThisOne) {
  const BisectTree tree = Tree(20, 1, 10);
  ModelGpu gpu(tree, [](const auto& executed) {
    return executed.submission == 10'000 &&
           (executed.calls.contains(9'107) || !executed.calls.contains(101));
  });
  const Probe model = gpu.probe();
  const auto has = [](const BisectQuestion& question, const Suspect& suspect) {
    return !std::binary_search(question.left_out.begin(), question.left_out.end(), suspect);
  };
  bool same_kind = false;
  const Probe probe = [&](const BisectQuestion& question) -> Result<ProbeAnswer> {
    Result<ProbeAnswer> answer = model(question);
    if (!answer.ok() || answer->outcome != ProbeOutcome::kFails) return answer;
    const bool upload = has(question, Submission(1'000)) && has(question, List(1'000, 0)) &&
                        has(question, Call(101));
    answer->kind = upload || same_kind ? FailureKind::kHang : FailureKind::kDied;
    answer->signal = answer->kind == FailureKind::kDied ? 11 : 0;
    return answer;
  };
  Result<BisectAnswer> answer = Bisect(tree, probe, {});
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(FailureKind::kHang, answer->kind);
  EXPECT_THAT(answer->culprits, ElementsAre(Call(101), Call(9'107)));
  // Without a difference between the failures the other one is taken for this one: the named
  // culprit is wrong.
  same_kind = true;
  answer = Bisect(tree, probe, {});
  ASSERT_TRUE(answer.ok());
  EXPECT_THAT(answer->culprits, ::testing::Not(ElementsAre(Call(101), Call(9'107))));
}

TEST(Bisect, WhereTheFirstPlaysFailDifferentlyAnyKindCounts) {
  const BisectTree tree = Tree(20, 1, 10);
  ModelGpu gpu(tree, [](const auto& executed) { return executed.calls.contains(9'107); });
  const Probe model = gpu.probe();
  uint64_t plays = 0;
  const Probe probe = [&](const BisectQuestion& question) -> Result<ProbeAnswer> {
    Result<ProbeAnswer> answer = model(question);
    answer->kind = plays++ % 2 == 0 ? FailureKind::kHang : FailureKind::kLost;
    return answer;
  };
  const Result<BisectAnswer> answer = Bisect(tree, probe, {});
  ASSERT_TRUE(answer.ok());
  EXPECT_TRUE(answer->kind_varies);
  EXPECT_THAT(answer->culprits, ElementsAre(Call(9'107)));
}

// Without the upload the indirect draw of another submission reads rubbish.
TEST(Bisect, AnotherFailureThatLeavingOutCausesIsNotTakenForThisOne) {
  const BisectTree tree = Tree(20, 1, 10);
  ModelGpu gpu(tree, [](const auto& executed) {
    if (executed.submission == 5'000 && executed.calls.contains(4'105) &&
        !executed.calls.contains(101)) {
      return true;
    }
    return executed.calls.contains(9'107);
  });
  const BisectAnswer answer = Find(tree, gpu);
  EXPECT_THAT(answer.culprits, ElementsAre(Call(9'107)));
  EXPECT_EQ(10'000u, answer.place);
}

TEST(Bisect, AQuestionThatMakesNoSenseSaysNothing) {
  const BisectTree tree = Tree(20, 1, 10);
  ModelGpu gpu(tree, [](const auto& executed) { return executed.calls.contains(9'107); });
  // The device refuses whatever lacks submission 8000 but has 10000.
  const Probe model = gpu.probe();
  const Probe probe = [&](const BisectQuestion& question) -> Result<ProbeAnswer> {
    const auto has = [&](uint64_t number) {
      return !std::binary_search(question.left_out.begin(), question.left_out.end(),
                                 Submission(number));
    };
    if (has(10'000) && !has(8'000)) return ProbeAnswer{ProbeOutcome::kInvalid};
    return model(question);
  };
  const Result<BisectAnswer> answer = Bisect(tree, probe, {});
  ASSERT_TRUE(answer.ok());
  EXPECT_TRUE(answer->found);
  EXPECT_THAT(answer->culprits, ::testing::Contains(Call(9'107)));
}

TEST(Bisect, ListsAndSubmissionsWhereNoCallIsTheCulprit) {
  const BisectTree tree = Tree(5, 3, 4);
  const Probe list_probe = [&](const BisectQuestion& question) -> Result<ProbeAnswer> {
    const bool out =
        std::binary_search(question.left_out.begin(), question.left_out.end(), List(3000, 1)) ||
        std::binary_search(question.left_out.begin(), question.left_out.end(), Submission(3000));
    return out ? ProbeAnswer{} : ProbeAnswer{ProbeOutcome::kFails, 3000};
  };
  Result<BisectAnswer> answer = Bisect(tree, list_probe, {});
  ASSERT_TRUE(answer.ok());
  EXPECT_THAT(answer->culprits, ElementsAre(List(3000, 1)));

  ModelGpu gpu(tree, [](const auto& executed) { return executed.submissions.contains(2000); });
  EXPECT_THAT(Find(tree, gpu).culprits, ElementsAre(Submission(2000)));
}

TEST(Bisect, ARecordingThatIsExecutedAgainAndAgain) {
  BisectTree tree = Tree(1, 1, 6);
  const BisectTree::List list = tree.submissions[0].lists[0];
  for (uint64_t i = 2; i <= 30; ++i) tree.submissions.push_back({i * 1000, {list}});
  // The list's tenth execution fails.
  ModelGpu gpu(tree, [](const auto& executed) {
    return executed.submission == 10'000 && executed.calls.contains(103);
  });
  const BisectAnswer answer = Find(tree, gpu);
  EXPECT_THAT(answer.culprits, ElementsAre(Call(103)));
  EXPECT_EQ(10'000u, answer.place);
}

TEST(Bisect, SomethingElseThatFailsIsTold) {
  const BisectTree tree = Tree(9, 1, 4);
  ModelGpu gpu(tree, [](const auto& executed) {
    return executed.calls.contains(3101) || executed.calls.contains(6102);
  });
  const BisectAnswer answer = Find(tree, gpu);
  EXPECT_THAT(answer.culprits, ElementsAre(Call(3101)));
  EXPECT_EQ(ProbeOutcome::kFails, answer.without);
  EXPECT_EQ(7000u, answer.other_place);
}

TEST(Bisect, WhatDoesNotFailIsNotSearched) {
  const BisectTree tree = Tree(9, 1, 4);
  ModelGpu gpu(tree, [](const auto&) { return false; });
  const BisectAnswer answer = Find(tree, gpu);
  EXPECT_FALSE(answer.found);
  EXPECT_EQ(NoCulprit::kNeverFails, answer.no_culprit);
  EXPECT_EQ(2u, answer.asked);
  EXPECT_EQ(2u, answer.repeats);
  EXPECT_THAT(answer.culprits, IsEmpty());
  EXPECT_EQ(2u, gpu.questions().size());
}

TEST(Bisect, WhatFailsWithoutAnyWorkHasNoCulprit) {
  const BisectTree tree = Tree(9, 1, 4);
  const Probe probe = [](const BisectQuestion&) -> Result<ProbeAnswer> {
    return ProbeAnswer{ProbeOutcome::kFails, 4000};
  };
  const Result<BisectAnswer> answer = Bisect(tree, probe, {});
  ASSERT_TRUE(answer.ok());
  EXPECT_FALSE(answer->found);
  EXPECT_EQ(NoCulprit::kFailsAnyway, answer->no_culprit);

  const Probe refused = [](const BisectQuestion&) -> Result<ProbeAnswer> {
    return ProbeAnswer{ProbeOutcome::kInvalid};
  };
  EXPECT_EQ(NoCulprit::kRefused, Bisect(tree, refused, {})->no_culprit);
  EXPECT_FALSE(Bisect(BisectTree{}, probe, {})->found);
}

TEST(Bisect, AnErrorOfTheProbeEndsIt) {
  const BisectTree tree = Tree(9, 1, 4);
  ModelGpu gpu(tree, [](const auto& executed) { return executed.calls.contains(3101); });
  const Probe model = gpu.probe();
  for (uint64_t last = 0; last < 8; ++last) {
    uint64_t probes = 0;
    const Probe probe = [&](const BisectQuestion& question) -> Result<ProbeAnswer> {
      if (probes++ == last) return Status(StatusCode::kIo, "stopped");
      return model(question);
    };
    const Result<BisectAnswer> answer = Bisect(tree, probe, {});
    ASSERT_FALSE(answer.ok()) << last;
    EXPECT_EQ("stopped", answer.status().message());
  }
}

// On a machine under load some plays give no answer. If they counted as clean, the hang would be
// missed.
TEST(Bisect, UndecidedPlaysAreAskedAgainAndCounted) {
  const BisectTree tree = Tree(20, 2, 10);
  ModelGpu gpu(tree, [](const auto& executed) { return executed.calls.contains(13'205); });
  const Probe model = gpu.probe();
  for (const uint64_t every : {2, 3, 7}) {
    uint64_t plays = 0;
    uint64_t undecided = 0;
    const Probe probe = [&](const BisectQuestion& question) -> Result<ProbeAnswer> {
      if (plays++ % every != 0) return model(question);
      ++undecided;
      return ProbeAnswer{ProbeOutcome::kUndecided, 0, FailureKind::kNone, 0, "no memory"};
    };
    const Result<BisectAnswer> answer = Bisect(tree, probe, {});
    ASSERT_TRUE(answer.ok()) << answer.status().message();
    EXPECT_THAT(answer->culprits, ElementsAre(Call(13'205)));
    EXPECT_EQ(2u, answer->failed);
    EXPECT_EQ(2u, answer->asked);
    EXPECT_EQ(undecided, answer->undecided);
    EXPECT_EQ(plays, answer->probes);
    EXPECT_EQ(ProbeOutcome::kClean, answer->without);
  }
}

TEST(Bisect, AQuestionThatStaysUndecidedEndsItWithTheReason) {
  const BisectTree tree = Tree(9, 1, 4);
  ModelGpu gpu(tree, [](const auto& executed) { return executed.calls.contains(3101); });
  const Probe model = gpu.probe();
  BisectOptions options;
  options.most_undecided = 3;
  for (uint64_t first = 0; first < 8; ++first) {
    uint64_t plays = 0;
    const Probe probe = [&](const BisectQuestion& question) -> Result<ProbeAnswer> {
      if (plays++ < first) return model(question);
      return ProbeAnswer{ProbeOutcome::kUndecided, 0, FailureKind::kNone, 0, "killed by another"};
    };
    const Result<BisectAnswer> answer = Bisect(tree, probe, options);
    ASSERT_FALSE(answer.ok()) << first;
    EXPECT_EQ(StatusCode::kUnsupported, answer.status().code());
    EXPECT_THAT(answer.status().message(), HasSubstr("3 plays in a row"));
    EXPECT_THAT(answer.status().message(), HasSubstr("killed by another"));
    EXPECT_EQ(first + 3, plays);
  }
}

TEST(Bisect, TheLimitOfProbesIsKept) {
  const BisectTree tree = Tree(100, 1, 4);
  ModelGpu gpu(tree, [](const auto& executed) { return executed.calls.size() > 200; });
  BisectOptions options;
  options.max_probes = 30;
  const Result<BisectAnswer> answer = Bisect(tree, gpu.probe(), options);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(StatusCode::kUnsupported, answer.status().code());
  EXPECT_EQ(30u, gpu.questions().size());
}

TEST(Bisect, TheSameAnswersGiveTheSameQuestions) {
  const BisectTree tree = Tree(30, 2, 6);
  const auto fails = [](const ModelGpu::Executed& executed) {
    return executed.calls.contains(2101) && executed.calls.contains(28203);
  };
  ModelGpu one(tree, fails);
  ModelGpu two(tree, fails);
  Find(tree, one);
  Find(tree, two);
  ASSERT_EQ(one.questions().size(), two.questions().size());
  for (size_t i = 0; i < one.questions().size(); ++i) {
    EXPECT_EQ(one.questions()[i].left_out, two.questions()[i].left_out) << i;
  }
}

TEST(Bisect, ProgressRisesAndExpectsAtLeastWhatIsDone) {
  const BisectTree tree = Tree(100, 3, 20);
  ModelGpu gpu(tree, [](const auto& executed) { return executed.calls.contains(73'211); });
  std::vector<BisectProgress> progress;
  BisectOptions options;
  options.progress = [&](const BisectProgress& now) { progress.push_back(now); };
  Find(tree, gpu, options);
  ASSERT_EQ(gpu.questions().size(), progress.size());
  std::set<std::string> what;
  for (size_t i = 0; i < progress.size(); ++i) {
    EXPECT_EQ(i, progress[i].probes_done);
    EXPECT_LT(progress[i].probes_done, progress[i].probes_expected);
    what.insert(progress[i].what);
  }
  EXPECT_TRUE(what.contains("the whole trace"));
  EXPECT_TRUE(what.contains("74 submissions"));
  EXPECT_TRUE(what.contains("the 3 lists of the failing submission"));
  EXPECT_TRUE(what.contains("the 20 calls of the failing list"));
}

}  // namespace
}  // namespace cairn
