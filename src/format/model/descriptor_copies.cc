// SPDX-License-Identifier: Apache-2.0
#include "format/model/descriptor_copies.h"

#include <algorithm>

#include "format/model/decoded_arguments.h"

namespace cairn {
namespace {

using IncrementAt = std::function<uint64_t(uint64_t)>;

// Goes through the ranges of one side of a copy.
class Ranges {
 public:
  // `sizes`: null for one each.
  Ranges(uint32_t count, const uint64_t* starts, const uint32_t* sizes)
      : count_(starts == nullptr ? 0 : count), starts_(starts), sizes_(sizes) {}

  // Returns the number of descriptors left in the current range; 0 behind the last range.
  uint32_t Left() {
    while (range_ < count_ && done_ == Size()) {
      ++range_;
      done_ = 0;
    }
    return range_ < count_ ? Size() - done_ : 0;
  }
  void Advance(uint32_t count) { done_ += count; }
  uint64_t start() const { return starts_[range_]; }
  // Returns the handle of the n-th remaining descriptor.
  uint64_t Handle(uint32_t n, uint64_t increment) const {
    return starts_[range_] + (uint64_t{done_} + n) * increment;
  }

 private:
  uint32_t Size() const { return sizes_ == nullptr ? 1 : sizes_[range_]; }

  const uint32_t count_;
  const uint64_t* const starts_;
  const uint32_t* const sizes_;
  uint32_t range_ = 0;
  uint32_t done_ = 0;  // of it
};

// Pairs sources with destinations. A source that lies in no heap keeps its place, so that those
// behind it keep their partners.
std::vector<DescriptorCopy> Pair(Ranges to, Ranges from, const IncrementAt& increment_at) {
  std::vector<DescriptorCopy> copies;
  while (const uint32_t count = std::min(to.Left(), from.Left())) {
    const uint64_t to_increment = increment_at(to.start());
    const uint64_t from_increment = increment_at(from.start());
    for (uint32_t n = 0; to_increment != 0 && n < count; ++n) {
      if (copies.size() >= kMostDescriptors) return copies;
      copies.push_back(
          {from_increment == 0 ? 0 : from.Handle(n, from_increment), to.Handle(n, to_increment)});
    }
    to.Advance(count);
    from.Advance(count);
  }
  return copies;
}

}  // namespace

std::vector<DescriptorCopy> DescriptorCopiesOf(const DecodedCall& call, bool simple,
                                               const IncrementAt& increment_at) {
  if (simple) {
    const auto* const count = Argument<uint32_t>(call, 0);
    const auto* const to_start = Argument<uint64_t>(call, 1);
    const auto* const from_start = Argument<uint64_t>(call, 2);
    if (count == nullptr || to_start == nullptr || from_start == nullptr) return {};
    return Pair(Ranges(1, to_start, count), Ranges(1, from_start, count), increment_at);
  }
  const auto* const to_ranges = Argument<uint32_t>(call, 0);
  const auto* const from_ranges = Argument<uint32_t>(call, 3);
  if (to_ranges == nullptr || from_ranges == nullptr) return {};
  return Pair(Ranges(*to_ranges, Array<uint64_t>(call, 1), Array<uint32_t>(call, 2)),
              Ranges(*from_ranges, Array<uint64_t>(call, 4), Array<uint32_t>(call, 5)),
              increment_at);
}

}  // namespace cairn
