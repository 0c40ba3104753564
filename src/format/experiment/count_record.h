// SPDX-License-Identifier: Apache-2.0
//
// A draw or dispatch whose counts are limited (Change::kLimitCounts), on the board of a run (experiment_board.h). Its arguments are
// counts that multiply: vertices and instances, or groups in three directions.
#ifndef CAIRN_FORMAT_EXPERIMENT_COUNT_RECORD_H_
#define CAIRN_FORMAT_EXPERIMENT_COUNT_RECORD_H_

#include <algorithm>
#include <cstdint>
#include <span>

namespace cairn {

// Layers write it, and of indirect commands the GPU: app/vulkan/shaders/limit_counts.comp. Aligned to 64 bytes.
struct CountRecord {
  static constexpr uint32_t kMostCounts = 3;

  uint32_t used[4];   // of an indirect command: what it reads in the place of the program's buffer
  uint32_t given[4];  // by the program, the first time that they were limited
  uint32_t
      limited;  // so often; of a direct command each time that it was recorded. Wraps around at 2^32
  uint32_t unused[7];

  bool operator==(const CountRecord&) const = default;
};
static_assert(sizeof(CountRecord) == 64);

// Makes the product of the counts at most `most`, from 1 on: the first ones keep what they can. Returns true if one of
// them changed.
constexpr bool LimitCounts(std::span<uint32_t> counts, uint32_t most) {
  for (const uint32_t count : counts) {
    if (count == 0) return false;
  }
  bool changed = false;
  for (uint32_t& count : counts) {
    const uint32_t kept = std::min(count, most);
    changed |= kept != count;
    count = kept;
    most /= kept;
  }
  return changed;
}

}  // namespace cairn

#endif  // CAIRN_FORMAT_EXPERIMENT_COUNT_RECORD_H_
