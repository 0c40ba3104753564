// SPDX-License-Identifier: Apache-2.0
//
// The search against models of programs: what they record, and when they fail.
#include "reader/bisect/program_search.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "cairn/marker_types.h"

#include "format/elimination/work_key.h"

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Le;

// The names of work that a run recorded and did not leave out.
using Ran = std::set<std::string>;

struct ModelWork {
  std::string name;
  std::vector<std::string> path;
  uint32_t type = CAIRN_MARKER_DISPATCH;
  uint64_t pipeline = 1;
  uint32_t ordinal = 1;
};

class ModelProgram {
 public:
  // The behaviour of a run, counted from 1.
  using Behaviour = std::function<TrialRun(const Ran& ran, uint64_t run)>;

  ModelProgram(std::vector<ModelWork> work, Behaviour behaviour)
      : work_(std::move(work)), behaviour_(std::move(behaviour)) {}

  RunProgram run() {
    return [this](const BoardQuestion& question, uint64_t) -> Result<TrialRun> {
      return Play(question);
    };
  }
  uint64_t runs() const { return runs_; }

 private:
  TrialRun Play(const BoardQuestion& question) {
    std::vector<std::byte> memory(Board::BytesFor(question.listed.size(), 0, 0));
    const Board board = Board::Make(memory, question, 0, 0);
    Ran ran;
    WorkCatalogue met;
    met.lists = 1;
    for (const ModelWork& work : work_) {
      WorkNote note;
      note.scope = kRootScope;
      for (const std::string& label : work.path) note.scope = ScopeIn(note.scope, label);
      note.group = GroupIn(note.scope, work.type, work.pipeline);
      note.key = KeyIn(note.group, work.ordinal);
      note.type = work.type;
      note.ordinal = work.ordinal;
      note.path = work.path;
      note.last_position = static_cast<uint32_t>(met.work.size() + 1);
      met.work.push_back(note);
      if (!board.LeavesOut(LeaveOutClassOf(work.type), note.scope, note.group, note.key)) {
        ran.insert(work.name);
      }
    }
    std::sort(met.work.begin(), met.work.end(),
              [](const WorkNote& one, const WorkNote& other) { return one.key < other.key; });
    TrialRun run = behaviour_(ran, ++runs_);
    if (!hides_gpu(run)) run.catalogue = met;
    return run;
  }
  static bool hides_gpu(const TrialRun& run) { return run.value == kNoGpu; }

 public:
  static constexpr int kNoGpu = 77;

 private:
  const std::vector<ModelWork> work_;
  const Behaviour behaviour_;
  uint64_t runs_ = 0;
};

TrialRun Clean() {
  return {};
}
TrialRun Fails(FailureKind kind, int signal = 0) {
  TrialRun run;
  run.end = TrialEnd::kFailed;
  run.failure = kind;
  run.value = signal;
  return run;
}

// `scopes` scopes of `groups` pipelines of `alike` dispatches: "s3 p1 n2".
std::vector<ModelWork> Scene(int scopes, int groups, int alike) {
  std::vector<ModelWork> work;
  for (int s = 0; s < scopes; ++s) {
    for (int p = 0; p < groups; ++p) {
      for (int n = 0; n < alike; ++n) {
        work.push_back({fmt::format("s{} p{} n{}", s, p, n),
                        {"Frame", fmt::format("Pass {}", s)},
                        CAIRN_MARKER_DISPATCH,
                        static_cast<uint64_t>(p + 1),
                        static_cast<uint32_t>(n + 1)});
      }
    }
  }
  return work;
}

Result<ProgramFound> Search(ModelProgram& program, uint32_t repeats = 2) {
  ProgramSearchOptions options;
  options.repeats = repeats;
  return ProgramSearch(program.run(), options, nullptr, nullptr).Search();
}

