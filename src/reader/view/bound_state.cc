// SPDX-License-Identifier: Apache-2.0
#include "reader/view/bound_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "format/calls/value_printer.h"
#include "format/calls/value_shape.h"
#include "format/file/file_cost.h"
#include "format/model/call_kinds.h"
#include "format/model/descriptor_table.h"
#include "format/trace/trace_state.h"
#include "reader/view/call_lines.h"

namespace cairn::cli {
namespace {

using nlohmann::ordered_json;

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

// Of Direct3D 12.
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

  Result<ordered_json> Run() {
    CAIRN_RETURN_IF_ERROR(FindCall());
    CAIRN_RETURN_IF_ERROR(GoThere());
    ordered_json found = ordered_json::object();
    found["call"] = call_;
    found["list"] = Reference(list_);
    found["recorded_since"] = since_;
    found["pipeline"] = Pipeline();
    found["graphics"] = Root(false);
    found["compute"] = Root(true);
    for (auto& [key, value] : plain_) found[key] = std::move(value);
    found["vertex_buffers"] = Slots(vertex_buffers_);
    found["stream_output"] = Slots(stream_output_);
    ShowWriters(&found);
    return found;
  }

 private:
  struct RootArgument {
    const RootState* what = nullptr;
    ordered_json json;
    uint64_t table = 0;  // its handle
  };
  using RootArgumentMap =
      std::map<std::pair<uint32_t, uint64_t>, RootArgument>;  // (index, offset of constants)
  struct RootArguments {
    uint64_t signature = kNoObject;
    RootArgumentMap arguments;
  };

  // ---- Reading ----

  Status Decode(const Record& record, const MethodInfo& method, DecodedCall* call) {
    arena_.Reset();
    DecodeOptions options;
    options.blobs = &trace_;
    return DecodeArguments(method, record.body, options, &arena_, call);
  }

  // What a call was, as JSON; null if it is not there or cannot be read.
  ordered_json CallAsJson(uint64_t number) {
    TraceCursor cursor(trace_);
    Record record;
    if (number == 0 || !cursor.SeekNumber(number).ok() || !cursor.Next(&record)) return nullptr;
    const std::optional<Method> method = trace_.MethodOf(record);
    if (record.number != number || record.kind != RecordKind::kCall || !method.has_value())
      return nullptr;
    return CallAsJson(record, *method);
  }
  ordered_json CallAsJson(const Record& record, Method method) {
    ordered_json json = {{"number", record.number}, {"method", trace_.MethodName(record)}};
    DecodedCall call;
    if (Decode(record, Describe(method), &call).ok()) {
      json["arguments"] = ArgumentsAsJson(Describe(method), call, state_);
    } else {
      json["arguments"] = nullptr;
    }
    return json;
  }

  ordered_json Reference(uint64_t object) const {
    if (object == kNoObject) return nullptr;
    return {{"object", object}, {"text", VisibleText(state_.Object(object))}};
  }

  Status FindCall() {
    TraceCursor cursor(trace_);
    CAIRN_RETURN_IF_ERROR(cursor.SeekNumber(wanted_));
    Record record;
    if (!cursor.Next(&record) || record.number != wanted_ || record.kind != RecordKind::kCall) {
      CAIRN_RETURN_IF_ERROR(cursor.status());
      return Status(StatusCode::kInvalidArgument, fmt::format("there is no call {}", wanted_));
    }
    const std::string name = trace_.MethodName(record);
    if (!IsOfCommandList(name)) {
      return Status(
          StatusCode::kInvalidArgument,
          fmt::format("call {} is {}, which no command list records; cairn calls --around "
                      "{} shows those near it",
                      wanted_, name, wanted_));
    }
    list_ = record.object;
    frame_ = trace_.first_frame().value_or(0) + cursor.frame();
    return {};
  }

