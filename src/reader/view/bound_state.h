// SPDX-License-Identifier: Apache-2.0
//
// Finds the state that `cairn state` prints: the pipeline and everything that is bound where a
// command list records a call.
#ifndef CAIRN_READER_VIEW_BOUND_STATE_H_
#define CAIRN_READER_VIEW_BOUND_STATE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "format/trace/trace_reader.h"
#include "format/trace/trace_state.h"
#include "reader/view/executed_parts.h"

namespace cairn::cli {

// The most descriptors shown of a table, from its beginning to the first that was never written.
inline constexpr uint32_t kShownDescriptors = 16;

// Values are kept as they read at the call, in words and as JSON.
struct ListState {
  struct Object {
    uint64_t number = kNoObject;
    std::string name;
  };
  struct Call {
    uint64_t number = 0;
    std::string method;
    std::string words;      // "Dispatch(ThreadGroupCountX = 1, ...)"
    std::string arguments;  // JSON; "null" if they cannot be read
    std::string members;    // of the structs that it is passed, a line each
  };
  struct Setting {
    uint64_t set_by = 0;
    std::string words;
    std::string json = "null";
  };
  struct Descriptor {
    uint32_t index = 0;
    uint64_t writer = 0;  // call
    std::optional<Call> written_by;
  };
  struct RootArgument {
    const char* kind = "";
    Setting value;
    std::vector<uint32_t> constants;  // instead of a value
    std::optional<uint64_t> table;    // its handle, if it is one
    std::vector<Descriptor> descriptors;
  };
  using RootArgumentMap =
      std::map<std::pair<uint32_t, uint64_t>, RootArgument>;  // (index, offset of constants)
  struct Root {
    Object signature;
    RootArgumentMap arguments;
  };

  // A fence that lives; values as they were when the call was recorded, not when its list is executed.
  struct FenceValue {
    Object queue;  // that signals, or waits; a device that signals itself
    uint64_t value = 0;
    uint64_t call = 0;
  };
  struct Fence {
    Object object;
    std::optional<uint64_t> completed;  // last that is known
    uint64_t completed_known_by = 0;    // record; 0: none
    std::vector<FenceValue> signals;
    std::vector<FenceValue> queue_waits;
    std::vector<FenceValue> cpu_waits;  // of no queue
  };

  std::optional<Call> call;
  uint64_t frame = 0;
  uint32_t thread = 0;
  Object list;
  uint64_t recorded_since = 0;
  Object pipeline;
  uint64_t pipeline_set_by = 0;
  std::optional<Call> pipeline_creation;
  Root graphics;
  Root compute;
  std::map<std::string_view, Setting>
      settings;  // with the arguments of the calls, by their keys in JSON
  // Targets of OMSetRenderTargets or BeginRenderPass, as their descriptors were then; a written one leads to its resource.
  struct Target {
    bool is_depth = false;
    uint64_t writer = 0;  // call; 0: nobody wrote the descriptor
    std::optional<Call> written_by;
  };
  std::vector<Target> targets;
  std::map<uint32_t, Setting> vertex_buffers;  // by their slots
  std::map<uint32_t, Setting> stream_output;
  std::vector<Fence> fences;
  std::optional<ExecutedParts> parts;  // of the call
};

// The state with which the call with this number is recorded. Goes through the trace up to the call, and
// looks up what made the pipeline and the descriptors.
// Memory: 64 bytes for each descriptor of a living heap that was written, and that of a ListTracker.
// Errors: kInvalidArgument: there is no such call, or it is none of a command list; kCorrupt: the call
// itself cannot be read.
Result<ListState> ListStateAt(TraceReader& trace, uint64_t call);

// For people; values of more than a line are cut.
std::string ListStateInWords(const ListState& state);
// Returns the state as JSON: docs/formats/state.schema.json.
std::string ListStateJson(const ListState& state);

}  // namespace cairn::cli

#endif  // CAIRN_READER_VIEW_BOUND_STATE_H_
