// SPDX-License-Identifier: Apache-2.0
//
// Resolves the markers that EventIDs name, from a block that another process writes, perhaps at
// this moment and perhaps with bad intent. Layout: format/block/marker_pages.h.
#ifndef CAIRN_FORMAT_SNAPSHOT_MARKER_ARENA_READER_H_
#define CAIRN_FORMAT_SNAPSHOT_MARKER_ARENA_READER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "format/block/marker_pages.h"
#include "format/snapshot/block_reader.h"
#include "format/snapshot/snapshot.h"

namespace cairn {

struct KeptMarker {
  uint64_t event_id = 0;  // 0: none was given out
  MarkerKind kind = MarkerKind::kBeginEvent;
  uint32_t metadata = 0;
  uint32_t size_bytes = 0;  // as passed
  uint32_t submission = 0;  // queues: submissions made before it, modulo 2^32
  bool of_queue = false;
  uint64_t native_handle = 0;      // of the allocator or queue
  std::vector<std::byte> payload;  // may be cut
};

class MarkerArenaReader {
 public:
  // `block` must outlive the reader.
  explicit MarkerArenaReader(const BlockReader& block) : block_(block) {}

  // kResolved: `marker` is what the application passed, its payload cut at `max_payload_bytes`.
  // kExpired: the allocator was reset, or the marker was dropped. kUnknown: no arena ever gave this
  // EventID out (also those of generation 0, whose markers never had an arena), or the block is
  // damaged there. `marker` is changed only if kResolved.
  EventIdState Resolve(uint64_t event_id, uint32_t max_payload_bytes, KeptMarker* marker) const;

  // The markers that are kept of all queues, oldest first for each queue, of each queue the newest;
  // no more than `max_markers` in all, with payloads as above.
  std::vector<KeptMarker> QueueMarkers(uint32_t max_markers, uint32_t max_payload_bytes) const;

 private:
  struct Arena {
    uint32_t entry = 0;
    uint32_t generation = 0;
    uint32_t first_directory_page = 0;
    uint32_t first_index = 0;
    uint32_t end_index = 0;
    bool is_queue = false;
    bool has_event_ids = true;
    uint64_t native_handle = 0;
  };

  Arena ReadArena(uint32_t entry) const;
  bool IsPage(uint32_t page) const;
  // The directory page with the place of this marker; 0 if the chain does not lead there. Goes on from
  // `page` and its first index `first`, and leaves them where it got to.
  bool FindDirectoryPage(uint32_t index, uint32_t* page, uint32_t* first) const;
  EventIdState ReadMarker(const Arena& arena, uint32_t index, uint32_t place,
                          uint32_t max_payload_bytes, KeptMarker* marker) const;
  bool ReadPayload(uint32_t page, uint32_t offset, uint32_t bytes,
                   std::vector<std::byte>* payload) const;
  // Returns false once the marker is not kept any more: data read meanwhile may be another
  // marker's.
  bool StillKept(const Arena& arena, uint32_t index) const;
  void AppendQueue(const Arena& arena, uint32_t max_markers, uint32_t max_payload_bytes,
                   std::vector<KeptMarker>* markers) const;

  const BlockReader& block_;
};

}  // namespace cairn

#endif  // CAIRN_FORMAT_SNAPSHOT_MARKER_ARENA_READER_H_
