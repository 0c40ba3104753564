// SPDX-License-Identifier: Apache-2.0
//
// Finds the chunks of a .cairn file, by its index or, where that is missing or damaged, by walking
// from chunk to chunk and searching for the next one where the trail breaks off.
#ifndef CAIRN_FORMAT_FILE_FIND_CHUNKS_H_
#define CAIRN_FORMAT_FILE_FIND_CHUNKS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "format/file/byte_source.h"
#include "format/file/chunk.h"

namespace cairn {

// Something that is not as it was written. `reason` is one sentence without a full stop, fit for
// a terminal: it repeats no bytes of the file unescaped.
struct Loss {
  uint64_t offset = 0;
  uint64_t size_bytes = 0;  // 0 when only the place is known
  std::string reason;
};

// A damaged disk can lose something every few bytes; past this many one entry stands for the rest.
inline constexpr size_t kMaxLosses = 1000;

class LossList {
 public:
  void Add(uint64_t offset, uint64_t size_bytes, std::string reason);
  // Returns the losses in order of the offset, with the entry for those beyond kMaxLosses at the
  // end.
  std::vector<Loss> Take();

 private:
  std::vector<Loss> losses_;
  uint64_t dropped_count_ = 0;
};

struct Layout {
  FileVersion version;            // {0, 0} when the file header is damaged
  bool has_index = false;         // the chunks come from the index
  std::vector<ChunkInfo> chunks;  // ascending, within the file, the index not among them
  LossList losses;
};

// Errors: kCorrupt (empty, not a .cairn file, nothing readable), kUnsupported (other major
// version), kIo (the beginning cannot be read).
Result<Layout> FindChunks(const ByteSource& source);

}  // namespace cairn

#endif  // CAIRN_FORMAT_FILE_FIND_CHUNKS_H_
