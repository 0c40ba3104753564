// SPDX-License-Identifier: Apache-2.0
#include "icd/program_scenarios.h"

namespace cairn::icd {

ProgramList Recorded(ProgramDevice& device, std::initializer_list<const char*> steps,
                     const char* name, VkCommandBufferUsageFlags flags) {
  ProgramList list = device.Begin(device.graphics(), name, flags);
  list.Add(steps);
  list.End();
  return list;
}

int Run(ProgramDevice& device, const ProgramList& list, const SubmitSync& sync) {
  const VkFence fence = device.CreateFence();
  if (!device.Submit(device.graphics(), {list}, sync, fence)) return 1;
  SayReady();
  return device.Wait(fence) ? 0 : 1;
}

int RunAndDie(ProgramDevice& device, const ProgramList& list, const ProgramQueue* queue) {
  const VkFence fence = device.CreateFence();
  if (!device.Submit(queue != nullptr ? *queue : device.graphics(), {list}, {}, fence)) return 1;
  if (!device.Wait(fence, 1)) return 1;
  KillSelf();
}

int RunUntilLost(ProgramDevice& device, const ProgramList& list) {
  return device.SubmitAndWait(device.graphics(), {list}) ? 0 : 1;
}

namespace {

int Hang(ProgramDevice& device) {
  ProgramList list = device.Begin(device.graphics(), "Main");
  list.Add({"First", "|"});
  list.ScriptLabel("hang");
  list.Add({"Culprit", "|", "Last"});
  list.End();
  return Run(device, list);
}

// Markers of both places arrive long after the work, but before anybody looks.
int LateMarkers(ProgramDevice& device) {
  return Run(device, Recorded(device, {"icd: late 40", "First", "icd: hang", "Culprit"}));
}

// The program dies before the bottom-of-pipe markers of finished work arrive.
int LateBottoms(ProgramDevice& device) {
  return RunAndDie(device, Recorded(device, {"icd: late 1000 bottom", "icd: stop after 60", "First",
                                             "icd: hang", "Culprit"}));
}

int LostBottom(ProgramDevice& device) {
  return RunAndDie(device,
                   Recorded(device, {"icd: lose 2 bottoms", "First", "|", "icd: hang", "Culprit"}));
}

// The culprit's own begin is lost: what stands is the begin of the label around it.
int LostTop(ProgramDevice& device) {
  ProgramList list = device.Begin(device.graphics(), "Main");
  list.Add({"First", "|"});
  list.BeginLabel("Around");
  list.Add({"icd: lose top", "icd: hang", "Culprit"});
  list.EndLabel();
  list.End();
  return RunAndDie(device, list);
}

// The same, and the work behind it has begun.
int LostTopOverlapped(ProgramDevice& device) {
  return RunAndDie(device,
                   Recorded(device, {"First", "icd: lose top", "icd: hang", "Culprit", "Last"}));
}

// The first of three that run beside each other never ends.
int Overlap(ProgramDevice& device) {
  return RunAndDie(device, Recorded(device, {"Before", "|", "icd: hang", "Culprit", "Second",
                                             "Third", "|", "Never"}));
}

// A list that ran to its end before hangs in its next run. Its words must not tell of the run before.
int Stale(ProgramDevice& device) {
  const ProgramList list = Recorded(device, {"Culprit", "|", "Last"}, "Main", 0);
  if (!device.SubmitAndWait(device.graphics(), {list})) return 1;
  device.Script(device.graphics(), "hang");
  return RunAndDie(device, list);
}

// The same, but the second run waits for a semaphore: nothing of it has started.
int StaleWaiting(ProgramDevice& device) {
  const ProgramList list = Recorded(device, {"Work"}, "Main", 0);
  if (!device.SubmitAndWait(device.graphics(), {list})) return 1;
  return Run(device, list, {.wait = device.CreateTimeline("Never"), .wait_value = 1});
}

// Every second marker is overtaken by the next one, and the program dies then.
int Reordered(ProgramDevice& device) {
  return RunAndDie(device, Recorded(device, {"icd: reorder", "icd: stop after 60", "First",
                                             "icd: hang", "Culprit", "Last"}));
}

// The culprit ends, its markers included; the next work never does.
int FaultAfterCompletion(ProgramDevice& device) {
  return RunAndDie(device, Recorded(device, {"First", "|", "icd: fault-after-completion", "Culprit",
                                             "|", "Victim"}));
}

int SeveralQueues(ProgramDevice& device) {
  const ProgramBuffer buffer = device.CreateBuffer(4096, "Target");
  const VkSemaphore timeline = device.CreateTimeline("Frame");
  ProgramList copies = device.Begin(device.copies(), "Upload");
  copies.Copy("Uploaded", buffer);
  copies.End();
  const ProgramList graphics = Recorded(device, {"First", "|", "icd: hang", "Culprit"});
  ProgramList compute = device.Begin(device.compute(), "Async");
  compute.Add({"Waits"});
  compute.End();
  const VkFence fence = device.CreateFence();
  if (!device.Submit(device.copies(), {copies}, {}, VK_NULL_HANDLE) ||
      !device.Submit(device.compute(), {compute}, {.wait = timeline, .wait_value = 2}, fence) ||
      !device.Submit(device.graphics(), {graphics}, {.signal = timeline, .signal_value = 2},
                     VK_NULL_HANDLE)) {
    return 1;
  }
  SayReady();
  return device.Wait(fence) ? 0 : 1;
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
