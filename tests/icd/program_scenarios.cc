// SPDX-License-Identifier: Apache-2.0
#include "icd/program_scenarios.h"

namespace cairn::icd {
namespace {

// Says that it is ready and waits for the fence for ever, or until the device is lost.
int WaitForEver(ProgramDevice& device, VkFence fence) {
  SayReady();
  return device.Wait(fence) ? 0 : 1;
}

// Submits and waits for ever.
int Run(ProgramDevice& device, const ProgramList& list) {
  const VkFence fence = device.CreateFence();
  if (!device.Submit(device.graphics(), {list}, {}, fence)) return 1;
  return WaitForEver(device, fence);
}

// Submits, and dies once the device stands still.
int RunAndDie(ProgramDevice& device, const ProgramList& list) {
  const VkFence fence = device.CreateFence();
  if (!device.Submit(device.graphics(), {list}, {}, fence)) return 1;
  if (!device.Wait(fence, 1)) return 1;
  KillSelf();
}

constexpr const char* kStopLater = "stop after 60";

int Hang(ProgramDevice& device) {
  ProgramList list = device.Begin(device.graphics(), "Main");
  list.Dispatch("First");
  list.Barrier();
  list.ScriptLabel("hang");
  list.Dispatch("Culprit");
  list.Barrier();
  list.Dispatch("Last");
  list.End();
  return Run(device, list);
}

// Markers of both places arrive long after the work, but before anybody looks.
int LateMarkers(ProgramDevice& device) {
  ProgramList list = device.Begin(device.graphics(), "Main");
  list.Script("late 40");
  list.Dispatch("First");
  list.Script("hang");
  list.Dispatch("Culprit");
  list.End();
  return Run(device, list);
}

// The program dies before the bottom-of-pipe markers of finished work arrive.
int LateBottoms(ProgramDevice& device) {
  ProgramList list = device.Begin(device.graphics(), "Main");
  list.Script("late 1000 bottom");
  list.Script(kStopLater);
  list.Dispatch("First");
  list.Script("hang");
  list.Dispatch("Culprit");
  list.End();
  return RunAndDie(device, list);
}

int LostBottom(ProgramDevice& device) {
  ProgramList list = device.Begin(device.graphics(), "Main");
  list.Script("lose 2 bottoms");
  list.Dispatch("First");
  list.Barrier();
  list.Script("hang");
  list.Dispatch("Culprit");
  list.End();
  return RunAndDie(device, list);
}

// The culprit's own begin is lost: what stands is the begin of the label around it.
int LostTop(ProgramDevice& device) {
  ProgramList list = device.Begin(device.graphics(), "Main");
  list.Dispatch("First");
  list.Barrier();
  list.BeginLabel("Around");
  list.Script("lose top");
  list.Script("hang");
  list.Dispatch("Culprit");
  list.EndLabel();
  list.End();
  return RunAndDie(device, list);
}

// The same, and the work behind it has begun.
int LostTopOverlapped(ProgramDevice& device) {
  ProgramList list = device.Begin(device.graphics(), "Main");
  list.Dispatch("First");
  list.Script("lose top");
  list.Script("hang");
  list.Dispatch("Culprit");
  list.Dispatch("Last");
  list.End();
  return RunAndDie(device, list);
}

// The first of three that run beside each other never ends.
int Overlap(ProgramDevice& device) {
  ProgramList list = device.Begin(device.graphics(), "Main");
  list.Dispatch("Before");
  list.Barrier();
  list.Script("hang");
  list.Dispatch("Culprit");
  list.Dispatch("Second");
  list.Dispatch("Third");
  list.Barrier();
  list.Dispatch("Never");
  list.End();
  return RunAndDie(device, list);
}

// A list that ran to its end before hangs in its next run. Its words must not tell of the run before.
int Stale(ProgramDevice& device) {
  ProgramList list = device.Begin(device.graphics(), "Main", 0);
  list.Dispatch("Culprit");
  list.Barrier();
  list.Dispatch("Last");
  list.End();
  if (!device.SubmitAndWait(device.graphics(), {list})) return 1;
  device.Script(device.graphics(), "hang");
  return RunAndDie(device, list);
}

// The same, but the second run waits for a semaphore: nothing of it has started.
int StaleWaiting(ProgramDevice& device) {
  ProgramList list = device.Begin(device.graphics(), "Main", 0);
  list.Dispatch("Work");
  list.End();
  if (!device.SubmitAndWait(device.graphics(), {list})) return 1;
  SubmitSync sync;
  sync.wait = device.CreateTimeline("Never");
  sync.wait_value = 1;
  const VkFence fence = device.CreateFence();
  if (!device.Submit(device.graphics(), {list}, sync, fence)) return 1;
  return WaitForEver(device, fence);
}

// Every second marker is overtaken by the next one, and the program dies then.
int Reordered(ProgramDevice& device) {
  ProgramList list = device.Begin(device.graphics(), "Main");
  list.Script("reorder");
  list.Script(kStopLater);
  list.Dispatch("First");
  list.Script("hang");
  list.Dispatch("Culprit");
  list.Dispatch("Last");
  list.End();
  return RunAndDie(device, list);
}

// The culprit ends, its markers included; the next work never does.
int FaultAfterCompletion(ProgramDevice& device) {
  ProgramList list = device.Begin(device.graphics(), "Main");
  list.Dispatch("First");
  list.Barrier();
  list.Script("fault-after-completion");
  list.Dispatch("Culprit");
  list.Barrier();
  list.Dispatch("Victim");
  list.End();
  return RunAndDie(device, list);
}

int SeveralQueues(ProgramDevice& device) {
  const ProgramBuffer buffer = device.CreateBuffer(4096, "Target");
  const VkSemaphore timeline = device.CreateTimeline("Frame");
  ProgramList copies = device.Begin(device.copies(), "Upload");
  copies.Copy("Uploaded", buffer);
  copies.End();
  ProgramList graphics = device.Begin(device.graphics(), "Main");
  graphics.Dispatch("First");
  graphics.Barrier();
  graphics.Script("hang");
  graphics.Dispatch("Culprit");
  graphics.End();
  ProgramList compute = device.Begin(device.compute(), "Async");
  compute.Dispatch("Waits");
  compute.End();
  const VkFence fence = device.CreateFence();
  SubmitSync wait;
  wait.wait = timeline;
  wait.wait_value = 2;
  SubmitSync signal;
  signal.signal = timeline;
  signal.signal_value = 2;
  if (!device.Submit(device.copies(), {copies}, {}, VK_NULL_HANDLE) ||
      !device.Submit(device.compute(), {compute}, wait, fence) ||
      !device.Submit(device.graphics(), {graphics}, signal, VK_NULL_HANDLE)) {
    return 1;
  }
  return WaitForEver(device, fence);
}

constexpr Scenario kScenarios[] = {
    {"hang", Hang},
    {"late-markers", LateMarkers},
    {"late-bottoms", LateBottoms},
    {"lost-bottom", LostBottom},
    {"lost-top", LostTop},
    {"lost-top-overlapped", LostTopOverlapped},
    {"overlap", Overlap},
    {"stale", Stale},
    {"stale-waiting", StaleWaiting},
    {"reordered", Reordered},
    {"fault-after-completion", FaultAfterCompletion},
    {"several-queues", SeveralQueues},
};

}  // namespace

std::span<const Scenario> PitfallScenarios() {
  return kScenarios;
}

ScenarioFunction FindScenario(std::string_view name) {
  for (const auto scenarios : {PitfallScenarios(), FaultScenarios(), RecordingScenarios()}) {
    for (const Scenario& scenario : scenarios) {
      if (scenario.name == name) return scenario.run;
    }
  }
  return nullptr;
}

}  // namespace cairn::icd
