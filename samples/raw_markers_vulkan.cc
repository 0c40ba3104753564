// SPDX-License-Identifier: Apache-2.0
//
// Raw markers and what follows from them: the five examples of the AGS documentation, each with one of its
// draws that does not end until the CPU lets it go, and its loop that reads the markers back after a present
// that failed. The answer is checked against the truth, which this program knows.
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>

#include "cairn/markers.h"

#include "embedded/triangle.vert.spv.h"
#include "embedded/wait.frag.spv.h"
#include "sudden_end.h"
#include "vulkan_work.h"

namespace {

constexpr uint32_t kWorks = 8;
constexpr uint64_t kTopValue = 0xDEADCAFE;
constexpr uint64_t kBottomValue = 0xDEADBEEF;
// Fragments are made one after another on a CPU, at the same time on a GPU: seconds on either.
constexpr uint32_t kSize = 1024;
constexpr uint32_t kTripsOnCpu = 6000;
constexpr uint32_t kTripsOnGpu = 1u << 20;

// 'T' and 'B': markers, numbered from 1; 'X', 'Y', 'Z' and 'D': draws.
struct Example {
  const char* name;
  const char* commands;
};
constexpr Example kExamples[] = {{"Example 1", "TBBXBBT"},
                                 {"Example 2", "TXBTYB"},
                                 {"Example 3", "BXBYBZB"},
                                 {"Example 4", "TXTYTZ"},
                                 {"Example 5", "XTBYTB"}};

bool IsMarker(char command) {
  return command == 'T' || command == 'B';
}

class Scene {
 public:
  explicit Scene(sample::Device& device)
      : device_(device),
        picture_(device, kSize, kSize),
        works_(device.CreateBuffer(2 * kWorks)),
        pipeline_(sample::CreateGraphicsPipeline(
            device, "Wait", {kTriangleVertSpv, sizeof(kTriangleVertSpv), "TriangleVS"},
            {kWaitFragSpv, sizeof(kWaitFragSpv), "WaitPS"}, kSize, kSize, &works_)) {
    uint32_t count = 0;
    if (cairnGetMarkers(device.telling().context(), &slots_, &count) != CAIRN_OK || count < 1024) {
      sample::Fail("the context has no room for raw markers");
    }
  }

  // Records and executes `commands`, of which draw number `hanging` does not end; true if the GPU is in
  // it, and all has arrived that has to.
  bool Start(const char* name, const std::string& commands, uint32_t hanging);
  // Lets it go, and waits for the end.
  void Finish() {
    Release(hanging_);
    device_.WaitOrReportLoss(fence_, 60);
  }
  // "" or what contradicts the truth. Prints what follows.
  std::string Conclude() const;

  uint64_t Slot(uint32_t number) const { return slots_[first_slot_ + number]; }
  bool Written(uint32_t number) const { return Slot(number) != CAIRN_MARKER_UNWRITTEN; }

 private:
  std::atomic_ref<uint32_t> Word(uint32_t index) const {
    return std::atomic_ref<uint32_t>(works_.words[index]);
  }
  void Release(uint32_t work) const { Word(2 * work + 1).store(1); }
  void Record(const sample::List& list);
  void Draw(const sample::List& list, uint32_t work, const char* name);
  bool Arrived() const;

