// SPDX-License-Identifier: Apache-2.0
#include "reader/view/bound_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "d3d12gen/roles.h"
#include "format/calls/value_printer.h"
#include "format/calls/value_shape.h"
#include "format/file/file_cost.h"
#include "format/model/call_kinds.h"
#include "format/model/descriptor_table.h"
#include "format/trace/trace_state.h"
#include "reader/view/call_lines.h"

namespace cairn::cli {
namespace {

// Calls of which the last one is the state.
struct PlainState {
  Method method;
  const char* key;
};
constexpr PlainState kPlainStates[] = {
    {Method::ID3D12GraphicsCommandList_SetDescriptorHeaps, "descriptor_heaps"},
    {Method::ID3D12GraphicsCommandList_IASetPrimitiveTopology, "primitive_topology"},
    {Method::ID3D12GraphicsCommandList_IASetIndexBuffer, "index_buffer"},
    {Method::ID3D12GraphicsCommandList_RSSetViewports, "viewports"},
    {Method::ID3D12GraphicsCommandList_RSSetScissorRects, "scissor_rects"},
    {Method::ID3D12GraphicsCommandList_OMSetRenderTargets, "render_targets"},
    {Method::ID3D12GraphicsCommandList_OMSetBlendFactor, "blend_factor"},
    {Method::ID3D12GraphicsCommandList_OMSetStencilRef, "stencil_reference"},
    {Method::ID3D12GraphicsCommandList_SetPredication, "predication"},
    {Method::ID3D12GraphicsCommandList1_OMSetDepthBounds, "depth_bounds"},
    {Method::ID3D12GraphicsCommandList1_SetSamplePositions, "sample_positions"},
    {Method::ID3D12GraphicsCommandList1_SetViewInstanceMask, "view_instance_mask"},
    {Method::ID3D12GraphicsCommandList4_BeginRenderPass, "render_pass"},
    {Method::ID3D12GraphicsCommandList4_SetPipelineState1, "state_object"},
    {Method::ID3D12GraphicsCommandList5_RSSetShadingRate, "shading_rate"},
    {Method::ID3D12GraphicsCommandList5_RSSetShadingRateImage, "shading_rate_image"},
};

enum class RootKind : uint8_t { kTable, kConstant, kConstants, kView };
struct RootState {
  Method method;
  bool is_compute;
  RootKind kind;
  const char* name;
};
constexpr RootState kRootStates[] = {
    {Method::ID3D12GraphicsCommandList_SetGraphicsRootDescriptorTable, false, RootKind::kTable,
     "descriptor table"},
    {Method::ID3D12GraphicsCommandList_SetComputeRootDescriptorTable, true, RootKind::kTable,
     "descriptor table"},
    {Method::ID3D12GraphicsCommandList_SetGraphicsRoot32BitConstant, false, RootKind::kConstant,
     "constants"},
    {Method::ID3D12GraphicsCommandList_SetComputeRoot32BitConstant, true, RootKind::kConstant,
     "constants"},
    {Method::ID3D12GraphicsCommandList_SetGraphicsRoot32BitConstants, false, RootKind::kConstants,
     "constants"},
    {Method::ID3D12GraphicsCommandList_SetComputeRoot32BitConstants, true, RootKind::kConstants,
     "constants"},
    {Method::ID3D12GraphicsCommandList_SetGraphicsRootConstantBufferView, false, RootKind::kView,
     "constant buffer"},
    {Method::ID3D12GraphicsCommandList_SetComputeRootConstantBufferView, true, RootKind::kView,
     "constant buffer"},
    {Method::ID3D12GraphicsCommandList_SetGraphicsRootShaderResourceView, false, RootKind::kView,
     "shader resource"},
    {Method::ID3D12GraphicsCommandList_SetComputeRootShaderResourceView, true, RootKind::kView,
     "shader resource"},
    {Method::ID3D12GraphicsCommandList_SetGraphicsRootUnorderedAccessView, false, RootKind::kView,
     "unordered access"},
    {Method::ID3D12GraphicsCommandList_SetComputeRootUnorderedAccessView, true, RootKind::kView,
     "unordered access"},
};

uint32_t Value32(const DecodedCall& call, size_t index) {
  return Load<uint32_t>(call.arguments[index]);
}
uint64_t Value64(const DecodedCall& call, size_t index) {
  return Load<uint64_t>(call.arguments[index]);
}

// Limits of Direct3D 12.
constexpr uint32_t kMostRootWords = 64;
constexpr uint32_t kMostSlots = 32;

class StateFinder {
 public:
  StateFinder(TraceReader& trace, uint64_t call)
      : trace_(trace),
        state_(trace),
        wanted_(call),
        copy_budget_(FileBudget(trace.file().size_bytes(), kDescriptorCopies)),
        most_descriptors_(FileBudget(trace.file().size_bytes(), kTraceRecords)) {}

