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

void RingWriter::Pad(uint64_t head, size_t size_bytes) {
  RecordHeader pad{};
  pad.size_bytes = static_cast<uint32_t>(size_bytes);
  std::memcpy(bytes_ + head % kCaptureRingBytes, &pad, sizeof(pad));
  ring_->head.store(head + size_bytes, std::memory_order_release);
}

}  // namespace cairn
