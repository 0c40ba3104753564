// SPDX-License-Identifier: Apache-2.0
//
// Reads of memory: compares it with what was recorded, and gives out images.
#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "format/calls/readback_rows.h"
#include "reader/replay/memory_player.h"
#include "reader/replay/replay_regions.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {

// The note of buffers with such sizes that differ.
constexpr char kOwn[] =
    "not compared: sizes of acceleration structures and memory behind work graphs, which are the "
    "driver's own";

bool IsTexture(const ReplayObject& object) {
  return object.chain == Chain::kID3D12Resource &&
         (object.desc.Dimension == D3D12_RESOURCE_DIMENSION_TEXTURE1D ||
          object.desc.Dimension == D3D12_RESOURCE_DIMENSION_TEXTURE2D ||
          object.desc.Dimension == D3D12_RESOURCE_DIMENSION_TEXTURE3D);
}

bool IsTarget(const ReplayObject& object) {
  const D3D12_RESOURCE_FLAGS drawn_into = D3D12_RESOURCE_FLAG_ALLOW_RENDER_TARGET |
                                          D3D12_RESOURCE_FLAG_ALLOW_DEPTH_STENCIL |
                                          D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS;
  return object.is_image || (object.desc.Flags & drawn_into) != 0;
}

// About how much is read back of it: formats that compress have less.
uint64_t ImageBytes(const ReplayObject& object, bool every_subresource) {
  constexpr uint64_t kBytesOfTexel = 4, kMost = uint64_t{1} << 20;
  const D3D12_RESOURCE_DESC& desc = object.desc;
  const uint64_t texels =
      std::min<uint64_t>(desc.Width, kMost) * std::min<uint64_t>(desc.Height, kMost);
  return texels * desc.DepthOrArraySize * kBytesOfTexel * (every_subresource ? 4 : 3) / 3;
}

}  // namespace

Status MemoryPlayer::CompareReadback(const Record& record) {
  const auto not_compared = [&](const std::string& what) {
    log_->NotCompared(what);
    return Status();
  };
  if (!options_.validate) return Status();
  std::span<const std::byte> rest = record.body;
  Result<ReadbackBody> body = DecodeBody<ReadbackBody>(&rest);
  if (!body.ok()) return not_compared(body.status().message());
  ReplayObject* const object = objects_->Find(record.object);
  if (object == nullptr && objects_->IsAbsent(record.object)) {
    return not_compared("the program read resources that could not be made here");
  }
  if (object == nullptr || object->chain != Chain::kID3D12Resource) {
    return not_compared(fmt::format("there is no resource {} here", record.object));
  }
  if (object->desc.Dimension != D3D12_RESOURCE_DIMENSION_BUFFER) {
    return not_compared("the program read mapped textures: how they lie in memory is the driver's");
  }
  if (body->subresource != 0 || !RowsLieIn(object->desc.Width, *body)) {
    return not_compared(fmt::format(
        "{} rows of {} bytes at {}, {} bytes apart, are read from a buffer of {}", body->row_count,
        body->row_bytes, body->offset_bytes, body->row_pitch_bytes, object->desc.Width));
  }
  if (waits_->fences().Reachable(body->fence, body->fence_value)) {
    const FenceValue written = {body->fence, body->fence_value};
    CAIRN_RETURN_IF_ERROR(waits_->Await({&written, 1}));
    if (log_->result().interrupted) return Status();
  }
  // A device that the program itself removed had done its work by then.
  if (devices_->IsLost(object->device)) return not_compared("memory of a lost device");
  bool unmap = false;
  Result<std::byte*> memory = BufferMemory(object, &unmap);
  if (!memory.ok()) return not_compared(memory.status().message());
  const auto matches = [&] {
    return HashRows(*memory, *body) == RowsHash{body->hash_low, body->hash_high};
  };
  bool same = matches();
  if (!same) {
    // The program may have waited in a way that no trace shows.
    CAIRN_RETURN_IF_ERROR(waits_->WaitForDevice(object->device));
    same = log_->result().interrupted || matches();
  }
  if (unmap) object->As<ID3D12Resource>()->Unmap(0, nullptr);
  if (!same && own_.contains(record.object)) {
    log_->Note(kOwn);
    return Status();
  }
  ++log_->result().compared_readbacks;
  if (same) return Status();
  return log_->Fail(
      PlayerFailure::kMismatch, record.number,
      fmt::format("{} bytes at {} of resource {} are not what the program read there",
                  body->row_bytes * body->row_count, body->offset_bytes, record.object),
      StatusCode::kUnsupported);
}

Status MemoryPlayer::CompareHash(const Record& record) {
  if (!options_.validate_resources) return Status();
  const auto not_compared = [&](const std::string& what) {
    log_->NotCompared(what);
    return Status();
  };
  std::span<const std::byte> rest = record.body;
  const Result<ResourceHashBody> body = DecodeBody<ResourceHashBody>(&rest);
  if (!body.ok()) return not_compared("a hash of a resource: " + body.status().message());
  ReplayObject* const object = objects_->Find(record.object);
  if (object == nullptr || object->chain != Chain::kID3D12Resource) {
    return not_compared("resources that could not be made here");
  }
  DeviceContext* const context = devices_->Find(object->device);
  if (context == nullptr || context->lost) return not_compared("memory of a lost device");
  if (not_cleared_.contains(record.object)) {
    return not_compared("textures that this device cannot begin as zeros");
  }
  CAIRN_RETURN_IF_ERROR(waits_->WaitForDevice(object->device));
  if (log_->result().interrupted) return Status();
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
    CAIRN_RETURN_IF_ERROR(devices_->CheckLoss(context));
    return not_compared("resources: " + status.message());
  }
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  const bool same = hash.low64 == body->hash_low && hash.high64 == body->hash_high;
  // Addresses are those of this device, wherever copies brought them.
  if (!same && IsBuffer(*object) && addresses_->patched() != 0) {
    log_->Note("not compared: buffers that may hold addresses of this device");
    return Status();
  }
  if (!same && own_.contains(record.object)) {
    log_->Note(kOwn);
    return Status();
  }
  ++log_->result().compared_resources;
  if (same) return Status();
  return log_->Fail(PlayerFailure::kMismatch, record.number,
                    fmt::format("resource {}, subresource {}, does not hold what it held",
                                record.object, body->subresource));
}

