// SPDX-License-Identifier: Apache-2.0
//
// Lays out a block by hand, word by word as block.h says, for tests and for seeds of fuzzers. Knows
// nothing of the real writer, so that a mistake in one of them shows.
#ifndef CAIRN_FORMAT_SNAPSHOT_TESTING_TEST_BLOCK_H_
#define CAIRN_FORMAT_SNAPSHOT_TESTING_TEST_BLOCK_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "format/block/block.h"
#include "format/block/descriptor_sets.h"
#include "format/block/destructions.h"
#include "format/block/marker_pages.h"
#include "format/block/user_data.h"
#include "os/memory.h"

namespace cairn {

// Room for the tables of fixed size, and 8 MiB of pages.
inline constexpr uint64_t kTestBlockBytes = uint64_t{40} << 20;

class TestBlock {
 public:
  // A recording as the builder hands it out.
  struct List {
    uint32_t context;
    uint32_t slot;
  };

  explicit TestBlock(uint64_t size_bytes = kTestBlockBytes);

  std::span<std::byte> bytes() { return std::span(memory_.data(), size_bytes_); }
  std::span<const std::byte> bytes() const { return std::span(memory_.data(), size_bytes_); }

  BlockHeader& header() { return *At<BlockHeader>(0); }
  ContextRecord& context(uint32_t index) {
    return At<ContextRecord>(header().contexts_offset)[index];
  }
  QueueRecord& queue(uint32_t index) { return At<QueueRecord>(header().queues_offset)[index]; }
  PipelineRecord& pipeline(uint32_t index) {
    return At<PipelineRecord>(header().pipelines_offset)[index];
  }
  SubmissionRecord& submission(uint64_t serial) {
    return At<SubmissionRecord>(header().submissions_offset)[(serial - 1) % kSubmissionRing];
  }
  RecordingSlot& slot(List list) {
    return At<RecordingSlot>(context(list.context).recordings_offset)[list.slot];
  }
  ProgressWords& words(List list) {
    return At<ProgressWords>(context(list.context).progress_offset)[list.slot];
  }
  uint64_t* raw_markers(uint32_t context_index) {
    return At<uint64_t>(context(context_index).raw_markers_offset);
  }
  ObjectRecord& object(uint32_t index) { return At<ObjectRecord>(header().objects_offset)[index]; }
  ThreadRecord& thread(uint32_t index) { return At<ThreadRecord>(header().threads_offset)[index]; }
  FunctionTable& functions() { return *At<FunctionTable>(header().functions_offset); }
  ArenaRecord& arena(uint32_t index) { return At<ArenaRecord>(header().arenas_offset)[index]; }
  DriverReport& driver_report(uint32_t context_index) {
    return At<DriverReport>(header().driver_reports_offset)[context_index];
  }
  SyncRecord& sync(uint64_t serial) {
    return At<SyncRecord>(header().syncs_offset)[(serial - 1) % kSyncRing];
  }
  FaultRecord& fault(uint32_t context_index) {
    return At<FaultRecord>(header().faults_offset)[context_index];
  }
  CheckpointTable& checkpoints(uint32_t context_index) {
    return At<CheckpointTable>(header().checkpoints_offset)[context_index];
  }
  ShaderRecord& shader(uint32_t index) { return At<ShaderRecord>(header().shaders_offset)[index]; }
  EventChunk& chunk(uint32_t page) { return *At<EventChunk>(uint64_t{page} * kPageBytes); }

  NameRef AddName(std::string_view name);
  // Vulkan, full mode, buffer markers, imported memory.
  uint32_t AddContext(uint32_t recording_capacity = 64, uint32_t raw_marker_count = 0);
  uint32_t AddQueue(uint32_t context, uint32_t type, std::string_view name);
  // Returns what events carry: index + 1.
  uint32_t AddPipeline(uint32_t context, std::string_view name);
  void SetShader(uint32_t pipeline, ShaderStage stage, std::string_view name);
  void AddSource(uint32_t context, std::string_view name, SourceState state,
                 std::string_view reason);

  List AddList(uint32_t context, uint32_t queue, uint64_t frame, std::string_view name,
               uint32_t flags = 0);
  // Both return the event's sequence number. An end also writes the bottom, unless told otherwise.
  uint32_t Begin(List list, uint16_t type, std::string_view name = {}, uint32_t pipeline = 0,
                 uint8_t flags = kEventWritesTop);
  uint32_t End(List list, uint32_t begin, uint8_t flags = kEventWritesBottom);
  // A begin and its end; returns the begin's sequence number.
  uint32_t Scope(List list, uint16_t type, std::string_view name = {}, uint32_t pipeline = 0) {
    const uint32_t begin = Begin(list, type, name, pipeline);
    End(list, begin);
    return begin;
  }
  // A begin whose name is what BeginEvent passed: an ANSI string unless told otherwise.
  uint32_t Annotate(List list, uint16_t type, uint64_t event_id, std::string_view payload,
                    uint32_t metadata = 1);
  // Both bind for the commands that follow. `object` is what AddObject returned; 0: nothing.
  void BindObject(List list, BindPoint point, uint32_t slot_number, uint32_t object);
  void BindAddress(List list, BindPoint point, uint32_t slot_number, uint64_t address);

