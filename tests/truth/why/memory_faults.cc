// SPDX-License-Identifier: Apache-2.0
//
// Objects that are used after their end, and memory that is read although nobody has written it.
#include <cmath>

#include "embedded/bound_fresh.comp.spv.h"
#include "embedded/choice.comp.spv.h"
#include "embedded/crowd.comp.spv.h"
#include "embedded/fill.comp.spv.h"
#include "embedded/healthy_loops.comp.spv.h"
#include "embedded/link.comp.spv.h"
#include "embedded/plain.frag.spv.h"
#include "embedded/plain.vert.spv.h"
#include "embedded/step_fresh.comp.spv.h"
#include "embedded/store.comp.spv.h"
#include "embedded/store_to_set.comp.spv.h"
#include "truth/why/faults.h"
#include "truth/why/stale_memory.h"

namespace cairn::truth::why {
namespace {

// As in samples/fault_vulkan.cc.
constexpr uint64_t kBadAddress = 0x00000bad'dead0000;

GpuBuffer Large(Machine& machine) {
  return machine.gpu().CreateBuffer(kLargeBytes, false, "Particles");
}

void FinishOne(Machine& machine, const char* label, VkPipeline pipeline, const Constants& constants,
               uint32_t groups = 1) {
  const VkCommandBuffer commands = machine.Begin(machine.gpu().graphics(), "Main");
  machine.Dispatch(commands, label, pipeline, constants, groups);
  machine.Finish(machine.gpu().graphics(), commands);
}

void RunStoreDestroyed(Machine& machine, const Fault&) {
  const VkPipeline store = machine.Compute(kStoreCompSpv);
  const GpuBuffer buffer = Large(machine);
  FinishOne(machine, "Scatter", store, {.address = buffer.address});
  machine.gpu().Destroy(buffer);
  FinishOne(machine, "Scatter again", store, {.address = buffer.address});
}

void RunSetDestroyed(Machine& machine, const Fault&) {
  const VkPipeline store = machine.Compute(kStoreToSetCompSpv);
  const GpuBuffer buffer = Large(machine);
  machine.SetBuffer(buffer.buffer);
  const VkCommandBuffer commands = machine.Begin(machine.gpu().graphics(), "Main");
  machine.Dispatch(commands, "Scatter", store, {}, 1);
  machine.gpu().Destroy(buffer);
  Scribble();
  machine.Finish(machine.gpu().graphics(), commands);
}

void RunMemoryFreed(Machine& machine, const Fault&) {
  const VkPipeline store = machine.Compute(kStoreToSetCompSpv);
  const GpuBuffer buffer = Large(machine);
  machine.SetBuffer(buffer.buffer);
  vkFreeMemory(machine.device(), buffer.memory, nullptr);
  FinishOne(machine, "Scatter", store, {});
}

// Records healthy loops, which are still at work when the program goes on.
void RecordShort(Machine& machine, VkCommandBuffer commands) {
  Constants constants;
  constants.count = machine.short_count();
  machine.Dispatch(commands, "Sort", machine.Compute(kHealthyLoopsCompSpv), constants,
                   machine.short_groups());
  Machine::Barrier(commands);
}

void RunFreedWhileRunning(Machine& machine, const Fault&) {
  const VkPipeline store = machine.Compute(kStoreCompSpv);
  const GpuBuffer buffer = Large(machine);
  const VkCommandBuffer commands = machine.Begin(machine.gpu().graphics(), "Main");
  RecordShort(machine, commands);
  machine.Dispatch(commands, "Scatter", store, {.address = buffer.address}, 1);
  const VkFence fence = machine.Submit(machine.gpu().graphics(), commands);
  machine.gpu().Destroy(buffer);
  machine.Wait(fence);
}

void RunDestroyedTarget(Machine& machine, uint32_t width, bool memory) {
  const GpuPicture picture = machine.gpu().CreatePicture(width);
  const VkPipeline draws = machine.Draws(kPlainVertSpv, kPlainFragSpv);
  const VkCommandBuffer commands = machine.Begin(machine.gpu().graphics(), "Main");
  machine.Draw(commands, "Sky", draws, picture.view, {}, 3, 1);
  vkDestroyImageView(machine.device(), picture.view, nullptr);
  if (memory) {
    vkDestroyImage(machine.device(), picture.image, nullptr);
    vkFreeMemory(machine.device(), picture.memory, nullptr);
  }
  Scribble();
  machine.Finish(machine.gpu().graphics(), commands);
}
void RunViewDestroyed(Machine& machine, const Fault&) {
  RunDestroyedTarget(machine, kPictureWidth, false);
}
void RunImageDestroyed(Machine& machine, const Fault&) {
  RunDestroyedTarget(machine, 4096, true);
}

void RunPipelineDestroyed(Machine& machine, const Fault&) {
  const VkPipeline fill = machine.Compute(kFillCompSpv);
  const VkCommandBuffer commands = machine.Begin(machine.gpu().graphics(), "Main");
  machine.Dispatch(commands, "Clear", fill, {}, 1);
  vkDestroyPipeline(machine.device(), fill, nullptr);
  Scribble();
  machine.Finish(machine.gpu().graphics(), commands);
}

void RunPoolDestroyed(Machine& machine, const Fault&) {
  const VkPipeline fill = machine.Compute(kFillCompSpv);
  GpuQueue queue = machine.gpu().graphics();
  VkCommandPoolCreateInfo info = {VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
  info.queueFamilyIndex = queue.family;
  Check(vkCreateCommandPool(machine.device(), &info, nullptr, &queue.pool), "vkCreateCommandPool");
  const VkCommandBuffer commands = machine.Begin(queue, "Transient");
  RecordShort(machine, commands);
  for (int i = 0; i < 64; ++i) machine.Dispatch(commands, "Clear", fill, {}, 1);
  const VkFence fence = machine.Submit(queue, commands);
  vkDestroyCommandPool(machine.device(), queue.pool, nullptr);
  Scribble();
  machine.Wait(fence);
}

// Nobody has written it; another buffer was there, and left `stale` in each word.
GpuBuffer Recycled(Machine& machine, uint32_t stale, bool visible) {
  GpuBuffer before;
  LeaveStale(
      stale,
      [&](uint64_t bytes) {
        before = machine.gpu().CreateUnwritten(bytes, true, "Before");
        return static_cast<uint32_t*>(before.mapped);
      },
      [&] { machine.gpu().Destroy(before); });
  return machine.gpu().CreateUnwritten(kKeptBytes, visible, "Fresh");
}
// Nobody has written it; the system or the driver gives zeros.
GpuBuffer Zeros(Machine& machine) {
  return machine.gpu().CreateUnwritten(kLargeBytes, false, "Fresh");
}

// The arguments of a dispatch.
void RunFreshArguments(Machine& machine, const Fault&) {
  const VkPipeline crowd = machine.Compute(kCrowdCompSpv);
  // The same in each direction: the memory need not begin where the one before did.
  const auto side = static_cast<uint32_t>(std::cbrt(machine.size().crowd)) + 1;
  const GpuBuffer arguments = Recycled(machine, side, false);
  const VkCommandBuffer commands = machine.Begin(machine.gpu().graphics(), "Main");
  machine.DispatchIndirect(commands, "Particles", crowd, arguments.buffer, 0);
  machine.Finish(machine.gpu().graphics(), commands);
}

// The bound of a loop, or its step.
void RunFreshBound(Machine& machine, const Fault& fault) {
  const VkPipeline loop = machine.Compute(fault.culprit);
  Constants constants = machine.Bounded();
  constants.address = Recycled(machine, UINT32_MAX, false).address;
  FinishOne(machine, "Simulate", loop, constants, machine.size().groups);
}
void RunFreshStep(Machine& machine, const Fault& fault) {
  const VkPipeline loop = machine.Compute(fault.culprit);
  Constants constants = machine.Bounded();
  constants.address = Zeros(machine).address;
  FinishOne(machine, "Simulate", loop, constants, machine.size().groups);
}

// A part of an address.
void RunFreshLink(Machine& machine, bool visible) {
  const VkPipeline link = machine.Compute(kLinkCompSpv);
  const GpuBuffer fresh = Recycled(machine, 0xBAD, visible);
  FinishOne(machine, "Follow", link, {.address = machine.AddressOf(kLink), .other = fresh.address});
}
void RunFreshVisible(Machine& machine, const Fault&) {
  RunFreshLink(machine, true);
}
void RunFreshLocal(Machine& machine, const Fault&) {
  RunFreshLink(machine, false);
}

// A bit that says which address.
void RunFreshChoice(Machine& machine, const Fault&) {
  const VkPipeline choice = machine.Compute(kChoiceCompSpv);
  FinishOne(machine, "Follow", choice,
            {.address = machine.AddressOf(kLink),
             .other = Zeros(machine).address,
             .count = static_cast<uint32_t>(kBadAddress),
             .value = static_cast<uint32_t>(kBadAddress >> 32)});
}

}  // namespace

std::vector<Fault> LifetimeFaults() {
  return {
      {.name = "store-destroyed",
       .what = "a store by the address of a buffer that was destroyed",
       .experiment = "keep-alive",
       .also = "bounds",
       .run = RunStoreDestroyed},
      {.name = "set-destroyed",
       .what = "a store to a destroyed buffer of a descriptor set",
       .experiment = "keep-alive",
       .run = RunSetDestroyed},
      {.name = "memory-freed",
       .what = "a store to a buffer whose memory was freed",
       .experiment = "keep-alive",
       .run = RunMemoryFreed},
      {.name = "freed-while-running",
       .what = "a buffer is destroyed while work in front of its user runs",
       .experiment = "keep-alive",
       .also = "serial-queues,bounds",
       .run = RunFreedWhileRunning},
      {.name = "view-destroyed",
       .what = "a draw into a view that was destroyed",
       .experiment = "keep-alive",
       .shows = Shows::kOnCpu,
       .run = RunViewDestroyed},
      {.name = "image-destroyed",
       .what = "a draw into an image that was destroyed",
       .experiment = "keep-alive",
       .run = RunImageDestroyed},
      {.name = "pipeline-destroyed",
       .what = "a dispatch of a pipeline that was destroyed",
       .experiment = "keep-alive",
       .shows = Shows::kOnGpu,
       .run = RunPipelineDestroyed},
      {.name = "pool-destroyed",
       .what = "the pool of commands is destroyed while they run",
       .experiment = "keep-alive",
       .also = "serial-queues",
       .run = RunPoolDestroyed},
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
       .culprit = kBoundFreshCompSpv},
      {.name = "fresh-step",
       .what = "a step of a loop that nobody wrote: 0",
       .experiment = "memory-fe",
       .also = "loops",
       .run = RunFreshStep,
       .culprit = kStepFreshCompSpv},
      {.name = "fresh-visible",
       .what = "half an address that nobody wrote, in memory that the CPU sees",
       .experiment = "memory-00",
       .also = "bounds",
       .shows = Shows::kOnCpu,
       .run = RunFreshVisible},
      {.name = "fresh-local",
       .what = "half an address that nobody wrote, in the device's memory",
       .experiment = "memory-00",
       .also = "bounds",
       .shows = Shows::kOnCpu,
       .run = RunFreshLocal},
      {.name = "fresh-choice",
       .what = "a bit that nobody wrote, 0, chooses a bad address",
       .experiment = "memory-fe",
       .also = "bounds",
       .run = RunFreshChoice},
  };
}

}  // namespace cairn::truth::why
