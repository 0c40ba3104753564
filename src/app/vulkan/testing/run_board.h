// SPDX-License-Identifier: Apache-2.0
//
// For tests: the board of a run of `cairn why` (CAIRN_ELIMINATION), as this process has it.
#ifndef CAIRN_APP_VULKAN_TESTING_RUN_BOARD_H_
#define CAIRN_APP_VULKAN_TESTING_RUN_BOARD_H_

#include <gtest/gtest.h>

#include <cstdint>

#include "format/elimination/board.h"
#include "format/settings/layer_settings.h"
#include "os/environment.h"
#include "os/shared_memory.h"

namespace cairn {

struct ChangeCounts {
  uint32_t changes = 0;
  uint32_t not_changed = 0;
  bool operator==(const ChangeCounts&) const = default;
};

// The layer asks for the board once in a process: make this before the first device.
class RunBoard {
 public:
  static RunBoard& OfProcess() {
    static RunBoard board;
    return board;
  }
  BoardHeader& header() { return board_.header(); }
  // Returns what was counted since the last call.
  ChangeCounts Take() {
    return {board_.header().changes.exchange(0), board_.header().not_changed.exchange(0)};
  }

 private:
  RunBoard() : memory_(MakeMemory()), board_(Board::Make(Bytes(), {}, kEntries, kTextBytes)) {
    SetVariable(kVariableOf<&LayerSettings::elimination>, memory_.PathForOthers());
  }
  static SharedMemory MakeMemory() {
    Result<SharedMemory> memory =
        SharedMemory::Create("cairn board", Board::BytesFor(0, kEntries, kTextBytes));
    EXPECT_TRUE(memory.ok()) << memory.status().message();
    return std::move(*memory);
  }
  std::span<std::byte> Bytes() { return {memory_.data(), memory_.size_bytes()}; }

  static constexpr uint32_t kEntries = 1024;
  static constexpr uint32_t kTextBytes = 1 << 16;
  SharedMemory memory_;
  Board board_;
};

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_TESTING_RUN_BOARD_H_
