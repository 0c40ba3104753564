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

// The key in JSON of state of which the last call counts; null: it has a place of its own.
const char* KeyOf(StateKind state) {
  switch (state) {
    case StateKind::kDescriptorHeaps: return "descriptor_heaps";
    case StateKind::kPrimitiveTopology: return "primitive_topology";
    case StateKind::kIndexBuffer: return "index_buffer";
    case StateKind::kStripCutValue: return "strip_cut_value";
    case StateKind::kViewports: return "viewports";
    case StateKind::kScissorRects: return "scissor_rects";
    case StateKind::kShadingRate: return "shading_rate";
    case StateKind::kShadingRateImage: return "shading_rate_image";
    case StateKind::kDepthBias: return "depth_bias";
    case StateKind::kRenderTargets: return "render_targets";
    case StateKind::kBlendFactor: return "blend_factor";
    case StateKind::kStencilReference: return "stencil_reference";
    case StateKind::kDepthBounds: return "depth_bounds";
    case StateKind::kSamplePositions: return "sample_positions";
    case StateKind::kViewInstanceMask: return "view_instance_mask";
    case StateKind::kPredication: return "predication";
    case StateKind::kProtectedSession: return "protected_session";
    case StateKind::kNone:
    case StateKind::kPipeline:
    case StateKind::kRootSignature:
    case StateKind::kRootArgument:
    case StateKind::kVertexBuffers:
    case StateKind::kStreamOutput: break;
  }
  return nullptr;
}
constexpr const char* kRenderPass = "render_pass";
constexpr const char* kStateObject = "state_object";
constexpr const char* kProgram = "program";

const char* NameOf(RootArgumentKind kind) {
  switch (kind) {
    case RootArgumentKind::kTable: return "descriptor table";
    case RootArgumentKind::kConstants: return "constants";
    case RootArgumentKind::kConstantBuffer: return "constant buffer";
    case RootArgumentKind::kShaderResource: return "shader resource";
    case RootArgumentKind::kUnorderedAccess: return "unordered access";
    case RootArgumentKind::kNone: break;
  }
  return "";
}

