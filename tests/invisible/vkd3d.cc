// SPDX-License-Identifier: Apache-2.0
//
// The C functions of libvkd3d, which take and give Direct3D 12 objects.
#include <vulkan/vulkan_core.h>

#include "invisible/observer.h"

// Exports of libvkd3d 1.2; its own headers conflict with Microsoft's.
extern "C" {
VkDevice vkd3d_get_vk_device(ID3D12Device* device);
VkPhysicalDevice vkd3d_get_vk_physical_device(ID3D12Device* device);
struct vkd3d_instance* vkd3d_instance_from_device(ID3D12Device* device);
VkInstance vkd3d_instance_get_vk_instance(struct vkd3d_instance* instance);
IUnknown* vkd3d_get_device_parent(ID3D12Device* device);
uint32_t vkd3d_get_vk_queue_family_index(ID3D12CommandQueue* queue);
VkQueue vkd3d_acquire_vk_queue(ID3D12CommandQueue* queue);
void vkd3d_release_vk_queue(ID3D12CommandQueue* queue);
ULONG vkd3d_resource_incref(ID3D12Resource* resource);
ULONG vkd3d_resource_decref(ID3D12Resource* resource);
}

namespace observe {

void ObserveVkd3d(Observer& out) {
  Scene scene;
  out.NoteBool("device", vkd3d_get_vk_device(scene.device.get()) != VK_NULL_HANDLE);
  out.NoteBool("physical device",
               vkd3d_get_vk_physical_device(scene.device.get()) != VK_NULL_HANDLE);
  out.NoteBool("instance", vkd3d_instance_get_vk_instance(
                               vkd3d_instance_from_device(scene.device.get())) != VK_NULL_HANDLE);
  out.NoteBool("parent", vkd3d_get_device_parent(scene.device.get()) != nullptr);
  out.Note("family", vkd3d_get_vk_queue_family_index(scene.queue.get()));
  const VkQueue first = vkd3d_acquire_vk_queue(scene.queue.get());
  vkd3d_release_vk_queue(scene.queue.get());
  const VkQueue second = vkd3d_acquire_vk_queue(scene.queue.get());
  vkd3d_release_vk_queue(scene.queue.get());
  out.NoteBool("queue", first != VK_NULL_HANDLE && first == second);
  ComPtr<ID3D12Resource> resource =
      scene.Buffer(D3D12_HEAP_TYPE_DEFAULT, 4096, D3D12_RESOURCE_STATE_COMMON);
  out.Note("device count", CountOf(scene.device.get()));
  out.Note("incref", vkd3d_resource_incref(resource.get()));
  out.Note("count", CountOf(resource.get()));
  out.Note("decref", vkd3d_resource_decref(resource.get()));
  out.Note("incref", vkd3d_resource_incref(resource.get()));
  ID3D12Resource* const kept = resource.Detach();
  out.Note("release", kept->Release());
  out.Note("device count while kept", CountOf(scene.device.get()));
  out.Note("add", kept->AddRef());
  out.Note("release again", kept->Release());
  out.Note("decref", vkd3d_resource_decref(kept));
  out.Note("device count after", CountOf(scene.device.get()));
}

}  // namespace observe
