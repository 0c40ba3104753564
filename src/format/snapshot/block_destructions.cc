// SPDX-License-Identifier: Apache-2.0
#include "format/snapshot/block_destructions.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "format/block/descriptor_sets.h"
#include "format/block/destructions.h"
#include "format/snapshot/object_kinds.h"

namespace cairn {
namespace {

// Returns the Object::kind of the object that a descriptor of this kind refers to; 0 for kinds that
// this version does not know.
uint32_t ObjectKindOf(DescriptorKind kind) {
  switch (kind) {
    case DescriptorKind::kBuffer: return kVulkanBufferKind;
    case DescriptorKind::kBufferView: return kVulkanBufferViewKind;
    case DescriptorKind::kImageView: return kVulkanImageViewKind;
    case DescriptorKind::kSampler: return kVulkanSamplerKind;
    case DescriptorKind::kAccelerationStructure: return kVulkanAccelerationStructureKind;
    case DescriptorKind::kNone: break;
  }
  return 0;
}

class DestructionReader {
 public:
  DestructionReader(const BlockReader& block, uint64_t until_ns, Snapshot* snapshot)
      : block_(block), until_ns_(until_ns), snapshot_(*snapshot) {}

  uint64_t Run(const std::vector<bool>& looked_at) {
    ReadRing();
    FindArgumentBuffers();
    // Faults first: there is room for so many sets.
    for (const bool faults : {true, false}) {
      for (uint32_t i = 0; i < snapshot_.recordings.size(); ++i) {
        if (looked_at[i] == faults) ReadBinds(i, faults);
      }
    }
    KeepOfBoundObjects();
    Write();
    return torn_;
  }

 private:
  // The end of an object that a descriptor refers to.
  struct End {
    uint32_t kind;
    uint64_t handle;
    uint64_t order;  // of its counter
    uint32_t record;
    auto Key() const { return std::tuple(kind, handle, order); }
  };

  void ReadRing() {
    const uint64_t ring = block_.destructions_offset();
    if (ring == 0) return;
    const uint64_t given = block_.Load64(offsetof(BlockHeader, destruction_serial));
    const uint32_t count = static_cast<uint32_t>(std::min<uint64_t>(given, kDestructionRing));
    records_.reserve(count);
    for (uint32_t i = 0; i < count; ++i) {
      const uint64_t offset = ring + uint64_t{i} * sizeof(DestructionRecord);
      DestructionRecord record;
      const uint64_t serial = block_.Load64(offset + offsetof(DestructionRecord, serial));
      block_.Copy(offset, &record);
      std::atomic_thread_fence(std::memory_order_acquire);
      if (serial == 0) continue;  // given to a thread that has not come to it
      if (serial == kDestructionBeingWritten || (serial - 1) % kDestructionRing != i ||
          block_.Load64(offset + offsetof(DestructionRecord, serial)) != serial) {
        ++torn_;
        continue;
      }
      if (until_ns_ != 0 && record.time_ns > until_ns_) continue;
      if (record.native_handle != 0) {
        ends_.push_back({record.kind, record.native_handle, record.order,
                         static_cast<uint32_t>(records_.size())});
      }
      Add(record, serial);
    }
    ReadCounters(ring);
    std::sort(ends_.begin(), ends_.end(),
              [](const End& a, const End& b) { return a.Key() < b.Key(); });
  }

  // After the ring: each destruction that was found there is counted.
  void ReadCounters(uint64_t ring) {
    for (uint32_t i = 0; i < kDestructionCounters; ++i) {
      counts_[i] =
          block_.Load64(OffsetOfDestructionCounter(ring, i) + offsetof(DestructionCounter, count));
    }
    for (End& end : ends_) {
      const uint64_t count = counts_[DestructionCounterOf(end.handle)];
      end.order = count - static_cast<uint32_t>(static_cast<uint32_t>(count) - end.order);
    }
  }

  void Add(const DestructionRecord& record, uint64_t serial) {
    Destruction& row = records_.emplace_back();
    row.serial = serial;
    row.device = record.context < snapshot_.devices.size() ? record.context : kNone;
    row.kind = record.kind;
    row.native_handle = record.native_handle;
    row.object = ObjectAt(record.object, record.object_serial);
    row.cause_kind = record.cause_kind;
    row.cause_handle = record.cause_handle;
    row.cause_object = ObjectAt(record.cause_object, record.cause_object_serial);
    row.owner_kind = record.owner_kind;
    row.owner_handle = record.owner_handle;
    row.owner_object = ObjectAt(record.owner_object, record.owner_object_serial);
    row.thread_id = record.thread_id;
    row.time_ns = record.time_ns;
    row.frame = record.frame;
    row.submission_serial = record.submission_serial;
    std::memcpy(thread_names_.emplace_back().bytes, record.thread_name, kDestroyingThreadNameBytes);
  }

