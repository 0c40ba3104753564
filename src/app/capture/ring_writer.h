// SPDX-License-Identifier: Apache-2.0
//
// Writes records into one ring of the region. Used by one thread at a time.
#ifndef CAIRN_APP_CAPTURE_RING_WRITER_H_
#define CAIRN_APP_CAPTURE_RING_WRITER_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "app/capture/shared_region.h"
#include "format/calls/record.h"
#include "os/cache_line.h"

namespace cairn {

// The threads that can tell when a record was made.
enum class RecordOrder : uint8_t {
  kAll,     // other threads: what they do because of it must come later
  kThread,  // its own thread alone
};

class RingWriter {
 public:
  RingWriter(SharedRegion* region, uint32_t ring)
      : region_(region),
        ring_(&region->ring(ring)),
        bytes_(region->ring_bytes(ring)),
        tail_(ring_->tail.load(std::memory_order_acquire)),
        rang_at_(ring_->head.load(std::memory_order_relaxed)) {
    ring_->lease.store(0, std::memory_order_release);
  }

  CaptureRing& ring() const { return *ring_; }

  // First of each record: what the thread has seen of others until now gets smaller numbers. False: the
  // capture has ended.
  bool Begin(RecordOrder order) {
    if (leased_ == 0) return true;
    const bool current =
        leased_at_change_ == region_->header().last_ordered.load(std::memory_order_acquire);
    return (order == RecordOrder::kThread && current) || GiveBackLease();
  }

  // The free bytes where the next record begins, in one piece; none if there are fewer than `least`
  // without waiting.
  std::span<std::byte> RoomNow(size_t least);

  // Returns the begin of the next record, with room for one of `size_bytes` (at most
  // kMaxRecordBytes). Waits for the watcher. Null: the capture has ended.
  std::byte* WaitForRoom(size_t size_bytes);

  // The record whose body lies behind the place of its header, in the room that one of the above gave,
  // is complete. Gives it its number. `header`: all but number and sizes. `order`: that of Begin.
  uint64_t Publish(RecordHeader header, size_t body_bytes, RecordOrder order);

  static size_t RecordBytes(size_t body_bytes) {
    return (sizeof(RecordHeader) + body_bytes + kRecordAlignment - 1) & -size_t{kRecordAlignment};
  }

 private:
  // Returns the free bytes of the whole ring.
  size_t Free(uint64_t head) const {
    const uint64_t used = head - tail_;
    return used > kCaptureRingBytes ? 0 : kCaptureRingBytes - used;
  }
  uint64_t TakeNumber(RecordOrder order);
  uint64_t TakeLease();
  bool GiveBackLease();
  void LookAtTail() { tail_ = ring_->tail.load(std::memory_order_seq_cst); }
  void Pad(uint64_t head, size_t size_bytes);
  void FetchAhead(uint64_t head) const;

  SharedRegion* region_;
  CaptureRing* ring_;
  std::byte* bytes_;
  uint64_t tail_;                  // as seen last
  uint32_t leased_ = 0;            // numbers of the lease that are left, unless it is revoked
  uint32_t next_lease_ = 1;        // how many numbers are taken at once
  uint64_t leased_at_change_ = 0;  // last_ordered when it was taken
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

inline uint64_t RingWriter::TakeNumber(RecordOrder order) {
  if (order == RecordOrder::kAll) {
    return region_->header().next_number.fetch_add(1, std::memory_order_acq_rel) + 1;
  }
  if (leased_ == 0) return TakeLease();
  const Lease lease = Lease::Of(ring_->lease.fetch_add(1, std::memory_order_acq_rel));
  if (!lease.rest()) [[unlikely]] {
    next_lease_ = std::max(1u, lease.used);
    return TakeLease();
  }
  --leased_;
  return lease.next();
}

// The watcher's processor has the lines that it read: a store would wait for each, and the next number for the store.
// Few records are longer than two lines.
inline void RingWriter::FetchAhead(uint64_t head) const {
  constexpr uint64_t kLineBytes = 64;
  FetchForWriting(bytes_ + (head + 7 * kLineBytes) % kCaptureRingBytes);
  FetchForWriting(bytes_ + (head + 8 * kLineBytes) % kCaptureRingBytes);
}

inline uint64_t RingWriter::Publish(RecordHeader header, size_t body_bytes, RecordOrder order) {
  const uint64_t head = ring_->head.load(std::memory_order_relaxed);
  header.size_bytes = static_cast<uint32_t>(RecordBytes(body_bytes));
  header.body_bytes = static_cast<uint32_t>(body_bytes);
  header.number = TakeNumber(order);
  std::memcpy(bytes_ + head % kCaptureRingBytes, &header, sizeof(header));
  const uint64_t end = head + header.size_bytes;
  ring_->head.store(end, std::memory_order_release);
  if (order == RecordOrder::kAll) {
    region_->header().last_ordered.store(header.number, std::memory_order_release);
  }
  FetchAhead(end);
  if (end - rang_at_ >= kDoorbellBytes) [[unlikely]] {
    rang_at_ = end;
    region_->RingDoorbell();
  }
  return header.number;
}

}  // namespace cairn

#endif  // CAIRN_APP_CAPTURE_RING_WRITER_H_
