// SPDX-License-Identifier: Apache-2.0
//
// Compares what resources hold when they end with what they held when the trace was recorded.
#include <fmt/format.h>
#include <xxhash.h>

#include <utility>
#include <vector>

#include "reader/replay/player_impl.h"
#include "reader/replay/replay_regions.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

// A recording with hashes did the same (app/d3d12/capture/resource_hashes.h).
Status PlayerImpl::ClearTexture(ReplayObject* texture, const Pending& creation) {
  constexpr uint64_t kMostTexels = uint64_t{64} << 20;  // larger ones have no hash
  if (texture->chain != Chain::kID3D12Resource || IsBuffer(*texture)) return Status();
  DeviceContext* const context = devices_.Find(texture->device);
  const D3D12_RESOURCE_DESC& desc = texture->desc;
  if (context == nullptr || desc.SampleDesc.Count > 1 ||
      desc.Width * desc.Height * desc.DepthOrArraySize > kMostTexels) {
    return Status();
  }
  Result<ID3D12CommandQueue*> queue = context->OwnQueue();
  if (!queue.ok()) return queue.status();
  const Status status =
      context->Readback().WriteZeros(*queue, texture->As<ID3D12Resource>(),
                                     static_cast<D3D12_RESOURCE_STATES>(creation.initial_state));
  if (status.ok()) return Status();
  not_cleared_.insert(texture->number);
  return devices_.CheckLoss(context);
}

Status PlayerImpl::OnResourceHash(const Record& record) {
  if (!options_.validate_resources || next_frame_ < options_.first_frame) return Status();
  const auto not_compared = [&](const std::string& what) {
    log_.NotCompared(what);
    return Status();
  };
  std::span<const std::byte> rest = record.body;
  const Result<ResourceHashBody> body = DecodeBody<ResourceHashBody>(&rest);
  if (!body.ok()) return not_compared("a hash of a resource: " + body.status().message());
  ReplayObject* const object = objects_.Find(record.object);
  if (object == nullptr || object->chain != Chain::kID3D12Resource) {
    return not_compared("resources that could not be made here");
  }
  DeviceContext* const context = devices_.Find(object->device);
  if (context == nullptr || context->lost) return not_compared("memory of a lost device");
  if (not_cleared_.contains(record.object)) {
    return not_compared("textures that this device cannot begin as zeros");
  }
  CAIRN_RETURN_IF_ERROR(waits_.WaitForDevice(object->device));
  if (log_.result().interrupted) return Status();
  Result<ID3D12CommandQueue*> queue = context->OwnQueue();
  if (!queue.ok()) return queue.status();
  auto* const resource = object->As<ID3D12Resource>();
  const auto state =
      static_cast<D3D12_RESOURCE_STATES>(context->states.State(object->number, body->subresource));
  std::vector<std::byte> bytes;
  Status status;
  if (IsBuffer(*object)) {
    // Reads no more than was hashed: with --pad the buffer is larger.
    if (body->total_bytes > object->desc.Width) return not_compared("a hash of another buffer");
    Result<std::vector<std::byte>> read =
        context->Readback().ReadBuffer(*queue, resource, 0, body->total_bytes, state);
    status = read.status();
    if (read.ok()) bytes = std::move(*read);
  } else {
    Result<SubresourceBytes> read =
        context->Readback().Read(*queue, resource, body->subresource, state);
    status = read.status();
    if (read.ok()) bytes = std::move(read->bytes);
  }
  if (!status.ok()) {
    CAIRN_RETURN_IF_ERROR(devices_.CheckLoss(context));
    return not_compared("resources: " + status.message());
  }
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  const bool same = hash.low64 == body->hash_low && hash.high64 == body->hash_high;
  // Addresses are those of this device, wherever copies brought them.
  if (!same && IsBuffer(*object) && addresses_.patched() != 0) {
    log_.Note("not compared: buffers that may hold addresses of this device");
    return Status();
  }
  if (!same && structure_sizes_.contains(record.object)) {
    log_.Note(kStructureSizes);
    return Status();
  }
  ++log_.result().compared_resources;
  if (same) return Status();
  return log_.Fail(PlayerFailure::kMismatch, record.number,
                   fmt::format("resource {}, subresource {}, does not hold what it held",
                               record.object, body->subresource));
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
