// SPDX-License-Identifier: Apache-2.0
//
// What is used after its end, and memory that is read although nobody has written it.
#include <cmath>
#include <memory>

#include "embedded/bound_view.cs.dxbc.h"
#include "embedded/crowd.cs.dxbc.h"
#include "embedded/fill.cs.dxbc.h"
#include "embedded/healthy_loops.cs.dxbc.h"
#include "embedded/plain.ps.dxbc.h"
#include "embedded/reads.vs.dxbc.h"
#include "embedded/step_view.cs.dxbc.h"
#include "embedded/store_other.cs.dxbc.h"
#include "embedded/store_view.cs.dxbc.h"
#include "truth/why/d3d12/faults.h"
#include "truth/why/stale_memory.h"

namespace cairn::truth::why::d3d12 {
namespace {

constexpr uint32_t kLargeWidth = 4096;
constexpr uint32_t kLargeWords = kLargeBytes / sizeof(uint32_t);
constexpr uint32_t kKeptWords = kKeptBytes / sizeof(uint32_t);

// ---- Lifetime ------------------------------------------------------------------------------------------------------

// Healthy loops, which are still at work when the program goes on.
void RecordShort(Machine& machine, sample::List& list, const sample::Pipeline& loops) {
  machine.Dispatch(list, "Sort", loops, {{.count = machine.short_count()}}, machine.short_groups());
  list.Barrier();
}

void RunBufferReleased(Machine& machine, const Fault&) {
  const sample::Pipeline store = machine.Compute("Scatter", kStoreOtherCsDxbc);
  ComPtr<ID3D12Resource> buffer = machine.CreateUnwritten(kLargeBytes, "Particles");
  sample::List list(machine.gpu(), machine.queue(), "Main");
  list.Begin();
  machine.Dispatch(list, "Scatter", store, {{}, nullptr, buffer->GetGPUVirtualAddress()}, 1);
  buffer = {};
  machine.Finish(list);
}

void RunViewReleased(Machine& machine, const Fault&) {
  const sample::Pipeline store = machine.Compute("Scatter", kStoreViewCsDxbc);
  ComPtr<ID3D12Resource> buffer = machine.CreateUnwritten(kLargeBytes, "Particles");
  const auto view = machine.View(buffer.get(), kLargeWords);
  sample::List list(machine.gpu(), machine.queue(), "Main");
  list.Begin();
  machine.Dispatch(list, "Scatter", store, {{}, view.get()}, 1);
  buffer = {};
  machine.Finish(list);
}

void RunReleasedWhileRunning(Machine& machine, const Fault&) {
  const sample::Pipeline loops = machine.Compute("Sort", kHealthyLoopsCsDxbc);
  const sample::Pipeline store = machine.Compute("Scatter", kStoreViewCsDxbc);
  ComPtr<ID3D12Resource> buffer = machine.CreateUnwritten(kLargeBytes, "Particles");
  const auto view = machine.View(buffer.get(), kLargeWords);
  sample::List list(machine.gpu(), machine.queue(), "Main");
  list.Begin();
  RecordShort(machine, list, loops);
  machine.Dispatch(list, "Scatter", store, {{}, view.get()}, 1);
  list.End();
  machine.queue().Execute({&list});
  buffer = {};
  machine.Wait(machine.queue());
}

void RunTargetReleased(Machine& machine, const Fault&) {
  const sample::Pipeline draws = machine.Draws("Sky", kReadsVsDxbc, kPlainPsDxbc);
  auto picture = std::make_unique<sample::Picture>(machine.gpu(), kLargeWidth, kLargeWidth, "Sky");
  sample::List list(machine.gpu(), machine.queue(), "Main");
  list.Begin();
  machine.Draw(list, "Sky", draws, *picture, {}, 3, 1);
  picture.reset();
  Scribble();
  machine.Finish(list);
}

void RunPipelineReleased(Machine& machine, const Fault&) {
  sample::Pipeline fill = machine.Compute("Fill", kFillCsDxbc);
  sample::List list(machine.gpu(), machine.queue(), "Main");
  list.Begin();
  machine.Dispatch(list, "Clear", fill, {}, 1);
  fill = {};
  Scribble();
  machine.Finish(list);
}

// The allocator of a list is reset while the list runs, and the list recorded again.
void RunAllocatorReset(Machine& machine, const Fault&) {
  const sample::Pipeline loops = machine.Compute("Sort", kHealthyLoopsCsDxbc);
  const sample::Pipeline fill = machine.Compute("Fill", kFillCsDxbc);
  sample::List list(machine.gpu(), machine.queue(), "Main");
  list.Begin();
  RecordShort(machine, list, loops);
  for (int i = 0; i < 64; ++i) machine.Dispatch(list, "Clear", fill, {}, 1);
  list.End();
  machine.queue().Execute({&list});
  list.Begin();
  Scribble();
  machine.Dispatch(list, "Resolve", fill, {}, 1);
  machine.Finish(list);
}

// ---- Memory --------------------------------------------------------------------------------------------------------

// Nobody has written it; another buffer was there, and left `stale` in each word.
ComPtr<ID3D12Resource> Recycled(Machine& machine, uint32_t stale) {
  sample::Buffer before;
  LeaveStale(
      stale,
      [&](uint64_t bytes) {
        before = machine.gpu().CreateBuffer(static_cast<uint32_t>(bytes / sizeof(uint32_t)));
        return before.words;
      },
      [&] { before = {}; });
  return machine.CreateUnwritten(kKeptBytes, "Fresh");
}

// The buffer of `make` says how the loop goes. The pipeline comes first: it may take memory that was freed.
template <typename Make>
void RunLoopOf(Machine& machine, const Fault& fault, const Make& make) {
  const sample::Pipeline loop = machine.Compute("Simulate", fault.culprit);
  const ComPtr<ID3D12Resource> buffer = make();
  const auto view = machine.View(buffer.get(), kKeptWords);
  sample::List list(machine.gpu(), machine.queue(), "Main");
  list.Begin();
  machine.Dispatch(list, "Simulate", loop, {machine.Bounded(), view.get()}, machine.size().groups);
  machine.Finish(list);
}

void RunFreshBound(Machine& machine, const Fault& fault) {
  RunLoopOf(machine, fault, [&] { return Recycled(machine, UINT32_MAX); });
}

// The system or the driver gives zeros.
void RunFreshStep(Machine& machine, const Fault& fault) {
  RunLoopOf(machine, fault, [&] { return machine.CreateUnwritten(kLargeBytes, "Fresh"); });
}

void RunFreshArguments(Machine& machine, const Fault&) {
  const sample::Pipeline crowd = machine.Compute("Particles", kCrowdCsDxbc);
  // The same in each direction: the memory need not begin where the one before did.
  const auto side = static_cast<uint32_t>(std::cbrt(machine.size().crowd)) + 1;
  const ComPtr<ID3D12Resource> arguments = Recycled(machine, side);
  sample::List list(machine.gpu(), machine.queue(), "Main");
  list.Begin();
  machine.DispatchIndirect(list, "Particles", crowd, {}, arguments.get());
  machine.Finish(list);
}

// The memory of a heap has had another buffer: nothing is allocated that could be filled.
void RunPlacedBound(Machine& machine, const Fault& fault) {
  const sample::Pipeline store = machine.Compute("Scatter", kStoreViewCsDxbc);
  const ComPtr<ID3D12Heap> heap = machine.CreateHeap(kKeptBytes);
  {
    const auto before = machine.Place(heap.get(), 0, kKeptBytes, "Before");
    const auto view = machine.View(before.get(), kKeptWords);
    sample::List list(machine.gpu(), machine.queue(), "Before");
    list.Begin();
    machine.Dispatch(list, "Scatter", store, {{.value = UINT32_MAX}, view.get()}, 1);
    machine.Finish(list);
  }
  RunLoopOf(machine, fault, [&] { return machine.Place(heap.get(), 0, kKeptBytes, "After"); });
}

}  // namespace

std::vector<Fault> LifetimeFaults() {
  return {
      {.name = "buffer-released",
       .what = "a store by the address of a buffer that was released",
       .experiment = "keep-alive",
       .also = "bounds",
       .run = RunBufferReleased},
      {.name = "view-released",
       .what = "a store by the view of a buffer that was released",
       .experiment = "keep-alive",
       .also = "bounds",
       .run = RunViewReleased},
      {.name = "released-while-running",
       .what = "a buffer is released while work in front of its user runs",
       .experiment = "keep-alive",
       .also = "serial-queues,bounds,loops",
       .run = RunReleasedWhileRunning},
      {.name = "target-released",
       .what = "a draw into a texture that was released",
       .experiment = "keep-alive",
       .run = RunTargetReleased},
      {.name = "pipeline-released",
       .what = "a dispatch of a pipeline that was released",
       .experiment = "keep-alive",
       .shows = Shows::kOnGpu,
       .run = RunPipelineReleased},
      {.name = "allocator-reset",
       .what = "the allocator of a list is reset while the list runs",
       .experiment = "keep-alive",
       .also = "serial-queues",
       .run = RunAllocatorReset},
  };
}

std::vector<Fault> MemoryFaults() {
  return {
      {.name = "fresh-arguments",
       .what = "arguments of a dispatch that nobody wrote: many groups",
       .experiment = "memory-00",
       .also = "counts",
       .shows = Shows::kOnCpu,
       .run = RunFreshArguments},
      {.name = "fresh-bound",
       .what = "a bound of a loop that nobody wrote: a large one",
       .experiment = "memory-00",
       .also = "loops",
       .shows = Shows::kOnCpu,
       .run = RunFreshBound,
       .culprit = kBoundViewCsDxbc},
      {.name = "fresh-step",
       .what = "a step of a loop that nobody wrote: 0",
       .experiment = "memory-fe",
       .also = "loops",
       .run = RunFreshStep,
       .culprit = kStepViewCsDxbc},
      {.name = "placed-bound",
       .what = "a bound in a placed buffer that nobody wrote, where another one was",
       .experiment = "none",
       .also = "loops",
       .run = RunPlacedBound,
       .culprit = kBoundViewCsDxbc},
  };
}

}  // namespace cairn::truth::why::d3d12