  Result<ListState> Run() {
    CAIRN_RETURN_IF_ERROR(FindCall());
    CAIRN_RETURN_IF_ERROR(GoThere());
    found_.list = ObjectNow(found_.list.number);
    found_.pipeline = ObjectNow(found_.pipeline.number);
    if (const TracedObject* const pipeline = state_.Find(found_.pipeline.number)) {
      found_.pipeline_creation = ReadCall(pipeline->creator);
    }
    for (ListState::Root* const root : {&found_.graphics, &found_.compute}) {
      root->signature = ObjectNow(root->signature.number);
      for (auto& [place, argument] : root->arguments) {
        if (argument.table) argument.descriptors = DescriptorsOf(*argument.table);
      }
    }
    FindWriters();
    return std::move(found_);
  }

 private:
  // ---- Reading ----

  Status Decode(const Record& record, const MethodInfo& method, DecodedCall* call) {
    arena_.Reset();
    DecodeOptions options;
    options.blobs = &trace_;
    return DecodeArguments(method, record.body, options, &arena_, call);
  }

  // Reads a call; nullopt if it is missing or its method is unknown.
  std::optional<ListState::Call> ReadCall(uint64_t number) {
    TraceCursor cursor(trace_);
    Record record;
    if (number == 0 || !cursor.SeekNumber(number).ok() || !cursor.Next(&record)) return {};
    if (record.number != number || record.kind != RecordKind::kCall) return {};
    return ReadCall(record);
  }
  std::optional<ListState::Call> ReadCall(const Record& record) {
    const std::optional<Method> method = trace_.MethodOf(record);
    if (!method.has_value()) return {};
    const MethodInfo& info = Describe(*method);
    ListState::Call read = {.number = record.number, .method = trace_.MethodName(record)};
    read.words = ShortName(read.method);
    read.arguments = "null";
    DecodedCall call;
    if (Decode(record, info, &call).ok()) {
      read.words = PrintArguments(info, call, state_);
      read.arguments = ArgumentsJson(info, call);
      read.members = PrintMembers(info, call, state_);
    }
    return read;
  }

  std::string ArgumentsJson(const MethodInfo& method, const DecodedCall& call) const {
    constexpr size_t kMostBytes = 256 << 10;  // there are many calls
    std::string text;
    JsonWriter json(&text, JsonWriter::kOneLine);
    WriteArguments(method, call, state_, /*whole=*/false, &json, kMostBytes);
    return text;
  }

  ListState::Setting Value(uint64_t set_by, const ValueInfo& value, const void* place) const {
    ListState::Setting setting = {.set_by = set_by, .words = PrintValue(value, place, state_)};
    JsonWriter json(&setting.json, JsonWriter::kOneLine);
    WriteValue(value, place, state_, &json);
    return setting;
  }

  ListState::Object ObjectNow(uint64_t number) const {
    if (number == kNoObject) return {};
    return {number, VisibleText(state_.Object(number))};
  }

