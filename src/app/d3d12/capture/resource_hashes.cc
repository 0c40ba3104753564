// SPDX-License-Identifier: Apache-2.0
#include "app/d3d12/capture/resource_hashes.h"

#include <xxhash.h>

#include <algorithm>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/d3d12/layer.h"
#include "d3d12abi/aggregates.h"
#include "d3d12abi/buffer_desc.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {

// For the GPU, each time.
constexpr std::chrono::seconds kLimit(5);
// For all that live when the process ends.
constexpr std::chrono::seconds kLimitAtExit(5);

// Memory that the GPU alone reaches, which is small enough.
bool IsHashed(ID3D12Resource* real, const D3D12_RESOURCE_DESC& desc) {
  D3D12_HEAP_PROPERTIES heap = {};
  D3D12_HEAP_FLAGS flags = D3D12_HEAP_FLAG_NONE;
  // Reserved resources have no heap.
  if (FAILED(real->GetHeapProperties(&heap, &flags)) || heap.Type != D3D12_HEAP_TYPE_DEFAULT) {
    return false;
  }
  if (desc.Dimension == D3D12_RESOURCE_DIMENSION_BUFFER) {
    return desc.Width <= ResourceHashes::kMostBytes;
  }
  // The limit of a texture without mips at 16 bytes a texel.
  constexpr uint64_t kMostTexelBytes = 16;
  const uint64_t texels = std::max<uint64_t>(desc.Width, 1) * std::max<uint64_t>(desc.Height, 1) *
                          std::max<uint64_t>(desc.DepthOrArraySize, 1);
  return desc.SampleDesc.Count <= 1 && texels <= ResourceHashes::kMostBytes / kMostTexelBytes &&
         CountSubresources(desc) <= ResourceHashes::kMostSubresources;
}

// Queues that this thread has taken from the implementation, whose locks it would wait for.
thread_local int native_queues_held = 0;

bool AllZeros(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(),
                     [](std::byte byte) { return byte == std::byte{}; });
}

}  // namespace

void HoldsNativeQueue(bool holds) {
  native_queues_held += holds ? 1 : -1;
}

bool HoldsNativeQueue() {
  return native_queues_held != 0;
}

ID3D12CommandQueue* ResourceHashes::OwnQueue() {
  if (HoldsNativeQueue()) return nullptr;
  const D3D12_COMMAND_QUEUE_DESC desc = {};
  if (!queue_ &&
      FAILED(real_->CreateCommandQueue(&desc, __uuidof(ID3D12CommandQueue), queue_.Receive()))) {
    queue_ = {};
  }
  if (!readback_.has_value()) readback_.emplace(real_, kLimit);
  return queue_.get();
}

bool ResourceHashes::Goes(const Status& status) {
  if (status.ok()) return true;
  if (status.code() == StatusCode::kDeviceLost) {
    stopped_ = true;
    if (Capture* const capture = Capture::Active(); capture != nullptr) {
      capture->PutNote(NoteKind::kIncomplete,
                       "resources have no hashes from here on: " + status.message());
    }
  }
  return false;
}

void ResourceHashes::BeginHeap(uint64_t number, ID3D12Heap* real) try {
  const D3D12_HEAP_DESC heap = GetDesc(real);
  if (heap.Properties.Type != D3D12_HEAP_TYPE_DEFAULT || heap.SizeInBytes > kMostBytes ||
      (heap.Flags & D3D12_HEAP_FLAG_DENY_BUFFERS) != 0) {
    return;
  }
  const D3D12_RESOURCE_DESC desc = BufferDesc(heap.SizeInBytes);
  ComPtr<ID3D12Resource> all;
  if (FAILED(real_->CreatePlacedResource(real, 0, &desc, D3D12_RESOURCE_STATE_COMMON, nullptr,
                                         __uuidof(ID3D12Resource), all.Receive()))) {
    return;
  }
  const std::lock_guard lock(mutex_);
  ID3D12CommandQueue* const queue = OwnQueue();
  if (queue == nullptr || stopped_) return;
  if (Goes(readback_->WriteZeros(queue, all.get(), D3D12_RESOURCE_STATE_COMMON))) {
    heaps_.insert(number);
  } else if (stopped_) {
    all.Detach();  // the GPU may still write there
  }
} catch (const std::bad_alloc&) {
  // The resource gets no hashes.
}

