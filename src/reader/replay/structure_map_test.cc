// SPDX-License-Identifier: Apache-2.0
#include "reader/replay/structure_map.h"

#include <gtest/gtest.h>

#include <vector>

#include "reader/replay/list_structures.h"

namespace cairn {
namespace {

constexpr uint64_t kBuffer = 7, kOther = 8;
constexpr uint64_t kEnd = 0x2000;
const StructureMap::Heir kNoHeir = [](uint64_t) { return uint64_t{0}; };

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
  map.Remove(kBuffer, kNoHeir);
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
  const std::vector<StructureMap::Ended> ended = map.Remove(kBuffer, kNoHeir);
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_EQ(ended[0].place, 0x1000u);
  EXPECT_EQ(ended[0].own, 0x9100u);
  for (const uint64_t address : {0x1000, 0x9000, 0x9100}) EXPECT_EQ(map.Now(address), 0x1000u);
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
  map.Remove(kOther, kNoHeir);
  EXPECT_EQ(map.Now(0x1000), 0x1000u);
  EXPECT_EQ(map.SizeAt(0x1200), 0u);
}

// The GPU may have copied the address that one had before it ended.
TEST(StructureMap, AddressesOfThoseThatEndedMeanTheirPlaces) {
  StructureMap map;
  map.Move(0x1000, 0x100, kBuffer, 0x9000);
  map.Move(0x1100, 0x100, kBuffer, 0x9100);
  map.Remove(kBuffer, kNoHeir);
  EXPECT_TRUE(map.Knows(0x9000));
  EXPECT_FALSE(map.Knows(0x1000));
  map.Take(0x1000, 0x100, kOther);
  EXPECT_EQ(map.Now(0x9000), 0x1000u);
  map.Move(0x1000, 0x200, kOther, 0xA000);
  EXPECT_EQ(map.Now(0x9000), 0xA000u);
  map.Reuse(0x9000, 0x9100);
  EXPECT_EQ(map.Now(0x9000), 0x9000u);
  EXPECT_EQ(map.Now(0x9100), 0x1100u) << "the program has no memory there";
}

TEST(ScratchMap, ListsShareAPlaceUntilTheLastOneEnds) {
  ScratchMap map;
  map.Take(0x1400, 0x300, 1);
  map.Take(0x1400, 0x100, 2);
  EXPECT_EQ(map.Room(0x1000, kEnd), 0x400u);
  EXPECT_EQ(map.Room(0x1400, kEnd), 0xC00u);
  map.Remove(2);
  EXPECT_EQ(map.Room(0x1600, kEnd), 0u) << "the first list has 0x300 bytes";
  map.Remove(1);
  EXPECT_EQ(map.Room(0x1000, kEnd), 0x1000u);
  map.Remove(1);
}

TEST(ListStructures, RootArgumentsFollowTheirLists) {
  StructureMap map;
  ListStructures lists;
  std::vector<uint64_t> set;
  const auto follow = [&](uint64_t list) {
    set.clear();
    return lists.FollowRoots(list, map, [&set](ListStructures::Root root, uint64_t address) {
      set.push_back(root.index);
      set.push_back(address);
    });
  };
  lists.Set(1, {true, 3}, 0x1000, map);
  lists.Set(1, {false, 4}, 0x1000, map);
  lists.Set(1, {true, 5}, 0x1100, map);
  map.Move(0x1000, 0x100, kBuffer, 0x9000);
  lists.ForgetRoots(1, /*computes=*/false);
  EXPECT_TRUE(lists.IsStale(1, map));
  EXPECT_EQ(follow(1), 2u);
  EXPECT_EQ(set, (std::vector<uint64_t>{3, 0x9000}));
  EXPECT_FALSE(lists.IsStale(1, map)) << "it was not known to be a structure";
  EXPECT_EQ(follow(2), 0u);
}

TEST(ListStructures, AListIsStaleWhenAnotherOneMovesWhatItNames) {
  StructureMap map;
  ListStructures lists;
  map.Take(0x1000, 0x100, kBuffer);
  map.Take(0x1100, 0x100, kBuffer);
  lists.Set(1, {true, 0}, 0x1000, map);
  lists.Set(1, {true, 0}, 0x1100, map);
  lists.Give(2, 0x1000);
  EXPECT_FALSE(lists.IsStale(1, map));
  map.Move(0x1000, 0x200, kBuffer, 0x9000);
  EXPECT_TRUE(lists.IsStale(1, map)) << "it was in the same argument before";
  lists.Give(2, 0x9000, /*instead_of=*/0x1000);
  EXPECT_FALSE(lists.IsStale(2, map));
  lists.Remove(1);
  EXPECT_FALSE(lists.IsStale(1, map));
}

}  // namespace
}  // namespace cairn
