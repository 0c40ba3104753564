// SPDX-License-Identifier: Apache-2.0
#include "format/witness/witness_cache.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

constexpr uint64_t kNow = 1'800'000'000;

DeviceWitnesses Device(uint8_t number, WitnessOutcome outcome = WitnessOutcome::kHung) {
  DeviceWitnesses device;
  device.key.device_uuid[3] = number;
  device.key.driver_name = "driver";
  device.measured_s = kNow;
  device.outcome = outcome;
  return device;
}

TEST(WitnessCache, WrittenAndRead) {
  WitnessCache cache;
  cache.Add(uint64_t{0xFEDC});
  cache.Add(Device(1));
  cache.Add(Device(2, WitnessOutcome::kUnseen));
  const std::string text = FormatWitnessCache(cache);
  EXPECT_TRUE(text.starts_with("cairn-witnesses 1\nmachine 000000000000fedc\ndevice 00000001"));
  const Result<WitnessCache> read = ParseWitnessCache(text);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(*read, cache);
  EXPECT_TRUE(read->Knows(0xFEDC));
  EXPECT_FALSE(read->Knows(0xFEDD));
}

TEST(WitnessCache, TheLatestStays) {
  WitnessCache cache;
  for (uint64_t i = 0; i < 100; ++i) {
    cache.Add(i);
    cache.Add(Device(static_cast<uint8_t>(i)));
  }
  cache.Add(Device(99, WitnessOutcome::kDied));
  EXPECT_EQ(cache.machines.size(), kMostWitnessMachines);
  EXPECT_EQ(cache.machines.back(), 99u);
  ASSERT_EQ(cache.devices.size(), kMostWitnessDevices);
  EXPECT_EQ(cache.devices.back().outcome, WitnessOutcome::kDied);
  EXPECT_EQ(*ParseWitnessCache(FormatWitnessCache(cache)), cache);
}

TEST(WitnessCache, WhatWasDisturbedIsTriedAgainOnceADay) {
  WitnessCache cache;
  cache.Add(Device(1));
  cache.Add(Device(2, WitnessOutcome::kUnseen));
  cache.DropTransient(kNow + 86'399);
  EXPECT_EQ(cache.devices.size(), 2u);
  cache.DropTransient(kNow + 86'400);
  ASSERT_EQ(cache.devices.size(), 1u);
  EXPECT_EQ(cache.devices[0].outcome, WitnessOutcome::kHung);
  cache.Add(Device(2, WitnessOutcome::kUnseen));
  cache.DropTransient(kNow - 1);
  EXPECT_EQ(cache.devices.size(), 1u);
}

TEST(WitnessCache, AnythingElseIsRefused) {
  WitnessCache cache;
  cache.Add(uint64_t{7});
  cache.Add(Device(1));
  const std::string good = FormatWitnessCache(cache);
  const std::string device = good.substr(good.find("device"));
  for (const std::string& wrong :
       {std::string(), std::string("\n"), std::string("cairn-witnesses 1"), good + "x\n",
        good + device, good + "machine 0000000000000008\n", good.substr(0, good.size() - 1),
        std::string("cairn-witnesses 1\nmachine 0000000000000007\nmachine 0000000000000007\n"),
        std::string("cairn-witnesses 1\nmachine 7\n"),
        std::string("cairn-witnesses 1\nmachine 000000000000000G\n"),
        std::string("cairn-witnesses 1\n\n"), std::string("cairn-witnesses 1\ndevice \n"),
        std::string(1, '\0'), std::string(kMostWitnessCacheBytes + 1, 'c')}) {
    EXPECT_EQ(ParseWitnessCache(wrong).status().code(), StatusCode::kCorrupt)
        << wrong.substr(0, 60);
  }
  EXPECT_EQ(ParseWitnessCache("cairn-witnesses 2\n").status().code(), StatusCode::kUnsupported);
}

}  // namespace
}  // namespace cairn
