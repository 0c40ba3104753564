// SPDX-License-Identifier: Apache-2.0
//
// Bounds the blocks of all processes together: no two have the same memory, and only so much is mapped. Programs hand
// over whatever they like, also the same memory many times.
#ifndef CAIRN_WATCHER_BLOCK_BOUNDS_H_
#define CAIRN_WATCHER_BLOCK_BOUNDS_H_

#include <cstdint>
#include <map>

#include "os/shared_memory.h"

namespace cairn {

// docs/reference/bounds.md. One thread.
class BlockBounds {
 public:
  // The address space, not the memory, of all blocks, at most: as many blocks of the usual size as watched processes.
  static constexpr uint64_t kMostMappedBytes = uint64_t{1} << 40;

  enum class Taken {
    kYes,
    kAnothers,  // another holder has this memory
    kTooMuch,
  };
  // `holder` gives up what it held before, and has this from now on. Anything but kYes: all stays as it was.
  Taken Take(uint64_t holder, const SharedMemory& memory) {
    for (const auto& [other, held] : held_) {
      if (other != holder && held.identity != 0 && held.identity == memory.identity()) {
        return Taken::kAnothers;
      }
    }
    const auto before = held_.find(holder);
    const uint64_t others_bytes =
        mapped_bytes_ - (before == held_.end() ? 0 : before->second.size_bytes);
    if (memory.size_bytes() > kMostMappedBytes - others_bytes) return Taken::kTooMuch;
    mapped_bytes_ = others_bytes + memory.size_bytes();
    held_[holder] = {memory.identity(), memory.size_bytes()};
    return Taken::kYes;
  }
  void Release(uint64_t holder) {
    const auto found = held_.find(holder);
    if (found == held_.end()) return;
    mapped_bytes_ -= found->second.size_bytes;
    held_.erase(found);
  }
  uint64_t mapped_bytes() const { return mapped_bytes_; }

 private:
  struct Held {
    uint64_t identity = 0;
    uint64_t size_bytes = 0;
  };
  std::map<uint64_t, Held> held_;  // at most one for each process
  uint64_t mapped_bytes_ = 0;
};

}  // namespace cairn

#endif  // CAIRN_WATCHER_BLOCK_BOUNDS_H_
