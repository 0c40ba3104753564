// SPDX-License-Identifier: Apache-2.0
#include "app/breadcrumbs/d3d12_backend.h"

#include <fmt/format.h>

#include <atomic>
#include <cstring>
#include <mutex>
#include <utility>

#include "app/breadcrumbs/d3d12_buffers.h"
#include "app/breadcrumbs/d3d12_drain.h"
#include "app/breadcrumbs/d3d12_module.h"
#include "app/breadcrumbs/d3d12_run_tables.h"
#include "app/breadcrumbs/d3d12_selftest.h"
#include "app/breadcrumbs/d3d12_value_pool.h"
#include "app/breadcrumbs/driver_half.h"
#include "app/breadcrumbs/mirror_words.h"
#include "d3d12abi/aggregates.h"
#include "d3d12abi/buffer_desc.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {

constexpr uint32_t kMirrorPeriodUs = 500;

// Raw markers are written from a ring, because the end of their list is not reported. A value is
// overwritten after this many more, long after any sensible number of lists in flight.
constexpr uint32_t kRawValueCount = 65536;

// The state of a list while it is recorded.
struct ListState {
  ID3D12GraphicsCommandList* list = nullptr;  // the application's; alive while it is recorded
  // Only for WriteBufferImmediate. The same object, and no reference either: the recording may stay long
  // after the application released the list, whose end must not wait for it.
  ID3D12GraphicsCommandList2* list2 = nullptr;
  D3D12_COMMAND_LIST_TYPE type = D3D12_COMMAND_LIST_TYPE_DIRECT;
  // The Vulkan layer's way to write for this list: tried first unless it is kNone.
  WriteMethod driver_method = WriteMethod::kNone;
  DriverList driver_list;
  // Direct3D recorded writes of its own, which a top-of-pipe write of the layer's must wait for.
  bool wait_for_copies = false;
  bool drain_prepared = false;
  WriteMethod method = WriteMethod::kNone;
  D3D12ValueChunk* chunk = nullptr;  // being filled, the full ones behind it
  uint32_t used = 0;                 // values of `chunk`
  D3D12RunTable* run_table = nullptr;
};

QueueType QueueTypeOf(D3D12_COMMAND_LIST_TYPE type) {
  switch (type) {
    case D3D12_COMMAND_LIST_TYPE_DIRECT: return QueueType::kDirect;
    case D3D12_COMMAND_LIST_TYPE_COMPUTE: return QueueType::kCompute;
    case D3D12_COMMAND_LIST_TYPE_COPY: return QueueType::kCopy;
    default: return QueueType::kOther;
  }
}

// ", feature level 12_1, adapter LUID 00000000:0001c3f2", as far as known.
std::string AdapterFacts(ID3D12Device* device) {
  static constexpr D3D_FEATURE_LEVEL kLevels[] = {D3D_FEATURE_LEVEL_11_0, D3D_FEATURE_LEVEL_11_1,
                                                  D3D_FEATURE_LEVEL_12_0, D3D_FEATURE_LEVEL_12_1};
  D3D12_FEATURE_DATA_FEATURE_LEVELS levels = {};
  levels.NumFeatureLevels = static_cast<UINT>(std::size(kLevels));
  levels.pFeatureLevelsRequested = kLevels;
  std::string facts;
  if (SUCCEEDED(
          device->CheckFeatureSupport(D3D12_FEATURE_FEATURE_LEVELS, &levels, sizeof(levels)))) {
    const auto level = static_cast<uint32_t>(levels.MaxSupportedFeatureLevel);
    facts = fmt::format(", feature level {}_{}", level >> 12, (level >> 8) & 15);
  }
  // Translation layers without adapters report none.
  const LUID luid = GetAdapterLuid(device);
  if (luid.HighPart != 0 || luid.LowPart != 0) {
    facts += fmt::format(", adapter LUID {:08x}:{:08x}", static_cast<uint32_t>(luid.HighPart),
                         static_cast<uint32_t>(luid.LowPart));
  }
  return facts;
}

