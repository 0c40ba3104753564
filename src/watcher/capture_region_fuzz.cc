// SPDX-License-Identifier: Apache-2.0
//
// The watcher's end of a capture, against a program that writes anything: the input is what stands in a
// ring, the first byte how it is split.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "format/model/live_state.h"
#include "watcher/region_reader.h"
#include "watcher/testing/test_region.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // A single one for all inputs: it is large, and only its first pages are used.
  static auto* const region = new cairn::TestRegion();
  if (size < 1) return 0;
  const size_t room = cairn::kCaptureRingBytes / 4;
  const size_t in_first = std::min<size_t>(data[0] * 32u, std::min(size - 1, room));
  const size_t in_second = std::min(size - 1 - in_first, room);
  const auto fill = [](uint32_t ring, const uint8_t* bytes, size_t count) {
    region->ring(ring).state = 1;
    region->ring(ring).tail = 0;
    std::memcpy(region->ring_bytes(ring), bytes, count);
    region->ring(ring).head = count;
  };
  fill(0, data + 1, in_first);
  fill(1, data + 1 + in_first, in_second);
  region->header().next_number = 100;
  uint64_t lease = 0;
  if (size > sizeof(lease)) std::memcpy(&lease, data + 1, sizeof(lease));
  region->ring(2).lease = lease;

  cairn::Result<cairn::RegionReader> reader = cairn::RegionReader::Open(region->Watched());
  if (!reader.ok()) __builtin_trap();
  cairn::LiveState live;
  cairn::Record record;
  uint64_t last = 0;
  // The program may have ended or may still run.
  if (data[0] % 2 != 0) reader->TakeWhatIsThere();
  do {
    while (reader->Take(&record) == cairn::RegionReader::Found::kRecord) {
      if (record.number <= last) __builtin_trap();
      last = record.number;
      live.Keep(record);
    }
    reader->GiveBack();
  } while (reader->TakeBackLeases() || reader->PassOverGap());
  uint64_t before = 0;
  const cairn::Status written = live.WriteTo(last + 1, [&](const cairn::Record& kept) {
    if (kept.number <= before || kept.number > last) __builtin_trap();
    before = kept.number;
    return cairn::Status();
  });
  if (!written.ok()) __builtin_trap();
  return 0;
}
