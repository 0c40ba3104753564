// SPDX-License-Identifier: Apache-2.0
//
// Missing barriers and fences; and faults of which no experiment knows the cause.
#include <algorithm>
#include <csignal>

#include "embedded/bound_view.cs.dxbc.h"
#include "embedded/crowd.cs.dxbc.h"
#include "embedded/fill.cs.dxbc.h"
#include "embedded/plain.ps.dxbc.h"
#include "embedded/reads.vs.dxbc.h"
#include "embedded/store_view.cs.dxbc.h"
#include "embedded/writer.cs.dxbc.h"
#include "truth/why/command_line.h"
#include "truth/why/d3d12/faults.h"

namespace cairn::truth::why::d3d12 {
namespace {

constexpr uint32_t kWords = 64;
// As in samples/d3d12_work.h: far more than any neighbour of the buffer in memory.
constexpr uint32_t kClaimedWords = 1u << 27;

// A buffer whose words say: far too much.
struct Stale {
  Stale(Machine& machine, const std::vector<uint32_t>& words)
      : buffer(machine.gpu().CreateBuffer(kWords)),
        view(machine.View(buffer.resource.get(), kWords)) {
    std::copy(words.begin(), words.end(), buffer.words);
  }
  sample::Buffer buffer;
  ComPtr<ID3D12DescriptorHeap> view;
};

// Takes a while, and then makes what the view shows harmless: 1, 1, 1.
void RecordWriter(Machine& machine, sample::List& list, const Stale& stale,
                  const sample::Pipeline& writer) {
  machine.Dispatch(list, "Prepare", writer, {{.count = machine.short_count()}, stale.view.get()},
                   machine.short_groups());
}
void RecordLoop(Machine& machine, sample::List& list, ID3D12DescriptorHeap* view,
                const sample::Pipeline& loop) {
  machine.Dispatch(list, "Simulate", loop, {machine.Bounded(), view}, machine.size().groups);
}

void RunUavBarrier(Machine& machine, const Fault& fault) {
  const sample::Pipeline writer = machine.Compute("Prepare", kWriterCsDxbc);
  const sample::Pipeline loop = machine.Compute("Simulate", fault.culprit);
  const Stale bound(machine, {UINT32_MAX});
  sample::List list(machine.gpu(), machine.queue(), "Main");
  list.Begin();
  RecordWriter(machine, list, bound, writer);
  RecordLoop(machine, list, bound.view.get(), loop);
  machine.Finish(list);
}

void RunIndirect(Machine& machine, const Fault&) {
  const sample::Pipeline writer = machine.Compute("Prepare", kWriterCsDxbc);
  const sample::Pipeline crowd = machine.Compute("Particles", kCrowdCsDxbc);
  const Stale arguments(machine, GroupsOf(machine.size().crowd));
  sample::List list(machine.gpu(), machine.queue(), "Main");
  list.Begin();
  RecordWriter(machine, list, arguments, writer);
  machine.DispatchIndirect(list, "Particles", crowd, {}, arguments.buffer.resource.get());
  machine.Finish(list);
}

// The copy takes what was there before, to where it is used behind a barrier.
void RunCopy(Machine& machine, const Fault& fault) {
  const sample::Pipeline writer = machine.Compute("Prepare", kWriterCsDxbc);
  const sample::Pipeline loop = machine.Compute("Simulate", fault.culprit);
  const Stale written(machine, {UINT32_MAX});
  const Stale copy(machine, {UINT32_MAX});
  sample::List list(machine.gpu(), machine.queue(), "Main");
  list.Begin();
  RecordWriter(machine, list, written, writer);
  list->CopyBufferRegion(copy.buffer.resource.get(), 0, written.buffer.resource.get(), 0,
                         sizeof(uint32_t));
  sample::Transition(list, copy.buffer.resource.get(), D3D12_RESOURCE_STATE_COPY_DEST,
                     D3D12_RESOURCE_STATE_UNORDERED_ACCESS);
  RecordLoop(machine, list, copy.view.get(), loop);
  machine.Finish(list);
}

// No fence says that the second queue has to wait for the first.
void RunQueues(Machine& machine, const Fault& fault) {
  const sample::Pipeline writer = machine.Compute("Prepare", kWriterCsDxbc);
  const sample::Pipeline loop = machine.Compute("Simulate", fault.culprit);
  const Stale bound(machine, {UINT32_MAX});
  sample::Queue compute(machine.gpu(), CAIRN_QUEUE_COMPUTE, "Compute");
  sample::List first(machine.gpu(), compute, "Prepare");
  first.Begin();
  RecordWriter(machine, first, bound, writer);
  first.End();
  sample::List second(machine.gpu(), machine.queue(), "Main");
  second.Begin();
  RecordLoop(machine, second, bound.view.get(), loop);
  compute.Execute({&first});
  machine.Finish(second);
  machine.Wait(compute);
}

// Healthy work in front, and then what `record` records.
template <typename Record>
void RunBehindHealthy(Machine& machine, const Record& record) {
  const sample::Pipeline fill = machine.Compute("Fill", kFillCsDxbc);
  sample::List list(machine.gpu(), machine.queue(), "Main");
  list.Begin();
  machine.Dispatch(list, "Clear", fill, {}, 1);
  list.Barrier();
  record(list);
  machine.Finish(list);
}

void RunViewTooLarge(Machine& machine, const Fault&) {
  const sample::Pipeline store = machine.Compute("Scatter", kStoreViewCsDxbc);
  const sample::Buffer buffer = machine.gpu().CreateBuffer(kWords);
  const auto view = machine.View(buffer.resource.get(), kClaimedWords);
  RunBehindHealthy(machine, [&](sample::List& list) {
    machine.Dispatch(list, "Scatter", store, {{.count = kClaimedWords - kWords}, view.get()}, 1);
  });
}

void RunCrowd(Machine& machine, const Fault&) {
  const sample::Pipeline crowd = machine.Compute("Particles", kCrowdCsDxbc);
  RunBehindHealthy(machine, [&](sample::List& list) {
    machine.Dispatch(list, "Particles", crowd, {}, machine.size().crowd);
  });
}

void RunIndirectCrowd(Machine& machine, const Fault&) {
  const sample::Pipeline crowd = machine.Compute("Particles", kCrowdCsDxbc);
  const Stale arguments(machine, GroupsOf(machine.size().crowd));
  RunBehindHealthy(machine, [&](sample::List& list) {
    machine.DispatchIndirect(list, "Particles", crowd, {}, arguments.buffer.resource.get());
  });
}

// Each vertex takes its time, and none is seen.
void RunDraw(Machine& machine, uint32_t vertices, uint32_t instances) {
  sample::Picture picture(machine.gpu(), kPictureWidth, kPictureWidth);
  const sample::Pipeline draws = machine.Draws("Terrain", kReadsVsDxbc, kPlainPsDxbc);
  RunBehindHealthy(machine, [&](sample::List& list) {
    machine.Draw(list, "Terrain", draws, picture, {.value = 1}, vertices, instances);
  });
}
void RunVertices(Machine& machine, const Fault&) {
  RunDraw(machine, static_cast<uint32_t>(-1), 1);
}
void RunInstances(Machine& machine, const Fault&) {
  RunDraw(machine, 3, static_cast<uint32_t>(-1));
}

// The program's own fault, behind work that is fine.
void RunCpu(Machine& machine, const Fault&) {
  RunBehindHealthy(machine, [](sample::List&) {});
  std::raise(SIGSEGV);
}

}  // namespace

std::vector<Fault> OtherFaults() {
  const auto fault = [](const char* name, const char* what, const char* experiment, auto run) {
    return Fault{.name = name, .what = what, .experiment = experiment, .run = run};
  };
  return {
      fault("view-too-large", "a store through a view that claims more than its buffer has",
            "bounds", RunViewTooLarge),
      fault("crowd", "a dispatch of very many groups without loops", "counts", RunCrowd),
      fault("indirect-crowd", "the same, by arguments that the CPU wrote", "counts",
            RunIndirectCrowd),
      fault("vertices", "a draw of -1 vertices", "counts", RunVertices),
      fault("instances", "a draw of -1 instances", "counts", RunInstances),
      fault("cpu", "the program kills itself behind healthy work", "none", RunCpu),
  };
}

std::vector<Fault> RaceFaults() {
  const auto fault = [](const char* name, const char* what, const char* experiment,
                        const char* also, auto run, Shader loop = {}) {
    return Fault{.name = name,
                 .what = what,
                 .experiment = experiment,
                 .also = also,
                 .shows = Shows::kOnGpu,
                 .run = run,
                 .culprit = loop};
  };
  return {
      fault("uav-barrier", "no UAV barrier: a dispatch reads a bound that the one before writes",
            "barrier-before", "barrier-after,loops", RunUavBarrier, kBoundViewCsDxbc),
      fault("indirect", "no transition of arguments that the dispatch before writes",
            "barrier-before", "barrier-after", RunIndirect),
      fault("dispatch-copy", "no transition of what a dispatch writes and a copy reads",
            "barrier-before", "barrier-after,loops", RunCopy, kBoundViewCsDxbc),
      fault("queues", "no fence: a queue reads a bound that another writes", "serial-queues",
            "loops", RunQueues, kBoundViewCsDxbc),
  };
}

}  // namespace cairn::truth::why::d3d12
