// SPDX-License-Identifier: Apache-2.0
#include "format/model/list_state.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>

#include "d3d12gen/chains.h"
#include "d3d12gen/methods.h"
#include "format/calls/created_object.h"
#include "format/calls/value_shape.h"
#include "format/model/decoded_arguments.h"

namespace cairn {
namespace {

using Arguments = BoundState::Arguments;
constexpr uint32_t kMostRootWords = BoundState::kMostRootWords;

bool ChangesState(Role role) {
  switch (role) {
    case Role::kListReset:
    case Role::kClearState:
    case Role::kState:
    case Role::kBeginPass:
    case Role::kEndPass:
    case Role::kBundle: return true;
    default: return false;
  }
}

// Returns the state with which a recording begins: a pipeline and nothing else.
BoundState Fresh(uint64_t pipeline, uint64_t number) {
  BoundState state;
  state.since = number;
  state.pipeline = pipeline;
  state.pipeline_set_by = number;
  return state;
}

// ---- Root arguments --------------------------------------------------------------------------------

// Keeps the constants, which begin at `start`, from `first` (index, offset) to the offset `end`, if there are
// any.
void KeepConstants(const BoundState::Argument& old, uint64_t start,
                   std::pair<uint32_t, uint64_t> first, uint64_t end, Arguments* arguments) {
  if (first.second >= end) return;
  const auto at = [&](uint64_t offset) {
    return old.constants.begin() + static_cast<std::ptrdiff_t>(offset - start);
  };
  BoundState::Argument& kept = (*arguments)[first];
  kept = old;
  kept.constants.assign(at(first.second), at(end));
}

// Takes away what the argument at `index` was. Constants replace each other one by one: those before
// `offset` and from `offset` + `count` on stay.
void MakeRoom(uint32_t index, bool is_constant, uint64_t offset, uint64_t count,
              Arguments* arguments) {
  const uint64_t behind = is_constant ? offset + count : ~uint64_t{0};
  auto it = arguments->lower_bound({index, is_constant ? offset : 0});
  if (it != arguments->begin()) --it;  // it may reach up to here
  while (it != arguments->end() && it->first < std::pair(index, behind)) {
    const auto replaced = it++;
    if (replaced->first.first != index) continue;
    const BoundState::Argument old = std::move(replaced->second);
    const uint64_t start = replaced->first.second;
    arguments->erase(replaced);
    if (!is_constant) continue;
    const uint64_t end = start + old.constants.size();
    KeepConstants(old, start, {index, start}, std::min<uint64_t>(end, offset), arguments);
    KeepConstants(old, start, {index, std::max(start, behind)}, end, arguments);
  }
}

void SetArgument(std::pair<uint32_t, uint64_t> place, BoundState::Argument argument,
                 Arguments* arguments) {
  const bool is_constant = argument.kind == RootArgumentKind::kConstants;
  const size_t count = argument.constants.size();
  if (is_constant && count == 0) return;
  // A root signature has no more than so many parameters and constants.
  if (place.first >= kMostRootWords || place.second + count > kMostRootWords) return;
  MakeRoom(place.first, is_constant, place.second, count, arguments);
  if (arguments->size() >= kMostRootWords) arguments->clear();  // no valid list has so many
  (*arguments)[place] = std::move(argument);
}

// Drops the arguments if the signature is another one: they are invalid now.
void SetSignature(uint64_t signature, BoundState::Root* root) {
  if (root->signature != signature) root->arguments.clear();
  root->signature = signature;
}

std::vector<uint32_t> ConstantsOf(const CallRole& role, const DecodedCall& call) {
  const auto value = static_cast<size_t>(role.value);
  if (role.count == kNoParameter) return {Value<uint32_t>(call, value)};
  std::vector<uint32_t> constants;
  const auto* const data = Array<std::byte>(call, value);
  const uint64_t count =
      std::min<uint64_t>(call.counts[value] / sizeof(uint32_t), kMostRootWords + 1);
  for (uint64_t i = 0; data != nullptr && i < count; ++i) {
    constants.push_back(Load<uint32_t>(data + i * sizeof(uint32_t)));
  }
  return constants;
}

// ---- State -----------------------------------------------------------------------------------------

void SetPipeline(const ParameterInfo& set, uint64_t object, uint64_t number, BoundState* state) {
  const bool is_object = set.kind == ValueKind::kObject;
  state->pipeline_kind = !is_object ? BoundState::Pipeline::kProgram
                         : set.chain == Chain::kID3D12PipelineState
                             ? BoundState::Pipeline::kPipeline
                             : BoundState::Pipeline::kStateObject;
  state->pipeline = is_object ? object : kNoObject;
  state->pipeline_set_by = number;
}

void SetSlots(const CallRole& role, const DecodedCall& call, uint64_t number,
              BoundState::Slots* slots) {
  const auto value = static_cast<size_t>(role.value);
  const auto first = Value<uint32_t>(call, static_cast<size_t>(role.slot));
  if (Array<std::byte>(call, value) == nullptr) {
    const auto count = Value<uint32_t>(call, static_cast<size_t>(role.count));
    std::erase_if(*slots, [&](const auto& slot) {
      return slot.first >= first && slot.first - first < count;
    });
    return;
  }
  for (uint64_t i = 0; i < call.counts[value] && first + i < BoundState::kMostSlots; ++i) {
    (*slots)[static_cast<uint32_t>(first + i)] = number;
  }
}

void SetState(Method method, const DecodedCall& call, uint64_t number, BoundState* state) {
  const CallRole& role = RoleOf(method);
  const auto value = static_cast<size_t>(role.value);
  BoundState::Root& root = role.point == RootPoint::kCompute ? state->compute : state->graphics;
  switch (role.state) {
    case StateKind::kPipeline:
      return SetPipeline(Describe(method).parameters[value], Value<uint64_t>(call, value), number,
                         state);
    case StateKind::kRootSignature: return SetSignature(Value<uint64_t>(call, value), &root);
    case StateKind::kRootArgument: {
      const std::pair<uint32_t, uint64_t> place = {
          Value<uint32_t>(call, static_cast<size_t>(role.slot)),
          Value<uint32_t>(call, static_cast<size_t>(role.offset))};
      BoundState::Argument argument = {.kind = role.root, .set_by = number};
      if (role.root == RootArgumentKind::kConstants) {
        argument.constants = ConstantsOf(role, call);
      } else {
        argument.value = Value<uint64_t>(call, value);
      }
      return SetArgument(place, std::move(argument), &root.arguments);
    }
    case StateKind::kVertexBuffers: return SetSlots(role, call, number, &state->vertex_buffers);
    case StateKind::kStreamOutput: return SetSlots(role, call, number, &state->stream_output);
    default: state->settings[role.state] = number; return;
  }
}

void AddRoot(const BoundState::Root& from, BoundState::Root* to) {
  if (from.signature != kNoObject) SetSignature(from.signature, to);
  for (const auto& [place, argument] : from.arguments) SetArgument(place, argument, &to->arguments);
}

// Sets in the list what the bundle set: it stays set behind ExecuteBundle.
void AddBundle(const BoundState& bundle, BoundState* list) {
  if (bundle.pipeline != kNoObject || bundle.pipeline_kind == BoundState::Pipeline::kProgram) {
    list->pipeline_kind = bundle.pipeline_kind;
    list->pipeline = bundle.pipeline;
    list->pipeline_set_by = bundle.pipeline_set_by;
  }
  AddRoot(bundle.graphics, &list->graphics);
  AddRoot(bundle.compute, &list->compute);
  for (const auto& [kind, set_by] : bundle.settings) list->settings[kind] = set_by;
  for (const auto& [slot, set_by] : bundle.vertex_buffers) list->vertex_buffers[slot] = set_by;
  for (const auto& [slot, set_by] : bundle.stream_output) list->stream_output[slot] = set_by;
}

}  // namespace

void ListTracker::Look(const Record& record) {
  switch (record.kind) {
    case RecordKind::kObject: return OnCreation(record);
    case RecordKind::kObjectEnd: return lists_.End(record.object);
    case RecordKind::kCall:
    case RecordKind::kResult: break;
    default: return;
  }
  const std::optional<Method> method = trace_.MethodOf(record);
  if (!method.has_value()) return;
  if (record.kind == RecordKind::kCall) return OnCall(record, *method);
  lists_.OnResult(record, RoleOf(*method));
  std::span<const std::byte> rest = record.body;
  if (const Result<ResultBody> body = DecodeBody<ResultBody>(&rest); body.ok()) {
    first_pipelines_.erase(body->call);
  }
}

// Begins the first recording of a list that was made open, with a first pipeline; CreateCommandList1 makes
// closed ones.
void ListTracker::OnCreation(const Record& record) {
  const Result<CreatedObject> made = DecodeObject(record);
  if (!made.ok() || lists_.size() >= kMostLists) return;
  const auto pipeline = first_pipelines_.find(made->body.creator);
  if (pipeline == first_pipelines_.end()) return;
  lists_[record.object] = Fresh(pipeline->second, pipeline->first);
}

void ListTracker::OnCall(const Record& record, Method method) {
  const CallRole& role = RoleOf(method);
  const bool makes_list =
      role.role == Role::kCreate && role.value != kNoParameter &&
      Describe(method).parameters[static_cast<size_t>(role.value)].kind == ValueKind::kObject;
  if (!makes_list && !ChangesState(role.role)) return;
  if (makes_list ? first_pipelines_.size() >= kMostLists
                 : lists_.size() >= kMostLists && lists_.Find(record.object) == nullptr) {
    return;
  }
  Record known = record;
  known.method = static_cast<uint16_t>(method);
  const DecodedCall call = reader_.Arguments(known, &trace_);
  if (call.arguments.size() != Describe(method).parameters.size()) return;
  const auto value = Value<uint64_t>(call, static_cast<size_t>(role.value));
  if (makes_list) {
    first_pipelines_[record.number] = value;
    return;
  }
  if (role.role == Role::kListReset) {
    return lists_.Reset(record.object, Fresh(value, record.number));
  }
  BoundState& state = lists_[record.object];
  switch (role.role) {
    case Role::kClearState: state = Fresh(value, record.number); return;
    case Role::kState: return SetState(method, call, record.number, &state);
    case Role::kBeginPass: state.pass = record.number; return;
    case Role::kEndPass: state.pass = 0; return;
    default: break;
  }
  const BoundState* const bundle =
      lists_.Find(Value<uint64_t>(call, static_cast<size_t>(role.object)));
  if (bundle != nullptr && bundle != &state) AddBundle(*bundle, &state);
}

}  // namespace cairn
