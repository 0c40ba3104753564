// SPDX-License-Identifier: Apache-2.0
//
// Looks within a culprit (call_parts.h), and says what the parts are that it finds.
#ifndef CAIRN_READER_BISECT_CULPRIT_PARTS_H_
#define CAIRN_READER_BISECT_CULPRIT_PARTS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/status.h"
#include "format/trace/trace_reader.h"
#include "reader/bisect/bisect.h"
#include "reader/bisect/bisect_tree.h"
#include "reader/bisect/call_parts.h"

namespace cairn {

// Plays the question, and returns the bytes as they are then; none if it does not get so far.
using ReadBytes =
    std::function<Result<std::vector<std::byte>>(const BisectQuestion&, const BytesToRead&)>;

// Fills `culprit->parts` if the culprit is a call that has parts. After an error it holds what is known by then.
// `probes` counts on. Errors: those of `probe` and `read`; kUnsupported, as of Bisect.
Status SearchWithin(TraceReader* trace, const BisectTree& tree, const BisectAnswer& failure,
                    const Probe& probe, const ReadBytes& read, const BisectOptions& options,
                    CulpritText* culprit, uint64_t* probes);

// Returns the question that leaves out a call and all that its submission does behind it.
BisectQuestion QuestionBefore(const BisectTree& tree, const CulpritText& culprit);

}  // namespace cairn

#endif  // CAIRN_READER_BISECT_CULPRIT_PARTS_H_