class D3D12Backend final : public Backend {
 public:
  explicit D3D12Backend(ID3D12Device* device)
      : device_(device), values_(device), run_tables_(device) {}
  ~D3D12Backend() override {
    if (words_noted_) driver_->ForgetWords(driver_device_, region_.base);
  }

  void Identify(BackendDescription* description) override {
    const D3D12Module module = IdentifyD3D12Module(device_.get());
    description->api = Api::kD3D12;
    description->device_name = module.device_name;
    description->driver_name = module.driver_name + AdapterFacts(device_.get());
    description->vendor_id = module.vendor_id;
    description->device_id = module.device_id;
  }

  Status Initialize(const WordRegion& region, BackendDescription* description) override {
    // This happens while the application creates or resets a list: what begins here is not that list.
    const ListOpenScope ours;
    const DeviceSeenScope seen;
    region_ = region;
    Identify(description);
    driver_ = GetDriverHalf();
    adapter_ = description->device_name + "\n" + description->driver_name +
               (driver_ == nullptr ? "" : "\n" + ProbeDriver());
    Result<D3D12SelfTestReport> report = SelfTestOfAdapter(device_.get(), adapter_);
    if (!report.ok()) return report.status().WithContext("self-test of the Direct3D 12 device");
    methods_ = report->methods;
    description->method = report->method();
    description->sources = std::move(report->findings);
    if (description->method == WriteMethod::kNone) {
      return {StatusCode::kUnsupported,
              fmt::format("neither WriteBufferImmediate nor CopyBufferRegion writes words on {}; "
                          "run `cairn selftest --api d3d12` for what was read back",
                          description->device_name)};
    }
    CAIRN_RETURN_IF_ERROR(drain_.Initialize(device_.get()));
    CAIRN_RETURN_IF_ERROR(ChooseMemory(description));
    CAIRN_RETURN_IF_ERROR(ConfirmDriver(&*report, description));
    driver_device_ = seen.device();
    words_noted_ = driver_ != nullptr && driver_device_ != nullptr &&
                   driver_->NoteWords(driver_device_, region_.base);
    if (words_noted_) {
      description->sources.push_back(driver_->LossSource(driver_device_));
      description->sources.push_back(driver_->WitnessSource(driver_device_, description->method));
    }
    if (region.raw_marker_count == 0) return {};
    Result<D3D12MappedBuffer> raw =
        CreateMappedBuffer(device_.get(), MappedHeap::kUpload, kRawValueCount * sizeof(uint64_t));
    if (!raw.ok()) return raw.status().WithContext("values of raw markers");
    raw_values_ = std::move(*raw);
    return {};
  }

  Status BeginList(BackendList& list) override {
    auto* const native = static_cast<ID3D12GraphicsCommandList*>(list.native);
    ListState* const state = TakeState();
    state->list = native;
    state->type = native->GetType();
    state->method = MethodOf(state->type);
    ChooseDriver(state);
    list.state = state;
    if (state->method == WriteMethod::kNone) return {};  // Recorded, but its words stay unwritten.
    if (list.inside_render_pass) {
      ReleaseList(list);
      return {StatusCode::kUnsupported,
              "a command list cannot be registered inside a render pass: register it right after "
              "its Reset()"};
    }
    if (state->method == WriteMethod::kD3D12WriteBufferImmediate) {
      state->list2 =
          ComPtr<ID3D12GraphicsCommandList>(native).As<ID3D12GraphicsCommandList2>().get();
      // The list is another implementation's than those of the self-test.
      if (state->list2 == nullptr) state->method = WriteMethod::kD3D12CopyBufferRegion;
    }
    if (list.reusable) {
      state->run_table = run_tables_.Take();
      if (state->run_table == nullptr) {
        ReleaseList(list);
        return {StatusCode::kOutOfMemory, "no device memory to count the runs of a reusable list"};
      }
      RecordRunStart(native, state->type, *state->run_table, drain_, words_.get(),
                     ProgressOffset(list.slot));
      state->drain_prepared = true;
      state->wait_for_copies = true;
    }
    return {};
  }

