// SPDX-License-Identifier: Apache-2.0
#include "reader/view/bound_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "d3d12gen/roles.h"
#include "format/calls/value_printer.h"
#include "format/calls/value_shape.h"
#include "format/file/file_cost.h"
#include "format/model/call_kinds.h"
#include "format/model/decoded_arguments.h"
#include "format/model/descriptor_table.h"
#include "format/model/fence_state.h"
#include "format/model/list_state.h"
#include "format/model/render_pass.h"
#include "format/trace/trace_state.h"
#include "reader/view/call_lines.h"

namespace cairn::cli {
namespace {

constexpr uint32_t kMostTargets = 8;

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

// Returns the key of what is no pipeline; null for pipelines.
const char* KeyOf(BoundState::Pipeline kind) {
  switch (kind) {
    case BoundState::Pipeline::kPipeline: break;
    case BoundState::Pipeline::kStateObject: return "state_object";
    case BoundState::Pipeline::kProgram: return "program";
  }
  return nullptr;
}

using ProgramIdentifier = std::array<std::byte, 32>;

class StateFinder {
 public:
  StateFinder(TraceReader& trace, uint64_t call)
      : trace_(trace),
        state_(trace),
        lists_(&trace),
        fences_(&trace),
        wanted_(call),
        copy_budget_(FileBudget(trace.file().size_bytes(), kDescriptorCopies)),
        most_descriptors_(FileBudget(trace.file().size_bytes(), kTraceRecords)) {}

