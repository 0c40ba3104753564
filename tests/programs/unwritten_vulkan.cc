// SPDX-License-Identifier: Apache-2.0
//
// A program that reads memory that nobody wrote: the GPU copies a word of new memory to where the program reads it, and
// the program divides by it (--divides) or takes it as an index (--indexes).
#include <fmt/format.h>

#include <cstdio>
#include <vector>

#include "vulkan_work.h"

namespace {

// Fresh from the system, where the C library is asked for so much.
constexpr VkDeviceSize kBytes = VkDeviceSize{64} << 20;
constexpr uint32_t kTableWords = 16;

struct What {
  bool divides = false;
  bool indexes = false;
};

// Makes a buffer in memory that is as the driver gives it.
VkBuffer CreateUnwritten(sample::Device& device) {
  VkBufferCreateInfo info = {VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  info.size = kBytes;
  info.usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT;
  VkBuffer buffer = VK_NULL_HANDLE;
  sample::Check(vkCreateBuffer(device.device(), &info, nullptr, &buffer), "vkCreateBuffer");
  VkMemoryRequirements needs = {};
  vkGetBufferMemoryRequirements(device.device(), buffer, &needs);
  VkMemoryAllocateInfo allocation = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
  allocation.allocationSize = needs.size;
  allocation.memoryTypeIndex =
      device.FindMemory(needs.memoryTypeBits, 0, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
  VkDeviceMemory memory = VK_NULL_HANDLE;
  sample::Check(vkAllocateMemory(device.device(), &allocation, nullptr, &memory),
                "vkAllocateMemory");
  sample::Check(vkBindBufferMemory(device.device(), buffer, memory, 0), "vkBindBufferMemory");
  device.Own([&device, buffer, memory] {
    vkDestroyBuffer(device.device(), buffer, nullptr);
    vkFreeMemory(device.device(), memory, nullptr);
  });
  return buffer;
}

uint32_t UnwrittenWord(sample::Device& device) {
  const VkBuffer unwritten = CreateUnwritten(device);
  const sample::Buffer copy = device.CreateBuffer(1);
  const sample::List list = device.BeginList(device.graphics(), "Main");
  // Not the beginning: the C library writes there when memory is freed.
  const VkBufferCopy region = {kBytes / 2, 0, sizeof(uint32_t)};
  {
    sample::Scope scope(list, CAIRN_MARKER_COPY_BUFFER, "Read");
    vkCmdCopyBuffer(list.commands, unwritten, copy.buffer, 1, &region);
  }
  device.EndList(list);
  device.WaitOrReportLoss(device.Submit(device.graphics(), {list}), 10);
  return *static_cast<volatile uint32_t*>(copy.words);
}

}  // namespace

int main(int argc, char** argv) {
  sample::CommandLine line("Reads a word of new memory that nobody wrote.");
  sample::Options options;
  sample::AddOptions(line, &options);
  What what;
  line.Flag("--divides", &what.divides, "divides by it");
  line.Flag("--indexes", &what.indexes, "takes it as an index of a small table");
  line.Read(argc, argv);
  sample::Device device("unwritten_vulkan", options);
  const uint32_t word = UnwrittenWord(device);
  fmt::print("unwritten_vulkan: the word is {:#x}\n", word);
  std::fflush(stdout);
  const std::vector<uint32_t> table(kTableWords, 1);
  volatile uint32_t result = 1;
  if (what.divides) result = result / word;
  if (what.indexes) result = table.data()[word];
  return result > 1 ? 2 : 0;
}
