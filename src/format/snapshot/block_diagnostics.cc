// SPDX-License-Identifier: Apache-2.0
#include "format/snapshot/block_diagnostics.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <iterator>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "format/snapshot/object_kinds.h"
#include "format/snapshot/shader_traits.h"

namespace cairn {
namespace {

// Objects that a sync may speak of, to be found by their handle at a time: handles are used again.
class SyncObjects {
 public:
  explicit SyncObjects(const Snapshot& snapshot) {
    for (uint32_t i = 0; i < snapshot.objects.size(); ++i) {
      const Object& object = snapshot.objects[i];
      if (object.state == ObjectState::kFree || object.native_handle == 0) continue;
      if (IsSemaphoreKind(object.kind)) indices_.push_back({KeyOf(object, false), i});
      if (IsFenceKind(object.kind)) indices_.push_back({KeyOf(object, true), i});
    }
    std::sort(indices_.begin(), indices_.end());
  }

  // The one created last of those that there were at that time.
  uint32_t Find(const Sync& sync) const {
    const bool fence = (sync.flags & kSyncFence) != 0;
    const Key wanted = {sync.native_handle, sync.device, fence, sync.time_ns, UINT64_MAX};
    const auto behind =
        std::upper_bound(indices_.begin(), indices_.end(), wanted,
                         [](const Key& key, const auto& entry) { return key < entry.first; });
    if (behind == indices_.begin()) return kNone;
    const auto& [key, index] = *std::prev(behind);
    const bool is_it = std::get<0>(key) == sync.native_handle && std::get<1>(key) == sync.device &&
                       std::get<2>(key) == fence;
    return is_it ? index : kNone;
  }

 private:
  // Handle, device, whether it is a fence, when it was created, serial.
  using Key = std::tuple<uint64_t, uint32_t, bool, uint64_t, uint64_t>;
  static Key KeyOf(const Object& object, bool fence) {
    return {object.native_handle, object.device, fence, object.created_ns, object.serial};
  }

  std::vector<std::pair<Key, uint32_t>> indices_;
};

// Copies bytes whose range has been checked; the block is read eight at a time.
void AppendBytes(const BlockReader& block, uint64_t offset, uint64_t size,
                 std::vector<std::byte>* out) {
  const size_t first = out->size();
  out->resize(first + size);
  const uint64_t whole = size / 8 * 8;
  block.Copy(offset, out->data() + first, whole);
  if (whole == size) return;
  uint64_t last = 0;
  block.Copy(offset + whole, &last);
  std::memcpy(out->data() + first + whole, &last, size - whole);
}

bool IsReadable(const BlockReader& block, uint64_t offset, uint64_t size) {
  // The rest of the last eight is read with it.
  return offset % 8 == 0 && offset >= block.pages_offset() && size <= block.size_bytes() &&
         block.Contains(offset, (size + 7) / 8 * 8);
}

template <size_t kBytes>
TextRef AddZeroTerminated(const char (&text)[kBytes], Snapshot* snapshot) {
  return snapshot->AddText(std::string_view(text, strnlen(text, kBytes)));
}

void AddFault(const FaultRecord& record, uint32_t device, Snapshot* snapshot) {
  Fault fault;
  fault.device = device;
  fault.result = record.result;
  fault.time_ns = record.time_ns;
  fault.source = AddZeroTerminated(record.source, snapshot);
  fault.description = AddZeroTerminated(record.description, snapshot);
  fault.first_address = static_cast<uint32_t>(snapshot->fault_addresses.size());
  fault.first_vendor_info = static_cast<uint32_t>(snapshot->vendor_infos.size());
  if (record.result >= 0) {
    fault.address_count = std::min(record.address_count, kMaxFaultAddresses);
    fault.vendor_info_count = std::min(record.vendor_info_count, kMaxFaultVendorInfos);
    fault.vendor_binary_bytes = record.vendor_binary_offset == 0 ? 0 : record.vendor_binary_bytes;
  }
  for (uint32_t i = 0; i < fault.address_count; ++i) {
    FaultAddress address = record.addresses[i];
    address.reserved = 0;
    snapshot->fault_addresses.push_back(address);
  }
  for (uint32_t i = 0; i < fault.vendor_info_count; ++i) {
    const FaultVendorInfo& info = record.vendor_infos[i];
    snapshot->vendor_infos.push_back(
        {AddZeroTerminated(info.description, snapshot), info.code, info.data});
  }
  snapshot->faults.push_back(fault);
}

// Finds shaders in the block and decides the order in which their code is kept.
class ShaderCollector {
 public:
  ShaderCollector(const BlockReader& block, Snapshot* snapshot)
      : block_(block), snapshot_(*snapshot) {}

