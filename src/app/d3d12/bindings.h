// SPDX-License-Identifier: Apache-2.0
//
// DescriptorShadow: which object is behind a descriptor. Direct3D 12 forgets the resource once a view
// of it lies in a heap, and OMSetRenderTargets names descriptors only; a report wants the resource.
// Render target and depth stencil views of one device, found by their CPU handle.
//
// Looking up takes no lock: lists are recorded on many threads. Writing does; views are created
// rarely. Nothing here is ever needed for a call to work: a descriptor that is not found, or was
// changed at the same moment, costs a name in a report.
#ifndef CAIRN_APP_D3D12_BINDINGS_H_
#define CAIRN_APP_D3D12_BINDINGS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "d3d12abi/d3d12_api.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

class DescriptorShadow {
 public:
  // More descriptors at once than any program has; what comes on top is not noted.
  static constexpr size_t kMaxDescriptors = size_t{1} << 20;

  DescriptorShadow() = default;
  DescriptorShadow(const DescriptorShadow&) = delete;
  DescriptorShadow& operator=(const DescriptorShadow&) = delete;

  // A view was created at `handle` (ptr of a D3D12_CPU_DESCRIPTOR_HANDLE). `object` is 1 + the index
  // into the block's object table, 0 for a view of nothing.
  void Set(uint64_t handle, uint32_t object);

  // 0 if nothing is known of the descriptor.
  uint32_t Get(uint64_t handle) const {
    const Table* table = table_.load(std::memory_order_acquire);
    if (table == nullptr || handle == 0) return 0;
    for (size_t i = Hash(handle);; ++i) {
      const Entry& entry = table->entries[i & table->mask];
      const uint64_t key = entry.handle.load(std::memory_order_acquire);
      if (key == handle) return entry.object.load(std::memory_order_relaxed);
      if (key == 0) return 0;
    }
  }

  // CopyDescriptors: the ranges as passed there. Arrays of sizes may be null: ranges of 1 each. Stops
  // where either side has no more descriptors, or has null where handles should be.
  void Copy(uint32_t destination_count, const D3D12_CPU_DESCRIPTOR_HANDLE* destinations,
            const UINT* destination_sizes, uint32_t source_count,
            const D3D12_CPU_DESCRIPTOR_HANDLE* sources, const UINT* source_sizes,
            uint32_t increment);

  // The heap that started at `start` is gone: another one may get its addresses.
  void Forget(uint64_t start, uint32_t increment, uint32_t count);

 private:
  struct Entry {
    std::atomic<uint64_t> handle{0};  // 0: free
    std::atomic<uint32_t> object{0};  // 0: the entry may be given to another handle
  };
  // A hash table, at most half full, so that a search always ends.
  struct Table {
    explicit Table(size_t size) : mask(size - 1), entries(new Entry[size]) {}
    size_t mask;
    size_t used = 0;
    std::unique_ptr<Entry[]> entries;
  };

  static size_t Hash(uint64_t handle) {
    // Handles are multiples of a descriptor's size: the low bits say little.
    return static_cast<size_t>((handle * 0x9E3779B97F4A7C15) >> 32);
  }

  // All below need mutex_.
  void SetLocked(uint64_t handle, uint32_t object);
  static Entry* Find(Table& table, uint64_t handle);
  bool Grow();

  std::atomic<Table*> table_{nullptr};
  std::mutex mutex_;
  // The last is the current one. Others may still be searched by a thread that started earlier; each
  // was at most half as large as the next.
  std::vector<std::unique_ptr<Table>> tables_;
};

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_APP_D3D12_BINDINGS_H_
