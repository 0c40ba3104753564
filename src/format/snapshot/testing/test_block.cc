// SPDX-License-Identifier: Apache-2.0
#include "format/snapshot/testing/test_block.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <string>

namespace cairn {
TestBlock::TestBlock(uint64_t size_bytes)
    : size_bytes_(size_bytes), memory_(SparseMemory::Reserve(size_bytes)) {
  if (memory_.data() == nullptr) throw std::bad_alloc();
  BlockHeader& block = header();
  block.magic = kBlockMagic;
  block.version = kBlockVersion;
  block.header_bytes = sizeof(BlockHeader);
  block.block_bytes = size_bytes;
  block.process_id = 4711;
  block.start_realtime_ns = 1'700'000'000'000'000'000;
  block.start_monotonic_ns = 1'000;
  block.next_page = 1;
  block.contexts_offset = AllocatePages(kMaxContexts * sizeof(ContextRecord));
  block.queues_offset = AllocatePages(kMaxQueues * sizeof(QueueRecord));
  block.pipelines_offset = AllocatePages(kMaxPipelines * sizeof(PipelineRecord));
  block.submissions_offset = AllocatePages(kSubmissionRing * sizeof(SubmissionRecord));
  block.objects_offset = AllocatePages(kMaxObjects * sizeof(ObjectRecord));
  block.threads_offset = AllocatePages(kMaxThreads * sizeof(ThreadRecord));
  block.functions_offset = AllocatePages(sizeof(FunctionTable));
  block.arenas_offset = AllocatePages(kMaxArenas * sizeof(ArenaRecord));
  block.driver_reports_offset = AllocatePages(kMaxContexts * sizeof(DriverReport));
  block.syncs_offset = AllocatePages(kSyncRing * sizeof(SyncRecord));
  block.faults_offset = AllocatePages(kMaxContexts * sizeof(FaultRecord));
  block.checkpoints_offset = AllocatePages(kMaxContexts * sizeof(CheckpointTable));
  block.shaders_offset = AllocatePages(kMaxShaders * sizeof(ShaderRecord));
  block.destructions_offset = AllocatePages(kDestructionTableBytes);
  block.memory_offset = AllocatePages(kMaxContexts * sizeof(MemoryRecord));
  block.first_free_page = block.next_page.load();
  std::strcpy(block.program, "/games/demo");
  std::strcpy(block.library_version, "0.1.0");
}

uint64_t TestBlock::AllocatePages(uint64_t bytes) {
  const uint64_t pages = (bytes + kPageBytes - 1) / kPageBytes;
  return header().next_page.fetch_add(pages) * kPageBytes;
}

void TestBlock::NoteFault(uint32_t signal_number) {
  header().crash_signal = signal_number;
  // After all submissions so far.
  header().crash_ns = header().submission_serial.load() * 1'000'000 + 1;
  for (uint32_t i = 0; i < header().context_count.load(); ++i) {
    ContextRecord& record = context(i);
    const uint64_t word_bytes =
        (record.recording_capacity * sizeof(ProgressWords) + kPageBytes - 1) / kPageBytes *
        kPageBytes;
    const uint64_t raw_bytes = record.raw_marker_count * sizeof(uint64_t);
    if (record.crash_words_offset == 0) {
      record.crash_words_offset = AllocatePages(word_bytes + raw_bytes);
    }
    std::memcpy(At<char>(record.crash_words_offset), At<char>(record.progress_offset),
                record.recording_capacity * sizeof(ProgressWords));
    if (raw_bytes != 0) {
      std::memcpy(At<char>(record.crash_words_offset + word_bytes),
                  At<char>(record.raw_markers_offset), raw_bytes);
    }
    record.crash_words_ns = header().crash_ns.load();
  }
}

NameRef TestBlock::AddName(std::string_view name) {
  if (name.empty()) return 0;
  const uint64_t bytes = (4 + name.size() + 1 + 7) / 8 * 8;
  if (names_end_ - names_begin_ < bytes) {
    names_begin_ = AllocatePages(kPageBytes);
    names_end_ = names_begin_ + kPageBytes;
  }
  NameRecord* record = At<NameRecord>(names_begin_);
  record->length_bytes = static_cast<uint32_t>(name.size());
  std::memcpy(At<char>(names_begin_ + 4), name.data(), name.size());
  const NameRef ref = static_cast<NameRef>(names_begin_ / 8);
  names_begin_ += bytes;
  return ref;
}

uint32_t TestBlock::AddContext(uint32_t recording_capacity, uint32_t raw_marker_count) {
  const uint32_t index = header().context_count.load();
  ContextRecord& record = context(index);
  record.api = Api::kVulkan;
  record.mode = MarkerMode::kFull;
  record.method = WriteMethod::kVulkanBufferMarker;
  record.memory = WordMemory::kImported;
  record.recording_capacity = recording_capacity;
  record.raw_marker_count = raw_marker_count;
  record.recordings_offset = AllocatePages(recording_capacity * sizeof(RecordingSlot));
  record.progress_offset = AllocatePages(recording_capacity * sizeof(ProgressWords));
  if (raw_marker_count != 0) {
    record.raw_markers_offset = AllocatePages(raw_marker_count * uint64_t{8});
    std::memset(At<char>(record.raw_markers_offset), 0xCD, raw_marker_count * uint64_t{8});
  }
  record.device_name = AddName("Test device");
  record.driver_name = AddName("test driver 1.2");
  record.vendor_id = 0x10005;
  record.state = 1;
  header().context_count = index + 1;
  return index;
}

uint32_t TestBlock::AddQueue(uint32_t context_index, uint32_t type, std::string_view name) {
  const uint32_t index = header().queue_count.load();
  QueueRecord& record = queue(index);
  record.context = context_index;
  record.type = type;
  record.name = AddName(name);
  record.native_handle = 0x1000 + index;
  record.state = 1;
  header().queue_count = index + 1;
  return index;
}

uint32_t TestBlock::AddPipeline(uint32_t context_index, std::string_view name) {
  const uint32_t index = header().pipeline_count.load();
  PipelineRecord& record = pipeline(index);
  record.context = context_index;
  record.name = AddName(name);
  record.state = 1;
  header().pipeline_count = index + 1;
  return index + 1;
}

void TestBlock::SetShader(uint32_t pipeline_ref, ShaderStage stage, std::string_view name) {
  pipeline(pipeline_ref - 1).shader_names[stage] = AddName(name);
}

void TestBlock::AddSource(uint32_t context_index, std::string_view name, SourceState state,
                          std::string_view reason) {
  ContextRecord& record = context(context_index);
  const uint32_t index = record.source_count.load();
  record.sources[index] = SourceRecord{AddName(name), state, AddName(reason)};
  record.source_count = index + 1;
}

TestBlock::List TestBlock::AddList(uint32_t context_index, uint32_t queue_index, uint64_t frame,
                                   std::string_view name, uint32_t flags) {
  List list{context_index, 0};
  while (slot(list).recording_id != 0) ++list.slot;
  RecordingSlot& recording = slot(list);
  recording.generation = 1;
  recording.queue = queue_index;
  recording.flags = flags;
  recording.name = AddName(name);
  recording.recording_id = header().next_recording_id.fetch_add(1) + 1;
  recording.frame = frame;
  recording.native_handle = 0x2000 + list.slot;
  recording.state = static_cast<uint32_t>(RecordingState::kOpen);
  return list;
}

uint32_t TestBlock::AddEvent(List list, const EventRecord& event) {
  RecordingSlot& recording = slot(list);
  const uint32_t count = recording.event_count.load();
  const uint32_t list_number = list.slot * kMaxContexts + list.context;
  if (count == 0) {
    recording.first_event_page = static_cast<uint32_t>(AllocatePages(kPageBytes) / kPageBytes);
  }
  if (count == 0 || list_number != last_list_) {
    last_list_ = list_number;
    last_chunk_page_ = recording.first_event_page;
    while (chunk(last_chunk_page_).next_page != 0) {
      last_chunk_page_ = chunk(last_chunk_page_).next_page;
    }
  }
  if (count != 0 && count % kEventsPerChunk == 0) {
    const uint32_t page = static_cast<uint32_t>(AllocatePages(kPageBytes) / kPageBytes);
    chunk(last_chunk_page_).next_page = page;
    last_chunk_page_ = page;
  }
  chunk(last_chunk_page_).events[EventPosition(list.slot, count)] = event;
  recording.event_count = count + 1;
  return count + 1;
}

uint32_t TestBlock::Begin(List list, uint16_t type, std::string_view name, uint32_t pipeline_ref,
                          uint8_t flags) {
  EventRecord event{EventKind::kBegin, flags, type, AddName(name), pipeline_ref, 0};
  return AddEvent(list, event);
}

uint32_t TestBlock::End(List list, uint32_t begin, uint8_t flags) {
  return AddEvent(list, EventRecord{EventKind::kEnd, flags, 0, 0, 0, begin});
}

uint32_t TestBlock::Annotate(List list, uint16_t type, uint64_t event_id, std::string_view payload,
                             uint32_t metadata) {
  const AnnotationHeader header{event_id, metadata, static_cast<uint32_t>(payload.size())};
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof(header));
  bytes += payload;
  EventRecord event{
      EventKind::kBegin, kEventWritesTop | kEventNameIsAnnotation, type, AddName(bytes), 0, 0};
  return AddEvent(list, event);
}

