// SPDX-License-Identifier: Apache-2.0
#include "app/d3d12/capture/readback_capture.h"

#include <limits>
#include <new>

#include "app/capture/capture.h"
#include "app/d3d12/capture/memory_capture.h"
#include "format/calls/readback_rows.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {

// Records a hash of the copied rows. Omits rows that are not completely mapped.
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

  bool Reached(const PendingCopies::Copy& copy) {
    if (copy.reached) return true;
    if (copy.fence == 0) return false;
    const auto [place, is_new] = completed_.try_emplace(copy.fence, 0);
    if (is_new) {
      const auto found = of_.fences_.find(copy.fence);
      place->second = found == of_.fences_.end() ? 0 : found->second->GetCompletedValue();
    }
    constexpr uint64_t kLost = std::numeric_limits<uint64_t>::max();  // the device is
    return place->second >= copy.fence_value && place->second != kLost;
  }

 private:
  const ReadbackCapture& of_;
  std::unordered_map<uint64_t, uint64_t> completed_;
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
  unpredictable_.erase(buffer);
  Count();
}

void ReadbackCapture::NoteUnpredictable(uint64_t resource) try {
  const std::lock_guard lock(mutex_);
  unpredictable_.insert(resource);
  Count();
} catch (const std::bad_alloc&) {
}

bool ReadbackCapture::IsUnpredictable(uint64_t resource) {
  if (unpredictable_count_.load(std::memory_order_relaxed) == 0) return false;
  const std::lock_guard lock(mutex_);
  return unpredictable_.contains(resource);
}

void ReadbackCapture::BeforeExecute(std::span<const ListCopies* const> lists, uint64_t queue) try {
  bool copies = false;
  bool lost = false;
  for (const ListCopies* const list : lists) {
    copies = copies || !list->rows().empty();
    lost = lost || list->lost();
  }
  if (!copies && !lost) return;
  if (lost) LookAtAll();
  const std::lock_guard lock(mutex_);
  if (lost) {
    // Lists without known copies may overwrite anything.
    pending_.Clear();
  } else {
    Progress progress(*this);
    pending_.TakeOverwritten(lists,
                             [&](PendingCopies::Copy& copy) { return Hash(copy, &progress); });
    pending_.Execute(lists, queue,
                     [&](uint64_t source) { return unpredictable_.contains(source); });
  }
  Count();
} catch (const std::bad_alloc&) {
}

void ReadbackCapture::Signalled(uint64_t queue, const Wrapper& fence, uint64_t value) try {
  if (held_.load(std::memory_order_relaxed) == 0) return;
  const std::lock_guard lock(mutex_);
  fences_[fence.capture_number()] = static_cast<ID3D12Fence*>(fence.real_pointer());
  pending_.Signal(queue, fence.capture_number(), value);
} catch (const std::bad_alloc&) {
}

void ReadbackCapture::ForgetFence(uint64_t fence) {
  Look();
  DistrustFence(fence);
}

void ReadbackCapture::DistrustFence(uint64_t fence) {
  const std::lock_guard lock(mutex_);
  if (fences_.erase(fence) != 0) pending_.ForgetFence(fence);
}

void ReadbackCapture::LookAt(uint64_t buffer) try {
  if (held_.load(std::memory_order_relaxed) == 0) return;
  const std::lock_guard lock(mutex_);
  if (Ended()) return;
  Progress progress(*this);
  pending_.TakeFrom(buffer, [&](PendingCopies::Copy& copy) { return Hash(copy, &progress); });
  Count();
} catch (const std::bad_alloc&) {
}

void ReadbackCapture::LookAtAll() try {
  const std::lock_guard lock(mutex_);
  if (Ended()) return;
  Progress progress(*this);
  pending_.TakeFromAll([&](PendingCopies::Copy& copy) { return Hash(copy, &progress); });
  Count();
} catch (const std::bad_alloc&) {
}

bool ReadbackCapture::Ended() {
  if (Capture::Active() != nullptr) return false;
  pending_.Clear();
  fences_.clear();
  Count();
  return true;
}

void ReadbackCapture::Count() {
  size_t waiting = 0;
  pending_.TakeFromAll([&](const PendingCopies::Copy& copy) {
    waiting += copy.reached ? 0 : 1;
    return false;
  });
  held_.store(pending_.size(), std::memory_order_relaxed);
  waiting_.store(waiting, std::memory_order_relaxed);
  unpredictable_count_.store(unpredictable_.size(), std::memory_order_relaxed);
}

bool ReadbackCapture::Hash(PendingCopies::Copy& copy, Progress* progress) {
  if (!progress->Reached(copy)) return false;
  copy.reached = true;
  Capture* const capture = Capture::Active();
  const auto found = buffers_.find(copy.rows.buffer);
  // A recording that begins later begins with what is in all buffers.
  if (capture == nullptr || !capture->on() || found == buffers_.end()) return true;
  // Without a mapping the program may still read it later.
  return found->second->WithMemory([&](const std::byte* memory, uint64_t size_bytes) {
    Record(*capture, copy, memory, size_bytes);
  });
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