  // The entry, unless it serves another object by now.
  uint32_t ObjectAt(uint32_t place, uint64_t serial) const {
    if (place == 0 || place > snapshot_.objects.size()) return kNone;
    const Object& object = snapshot_.objects[place - 1];
    return object.state != ObjectState::kFree && object.serial == serial ? place - 1 : kNone;
  }

  // The buffers of Vulkan that indirect commands read their arguments from.
  void FindArgumentBuffers() {
    for (const Event& event : snapshot_.events) {
      if (event.kind != EventKind::kBind ||
          event.type != static_cast<uint16_t>(BindPoint::kIndirectArguments)) {
        continue;
      }
      const Bind& bind = snapshot_.binds[event.detail];
      if (bind.is_address || bind.value >= snapshot_.objects.size()) continue;
      const Object& object = snapshot_.objects[bind.value];
      if (object.state != ObjectState::kAlive || object.kind != kVulkanBufferKind) continue;
      argument_buffers_.insert(object.native_handle);
    }
  }

  // `faults`: also look for what was destroyed.
  void ReadBinds(uint32_t index, bool faults) {
    const Recording& recording = snapshot_.recordings[index];
    for (uint32_t i = 0; i < recording.event_count; ++i) {
      const Event& event = snapshot_.events[recording.first_event + i];
      if (event.kind != EventKind::kBind ||
          event.type != static_cast<uint16_t>(BindPoint::kDescriptorSet)) {
        continue;
      }
      uint64_t& value = snapshot_.binds[event.detail].value;
      if (value == 0) continue;
      value = faults || !argument_buffers_.empty() ? SetAt(value, recording.device, faults) : 0;
    }
  }

  // 1 + the index of the set; 0 where nothing of it is worth keeping.
  uint64_t SetAt(DescriptorSetPlace place, uint32_t device, bool faults) {
    const auto [known, is_new] = sets_[faults ? 1 : 0].try_emplace(place, 0);
    if (!is_new) return known->second;
    DescriptorSet set;
    set.device = device;
    set.first_descriptor = static_cast<uint32_t>(snapshot_.descriptors.size());
    set.in_buffers = place == kDescriptorBuffers;
    set.pushed = place == kPushedDescriptors;
    const bool is_set = !set.in_buffers && !set.pushed;
    if (!is_set && !faults) return 0;
    if (is_set && !ReadSet(place, faults, &set)) {
      snapshot_.descriptors.resize(set.first_descriptor);
      return 0;
    }
    if (is_set && set.descriptor_count == 0 && set.unseen_count == 0) return 0;
    if (snapshot_.descriptor_sets.size() == kMaxDescriptorSets) return 0;
    snapshot_.descriptor_sets.push_back(set);
    known->second = snapshot_.descriptor_sets.size();
    return known->second;
  }

  bool ReadSet(DescriptorSetPlace place, bool faults, DescriptorSet* set) {
    const uint64_t offset = OffsetOfDescriptorSet(place);
    if (offset < block_.pages_offset() || !block_.Contains(offset, sizeof(DescriptorSetRecord))) {
      return false;
    }
    const uint32_t generation = block_.Load32(offset + offsetof(DescriptorSetRecord, generation));
    DescriptorSetRecord record;
    block_.Copy(offset, &record);
    const uint64_t first = offset + sizeof(record);
    if (generation != GenerationOfDescriptorSet(place) || generation == 0 ||
        record.descriptor_count > kMaxSetDescriptors ||
        !block_.Contains(first, record.descriptor_count * sizeof(DescriptorRecord))) {
      return false;
    }
    set->native_handle = record.native_handle;
    set->unseen_count = faults ? record.unseen_count : 0;
    uint32_t binding = kNone;
    uint32_t element = 0;
    for (uint32_t i = 0; i < record.descriptor_count; ++i) {
      DescriptorRecord descriptor;
      block_.Copy(first + i * sizeof(DescriptorRecord), &descriptor);
      element = descriptor.binding == binding ? element + 1 : 0;
      binding = descriptor.binding;
      const uint64_t handle = descriptor.handle.load(std::memory_order_relaxed);
      if (handle == 0) continue;
      const uint32_t kind = ObjectKindOf(descriptor.kind);
      const uint32_t end = FirstEnd(kind, handle, descriptor.stamp);
      const bool writes_arguments =
          end == kNone && descriptor.writable != 0 && argument_buffers_.contains(handle);
      if (!writes_arguments && (end == kNone || !faults)) continue;
      snapshot_.descriptors.push_back({binding, element, kind, handle, end});
    }
    set->descriptor_count =
        static_cast<uint32_t>(snapshot_.descriptors.size()) - set->first_descriptor;
    std::atomic_thread_fence(std::memory_order_acquire);
    return block_.Load32(offset + offsetof(DescriptorSetRecord, generation)) == generation;
  }

