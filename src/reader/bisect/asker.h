// SPDX-License-Identifier: Apache-2.0
//
// Asks the questions of a search: counts them, repeats those without an answer, and reports the progress.
#ifndef CAIRN_READER_BISECT_ASKER_H_
#define CAIRN_READER_BISECT_ASKER_H_

#include <cstdint>
#include <string>
#include <utility>

#include "base/status.h"
#include "reader/bisect/bisect.h"

namespace cairn {

class Asker {
 public:
  // Both outlive it. `probes`: made before it.
  Asker(const Probe& probe, const BisectOptions& options, uint64_t probes = 0)
      : probe_(probe), options_(options), probes_(probes) {}

  uint64_t probes() const { return probes_; }
  uint64_t undecided() const { return undecided_; }
  const BisectWords& words() const { return options_.words; }
  // For the progress: what is looked at, and how many probes that and what comes after may take.
  void Expect(std::string what, uint64_t probes) {
    what_ = std::move(what);
    expected_ = probes_ + probes;
  }

  // Plays a question once. Undecided plays are repeated; too many of them end the search.
  Result<ProbeAnswer> Once(const BisectQuestion& question);

 private:
  Result<ProbeAnswer> Play(const BisectQuestion& question);

  const Probe& probe_;
  const BisectOptions& options_;
  uint64_t probes_ = 0;
  uint64_t undecided_ = 0;
  uint64_t expected_ = 0;
  std::string what_;
};

}  // namespace cairn

#endif  // CAIRN_READER_BISECT_ASKER_H_
