// SPDX-License-Identifier: Apache-2.0
#include "app/vulkan/access_ranges.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "app/vulkan/sharded_map.h"

namespace cairn {
namespace {

constexpr size_t kSpareBytes = 64 << 10;  // spirv::kSpareBytes
constexpr size_t kListBytes =
    (sizeof(AccessList) + AccessRanges::kMostRanges * sizeof(AccessRange) + 63) / 64 * 64;
constexpr size_t kZeros = 64 << 10;
constexpr size_t kSpare = kZeros + kSpareBytes;
constexpr size_t kFirstList = kSpare + kSpareBytes;
constexpr size_t kBytes = kFirstList + AccessRanges::kLists * kListBytes;

}  // namespace

Result<std::unique_ptr<AccessRanges>> AccessRanges::Make(const VulkanDevice& device,
                                                         VkMemoryAllocateFlags flags,
                                                         AddressOf address_of,
                                                         Overflowed overflowed) {
  Result<VulkanBuffer> memory = VulkanBuffer::CreateHostVisible(
      device, kBytes,
      VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT, flags);
  if (!memory.ok()) return memory.status().WithContext("the list of buffers");
  std::unique_ptr<AccessRanges> made(new AccessRanges());
  made->memory_ = std::move(*memory);
  made->address_ = address_of(made->memory_.buffer());
  made->address_of_ = std::move(address_of);
  made->overflowed_ = std::move(overflowed);
  if (made->address_ == 0 || made->address_ % 64 != 0) {
    return Status(StatusCode::kUnsupported,
                  "the list of buffers has an address that is no multiple of 64");
  }
  made->Publish();
  return made;
}

uint64_t AccessRanges::zeros() const {
  return address_ + kZeros;
}

uint64_t AccessRanges::spare() const {
  return address_ + kSpare;
}

void AccessRanges::AddBuffer(VkBuffer buffer, uint64_t size_bytes, bool is_sparse) {
  const std::lock_guard lock(mutex_);
  Buffer& added = buffers_[HandleValue(buffer)];
  added = {buffer, size_bytes};
  if (is_sparse) Allow(added, 0);
}

void AccessRanges::BindBuffer(VkBuffer buffer, VkDeviceMemory memory) {
  const std::lock_guard lock(mutex_);
  const auto found = buffers_.find(HandleValue(buffer));
  if (found != buffers_.end()) Allow(found->second, HandleValue(memory));
}

void AccessRanges::RemoveBuffer(VkBuffer buffer) {
  const std::lock_guard lock(mutex_);
  const auto found = buffers_.find(HandleValue(buffer));
  if (found == buffers_.end()) return;
  const bool was_allowed = Forbid(found->second);
  buffers_.erase(found);
  if (was_allowed) Publish();
}

void AccessRanges::RemoveMemory(VkDeviceMemory memory) {
  const std::lock_guard lock(mutex_);
  std::vector<uint64_t> inside;
  const auto [begin, end] = by_memory_.equal_range(HandleValue(memory));
  for (auto it = begin; it != end; ++it) inside.push_back(it->second);
  for (uint64_t handle : inside) {
    Buffer& buffer = buffers_[handle];
    Forbid(buffer);
    buffer.address = 0;
  }
  if (!inside.empty()) Publish();
}

void AccessRanges::Allow(Buffer& buffer, uint64_t memory) {
  buffer.address = address_of_(buffer.handle);
  buffer.memory = memory;
  if (buffer.address == 0) return;
  by_address_.emplace(buffer.address, buffer);
  if (memory != 0) by_memory_.emplace(memory, HandleValue(buffer.handle));
  Publish();
}

// Returns false if it was not allowed.
bool AccessRanges::Forbid(const Buffer& buffer) {
  if (buffer.address == 0) return false;
  const auto erase = [](auto& map, uint64_t key, const auto& is_it) {
    const auto [begin, end] = map.equal_range(key);
    const auto found = std::find_if(begin, end, is_it);
    if (found != end) map.erase(found);
  };
  erase(by_address_, buffer.address,
        [&](const auto& entry) { return entry.second.handle == buffer.handle; });
  erase(by_memory_, buffer.memory,
        [&](const auto& entry) { return entry.second == HandleValue(buffer.handle); });
  return true;
}

void AccessRanges::Publish() {
  std::vector<AccessRange> ranges;
  for (const auto& [address, buffer] : by_address_) {
    const uint64_t bytes = buffer.size_bytes;
    // Those that overlap are one. Those that touch are not: behind the end of one is outside.
    if (!ranges.empty() && address < ranges.back().begin + ranges.back().bytes) {
      AccessRange& last = ranges.back();
      last.bytes = std::max(last.bytes, address + bytes - last.begin);
    } else {
      ranges.push_back({address, bytes});
    }
  }
  if (ranges.size() > kMostRanges) {
    if (overflowed_) overflowed_();
    ranges = {{0, UINT64_MAX}};
  }
  const size_t offset = kFirstList + next_list_ * kListBytes;
  next_list_ = (next_list_ + 1) % kLists;
  std::byte* const list = memory_.mapped() + offset;
  const AccessList header = {static_cast<uint32_t>(ranges.size()), {}};
  std::memcpy(list, &header, sizeof(header));
  if (!ranges.empty())
    std::memcpy(list + sizeof(header), ranges.data(), ranges.size() * sizeof(AccessRange));
  auto& table = *reinterpret_cast<AccessTable*>(memory_.mapped());
  std::atomic_ref(table.list).store(static_cast<uint32_t>(offset), std::memory_order_release);
}

}  // namespace cairn