void TestBlock::BindObject(List list, BindPoint point, uint32_t slot_number, uint32_t object_ref) {
  AddEvent(list, EventRecord{EventKind::kBind, 0, static_cast<uint16_t>(point), slot_number,
                             object_ref, 0});
}

void TestBlock::BindAddress(List list, BindPoint point, uint32_t slot_number, uint64_t address) {
  AddEvent(list, EventRecord{EventKind::kBind, kEventBindsAddress, static_cast<uint16_t>(point),
                             slot_number, static_cast<uint32_t>(address),
                             static_cast<uint32_t>(address >> 32)});
}

void TestBlock::ExecuteSecondary(List list, List secondary) {
  ExecuteSecondary(list, slot(secondary).recording_id);
}

void TestBlock::ExecuteSecondary(List list, uint64_t recording_id) {
  AddEvent(list, EventRecord{EventKind::kBind, 0, static_cast<uint16_t>(BindPoint::kSecondary), 0,
                             static_cast<uint32_t>(recording_id),
                             static_cast<uint32_t>(recording_id >> 32)});
}

uint64_t TestBlock::AddSync(SyncKind kind, uint32_t queue_index, uint64_t submission_number,
                            uint64_t native_handle, uint64_t value, uint32_t flags) {
  const uint64_t serial = header().sync_serial.fetch_add(1) + 1;
  SyncRecord& record = sync(serial);
  record.kind = kind;
  record.queue = queue_index;
  record.submission_number = submission_number;
  record.native_handle = native_handle;
  record.value = value;
  record.time_ns = 1'000'000 * serial;
  record.context = queue_index == kNoQueue ? 0 : queue(queue_index).context;
  record.flags = flags;
  record.serial = serial;
  return serial;
}

