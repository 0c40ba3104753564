// SPDX-License-Identifier: Apache-2.0
//
// One dispatch stores through an address where nothing is. On lavapipe that is a SIGSEGV in a thread
// of the driver; an NVIDIA GPU loses its device after about a second. With --async it is on the compute queue,
// while the graphics queue has innocent work; with --freed it stores into a buffer that was destroyed just before.
#include <fmt/format.h>

#include "embedded/fault.comp.spv.h"
#include "vulkan_work.h"

namespace {

constexpr uint32_t kWords = 1024;
// The first page of an address space is never mapped, but drivers place small null descriptors there;
// this is far from it and from everything that allocators hand out.
constexpr uint64_t kBadAddress = 0x00000bad'dead0000;
// More than the C library keeps for itself when a driver on the CPU frees it.
constexpr uint32_t kFreedWords = 16u << 20;

struct FaultConstants {
  uint32_t address_low;
  uint32_t address_high;
  uint32_t value;
};

FaultConstants Store(uint64_t address, uint32_t value) {
  return {static_cast<uint32_t>(address), static_cast<uint32_t>(address >> 32), value};
}

struct What {
  uint64_t address = kBadAddress;
  bool async = false;
  bool barriers = true;
  bool freed = false;
};

// A buffer that the sample may end before its device does.
struct ShortLived {
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  VkDeviceAddress address = 0;
};

ShortLived CreateShortLived(const sample::Device& device) {
  ShortLived made;
  VkBufferCreateInfo info = {VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  info.size = VkDeviceSize{kFreedWords} * sizeof(uint32_t);
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
  sample::Check(vkCreateBuffer(device.device(), &info, nullptr, &made.buffer), "vkCreateBuffer");
  VkMemoryRequirements needs = {};
  vkGetBufferMemoryRequirements(device.device(), made.buffer, &needs);
  VkMemoryAllocateFlagsInfo flags = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO};
  flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
  VkMemoryAllocateInfo allocation = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, &flags, needs.size, 0};
  allocation.memoryTypeIndex = device.FindMemory(needs.memoryTypeBits, 0);
  sample::Check(vkAllocateMemory(device.device(), &allocation, nullptr, &made.memory),
                "vkAllocateMemory");
  sample::Check(vkBindBufferMemory(device.device(), made.buffer, made.memory, 0),
                "vkBindBufferMemory");
  VkBufferDeviceAddressInfo address = {VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO};
  address.buffer = made.buffer;
  made.address = vkGetBufferDeviceAddress(device.device(), &address);
  return made;
}

void Destroy(const sample::Device& device, const ShortLived& what) {
  vkDestroyBuffer(device.device(), what.buffer, nullptr);
  vkFreeMemory(device.device(), what.memory, nullptr);
}

void DispatchScatter(const sample::List& list, const char* name, const sample::Pipeline& pipeline,
                     const FaultConstants& constants, bool barrier) {
  sample::BindForDispatch(list, pipeline, &constants, sizeof(constants));
  {
    sample::Scope scope(list, CAIRN_MARKER_DISPATCH, name);
    vkCmdDispatch(list.commands, 1, 1, 1);
  }
  if (barrier) sample::BarrierAfterDispatch(list);
}

// Records the innocent work of the graphics queue, for --async.
sample::List RecordPrepass(sample::Device& device, const sample::Pipeline& fill) {
  const sample::List list = device.BeginList(device.graphics(), "Prepass");
  {
    sample::Scope frame(list, CAIRN_MARKER_PASS, "Frame");
    sample::DispatchFill(list, "Depth prepass", fill, {2, 0, kWords});
    sample::DispatchFill(list, "Lighting", fill, {3, 0, kWords});
  }
  device.EndList(list);
  return list;
}

void Run(const sample::Options& options, const What& what) {
  sample::Device device("sample-fault-vulkan", options);
  const sample::Buffer buffer = device.CreateBuffer(kWords);
  const sample::Pipeline fill = sample::CreateFillPipeline(device, buffer);
  const sample::Pipeline scatter = sample::CreateComputePipeline(
      device, "Scatter", {kFaultCompSpv, sizeof(kFaultCompSpv), "ScatterCS"}, buffer);
  const FaultConstants good = Store(buffer.address, 7);
  ShortLived freed;
  if (what.freed) freed = CreateShortLived(device);
  const uint64_t bad_address = what.freed ? freed.address : what.address;
  const FaultConstants bad = Store(bad_address, 7);

  const sample::Queue& queue = what.async ? device.compute() : device.graphics();
  const sample::List list = device.BeginList(queue, "Main");
  {
    sample::Scope frame(list, CAIRN_MARKER_PASS, "Frame");
    {
      sample::Scope pass(list, CAIRN_MARKER_PASS, "Prepare");
      sample::DispatchFill(list, "Clear", fill, {0, 0, kWords});
    }
    {
      sample::Scope pass(list, CAIRN_MARKER_PASS, "Particles");
      DispatchScatter(list, "Scatter to a buffer", scatter, good, what.barriers);
      DispatchScatter(list, "Scatter to nowhere", scatter, bad, what.barriers);
    }
    {
      sample::Scope pass(list, CAIRN_MARKER_PASS, "Resolve");
      sample::DispatchFill(list, "Resolve", fill, {1, 0, kWords});
    }
  }
  device.EndList(list);
  fmt::print("sample-fault-vulkan: dispatch \"Scatter to nowhere\" stores at {:#x}\n", bad_address);
  std::fflush(stdout);
  if (what.freed) Destroy(device, freed);
  if (what.async) device.Submit(device.graphics(), {RecordPrepass(device, fill)});
  device.WaitOrReportLoss(device.Submit(queue, {list}), 10);
  fmt::print("sample-fault-vulkan: this device ignored the store\n");
}

}  // namespace

int main(int argc, char** argv) {
  sample::CommandLine line("Dispatches a store to an address where nothing is.");
  sample::Options options;
  sample::AddOptions(line, &options);
  What what;
  bool no_barriers = false;
  line.Number("--address", &what.address, "where to store, a multiple of 4");
  line.Flag("--async", &what.async,
            "on the compute queue, where there is one, while the graphics queue works, too");
  line.Flag("--freed", &what.freed,
            "into a buffer that was destroyed just before, not at --address");
  line.Flag("--no-barriers", &no_barriers, "none behind the dispatches of the pass");
  line.Read(argc, argv);
  if (what.address % 4 != 0) sample::Fail("--address is no multiple of 4");
  what.barriers = !no_barriers;
  Run(options, what);
  return 0;
}
