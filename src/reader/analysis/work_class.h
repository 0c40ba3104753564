// SPDX-License-Identifier: Apache-2.0
//
// Classifies commands by their possible effect on the GPU, by marker type.
#ifndef CAIRN_READER_ANALYSIS_WORK_CLASS_H_
#define CAIRN_READER_ANALYSIS_WORK_CLASS_H_

#include <cstdint>

#include "reader/analysis/analysis.h"

namespace cairn {

// The classes, from the likeliest culprit to the least likely one.
enum class WorkClass : uint8_t {
  kPipeline,  // runs shaders of the application: draws, dispatches, rays
  kOther,     // runs what is not seen or not known: builds, video, bundles, types of later versions
  kTransfer,  // copies, clears, resolves
  kNoWork,    // runs nothing itself: barriers, begins and ends, labels
};

// Returns the class of a CairnMarkerType; accepts values that this version does not know.
WorkClass ClassOfType(uint32_t type);

// Returns the class of a scope. An empty pass may hold work without markers: kOther.
WorkClass ClassOfScope(const Snapshot& snapshot, const Scope& scope);

// The pipeline whose shaders the scope runs; kNone for barriers, clears and copies, with which any may be bound.
uint32_t PipelineOf(const Snapshot& snapshot, const Scope& scope);

}  // namespace cairn

#endif  // CAIRN_READER_ANALYSIS_WORK_CLASS_H_
