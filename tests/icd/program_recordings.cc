// SPDX-License-Identifier: Apache-2.0
#include "icd/program_scenarios.h"

namespace cairn::icd {
namespace {

constexpr VkCommandBufferUsageFlags kSimultaneous = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT;
constexpr int kRuns = 5;

int DieOnceStill(ProgramDevice& device, VkFence fence) {
  if (!device.Wait(fence, 1)) return 1;
  KillSelf();
}

// Submits a list often without waiting; the last run hangs in its second dispatch.
int Simultaneous(ProgramDevice& device) {
  ProgramList list = device.Begin(device.graphics(), "Prerecorded", kSimultaneous);
  list.Dispatch("First");
  list.Barrier();
  list.Dispatch("Second");
  list.End();
  for (int i = 1; i < kRuns; ++i) {
    if (!device.Submit(device.graphics(), {list}, {}, VK_NULL_HANDLE)) return 1;
  }
  device.Script(device.graphics(), "hang");
  const VkFence fence = device.CreateFence();
  if (!device.Submit(device.graphics(), {list}, {}, fence)) return 1;
  return DieOnceStill(device, fence);
}

// All runs are submitted before the first can start.
int SimultaneousWaiting(ProgramDevice& device) {
  ProgramList list = device.Begin(device.graphics(), "Prerecorded", kSimultaneous);
  list.Dispatch("First");
  list.End();
  SubmitSync sync;
  sync.wait = device.CreateTimeline("Start");
  sync.wait_value = 1;
  for (int i = 0; i < kRuns; ++i) {
    if (!device.Submit(device.graphics(), {list}, sync, VK_NULL_HANDLE)) return 1;
  }
  KillSelf();
}

// Prerecorded, submitted again each time that it has finished, then hangs in the last dispatch.
int Resubmitted(ProgramDevice& device) {
  ProgramList list = device.Begin(device.graphics(), "Prerecorded", 0);
  list.Dispatch("First");
  list.Barrier();
  list.Dispatch("Second");
  list.End();
  for (int i = 1; i < kRuns; ++i) {
    if (!device.SubmitAndWait(device.graphics(), {list})) return 1;
  }
  device.Script(device.graphics(), "hang");
  const VkFence fence = device.CreateFence();
  if (!device.Submit(device.graphics(), {list}, {}, fence)) return 1;
  return DieOnceStill(device, fence);
}

ProgramList Secondary(ProgramDevice& device, VkCommandBufferUsageFlags flags, const char* name,
                      const char* first, const char* second, bool hangs) {
  ProgramList list =
      device.Begin(device.graphics(), name, flags, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
  list.Dispatch(first);
  list.Barrier();
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
  list.Dispatch("Before");
  list.Barrier();
  list.Execute({one, two});
  list.Barrier();
  list.Dispatch("Behind");
  list.End();
  const VkFence fence = device.CreateFence();
  if (!device.Submit(device.graphics(), {list}, {}, fence)) return 1;
  return DieOnceStill(device, fence);
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
    const VkFence fence = device.CreateFence();
    if (!device.Submit(device.graphics(), {list}, {}, fence)) return 1;
    return DieOnceStill(device, fence);
  }
  return 0;
}

// The second draw of a render pass hangs.
int RenderPass(ProgramDevice& device) {
  ProgramList list = device.Begin(device.graphics(), "Main");
  list.Dispatch("Before");
  list.Barrier();
  list.BeginRendering();
  list.Draw("First");
  list.Script("hang");
  list.Draw("Culprit");
  list.EndRendering();
  list.Barrier();
  list.Dispatch("Behind");
  list.End();
  const VkFence fence = device.CreateFence();
  if (!device.Submit(device.graphics(), {list}, {}, fence)) return 1;
  return DieOnceStill(device, fence);
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
  const VkFence fence = device.CreateFence();
  if (!device.Submit(device.copies(), {list}, {}, fence)) return 1;
  return DieOnceStill(device, fence);
}

// Each queue waits for the next, and the last for a value that nobody signals.
int WaitGraph(ProgramDevice& device) {
  const VkSemaphore first = device.CreateTimeline("First");
  const VkSemaphore second = device.CreateTimeline("Second");
  const VkSemaphore never = device.CreateTimeline("Never");
  ProgramList graphics = device.Begin(device.graphics(), "Main");
  graphics.Dispatch("Draws");
  graphics.End();
  ProgramList compute = device.Begin(device.compute(), "Async");
  compute.Dispatch("Computes");
  compute.End();
  const VkFence fence = device.CreateFence();
  SubmitSync main_sync;
  main_sync.wait = first;
  main_sync.wait_value = 3;
  main_sync.signal = second;
  main_sync.signal_value = 4;
  SubmitSync async_sync;
  async_sync.wait = never;
  async_sync.wait_value = 9;
  async_sync.signal = first;
  async_sync.signal_value = 3;
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
    list.Dispatch(name);
    list.Barrier();
  }
  list.Dispatch("Near");
  list.BarrierOfDraws();
  list.Script("hang");
  list.Dispatch("Culprit");
  list.BarrierOfDraws();
  list.Dispatch("Behind");
  list.Barrier();
  list.Dispatch("Never");
  list.End();
  const VkFence fence = device.CreateFence();
  if (!device.Submit(device.graphics(), {list}, {}, fence)) return 1;
  return DieOnceStill(device, fence);
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
