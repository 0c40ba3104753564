// SPDX-License-Identifier: Apache-2.0
//
// Memory of the player's on another device than the recorded one, for what needs more there than the program gave it.
#include <fmt/format.h>

#include <cstring>
#include <optional>
#include <string>

#include "base/text.h"
#include "d3d12abi/aggregates.h"
#include "d3d12gen/invoke.h"
#include "reader/replay/player_impl.h"
#include "reader/replay/structure_questions.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

Status PlayerImpl::MakeRoom(CallInProgress* call, bool* skipped) {
  DeviceContext* const context = devices_.Find(call->object->device);
  if (context == nullptr || !context->is_another) return Status();
  const auto need = RoleOf(call->method).memory == ResourceMemory::kPlaced
                        ? check_.NeedOf(call->record.number)
                        : std::nullopt;
  const Status status =
      need && !need->fits ? GiveOwnHeap(call, context) : PlaceStructure(call, context);
  if (status.ok() || log_.failed()) return status;
  *skipped = true;
  const bool no_memory = status.code() == StatusCode::kOutOfMemory;
  const bool has_result = std::strcmp(call->info.result.type, "HRESULT") == 0;
  if (no_memory && !has_result && options_.end_at_refusal) {
    // Memory that others had taken may be free the next time.
    return log_.FailCall(PlayerFailure::kUnclear, call->record.number, call->info.name,
                         status.message());
  }
  CAIRN_RETURN_IF_ERROR(LeaveOutCall(*call, status.message(), /*device_lacks=*/true));
  // JudgeResult says so, unless the call failed when it was recorded.
  if (no_memory && has_result) pending_[call->record.number].result = E_OUTOFMEMORY;
  return Status();
}

// Changes the arguments that lead to structures: they were decoded for this call alone. Other uses of the same address
// mean the program's memory.
Status PlayerImpl::PlaceStructure(CallInProgress* call, DeviceContext* context) {
  const uint64_t list = call->record.object;
  const auto follow = [context](D3D12_GPU_VIRTUAL_ADDRESS* address) {
    *address = context->structures.Now(*address);
  };
  switch (call->method) {
    case Method::ID3D12GraphicsCommandList4_BuildRaytracingAccelerationStructure:
      return own_structures_.PlaceBuild(
          context, list, call->At<D3D12_BUILD_RAYTRACING_ACCELERATION_STRUCTURE_DESC*>(0));
    case Method::ID3D12GraphicsCommandList4_CopyRaytracingAccelerationStructure:
      return own_structures_.PlaceCopy(
          context, list, &call->At<D3D12_GPU_VIRTUAL_ADDRESS>(0),
          &call->At<D3D12_GPU_VIRTUAL_ADDRESS>(1),
          NumberOf(call->At<D3D12_RAYTRACING_ACCELERATION_STRUCTURE_COPY_MODE>(2)));
    case Method::ID3D12GraphicsCommandList4_EmitRaytracingAccelerationStructurePostbuildInfo: {
      auto* const sources = call->At<D3D12_GPU_VIRTUAL_ADDRESS*>(2);
      cost_.AddComparisons(call->At<UINT>(1));
      for (UINT i = 0; sources != nullptr && i < call->At<UINT>(1); ++i) {
        follow(&sources[i]);
        if (context->structures.Knows(sources[i])) context->lists.Give(list, sources[i]);
      }
      return Status();
    }
    case Method::ID3D12GraphicsCommandList_SetComputeRootShaderResourceView:
    case Method::ID3D12GraphicsCommandList_SetGraphicsRootShaderResourceView:
      follow(&call->At<D3D12_GPU_VIRTUAL_ADDRESS>(1));
      context->lists.Set(
          list,
          {call->method == Method::ID3D12GraphicsCommandList_SetComputeRootShaderResourceView,
           call->At<UINT>(0)},
          call->At<D3D12_GPU_VIRTUAL_ADDRESS>(1), context->structures);
      return Status();
    case Method::ID3D12GraphicsCommandList_SetComputeRootSignature:
    case Method::ID3D12GraphicsCommandList_SetGraphicsRootSignature:
      context->lists.ForgetRoots(
          list, call->method == Method::ID3D12GraphicsCommandList_SetComputeRootSignature);
      return Status();
    case Method::ID3D12GraphicsCommandList_ClearState:
    case Method::ID3D12GraphicsCommandList_ExecuteBundle:
      for (const bool computes : {false, true}) context->lists.ForgetRoots(list, computes);
      return Status();
    case Method::ID3D12Device_CreateShaderResourceView: {
      auto* const desc = call->At<D3D12_SHADER_RESOURCE_VIEW_DESC*>(1);
      if (desc != nullptr &&
          NumberOf(desc->ViewDimension) == D3D12_SRV_DIMENSION_RAYTRACING_ACCELERATION_STRUCTURE) {
        follow(&desc->RaytracingAccelerationStructure.Location);
      }
      return Status();
    }
    default: return Status();
  }
}

