// SPDX-License-Identifier: Apache-2.0
#include "d3d12abi/texture_readback.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "d3d12abi/aggregates.h"
#include "os/uncached_copy.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {
namespace {

D3D12_TEXTURE_COPY_LOCATION InTexture(ID3D12Resource* texture, uint32_t subresource) {
  D3D12_TEXTURE_COPY_LOCATION location = {};
  location.pResource = texture;
  location.Type = D3D12_TEXTURE_COPY_TYPE_SUBRESOURCE_INDEX;
  location.SubresourceIndex = subresource;
  return location;
}

D3D12_TEXTURE_COPY_LOCATION InBuffer(ID3D12Resource* buffer, const SubresourceLayout& layout) {
  D3D12_TEXTURE_COPY_LOCATION location = {};
  location.pResource = buffer;
  location.Type = D3D12_TEXTURE_COPY_TYPE_PLACED_FOOTPRINT;
  location.PlacedFootprint = layout.placed;
  return location;
}

// Copies rows of `row_bytes` between memory of different pitches.
void CopyRows(std::byte* to, uint64_t to_pitch, const std::byte* from, uint64_t from_pitch,
              uint64_t row_bytes, uint64_t rows) {
  if (to_pitch == row_bytes && from_pitch == row_bytes) {
    std::memcpy(to, from, row_bytes * rows);
    return;
  }
  for (uint64_t row = 0; row < rows; ++row) {
    std::memcpy(to + row * to_pitch, from + row * from_pitch, row_bytes);
  }
}

// Maps a buffer for the object's life. `written`: the range is written, otherwise read; the
// implementation may have to copy it.
class Mapping {
 public:
  Mapping(ID3D12Resource* buffer, uint64_t begin, uint64_t end, bool written)
      : buffer_(buffer),
        range_{static_cast<SIZE_T>(begin), static_cast<SIZE_T>(end)},
        written_(written) {
    const D3D12_RANGE nothing = {};
    result_ = buffer_->Map(0, written_ ? &nothing : &range_, &data_);
  }
  ~Mapping() {
    const D3D12_RANGE nothing = {};
    if (SUCCEEDED(result_)) buffer_->Unmap(0, written_ ? &range_ : &nothing);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  Status status() const {
    CAIRN_RETURN_IF_ERROR(CheckHresult(result_, "ID3D12Resource::Map"));
    if (data_ == nullptr) return {StatusCode::kUnsupported, "ID3D12Resource::Map gave no address"};
    return {};
  }
  std::byte* data() const { return static_cast<std::byte*>(data_); }

 private:
  ID3D12Resource* const buffer_;
  const D3D12_RANGE range_;
  const bool written_;
  void* data_ = nullptr;
  HRESULT result_ = S_OK;
};

Status CheckBufferRange(const D3D12_RESOURCE_DESC& desc, uint64_t offset_bytes, uint64_t size_bytes,
                        D3D12_RESOURCE_STATES state) {
  if (desc.Dimension != D3D12_RESOURCE_DIMENSION_BUFFER || offset_bytes > desc.Width ||
      size_bytes > desc.Width - offset_bytes) {
    return {StatusCode::kInvalidArgument,
            "bytes " + std::to_string(offset_bytes) + " and " + std::to_string(size_bytes) +
                " further ones are not in a buffer of " + std::to_string(desc.Width)};
  }
  if (state == D3D12_RESOURCE_STATE_RAYTRACING_ACCELERATION_STRUCTURE) {
    return {StatusCode::kUnsupported,
            "the bytes of an acceleration structure mean nothing to another device"};
  }
  return {};
}

Status CheckTexture(const D3D12_RESOURCE_DESC& desc) {
  if (desc.Dimension != D3D12_RESOURCE_DIMENSION_BUFFER &&
      desc.Dimension != D3D12_RESOURCE_DIMENSION_UNKNOWN) {
    return {};
  }
  return {StatusCode::kInvalidArgument, "the resource is no texture"};
}

bool CanBeResolved(DXGI_FORMAT format) {
  switch (format) {
    case DXGI_FORMAT_R32G32B32A32_FLOAT:
    case DXGI_FORMAT_R32G32B32_FLOAT:
    case DXGI_FORMAT_R16G16B16A16_FLOAT:
    case DXGI_FORMAT_R16G16B16A16_UNORM:
    case DXGI_FORMAT_R16G16B16A16_SNORM:
    case DXGI_FORMAT_R32G32_FLOAT:
    case DXGI_FORMAT_R10G10B10A2_UNORM:
    case DXGI_FORMAT_R11G11B10_FLOAT:
    case DXGI_FORMAT_R8G8B8A8_UNORM:
    case DXGI_FORMAT_R8G8B8A8_UNORM_SRGB:
    case DXGI_FORMAT_R8G8B8A8_SNORM:
    case DXGI_FORMAT_R16G16_FLOAT:
    case DXGI_FORMAT_R16G16_UNORM:
    case DXGI_FORMAT_R16G16_SNORM:
    case DXGI_FORMAT_R32_FLOAT:
    case DXGI_FORMAT_R8G8_UNORM:
    case DXGI_FORMAT_R8G8_SNORM:
    case DXGI_FORMAT_R16_FLOAT:
    case DXGI_FORMAT_R16_UNORM:
    case DXGI_FORMAT_R16_SNORM:
    case DXGI_FORMAT_R8_UNORM:
    case DXGI_FORMAT_R8_SNORM:
    case DXGI_FORMAT_A8_UNORM:
    case DXGI_FORMAT_B5G6R5_UNORM:
    case DXGI_FORMAT_B5G5R5A1_UNORM:
    case DXGI_FORMAT_B4G4R4A4_UNORM:
    case DXGI_FORMAT_B8G8R8A8_UNORM:
    case DXGI_FORMAT_B8G8R8A8_UNORM_SRGB:
    case DXGI_FORMAT_B8G8R8X8_UNORM:
    case DXGI_FORMAT_B8G8R8X8_UNORM_SRGB: return true;
    default: return false;
  }
}

}  // namespace

uint32_t CountSubresources(const D3D12_RESOURCE_DESC& desc) {
  const bool volume = desc.Dimension == D3D12_RESOURCE_DIMENSION_TEXTURE3D;
  return desc.MipLevels * (volume ? 1u : desc.DepthOrArraySize) * PlaneCount(desc.Format);
}

Result<SubresourceBytes> TextureReadback::CopyOut(ID3D12CommandQueue* queue,
                                                  ID3D12GraphicsCommandList* list,
                                                  ID3D12Resource* texture, uint32_t subresource,
                                                  const SubresourceLayout& layout,
                                                  D3D12_RESOURCE_STATES state) {
  Result<ID3D12Resource*> staging = list_.Staging(D3D12_HEAP_TYPE_READBACK, layout.total_bytes);
  if (!staging.ok()) return staging.status();
  RecordTransition(list, texture, subresource, state, D3D12_RESOURCE_STATE_COPY_SOURCE);
  const D3D12_TEXTURE_COPY_LOCATION to = InBuffer(*staging, layout);
  const D3D12_TEXTURE_COPY_LOCATION from = InTexture(texture, subresource);
  list->CopyTextureRegion(&to, 0, 0, 0, &from, nullptr);
  RecordTransition(list, texture, subresource, D3D12_RESOURCE_STATE_COPY_SOURCE, state);
  CAIRN_RETURN_IF_ERROR(list_.Run(queue, limit_));

  const D3D12_SUBRESOURCE_FOOTPRINT& footprint = layout.placed.Footprint;
  SubresourceBytes result;
  const D3D12_RESOURCE_DESC desc = GetDesc(texture);
  const uint32_t mip = subresource % desc.MipLevels;
  // Layouts of compressed formats are rounded up to whole blocks.
  const auto of_mip = [&](uint64_t size) {
    return static_cast<uint32_t>(std::max<uint64_t>(size >> mip, 1));
  };
  const bool planes = PlaneCount(desc.Format) > 1;
  result.width = planes ? footprint.Width : of_mip(desc.Width);
  result.height = planes ? footprint.Height : of_mip(desc.Height);
  result.depth = footprint.Depth;
  result.format = planes ? footprint.Format : desc.Format;
  result.row_bytes = layout.row_bytes;
  result.row_count = layout.row_count;
  result.bytes.resize(layout.packed_bytes());
  const Mapping mapping(*staging, 0, layout.total_bytes, /*written=*/false);
  CAIRN_RETURN_IF_ERROR(mapping.status());
  CopyRows(result.bytes.data(), layout.row_bytes, mapping.data(), footprint.RowPitch,
           layout.row_bytes, uint64_t{layout.row_count} * footprint.Depth);
  return result;
}

Result<SubresourceBytes> TextureReadback::ReadResolved(ID3D12CommandQueue* queue,
                                                       ID3D12Resource* texture,
                                                       uint32_t subresource,
                                                       D3D12_RESOURCE_STATES state) {
  D3D12_RESOURCE_DESC desc = GetDesc(texture);
  const DXGI_FORMAT format = TypedFormat(desc.Format);
  if (!CanBeResolved(format)) {
    return Status(StatusCode::kUnsupported, std::to_string(desc.SampleDesc.Count) +
                                                " samples of format " + std::to_string(format) +
                                                " cannot be resolved to one");
  }
  desc.DepthOrArraySize = 1;
  desc.MipLevels = 1;
  desc.SampleDesc = {1, 0};
  desc.Format = format;
  desc.Alignment = 0;
  desc.Layout = D3D12_TEXTURE_LAYOUT_UNKNOWN;
  // Several samples need a target; the copy needs nothing.
  desc.Flags = D3D12_RESOURCE_FLAG_NONE;
  D3D12_HEAP_PROPERTIES heap = {};
  heap.Type = D3D12_HEAP_TYPE_DEFAULT;
  ComPtr<ID3D12Resource> resolved;
  CAIRN_RETURN_IF_ERROR(CheckHresult(
      list_.device()->CreateCommittedResource(&heap, D3D12_HEAP_FLAG_NONE, &desc,
                                              D3D12_RESOURCE_STATE_RESOLVE_DEST, nullptr,
                                              __uuidof(ID3D12Resource), resolved.Receive()),
      "a texture to resolve samples into: ID3D12Device::CreateCommittedResource"));
  Result<SubresourceLayout> layout = LayoutOf(list_.device(), desc, 0);
  if (!layout.ok()) return layout.status();
  Result<ID3D12GraphicsCommandList*> list = list_.Begin(queue);
  if (!list.ok()) return list.status();
  RecordTransition(*list, texture, subresource, state, D3D12_RESOURCE_STATE_RESOLVE_SOURCE);
  (*list)->ResolveSubresource(resolved.get(), 0, texture, subresource, format);
  RecordTransition(*list, texture, subresource, D3D12_RESOURCE_STATE_RESOLVE_SOURCE, state);
  Result<SubresourceBytes> result =
      CopyOut(queue, *list, resolved.get(), 0, *layout, D3D12_RESOURCE_STATE_RESOLVE_DEST);
  // Leaks an object that the GPU may still use.
  if (result.status().code() == StatusCode::kDeviceLost) resolved.Detach();
  return result;
}

Result<SubresourceBytes> TextureReadback::Read(ID3D12CommandQueue* queue, ID3D12Resource* texture,
                                               uint32_t subresource, D3D12_RESOURCE_STATES state) {
  const D3D12_RESOURCE_DESC desc = GetDesc(texture);
  CAIRN_RETURN_IF_ERROR(CheckTexture(desc));
  if (desc.SampleDesc.Count > 1) return ReadResolved(queue, texture, subresource, state);
  Result<SubresourceLayout> layout = LayoutOf(list_.device(), desc, subresource);
  if (!layout.ok()) return layout.status();
  Result<ID3D12GraphicsCommandList*> list = list_.Begin(queue);
  if (!list.ok()) return list.status();
  return CopyOut(queue, *list, texture, subresource, *layout, state);
}

Status TextureReadback::Write(ID3D12CommandQueue* queue, ID3D12Resource* texture,
                              uint32_t subresource, D3D12_RESOURCE_STATES state, uint64_t row_pitch,
                              std::span<const std::byte> bytes) {
  const D3D12_RESOURCE_DESC desc = GetDesc(texture);
  CAIRN_RETURN_IF_ERROR(CheckTexture(desc));
  if (desc.SampleDesc.Count > 1) {
    return {StatusCode::kUnsupported, "a texture with " + std::to_string(desc.SampleDesc.Count) +
                                          " samples cannot be written by a copy"};
  }
  Result<SubresourceLayout> layout = LayoutOf(list_.device(), desc, subresource);
  if (!layout.ok()) return layout.status();
  const D3D12_SUBRESOURCE_FOOTPRINT& footprint = layout->placed.Footprint;
  const uint64_t rows = uint64_t{layout->row_count} * footprint.Depth;
  if (row_pitch < layout->row_bytes || bytes.size() < layout->row_bytes ||
      (bytes.size() - layout->row_bytes) / row_pitch < rows - 1) {
    return {StatusCode::kInvalidArgument, std::to_string(bytes.size()) + " bytes with rows of " +
                                              std::to_string(row_pitch) + " do not fill " +
                                              std::to_string(rows) + " rows of " +
                                              std::to_string(layout->row_bytes)};
  }
  Result<ID3D12Resource*> staging = list_.Staging(D3D12_HEAP_TYPE_UPLOAD, layout->total_bytes);
  if (!staging.ok()) return staging.status();
  {
    const Mapping mapping(*staging, 0, layout->total_bytes, /*written=*/true);
    CAIRN_RETURN_IF_ERROR(mapping.status());
    CopyRows(mapping.data(), footprint.RowPitch, bytes.data(), row_pitch, layout->row_bytes, rows);
  }
  Result<ID3D12GraphicsCommandList*> list = list_.Begin(queue);
  if (!list.ok()) return list.status();
  RecordTransition(*list, texture, subresource, state, D3D12_RESOURCE_STATE_COPY_DEST);
  const D3D12_TEXTURE_COPY_LOCATION to = InTexture(texture, subresource);
  const D3D12_TEXTURE_COPY_LOCATION from = InBuffer(*staging, *layout);
  (*list)->CopyTextureRegion(&to, 0, 0, 0, &from, nullptr);
  RecordTransition(*list, texture, subresource, D3D12_RESOURCE_STATE_COPY_DEST, state);
  return list_.Run(queue, limit_);
}

Result<std::vector<std::byte>> TextureReadback::ReadBuffer(ID3D12CommandQueue* queue,
                                                           ID3D12Resource* buffer,
                                                           uint64_t offset_bytes,
                                                           uint64_t size_bytes,
                                                           D3D12_RESOURCE_STATES state) {
  CAIRN_RETURN_IF_ERROR(CheckBufferRange(GetDesc(buffer), offset_bytes, size_bytes, state));
  std::vector<std::byte> bytes(size_bytes);
  if (size_bytes == 0) return bytes;
  if (IsMappable(buffer)) {
    const Mapping mapping(buffer, offset_bytes, offset_bytes + size_bytes, /*written=*/false);
    CAIRN_RETURN_IF_ERROR(mapping.status());
    std::memcpy(bytes.data(), mapping.data() + offset_bytes, size_bytes);
    return bytes;
  }
  Result<ID3D12Resource*> staging = list_.Staging(D3D12_HEAP_TYPE_READBACK, size_bytes);
  if (!staging.ok()) return staging.status();
  Result<ID3D12GraphicsCommandList*> list = list_.Begin(queue);
  if (!list.ok()) return list.status();
  RecordTransition(*list, buffer, 0, state, D3D12_RESOURCE_STATE_COPY_SOURCE);
  (*list)->CopyBufferRegion(*staging, 0, buffer, offset_bytes, size_bytes);
  RecordTransition(*list, buffer, 0, D3D12_RESOURCE_STATE_COPY_SOURCE, state);
  CAIRN_RETURN_IF_ERROR(list_.Run(queue, limit_));
  const Mapping mapping(*staging, 0, size_bytes, /*written=*/false);
  CAIRN_RETURN_IF_ERROR(mapping.status());
  std::memcpy(bytes.data(), mapping.data(), size_bytes);
  return bytes;
}

Status TextureReadback::WriteBuffer(ID3D12CommandQueue* queue, ID3D12Resource* buffer,
                                    uint64_t offset_bytes, std::span<const std::byte> bytes,
                                    D3D12_RESOURCE_STATES state) {
  CAIRN_RETURN_IF_ERROR(CheckBufferRange(GetDesc(buffer), offset_bytes, bytes.size(), state));
  if (bytes.empty()) return {};
  if (IsMappable(buffer)) {
    const Mapping mapping(buffer, offset_bytes, offset_bytes + bytes.size(), /*written=*/true);
    CAIRN_RETURN_IF_ERROR(mapping.status());
    std::memcpy(mapping.data() + offset_bytes, bytes.data(), bytes.size());
    return {};
  }
  Result<ID3D12Resource*> staging = list_.Staging(D3D12_HEAP_TYPE_UPLOAD, bytes.size());
  if (!staging.ok()) return staging.status();
  {
    const Mapping mapping(*staging, 0, bytes.size(), /*written=*/true);
    CAIRN_RETURN_IF_ERROR(mapping.status());
    std::memcpy(mapping.data(), bytes.data(), bytes.size());
  }
  Result<ID3D12GraphicsCommandList*> list = list_.Begin(queue);
  if (!list.ok()) return list.status();
  RecordTransition(*list, buffer, 0, state, D3D12_RESOURCE_STATE_COPY_DEST);
  (*list)->CopyBufferRegion(buffer, offset_bytes, *staging, 0, bytes.size());
  RecordTransition(*list, buffer, 0, D3D12_RESOURCE_STATE_COPY_DEST, state);
  return list_.Run(queue, limit_);
}

namespace {

// Calls `mapped(buffer, pieces, offset)` for pieces of one buffer that can be mapped, with where their bytes begin
// among all bytes, and returns the others.
template <typename Mapped>
Result<std::vector<BufferPiece>> ForMapped(std::span<const BufferPiece> pieces,
                                           const Mapped& mapped) {
  std::vector<BufferPiece> others;
  uint64_t offset = 0;
  for (size_t first = 0, last = 0; first < pieces.size(); first = last) {
    ID3D12Resource* const buffer = pieces[first].buffer;
    const D3D12_RESOURCE_DESC desc = GetDesc(buffer);
    uint64_t bytes = 0;
    for (last = first; last < pieces.size() && pieces[last].buffer == buffer; ++last) {
      const BufferPiece& piece = pieces[last];
      CAIRN_RETURN_IF_ERROR(CheckBufferRange(desc, piece.offset_bytes, piece.size_bytes,
                                             D3D12_RESOURCE_STATE_COMMON));
      bytes += piece.size_bytes;
    }
    const auto of_buffer = pieces.subspan(first, last - first);
    if (IsMappable(buffer)) {
      CAIRN_RETURN_IF_ERROR(mapped(buffer, of_buffer, offset));
    } else {
      others.insert(others.end(), of_buffer.begin(), of_buffer.end());
    }
    offset += bytes;
  }
  return others;
}

uint64_t SumOf(std::span<const BufferPiece> pieces) {
  uint64_t bytes = 0;
  for (const BufferPiece& piece : pieces) bytes += piece.size_bytes;
  return bytes;
}

// Calls `copy(at, at_staged, size)` for each of the pieces that were not mapped: `at` among all bytes.
template <typename Copy>
void ForStaged(std::span<const BufferPiece> pieces, const Copy& copy) {
  uint64_t at = 0;
  uint64_t staged = 0;
  ID3D12Resource* buffer = nullptr;
  bool is_mapped = false;
  for (const BufferPiece& piece : pieces) {
    if (piece.buffer != buffer) is_mapped = IsMappable(buffer = piece.buffer);
    if (!is_mapped) {
      copy(at, staged, piece.size_bytes);
      staged += piece.size_bytes;
    }
    at += piece.size_bytes;
  }
}

}  // namespace

void TextureReadback::RecordPieces(ID3D12GraphicsCommandList* list, ID3D12Resource* staging,
                                   std::span<const BufferPiece> pieces, bool write) {
  const D3D12_RESOURCE_STATES state =
      write ? D3D12_RESOURCE_STATE_COPY_DEST : D3D12_RESOURCE_STATE_COPY_SOURCE;
  uint64_t staged = 0;
  for (size_t i = 0; i < pieces.size(); ++i) {
    const BufferPiece& piece = pieces[i];
    if (i == 0 || pieces[i - 1].buffer != piece.buffer) {
      RecordTransition(list, piece.buffer, 0, D3D12_RESOURCE_STATE_COMMON, state);
    }
    if (write) {
      list->CopyBufferRegion(piece.buffer, piece.offset_bytes, staging, staged, piece.size_bytes);
    } else {
      list->CopyBufferRegion(staging, staged, piece.buffer, piece.offset_bytes, piece.size_bytes);
    }
    staged += piece.size_bytes;
    if (i + 1 == pieces.size() || pieces[i + 1].buffer != piece.buffer) {
      RecordTransition(list, piece.buffer, 0, state, D3D12_RESOURCE_STATE_COMMON);
    }
  }
}

Result<std::vector<std::byte>> TextureReadback::ReadPieces(ID3D12CommandQueue* queue,
                                                           std::span<const BufferPiece> pieces) {
  std::vector<std::byte> bytes(SumOf(pieces));
  const Result<std::vector<BufferPiece>> others = ForMapped(
      pieces, [&](ID3D12Resource* buffer, std::span<const BufferPiece> parts, uint64_t at) {
        const Mapping mapping(buffer, 0, GetDesc(buffer).Width, /*written=*/false);
        CAIRN_RETURN_IF_ERROR(mapping.status());
        for (const BufferPiece& part : parts) {
          CopyFromUncached(bytes.data() + at, mapping.data() + part.offset_bytes, part.size_bytes);
          at += part.size_bytes;
        }
        return Status();
      });
  if (!others.ok()) return others.status();
  if (others->empty()) return bytes;
  const uint64_t staged_bytes = SumOf(*others);
  Result<ID3D12Resource*> staging = list_.Staging(D3D12_HEAP_TYPE_READBACK, staged_bytes);
  if (!staging.ok()) return staging.status();
  Result<ID3D12GraphicsCommandList*> list = list_.Begin(queue);
  if (!list.ok()) return list.status();
  RecordPieces(*list, *staging, *others, /*write=*/false);
  CAIRN_RETURN_IF_ERROR(list_.Run(queue, limit_));
  const Mapping mapping(*staging, 0, staged_bytes, /*written=*/false);
  CAIRN_RETURN_IF_ERROR(mapping.status());
  ForStaged(pieces, [&](uint64_t at, uint64_t staged, uint64_t size_bytes) {
    std::memcpy(bytes.data() + at, mapping.data() + staged, size_bytes);
  });
  return bytes;
}

Status TextureReadback::WritePieces(ID3D12CommandQueue* queue, std::span<const BufferPiece> pieces,
                                    std::span<const std::byte> bytes) {
  if (bytes.size() != SumOf(pieces)) {
    return {StatusCode::kInvalidArgument, "as many bytes as the pieces have are to be written"};
  }
  const Result<std::vector<BufferPiece>> others = ForMapped(
      pieces, [&](ID3D12Resource* buffer, std::span<const BufferPiece> parts, uint64_t at) {
        const Mapping mapping(buffer, 0, GetDesc(buffer).Width, /*written=*/true);
        CAIRN_RETURN_IF_ERROR(mapping.status());
        for (const BufferPiece& part : parts) {
          std::memcpy(mapping.data() + part.offset_bytes, bytes.data() + at, part.size_bytes);
          at += part.size_bytes;
        }
        return Status();
      });
  if (!others.ok()) return others.status();
  if (others->empty()) return {};
  const uint64_t staged_bytes = SumOf(*others);
  Result<ID3D12Resource*> staging = list_.Staging(D3D12_HEAP_TYPE_UPLOAD, staged_bytes);
  if (!staging.ok()) return staging.status();
  {
    const Mapping mapping(*staging, 0, staged_bytes, /*written=*/true);
    CAIRN_RETURN_IF_ERROR(mapping.status());
    ForStaged(pieces, [&](uint64_t at, uint64_t staged, uint64_t size_bytes) {
      std::memcpy(mapping.data() + staged, bytes.data() + at, size_bytes);
    });
  }
  Result<ID3D12GraphicsCommandList*> list = list_.Begin(queue);
  if (!list.ok()) return list.status();
  RecordPieces(*list, *staging, *others, /*write=*/true);
  return list_.Start(queue, limit_);
}

Status TextureReadback::WriteZeros(ID3D12CommandQueue* queue, ID3D12Resource* resource,
                                   D3D12_RESOURCE_STATES state) {
  constexpr uint64_t kPieceBytes = uint64_t{4} << 20;
  const D3D12_RESOURCE_DESC desc = GetDesc(resource);
  if (desc.Dimension == D3D12_RESOURCE_DIMENSION_BUFFER) {
    const std::vector<std::byte> zeros(std::min(desc.Width, kPieceBytes));
    for (uint64_t offset = 0; offset < desc.Width; offset += kPieceBytes) {
      CAIRN_RETURN_IF_ERROR(
          WriteBuffer(queue, resource, offset,
                      std::span(zeros).first(std::min(desc.Width - offset, kPieceBytes)), state));
    }
    return {};
  }
  CAIRN_RETURN_IF_ERROR(CheckTexture(desc));
  for (uint32_t i = 0; i < CountSubresources(desc); ++i) {
    const Result<SubresourceLayout> layout = LayoutOf(list_.device(), desc, i);
    if (!layout.ok()) return layout.status();
    const std::vector<std::byte> zeros(layout->packed_bytes());
    CAIRN_RETURN_IF_ERROR(Write(queue, resource, i, state, layout->row_bytes, zeros));
  }
  return {};
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
