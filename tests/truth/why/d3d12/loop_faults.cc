// SPDX-License-Identifier: Apache-2.0
//
// Loops that do not end, or take far too long; and programs whose loops are fine.
#include <limits>

#include "embedded/bound_buffer.cs.dxbc.h"
#include "embedded/bound_constant.cs.dxbc.h"
#include "embedded/count_down.cs.dxbc.h"
#include "embedded/do_while.cs.dxbc.h"
#include "embedded/endless.ps.dxbc.h"
#include "embedded/endless.vs.dxbc.h"
#include "embedded/fill.cs.dxbc.h"
#include "embedded/flag.cs.dxbc.h"
#include "embedded/healthy_loops.cs.dxbc.h"
#include "embedded/in_switch.cs.dxbc.h"
#include "embedded/list.cs.dxbc.h"
#include "embedded/long.cs.dxbc.h"
#include "embedded/nan.cs.dxbc.h"
#include "embedded/nested_inner.cs.dxbc.h"
#include "embedded/nested_outer.cs.dxbc.h"
#include "embedded/newton.cs.dxbc.h"
#include "embedded/plain.ps.dxbc.h"
#include "embedded/reads.vs.dxbc.h"
#include "embedded/state.cs.dxbc.h"
#include "embedded/step_zero.cs.dxbc.h"
#include "embedded/store_view.cs.dxbc.h"
#include "embedded/three_loops.cs.dxbc.h"
#include "truth/why/d3d12/faults.h"

