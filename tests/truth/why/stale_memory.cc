// SPDX-License-Identifier: Apache-2.0
#include "truth/why/stale_memory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace cairn::truth::why {

void Scribble() {
  for (size_t bytes = 16; bytes <= 32'768; bytes += bytes < 4096 ? 16 : 1024) {
    for (int i = 0; i < 32; ++i) {
      if (void* block = std::malloc(bytes)) std::memset(block, 0xA5, bytes);
    }
  }
}

void LeaveStale(uint32_t stale, const std::function<uint32_t*(uint64_t bytes)>& make,
                const std::function<void()>& destroy) {
  // malloc gives the first one back to the system, and keeps what is smaller from then on. The last one is larger than
  // what follows: where that is to begin at a multiple of a page, malloc wants room in front.
  for (const uint64_t bytes : {8 * kKeptBytes, 2 * kKeptBytes}) {
    uint32_t* const words = make(bytes);
    // Between what is freed and the end of the heap, which malloc may give back.
    if (std::malloc(64) == nullptr) return;
    std::fill_n(words, bytes / sizeof(uint32_t), stale);
    destroy();
  }
}

}  // namespace cairn::truth::why
