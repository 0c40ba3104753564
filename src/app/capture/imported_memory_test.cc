// SPDX-License-Identifier: Apache-2.0
#include "app/capture/imported_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "os/memory.h"

namespace cairn {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr size_t kBytes = 600u << 10;  // in three pieces
constexpr uint64_t kObject = 7;

uint64_t AddressOf(const SparseMemory& memory) {
  return reinterpret_cast<uintptr_t>(memory.data());
}

class ImportedMemoryTest : public testing::Test {
 protected:
  // "OFFSET+SIZE: first byte" of what was reported since.
  std::vector<std::string> Told() { return std::exchange(told_, {}); }

  ImportedMemory imported_;
  const ImportedMemory::Report report_ = [this](uint64_t object, uint32_t subresource,
                                                uint64_t offset_bytes,
                                                std::span<const std::byte> bytes) {
    EXPECT_EQ(object, kObject);
    EXPECT_EQ(subresource, 0u);
    told_.push_back(std::to_string(offset_bytes) + "+" + std::to_string(bytes.size()) + ": " +
                    std::to_string(static_cast<int>(bytes[0])));
  };

 private:
  std::vector<std::string> told_;
};

TEST_F(ImportedMemoryTest, AllBytesAndThenThoseThatChange) {
  const SparseMemory memory = SparseMemory::Reserve(kBytes);
  memory.data()[0] = std::byte{5};
  EXPECT_TRUE(imported_.Add(kObject, AddressOf(memory), kBytes, report_));
  EXPECT_THAT(Told(), ElementsAre("0+262144: 5", "262144+262144: 0", "524288+90112: 0"));
  EXPECT_THAT(imported_.Flush(report_), IsEmpty());
  EXPECT_THAT(Told(), IsEmpty());

  memory.data()[300'000] = std::byte{9};
  memory.data()[kBytes - 1] = std::byte{8};
  EXPECT_THAT(imported_.Flush(report_), IsEmpty());
  EXPECT_THAT(Told(), ElementsAre("300000+1: 9", "614399+1: 8"));
  std::vector<std::byte> copy(2);
  EXPECT_TRUE(imported_.Copy(kObject, kBytes - 2, copy));
  EXPECT_THAT(copy, ElementsAre(std::byte{0}, std::byte{8}));
  EXPECT_FALSE(imported_.Copy(kObject + 1, 0, copy));
}

TEST_F(ImportedMemoryTest, MemoryThatTheProgramFreedIsGivenUpOnce) {
  SparseMemory memory = SparseMemory::Reserve(kBytes);
  EXPECT_TRUE(imported_.Add(kObject, AddressOf(memory), kBytes, {}));
  memory.data()[0] = std::byte{1};
  memory = SparseMemory();
  EXPECT_THAT(imported_.Flush(report_), ElementsAre(kObject));
  EXPECT_THAT(imported_.Flush(report_), IsEmpty());
  EXPECT_THAT(Told(), IsEmpty());
  std::vector<std::byte> copy(1);
  EXPECT_TRUE(imported_.Copy(kObject, 0, copy));
  EXPECT_THAT(copy, ElementsAre(std::byte{0})) << "as it was seen last";
}

TEST_F(ImportedMemoryTest, WhatEndsIsNotReadAnyMore) {
  SparseMemory memory = SparseMemory::Reserve(kBytes);
  EXPECT_TRUE(imported_.Add(kObject, AddressOf(memory), kBytes, {}));
  imported_.Forget(kObject);
  EXPECT_FALSE(imported_.Has(kObject));
  memory = SparseMemory();
  EXPECT_THAT(imported_.Flush(report_), IsEmpty());
}

TEST_F(ImportedMemoryTest, WhatNobodyCanReadIsRefused) {
  const SparseMemory memory = SparseMemory::Reserve(PageBytes());
  EXPECT_FALSE(imported_.Add(1, 0, kBytes, report_));
  EXPECT_FALSE(imported_.Add(2, AddressOf(memory), 0, report_));
  EXPECT_FALSE(imported_.Add(3, AddressOf(memory), ~uint64_t{0}, report_));
  EXPECT_FALSE(imported_.Add(4, AddressOf(memory), uint64_t{1} << 50, report_));
  EXPECT_FALSE(imported_.Add(5, 4096, PageBytes(), report_)) << "no memory there";
  EXPECT_THAT(Told(), IsEmpty());
  EXPECT_TRUE(imported_.Has(5));
  std::vector<std::byte> copy(1);
  EXPECT_FALSE(imported_.Copy(5, 0, copy));
  EXPECT_THAT(imported_.Flush(report_), IsEmpty());
}

}  // namespace
}  // namespace cairn
