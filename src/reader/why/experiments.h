// SPDX-License-Identifier: Apache-2.0
//
// The experiments that `cairn why` makes, each once: the change, and the cause that it stands for.
#ifndef CAIRN_READER_WHY_EXPERIMENTS_H_
#define CAIRN_READER_WHY_EXPERIMENTS_H_

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "format/experiment/experiment.h"
#include "reader/bisect/bisect.h"

namespace cairn {

// The deepest explanation first: of several changes that help, the first is told first. A loop that goes too far, and an
// address that is wrong, may have any of the others as their reason: they say where it shows. A binding is narrower than
// the stage that reads it, and that work ends after all says no more than that.
enum class ExperimentName : uint8_t {
  kKeepAlive,
  kMemoryZero,
  kMemoryFilled,
  kBarrierBefore,
  kBarrierAfter,
  kSerialQueues,
  kCounts,
  kLoops,
  kBounds,
  kRobust,
  kBindings,
  kStages,
  kTime,
};

struct ExperimentRow {
  ExperimentName name;
  std::string_view word;  // in JSON
  Experiment
      experiment;  // of loops, bounds, stages, counts and bindings: without trips, shaders, stage, counts, binding
  std::string_view cause;  // a sentence, for a failure that goes away
  std::string_view with;   // behind "With", in a sentence about its runs
  std::string_view noun;   // in a list of what is not the cause
};

// All of them, in the order of ExperimentName.
std::span<const ExperimentRow> ExperimentRows();
const ExperimentRow& RowOf(ExperimentName name);

// The order in which they are asked: what the kind of failure makes likely first. Only work that hangs gets more time, and
// stages and then bindings are the last that layers change: they say least.
std::vector<ExperimentName> OrderFor(FailureKind kind);

}  // namespace cairn

#endif  // CAIRN_READER_WHY_EXPERIMENTS_H_
