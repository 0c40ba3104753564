// SPDX-License-Identifier: Apache-2.0
//
// In a test program of Windows: where there is no device of Vulkan, ctest takes it for one that was skipped. Not every
// Wine has one; every Linux that runs the tests has.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "app/breadcrumbs/vulkan_device_setup.h"

namespace cairn {
namespace {

constexpr int kSkipped = 77;

Status FindDevice() {
  VulkanInstance instance;
  CAIRN_RETURN_IF_ERROR(instance.Create({}));
  return instance.PhysicalDevices().status();
}

class DeviceOrSkip : public ::testing::Environment {
  void SetUp() override {
    const Status status = FindDevice();
    if (status.ok()) return;
    std::fprintf(stderr, "skipped: %s\n", status.message().c_str());
    std::_Exit(kSkipped);
  }
};
[[maybe_unused]] const auto* const kDevice = ::testing::AddGlobalTestEnvironment(new DeviceOrSkip);

}  // namespace
}  // namespace cairn
