// SPDX-License-Identifier: Apache-2.0
//
// Missing barriers and semaphores, addresses, counts; and faults of which no experiment knows the cause.
#include <algorithm>
#include <array>
#include <csignal>

#include "embedded/bound_buffer.comp.spv.h"
#include "embedded/crowd.comp.spv.h"
#include "embedded/descriptor_index.comp.spv.h"
#include "embedded/fill.comp.spv.h"
#include "embedded/link.comp.spv.h"
#include "embedded/load.comp.spv.h"
#include "embedded/plain.frag.spv.h"
#include "embedded/plain.vert.spv.h"
#include "embedded/range.comp.spv.h"
#include "embedded/reads.vert.spv.h"
#include "embedded/slow.comp.spv.h"
#include "embedded/slow.frag.spv.h"
#include "embedded/storage_index.comp.spv.h"
#include "embedded/store.comp.spv.h"
#include "embedded/uniform_index.comp.spv.h"
#include "embedded/writer.comp.spv.h"
#include "truth/why/command_line.h"
#include "truth/why/faults.h"

namespace cairn::truth::why {
namespace {

// As in samples/fault_vulkan.cc.
constexpr uint64_t kBadAddress = 0x00000bad'dead0000;
constexpr VkDeviceSize kBehindBytes = 4ull << 30;
// Takes a GPU long enough to copy that the next dispatch may begin.
constexpr VkDeviceSize kLongCopyBytes = 256 << 20;
// Names copies in a directive for a scripted driver.
constexpr const char* kInTransfer = " in transfer";

// Takes a while, and then makes what is at `address` harmless: `value`, 1, 1.
void RecordWriter(Machine& machine, VkCommandBuffer commands, uint64_t address, uint32_t value) {
  Constants constants;
  constants.address = address;
  constants.count = machine.short_count();
  constants.value = value;
  machine.ScriptSlow(commands);
  machine.Dispatch(commands, "Prepare", machine.Compute(kWriterCompSpv), constants,
                   machine.short_groups());
}
// A loop whose bound is 2^32 - 1 before it is written.
void RecordLoop(Machine& machine, VkCommandBuffer commands) {
  machine.ScriptRace(commands);
  machine.Dispatch(commands, "Simulate", machine.Compute(kBoundBufferCompSpv), machine.Bounded(),
                   machine.size().groups);
}
// A store whose address is bad before it is written.
void RecordLink(Machine& machine, VkCommandBuffer commands) {
  machine.ScriptRace(commands);
  machine.Dispatch(commands, "Follow", machine.Compute(kLinkCompSpv),
                   {.address = machine.words().address, .other = machine.AddressOf(kLink)}, 1);
}

void RunDispatchLoop(Machine& machine, const Fault&) {
  const VkCommandBuffer commands = machine.Begin(machine.gpu().graphics(), "Main");
  RecordWriter(machine, commands, machine.AddressOf(kBound), 1);
  RecordLoop(machine, commands);
  machine.Finish(machine.gpu().graphics(), commands);
}

void RunDispatchAddress(Machine& machine, const Fault&) {
  const VkCommandBuffer commands = machine.Begin(machine.gpu().graphics(), "Main");
  RecordWriter(machine, commands, machine.AddressOf(kLink), 0);
  RecordLink(machine, commands);
  machine.Finish(machine.gpu().graphics(), commands);
}

void RunIndirect(Machine& machine, const Fault&) {
  const VkPipeline crowd = machine.Compute(kCrowdCompSpv);
  const GpuBuffer arguments = machine.gpu().CreateBuffer(256, true, "Arguments");
  const std::vector<uint32_t> stale = GroupsOf(machine.size().crowd);
  std::copy(stale.begin(), stale.end(), static_cast<uint32_t*>(arguments.mapped));
  const VkCommandBuffer commands = machine.Begin(machine.gpu().graphics(), "Main");
  RecordWriter(machine, commands, arguments.address, 1);
  machine.ScriptRace(commands);
  machine.DispatchIndirect(commands, "Particles", crowd, arguments.buffer, 0);
  machine.Finish(machine.gpu().graphics(), commands);
}

// The last words of a long copy.
void RunCopyDispatch(Machine& machine, const Fault&) {
  const VkDeviceSize bytes = machine.is_scripted() ? 64 : kLongCopyBytes;
  const GpuBuffer from = machine.gpu().CreateBuffer(bytes, false, "Staging");
  const GpuBuffer to = machine.gpu().CreateBuffer(bytes, false, "Copy");
  const VkCommandBuffer before = machine.Begin(machine.gpu().graphics(), "Fill");
  vkCmdFillBuffer(before, from.buffer, 0, VK_WHOLE_SIZE, 0);
  vkCmdFillBuffer(before, to.buffer, 0, VK_WHOLE_SIZE, 0xBAD);
  machine.Finish(machine.gpu().graphics(), before);
  const VkCommandBuffer commands = machine.Begin(machine.gpu().graphics(), "Main");
  const VkBufferCopy all = {0, 0, bytes};
  machine.ScriptSlow(commands, kInTransfer);
  vkCmdCopyBuffer(commands, from.buffer, to.buffer, 1, &all);
  machine.ScriptRace(commands);
  machine.Dispatch(commands, "Follow", machine.Compute(kLinkCompSpv),
                   {.address = machine.words().address, .other = to.address + bytes - 4}, 1);
  machine.Finish(machine.gpu().graphics(), commands);
}

// The copy takes what was there before, to where it is used behind a barrier.
void RunDispatchCopy(Machine& machine, const Fault&) {
  const GpuBuffer written = machine.gpu().CreateBuffer(256, true, "Written");
  *static_cast<uint32_t*>(written.mapped) = 0xBAD;
  const VkCommandBuffer commands = machine.Begin(machine.gpu().graphics(), "Main");
  RecordWriter(machine, commands, written.address, 0);
  const VkBufferCopy word = {0, sizeof(uint32_t) * kLink, sizeof(uint32_t)};
  machine.ScriptRace(commands, kInTransfer);
  vkCmdCopyBuffer(commands, written.buffer, machine.words().buffer, 1, &word);
  Machine::Barrier(commands);
  RecordLink(machine, commands);
  machine.Finish(machine.gpu().graphics(), commands);
}

// Nothing says that the second submission has to wait for the first.
void RunTwo(Machine& machine, const GpuQueue& first_queue, bool loop) {
  const VkCommandBuffer first = machine.Begin(first_queue, "Prepare");
  RecordWriter(machine, first, machine.AddressOf(loop ? kBound : kLink), loop ? 1 : 0);
  const VkCommandBuffer second = machine.Begin(machine.gpu().graphics(), "Main");
  // A scripted driver lets this queue begin first: another one is to be at work.
  if (machine.is_scripted() && first_queue.queue != machine.gpu().graphics().queue) {
    machine.Dispatch(second, "Clear", machine.Compute(kFillCompSpv), {}, 1);
    Machine::Barrier(second);
  }
  if (loop) {
    RecordLoop(machine, second);
  } else {
    RecordLink(machine, second);
  }
  const VkFence prepared = machine.Submit(first_queue, first);
  machine.Wait(machine.Submit(machine.gpu().graphics(), second));
  machine.Wait(prepared);
}
void RunQueues(Machine& machine, const Fault& fault) {
  if (!machine.gpu().two_queues()) CannotShow("the device has one queue");
  RunTwo(machine, machine.gpu().compute(), fault.culprit.code.data() != nullptr);
}
void RunSubmissions(Machine& machine, const Fault& fault) {
  RunTwo(machine, machine.gpu().graphics(), fault.culprit.code.data() != nullptr);
}

void RunOne(Machine& machine, Shader shader, const Constants& constants, uint32_t groups) {
  const VkPipeline fill = machine.Compute(kFillCompSpv);
  const VkPipeline pipeline = machine.Compute(shader);
  const VkCommandBuffer commands = machine.Begin(machine.gpu().graphics(), "Main");
  machine.Dispatch(commands, "Clear", fill, {}, 1);
  Machine::Barrier(commands);
  machine.Dispatch(commands, "Scatter", pipeline, constants, groups);
  Machine::Barrier(commands);
  machine.Dispatch(commands, "Resolve", fill, {}, 1);
  machine.Finish(machine.gpu().graphics(), commands);
}
void RunStoreFar(Machine& machine, const Fault&) {
  RunOne(machine, kStoreCompSpv, {.address = kBadAddress}, 1);
}
void RunStoreBehind(Machine& machine, const Fault&) {
  RunOne(machine, kStoreCompSpv, {.address = machine.words().address + kBehindBytes}, 1);
}
void RunStoreNull(Machine& machine, const Fault&) {
  RunOne(machine, kStoreCompSpv, {.address = 0}, 1);
}
void RunLoadFar(Machine& machine, const Fault&) {
  RunOne(machine, kLoadCompSpv, {.address = kBadAddress}, 1);
}
void RunCrowd(Machine& machine, const Fault&) {
  RunOne(machine, kCrowdCompSpv, machine.Bounded(), machine.size().crowd);
}

// A group of `slow` has 16 times as many invocations as one of `crowd`, of which each makes 64 times as many reads.
void RunSlow(Machine& machine, const Fault&) {
  RunOne(machine, kSlowCompSpv, machine.Bounded(), machine.size().crowd / (16 * 64) + 1);
}

// Instances over each other, as many as the limit of counts on a CPU allows: their pixels take the time.
void RunPixels(Machine& machine, const Fault&) {
  const GpuPicture picture = machine.gpu().CreatePicture(kPictureWidth);
  const VkPipeline draws = machine.Draws(kPlainVertSpv, kSlowFragSpv);
  const VkCommandBuffer commands = machine.Begin(machine.gpu().graphics(), "Main");
  const uint32_t instances = std::min(machine.size().crowd / 64, 10'900u) + 1;
  machine.Draw(commands, "Water", draws, picture.view, {}, 3, instances);
  machine.Finish(machine.gpu().graphics(), commands);
}

// A count of -1: 2^32 - 1 vertices, each of which takes its time and none of which is seen.
void RunVertices(Machine& machine, const Fault&) {
  const GpuPicture picture = machine.gpu().CreatePicture(kPictureWidth);
  const VkPipeline draws = machine.Draws(kReadsVertSpv, kPlainFragSpv);
  const VkCommandBuffer commands = machine.Begin(machine.gpu().graphics(), "Main");
  machine.Draw(commands, "Terrain", draws, picture.view, {.value = 1}, static_cast<uint32_t>(-1),
               1);
  machine.Finish(machine.gpu().graphics(), commands);
}

// The same of groups, in the arguments of a dispatch that the program wrote itself.
void RunGroups(Machine& machine, const Fault&) {
  const GpuBuffer arguments = machine.gpu().CreateBuffer(256, true, "Arguments");
  constexpr uint32_t kMost = 65535;
  const std::array<uint32_t, 3> groups = {kMost, kMost, 1};
  std::copy(groups.begin(), groups.end(), static_cast<uint32_t*>(arguments.mapped));
  const VkPipeline crowd = machine.Compute(kCrowdCompSpv);
  const VkCommandBuffer commands = machine.Begin(machine.gpu().graphics(), "Main");
  machine.Dispatch(commands, "Prepare", machine.Compute(kFillCompSpv), {}, 1);
  Machine::Barrier(commands);
  machine.DispatchIndirect(commands, "Particles", crowd, arguments.buffer, 0);
  machine.Finish(machine.gpu().graphics(), commands);
}

// An index behind the end of an array.
void RunIndex(Machine& machine, const Fault& fault) {
  Constants constants = fault.constants;
  constants.address = machine.words().address;
  RunOne(machine, fault.culprit, constants, 1);
}

// The program takes what a shader made of a constant for an index, far behind its own array.
void RunReadBack(Machine& machine, const Fault&) {
  const VkPipeline fill = machine.Compute(kFillCompSpv);
  const VkCommandBuffer commands = machine.Begin(machine.gpu().graphics(), "Main");
  machine.Dispatch(commands, "Clear", fill, {}, 1);
  Machine::Barrier(commands);
  machine.Dispatch(commands, "Count", fill, {.value = UINT32_MAX}, 1);
  machine.Finish(machine.gpu().graphics(), commands);
  std::vector<uint64_t> bins(16);
  const auto* const words = static_cast<const volatile uint32_t*>(machine.words().mapped);
  auto* const counted = static_cast<volatile uint64_t*>(bins.data());
  const uint32_t bin = words[kResults];
  counted[bin] = counted[bin] + 1;
}

// The program's own fault, behind work that is fine.
void RunCpu(Machine& machine, const Fault&) {
  RunOne(machine, kFillCompSpv, {}, 1);
  std::raise(SIGSEGV);
}

}  // namespace

std::vector<Fault> OtherFaults() {
  const auto fault = [](const char* name, const char* what, const char* experiment, auto run) {
    return Fault{.name = name, .what = what, .experiment = experiment, .run = run};
  };
  Fault pixels = fault("pixels", "pixels that take long, without a loop", "time", RunPixels);
  pixels.shows = Shows::kOnCpu;
  pixels.also = "stages,bindings";
  Fault slow =
      fault("slow", "a dispatch of many groups that take long, without loops", "time", RunSlow);
  slow.also = "bindings";
  return {
      fault("store-far", "a store to an address where nothing is", "bounds", RunStoreFar),
      fault("store-behind", "a store 4 GiB behind a buffer", "bounds", RunStoreBehind),
      fault("store-null", "a store through null", "bounds", RunStoreNull),
      fault("load-far", "a load from an address where nothing is", "bounds", RunLoadFar),
      {.name = "storage-index",
       .what = "an index behind an array of a storage buffer: what stands there becomes an address",
       .experiment = "bounds",
       .run = RunIndex,
       .culprit = kStorageIndexCompSpv,
       .constants = {.value = kLink}},
      {.name = "uniform-index",
       .what = "an index behind an array of a uniform buffer: what stands there becomes an address",
       .experiment = "bounds",
       .run = RunIndex,
       .culprit = kUniformIndexCompSpv,
       .constants = {.value = kUniformBehind}},
      {.name = "descriptor-index",
       .what = "a store by an index far behind an array of descriptors",
       .experiment = "bounds",
       .shows = Shows::kOnGpu,
       .run = RunIndex,
       .culprit = kDescriptorIndexCompSpv,
       .constants = {.value = 0x1000'0000}},
      {.name = "range",
       .what = "a store far beyond the bound range of a buffer, whose array has room for it",
       .experiment = "robust",
       .shows = Shows::kOnGpu,
       .run = RunIndex,
       .culprit = kRangeCompSpv,
       .constants = {.value = 0x2fff'0000}},
      slow,
      pixels,
      fault("crowd", "a dispatch of far too many groups without loops", "counts", RunCrowd),
      fault("vertices", "a draw of -1 vertices", "counts", RunVertices),
      fault("groups", "arguments in a buffer of 65,535 by 65,535 groups", "counts", RunGroups),
      fault("read-back", "a constant that a shader turns into an index of the program's own",
            "bindings", RunReadBack),
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
                 .scripted = true,
                 .run = run,
                 .culprit = loop};
  };
  return {
      fault("dispatch-loop", "a dispatch reads a bound that the one before writes",
            "barrier-before", "barrier-after,loops", RunDispatchLoop, kBoundBufferCompSpv),
      fault("dispatch-address", "a dispatch reads an address that the one before writes",
            "barrier-before", "barrier-after,bounds", RunDispatchAddress),
      fault("indirect", "arguments that the dispatch before writes", "barrier-before",
            "barrier-after,counts", RunIndirect),
      fault("copy-dispatch", "a dispatch reads what a copy writes", "barrier-before",
            "barrier-after,bounds", RunCopyDispatch),
      fault("dispatch-copy", "a copy reads what a dispatch writes", "barrier-before",
            "barrier-after,bounds", RunDispatchCopy),
      fault("queues-loop", "a queue reads a bound that another writes", "serial-queues", "loops",
            RunQueues, kBoundBufferCompSpv),
      fault("queues-address", "a queue reads an address that another writes", "serial-queues",
            "bounds", RunQueues),
      // Both go to one queue: a barrier is missing, and reaches back beyond its submission.
      fault("submissions-loop", "a submission reads a bound that the one before writes",
            "barrier-before", "barrier-after,serial-queues,loops", RunSubmissions,
            kBoundBufferCompSpv),
      fault("submissions-address", "a submission reads an address that the one before writes",
            "barrier-before", "barrier-after,serial-queues,bounds", RunSubmissions),
  };
}

}  // namespace cairn::truth::why
