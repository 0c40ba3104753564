// SPDX-License-Identifier: Apache-2.0
//
// Any payloads in a good container: no crash, a consistent snapshot or an error. The container has a
// fuzzer of its own.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "format/snapshot/snapshot_file.h"
#include "format/snapshot/testing/fuzzed_file.h"
#include "format/snapshot/testing/snapshot_dump.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cairn;
  const std::vector<std::byte> file = FuzzedFile(data, size);
  const Result<FileReader> reader = FileReader::FromBytes(file);
  if (!reader.ok()) return 0;
  const Result<Snapshot> snapshot = ReadSnapshot(*reader);
  if (!snapshot.ok()) return 0;
  const std::string violation = FindInconsistency(*snapshot);
  if (!violation.empty()) {
    std::fprintf(stderr, "inconsistent snapshot: %s\n", violation.c_str());
    std::abort();
  }
  // A snapshot that was read can be written and reads back equal.
  const std::vector<std::byte> again = SnapshotFileBytes(*snapshot, Compression::kNone);
  const Result<FileReader> second = FileReader::FromBytes(again);
  if (!second.ok()) std::abort();
  const Result<Snapshot> copy = ReadSnapshot(*second);
  if (!copy.ok() || DumpSnapshot(*copy) != DumpSnapshot(*snapshot)) {
    std::fprintf(stderr, "%s----\n%s", DumpSnapshot(*snapshot).c_str(),
                 copy.ok() ? DumpSnapshot(*copy).c_str() : copy.status().message().c_str());
    std::abort();
  }
  return 0;
}
