// SPDX-License-Identifier: Apache-2.0
//
// Which objects nothing needs: of those that a late start restored, what `cairn trim` leaves out of the
// copy; of all, what a minimal trace of `cairn bisect` does without.
#ifndef CAIRN_FORMAT_MODEL_UNUSED_OBJECTS_H_
#define CAIRN_FORMAT_MODEL_UNUSED_OBJECTS_H_

#include <cstdint>
#include <unordered_set>

#include "base/status.h"
#include "format/trace/trace_filter.h"
#include "format/trace/trace_reader.h"

namespace cairn {

// Reads the trace once. Needed are the devices and queues, what calls of the recording refer to (objects,
// addresses, descriptors), what those were made of, and what stands in the descriptors of their heaps;
// all buffers, if the GPU reads addresses from memory.
class UnusedObjects final : public RecordFilter {
 public:
  // Of the objects that were restored. Errors: those of the trace's cursor.
  static Result<UnusedObjects> Find(TraceReader* trace);
  // Of all objects, in what `left` leaves of the trace (null: all of it). What is done with an object
  // alone does not make it needed: its creation, names, views of it, mappings, what the CPU writes into
  // it, the Reset and Close of a list, the Reset of an allocator. Fences stay, too.
  static Result<UnusedObjects> FindInAll(TraceReader* trace, RecordFilter* left);

  // How many objects were found to be of no use.
  uint64_t count() const { return unused_.size(); }

  bool Keep(Record* record, uint64_t frame) override;

 private:
  class Search;
  static Result<UnusedObjects> From(Search search);

  std::unordered_set<uint64_t> unused_;         // objects
  std::unordered_set<uint64_t> dropped_calls_;  // of no use without them
};

}  // namespace cairn

#endif  // CAIRN_FORMAT_MODEL_UNUSED_OBJECTS_H_
