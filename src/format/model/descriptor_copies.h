// SPDX-License-Identifier: Apache-2.0
//
// Finds the descriptors that a call of CopyDescriptors or CopyDescriptorsSimple copies.
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

// Returns the descriptor copies of a call. `call`: its arguments. `increment_at` returns the
// distance of descriptors in the heap of a handle, or 0 if no heap has the handle: copies to such
// handles are omitted. If the caller does not know the descriptor at `from`, it must forget the one
// at `to`: an unwritten descriptor was copied there.
std::vector<DescriptorCopy> DescriptorCopiesOf(
    const DecodedCall& call, bool simple,
    const std::function<uint64_t(uint64_t handle)>& increment_at);

}  // namespace cairn

#endif  // CAIRN_FORMAT_MODEL_DESCRIPTOR_COPIES_H_