  sample::Device& device_;
  sample::Picture picture_;
  sample::Buffer works_;  // for each draw: started, let go
  sample::Pipeline pipeline_;
  const volatile uint64_t* slots_ = nullptr;
  std::string commands_;
  uint32_t hanging_ = 0;
  uint32_t first_slot_ = 0;
  uint32_t next_slot_ = 0;
  VkFence fence_ = VK_NULL_HANDLE;
};

void Scene::Draw(const sample::List& list, uint32_t work, const char* name) {
  const uint32_t constants[] = {work, device_.on_cpu() ? kTripsOnCpu : kTripsOnGpu};
  const sample::Scope scope(list, CAIRN_MARKER_DRAW, name);
  picture_.Begin(list);
  vkCmdBindPipeline(list.commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline_.pipeline);
  vkCmdBindDescriptorSets(list.commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline_.layout, 0, 1,
                          &pipeline_.buffer_set, 0, nullptr);
  vkCmdPushConstants(list.commands, pipeline_.layout,
                     VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT, 0,
                     sizeof(constants), constants);
  vkCmdDraw(list.commands, 3, 1, 0, 0);
  picture_.End(list);
}

void Scene::Record(const sample::List& list) {
  constexpr const char* kNames[] = {"Draw 0", "Draw 1", "Draw 2", "Draw 3",
                                    "Draw 4", "Draw 5", "Draw 6", "Draw 7"};
  uint32_t marker = 0;
  uint32_t work = 0;
  for (const char command : commands_) {
    if (IsMarker(command)) {
      list.telling->WriteMarker(list.commands, first_slot_ + marker++,
                                command == 'T' ? kTopValue : kBottomValue,
                                command == 'T' ? CAIRN_TOP_OF_PIPE : CAIRN_BOTTOM_OF_PIPE);
    } else {
      const char* const name = command == 'X'   ? "DrawX"
                               : command == 'Y' ? "DrawY"
                               : command == 'Z' ? "DrawZ"
                                                : kNames[work];
      Draw(list, work++, name);
    }
  }
}

// Returns true once the writes that come before the end of the hanging draw have arrived: all
// markers before it, the top ones directly behind it, and the draw's own.
bool Scene::Arrived() const {
  if (Word(2 * hanging_).load() == 0) return false;
  uint32_t marker = 0;
  uint32_t work = 0;
  bool behind = false;
  for (const char command : commands_) {
    if (!IsMarker(command)) {
      if (behind) return true;
      behind = work++ == hanging_;
    } else {
      if (behind && command == 'B') return true;
      if (!Written(marker++)) return false;
    }
  }
  return true;
}

bool Scene::Start(const char* name, const std::string& commands, uint32_t hanging) {
  commands_ = commands;
  hanging_ = hanging;
  // Uses new slots, so that unwritten ones are recognised.
  first_slot_ = next_slot_;
  for (const char command : commands) next_slot_ += IsMarker(command);
  for (uint32_t work = 0; work < kWorks; ++work) {
    Word(2 * work).store(0);
    Word(2 * work + 1).store(work != hanging);
  }
  const sample::List list = device_.BeginList(device_.graphics(), name);
  Record(list);
  device_.EndList(list);
  fence_ = device_.Submit(device_.graphics(), {list});
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!Arrived()) {
    cairnRefresh(device_.telling().context());
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

std::string Scene::Conclude() const {
  std::vector<CairnRawCommand> commands;
  std::string draws;
  uint32_t markers = 0;
  std::string written;
  for (const char command : commands_) {
    if (!IsMarker(command)) {
      commands.push_back({CAIRN_RAW_WORK, 0, 0});
      draws += command;
      continue;
    }
    if (Written(markers)) written += fmt::format(" {}", markers + 1);
    commands.push_back({command == 'T' ? CAIRN_RAW_TOP_MARKER : CAIRN_RAW_BOTTOM_MARKER, markers++,
                        command == 'T' ? kTopValue : kBottomValue});
  }
  CairnRawVerdict verdicts[kWorks] = {};
  uint32_t count = kWorks;
  uint32_t consistent = 0;
  if (cairnInferFromMarkers(commands.data(), static_cast<uint32_t>(commands.size()),
                            slots_ + first_slot_, markers, 0, verdicts, &count,
                            &consistent) != CAIRN_OK) {
    return cairnGetLastErrorMessage();
  }
  std::string may_run;
  for (uint32_t i = 0; i < count; ++i) {
    if (verdicts[i].state != CAIRN_RAW_MAY_RUN) continue;
    may_run += fmt::format(" Draw{}{}", draws[i], verdicts[i].likely != 0 ? "" : " (unlikely)");
  }
  fmt::print("Draw{} hangs, written:{}, it may be:{}\n", draws[hanging_], written, may_run);
  if (consistent == 0) return "no order of execution leaves the slots like this";
  for (uint32_t i = 0; i < count; ++i) {
    const CairnRawState state = verdicts[i].state;
    if (i == hanging_ && (state != CAIRN_RAW_MAY_RUN || verdicts[i].likely == 0)) {
      return "the draw that hangs is not among the likely ones: " + std::string(verdicts[i].reason);
    }
    if (i > hanging_ && state == CAIRN_RAW_FINISHED) {
      return "a draw behind the one that hangs is said to have finished";
    }
    if (i < hanging_ && state == CAIRN_RAW_NOT_STARTED) {
      return "a draw before the one that hangs is said not to have started";
    }
  }
  return "";
}

void RunExamples(Scene& scene) {
  for (const Example& example : kExamples) {
    const std::string commands = example.commands;
    uint32_t works = 0;
    for (const char command : commands) works += !IsMarker(command);
    for (uint32_t hanging = 0; hanging < works; ++hanging) {
      if (!scene.Start(example.name, commands, hanging)) {
        sample::Fail(
            fmt::format("{}: markers that wait for nothing did not arrive in 20 s", example.name));
      }
      fmt::print("{}: ", example.name);
      const std::string problem = scene.Conclude();
      scene.Finish();
      if (!problem.empty()) sample::Fail(fmt::format("{}: {}", example.name, problem));
    }
  }
}

// Records as the documentation shows: a top marker before each draw and a bottom marker behind it;
// they are read after a failed present (here: a fence that is not signalled).
void RunReadBack(Scene& scene, bool kill) {
  constexpr uint32_t kHanging = 5;
  std::string commands;
  for (uint32_t i = 0; i < kWorks; ++i) commands += "TDB";
  if (!scene.Start("Read-back", commands, kHanging)) {
    sample::Fail("read-back: markers that wait for nothing did not arrive in 20 s");
  }
  for (uint32_t i = 0; i < kWorks; ++i) {
    fmt::print("The draw count is {}; the top marker is {:016X} and the bottom marker is {:016X}\n",
               i, scene.Slot(2 * i), scene.Slot(2 * i + 1));
  }
  std::fflush(stdout);
  if (kill) sample::EndSuddenly();
  const bool good = scene.Slot(2 * kHanging) == kTopValue && !scene.Written(2 * kHanging + 1) &&
                    scene.Slot(2 * kHanging - 1) == kBottomValue;
  scene.Finish();
  if (!good) sample::Fail("the markers around the draw that hangs are not what they should be");
}

}  // namespace

int main(int argc, char** argv) {
  sample::CommandLine line(
      "Runs the five examples of raw markers, and a loop that reads them back.");
  // Breadcrumbs at the bottom of the pipe would be further markers behind each draw.
  sample::Options options;
  options.mode = CAIRN_MODE_TOP;
  bool kill = false;
  line.Flag("--kill", &kill, "leave out the examples; end by SIGKILL while the sixth draw hangs");
  line.Read(argc, argv);
  sample::Device device("sample-raw-markers-vulkan", options);
  Scene scene(device);
  if (!kill) RunExamples(scene);
  RunReadBack(scene, kill);
  return 0;
}