// 0 for kNoParameter.
uint32_t Value32(const DecodedCall& call, int index) {
  return index == kNoParameter ? 0 : Load<uint32_t>(call.arguments[static_cast<size_t>(index)]);
}
uint64_t Value64(const DecodedCall& call, int index) {
  return index == kNoParameter ? 0 : Load<uint64_t>(call.arguments[static_cast<size_t>(index)]);
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
        record.kind != RecordKind::kCall) {
      return;
    }
    const std::optional<Method> method = trace_.MethodOf(record);
    if (!method.has_value() || RoleOf(*method).role != Role::kCreate) return;
    // Other lists are made closed.
    const int8_t pipeline = RoleOf(*method).value;
    DecodedCall call;
    if (pipeline != kNoParameter && Decode(record, Describe(*method), &call).ok()) {
      Clear(Value64(call, pipeline), record.number);
    }
  }

  void TakeListCall(const Record& record, Method method) {
    DecodedCall call;
    const MethodInfo& info = Describe(method);
    if (!Decode(record, info, &call).ok()) return;
    const CallRole& role = RoleOf(method);
    switch (role.role) {
      case Role::kListReset:
      case Role::kClearState: return Clear(Value64(call, role.value), record.number);
      case Role::kBeginPass: return Set(record.number, kRenderPass, info, call);
      case Role::kEndPass: found_.settings.erase(kRenderPass); return;
      case Role::kState: return TakeState(record.number, role, info, call);
      default: return;
    }
  }

  void TakeState(uint64_t number, const CallRole& role, const MethodInfo& info,
                 const DecodedCall& call) {
    ListState::Root& root = role.point == RootPoint::kCompute ? found_.compute : found_.graphics;
    switch (role.state) {
      case StateKind::kPipeline: return SetPipeline(number, role, info, call);
      case StateKind::kRootSignature: return SetRootSignature(Value64(call, role.value), &root);
      case StateKind::kRootArgument: return SetRootArgument(number, role, info, call, &root);
      case StateKind::kVertexBuffers:
        return SetSlots(number, role, info, call, &found_.vertex_buffers);
      case StateKind::kStreamOutput:
        return SetSlots(number, role, info, call, &found_.stream_output);
      default:
        if (const char* const key = KeyOf(role.state)) Set(number, key, info, call);
        return;
    }
  }

  void Set(uint64_t number, const char* key, const MethodInfo& info, const DecodedCall& call) {
    found_.settings[key] = {number, PrintArguments(info, call, state_), ArgumentsJson(info, call)};
  }

  // A list has one of them: a pipeline, a state object or a program.
  void SetPipeline(uint64_t number, const CallRole& role, const MethodInfo& info,
                   const DecodedCall& call) {
    const ParameterInfo& set = info.parameters[static_cast<size_t>(role.value)];
    const bool is_pipeline = set.chain == Chain::kID3D12PipelineState;
    found_.settings.erase(kStateObject);
    found_.settings.erase(kProgram);
    found_.pipeline.number = is_pipeline ? Value64(call, role.value) : kNoObject;
    found_.pipeline_set_by = number;
    if (is_pipeline) return;
    Set(number, set.kind == ValueKind::kObject ? kStateObject : kProgram, info, call);
  }

  static void SetRootSignature(uint64_t signature, ListState::Root* root) {
    // Arguments for another signature have become invalid.
    if (root->signature.number != signature) root->arguments.clear();
    root->signature.number = signature;
  }

  void SetRootArgument(uint64_t number, const CallRole& role, const MethodInfo& info,
                       const DecodedCall& call, ListState::Root* root) {
    const uint32_t index = Value32(call, role.slot);
    auto& arguments = root->arguments;
    const bool is_constant = role.root == RootArgumentKind::kConstants;
    const uint32_t offset = Value32(call, role.offset);
    ListState::RootArgument argument = {.kind = NameOf(role.root)};
    if (is_constant) argument.constants = Constants(role, call);
    const size_t count = argument.constants.size();
    if (is_constant && count == 0) return;
    // A root signature has no more than so many parameters and constants.
    if (index >= kMostRootWords || offset + count > kMostRootWords) return;
    if (is_constant) {
      argument.value.set_by = number;
    } else {
      const auto value = static_cast<size_t>(role.value);
      argument.value = Value(number, info.parameters[value], call.arguments[value]);
    }
    if (role.root == RootArgumentKind::kTable) argument.table = Value64(call, role.value);
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

  static std::vector<uint32_t> Constants(const CallRole& role, const DecodedCall& call) {
    if (role.count == kNoParameter) return {Value32(call, role.value)};
    std::vector<uint32_t> values;
    const auto value = static_cast<size_t>(role.value);
    const auto* const data = Load<const std::byte*>(call.arguments[value]);
    const uint64_t count =
        std::min<uint64_t>(call.counts[value] / sizeof(uint32_t), kMostRootWords + 1);
    for (uint64_t i = 0; data != nullptr && i < count; ++i) {
      values.push_back(Load<uint32_t>(data + i * sizeof(uint32_t)));
    }
    return values;
  }

  void SetSlots(uint64_t number, const CallRole& role, const MethodInfo& method,
                const DecodedCall& call, std::map<uint32_t, ListState::Setting>* slots) const {
    const auto value = static_cast<size_t>(role.value);
    const uint32_t first = Value32(call, role.slot);
    const auto* const views = Load<const std::byte*>(call.arguments[value]);
    if (views == nullptr) {
      std::erase_if(*slots, [&](const auto& slot) {
        return slot.first >= first && slot.first - first < Value32(call, role.count);
      });
      return;
    }
    const ParameterInfo& view = method.parameters[value];
    for (uint64_t i = 0; i < call.counts[value] && first + i < kMostSlots; ++i) {
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
      writers_.Write(Value64(call, static_cast<int>(call.arguments.size()) - 1), record.number);
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
