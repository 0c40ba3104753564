// SPDX-License-Identifier: Apache-2.0
//
// The state that command lists have set for the commands behind: which call bound what.
#ifndef CAIRN_FORMAT_MODEL_LIST_STATE_H_
#define CAIRN_FORMAT_MODEL_LIST_STATE_H_

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "d3d12gen/roles.h"
#include "format/calls/record.h"
#include "format/model/call_values.h"
#include "format/model/recordings.h"
#include "format/trace/trace_reader.h"

namespace cairn {

// The state that is bound in one list. Objects and addresses are those of the recording; `set_by` is the
// number of the call that set something, in the list or in a bundle.
struct BoundState {
  struct Argument {
    RootArgumentKind kind = RootArgumentKind::kNone;
    uint64_t set_by = 0;
    uint64_t value = 0;               // an address, or the handle of a table
    std::vector<uint32_t> constants;  // instead of a value
  };
  using Arguments = std::map<std::pair<uint32_t, uint64_t>, Argument>;  // (index, first constant)
  struct Root {
    uint64_t signature = kNoObject;
    Arguments arguments;  // kMostRootWords at most; one more drops all earlier ones
  };
  using Slots = std::map<uint32_t, uint64_t>;  // slot -> set_by
  // A list has one of them.
  enum class Pipeline : uint8_t { kPipeline, kStateObject, kProgram };

  // Limits of Direct3D 12. Slots, parameters and constants beyond them are ignored.
  static constexpr uint32_t kMostRootWords = 64;
  static constexpr uint32_t kMostSlots = 32;

  uint64_t since = 0;  // the Reset, ClearState or creation with which it began; 0: not known
  Pipeline pipeline_kind = Pipeline::kPipeline;
  uint64_t pipeline = kNoObject;  // of a program: none
  uint64_t pipeline_set_by = 0;
  Root graphics;
  Root compute;
  std::map<StateKind, uint64_t> settings;  // all else, of which the last call counts -> set_by
  uint64_t pass = 0;                       // the call that began the render pass; 0: none is open
  Slots vertex_buffers;
  Slots stream_output;
};

// Follows the state of all lists through a trace. One thread.
// Memory: at most 64 KiB for each list that has not ended, twice that from a Reset to its result. There are
// kMostLists lists at most, 512 MiB in all; later ones have no state.
class ListTracker {
 public:
  static constexpr size_t kMostLists = 1u << 12;

  // `trace` must outlive it.
  explicit ListTracker(TraceReader* trace) : trace_(*trace) {}

  // Takes the next record of the trace; wants all of them, in order. A call that cannot be decoded changes
  // nothing.
  void Look(const Record& record);
  // Returns the state that the next call of the list finds; null if nothing is known of the list. Valid until
  // the next record.
  const BoundState* Find(uint64_t list) const { return lists_.Find(list); }

 private:
  void OnCreation(const Record& record);
  void OnCall(const Record& record, Method method);

  TraceReader& trace_;
  CallValuesReader reader_;
  Recordings<BoundState> lists_;
  std::unordered_map<uint64_t, uint64_t> first_pipelines_;  // by the call that is making a list
};

}  // namespace cairn

#endif  // CAIRN_FORMAT_MODEL_LIST_STATE_H_