Status PlayerImpl::GiveOwnHeap(CallInProgress* call, DeviceContext* context) {
  const ReplayObject* const heap = call->ObjectAt(0);
  const auto need = check_.NeedOf(call->record.number);
  // Imported memory has bytes of the program.
  if (heap == nullptr || heap->chain != Chain::kID3D12Heap || heap->created.imported || !need) {
    return Status();
  }
  const D3D12_RESOURCE_ALLOCATION_INFO& memory = need->memory;
  D3D12_HEAP_DESC desc = GetDesc(heap->As<ID3D12Heap>());
  desc.SizeInBytes = memory.SizeInBytes;
  desc.Alignment = memory.Alignment > D3D12_DEFAULT_RESOURCE_PLACEMENT_ALIGNMENT
                       ? D3D12_DEFAULT_MSAA_RESOURCE_PLACEMENT_ALIGNMENT
                       : D3D12_DEFAULT_RESOURCE_PLACEMENT_ALIGNMENT;
  // No call of the program makes this heap resident.
  desc.Flags &= ~D3D12_HEAP_FLAG_CREATE_NOT_RESIDENT;
  cost_.AddMemory(desc.SizeInBytes);
  const bool has_room = !cost_.spent() && SUCCEEDED(context->device->CreateHeap(
                                              &desc, __uuidof(ID3D12Heap), own_heap_.Receive()));
  if (!has_room || !own_heap_) {
    own_heap_ = {};
    return {StatusCode::kOutOfMemory,
            fmt::format("it needs {} bytes, alignment {}, on this device, and there is no heap "
                        "for it",
                        memory.SizeInBytes, memory.Alignment)};
  }
  check_.Forget(call->record.number);
  call->At<ID3D12Heap*>(0) = own_heap_.get();
  call->At<UINT64>(1) = 0;
  return Status();
}

void PlayerImpl::PlaceRefused(CallInProgress* call, void* target, void* result) {
  if (RoleOf(call->method).memory != ResourceMemory::kPlaced || own_heap_) return;
  DeviceContext* const context = devices_.Find(call->object->device);
  HRESULT outcome = S_OK;
  std::memcpy(&outcome, result, sizeof(outcome));
  if (context == nullptr || !context->is_another || SUCCEEDED(outcome)) return;
  if (outcome == DXGI_ERROR_DEVICE_REMOVED) return;
  if (const Status given = GiveOwnHeap(call, context); !given.ok() || !own_heap_) {
    outcome = E_OUTOFMEMORY;
    if (!given.ok()) std::memcpy(result, &outcome, sizeof(outcome));
    return;
  }
  Invoke(call->method, target, call->arguments.arguments.data(), result);
}

void PlayerImpl::DropOwnHeap(HRESULT outcome) {
  // Some implementations do not come back from a release when the device is lost.
  if (outcome == DXGI_ERROR_DEVICE_REMOVED) own_heap_.Detach();
  own_heap_ = {};
}

Status PlayerImpl::FollowMoved(const CallInProgress& call, HRESULT outcome) {
  DeviceContext* const context = devices_.Find(call.object->device);
  if (context == nullptr || !context->is_another) return Status();
  if (call.method == Method::ID3D12GraphicsCommandList_Reset) {
    // A list that could not be reset has what it had.
    return SUCCEEDED(outcome) ? own_structures_.EndList(context, call.record.object) : Status();
  }
  if (call.method == Method::ID3D12GraphicsCommandList4_BuildRaytracingAccelerationStructure ||
      call.method == Method::ID3D12GraphicsCommandList4_CopyRaytracingAccelerationStructure) {
    SetRootsAgain(call, context);
    return Status();
  }
  if (RoleOf(call.method).role != Role::kBarrier || !context->has_ray_tracing) return Status();
  // The program's barriers name its buffers: they are to order what this playback has in their place as well. The list
  // may be executed when structures have moved that lie in their places now.
  auto* const list = call.object->As<ID3D12GraphicsCommandList>();
  const D3D12_COMMAND_LIST_TYPE type = list->GetType();
  if (type != D3D12_COMMAND_LIST_TYPE_DIRECT && type != D3D12_COMMAND_LIST_TYPE_COMPUTE) {
    return Status();
  }
  D3D12_RESOURCE_BARRIER all = {};
  all.Type = D3D12_RESOURCE_BARRIER_TYPE_UAV;
  list->ResourceBarrier(1, &all);
  return Status();
}

// The list may have been given the address before this call moved the structure.
void PlayerImpl::SetRootsAgain(const CallInProgress& call, DeviceContext* context) {
  auto* const list = call.object->As<ID3D12GraphicsCommandList>();
  cost_.AddComparisons(context->lists.FollowRoots(
      call.record.object, context->structures,
      [list](ListStructures::Root root, D3D12_GPU_VIRTUAL_ADDRESS address) {
        root.computes ? list->SetComputeRootShaderResourceView(root.index, address)
                      : list->SetGraphicsRootShaderResourceView(root.index, address);
      }));
}

void PlayerImpl::NoteMoved() {
  const MovedObjects& moved = log_.result().moved;
  std::string what;
  const auto add = [&](uint64_t count, const char* before, const char* one) {
    if (count != 0) what += (what.empty() ? "" : ", ") + (before + Counted(count, one));
  };
  add(moved.structures, "", "acceleration structure");
  add(moved.scratches, "scratch memory of ", "build");
  add(moved.resources, "", "placed resource");
  if (what.empty()) return;
  log_.Note(
      "this device is another one than the recorded one, and has memory of the replay's own for " +
      what);
  if (stale_lists_ == 0) return;
  log_.Note(Counted(stale_lists_, "command list") +
            " had, when executed, an address of an acceleration structure that had moved since the "
            "list was recorded: the list may have read its former contents");
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
