// SPDX-License-Identifier: Apache-2.0
//
// Finds the annotation around a candidate, and the objects bound where it begins. Also finds the
// positions of markers that a driver reported. docs/internals/analysis.md, "What a candidate used", has the
// rules.
#ifndef CAIRN_READER_ANALYSIS_BINDINGS_H_
#define CAIRN_READER_ANALYSIS_BINDINGS_H_

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "reader/analysis/analysis.h"

namespace cairn {

class BindingResolver {
 public:
  // More than a command can have, and more objects than were ever at one address, only damaged files
  // hold: then not all are found.
  static constexpr uint32_t kMostBindings = 96;
  static constexpr uint32_t kMostRangesTried = 1024;

  explicit BindingResolver(const Snapshot& snapshot) : snapshot_(snapshot) {}

  // Fills `verdict->contexts` and adds their bindings to `analysis`.
  void Explain(Analysis* analysis, QueueVerdict* verdict);

  // Adds to `bindings` what the scope uses. Time is linear in the events before it.
  void FindBindings(const Scope& scope, const Execution& execution, std::vector<Binding>* bindings);

  // Returns true if the shaders of the pipeline declare this descriptor, or if they are not known.
  // `binding`: kNone for any descriptor of the set.
  bool CanUse(uint32_t pipeline, uint32_t set, uint32_t binding);

 private:
  // The memory of an object that has a GPU address.
  struct Range {
    uint64_t begin;
    uint64_t end;
    uint64_t largest_end;  // of this range and all before it
    uint32_t object;
  };
  // The moment when the GPU may have used the bindings, in CLOCK_MONOTONIC.
  struct Moment {
    uint64_t time_ns;
    bool is_submission;
  };

  CandidateContext ContextOf(const QueueVerdict& verdict, uint32_t candidate, Analysis* analysis);
  Moment MomentOf(const Execution& execution) const;
  Binding Resolve(const Event& event, const Moment& moment);
  // Adds the faults of the set that `event` binds, as far as the pipeline can use it, `room`
  // bindings at most.
  void ResolveSet(const Event& event, uint32_t pipeline, const Moment& moment, size_t room,
                  std::vector<Binding>* bindings);
  // The object that holds `address`: one alive at the moment, else the one destroyed last before it.
  uint32_t FindObject(uint64_t address, const Moment& moment);
  void SortRanges();
  uint32_t DestructionOf(uint32_t object);

  const Snapshot& snapshot_;
  std::vector<Range> ranges_;  // by begin
  bool ranges_sorted_ = false;
  // The sets and bindings (kNone: any of the set) that a pipeline's shaders declare, once they were
  // needed.
  std::unordered_map<uint32_t, std::unordered_set<uint64_t>> declared_;
  bool declared_read_ = false;
  std::unordered_map<uint32_t, uint32_t> destructions_;  // by object, once it was needed
};

// Analysis::reported_scopes.
std::vector<uint32_t> FindReportedScopes(const Snapshot& snapshot,
                                         const std::vector<Scope>& scopes);

}  // namespace cairn

#endif  // CAIRN_READER_ANALYSIS_BINDINGS_H_