namespace cairn::truth::why::d3d12 {
namespace {

constexpr uint32_t kSmallWords = 1024;

// Healthy work in front and behind, the loop between them.
void RunDispatches(Machine& machine, Shader shader, const Constants& constants, uint32_t groups) {
  const sample::Pipeline fill = machine.Compute("Fill", kFillCsDxbc);
  const sample::Pipeline loop = machine.Compute("Simulate", shader);
  sample::List list(machine.gpu(), machine.queue(), "Main");
  list.Begin();
  machine.Dispatch(list, "Clear", fill, {}, 1);
  list.Barrier();
  machine.Dispatch(list, "Simulate", loop, {machine.Bounded(constants)}, groups);
  list.Barrier();
  machine.Dispatch(list, "Resolve", fill, {}, 1);
  machine.Finish(list);
}

void RunLoop(Machine& machine, const Fault& fault) {
  RunDispatches(machine, fault.culprit, fault.constants, machine.size().groups);
}

// It has as many trips as the limit, and ends by its condition.
void RunLong(Machine& machine, const Fault& fault) {
  const Constants constants = {.count = LongCount(machine.size(), machine.on_cpu())};
  RunDispatches(machine, fault.culprit, constants, machine.size().groups);
}

// Two dispatches that may run at once: healthy loops, and the one that does not end.
void RunBesideHealthyLoops(Machine& machine, const Fault& fault) {
  const sample::Pipeline healthy = machine.Compute("Sort", kHealthyLoopsCsDxbc);
  const sample::Pipeline loop = machine.Compute("Simulate", fault.culprit);
  sample::List list(machine.gpu(), machine.queue(), "Main");
  list.Begin();
  machine.Dispatch(list, "Sort", healthy, {{.count = 1}}, 1);
  machine.Dispatch(list, "Simulate", loop, {machine.Bounded(fault.constants)},
                   machine.size().groups);
  machine.Finish(list);
}

void RunDraw(Machine& machine, Shader vertex, Shader pixel, uint32_t vertices, uint32_t instances) {
  sample::Picture picture(machine.gpu(), kPictureWidth, kPictureWidth);
  const sample::Pipeline draws = machine.Draws("Terrain", vertex, pixel);
  sample::List list(machine.gpu(), machine.queue(), "Main");
  list.Begin();
  machine.Draw(list, "Terrain", draws, picture, machine.Bounded(), vertices, instances);
  machine.Finish(list);
}

// A group has as many threads as the picture has pixels.
void RunVertexLoop(Machine& machine, const Fault& fault) {
  RunDraw(machine, fault.culprit, kPlainPsDxbc, machine.size().groups * 64 / 3 * 3, 1);
}
void RunPixelLoop(Machine& machine, const Fault& fault) {
  RunDraw(machine, kReadsVsDxbc, fault.culprit, 3, machine.size().groups);
}

void RunHealthy(Machine& machine, const Fault&) {
  RunDispatches(machine, kFillCsDxbc, {}, 1);
  RunDraw(machine, kReadsVsDxbc, kPlainPsDxbc, 3, 1);
}

void RunHealthyLoops(Machine& machine, const Fault&) {
  RunDispatches(machine, kHealthyLoopsCsDxbc, {.count = machine.short_count()},
                machine.short_groups());
}

// Released when nobody uses it any more, and the allocator reset when its list has ended.
void RunHealthyReleased(Machine& machine, const Fault&) {
  const sample::Pipeline store = machine.Compute("Scatter", kStoreViewCsDxbc);
  sample::List list(machine.gpu(), machine.queue(), "Main");
  for (int frame = 0; frame < 3; ++frame) {
    const sample::Buffer buffer = machine.gpu().CreateBuffer(kSmallWords);
    const auto view = machine.View(buffer.resource.get(), kSmallWords);
    list.Begin();
    machine.Dispatch(list, "Scatter", store, {{}, view.get()}, 1);
    machine.Finish(list);
  }
}

void RunHealthyQueues(Machine& machine, const Fault&) {
  const sample::Pipeline fill = machine.Compute("Fill", kFillCsDxbc);
  sample::Queue compute(machine.gpu(), CAIRN_QUEUE_COMPUTE, "Compute");
  ComPtr<ID3D12Fence> handover;
  sample::Check(machine.device()->CreateFence(0, D3D12_FENCE_FLAG_NONE, __uuidof(ID3D12Fence),
                                              handover.Receive()),
                "CreateFence");
  sample::List first(machine.gpu(), compute, "Compute");
  first.Begin();
  machine.Dispatch(first, "Simulate", fill, {}, 1);
  first.End();
  compute.Execute({&first});
  sample::Check(compute.d3d12()->Signal(handover.get(), 1), "Signal");
  sample::Check(machine.queue().d3d12()->Wait(handover.get(), 1), "Wait");
  sample::List second(machine.gpu(), machine.queue(), "Graphics");
  second.Begin();
  machine.Dispatch(second, "Resolve", fill, {}, 1);
  machine.Finish(second);
  machine.Wait(compute);
}

Fault Loop(const char* name, const char* what, Shader shader, const Constants& constants = {},
           uint32_t loop_index = 0) {
  return {.name = name,
          .what = what,
          .experiment = "loops",
          .run = RunLoop,
          .culprit = shader,
          .constants = constants,
          .loop_index = loop_index};
}

Fault Loop(const char* name, const char* what, void (*run)(Machine&, const Fault&), Shader shader,
           uint32_t loop_index = 0) {
  Fault fault = Loop(name, what, shader, {}, loop_index);
  fault.run = run;
  return fault;
}

}  // namespace

std::vector<Fault> LoopFaults() {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  return {
      Loop("step-zero", "the step of a for is 0.0", kStepZeroCsDxbc, {.limit = 1}),
      Loop("nan", "the number that is compared is none", kNanCsDxbc,
           {.start = kNan, .step = 1, .limit = 1}),
      Loop("flag", "waits for a flag that nobody sets", kFlagCsDxbc),
      Loop("nested-inner", "the inner loop of two", kNestedInnerCsDxbc, {}, 1),
      Loop("nested-outer", "the outer loop of two", kNestedOuterCsDxbc),
      Loop("do-while", "a do-while that takes 0 away", kDoWhileCsDxbc),
      Loop("count-down", "an unsigned number that is to get below 0", kCountDownCsDxbc,
           {.count = 7}),
      Loop("state", "a state machine that goes round", kStateCsDxbc),
      Loop("in-switch", "in a case of a switch", kInSwitchCsDxbc, {.value = 1}, 1),
      Loop("three-loops", "the last of three loops", kThreeLoopsCsDxbc, {}, 2),
      Loop("bound-constant", "the bound is a root constant", kBoundConstantCsDxbc,
           {.count = UINT32_MAX}),
      Loop("bound-buffer", "the bound is in a buffer", kBoundBufferCsDxbc),
      Loop("list", "a linked list with a cycle", kListCsDxbc),
      Loop("newton", "waits for a float to be exact", kNewtonCsDxbc, {.start = 1, .limit = 2}),
      Loop("long", "it ends, after far too many trips", RunLong, kLongCsDxbc),
      Loop("beside-healthy", "one of two shaders that run at once", RunBesideHealthyLoops,
           kThreeLoopsCsDxbc, 2),
      Loop("vertex", "in a vertex shader", RunVertexLoop, kEndlessVsDxbc),
      Loop("pixel", "in a pixel shader", RunPixelLoop, kEndlessPsDxbc),
  };
}

std::vector<Fault> HealthyPrograms() {
  return {
      {.name = "healthy", .what = "dispatches and a draw", .experiment = "", .run = RunHealthy},
      {.name = "healthy-loops",
       .what = "loops that take a while",
       .experiment = "",
       .run = RunHealthyLoops},
      {.name = "healthy-released",
       .what = "buffers that are released, and an allocator that is reset, in time",
       .experiment = "",
       .run = RunHealthyReleased},
      {.name = "healthy-queues",
       .what = "two queues, one of which waits for the other",
       .experiment = "",
       .run = RunHealthyQueues},
  };
}

}  // namespace cairn::truth::why::d3d12
