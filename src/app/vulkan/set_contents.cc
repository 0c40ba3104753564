// SPDX-License-Identifier: Apache-2.0
#include "app/vulkan/set_contents.h"

#include <memory>
#include <new>

#include "app/breadcrumbs/context.h"
#include "app/recorder/block_writer.h"
#include "app/vulkan/device_objects.h"
#include "app/vulkan/layer_chain.h"

namespace cairn {

// States in the order in which they came.
struct DescriptorSetList {
  DescriptorSetState* first = nullptr;
  DescriptorSetState* last = nullptr;

  void Append(DescriptorSetState& state) {
    state.previous = last;
    state.next = nullptr;
    (last == nullptr ? first : last->next) = &state;
    last = &state;
  }
  void Remove(DescriptorSetState& state) {
    (state.previous == nullptr ? first : state.previous->next) = state.next;
    (state.next == nullptr ? last : state.next->previous) = state.previous;
  }
};

// Sets that ended leave their states to the pool's next ones of the same size, the oldest first.
struct DescriptorPoolState {
  VkDescriptorPool handle = VK_NULL_HANDLE;
  const DeviceState* device = nullptr;
  DescriptorSetList live;
  std::array<DescriptorSetList, kDescriptorSetSizes> ended;
};

namespace {

constinit HandleMap<VkDescriptorSetLayout, DescriptorLayout> set_layouts;
constinit HandleMap<VkDescriptorPool, DescriptorPoolState> descriptor_pools;
constinit HandleMap<VkDescriptorSet, DescriptorSetState> descriptor_sets;

// Null also for a pool of another device: handles need not differ between devices, and that one may be in use
// by another thread.
DescriptorPoolState* FindPool(const DeviceState& device, VkDescriptorPool handle) {
  DescriptorPoolState* const pool = descriptor_pools.Find(handle);
  return pool != nullptr && pool->device == &device ? pool : nullptr;
}

// Null where another device has a pool with this handle. Throws std::bad_alloc.
DescriptorPoolState* PoolFor(const DeviceState& device, VkDescriptorPool handle) {
  if (DescriptorPoolState* const known = descriptor_pools.Find(handle); known != nullptr) {
    return FindPool(device, handle);
  }
  auto pool = std::make_unique<DescriptorPoolState>();
  pool->handle = handle;
  pool->device = &device;
  device.objects->descriptor_pools.Set(HandleValue(handle), handle);
  if (!descriptor_pools.Set(handle, pool.get())) throw std::bad_alloc();
  return pool.release();
}

// Throws std::bad_alloc.
DescriptorSetState& TakeState(DescriptorPoolState& pool, uint32_t size) {
  DescriptorSetState* state = pool.ended[size].first;
  if (state != nullptr) {
    pool.ended[size].Remove(*state);
  } else {
    state = new DescriptorSetState;
    state->pool = &pool;
    state->slot.size = size;
  }
  if (state->slot.record == nullptr) {
    state->slot = pool.device->block->descriptor_sets().Take(size);
    state->slot.size = size;
  }
  return *state;
}

void EndSet(DescriptorSetState& state) noexcept {
  // Unless the driver gave the handle to another set.
  if (descriptor_sets.Find(state.handle) == &state) descriptor_sets.Erase(state.handle);
  state.pool->live.Remove(state);
  state.pool->ended[state.slot.size].Append(state);
}

void DeleteStates(DescriptorSetList& list, DescriptorSets& records) noexcept {
  for (DescriptorSetState* state = list.first; state != nullptr;) {
    DescriptorSetState* const next = state->next;
    if (state->slot.record != nullptr) Quietly([&] { records.Give(state->slot); });
    delete state;
    state = next;
  }
}

// Returns the kind of object that a descriptor of this type holds; kNone if it cannot be destroyed.
DescriptorKind KindOf(VkDescriptorType type) {
  switch (type) {
    case VK_DESCRIPTOR_TYPE_SAMPLER: return DescriptorKind::kSampler;
    case VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER:
    case VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE:
    case VK_DESCRIPTOR_TYPE_STORAGE_IMAGE:
    case VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT: return DescriptorKind::kImageView;
    case VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER:
    case VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER: return DescriptorKind::kBufferView;
    case VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER:
    case VK_DESCRIPTOR_TYPE_STORAGE_BUFFER:
    case VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC:
    case VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC: return DescriptorKind::kBuffer;
    case VK_DESCRIPTOR_TYPE_ACCELERATION_STRUCTURE_KHR:
      return DescriptorKind::kAccelerationStructure;
    default: return DescriptorKind::kNone;
  }
}

uint64_t HandleIn(DescriptorKind kind, const void* info) {
  switch (kind) {
    case DescriptorKind::kSampler:
      return HandleValue(static_cast<const VkDescriptorImageInfo*>(info)->sampler);
    case DescriptorKind::kImageView:
      return HandleValue(static_cast<const VkDescriptorImageInfo*>(info)->imageView);
    case DescriptorKind::kBuffer:
      return HandleValue(static_cast<const VkDescriptorBufferInfo*>(info)->buffer);
    case DescriptorKind::kBufferView: return HandleValue(*static_cast<const VkBufferView*>(info));
    case DescriptorKind::kAccelerationStructure:
      return HandleValue(*static_cast<const VkAccelerationStructureKHR*>(info));
    case DescriptorKind::kNone: break;
  }
  return 0;
}

// The information of element `i` of a write; null if it has none.
const void* InfoOf(const VkWriteDescriptorSet& write, DescriptorKind kind, uint32_t i) {
  switch (kind) {
    case DescriptorKind::kSampler:
    case DescriptorKind::kImageView:
      return write.pImageInfo == nullptr ? nullptr : write.pImageInfo + i;
    case DescriptorKind::kBuffer:
      return write.pBufferInfo == nullptr ? nullptr : write.pBufferInfo + i;
    case DescriptorKind::kBufferView:
      return write.pTexelBufferView == nullptr ? nullptr : write.pTexelBufferView + i;
    case DescriptorKind::kAccelerationStructure: {
      const auto* const chained = FindInChain<VkWriteDescriptorSetAccelerationStructureKHR>(
          write.pNext, VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET_ACCELERATION_STRUCTURE_KHR);
      if (chained == nullptr || i >= chained->accelerationStructureCount) return nullptr;
      return chained->pAccelerationStructures + i;
    }
    case DescriptorKind::kNone: break;
  }
  return nullptr;
}

// A reader may look meanwhile: what it sees is all old, all new, or nothing.
void Store(DescriptorRecord& record, uint64_t handle, uint32_t stamp, uint32_t binding,
           DescriptorKind kind, bool writable) {
  record.handle.store(0, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  record.stamp = stamp;
  record.binding = static_cast<uint16_t>(binding);
  record.kind = kind;
  record.writable = writable ? 1 : 0;
  record.handle.store(handle, std::memory_order_release);
}

}  // namespace

DescriptorSetState* SetStateOf(VkDescriptorSet set) {
  return descriptor_sets.Find(set);
}

DescriptorLayout* LayoutOf(VkDescriptorSetLayout layout) {
  return set_layouts.Find(layout);
}

void SetLayoutOf(VkDescriptorSetLayout handle, DescriptorLayout* layout) noexcept {
  set_layouts.Set(handle, layout);
}

void AddSets(const DeviceState& device, const VkDescriptorSetAllocateInfo& info,
             const VkDescriptorSet* sets) {
  DescriptorPoolState* const found = PoolFor(device, info.descriptorPool);
  if (found == nullptr) return;
  DescriptorPoolState& pool = *found;
  for (uint32_t i = 0; i < info.descriptorSetCount; ++i) {
    const DescriptorLayout* const layout = LayoutOf(info.pSetLayouts[i]);
    if (layout == nullptr || sets[i] == VK_NULL_HANDLE) continue;
    DescriptorSetState& state = TakeState(pool, DescriptorSets::SizeFor(layout->kept_count));
    state.layout = layout;
    state.handle = sets[i];
    state.place = 0;
    if (state.slot.record != nullptr) {
      state.place = device.block->descriptor_sets().Start(
          state.slot, {device.context->index(), HandleValue(sets[i]), layout->kept_count,
                       layout->unseen_count});
    }
    pool.live.Append(state);
    if (!descriptor_sets.Set(sets[i], &state)) EndSet(state);
  }
}

void ForgetSets(const DeviceState& device, uint32_t count, const VkDescriptorSet* sets) noexcept {
  for (uint32_t i = 0; sets != nullptr && i < count; ++i) {
    DescriptorSetState* const state = SetStateOf(sets[i]);
    if (state != nullptr && state->pool->device == &device) EndSet(*state);
  }
}

void ForgetSetsOf(const DeviceState& device, VkDescriptorPool handle) noexcept {
  DescriptorPoolState* const pool = FindPool(device, handle);
  if (pool == nullptr) return;
  while (pool->live.first != nullptr) EndSet(*pool->live.first);
}

namespace {

void DeletePool(const DeviceState& device, VkDescriptorPool handle) noexcept {
  DescriptorPoolState* const pool = FindPool(device, handle);
  if (pool == nullptr) return;
  ForgetSetsOf(device, handle);
  for (DescriptorSetList& list : pool->ended) DeleteStates(list, device.block->descriptor_sets());
  descriptor_pools.Erase(handle);
  delete pool;
}

}  // namespace

void ForgetDescriptorPool(const DeviceState& device, VkDescriptorPool handle) noexcept {
  DeletePool(device, handle);
  device.objects->descriptor_pools.Erase(HandleValue(handle));
}

void ForgetDescriptorPools(const DeviceState& device,
                           ShardedMap<VkDescriptorPool>& pools) noexcept {
  pools.VisitAll([&device](VkDescriptorPool pool) { DeletePool(device, pool); });
}

void WriteDescriptor(DescriptorRecord& record, uint32_t binding, VkDescriptorType type,
                     const void* info, const Destructions& destructions) {
  const DescriptorKind kind = KindOf(type);
  const bool writable = type == VK_DESCRIPTOR_TYPE_STORAGE_BUFFER ||
                        type == VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC;
  const uint64_t handle = info == nullptr ? 0 : HandleIn(kind, info);
  Store(record, handle, destructions.StampOf(handle), binding, kind, writable);
}

void WriteSet(const VkWriteDescriptorSet& write, const Destructions& destructions) {
  const DescriptorSetState* const state = SetStateOf(write.dstSet);
  const DescriptorKind kind = KindOf(write.descriptorType);
  if (state == nullptr || state->slot.record == nullptr || kind == DescriptorKind::kNone) return;
  DescriptorWalk walk(*state->layout, write.dstBinding, write.dstArrayElement);
  for (uint32_t i = 0; i < write.descriptorCount && !walk.AtEnd(); ++i, walk.Next()) {
    if (!walk.kept()) continue;
    WriteDescriptor(state->slot.descriptors()[walk.place()], walk.binding().number,
                    write.descriptorType, InfoOf(write, kind, i), destructions);
  }
}

void CopySet(const VkCopyDescriptorSet& copy) {
  const DescriptorSetState* const from = SetStateOf(copy.srcSet);
  const DescriptorSetState* const to = SetStateOf(copy.dstSet);
  if (to == nullptr || to->slot.record == nullptr || from == nullptr) return;
  DescriptorWalk read(*from->layout, copy.srcBinding, copy.srcArrayElement);
  DescriptorWalk write(*to->layout, copy.dstBinding, copy.dstArrayElement);
  for (uint32_t i = 0; i < copy.descriptorCount && !read.AtEnd() && !write.AtEnd();
       ++i, read.Next(), write.Next()) {
    if (!write.kept()) continue;
    DescriptorRecord& target = to->slot.descriptors()[write.place()];
    if (from->slot.record == nullptr || !read.kept()) {
      target.handle.store(0, std::memory_order_relaxed);
      continue;
    }
    const DescriptorRecord& source = from->slot.descriptors()[read.place()];
    Store(target, source.handle.load(std::memory_order_relaxed), source.stamp,
          write.binding().number, source.kind, source.writable != 0);
  }
}

void BindSet(CommandBufferState& state, WorkPoint point, uint32_t number,
             DescriptorSetPlace place) {
  const size_t pipe = static_cast<size_t>(point);
  if (number < kRememberedSets) {
    DescriptorSetPlace& bound = state.sets[pipe][number];
    if (bound == place) return;
    bound = place;
  }
  const uint32_t of_pipe = point == WorkPoint::kCompute      ? kBindSlotOfCompute
                           : point == WorkPoint::kRayTracing ? kBindSlotOfRays
                                                             : 0;
  NoteBind(state, BindPoint::kDescriptorSet, number | of_pipe, place, /*is_address=*/true);
}

}  // namespace cairn