FaultRecord& TestBlock::AddFault(uint32_t context_index, std::string_view source,
                                 std::string_view description) {
  FaultRecord& record = fault(context_index);
  record.time_ns = 50'000'000;
  source.copy(record.source, sizeof(record.source) - 1);
  description.copy(record.description, sizeof(record.description) - 1);
  record.state = 1;
  return record;
}

void TestBlock::AddFaultAddress(uint32_t context_index, FaultAddressType type, uint64_t address,
                                uint64_t precision) {
  FaultRecord& record = fault(context_index);
  record.addresses[record.address_count++] = FaultAddress{type, 0, address, precision};
}

void TestBlock::AddVendorInfo(uint32_t context_index, std::string_view description, uint64_t code,
                              uint64_t data) {
  FaultRecord& record = fault(context_index);
  FaultVendorInfo& info = record.vendor_infos[record.vendor_info_count++];
  description.copy(info.description, sizeof(info.description) - 1);
  info.code = code;
  info.data = data;
}

uint64_t TestBlock::AddBytes(std::string_view bytes) {
  if (bytes.empty()) return 0;
  const uint64_t offset = AllocatePages(bytes.size());
  std::memcpy(At<char>(offset), bytes.data(), bytes.size());
  return offset;
}

void TestBlock::SetVendorBinary(uint32_t context_index, std::string_view bytes) {
  fault(context_index).vendor_binary_offset = AddBytes(bytes);
  fault(context_index).vendor_binary_bytes = bytes.size();
}

