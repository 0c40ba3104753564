// SPDX-License-Identifier: Apache-2.0
//
// The output of `cairn info`, `cairn verify` and `cairn objects` about a trace: as lines for
// people, as JSON for programs. Nothing is printed here.
#ifndef CAIRN_READER_VIEW_TRACE_VIEWS_H_
#define CAIRN_READER_VIEW_TRACE_VIEWS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/json_writer.h"
#include "base/status.h"
#include "format/calls/import_facts.h"
#include "format/trace/trace_reader.h"
#include "format/trace/trace_state.h"
#include "format/trace/verify.h"
#include "reader/view/object_parts.h"

namespace cairn::cli {

// Returns the facts of a trace that can be found without reading all of it.
std::string TraceInfoText(TraceReader& trace);
// An object.
void WriteTraceInfo(TraceReader& trace, JsonWriter* json);

std::string VerifyText(const std::string& path, const VerifyReport& report, uint64_t frames);
std::string VerifyJson(const VerifyReport& report, uint64_t frames);

struct ObjectQuery {
  std::optional<uint64_t> at_number;  // as before this record; otherwise at the end
  std::optional<uint64_t> at_frame;   // as the program counts: at its beginning
  bool alive = false;                 // only those that live there
  std::string kind;                   // part of the interface's name, in any case
  std::string name;                   // part of the name, in any case
  // Called now and then with the progress; returns false to stop.
  std::function<bool(uint64_t done, uint64_t total)> progress;
};

struct ObjectList {
  std::vector<TracedObject> objects;  // by number
  uint64_t made = 0;                  // up to there
  uint64_t alive = 0;                 // there
  uint64_t frame = 0;                 // that "there" is in
  bool at_end = false;
  bool interrupted = false;
  uint64_t contradictions = 0;  // records that contradict others: cairn verify names them
  struct Adapter {
    std::string gpu;  // its name; "": not recorded
    std::optional<uint64_t> luid;
    std::optional<uint32_t> place;
    std::string text;  // "adapter 1, LUID 0x0000000000012345"
  };
  std::unordered_map<uint64_t, Adapter> adapters;     // by device, where something was recorded
  std::unordered_map<uint64_t, ImportFacts> imports;  // by object that the program opened
  ObjectParts parts;                                  // of command signatures and state objects
};

// Frames are the program's. Errors: kInvalidArgument for a frame that is not in the trace; those of the reader.
Result<ObjectList> ListObjects(TraceReader& trace, const ObjectQuery& query);
std::string ObjectsText(const ObjectList& list);
// Writes one document, in pieces, until `print` returns false.
bool WriteObjectsJson(const ObjectList& list, const std::function<bool(std::string_view)>& print);

}  // namespace cairn::cli

#endif  // CAIRN_READER_VIEW_TRACE_VIEWS_H_
