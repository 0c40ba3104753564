// SPDX-License-Identifier: Apache-2.0
#include "reader/view/dump_index.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace cairn {
namespace {

constexpr uint64_t kBuild = 0x1122334455667788;
constexpr FileStamp kStamp = {.size_bytes = 2048, .written = -7};

const std::string kGolden = CAIRN_SOURCE_DIR "/tests/golden/";

DumpIndex Filled() {
  DumpIndex index;
  for (const char* const name : {"snapshot-v1", "snapshot-vulkan-v1"}) {
    EXPECT_TRUE(index.Keep(name, kStamp, SummariseDump(kGolden + name + ".cairn")));
  }
  EXPECT_TRUE(index.Keep("trace-v1", kStamp, SummariseDump(kGolden + "trace-v1.cairn")));
  return index;
}

TEST(DumpIndex, SaysWhatSummariseDumpSays) {
  const std::vector<std::byte> bytes = Filled().Bytes(kBuild);
  const DumpIndex index = DumpIndex::FromBytes(bytes, kBuild);
  ASSERT_EQ(index.size(), 3u);
  for (const char* const name : {"snapshot-v1", "snapshot-vulkan-v1"}) {
    const Result<DumpSummary>* const kept = index.Find(name, kStamp);
    ASSERT_NE(kept, nullptr);
    ASSERT_TRUE(kept->ok());
    const DumpSummary expected = SummariseDump(kGolden + name + ".cairn").value();
    DumpSummary found = **kept;
    EXPECT_EQ(found.file, "");
    EXPECT_EQ(found.size_bytes, kStamp.size_bytes);
    found.file = expected.file;
    found.size_bytes = expected.size_bytes;
    EXPECT_EQ(TriageLine(found), TriageLine(expected));
    EXPECT_EQ(found.signature.path, expected.signature.path);
    EXPECT_EQ(found.signature.shaders, expected.signature.shaders);
  }
  const Result<DumpSummary>* const none = index.Find("trace-v1", kStamp);
  ASSERT_NE(none, nullptr);
  EXPECT_EQ(none->status().code(), StatusCode::kNotFound);
  EXPECT_EQ(none->status().message(), SummariseDump(kGolden + "trace-v1.cairn").status().message());
}

TEST(DumpIndex, KnowsAnotherFileOfTheSameName) {
  const DumpIndex index = Filled();
  EXPECT_EQ(index.Find("snapshot-v1", {.size_bytes = 2048, .written = -6}), nullptr);
  EXPECT_EQ(index.Find("snapshot-v1", {.size_bytes = 2047, .written = -7}), nullptr);
  EXPECT_EQ(index.Find("snapshot-v2", kStamp), nullptr);
}

TEST(DumpIndex, KeepsNoErrorsThatTheFileAloneDoesNotDecide) {
  DumpIndex index = Filled();
  EXPECT_FALSE(index.Keep("snapshot-v1", kStamp, Status(StatusCode::kIo, "permission denied")));
  EXPECT_EQ(index.Find("snapshot-v1", kStamp), nullptr) << "nor what was kept before";
  // Its message names the file as this run calls it.
  EXPECT_FALSE(
      index.Keep("x", kStamp, Status(StatusCode::kCorrupt, "it is empty").WithFile("./x")));
  EXPECT_EQ(index.size(), 2u);
}

TEST(DumpIndex, KeepsNoTextsThatItWouldCut) {
  DumpIndex index;
  DumpSummary dump = SummariseDump(kGolden + "snapshot-v1.cairn").value();
  dump.sentence.assign((size_t{1} << 20) + 1, 's');
  EXPECT_FALSE(index.Keep("x", kStamp, dump));
  dump.sentence.resize(1000);
  EXPECT_TRUE(index.Keep("x", kStamp, dump));
}

TEST(DumpIndex, DropsOtherFiles) {
  DumpIndex index = Filled();
  const std::vector<std::string> kept = {"snapshot-v1", "other"};
  index.KeepOnly(kept);
  EXPECT_EQ(index.size(), 1u);
  EXPECT_NE(index.Find("snapshot-v1", kStamp), nullptr);
}

TEST(DumpIndex, OfAnotherBuildIsNone) {
  EXPECT_EQ(DumpIndex::FromBytes(Filled().Bytes(kBuild), kBuild + 1).size(), 0u);
}

TEST(DumpIndex, AnyChangedByteAndAnyMissingOneMakesItNone) {
  const std::vector<std::byte> bytes = Filled().Bytes(kBuild);
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::vector<std::byte> changed = bytes;
    changed[i] ^= std::byte{0x41};
    EXPECT_EQ(DumpIndex::FromBytes(changed, kBuild).size(), 0u) << i;
    EXPECT_EQ(DumpIndex::FromBytes(std::span(bytes).first(i), kBuild).size(), 0u) << i;
  }
  std::vector<std::byte> longer = bytes;
  longer.push_back(std::byte{0});
  EXPECT_EQ(DumpIndex::FromBytes(longer, kBuild).size(), 0u);
}

}  // namespace
}  // namespace cairn
