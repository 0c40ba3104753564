// SPDX-License-Identifier: Apache-2.0
//
// Calls of vkCreateDevice in the experiment "robust": each way in which a program asks for features, on devices
// that are made up.
#include "app/vulkan/robust_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "app/vulkan/device_creation.h"
#include "app/vulkan/layer_chain.h"
#include "app/vulkan/run_experiment.h"
#include "app/vulkan/testing/run_board.h"

namespace cairn {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

// ---- The device --------------------------------------------------------------------------------------------

struct MadeUpDevice {
  uint32_t version = VK_API_VERSION_1_3;
  RobustFeatures features = kAllRobustFeatures;
  std::vector<std::string> extensions = {VK_EXT_IMAGE_ROBUSTNESS_EXTENSION_NAME,
                                         VK_EXT_ROBUSTNESS_2_EXTENSION_NAME};
  bool updates_robust_buffers = true;
  bool grows_descriptors = false;

  bool Has(std::string_view name) const {
    return std::find(extensions.begin(), extensions.end(), name) != extensions.end();
  }
  VkBool32 Flag(RobustFeature feature) const {
    return (features & feature) != 0 ? VK_TRUE : VK_FALSE;
  }
};
MadeUpDevice device;

VKAPI_ATTR void VKAPI_CALL GetProperties(VkPhysicalDevice, VkPhysicalDeviceProperties* properties) {
  properties->apiVersion = device.version;
}

VKAPI_ATTR void VKAPI_CALL GetFeatures2(VkPhysicalDevice, VkPhysicalDeviceFeatures2* all) {
  all->features.robustBufferAccess = device.Flag(kRobustBufferAccess);
  for (auto* next = static_cast<VkBaseOutStructure*>(all->pNext); next != nullptr;
       next = next->pNext) {
    if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_ROBUSTNESS_FEATURES) {
      EXPECT_TRUE(device.version >= VK_API_VERSION_1_3 ||
                  device.Has(VK_EXT_IMAGE_ROBUSTNESS_EXTENSION_NAME));
      reinterpret_cast<VkPhysicalDeviceImageRobustnessFeatures*>(next)->robustImageAccess =
          device.Flag(kRobustImageAccess);
    } else if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ROBUSTNESS_2_FEATURES_EXT) {
      EXPECT_TRUE(device.Has(VK_EXT_ROBUSTNESS_2_EXTENSION_NAME) || device.Has(kKhrRobustness2));
      auto* const features = reinterpret_cast<VkPhysicalDeviceRobustness2FeaturesEXT*>(next);
      features->robustBufferAccess2 = device.Flag(kRobustBufferAccess2);
      features->robustImageAccess2 = device.Flag(kRobustImageAccess2);
      features->nullDescriptor = device.Flag(kNullDescriptor);
    } else {
      ADD_FAILURE() << "asked for structure " << next->sType;
    }
  }
}

VKAPI_ATTR void VKAPI_CALL GetProperties2(VkPhysicalDevice, VkPhysicalDeviceProperties2* all) {
  for (auto* next = static_cast<VkBaseOutStructure*>(all->pNext); next != nullptr;
       next = next->pNext) {
    if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DESCRIPTOR_INDEXING_PROPERTIES) {
      reinterpret_cast<VkPhysicalDeviceDescriptorIndexingProperties*>(next)
          ->robustBufferAccessUpdateAfterBind = device.updates_robust_buffers ? VK_TRUE : VK_FALSE;
    }
    if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DESCRIPTOR_BUFFER_PROPERTIES_EXT) {
      auto* const sizes = reinterpret_cast<VkPhysicalDeviceDescriptorBufferPropertiesEXT*>(next);
      sizes->storageBufferDescriptorSize = 16;
      sizes->robustStorageBufferDescriptorSize = device.grows_descriptors ? 32 : 16;
    }
  }
}

VKAPI_ATTR VkResult VKAPI_CALL ListExtensions(VkPhysicalDevice, const char*, uint32_t* count,
                                              VkExtensionProperties* all) {
  if (all != nullptr) {
    for (uint32_t i = 0; i < *count; ++i) {
      std::strcpy(all[i].extensionName, device.extensions[i].c_str());
    }
  }
  *count = static_cast<uint32_t>(device.extensions.size());
  return VK_SUCCESS;
}

