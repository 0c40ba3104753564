// SPDX-License-Identifier: Apache-2.0
//
// For tests and fuzzers: everything that a snapshot says, as lines of text; and the invariants that
// its readers promise.
#ifndef CAIRN_SNAPSHOT_SNAPSHOT_DUMP_H_
#define CAIRN_SNAPSHOT_SNAPSHOT_DUMP_H_

#include <cstddef>
#include <string>
#include <vector>

#include "cairnfile/file_writer.h"
#include "snapshot/snapshot.h"

namespace cairn {

std::string DumpSnapshot(const Snapshot& snapshot);

// Empty when every index is in range, every text inside `text`, every match mutual and nested;
// otherwise the first violation.
std::string FindInconsistency(const Snapshot& snapshot);

// The bytes of a .cairn file that holds the snapshot.
std::vector<std::byte> SnapshotFileBytes(const Snapshot& snapshot,
                                         Compression compression = Compression::kZstd);

}  // namespace cairn

#endif  // CAIRN_SNAPSHOT_SNAPSHOT_DUMP_H_
