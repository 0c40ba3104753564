// SPDX-License-Identifier: Apache-2.0
//
// The pages of a marker arena (ArenaRecord in block.h): a chain of data pages that holds one marker
// after the other, and a chain of directory pages that says where each of them starts. Written by
// app/annotations/marker_arena.h, read by format/snapshot/marker_arena_reader.h.
//
// A marker is a MarkerRecord and the bytes that follow it, over as many data pages as they need; the
// next one starts at the next multiple of kMarkerAlignment. The directory is in order of the index of
// EventIDs, without gaps, so that entry i of a generation is found by counting.
//
// A reader of an arena that is being written checks afterwards that generation and first_index of
// the arena still include the marker: pages of others are reused.
#ifndef CAIRN_FORMAT_BLOCK_MARKER_PAGES_H_
#define CAIRN_FORMAT_BLOCK_MARKER_PAGES_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "format/block/block.h"

namespace cairn {

inline constexpr uint32_t kMarkerAlignment = 16;

// The kind of an application's marker. Ends are stored for queues only: the events of lists are in
// their recordings.
enum class MarkerKind : uint32_t { kBeginEvent = 1, kSetMarker = 2, kEndEvent = 3 };

// The owner of an arena, in ArenaRecord::is_queue. kQueueWithoutEventIds: markers kept for reports
// only; the application received no EventIDs for them.
enum class ArenaOwner : uint32_t { kAllocator = 0, kQueue = 1, kQueueWithoutEventIds = 2 };

// Stands where a marker starts.
struct MarkerRecord {
  uint32_t metadata;    // as passed
  uint32_t size;        // as passed
  uint32_t kept;        // bytes that follow: `size`, or 0 if none were given
  uint32_t submission;  // queues: submissions made before it, modulo 2^32; lists: 0
};
static_assert(sizeof(MarkerRecord) == kMarkerAlignment);

struct MarkerDataPage {
  std::atomic<uint32_t> next_page;  // 0 at the end
  uint32_t reserved[3];
  std::byte bytes[kPageBytes - 16];
};
static_assert(sizeof(MarkerDataPage) == kPageBytes);
inline constexpr uint32_t kMarkerPageBytes = sizeof(MarkerDataPage::bytes);
static_assert(kMarkerPageBytes % kMarkerAlignment == 0, "a MarkerRecord never lies in two pages");

// Packs the position of a marker: page index in bits 12-31 (0: its data was not kept), MarkerKind
// in bits 8-9, offset in the page's bytes divided by kMarkerAlignment in bits 0-7.
constexpr uint32_t MakeMarkerPlace(uint32_t page, MarkerKind kind, uint32_t offset_bytes) {
  return page << 12 | static_cast<uint32_t>(kind) << 8 | offset_bytes / kMarkerAlignment;
}
constexpr uint32_t MarkerPlacePage(uint32_t place) {
  return place >> 12;
}
constexpr uint32_t MarkerPlaceKind(uint32_t place) {
  return place >> 8 & 3;
}
constexpr uint32_t MarkerPlaceOffset(uint32_t place) {
  return (place & 0xFF) * kMarkerAlignment;
}
static_assert(kMaxBlockBytes / kPageBytes <= 1u << 20, "page indices fit in 20 bits");

inline constexpr uint32_t kMarkersPerDirectoryPage = kPageBytes / 4 - 2;
struct MarkerDirectoryPage {
  std::atomic<uint32_t> next_page;  // 0 at the end
  std::atomic<uint32_t> first;      // index of the marker of places[0]
  std::atomic<uint32_t> places[kMarkersPerDirectoryPage];
};
static_assert(sizeof(MarkerDirectoryPage) == kPageBytes);

inline constexpr uint32_t kMaxEventIdGeneration = (1u << kEventIdGenerationBits) - 1;
inline constexpr uint32_t kMaxEventIdIndex = (1u << kEventIdIndexBits) - 1;
constexpr uint32_t EventIdArena(uint64_t event_id) {
  return static_cast<uint32_t>(event_id >> (kEventIdGenerationBits + kEventIdIndexBits));
}
constexpr uint32_t EventIdGeneration(uint64_t event_id) {
  return static_cast<uint32_t>(event_id >> kEventIdIndexBits) & kMaxEventIdGeneration;
}
constexpr uint32_t EventIdIndex(uint64_t event_id) {
  return static_cast<uint32_t>(event_id) & kMaxEventIdIndex;
}

// EventIDs of generation 0 are of no arena: they were given to markers that found no room at all.
// Numbered from 1 through the process.
constexpr uint64_t MakeUnkeptEventId(uint64_t number) {
  return MakeEventId(static_cast<uint32_t>(number >> kEventIdIndexBits) & 0xFFFF, 0,
                     static_cast<uint32_t>(number) & kMaxEventIdIndex);
}

}  // namespace cairn

#endif  // CAIRN_FORMAT_BLOCK_MARKER_PAGES_H_
