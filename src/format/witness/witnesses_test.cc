// SPDX-License-Identifier: Apache-2.0
#include "format/witness/witnesses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "format/block/block.h"

namespace cairn {
namespace {

using ::testing::HasSubstr;

constexpr char kDevice[] =
    "00112233445566778899aabbccddeeff 0123456789abcdef0123456789abcdef 91000040 NVIDIA 1795413690 "
    "marker 0:dispatch=any:draw=memory+work:copy=execution 2:dispatch=any:draw=none:copy=any";

DeviceWitnesses Parsed(std::string_view text) {
  Result<DeviceWitnesses> device = ParseDeviceWitnesses(text);
  EXPECT_TRUE(device.ok()) << device.status().message();
  return device.ok() ? *device : DeviceWitnesses();
}

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Witnesses, TextOfADevice) {
  const DeviceWitnesses device = Parsed(kDevice);
  EXPECT_EQ(device.key.device_uuid[15], 0xFF);
  EXPECT_EQ(device.key.driver_uuid[0], 0x01);
  EXPECT_EQ(device.key.driver_version, 0x91000040u);
  EXPECT_EQ(device.key.driver_name, "NVIDIA");
  EXPECT_EQ(device.measured_s, 1795413690u);
  EXPECT_EQ(device.outcome, WitnessOutcome::kMeasured);
  EXPECT_EQ(device.method, WitnessMethod::kMarker);
  ASSERT_EQ(device.families.size(), 2u);
  EXPECT_EQ(device.families[0].draws, (WorkWitnesses{HoldingBarrier::kMemory, true}));
  EXPECT_EQ(device.Family(2)->draws, (WorkWitnesses{HoldingBarrier::kNoWork, false}));
  EXPECT_EQ(device.Family(1), nullptr);
  EXPECT_EQ(FormatDeviceWitnesses(device), kDevice);
}

TEST(Witnesses, OutcomesWithoutFacts) {
  for (const char* outcome : {"hung", "died", "lost", "refused", "unseen"}) {
    const std::string text = std::string(kDevice, std::string(kDevice).find("marker")) + outcome;
    const DeviceWitnesses device = Parsed(text);
    EXPECT_NE(device.outcome, WitnessOutcome::kMeasured);
    EXPECT_FALSE(HasWitnesses(device));
    EXPECT_EQ(FormatDeviceWitnesses(device), text);
    EXPECT_THAT(DescribeWitnesses(device), HasSubstr("not known: "));
  }
}

TEST(Witnesses, WhatIsWrittenOtherwiseIsRefused) {
  const std::pair<const char*, const char*> changes[] = {
      {"00112233", "0011223"},
      {"ccddeeff ", "ccddeeFF "},
      {"91000040", "9100004"},
      {"NVIDIA", "NVIDIA;"},
      {"NVIDIA", "NV\x1BIA"},
      {"1795413690", "-1"},
      {"1795413690", "01795413690"},
      {"1795413690", "253402300800"},
      {"marker", "prayer"},
      {"marker", "hung"},
      {"0:", "4294967296:"},
      {"2:", "0:"},
      {"dispatch=any", "dispatch="},
      {"dispatch=any", "dispatch=anything"},
      {"dispatch=any:draw=", "draw=any:dispatch="},
      {"+work", "+work+work"},
      {"copy=any", "copy=any:"},
      {"copy=any", "copy=any "},
      {" marker", "  marker"}};
  for (const auto& [from, to] : changes) {
    const Result<DeviceWitnesses> device = ParseDeviceWitnesses(Replaced(kDevice, from, to));
    EXPECT_EQ(device.status().code(), StatusCode::kCorrupt) << from << " -> " << to;
  }
  for (size_t bytes = 0; bytes < sizeof(kDevice) - 1; ++bytes) {
    const std::string_view cut(kDevice, bytes);
    const Result<DeviceWitnesses> device = ParseDeviceWitnesses(cut);
    if (device.ok()) {
      EXPECT_EQ(FormatDeviceWitnesses(*device), cut);
    }
  }
}

TEST(Witnesses, Sets) {
  const std::string second = Replaced(kDevice, "ccddeeff", "ccddeefe");
  const Result<WitnessSet> set = ParseWitnessSet("1;" + std::string(kDevice) + ";" + second);
  ASSERT_TRUE(set.ok()) << set.status().message();
  EXPECT_EQ(set->devices.size(), 2u);
  EXPECT_EQ(set->Find(Parsed(second).key), &set->devices[1]);
  WitnessKey other = Parsed(second).key;
  ++other.driver_version;
  EXPECT_EQ(set->Find(other), nullptr);
  EXPECT_TRUE(ParseWitnessSet("off")->off);
  EXPECT_EQ(ParseWitnessSet("none nobody looked")->reason, "nobody looked");
  EXPECT_TRUE(ParseWitnessSet("1")->devices.empty());
  EXPECT_EQ(ParseWitnessSet("2;" + second).status().code(), StatusCode::kUnsupported);
  for (const std::string& wrong :
       {std::string(), std::string("on"), std::string("1;"), "1;" + second + ";",
        "1;" + second + ";" + second, std::string("none "), std::string("none \x1B[2J"),
        "none " + std::string(kMostWitnessReasonBytes + 1, 'x'),
        std::string(kMostWitnessTextBytes + 1, '1')}) {
    EXPECT_EQ(ParseWitnessSet(wrong).status().code(), StatusCode::kCorrupt) << wrong.substr(0, 40);
  }
}

TEST(Witnesses, ReasonsAreOneVisibleLine) {
  WitnessSet set;
  set.reason = "a line\nand \x1B[2J";
  EXPECT_EQ(FormatWitnessSet(set), "none a line\\x0aand \\x1b[2J");
  set.reason = std::string(150, '\n');
  EXPECT_EQ(ParseWitnessSet(FormatWitnessSet(set))->reason.size(), kMostWitnessReasonBytes);
}

TEST(Witnesses, ManyDevicesAreCutNotGarbled) {
  WitnessSet set;
  for (uint8_t i = 0; i < 2 * kMostWitnessDevices; ++i) {
    set.devices.push_back(Parsed(kDevice));
    set.devices.back().key.device_uuid[0] = i;
  }
  const Result<WitnessSet> read = ParseWitnessSet(FormatWitnessSet(set));
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->devices.size(), kMostWitnessDevices);
}

