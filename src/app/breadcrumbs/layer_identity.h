// SPDX-License-Identifier: Apache-2.0
//
// Identifiers by which libcairn recognises the objects of the layers.
//
// Direct3D 12: QueryInterface of a wrapper answers two private identifiers with a pointer to a struct
// below, valid while the wrapper lives and without a reference. The token tells whether the wrapper is
// made by the same copy of Cairn: a program may carry another one, whose structs and contexts mean
// nothing here.
//
// Vulkan: handles are not wrapped and cannot be asked. The layer of this copy of Cairn leaves two
// look-ups here; another copy's libcairn finds none, and takes the device for one like others.
#ifndef CAIRN_APP_BREADCRUMBS_LAYER_IDENTITY_H_
#define CAIRN_APP_BREADCRUMBS_LAYER_IDENTITY_H_

#include <cstdint>

namespace cairn {

class CommandList;
class Context;

// A GUID, for those who know no Direct3D.
struct InterfaceId {
  uint32_t data1;
  uint16_t data2;
  uint16_t data3;
  uint8_t data4[8];
};
// Asks an ID3D12Device for its LayerDevice.
inline constexpr InterfaceId kLayerDeviceId = {
    0x7d1f02c4, 0x5be3, 0x4a0e, {0x9c, 0x41, 0x63, 0x61, 0x69, 0x72, 0x6e, 0x01}};
// Asks a command list for its LayerList.
inline constexpr InterfaceId kLayerListId = {
    0x7d1f02c5, 0x5be3, 0x4a0e, {0x9c, 0x41, 0x63, 0x61, 0x69, 0x72, 0x6e, 0x01}};
// Asks a wrapper for the real object itself; counts a reference, like QueryInterface.
inline constexpr InterfaceId kRealObjectId = {
    0x7d1f02c6, 0x5be3, 0x4a0e, {0x9c, 0x41, 0x63, 0x61, 0x69, 0x72, 0x6e, 0x01}};

// Equal for all code of one copy of Cairn.
const void* LayerToken();

struct LayerDevice {
  const void* token;  // LayerToken(); another one: look at nothing else
  void* real;         // the implementation's device; of Vulkan the VkDevice
  Context* context;   // null if the layer has no breadcrumbs for it
};

struct LayerList {
  const void* token;
  void* real;              // the implementation's list; of Vulkan the VkCommandBuffer
  CommandList* recording;  // what was recorded last or is recorded now; null for none
};

// The look-ups of the Vulkan layer. Both answer null for a handle that the layer does not know, and
// take any pointer. The result is valid while the application may use the handle.
struct VulkanLayerHooks {
  // Finds a VkDevice. `context` is null if the layer has no breadcrumbs for it, `real` is the
  // handle itself.
  const LayerDevice* (*find_device)(void* device) = nullptr;
  // Finds a VkCommandBuffer. `real` is the handle itself.
  const LayerList* (*find_list)(void* command_buffer) = nullptr;
};
// The hooks stay for the rest of the process: a layer is never unloaded while one of its devices lives.
// Threads: any; a look-up that runs meanwhile sees the former or the new ones.
void SetVulkanLayerHooks(const VulkanLayerHooks& hooks);

// Find the layer's data by the hooks; null without them.
const LayerDevice* FindVulkanLayerDevice(void* device);
const LayerList* FindVulkanLayerList(void* command_buffer);

// Returns the function that the program would find for `name`, under which a library exports
// `function`: the layer's, or else `function`. Used where libcairn makes a device for the program.
void* AsTheProgramFindsIt(void* function, const char* name);
// Sets the look-up of the layer in the same library, for the rest of the process.
void SetProgramLookUp(void* (*look_up)(void* function, const char* name));

}  // namespace cairn

#endif  // CAIRN_APP_BREADCRUMBS_LAYER_IDENTITY_H_
