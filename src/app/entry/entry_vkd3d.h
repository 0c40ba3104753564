// SPDX-License-Identifier: Apache-2.0
//
// The few declarations of libvkd3d that its entry points need: its own headers cannot be mixed with
// Microsoft's. Layout as of libvkd3d 1.2 on x86-64; these structs have been the same since 1.0.
#ifndef CAIRN_APP_ENTRY_ENTRY_VKD3D_H_
#define CAIRN_APP_ENTRY_ENTRY_VKD3D_H_

#include <cstddef>
#include <cstdint>

namespace cairn {

// A value of vkd3d_structure_type. Structs of other types are passed on unread.
inline constexpr uint32_t kVkd3dInstanceCreateInfo = 0;
inline constexpr uint32_t kVkd3dDeviceCreateInfo = 1;
inline constexpr uint32_t kVkd3dApplicationInfo = 5;  // since 1.2

// The begin of every struct of libvkd3d.
struct Vkd3dStruct {
  uint32_t type;
  const Vkd3dStruct* next;
};

// Extends Vkd3dInstanceCreateInfo.
struct Vkd3dApplicationInfo {
  uint32_t type;
  const Vkd3dStruct* next;
  const char* application_name;
};

struct Vkd3dInstance;

struct Vkd3dInstanceCreateInfo {
  uint32_t type;
  const Vkd3dStruct* next;
  void (*signal_event)();
  void (*create_thread)();
  void (*join_thread)();
  size_t wchar_size;
  void (*get_instance_proc_address)();
  const char* const* instance_extensions;
  uint32_t instance_extension_count;
};
static_assert(offsetof(Vkd3dInstanceCreateInfo, wchar_size) == 40);

struct Vkd3dDeviceCreateInfo {
  uint32_t type;
  const void* next;
  uint32_t minimum_feature_level;
  Vkd3dInstance* instance;  // or null, and the next one set
  const Vkd3dInstanceCreateInfo* instance_create_info;
};
// vkd3d_create_image_resource's. `present_state` counts with the flag only.
inline constexpr uint32_t kVkd3dImageResourceCreateInfo = 2;
inline constexpr uint32_t kVkd3dPresentStateTransition = 2;
struct Vkd3dImageResourceCreateInfo {
  uint32_t type;
  const void* next;
  uint64_t vk_image;
  uint64_t desc[7];  // D3D12_RESOURCE_DESC
  uint32_t flags;
  uint32_t present_state;
};
static_assert(offsetof(Vkd3dImageResourceCreateInfo, flags) == 80);

static_assert(offsetof(Vkd3dDeviceCreateInfo, instance) == 24);
static_assert(offsetof(Vkd3dDeviceCreateInfo, instance_create_info) == 32);

}  // namespace cairn

#endif  // CAIRN_APP_ENTRY_ENTRY_VKD3D_H_
