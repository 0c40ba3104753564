// SPDX-License-Identifier: Apache-2.0
//
// The search on real devices, without Direct3D 12 in between: a scene of submissions, lists and dispatches
// of Vulkan, one of which stores through a bad address, is played in child processes. On lavapipe the
// process dies of it. An NVIDIA GPU finishes that dispatch and signals its fence; what comes next never
// ends: there the canary after each submission is what names it (docs/internals/bisect.md).
//
// CAIRN_SAMPLE_DEVICE chooses the device; CAIRN_BISECT_SCENES how many scenes are played, 2 if not set.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "embedded/fault.comp.spv.h"
#include "os/child.h"
#include "reader/bisect/bisect.h"
#include "reader/bisect/probe_answer.h"
#include "reader/bisect/probe_process.h"
#include "reader/bisect/probe_question.h"
#include "vulkan_work.h"

namespace cairn {
namespace {

using ::testing::ElementsAreArray;

constexpr uint32_t kWords = 1024;
constexpr double kHangSeconds = 3;
// Added to a submission's number while the canary after it runs.
constexpr uint64_t kCanary = 1;
// See samples/fault_vulkan.cc.
constexpr uint64_t kBadAddress = 0x00000bad'dead0000;

struct Scene {
  uint64_t submissions = 1;
  uint32_t lists = 1;
  uint64_t dispatches = 1;
  std::set<uint64_t> bad;  // numbers of dispatches that store nowhere
};

// The words with which a probe plays it.
std::vector<std::string> WordsOf(const Scene& scene) {
  std::vector<std::string> words = {std::to_string(scene.submissions), std::to_string(scene.lists),
                                    std::to_string(scene.dispatches)};
  for (const uint64_t call : scene.bad) words.push_back(std::to_string(call));
  return words;
}

Scene SceneOf(const std::vector<std::string>& words) {
  Scene scene = {std::stoull(words.at(0)),
                 static_cast<uint32_t>(std::stoul(words.at(1))),
                 std::stoull(words.at(2)),
                 {}};
  for (size_t i = 3; i < words.size(); ++i) scene.bad.insert(std::stoull(words[i]));
  return scene;
}

// Submission i (from 1) has the number i * 1000; dispatches have numbers below it.
BisectTree TreeOf(const Scene& scene) {
  BisectTree tree;
  for (uint64_t i = 1; i <= scene.submissions; ++i) {
    BisectTree::Submission submission = {i * 1000, {}};
    for (uint32_t j = 0; j < scene.lists; ++j) {
      std::vector<uint64_t> calls;
      for (uint64_t k = 0; k < scene.dispatches; ++k) calls.push_back(i * 1000 - 900 + j * 100 + k);
      submission.lists.push_back(
          {j, std::make_shared<const std::vector<uint64_t>>(std::move(calls))});
    }
    tree.submissions.push_back(std::move(submission));
  }
  return tree;
}

// In the child. Nothing is destroyed: a device that hangs would wait for ever.
class Player {
 public:
  Player(const Scene& scene, const BisectQuestion& question, ProbeStatus& status)
      : scene_(scene),
        question_(question),
        status_(status),
        device_(*new sample::Device("bisect_vulkan_test", {})),
        buffer_(device_.CreateBuffer(kWords)),
        canary_buffer_(device_.CreateBuffer(kWords)),
        fill_(sample::CreateFillPipeline(device_, buffer_)),
        canary_(sample::CreateFillPipeline(device_, canary_buffer_)),
        scatter_(sample::CreateComputePipeline(
            device_, "Scatter", {kFaultCompSpv, sizeof(kFaultCompSpv), "ScatterCS"}, buffer_)) {}

  // False: a fence did not come.
  bool Play(const BisectTree& tree) {
    for (const BisectTree::Submission& submission : tree.submissions) {
      if (submission.call >= question_.stop_before) break;
      status_.At(submission.call);
      if (LeftOut({Suspect::Kind::kSubmission, submission.call, 0})) continue;
      std::vector<sample::List> lists;
      for (uint32_t j = 0; j < submission.lists.size(); ++j) {
        if (LeftOut({Suspect::Kind::kList, submission.call, j})) continue;
        lists.push_back(Record(*submission.lists[j].calls));
      }
      if (!Wait(lists)) return false;
      status_.At(submission.call + kCanary);
      if (!CanaryLives()) return false;
    }
    return true;
  }

 private:
  bool LeftOut(const Suspect& suspect) const {
    return std::binary_search(question_.left_out.begin(), question_.left_out.end(), suspect);
  }

  sample::List Record(const std::vector<uint64_t>& calls) {
    const sample::List list = device_.BeginList(device_.graphics(), nullptr);
    for (const uint64_t call : calls) {
      if (LeftOut({Suspect::Kind::kCall, call, 0})) continue;
      if (!scene_.bad.contains(call)) {
        sample::DispatchFill(list, "Fill", fill_, {static_cast<uint32_t>(call), 0, kWords});
        continue;
      }
      const uint32_t constants[3] = {static_cast<uint32_t>(kBadAddress),
                                     static_cast<uint32_t>(kBadAddress >> 32), 7};
      sample::Dispatch(list, "Scatter to nowhere", scatter_, constants, sizeof(constants), 1);
    }
    device_.EndList(list);
    return list;
  }