// ---- The program -------------------------------------------------------------------------------------------

// The features with which a device would be made, as far as its extensions allow.
struct Made {
  RobustFeatures features = 0;
  std::vector<std::string> extensions;
};

// Reads what the driver gets, and fails for what the specification does not allow.
Made MadeOf(const VkDeviceCreateInfo& info, const std::vector<const char*>& extensions,
            uint32_t version) {
  Made made;
  made.extensions.assign(extensions.begin(), extensions.end());
  std::set<VkStructureType> types;
  for (auto* next = static_cast<const VkBaseInStructure*>(info.pNext); next != nullptr;
       next = next->pNext) {
    EXPECT_TRUE(types.insert(next->sType).second) << next->sType << " twice";
  }
  const auto on = [&made](VkBool32 flag, RobustFeature feature) {
    if (flag != VK_FALSE) made.features |= feature;
  };
  const auto* const features2 = FindInChain<VkPhysicalDeviceFeatures2>(
      info.pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2);
  EXPECT_FALSE(features2 != nullptr && info.pEnabledFeatures != nullptr);
  const VkPhysicalDeviceFeatures* const all =
      features2 != nullptr ? &features2->features : info.pEnabledFeatures;
  if (all != nullptr) on(all->robustBufferAccess, kRobustBufferAccess);
  const auto* const vulkan13 = FindInChain<VkPhysicalDeviceVulkan13Features>(
      info.pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES);
  const auto* const image = FindInChain<VkPhysicalDeviceImageRobustnessFeatures>(
      info.pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_ROBUSTNESS_FEATURES);
  EXPECT_FALSE(vulkan13 != nullptr && image != nullptr);
  if (vulkan13 != nullptr) on(vulkan13->robustImageAccess, kRobustImageAccess);
  const auto has = [&](const char* name) {
    return std::count(made.extensions.begin(), made.extensions.end(), name) != 0;
  };
  if (image != nullptr) {
    EXPECT_TRUE(version >= VK_API_VERSION_1_3 || has(VK_EXT_IMAGE_ROBUSTNESS_EXTENSION_NAME));
    on(image->robustImageAccess, kRobustImageAccess);
  }
  if (const auto* const two = FindInChain<VkPhysicalDeviceRobustness2FeaturesEXT>(
          info.pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ROBUSTNESS_2_FEATURES_EXT)) {
    EXPECT_TRUE(has(VK_EXT_ROBUSTNESS_2_EXTENSION_NAME) || has(kKhrRobustness2));
    on(two->robustBufferAccess2, kRobustBufferAccess2);
    on(two->robustImageAccess2, kRobustImageAccess2);
    on(two->nullDescriptor, kNullDescriptor);
  }
  EXPECT_FALSE((made.features & kRobustBufferAccess2) != 0 &&
               (made.features & kRobustBufferAccess) == 0)
      << "the one requires the other";
  return made;
}

class RobustRequestTest : public ::testing::Test {
 protected:
  void SetUp() override {
    device = {};
    instance_.GetPhysicalDeviceProperties = GetProperties;
    instance_.GetPhysicalDeviceFeatures2 = GetFeatures2;
    instance_.GetPhysicalDeviceProperties2 = GetProperties2;
    instance_.EnumerateDeviceExtensionProperties = ListExtensions;
    instance_.api_version = VK_API_VERSION_1_3;
  }

  Made Request(const VkDeviceCreateInfo& asked) {
    RobustRequest request;
    VkDeviceCreateInfo info = asked;
    std::vector<const char*> extensions(
        asked.ppEnabledExtensionNames, asked.ppEnabledExtensionNames + asked.enabledExtensionCount);
    request.Add(
        instance_, VK_NULL_HANDLE, [](std::string_view name) { return device.Has(name); }, &info,
        &extensions);
    devices_ = request.devices();
    return MadeOf(info, extensions, std::min(device.version, instance_.api_version));
  }

  InstanceState instance_;
  RobustDevices devices_;
};

TEST_F(RobustRequestTest, AProgramThatAsksForNothingGetsAll) {
  const Made made = Request({VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO});
  EXPECT_EQ(made.features, kAllRobustFeatures);
  EXPECT_THAT(made.extensions, ElementsAre(VK_EXT_ROBUSTNESS_2_EXTENSION_NAME));
  EXPECT_EQ(devices_, (RobustDevices{kAllRobustFeatures, 0, 0, 0}));
}