void ResourceHashes::Begin(uint64_t number, ID3D12Resource* real, uint32_t initial_state,
                           uint64_t heap) try {
  if (!IsHashed(real, GetDesc(real))) return;
  const std::lock_guard lock(mutex_);
  if (heap != 0) {
    // A placed resource holds what others left in its heap, in a replay as well.
    if (heaps_.contains(heap)) resources_[number] = {real};
    return;
  }
  ID3D12CommandQueue* const queue = OwnQueue();
  if (queue == nullptr || stopped_) return;
  const auto state = static_cast<D3D12_RESOURCE_STATES>(initial_state);
  if (Goes(readback_->WriteZeros(queue, real, state))) resources_[number] = {real};
} catch (const std::bad_alloc&) {
  // The resource gets no hashes.
}

void ResourceHashes::Write(Capture& capture, uint64_t number, ID3D12Resource* real,
                           ID3D12CommandQueue* queue) {
  const D3D12_RESOURCE_DESC desc = GetDesc(real);
  const bool buffer = desc.Dimension == D3D12_RESOURCE_DIMENSION_BUFFER;
  const bool named = states_.LastQueue(number) != 0;
  for (uint32_t i = 0; i < (buffer ? 1 : CountSubresources(desc)); ++i) {
    const auto state = static_cast<D3D12_RESOURCE_STATES>(states_.State(number, i));
    std::vector<std::byte> bytes;
    if (buffer) {
      Result<std::vector<std::byte>> read =
          readback_->ReadBuffer(queue, real, 0, desc.Width, state);
      if (!Goes(read.status())) return;
      bytes = std::move(*read);
    } else {
      Result<SubresourceBytes> read = readback_->Read(queue, real, i, state);
      if (!Goes(read.status())) return;
      bytes = std::move(read->bytes);
    }
    if (!named && AllZeros(bytes)) continue;
    const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
    const ResourceHashBody body = {i, 0, bytes.size(), hash.low64, hash.high64};
    capture.Put(RecordKind::kResourceHash, number, BytesOf(body));
  }
}

void ResourceHashes::End(uint64_t number, ID3D12CommandQueue* queue) try {
  const std::lock_guard lock(mutex_);
  const auto found = resources_.find(number);
  if (found == resources_.end()) return;
  ID3D12Resource* const real = found->second.real;
  resources_.erase(found);
  Capture* const capture = Capture::Active();
  if (capture == nullptr || !capture->on() || stopped_) return;
  ID3D12CommandQueue* const own = OwnQueue();
  if (own != nullptr) Write(*capture, number, real, queue != nullptr ? queue : own);
} catch (const std::bad_alloc&) {
  // The resource gets no hashes.
}

void ResourceHashes::Forget(uint64_t number) {
  const std::lock_guard lock(mutex_);
  resources_.erase(number);
}

void ResourceHashes::EndAll(const std::function<bool(uint64_t number)>& wanted) try {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  Capture* const capture = Capture::Active();
  if (!lock.owns_lock() || capture == nullptr || !capture->on() || stopped_) return;
  ID3D12CommandQueue* const queue = OwnQueue();
  const auto end = std::chrono::steady_clock::now() + kLimitAtExit;
  for (const auto& [number, resource] : resources_) {
    if (queue == nullptr || stopped_ || std::chrono::steady_clock::now() > end) break;
    if (wanted(number)) Write(*capture, number, resource.real, queue);
  }
} catch (const std::bad_alloc&) {
  // The remaining resources get no hashes.
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
