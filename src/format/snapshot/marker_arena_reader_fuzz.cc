// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as the arenas of a block: every EventID has an answer, nothing outside the block is read,
// and what resolves is what was asked for. The input: patches (block_fuzz_input.h), whose last eight
// bytes are also the EventID.
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "format/snapshot/marker_arena_reader.h"
#include "format/snapshot/testing/block_fuzz_input.h"
#include "format/snapshot/testing/test_block.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cairn;
  static std::byte* const memory =
      static_cast<std::byte*>(std::aligned_alloc(kPageBytes, kTestBlockBytes));
  static const bool cleared = (std::memset(memory, 0, kTestBlockBytes), true);
  (void)cleared;
  const std::span<std::byte> block(memory, kTestBlockBytes);
  std::vector<std::pair<uint64_t, uint64_t>> touched;
  ApplyPatches(std::span(data, size), block, [&touched](uint64_t offset, uint64_t length) {
    touched.emplace_back(offset, length);
  });
  uint64_t event_id = 0;
  if (size >= 8) std::memcpy(&event_id, data + size - 8, 8);

  const Result<BlockReader> reader = BlockReader::Open(block);
  if (reader.ok()) {
    constexpr uint32_t kMaxPayload = 64 << 10;
    const MarkerArenaReader arenas(*reader);
    std::vector<KeptMarker> kept = arenas.QueueMarkers(64, kMaxPayload);
    if (kept.size() > 64) std::abort();
    for (uint32_t index = 0; index < 4; ++index) {
      for (const uint64_t id :
           {event_id + index, MakeEventId(0, 1, index), MakeEventId(1, 1, index)}) {
        KeptMarker marker;
        if (arenas.Resolve(id, kMaxPayload, &marker) != EventIdState::kResolved) continue;
        if (marker.event_id != id) std::abort();
        kept.push_back(std::move(marker));
      }
    }
    for (const KeptMarker& marker : kept) {
      if (marker.payload.size() > marker.size_bytes || marker.payload.size() > kMaxPayload) {
        std::abort();
      }
    }
  }
  for (const auto& [offset, length] : touched) std::memset(memory + offset, 0, length);
  return 0;
}
