// SPDX-License-Identifier: Apache-2.0
#include "reader/replay/list_bindings.h"

#include <fmt/format.h>

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {

// Places in Bound::points.
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

Status CheckTable(const RootParameter& parameter, std::span<const ReplayDescriptor> descriptors) {
  if (descriptors.empty()) return Status();
  const ReplayDescriptor& start = descriptors.front();
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

}  // namespace

void ListBindings::Unbind(uint64_t device, ComPtr<IUnknown> object) {
  if (object && objects_->NumberOf(object.get()) == kNoObject) retire_(device, std::move(object));
}

void ListBindings::Unbind(uint64_t device, Bound* bound) {
  for (Point& point : bound->points) {
    Unbind(device, std::move(point.signature));
    for (Table& table : point.tables) Unbind(device, std::move(table.heap));
  }
  Unbind(device, std::move(bound->pipeline));
  Unbind(device, std::move(bound->state_object));
}

const ListBindings::Bound* ListBindings::Find(uint64_t list) const {
  if (const Bound* const recent = recent_.Find(list); recent != nullptr) return recent;
  const auto found = lists_.find(list);
  return found == lists_.end() ? nullptr : recent_.Keep(list, found->second.get());
}

ListBindings::Bound& ListBindings::Made(uint64_t list) {
  std::unique_ptr<Bound>& bound = lists_[list];
  if (bound == nullptr) bound = std::make_unique<Bound>();
  return *recent_.Keep(list, bound.get());
}

void ListBindings::Begin(uint64_t list, CreationFacts* facts) {
  Bound& bound = Of(list);
  bound.allocator = facts->allocator;
  bound.allocator_resets = facts->allocator_resets;
  bound.pipeline = std::move(facts->pipeline);
  bound.unknown_pipeline = facts->lost_pipeline;
}

void ListBindings::End(const ReplayObject& list) {
  const auto found = lists_.find(list.number);
  if (found == lists_.end()) return;
  Unbind(list.device, found->second.get());
  recent_.Forget(list.number);
  lists_.erase(found);
}

void ListBindings::Abandon() {
  for (auto& [list, bound] : lists_) (void)bound.release();
  recent_.Clear();
  lists_.clear();
}

bool ListBindings::IsUnknown(uint64_t list) const {
  const Bound* const bound = Find(list);
  return bound != nullptr && bound->unknown;
}

void ListBindings::SetKnown(uint64_t list) {
  if (const auto found = lists_.find(list); found != lists_.end()) found->second->unknown = false;
}

// A list is gone with what its allocator had for it.
Status ListBindings::CheckRecorded(uint64_t list) const {
  const Bound* const bound = Find(list);
  return bound == nullptr ? Status() : CheckRecorded(list, *bound);
}

bool ListBindings::IsRecorded(const Bound& bound) const {
  if (bound.unknown) return false;
  if (bound.allocator == kNoObject) return true;
  const ReplayObject* const allocator = objects_->Find(bound.allocator);
  return allocator == nullptr ? !is_libvkd3d_ : allocator->resets == bound.allocator_resets;
}

Status ListBindings::CheckRecorded(uint64_t list, const Bound& bound) const {
  if (IsRecorded(bound)) return Status();
  if (bound.unknown) {
    return Status(StatusCode::kUnsupported,
                  "its command list was not reset or closed here: that call was skipped");
  }
  const ReplayObject* const allocator = objects_->Find(bound.allocator);
  return Status(StatusCode::kCorrupt,
                fmt::format("command list {} was recorded in allocator {}, which {} since", list,
                            bound.allocator, allocator == nullptr ? "has ended" : "was reset"));
}

Status ListBindings::CheckRootArgument(CallInProgress* call, const Bound& list,
                                       std::span<const ReplayDescriptor> descriptors) {
  const CallRole& role = RoleOf(call->method);
  const RootParameter::Kind kind = KindOf(role.root);
  const Point& bound = list.points[PointOf(role)];
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
  CAIRN_RETURN_IF_ERROR(CheckParameter(*bound.layout, index, kind));
  const RootParameter& parameter = bound.layout->parameters[index];
  switch (kind) {
    case RootParameter::Kind::kTable: return CheckTable(parameter, descriptors);
    case RootParameter::Kind::kConstants:
      // One, or several: their number comes before them.
      return call->info.parameters.size() == 3
                 ? CheckConstants(parameter, call->At<UINT>(2), 1)
                 : CheckConstants(parameter, call->At<UINT>(3), call->At<UINT>(1));
    default: return Status();
  }
}

// All tables of the root signature, those of an earlier one among them: that is how libvkd3d reads them.
// Elsewhere a table may end behind its heap, if no shader looks there.
Status ListBindings::CheckTables(Bound* bound, size_t point) const {
  Point& root = bound->points[point];
  const bool unknown_targets = point == kGraphics && bound->unknown_targets;
  if (root.unknown || bound->unknown_heaps || bound->unknown_pipeline || unknown_targets) {
    return Status(StatusCode::kUnsupported,
                  "its pipeline, root signature, descriptor heaps or targets were not set here");
  }
  if (!is_libvkd3d_ || root.checked || root.layout == nullptr) return Status();
  const std::vector<RootParameter>& parameters = root.layout->parameters;
  for (size_t i = 0; i < parameters.size() && i < root.tables.size(); ++i) {
    const Table& table = root.tables[i];
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
  root.checked = true;
  return Status();
}

Status ListBindings::Check(CallInProgress* call, std::span<const ReplayDescriptor> descriptors) {
  if (call->object->chain != Chain::kID3D12GraphicsCommandList) return Status();
  const CallRole& role = RoleOf(call->method);
  if (role.timeline != Timeline::kList || role.role == Role::kListReset) return Status();
  Bound& bound = Of(call->record.object);
  if (!IsRecorded(bound)) return CheckRecorded(call->record.object, bound);
  if (role.root != RootArgumentKind::kNone) return CheckRootArgument(call, bound, descriptors);
  return call->Needs(CallPart::kWorkChecks) ? CheckWork(call, &bound) : Status();
}

Status ListBindings::CheckWork(CallInProgress* call, Bound* bindings) {
  const CallRole& role = RoleOf(call->method);
  if (role.role == Role::kBundle) {
    if (!IsUnknown(objects_->NumberOf(call->At<void*>(0)))) return Status();
    return Status(StatusCode::kUnsupported,
                  "its bundle was not reset or closed here: that call was skipped");
  }
  if (role.role == Role::kWork) {
    if (role.point == RootPoint::kNone) return call->Needless(CallPart::kWorkChecks);
    if (call->method == Method::ID3D12GraphicsCommandList10_DispatchGraph &&
        !bindings->points[kCompute].set) {
      return Status(StatusCode::kUnsupported, "a work graph without a root signature");
    }
    if (role.point != RootPoint::kEither) return CheckTables(bindings, PointOf(role));
    const ReplayObject* const signature = call->ObjectAt(static_cast<size_t>(role.object));
    const bool dispatches = signature != nullptr && signature->created.dispatches;
    return CheckTables(bindings, dispatches ? kCompute : kGraphics);
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
      if (!is_libvkd3d_) continue;
      return Status(StatusCode::kUnsupported,
                    "this implementation takes no stream output buffer without a counter");
    }
  } else {
    return call->Needless(CallPart::kWorkChecks);
  }
  return Status();
}

void ListBindings::SetRootSignature(CallInProgress* call, size_t point) {
  Point& bound = Of(call->record.object).points[point];
  const ReplayObject* const signature = call->ObjectAt(0);
  Unbind(call->object->device, std::move(bound.signature));
  bound.set = signature != nullptr;
  bound.unknown = false;
  bound.signature = signature == nullptr ? ComPtr<IUnknown>() : signature->pointer;
  bound.layout = signature == nullptr ? nullptr : signature->created.root_signature;
  bound.checked = false;
}

void ListBindings::SetTable(CallInProgress* call, size_t point,
                            std::span<const ReplayDescriptor> descriptors) {
  Point& bound = Of(call->record.object).points[point];
  const UINT index = call->At<UINT>(0);  // was checked
  if (bound.tables.size() <= index) bound.tables.resize(index + 1);
  Table& table = bound.tables[index];
  Unbind(call->object->device, std::move(table.heap));
  table = {};
  bound.checked = false;
  if (descriptors.empty()) return;
  const ReplayDescriptor& start = descriptors.front();
  table.outside = start.outside;
  const ReplayObject* const heap = objects_->Find(start.heap);
  if (start.heap == kNoObject || heap == nullptr) return;
  table.heap = heap->pointer;
  table.heap_number = start.heap;
  table.index = start.index;
  table.heap_count = start.heap_count;
}

void ListBindings::Start(CallInProgress* call, const ReplayObject* allocator, IUnknown* pipeline) {
  Bound& bindings = Of(call->record.object);
  Unbind(call->object->device, &bindings);
  bindings = {};
  bindings.allocator = allocator == nullptr ? kNoObject : allocator->number;
  bindings.allocator_resets = allocator == nullptr ? 0 : allocator->resets;
  if (pipeline != nullptr) bindings.pipeline = ComPtr<IUnknown>(pipeline);
}

void ListBindings::Clear(CallInProgress* call, IUnknown* pipeline) {
  Bound& bindings = Of(call->record.object);
  if (is_libvkd3d_) {
    // ClearState releases nothing: bound objects are used, and so held, until others are bound.
    for (Point& bound : bindings.points) bound.set = bound.unknown = false;
    return;
  }
  const uint64_t allocator = bindings.allocator;
  const uint64_t resets = bindings.allocator_resets;
  Start(call, nullptr, pipeline);
  bindings.allocator = allocator;
  bindings.allocator_resets = resets;
}

void ListBindings::Forget(uint64_t list, Method method) {
  const ReplayObject* const object = objects_->Find(list);
  if (object == nullptr || object->chain != Chain::kID3D12GraphicsCommandList) return;
  Bound& bindings = Of(list);
  const CallRole& role = RoleOf(method);
  switch (role.role) {
    case Role::kListReset:
    case Role::kListClose: bindings.unknown = true; return;
    case Role::kBeginPass: bindings.unknown_targets = true; return;
    case Role::kClearState:
      for (Point& bound : bindings.points) bound.unknown = true;
      bindings.unknown_pipeline = true;
      return;
    default: break;
  }
  switch (role.state) {
    case StateKind::kRenderTargets: bindings.unknown_targets = true; return;
    case StateKind::kRootSignature: bindings.points[PointOf(role)].unknown = true; return;
    case StateKind::kDescriptorHeaps: bindings.unknown_heaps = true; return;
    case StateKind::kPipeline:
      bindings.unknown_pipeline = true;
      bindings.program = nullptr;
      return;
    default: return;
  }
}

void ListBindings::Note(CallInProgress* call, std::span<const ReplayDescriptor> descriptors,
                        bool lost_pipeline) {
  const CallRole& role = RoleOf(call->method);
  if (role.role == Role::kAllocatorReset) ++call->object->resets;
  if (call->object->chain != Chain::kID3D12GraphicsCommandList) return;
  switch (role.role) {
    case Role::kListReset:
      Start(call, call->ObjectAt(static_cast<size_t>(role.object)),
            call->At<IUnknown*>(static_cast<size_t>(role.value)));
      Of(call->record.object).unknown_pipeline = lost_pipeline;
      return;
    case Role::kClearState:
      Clear(call, call->At<IUnknown*>(static_cast<size_t>(role.value)));
      if (lost_pipeline) Of(call->record.object).unknown_pipeline = true;
      return;
    case Role::kBeginPass: Of(call->record.object).unknown_targets = false; return;
    case Role::kState: return NoteState(call, descriptors);
    case Role::kAllocatorReset: return;
    default: (void)call->Needless(CallPart::kBindingNotes);
  }
}

void ListBindings::SetProgram(CallInProgress* call, ComPtr<IUnknown> state_object,
                              std::shared_ptr<const ReplayProgram> program) {
  Bound& bindings = Of(call->record.object);
  Unbind(call->object->device, std::move(bindings.state_object));
  bindings.state_object = std::move(state_object);
  bindings.program = std::move(program);
  bindings.unknown_pipeline = false;
}

const ReplayProgram* ListBindings::ProgramOf(uint64_t list) const {
  const Bound* const bound = Find(list);
  return bound == nullptr ? nullptr : bound->program.get();
}

void ListBindings::NoteState(CallInProgress* call, std::span<const ReplayDescriptor> descriptors) {
  const CallRole& role = RoleOf(call->method);
  switch (role.state) {
    case StateKind::kRootSignature: return SetRootSignature(call, PointOf(role));
    case StateKind::kRootArgument:
      if (role.root == RootArgumentKind::kTable) return SetTable(call, PointOf(role), descriptors);
      return (void)call->Needless(CallPart::kBindingNotes);
    case StateKind::kPipeline: {
      // With a state object, keep the pipeline as well: the implementation may or may not forget it.
      const ParameterInfo& set = call->info.parameters[static_cast<size_t>(role.value)];
      if (set.kind != ValueKind::kObject) return;
      Bound& bindings = Of(call->record.object);
      ComPtr<IUnknown>& bound =
          set.chain == Chain::kID3D12PipelineState ? bindings.pipeline : bindings.state_object;
      Unbind(call->object->device, std::move(bound));
      bound = ComPtr<IUnknown>(call->At<IUnknown*>(static_cast<size_t>(role.value)));
      bindings.program = nullptr;
      bindings.unknown_pipeline = false;
      return;
    }
    case StateKind::kDescriptorHeaps: Of(call->record.object).unknown_heaps = false; return;
    case StateKind::kRenderTargets: Of(call->record.object).unknown_targets = false; return;
    default: (void)call->Needless(CallPart::kBindingNotes);
  }
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
