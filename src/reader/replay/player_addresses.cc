// SPDX-License-Identifier: Apache-2.0
//
// Addresses that lie in buffers: which bytes the GPU will read as addresses, and their replacement before
// it does.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "d3d12abi/aggregates.h"
#include "reader/replay/player_impl.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {

// From a trace: perhaps a value that the enumeration does not have.
template <typename Enumeration>
uint32_t BitsOf(const Enumeration& value) {
  uint32_t bits;
  static_assert(sizeof(bits) == sizeof(value));
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

// Returns the parts that are kept of an array whose first one has the number `first`.
BufferAddresses::Kept KeptFrom(const KeptParts* kept, uint64_t first) {
  if (kept == nullptr) return {};
  return {std::max(kept->first, first) - first, std::max(kept->end, first) - first};
}

}  // namespace

// Buffers of the replay, read and written on the queue that is about to use them.
class PlayerImpl::AddressMemory final : public BufferAddresses::Memory {
 public:
  AddressMemory(PlayerImpl* player, DeviceContext* context, ID3D12CommandQueue* queue)
      : player_(player), context_(context), queue_(queue) {}

  uint64_t SizeOf(uint64_t buffer) override {
    const ReplayObject* const object = player_->objects_.Find(buffer);
    return object != nullptr && IsBuffer(*object) ? object->desc.Width : 0;
  }
  bool IsOfCpu(uint64_t buffer) override {
    const ReplayObject* const object = player_->objects_.Find(buffer);
    if (object == nullptr || !IsBuffer(*object)) return false;
    D3D12_HEAP_PROPERTIES heap = {};
    D3D12_HEAP_FLAGS flags = D3D12_HEAP_FLAG_NONE;
    return SUCCEEDED(object->As<ID3D12Resource>()->GetHeapProperties(&heap, &flags)) &&
           heap.Type == D3D12_HEAP_TYPE_UPLOAD;
  }
  bool IsOfShaders(uint64_t buffer) override {
    const ReplayObject* const object = player_->objects_.Find(buffer);
    return object != nullptr && IsBuffer(*object) &&
           (object->desc.Flags & D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS) != 0;
  }
  Result<std::vector<std::byte>> Read(std::span<const Piece> pieces) override {
    return context_->Readback().ReadPieces(queue_, RealPieces(pieces));
  }
  Status Write(std::span<const Piece> pieces, std::span<const std::byte> bytes) override {
    return context_->Readback().WritePieces(queue_, RealPieces(pieces), bytes);
  }
  std::optional<uint64_t> RealAddress(uint64_t recorded) override {
    const Result<uint64_t> real = player_->objects_.RealAddress(recorded);
    return real.ok() ? std::optional(*real) : std::nullopt;
  }
  uint64_t StructureAt(uint64_t real) override { return context_->structures.Now(real); }
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
  // SizeOf() said that they are there.
  std::vector<BufferPiece> RealPieces(std::span<const Piece> pieces) {
    std::vector<BufferPiece> real;
    real.reserve(pieces.size());
    for (const Piece& piece : pieces) {
      real.push_back({player_->objects_.Find(piece.buffer)->As<ID3D12Resource>(),
                      piece.offset_bytes, piece.size_bytes});
    }
    return real;
  }

  PlayerImpl* const player_;
  DeviceContext* const context_;
  ID3D12CommandQueue* const queue_;
};

