// SPDX-License-Identifier: Apache-2.0
//
// The bindings of a command list: root signatures and their arguments, descriptor heaps, pipelines.
// Implementations index arrays by what a call says about the root signature that was set before,
// hold bound objects without a reference, and some read the descriptors of tables themselves.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "reader/replay/player_impl.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {

// Places in ListBindings::points.
constexpr size_t kGraphics = 0;
constexpr size_t kCompute = 1;

size_t PointOf(const CallRole& role) {
  return role.point == RootPoint::kCompute ? kCompute : kGraphics;
}

RootParameter::Kind KindOf(RootArgumentKind argument) {
  using Kind = RootParameter::Kind;
  switch (argument) {
    case RootArgumentKind::kConstants: return Kind::kConstants;
    case RootArgumentKind::kConstantBuffer: return Kind::kConstantBuffer;
    case RootArgumentKind::kShaderResource: return Kind::kShaderResource;
    case RootArgumentKind::kUnorderedAccess: return Kind::kUnordered;
    case RootArgumentKind::kTable:
    case RootArgumentKind::kNone: break;
  }
  return Kind::kTable;
}

bool Dispatches(const D3D12_COMMAND_SIGNATURE_DESC& desc) {
  if (desc.NumArgumentDescs == 0) return false;
  const D3D12_INDIRECT_ARGUMENT_TYPE last = desc.pArgumentDescs[desc.NumArgumentDescs - 1].Type;
  return last == D3D12_INDIRECT_ARGUMENT_TYPE_DISPATCH ||
         last == D3D12_INDIRECT_ARGUMENT_TYPE_DISPATCH_RAYS;
}

Status CheckConstants(const RootParameter& parameter, uint64_t first, uint64_t count) {
  if (first <= parameter.constants && count <= parameter.constants - first) return Status();
  return Status(StatusCode::kCorrupt,
                fmt::format("{} root constants from {} on, where there are {}", count, first,
                            parameter.constants));
}

Status CheckKind(const RootSignatureLayout& layout, uint64_t index, RootParameter::Kind kind) {
  if (index >= layout.parameters.size()) {
    return Status(StatusCode::kCorrupt,
                  fmt::format("root parameter {} of a root signature that has {}", index,
                              layout.parameters.size()));
  }
  const RootParameter::Kind is = layout.parameters[index].kind;
  if (is == kind) return Status();
  return Status(StatusCode::kCorrupt,
                fmt::format("root parameter {} is {}, not {}", index, NameOf(is), NameOf(kind)));
}

// Commands that set root arguments of the root signature that they are made for.
Status CheckCommand(const D3D12_INDIRECT_ARGUMENT_DESC& argument, const ReplayObject* signature) {
  using Kind = RootParameter::Kind;
  Kind kind = Kind::kConstants;
  uint64_t index = 0;
  switch (argument.Type) {
    case D3D12_INDIRECT_ARGUMENT_TYPE_CONSTANT: index = argument.Constant.RootParameterIndex; break;
    case D3D12_INDIRECT_ARGUMENT_TYPE_CONSTANT_BUFFER_VIEW:
      kind = Kind::kConstantBuffer;
      index = argument.ConstantBufferView.RootParameterIndex;
      break;
    case D3D12_INDIRECT_ARGUMENT_TYPE_SHADER_RESOURCE_VIEW:
      kind = Kind::kShaderResource;
      index = argument.ShaderResourceView.RootParameterIndex;
      break;
    case D3D12_INDIRECT_ARGUMENT_TYPE_UNORDERED_ACCESS_VIEW:
      kind = Kind::kUnordered;
      index = argument.UnorderedAccessView.RootParameterIndex;
      break;
    default: return Status();
  }
  if (signature == nullptr) {
    return Status(StatusCode::kCorrupt, "root arguments of commands without a root signature");
  }
  const RootSignatureLayout* const layout = signature->created.root_signature.get();
  if (layout == nullptr) {
    return Status(StatusCode::kUnsupported, "the root signature of its commands is not known");
  }
  CAIRN_RETURN_IF_ERROR(CheckKind(*layout, index, kind));
  if (kind != Kind::kConstants) return Status();
  return CheckConstants(layout->parameters[index], argument.Constant.DestOffsetIn32BitValues,
                        argument.Constant.Num32BitValuesToSet);
}

}  // namespace

