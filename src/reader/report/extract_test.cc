// SPDX-License-Identifier: Apache-2.0
#include "reader/report/extract.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "format/snapshot/snapshot_from_block.h"
#include "format/snapshot/testing/sample_block.h"
#include "reader/report/redact.h"

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

std::vector<std::pair<std::string, std::string>> Extracted(const Snapshot& snapshot) {
  std::vector<std::pair<std::string, std::string>> files;
  for (const ExtractedFile& file : FilesToExtract(snapshot)) {
    files.emplace_back(file.name, std::string(reinterpret_cast<const char*>(file.bytes.data()),
                                              file.bytes.size()));
  }
  return files;
}

Snapshot Sample() {
  TestBlock block;
  FillVulkanBlock(&block);
  return std::move(SnapshotFromBlock(block.bytes(), 1, Binaries::kKeep).value());
}

TEST(Extract, WritesCodeAndBinaries) {
  EXPECT_THAT(Extracted(Sample()),
              ElementsAre(Pair("00000000000000c1.spv", "SPIR-V of cull"),
                          Pair("00000000000000a1.spv", "SPIR-V of shadows"),
                          Pair("vendor-binary-0.bin", std::string("\x38\0\0\0vendor data", 15))));
}

TEST(Extract, NamesAreOursWhateverTheFileSays) {
  Snapshot snapshot = Sample();
  snapshot.shaders[0].code = static_cast<ShaderCode>(77);
  snapshot.shaders[0].hash = UINT64_MAX;
  snapshot.shaders[1].code = ShaderCode::kDxbc;
  EXPECT_EQ(Extracted(snapshot)[0].first, "ffffffffffffffff.bin");
  EXPECT_EQ(Extracted(snapshot)[1].first, "00000000000000a1.dxbc");
}

TEST(Extract, WritesUserDataThatIsNotEmpty) {
  TestBlock block;
  FillUserDataBlock(&block);
  const Snapshot snapshot = std::move(SnapshotFromBlock(block.bytes(), 1, Binaries::kKeep).value());
  EXPECT_THAT(Extracted(snapshot),
              ElementsAre(Pair("user-data-01-level", "e1m1"),
                          Pair("user-data-02-save.bin",
                               std::string("\x01\x00\xff", 3) + std::string(5000, 's')),
                          Pair("user-data-03-settings.json", "{\"shadows\": true}\n")));
  EXPECT_THAT(Extracted(Redact(snapshot)), IsEmpty());
}

TEST(Extract, NothingIsLeftOfARedactedOne) {
  EXPECT_THAT(Extracted(Redact(Sample())), IsEmpty());
}

}  // namespace
}  // namespace cairn
