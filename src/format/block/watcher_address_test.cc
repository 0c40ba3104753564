// SPDX-License-Identifier: Apache-2.0
#include "format/block/watcher_address.h"

#include <gtest/gtest.h>

#include <string>

namespace cairn {
namespace {

WatcherAddress Sample() {
  WatcherAddress address;
  address.name = "cairn-71-00ff";
  for (size_t i = 0; i < address.token.size(); ++i)
    address.token[i] = static_cast<uint8_t>(i * 16 + 1);
  address.pid = 71;
  address.door = 9;
  return address;
}

constexpr char kSampleText[] = "cairn-71-00ff:01112131415161718191a1b1c1d1e1f1:71:9";

TEST(WatcherAddress, IsTextAndBack) {
  EXPECT_EQ(FormatWatcherAddress(Sample()), kSampleText);
  const std::optional<WatcherAddress> read = ParseWatcherAddress(kSampleText);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->name, "cairn-71-00ff");
  EXPECT_EQ(read->token, Sample().token);
  EXPECT_EQ(DoorPath(*read), "/proc/71/fd/9");
}

TEST(WatcherAddress, EitherDoorMayBeMissing) {
  WatcherAddress address = Sample();
  address.pid = 0;
  address.door = -1;
  EXPECT_EQ(DoorPath(*ParseWatcherAddress(FormatWatcherAddress(address))), "");
  address = Sample();
  address.name.clear();
  EXPECT_EQ(ParseWatcherAddress(FormatWatcherAddress(address))->name, "");
}

TEST(WatcherAddress, OtherTextIsNone) {
  EXPECT_FALSE(ParseWatcherAddress("").has_value());
  EXPECT_FALSE(ParseWatcherAddress(":::").has_value());
  EXPECT_FALSE(ParseWatcherAddress(std::string(kSampleText) + ":1").has_value());
  EXPECT_FALSE(ParseWatcherAddress("../x:01112131415161718191a1b1c1d1e1f1:71:9").has_value());
  EXPECT_FALSE(ParseWatcherAddress("x:0G112131415161718191a1b1c1d1e1f1:71:9").has_value());
  EXPECT_FALSE(ParseWatcherAddress("x:01112131415161718191a1b1c1d1e1f1:-1:9").has_value());
  EXPECT_FALSE(ParseWatcherAddress("x:01112131415161718191a1b1c1d1e1f1:71:-2").has_value());
  EXPECT_FALSE(
      ParseWatcherAddress("x:01112131415161718191a1b1c1d1e1f1:71:99999999999").has_value());
  EXPECT_FALSE(ParseWatcherAddress(std::string(65, 'a') + ":01112131415161718191a1b1c1d1e1f1:71:9")
                   .has_value());
}

// Every text with one byte less, or one changed, is an address that is written the same, or none.
TEST(WatcherAddress, NoTextIsMisread) {
  const std::string text = kSampleText;
  for (size_t i = 0; i < text.size(); ++i) {
    EXPECT_FALSE(ParseWatcherAddress(text.substr(0, i)).has_value()) << i;
    for (int byte = 0; byte < 256; ++byte) {
      std::string changed = text;
      changed[i] = static_cast<char>(byte);
      const std::optional<WatcherAddress> read = ParseWatcherAddress(changed);
      if (!read.has_value()) continue;
      EXPECT_EQ(ParseWatcherAddress(FormatWatcherAddress(*read))->token, read->token) << changed;
      EXPECT_EQ(FormatWatcherAddress(*read).size() <= text.size(), true) << changed;
    }
  }
}

}  // namespace
}  // namespace cairn