  bool WriteProgress(BackendList& list, WordKind word, PipeLocation where,
                     uint32_t value) override {
    auto* const state = static_cast<ListState*>(list.state);
    if (state->method == WriteMethod::kNone || list.inside_render_pass) return false;
    const uint64_t offset =
        ProgressOffset(list.slot) + (word == WordKind::kReached ? offsetof(ProgressWords, reached)
                                                                : offsetof(ProgressWords, passed));
    if (state->driver_method != WriteMethod::kNone) {
      switch (WriteThroughDriver(state, where, offset, value)) {
        case DriverWrite::kRecorded: return true;
        case DriverWrite::kInsideRenderPass:
          if (list.keeps_render_passes && where == PipeLocation::kTop) return false;
          break;
        case DriverWrite::kRefused: state->driver_method = WriteMethod::kNone; break;
      }
      state->wait_for_copies = true;
    }
    if (state->list2 != nullptr) {
      RecordImmediate(state->list2, where, words_address_ + offset, value);
      return true;
    }
    if ((state->chunk == nullptr || state->used == kValuesPerChunk) && !AddChunk(state)) {
      return false;
    }
    const uint32_t index = state->used++;
    state->chunk->values[index] = value;
    // BeginList is too early: a list may be registered before it is opened.
    if (!state->drain_prepared) PrepareDrain(state);
    if (where == PipeLocation::kBottom) {
      drain_.Wait(state->list, state->type);
    }
    state->list->CopyBufferRegion(words_.get(), offset, state->chunk->buffer,
                                  state->chunk->offset_bytes + index * sizeof(value),
                                  sizeof(value));
    return true;
  }

  uint8_t DrainsHere(const BackendList& list) override {
    const auto* const state = static_cast<const ListState*>(list.state);
    if (state->driver_method == WriteMethod::kNone) return 0;
    return driver_->Drains(state->driver_list, state->driver_method);
  }

  Status WriteRaw(void* native, PipeLocation where, uint32_t index, uint64_t value) override {
    if (index >= region_.raw_marker_count) {
      return {StatusCode::kInvalidArgument,
              fmt::format("raw marker {} of {}", index, region_.raw_marker_count)};
    }
    auto* const list = static_cast<ID3D12GraphicsCommandList*>(native);
    const D3D12_COMMAND_LIST_TYPE type = list->GetType();
    const WriteMethod method = MethodOf(type);
    const uint64_t offset = region_.raw_markers_offset + index * sizeof(value);
    if (method == WriteMethod::kNone) {
      return {StatusCode::kUnsupported,
              fmt::format("no way to write markers works on command lists of type {}",
                          static_cast<int>(type))};
    }
    if (method == WriteMethod::kD3D12WriteBufferImmediate) {
      if (const auto list2 =
              ComPtr<ID3D12GraphicsCommandList>(list).As<ID3D12GraphicsCommandList2>()) {
        const uint64_t address = words_address_ + offset;
        RecordImmediate(list2.get(), where, address, static_cast<uint32_t>(value));
        RecordImmediate(list2.get(), where, address + sizeof(uint32_t),
                        static_cast<uint32_t>(value >> 32));
        return {};
      }
    }
    const uint32_t slot = next_raw_value_.fetch_add(1, std::memory_order_relaxed) % kRawValueCount;
    reinterpret_cast<uint64_t*>(raw_values_.memory)[slot] = value;
    if (where == PipeLocation::kBottom) {
      drain_.Prepare(list);
      drain_.Wait(list, type);
    }
    list->CopyBufferRegion(words_.get(), offset, raw_values_.resource.get(), slot * sizeof(value),
                           sizeof(value));
    return {};
  }

  bool Serialises() const override {
    return driver_ != nullptr && driver_device_ != nullptr && driver_->Serialises(driver_device_);
  }
  bool Serial(const BackendList& list) const override {
    const auto* const state = static_cast<const ListState*>(list.state);
    return driver_ != nullptr && state != nullptr && state->driver_list.known() &&
           driver_->Serial(state->driver_list);
  }

