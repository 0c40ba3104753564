// SPDX-License-Identifier: Apache-2.0
//
// Finds the differences between memory and a copy of it.
#ifndef CAIRN_APP_CAPTURE_CHANGED_BYTES_H_
#define CAIRN_APP_CAPTURE_CHANGED_BYTES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "app/capture/mapped_memory.h"

namespace cairn {

// Compares [begin, end) of `memory` with `copy`, brings the copy up to date, and calls
// `tell(offset, size)` for each range that has changed, in order; ranges with at most
// MappedMemory::kMergeBytes between them are one. Other threads may write `memory` meanwhile: the
// reported bytes are those of the copy.
template <typename Tell>
void TakeChangedBytes(const std::byte* memory, std::byte* copy, size_t begin, size_t end,
                      const Tell& tell) {
  constexpr size_t kPiece = 1024;
  constexpr size_t kStep = 32;
  size_t first = 0;  // of the range that is found
  size_t last = 0;   // behind its last change; 0: there is none yet
  const auto finish = [&] {
    if (last == 0) return;
    std::memcpy(copy + first, memory + first, last - first);
    tell(first, last - first);
    last = 0;
  };
  for (size_t piece = begin; piece < end; piece += kPiece) {
    const size_t piece_end = std::min(end, piece + kPiece);
    if (std::memcmp(memory + piece, copy + piece, piece_end - piece) == 0) continue;
    for (size_t at = piece; at < piece_end; at += kStep) {
      const size_t step_end = std::min(piece_end, at + kStep);
      if (std::memcmp(memory + at, copy + at, step_end - at) == 0) continue;
      size_t change = at;
      while (change < step_end && memory[change] == copy[change]) ++change;
      size_t change_end = step_end;
      while (change_end > change && memory[change_end - 1] == copy[change_end - 1]) --change_end;
      if (change == change_end) continue;  // it was written back meanwhile
      if (last != 0 && change - last > MappedMemory::kMergeBytes) finish();
      if (last == 0) first = change;
      last = change_end;
    }
  }
  finish();
}

}  // namespace cairn

#endif  // CAIRN_APP_CAPTURE_CHANGED_BYTES_H_
