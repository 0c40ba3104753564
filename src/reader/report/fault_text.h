// SPDX-License-Identifier: Apache-2.0
//
// Describes the objects at and around an address, in the same words for every form of the report.
#ifndef CAIRN_READER_REPORT_FAULT_TEXT_H_
#define CAIRN_READER_REPORT_FAULT_TEXT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "format/snapshot/snapshot.h"
#include "reader/analysis/findings.h"

namespace cairn {

// Returns a line for each of the first `most` owners, what was freed first, resources before the memory that they are
// bound to: `in buffer "Mesh" + 0x40 of 4 KiB`; `memory that was freed, in buffer …, destroyed by thread "render" (7) in
// frame 2, 3 ms before the fault was noticed`; `in no object that is known, 64 bytes past the end of buffer "Mesh"`. The
// others say what they have to do with the first: `its memory: device memory 30 …`, `at the same address later: …`; beside
// destroyed ones those that live say "alive". Empty where the driver gave no address.
std::vector<std::string> OwnersInWords(const Snapshot& snapshot, const FaultAddressVerdict& verdict,
                                       size_t most);
// The same in one line, with semicolons between.
void AppendOwners(const Snapshot& snapshot, const FaultAddressVerdict& verdict, size_t most,
                  std::string& out);

// Appends the neighbours of freed memory: `64 bytes past the end of buffer "Mesh", right before
// buffer "Skin"`. Appends nothing if none is known, or for other states: AppendOwners() names the
// neighbours of memory that was never mapped.
void AppendAround(const Snapshot& snapshot, const FaultAddressVerdict& verdict, std::string& out);

// Inside of a sentence on a crash: `in buffer "Mesh" + 0x40 of 4 KiB, destroyed by thread "render" (7) in frame 2, 3 ms
// before the end`; without its destroyer `destroyed 3 ms before the crash was noticed`.
void AppendCrashOwner(const Snapshot& snapshot, const AddressOwner& owner, std::string& out);

// `buffer "Mesh" (4 KiB at 0x7f00), destroyed by thread "render" (7) in frame 2, 3 ms after submission 7 of queue 0 (direct)`
void AppendFreedInFlight(const Snapshot& snapshot, const FreedInFlight& freed, std::string& out);

}  // namespace cairn

#endif  // CAIRN_READER_REPORT_FAULT_TEXT_H_
