// SPDX-License-Identifier: Apache-2.0
#include "app/breadcrumbs/driver_half.h"

#include <atomic>
#include <utility>

namespace cairn {
namespace {

constinit std::atomic<DriverHalf*> driver_half{nullptr};
constinit thread_local int t_creating_devices = 0;
constinit thread_local DeviceSeenScope* t_seen_device = nullptr;
constinit thread_local ExpectedBufferScope* t_expected_buffer = nullptr;
constinit thread_local ListOpenScope* t_opening_list = nullptr;

constexpr char kNotSeen[] =
    "the Vulkan layer (VK_LAYER_CAIRN_breadcrumbs) did not see the buffer's creation";

}  // namespace

DriverHalf* GetDriverHalf() {
  return driver_half.load(std::memory_order_acquire);
}

void SetDriverHalf(DriverHalf* half) {
  driver_half.store(half, std::memory_order_release);
}

DeviceCreationScope::DeviceCreationScope() {
  ++t_creating_devices;
}

DeviceCreationScope::~DeviceCreationScope() {
  --t_creating_devices;
}

bool DeviceCreationScope::Active() {
  return t_creating_devices != 0;
}

DeviceSeenScope::DeviceSeenScope() : outer_(std::exchange(t_seen_device, this)) {}

DeviceSeenScope::~DeviceSeenScope() {
  t_seen_device = outer_;
}

void DeviceSeenScope::Note(const void* device) {
  if (t_seen_device != nullptr && t_seen_device->device_ == nullptr) {
    t_seen_device->device_ = device;
  }
}

ExpectedBufferScope::ExpectedBufferScope(std::byte* base, size_t size_bytes)
    : outer_(std::exchange(t_expected_buffer, this)),
      base_(base),
      size_bytes_(size_bytes),
      reason_(kNotSeen) {}

ExpectedBufferScope::~ExpectedBufferScope() {
  t_expected_buffer = outer_;
}

ExpectedBufferScope* ExpectedBufferScope::Current() {
  return t_expected_buffer;
}

ListOpenScope::ListOpenScope() : outer_(std::exchange(t_opening_list, this)) {}

ListOpenScope::~ListOpenScope() {
  t_opening_list = outer_;
}

ListOpenScope* ListOpenScope::Current() {
  return t_opening_list;
}

}  // namespace cairn
