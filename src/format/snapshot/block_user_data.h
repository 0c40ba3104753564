// SPDX-License-Identifier: Apache-2.0
//
// From a block's user data (format/block/user_data.h) to that of a snapshot.
#ifndef CAIRN_FORMAT_SNAPSHOT_BLOCK_USER_DATA_H_
#define CAIRN_FORMAT_SNAPSHOT_BLOCK_USER_DATA_H_

#include <cstdint>

#include "format/snapshot/block_reader.h"
#include "format/snapshot/snapshot.h"

namespace cairn {

// Reads the entries that have a value, each as it was at one moment; with `keep_bytes` their bytes, too, which are
// kMaxUserDataBytes at most in all. Returns how many were left out: entries that contradict themselves, or changed
// whenever they were read, and those whose key another one has. Bytes beyond the bound, also of what is copied again
// and again, are left out as well, and counted.
uint64_t ReadUserData(const BlockReader& block, bool keep_bytes, Snapshot* snapshot);

}  // namespace cairn

#endif  // CAIRN_FORMAT_SNAPSHOT_BLOCK_USER_DATA_H_