// Keeps an object that was bound until the GPU has no use for it: the program may have released it
// already.
void PlayerImpl::Retire(uint64_t device, ComPtr<IUnknown> object) {
  if (!object || objects_.NumberOf(object.get()) != kNoObject) return;
  // The GPU may still use it.
  if (DeviceContext* const context = ContextOf(device); context != nullptr) {
    context->ended.push_back(std::move(object));
  }
}

void PlayerImpl::Retire(uint64_t device, ListBindings* bindings) {
  for (ListBindings::Bound& bound : bindings->points) {
    Retire(device, std::move(bound.signature));
    for (ListBindings::Table& table : bound.tables) Retire(device, std::move(table.heap));
  }
  Retire(device, std::move(bindings->pipeline));
  Retire(device, std::move(bindings->state_object));
}

PlayerImpl::ListBindings& PlayerImpl::BindingsOf(uint64_t list) {
  std::unique_ptr<ListBindings>& bindings = bindings_[list];
  if (bindings == nullptr) bindings = std::make_unique<ListBindings>();
  return *bindings;
}

void PlayerImpl::EndBindings(const ReplayObject& list) {
  const auto found = bindings_.find(list.number);
  if (found == bindings_.end()) return;
  Retire(list.device, found->second.get());
  bindings_.erase(found);
}

// Returns the facts of the object that the call will make, which only its arguments show.
CreationFacts PlayerImpl::FactsOf(CallInProgress* call) {
  CreationFacts facts;
  switch (call->method) {
    // A library shows its root signature if it has one alone.
    case Method::ID3D12Device_CreateRootSignature:
    case Method::ID3D12Device14_CreateRootSignatureFromSubobjectInLibrary: {
      Result<RootSignatureLayout> layout = ParseRootSignature(
          {static_cast<const std::byte*>(call->At<const void*>(1)), call->At<SIZE_T>(2)});
      if (layout.ok()) {
        facts.root_signature = std::make_shared<const RootSignatureLayout>(std::move(*layout));
      }
      break;
    }
    case Method::ID3D12Device5_CreateMetaCommand: facts.meta_command = call->At<GUID>(0); break;
    case Method::ID3D12Device_CreateQueryHeap:
    case Method::ID3D12Device15_CreateQueryHeap1:
      facts.queries = *call->At<const D3D12_QUERY_HEAP_DESC*>(0);
      break;
    case Method::ID3D12Device_CreateCommandSignature:
      facts.dispatches = Dispatches(*call->At<const D3D12_COMMAND_SIGNATURE_DESC*>(0));
      break;
    case Method::ID3D12Device_CreateCommandList: {
      const ReplayObject* const allocator = call->ObjectAt(2);
      facts.allocator = allocator == nullptr ? kNoObject : allocator->number;
      facts.allocator_resets = allocator == nullptr ? 0 : allocator->resets;
      facts.pipeline = ComPtr<IUnknown>(call->At<IUnknown*>(3));
      facts.lost_pipeline = values_.lost_pipeline();
      break;
    }
    default: break;
  }
  return facts;
}

void PlayerImpl::KeepFacts(ReplayObject* object, CreationFacts facts) {
  if (object->chain == Chain::kID3D12GraphicsCommandList) {
    ListBindings& bindings = BindingsOf(object->number);
    bindings.allocator = facts.allocator;
    bindings.allocator_resets = facts.allocator_resets;
    bindings.pipeline = std::move(facts.pipeline);
    bindings.unknown_pipeline = facts.lost_pipeline;
  }
  facts.pipeline = {};
  object->created = std::move(facts);
}

// A list is gone with what its allocator had for it.
Status PlayerImpl::CheckRecorded(uint64_t list) {
  const auto found = bindings_.find(list);
  if (found == bindings_.end()) return Status();
  if (found->second->unknown) {
    return Status(StatusCode::kUnsupported,
                  "its command list was not reset or closed here: that was left out");
  }
  if (found->second->allocator == kNoObject) return Status();
  const ReplayObject* const allocator = objects_.Find(found->second->allocator);
  if (allocator == nullptr && !library_.is_libvkd3d) return Status();
  if (allocator != nullptr && allocator->resets == found->second->allocator_resets) return Status();
  return Status(
      StatusCode::kCorrupt,
      fmt::format("command list {} was recorded in allocator {}, which {} since", list,
                  found->second->allocator, allocator == nullptr ? "has ended" : "was reset"));
}