  // From the beginning to the call.
  Status GoThere() {
    TraceCursor cursor(trace_);
    Record record;
    while (copy_budget_ != 0 && cursor.Next(&record) && record.number <= wanted_) {
      if (record.kind == RecordKind::kObjectEnd) DropDescriptors(record.object);
      // What contradicts itself leaves the state as it was.
      const bool applied = state_.Apply(record).ok();
      if (applied && record.kind == RecordKind::kObject) {
        const TracedObject* const made = state_.Find(record.object);
        if (made->heap.has_value()) writers_.AddHeap(record.object, *made->heap);
        if (record.object == list_) TakeCreation();
      }
      if (record.kind != RecordKind::kCall) continue;
      const std::optional<Method> method = trace_.MethodOf(record);
      if (record.number == wanted_) {
        call_ = method.has_value() ? CallAsJson(record, *method) : ordered_json(nullptr);
        if (method.has_value()) call_["frame"] = frame_;
        if (method.has_value()) call_["thread"] = record.thread;
        return {};
      }
      if (!method.has_value()) continue;
      if (record.object == list_) {
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
    since_ = since;
    pipeline_ = pipeline;
    pipeline_set_by_ = since;
    for (RootArguments& root : roots_) root = {};
    plain_.clear();
    vertex_buffers_.clear();
    stream_output_.clear();
  }

  // A list is made open, with a first pipeline.
  void TakeCreation() {
    const TracedObject* const list = state_.Find(list_);
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
        pipeline_ = Value64(call, 0);
        pipeline_set_by_ = record.number;
        plain_.erase("state_object");
        return;
      case Method::ID3D12GraphicsCommandList_SetGraphicsRootSignature:
        return SetRootSignature(false, Value64(call, 0));
      case Method::ID3D12GraphicsCommandList_SetComputeRootSignature:
        return SetRootSignature(true, Value64(call, 0));
      case Method::ID3D12GraphicsCommandList_IASetVertexBuffers:
        return SetSlots(record.number, info, call, &vertex_buffers_);
      case Method::ID3D12GraphicsCommandList_SOSetTargets:
        return SetSlots(record.number, info, call, &stream_output_);
      case Method::ID3D12GraphicsCommandList4_EndRenderPass: plain_.erase("render_pass"); return;
      default: break;
    }
    for (const PlainState& known : kPlainStates) {
      if (known.method == method) {
        plain_[known.key] = {{"set_by", record.number},
                             {"arguments", ArgumentsAsJson(info, call, state_)}};
        return;
      }
    }
    for (const RootState& known : kRootStates) {
      if (known.method == method) return SetRootArgument(record.number, known, call);
    }
  }

  void SetRootSignature(bool is_compute, uint64_t signature) {
    RootArguments& root = roots_[is_compute ? 1 : 0];
    // What was set for another signature means nothing any more.
    if (root.signature != signature) root.arguments.clear();
    root.signature = signature;
  }

  void SetRootArgument(uint64_t number, const RootState& what, const DecodedCall& call) {
    const MethodInfo& method = Describe(what.method);
    const uint32_t index = Value32(call, 0);
    auto& arguments = roots_[what.is_compute ? 1 : 0].arguments;
    const bool is_constant = what.kind == RootKind::kConstant || what.kind == RootKind::kConstants;
    uint32_t offset = 0;
    if (what.kind == RootKind::kConstant) offset = Value32(call, 2);
    if (what.kind == RootKind::kConstants) offset = Value32(call, 3);
    const ordered_json values = is_constant ? Constants(what.kind, call) : ordered_json::array();
    if (is_constant && values.empty()) return;
    // A root signature has no more than so many parameters and constants.
    if (index >= kMostRootWords || offset + values.size() > kMostRootWords) return;
    MakeRoom(index, is_constant, offset, values.size(), &arguments);
    RootArgument& argument = arguments[{index, offset}];
    argument.what = &what;
    argument.table = what.kind == RootKind::kTable ? Value64(call, 1) : 0;
    argument.json = {{"index", index}, {"kind", what.name}, {"set_by", number}};
    if (is_constant) {
      argument.json["offset"] = offset;
      argument.json["values"] = values;
    } else {
      argument.json["value"] = ValueAsJson(method.parameters[1], call.arguments[1], state_);
    }
  }

  // Takes away what the argument at `index` was. Constants replace each other one by one: those before
  // `offset` and from `offset` + `count` on stay.
  static void MakeRoom(uint32_t index, bool is_constant, uint32_t offset, uint64_t count,
                       RootArgumentMap* arguments) {
    const uint64_t behind = is_constant ? offset + count : ~uint64_t{0};
    auto it = arguments->lower_bound({index, is_constant ? offset : 0});
    if (it != arguments->begin()) --it;  // it may reach up to here
    while (it != arguments->end() && it->first < std::pair(index, behind)) {
      const auto replaced = it++;
      if (replaced->first.first != index) continue;
      const RootArgument old = std::move(replaced->second);
      const uint64_t start = replaced->first.second;
      arguments->erase(replaced);
      if (!is_constant || !old.json.contains("values")) continue;
      const uint64_t end = start + old.json["values"].size();
      KeepConstants(old, start, start, std::min<uint64_t>(end, offset), arguments);
      KeepConstants(old, start, std::max(start, behind), end, arguments);
    }
  }

  // Of constants that begin at `start` those in [first, end), if there are any.
  static void KeepConstants(const RootArgument& constants, uint64_t start, uint64_t first,
                            uint64_t end, RootArgumentMap* arguments) {
    if (first >= end) return;
    RootArgument kept = constants;
    const ordered_json& values = constants.json["values"];
    const auto at = [&](uint64_t i) {
      return values.begin() + static_cast<std::ptrdiff_t>(i - start);
    };
    kept.json["offset"] = first;
    kept.json["values"] = std::vector<ordered_json>(at(first), at(end));
    const auto index = constants.json["index"].get<uint32_t>();
    (*arguments)[{index, first}] = std::move(kept);
  }

  static ordered_json Constants(RootKind kind, const DecodedCall& call) {
    ordered_json values = ordered_json::array();
    if (kind == RootKind::kConstant) {
      values.push_back(Value32(call, 1));
      return values;
    }
    const auto* const data = Load<const std::byte*>(call.arguments[2]);
    const uint64_t count =
        std::min<uint64_t>(call.counts[2] / sizeof(uint32_t), kMostRootWords + 1);
    for (uint64_t i = 0; data != nullptr && i < count; ++i) {
      values.push_back(Load<uint32_t>(data + i * sizeof(uint32_t)));
    }
    return values;
  }

  void SetSlots(uint64_t number, const MethodInfo& method, const DecodedCall& call,
                std::map<uint32_t, ordered_json>* slots) const {
    const uint32_t first = Value32(call, 0);
    const ordered_json arguments = ArgumentsAsJson(method, call, state_);
    const ordered_json& views = arguments.value("pViews", ordered_json());
    if (!views.is_array()) {
      std::erase_if(*slots, [&](const auto& slot) {
        return slot.first >= first && slot.first - first < Value32(call, 1);
      });
      return;
    }
    for (size_t i = 0; i < views.size() && first + i < kMostSlots; ++i) {
      const auto slot = static_cast<uint32_t>(first + i);
      (*slots)[slot] = {{"slot", slot}, {"set_by", number}, {"view", views[i]}};
    }
  }

  // ---- Descriptors ----

  void TakeDescriptors(const Record& record, Method method) {
    const CallKind kind = CallKindOf(static_cast<uint16_t>(method));
    const bool is_copy = kind == CallKind::kCopyViews || kind == CallKind::kCopyViewsSimple;
    if (!is_copy && kind != CallKind::kView) return;
    DecodedCall call;
    if (!Decode(record, Describe(method), &call).ok()) return;
    if (!is_copy) {
      // The place of a view is the last parameter of all methods that make one.
      writers_.Write(Value64(call, call.arguments.size() - 1), record.number);
      return;
    }
    const size_t copied = writers_.Copy(call, kind == CallKind::kCopyViewsSimple, [](uint64_t) {});
    copy_budget_ -= std::min<uint64_t>(copy_budget_, copied);
    if (writers_.contents().size() > most_descriptors_) copy_budget_ = 0;
  }

  void DropDescriptors(uint64_t object) {
    const TracedObject* const ending = state_.Find(object);
    if (ending != nullptr && ending->heap.has_value() && ending->ended == 0) {
      writers_.RemoveHeap(*ending->heap);
    }
  }

  // Puts the calls where their numbers stand. In the order of the trace, so that no part of it is decoded
  // more than once.
  void ShowWriters(ordered_json* state) {
    std::vector<ordered_json*> writers;
    for (const char* const pipe : {"graphics", "compute"}) {
      for (ordered_json& argument : (*state)[pipe]["root_arguments"]) {
        if (!argument.contains("descriptors")) continue;
        for (ordered_json& shown : argument["descriptors"]) writers.push_back(&shown["written_by"]);
      }
    }
    std::sort(writers.begin(), writers.end(), [](const ordered_json* a, const ordered_json* b) {
      return a->get<uint64_t>() < b->get<uint64_t>();
    });
    for (ordered_json* const writer : writers) *writer = CallAsJson(writer->get<uint64_t>());
  }

  // With the numbers of the calls that wrote them.
  ordered_json TableDescriptors(uint64_t table) {
    ordered_json shown = ordered_json::array();
    const auto place = state_.GpuDescriptorAt(table);
    const TracedObject* const heap = place.has_value() ? state_.Find(place->heap) : nullptr;
    if (heap == nullptr || !heap->heap.has_value()) return shown;
    for (uint32_t i = 0; i < kShownDescriptors && place->index + i < heap->heap->count; ++i) {
      const uint64_t handle =
          heap->heap->cpu_start + uint64_t{place->index + i} * heap->heap->increment_bytes;
      const auto found = writers_.contents().find(handle);
      if (found == writers_.contents().end()) break;
      shown.push_back({{"index", place->index + i}, {"written_by", found->second}});
    }
    return shown;
  }

  // ---- What was found ----

  ordered_json Pipeline() {
    if (pipeline_ == kNoObject) return nullptr;
    ordered_json pipeline = Reference(pipeline_);
    pipeline["set_by"] = pipeline_set_by_;
    const TracedObject* const object = state_.Find(pipeline_);
    pipeline["created_by"] =
        object == nullptr ? ordered_json(nullptr) : CallAsJson(object->creator);
    return pipeline;
  }

  ordered_json Root(bool is_compute) {
    RootArguments& root = roots_[is_compute ? 1 : 0];
    ordered_json arguments = ordered_json::array();
    for (auto& [place, argument] : root.arguments) {
      if (argument.what->kind == RootKind::kTable) {
        argument.json["descriptors"] = TableDescriptors(argument.table);
      }
      arguments.push_back(argument.json);
    }
    return {{"root_signature", Reference(root.signature)}, {"root_arguments", arguments}};
  }

  static ordered_json Slots(const std::map<uint32_t, ordered_json>& slots) {
    ordered_json list = ordered_json::array();
    for (const auto& [slot, json] : slots) list.push_back(json);
    return list;
  }

  TraceReader& trace_;
  TraceState state_;
  Arena arena_{kMostDecodedBytes};
  const uint64_t wanted_;
  uint64_t copy_budget_;
  const uint64_t most_descriptors_;
  uint64_t list_ = kNoObject;
  uint64_t frame_ = 0;
  ordered_json call_;
  uint64_t since_ = 0;
  uint64_t pipeline_ = kNoObject;
  uint64_t pipeline_set_by_ = 0;
  RootArguments roots_[2];  // graphics, compute
  std::map<std::string, ordered_json> plain_;
  std::map<uint32_t, ordered_json> vertex_buffers_;
  std::map<uint32_t, ordered_json> stream_output_;
  DescriptorTable<uint64_t> writers_;  // calls
};

// ---- In words ----

constexpr size_t kMostLineBytes = 160;

// A value in one line: references by their text, structs as {a = b}, equal elements counted.
std::string InLine(const ordered_json& value) {
  if (value.is_object() && value.contains("text")) return value["text"].get<std::string>();
  if (value.is_string()) return value.get<std::string>();
  if (value.is_object()) {
    std::string text;
    for (const auto& [key, inner] : value.items()) {
      text += (text.empty() ? "" : ", ") + key + " = " + InLine(inner);
    }
    return "{" + text + "}";
  }
  if (value.is_array()) {
    std::string text;
    for (auto inner = value.begin(); inner != value.end();) {
      const auto end = std::find_if(inner, value.end(),
                                    [&](const ordered_json& next) { return next != *inner; });
      text += (text.empty() ? "" : ", ") + InLine(*inner);
      if (end - inner > 1) text += fmt::format(" ({} times)", end - inner);
      inner = end;
    }
    return "[" + text + "]";
  }
  return value.dump();
}

std::string Cut(const std::string& text) {
  const std::string_view kept = Utf8Prefix(text, kMostLineBytes);
  return kept.size() == text.size() ? text : std::string(kept) + " ...";
}

void AddLine(std::string* text, size_t indent, std::string_view key, const std::string& value) {
  *text += fmt::format("{}{}{}{}\n", std::string(indent, ' '), key, key.empty() ? "" : "  ",
                       Cut(VisibleText(value)));
}

std::string CallInLine(const ordered_json& call) {
  if (!call.is_object()) return "an unknown call";
  return fmt::format("call {}: {} {}", call.value("number", uint64_t{0}),
                     call.value("method", std::string()),
                     call.contains("arguments") ? InLine(call["arguments"]) : "");
}

void AddPipeline(std::string* text, const ordered_json& pipeline) {
  if (!pipeline.is_object()) return AddLine(text, 0, "pipeline", "none");
  AddLine(text, 0, "pipeline",
          fmt::format("{} (set by call {})", InLine(pipeline), InLine(pipeline["set_by"])));
  const ordered_json& creation = pipeline["created_by"];
  if (!creation.is_object()) return;
  AddLine(text, 2, "created by",
          fmt::format("call {}: {}", InLine(creation["number"]), InLine(creation["method"])));
  if (!creation["arguments"].is_object()) return;
  for (const auto& [name, value] : creation["arguments"].items()) {
    if (!value.is_object() || value.contains("text")) continue;
    for (const auto& [key, inner] : value.items()) AddLine(text, 4, key, InLine(inner));
  }
}

void AddRoot(std::string* text, const char* name, const ordered_json& root) {
  const ordered_json& arguments = root["root_arguments"];
  if (root["root_signature"].is_null() && arguments.empty()) return;
  AddLine(text, 0, name,
          root["root_signature"].is_null() ? "no root signature" : InLine(root["root_signature"]));
  for (const ordered_json& argument : arguments) {
    const ordered_json& value =
        argument.contains("values") ? argument["values"] : argument["value"];
    const std::string offset =
        argument.contains("offset") ? fmt::format(" from {}", InLine(argument["offset"])) : "";
    AddLine(text, 2, InLine(argument["index"]),
            fmt::format("{}{}: {} (set by call {})", InLine(argument["kind"]), offset,
                        InLine(value), InLine(argument["set_by"])));
    for (const ordered_json& descriptor : argument.value("descriptors", ordered_json::array())) {
      AddLine(text, 6, fmt::format("[{}]", InLine(descriptor["index"])),
              CallInLine(descriptor["written_by"]));
    }
  }
}

}  // namespace

bool IsOfCommandList(std::string_view method) {
  return method.substr(0, method.find("::")).find("CommandList") != std::string_view::npos;
}

Result<ordered_json> ListStateAt(TraceReader& trace, uint64_t call) {
  return StateFinder(trace, call).Run();
}

std::string ListStateInWords(const ordered_json& state) {
  std::string text;
  AddLine(&text, 0, "", CallInLine(state["call"]));
  AddLine(&text, 0, "list",
          fmt::format("{}, recorded since call {}", InLine(state["list"]),
                      InLine(state["recorded_since"])));
  AddPipeline(&text, state["pipeline"]);
  AddRoot(&text, "graphics root signature", state["graphics"]);
  AddRoot(&text, "compute root signature", state["compute"]);
  for (const auto& [key, value] : state.items()) {
    if (value.is_object() && value.contains("arguments") && key != "call") {
      AddLine(
          &text, 0, key,
          fmt::format("{} (set by call {})", InLine(value["arguments"]), InLine(value["set_by"])));
    }
    if (key != "vertex_buffers" && key != "stream_output") continue;
    for (const ordered_json& slot : value) {
      AddLine(&text, 0, fmt::format("{} {}", key, InLine(slot["slot"])),
              fmt::format("{} (set by call {})", InLine(slot["view"]), InLine(slot["set_by"])));
    }
  }
  return text;
}

}  // namespace cairn::cli
