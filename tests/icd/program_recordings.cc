// SPDX-License-Identifier: Apache-2.0
#include "icd/program_scenarios.h"

namespace cairn::icd {
namespace {

constexpr VkCommandBufferUsageFlags kSimultaneous = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT;
constexpr int kRuns = 5;

// Submits a list often without waiting; the last run hangs in its second dispatch.
int Simultaneous(ProgramDevice& device) {
  const ProgramList list = Recorded(device, {"First", "|", "Second"}, "Prerecorded", kSimultaneous);
  for (int i = 1; i < kRuns; ++i) {
    if (!device.Submit(device.graphics(), {list}, {}, VK_NULL_HANDLE)) return 1;
  }
  device.Script(device.graphics(), "hang");
  return RunAndDie(device, list);
}

// All runs are submitted before the first can start.
int SimultaneousWaiting(ProgramDevice& device) {
  const ProgramList list = Recorded(device, {"First"}, "Prerecorded", kSimultaneous);
  const SubmitSync sync = {.wait = device.CreateTimeline("Start"), .wait_value = 1};
  for (int i = 0; i < kRuns; ++i) {
    if (!device.Submit(device.graphics(), {list}, sync, VK_NULL_HANDLE)) return 1;
  }
  KillSelf();
}

// Prerecorded, submitted again each time that it has finished, then hangs in the last dispatch.
int Resubmitted(ProgramDevice& device) {
  const ProgramList list = Recorded(device, {"First", "|", "Second"}, "Prerecorded", 0);
  for (int i = 1; i < kRuns; ++i) {
    if (!device.SubmitAndWait(device.graphics(), {list})) return 1;
  }
  device.Script(device.graphics(), "hang");
  return RunAndDie(device, list);
}

ProgramList Secondary(ProgramDevice& device, VkCommandBufferUsageFlags flags, const char* name,
                      const char* first, const char* second, bool hangs) {
  ProgramList list =
      device.Begin(device.graphics(), name, flags, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
  list.Add({first, "|"});
  if (hangs) list.Script("hang");
  list.Dispatch(second);
  list.End();
  return list;
}

// Two secondaries in one primary; the second dispatch of the second one hangs.
int RunSecondaries(ProgramDevice& device, VkCommandBufferUsageFlags flags) {
  const ProgramList one = Secondary(device, flags, "One", "A", "B", false);
  const ProgramList two = Secondary(device, flags, "Two", "C", "Culprit", true);
  ProgramList list = device.Begin(device.graphics(), "Main");
  list.Add({"Before", "|"});
  list.Execute({one, two});
  list.Add({"|", "Behind"});
  list.End();
  return RunAndDie(device, list);
}

int Secondaries(ProgramDevice& device) {
  return RunSecondaries(device, 0);
}

int SimultaneousSecondaries(ProgramDevice& device) {
  return RunSecondaries(device, kSimultaneous);
}

// A secondary that ran in an earlier submission runs again, and hangs in its first dispatch.
int SecondaryAgain(ProgramDevice& device) {
  const ProgramList one = Secondary(device, 0, "One", "Culprit", "B", false);
  for (int i = 0; i < 2; ++i) {
    ProgramList list = device.Begin(device.graphics(), i == 0 ? "Frame 1" : "Frame 2");
    list.Execute({one});
    list.End();
    if (i == 0) {
      if (!device.SubmitAndWait(device.graphics(), {list})) return 1;
      continue;
    }
    device.Script(device.graphics(), "hang");
    return RunAndDie(device, list);
  }
  return 0;
}

// The second draw of a render pass hangs.
int RenderPass(ProgramDevice& device) {
  ProgramList list = device.Begin(device.graphics(), "Main");
  list.Add({"Before", "|"});
  list.BeginRendering();
  list.Draw("First");
  list.Script("hang");
  list.Draw("Culprit");
  list.EndRendering();
  list.Add({"|", "Behind"});
  list.End();
  return RunAndDie(device, list);
}

// A copy on the queue that can do nothing else.
int TransferQueue(ProgramDevice& device) {
  const ProgramBuffer buffer = device.CreateBuffer(4096, "Target");
  ProgramList list = device.Begin(device.copies(), "Upload");
  list.Copy("First", buffer);
  list.Barrier();
  list.Script("hang in transfer");
  list.Copy("Culprit", buffer);
  list.Barrier();
  list.Copy("Last", buffer);
  list.End();
  return RunAndDie(device, list, &device.copies());
}

// Each queue waits for the next, and the last for a value that nobody signals.
int WaitGraph(ProgramDevice& device) {
  const VkSemaphore first = device.CreateTimeline("First");
  const VkSemaphore second = device.CreateTimeline("Second");
  const VkSemaphore never = device.CreateTimeline("Never");
  const ProgramList graphics = Recorded(device, {"Draws"});
  ProgramList compute = device.Begin(device.compute(), "Async");
  compute.Dispatch("Computes");
  compute.End();
  const VkFence fence = device.CreateFence();
  const SubmitSync main_sync = {first, 3, second, 4};
  const SubmitSync async_sync = {never, 9, first, 3};
  if (!device.Submit(device.graphics(), {graphics}, main_sync, fence) ||
      !device.Submit(device.compute(), {compute}, async_sync, VK_NULL_HANDLE)) {
    return 1;
  }
  SayReady();
  return device.Wait(fence) ? 0 : 1;
}

// Much that ends at barriers, and what hangs: behind a barrier that does not wait for it there is more.
int Barriers(ProgramDevice& device) {
  ProgramList list = device.Begin(device.graphics(), "Main");
  for (const char* name : {"First", "Second", "Third", "Fourth", "Fifth", "Sixth"}) {
    list.BeginRendering();
    list.Draw("Drawn");
    list.EndRendering();
    list.Add({name, "|"});
  }
  list.Dispatch("Near");
  list.BarrierOfDraws();
  list.Add({"icd: hang", "Culprit"});
  list.BarrierOfDraws();
  list.Add({"Behind", "|", "Never"});
  list.End();
  return RunAndDie(device, list);
}

constexpr Scenario kScenarios[] = {
    {"barriers", Barriers},
    {"simultaneous", Simultaneous},
    {"simultaneous-waiting", SimultaneousWaiting},
    {"resubmitted", Resubmitted},
    {"secondaries", Secondaries},
    {"simultaneous-secondaries", SimultaneousSecondaries},
    {"secondary-again", SecondaryAgain},
    {"render-pass", RenderPass},
    {"transfer-queue", TransferQueue},
    {"wait-graph", WaitGraph},
};

}  // namespace

std::span<const Scenario> RecordingScenarios() {
  return kScenarios;
}

}  // namespace cairn::icd
