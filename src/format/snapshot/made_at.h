// SPDX-License-Identifier: Apache-2.0
#ifndef CAIRN_FORMAT_SNAPSHOT_MADE_AT_H_
#define CAIRN_FORMAT_SNAPSHOT_MADE_AT_H_

#include <cstdint>
#include <utility>

#include "format/snapshot/snapshot.h"

namespace cairn {

// Returns what orders objects by their creation. Serial numbers do so only among those of one thread.
inline std::pair<uint64_t, uint64_t> MadeAt(const Object& object) {
  return {object.created_ns, object.serial};
}

}  // namespace cairn

#endif  // CAIRN_FORMAT_SNAPSHOT_MADE_AT_H_
