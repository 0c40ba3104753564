// SPDX-License-Identifier: Apache-2.0
//
// Names and GPU addresses of objects, as they come to stand in the block's object table.
#include <algorithm>
#include <cstring>
#include <thread>

#include "app/vulkan/testing/device_objects_fixture.h"
#include "format/block/object_description.h"

namespace cairn {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

struct NextLayer {
  VkResult result = VK_SUCCESS;
  uint64_t next_address = 0x10000;
  uint32_t names = 0;
  // The messenger that the layer created on the instance.
  PFN_vkDebugUtilsMessengerCallbackEXT callback = nullptr;
  void* user_data = nullptr;
  VkDebugUtilsMessageTypeFlagsEXT types = 0;
};
NextLayer* next_layer = nullptr;

VkResult VKAPI_CALL NextName(VkDevice, const VkDebugUtilsObjectNameInfoEXT*) {
  ++next_layer->names;
  return next_layer->result;
}
VkResult VKAPI_CALL NextMarkerName(VkDevice, const VkDebugMarkerObjectNameInfoEXT*) {
  ++next_layer->names;
  return next_layer->result;
}
void VKAPI_CALL NextDestroyImage(VkDevice, VkImage, const VkAllocationCallbacks*) {}
void VKAPI_CALL NextDestroyBuffer(VkDevice, VkBuffer, const VkAllocationCallbacks*) {}
VkResult VKAPI_CALL NextCreateBuffer(VkDevice, const VkBufferCreateInfo*,
                                     const VkAllocationCallbacks*, VkBuffer*) {
  return next_layer->result;
}
VkResult VKAPI_CALL NextCreateImage(VkDevice, const VkImageCreateInfo*,
                                    const VkAllocationCallbacks*, VkImage*) {
  return next_layer->result;
}
VkResult VKAPI_CALL NextBind(VkDevice, VkBuffer, VkDeviceMemory, VkDeviceSize) {
  return next_layer->result;
}
VkResult VKAPI_CALL NextBind2(VkDevice, uint32_t, const VkBindBufferMemoryInfo*) {
  return next_layer->result;
}
VkDeviceAddress VKAPI_CALL NextAddress(VkDevice, const VkBufferDeviceAddressInfo*) {
  return next_layer->next_address;
}
VkResult VKAPI_CALL NextStructure(VkDevice, const VkAccelerationStructureCreateInfoKHR*,
                                  const VkAllocationCallbacks*, VkAccelerationStructureKHR*) {
  return next_layer->result;
}
VkDeviceAddress VKAPI_CALL
NextStructureAddress(VkDevice, const VkAccelerationStructureDeviceAddressInfoKHR*) {
  return next_layer->next_address;
}
void VKAPI_CALL NextDestroyStructure(VkDevice, VkAccelerationStructureKHR,
                                     const VkAllocationCallbacks*) {}
VkResult VKAPI_CALL NextCreateMessenger(VkInstance, const VkDebugUtilsMessengerCreateInfoEXT* info,
                                        const VkAllocationCallbacks*,
                                        VkDebugUtilsMessengerEXT* messenger) {
  next_layer->callback = info->pfnUserCallback;
  next_layer->user_data = info->pUserData;
  next_layer->types = info->messageType;
  *messenger = TestHandle<VkDebugUtilsMessengerEXT>(800);
  return VK_SUCCESS;
}
void VKAPI_CALL NextDestroyMessenger(VkInstance, VkDebugUtilsMessengerEXT,
                                     const VkAllocationCallbacks*) {
  next_layer->callback = nullptr;
}
PFN_vkVoidFunction VKAPI_CALL NextGetInstance(VkInstance, const char* name) {
  if (std::strcmp(name, "vkCreateDebugUtilsMessengerEXT") == 0) {
    return reinterpret_cast<PFN_vkVoidFunction>(NextCreateMessenger);
  }
  if (std::strcmp(name, "vkDestroyDebugUtilsMessengerEXT") == 0) {
    return reinterpret_cast<PFN_vkVoidFunction>(NextDestroyMessenger);
  }
  return nullptr;
}

const VkImage kImage = TestHandle<VkImage>(300);
const VkBuffer kBuffer = TestHandle<VkBuffer>(310);
constexpr ObjectState kAlive = ObjectState::kAlive;
constexpr ObjectState kDestroyed = ObjectState::kDestroyed;

class ObjectNamesTest : public DeviceObjectsTest {
 protected:
  void SetUp() override {
    next_layer = &next_;
    Prepare();
    DeviceFunctions& vk = device_->vk;
    vk.SetDebugUtilsObjectNameEXT = NextName;
    vk.DebugMarkerSetObjectNameEXT = NextMarkerName;
    vk.DestroyImage = NextDestroyImage;
    vk.DestroyBuffer = NextDestroyBuffer;
    vk.CreateBuffer = NextCreateBuffer;
    vk.CreateImage = NextCreateImage;
    vk.BindBufferMemory = NextBind;
    vk.BindBufferMemory2KHR = NextBind2;
    vk.GetBufferDeviceAddress = NextAddress;
    vk.CreateAccelerationStructureKHR = NextStructure;
    vk.GetAccelerationStructureDeviceAddressKHR = NextStructureAddress;
    vk.DestroyAccelerationStructureKHR = NextDestroyStructure;
    instance_.next_get = NextGetInstance;
    instance_.KeepNext();
    device_->reports_address_bindings = reports_;
    Start();
  }

