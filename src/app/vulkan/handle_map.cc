// SPDX-License-Identifier: Apache-2.0
#include "app/vulkan/handle_map.h"

#include <mutex>
#include <new>
#include <utility>

#include "os/memory.h"

namespace cairn {

template <typename Node>
Node* HandleTree::NodeAt(std::atomic<Node*>& place) noexcept {
  Node* node = place.load(std::memory_order_acquire);
  if (node != nullptr) return node;
  // The system's zeros are null pointers. The heap would write them where it has used the memory before.
  SparseMemory memory = SparseMemory::Reserve(sizeof(Node));
  if (memory.data() == nullptr) return nullptr;
  Node* const made = reinterpret_cast<Node*>(memory.data());
  if (!place.compare_exchange_strong(node, made, std::memory_order_acq_rel)) return node;
  memory.Keep();
  return made;
}

bool HandleTree::Set(uint64_t handle, void* value) noexcept {
  if (!IsPointerLike(handle)) return SetOther(handle, value);
  if (value == nullptr && Find(handle) == nullptr) return true;
  Middle* const middle = NodeAt(root_[handle >> kRootShift]);
  if (middle == nullptr) return false;
  Leaf* const leaf = NodeAt(middle->leaves[handle >> kMiddleShift & (kMiddleNodes - 1)]);
  if (leaf == nullptr) return false;
  leaf->values[handle >> kUnusedBits & (kLeafValues - 1)].store(value, std::memory_order_release);
  return true;
}

void* HandleTree::FindOther(uint64_t handle) const {
  Others* const others = others_.load(std::memory_order_acquire);
  if (others == nullptr) return nullptr;
  const std::shared_lock lock(others->mutex);
  const auto found = others->values.find(handle);
  return found == others->values.end() ? nullptr : found->second;
}

bool HandleTree::SetOther(uint64_t handle, void* value) noexcept {
  Others* others = others_.load(std::memory_order_acquire);
  try {
    if (others == nullptr) {
      if (value == nullptr) return true;
      Others* const made = new Others;
      if (others_.compare_exchange_strong(others, made, std::memory_order_acq_rel)) {
        others = made;
      } else {
        delete made;
      }
    }
    const std::lock_guard lock(others->mutex);
    if (value == nullptr) {
      others->values.erase(handle);
    } else {
      others->values[handle] = value;
    }
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

}  // namespace cairn