  // Inside a work of type EXECUTE_COMMANDS: the recording of a secondary command buffer runs here.
  void ExecuteSecondary(List list, List secondary);
  void ExecuteSecondary(List list, uint64_t recording_id);

  // Returns the serial number. Times count from 1,000,000 ns like those of submissions.
  uint64_t AddSync(SyncKind kind, uint32_t queue, uint64_t submission_number,
                   uint64_t native_handle, uint64_t value, uint32_t flags = 0);
  // Publishes a fault with no addresses and vendor infos.
  FaultRecord& AddFault(uint32_t context_index, std::string_view source,
                        std::string_view description);
  void AddFaultAddress(uint32_t context_index, FaultAddressType type, uint64_t address,
                       uint64_t precision = 1);
  void AddVendorInfo(uint32_t context_index, std::string_view description, uint64_t code,
                     uint64_t data);
  void SetVendorBinary(uint32_t context_index, std::string_view bytes);
  void AddCheckpoint(uint32_t queue, PipeStage stage, List list, uint32_t sequence);
  // `bytes` empty: not kept.
  void AddShader(ShaderCode code, uint64_t hash, std::string_view bytes);
  void SetShaderHash(uint32_t pipeline_ref, ShaderStage stage, uint64_t hash) {
    pipeline(pipeline_ref - 1).shader_hashes[stage] = hash;
  }

  // Returns what binds carry: index + 1. Created and destroyed in ns of CLOCK_MONOTONIC; 0: alive.
  uint32_t AddObject(uint32_t context, uint32_t kind, std::string_view name, uint64_t created_ns,
                     uint64_t destroyed_ns = 0);
  // Returns the serial number. `object`: what AddObject returned, 0 for none. Times count from 1,000,000 ns.
  uint64_t AddDestruction(uint32_t context, uint32_t kind, uint64_t native_handle,
                          uint32_t object_ref, std::string_view thread_name);
  std::atomic<uint64_t>& destruction_count(uint64_t native_handle) {
    return At<DestructionCounter>(OffsetOfDestructionCounter(header().destructions_offset,
                                                             DestructionCounterOf(native_handle)))
        ->count;
  }
  DestructionRecord& destruction(uint64_t serial) {
    return At<DestructionRecord>(header().destructions_offset)[(serial - 1) % kDestructionRing];
  }
  struct TestDescriptor {
    uint16_t binding;
    DescriptorKind kind;
    uint64_t handle;
    uint32_t stamp;  // the count of the handle's counter when it was written
    bool writable = false;
  };
  // A page of its own. Returns what BindAddress takes for a set.
  DescriptorSetPlace AddDescriptorSet(uint32_t context, uint64_t native_handle,
                                      std::span<const TestDescriptor> descriptors,
                                      uint32_t unseen_count = 0);
  DescriptorSetRecord& descriptor_set(DescriptorSetPlace place) {
    return *At<DescriptorSetRecord>(OffsetOfDescriptorSet(place));
  }
  uint32_t AddThread(uint32_t thread_id, std::string_view name);
  // The next call of a thread; `object` is a native handle.
  void Call(uint32_t thread_index, std::string_view function, uint64_t object, bool returned);

  // Sets an entry that was not used before.
  UserDataRecord& AddUserData(uint32_t index, std::string_view key, std::string_view bytes);

  // Keeps a marker in an arena whose entry was not used before, or is of this function. Returns its
  // EventID. A page of data and one of the directory: short markers only.
  uint64_t KeepMarker(uint32_t arena_index, MarkerKind kind, std::string_view payload,
                      bool of_queue = false, uint64_t native_handle = 0, uint32_t submission = 0);

  void Close(List list) { slot(list).state.store(static_cast<uint32_t>(RecordingState::kClosed)); }
  // Stores words as the GPU would.
  void SetProgress(List list, uint32_t reached, uint32_t passed);
  // The library's handler sees a fault: words and raw markers are copied as they are now.
  void NoteFault(uint32_t signal_number);
  // Submits one list alone; returns the submission number.
  uint64_t Submit(uint32_t queue, List list);

 private:
  template <typename T>
  T* At(uint64_t offset) {
    return reinterpret_cast<T*>(memory_.data() + offset);
  }
  uint64_t AllocatePages(uint64_t bytes);
  uint64_t AddBytes(std::string_view bytes);
  uint32_t AddEvent(List list, const EventRecord& event);

  uint64_t size_bytes_;
  SparseMemory memory_;
  uint64_t names_begin_ = 0;
  uint64_t names_end_ = 0;
  uint32_t last_list_ = 0;        // slot * kMaxContexts + context of the list written last
  uint32_t last_chunk_page_ = 0;  // its last chunk
};

}  // namespace cairn

#endif  // CAIRN_FORMAT_SNAPSHOT_TESTING_TEST_BLOCK_H_