TEST(ProgramSearch, OnePieceOfWorkAtEveryPlace) {
  for (int s = 0; s < 6; ++s) {
    for (int p = 0; p < 3; ++p) {
      for (int n = 0; n < 4; ++n) {
        const std::string guilty = fmt::format("s{} p{} n{}", s, p, n);
        ModelProgram program(Scene(6, 3, 4), [&](const Ran& ran, uint64_t) {
          return ran.contains(guilty) ? Fails(FailureKind::kHang) : Clean();
        });
        const Result<ProgramFound> found = Search(program);
        ASSERT_TRUE(found.ok()) << found.status().message();
        ASSERT_TRUE(found->answer.found);
        ASSERT_EQ(1u, found->culprits.size());
        ASSERT_EQ(1u, found->culprits[0].size());
        const ProgramCulprit& culprit = found->culprits[0][0];
        EXPECT_EQ(Suspect::Kind::kCall, culprit.suspect.kind);
        EXPECT_THAT(culprit.work.path, ElementsAre("Frame", fmt::format("Pass {}", s)));
        EXPECT_EQ(static_cast<uint32_t>(n + 1), culprit.work.ordinal);
        EXPECT_EQ(4u, culprit.alike);
        EXPECT_EQ(FailureKind::kHang, found->answer.kind);
        EXPECT_EQ(ProbeOutcome::kClean, found->answer.without);
        EXPECT_EQ(found->runs_with, found->failed_with);
        EXPECT_EQ(0u, found->failed_without);
        EXPECT_LT(0u, found->runs_without);
        EXPECT_EQ(found->answer.probes, found->runs_with + found->runs_without);
        EXPECT_EQ(program.runs(), found->answer.probes);
        EXPECT_THAT(program.runs(), Le(30u));
      }
    }
  }
}

TEST(ProgramSearch, AProgramThatDoesNotFail) {
  ModelProgram program(Scene(2, 2, 2), [](const Ran&, uint64_t) {
    TrialRun run;
    run.value = 3;
    return run;
  });
  const Result<ProgramFound> found = Search(program, 4);
  ASSERT_TRUE(found.ok());
  EXPECT_FALSE(found->answer.found);
  EXPECT_EQ(NoCulprit::kNeverFails, found->answer.no_culprit);
  EXPECT_EQ(4u, found->answer.asked);
  EXPECT_EQ(4u, found->answer.repeats);
  EXPECT_EQ(4u, program.runs());
  EXPECT_EQ(3, found->exit_code);
  EXPECT_EQ(8u, found->work);
}

TEST(ProgramSearch, TwoPiecesThatNeedEachOther) {
  ModelProgram program(Scene(5, 2, 3), [](const Ran& ran, uint64_t) {
    const bool both = ran.contains("s1 p1 n2") && ran.contains("s3 p0 n0");
    return both ? Fails(FailureKind::kDied, 11) : Clean();
  });
  const Result<ProgramFound> found = Search(program);
  ASSERT_TRUE(found.ok());
  ASSERT_TRUE(found->answer.found);
  ASSERT_EQ(1u, found->culprits.size());
  ASSERT_EQ(2u, found->culprits[0].size());
  EXPECT_EQ("Pass 1", found->culprits[0][0].work.path[1]);
  EXPECT_EQ(3u, found->culprits[0][0].work.ordinal);
  EXPECT_EQ("Pass 3", found->culprits[0][1].work.path[1]);
  EXPECT_EQ(1u, found->culprits[0][1].work.ordinal);
}

// Each of them is enough.
TEST(ProgramSearch, SeveralThatFailByThemselves) {
  const std::set<std::string> guilty = {"s0 p1 n0", "s2 p0 n1", "s2 p0 n2", "s4 p1 n2"};
  ModelProgram program(Scene(5, 2, 3), [&](const Ran& ran, uint64_t) {
    const bool any = std::any_of(guilty.begin(), guilty.end(),
                                 [&](const std::string& name) { return ran.contains(name); });
    return any ? Fails(FailureKind::kLost) : Clean();
  });
  const Result<ProgramFound> found = Search(program);
  ASSERT_TRUE(found.ok()) << found.status().message();
  ASSERT_TRUE(found->answer.found);
  std::set<std::string> named;
  for (const ProgramCulprits& culprits : found->culprits) {
    ASSERT_EQ(1u, culprits.size());
    const WorkNote& work = culprits[0].work;
    named.insert(fmt::format("s{} p{} n{}", work.path[1].back(),
                             work.group == GroupIn(work.scope, CAIRN_MARKER_DISPATCH, 1) ? 0 : 1,
                             work.ordinal - 1));
  }
  EXPECT_EQ(guilty, named);
  EXPECT_EQ(ProbeOutcome::kClean, found->answer.without);
  EXPECT_EQ(found->runs_with, found->failed_with);
  EXPECT_EQ(0u, found->failed_without);
  EXPECT_EQ(program.runs(), found->answer.probes);
  EXPECT_EQ(program.runs(), found->runs_with + found->runs_without);
}

