// SPDX-License-Identifier: Apache-2.0
//
// A trace in which one byte lies, for every byte: the playback ends, and gives everything back.
#include <gtest/gtest.h>

#include "replay/player_fuzz_input.h"
#include "replay/test_script.h"

namespace cairn {
namespace {

std::vector<std::byte> Input() {
  TestScript script;
  const std::vector<std::byte> bytes(64, std::byte{7});
  const CopyProgram program(&script, bytes, bytes);
  TraceReader trace = script.trace.Open();
  return FuzzInputOf(ReadAll(trace));
}

TEST(PlayerHostileTest, TheInputItselfIsPlayed) {
  const PlayerResult result = PlayFuzzInput(Input());
  EXPECT_EQ(result.frames, 1u);
  EXPECT_EQ(result.compared_readbacks, 1u);
  EXPECT_EQ(FakeObjectCount(), 0);
}

TEST(PlayerHostileTest, AnyByteMayLie) {
  const std::vector<std::byte> input = Input();
  uint64_t refused = 0;
  for (size_t i = 0; i < input.size(); ++i) {
    std::vector<std::byte> changed = input;
    changed[i] ^= std::byte{static_cast<uint8_t>(i % 3 == 0 ? 0xFF : 0x01)};
    if (PlayFuzzInput(changed).frames == 0) ++refused;
    ASSERT_EQ(FakeObjectCount(), 0) << "byte " << i;
  }
  EXPECT_GT(refused, 0u);
}

TEST(PlayerHostileTest, ItMayEndAnywhere) {
  const std::vector<std::byte> input = Input();
  for (size_t size = 0; size < input.size(); size += 3) {
    PlayFuzzInput(std::span(input).first(size));
    ASSERT_EQ(FakeObjectCount(), 0) << size << " bytes";
  }
}

}  // namespace
}  // namespace cairn
