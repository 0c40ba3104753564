// SPDX-License-Identifier: Apache-2.0
//
// Loops that do not end, or take far too long; and programs whose loops are fine.
#include <algorithm>
#include <limits>

#include "embedded/bound_buffer.comp.spv.h"
#include "embedded/bound_push.comp.spv.h"
#include "embedded/bound_special.comp.spv.h"
#include "embedded/bound_uniform.comp.spv.h"
#include "embedded/called.comp.spv.h"
#include "embedded/called_in_loop.comp.spv.h"
#include "embedded/count_down.comp.spv.h"
#include "embedded/do_while.comp.spv.h"
#include "embedded/endless.frag.spv.h"
#include "embedded/endless.vert.spv.h"
#include "embedded/fill.comp.spv.h"
#include "embedded/flag.comp.spv.h"
#include "embedded/float_stuck.comp.spv.h"
#include "embedded/healthy_loops.comp.spv.h"
#include "embedded/in_switch.comp.spv.h"
#include "embedded/included.comp.spv.h"
#include "embedded/last_of_none.comp.spv.h"
#include "embedded/list.comp.spv.h"
#include "embedded/lock.comp.spv.h"
#include "embedded/long.comp.spv.h"
#include "embedded/nan.comp.spv.h"
#include "embedded/nested_inner.comp.spv.h"
#include "embedded/nested_outer.comp.spv.h"
#include "embedded/newton.comp.spv.h"
#include "embedded/plain.frag.spv.h"
#include "embedded/plain.vert.spv.h"
#include "embedded/search.comp.spv.h"
#include "embedded/state.comp.spv.h"
#include "embedded/step_zero.comp.spv.h"
#include "embedded/store_to_set.comp.spv.h"
#include "embedded/two_loops.comp.spv.h"
#include "embedded/while_cycle.comp.spv.h"
#include "truth/why/faults.h"

