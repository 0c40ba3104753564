// SPDX-License-Identifier: Apache-2.0
//
// The work that runs of a program met, as plain data.
#ifndef CAIRN_FORMAT_ELIMINATION_CATALOGUE_H_
#define CAIRN_FORMAT_ELIMINATION_CATALOGUE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "format/elimination/board.h"

namespace cairn {

// One piece of work: what has the same key in all recordings of a run.
struct WorkNote {
  uint64_t key = 0;  // work_key.h
  uint64_t scope = 0;
  uint64_t group = 0;
  uint32_t type = 0;  // CairnMarkerType
  uint32_t ordinal = 0;
  std::vector<std::string> path;  // labels, outermost first; whatever bytes the program gave
  std::string pipeline;           // its names; "" for work without one
  uint32_t runs = 1;              // that met it
  // The position in the last run that met it. `last_submission` orders the work of one run only.
  uint64_t recorded = 0;
  uint64_t submitted = 0;
  uint64_t last_submission = 0;
  uint32_t last_position = 0;

  bool operator==(const WorkNote&) const = default;
};

struct WorkCatalogue {
  std::vector<WorkNote> work;  // by key
  uint32_t runs = 1;
  uint64_t lists = 0;     // recordings that layers saw, in all runs
  uint64_t dropped = 0;   // pieces of work that found no room: the catalogue lacks them
  uint64_t left_out = 0;  // how often work was left out
  // An experiment of one run, in the unit of its change: barriers that layers added, submissions that waited,
  // destructions that they put off, allocations that they filled. Files do not have them.
  uint64_t changes = 0;
  uint64_t not_changed = 0;          // what the change did not reach: docs/internals/why.md
  std::vector<std::string> devices;  // that recorded, in any run; sorted
};

// Reads the entries of a board, even while a program writes to it, or of a file of WriteCatalogue.
// Never writes to `memory`. Errors: kCorrupt.
Result<WorkCatalogue> ReadCatalogue(std::span<const std::byte> memory);

// A board that holds it and no more, without a question.
std::vector<std::byte> WriteCatalogue(const WorkCatalogue& catalogue);

// Adds what another run met.
void Merge(const WorkCatalogue& run, WorkCatalogue* all);

}  // namespace cairn

#endif  // CAIRN_FORMAT_ELIMINATION_CATALOGUE_H_
