// SPDX-License-Identifier: Apache-2.0
#include "reader/report/fault_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "format/snapshot/object_kinds.h"

namespace cairn {
namespace {

using ::testing::ElementsAre;

// Objects of 4 KiB that had the address 0x40 behind their begin.
class FaultTextTest : public ::testing::Test {
 protected:
  void Add(uint32_t kind, std::string_view name, uint64_t created_ns, uint64_t destroyed_ns) {
    const auto index = static_cast<uint32_t>(snapshot_.objects.size());
    snapshot_.objects.push_back(
        {.state = destroyed_ns == 0 ? ObjectState::kAlive : ObjectState::kDestroyed,
         .kind = kind,
         .name = snapshot_.AddText(name),
         .serial = index + 1,
         .created_ns = created_ns,
         .destroyed_ns = destroyed_ns,
         .size_bytes = 4096});
    verdict_.owners.push_back({.object = index, .exact = true, .offset = 0x40});
    verdict_.owner_count = index + 1;
  }
  std::vector<std::string> Lines() const { return OwnersInWords(snapshot_, verdict_, 8); }

  Snapshot snapshot_;
  FaultAddressVerdict verdict_{.state = AddressState::kFreed};
};

TEST_F(FaultTextTest, OneLocationAndWhatElseHadItsAddress) {
  Add(kVulkanImageKind, "Next", 300, 0);
  Add(kVulkanMemoryKind, "Heap", 100, 250);
  Add(kVulkanBufferKind, "Old lights", 110, 200);
  Add(kVulkanBufferKind, "First", 10, 110);
  Add(kVulkanBufferKind, "Alias", 120, 180);
  EXPECT_THAT(
      Lines(),
      ElementsAre("memory that was freed, in buffer \"Old lights\" + 0x40 of 4 KiB, destroyed",
                  "at the same address earlier: buffer \"First\" + 0x40 of 4 KiB, destroyed",
                  "at the same address, too: buffer \"Alias\" + 0x40 of 4 KiB, destroyed",
                  "its memory: device memory \"Heap\" + 0x40 of 4 KiB, freed",
                  "at the same address later: image \"Next\" + 0x40 of 4 KiB, alive"));
}

TEST_F(FaultTextTest, AnObjectHasOneMemory) {
  verdict_.state = AddressState::kOwned;
  Add(kVulkanMemoryKind, "Heap", 100, 0);
  Add(kVulkanMemoryKind, "Another", 105, 0);
  Add(kVulkanBufferKind, "Lights", 110, 0);
  EXPECT_THAT(Lines(),
              ElementsAre("in buffer \"Lights\" + 0x40 of 4 KiB",
                          "its memory: device memory \"Heap\" + 0x40 of 4 KiB",
                          "at the same address, too: device memory \"Another\" + 0x40 of 4 KiB"));
}

TEST_F(FaultTextTest, WhereAllLiveNothingIsSaidOfIt) {
  verdict_.state = AddressState::kOwned;
  Add(kVulkanMemoryKind, "Heap", 100, 0);
  Add(kVulkanBufferKind, "Lights", 110, 0);
  EXPECT_THAT(Lines(), ElementsAre("in buffer \"Lights\" + 0x40 of 4 KiB",
                                   "its memory: device memory \"Heap\" + 0x40 of 4 KiB"));
}

}  // namespace
}  // namespace cairn
