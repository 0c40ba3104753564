// SPDX-License-Identifier: Apache-2.0
//
// The call into the API in which a program crashed, and the descriptor tables that its command list had then.
#ifndef CAIRN_READER_ANALYSIS_UNRETURNED_CALL_H_
#define CAIRN_READER_ANALYSIS_UNRETURNED_CALL_H_

#include <cstdint>
#include <span>
#include <vector>

#include "format/snapshot/snapshot.h"

namespace cairn {

struct UnreturnedCall {
  uint32_t thread = kNone;  // into Snapshot::threads: the one that crashed; kNone: not known
  uint32_t call =
      kNone;  // into Snapshot::calls: its innermost that did not return; kNone: it was in none
};
// Linear in the threads.
UnreturnedCall FindUnreturnedCall(const Snapshot& snapshot);

// Returns the arguments of the call, as far as they are kept. `call` is one of the thread's.
std::span<const CallArgument> ArgumentsOf(const Snapshot& snapshot, const Thread& thread,
                                          const Call& call);

// A descriptor table as the last SetComputeRootDescriptorTable or SetGraphicsRootDescriptorTable set it.
struct BoundTable {
  uint32_t parameter = 0;
  uint64_t handle = 0;
  uint32_t heap =
      kNone;  // into Snapshot::objects: the one that has such a descriptor; kNone: none that lives
};
struct BoundTables {
  std::vector<BoundTable> tables;  // by parameter
  // All heaps that shaders see and that live; into Snapshot::objects. None: nothing is known of them.
  std::vector<uint32_t> heaps;
};
// For a dispatch or a draw of Direct3D 12, what the thread's last calls say of the same list; otherwise nothing.
BoundTables FindBoundTables(const Snapshot& snapshot, const UnreturnedCall& unreturned);

}  // namespace cairn

#endif  // CAIRN_READER_ANALYSIS_UNRETURNED_CALL_H_
