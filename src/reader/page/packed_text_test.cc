// SPDX-License-Identifier: Apache-2.0
#include "reader/page/packed_text.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "reader/page/testing/unpack.h"

namespace cairn {
namespace {

std::string Packed(std::string_view text, size_t piece_bytes) {
  std::string packed;
  PackedText packer([&packed](std::string_view piece) {
    packed += piece;
    return true;
  });
  for (size_t at = 0; at < text.size(); at += piece_bytes) {
    EXPECT_TRUE(packer.Add(text.substr(at, piece_bytes)));
  }
  EXPECT_TRUE(packer.Finish());
  return packed;
}

// Returns text that no compression makes smaller, so that the buffer is filled many times.
std::string Noise(size_t size) {
  std::string noise;
  uint32_t state = 1;
  while (noise.size() < size) {
    state = state * 1664525 + 1013904223;
    noise += static_cast<char>(state >> 24);
  }
  return noise;
}

TEST(PackedText, IsReadBack) {
  const std::string noise = Noise(400'000);
  for (const size_t size : {0, 1, 2, 3, 4, 5, 100, 49'000, 49'152, 400'000}) {
    const std::string text = noise.substr(0, size);
    for (const size_t piece : {1'000'000, 4099}) {
      const std::string packed = Packed(text, piece);
      EXPECT_EQ(packed.size() % 4, 0u) << size;
      EXPECT_EQ(Unpacked(packed), text) << size;
    }
  }
}

TEST(PackedText, HoldsNothingThatHtmlKnows) {
  const std::string packed = Packed("</script><script>alert(1)</script>" + Noise(10'000), 7);
  EXPECT_EQ(
      packed.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="),
      std::string::npos);
}

TEST(PackedText, StopsWhenNobodyReads) {
  int pieces = 0;
  PackedText packer([&pieces](std::string_view) {
    ++pieces;
    return false;
  });
  const std::string noise = Noise(200'000);
  EXPECT_FALSE(packer.Add(noise));
  EXPECT_FALSE(packer.Add(noise));
  EXPECT_FALSE(packer.Finish());
  EXPECT_EQ(pieces, 1);
}

}  // namespace
}  // namespace cairn