TEST(ProgramSearch, ManyThatFailByThemselvesAreNotAllLookedFor) {
  ModelProgram program(Scene(4, 2, 3), [&](const Ran& ran, uint64_t) {
    return ran.empty() ? Clean() : Fails(FailureKind::kLost);
  });
  const Result<ProgramFound> found = Search(program);
  ASSERT_TRUE(found.ok());
  ASSERT_TRUE(found->answer.found);
  EXPECT_EQ(ProgramFound::kMost, found->culprits.size());
  EXPECT_EQ(ProbeOutcome::kFails, found->answer.without);
}

// Draws read results of copies: copies stay while draws are searched.
TEST(ProgramSearch, CopiesStayWhileDrawsAreSearched) {
  std::vector<ModelWork> work = Scene(3, 1, 2);
  work.push_back({"upload", {}, CAIRN_MARKER_COPY_BUFFER, 0, 1});
  ModelProgram program(work, [](const Ran& ran, uint64_t) {
    // Without the upload everybody reads rubbish.
    const bool rubbish = !ran.contains("upload") && !ran.empty();
    return ran.contains("s2 p0 n1") || rubbish ? Fails(FailureKind::kLost) : Clean();
  });
  const Result<ProgramFound> found = Search(program);
  ASSERT_TRUE(found.ok());
  ASSERT_TRUE(found->answer.found);
  ASSERT_EQ(1u, found->culprits.size());
  EXPECT_EQ(2u, found->culprits[0][0].work.ordinal);
  EXPECT_EQ("Pass 2", found->culprits[0][0].work.path[1]);
}

TEST(ProgramSearch, ACopyIsFoundWhenNothingElseIsTheCulprit) {
  std::vector<ModelWork> work = Scene(3, 1, 2);
  for (uint32_t i = 1; i <= 5; ++i) {
    work.push_back({fmt::format("copy {}", i), {"Upload"}, CAIRN_MARKER_COPY_BUFFER, 0, i});
  }
  ModelProgram program(work, [](const Ran& ran, uint64_t) {
    return ran.contains("copy 4") ? Fails(FailureKind::kLost) : Clean();
  });
  const Result<ProgramFound> found = Search(program);
  ASSERT_TRUE(found.ok());
  ASSERT_TRUE(found->answer.found);
  ASSERT_EQ(1u, found->culprits.size());
  EXPECT_EQ(4u, found->culprits[0][0].work.ordinal);
  EXPECT_EQ(program.runs(), found->answer.probes);
  EXPECT_EQ(found->runs_with, found->failed_with);
  EXPECT_EQ(0u, found->failed_without);
}

TEST(ProgramSearch, AFailureOfTheProgramItselfIsSaidToBeThat) {
  std::vector<ModelWork> work = Scene(3, 1, 2);
  work.push_back({"copy", {}, CAIRN_MARKER_COPY_BUFFER, 0, 1});
  ModelProgram program(work, [](const Ran&, uint64_t) { return Fails(FailureKind::kDied, 6); });
  const Result<ProgramFound> found = Search(program);
  ASSERT_TRUE(found.ok());
  EXPECT_FALSE(found->answer.found);
  EXPECT_EQ(NoCulprit::kFailsAnyway, found->answer.no_culprit);
  EXPECT_EQ(program.runs(), found->answer.probes);
}

