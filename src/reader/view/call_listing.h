// SPDX-License-Identifier: Apache-2.0
//
// Lists calls of a trace for `cairn calls`: the wanted calls in their order, each with its result,
// and its state on the GPU.
#ifndef CAIRN_READER_VIEW_CALL_LISTING_H_
#define CAIRN_READER_VIEW_CALL_LISTING_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/status.h"
#include "format/snapshot/snapshot.h"
#include "format/trace/trace_reader.h"
#include "reader/analysis/analysis.h"

namespace cairn::cli {

// Calls that pass all of these.
struct CallFilter {
  std::optional<uint64_t> first_frame;  // as the program counts
  std::optional<uint64_t> last_frame;   // included
  uint64_t from = 0;                    // whose number is at least this
  uint64_t most = ~uint64_t{0};         // no more lines than that
  std::optional<uint64_t> around;       // the number of a call, or of any other record
  uint64_t context = 10;                // calls before and after that one
  std::optional<uint64_t> object;       // called, or passed
  std::string object_name;              // the same, by name
  std::string function;            // part of "ID3D12Device::CreateFence", or all of "CreateFence"
  std::optional<uint32_t> thread;  // its index in the trace
  std::optional<uint64_t> submission;  // what the n-th ExecuteCommandLists executed, from 1
};

struct CallListingOptions {
  CallFilter filter;
  bool json = false;
  bool whole = false;  // long arrays and byte values in full
  bool names =
      true;  // of objects; without them what stands before the first wanted call is not read
  bool colour = false;
};

// The states of calls by the breadcrumbs of a crash.
class GpuStates {
 public:
  GpuStates() = default;
  // `analysis` is that of `snapshot`.
  GpuStates(const Snapshot& snapshot, const Analysis& analysis);
  std::optional<WorkState> Find(uint64_t call) const;
  bool empty() const { return states_.empty(); }

 private:
  std::unordered_map<uint64_t, WorkState> states_;
};

struct ListedCalls {
  uint64_t calls = 0;
  uint64_t damaged =
      0;  // calls whose bytes contradict themselves, and chunks that could not be read
  std::string first_damage;
  uint64_t left_out = 0;  // calls and writes of which only the method is shown (kPrintedBytes)
};

// Returns true if records of this kind have a line, unless a filter omits them.
bool HasLine(RecordKind kind);

// Gives `print` pieces of text, each of whole lines, until it says false.
// Errors: kInvalidArgument: there is no such frame, record, submission, thread, function or object.
Result<ListedCalls> ListCalls(TraceReader& trace, const CallListingOptions& options,
                              const GpuStates& gpu,
                              const std::function<bool(std::string_view)>& print);

}  // namespace cairn::cli

#endif  // CAIRN_READER_VIEW_CALL_LISTING_H_
