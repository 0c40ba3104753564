// SPDX-License-Identifier: Apache-2.0
//
// Writes what is left of a trace when all is left out that its failure does not need.
#ifndef CAIRN_READER_BISECT_MINIMAL_TRACE_H_
#define CAIRN_READER_BISECT_MINIMAL_TRACE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "format/trace/trace_reader.h"
#include "reader/bisect/bisect.h"

namespace cairn {

// Selects the objects of the copy.
enum class MinimalObjects : uint8_t {
  kNeeded,  // what is left needs them (format/model/unused_objects.h)
  kAll,     // for failures that depend on what else lies in memory
};

// Into the copy go: the guilty submissions with their guilty lists; of these the culprits and what sets
// state for them, with the bundles that they execute; objects with their descriptors and what the CPU
// wrote into them; and signals, all before the failure. Not: other submissions, what other recordings
// hold, calls that are for tools alone, hashes of what the GPU wrote, and what comes after. Records keep
// their numbers: those of the answer are those of the copy.
// `answer.found` must be true. `path` is replaced when the copy is complete.
// Errors: kIo; kCorrupt.
Status WriteMinimalTrace(TraceReader* trace, const BisectTree& tree, const BisectAnswer& answer,
                         MinimalObjects objects, const std::string& path);

}  // namespace cairn

#endif  // CAIRN_READER_BISECT_MINIMAL_TRACE_H_