  // Returns how many contradict themselves.
  uint64_t ReadTable() {
    const uint32_t count = block_.ShaderCount();
    uint64_t bad = 0;
    snapshot_.shaders.reserve(count);
    for (uint32_t i = 0; i < count; ++i) {
      const uint64_t offset = block_.shaders_offset() + uint64_t{i} * sizeof(ShaderRecord);
      if (block_.Load32(offset + offsetof(ShaderRecord, state)) != kEntryPublished) continue;
      ShaderRecord record;
      block_.Copy(offset, &record);
      const bool readable =
          record.offset == 0 || IsReadable(block_, record.offset, record.size_bytes);
      if (record.hash == 0 || !readable ||
          !by_hash_.try_emplace(record.hash, static_cast<uint32_t>(snapshot_.shaders.size()))
               .second) {
        ++bad;
        continue;
      }
      snapshot_.shaders.push_back({record.hash, record.code, record.size_bytes, 0, BlobRef{}});
      offsets_.push_back(record.offset);
    }
    return bad;
  }

  void ReadTraitsOf(const Pipeline& pipeline) {
    for (const uint64_t hash : pipeline.shader_hashes) {
      const auto found = by_hash_.find(hash);
      if (found == by_hash_.end()) continue;
      Shader& shader = snapshot_.shaders[found->second];
      const uint64_t offset = offsets_[found->second];
      if (shader.traits != 0 || shader.code == ShaderCode::kUnknown || offset == 0 ||
          offset % sizeof(uint32_t) != 0 || shader.size_bytes > kMaxShaderCodeBytes) {
        continue;
      }
      words_.resize(shader.size_bytes / sizeof(uint32_t));
      for (size_t i = 0; i < words_.size(); ++i) {
        words_[i] = block_.Load32(offset + i * sizeof(uint32_t));
      }
      shader.traits =
          shader.code == ShaderCode::kSpirV ? TraitsOfSpirv(words_) : TraitsOfDxbc(words_);
    }
  }

  void KeepCodeOf(const Pipeline& pipeline) {
    for (const uint64_t hash : pipeline.shader_hashes) {
      const auto found = by_hash_.find(hash);
      if (found != by_hash_.end()) Choose(found->second);
    }
  }
  void KeepTheRest() {
    for (uint32_t i = static_cast<uint32_t>(offsets_.size()); i-- > 0;) Choose(i);
  }

  // The memory is allocated once.
  void Copy() {
    snapshot_.blobs.reserve(snapshot_.blobs.size() + chosen_bytes_);
    for (const uint32_t index : chosen_) {
      Shader& shader = snapshot_.shaders[index];
      shader.bytes = {snapshot_.blobs.size(), shader.size_bytes};
      AppendBytes(block_, offsets_[index], shader.size_bytes, &snapshot_.blobs);
    }
  }

 private:
  void Choose(uint32_t index) {
    const uint64_t size = snapshot_.shaders[index].size_bytes;
    if (offsets_[index] == 0 || size == 0 || size > kMaxShaderCodeBytes - chosen_bytes_) return;
    is_chosen_.resize(offsets_.size());
    if (is_chosen_[index]) return;
    is_chosen_[index] = true;
    chosen_.push_back(index);
    chosen_bytes_ += size;
  }

  const BlockReader& block_;
  Snapshot& snapshot_;
  std::unordered_map<uint64_t, uint32_t> by_hash_;  // into Snapshot::shaders
  std::vector<uint64_t> offsets_;                   // of each shader in the block; 0: not kept
  std::vector<uint32_t> words_;                     // of the shader that was read last
  std::vector<bool> is_chosen_;
  std::vector<uint32_t> chosen_;
  uint64_t chosen_bytes_ = 0;
};

}  // namespace

uint64_t ReadSyncs(const BlockReader& block, Snapshot* snapshot) {
  if (block.syncs_offset() == 0) return 0;
  const uint64_t made = block.Load64(offsetof(BlockHeader, sync_serial));
  const uint32_t count = static_cast<uint32_t>(std::min<uint64_t>(made, kSyncRing));
  snapshot->syncs.reserve(count);
  uint64_t left_out = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t offset = block.syncs_offset() + i * sizeof(SyncRecord);
    const uint64_t serial = block.Load64(offset + offsetof(SyncRecord, serial));
    SyncRecord record;
    block.Copy(offset, &record);
    std::atomic_thread_fence(std::memory_order_acquire);
    const bool has_queue = record.queue != kNoQueue;
    if (serial == 0 || (serial - 1) % kSyncRing != i ||
        block.Load64(offset + offsetof(SyncRecord, serial)) != serial ||
        (record.kind != SyncKind::kWait && record.kind != SyncKind::kSignal) ||
        (has_queue && record.queue >= snapshot->queues.size())) {
      ++left_out;
      continue;
    }
    Sync sync;
    sync.serial = serial;
    sync.kind = record.kind;
    sync.flags = record.flags;
    sync.device = record.context < snapshot->devices.size() ? record.context : kNone;
    sync.queue = has_queue ? record.queue : kNone;
    sync.submission_number = record.submission_number;
    sync.native_handle = record.native_handle;
    sync.value = record.value;
    sync.time_ns = record.time_ns;
    snapshot->syncs.push_back(sync);
  }
  std::sort(snapshot->syncs.begin(), snapshot->syncs.end(),
            [](const Sync& a, const Sync& b) { return a.serial < b.serial; });
  if (snapshot->syncs.empty()) return left_out;
  const SyncObjects objects(*snapshot);
  for (Sync& sync : snapshot->syncs) sync.object = objects.Find(sync);
  return left_out;
}

