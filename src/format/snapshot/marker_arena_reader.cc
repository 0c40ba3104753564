// SPDX-License-Identifier: Apache-2.0
#include "format/snapshot/marker_arena_reader.h"

#include <algorithm>
#include <atomic>
#include <utility>

namespace cairn {
namespace {

constexpr uint64_t PageOffset(uint32_t page) {
  return uint64_t{page} * kPageBytes;
}

}  // namespace

MarkerArenaReader::Arena MarkerArenaReader::ReadArena(uint32_t entry) const {
  const uint64_t offset = block_.arenas_offset() + uint64_t{entry} * sizeof(ArenaRecord);
  Arena arena;
  arena.entry = entry;
  // The generation comes first: later reads are of this generation, or StillKept returns false.
  arena.generation = block_.Load32(offset + offsetof(ArenaRecord, generation));
  arena.end_index = block_.Load32(offset + offsetof(ArenaRecord, end_index));
  arena.first_index = block_.Load32(offset + offsetof(ArenaRecord, first_index));
  arena.first_directory_page = block_.Load32(offset + offsetof(ArenaRecord, first_directory_page));
  const uint32_t owner = block_.Load32(offset + offsetof(ArenaRecord, is_queue));
  arena.is_queue = owner != static_cast<uint32_t>(ArenaOwner::kAllocator);
  arena.has_event_ids = owner != static_cast<uint32_t>(ArenaOwner::kQueueWithoutEventIds);
  arena.native_handle = block_.Load64(offset + offsetof(ArenaRecord, native_handle));
  return arena;
}

bool MarkerArenaReader::StillKept(const Arena& arena, uint32_t index) const {
  std::atomic_thread_fence(std::memory_order_acquire);
  const uint64_t offset = block_.arenas_offset() + uint64_t{arena.entry} * sizeof(ArenaRecord);
  return block_.Load32(offset + offsetof(ArenaRecord, generation)) == arena.generation &&
         block_.Load32(offset + offsetof(ArenaRecord, first_index)) <= index;
}

bool MarkerArenaReader::IsPage(uint32_t page) const {
  return PageOffset(page) >= block_.pages_offset() && block_.Contains(PageOffset(page), kPageBytes);
}

bool MarkerArenaReader::FindDirectoryPage(uint32_t index, uint32_t* page, uint32_t* first) const {
  // Ends: the first index rises by a whole page with each step.
  while (IsPage(*page) && *first <= index) {
    if (index - *first < kMarkersPerDirectoryPage) return true;
    *page = block_.Load32(PageOffset(*page) + offsetof(MarkerDirectoryPage, next_page));
    if (!IsPage(*page)) return false;
    const uint32_t next = block_.Load32(PageOffset(*page) + offsetof(MarkerDirectoryPage, first));
    if (next != *first + kMarkersPerDirectoryPage) return false;
    *first = next;
  }
  return false;
}

bool MarkerArenaReader::ReadPayload(uint32_t page, uint32_t offset, uint32_t bytes,
                                    std::vector<std::byte>* payload) const {
  uint64_t words[kMarkerPageBytes / 8];
  while (bytes != 0) {
    if (offset == kMarkerPageBytes) {
      page = block_.Load32(PageOffset(page) + offsetof(MarkerDataPage, next_page));
      if (!IsPage(page)) return false;
      offset = 0;
    }
    const uint32_t part = std::min(bytes, kMarkerPageBytes - offset);
    block_.Copy(PageOffset(page) + offsetof(MarkerDataPage, bytes) + offset, words,
                (part + 7) / 8 * 8);
    const std::byte* from = reinterpret_cast<const std::byte*>(words);
    payload->insert(payload->end(), from, from + part);
    offset += part;
    bytes -= part;
  }
  return true;
}

EventIdState MarkerArenaReader::ReadMarker(const Arena& arena, uint32_t index, uint32_t place,
                                           uint32_t max_payload_bytes, KeptMarker* marker) const {
  const uint32_t page = MarkerPlacePage(place);
  const uint32_t kind = MarkerPlaceKind(place);
  const uint32_t offset = MarkerPlaceOffset(place);
  if (kind == 0) return EventIdState::kUnknown;
  if (page == 0) return EventIdState::kExpired;
  if (!IsPage(page) || offset > kMarkerPageBytes - sizeof(MarkerRecord)) {
    return EventIdState::kUnknown;
  }
  MarkerRecord record;
  block_.Copy(PageOffset(page) + offsetof(MarkerDataPage, bytes) + offset, &record);
  KeptMarker read;
  if (arena.has_event_ids) read.event_id = MakeEventId(arena.entry, arena.generation, index);
  read.kind = static_cast<MarkerKind>(kind);
  read.metadata = record.metadata;
  read.size_bytes = record.size;
  read.submission = record.submission;
  read.of_queue = arena.is_queue;
  read.native_handle = arena.native_handle;
  const bool whole = (record.kept == 0 || record.kept == record.size) &&
                     ReadPayload(page, offset + sizeof(record),
                                 std::min(record.kept, max_payload_bytes), &read.payload);
  // Only now is it known whether all of this was the marker's.
  if (!StillKept(arena, index)) return EventIdState::kExpired;
  if (!whole) return EventIdState::kUnknown;
  *marker = std::move(read);
  return EventIdState::kResolved;
}

EventIdState MarkerArenaReader::Resolve(uint64_t event_id, uint32_t max_payload_bytes,
                                        KeptMarker* marker) const {
  const uint32_t entry = EventIdArena(event_id);
  const uint32_t generation = EventIdGeneration(event_id);
  const uint32_t index = EventIdIndex(event_id);
  if (generation == 0 || entry >= block_.ArenaCount()) return EventIdState::kUnknown;
  const Arena arena = ReadArena(entry);
  if (generation > arena.generation || !arena.has_event_ids) return EventIdState::kUnknown;
  if (generation < arena.generation || index < arena.first_index) return EventIdState::kExpired;
  if (index >= arena.end_index) return EventIdState::kUnknown;
  uint32_t page = arena.first_directory_page;
  if (!IsPage(page)) return EventIdState::kUnknown;
  uint32_t first = block_.Load32(PageOffset(page) + offsetof(MarkerDirectoryPage, first));
  const bool found = FindDirectoryPage(index, &page, &first);
  const uint32_t place =
      found ? block_.Load32(PageOffset(page) + offsetof(MarkerDirectoryPage, places) +
                            uint64_t{index - first} * sizeof(uint32_t))
            : 0;
  if (!StillKept(arena, index)) return EventIdState::kExpired;
  if (!found) return EventIdState::kUnknown;
  return ReadMarker(arena, index, place, max_payload_bytes, marker);
}

void MarkerArenaReader::AppendQueue(const Arena& arena, uint32_t max_markers,
                                    uint32_t max_payload_bytes,
                                    std::vector<KeptMarker>* markers) const {
  uint32_t page = arena.first_directory_page;
  if (arena.end_index <= arena.first_index || !IsPage(page)) return;
  uint32_t first = block_.Load32(PageOffset(page) + offsetof(MarkerDirectoryPage, first));
  uint32_t index = arena.first_index;
  if (arena.end_index - index > max_markers) index = arena.end_index - max_markers;
  for (; index < arena.end_index; ++index) {
    if (!FindDirectoryPage(index, &page, &first)) return;
    const uint32_t place = block_.Load32(PageOffset(page) + offsetof(MarkerDirectoryPage, places) +
                                         uint64_t{index - first} * sizeof(uint32_t));
    KeptMarker marker;
    if (ReadMarker(arena, index, place, max_payload_bytes, &marker) == EventIdState::kResolved) {
      markers->push_back(std::move(marker));
    }
  }
}

std::vector<KeptMarker> MarkerArenaReader::QueueMarkers(uint32_t max_markers,
                                                        uint32_t max_payload_bytes) const {
  std::vector<KeptMarker> markers;
  const uint32_t count = block_.ArenaCount();
  for (uint32_t entry = 0; entry < count && markers.size() < max_markers; ++entry) {
    const Arena arena = ReadArena(entry);
    if (!arena.is_queue) continue;
    AppendQueue(arena, max_markers - static_cast<uint32_t>(markers.size()), max_payload_bytes,
                &markers);
  }
  return markers;
}

}  // namespace cairn
