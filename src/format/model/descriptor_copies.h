// SPDX-License-Identifier: Apache-2.0
//
// Which descriptors a call of CopyDescriptors or CopyDescriptorsSimple copies.
#ifndef CAIRN_FORMAT_MODEL_DESCRIPTOR_COPIES_H_
#define CAIRN_FORMAT_MODEL_DESCRIPTOR_COPIES_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "format/calls/value_decoder.h"

namespace cairn {

// The most copies of one call: more than a heap may have.
inline constexpr uint32_t kMostDescriptors = 1u << 20;

struct DescriptorCopy {
  uint64_t from;  // handles; 0: of no heap that is known
  uint64_t to;
};

// `call`: its arguments. `increment_at`: how far apart descriptors are in the heap of a handle, 0 for
// handles that no heap has: copies to those are left out. Whoever follows copies must forget what stood at
// `to` if nothing is known of `from`: what nobody wrote was copied, too.
std::vector<DescriptorCopy> DescriptorCopiesOf(
    const DecodedCall& call, bool simple,
    const std::function<uint64_t(uint64_t handle)>& increment_at);

}  // namespace cairn

#endif  // CAIRN_FORMAT_MODEL_DESCRIPTOR_COPIES_H_
