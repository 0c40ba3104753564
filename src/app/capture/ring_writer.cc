// SPDX-License-Identifier: Apache-2.0
#include "app/capture/ring_writer.h"

namespace cairn {

std::byte* RingWriter::WaitForRoom(size_t size_bytes) {
  uint64_t head = ring_->head.load(std::memory_order_relaxed);
  const size_t to_end = kCaptureRingBytes - head % kCaptureRingBytes;
  const size_t padding = to_end < size_bytes ? to_end : 0;
  const auto fits = [this, head, needed = padding + size_bytes] {
    if (Free(head) >= needed) return true;
    LookAtTail();
    return Free(head) >= needed;
  };
  if (!fits() && !region_->WaitUntil(ring_->waiting, fits)) return nullptr;
  if (padding != 0) {
    Pad(head, padding);
    head += padding;
  }
  return bytes_ + head % kCaptureRingBytes;
}

uint64_t RingWriter::TakeLease() {
  // Looked at first: what changes from now on is seen before the next record.
  leased_at_change_ = region_->header().last_ordered.load(std::memory_order_acquire);
  const uint32_t count = next_lease_;
  const uint64_t first =
      region_->header().next_number.fetch_add(count, std::memory_order_acq_rel) + 1;
  const Lease lease{first, count, 1};
  ring_->lease.store(lease.Word(), std::memory_order_release);
  leased_ = count - 1;
  next_lease_ = std::min(2 * count, kMostLeased);
  return first;
}

bool RingWriter::GiveBackLease() {
  // Waited for first: the watcher can take the lease meanwhile.
  std::byte* const place = WaitForRoom(sizeof(RecordHeader));
  if (place == nullptr) return false;
  leased_ = 0;
  const Lease lease = Lease::Of(ring_->lease.exchange(0, std::memory_order_acq_rel));
  next_lease_ = std::max(1u, lease.used);
  if (!lease.rest()) return true;
  RecordHeader unused{};
  unused.size_bytes = sizeof(unused);
  unused.number = lease.next();
  unused.object = lease.last();
  std::memcpy(place, &unused, sizeof(unused));
  ring_->head.fetch_add(sizeof(unused), std::memory_order_release);
  return true;
}

void RingWriter::Pad(uint64_t head, size_t size_bytes) {
  RecordHeader pad{};
  pad.size_bytes = static_cast<uint32_t>(size_bytes);
  std::memcpy(bytes_ + head % kCaptureRingBytes, &pad, sizeof(pad));
  ring_->head.store(head + size_bytes, std::memory_order_release);
}

}  // namespace cairn
