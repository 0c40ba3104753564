// SPDX-License-Identifier: Apache-2.0
#include "watch/descriptor_copies.h"

#include <algorithm>

#include "watch/decoded_arguments.h"

namespace cairn {
namespace {

using IncrementAt = std::function<uint64_t(uint64_t)>;

// The handles of some ranges, one for each descriptor; `sizes`: null for one each. 0 where no heap is, so
// that the descriptors behind keep their partners.
std::vector<uint64_t> Unroll(uint32_t ranges, const uint64_t* starts, const uint32_t* sizes,
                             const IncrementAt& increment_at) {
  std::vector<uint64_t> handles;
  for (uint32_t i = 0; starts != nullptr && i < ranges; ++i) {
    const uint64_t increment = increment_at(starts[i]);
    const uint32_t size = sizes == nullptr ? 1 : sizes[i];
    for (uint32_t n = 0; n < size; ++n) {
      if (handles.size() >= kMostDescriptors) return handles;
      handles.push_back(increment == 0 ? 0 : starts[i] + n * increment);
    }
  }
  return handles;
}

}  // namespace

std::vector<DescriptorCopy> DescriptorCopiesOf(const DecodedCall& call, bool simple,
                                               const IncrementAt& increment_at) {
  std::vector<uint64_t> to;
  std::vector<uint64_t> from;
  if (simple) {
    const auto* const count = Argument<uint32_t>(call, 0);
    const auto* const to_start = Argument<uint64_t>(call, 1);
    const auto* const from_start = Argument<uint64_t>(call, 2);
    if (count == nullptr || to_start == nullptr || from_start == nullptr) return {};
    to = Unroll(1, to_start, count, increment_at);
    from = Unroll(1, from_start, count, increment_at);
  } else {
    const auto* const to_ranges = Argument<uint32_t>(call, 0);
    const auto* const from_ranges = Argument<uint32_t>(call, 3);
    if (to_ranges == nullptr || from_ranges == nullptr) return {};
    to = Unroll(*to_ranges, Array<uint64_t>(call, 1), Array<uint32_t>(call, 2), increment_at);
    from = Unroll(*from_ranges, Array<uint64_t>(call, 4), Array<uint32_t>(call, 5), increment_at);
  }
  std::vector<DescriptorCopy> copies;
  copies.reserve(std::min(to.size(), from.size()));
  for (size_t i = 0; i < std::min(to.size(), from.size()); ++i) {
    if (to[i] != 0) copies.push_back({from[i], to[i]});
  }
  return copies;
}

}  // namespace cairn
