// SPDX-License-Identifier: Apache-2.0
//
// One change of a run of a program, by which `cairn why` asks: does it still fail? The layers in the program make the
// change. docs/internals/why.md has what each one proves.
#ifndef CAIRN_FORMAT_EXPERIMENT_EXPERIMENT_H_
#define CAIRN_FORMAT_EXPERIMENT_EXPERIMENT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/experiment/binding.h"

namespace cairn {

enum class Change : uint8_t {
  kNone = 0,
  kLimitLoops,     // each loop of the shaders ends after a number of trips
  kCheckBounds,    // accesses of the shaders go elsewhere, or nowhere, if they are out of bounds
  kBarrierBefore,  // all work that was recorded before ends before a piece of work begins
  kBarrierAfter,   // a piece of work ends before any that is recorded behind it begins
  kSerialQueues,   // no two submissions run at once, on whatever queues
  kKeepAlive,      // nothing that the program destroys, frees or resets goes before the device
  kFillMemory,     // memory that the program allocates holds one byte everywhere
  kEmptyStage,     // the shaders of one stage do nothing
  kLimitCounts,    // draws and dispatches have no more than a number of vertices or groups
  kRobust,         // devices have the features of robust_features.h
  kMoreTime,       // the watchdog waits longer; the program runs as it is
  kEmptyBinding,   // one binding of the shaders holds zeros, and takes nothing
};

enum class EmptiedStage : uint8_t { kVertex, kFragment, kCompute };
// "vertex".
std::string_view WordOf(EmptiedStage stage);

struct Experiment {
  static constexpr uint32_t kOnlyCount = UINT32_MAX;
  static constexpr size_t kMostShaders = 64;

  Change change = Change::kNone;
  // kLimitLoops.
  uint32_t trips = 0;  // from 1 on; kOnlyCount: no loop is ended, but all are counted
  // Also of kCheckBounds, kEmptyStage and kEmptyBinding. Hashes of the modules, or of the DXBC or DXIL that they were translated from
  // (PipelineRecord::shader_hashes), 0 for those of Direct3D of which that is not known; kMostShaders at most; empty: all
  // modules.
  std::vector<uint64_t> shaders;
  std::optional<uint32_t> loop;  // the one loop, by its place in the module; without: all
  // kCheckBounds.
  bool only_counts = false;  // accesses outside go where the program wants them
  // kFillMemory; of kKeepAlive, too, where `fills` says so.
  uint8_t fill = 0;
  bool fills = false;
  // kLimitCounts: the most, from 1 on; kOnlyCount: counts are read, and none is limited.
  uint32_t counts = 0;
  // kEmptyStage.
  EmptiedStage stage = EmptiedStage::kVertex;
  // kEmptyBinding. None: the shaders stay as they are, and the board gets their bindings.
  BindingPlace binding = {};
  // kMoreTime: so many times as long, from 2 on.
  uint32_t times = 0;

  bool operator==(const Experiment&) const = default;
};

// True if a layer changes shaders, which tell of it on a board of their own (experiment_board.h).
constexpr bool ChangesShaders(Change change) {
  return change == Change::kLimitLoops || change == Change::kCheckBounds ||
         change == Change::kEmptyStage || change == Change::kEmptyBinding;
}

// Returns true if a layer tells on that board what it changed.
constexpr bool TellsOnBoard(Change change) {
  return ChangesShaders(change) || change == Change::kLimitCounts;
}

// Returns true if the layers in the program make the change.
constexpr bool IsMadeByLayers(Change change) {
  return change != Change::kNone && change != Change::kMoreTime;
}

// The byte that new memory holds; nothing: it holds what it holds.
constexpr std::optional<uint8_t> FillOf(const Experiment& experiment) {
  if (experiment.change != Change::kFillMemory && !experiment.fills) return std::nullopt;
  return experiment.fill;
}

// "loops=65536,shader=00000000000000a1,loop=2", "bounds=skip,shader=00000000000000a1", "bounds=count", "barrier-before", "barrier-after", "serial-queues",
// "keep-alive", "keep-alive,memory=fe", "memory=fe", "stage=fragment,shader=00000000000000a1",
// "binding=none", "binding=0.3,shader=00000000000000a1", "binding=push-constants", "binding=input.2", "counts=16777216", "robust", "time=10"; "" for
// kNone.
std::string FormatExperiment(const Experiment& experiment);
// Reads the same, and nothing else.
std::optional<Experiment> ParseExperiment(std::string_view text);

}  // namespace cairn

#endif  // CAIRN_FORMAT_EXPERIMENT_EXPERIMENT_H_
