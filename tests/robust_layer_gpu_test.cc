// SPDX-License-Identifier: Apache-2.0
//
// The experiment "robust" in the Vulkan layer, on a device: what reaches the driver of a program that knows nothing of it.
// src/app/vulkan/robust_request_test.cc has each way to ask, on devices that are made up.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/breadcrumbs/vulkan_loader.h"
#include "app/vulkan/layer_chain.h"
#include "app/vulkan/run_experiment.h"
#include "app/vulkan/testing/run_board.h"
#include "app/vulkan/testing/test_loader.h"
#include "format/experiment/robust_features.h"

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

// Stands behind the layer, in front of the driver.
namespace driver {

PFN_vkGetInstanceProcAddr loader = nullptr;
VkInstance of_program = VK_NULL_HANDLE;
bool refuses_null_descriptors = false;
std::vector<RobustFeatures> requests;  // of each vkCreateDevice
std::vector<const char*> extensions;   // of the last one

RobustFeatures If(VkBool32 is_on, RobustFeature feature) {
  return is_on != VK_FALSE ? RobustFeatures{feature} : 0;
}

RobustFeatures FeaturesOf(const VkDeviceCreateInfo& info) {
  const auto* const features2 = FindInChain<VkPhysicalDeviceFeatures2>(
      info.pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2);
  const VkPhysicalDeviceFeatures* const all =
      features2 != nullptr ? &features2->features : info.pEnabledFeatures;
  const auto* const vulkan13 = FindInChain<VkPhysicalDeviceVulkan13Features>(
      info.pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES);
  const auto* const image = FindInChain<VkPhysicalDeviceImageRobustnessFeatures>(
      info.pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_ROBUSTNESS_FEATURES);
  const auto* const two = FindInChain<VkPhysicalDeviceRobustness2FeaturesEXT>(
      info.pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ROBUSTNESS_2_FEATURES_EXT);
  RobustFeatures features = 0;
  if (all != nullptr) features |= If(all->robustBufferAccess, kRobustBufferAccess);
  if (vulkan13 != nullptr) features |= If(vulkan13->robustImageAccess, kRobustImageAccess);
  if (image != nullptr) features |= If(image->robustImageAccess, kRobustImageAccess);
  if (two != nullptr) {
    features |= If(two->robustBufferAccess2, kRobustBufferAccess2) |
                If(two->robustImageAccess2, kRobustImageAccess2) |
                If(two->nullDescriptor, kNullDescriptor);
  }
  return features;
}

VKAPI_ATTR VkResult VKAPI_CALL CreateDevice(VkPhysicalDevice physical_device,
                                            const VkDeviceCreateInfo* info,
                                            const VkAllocationCallbacks* allocator,
                                            VkDevice* device) {
  requests.push_back(FeaturesOf(*info));
  extensions.assign(info->ppEnabledExtensionNames,
                    info->ppEnabledExtensionNames + info->enabledExtensionCount);
  if (refuses_null_descriptors && (requests.back() & kNullDescriptor) != 0) {
    return VK_ERROR_FEATURE_NOT_PRESENT;
  }
  const auto next = reinterpret_cast<PFN_vkCreateDevice>(loader(of_program, "vkCreateDevice"));
  return next(physical_device, info, allocator, device);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL GetOfInstance(VkInstance instance, const char* name) {
  if (std::string_view(name) == "vkCreateDevice") {
    of_program = instance;
    return reinterpret_cast<PFN_vkVoidFunction>(CreateDevice);
  }
  return loader(instance, name);
}

}  // namespace driver

class RobustLayerGpuTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const auto found = LoadVulkanLoader();
    ASSERT_TRUE(found.ok()) << found.status().message();
    driver::loader = reinterpret_cast<PFN_vkGetInstanceProcAddr>(*found);
    RunBoard::OfProcess();
  }
  void SetUp() override {
    driver::refuses_null_descriptors = false;
    driver::requests.clear();
    RunBoard::OfProcess().Take();
    ReplaceRunExperiment(&kRobust);
  }
  void TearDown() override {
    loader_.reset();
    ReplaceRunExperiment(nullptr);
  }
  // The features that devices got.
  RobustDevices Make(const void* chain = nullptr, std::vector<const char*> extensions = {},
                     MarkerMode mode = MarkerMode::kTop) {
    TestDeviceRequest request;
    request.chain = chain;
    request.extensions = std::move(extensions);
    request.next = driver::GetOfInstance;
    loader_.emplace();
    const Status made = loader_->Create(mode, request);
    EXPECT_TRUE(made.ok()) << made.message();
    return RobustDevicesOf(RunBoard::OfProcess().Take().changes);
  }
  // Those that the driver says it has.
  RobustFeatures Present() {
    VkPhysicalDeviceRobustness2FeaturesEXT two = {
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ROBUSTNESS_2_FEATURES_EXT};
    VkPhysicalDeviceVulkan13Features vulkan13 = {
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES, &two};
    VkPhysicalDeviceFeatures2 all = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &vulkan13, {}};
    loader_->GetOfInstance<PFN_vkGetPhysicalDeviceFeatures2>("vkGetPhysicalDeviceFeatures2")(
        loader_->physical_device(), &all);
    VkDeviceCreateInfo info = {VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, &all};
    return driver::FeaturesOf(info);
  }

  const Experiment kRobust = {.change = Change::kRobust};
  std::optional<TestLoader> loader_;
};

