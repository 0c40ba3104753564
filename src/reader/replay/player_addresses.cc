// SPDX-License-Identifier: Apache-2.0
//
// Addresses that lie in buffers: which bytes the GPU will read as addresses, and their replacement before
// it does.
#include <cstring>
#include <optional>
#include <utility>

#include "d3d12abi/aggregates.h"
#include "reader/replay/player_impl.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

// Buffers of the replay, read and written on the queue that is about to use them.
class PlayerImpl::AddressMemory final : public BufferAddresses::Memory {
 public:
  AddressMemory(PlayerImpl* player, DeviceContext* context, ID3D12CommandQueue* queue)
      : player_(player), context_(context), queue_(queue) {}

  uint64_t SizeOf(uint64_t buffer) override {
    const ReplayObject* const object = player_->objects_.Find(buffer);
    return object != nullptr && IsBuffer(*object) ? object->desc.Width : 0;
  }
  Result<std::vector<std::byte>> Read(uint64_t buffer, uint64_t offset_bytes,
                                      uint64_t size_bytes) override {
    return context_->Readback().ReadBuffer(queue_, Resource(buffer), offset_bytes, size_bytes,
                                           D3D12_RESOURCE_STATE_COMMON);
  }
  Status Write(uint64_t buffer, uint64_t offset_bytes, std::span<const std::byte> bytes) override {
    return context_->Readback().WriteBuffer(queue_, Resource(buffer), offset_bytes, bytes,
                                            D3D12_RESOURCE_STATE_COMMON);
  }
  std::optional<uint64_t> RealAddress(uint64_t recorded) override {
    const Result<uint64_t> real = player_->objects_.RealAddress(recorded);
    return real.ok() ? std::optional(*real) : std::nullopt;
  }
  std::optional<uint64_t> RealDescriptor(uint64_t recorded) override {
    const Result<ReplayDescriptor> real = player_->objects_.RealGpuDescriptor(recorded);
    return real.ok() ? std::optional(real->real) : std::nullopt;
  }
  std::optional<Place> PlaceOf(uint64_t recorded_address) override {
    const std::optional<AddressMap::Place> place = player_->objects_.PlaceOf(recorded_address);
    if (!place) return std::nullopt;
    return Place{place->object, place->offset_bytes};
  }

  static bool IsBuffer(const ReplayObject& object) {
    return object.chain == Chain::kID3D12Resource &&
           object.desc.Dimension == D3D12_RESOURCE_DIMENSION_BUFFER;
  }

 private:
  // SizeOf() said that there is one.
  ID3D12Resource* Resource(uint64_t buffer) {
    return player_->objects_.Find(buffer)->As<ID3D12Resource>();
  }

  PlayerImpl* const player_;
  DeviceContext* const context_;
  ID3D12CommandQueue* const queue_;
};

// Addresses in arguments are real ones by now.
std::optional<BufferAddresses::Memory::Place> PlayerImpl::PlaceOfReal(uint64_t address) const {
  for (const auto& [number, object] : objects_.all()) {
    if (!AddressMemory::IsBuffer(*object) || object->gpu_address == 0) continue;
    if (address < object->gpu_address || address - object->gpu_address >= object->desc.Width) {
      continue;
    }
    return BufferAddresses::Memory::Place{number, address - object->gpu_address};
  }
  return std::nullopt;
}

void PlayerImpl::NoteTable(uint64_t list, uint64_t address, uint64_t size_bytes,
                           uint64_t stride_bytes) {
  const auto place = PlaceOfReal(address);
  if (!place || size_bytes == 0) return;
  addresses_.ShaderTable(list, place->buffer, place->offset_bytes, size_bytes, stride_bytes);
}

void PlayerImpl::NoteRays(uint64_t list, const D3D12_DISPATCH_RAYS_DESC* desc) {
  if (desc == nullptr) return;
  NoteTable(list, desc->RayGenerationShaderRecord.StartAddress,
            desc->RayGenerationShaderRecord.SizeInBytes, 0);
  for (const D3D12_GPU_VIRTUAL_ADDRESS_RANGE_AND_STRIDE* const table :
       {&desc->MissShaderTable, &desc->HitGroupTable, &desc->CallableShaderTable}) {
    NoteTable(list, table->StartAddress, table->SizeInBytes, table->StrideInBytes);
  }
}

void PlayerImpl::NoteInstances(uint64_t list,
                               const D3D12_BUILD_RAYTRACING_ACCELERATION_STRUCTURE_DESC* desc) {
  if (desc == nullptr ||
      desc->Inputs.Type != D3D12_RAYTRACING_ACCELERATION_STRUCTURE_TYPE_TOP_LEVEL) {
    return;
  }
  const auto place = PlaceOfReal(desc->Inputs.InstanceDescs);
  if (!place) return;
  addresses_.Instances(list, place->buffer, place->offset_bytes, desc->Inputs.NumDescs,
                       desc->Inputs.DescsLayout == D3D12_ELEMENTS_LAYOUT_ARRAY_OF_POINTERS);
}

// Notes the buffers that get sizes of acceleration structures. These depend on the implementation,
// and on where it has put the structure: vkd3d-proton on lavapipe gives the rest of the memory that
// it has reserved.
void PlayerImpl::NoteStructureSizes(
    UINT count, const D3D12_RAYTRACING_ACCELERATION_STRUCTURE_POSTBUILD_INFO_DESC* infos) {
  for (UINT i = 0; infos != nullptr && i < count; ++i) {
    if (const auto place = PlaceOfReal(infos[i].DestBuffer)) memory_.AddOwn(place->buffer);
  }
}