// The structures in which a program can ask, each passed or not, with every set of features that it enables in them, in both
// orders. Nothing of the program's is written to, and all that it enabled stays.
TEST_F(RobustRequestTest, EachWayToAskGetsWhatIsMissing) {
  constexpr unsigned kWithFeatures2 = 1, kWithEnabled = 2, kWith13 = 4, kWithImage = 8,
                     kWithRobustness2 = 16, kWith12 = 32, kReversed = 64;
  for (unsigned ways = 0; ways < 128; ++ways) {
    if ((ways & kWithFeatures2) != 0 && (ways & kWithEnabled) != 0) continue;  // not allowed
    if ((ways & kWith13) != 0 && (ways & kWithImage) != 0) continue;
    for (RobustFeatures own = 0; own <= kAllRobustFeatures; ++own) {
      if ((own & kRobustBufferAccess2) != 0 && (own & kRobustBufferAccess) == 0) continue;
      SCOPED_TRACE(::testing::Message() << "ways " << ways << ", own " << own);
      const auto flag = [own](RobustFeature feature) -> VkBool32 {
        return (own & feature) != 0 ? VK_TRUE : VK_FALSE;
      };
      VkPhysicalDeviceFeatures2 features2 = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
      VkPhysicalDeviceFeatures enabled = {};
      VkPhysicalDeviceVulkan12Features vulkan12 = {
          VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
      VkPhysicalDeviceVulkan13Features vulkan13 = {
          VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES};
      VkPhysicalDeviceImageRobustnessFeatures image = {
          VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_ROBUSTNESS_FEATURES};
      VkPhysicalDeviceRobustness2FeaturesEXT robustness2 = {
          VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ROBUSTNESS_2_FEATURES_EXT};
      enabled.robustBufferAccess = features2.features.robustBufferAccess =
          flag(kRobustBufferAccess);
      enabled.geometryShader = features2.features.geometryShader = VK_TRUE;
      vulkan12.timelineSemaphore = vulkan13.synchronization2 = VK_TRUE;
      vulkan13.robustImageAccess = image.robustImageAccess = flag(kRobustImageAccess);
      robustness2.robustBufferAccess2 = flag(kRobustBufferAccess2);
      robustness2.robustImageAccess2 = flag(kRobustImageAccess2);
      robustness2.nullDescriptor = flag(kNullDescriptor);
      std::vector<void*> chain;
      if ((ways & kWithFeatures2) != 0) chain.push_back(&features2);
      if ((ways & kWith12) != 0) chain.push_back(&vulkan12);
      if ((ways & kWith13) != 0) chain.push_back(&vulkan13);
      if ((ways & kWithImage) != 0) chain.push_back(&image);
      if ((ways & kWithRobustness2) != 0) chain.push_back(&robustness2);
      if ((ways & kReversed) != 0) std::reverse(chain.begin(), chain.end());
      VkDeviceCreateInfo info = {VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
      for (void* const structure : chain) {
        static_cast<VkBaseOutStructure*>(structure)->pNext =
            static_cast<VkBaseOutStructure*>(const_cast<void*>(info.pNext));
        info.pNext = structure;
      }
      if ((ways & kWithEnabled) != 0) info.pEnabledFeatures = &enabled;
      const char* const extension = VK_EXT_ROBUSTNESS_2_EXTENSION_NAME;
      if ((ways & kWithRobustness2) != 0) {
        info.ppEnabledExtensionNames = &extension;
        info.enabledExtensionCount = 1;
      }
      RobustFeatures asked = 0;
      if ((ways & (kWithFeatures2 | kWithEnabled)) != 0) asked |= own & kRobustBufferAccess;
      if ((ways & (kWith13 | kWithImage)) != 0) asked |= own & kRobustImageAccess;
      if ((ways & kWithRobustness2) != 0) {
        asked |= own & (kRobustBufferAccess2 | kRobustImageAccess2 | kNullDescriptor);
      }
      const auto before =
          std::make_tuple(features2, enabled, vulkan12, vulkan13, image, robustness2);

      const Made made = Request(info);
      EXPECT_EQ(made.features, kAllRobustFeatures);
      const RobustFeatures lacked = kAllRobustFeatures & ~asked;
      EXPECT_EQ(devices_, (RobustDevices{lacked, asked, 0, 0}));
      const auto is_same = [](const auto& one, const auto& other) {
        return std::memcmp(&one, &other, sizeof(one)) == 0;
      };
      EXPECT_TRUE(is_same(std::get<0>(before), features2));
      EXPECT_TRUE(is_same(std::get<1>(before), enabled));
      EXPECT_TRUE(is_same(std::get<2>(before), vulkan12));
      EXPECT_TRUE(is_same(std::get<3>(before), vulkan13));
      EXPECT_TRUE(is_same(std::get<4>(before), image));
      EXPECT_TRUE(is_same(std::get<5>(before), robustness2));
    }
  }
}

TEST_F(RobustRequestTest, WhatElseTheProgramAsksForStays) {
  VkPhysicalDeviceVulkan12Features vulkan12 = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
  vulkan12.timelineSemaphore = VK_TRUE;
  VkPhysicalDeviceVulkan13Features vulkan13 = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES, &vulkan12};
  vulkan13.synchronization2 = VK_TRUE;
  VkPhysicalDeviceFeatures enabled = {};
  enabled.geometryShader = VK_TRUE;
  VkDeviceCreateInfo info = {VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, &vulkan13};
  info.pEnabledFeatures = &enabled;
  RobustRequest request;
  std::vector<const char*> extensions = {VK_KHR_SWAPCHAIN_EXTENSION_NAME};
  request.Add(
      instance_, VK_NULL_HANDLE, [](std::string_view name) { return device.Has(name); }, &info,
      &extensions);
  EXPECT_THAT(extensions, ElementsAre(::testing::StrEq(VK_KHR_SWAPCHAIN_EXTENSION_NAME),
                                      ::testing::StrEq(VK_EXT_ROBUSTNESS_2_EXTENSION_NAME)));
  EXPECT_EQ(info.pEnabledFeatures->geometryShader, VK_TRUE);
  EXPECT_EQ(info.pEnabledFeatures->robustBufferAccess, VK_TRUE);
  const auto* const passed = FindInChain<VkPhysicalDeviceVulkan13Features>(
      info.pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES);
  EXPECT_NE(passed, &vulkan13);
  EXPECT_EQ(passed->synchronization2, VK_TRUE);
  EXPECT_EQ(passed->pNext, &vulkan12) << "what does not change is the program's";
}

TEST_F(RobustRequestTest, ADeviceGetsOnlyWhatItHas) {
  for (RobustFeatures has = 0; has <= kAllRobustFeatures; ++has) {
    if ((has & kRobustBufferAccess2) != 0 && (has & kRobustBufferAccess) == 0) continue;
    device.features = has;
    SCOPED_TRACE(has);
    EXPECT_EQ(Request({VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO}).features, has);
    EXPECT_EQ(devices_, (RobustDevices{has, 0, kAllRobustFeatures & ~has, 0}));
  }
}

TEST_F(RobustRequestTest, WithoutTheExtensionsThereIsWhatTheCoreHas) {
  device.extensions.clear();
  EXPECT_EQ(Request({VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO}).features,
            RobustFeatures{kRobustBufferAccess | kRobustImageAccess});
  device.version = VK_API_VERSION_1_2;
  const Made made = Request({VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO});
  EXPECT_EQ(made.features, RobustFeatures{kRobustBufferAccess});
  EXPECT_THAT(made.extensions, IsEmpty());
  EXPECT_EQ(devices_.missing, kAllRobustFeatures & ~kRobustBufferAccess);
}

// An older device has it by extensions, and so has a device whose instance is older.
TEST_F(RobustRequestTest, OlderVersionsNeedTheExtensionOfImages) {
  for (const bool by_instance : {false, true}) {
    device.version = by_instance ? VK_API_VERSION_1_3 : VK_API_VERSION_1_1;
    instance_.api_version = by_instance ? VK_API_VERSION_1_0 : VK_API_VERSION_1_3;
    const Made made = Request({VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO});
    EXPECT_EQ(made.features, kAllRobustFeatures);
    EXPECT_THAT(made.extensions, ElementsAre(VK_EXT_IMAGE_ROBUSTNESS_EXTENSION_NAME,
                                             VK_EXT_ROBUSTNESS_2_EXTENSION_NAME));
  }
}

TEST_F(RobustRequestTest, TheNewerNameOfTheExtensionServesAsWell) {
  device.extensions = {kKhrRobustness2};
  EXPECT_THAT(Request({VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO}).extensions,
              ElementsAre(kKhrRobustness2));
  EXPECT_EQ(devices_.enabled, kAllRobustFeatures);
  // The program has chosen one of two.
  device.extensions = {VK_EXT_ROBUSTNESS_2_EXTENSION_NAME, kKhrRobustness2};
  const char* const extension = kKhrRobustness2;
  VkDeviceCreateInfo info = {VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
  info.ppEnabledExtensionNames = &extension;
  info.enabledExtensionCount = 1;
  EXPECT_THAT(Request(info).extensions, ElementsAre(kKhrRobustness2));
}

TEST_F(RobustRequestTest, AnInstanceThatCannotBeAskedGetsWhatEveryDeviceHas) {
  instance_.GetPhysicalDeviceFeatures2 = nullptr;
  instance_.GetPhysicalDeviceProperties2 = nullptr;
  device.version = instance_.api_version = VK_API_VERSION_1_0;
  const Made made = Request({VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO});
  EXPECT_EQ(made.features, RobustFeatures{kRobustBufferAccess});
  EXPECT_THAT(made.extensions, IsEmpty());
  constexpr RobustFeatures kOthers = kAllRobustFeatures & ~kRobustBufferAccess;
  EXPECT_EQ(devices_, (RobustDevices{kRobustBufferAccess, 0, 0, kOthers}))
      << "nobody knows that the device lacks them";
  VkPhysicalDeviceFeatures enabled = {};
  enabled.robustBufferAccess = VK_TRUE;
  VkDeviceCreateInfo info = {VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
  info.pEnabledFeatures = &enabled;
  Request(info);
  EXPECT_EQ(devices_, (RobustDevices{0, kRobustBufferAccess, 0, kOthers}));
}

TEST_F(RobustRequestTest, AProgramThatHasAllChangesNothing) {
  VkPhysicalDeviceRobustness2FeaturesEXT robustness2 = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ROBUSTNESS_2_FEATURES_EXT, nullptr, VK_TRUE, VK_TRUE,
      VK_TRUE};
  VkPhysicalDeviceVulkan13Features vulkan13 = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES, &robustness2};
  vulkan13.robustImageAccess = VK_TRUE;
  VkPhysicalDeviceFeatures enabled = {};
  enabled.robustBufferAccess = VK_TRUE;
  VkDeviceCreateInfo info = {VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, &vulkan13};
  info.pEnabledFeatures = &enabled;
  RobustRequest request;
  std::vector<const char*> extensions;
  request.Add(
      instance_, VK_NULL_HANDLE, [](std::string_view name) { return device.Has(name); }, &info,
      &extensions);
  EXPECT_EQ(info.pNext, &vulkan13);
  EXPECT_EQ(info.pEnabledFeatures, &enabled);
  EXPECT_THAT(extensions, IsEmpty());
  EXPECT_EQ(request.devices(), (RobustDevices{0, kAllRobustFeatures, 0, 0}));
}

// A structure of an unknown size in front: what takes a copy stays off, and the rest is put in front.
TEST_F(RobustRequestTest, BehindAnUnknownStructureNothingIsCopied) {
  VkPhysicalDeviceVulkan13Features vulkan13 = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES};
  VkBaseOutStructure unknown = {static_cast<VkStructureType>(0x7ffffff0),
                                reinterpret_cast<VkBaseOutStructure*>(&vulkan13)};
  const VkDeviceCreateInfo info = {VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, &unknown};
  EXPECT_EQ(Request(info).features, kAllRobustFeatures & ~kRobustImageAccess);
  EXPECT_EQ(devices_.left, RobustFeatures{kRobustImageAccess});
  VkPhysicalDeviceFeatures2 features2 = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
  unknown.pNext = reinterpret_cast<VkBaseOutStructure*>(&features2);
  EXPECT_EQ(Request(info).features,
            kAllRobustFeatures & ~(kRobustBufferAccess | kRobustBufferAccess2))
      << "robustBufferAccess2 requires robustBufferAccess";
  EXPECT_EQ(devices_.left, RobustFeatures{kRobustBufferAccess | kRobustBufferAccess2});
}

