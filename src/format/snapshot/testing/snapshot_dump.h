// SPDX-License-Identifier: Apache-2.0
//
// For tests and fuzzers: everything that a snapshot says, as lines of text; and the invariants that
// its readers promise.
#ifndef CAIRN_FORMAT_SNAPSHOT_TESTING_SNAPSHOT_DUMP_H_
#define CAIRN_FORMAT_SNAPSHOT_TESTING_SNAPSHOT_DUMP_H_

#include <cstddef>
#include <string>
#include <vector>

#include "format/file/file_writer.h"
#include "format/snapshot/snapshot.h"

namespace cairn {

std::string DumpSnapshot(const Snapshot& snapshot);

// Empty when every index is in range, every text inside `text`, every match mutual and nested;
// otherwise the first violation.
std::string FindInconsistency(const Snapshot& snapshot);

// The bytes of a .cairn file that holds the snapshot.
std::vector<std::byte> SnapshotFileBytes(const Snapshot& snapshot,
                                         Compression compression = Compression::kZstd);

}  // namespace cairn

#endif  // CAIRN_FORMAT_SNAPSHOT_TESTING_SNAPSHOT_DUMP_H_