  Status FindCall() {
    TraceCursor cursor(trace_);
    CAIRN_RETURN_IF_ERROR(cursor.SeekNumber(wanted_));
    Record record;
    if (!cursor.Next(&record) || record.number != wanted_ || record.kind != RecordKind::kCall) {
      CAIRN_RETURN_IF_ERROR(cursor.status());
      return Status(StatusCode::kInvalidArgument, fmt::format("there is no call {}", wanted_));
    }
    const std::optional<Method> method = trace_.MethodOf(record);
    if (!method.has_value() || !IsRecorded(*method)) {
      return Status(
          StatusCode::kInvalidArgument,
          fmt::format("call {} is {}, which no command list records; cairn calls --around "
                      "{} shows those near it",
                      wanted_, trace_.MethodName(record), wanted_));
    }
    found_.list.number = record.object;
    found_.frame = trace_.first_frame().value_or(0) + cursor.frame();
    return {};
  }

  // Reads the trace from the beginning to the call.
  Status GoThere() {
    TraceCursor cursor(trace_);
    Record record;
    while (copy_budget_ != 0 && cursor.Next(&record) && record.number <= wanted_) {
      if (record.kind == RecordKind::kObjectEnd) DropDescriptors(record.object);
      // A contradictory record leaves the state unchanged.
      const bool applied = state_.Apply(record).ok();
      if (applied && record.kind == RecordKind::kObject) {
        const TracedObject* const made = state_.Find(record.object);
        if (made->heap.has_value()) writers_.AddHeap(record.object, *made->heap);
        if (record.object == found_.list.number) TakeCreation();
      }
      if (record.kind != RecordKind::kCall) continue;
      const std::optional<Method> method = trace_.MethodOf(record);
      if (record.number == wanted_) {
        found_.call = ReadCall(record);
        found_.thread = record.thread;
        return {};
      }
      if (!method.has_value()) continue;
      if (record.object == found_.list.number) {
        TakeListCall(record, *method);
      } else {
        TakeDescriptors(record, *method);
      }
    }
    CAIRN_RETURN_IF_ERROR(cursor.status());
    if (copy_budget_ == 0) {
      return Status(StatusCode::kUnsupported,
                    fmt::format("up to call {} more descriptors are copied than a file of {} bytes "
                                "may cost; what stands in them is not found out",
                                wanted_, trace_.file().size_bytes()));
    }
    return Status(StatusCode::kCorrupt, fmt::format("call {} cannot be read", wanted_));
  }

  // ---- The list ----

  void Clear(uint64_t pipeline, uint64_t since) {
    found_ = {.frame = found_.frame,
              .list = found_.list,
              .recorded_since = since,
              .pipeline = {pipeline, ""},
              .pipeline_set_by = since};
  }

  // A list is made open, with a first pipeline.
  void TakeCreation() {
    const TracedObject* const list = state_.Find(found_.list.number);
    TraceCursor cursor(trace_);
    Record record;
    if (list == nullptr || list->creator == 0 || !cursor.SeekNumber(list->creator).ok() ||
        !cursor.Next(&record) || record.number != list->creator ||
        record.kind != RecordKind::kCall ||
        trace_.MethodOf(record) != Method::ID3D12Device_CreateCommandList) {
      return;
    }
    DecodedCall call;
    if (Decode(record, Describe(Method::ID3D12Device_CreateCommandList), &call).ok()) {
      Clear(Value64(call, 3), record.number);
    }
  }

  void TakeListCall(const Record& record, Method method) {
    DecodedCall call;
    const MethodInfo& info = Describe(method);
    if (!Decode(record, info, &call).ok()) return;
    switch (method) {
      case Method::ID3D12GraphicsCommandList_Reset: return Clear(Value64(call, 1), record.number);
      case Method::ID3D12GraphicsCommandList_ClearState:
        return Clear(Value64(call, 0), record.number);
      case Method::ID3D12GraphicsCommandList_SetPipelineState:
        found_.pipeline.number = Value64(call, 0);
        found_.pipeline_set_by = record.number;
        found_.settings.erase("state_object");
        return;
      case Method::ID3D12GraphicsCommandList_SetGraphicsRootSignature:
        return SetRootSignature(Value64(call, 0), &found_.graphics);
      case Method::ID3D12GraphicsCommandList_SetComputeRootSignature:
        return SetRootSignature(Value64(call, 0), &found_.compute);
      case Method::ID3D12GraphicsCommandList_IASetVertexBuffers:
        return SetSlots(record.number, info, call, &found_.vertex_buffers);
      case Method::ID3D12GraphicsCommandList_SOSetTargets:
        return SetSlots(record.number, info, call, &found_.stream_output);
      case Method::ID3D12GraphicsCommandList4_EndRenderPass:
        found_.settings.erase("render_pass");
        return;
      default: break;
    }
    for (const PlainState& known : kPlainStates) {
      if (known.method == method) {
        found_.settings[known.key] = {record.number, PrintArguments(info, call, state_),
                                      ArgumentsJson(info, call)};
        return;
      }
    }
    for (const RootState& known : kRootStates) {
      if (known.method == method) return SetRootArgument(record.number, known, call);
    }
  }

