// SPDX-License-Identifier: Apache-2.0
#include "app/vulkan/memory_users.h"

#include <utility>

#include "app/recorder/block_writer.h"
#include "app/vulkan/device_objects.h"
#include "app/vulkan/intercept.h"
#include "app/vulkan/resource_descriptions.h"

namespace cairn {

void MemoryUsers::Add(Object user, Object used) {
  if (user.handle == 0 || used.handle == 0) return;
  users_.VisitOrAdd(Key(used), [&](Users& users) { users[Key(user)] = user; });
  used_.Set(Key(user), used);
}

DestroyedThing MemoryUsers::ThingOf(const Object& object) const {
  return {kVulkanObject | static_cast<uint32_t>(object.type), object.handle,
          names_.EntryToEnd(object)};
}

// Memory is no owner that a reader would know a resource by.
DestroyedThing MemoryUsers::OwnerOf(const Object& used) const {
  const bool is_memory = used.type == VK_OBJECT_TYPE_DEVICE_MEMORY;
  return used.handle == 0 || is_memory ? DestroyedThing{} : ThingOf(used);
}

void MemoryUsers::End(Object object, ObjectNames::Ranges ranges) {
  if (object.handle == 0 || !IsOfMemory(kVulkanObject | static_cast<uint32_t>(object.type))) return;
  const DestroyedThing ended = ThingOf(object);
  Object used;
  if (used_.VisitAndErase(Key(object), [&](const Object& known) { used = known; })) {
    users_.Visit(Key(used), [&](Users& users) { users.erase(Key(object)); });
  }
  block_.destructions().Note(context_, ended, {}, OwnerOf(used));
  uint32_t left = kMostToldUsers;
  EndUsers(object, ended, ranges, &left);
}

void MemoryUsers::EndUsers(const Object& used, const DestroyedThing& cause,
                           ObjectNames::Ranges ranges, uint32_t* left) {
  Users users;
  if (!users_.VisitAndErase(Key(used), [&](Users& known) { users = std::move(known); })) return;
  for (const auto& [key, user] : users) {
    used_.Erase(key);
    if (*left > 0) {
      --*left;
      const bool is_cause = cause.handle == used.handle;
      block_.destructions().Note(context_, ThingOf(user), cause,
                                 is_cause ? DestroyedThing{} : OwnerOf(used));
      if (ranges == ObjectNames::Ranges::kEnd) names_.EndRanges(user, cause);
    }
    EndUsers(user, cause, ranges, left);
  }
}

namespace {

VkResult VKAPI_CALL CreateImage(VkDevice device, const VkImageCreateInfo* info,
                                const VkAllocationCallbacks* allocator, VkImage* image) {
  const DeviceState& state = *DeviceOf(device);
  const VkResult result = state.vk.CreateImage(device, info, allocator, image);
  state.objects->loss.Note(result, "vkCreateImage");
  if (result != VK_SUCCESS) return result;
  Quietly([&] {
    state.objects->names.Describe({VK_OBJECT_TYPE_IMAGE, HandleValue(*image)},
                                  PackDescription(DescriptionOf(*info)), 0);
  });
  return result;
}

VkResult VKAPI_CALL BindImageMemory(VkDevice device, VkImage image, VkDeviceMemory memory,
                                    VkDeviceSize offset) {
  const DeviceState& state = *DeviceOf(device);
  const VkResult result = state.vk.BindImageMemory(device, image, memory, offset);
  if (result != VK_SUCCESS) return result;
  Quietly([&] {
    state.objects->memory_users.Add({VK_OBJECT_TYPE_IMAGE, HandleValue(image)},
                                    {VK_OBJECT_TYPE_DEVICE_MEMORY, HandleValue(memory)});
  });
  return result;
}

// Images of swapchains are bound to no memory of the program's.
template <auto kNext>
VkResult VKAPI_CALL BindImageMemory2(VkDevice device, uint32_t count,
                                     const VkBindImageMemoryInfo* infos) {
  const DeviceState& state = *DeviceOf(device);
  const VkResult result = (state.vk.*kNext)(device, count, infos);
  if (result != VK_SUCCESS) return result;
  Quietly([&] {
    for (uint32_t i = 0; i < count; ++i) {
      state.objects->memory_users.Add({VK_OBJECT_TYPE_IMAGE, HandleValue(infos[i].image)},
                                      {VK_OBJECT_TYPE_DEVICE_MEMORY, HandleValue(infos[i].memory)});
    }
  });
  return result;
}

VkResult VKAPI_CALL CreateImageView(VkDevice device, const VkImageViewCreateInfo* info,
                                    const VkAllocationCallbacks* allocator, VkImageView* view) {
  const DeviceState& state = *DeviceOf(device);
  const VkResult result = state.vk.CreateImageView(device, info, allocator, view);
  if (result != VK_SUCCESS) return result;
  Quietly([&] {
    state.objects->memory_users.Add({VK_OBJECT_TYPE_IMAGE_VIEW, HandleValue(*view)},
                                    {VK_OBJECT_TYPE_IMAGE, HandleValue(info->image)});
  });
  return result;
}

VkResult VKAPI_CALL CreateBufferView(VkDevice device, const VkBufferViewCreateInfo* info,
                                     const VkAllocationCallbacks* allocator, VkBufferView* view) {
  const DeviceState& state = *DeviceOf(device);
  const VkResult result = state.vk.CreateBufferView(device, info, allocator, view);
  if (result != VK_SUCCESS) return result;
  Quietly([&] {
    state.objects->memory_users.Add({VK_OBJECT_TYPE_BUFFER_VIEW, HandleValue(*view)},
                                    {VK_OBJECT_TYPE_BUFFER, HandleValue(info->buffer)});
  });
  return result;
}

}  // namespace

std::span<const Intercept> MemoryUserIntercepts() {
  static const Intercept kTable[] = {
      InterceptOf<PFN_vkCreateImage>("vkCreateImage", CreateImage),
      InterceptOf<PFN_vkBindImageMemory>("vkBindImageMemory", BindImageMemory),
      InterceptOf<PFN_vkBindImageMemory2>("vkBindImageMemory2",
                                          BindImageMemory2<&DeviceFunctions::BindImageMemory2>),
      InterceptOf<PFN_vkBindImageMemory2>("vkBindImageMemory2KHR",
                                          BindImageMemory2<&DeviceFunctions::BindImageMemory2KHR>),
      InterceptOf<PFN_vkCreateImageView>("vkCreateImageView", CreateImageView),
      InterceptOf<PFN_vkCreateBufferView>("vkCreateBufferView", CreateBufferView),
  };
  return kTable;
}

}  // namespace cairn
