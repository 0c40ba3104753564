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
  EXPECT_EQ(map.SizeAt(0x1400), 0x200u);
  EXPECT_EQ(map.OwnerAt(0x1400), kBuffer);
  EXPECT_EQ(map.Now(0x1400), 0x1400u);
}

TEST(StructureMap, ThoseThatMovedTakeNoRoom) {
  StructureMap map;
  map.Take(0x1000, 0x800, kBuffer);
  EXPECT_TRUE(map.Move(0x1400, 0x300, kBuffer, 0x9000));
  EXPECT_EQ(map.Room(0x1500, kEnd), 0u) << "the first one reaches farther";
  EXPECT_TRUE(map.Move(0x1000, 0x900, kOther, 0xA000));
  EXPECT_EQ(map.Room(0x1000, kEnd), 0x1000u);
  EXPECT_EQ(map.Now(0x1400), 0x9000u);
  EXPECT_EQ(map.SizeAt(0x1000), 0x900u);
  EXPECT_EQ(map.OwnerAt(0x1000), kOther);
  map.Remove(kBuffer);
  EXPECT_EQ(map.Now(0x1000), 0xA000u);
}

TEST(StructureMap, PlacesThatOneLeftAreItsOwn) {
  StructureMap map;
  EXPECT_TRUE(map.Move(0x1000, 0x100, kBuffer, 0x9000));
  EXPECT_FALSE(map.Move(0x1000, 0x200, kBuffer, 0xA000));
  for (const uint64_t address : {0x1000, 0x9000, 0xA000}) EXPECT_EQ(map.Now(address), 0xA000u);
  EXPECT_EQ(map.Now(0x1100), 0x1100u);
}

TEST(StructureMap, TheyEndWithTheirOwner) {
  StructureMap map;
  map.Move(0x1000, 0x100, kBuffer, 0x9000);
  map.Move(0x1000, 0x200, kBuffer, 0x9100);
  map.Move(0x1100, 0x100, kOther, 0x9300);
  map.Take(0x1200, 0x100, kBuffer);
  map.Take(0x3000, 0x100, kOther);
  map.Remove(kBuffer);
  for (const uint64_t address : {0x1000, 0x9000, 0x9100}) EXPECT_EQ(map.Now(address), address);
  EXPECT_EQ(map.SizeAt(0x1200), 0u);
  EXPECT_EQ(map.Now(0x1100), 0x9300u);
  EXPECT_EQ(map.SizeAt(0x3000), 0x100u);
}

// Buffers that share memory: each that has the place in it may be the last one.
TEST(StructureMap, AnHeirGoesOn) {
  StructureMap map;
  map.Move(0x1000, 0x100, kBuffer, 0x9000);
  map.Move(0x1100, 0x100, kBuffer, 0x9100);
  map.Take(0x1200, 0x100, kBuffer);
  map.Take(0x1300, 0x100, kBuffer);
  map.Remove(kBuffer, [](uint64_t place) { return place % 0x200 == 0 ? kOther : 0; });
  EXPECT_EQ(map.Now(0x9000), 0x9000u);
  EXPECT_EQ(map.Now(0x1000), 0x9000u);
  EXPECT_EQ(map.Now(0x1100), 0x1100u);
  EXPECT_EQ(map.OwnerAt(0x1200), kOther);
  EXPECT_EQ(map.SizeAt(0x1300), 0u);
  map.Remove(kOther);
  EXPECT_EQ(map.Now(0x1000), 0x1000u);
  EXPECT_EQ(map.SizeAt(0x1200), 0u);
}

}  // namespace
}  // namespace cairn
