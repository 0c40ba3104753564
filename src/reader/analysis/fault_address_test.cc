// SPDX-License-Identifier: Apache-2.0
#include "reader/analysis/fault_address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "reader/analysis/testing/snapshot_builder.h"

namespace cairn {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr uint64_t kFaultTime = 50'000;

struct Memory {
  SnapshotBuilder builder;

  uint32_t Add(uint64_t address, uint64_t size, uint64_t destroyed_ns = 0) {
    Object object;
    object.state = destroyed_ns == 0 ? ObjectState::kAlive : ObjectState::kDestroyed;
    object.device = 0;
    object.gpu_address = address;
    object.size_bytes = size;
    object.destroyed_ns = destroyed_ns;
    object.serial = builder.snapshot.objects.size() + 1;
    builder.snapshot.objects.push_back(object);
    return static_cast<uint32_t>(builder.snapshot.objects.size() - 1);
  }
  FaultAddressVerdict Fault(uint64_t address, uint64_t precision = 1,
                            FaultAddressType type = FaultAddressType::kReadInvalid) {
    Snapshot& snapshot = builder.snapshot;
    snapshot.faults.clear();
    snapshot.fault_addresses.clear();
    cairn::Fault fault;
    fault.device = 0;
    fault.time_ns = kFaultTime;
    fault.address_count = 1;
    snapshot.faults.push_back(fault);
    snapshot.fault_addresses.push_back({type, 0, address, precision});
    return FindFaultAddresses(snapshot, Analyse(snapshot)).of_drivers.at(0);
  }
};

TEST(FaultAddress, KernelsNameAddresses) {
  EXPECT_EQ(
      AddressInKernelLine("NVRM: Xid (PCI:0000:00:06): 31, pid=471, MMU Fault: ENGINE GRAPHICS "
                          "faulted @ 0x7f3c_40a00000. Fault is of type FAULT_PDE"),
      0x7f3c'40a0'0000u);
  EXPECT_EQ(AddressInKernelLine("amdgpu 0000:03:00.0: amdgpu:   in page starting at address "
                                "0x0000800102800000 from client 0x1b (UTCL2)"),
            0x8001'0280'0000u);
  for (const char* none : {"", "NVRM: Xid 13, Graphics Exception: ESR 0x519730=0x8030017",
                           "faulted @ 0x", "at address 0x. ", "at address 0x11112222333344445"}) {
    EXPECT_FALSE(AddressInKernelLine(none)) << none;
  }
}

TEST(FaultAddress, OfTheKernelsLogItsPageIsJudged) {
  Memory memory;
  const uint32_t freed = memory.Add(0x7f3c'40a0'0800, 0x100, 700);
  Snapshot& snapshot = memory.builder.snapshot;
  snapshot.destructions.push_back({.serial = 1, .object = freed});
  snapshot.kernel_lines = {{.text = snapshot.AddText("GPU reset begin!")},
                           {.time_ns = 1'000,
                            .names_process = true,
                            .text = snapshot.AddText("MMU Fault: faulted @ 0x7f3c_40a00000.")}};
  const auto verdicts = FindFaultAddresses(snapshot, Analyse(snapshot)).of_kernel;
  ASSERT_THAT(verdicts, SizeIs(1));
  EXPECT_EQ(verdicts[0].kernel_line, 1u);
  EXPECT_EQ(verdicts[0].fault, kNone);
  EXPECT_EQ(verdicts[0].given, 0x7f3c'40a0'0000u);
  EXPECT_EQ(verdicts[0].state, AddressState::kFreed);
  ASSERT_THAT(verdicts[0].owners, SizeIs(1));
  EXPECT_FALSE(verdicts[0].owners[0].exact);
  EXPECT_EQ(verdicts[0].owners[0].destroyed_after_fault_ns, -300);
  EXPECT_EQ(verdicts[0].owners[0].destruction, 0u);
}

TEST(FaultAddress, InsideAnObjectThatLives) {
  Memory memory;
  memory.Add(0x1000, 0x1000);
  const uint32_t buffer = memory.Add(0x2000, 0x1000);
  for (const uint64_t offset : {uint64_t{0}, uint64_t{0x40}, uint64_t{0xFFF}}) {
    const FaultAddressVerdict verdict = memory.Fault(0x2000 + offset);
    EXPECT_EQ(verdict.state, AddressState::kOwned);
    ASSERT_THAT(verdict.owners, SizeIs(1));
    EXPECT_EQ(verdict.owners[0].object, buffer);
    EXPECT_EQ(verdict.owners[0].offset, offset);
    EXPECT_TRUE(verdict.owners[0].exact);
    EXPECT_EQ(verdict.below.object, kNone);
  }
}

TEST(FaultAddress, InsideOneThatWasDestroyed) {
  Memory memory;
  const uint32_t queue = memory.builder.AddQueue();
  const uint32_t list = memory.builder.BeginList(queue);
  memory.builder.Scope(CAIRN_MARKER_DISPATCH);
  memory.builder.Submit(queue, list);
  memory.builder.snapshot.submissions[0].time_ns = 30'000;
  const uint32_t buffer = memory.Add(0x2000, 0x1000, 20'000);
  const FaultAddressVerdict verdict = memory.Fault(0x2010);
  EXPECT_EQ(verdict.state, AddressState::kFreed);
  ASSERT_THAT(verdict.owners, SizeIs(1));
  EXPECT_EQ(verdict.owners[0].object, buffer);
  EXPECT_EQ(verdict.owners[0].destroyed_after_fault_ns, -30'000);
  EXPECT_EQ(verdict.owners[0].destroyed_after_submission_ns, -10'000);
}

TEST(FaultAddress, BetweenNeighbours) {
  Memory memory;
  memory.Add(0x100, 0x10);
  const uint32_t below = memory.Add(0x1000, 0x1000);
  const uint32_t above = memory.Add(0x4000, 0x1000);
  memory.Add(0x9000, 0x10);
  const FaultAddressVerdict verdict = memory.Fault(0x2010);
  EXPECT_EQ(verdict.state, AddressState::kNeverMapped);
  EXPECT_THAT(verdict.owners, IsEmpty());
  EXPECT_EQ(verdict.below.object, below);
  EXPECT_EQ(verdict.below.distance, 0x10u);
  EXPECT_EQ(verdict.above.object, above);
  EXPECT_EQ(verdict.above.distance, 0x4000u - 0x2010u - 1);
  EXPECT_EQ(memory.Fault(0x2000).below.distance, 0u);
  EXPECT_EQ(memory.Fault(0x3FFF).above.distance, 0u);
}

TEST(FaultAddress, IsNearAnObjectAtMostOneMebibyteAway) {
  Memory memory;
  EXPECT_FALSE(memory.Fault(0x1000).near_object) << "there is none";
  memory.Add(0x1000'0000, 0x1000);
  EXPECT_TRUE(memory.Fault(0x1000'0fff).near_object);
  EXPECT_TRUE(memory.Fault(0x1000'1000 + kNearBytes).near_object);
  EXPECT_FALSE(memory.Fault(0x1000'1001 + kNearBytes).near_object);
  EXPECT_TRUE(memory.Fault(0x0fff'ffff - kNearBytes).near_object);
  EXPECT_FALSE(memory.Fault(0x0fff'fffe - kNearBytes).near_object);
}

TEST(FaultAddress, WithoutObjectsThereAreNoNeighbours) {
  Memory memory;
  const FaultAddressVerdict verdict = memory.Fault(0x2010);
  EXPECT_EQ(verdict.state, AddressState::kNeverMapped);
  EXPECT_EQ(verdict.below.object, kNone);
  EXPECT_EQ(verdict.above.object, kNone);
}

TEST(FaultAddress, AddressZero) {
  Memory memory;
  memory.Add(0, 0x1000);  // has no address
  const uint32_t above = memory.Add(0x1000, 0x10);
  const FaultAddressVerdict verdict = memory.Fault(0, 0x1000);
  EXPECT_EQ(verdict.state, AddressState::kNeverMapped);
  EXPECT_EQ(verdict.first, 0u);
  EXPECT_EQ(verdict.last, 0xFFFu);
  EXPECT_EQ(verdict.below.object, kNone);
  EXPECT_EQ(verdict.above.object, above);
  EXPECT_EQ(verdict.above.distance, 0u);
}

TEST(FaultAddress, TheTopOfTheAddressSpace) {
  Memory memory;
  const uint32_t top = memory.Add(UINT64_MAX - 0xFF, 0x1000);  // claims to go on behind the end
  FaultAddressVerdict verdict = memory.Fault(UINT64_MAX);
  EXPECT_EQ(verdict.state, AddressState::kOwned);
  EXPECT_EQ(verdict.owners.at(0).object, top);
  EXPECT_EQ(verdict.owners[0].offset, 0xFFu);
  verdict = memory.Fault(UINT64_MAX - 0x1000, 0x10);
  EXPECT_EQ(verdict.above.object, top);
  EXPECT_EQ(verdict.above.distance, UINT64_MAX - 0xFF - verdict.last - 1);
  EXPECT_EQ(memory.Fault(7, UINT64_MAX).last, UINT64_MAX >> 1);
  EXPECT_EQ(memory.Fault(UINT64_MAX, UINT64_MAX).first, uint64_t{1} << 63);
}

TEST(FaultAddress, ObjectsWithoutASizeOwnNothing) {
  Memory memory;
  const uint32_t point = memory.Add(0x2000, 0);
  EXPECT_EQ(memory.Fault(0x2000).state, AddressState::kNeverMapped);
  const FaultAddressVerdict verdict = memory.Fault(0x2008);
  EXPECT_EQ(verdict.below.object, point);
  EXPECT_EQ(verdict.below.distance, 7u);
}

TEST(FaultAddress, PrecisionMakesARange) {
  Memory memory;
  const uint32_t first = memory.Add(0x2000, 0x100);
  const uint32_t second = memory.Add(0x2800, 0x100);
  FaultAddressVerdict verdict = memory.Fault(0x2810, 0x1000);
  EXPECT_EQ(verdict.first, 0x2000u);
  EXPECT_EQ(verdict.last, 0x2FFFu);
  ASSERT_THAT(verdict.owners, SizeIs(2));
  EXPECT_EQ(verdict.owners[0].object, second);
  EXPECT_TRUE(verdict.owners[0].exact);
  EXPECT_EQ(verdict.owners[1].object, first);
  EXPECT_FALSE(verdict.owners[1].exact);
  EXPECT_EQ(verdict.owners[1].offset, 0u);
  // The precision is no power of two: the next one counts.
  EXPECT_EQ(memory.Fault(0x2810, 0x900).last, 0x2FFFu);
  EXPECT_EQ(memory.Fault(0x2810, 0).last, 0x2810u);
}

// A range is given out again and again.
TEST(FaultAddress, OfReusedRangesTheOneThatLivesThenTheLatest) {
  Memory memory;
  const uint32_t oldest = memory.Add(0x2000, 0x1000, 10'000);
  const uint32_t latest = memory.Add(0x2000, 0x800, 40'000);
  const uint32_t middle = memory.Add(0x2000, 0x4000, 20'000);
  FaultAddressVerdict verdict = memory.Fault(0x2100);
  EXPECT_EQ(verdict.state, AddressState::kFreed);
  ASSERT_THAT(verdict.owners, SizeIs(3));
  EXPECT_EQ(verdict.owners[0].object, latest);
  EXPECT_EQ(verdict.owners[1].object, middle);
  EXPECT_EQ(verdict.owners[2].object, oldest);
  const uint32_t alive = memory.Add(0x1000, 0x8000);
  verdict = memory.Fault(0x2100);
  EXPECT_EQ(verdict.state, AddressState::kOwned);
  EXPECT_EQ(verdict.owners[0].object, alive);
  EXPECT_EQ(verdict.owners[1].object, latest);
}

TEST(FaultAddress, OfVeryManyTheFirst) {
  Memory memory;
  for (uint64_t i = 1; i <= 100; ++i) memory.Add(0x2000, 0x1000, i);
  const FaultAddressVerdict verdict = memory.Fault(0x2100);
  EXPECT_THAT(verdict.owners, SizeIs(kMostOwners));
  EXPECT_EQ(verdict.owner_count, 100u);
  EXPECT_EQ(verdict.owners[0].object, 99u);
}

TEST(FaultAddress, ObjectsOfOtherDevicesDoNotCount) {
  Memory memory;
  memory.builder.snapshot.devices.emplace_back();
  memory.builder.snapshot.objects[memory.Add(0x2000, 0x1000)].device = 1;
  EXPECT_EQ(memory.Fault(0x2100).state, AddressState::kNeverMapped);
}

TEST(FaultAddress, WithoutAnAddress) {
  Memory memory;
  memory.Add(0x2000, 0x1000);
  EXPECT_EQ(memory.Fault(0x2000, 1, FaultAddressType::kNone).state, AddressState::kNoAddress);
}

// Against a definition that is slow and obvious, on a small address space.
TEST(FaultAddress, AgreesWithTheDefinition) {
  std::mt19937 random(17);
  for (int round = 0; round < 500; ++round) {
    Memory memory;
    for (uint32_t i = random() % 8; i-- > 0;) {
      memory.Add(1 + random() % 40, random() % 10, random() % 2 == 0 ? 0 : 1 + random() % 1000);
    }
    const uint64_t address = random() % 50;
    const uint64_t precision = uint64_t{1} << random() % 4;
    const FaultAddressVerdict verdict = memory.Fault(address, precision);
    const uint64_t first = address / precision * precision;
    bool alive = false, destroyed = false;
    for (const Object& object : memory.builder.snapshot.objects) {
      for (uint64_t byte = first; byte < first + precision; ++byte) {
        if (byte < object.gpu_address || byte >= object.gpu_address + object.size_bytes) continue;
        (object.state == ObjectState::kAlive ? alive : destroyed) = true;
      }
    }
    EXPECT_EQ(verdict.state, alive       ? AddressState::kOwned
                             : destroyed ? AddressState::kFreed
                                         : AddressState::kNeverMapped);
  }
}

}  // namespace
}  // namespace cairn