  static void SetRootSignature(uint64_t signature, ListState::Root* root) {
    // Arguments for another signature have become invalid.
    if (root->signature.number != signature) root->arguments.clear();
    root->signature.number = signature;
  }

  void SetRootArgument(uint64_t number, const RootState& what, const DecodedCall& call) {
    const uint32_t index = Value32(call, 0);
    auto& arguments = (what.is_compute ? found_.compute : found_.graphics).arguments;
    const bool is_constant = what.kind == RootKind::kConstant || what.kind == RootKind::kConstants;
    uint32_t offset = 0;
    if (what.kind == RootKind::kConstant) offset = Value32(call, 2);
    if (what.kind == RootKind::kConstants) offset = Value32(call, 3);
    ListState::RootArgument argument = {.kind = what.name};
    if (is_constant) argument.constants = Constants(what.kind, call);
    const size_t count = argument.constants.size();
    if (is_constant && count == 0) return;
    // A root signature has no more than so many parameters and constants.
    if (index >= kMostRootWords || offset + count > kMostRootWords) return;
    if (is_constant) {
      argument.value.set_by = number;
    } else {
      argument.value = Value(number, Describe(what.method).parameters[1], call.arguments[1]);
    }
    if (what.kind == RootKind::kTable) argument.table = Value64(call, 1);
    MakeRoom(index, is_constant, offset, count, &arguments);
    arguments[{index, offset}] = std::move(argument);
  }

  // Takes away what the argument at `index` was. Constants replace each other one by one: those before
  // `offset` and from `offset` + `count` on stay.
  static void MakeRoom(uint32_t index, bool is_constant, uint32_t offset, uint64_t count,
                       ListState::RootArgumentMap* arguments) {
    const uint64_t behind = is_constant ? offset + count : ~uint64_t{0};
    auto it = arguments->lower_bound({index, is_constant ? offset : 0});
    if (it != arguments->begin()) --it;  // it may reach up to here
    while (it != arguments->end() && it->first < std::pair(index, behind)) {
      const auto replaced = it++;
      if (replaced->first.first != index) continue;
      const ListState::RootArgument old = std::move(replaced->second);
      const uint64_t start = replaced->first.second;
      arguments->erase(replaced);
      if (!is_constant) continue;
      const uint64_t end = start + old.constants.size();
      KeepConstants(old, start, {index, start}, std::min<uint64_t>(end, offset), arguments);
      KeepConstants(old, start, {index, std::max(start, behind)}, end, arguments);
    }
  }

  // Keeps the constants, which begin at `start`, from `first` (index, offset) to the offset `end`,
  // if there are any.
  static void KeepConstants(const ListState::RootArgument& old, uint64_t start,
                            std::pair<uint32_t, uint64_t> first, uint64_t end,
                            ListState::RootArgumentMap* arguments) {
    if (first.second >= end) return;
    const auto at = [&](uint64_t offset) {
      return old.constants.begin() + static_cast<std::ptrdiff_t>(offset - start);
    };
    ListState::RootArgument& kept = (*arguments)[first];
    kept = old;
    kept.constants.assign(at(first.second), at(end));
  }