TEST(ProgramSearch, AProgramWithoutWorkHasNoCulprit) {
  ModelProgram program({}, [](const Ran&, uint64_t) { return Fails(FailureKind::kDied, 11); });
  const Result<ProgramFound> found = Search(program);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(NoCulprit::kFailsAnyway, found->answer.no_culprit);
  EXPECT_EQ(2u, program.runs());
}

TEST(ProgramSearch, AnotherKindOfFailureIsNone) {
  ModelProgram program(Scene(6, 1, 2), [](const Ran& ran, uint64_t) {
    if (ran.contains("s4 p0 n1")) return Fails(FailureKind::kHang);
    // Without the first pass the program dies by itself.
    return ran.contains("s0 p0 n0") ? Clean() : Fails(FailureKind::kDied, 6);
  });
  const Result<ProgramFound> found = Search(program);
  ASSERT_TRUE(found.ok());
  ASSERT_TRUE(found->answer.found);
  ASSERT_EQ(1u, found->culprits.size());
  EXPECT_EQ("Pass 4", found->culprits[0][0].work.path[1]);
  EXPECT_LT(0u, found->failed_otherwise);
}

TEST(ProgramSearch, WhatFailsInTwoOfThreeRuns) {
  for (uint64_t phase = 0; phase < 3; ++phase) {
    ModelProgram program(Scene(6, 2, 2), [&](const Ran& ran, uint64_t run) {
      const bool this_time = (run * run + run / 2 + phase) % 3 != 0;
      return ran.contains("s2 p1 n0") && this_time ? Fails(FailureKind::kHang) : Clean();
    });
    const Result<ProgramFound> found = Search(program, 10);
    ASSERT_TRUE(found.ok()) << found.status().message();
    ASSERT_TRUE(found->answer.found);
    ASSERT_EQ(1u, found->culprits.size());
    EXPECT_EQ("Pass 2", found->culprits[0][0].work.path[1]);
    EXPECT_LT(found->failed_with, found->runs_with);
    EXPECT_LT(0u, found->failed_with);
    EXPECT_EQ(0u, found->failed_without);
  }
}

// Work that comes and goes is told, and left out unless it is in what stays.
TEST(ProgramSearch, IrregularWorkIsCounted) {
  class Irregular {
   public:
    Result<TrialRun> operator()(const BoardQuestion& question, uint64_t most_ns) {
      std::vector<ModelWork> work = Scene(4, 1, 2);
      work.push_back({"odd", {fmt::format("Frame {}", ++runs_)}, CAIRN_MARKER_DRAW, 5, 1});
      ModelProgram program(work, [](const Ran& ran, uint64_t) {
        return ran.contains("s1 p0 n0") ? Fails(FailureKind::kHang) : Clean();
      });
      return program.run()(question, most_ns);
    }

   private:
    uint64_t runs_ = 0;
  };
  ProgramSearchOptions options;
  options.repeats = 3;
  const Result<ProgramFound> found = ProgramSearch(Irregular(), options, nullptr, nullptr).Search();
  ASSERT_TRUE(found.ok());
  ASSERT_TRUE(found->answer.found);
  EXPECT_EQ("Pass 1", found->culprits[0][0].work.path[1]);
  EXPECT_EQ(11u, found->work);
  EXPECT_EQ(3u, found->work_not_in_all);
}

// A GPU that crashed is gone for two runs: those say nothing.
TEST(ProgramSearch, ARunThatMeetsNoGpuIsMadeAgain) {
  uint64_t failed_at = 0;
  ModelProgram program(Scene(4, 1, 2), [&](const Ran& ran, uint64_t run) {
    if (failed_at != 0 && run <= failed_at + 2) {
      TrialRun gone;
      gone.value = ModelProgram::kNoGpu;
      return gone;
    }
    if (!ran.contains("s1 p0 n1")) return Clean();
    failed_at = run;
    return Fails(FailureKind::kLost);
  });
  ProgramSearchOptions options;
  std::vector<uint32_t> pauses;
  options.pause = [&](uint32_t nth) { pauses.push_back(nth); };
  const Result<ProgramFound> found =
      ProgramSearch(program.run(), options, nullptr, nullptr).Search();
  ASSERT_TRUE(found.ok()) << found.status().message();
  ASSERT_TRUE(found->answer.found);
  EXPECT_EQ("Pass 1", found->culprits[0][0].work.path[1]);
  EXPECT_LT(0u, found->answer.undecided);
  ASSERT_LE(2u, pauses.size());
  EXPECT_EQ(1u, pauses[0]);
  EXPECT_EQ(2u, pauses[1]);
}