  bool Wait(const std::vector<sample::List>& lists) {
    return device_.Wait(device_.Submit(device_.graphics(), lists), kHangSeconds);
  }

  // Returns true if an innocent dispatch finishes, and its words arrive.
  bool CanaryLives() {
    const sample::FillConstants constants = {++canary_value_, 0, kWords};
    const sample::List list = device_.BeginList(device_.graphics(), nullptr);
    sample::DispatchFill(list, "Canary", canary_, constants);
    device_.EndList(list);
    return Wait({list}) && sample::Filled(canary_buffer_, constants);
  }

  const Scene& scene_;
  const BisectQuestion& question_;
  ProbeStatus& status_;
  sample::Device& device_;
  const sample::Buffer buffer_;
  const sample::Buffer canary_buffer_;
  const sample::Pipeline fill_;
  const sample::Pipeline canary_;
  const sample::Pipeline scatter_;
  uint32_t canary_value_ = 0;
};

struct Found {
  BisectAnswer answer;
  uint64_t failures = 0;
  uint64_t by_canary = 0;  // failures that the canary alone showed
};

Found Find(const Scene& scene) {
  const BisectTree tree = TreeOf(scene);
  Found found;
  const Probe probe = [&](const BisectQuestion& question) -> Result<ProbeAnswer> {
    ProbeLimits limits;
    limits.stall_timeout_ns = uint64_t{60} * 1'000'000'000;
    const Result<ProbeRun> run =
        RunProbe(limits, WordsOf(scene), WriteProbeQuestion({.leave = question}));
    if (!run.ok()) return run.status();
    const Result<ProbeAnswer> answer = AnswerOf(*run, tree);
    if (answer.ok() && answer->outcome == ProbeOutcome::kFails) {
      ++found.failures;
      found.by_canary += run->call % 1000 == kCanary;
    }
    return answer;
  };
  const Result<BisectAnswer> answer = Bisect(tree, probe, {});
  EXPECT_TRUE(answer.ok()) << answer.status().message();
  if (answer.ok()) found.answer = *answer;
  return found;
}

// Culprits at the places where a search goes wrong first: the ends of lists and submissions.
std::vector<Scene> Scenes() {
  const char* count = std::getenv("CAIRN_BISECT_SCENES");
  std::vector<Scene> scenes = {
      {6, 2, 5, {3'204}},  // the last dispatch of a submission: only the canary comes after it
      {6, 2, 5, {4'102}},  // in the middle
      {6, 2, 5, {100}},    // the very first
      {6, 2, 5, {5'204}},  // the very last
      {6, 2, 5, {2'104}},  // the last of a list: the next list would be the culprit
      {6, 2, 5, {3'200}},  // the first of a second list
      {40, 3, 20, {27'113}}, {1, 1, 1, {100}},
  };
  const size_t wanted = count == nullptr ? 2 : std::strtoul(count, nullptr, 10);
  scenes.resize(std::min(scenes.size(), wanted));
  return scenes;
}

TEST(BisectVulkan, TheDispatchIsNamed) {
  for (const Scene& scene : Scenes()) {
    const Found found = Find(scene);
    EXPECT_TRUE(found.answer.found);
    std::vector<Suspect> expected;
    for (const uint64_t call : scene.bad) expected.push_back({Suspect::Kind::kCall, call, 0});
    EXPECT_THAT(found.answer.culprits, ElementsAreArray(expected));
    EXPECT_EQ(ProbeOutcome::kClean, found.answer.without);
    fmt::print("{} submissions of {} lists of {} dispatches: {} named after {} probes; ",
               scene.submissions, scene.lists, scene.dispatches, *scene.bad.begin(),
               found.answer.probes);
    fmt::print("{} failed, {} of them in the canary\n", found.failures, found.by_canary);
    std::fflush(stdout);
  }
}

TEST(BisectVulkan, NothingIsFoundWhereNothingFails) {
  const Found found = Find({3, 2, 4, {}});
  EXPECT_EQ(NoCulprit::kNeverFails, found.answer.no_culprit);
  EXPECT_EQ(2u, found.answer.probes);
}

Status PlayScene(const std::vector<std::string>& words) {
  return AnswerProbe([&](std::span<const std::byte> bytes, ProbeStatus& status) {
    const Scene scene = SceneOf(words);
    const Result<ProbeQuestion> question = ReadProbeQuestion(bytes);
    if (!question.ok()) return status.End(ProbeEnd::kError, question.status().message());
    auto& player = *new Player(scene, question->leave, status);
    status.End(player.Play(TreeOf(scene)) ? ProbeEnd::kFinished : ProbeEnd::kHang);
  });
}

}  // namespace
}  // namespace cairn

// A probe is this program, run again.
int main(int argc, char** argv) {
  if (cairn::WasStartedAsChild()) {
    return cairn::PlayScene(std::vector<std::string>(argv + 1, argv + argc)).ok() ? 0 : 1;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