constexpr RobustFeatures kOfBuffers = kRobustBufferAccess | kRobustBufferAccess2;

// The program writes descriptors of the size that it was told.
TEST_F(RobustRequestTest, DescriptorBuffersKeepTheirSizes) {
  VkPhysicalDeviceDescriptorBufferFeaturesEXT buffers = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DESCRIPTOR_BUFFER_FEATURES_EXT};
  buffers.descriptorBuffer = VK_TRUE;
  const VkDeviceCreateInfo info = {VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, &buffers};
  EXPECT_EQ(Request(info).features, kAllRobustFeatures);
  device.grows_descriptors = true;
  EXPECT_EQ(Request(info).features, kAllRobustFeatures & ~kOfBuffers);
  EXPECT_EQ(devices_.left, kOfBuffers);
  buffers.descriptorBuffer = VK_FALSE;
  EXPECT_EQ(Request(info).features, kAllRobustFeatures);
}

TEST_F(RobustRequestTest, UpdatesAfterBindingMayExcludeIt) {
  device.updates_robust_buffers = false;
  VkPhysicalDeviceVulkan12Features vulkan12 = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
  VkPhysicalDeviceDescriptorIndexingFeatures indexing = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DESCRIPTOR_INDEXING_FEATURES};
  for (void* const chain : {static_cast<void*>(&vulkan12), static_cast<void*>(&indexing)}) {
    const VkDeviceCreateInfo info = {VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, chain};
    EXPECT_EQ(Request(info).features, kAllRobustFeatures);
    vulkan12.descriptorBindingStorageBufferUpdateAfterBind = VK_TRUE;
    indexing.descriptorBindingUniformTexelBufferUpdateAfterBind = VK_TRUE;
    EXPECT_EQ(Request(info).features, kAllRobustFeatures & ~kOfBuffers);
    EXPECT_EQ(devices_.left, kOfBuffers);
    vulkan12.descriptorBindingStorageBufferUpdateAfterBind = VK_FALSE;
    indexing.descriptorBindingUniformTexelBufferUpdateAfterBind = VK_FALSE;
  }
}

