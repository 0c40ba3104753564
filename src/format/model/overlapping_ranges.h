// SPDX-License-Identifier: Apache-2.0
//
// Finds the objects that have a GPU address or a descriptor. Resources that share a heap overlap,
// and addresses are used again: all objects that have it are found.
#ifndef CAIRN_FORMAT_MODEL_OVERLAPPING_RANGES_H_
#define CAIRN_FORMAT_MODEL_OVERLAPPING_RANGES_H_

#include <algorithm>
#include <cstdint>
#include <map>

namespace cairn {

class OverlappingRanges {
 public:
  struct Range {
    uint64_t end = 0;
    uint64_t object = 0;
    uint64_t created = 0;  // number of its kObject record
  };

  // Ignores an empty range, and one that ends beyond 2^64.
  void Add(uint64_t start, uint64_t size, uint64_t object, uint64_t created) {
    if (start == 0 || size == 0 || start + size <= start) return;
    ranges_.emplace(start, Range{start + size, object, created});
    largest_ = std::max(largest_, size);
  }

  // Every range with the value in it, the one that begins nearest first. Looks at kMostLooked ranges.
  template <typename Visit>
  void ForEachAt(uint64_t value, const Visit& visit) const {
    auto range = ranges_.upper_bound(value);
    for (int looked = 0; looked < kMostLooked && range != ranges_.begin(); ++looked) {
      --range;
      if (value - range->first >= largest_) return;
      if (value < range->second.end) visit(range->second);
    }
  }

 private:
  static constexpr int kMostLooked = 4096;

  std::multimap<uint64_t, Range> ranges_;  // by start
  uint64_t largest_ = 0;
};

}  // namespace cairn

#endif  // CAIRN_FORMAT_MODEL_OVERLAPPING_RANGES_H_