void TestBlock::AddCheckpoint(uint32_t queue_index, PipeStage stage, List list, uint32_t sequence) {
  CheckpointTable& table = checkpoints(list.context);
  const uint32_t index = table.count;
  table.records[index] = CheckpointRecord{queue_index, stage, list.slot,
                                          ProgressValue(slot(list).generation, sequence)};
  table.count = index + 1;
}

void TestBlock::AddShader(ShaderCode code, uint64_t hash, std::string_view bytes) {
  const uint32_t index = header().shader_count.load();
  ShaderRecord& record = shader(index);
  record.code = code;
  record.hash = hash;
  record.size_bytes = bytes.empty() ? 100 : bytes.size();
  record.offset = AddBytes(bytes);
  record.state = 1;
  header().shader_count = index + 1;
}

uint32_t TestBlock::AddObject(uint32_t context_index, uint32_t kind, std::string_view name,
                              uint64_t created_ns, uint64_t destroyed_ns) {
  const uint32_t index = header().object_count.load();
  ObjectRecord& record = object(index);
  record.kind = kind;
  record.context = context_index;
  const size_t length = std::min<size_t>(name.size(), kObjectNameBytes);
  std::memcpy(record.name, name.data(), length);
  record.name_length = static_cast<uint32_t>(length) | (length < name.size() ? kObjectNameCut : 0);
  record.native_handle = 0x5000 + index;
  record.serial = header().object_serial.fetch_add(1) + 1;
  record.created_ns = created_ns;
  record.destroyed_ns = destroyed_ns;
  record.state =
      static_cast<uint32_t>(destroyed_ns == 0 ? ObjectState::kAlive : ObjectState::kDestroyed);
  header().object_count = index + 1;
  return index + 1;
}

uint64_t TestBlock::AddDestruction(uint32_t context_index, uint32_t kind, uint64_t native_handle,
                                   uint32_t object_ref, std::string_view thread_name) {
  const uint64_t serial = header().destruction_serial.fetch_add(1) + 1;
  DestructionRecord& record = destruction(serial);
  record.kind = kind;
  record.context = context_index;
  record.native_handle = native_handle;
  record.time_ns = 1'000'000 * serial;
  record.frame = static_cast<uint32_t>(context(context_index).frame.load());
  record.order = static_cast<uint32_t>(
      native_handle == 0 ? 0 : destruction_count(native_handle).fetch_add(1) + 1);
  record.submission_serial = header().submission_serial.load();
  record.object = object_ref;
  record.object_serial = object_ref == 0 ? 0 : object(object_ref - 1).serial;
  record.thread_id = 23;
  std::memset(record.thread_name, 0, sizeof(record.thread_name));
  thread_name.copy(record.thread_name, sizeof(record.thread_name));
  record.serial = serial;
  return serial;
}

DescriptorSetPlace TestBlock::AddDescriptorSet(uint32_t context_index, uint64_t native_handle,
                                               std::span<const TestDescriptor> descriptors,
                                               uint32_t unseen_count) {
  const uint64_t offset = AllocatePages(kPageBytes);
  auto* const record = At<DescriptorSetRecord>(offset);
  record->descriptor_count = static_cast<uint32_t>(descriptors.size());
  record->native_handle = native_handle;
  record->context = context_index;
  record->unseen_count = unseen_count;
  auto* to = reinterpret_cast<DescriptorRecord*>(record + 1);
  for (const TestDescriptor& from : descriptors) {
    to->stamp = from.stamp;
    to->binding = from.binding;
    to->kind = from.kind;
    to->writable = from.writable ? 1 : 0;
    to->handle = from.handle;
    ++to;
  }
  record->generation = 7;
  return MakeDescriptorSetPlace(offset, 7);
}

uint32_t TestBlock::AddThread(uint32_t thread_id, std::string_view name) {
  const uint32_t index = header().thread_count.load();
  ThreadRecord& record = thread(index);
  record.thread_id = thread_id;
  std::memcpy(record.name, name.data(), std::min(name.size(), sizeof(record.name) - 1));
  record.state = 1;
  header().thread_count = index + 1;
  return index;
}

