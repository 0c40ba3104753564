// SPDX-License-Identifier: Apache-2.0
#include "reader/why/experiments.h"

#include <array>

namespace cairn {
namespace {

const std::array kRows = {
    ExperimentRow{ExperimentName::kKeepAlive,
                  "keep-alive",
                  {.change = Change::kKeepAlive},
                  "Something is used after it was destroyed, freed or reset.",
                  "objects kept alive",
                  "objects kept alive"},
    ExperimentRow{ExperimentName::kMemoryZero,
                  "memory-00",
                  {.change = Change::kFillMemory, .fill = 0x00},
                  "Memory is read that nobody has written: the failure depends on what is in it.",
                  "new memory filled with zeros",
                  "memory of zeros"},
    ExperimentRow{ExperimentName::kMemoryFilled,
                  "memory-fe",
                  {.change = Change::kFillMemory, .fill = 0xfe},
                  "Memory is read that nobody has written: the failure depends on what is in it.",
                  "new memory filled with 0xFE",
                  "memory of 0xFE"},
    ExperimentRow{ExperimentName::kBarrierBefore,
                  "barrier-before",
                  {.change = Change::kBarrierBefore},
                  "Work begins before the work that it depends on has ended: a barrier is missing "
                  "in front of it.",
                  "a barrier in front of each piece of work",
                  "barrier in front"},
    ExperimentRow{ExperimentName::kBarrierAfter,
                  "barrier-after",
                  {.change = Change::kBarrierAfter},
                  "Work begins before the work that it depends on has ended: a barrier is missing "
                  "behind that.",
                  "a barrier behind each piece of work",
                  "barrier behind"},
    ExperimentRow{ExperimentName::kSerialQueues,
                  "serial-queues",
                  {.change = Change::kSerialQueues},
                  "Submissions race: they run at once, and one needs the result of another.",
                  "one submission at a time",
                  "one submission at a time"},
    ExperimentRow{ExperimentName::kCounts,
                  "counts",
                  {.change = Change::kLimitCounts},
                  "A draw or dispatch has far too many vertices, instances or groups.",
                  "no more in a call",
                  "counts limited"},
    ExperimentRow{ExperimentName::kLoops,
                  "loops",
                  {.change = Change::kLimitLoops},
                  "A loop does not end, or runs far too long.",
                  "loops cut",
                  "loops cut"},
    ExperimentRow{ExperimentName::kBounds,
                  "bounds",
                  {.change = Change::kCheckBounds},
                  "A shader accesses memory or a descriptor out of bounds.",
                  "such accesses skipped",
                  "accesses skipped"},
    ExperimentRow{ExperimentName::kRobust,
                  "robust",
                  {.change = Change::kRobust},
                  "A shader or a draw accesses memory beyond the range of a buffer or outside of "
                  "an image, or a descriptor that is null.",
                  "the device's robust accesses enabled",
                  "robust accesses"},
    ExperimentRow{ExperimentName::kBindings,
                  "bindings",
                  {.change = Change::kEmptyBinding},
                  "The failure depends on what the shaders read from one binding, or write to it.",
                  "that binding empty",
                  "bindings emptied"},
    ExperimentRow{ExperimentName::kStages,
                  "stages",
                  {.change = Change::kEmptyStage},
                  "The failure depends on what the shaders of one stage do.",
                  "shaders of one stage that do nothing",
                  "shader stages emptied"},
    ExperimentRow{ExperimentName::kTime,
                  "time",
                  {.change = Change::kMoreTime, .times = 10},
                  "The work is slow, not endless: given more time, it ends.",
                  "10 times the --hang-timeout",
                  "10 times the time"},
};

}  // namespace

std::span<const ExperimentRow> ExperimentRows() {
  return kRows;
}

const ExperimentRow& RowOf(ExperimentName name) {
  return kRows[static_cast<size_t>(name)];
}

std::vector<ExperimentName> OrderFor(FailureKind kind) {
  using enum ExperimentName;
  // A driver may tell of a hang as of a lost device.
  if (kind == FailureKind::kDied) {
    return {kRobust,     kBounds,       kKeepAlive, kBarrierBefore, kBarrierAfter, kSerialQueues,
            kMemoryZero, kMemoryFilled, kCounts,    kLoops,         kStages,       kBindings};
  }
  std::vector<ExperimentName> order = {kLoops,        kCounts,        kRobust,       kBounds,
                                       kSerialQueues, kBarrierBefore, kBarrierAfter, kKeepAlive,
                                       kMemoryZero,   kMemoryFilled,  kStages,       kBindings};
  // A driver that tells of a lost device had no patience of its own. Last, for its runs are the longest.
  if (kind == FailureKind::kHang) order.push_back(kTime);
  return order;
}

}  // namespace cairn