Status PlayerImpl::CheckRootArgument(CallInProgress* call, size_t point, RootParameter::Kind kind) {
  const ListBindings::Bound& bound = BindingsOf(call->record.object).points[point];
  const UINT index = call->At<UINT>(0);
  if (bound.unknown) {
    return Status(StatusCode::kUnsupported, "its root signature was not set here");
  }
  if (!bound.set) {
    return Status(StatusCode::kCorrupt, "the command list has no root signature for it");
  }
  if (bound.layout == nullptr) {
    return Status(StatusCode::kUnsupported, "its root signature is not known");
  }
  CAIRN_RETURN_IF_ERROR(CheckKind(*bound.layout, index, kind));
  const RootParameter& parameter = bound.layout->parameters[index];
  switch (kind) {
    case RootParameter::Kind::kTable: return CheckTable(parameter);
    case RootParameter::Kind::kConstants:
      // One, or several: their number comes before them.
      return call->info.parameters.size() == 3
                 ? CheckConstants(parameter, call->At<UINT>(2), 1)
                 : CheckConstants(parameter, call->At<UINT>(3), call->At<UINT>(1));
    default: return Status();
  }
}

Status PlayerImpl::CheckTable(const RootParameter& parameter) {
  if (values_.descriptors().empty()) return Status();
  const ReplayDescriptor& start = values_.descriptors().front();
  if (start.heap == kNoObject) return Status();  // nothing is bound
  const D3D12_DESCRIPTOR_HEAP_TYPE wanted = parameter.samplers
                                                ? D3D12_DESCRIPTOR_HEAP_TYPE_SAMPLER
                                                : D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV;
  if (start.heap_type != wanted) {
    return Status(
        StatusCode::kCorrupt,
        fmt::format("a table in heap {}, which holds descriptors of type {}, not {}", start.heap,
                    static_cast<int>(start.heap_type), static_cast<int>(wanted)));
  }
  return Status();
}

// All tables of the root signature, those of an earlier one among them: that is how libvkd3d reads them.
// Elsewhere a table may end behind its heap, if no shader looks there.
Status PlayerImpl::CheckTables(ListBindings* bindings, size_t point) {
  ListBindings::Bound* const bound = &bindings->points[point];
  const bool unknown_targets = point == kGraphics && bindings->unknown_targets;
  if (bound->unknown || bindings->unknown_heaps || bindings->unknown_pipeline || unknown_targets) {
    return Status(StatusCode::kUnsupported,
                  "its pipeline, root signature, descriptor heaps or targets were not set here");
  }
  if (!library_.is_libvkd3d || bound->checked || bound->layout == nullptr) return Status();
  const std::vector<RootParameter>& parameters = bound->layout->parameters;
  for (size_t i = 0; i < parameters.size() && i < bound->tables.size(); ++i) {
    const ListBindings::Table& table = bound->tables[i];
    if (parameters[i].kind != RootParameter::Kind::kTable) continue;
    if (table.outside != 0) {
      return Status(
          StatusCode::kUnsupported,
          fmt::format("root parameter {} begins at descriptor 0x{:x}, which was in no heap", i,
                      table.outside));
    }
    if (!table.heap) continue;
    if (parameters[i].descriptors <= table.heap_count - table.index) continue;
    return Status(StatusCode::kUnsupported,
                  fmt::format("root parameter {} has {} descriptors, and begins at {} in heap {}, "
                              "which has {}",
                              i, parameters[i].descriptors, table.index, table.heap_number,
                              table.heap_count));
  }
  bound->checked = true;
  return Status();
}

Status PlayerImpl::CheckCreation(CallInProgress* call) {
  if (call->method == Method::ID3D12Device_CreateRootSignature) {
    const Result<RootSignatureLayout> layout = ParseRootSignature(
        {static_cast<const std::byte*>(call->At<const void*>(1)), call->At<SIZE_T>(2)});
    return layout.ok() ? Status() : layout.status();
  }
  if (call->method == Method::ID3D12Device_CreateCommandSignature) {
    const auto& desc = *call->At<const D3D12_COMMAND_SIGNATURE_DESC*>(0);
    for (UINT i = 0; i < desc.NumArgumentDescs; ++i) {
      CAIRN_RETURN_IF_ERROR(CheckCommand(desc.pArgumentDescs[i], call->ObjectAt(1)));
    }
  }
  return Status();
}

