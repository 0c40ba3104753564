// SPDX-License-Identifier: Apache-2.0
#include "d3d12/readback_capture.h"

#include <limits>
#include <new>

#include "calls/readback_rows.h"
#include "capture/capture.h"
#include "d3d12/memory_capture.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {

// What is not mapped as far as that is left out.
void Record(Capture& capture, const PendingCopies::Copy& copy, const std::byte* memory,
            uint64_t size_bytes) {
  ReadbackBody body = {};
  body.row_count = copy.rows.row_count;
  body.offset_bytes = copy.rows.offset_bytes;
  body.row_bytes = copy.rows.row_bytes;
  body.row_pitch_bytes = copy.rows.row_pitch_bytes;
  body.fence = copy.fence;
  body.fence_value = copy.fence_value;
  if (!RowsLieIn(size_bytes, body)) return;
  const RowsHash hash = HashRows(memory, body);
  body.hash_low = hash.low;
  body.hash_high = hash.high;
  capture.Put(RecordKind::kReadback, copy.rows.buffer, std::as_bytes(std::span(&body, 1)));
}

}  // namespace

class ReadbackCapture::Progress {
 public:
  explicit Progress(const ReadbackCapture& of) : of_(of) {}

  bool Reached(uint64_t fence, uint64_t value) {
    if (fence == 0) return false;
    if (fence != asked_) {
      const auto found = of_.fences_.find(fence);
      asked_ = fence;
      completed_ = found == of_.fences_.end() ? 0 : found->second->GetCompletedValue();
    }
    constexpr uint64_t kLost = std::numeric_limits<uint64_t>::max();  // the device is
    return completed_ >= value && completed_ != kLost;
  }

 private:
  const ReadbackCapture& of_;
  uint64_t asked_ = 0;
  uint64_t completed_ = 0;
};

void ReadbackCapture::Follow(uint64_t buffer, MappingCapture& mappings) try {
  const std::lock_guard lock(mutex_);
  buffers_[buffer] = &mappings;
} catch (const std::bad_alloc&) {
}

void ReadbackCapture::BufferEnds(uint64_t buffer) {
  LookAt(buffer);
  const std::lock_guard lock(mutex_);
  pending_.ForgetBuffer(buffer);
  buffers_.erase(buffer);
  Count();
}

void ReadbackCapture::BeforeExecute(std::span<const ListCopies* const> lists, uint64_t queue) try {
  bool copies = false;
  for (const ListCopies* const list : lists) copies = copies || !list->rows().empty();
  if (!copies) return;
  const std::lock_guard lock(mutex_);
  Progress progress(*this);
  pending_.TakeOverwritten(lists,
                           [&](const PendingCopies::Copy& copy) { return Hash(copy, &progress); });
  pending_.Execute(lists, queue);
  Count();
} catch (const std::bad_alloc&) {
}

void ReadbackCapture::Signalled(uint64_t queue, const Wrapper& fence, uint64_t value) try {
  if (waiting_.load(std::memory_order_relaxed) == 0) return;
  const std::lock_guard lock(mutex_);
  fences_[fence.capture_number()] = static_cast<ID3D12Fence*>(fence.real_pointer());
  pending_.Signal(queue, fence.capture_number(), value);
} catch (const std::bad_alloc&) {
}

void ReadbackCapture::ForgetFence(uint64_t fence) {
  Look();
  const std::lock_guard lock(mutex_);
  if (fences_.erase(fence) != 0) pending_.ForgetFence(fence);
}

void ReadbackCapture::LookAt(uint64_t buffer) try {
  if (waiting_.load(std::memory_order_relaxed) == 0) return;
  const std::lock_guard lock(mutex_);
  Progress progress(*this);
  pending_.TakeFrom(buffer, [&](const PendingCopies::Copy& copy) { return Hash(copy, &progress); });
  Count();
} catch (const std::bad_alloc&) {
}

void ReadbackCapture::LookAtAll() try {
  const std::lock_guard lock(mutex_);
  Progress progress(*this);
  pending_.TakeFromAll([&](const PendingCopies::Copy& copy) { return Hash(copy, &progress); });
  Count();
} catch (const std::bad_alloc&) {
}

bool ReadbackCapture::Hash(const PendingCopies::Copy& copy, Progress* progress) {
  if (!progress->Reached(copy.fence, copy.fence_value)) return false;
  Capture* const capture = Capture::Active();
  const auto found = buffers_.find(copy.rows.buffer);
  // A recording that begins later begins with what is in all buffers.
  if (capture == nullptr || !capture->on() || found == buffers_.end()) return true;
  // Not mapped: the program may look at it later.
  return found->second->WithMemory([&](const std::byte* memory, uint64_t size_bytes) {
    Record(*capture, copy, memory, size_bytes);
  });
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
