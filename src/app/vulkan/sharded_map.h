// SPDX-License-Identifier: Apache-2.0
//
// ShardedMap: what the layer knows of handles that are not on the recording path. Cut into shards with a
// lock each, so that threads that make and destroy different objects do not wait for each other.
//
// Threads: all functions from any thread. A visitor runs with its shard locked: it must not come back
// here. Adding allocates, and may throw std::bad_alloc; the map is then as it was.
#ifndef CAIRN_APP_VULKAN_SHARDED_MAP_H_
#define CAIRN_APP_VULKAN_SHARDED_MAP_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <type_traits>
#include <unordered_map>
#include <utility>

namespace cairn {

// Handles are pointers or 64-bit numbers, which depends on their kind and on the platform.
template <typename Handle>
uint64_t HandleValue(Handle handle) {
  if constexpr (std::is_pointer_v<Handle>) {
    return reinterpret_cast<uintptr_t>(handle);
  } else {
    return handle;
  }
}

// Maps HandleValue of a handle to a value.
template <typename Value>
class ShardedMap {
 public:
  // Replaces the earlier value.
  void Set(uint64_t handle, Value value) {
    Shard& shard = ShardOf(handle);
    const std::lock_guard lock(shard.mutex);
    shard.values.insert_or_assign(handle, std::move(value));
  }

  // False if it was not there.
  bool Erase(uint64_t handle) {
    Shard& shard = ShardOf(handle);
    const std::lock_guard lock(shard.mutex);
    return shard.values.erase(handle) != 0;
  }

  // Calls visit(Value&) if it is there, and says so.
  template <typename Visitor>
  bool Visit(uint64_t handle, Visitor visit) {
    Shard& shard = ShardOf(handle);
    const std::lock_guard lock(shard.mutex);
    const auto found = shard.values.find(handle);
    if (found == shard.values.end()) return false;
    visit(found->second);
    return true;
  }

  // Like Visit, but inserts a missing value first.
  template <typename Visitor>
  void VisitOrAdd(uint64_t handle, Visitor visit) {
    Shard& shard = ShardOf(handle);
    const std::lock_guard lock(shard.mutex);
    visit(shard.values[handle]);
  }

  // Like Visit, and erases the value afterwards.
  template <typename Visitor>
  bool VisitAndErase(uint64_t handle, Visitor visit) {
    Shard& shard = ShardOf(handle);
    const std::lock_guard lock(shard.mutex);
    const auto found = shard.values.find(handle);
    if (found == shard.values.end()) return false;
    visit(found->second);
    shard.values.erase(found);
    return true;
  }

  template <typename Visitor>
  void VisitAll(Visitor visit) {
    for (Shard& shard : shards_) {
      const std::lock_guard lock(shard.mutex);
      for (auto& [handle, value] : shard.values) visit(value);
    }
  }

 private:
  static constexpr size_t kShardCount = 16;
  struct alignas(64) Shard {
    std::mutex mutex;
    std::unordered_map<uint64_t, Value> values;
  };

  // The lowest bits of pointers are equal; the multiplication spreads the others.
  Shard& ShardOf(uint64_t handle) { return shards_[handle * 0x9e3779b97f4a7c15u >> 60]; }
  static_assert(kShardCount == 1u << (64 - 60));

  std::array<Shard, kShardCount> shards_;
};

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_SHARDED_MAP_H_
