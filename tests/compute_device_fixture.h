// SPDX-License-Identifier: Apache-2.0
//
// For tests: a device of their own on which compute shaders run.
#ifndef CAIRN_TESTS_COMPUTE_DEVICE_FIXTURE_H_
#define CAIRN_TESTS_COMPUTE_DEVICE_FIXTURE_H_

#include <gtest/gtest.h>

#include <cstdint>

#include "app/breadcrumbs/vulkan_device_setup.h"
#include "compute_on_device.h"

namespace cairn {

// A device of its own, with addresses of buffers.
class ComputeDeviceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    VkPhysicalDeviceBufferDeviceAddressFeatures addresses = {
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES};
    addresses.bufferDeviceAddress = VK_TRUE;
    VkPhysicalDeviceScalarBlockLayoutFeatures scalar = {
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SCALAR_BLOCK_LAYOUT_FEATURES, &addresses};
    scalar.scalarBlockLayout = VK_TRUE;
    ASSERT_TRUE(instance_.Create({}).ok());
    const auto devices = instance_.PhysicalDevices();
    ASSERT_TRUE(devices.ok()) << devices.status().message();
    const Status created = device_.Create(instance_, devices->front(), {}, &scalar);
    ASSERT_TRUE(created.ok()) << created.message();
    on_.device = device_.device();
    LoadDeviceFunctions(on_.device, instance_.Load<PFN_vkGetDeviceProcAddr>("vkGetDeviceProcAddr"),
                        &on_.vk);
    on_.family = device_.main_family();
    on_.queue = device_.families()[on_.family].queue;
    instance_.Load<PFN_vkGetPhysicalDeviceMemoryProperties>("vkGetPhysicalDeviceMemoryProperties")(
        device_.physical_device(), &on_.memory);
    results_ = MakeSharedBuffer(on_, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, sizeof(InvocationWords));
    ASSERT_NE(results_.mapped, nullptr);
  }
  void TearDown() override { DestroySharedBuffer(on_, results_); }

  uint64_t AddressOf(const SharedBuffer& made) const {
    VkBufferDeviceAddressInfo info = {VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO};
    info.buffer = made.buffer;
    const auto address_of = reinterpret_cast<PFN_vkGetBufferDeviceAddress>(
        on_.vk.GetDeviceProcAddr(on_.device, "vkGetBufferDeviceAddress"));
    return address_of(on_.device, &info);
  }

  ComputeDevice on_;
  SharedBuffer results_;

 private:
  VulkanInstance instance_;
  VulkanOwnDevice device_;
};

}  // namespace cairn

#endif  // CAIRN_TESTS_COMPUTE_DEVICE_FIXTURE_H_
