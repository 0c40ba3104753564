// SPDX-License-Identifier: Apache-2.0
//
// make-large-dump FILE SCOPES: writes the dump of FillLargeBlock, for bench/viewer and
// docs/performance.md, "Large files".
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "format/snapshot/snapshot_from_block.h"
#include "format/snapshot/testing/sample_block.h"
#include "format/snapshot/testing/snapshot_dump.h"

namespace cairn {
namespace {

constexpr uint64_t kSampleTime = 1'700'000'005'000'000'000;

int MakeLargeDump(const char* path, uint32_t scopes) {
  // Events and names of a scope take some 60 bytes.
  TestBlock block((uint64_t{64} << 20) + 128 * uint64_t{scopes});
  FillLargeBlock(&block, scopes);
  const Result<Snapshot> snapshot = SnapshotFromBlock(block.bytes(), kSampleTime);
  if (!snapshot.ok()) {
    std::fprintf(stderr, "make-large-dump: %s\n", snapshot.status().message().c_str());
    return 1;
  }
  const std::vector<std::byte> bytes = SnapshotFileBytes(*snapshot);
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  return file.good() ? 0 : 1;
}

}  // namespace
}  // namespace cairn

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: make-large-dump FILE SCOPES\n");
    return 2;
  }
  return cairn::MakeLargeDump(argv[1], static_cast<uint32_t>(std::strtoul(argv[2], nullptr, 10)));
}
