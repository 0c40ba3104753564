// SPDX-License-Identifier: Apache-2.0
//
// Any snapshot file, exported: it ends, in packets that follow each other to the last byte. The input is that of
// snapshot_file_fuzz.
#include <cstdlib>
#include <string>
#include <string_view>

#include "format/snapshot/snapshot_file.h"
#include "format/snapshot/testing/fuzzed_file.h"
#include "reader/view/perfetto_export.h"

namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

// Each is field 1 with its size.
void CheckPackets(std::string_view rest) {
  while (!rest.empty()) {
    Require(rest.front() == 0x0A);
    rest.remove_prefix(1);
    uint64_t size = 0;
    for (int shift = 0;; shift += 7) {
      Require(shift < 35 && !rest.empty());
      const auto byte = static_cast<uint8_t>(rest.front());
      rest.remove_prefix(1);
      size |= uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) break;
    }
    Require(size <= rest.size());
    rest.remove_prefix(size);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cairn;
  const std::vector<std::byte> bytes = FuzzedFile(data, size);
  const Result<FileReader> file = FileReader::FromBytes(bytes);
  if (!file.ok()) return 0;
  const Result<Snapshot> snapshot = ReadSnapshot(*file);
  if (!snapshot.ok()) return 0;
  std::string out;
  Require(ExportDump(*snapshot, [&](std::string_view piece) {
    out += piece;
    return true;
  }));
  CheckPackets(out);
  return 0;
}
