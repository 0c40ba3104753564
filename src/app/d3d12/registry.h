// SPDX-License-Identifier: Apache-2.0
//
// From a real object to its wrapper: for objects that the implementation hands out again (a device
// that is a singleton, a protected session of a resource, the lists in DRED's nodes), and for the
// self-check, which asks what is alive.
//
// Threads: all functions from any thread. The table is cut into shards with a lock each; no function
// calls out while it holds one.
#ifndef CAIRN_APP_D3D12_REGISTRY_H_
#define CAIRN_APP_D3D12_REGISTRY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>

namespace cairn {

// `Wrapper` needs: bool AddReferenceIfAlive(), which adds a reference unless the count is 0.
template <typename Wrapper>
class Registry {
 public:
  // An entry that is there already belongs to a wrapper that is dying: it is replaced.
  void Add(const void* real, Wrapper* wrapper) {
    Shard& shard = ShardOf(real);
    const std::lock_guard lock(shard.mutex);
    shard.wrappers[real] = wrapper;
  }

  // Forgets `wrapper`, unless another has taken its place. To be called before the reference on the
  // real object goes: afterwards its address may belong to another object.
  void Remove(const void* real, const Wrapper* wrapper) {
    Shard& shard = ShardOf(real);
    const std::lock_guard lock(shard.mutex);
    const auto found = shard.wrappers.find(real);
    if (found != shard.wrappers.end() && found->second == wrapper) shard.wrappers.erase(found);
  }

  // Without a reference: the caller knows otherwise that the wrapper lives. Null if there is none.
  Wrapper* Find(const void* real) const {
    const Shard& shard = ShardOf(real);
    const std::lock_guard lock(shard.mutex);
    const auto found = shard.wrappers.find(real);
    return found == shard.wrappers.end() ? nullptr : found->second;
  }

  // Finds a wrapper and adds a reference for the caller. Null if there is none, or if it is dying.
  Wrapper* FindAndAddReference(const void* real) const {
    const Shard& shard = ShardOf(real);
    const std::lock_guard lock(shard.mutex);
    const auto found = shard.wrappers.find(real);
    if (found == shard.wrappers.end() || !found->second->AddReferenceIfAlive()) return nullptr;
    return found->second;
  }

  // Calls `visit(wrapper)` for every entry, with its shard locked: `visit` must not come back here.
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (const Shard& shard : shards_) {
      const std::lock_guard lock(shard.mutex);
      for (const auto& [real, wrapper] : shard.wrappers) visit(wrapper);
    }
  }

  size_t size() const {
    size_t count = 0;
    for (const Shard& shard : shards_) {
      const std::lock_guard lock(shard.mutex);
      count += shard.wrappers.size();
    }
    return count;
  }

 private:
  static constexpr size_t kShardCount = 64;
  struct alignas(64) Shard {
    mutable std::mutex mutex;
    std::unordered_map<const void*, Wrapper*> wrappers;
  };

  // The lowest bits of addresses from malloc are equal; the multiplication spreads the others.
  static size_t ShardIndex(const void* real) {
    return reinterpret_cast<uintptr_t>(real) * 0x9e3779b97f4a7c15u >> 58;
  }
  static_assert(kShardCount == 1u << (64 - 58));
  Shard& ShardOf(const void* real) { return shards_[ShardIndex(real)]; }
  const Shard& ShardOf(const void* real) const { return shards_[ShardIndex(real)]; }

  std::array<Shard, kShardCount> shards_;
};

}  // namespace cairn

#endif  // CAIRN_APP_D3D12_REGISTRY_H_