  void ReleaseList(BackendList& list) override {
    auto* const state = static_cast<ListState*>(list.state);
    if (state == nullptr) return;
    list.state = nullptr;
    values_.GiveBack(state->chunk);
    run_tables_.GiveBack(state->run_table);
    *state = ListState();
    const std::lock_guard lock(states_mutex_);
    free_states_.push_back(state);
  }

  void ClearWords(uint32_t slot) override {
    if (readback_.memory != nullptr) {
      ClearProgressWords(readback_.memory + region_.progress_offset, slot);
    }
  }

  void Mirror() override {
    if (readback_.memory != nullptr) MirrorWords(region_, readback_.memory);
  }

 private:
  uint64_t ProgressOffset(uint32_t slot) const {
    return region_.progress_offset + uint64_t{slot} * sizeof(ProgressWords);
  }

  WriteMethod MethodOf(D3D12_COMMAND_LIST_TYPE type) const {
    const QueueType queue = QueueTypeOf(type);
    return queue == QueueType::kOther ? WriteMethod::kNone : methods_[static_cast<size_t>(queue)];
  }

  // Chooses the Vulkan layer if it can write for this list, which was just opened on this thread.
  void ChooseDriver(ListState* state) const {
    const QueueType queue = QueueTypeOf(state->type);
    const ListOpenScope* const opening = ListOpenScope::Current();
    if (queue == QueueType::kOther || opening == nullptr || !driver_words_.known()) return;
    state->driver_list = opening->list();
    if (!state->driver_list.known()) return;
    state->driver_method = driver_methods_[static_cast<size_t>(queue)];
  }

  DriverWrite WriteThroughDriver(ListState* state, PipeLocation where, uint64_t offset,
                                 uint32_t value) {
    if (state->wait_for_copies) where = PipeLocation::kBottom;
    const DriverWrite written = driver_->Write(state->driver_list, driver_words_,
                                               state->driver_method, where, offset, value);
    if (written == DriverWrite::kRecorded) state->wait_for_copies = false;
    return written;
  }

  void PrepareDrain(ListState* state) const {
    drain_.Prepare(state->list);
    state->drain_prepared = true;
  }

  ListState* TakeState() {
    const std::lock_guard lock(states_mutex_);
    if (free_states_.empty()) {
      states_.push_back(std::make_unique<ListState>());
      free_states_.reserve(states_.size());
      return states_.back().get();
    }
    ListState* const state = free_states_.back();
    free_states_.pop_back();
    return state;
  }

  bool AddChunk(ListState* state) {
    D3D12ValueChunk* const chunk = values_.Take();
    if (chunk == nullptr) return false;
    chunk->next = std::exchange(state->chunk, chunk);
    state->used = 0;
    return true;
  }

  // Returns the methods of the Vulkan layer on this very device.
  std::string ProbeDriver() const {
    constexpr uint64_t kBytes = 256;
    const ExpectedBufferScope expected(nullptr, kBytes);
    const Result<D3D12MappedBuffer> buffer =
        CreateMappedBuffer(device_.get(), MappedHeap::kReadback, kBytes);
    return DriverMethodsOf(*driver_, buffer.ok() ? expected.buffer() : DriverBuffer());
  }

  // The layer's methods are used if its device has them, and if the buffer that it saw is the one whose
  // memory the words lie in: a guess by its size, so a value has to arrive.
  Status ConfirmDriver(D3D12SelfTestReport* report, BackendDescription* description) {
    DropMissingDriverMethods(driver_, driver_words_, report);
    if (driver_words_.known() && report->driver_methods != decltype(driver_methods_){}) {
      std::byte* const memory = readback_.memory != nullptr ? readback_.memory : region_.base;
      const Result<bool> arrives =
          DriverWriteArrives(device_.get(), *driver_, driver_words_, *report, memory);
      if (!arrives.ok()) {
        words_.Detach();  // The GPU may still be writing.
        return arrives.status().WithContext("a write through the Vulkan layer");
      }
      if (!*arrives) {
        driver_words_ = {};
        DropMissingDriverMethods(driver_, driver_words_, report);
        description->sources.push_back(
            {"progress words through the Vulkan layer", SourceState::kFailed,
             "the buffer that it took for theirs is another: a value did not arrive"});
      }
    }
    driver_methods_ = report->driver_methods;
    description->method = report->method();
    return {};
  }