  void SetName(VkObjectType type, uint64_t handle, const char* name) {
    VkDebugUtilsObjectNameInfoEXT info = {VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT};
    info.objectType = type;
    info.objectHandle = handle;
    info.pObjectName = name;
    EXPECT_EQ(ours().SetDebugUtilsObjectNameEXT(device(), &info), next_.result);
  }
  void MakeBuffer(VkBuffer buffer, VkBufferUsageFlags usage, VkBufferCreateFlags flags = 0) {
    VkBufferCreateInfo info = {VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
    info.size = 4096;
    info.usage = usage;
    info.flags = flags;
    ours().CreateBuffer(device(), &info, nullptr, &buffer);
  }
  void Bind(VkBuffer buffer) { ours().BindBufferMemory(device(), buffer, VK_NULL_HANDLE, 0); }
  void DestroyBuffer(VkBuffer buffer) { ours().DestroyBuffer(device(), buffer, nullptr); }

  bool reports_ = false;
  NextLayer next_;
};

class AddressBindingTest : public ObjectNamesTest {
 protected:
  AddressBindingTest() { reports_ = true; }

  void Report(VkDeviceAddressBindingTypeEXT type, uint64_t address, uint64_t size,
              const std::vector<VkDebugUtilsObjectNameInfoEXT>& about) {
    VkDeviceAddressBindingCallbackDataEXT binding = {
        VK_STRUCTURE_TYPE_DEVICE_ADDRESS_BINDING_CALLBACK_DATA_EXT};
    binding.baseAddress = address;
    binding.size = size;
    binding.bindingType = type;
    VkDebugUtilsMessengerCallbackDataEXT message = {
        VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CALLBACK_DATA_EXT, &binding};
    message.objectCount = static_cast<uint32_t>(about.size());
    message.pObjects = about.data();
    ASSERT_NE(next_.callback, nullptr);
    EXPECT_EQ(next_.callback(VK_DEBUG_UTILS_MESSAGE_SEVERITY_INFO_BIT_EXT,
                             VK_DEBUG_UTILS_MESSAGE_TYPE_DEVICE_ADDRESS_BINDING_BIT_EXT, &message,
                             next_.user_data),
              VkBool32{VK_FALSE});
  }
  void Bound(uint64_t address, uint64_t size, VkBuffer buffer = kBuffer) {
    Report(VK_DEVICE_ADDRESS_BINDING_TYPE_BIND_EXT, address, size, {About(buffer)});
  }
  void Unbound(uint64_t address, uint64_t size, VkBuffer buffer = kBuffer) {
    Report(VK_DEVICE_ADDRESS_BINDING_TYPE_UNBIND_EXT, address, size, {About(buffer)});
  }
  static VkDebugUtilsObjectNameInfoEXT About(VkBuffer buffer) {
    VkDebugUtilsObjectNameInfoEXT info = {VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT};
    info.objectType = VK_OBJECT_TYPE_BUFFER;
    info.objectHandle = HandleValue(buffer);
    return info;
  }
};

TEST_F(ObjectNamesTest, ANameMakesAnEntryThatEndsWithTheObject) {
  SetName(VK_OBJECT_TYPE_IMAGE, HandleValue(kImage), "shadow map");
  EXPECT_THAT(Objects(), ElementsAre(SeenObject{VK_OBJECT_TYPE_IMAGE, HandleValue(kImage), kAlive,
                                                "shadow map"}));
  SetName(VK_OBJECT_TYPE_IMAGE, HandleValue(kImage), "shadows");
  EXPECT_THAT(Objects(), ElementsAre(SeenObject{VK_OBJECT_TYPE_IMAGE, HandleValue(kImage), kAlive,
                                                "shadows"}));
  const auto destroy = ours().DestroyImage;
  destroy(device(), kImage, nullptr);
  // The handle again: another object.
  SetName(VK_OBJECT_TYPE_IMAGE, HandleValue(kImage), "depth");
  EXPECT_THAT(
      Objects(),
      ElementsAre(SeenObject{VK_OBJECT_TYPE_IMAGE, HandleValue(kImage), kDestroyed, "shadows"},
                  SeenObject{VK_OBJECT_TYPE_IMAGE, HandleValue(kImage), kAlive, "depth"}));
  EXPECT_EQ(next_.names, 3u);
}

TEST_F(ObjectNamesTest, OddNames) {
  SetName(VK_OBJECT_TYPE_IMAGE, HandleValue(kImage), nullptr);
  SetName(VK_OBJECT_TYPE_IMAGE, 0, "nothing");
  SetName(VK_OBJECT_TYPE_DESCRIPTOR_SET, 0x5000, "ends with its pool");
  SetName(VK_OBJECT_TYPE_QUEUE, HandleValue(queue()), std::string(5000, 'x').c_str());
  next_.result = VK_ERROR_OUT_OF_HOST_MEMORY;
  SetName(static_cast<VkObjectType>(0x7ffffff1), 0x6000, "unknown kind");
  EXPECT_THAT(Objects(),
              ElementsAre(SeenObject{VK_OBJECT_TYPE_IMAGE, HandleValue(kImage), kAlive, ""},
                          SeenObject{VK_OBJECT_TYPE_QUEUE, HandleValue(queue()), kAlive,
                                     std::string(kObjectNameBytes, 'x')},
                          SeenObject{0x7ffffff1, 0x6000, kAlive, "unknown kind"}));
  ours().DestroyImage(device(), VK_NULL_HANDLE, nullptr);
}

// Without a name an object gets an entry when it ends, that a destruction can lead there.
TEST_F(ObjectNamesTest, WhatAnImageWasMadeAsIsInItsEntry) {
  VkImageCreateInfo info = {VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
  info.imageType = VK_IMAGE_TYPE_2D;
  info.format = VK_FORMAT_D32_SFLOAT;
  info.extent = {2048, 1024, 1};
  info.arrayLayers = 4;
  info.usage = VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT;
  VkImage image = kImage;
  EXPECT_EQ(ours().CreateImage(device(), &info, nullptr, &image), VK_SUCCESS);
  EXPECT_THAT(Objects(), IsEmpty());
  ours().DestroyImage(device(), image, nullptr);
  ASSERT_THAT(Objects(),
              ElementsAre(SeenObject{VK_OBJECT_TYPE_IMAGE, HandleValue(kImage), kDestroyed, ""}));
  EXPECT_EQ(UnpackDescription(block_->objects().Find(0)->description),
            (ObjectDescription{.shape = ObjectShape::kTexture2D,
                               .vulkan_format = true,
                               .uses = kUsedAsDepth,
                               .format = VK_FORMAT_D32_SFLOAT,
                               .width = 2048,
                               .height = 1024,
                               .layers = 4}));
  // The handle again: another object, of which nothing is known.
  SetName(VK_OBJECT_TYPE_IMAGE, HandleValue(kImage), "other");
  EXPECT_EQ(block_->objects().Find(1)->description, 0u);
}

TEST_F(ObjectNamesTest, WhatABufferWasMadeAsIsInItsEntries) {
  MakeBuffer(kBuffer, VK_BUFFER_USAGE_INDEX_BUFFER_BIT | VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
  EXPECT_EQ(objects().names.PlaceOf(kBuffer), 1u);
  const ObjectRecord& record = *block_->objects().Find(0);
  EXPECT_EQ(record.size_bytes, 4096u);
  EXPECT_EQ(
      UnpackDescription(record.description),
      (ObjectDescription{.shape = ObjectShape::kBuffer, .uses = kUsedAsIndices | kUsedAsStorage}));
  DestroyBuffer(kBuffer);
}

TEST_F(ObjectNamesTest, NamesOfDebugMarkerAreOfTheSameObjects) {
  VkDebugMarkerObjectNameInfoEXT info = {VK_STRUCTURE_TYPE_DEBUG_MARKER_OBJECT_NAME_INFO_EXT};
  const auto name = ours().DebugMarkerSetObjectNameEXT;
  info.objectType = VK_DEBUG_REPORT_OBJECT_TYPE_IMAGE_EXT;
  info.object = HandleValue(kImage);
  info.pObjectName = "image";
  EXPECT_EQ(name(device(), &info), VK_SUCCESS);
  info.objectType = VK_DEBUG_REPORT_OBJECT_TYPE_SWAPCHAIN_KHR_EXT;
  info.object = 0x7000;
  info.pObjectName = "chain";
  EXPECT_EQ(name(device(), &info), VK_SUCCESS);
  EXPECT_THAT(Objects(),
              ElementsAre(SeenObject{VK_OBJECT_TYPE_IMAGE, HandleValue(kImage), kAlive, "image"},
                          SeenObject{VK_OBJECT_TYPE_SWAPCHAIN_KHR, 0x7000, kAlive, "chain"}));
}

TEST_F(ObjectNamesTest, ACommandBuffersNameIsItsRecordings) {
  const VkCommandBuffer buffer = Record(20);
  SetName(VK_OBJECT_TYPE_COMMAND_BUFFER, HandleValue(buffer), "main pass");
  EXPECT_EQ(CommandBufferOf(buffer)->name, "main pass");
  SetName(VK_OBJECT_TYPE_COMMAND_BUFFER, 0x123400, "of another device");
}

TEST_F(ObjectNamesTest, WhatIsLeftEndsWithTheDevice) {
  SetName(VK_OBJECT_TYPE_IMAGE, HandleValue(kImage), "left");
  objects().names.Bind({VK_OBJECT_TYPE_BUFFER, 0x900}, 0x4000, 16);
  device_->objects.reset();
  EXPECT_THAT(Objects(),
              ElementsAre(SeenObject{VK_OBJECT_TYPE_IMAGE, HandleValue(kImage), kDestroyed, "left"},
                          SeenObject{VK_OBJECT_TYPE_BUFFER, 0x900, kDestroyed, "", 0x4000, 16}));
}

TEST_F(ObjectNamesTest, ABoundBufferHasAPlaceUntilItsEntryEnds) {
  ObjectNames& names = objects().names;
  ASSERT_EQ(names.PlaceOf(kBuffer), 1u) << "it gets an entry";
  EXPECT_EQ(names.PlaceOf(kBuffer), 1u);
  SetName(VK_OBJECT_TYPE_BUFFER, HandleValue(kBuffer), "vertices");
  EXPECT_EQ(names.PlaceOf(kBuffer), 1u);
  EXPECT_THAT(Objects(), ElementsAre(SeenObject{VK_OBJECT_TYPE_BUFFER, HandleValue(kBuffer), kAlive,
                                                "vertices"}));
  MakeBuffer(kBuffer, VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT);
  Bind(kBuffer);
  EXPECT_EQ(names.PlaceOf(kBuffer), 2u) << "where its addresses stand";
  DestroyBuffer(kBuffer);
  EXPECT_EQ(names.PlaceOf(kBuffer), 3u) << "another buffer";
  EXPECT_THAT(
      Objects(),
      ElementsAre(SeenObject{VK_OBJECT_TYPE_BUFFER, HandleValue(kBuffer), kDestroyed, "vertices"},
                  SeenObject{VK_OBJECT_TYPE_BUFFER, HandleValue(kBuffer), kDestroyed, "vertices",
                             0x10000, 4096},
                  SeenObject{VK_OBJECT_TYPE_BUFFER, HandleValue(kBuffer), kAlive, ""}));
}

// Handles need not differ between devices.
TEST_F(ObjectNamesTest, ABufferOfAnotherDeviceHasAPlaceOfItsOwn) {
  ObjectNames other(*device_->block, device_->context->index() + 1);
  EXPECT_EQ(objects().names.PlaceOf(kBuffer), 1u);
  EXPECT_EQ(other.PlaceOf(kBuffer), 2u);
  EXPECT_EQ(objects().names.PlaceOf(kBuffer), 1u);
  other.Forget({VK_OBJECT_TYPE_BUFFER, HandleValue(kBuffer)}, ObjectNames::Ranges::kEnd);
  EXPECT_EQ(objects().names.PlaceOf(kBuffer), 1u);
}

TEST_F(ObjectNamesTest, ThreadsBindOneBuffer) {
  ObjectNames& names = objects().names;
  std::vector<std::thread> threads;
  std::vector<uint32_t> places(8);
  for (uint32_t& place : places) {
    threads.emplace_back([&names, &place] { place = names.PlaceOf(kBuffer); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(places, testing::Each(1u));
  EXPECT_THAT(Objects(), SizeIs(1));
}

TEST_F(ObjectNamesTest, BuffersWithAddressesAreAskedForThemOnceBound) {
  MakeBuffer(kBuffer, VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT);
  EXPECT_THAT(Objects(), IsEmpty());
  SetName(VK_OBJECT_TYPE_BUFFER, HandleValue(kBuffer), "vertices");
  Bind(kBuffer);
  SetName(VK_OBJECT_TYPE_BUFFER, HandleValue(kBuffer), "more vertices");
  DestroyBuffer(kBuffer);
  EXPECT_THAT(Objects(), ElementsAre(SeenObject{VK_OBJECT_TYPE_BUFFER, HandleValue(kBuffer),
                                                kDestroyed, "more vertices", 0, 4096},
                                     SeenObject{VK_OBJECT_TYPE_BUFFER, HandleValue(kBuffer),
                                                kDestroyed, "more vertices", 0x10000, 4096}));
}

TEST_F(ObjectNamesTest, OtherBuffersAreNot) {
  MakeBuffer(kBuffer, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
  Bind(kBuffer);
  const VkBuffer unbound = TestHandle<VkBuffer>(311);
  MakeBuffer(unbound, VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT);
  DestroyBuffer(unbound);
  MakeBuffer(unbound, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
  Bind(unbound);
  const VkBuffer refused = TestHandle<VkBuffer>(312);
  MakeBuffer(refused, VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT);
  next_.result = VK_ERROR_OUT_OF_DEVICE_MEMORY;
  Bind(refused);
  EXPECT_THAT(Objects(), ElementsAre(SeenObject{VK_OBJECT_TYPE_BUFFER, HandleValue(unbound),
                                                kDestroyed, "", 0, 4096}))
      << "by what it was made as";
}

TEST_F(ObjectNamesTest, SparseBuffersAndThoseOfBind2HaveAddresses) {
  MakeBuffer(kBuffer, VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT,
             VK_BUFFER_CREATE_SPARSE_BINDING_BIT);
  ASSERT_THAT(Objects(), SizeIs(1));
  const VkBuffer other = TestHandle<VkBuffer>(311);
  MakeBuffer(other, VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT);
  VkBindBufferMemoryInfo infos[] = {{VK_STRUCTURE_TYPE_BIND_BUFFER_MEMORY_INFO},
                                    {VK_STRUCTURE_TYPE_BIND_BUFFER_MEMORY_INFO}};
  infos[1].buffer = other;
  next_.next_address = 0x20000;
  ours().BindBufferMemory2KHR(device(), 2, infos);
  EXPECT_THAT(
      Objects(),
      ElementsAre(
          SeenObject{VK_OBJECT_TYPE_BUFFER, HandleValue(kBuffer), kAlive, "", 0x10000, 4096},
          SeenObject{VK_OBJECT_TYPE_BUFFER, HandleValue(other), kAlive, "", 0x20000, 4096}));
}

TEST_F(ObjectNamesTest, AccelerationStructuresHaveAddresses) {
  auto structure = TestHandle<VkAccelerationStructureKHR>(320);
  VkAccelerationStructureCreateInfoKHR info = {
      VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_CREATE_INFO_KHR};
  info.size = 512;
  const auto create = ours().CreateAccelerationStructureKHR;
  // In a buffer that has no address, or none yet, it may not be asked for its own.
  create(device(), &info, nullptr, &structure);
  info.buffer = TestHandle<VkBuffer>(330);
  MakeBuffer(info.buffer, VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT);
  create(device(), &info, nullptr, &structure);
  EXPECT_THAT(Objects(), IsEmpty());
  next_.next_address = 0;  // Of the buffer, which is not what this is about.
  ours().BindBufferMemory(device(), info.buffer, VK_NULL_HANDLE, 0);
  next_.next_address = 0x10000;
  create(device(), &info, nullptr, &structure);
  ours().DestroyAccelerationStructureKHR(device(), structure, nullptr);
  // The buffer that it was in is told with its destruction.
  EXPECT_THAT(Objects(),
              ElementsAre(SeenObject{VK_OBJECT_TYPE_ACCELERATION_STRUCTURE_KHR,
                                     HandleValue(structure), kDestroyed, "", 0x10000, 512},
                          SeenObject{VK_OBJECT_TYPE_BUFFER, HandleValue(info.buffer), kAlive, "", 0,
                                     4096}));
}

TEST_F(ObjectNamesTest, ThreadsNameAndDestroy) {
  const auto work = [&](uint64_t first) {
    for (uint64_t i = 0; i < 500; ++i) {
      const auto image = TestHandle<VkImage>(first + i);
      SetName(VK_OBJECT_TYPE_IMAGE, HandleValue(image), "image");
      if (i % 2 == 0) ours().DestroyImage(device(), image, nullptr);
    }
  };
  device_->vk.SetDebugUtilsObjectNameEXT = [](VkDevice, const VkDebugUtilsObjectNameInfoEXT*) {
    return VK_SUCCESS;
  };
  std::thread other([&] { work(20000); });
  work(10000);
  other.join();
  const std::vector<SeenObject> seen = Objects();
  EXPECT_EQ(std::count_if(seen.begin(), seen.end(),
                          [](const SeenObject& object) { return object.state == kAlive; }),
            500);
  EXPECT_THAT(seen, SizeIs(1000));
}

TEST_F(AddressBindingTest, EveryBindIsAnEntryAndEveryUnbindItsEnd) {
  EXPECT_EQ(next_.types, static_cast<VkDebugUtilsMessageTypeFlagsEXT>(
                             VK_DEBUG_UTILS_MESSAGE_TYPE_DEVICE_ADDRESS_BINDING_BIT_EXT));
  MakeBuffer(kBuffer, VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT);
  Bind(kBuffer);  // Not asked: the driver reports.
  EXPECT_THAT(Objects(), IsEmpty());
  Bound(0x1000, 256);
  Bound(0x2000, 512);
  SetName(VK_OBJECT_TYPE_BUFFER, HandleValue(kBuffer), "both");
  Unbound(0x1000, 256);
  EXPECT_THAT(
      Objects(),
      ElementsAre(
          SeenObject{VK_OBJECT_TYPE_BUFFER, HandleValue(kBuffer), kDestroyed, "both", 0x1000, 256},
          SeenObject{VK_OBJECT_TYPE_BUFFER, HandleValue(kBuffer), kAlive, "both", 0x2000, 512}));
  // Addresses end when the driver says so, which may be later than the object.
  DestroyBuffer(kBuffer);
  EXPECT_EQ(Objects()[1].state, kAlive);
  SetName(VK_OBJECT_TYPE_BUFFER, HandleValue(kBuffer), "another");
  EXPECT_EQ(Objects()[1].name, "both");
  Unbound(0x2000, 512);
  EXPECT_EQ(Objects()[1].state, kDestroyed);
  EXPECT_EQ(Objects()[2].state, kAlive);
}

TEST_F(AddressBindingTest, APlaceEndsWithItsAddresses) {
  ObjectNames& names = objects().names;
  Bound(0x1000, 256);
  EXPECT_EQ(names.PlaceOf(kBuffer), 1u);
  Bound(0x2000, 256);
  EXPECT_EQ(names.PlaceOf(kBuffer), 1u) << "the first addresses";
  Unbound(0x1000, 256);
  EXPECT_EQ(names.PlaceOf(kBuffer), 2u);
  objects().names.EndRanges({VK_OBJECT_TYPE_BUFFER, HandleValue(kBuffer)}, {});
  EXPECT_EQ(names.PlaceOf(kBuffer), 3u);
}

TEST_F(AddressBindingTest, ANameStaysWhenAnObjectGetsOtherAddresses) {
  Bound(0x1000, 256);
  SetName(VK_OBJECT_TYPE_BUFFER, HandleValue(kBuffer), "streamed");
  Unbound(0x1000, 256);
  Bound(0x9000, 256);
  EXPECT_EQ(Objects().back(), (SeenObject{VK_OBJECT_TYPE_BUFFER, HandleValue(kBuffer), kAlive,
                                          "streamed", 0x9000, 256}));
}

TEST_F(AddressBindingTest, OddReports) {
  const VkBuffer other = TestHandle<VkBuffer>(311);
  Unbound(0x1000, 256);  // Never bound.
  Report(VK_DEVICE_ADDRESS_BINDING_TYPE_BIND_EXT, 0x1000, 256, {});
  EXPECT_THAT(Objects(),
              ElementsAre(SeenObject{VK_OBJECT_TYPE_UNKNOWN, 0, kAlive, "", 0x1000, 256}));
  Unbound(0x1000, 512);  // Another size: not this one.
  EXPECT_EQ(Objects()[0].state, kAlive);
  Unbound(0x1000, 256);  // The driver knows the object by now.
  EXPECT_EQ(Objects()[0].state, kDestroyed);
  // Two objects at one place; each ends by itself.
  Bound(0x3000, 64, kBuffer);
  Bound(0x3000, 64, other);
  Bound(0x3000, 64, other);
  Unbound(0x3000, 64, kBuffer);
  EXPECT_EQ(Objects()[1].state, kDestroyed);
  EXPECT_EQ(Objects()[2].state, kAlive);
  Unbound(0x3000, 64, other);
  Unbound(0x3000, 64, other);
  EXPECT_EQ(Objects()[2].state, kDestroyed);
  EXPECT_EQ(Objects()[3].state, kDestroyed);
  Report(static_cast<VkDeviceAddressBindingTypeEXT>(77), 0x5000, 1, {About(kBuffer)});
  EXPECT_THAT(Objects(), SizeIs(4));
  const VkDebugUtilsMessengerCallbackDataEXT plain = {
      VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CALLBACK_DATA_EXT};
  next_.callback(VK_DEBUG_UTILS_MESSAGE_SEVERITY_INFO_BIT_EXT, 0, &plain, next_.user_data);
  next_.callback(VK_DEBUG_UTILS_MESSAGE_SEVERITY_INFO_BIT_EXT, 0, nullptr, next_.user_data);
  EXPECT_THAT(Objects(), SizeIs(4));
}

TEST_F(AddressBindingTest, AMessageMayNameItsDevice) {
  VkDebugUtilsObjectNameInfoEXT device_of = {VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT};
  device_of.objectType = VK_OBJECT_TYPE_DEVICE;
  device_of.objectHandle = 0xdead00;
  Report(VK_DEVICE_ADDRESS_BINDING_TYPE_BIND_EXT, 0x1000, 64, {device_of, About(kBuffer)});
  EXPECT_THAT(Objects(), IsEmpty());
  device_of.objectHandle = HandleValue(device());
  Report(VK_DEVICE_ADDRESS_BINDING_TYPE_BIND_EXT, 0x1000, 64, {device_of, About(kBuffer)});
  EXPECT_THAT(Objects(), ElementsAre(SeenObject{VK_OBJECT_TYPE_BUFFER, HandleValue(kBuffer), kAlive,
                                                "", 0x1000, 64}));
}

TEST_F(AddressBindingTest, TheMessengerEndsWithTheDevice) {
  device_->objects.reset();
  EXPECT_EQ(next_.callback, nullptr);
}

}  // namespace
}  // namespace cairn
