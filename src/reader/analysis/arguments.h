// SPDX-License-Identifier: Apache-2.0
//
// With what arguments a command was recorded, as a recording keeps them: format/block/work_arguments.h.
#ifndef CAIRN_READER_ANALYSIS_ARGUMENTS_H_
#define CAIRN_READER_ANALYSIS_ARGUMENTS_H_

#include <cstdint>

#include "format/block/work_arguments.h"
#include "format/snapshot/snapshot.h"

namespace cairn {

struct KnownArguments : WorkArguments {
  // The first numbers of an indirect command, as they were when the snapshot was taken; kNone: they
  // are not known.
  ArgumentNumbers values;
};

// Returns the arguments of the command that begins with this event, an index into Snapshot::events
// of a kBegin. Returns none for a command without arguments or without recorded ones, for a marker,
// and for a marker of the application around several commands. Any snapshot whose indices are in
// range is safe. Time: linear in the binds that follow the event.
KnownArguments ArgumentsOf(const Snapshot& snapshot, uint32_t event);

// Returns the amount of work that the arguments request: vertices, groups or rays of all instances;
// at most UINT64_MAX. Returns 0 if it is unknown, as for indirect work whose arguments were not
// read, or if there is none.
uint64_t SizeOfWork(const KnownArguments& arguments);

// More than any command of a program that works as it should: by their numbers alone these would take the GPU
// minutes. 2^31, and no 32-bit count that came of a negative number is smaller.
inline constexpr uint64_t kAbsurdSize = uint64_t{1} << 31;

// The indirect arguments of the command that begins with `event`: entries of Snapshot::objects, kNone where they are
// not known.
struct IndirectBuffers {
  uint32_t arguments = kNone;
  uint32_t count = kNone;
};
IndirectBuffers IndirectBuffersOf(const Snapshot& snapshot, uint32_t event);

}  // namespace cairn

#endif  // CAIRN_READER_ANALYSIS_ARGUMENTS_H_
