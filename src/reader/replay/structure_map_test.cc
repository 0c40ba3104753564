// SPDX-License-Identifier: Apache-2.0
#include "reader/replay/structure_map.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

constexpr uint64_t kBuffer = 7, kOther = 8;
constexpr uint64_t kEnd = 0x2000;

TEST(StructureMap, RoomEndsAtTheNextOne) {
  StructureMap map;
  EXPECT_EQ(map.Room(0x1000, kEnd), 0x1000u);
  EXPECT_EQ(map.Room(kEnd, kEnd), 0u);
  map.Take(0x1400, 0x200, kBuffer);
  EXPECT_EQ(map.Room(0x1000, kEnd), 0x400u);
  EXPECT_EQ(map.Room(0x1400, kEnd), 0xC00u) << "it may grow";
  EXPECT_EQ(map.Room(0x1500, kEnd), 0u);
  EXPECT_EQ(map.Room(0x1600, kEnd), 0xA00u);
  EXPECT_EQ(map.SizeOf(0x1400), 0x200u);
}

TEST(StructureMap, ThoseThatMovedTakeNoRoom) {
  StructureMap map;
  map.Take(0x1000, 0x800, kBuffer);
  EXPECT_TRUE(map.Move(0x1400, 0x300, kBuffer, 0x9000));
  EXPECT_EQ(map.Room(0x1500, kEnd), 0u) << "the first one reaches farther";
  map.Move(0x1000, 0x900, kBuffer, 0xA000);
  EXPECT_EQ(map.Room(0x1000, kEnd), 0x1000u);
  EXPECT_EQ(map.OwnOf(0x1400), 0x9000u);
  EXPECT_EQ(map.SizeOf(0x1000), 0x900u);
}

TEST(StructureMap, PlacesThatOneLeftAreItsOwn) {
  StructureMap map;
  EXPECT_TRUE(map.Move(0x1000, 0x100, kBuffer, 0x9000));
  EXPECT_FALSE(map.Move(0x1000, 0x200, kBuffer, 0xA000));
  EXPECT_EQ(map.OwnOf(0x1000), 0xA000u);
  for (const uint64_t own : {0x9000, 0xA000}) {
    ASSERT_TRUE(map.PlaceOf(own));
    EXPECT_EQ(map.PlaceOf(own)->address, 0x1000u);
    EXPECT_EQ(map.PlaceOf(own)->buffer, kBuffer);
  }
  EXPECT_FALSE(map.PlaceOf(0x1000));
}

TEST(StructureMap, TheyEndWithTheirBuffer) {
  StructureMap map;
  map.Move(0x1000, 0x100, kBuffer, 0x9000);
  map.Move(0x1000, 0x200, kBuffer, 0x9100);
  map.Move(0x1100, 0x100, kOther, 0x9300);
  map.Take(0x1200, 0x100, kBuffer);
  map.Take(0x3000, 0x100, kBuffer);
  map.Remove(0x1000, kEnd, kBuffer);
  EXPECT_EQ(map.OwnOf(0x1000), 0u);
  EXPECT_FALSE(map.PlaceOf(0x9000) || map.PlaceOf(0x9100));
  EXPECT_EQ(map.OwnOf(0x1100), 0x9300u);
  EXPECT_EQ(map.SizeOf(0x1200), 0u);
  EXPECT_EQ(map.SizeOf(0x3000), 0x100u);
}

}  // namespace
}  // namespace cairn