  Status ChooseMemory(BackendDescription* description) {
    Result<SourceFinding> import = TryImport();
    if (!import.ok()) return import.status();
    const bool imported = import->state == SourceState::kPresent;
    description->sources.push_back(std::move(*import));
    if (imported) {
      description->memory = WordMemory::kImported;
      return {};
    }
    Result<SourceFinding> through_layer = TryImportThroughDriver();
    if (!through_layer.ok()) return through_layer.status();
    if (through_layer->state == SourceState::kPresent) {
      description->memory = WordMemory::kImported;
      description->sources.push_back(std::move(*through_layer));
      return {};
    }
    return MirrorReadback(through_layer->reason, description);
  }

  // Words in a readback buffer, copied into the block now and then.
  Status MirrorReadback(const std::string& why_not_imported, BackendDescription* description) {
    const ExpectedBufferScope expected(nullptr, region_.size_bytes);
    Result<D3D12MappedBuffer> readback =
        CreateMappedBuffer(device_.get(), MappedHeap::kReadback, region_.size_bytes);
    if (!readback.ok()) return readback.status().WithContext("memory for progress words");
    readback_ = std::move(*readback);
    driver_words_ = expected.buffer();
    // The mirror copies our memory from here on: start with the block's content.
    std::memcpy(readback_.memory, region_.base, region_.size_bytes);
    words_ = readback_.resource;
    words_address_ = readback_.gpu_address;
    description->memory = WordMemory::kMirrored;
    description->mirror_period_us = kMirrorPeriodUs;
    description->sources.push_back(
        {"readback buffer", SourceState::kPresent,
         fmt::format("mirrored into the block every {} us, not imported: {}", kMirrorPeriodUs,
                     why_not_imported)});
    return {};
  }

  // Tests that writes arrive in the block. Once an adapter: the result holds for later contexts as
  // well.
  Result<SourceFinding> TestImport(ID3D12Resource* buffer, const std::string& name) {
    if (std::optional<SourceFinding> known = MemoryTestOfAdapter(adapter_)) {
      return std::move(*known);
    }
    uint32_t saved = 0;
    std::memcpy(&saved, region_.base, sizeof(saved));
    Result<SourceFinding> finding = TestD3D12Memory(device_.get(), buffer, region_.base, name);
    std::memcpy(region_.base, &saved, sizeof(saved));
    if (finding.ok()) RememberMemoryTest(adapter_, *finding);
    return finding;
  }

  // Makes the block's pages the memory of words_, if the device takes them and its writes arrive.
  Result<SourceFinding> TryImport() {
    const std::string name = "OpenExistingHeapFromAddress";
    const auto device3 = device_.As<ID3D12Device3>();
    if (!device3) {
      return SourceFinding{name, SourceState::kAbsent, "the device has no ID3D12Device3"};
    }
    // An unsupported call may be a stub that complains on stderr.
    D3D12_FEATURE_DATA_EXISTING_HEAPS existing = {};
    if (FAILED(device_->CheckFeatureSupport(D3D12_FEATURE_EXISTING_HEAPS, &existing,
                                            sizeof(existing))) ||
        !existing.Supported) {
      return SourceFinding{name, SourceState::kAbsent,
                           "not tried: D3D12_FEATURE_EXISTING_HEAPS says that it is not supported"};
    }
    ComPtr<ID3D12Heap> heap;
    HRESULT result =
        device3->OpenExistingHeapFromAddress(region_.base, __uuidof(ID3D12Heap), heap.Receive());
    if (FAILED(result)) {
      return SourceFinding{name, SourceState::kAbsent, StatusFromHresult(result, name).message()};
    }
    const D3D12_RESOURCE_DESC desc =
        BufferDesc(region_.size_bytes, D3D12_RESOURCE_FLAG_ALLOW_CROSS_ADAPTER);
    ComPtr<ID3D12Resource> buffer;
    result = device_->CreatePlacedResource(heap.get(), 0, &desc, D3D12_RESOURCE_STATE_COPY_DEST,
                                           nullptr, __uuidof(ID3D12Resource), buffer.Receive());
    if (FAILED(result)) {
      return SourceFinding{name, SourceState::kFailed,
                           StatusFromHresult(result, "CreatePlacedResource").message()};
    }
    Result<SourceFinding> finding = TestImport(buffer.get(), name);
    if (!finding.ok()) {
      buffer.Detach();  // The GPU may still be writing.
      heap.Detach();
      return finding.status();
    }
    if (finding->state == SourceState::kPresent) {
      finding->reason = "the GPU writes into the block itself";
      words_ = buffer;
      words_address_ = buffer->GetGPUVirtualAddress();
    }
    return finding;
  }