  Result<ListState> Run() {
    CAIRN_RETURN_IF_ERROR(FindCall());
    CAIRN_RETURN_IF_ERROR(GoThere());
    found_.list = ObjectNow(found_.list.number);
    TakeFences();
    uint64_t pipeline = kNoObject;
    if (const BoundState* const bound = lists_.Find(found_.list.number)) {
      Take(*bound);
      pipeline = bound->pipeline;
    }
    ReadCalls();
    Result<std::optional<ExecutedParts>> parts = FindExecutedParts(&trace_, wanted_, pipeline);
    if (!parts.ok()) return parts.status();
    found_.parts = std::move(*parts);
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

  // Has the call read later, if it can be found. Calls are read in the order of the trace, so that no part of
  // it is decoded more than once.
  void ReadLater(uint64_t number, std::function<void(const Record&)> take) {
    if (number != 0) to_read_.emplace(number, std::move(take));
  }
  void ReadLater(uint64_t number, std::optional<ListState::Call>* call) {
    ReadLater(number, [this, call](const Record& record) { *call = ReadCall(record); });
  }

  void ReadCalls() {
    TraceCursor cursor(trace_);
    Record record;
    for (const auto& [number, take] : to_read_) {
      const bool is_there =
          record.number == number ||
          (cursor.SeekNumber(number).ok() && cursor.Next(&record) && record.number == number);
      if (is_there && record.kind == RecordKind::kCall && trace_.MethodOf(record).has_value()) {
        take(record);
      }
    }
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

  // Fills in the arguments of the call that made the setting.
  void ReadArguments(ListState::Setting* setting) {
    ReadLater(setting->set_by, [this, setting](const Record& record) {
      const MethodInfo& info = Describe(*trace_.MethodOf(record));
      DecodedCall call;
      if (!Decode(record, info, &call).ok()) return;
      setting->words = PrintArguments(info, call, state_);
      setting->json = ArgumentsJson(info, call);
    });
  }
  // Fills in the value that the call set; that of slots is in an array.
  void ReadValue(ListState::Setting* setting, std::optional<uint32_t> slot = {}) {
    ReadLater(setting->set_by, [this, setting, slot](const Record& record) {
      const Method method = *trace_.MethodOf(record);
      const auto index = static_cast<size_t>(RoleOf(method).value);
      const ParameterInfo& value = Describe(method).parameters[index];
      DecodedCall call;
      if (!Decode(record, Describe(method), &call).ok()) return;
      const void* place = call.arguments[index];
      if (slot.has_value()) {
        const auto first = static_cast<size_t>(RoleOf(method).slot);
        place = Array<std::byte>(call, index) +
                uint64_t{*slot - Value<uint32_t>(call, first)} * value.size_bytes;
      }
      setting->words = PrintValue(value, place, state_);
      setting->json.clear();
      JsonWriter json(&setting->json, JsonWriter::kOneLine);
      WriteValue(value, place, state_, &json);
    });
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
      return Status(StatusCode::kInvalidArgument,
                    fmt::format("there is no call {}; cairn calls lists them", wanted_));
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
      }
      if (record.number == wanted_ && record.kind == RecordKind::kCall) {
        found_.call = ReadCall(record);
        found_.thread = record.thread;
        return {};
      }
      lists_.Look(record);
      fences_.Look(record);
      TakeProgram(record);
      if (record.kind != RecordKind::kCall) continue;
      TakeDescriptors(record);
      if (record.object == found_.list.number) TakeTargets(record);
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

  void TakeFences() {
    const auto value = [this](uint64_t queue, const FenceState::Value& what) {
      return ListState::FenceValue{ObjectNow(queue), what.value, what.record};
    };
    for (const auto& [number, fence] : fences_.fences()) {
      ListState::Fence& taken = found_.fences.emplace_back();
      taken.object = ObjectNow(number);
      if (fence.completed) {
        taken.completed = fence.completed->value;
        taken.completed_known_by = fence.completed->record;
      }
      for (const auto& [queue, what] : fence.signals) taken.signals.push_back(value(queue, what));
      for (const auto& [queue, what] : fence.queue_waits) {
        taken.queue_waits.push_back(value(queue, what));
      }
      for (const auto& [what, call] : fence.event_waits) {
        taken.cpu_waits.push_back({{}, what, call});
      }
    }
  }

  // Finds which call gave the identifier that SetProgram sets: that has the program's name.
  void TakeProgram(const Record& record) {
    constexpr size_t kInDesc = 8;  // where it stands in D3D12_SET_PROGRAM_DESC, whatever the type
    const std::optional<Method> method = trace_.MethodOf(record);
    ProgramIdentifier identifier;
    if (record.kind == RecordKind::kResult &&
        method == Method::ID3D12StateObjectProperties1_GetProgramIdentifier) {
      std::span<const std::byte> rest = record.body;
      const Result<ResultBody> body = DecodeBody<ResultBody>(&rest);
      if (!body.ok() || rest.size() < sizeof(identifier)) return;
      std::memcpy(identifier.data(), rest.data(), sizeof(identifier));
      programs_[identifier] = body->call;
    } else if (record.kind == RecordKind::kCall &&
               method == Method::ID3D12GraphicsCommandList10_SetProgram) {
      DecodedCall call;
      if (!Decode(record, Describe(*method), &call).ok()) return;
      const auto* const desc = Value<const std::byte*>(call, 0);
      if (desc == nullptr) return;
      std::memcpy(identifier.data(), desc + kInDesc, sizeof(identifier));
      const auto found = programs_.find(identifier);
      if (found != programs_.end()) named_by_[record.number] = found->second;
    }
  }

  // ---- The list ----

  void Take(const BoundState& bound) {
    found_.recorded_since = bound.since;
    found_.pipeline_set_by = bound.pipeline_set_by;
    if (const char* const key = KeyOf(bound.pipeline_kind)) {
      TakeSetting(key, bound.pipeline_set_by);
      const auto named = named_by_.find(bound.pipeline_set_by);
      if (named != named_by_.end()) TakeSetting("program_name", named->second);
    } else {
      found_.pipeline = ObjectNow(bound.pipeline);
    }
    if (const TracedObject* const pipeline = state_.Find(found_.pipeline.number)) {
      ReadLater(pipeline->creator, &found_.pipeline_creation);
    }
    TakeRoot(bound.graphics, &found_.graphics);
    TakeRoot(bound.compute, &found_.compute);
    for (const auto& [kind, set_by] : bound.settings) {
      if (const char* const key = KeyOf(kind)) TakeSetting(key, set_by);
    }
    const auto set = bound.settings.find(StateKind::kRenderTargets);
    const uint64_t set_by = bound.pass != 0               ? bound.pass
                            : set != bound.settings.end() ? set->second
                                                          : 0;
    if (set_by != 0 && set_by == targets_set_by_) {
      found_.targets = targets_;
      for (ListState::Target& target : found_.targets) ReadLater(target.writer, &target.written_by);
    }
    if (bound.pass != 0) TakeSetting("render_pass", bound.pass);
    TakeSlots(bound.vertex_buffers, &found_.vertex_buffers);
    TakeSlots(bound.stream_output, &found_.stream_output);
  }

  void TakeSetting(const char* key, uint64_t set_by) {
    found_.settings[key].set_by = set_by;
    ReadArguments(&found_.settings[key]);
  }

  void TakeSlots(const BoundState::Slots& slots, std::map<uint32_t, ListState::Setting>* taken) {
    for (const auto& [slot, set_by] : slots) {
      (*taken)[slot].set_by = set_by;
      ReadValue(&(*taken)[slot], slot);
    }
  }

  void TakeRoot(const BoundState::Root& root, ListState::Root* taken) {
    taken->signature = ObjectNow(root.signature);
    for (const auto& [place, argument] : root.arguments) {
      ListState::RootArgument& shown = taken->arguments[place];
      shown = {.kind = NameOf(argument.kind),
               .value = {.set_by = argument.set_by},
               .constants = argument.constants};
      if (argument.kind != RootArgumentKind::kConstants) ReadValue(&shown.value);
      if (argument.kind != RootArgumentKind::kTable) continue;
      shown.table = argument.value;
      shown.descriptors = DescriptorsOf(argument.value);
      for (ListState::Descriptor& descriptor : shown.descriptors) {
        ReadLater(descriptor.writer, &descriptor.written_by);
      }
    }
  }

  // ---- Descriptors ----

  void TakeDescriptors(const Record& record) {
    const std::optional<Method> method = trace_.MethodOf(record);
    if (!method.has_value()) return;
    const CallRole& role = RoleOf(*method);
    const bool is_copy = CopiesDescriptors(role);
    if (!is_copy && role.role != Role::kView) return;
    DecodedCall call;
    if (!Decode(record, Describe(*method), &call).ok()) return;
    if (!is_copy) {
      // The place of a view is the last parameter of all methods that make one.
      writers_.Write(Value<uint64_t>(call, call.arguments.size() - 1), record.number);
      return;
    }
    const size_t copied = writers_.Copy(call, role.role == Role::kCopyViews, [](uint64_t) {});
    copy_budget_ -= std::min<uint64_t>(copy_budget_, copied);
    if (writers_.contents().size() > most_descriptors_) copy_budget_ = 0;
  }

  // Lists read the descriptors of targets when they record the call.
  void TakeTargets(const Record& record) {
    const std::optional<Method> method = trace_.MethodOf(record);
    const bool is_pass = method == Method::ID3D12GraphicsCommandList4_BeginRenderPass;
    if (!is_pass && method != Method::ID3D12GraphicsCommandList_OMSetRenderTargets) return;
    DecodedCall call;
    if (!Decode(record, Describe(*method), &call).ok()) return;
    targets_.clear();
    targets_set_by_ = record.number;
    if (is_pass) return AddTargetsOfPass(call);
    const uint64_t* const handles = Array<uint64_t>(call, 1);
    const uint32_t count =
        handles == nullptr ? 0 : std::min(Value<uint32_t>(call, 0), kMostTargets);
    const bool is_range = Value<uint32_t>(call, 2) != 0;
    for (uint32_t i = 0; i < count; ++i) {
      AddTarget(is_range ? handles[0] + i * writers_.IncrementAt(handles[0]) : handles[i], false);
    }
    if (const uint64_t* const depth = Array<uint64_t>(call, 3)) AddTarget(*depth, true);
  }
  void AddTargetsOfPass(const DecodedCall& call) {
    const auto* const targets = Array<PassTarget>(call, 1);
    const auto* const depth = Array<PassDepth>(call, 2);
    const uint32_t count =
        targets == nullptr ? 0 : std::min(Value<uint32_t>(call, 0), kMostTargets);
    for (uint32_t i = 0; i < count; ++i) AddTarget(ViewOf(targets + i), false);
    if (depth != nullptr) AddTarget(ViewOf(depth), true);
  }
  // Structs of a call need not be aligned.
  template <typename Target>
  static uint64_t ViewOf(const Target* target) {
    Target copy;
    std::memcpy(&copy, target, sizeof(copy));
    return copy.view;
  }
  void AddTarget(uint64_t handle, bool is_depth) {
    const auto found = writers_.contents().find(handle);
    const uint64_t writer = found == writers_.contents().end() ? 0 : found->second;
    targets_.push_back({.is_depth = is_depth, .writer = writer});
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

  TraceReader& trace_;
  TraceState state_;
  ListTracker lists_;
  FenceTracker fences_;
  Arena arena_{kMostDecodedBytes};
  const uint64_t wanted_;
  uint64_t copy_budget_;
  const uint64_t most_descriptors_;
  ListState found_;
  DescriptorTable<uint64_t> writers_;       // calls
  std::vector<ListState::Target> targets_;  // set last by the list
  uint64_t targets_set_by_ = 0;
  std::multimap<uint64_t, std::function<void(const Record&)>> to_read_;  // by call
  std::map<ProgramIdentifier, uint64_t> programs_;                       // the calls that gave them
  std::map<uint64_t, uint64_t> named_by_;  // of calls of SetProgram: those calls
};

}  // namespace

Result<ListState> ListStateAt(TraceReader& trace, uint64_t call) {
  return StateFinder(trace, call).Run();
}

}  // namespace cairn::cli