// ---- The device's whole request ----------------------------------------------------------------------------

TEST_F(RobustRequestTest, TheBoardSaysWhatBecameOfTheFeatures) {
  const Experiment robust = {.change = Change::kRobust};
  RunBoard& board = RunBoard::OfProcess();
  board.Take();
  VkPhysicalDeviceFeatures enabled = {};
  enabled.robustBufferAccess = VK_TRUE;
  VkDeviceCreateInfo info = {VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
  info.pEnabledFeatures = &enabled;
  device.features &= ~kRobustImageAccess2;

  ReplaceRunExperiment(nullptr);
  const DeviceRequest without(instance_, VK_NULL_HANDLE, info, MarkerMode::kTop);
  EXPECT_FALSE(without.adds_anything());
  without.CountChanges();
  EXPECT_EQ(board.Take(), (ChangeCounts{0, 0}));

  ReplaceRunExperiment(&robust);
  const DeviceRequest request(instance_, VK_NULL_HANDLE, info, MarkerMode::kTop);
  const DeviceRequest plain(info);
  ReplaceRunExperiment(nullptr);
  EXPECT_TRUE(request.adds_anything());
  const std::vector<const char*> extensions(
      request.info().ppEnabledExtensionNames,
      request.info().ppEnabledExtensionNames + request.info().enabledExtensionCount);
  EXPECT_EQ(MadeOf(request.info(), extensions, VK_API_VERSION_1_3).features, device.features);
  EXPECT_EQ(board.Take(), (ChangeCounts{0, 0})) << "the device is not made yet";
  plain.CountChanges();
  EXPECT_EQ(board.Take(), (ChangeCounts{0, 0})) << "made as the program asks";
  request.CountChanges();
  const RobustDevices noted = RobustDevicesOf(board.Take().changes);
  EXPECT_EQ(noted, (RobustDevices{kRobustBufferAccess2 | kRobustImageAccess | kNullDescriptor,
                                  kRobustBufferAccess, kRobustImageAccess2, 0}));
}

}  // namespace
}  // namespace cairn
