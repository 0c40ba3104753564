// SPDX-License-Identifier: Apache-2.0
//
// The values that CopyBufferRegion copies into progress words. The CPU stores a value while the list
// is recorded and the GPU copies it later, so that every value needs its own four bytes until the
// list has finished: a list owns whole chunks of mapped upload memory and gives all of them back at
// once.
#ifndef CAIRN_APP_BREADCRUMBS_D3D12_VALUE_POOL_H_
#define CAIRN_APP_BREADCRUMBS_D3D12_VALUE_POOL_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "app/breadcrumbs/d3d12_buffers.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

inline constexpr uint32_t kValuesPerChunk = 1024;
inline constexpr size_t kValueChunkBytes = kValuesPerChunk * sizeof(uint32_t);
inline constexpr size_t kValueBlockBytes = size_t{1} << 20;

struct D3D12ValueChunk {
  ID3D12Resource* buffer = nullptr;  // of the block
  uint64_t offset_bytes = 0;         // of values[0] in `buffer`
  uint32_t* values = nullptr;        // kValuesPerChunk; write-combined memory, never read
  D3D12ValueChunk* next = nullptr;   // the owner's chain, then the pool's free list
};

class D3D12ValuePool {
 public:
  // `device` must outlive the pool; no memory is taken yet.
  explicit D3D12ValuePool(ID3D12Device* device) : device_(device) {}
  D3D12ValuePool(const D3D12ValuePool&) = delete;
  D3D12ValuePool& operator=(const D3D12ValuePool&) = delete;

  // A chunk with undefined values and no next. Takes the lock, and creates a block when every chunk
  // is out. Null when the device has no more memory.
  D3D12ValueChunk* Take();

  // Gives back a chunk and everything chained behind it; null is nothing. The GPU must have finished
  // with all of them.
  void GiveBack(D3D12ValueChunk* first);

  // Blocks created so far: grows only while more chunks are out than ever before.
  size_t block_count() const { return block_count_.load(std::memory_order_relaxed); }

 private:
  struct Block {
    D3D12MappedBuffer buffer;
    std::array<D3D12ValueChunk, kValueBlockBytes / kValueChunkBytes> chunks;
  };
  bool AddBlock();

  ID3D12Device* const device_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Block>> blocks_;  // guarded by mutex_
  // A queue: the chunk given back last is used last, because the GPU may still read it. A list
  // without a reported submission is forgotten with its frame and may run after all.
  D3D12ValueChunk* free_ = nullptr;       // guarded by mutex_
  D3D12ValueChunk* free_last_ = nullptr;  // guarded by mutex_; of a free_ that is not null
  std::atomic<size_t> block_count_{0};
};

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_APP_BREADCRUMBS_D3D12_VALUE_POOL_H_
