// SPDX-License-Identifier: Apache-2.0
//
// HandleMap: from a Vulkan handle to the layer's state of it, by three dependent loads. The layer wraps
// no handles, so the recording path needs this look-up with every command: a reader takes no lock and
// computes no hash.
//
// Handles of almost all drivers are pointers: multiples of 8 below 2^47. Their bits lead through a radix
// tree whose nodes are allocated when first needed and never given back; a node is address space, and
// costs memory page by page only. Other values go to an ordinary map with a lock.
//
// Threads: any, except that one handle is added or removed by one thread at a time, as the API demands
// of handles that are created and destroyed.
#ifndef CAIRN_APP_VULKAN_HANDLE_MAP_H_
#define CAIRN_APP_VULKAN_HANDLE_MAP_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <shared_mutex>
#include <unordered_map>

namespace cairn {

// Untyped, for HandleMap below. Objects of static storage only: an instance is 256 KiB of zeros, of which
// a page or two are ever touched.
class HandleTree {
 public:
  constexpr HandleTree() = default;
  HandleTree(const HandleTree&) = delete;
  HandleTree& operator=(const HandleTree&) = delete;

  void* Find(uint64_t handle) const {
    if (!IsPointerLike(handle)) [[unlikely]]
      return FindOther(handle);
    const Middle* const middle = root_[handle >> kRootShift].load(std::memory_order_acquire);
    if (middle == nullptr) [[unlikely]]
      return nullptr;
    const Leaf* const leaf =
        middle->leaves[handle >> kMiddleShift & (kMiddleNodes - 1)].load(std::memory_order_acquire);
    if (leaf == nullptr) [[unlikely]]
      return nullptr;
    return leaf->values[handle >> kUnusedBits & (kLeafValues - 1)].load(std::memory_order_acquire);
  }

  // Replaces the earlier value; null removes it. False without memory: nothing was changed.
  bool Set(uint64_t handle, void* value) noexcept;

 private:
  static constexpr uint32_t kHandleBits = 47;
  static constexpr uint32_t kUnusedBits = 3;
  static constexpr uint32_t kLeafBits = 14;
  static constexpr uint32_t kMiddleBits = 15;
  static constexpr uint32_t kMiddleShift = kUnusedBits + kLeafBits;
  static constexpr uint32_t kRootShift = kMiddleShift + kMiddleBits;
  static constexpr size_t kLeafValues = size_t{1} << kLeafBits;
  static constexpr size_t kMiddleNodes = size_t{1} << kMiddleBits;
  static constexpr size_t kRootNodes = size_t{1} << (kHandleBits - kRootShift);

  struct Leaf {
    std::atomic<void*> values[kLeafValues];
  };
  struct Middle {
    std::atomic<Leaf*> leaves[kMiddleNodes];
  };
  struct Others {
    std::shared_mutex mutex;
    std::unordered_map<uint64_t, void*> values;
  };

  static bool IsPointerLike(uint64_t handle) {
    return (handle & ((1u << kUnusedBits) - 1)) == 0 && handle >> kHandleBits == 0;
  }
  template <typename Node>
  static Node* NodeAt(std::atomic<Node*>& place) noexcept;
  void* FindOther(uint64_t handle) const;
  bool SetOther(uint64_t handle, void* value) noexcept;

  std::atomic<Middle*> root_[kRootNodes] = {};
  std::atomic<Others*> others_{nullptr};
};

// Handles of type H, dispatchable or not, and states of type T, which it does not own.
template <typename H, typename T>
class HandleMap {
 public:
  // Null for a handle that is not here.
  T* Find(H handle) const { return static_cast<T*>(tree_.Find(Bits(handle))); }
  // False without memory.
  bool Set(H handle, T* state) noexcept { return tree_.Set(Bits(handle), state); }
  void Erase(H handle) noexcept { tree_.Set(Bits(handle), nullptr); }

 private:
  // Handles are pointers or 64-bit numbers, which depends on their kind and on the platform.
  static uint64_t Bits(H handle) {
    if constexpr (requires { reinterpret_cast<uintptr_t>(handle); }) {
      return reinterpret_cast<uintptr_t>(handle);
    } else {
      return handle;
    }
  }

  HandleTree tree_;
};

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_HANDLE_MAP_H_
