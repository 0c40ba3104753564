// SPDX-License-Identifier: Apache-2.0
#include "os/own_limits.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>

namespace cairn {
namespace {

// Exits with 7 where memory ends, as it has to.
void TakeUntilItEnds() {
  if (!LimitOwnMemory(uint64_t{64} << 20)) std::_Exit(1);
  constexpr size_t kPiece = size_t{1} << 20;
  for (size_t taken = 0; taken < (size_t{256} << 20); taken += kPiece) {
    try {
      auto* const piece = new volatile char[kPiece];
      piece[0] = 1;
    } catch (const std::bad_alloc&) {
      std::fprintf(stderr, "ended after %zu MiB", taken >> 20);
      std::_Exit(taken < kPiece * 32 ? 2 : 7);
    }
  }
  std::_Exit(3);
}

TEST(OwnLimits, MemoryEndsWithAnException) {
#ifdef CAIRN_SANITIZED
  GTEST_SKIP() << "a sanitizer ends the process where it gets no memory";
#endif
  EXPECT_EXIT(TakeUntilItEnds(), ::testing::ExitedWithCode(7), "ended after [3-6][0-9] MiB");
}

TEST(OwnLimits, ProcessorTimeEndsWithLastWords) {
  EXPECT_EXIT(
      {
        if (!LimitOwnProcessorTime(1, "no time is left\n")) std::_Exit(2);
        for (std::atomic<uint64_t> turns = 0;;) turns.fetch_add(1);
      },
      ::testing::ExitedWithCode(1), "no time is left");
}

}  // namespace
}  // namespace cairn
