// SPDX-License-Identifier: Apache-2.0
#include "reader/view/triage_row.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace cairn {
namespace {

const std::string kGolden = CAIRN_SOURCE_DIR "/tests/golden/";

DumpSummary Dump() {
  DumpSummary dump;
  dump.file = "a\tb\\N\n\xff.cairn";
  dump.size_bytes = 4096;
  dump.seen_ns = uint64_t{1'700'000'005} * 1'000'000'000;
  dump.program = "game";
  dump.version = "1.0.0";
  dump.certainty = Certainty::kProven;
  dump.loss_count = 2;
  dump.content = "00112233445566778899aabbccddeeff";
  dump.signature = {.kind = "GPU hang",
                    .cause = "",
                    .path = {"Frame #", "Lighting"},
                    .shaders = {"a9e48b677ebe6776", "fbc1d50553206fbc"},
                    .device = "Test device",
                    .driver = "1.2",
                    .id = "000000000000000a"};
  return dump;
}

TEST(TriageRow, IsOneLineThatLoadersRead) {
  EXPECT_EQ(
      TriageRow(Dump(), "host17"),
      "2023-11-14 22:13:25.000\thost17\tgame\t1.0.0\t000000000000000a\tGPU hang\t\t"
      "Frame # > Lighting\ta9e48b677ebe6776 fbc1d50553206fbc\tTest device\t1.2\tproven\t2\t4096\t"
      "a\\\\x09b\\\\N\\\\x0a\\\\xff.cairn\t00112233445566778899aabbccddeeff\n");
}

TEST(TriageRow, UnknownTimeIsNull) {
  DumpSummary dump = Dump();
  dump.seen_ns = 0;
  EXPECT_EQ(TriageRow(dump).substr(0, 9), "\\N\t\tgame\t");
}

TEST(TriageRow, CopiesHaveOneContent) {
  const std::string copy = ::testing::TempDir() + "triage-row-copy.cairn";
  std::filesystem::copy_file(kGolden + "snapshot-v1.cairn", copy,
                             std::filesystem::copy_options::overwrite_existing);
  const std::string content = SummariseDump(copy)->content;
  std::filesystem::remove(copy);
  EXPECT_EQ(content.size(), 32u);
  EXPECT_EQ(content, SummariseDump(kGolden + "snapshot-v1.cairn")->content);
  EXPECT_NE(content, SummariseDump(kGolden + "snapshot-vulkan-v1.cairn")->content);
}

}  // namespace
}  // namespace cairn
