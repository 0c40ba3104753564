// SPDX-License-Identifier: Apache-2.0
#include "app/breadcrumbs/layer_identity.h"

#include <atomic>

namespace cairn {
namespace {

// Each is of use by itself, so that they need not change together.
std::atomic<const LayerDevice* (*)(void*)> g_find_device{nullptr};
std::atomic<const LayerList* (*)(void*)> g_find_list{nullptr};
std::atomic<void* (*)(void*, const char*)> g_program_look_up{nullptr};

}  // namespace

const void* LayerToken() {
  static const char token = 0;
  return &token;
}

void SetVulkanLayerHooks(const VulkanLayerHooks& hooks) {
  g_find_list.store(hooks.find_list, std::memory_order_release);
  g_find_device.store(hooks.find_device, std::memory_order_release);
}

const LayerDevice* FindVulkanLayerDevice(void* device) {
  const auto find = g_find_device.load(std::memory_order_acquire);
  return find == nullptr ? nullptr : find(device);
}

const LayerList* FindVulkanLayerList(void* command_buffer) {
  const auto find = g_find_list.load(std::memory_order_acquire);
  return find == nullptr ? nullptr : find(command_buffer);
}

void* AsTheProgramFindsIt(void* function, const char* name) {
  const auto look_up = g_program_look_up.load(std::memory_order_acquire);
  return look_up == nullptr ? function : look_up(function, name);
}

void SetProgramLookUp(void* (*look_up)(void* function, const char* name)) {
  g_program_look_up.store(look_up, std::memory_order_release);
}

}  // namespace cairn
