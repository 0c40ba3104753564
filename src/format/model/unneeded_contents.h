// SPDX-License-Identifier: Apache-2.0
//
// Finds restored contents of a late start that no call reads, because the recording overwrites them
// first or never uses their resource: `cairn trim` omits them besides unused objects.
#ifndef CAIRN_FORMAT_MODEL_UNNEEDED_CONTENTS_H_
#define CAIRN_FORMAT_MODEL_UNNEEDED_CONTENTS_H_

#include <cstddef>
#include <cstdint>
#include <set>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/status.h"
#include "format/trace/trace_filter.h"
#include "format/trace/trace_reader.h"

namespace cairn {

// Reads the trace twice. Omits the contents of committed resources in memory of the GPU, by
// subresource,
//   if all work of the recording with the resource is on one queue, and the first that is done with the
//   subresource there is a clear without rectangles, a discard, or a copy or resolve that writes all of
//   it, without a predicate;
//   or if no list, no descriptor in a heap that work has bound, and no end of a frame uses it.
// Any other operation counts as a read, unless it is known to ignore the contents. The record of a
// texture stays, without its bytes: it holds the subresource's state.
class UnneededContents final : public RecordFilter {
 public:
  // Errors: those of the trace's cursor.
  static Result<UnneededContents> Find(TraceReader* trace);

  bool IsNeeded(uint64_t resource, uint32_t subresource) const {
    return !buffers_.contains(resource) && !textures_.contains({resource, subresource});
  }
  bool Keep(Record* record, uint64_t frame) override;

 private:
  class Search;

  std::unordered_set<uint64_t> buffers_;
  std::set<std::pair<uint64_t, uint32_t>> textures_;  // with the subresource
  std::vector<std::byte> body_;
};

}  // namespace cairn

#endif  // CAIRN_FORMAT_MODEL_UNNEEDED_CONTENTS_H_