void PlayerImpl::GiveBytes(uint64_t submission, uint64_t queue_number, DeviceContext* context,
                           ID3D12CommandQueue* queue) {
  const BytesToRead& wanted = options_.bytes_to_read;
  if (!options_.on_bytes || wanted.submission != submission || context->lost ||
      log_.result().interrupted || waits_.fences().Blocked(queue_number)) {
    return;
  }
  AddressMemory memory(this, context, queue);
  const uint64_t size = memory.SizeOf(wanted.buffer);
  if (wanted.size_bytes == 0 || wanted.size_bytes > BytesToRead::kMostBytes ||
      wanted.size_bytes > size || wanted.offset_bytes > size - wanted.size_bytes) {
    return;
  }
  const BufferAddresses::Memory::Piece piece = {wanted.buffer, wanted.offset_bytes,
                                                wanted.size_bytes};
  Result<std::vector<std::byte>> bytes = memory.Read(std::span(&piece, 1));
  if (!bytes.ok() || !addresses_.MapBack(wanted.buffer, wanted.offset_bytes, &memory, *bytes)) {
    return;
  }
  options_.on_bytes(*bytes);
}

// Addresses in arguments are real ones by now.
std::optional<BufferAddresses::Memory::Place> PlayerImpl::PlaceOfReal(uint64_t address) const {
  const std::optional<AddressMap::Place> place = objects_.PlaceOfReal(address);
  if (!place) return std::nullopt;
  return BufferAddresses::Memory::Place{place->object, place->offset_bytes};
}

void PlayerImpl::NoteTable(uint64_t list, uint64_t address, uint64_t size_bytes,
                           uint64_t stride_bytes, BufferAddresses::Kept kept) {
  const auto place = PlaceOfReal(address);
  if (!place && !kept.all() && CountRecords(size_bytes, stride_bytes) != 0) missed_parts_ = true;
  if (!place || size_bytes == 0) return;
  addresses_.ShaderTable(list, place->buffer, place->offset_bytes, size_bytes, stride_bytes, kept);
}

void PlayerImpl::NoteRays(uint64_t list, const D3D12_DISPATCH_RAYS_DESC* desc,
                          const KeptParts* kept) {
  if (desc == nullptr) return;
  NoteTable(list, desc->RayGenerationShaderRecord.StartAddress,
            desc->RayGenerationShaderRecord.SizeInBytes, 0);
  uint64_t records = 0;
  for (const D3D12_GPU_VIRTUAL_ADDRESS_RANGE_AND_STRIDE* const table :
       {&desc->MissShaderTable, &desc->HitGroupTable, &desc->CallableShaderTable}) {
    NoteTable(list, table->StartAddress, table->SizeInBytes, table->StrideInBytes,
              KeptFrom(kept, records));
    records += CountRecords(table->SizeInBytes, table->StrideInBytes);
  }
}

