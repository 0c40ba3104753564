// SPDX-License-Identifier: Apache-2.0
//
// For tests: a capture's region, and a program that writes into it, well or badly.
#ifndef CAIRN_WATCHER_TESTING_TEST_REGION_H_
#define CAIRN_WATCHER_TESTING_TEST_REGION_H_

#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "format/block/capture_region.h"
#include "format/calls/model_hash.h"
#include "format/calls/record.h"
#include "os/channel.h"
#include "os/shared_memory.h"

namespace cairn {

class TestRegion {
 public:
  TestRegion() : memory_(std::move(SharedMemory::Create("test", kCaptureRegionBytes)).value()) {
    CaptureRegionHeader& mine = header();
    mine.magic = kCaptureMagic;
    mine.version = kCaptureVersion;
    mine.header_bytes = sizeof(CaptureRegionHeader);
    mine.region_bytes = kCaptureRegionBytes;
    mine.rings_offset = sizeof(CaptureRegionHeader);
    mine.ring_bytes_offset = mine.rings_offset + kCaptureRings * sizeof(CaptureRing);
    mine.spill_offset = mine.ring_bytes_offset + uint64_t{kCaptureRings} * kCaptureRingBytes;
    mine.model_hash = ModelHash();
    mine.stop_frame = ~uint64_t{0};
    mine.state = static_cast<uint32_t>(CaptureState::kOn);
  }

  const SharedMemory& memory() const { return memory_; }
  // The same memory as the watcher maps it.
  SharedMemory Watched() const {
    return std::move(AttachedMemory::Of(memory_).MapForWriting(kCaptureRegionBytes)).value();
  }

  CaptureRegionHeader& header() { return *reinterpret_cast<CaptureRegionHeader*>(memory_.data()); }
  CaptureRing& ring(uint32_t index) {
    return reinterpret_cast<CaptureRing*>(memory_.data() + header().rings_offset)[index];
  }
  std::byte* ring_bytes(uint32_t index) {
    return memory_.data() + sizeof(CaptureRegionHeader) + kCaptureRings * sizeof(CaptureRing) +
           uint64_t{index} * kCaptureRingBytes;
  }
  std::byte* spill_block(uint32_t block) {
    return ring_bytes(kCaptureRings) + uint64_t{block} * kSpillBlockBytes;
  }

  void UseRing(uint32_t index, uint32_t thread, const std::string& name) {
    ring(index).thread = thread;
    ring(index).thread_id = 1000 + thread;
    std::strncpy(ring(index).name, name.c_str(), sizeof(ring(index).name) - 1);
    ring(index).state = 1;
  }

  uint64_t TakeNumber() { return header().next_number.fetch_add(1) + 1; }

  // Writes a record with a number that was taken; pads the end of the ring where it must.
  void Write(uint32_t index, RecordHeader record, std::span<const std::byte> body) {
    record.body_bytes = static_cast<uint32_t>(body.size());
    record.size_bytes =
        static_cast<uint32_t>((sizeof(record) + body.size() + kRecordAlignment - 1) /
                              kRecordAlignment * kRecordAlignment);
    const uint64_t to_end = kCaptureRingBytes - ring(index).head % kCaptureRingBytes;
    if (record.size_bytes > to_end) {
      RecordHeader pad{};
      pad.size_bytes = static_cast<uint32_t>(to_end);
      std::memcpy(ring_bytes(index) + ring(index).head % kCaptureRingBytes, &pad, sizeof(pad));
      ring(index).head += to_end;
    }
    std::byte* const place = ring_bytes(index) + ring(index).head % kCaptureRingBytes;
    std::memcpy(place, &record, sizeof(record));
    if (!body.empty()) std::memcpy(place + sizeof(record), body.data(), body.size());
    ring(index).head += record.size_bytes;
  }

  uint64_t Write(uint32_t index, RecordKind kind, uint64_t object = 0,
                 std::span<const std::byte> body = {}, uint8_t flags = 0) {
    RecordHeader record{};
    record.kind = kind;
    record.flags = flags;
    record.number = TakeNumber();
    record.thread = ring(index).thread;
    record.object = object;
    Write(index, record, body);
    return record.number;
  }

  // A blob in the spill, in blocks from `first_block` on.
  uint64_t WriteSpilled(uint32_t index, std::span<const std::byte> bytes, uint32_t first_block) {
    const uint32_t blocks =
        static_cast<uint32_t>((bytes.size() + kSpillBlockBytes - 1) / kSpillBlockBytes);
    const BlobBody blob{static_cast<uint32_t>(bytes.size()), blocks};
    std::vector<std::byte> body(sizeof(blob) + blocks * sizeof(uint32_t));
    std::memcpy(body.data(), &blob, sizeof(blob));
    for (uint32_t i = 0; i < blocks; ++i) {
      const uint32_t block = first_block + i;
      std::memcpy(body.data() + sizeof(blob) + i * sizeof(block), &block, sizeof(block));
      header().spill_used[block / 64] |= uint64_t{1} << (block % 64);
    }
    std::memcpy(spill_block(first_block), bytes.data(), bytes.size());
    return Write(index, RecordKind::kBlob, 0, body, kRecordSpilled);
  }

 private:
  SharedMemory memory_;
};

inline std::vector<std::byte> TestBytes(const std::string& text) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(text));
  return std::vector<std::byte>(bytes.begin(), bytes.end());
}

}  // namespace cairn

#endif  // CAIRN_WATCHER_TESTING_TEST_REGION_H_
