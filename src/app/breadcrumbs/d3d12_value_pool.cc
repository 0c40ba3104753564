// SPDX-License-Identifier: Apache-2.0
#include "app/breadcrumbs/d3d12_value_pool.h"

#include <utility>

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

D3D12ValueChunk* D3D12ValuePool::Take() {
  const std::lock_guard lock(mutex_);
  if (free_ == nullptr && !AddBlock()) return nullptr;
  D3D12ValueChunk* chunk = std::exchange(free_, free_->next);
  chunk->next = nullptr;
  return chunk;
}

void D3D12ValuePool::GiveBack(D3D12ValueChunk* first) {
  if (first == nullptr) return;
  D3D12ValueChunk* last = first;
  while (last->next != nullptr) last = last->next;
  const std::lock_guard lock(mutex_);
  last->next = nullptr;
  (free_ == nullptr ? free_ : free_last_->next) = first;
  free_last_ = last;
}

bool D3D12ValuePool::AddBlock() {
  Result<D3D12MappedBuffer> buffer =
      CreateMappedBuffer(device_, MappedHeap::kUpload, kValueBlockBytes);
  if (!buffer.ok()) return false;
  auto block = std::make_unique<Block>();
  block->buffer = std::move(*buffer);
  // Linked back to front, so that chunks are handed out in order of address.
  for (size_t i = block->chunks.size(); i-- > 0;) {
    D3D12ValueChunk& chunk = block->chunks[i];
    chunk.buffer = block->buffer.resource.get();
    chunk.offset_bytes = i * kValueChunkBytes;
    chunk.values = reinterpret_cast<uint32_t*>(block->buffer.memory + chunk.offset_bytes);
    chunk.next = std::exchange(free_, &chunk);
    if (chunk.next == nullptr) free_last_ = &chunk;
  }
  blocks_.push_back(std::move(block));
  block_count_.store(blocks_.size(), std::memory_order_relaxed);
  return true;
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