  static std::vector<uint32_t> Constants(RootKind kind, const DecodedCall& call) {
    if (kind == RootKind::kConstant) return {Value32(call, 1)};
    std::vector<uint32_t> values;
    const auto* const data = Load<const std::byte*>(call.arguments[2]);
    const uint64_t count =
        std::min<uint64_t>(call.counts[2] / sizeof(uint32_t), kMostRootWords + 1);
    for (uint64_t i = 0; data != nullptr && i < count; ++i) {
      values.push_back(Load<uint32_t>(data + i * sizeof(uint32_t)));
    }
    return values;
  }

  void SetSlots(uint64_t number, const MethodInfo& method, const DecodedCall& call,
                std::map<uint32_t, ListState::Setting>* slots) const {
    constexpr size_t kViews = 2;  // the parameter
    const uint32_t first = Value32(call, 0);
    const auto* const views = Load<const std::byte*>(call.arguments[kViews]);
    if (views == nullptr) {
      std::erase_if(*slots, [&](const auto& slot) {
        return slot.first >= first && slot.first - first < Value32(call, 1);
      });
      return;
    }
    const ParameterInfo& view = method.parameters[kViews];
    for (uint64_t i = 0; i < call.counts[kViews] && first + i < kMostSlots; ++i) {
      (*slots)[static_cast<uint32_t>(first + i)] = Value(number, view, views + i * view.size_bytes);
    }
  }

  // ---- Descriptors ----

  void TakeDescriptors(const Record& record, Method method) {
    const CallRole& role = RoleOf(method);
    const bool is_copy = CopiesDescriptors(role);
    if (!is_copy && role.role != Role::kView) return;
    DecodedCall call;
    if (!Decode(record, Describe(method), &call).ok()) return;
    if (!is_copy) {
      // The place of a view is the last parameter of all methods that make one.
      writers_.Write(Value64(call, call.arguments.size() - 1), record.number);
      return;
    }
    const size_t copied = writers_.Copy(call, role.role == Role::kCopyViews, [](uint64_t) {});
    copy_budget_ -= std::min<uint64_t>(copy_budget_, copied);
    if (writers_.contents().size() > most_descriptors_) copy_budget_ = 0;
  }

  void DropDescriptors(uint64_t object) {
    const TracedObject* const ending = state_.Find(object);
    if (ending != nullptr && ending->heap.has_value() && ending->ended == 0) {
      writers_.RemoveHeap(*ending->heap);
    }
  }

  std::vector<ListState::Descriptor> DescriptorsOf(uint64_t table) const {
    std::vector<ListState::Descriptor> shown;
    const auto place = state_.GpuDescriptorAt(table);
    const TracedObject* const heap = place.has_value() ? state_.Find(place->heap) : nullptr;
    if (heap == nullptr || !heap->heap.has_value()) return shown;
    for (uint32_t i = 0; i < kShownDescriptors && place->index + i < heap->heap->count; ++i) {
      const uint64_t handle =
          heap->heap->cpu_start + uint64_t{place->index + i} * heap->heap->increment_bytes;
      const auto found = writers_.contents().find(handle);
      if (found == writers_.contents().end()) break;
      shown.push_back({.index = place->index + i, .writer = found->second});
    }
    return shown;
  }

  // Reads the writers in the order of the trace, so that no part of it is decoded more than once.
  void FindWriters() {
    std::vector<ListState::Descriptor*> shown;
    for (ListState::Root* const root : {&found_.graphics, &found_.compute}) {
      for (auto& [place, argument] : root->arguments) {
        for (ListState::Descriptor& descriptor : argument.descriptors) {
          shown.push_back(&descriptor);
        }
      }
    }
    std::sort(shown.begin(), shown.end(),
              [](const auto* a, const auto* b) { return a->writer < b->writer; });
    for (ListState::Descriptor* const descriptor : shown) {
      descriptor->written_by = ReadCall(descriptor->writer);
    }
  }

  TraceReader& trace_;
  TraceState state_;
  Arena arena_{kMostDecodedBytes};
  const uint64_t wanted_;
  uint64_t copy_budget_;
  const uint64_t most_descriptors_;
  ListState found_;
  DescriptorTable<uint64_t> writers_;  // calls
};

}  // namespace

Result<ListState> ListStateAt(TraceReader& trace, uint64_t call) {
  return StateFinder(trace, call).Run();
}

}  // namespace cairn::cli
