// SPDX-License-Identifier: Apache-2.0
#include "app/d3d12/bindings.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace cairn {
namespace {

constexpr uint64_t kStart = 0x7f0000001000;
constexpr uint32_t kIncrement = 40;

uint64_t Handle(uint64_t index) {
  return kStart + index * kIncrement;
}

D3D12_CPU_DESCRIPTOR_HANDLE At(uint64_t index) {
  return {static_cast<SIZE_T>(Handle(index))};
}

TEST(DescriptorShadow, AnswersWhatWasSetLast) {
  DescriptorShadow shadow;
  EXPECT_EQ(shadow.Get(Handle(0)), 0u);
  shadow.Set(Handle(0), 7);
  shadow.Set(Handle(1), 8);
  EXPECT_EQ(shadow.Get(Handle(0)), 7u);
  EXPECT_EQ(shadow.Get(Handle(1)), 8u);
  EXPECT_EQ(shadow.Get(Handle(2)), 0u);
  shadow.Set(Handle(0), 9);
  EXPECT_EQ(shadow.Get(Handle(0)), 9u);
  shadow.Set(Handle(0), 0);
  EXPECT_EQ(shadow.Get(Handle(0)), 0u);
  EXPECT_EQ(shadow.Get(Handle(1)), 8u);
  EXPECT_EQ(shadow.Get(0), 0u);
  shadow.Set(0, 5);
  EXPECT_EQ(shadow.Get(0), 0u);
}

TEST(DescriptorShadow, KeepsManyDescriptors) {
  DescriptorShadow shadow;
  for (uint32_t i = 0; i < 20000; ++i) shadow.Set(Handle(i), i + 1);
  for (uint32_t i = 0; i < 20000; ++i) ASSERT_EQ(shadow.Get(Handle(i)), i + 1);
  EXPECT_EQ(shadow.Get(Handle(20000)), 0u);
}

TEST(DescriptorShadow, ForgottenHeapsGiveTheirRoomToOthers) {
  DescriptorShadow shadow;
  // Far more handles over time than the shadow holds at once.
  for (uint64_t heap = 0; heap < 40000; ++heap) {
    const uint64_t start = kStart + heap * 0x1000;
    for (uint32_t i = 0; i < 64; ++i) shadow.Set(start + i * kIncrement, 100 + i);
    for (uint32_t i = 0; i < 64; ++i) ASSERT_EQ(shadow.Get(start + i * kIncrement), 100 + i);
    shadow.Forget(start, kIncrement, 64);
    ASSERT_EQ(shadow.Get(start), 0u);
  }
  shadow.Set(kStart, 3);
  EXPECT_EQ(shadow.Get(kStart), 3u);
}

TEST(DescriptorShadow, CopiesRangesOfDifferentSizes) {
  DescriptorShadow shadow;
  for (uint32_t i = 0; i < 8; ++i) shadow.Set(Handle(i), i + 1);
  const D3D12_CPU_DESCRIPTOR_HANDLE from[] = {At(4), At(0)};
  const UINT from_sizes[] = {3, 2};
  const D3D12_CPU_DESCRIPTOR_HANDLE to[] = {At(100), At(200), At(300)};
  const UINT to_sizes[] = {1, 0, 4};
  shadow.Copy(3, to, to_sizes, 2, from, from_sizes, kIncrement);
  EXPECT_EQ(shadow.Get(Handle(100)), 5u);
  EXPECT_EQ(shadow.Get(Handle(200)), 0u);
  EXPECT_EQ(shadow.Get(Handle(300)), 6u);
  EXPECT_EQ(shadow.Get(Handle(301)), 7u);
  EXPECT_EQ(shadow.Get(Handle(302)), 1u);
  EXPECT_EQ(shadow.Get(Handle(303)), 2u);
}

TEST(DescriptorShadow, NullSizesMeanOneEachAndNullHandlesNothing) {
  DescriptorShadow shadow;
  shadow.Set(Handle(0), 1);
  shadow.Set(Handle(1), 2);
  const D3D12_CPU_DESCRIPTOR_HANDLE from[] = {At(1), At(0)};
  const D3D12_CPU_DESCRIPTOR_HANDLE to[] = {At(10), At(20)};
  shadow.Copy(2, to, nullptr, 2, from, nullptr, kIncrement);
  EXPECT_EQ(shadow.Get(Handle(10)), 2u);
  EXPECT_EQ(shadow.Get(Handle(20)), 1u);
  shadow.Copy(2, nullptr, nullptr, 2, from, nullptr, kIncrement);
  shadow.Copy(2, to, nullptr, 2, nullptr, nullptr, kIncrement);
  EXPECT_EQ(shadow.Get(Handle(10)), 2u);
}

TEST(DescriptorShadow, AnUnwrittenSourceClearsTheDestination) {
  DescriptorShadow shadow;
  shadow.Set(Handle(5), 6);
  const D3D12_CPU_DESCRIPTOR_HANDLE from[] = {At(0)};
  const D3D12_CPU_DESCRIPTOR_HANDLE to[] = {At(5)};
  shadow.Copy(1, to, nullptr, 1, from, nullptr, kIncrement);
  EXPECT_EQ(shadow.Get(Handle(5)), 0u);
}

TEST(DescriptorShadow, ReadersNeedNoLockWhileTheTableGrows) {
  DescriptorShadow shadow;
  for (uint32_t i = 0; i < 100; ++i) shadow.Set(Handle(i), i + 1);
  std::atomic<bool> done{false};
  std::atomic<uint32_t> wrong{0};
  std::vector<std::thread> readers;
  for (int reader = 0; reader < 2; ++reader) {
    readers.emplace_back([&] {
      while (!done.load()) {
        for (uint32_t i = 0; i < 100; ++i) wrong += shadow.Get(Handle(i)) != i + 1;
      }
    });
  }
  for (uint32_t i = 100; i < 50000; ++i) shadow.Set(Handle(i), i + 1);
  done = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(wrong.load(), 0u);
}

}  // namespace
}  // namespace cairn