TEST_F(RobustLayerGpuTest, ADeviceGetsWhatItHas) {
  const RobustDevices devices = Make();
  const RobustFeatures present = Present();
  EXPECT_NE(present & kRobustBufferAccess, 0u) << "every device has it";
  EXPECT_THAT(driver::requests, ElementsAre(present));
  EXPECT_EQ(devices, (RobustDevices{present, 0, kAllRobustFeatures & ~present, 0}));
  // The device works.
  const VkCommandBuffer commands = loader_->Allocate();
  loader_->Begin(commands);
  loader_->vk().CmdFillBuffer(commands, loader_->MakeBuffer(), 0, VK_WHOLE_SIZE, 7);
  loader_->End(commands);
  EXPECT_EQ(loader_->Run(commands), VK_SUCCESS);
}

TEST_F(RobustLayerGpuTest, AProgramKeepsItsStructures) {
  VkPhysicalDeviceFeatures2 features = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
  features.features.robustBufferAccess = VK_TRUE;
  VkPhysicalDeviceVulkan13Features vulkan13 = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES, &features};
  const RobustDevices devices = Make(&vulkan13);
  const RobustFeatures present = Present();
  EXPECT_THAT(driver::requests, ElementsAre(present));
  EXPECT_EQ(devices.own, RobustFeatures{kRobustBufferAccess});
  EXPECT_EQ(devices.enabled, present & ~kRobustBufferAccess);
  EXPECT_EQ(vulkan13.robustImageAccess, VK_FALSE);
  EXPECT_EQ(vulkan13.pNext, &features);
}

// Its extensions as well are all that the layer would add: its request is the program's.
TEST_F(RobustLayerGpuTest, TheBoardSaysSoIfTheProgramHasAll) {
  Make();
  const RobustFeatures present = Present();
  const std::vector<const char*> extensions = driver::extensions;
  const auto has = [present](RobustFeature feature) -> VkBool32 {
    return (present & feature) != 0 ? VK_TRUE : VK_FALSE;
  };
  VkPhysicalDeviceRobustness2FeaturesEXT two = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ROBUSTNESS_2_FEATURES_EXT};
  two.robustBufferAccess2 = has(kRobustBufferAccess2);
  two.robustImageAccess2 = has(kRobustImageAccess2);
  two.nullDescriptor = has(kNullDescriptor);
  VkPhysicalDeviceVulkan13Features vulkan13 = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES, &two};
  vulkan13.robustImageAccess = has(kRobustImageAccess);
  VkPhysicalDeviceFeatures2 features = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &vulkan13, {}};
  features.features.robustBufferAccess = has(kRobustBufferAccess);
  driver::requests.clear();
  const RobustDevices devices = Make(&features, extensions);
  EXPECT_THAT(driver::requests, ElementsAre(present));
  EXPECT_THAT(driver::extensions, ElementsAreArray(extensions));
  EXPECT_EQ(devices, (RobustDevices{0, present, kAllRobustFeatures & ~present, 0}));
}

TEST_F(RobustLayerGpuTest, ADriverThatRefusesGetsWhatTheProgramAsks) {
  driver::refuses_null_descriptors = true;
  const RobustDevices devices = Make();
  if ((Present() & kNullDescriptor) == 0) GTEST_SKIP() << "the device has no null descriptors";
  ASSERT_EQ(driver::requests.size(), 2u);
  EXPECT_NE(driver::requests[0] & kNullDescriptor, 0u);
  EXPECT_EQ(driver::requests[1], 0u);
  EXPECT_EQ(devices, RobustDevices()) << "nothing was changed";
}

TEST_F(RobustLayerGpuTest, WithoutTheExperimentNothingChanges) {
  ReplaceRunExperiment(nullptr);
  EXPECT_EQ(Make(), RobustDevices());
  EXPECT_THAT(driver::requests, ElementsAre(0u));
}

}  // namespace
}  // namespace cairn
