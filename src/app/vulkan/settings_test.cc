// SPDX-License-Identifier: Apache-2.0
#include "app/vulkan/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/vulkan/layer.h"

namespace cairn {
namespace {

const char* environment = nullptr;
const char* fault_environment = nullptr;
const char* Environment(const char* name) {
  if (std::string(name) == "CAIRN_DEVICE_FAULT") return fault_environment;
  return std::string(name) == "CAIRN_BREADCRUMBS" ? environment : nullptr;
}

class VulkanSettingsTest : public testing::Test {
 protected:
  void TearDown() override { environment = fault_environment = nullptr; }
  DeviceFaultUse ReadFault(const char* word) {
    const LayerSetting settings[] = {{kVulkanLayerName, "breadcrumbs", 7, 1, &other_},
                                     {kVulkanLayerName, "device_fault", 7, 1, &word}};
    const LayerSettingsCreateInfo chained = {.setting_count = 2, .settings = settings};
    return *ReadVulkanSettings(&chained, Environment, &complaints_).device_fault;
  }
  MarkerMode Read(const char* word, const char* layer = kVulkanLayerName, int32_t type = 7) {
    const LayerSetting settings[] = {{"VK_LAYER_other", "breadcrumbs", 7, 1, &other_},
                                     {layer, "breadcrumbs", type, 1, &word}};
    const LayerSettingsCreateInfo chained = {.setting_count = 2, .settings = settings};
    const VkBaseInStructure first = {VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT,
                                     reinterpret_cast<const VkBaseInStructure*>(&chained)};
    return *ReadVulkanSettings(&first, Environment, &complaints_).breadcrumbs;
  }

  const char* other_ = "off";
  std::vector<std::string> complaints_;
};

TEST_F(VulkanSettingsTest, TopWithoutAWord) {
  EXPECT_EQ(*ReadVulkanSettings(nullptr, Environment, &complaints_).breadcrumbs, MarkerMode::kTop);
  EXPECT_TRUE(complaints_.empty());
}

TEST_F(VulkanSettingsTest, TheApplicationChooses) {
  EXPECT_EQ(Read("off"), MarkerMode::kOff);
  EXPECT_EQ(Read("top"), MarkerMode::kTop);
  EXPECT_EQ(Read("pass"), MarkerMode::kPass);
  EXPECT_EQ(Read("full"), MarkerMode::kFull);
  EXPECT_EQ(Read("exact"), MarkerMode::kExact);
  EXPECT_EQ(Read("full", "VK_LAYER_another"), MarkerMode::kTop);
  EXPECT_EQ(Read("full", kVulkanLayerName, 1), MarkerMode::kTop) << "not a string";
  EXPECT_TRUE(complaints_.empty());
  EXPECT_EQ(Read("loud"), MarkerMode::kTop);
  EXPECT_THAT(complaints_, testing::ElementsAre(testing::HasSubstr("loud")));
}

TEST_F(VulkanSettingsTest, TheEnvironmentWins) {
  environment = "pass";
  EXPECT_EQ(Read("off"), MarkerMode::kPass);
  environment = "";
  EXPECT_EQ(Read("off"), MarkerMode::kOff);
}

TEST_F(VulkanSettingsTest, DeviceFaultIsAutoWithoutAWord) {
  EXPECT_EQ(*ReadVulkanSettings(nullptr, Environment, &complaints_).device_fault,
            DeviceFaultUse::kAuto);
  EXPECT_TRUE(complaints_.empty());
}

TEST_F(VulkanSettingsTest, DeviceFaultIsTheApplicationsUnlessTheEnvironmentSays) {
  EXPECT_EQ(ReadFault("on"), DeviceFaultUse::kOn);
  EXPECT_EQ(ReadFault("off"), DeviceFaultUse::kOff);
  EXPECT_EQ(ReadFault("auto"), DeviceFaultUse::kAuto);
  fault_environment = "on";
  EXPECT_EQ(ReadFault("off"), DeviceFaultUse::kOn);
  EXPECT_TRUE(complaints_.empty());
}

TEST_F(VulkanSettingsTest, DeviceFaultComplainsOfWordsThatMeanNothing) {
  EXPECT_EQ(ReadFault("yes"), DeviceFaultUse::kAuto);
  fault_environment = "1";
  EXPECT_EQ(ReadFault("on"), DeviceFaultUse::kAuto);
  EXPECT_EQ(complaints_,
            (std::vector<std::string>{
                "the setting device_fault of VK_LAYER_CAIRN_breadcrumbs is 'yes', which is none of "
                "auto, on, off; auto is used",
                "CAIRN_DEVICE_FAULT is '1', which is none of auto, on, off; auto is used"}));
}

}  // namespace
}  // namespace cairn