  // The same below the implementation: the Vulkan layer makes the memory of a readback buffer an
  // import of the block's pages. Its answer is tested, not trusted.
  Result<SourceFinding> TryImportThroughDriver() {
    SourceFinding finding;
    finding.name = "readback buffer imported by the Vulkan layer";
    if (driver_ == nullptr) {
      finding.reason = "VK_LAYER_CAIRN_breadcrumbs is not active";
      return finding;
    }
    // An implementation may clear the memory of what it creates.
    const std::vector<std::byte> content(region_.base, region_.base + region_.size_bytes);
    const ExpectedBufferScope expected(region_.base, region_.size_bytes);
    Result<D3D12MappedBuffer> buffer =
        CreateMappedBuffer(device_.get(), MappedHeap::kReadback, region_.size_bytes);
    if (!buffer.ok()) return buffer.status().WithContext("memory for progress words");
    if (!expected.imported()) {
      finding.reason = expected.reason();
      return finding;
    }
    Result<SourceFinding> tested =
        TestD3D12Memory(device_.get(), buffer->resource.get(), region_.base, finding.name);
    if (!tested.ok()) {
      buffer->resource.Detach();  // The GPU may still be writing.
      return tested.status();
    }
    std::memcpy(region_.base, content.data(), content.size());
    if (tested->state == SourceState::kPresent) {
      tested->reason = "the GPU writes into the block itself";
      words_ = buffer->resource;
      words_address_ = buffer->gpu_address;
      driver_words_ = expected.buffer();
    }
    return tested;
  }

  const ComPtr<ID3D12Device> device_;  // First: everything else is destroyed before it.
  WordRegion region_;
  std::string adapter_;  // what self-tests are remembered by
  std::array<WriteMethod, kD3D12QueueTypes> methods_{};
  std::array<WriteMethod, kD3D12QueueTypes> driver_methods_{};
  DriverHalf* driver_ = nullptr;         // the Vulkan layer, if it is there
  DriverBuffer driver_words_;            // words_ as it knows them
  const void* driver_device_ = nullptr;  // below device_, as the layer knows it
  bool words_noted_ = false;             // with driver_device_
  ComPtr<ID3D12Resource> words_;         // the layout of region_
  uint64_t words_address_ = 0;
  D3D12MappedBuffer readback_;  // empty if words_ is the block itself
  D3D12Drain drain_;
  D3D12ValuePool values_;
  D3D12RunTables run_tables_;
  D3D12MappedBuffer raw_values_;
  std::atomic<uint32_t> next_raw_value_{0};

  std::mutex states_mutex_;
  std::vector<std::unique_ptr<ListState>> states_;  // guarded by states_mutex_
  std::vector<ListState*> free_states_;             // guarded by states_mutex_
};

}  // namespace

std::unique_ptr<Backend> CreateBackend(void* device) {
  return std::make_unique<D3D12Backend>(static_cast<ID3D12Device*>(device));
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