Result<FrameImage> MemoryPlayer::ReadImage(uint64_t object, uint64_t frame) {
  ReplayObject* const texture = objects_->Find(object);
  if (texture == nullptr || texture->chain != Chain::kID3D12Resource) {
    return Status(StatusCode::kUnsupported, fmt::format("resource {} does not exist here", object));
  }
  DeviceContext* const context = devices_->Find(texture->device);
  if (context == nullptr) return Status(StatusCode::kUnsupported, "its device does not exist");
  CAIRN_RETURN_IF_ERROR(waits_->WaitForDevice(texture->device));
  if (context->lost) return Status(StatusCode::kUnsupported, "its device is lost");
  Result<ID3D12CommandQueue*> queue = context->OwnQueue();
  if (!queue.ok()) return queue.status();
  Result<SubresourceBytes> bytes = context->Readback().Read(
      *queue, texture->As<ID3D12Resource>(), 0,
      static_cast<D3D12_RESOURCE_STATES>(context->states.State(object, 0)));
  if (!bytes.ok()) return bytes.status();
  FrameImage image;
  image.frame = frame;
  image.object = object;
  image.width = bytes->width;
  image.height = bytes->height;
  image.format = bytes->format;
  const XXH128_hash_t hash = XXH3_128bits(bytes->bytes.data(), bytes->bytes.size());
  image.hash_low = hash.low64;
  image.hash_high = hash.high64;
  image.pixels = std::move(bytes->bytes);
  return image;
}

Status MemoryPlayer::ReadTextures() {
  if (!options_.on_texture) return Status();
  std::vector<ReplayObject*> textures;
  for (const auto& [number, object] : objects_->all()) {
    const bool asked = options_.textures.empty() || options_.textures.contains(number);
    const DeviceContext* const context = devices_->Find(object->device);
    if (!asked || !IsTexture(*object) || context == nullptr || context->lost) continue;
    const bool is_wanted_later =
        options_.later_textures != nullptr && options_.later_textures->contains(number);
    const bool targets_only = !options_.every_subresource && options_.textures.empty();
    if (targets_only && !IsTarget(*object) && !is_wanted_later) continue;
    textures.push_back(object.get());
  }
  std::sort(textures.begin(), textures.end(),
            [](const ReplayObject* a, const ReplayObject* b) { return a->number < b->number; });
  for (ReplayObject* const texture : textures) {
    cost_->AddImage(ImageBytes(*texture, options_.every_subresource));
    CAIRN_RETURN_IF_ERROR(check_cost_());
    CAIRN_RETURN_IF_ERROR(ReadTexture(texture));
    if (log_->Interrupted()) break;
  }
  return Status();
}

Status MemoryPlayer::ReadTexture(ReplayObject* texture) {
  DeviceContext* const context = devices_->Find(texture->device);
  Result<ID3D12CommandQueue*> queue = context->OwnQueue();
  if (!queue.ok()) return queue.status();
  const D3D12_RESOURCE_DESC& desc = texture->desc;
  const bool volume = desc.Dimension == D3D12_RESOURCE_DIMENSION_TEXTURE3D;
  const uint32_t slices = volume ? 1 : desc.DepthOrArraySize;
  const uint32_t mips = options_.every_subresource ? desc.MipLevels : 1;
  for (uint32_t plane = 0; plane < PlaneCount(desc.Format); ++plane) {
    for (uint32_t slice = 0; slice < slices; ++slice) {
      for (uint32_t mip = 0; mip < mips; ++mip) {
        TextureImage image;
        image.object = texture->number;
        image.subresource = (plane * slices + slice) * desc.MipLevels + mip;
        image.mip = mip;
        image.slice = slice;
        image.plane = plane;
        image.format = desc.Format;
        image.is_target = IsTarget(*texture);
        Result<SubresourceBytes> bytes =
            context->Readback().Read(*queue, texture->As<ID3D12Resource>(), image.subresource,
                                     static_cast<D3D12_RESOURCE_STATES>(context->states.State(
                                         texture->number, image.subresource)));
        if (bytes.ok()) {
          image.width = bytes->width;
          image.height = bytes->height;
          image.depth = bytes->depth;
          image.format = bytes->format;
          image.row_bytes = bytes->row_bytes;
          image.row_count = bytes->row_count;
          image.pixels = std::move(bytes->bytes);
        } else if (bytes.status().code() == StatusCode::kDeviceLost) {
          return log_->Fail(PlayerFailure::kLost, log_->record(), bytes.status().message(),
                            StatusCode::kDeviceLost);
        } else {
          image.problem = bytes.status().message();
        }
        options_.on_texture(std::move(image));
      }
    }
  }
  return Status();
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