// The next best device is taken for a while, mostly one of software, on which nothing fails.
TEST(ProgramSearch, ARunOnAnotherGpuIsMadeAgain) {
  uint64_t failed_at = 0;
  ModelProgram model(Scene(4, 1, 2), [&](const Ran& ran, uint64_t run) {
    if (failed_at != 0 && run == failed_at + 1) return Clean();
    if (!ran.contains("s1 p0 n1")) return Clean();
    failed_at = run;
    return Fails(FailureKind::kLost);
  });
  const RunProgram program = [&](const BoardQuestion& question,
                                 uint64_t most_ns) -> Result<TrialRun> {
    const bool elsewhere = failed_at != 0 && model.runs() == failed_at;
    Result<TrialRun> run = model.run()(question, most_ns);
    run->catalogue.devices = {elsewhere ? "llvmpipe" : "Big GPU"};
    return run;
  };
  const Result<ProgramFound> found = ProgramSearch(program, {}, nullptr, nullptr).Search();
  ASSERT_TRUE(found.ok()) << found.status().message();
  ASSERT_TRUE(found->answer.found);
  EXPECT_EQ("Pass 1", found->culprits[0][0].work.path[1]);
  EXPECT_LT(0u, found->answer.undecided);
  EXPECT_THAT(found->devices, ElementsAre("Big GPU"));
}

TEST(ProgramSearch, AGpuThatStaysAwayEndsTheSearch) {
  ModelProgram program(Scene(4, 1, 2), [](const Ran&, uint64_t run) {
    if (run == 1) return Fails(FailureKind::kLost);
    TrialRun gone;
    gone.value = ModelProgram::kNoGpu;
    return gone;
  });
  const Result<ProgramFound> found = Search(program);
  ASSERT_FALSE(found.ok());
  EXPECT_THAT(found.status().message(), HasSubstr("met no GPU this time"));
}

TEST(ProgramSearch, AStuckRunIsNoFailure) {
  ModelProgram program(Scene(4, 1, 1), [](const Ran& ran, uint64_t) {
    if (ran.contains("s2 p0 n0")) return Fails(FailureKind::kHang);
    TrialRun stuck;
    stuck.end = TrialEnd::kStuck;
    return ran.contains("s0 p0 n0") ? Clean() : stuck;
  });
  const Result<ProgramFound> found = Search(program);
  ASSERT_TRUE(found.ok());
  ASSERT_TRUE(found->answer.found);
  EXPECT_EQ("Pass 2", found->culprits[0][0].work.path[1]);
  EXPECT_LT(0u, found->stuck);
}

TEST(ProgramSearch, SavesWhatItLearns) {
  ModelProgram program(Scene(2, 1, 1), [](const Ran&, uint64_t) { return Clean(); });
  ProgramSearchOptions options;
  options.repeats = 3;
  std::vector<uint32_t> runs;
  options.save = [&](const WorkCatalogue& catalogue) {
    EXPECT_EQ(2u, catalogue.work.size());
    runs.push_back(catalogue.runs);
    return Status();
  };
  ASSERT_TRUE(ProgramSearch(program.run(), options, nullptr, nullptr).Search().ok());
  EXPECT_THAT(runs, ElementsAre(1, 2, 3));
  options.save = [](const WorkCatalogue&) { return Status(StatusCode::kIo, "no space"); };
  EXPECT_EQ("no space",
            ProgramSearch(program.run(), options, nullptr, nullptr).Search().status().message());
}

}  // namespace
}  // namespace cairn