void PlayerImpl::NoteInstances(uint64_t list,
                               const D3D12_BUILD_RAYTRACING_ACCELERATION_STRUCTURE_DESC* desc,
                               const KeptParts* kept) {
  if (desc == nullptr ||
      desc->Inputs.Type != D3D12_RAYTRACING_ACCELERATION_STRUCTURE_TYPE_TOP_LEVEL) {
    return;
  }
  const auto place = PlaceOfReal(desc->Inputs.InstanceDescs);
  if (!place && kept != nullptr && desc->Inputs.NumDescs != 0) missed_parts_ = true;
  if (!place) return;
  addresses_.Instances(list, place->buffer, place->offset_bytes, desc->Inputs.NumDescs,
                       desc->Inputs.DescsLayout == D3D12_ELEMENTS_LAYOUT_ARRAY_OF_POINTERS,
                       KeptFrom(kept, 0));
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

// Shaders have written a buffer where a list waits for them, or takes it out of their hands.
void PlayerImpl::NoteShaderWrites(uint64_t list, const D3D12_RESOURCE_BARRIER* barriers,
                                  UINT count) {
  const auto note = [&](ID3D12Resource* resource) {
    if (resource == nullptr) return addresses_.ShadersWrote(list, BufferAddresses::kAnyBuffer);
    const ReplayObject* const object = objects_.FindReal(resource);
    if (object != nullptr && AddressMemory::IsBuffer(*object)) {
      addresses_.ShadersWrote(list, object->number);
    }
  };
  for (UINT i = 0; barriers != nullptr && i < count; ++i) {
    const D3D12_RESOURCE_BARRIER& barrier = barriers[i];
    const uint32_t type = BitsOf(barrier.Type);
    if (type == D3D12_RESOURCE_BARRIER_TYPE_UAV) note(barrier.UAV.pResource);
    if (type == D3D12_RESOURCE_BARRIER_TYPE_TRANSITION &&
        (BitsOf(barrier.Transition.StateBefore) & D3D12_RESOURCE_STATE_UNORDERED_ACCESS) != 0) {
      note(barrier.Transition.pResource);
    }
  }
}

void PlayerImpl::NoteShaderWrites(uint64_t list, const D3D12_BARRIER_GROUP* groups, UINT count) {
  // D3D12_BARRIER_ACCESS_COMMON: any access.
  const auto writes = [](const D3D12_BARRIER_ACCESS& recorded) {
    const uint32_t access = BitsOf(recorded);
    return access == D3D12_BARRIER_ACCESS_COMMON ||
           (access & D3D12_BARRIER_ACCESS_UNORDERED_ACCESS) != 0;
  };
  for (UINT i = 0; groups != nullptr && i < count; ++i) {
    const D3D12_BARRIER_GROUP& group = groups[i];
    const uint32_t type = BitsOf(group.Type);
    for (UINT k = 0; k < group.NumBarriers; ++k) {
      if (type == D3D12_BARRIER_TYPE_GLOBAL && group.pGlobalBarriers != nullptr &&
          writes(group.pGlobalBarriers[k].AccessBefore)) {
        addresses_.ShadersWrote(list, BufferAddresses::kAnyBuffer);
      }
      if (type == D3D12_BARRIER_TYPE_BUFFER && group.pBufferBarriers != nullptr &&
          writes(group.pBufferBarriers[k].AccessBefore)) {
        const uint64_t buffer = objects_.NumberOf(group.pBufferBarriers[k].pResource);
        if (buffer != kNoObject) addresses_.ShadersWrote(list, buffer);
      }
    }
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
        HRESULT outcome;
        std::memcpy(&outcome, result, sizeof(outcome));
        if (layout.unknown_type && SUCCEEDED(outcome)) {
          log_.LeaveOut(call->record.number,
                        fmt::format("{}: type {} of its arguments is unknown: addresses from there "
                                    "on stay as they were recorded",
                                    call->info.name, *layout.unknown_type));
        }
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
    case Method::ID3D12GraphicsCommandList_ExecuteBundle:
      addresses_.Bundle(object, number_at(0));
      return;
    case Method::ID3D12GraphicsCommandList_ResourceBarrier:
      NoteShaderWrites(object, call->At<const D3D12_RESOURCE_BARRIER*>(1), call->At<UINT>(0));
      return;
    case Method::ID3D12GraphicsCommandList7_Barrier:
      NoteShaderWrites(object, call->At<const D3D12_BARRIER_GROUP*>(1), call->At<UINT32>(0));
      return;
    case Method::ID3D12GraphicsCommandList2_WriteBufferImmediate: {
      const auto* const writes = call->At<const D3D12_WRITEBUFFERIMMEDIATE_PARAMETER*>(1);
      for (UINT i = 0; writes != nullptr && i < call->At<UINT>(0); ++i) {
        const auto place = PlaceOfReal(writes[i].Dest);
        if (place) addresses_.ShadersWrote(object, place->buffer);
      }
      return;
    }
    case Method::ID3D12GraphicsCommandList4_BuildRaytracingAccelerationStructure:
      NoteInstances(object, call->At<const D3D12_BUILD_RAYTRACING_ACCELERATION_STRUCTURE_DESC*>(0),
                    KeptOf(*call));
      NoteStructureSizes(
          call->At<UINT>(1),
          call->At<const D3D12_RAYTRACING_ACCELERATION_STRUCTURE_POSTBUILD_INFO_DESC*>(2));
      return;
    case Method::ID3D12GraphicsCommandList4_EmitRaytracingAccelerationStructurePostbuildInfo:
      NoteStructureSizes(
          1, call->At<const D3D12_RAYTRACING_ACCELERATION_STRUCTURE_POSTBUILD_INFO_DESC*>(0));
      return;
    case Method::ID3D12GraphicsCommandList4_DispatchRays:
      NoteRays(object, call->At<const D3D12_DISPATCH_RAYS_DESC*>(0), KeptOf(*call));
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
    default: (void)call->Needless(CallPart::kAddresses);
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
                                  std::span<const uint64_t> lists, size_t* together) {
  *together = lists.size();
  addresses_.ForgetStale();
  const auto refuse_parts = [&](const std::string& why) {
    return log_.FailCall(
        PlayerFailure::kRefused, call->record.number, call->info.name,
        fmt::format("parts of call {} cannot be skipped: {}", options_.kept_parts->call, why));
  };
  if (options_.kept_parts && missed_parts_ && !log_.failed()) {
    return refuse_parts("they lie in no buffer");
  }
  if (!addresses_.NeedsPatch(lists)) return Status();
  DeviceContext* const context = devices_.Find(call->object->device);
  if (context == nullptr) return Status();
  const bool blocked = waits_.fences().Blocked(call->record.object);
  if (blocked) {
    // Copies would wait behind what comes later in the trace.
    Result<ID3D12CommandQueue*> own = context->OwnQueue();
    if (!own.ok()) return own.status();
    queue = *own;
  }
  AddressMemory memory(this, context, queue);
  if (!blocked) *together = addresses_.CountTogether(lists, &memory);
  Status status = addresses_.Patch(lists.first(*together), &memory);
  // Nothing else orders two queues.
  if (blocked && status.ok()) status = context->Readback().AwaitWritten();
  const bool lost = status.code() == StatusCode::kDeviceLost;
  if (options_.kept_parts && !log_.failed() && !lost) {
    if (!status.ok()) return refuse_parts(status.message());
    if (addresses_.missed_elements()) {
      return refuse_parts(
          "shaders of the same submission write them, others of its commands read them, or they "
          "lie in no buffer");
    }
  }
  if (status.ok() || log_.failed()) return status;
  if (lost) return devices_.Lose(context, status.message());
  log_.Note("addresses in buffers stay as they were recorded: " + status.message());
  return Status();
}

// Counts the addresses that the last lists have used as they were recorded.
Status PlayerImpl::TellStaleAddresses(const CallInProgress& call, ID3D12CommandQueue* queue,
                                      uint64_t start_ns) {
  DeviceContext* const context = devices_.Find(call.object->device);
  if (context == nullptr || !addresses_.MayBeStale()) return Status();
  const std::string where = fmt::format("call {}, {}: ", call.record.number, call.info.name);
  if (waits_.fences().Blocked(call.record.object)) {
    addresses_.ForgetStale();
    log_.Note(where + "addresses that its shaders write and it uses may be those of the recording");
    return Status();
  }
  // A hang is found here, and not by a copy that does not end.
  CAIRN_RETURN_IF_ERROR(waits_.WaitForQueue(call.record.object, context, start_ns));
  if (context->lost || log_.result().interrupted) return Status();
  AddressMemory memory(this, context, queue);
  const Result<uint64_t> stale = addresses_.CountStale(&memory);
  if (stale.ok() && *stale == 0) return Status();
  if (stale.ok()) {
    log_.LeaveOut(
        call.record.number,
        fmt::format("{}: {} of its addresses were used as they were recorded: shaders of the "
                    "same list wrote them",
                    call.info.name, *stale));
    return Status();
  }
  if (log_.failed()) return stale.status();
  log_.Note(where + "addresses that its shaders write and it uses may be those of the recording: " +
            stale.status().message());
  if (stale.status().code() != StatusCode::kDeviceLost) return Status();
  return devices_.Lose(context, stale.status().message());
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
