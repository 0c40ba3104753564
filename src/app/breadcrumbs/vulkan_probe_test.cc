// SPDX-License-Identifier: Apache-2.0
#include "app/breadcrumbs/vulkan_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "app/breadcrumbs/vulkan_liveness.h"
#include "os/environment.h"

namespace cairn {
namespace {

TEST(VulkanProbeTest, TestsEveryDeviceByValuesReadBack) {
  Result<std::vector<VulkanProbe>> probes = ProbeVulkanDevices();
  ASSERT_TRUE(probes.ok()) << probes.status().message();
  ASSERT_FALSE(probes->empty());
  for (const VulkanProbe& probe : *probes) {
    ASSERT_TRUE(probe.status.ok()) << probe.status.message();
    EXPECT_NE(probe.device_name, "");
    EXPECT_NE(probe.driver_name, "");
    EXPECT_THAT(probe.api_version, testing::StartsWith("1."));
    EXPECT_NE(probe.method, WriteMethod::kNone);
    EXPECT_NE(probe.memory, WordMemory::kNone);
    bool fill_works = false;
    for (const SourceFinding& finding : probe.findings) {
      EXPECT_NE(finding.reason, "") << finding.name;
      RecordProperty(finding.name, finding.reason);
      if (finding.name == "vkCmdFillBuffer, bottom of pipe") {
        fill_works = finding.state == SourceState::kPresent;
      }
    }
    EXPECT_TRUE(fill_works);
    // A busy machine may keep the CPU from watching; what was seen is said of both kinds of work.
    const auto witness = [&probe](const std::string& work) {
      const auto found = std::ranges::find(probe.findings, "waits at barriers behind " + work,
                                           &SourceFinding::name);
      return found == probe.findings.end() ? SourceState::kAbsent : found->state;
    };
    for (const char* const work : {"a dispatch", "a draw"}) {
      EXPECT_THAT(witness(work), testing::AnyOf(SourceState::kPresent, SourceState::kFailed))
          << work;
    }
  }
}

TEST(VulkanProbeTest, EveryDeviceDispatchesAndDraws) {
  const Result<std::vector<VulkanProbe>> probes = ProbeVulkanDevices();
  ASSERT_TRUE(probes.ok()) << probes.status().message();
  for (const LivenessWork work : {LivenessWork::kDispatches, LivenessWork::kDispatchesAndDraws}) {
    const Result<uint32_t> tried = TryVulkanDevices(work);
    ASSERT_TRUE(tried.ok()) << tried.status().message();
    EXPECT_EQ(*tried, probes->size());
  }
}

TEST(VulkanProbeTest, SaysWhatToInstallWhenThereIsNoDriver) {
  // The loader reads the variables when an instance is created.
  SetVariable("VK_ICD_FILENAMES", "/nonexistent.json");
  SetVariable("VK_DRIVER_FILES", "/nonexistent.json");
  Result<std::vector<VulkanProbe>> probes = ProbeVulkanDevices();
  ClearVariable("VK_ICD_FILENAMES");
  ClearVariable("VK_DRIVER_FILES");
  ASSERT_FALSE(probes.ok());
  EXPECT_EQ(probes.status().code(), StatusCode::kNotFound);
  EXPECT_THAT(probes.status().message(), testing::HasSubstr("no Vulkan device"));
  EXPECT_THAT(probes.status().message(), testing::HasSubstr("mesa-vulkan-drivers"));
}

}  // namespace
}  // namespace cairn