Status PlayerImpl::CheckBindings(CallInProgress* call) {
  if (call->object->chain != Chain::kID3D12GraphicsCommandList) return Status();
  const CallRole& role = RoleOf(call->method);
  if (role.timeline != Timeline::kList || role.role == Role::kListReset) return Status();
  CAIRN_RETURN_IF_ERROR(CheckRecorded(call->record.object));
  if (role.root != RootArgumentKind::kNone) {
    return CheckRootArgument(call, PointOf(role), KindOf(role.root));
  }
  return CheckWork(call);
}

Status PlayerImpl::CheckWork(CallInProgress* call) {
  ListBindings& bindings = BindingsOf(call->record.object);
  const CallRole& role = RoleOf(call->method);
  if (role.role == Role::kBundle) {
    const auto bundle = bindings_.find(objects_.NumberOf(call->At<void*>(0)));
    if (bundle == bindings_.end() || !bundle->second->unknown) return Status();
    return Status(StatusCode::kUnsupported,
                  "its bundle was not reset or closed here: that was left out");
  }
  if (role.role == Role::kWork) {
    if (role.point == RootPoint::kNone) return Status();
    if (role.point != RootPoint::kEither) return CheckTables(&bindings, PointOf(role));
    const ReplayObject* const signature = call->ObjectAt(static_cast<size_t>(role.object));
    const bool dispatches = signature != nullptr && signature->created.dispatches;
    return CheckTables(&bindings, dispatches ? kCompute : kGraphics);
  }
  if (role.state == StateKind::kDescriptorHeaps) {
    const auto* const heaps = call->At<ID3D12DescriptorHeap* const*>(1);
    for (UINT i = 0; i < call->At<UINT>(0); ++i) {
      if (heaps[i] == nullptr) return Status(StatusCode::kCorrupt, "a descriptor heap is null");
    }
  } else if (role.state == StateKind::kStreamOutput) {
    const auto* const views = call->At<const D3D12_STREAM_OUTPUT_BUFFER_VIEW*>(2);
    for (UINT i = 0; views != nullptr && i < call->At<UINT>(1); ++i) {
      if (views[i].BufferLocation == 0 || views[i].BufferFilledSizeLocation != 0) continue;
      if (!library_.is_libvkd3d) continue;
      return Status(StatusCode::kUnsupported,
                    "this implementation takes no stream output buffer without a counter");
    }
  }
  return Status();
}

void PlayerImpl::SetRootSignature(CallInProgress* call, size_t point) {
  ListBindings::Bound& bound = BindingsOf(call->record.object).points[point];
  const ReplayObject* const signature = call->ObjectAt(0);
  Retire(call->object->device, std::move(bound.signature));
  bound.set = signature != nullptr;
  bound.unknown = false;
  bound.signature = signature == nullptr ? ComPtr<IUnknown>() : signature->pointer;
  bound.layout = signature == nullptr ? nullptr : signature->created.root_signature;
  bound.checked = false;
}

void PlayerImpl::SetTable(CallInProgress* call, size_t point) {
  ListBindings::Bound& bound = BindingsOf(call->record.object).points[point];
  const UINT index = call->At<UINT>(0);  // was checked
  if (bound.tables.size() <= index) bound.tables.resize(index + 1);
  ListBindings::Table& table = bound.tables[index];
  Retire(call->object->device, std::move(table.heap));
  table = {};
  bound.checked = false;
  if (const uint64_t handle = values_.table_outside(); handle != 0) {
    table.outside = handle;
    Note(fmt::format("call {}, {}: descriptor 0x{:x} was in no heap; {}", call->record.number,
                     call->info.name, handle,
                     library_.is_libvkd3d ? "here the table is null" : "it is passed on as it is"));
  }
  if (values_.descriptors().empty()) return;
  const ReplayDescriptor& start = values_.descriptors().front();
  const ReplayObject* const heap = objects_.Find(start.heap);
  if (start.heap == kNoObject || heap == nullptr) return;
  table.heap = heap->pointer;
  table.heap_number = start.heap;
  table.index = start.index;
  table.heap_count = start.heap_count;
}

