// SPDX-License-Identifier: Apache-2.0
//
// LLVM's bitstream (llvm.org/docs/BitCodeFormat.html): blocks with records, and the abbreviations
// by which records are written. The reader gives bits their meaning (dxil_traits.h).
#ifndef CAIRN_FORMAT_SNAPSHOT_BITCODE_READER_H_
#define CAIRN_FORMAT_SNAPSHOT_BITCODE_READER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

namespace cairn {

struct BitcodeRecord {
  uint32_t block = 0;  // the block that it stands in
  uint64_t code = 0;
  std::span<const uint64_t> operands;  // valid during the call; no bytes of blobs
};

// Calls `is_wanted` with each block that begins within a wanted one, and `on_record` with each
// record of those that it wants. False where the words are no bitcode, or end too early; then
// `on_record` may have been called for some records. `words` begin with the magic number. Time and
// memory: linear in the words. May throw std::bad_alloc, and what the functions throw.
bool ReadBitcode(std::span<const uint32_t> words,
                 const std::function<bool(uint32_t block)>& is_wanted,
                 const std::function<void(const BitcodeRecord& record)>& on_record);

}  // namespace cairn

#endif  // CAIRN_FORMAT_SNAPSHOT_BITCODE_READER_H_
