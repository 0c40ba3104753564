// SPDX-License-Identifier: Apache-2.0
//
// Finds objects that no call needs: among those that a late start restored, for `cairn trim`; among
// all, for a minimal trace of `cairn bisect`.
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
  // Finds unused objects among those that were restored. Errors: those of the trace's cursor.
  static Result<UnusedObjects> Find(TraceReader* trace);
  // Finds unused objects among all, in the records that `left` keeps of the trace (null: all
  // records). An object is not needed merely because of its creation, names, views of it, mappings,
  // data that the CPU writes into it, the Reset and Close of a list, or the Reset of an allocator.
  // Fences stay, too.
  static Result<UnusedObjects> FindInAll(TraceReader* trace, RecordFilter* left);

  // The number of unused objects.
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