namespace cairn::truth::why {
namespace {

constexpr VkDeviceSize kSmallBytes = 4096;

Constants ConstantsOf(const Machine& machine, const Fault& fault) {
  Constants constants = fault.constants;
  constants.most_trips = machine.size().trips;
  return constants;
}

// Healthy work in front and behind, the loop between them.
void RunLoop(Machine& machine, const Fault& fault) {
  const VkPipeline fill = machine.Compute(kFillCompSpv);
  const VkPipeline loop = machine.Compute(fault.culprit, fault.special);
  const VkCommandBuffer commands = machine.Begin(machine.gpu().graphics(), "Main");
  machine.Dispatch(commands, "Clear", fill, {}, 1);
  Machine::Barrier(commands);
  machine.Dispatch(commands, "Simulate", loop, ConstantsOf(machine, fault), machine.size().groups);
  Machine::Barrier(commands);
  machine.Dispatch(commands, "Resolve", fill, {}, 1);
  machine.Finish(machine.gpu().graphics(), commands);
}

// It has as many trips as the limit, and ends by its condition.
void RunLong(Machine& machine, const Fault& fault) {
  Fault copy = fault;
  copy.constants.count = LongCount(machine.size(), machine.on_cpu());
  RunLoop(machine, copy);
}

// Two dispatches that may run at once: healthy loops, and the one that does not end.
void RunBesideHealthyLoops(Machine& machine, const Fault& fault) {
  const VkPipeline healthy = machine.Compute(kHealthyLoopsCompSpv);
  const VkPipeline loop = machine.Compute(fault.culprit);
  Constants constants;
  constants.count = 1;
  const VkCommandBuffer commands = machine.Begin(machine.gpu().graphics(), "Main");
  machine.Dispatch(commands, "Sort", healthy, constants, 1);
  machine.Dispatch(commands, "Simulate", loop, ConstantsOf(machine, fault), machine.size().groups);
  machine.Finish(machine.gpu().graphics(), commands);
}

void RunDraw(Machine& machine, const Fault& fault, Shader vertex, Shader pixel, uint32_t vertices,
             uint32_t instances) {
  const GpuPicture picture = machine.gpu().CreatePicture(kPictureWidth);
  const VkPipeline draws = machine.Draws(vertex, pixel);
  const VkCommandBuffer commands = machine.Begin(machine.gpu().graphics(), "Main");
  machine.Draw(commands, "Terrain", draws, picture.view, ConstantsOf(machine, fault), vertices,
               instances);
  machine.Finish(machine.gpu().graphics(), commands);
}

// A group has as many invocations as the picture has pixels.
void RunVertexLoop(Machine& machine, const Fault& fault) {
  RunDraw(machine, fault, fault.culprit, kPlainFragSpv, machine.size().groups * 64 / 3 * 3, 1);
}
void RunPixelLoop(Machine& machine, const Fault& fault) {
  RunDraw(machine, fault, kPlainVertSpv, fault.culprit, 3, machine.size().groups);
}

void RunHealthy(Machine& machine, const Fault& fault) {
  Fault copy = fault;
  copy.culprit = kFillCompSpv;
  RunLoop(machine, copy);
  RunDraw(machine, fault, kPlainVertSpv, kPlainFragSpv, 3, 1);
}

void RunHealthyLoops(Machine& machine, const Fault&) {
  const VkPipeline loops = machine.Compute(kHealthyLoopsCompSpv);
  Constants constants;
  constants.count = machine.short_count();
  const VkCommandBuffer commands = machine.Begin(machine.gpu().graphics(), "Main");
  machine.Dispatch(commands, "Sort", loops, constants, machine.short_groups());
  machine.Finish(machine.gpu().graphics(), commands);
}

// Destroyed when nobody uses it any more.
void RunHealthyDestroyed(Machine& machine, const Fault&) {
  const VkPipeline store = machine.Compute(kStoreToSetCompSpv);
  for (int frame = 0; frame < 3; ++frame) {
    const GpuBuffer buffer = machine.gpu().CreateBuffer(kSmallBytes, false, "Transient");
    machine.SetBuffer(buffer.buffer);
    const VkCommandBuffer commands = machine.Begin(machine.gpu().graphics(), "Main");
    machine.Dispatch(commands, "Scatter", store, {}, 1);
    machine.Finish(machine.gpu().graphics(), commands);
    machine.gpu().Destroy(buffer);
  }
}

void RunHealthyQueues(Machine& machine, const Fault&) {
  const VkPipeline fill = machine.Compute(kFillCompSpv);
  const Machine::Point point = {machine.gpu().CreateTimeline("Handover"), 1};
  const VkCommandBuffer first = machine.Begin(machine.gpu().compute(), "Compute");
  machine.ScriptSlow(first);
  machine.Dispatch(first, "Simulate", fill, {}, 1);
  const VkCommandBuffer second = machine.Begin(machine.gpu().graphics(), "Graphics");
  machine.ScriptRace(second);
  machine.Dispatch(second, "Resolve", fill, {}, 1);
  machine.Submit(machine.gpu().compute(), first, nullptr, &point);
  machine.Wait(machine.Submit(machine.gpu().graphics(), second, &point));
}

Fault Loop(const char* name, const char* what, Shader shader, const Constants& constants = {}) {
  return {.name = name,
          .what = what,
          .experiment = "loops",
          .run = RunLoop,
          .culprit = shader,
          .constants = constants};
}

}  // namespace

std::vector<Fault> LoopFaults() {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  std::vector<Fault> faults = {
      Loop("step-zero", "the step of a for is 0.0", kStepZeroCompSpv, {.limit = 1}),
      Loop("nan", "the number that is compared is none", kNanCompSpv,
           {.start = kNan, .step = 1, .limit = 1}),
      Loop("flag", "waits for a flag that nobody sets", kFlagCompSpv),
      Loop("nested-inner", "the inner loop of two", kNestedInnerCompSpv),
      Loop("nested-outer", "the outer loop of two", kNestedOuterCompSpv),
      Loop("while-cycle", "a while whose values come again", kWhileCycleCompSpv, {.count = 5}),
      Loop("do-while", "a do-while that takes 0 away", kDoWhileCompSpv),
      Loop("count-down", "an unsigned number that is to get below 0", kCountDownCompSpv,
           {.count = 7}),
      Loop("last-of-none", "up to the last of no elements", kLastOfNoneCompSpv),
      Loop("called", "in a function", kCalledCompSpv, {.limit = 1}),
      Loop("called-in-loop", "in a function that a healthy loop calls", kCalledInLoopCompSpv),
      Loop("included", "in another file, a full table", kIncludedCompSpv),
      Loop("state", "a state machine that goes round", kStateCompSpv),
      Loop("in-switch", "in a case of a switch", kInSwitchCompSpv, {.value = 1}),
      Loop("two-loops", "the second of two loops", kTwoLoopsCompSpv),
      Loop("bound-push", "the bound is a push constant", kBoundPushCompSpv, {.count = UINT32_MAX}),
      Loop("bound-uniform", "the bound is in a uniform buffer", kBoundUniformCompSpv),
      Loop("bound-buffer", "the bound is in a storage buffer", kBoundBufferCompSpv),
      Loop("bound-special", "the bound is a specialisation constant", kBoundSpecialCompSpv),
      Loop("float-stuck", "a float to which adding 1 changes nothing", kFloatStuckCompSpv,
           {.start = 16777216, .limit = 16777300}),
      Loop("list", "a linked list with a cycle", kListCompSpv),
      Loop("search", "a binary search that does not get narrower", kSearchCompSpv, {.count = 5}),
      Loop("lock", "waits for a lock that nobody gives back", kLockCompSpv),
      Loop("newton", "waits for a float to be exact", kNewtonCompSpv, {.start = 1, .limit = 2}),
      Loop("long", "it ends, after far too many trips", kLongCompSpv),
      Loop("beside-healthy", "one of two shaders that run at once", kStepZeroCompSpv, {.limit = 1}),
      Loop("vertex", "in a vertex shader", kEndlessVertSpv),
      Loop("pixel", "in a pixel shader", kEndlessFragSpv),
  };
  const auto named = [&](const std::string& name) -> Fault& {
    return *std::find_if(faults.begin(), faults.end(),
                         [&](const Fault& fault) { return name == fault.name; });
  };
  named("bound-special").special = UINT32_MAX;
  named("long").run = RunLong;
  named("beside-healthy").run = RunBesideHealthyLoops;
  named("vertex").run = RunVertexLoop;
  named("pixel").run = RunPixelLoop;
  return faults;
}

std::vector<Fault> HealthyPrograms() {
  return {
      {.name = "healthy",
       .what = "dispatches and a draw",
       .experiment = "",
       .scripted = true,
       .run = RunHealthy},
      {.name = "healthy-loops",
       .what = "loops that take a while",
       .experiment = "",
       .scripted = true,
       .run = RunHealthyLoops},
      {.name = "healthy-destroyed",
       .what = "buffers that are destroyed in time",
       .experiment = "",
       .scripted = true,
       .run = RunHealthyDestroyed},
      {.name = "healthy-queues",
       .what = "two submissions, one behind the other",
       .experiment = "",
       .scripted = true,
       .run = RunHealthyQueues},
  };
}

}  // namespace cairn::truth::why