uint64_t ReadFaults(const BlockReader& block, bool keep_bytes, Snapshot* snapshot) {
  if (block.faults_offset() == 0) return 0;
  uint64_t left_out = 0;
  for (uint32_t device = 0; device < snapshot->devices.size(); ++device) {
    const uint64_t offset = block.faults_offset() + device * sizeof(FaultRecord);
    if (block.Load32(offset + offsetof(FaultRecord, state)) != kEntryPublished) continue;
    FaultRecord record;
    block.Copy(offset, &record);
    AddFault(record, device, snapshot);
    Fault& fault = snapshot->faults.back();
    const uint64_t size = fault.vendor_binary_bytes;
    if (size == 0 || !keep_bytes) continue;
    if (!IsReadable(block, record.vendor_binary_offset, size) ||
        size > kMaxVendorBinaryBytes - std::min(kMaxVendorBinaryBytes, snapshot->blobs.size())) {
      ++left_out;
      continue;
    }
    fault.vendor_binary = {snapshot->blobs.size(), size};
    AppendBytes(block, record.vendor_binary_offset, size, &snapshot->blobs);
  }
  return left_out;
}

void ReadDeviceMemory(const BlockReader& block, Snapshot* snapshot) {
  if (block.memory_offset() == 0) return;
  for (uint32_t device = 0; device < snapshot->devices.size(); ++device) {
    const uint64_t offset = block.memory_offset() + device * sizeof(MemoryRecord);
    if (block.Load32(offset + offsetof(MemoryRecord, state)) != kEntryPublished) continue;
    MemoryRecord record;
    block.Copy(offset, &record);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (block.Load32(offset + offsetof(MemoryRecord, state)) != kEntryPublished) continue;
    DeviceMemory memory;
    memory.device = device;
    memory.result = record.result;
    memory.function = AddZeroTerminated(record.function, snapshot);
    memory.failed_ns = record.failed_ns;
    memory.failed_count = record.failed_count;
    memory.wanted_bytes = record.wanted_bytes;
    memory.asked_ns = record.asked_ns;
    memory.first_heap = static_cast<uint32_t>(snapshot->memory_heaps.size());
    memory.heap_count = std::min(record.heap_count, kMaxMemoryHeaps);
    for (uint32_t i = 0; i < memory.heap_count; ++i) {
      const MemoryHeapRecord& heap = record.heaps[i];
      snapshot->memory_heaps.push_back({(heap.flags & kHeapDeviceLocal) != 0,
                                        (heap.flags & kHeapTellsUse) != 0, heap.size_bytes,
                                        heap.used_bytes, heap.budget_bytes});
    }
    snapshot->memory.push_back(memory);
  }
}

uint64_t ReadCheckpoints(const BlockReader& block, const EventPlaces& places, Snapshot* snapshot) {
  if (block.checkpoints_offset() == 0) return 0;
  uint64_t left_out = 0;
  for (uint32_t device = 0; device < snapshot->devices.size(); ++device) {
    const uint64_t table = block.checkpoints_offset() + device * sizeof(CheckpointTable);
    const uint32_t count =
        std::min(block.Load32(table + offsetof(CheckpointTable, count)), kMaxCheckpoints);
    for (uint32_t i = 0; i < count; ++i) {
      CheckpointRecord record;
      block.Copy(table + offsetof(CheckpointTable, records) + i * sizeof(CheckpointRecord),
                 &record);
      const EventPlace place = places.Find(device, record.slot, record.progress_value);
      if (!place.found || record.queue >= snapshot->queues.size()) {
        ++left_out;
        continue;
      }
      const bool known = record.stage == PipeStage::kTop || record.stage == PipeStage::kBottom;
      snapshot->checkpoints.push_back({device, record.queue,
                                       known ? record.stage : PipeStage::kOther, place.recording,
                                       place.sequence});
    }
  }
  return left_out;
}

uint64_t ReadShaders(const BlockReader& block, const std::vector<bool>& wanted, bool keep_bytes,
                     Snapshot* snapshot) {
  ShaderCollector collector(block, snapshot);
  const uint64_t bad = collector.ReadTable();
  for (size_t i = 0; i < snapshot->pipelines.size(); ++i) {
    if (wanted[i]) collector.ReadTraitsOf(snapshot->pipelines[i]);
  }
  if (!keep_bytes || snapshot->shaders.empty()) return bad;
  for (const bool first : {true, false}) {
    for (size_t i = snapshot->pipelines.size(); i-- > 0;) {
      if (wanted[i] == first) collector.KeepCodeOf(snapshot->pipelines[i]);
    }
  }
  collector.KeepTheRest();
  collector.Copy();
  return bad;
}

}  // namespace cairn