// `pipeline`: null: none from here on.
void PlayerImpl::StartList(CallInProgress* call, const ReplayObject* allocator,
                           IUnknown* pipeline) {
  ListBindings& bindings = BindingsOf(call->record.object);
  Retire(call->object->device, &bindings);
  bindings = {};
  bindings.allocator = allocator == nullptr ? kNoObject : allocator->number;
  bindings.allocator_resets = allocator == nullptr ? 0 : allocator->resets;
  if (pipeline != nullptr) bindings.pipeline = ComPtr<IUnknown>(pipeline);
}

void PlayerImpl::ClearList(CallInProgress* call, IUnknown* pipeline) {
  ListBindings& bindings = BindingsOf(call->record.object);
  if (library_.is_libvkd3d) {
    // ClearState releases nothing: bound objects are used, and so held, until others are bound.
    for (ListBindings::Bound& bound : bindings.points) bound.set = bound.unknown = false;
    return;
  }
  const uint64_t allocator = bindings.allocator;
  const uint64_t resets = bindings.allocator_resets;
  StartList(call, nullptr, pipeline);
  bindings.allocator = allocator;
  bindings.allocator_resets = resets;
}

void PlayerImpl::ForgetBindings(uint64_t list, Method method) {
  const ReplayObject* const object = objects_.Find(list);
  if (object == nullptr || object->chain != Chain::kID3D12GraphicsCommandList) return;
  ListBindings& bindings = BindingsOf(list);
  const CallRole& role = RoleOf(method);
  switch (role.role) {
    case Role::kListReset:
    case Role::kListClose: bindings.unknown = true; return;
    case Role::kBeginPass: bindings.unknown_targets = true; return;
    case Role::kClearState:
      for (ListBindings::Bound& bound : bindings.points) bound.unknown = true;
      bindings.unknown_pipeline = true;
      return;
    default: break;
  }
  switch (role.state) {
    case StateKind::kRenderTargets: bindings.unknown_targets = true; return;
    case StateKind::kRootSignature: bindings.points[PointOf(role)].unknown = true; return;
    case StateKind::kDescriptorHeaps: bindings.unknown_heaps = true; return;
    case StateKind::kPipeline: bindings.unknown_pipeline = true; return;
    default: return;
  }
}

// Tracks bindings after a call that succeeded.
void PlayerImpl::NoteBindings(CallInProgress* call) {
  if (values_.lost_pipeline()) {
    LeaveOut(call->record.number,
             fmt::format("{}: its pipeline, which could not be made here", call->info.name));
  }
  const CallRole& role = RoleOf(call->method);
  if (role.role == Role::kAllocatorReset) ++call->object->resets;
  if (call->object->chain != Chain::kID3D12GraphicsCommandList) return;
  switch (role.role) {
    case Role::kListReset:
      StartList(call, call->ObjectAt(static_cast<size_t>(role.object)),
                call->At<IUnknown*>(static_cast<size_t>(role.value)));
      BindingsOf(call->record.object).unknown_pipeline = values_.lost_pipeline();
      return;
    case Role::kClearState:
      ClearList(call, call->At<IUnknown*>(static_cast<size_t>(role.value)));
      if (values_.lost_pipeline()) BindingsOf(call->record.object).unknown_pipeline = true;
      return;
    case Role::kBeginPass: BindingsOf(call->record.object).unknown_targets = false; return;
    case Role::kState: return NoteState(call, role);
    default: return;
  }
}

void PlayerImpl::NoteState(CallInProgress* call, const CallRole& role) {
  ListBindings& bindings = BindingsOf(call->record.object);
  switch (role.state) {
    case StateKind::kRootSignature: return SetRootSignature(call, PointOf(role));
    case StateKind::kRootArgument:
      if (role.root == RootArgumentKind::kTable) SetTable(call, PointOf(role));
      return;
    case StateKind::kPipeline: {
      // With a state object, keep the pipeline as well: the implementation may or may not forget it.
      const ParameterInfo& set = call->info.parameters[static_cast<size_t>(role.value)];
      if (set.kind != ValueKind::kObject) return;
      ComPtr<IUnknown>& bound =
          set.chain == Chain::kID3D12PipelineState ? bindings.pipeline : bindings.state_object;
      Retire(call->object->device, std::move(bound));
      bound = ComPtr<IUnknown>(call->At<IUnknown*>(static_cast<size_t>(role.value)));
      bindings.unknown_pipeline = false;
      return;
    }
    case StateKind::kDescriptorHeaps: bindings.unknown_heaps = false; return;
    case StateKind::kRenderTargets: bindings.unknown_targets = false; return;
    default: return;
  }
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