  // The first after the descriptor was written: what comes later has the handle of another object.
  uint32_t FirstEnd(uint32_t kind, uint64_t handle, uint32_t stamp) const {
    const uint64_t count = counts_[DestructionCounterOf(handle)];
    const uint64_t age = static_cast<uint32_t>(static_cast<uint32_t>(count) - stamp);
    // Written after the ring was looked at.
    if (age > count) return kNone;
    const End wanted = {kind, handle, count - age + 1, 0};
    const auto found =
        std::lower_bound(ends_.begin(), ends_.end(), wanted,
                         [](const End& a, const End& b) { return a.Key() < b.Key(); });
    if (found == ends_.end() || found->kind != kind || found->handle != handle) return kNone;
    return found->record;
  }

  // Objects that lists bind, or that have addresses, which a fault may name.
  void KeepOfBoundObjects() {
    kept_.assign(records_.size(), false);
    for (const Descriptor& descriptor : snapshot_.descriptors) {
      if (descriptor.destruction != kNone) kept_[descriptor.destruction] = true;
    }
    std::vector<bool> wanted(snapshot_.objects.size());
    for (const Bind& bind : snapshot_.binds) {
      if (!bind.is_address && bind.value < wanted.size()) wanted[bind.value] = true;
    }
    for (size_t i = 0; i < records_.size(); ++i) {
      const uint32_t object = records_[i].object;
      if (object == kNone) continue;
      if (wanted[object] || snapshot_.objects[object].gpu_address != 0) kept_[i] = true;
    }
  }

  void Write() {
    std::vector<uint32_t> order;
    for (uint32_t i = 0; i < records_.size(); ++i) {
      if (kept_[i]) order.push_back(i);
    }
    const auto key = [this](uint32_t i) {
      return std::tuple(records_[i].time_ns, records_[i].serial);
    };
    std::sort(order.begin(), order.end(),
              [&key](uint32_t a, uint32_t b) { return key(a) < key(b); });
    // Rows have rising numbers: the same ones, in the order of the times.
    std::vector<uint64_t> serials;
    for (const uint32_t i : order) serials.push_back(records_[i].serial);
    std::sort(serials.begin(), serials.end());
    std::vector<uint32_t> place(records_.size(), kNone);
    snapshot_.destructions.reserve(order.size());
    for (const uint32_t i : order) {
      place[i] = static_cast<uint32_t>(snapshot_.destructions.size());
      Destruction& row = snapshot_.destructions.emplace_back(records_[i]);
      row.serial = serials[snapshot_.destructions.size() - 1];
      const char* const name = thread_names_[i].bytes;
      row.thread_name =
          snapshot_.AddText(std::string_view(name, strnlen(name, kDestroyingThreadNameBytes)));
    }
    for (Descriptor& descriptor : snapshot_.descriptors) {
      if (descriptor.destruction != kNone) descriptor.destruction = place[descriptor.destruction];
    }
  }

  struct ThreadName {
    char bytes[kDestroyingThreadNameBytes];
  };

  const BlockReader& block_;
  const uint64_t until_ns_;
  Snapshot& snapshot_;
  uint64_t torn_ = 0;
  std::array<uint64_t, kDestructionCounters> counts_{};
  std::vector<Destruction> records_;  // without the names of threads
  std::vector<ThreadName> thread_names_;
  std::vector<End> ends_;
  std::vector<bool> kept_;
  std::unordered_set<uint64_t> argument_buffers_;  // native handles
  // Results of SetAt; [1] with faults.
  std::unordered_map<DescriptorSetPlace, uint64_t> sets_[2];
};

}  // namespace

uint64_t ReadDestructions(const BlockReader& block, const std::vector<bool>& looked_at,
                          uint64_t until_ns, Snapshot* snapshot) {
  return DestructionReader(block, until_ns, snapshot).Run(looked_at);
}

}  // namespace cairn
