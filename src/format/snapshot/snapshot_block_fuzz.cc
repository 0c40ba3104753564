// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a block: no crash, no endless loop, a consistent snapshot or an error.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "format/snapshot/progress_probe.h"
#include "format/snapshot/snapshot_from_block.h"
#include "format/snapshot/testing/block_fuzz_input.h"
#include "format/snapshot/testing/snapshot_dump.h"
#include "format/snapshot/testing/test_block.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cairn;
  static std::byte* const memory =
      static_cast<std::byte*>(std::aligned_alloc(kPageBytes, kTestBlockBytes));
  static const bool cleared = (std::memset(memory, 0, kTestBlockBytes), true);
  (void)cleared;
  const std::span<std::byte> block(memory, kTestBlockBytes);
  // Only what an input touched is cleared again: the block is large and inputs are small.
  std::vector<std::pair<uint64_t, uint64_t>> touched;
  ApplyPatches(std::span(data, size), block, [&touched](uint64_t offset, uint64_t length) {
    touched.emplace_back(offset, length);
  });

  Result<ProgressProbe> probe = ProgressProbe::Open(block);
  for (const Moment moment : {Moment::kNow, Moment::kLastFault}) {
    const Result<Snapshot> snapshot = SnapshotFromBlock(block, 1, Binaries::kKeep, moment);
    if (probe.ok() != snapshot.ok()) std::abort();
    if (!snapshot.ok()) continue;
    const std::string violation = FindInconsistency(*snapshot);
    if (!violation.empty()) {
      std::fprintf(stderr, "inconsistent snapshot: %s\n", violation.c_str());
      std::abort();
    }
  }
  if (probe.ok()) {
    probe->Poll();
    probe->Poll();
  }
  for (const auto& [offset, length] : touched) std::memset(memory + offset, 0, length);
  return 0;
}