// `result`: what the call returned.
void PlayerImpl::NoteAddresses(CallInProgress* call, const void* result) {
  const uint64_t object = call->record.object;
  const auto number_at = [&](size_t index) { return objects_.NumberOf(call->At<void*>(index)); };
  switch (call->method) {
    case Method::ID3D12Device_CreateCommandSignature:
      if (const auto* const desc = call->At<const D3D12_COMMAND_SIGNATURE_DESC*>(0)) {
        IndirectLayout layout = LayoutOfSignature(*desc);
        if (!layout.addresses.empty()) new_signatures_[call->record.number] = std::move(layout);
      }
      return;
    case Method::ID3D12GraphicsCommandList_Reset: addresses_.Reset(object); return;
    case Method::ID3D12GraphicsCommandList_CopyBufferRegion:
      memory_.CopyOwn(number_at(0), number_at(2));
      addresses_.Copy(object, number_at(0), call->At<UINT64>(1), number_at(2), call->At<UINT64>(3),
                      call->At<UINT64>(4));
      return;
    case Method::ID3D12GraphicsCommandList_CopyResource: {
      const ReplayObject* const target = objects_.Find(number_at(0));
      if (target == nullptr || !AddressMemory::IsBuffer(*target)) return;
      memory_.CopyOwn(target->number, number_at(1));
      addresses_.Copy(object, target->number, 0, number_at(1), 0, target->desc.Width);
      return;
    }
    case Method::ID3D12GraphicsCommandList_ExecuteIndirect:
      addresses_.Indirect(object, number_at(0), number_at(2), call->At<UINT64>(3),
                          call->At<UINT>(1));
      return;
    case Method::ID3D12GraphicsCommandList4_BuildRaytracingAccelerationStructure:
      NoteInstances(object, call->At<const D3D12_BUILD_RAYTRACING_ACCELERATION_STRUCTURE_DESC*>(0));
      NoteStructureSizes(
          call->At<UINT>(1),
          call->At<const D3D12_RAYTRACING_ACCELERATION_STRUCTURE_POSTBUILD_INFO_DESC*>(2));
      return;
    case Method::ID3D12GraphicsCommandList4_EmitRaytracingAccelerationStructurePostbuildInfo:
      NoteStructureSizes(
          1, call->At<const D3D12_RAYTRACING_ACCELERATION_STRUCTURE_POSTBUILD_INFO_DESC*>(0));
      return;
    case Method::ID3D12GraphicsCommandList4_DispatchRays:
      NoteRays(object, call->At<const D3D12_DISPATCH_RAYS_DESC*>(0));
      return;
    case Method::ID3D12GraphicsCommandList10_SetProgram: NoteProgram(call); return;
    case Method::ID3D12GraphicsCommandList10_DispatchGraph: NoteGraphInputs(call); return;
    case Method::ID3D12StateObjectProperties1_GetProgramIdentifier:
      NoteNewProgram(call, result);
      return;
    case Method::ID3D12StateObjectProperties_GetShaderIdentifier: {
      const void* identifier = nullptr;
      std::memcpy(&identifier, result, sizeof(identifier));
      if (identifier == nullptr) return;
      std::memcpy(new_identifiers_[call->record.number].data(), identifier,
                  sizeof(ShaderIdentifier));
      return;
    }
    default: return;
  }
}

// `results`: behind ResultBody.
Status PlayerImpl::NoteIdentifier(uint64_t call, std::span<const std::byte> results) {
  const auto real = new_identifiers_.find(call);
  const bool is_program = programs_.IsAwaited(call);
  if (real == new_identifiers_.end() && !is_program) return Status();
  arena_.Reset();
  DecodeOptions options;
  options.wchar_bytes = library_.wchar_bytes;
  options.blobs = trace_;
  DecodedCall decoded;
  CAIRN_RETURN_IF_ERROR(
      DecodeResults(Describe(is_program ? Method::ID3D12StateObjectProperties1_GetProgramIdentifier
                                        : Method::ID3D12StateObjectProperties_GetShaderIdentifier),
                    results, options, &arena_, &decoded));
  if (is_program) {
    D3D12_PROGRAM_IDENTIFIER identifier = {};
    if (decoded.result != nullptr) std::memcpy(&identifier, decoded.result, sizeof(identifier));
    programs_.Recorded(call, identifier);
    return Status();
  }
  const void* recorded = nullptr;
  if (decoded.result != nullptr) std::memcpy(&recorded, decoded.result, sizeof(recorded));
  if (recorded != nullptr) {
    ShaderIdentifier identifier;
    std::memcpy(identifier.data(), recorded, sizeof(identifier));
    addresses_.AddIdentifier(identifier, real->second);
  }
  new_identifiers_.erase(real);
  return Status();
}

void PlayerImpl::NoteSignature(uint64_t creator, uint64_t object) {
  const auto found = new_signatures_.find(creator);
  if (found == new_signatures_.end()) return;
  addresses_.AddSignature(object, std::move(found->second));
  new_signatures_.erase(found);
}

Status PlayerImpl::PatchAddresses(CallInProgress* call, ID3D12CommandQueue* queue,
                                  std::span<const uint64_t> lists) {
  if (!addresses_.NeedsPatch(lists)) return Status();
  DeviceContext* const context = devices_.Find(call->object->device);
  if (context == nullptr) return Status();
  if (waits_.fences().Blocked(call->record.object)) {
    // Copies would wait behind what comes later in the trace.
    Result<ID3D12CommandQueue*> own = context->OwnQueue();
    if (!own.ok()) return own.status();
    queue = *own;
  }
  AddressMemory memory(this, context, queue);
  const Status status = addresses_.Patch(lists, &memory);
  if (status.ok() || log_.failed()) return status;
  if (status.code() == StatusCode::kDeviceLost) return devices_.Lose(context, status.message());
  log_.Note("addresses in buffers stay as they were recorded: " + status.message());
  return Status();
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
