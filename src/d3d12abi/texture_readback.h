// SPDX-License-Identifier: Apache-2.0
//
// Copies what a resource holds to memory, and back: for hashes and pictures of frames, and for the
// contents with which a recording starts late.
//
//   TextureReadback readback(device);
//   Result<SubresourceBytes> pixels = readback.Read(queue, texture, 0, D3D12_RESOURCE_STATE_PRESENT);
//
// Each call waits for the GPU: what was submitted to the same queue before is seen; work on other queues
// has to be finished by the caller. The subresource is in the same state afterwards. One thread at a
// time. A direct queue can do everything, a copy queue what is in the common or a copy state.
#ifndef CAIRN_D3D12ABI_TEXTURE_READBACK_H_
#define CAIRN_D3D12ABI_TEXTURE_READBACK_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "d3d12abi/one_shot_list.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

// Rows without padding, slices of volumes one after another.
struct SubresourceBytes {
  uint32_t width = 0;
  uint32_t height = 0;
  uint32_t depth = 1;
  // DXGI_FORMAT as the texture's description says; of a plane, as the device calls it.
  uint32_t format = 0;
  uint64_t row_bytes = 0;
  uint32_t row_count = 0;  // of a slice; compressed formats: rows of blocks
  std::vector<std::byte> bytes;
};

// Mips, slices and planes: how many subresources a resource of that description has; 1 for a buffer.
uint32_t CountSubresources(const D3D12_RESOURCE_DESC& desc);

// Bytes of a buffer.
struct BufferPiece {
  ID3D12Resource* buffer = nullptr;
  uint64_t offset_bytes = 0;
  uint64_t size_bytes = 0;
};

class TextureReadback {
 public:
  // `limit`: how long a copy may take before the device counts as lost.
  explicit TextureReadback(ID3D12Device* device,
                           std::chrono::milliseconds limit = std::chrono::seconds(20))
      : list_(device), limit_(limit) {}

  // Textures. Colours of several samples are resolved first. Errors: kInvalidArgument: not a texture, or
  // no such subresource; kUnsupported: planes where the device cannot copy them, samples that cannot be
  // resolved (integers, depth); kDeviceLost; kOutOfMemory.
  Result<SubresourceBytes> Read(ID3D12CommandQueue* queue, ID3D12Resource* texture,
                                uint32_t subresource, D3D12_RESOURCE_STATES state);
  // `bytes` as Read() gives them, but rows `row_pitch` bytes apart. kInvalidArgument, too, if they are
  // too few; kUnsupported for several samples.
  Status Write(ID3D12CommandQueue* queue, ID3D12Resource* texture, uint32_t subresource,
               D3D12_RESOURCE_STATES state, uint64_t row_pitch, std::span<const std::byte> bytes);

  // Buffers: mapped if they can be, otherwise copied by the GPU. Large ones are best read in pieces: as
  // much is allocated twice. kUnsupported for acceleration structures: their bytes mean nothing elsewhere.
  Result<std::vector<std::byte>> ReadBuffer(ID3D12CommandQueue* queue, ID3D12Resource* buffer,
                                            uint64_t offset_bytes, uint64_t size_bytes,
                                            D3D12_RESOURCE_STATES state);
  Status WriteBuffer(ID3D12CommandQueue* queue, ID3D12Resource* buffer, uint64_t offset_bytes,
                     std::span<const std::byte> bytes, D3D12_RESOURCE_STATES state);

  // Pieces of buffers in the common state, or that can be mapped, one after the other. Reading waits for the GPU at
  // most once; writing does not wait. Pieces of one buffer are best given together.
  Result<std::vector<std::byte>> ReadPieces(ID3D12CommandQueue* queue,
                                            std::span<const BufferPiece> pieces);
  Status WritePieces(ID3D12CommandQueue* queue, std::span<const BufferPiece> pieces,
                     std::span<const std::byte> bytes);
  // Waits for what WritePieces() started, for a reader on another queue.
  Status AwaitWritten() { return list_.AwaitStarted(); }

  // All of a buffer or texture becomes zeros; all subresources are in that state. Waits for the GPU once for each
  // of them. Errors: those of Write() and WriteBuffer(): some of it may be zeros then.
  Status WriteZeros(ID3D12CommandQueue* queue, ID3D12Resource* resource,
                    D3D12_RESOURCE_STATES state);

 private:
  Result<SubresourceBytes> CopyOut(ID3D12CommandQueue* queue, ID3D12GraphicsCommandList* list,
                                   ID3D12Resource* texture, uint32_t subresource,
                                   const SubresourceLayout& layout, D3D12_RESOURCE_STATES state);
  Result<SubresourceBytes> ReadResolved(ID3D12CommandQueue* queue, ID3D12Resource* texture,
                                        uint32_t subresource, D3D12_RESOURCE_STATES state);

  // Record copies between `staging` and the pieces that cannot be mapped.
  static void RecordPieces(ID3D12GraphicsCommandList* list, ID3D12Resource* staging,
                           std::span<const BufferPiece> pieces, bool write);

  OneShotList list_;
  const std::chrono::milliseconds limit_;
};

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_D3D12ABI_TEXTURE_READBACK_H_
