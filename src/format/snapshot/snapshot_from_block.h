// SPDX-License-Identifier: Apache-2.0
//
// Takes a snapshot of a block: of this process, of another one while it runs, or of one that died.
#ifndef CAIRN_FORMAT_SNAPSHOT_SNAPSHOT_FROM_BLOCK_H_
#define CAIRN_FORMAT_SNAPSHOT_SNAPSHOT_FROM_BLOCK_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/status.h"
#include "format/snapshot/snapshot.h"

namespace cairn {

// The events of a snapshot, at most, in a file as well.
inline constexpr uint32_t kMaxSnapshotEvents = 16u << 20;

// The most that is read of one block, whatever it claims; the rest is counted in Snapshot::losses. Where there is more,
// recordings that the GPU executes come first, then the latest.
struct BlockReadLimits {
  uint32_t slots = 1u << 17;  // of recordings
  uint32_t events = 1u << 20;
  uint32_t event_pages = 16384;
  uint32_t raw_markers = 2u << 20;
  uint64_t text_bytes = uint64_t{48} << 20;
  uint32_t name_pages = 8192;
};

// Reads everything that is published in `block`, the mapped bytes of a block
// (format/block/block.h), aligned to 16. The bytes are not trusted and may change meanwhile: every
// value is read once and checked; inconsistent data are omitted and named in Snapshot::losses.
// `passed` of a recording is read before `reached`: work reported as completed was completed, and
// work reported as not started had not started when the snapshot was taken.
// Incidents: one for each device that the application reported lost, one for a signal that the
// library's own handler saw; their time is 0, as the block does not store it. Add others with
// NoteIncident. `snapshot_time_ns` is CLOCK_REALTIME.
// `moment`: kLastFault takes the words as they were when the library's handler saw the last fault, that time
// for the snapshot's, and leaves out submissions made later; kNow where there was none.
// `binaries`: kKeep copies the code of shaders and data that only a vendor's tools read, up to 32
// MiB: for a file, not for a report.
// Errors: those of BlockReader::Open. Threads: any. Memory: proportional to the block's used part, up to what
// `limits` allow: some 150 MiB.
// Cost: bench SnapshotFromBlock; the number of allocations does not depend on the number of markers.
enum class Binaries { kLeaveOut, kKeep };
enum class Moment { kNow, kLastFault };
Result<Snapshot> SnapshotFromBlock(std::span<const std::byte> block, uint64_t snapshot_time_ns,
                                   Binaries binaries = Binaries::kLeaveOut,
                                   Moment moment = Moment::kNow,
                                   const BlockReadLimits& limits = {});

// Adds an incident in the order noticed. An incident of the same kind and value, about the same
// queue, is the same one: what is missing there (time, address, detail) is filled in, and nothing is
// added. `detail` replaces incident.detail.
void NoteIncident(Incident incident, std::string_view detail, Snapshot* snapshot);

}  // namespace cairn

#endif  // CAIRN_FORMAT_SNAPSHOT_SNAPSHOT_FROM_BLOCK_H_
