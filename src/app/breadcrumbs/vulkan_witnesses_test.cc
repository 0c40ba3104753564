// SPDX-License-Identifier: Apache-2.0
#include "app/breadcrumbs/vulkan_witnesses.h"

#include <gtest/gtest.h>

#include <cstring>

namespace cairn {
namespace {

constexpr VkPipelineStageFlags kAll = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
constexpr VkAccessFlags kReadWrite = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;

BarrierKind Kind(VkPipelineStageFlags source, VkPipelineStageFlags destination,
                 VkDependencyFlags flags = 0, VkAccessFlags from = 0, VkAccessFlags to = 0) {
  VkMemoryBarrier memory = {VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr, from, to};
  const BarrierKind kind =
      KindOfBarrier(source, destination, flags, from != 0 ? 1 : 0, &memory, 0, nullptr, 0, nullptr);
  // The other form of the same.
  VkMemoryBarrier2 memory2 = {VK_STRUCTURE_TYPE_MEMORY_BARRIER_2};
  memory2.srcStageMask = source;
  memory2.dstStageMask = destination;
  memory2.srcAccessMask = from;
  memory2.dstAccessMask = to;
  VkDependencyInfo info = {VK_STRUCTURE_TYPE_DEPENDENCY_INFO};
  info.dependencyFlags = flags;
  info.memoryBarrierCount = 1;
  info.pMemoryBarriers = &memory2;
  EXPECT_EQ(KindOfBarrier(&info), kind);
  return kind;
}

constexpr BarrierKind kNothing;
constexpr BarrierKind kExecution = {BarrierStrength::kExecution, kWaitsForAll};
constexpr BarrierKind kMemory = {BarrierStrength::kMemory, kWaitsForAll};
constexpr BarrierKind Some(uint8_t waits_for) {
  return {BarrierStrength::kSome, waits_for};
}

TEST(KindOfBarrier, ByWhatItDemands) {
  EXPECT_EQ(Kind(VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, kAll), kNothing);
  EXPECT_EQ(Kind(VK_PIPELINE_STAGE_HOST_BIT, kAll), kNothing);
  EXPECT_EQ(Kind(0, kAll), kNothing);
  EXPECT_EQ(Kind(kAll, 0), kNothing);
  EXPECT_EQ(Kind(VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT, kAll),
            Some(kWaitsForCopies));
  EXPECT_EQ(Kind(VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0,
                 VK_ACCESS_SHADER_WRITE_BIT, VK_ACCESS_SHADER_READ_BIT),
            Some(kWaitsForDispatches));
  EXPECT_EQ(Kind(VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT, kAll), Some(kWaitsForDraws));
  // A draw does not end in this stage.
  EXPECT_EQ(Kind(VK_PIPELINE_STAGE_VERTEX_SHADER_BIT, kAll), Some(0));
  EXPECT_EQ(Kind(kAll, VK_PIPELINE_STAGE_HOST_BIT, 0, VK_ACCESS_MEMORY_WRITE_BIT, kReadWrite),
            Some(kWaitsForAll));
  EXPECT_EQ(Kind(kAll, kAll), kExecution);
  EXPECT_EQ(Kind(kAll, kAll, 0, VK_ACCESS_SHADER_WRITE_BIT, kReadWrite), kExecution);
  EXPECT_EQ(Kind(kAll, kAll, 0, VK_ACCESS_MEMORY_WRITE_BIT, VK_ACCESS_MEMORY_READ_BIT), kExecution);
  EXPECT_EQ(Kind(kAll, kAll, 0, VK_ACCESS_MEMORY_WRITE_BIT, kReadWrite), kMemory);
  EXPECT_EQ(Kind(kAll | VK_PIPELINE_STAGE_HOST_BIT, kAll, 0, kReadWrite, kReadWrite), kMemory);
}

// By region it orders pixels, not work.
TEST(KindOfBarrier, FlagsWeakenIt) {
  EXPECT_EQ(Kind(kAll, kAll, VK_DEPENDENCY_BY_REGION_BIT, VK_ACCESS_MEMORY_WRITE_BIT, kReadWrite),
            kNothing);
}

TEST(KindOfBarrier, AllOfSeveral) {
  VkImageMemoryBarrier2 images[2] = {{VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2},
                                     {VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2}};
  images[0].srcStageMask = VK_PIPELINE_STAGE_2_NONE;
  images[0].dstStageMask = kAll;
  VkDependencyInfo info = {VK_STRUCTURE_TYPE_DEPENDENCY_INFO};
  info.imageMemoryBarrierCount = 2;
  info.pImageMemoryBarriers = images;
  EXPECT_EQ(KindOfBarrier(&info), kNothing);
  images[1].srcStageMask = VK_PIPELINE_STAGE_2_COPY_BIT;
  images[1].dstStageMask = VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT;
  EXPECT_EQ(KindOfBarrier(&info), Some(0)) << "a blit does not end there";
  VkMemoryBarrier2 memory = {VK_STRUCTURE_TYPE_MEMORY_BARRIER_2};
  memory.srcStageMask = memory.dstStageMask = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT;
  info.memoryBarrierCount = 1;
  info.pMemoryBarriers = &memory;
  EXPECT_EQ(KindOfBarrier(&info), Some(kWaitsForDispatches));
  images[1].srcStageMask = VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT;
  EXPECT_EQ(KindOfBarrier(&info), Some(kWaitsForDispatches | kWaitsForCopies));
  VkBufferMemoryBarrier2 buffer = {VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER_2};
  buffer.srcStageMask = buffer.dstStageMask = kAll;
  buffer.srcAccessMask = buffer.dstAccessMask = kReadWrite;
  info.bufferMemoryBarrierCount = 1;
  info.pBufferMemoryBarriers = &buffer;
  // The barrier is for one buffer, not for all memory.
  EXPECT_EQ(KindOfBarrier(&info), kExecution);
}

uint8_t uuid_byte = 0;

VKAPI_ATTR void VKAPI_CALL Properties2(VkPhysicalDevice, VkPhysicalDeviceProperties2* properties) {
  properties->properties.driverVersion = 77;
  auto* const id = static_cast<VkPhysicalDeviceIDProperties*>(properties->pNext);
  id->deviceUUID[15] = uuid_byte;
  auto* const driver = static_cast<VkPhysicalDeviceDriverProperties*>(id->pNext);
  // No terminating zero.
  std::memset(driver->driverName, 'd', sizeof(driver->driverName));
}

TEST(WitnessKey, AsTheDriverTells) {
  EXPECT_FALSE(WitnessKeyOf(nullptr, nullptr).has_value());
  uuid_byte = 0;
  EXPECT_FALSE(WitnessKeyOf(Properties2, nullptr).has_value());
  uuid_byte = 9;
  const std::optional<WitnessKey> key = WitnessKeyOf(Properties2, nullptr);
  ASSERT_TRUE(key.has_value());
  EXPECT_EQ(key->device_uuid[15], 9);
  EXPECT_EQ(key->driver_version, 77u);
  EXPECT_EQ(key->driver_name, std::string(32, 'd'));
}

}  // namespace
}  // namespace cairn
