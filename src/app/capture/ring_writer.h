// SPDX-License-Identifier: Apache-2.0
//
// Writes records into one ring of the region. Used by one thread at a time.
#ifndef CAIRN_APP_CAPTURE_RING_WRITER_H_
#define CAIRN_APP_CAPTURE_RING_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "app/capture/shared_region.h"
#include "format/calls/record.h"

namespace cairn {

class RingWriter {
 public:
  RingWriter(SharedRegion* region, uint32_t ring)
      : region_(region),
        ring_(&region->ring(ring)),
        bytes_(region->ring_bytes(ring)),
        tail_(ring_->tail.load(std::memory_order_acquire)),
        rang_at_(ring_->head.load(std::memory_order_relaxed)) {}

  CaptureRing& ring() const { return *ring_; }

  // The free bytes where the next record begins, in one piece; none if there are fewer than `least`
  // without waiting.
  std::span<std::byte> RoomNow(size_t least);

  // Returns the begin of the next record, with room for one of `size_bytes` (at most
  // kMaxRecordBytes). Waits for the watcher. Null: the capture has ended.
  std::byte* WaitForRoom(size_t size_bytes);

  // The record whose body lies behind the place of its header, in the room that one of the above gave,
  // is complete. Gives it its number. `header`: all but number and sizes.
  uint64_t Publish(RecordHeader header, size_t body_bytes);

  static size_t RecordBytes(size_t body_bytes) {
    return (sizeof(RecordHeader) + body_bytes + kRecordAlignment - 1) & -size_t{kRecordAlignment};
  }

 private:
  // Returns the free bytes of the whole ring.
  size_t Free(uint64_t head) const {
    const uint64_t used = head - tail_;
    return used > kCaptureRingBytes ? 0 : kCaptureRingBytes - used;
  }
  void LookAtTail() { tail_ = ring_->tail.load(std::memory_order_seq_cst); }
  void Pad(uint64_t head, size_t size_bytes);

  SharedRegion* region_;
  CaptureRing* ring_;
  std::byte* bytes_;
  uint64_t tail_;  // as seen last
  uint64_t rang_at_;
};

static_assert(sizeof(RecordHeader) == kRecordAlignment);

inline std::span<std::byte> RingWriter::RoomNow(size_t least) {
  const uint64_t head = ring_->head.load(std::memory_order_relaxed);
  const size_t place = head % kCaptureRingBytes;
  const size_t to_end = kCaptureRingBytes - place;
  if (to_end < least) return {};
  if (Free(head) < least) {
    LookAtTail();
    if (Free(head) < least) return {};
  }
  return {bytes_ + place, Free(head) < to_end ? Free(head) : to_end};
}

inline uint64_t RingWriter::Publish(RecordHeader header, size_t body_bytes) {
  const uint64_t head = ring_->head.load(std::memory_order_relaxed);
  header.size_bytes = static_cast<uint32_t>(RecordBytes(body_bytes));
  header.body_bytes = static_cast<uint32_t>(body_bytes);
  header.number = region_->header().next_number.fetch_add(1, std::memory_order_acq_rel) + 1;
  std::memcpy(bytes_ + head % kCaptureRingBytes, &header, sizeof(header));
  const uint64_t end = head + header.size_bytes;
  ring_->head.store(end, std::memory_order_release);
  if (end - rang_at_ >= kDoorbellBytes) [[unlikely]] {
    rang_at_ = end;
    region_->RingDoorbell();
  }
  return header.number;
}

}  // namespace cairn

#endif  // CAIRN_APP_CAPTURE_RING_WRITER_H_
