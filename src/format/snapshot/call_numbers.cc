// SPDX-License-Identifier: Apache-2.0
#include "format/snapshot/call_numbers.h"

namespace cairn {

uint64_t CallNumberOf(uint32_t low, uint64_t last) {
  constexpr uint64_t kRound = uint64_t{1} << 32;
  if (low == 0) return 0;
  const uint64_t number = last / kRound * kRound + low;
  return number > last && number >= kRound ? number - kRound : number;
}

void RestoreCallNumbers(Snapshot* snapshot, uint64_t last) {
  for (Event& event : snapshot->events) {
    if (event.kind == EventKind::kBegin) {
      event.call = CallNumberOf(static_cast<uint32_t>(event.call), last);
    }
  }
}

}  // namespace cairn