void TestBlock::Call(uint32_t thread_index, std::string_view function, uint64_t object_handle,
                     bool returned) {
  FunctionTable& table = functions();
  const uint32_t function_index = table.count.load();
  table.names[function_index] = AddName(function);
  table.count = function_index + 1;
  uint64_t number = 1;
  for (const CallRecord& call : thread(thread_index).calls) {
    number = std::max(number, call.number.load() + 1);
  }
  CallRecord& call = thread(thread_index).calls[number % kCallsPerThread];
  call.object = object_handle;
  call.function = function_index;
  call.returned = returned ? 1 : 0;
  call.number = number;
}

uint64_t TestBlock::KeepMarker(uint32_t arena_index, MarkerKind kind, std::string_view payload,
                               bool of_queue, uint64_t native_handle, uint32_t submission) {
  ArenaRecord& record = arena(arena_index);
  if (record.state == 0) {
    const uint32_t page = static_cast<uint32_t>(AllocatePages(2 * kPageBytes) / kPageBytes);
    record.generation = 1;
    record.first_directory_page = page;
    record.is_queue = of_queue ? 1 : 0;
    record.native_handle = native_handle;
    record.state = 1;
    header().arena_count = std::max(header().arena_count.load(), arena_index + 1);
  }
  const uint32_t directory_page = record.first_directory_page;
  MarkerDirectoryPage& directory = *At<MarkerDirectoryPage>(uint64_t{directory_page} * kPageBytes);
  MarkerDataPage& data = *At<MarkerDataPage>(uint64_t{directory_page + 1} * kPageBytes);
  uint32_t used = 0;  // The offset behind the marker written last.
  const uint32_t index = record.end_index;
  for (uint32_t i = 0; i < index; ++i) {
    MarkerRecord before;
    std::memcpy(&before, data.bytes + used, sizeof(before));
    used +=
        (sizeof(before) + before.kept + kMarkerAlignment - 1) / kMarkerAlignment * kMarkerAlignment;
  }
  const uint32_t size = static_cast<uint32_t>(payload.size());
  const MarkerRecord marker{1, size, size, submission};
  std::memcpy(data.bytes + used, &marker, sizeof(marker));
  std::memcpy(data.bytes + used + sizeof(marker), payload.data(), size);
  directory.places[index] = MakeMarkerPlace(directory_page + 1, kind, used);
  record.end_index = index + 1;
  return MakeEventId(arena_index, record.generation, index);
}

void TestBlock::SetProgress(List list, uint32_t reached, uint32_t passed) {
  const uint32_t generation = slot(list).generation;
  words(list).reached = reached == 0 ? 0 : ProgressValue(generation, reached);
  words(list).passed = passed == 0 ? 0 : ProgressValue(generation, passed);
}

uint64_t TestBlock::Submit(uint32_t queue_index, List list) {
  RecordingSlot& recording = slot(list);
  const uint64_t number = queue(queue_index).submission_count.fetch_add(1) + 1;
  const uint64_t serial = header().submission_serial.fetch_add(1) + 1;
  SubmissionRecord& record = submission(serial);
  record.queue = queue_index;
  record.run = recording.submit_count.fetch_add(1) + 1;
  record.context = list.context;
  record.slot = list.slot;
  record.recording_id = recording.recording_id;
  record.submission_number = number;
  record.time_ns = 1'000'000 * serial;
  record.serial = serial;
  return number;
}

UserDataRecord& TestBlock::AddUserData(uint32_t index, std::string_view key,
                                       std::string_view bytes) {
  uint64_t& table = *At<uint64_t>(kUserDataTableOffset);
  if (table == 0) table = AllocatePages(sizeof(UserDataTable));
  UserDataRecord& record = At<UserDataTable>(table)->records[index];
  record.key_length = static_cast<uint32_t>(key.size());
  key.copy(record.key, key.size());
  if (!bytes.empty()) record.bytes[1] = {AllocatePages(bytes.size()), bytes.size()};
  std::memcpy(At<char>(record.bytes[1].offset), bytes.data(), bytes.size());
  record.state = 2 * (index + 1) + 1;
  return record;
}

}  // namespace cairn
