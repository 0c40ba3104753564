// SPDX-License-Identifier: Apache-2.0
//
// Finds the parts of a culprit that make it fail: the command of an ExecuteIndirect, the instance of a
// top level, the record of a shader table. Pure strategy, as in bisect.h.
//
// Everything else of the trace stays: what another call leaves in a buffer decides what a part does.
#ifndef CAIRN_READER_BISECT_CALL_PARTS_H_
#define CAIRN_READER_BISECT_CALL_PARTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "reader/bisect/bisect.h"

namespace cairn {

struct CallParts {
  uint64_t call = 0;
  uint64_t count = 0;
  uint32_t stride_bytes = 0;  // KeptParts
  // Parts in front of others cannot be left out without changing those.
  bool only_prefixes = false;
  // There may be fewer than `count`.
  bool count_is_limit = false;
  std::string word = "part";  // for the progress
};

// [first, end): the trace was seen to fail, twice, with these parts of the call alone. It was seen to be clean
// with the parts from the end of the range before up to the last of these, without this one, and, if there are
// several, with these without the first. With CallParts::only_prefixes it was seen to fail with the parts up
// to the last of them, and first + 1 is end.
struct PartRange {
  uint64_t first = 0;
  uint64_t end = 0;

  bool operator==(const PartRange&) const = default;
};

struct PartsAnswer {
  // In ascending order. Empty: not known, or the trace fails without any of them.
  std::vector<PartRange> guilty;
  bool needs_none = false;  // the trace was seen to fail while the call had none of its parts
  bool fails_with_all =
      false;          // the trace was seen to fail with the first CallParts::count of them
  bool more = false;  // the parts behind the last of `guilty` fail as well
  // False: nobody has looked at the parts behind.
  bool all_looked_at = false;
  uint64_t probes = 0;
};

// At most so many ranges are looked for.
inline constexpr size_t kMostGuiltyParts = 4;

// Returns the number of the first submission behind the failure; ~0 if it comes in several places.
uint64_t EndOfFailure(const BisectTree& tree, const BisectAnswer& failure);

// Fills `answer` as it learns: after an error it holds what is known by then. `failure`: what Bisect found.
// Errors: those of `probe`; kUnsupported, as of Bisect.
Status SearchParts(const CallParts& parts, const BisectTree& tree, const BisectAnswer& failure,
                   const Probe& probe, const BisectOptions& options, PartsAnswer* answer);

}  // namespace cairn

#endif  // CAIRN_READER_BISECT_CALL_PARTS_H_