uint8_t Drains(const FamilyWitnesses& family, BarrierStrength strength,
               uint8_t waits_for = kWaitsForAll) {
  return FlagsOf(family).Of({strength, waits_for});
}

// The H100 as it was measured.
TEST(Witnesses, FlagsKeepKindsOfWorkApart) {
  const FamilyWitnesses family = Parsed(kDevice).families[0];
  EXPECT_EQ(Drains(family, BarrierStrength::kNothing), 0);
  EXPECT_EQ(Drains(family, BarrierStrength::kSome), kEventDrainsDispatches);
  EXPECT_EQ(Drains(family, BarrierStrength::kSome, 0), kEventDrainsDispatches);
  EXPECT_EQ(Drains(family, BarrierStrength::kExecution), kEventDrainsDispatches);
  EXPECT_EQ(Drains(family, BarrierStrength::kMemory), kEventDrains);
  EXPECT_EQ(FlagsOf(family).dispatch, kEventDrainsDraws);
}

// A family that cannot draw has none to wait for.
TEST(Witnesses, FlagsOfAFamilyWithoutDraws) {
  const FamilyWitnesses family = Parsed(kDevice).families[1];
  EXPECT_EQ(Drains(family, BarrierStrength::kSome, 0), kEventDrains);
  EXPECT_EQ(FlagsOf(family).dispatch, 0);
}

TEST(Witnesses, BarriersThatHoldOnlyWhatTheyWaitFor) {
  FamilyWitnesses family;
  family.dispatches.barrier = family.draws.barrier = family.copies.barrier =
      HoldingBarrier::kStages;
  EXPECT_EQ(Drains(family, BarrierStrength::kSome, 0), 0);
  EXPECT_EQ(Drains(family, BarrierStrength::kSome, kWaitsForDispatches), kEventDrainsDispatches);
  EXPECT_EQ(Drains(family, BarrierStrength::kSome, kWaitsForDraws | kWaitsForCopies),
            kEventDrainsDraws);
  EXPECT_EQ(Drains(family, BarrierStrength::kSome), kEventDrains);
  EXPECT_EQ(Drains(family, BarrierStrength::kExecution), kEventDrains);
}

TEST(Witnesses, NothingFollowsFromWhatWasNotMeasured) {
  FamilyWitnesses family;
  EXPECT_FALSE(FlagsOf(family).any());
  family.draws.barrier = HoldingBarrier::kNoWork;
  EXPECT_FALSE(FlagsOf(family).any());
  family.dispatches.barrier = HoldingBarrier::kNever;
  family.draws.barrier = HoldingBarrier::kNever;
  EXPECT_FALSE(FlagsOf(family).any());
  family.dispatches.barrier = HoldingBarrier::kMemory;
  family.draws.barrier = HoldingBarrier::kMemory;
  // Copies may overtake.
  family.copies.barrier = HoldingBarrier::kNever;
  EXPECT_EQ(Drains(family, BarrierStrength::kMemory), kEventDrainsDispatches | kEventDrainsDraws);
  EXPECT_EQ(Drains(family, BarrierStrength::kExecution), 0);
}

TEST(Witnesses, Description) {
  EXPECT_EQ(
      DescribeWitnesses(Parsed(kDevice)),
      "any barrier behind dispatches; barriers of memory for all stages and dispatches behind "
      "draws; barriers for all stages behind copies; measured on 2026-11-23");
}

TEST(Witnesses, NamesOfDriversAreOneWord) {
  EXPECT_EQ(WitnessDriverName("AMD open-source driver; v\xC3\xA9"), "AMD_open-source_driver__v__");
  EXPECT_EQ(WitnessDriverName(""), "_");
  EXPECT_EQ(WitnessDriverName(std::string(100, 'x')).size(), 32u);
}

}  // namespace
}  // namespace cairn
