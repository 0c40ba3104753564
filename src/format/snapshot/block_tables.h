// SPDX-License-Identifier: Apache-2.0
//
// The tables of a block that stand beside the recordings: objects, last calls of threads, EventIDs that
// drivers reported, markers of queues. Each function appends to a snapshot whose devices have been read.
#ifndef CAIRN_FORMAT_SNAPSHOT_BLOCK_TABLES_H_
#define CAIRN_FORMAT_SNAPSHOT_BLOCK_TABLES_H_

#include <cstdint>

#include "format/snapshot/block_reader.h"
#include "format/snapshot/name_table.h"
#include "format/snapshot/snapshot.h"

namespace cairn {

// Returns the number of entries that changed while they were read; they are left out.
uint64_t ReadObjects(const BlockReader& block, Snapshot* snapshot);

// Gives recordings, pipelines and queues the names that their objects have now: an application may
// name them at any time, also after they were recorded. Objects, queues, pipelines and recordings
// have been read. If two objects had the same handle, the later one counts.
void NameByObjects(Snapshot* snapshot);

void ReadThreads(const BlockReader& block, NameTable* names, Snapshot* snapshot);

// EventIDs that drivers reported, and markers of queues; the queues have been read.
// `text_budget_bytes` is what the texts of markers may take.
void ReadKeptMarkers(const BlockReader& block, uint64_t text_budget_bytes, Snapshot* snapshot);

// Markers that the arenas of command lists, and of command queues, had no room for or dropped.
struct DroppedMarkers {
  uint64_t of_lists = 0;
  uint64_t of_queues = 0;
};
DroppedMarkers CountDroppedMarkers(const BlockReader& block);

}  // namespace cairn

#endif  // CAIRN_FORMAT_SNAPSHOT_BLOCK_TABLES_H_
