// SPDX-License-Identifier: Apache-2.0
//
// Memory of our own that a program gets instead of the memory that Map returned, if the kernel
// cannot report writes there: memory of GPU drivers. The program's writes are copied into the real
// memory before the GPU gets work (mapped_memory.h).
//
// A block is memory of the implementation that mappings may share, as buffers share the heap that they are
// placed in: they share the stand-in as well, so that the program finds what it wrote through another.
#ifndef CAIRN_APP_CAPTURE_STAND_IN_H_
#define CAIRN_APP_CAPTURE_STAND_IN_H_

#include <cstddef>
#include <cstdint>
#include <map>

#include "os/memory.h"

namespace cairn {

// One thread at a time.
class StandIns {
 public:
  // The stand-in of [place, place + size), which lies in the block [block, block + block_bytes); holds what
  // the place holds, unless the program has it already. Null: there is no memory, or another block has
  // only a part of the place. Until GiveBack().
  std::byte* Take(std::byte* place, size_t size, std::byte* block, size_t block_bytes);
  void GiveBack(std::byte* place);
  // Returns true if a block with a stand-in contains this place.
  bool Has(std::byte* place, size_t size) const;

 private:
  struct Block {
    size_t bytes = 0;
    SparseMemory reserved;
    std::byte* memory = nullptr;  // aligned as the block is
    uint32_t users = 0;
    std::map<size_t, size_t> filled;  // begin and end of what the program was given
  };
  using Blocks = std::map<std::byte*, Block>;  // by the real memory

  Blocks::iterator Find(std::byte* place);
  Blocks::iterator Make(std::byte* block, size_t bytes);
  static void Fill(std::byte* real, Block& block, size_t begin, size_t end);

  Blocks blocks_;
};

}  // namespace cairn

#endif  // CAIRN_APP_CAPTURE_STAND_IN_H_
