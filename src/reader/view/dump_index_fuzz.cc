// SPDX-License-Identifier: Apache-2.0
// Any bytes are an index or none; an index says the same after it was written and read again. The first byte chooses
// whether the checksum is that of the bytes, so that more than the checksum is tried.
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "base/byte_writer.h"
#include "base/crc32c.h"
#include "reader/view/dump_index.h"

namespace {

constexpr uint64_t kBuild = 1;

void Check(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using cairn::DumpIndex;
  std::span<const std::byte> bytes = std::as_bytes(std::span(data, size));
  if (bytes.empty()) return 0;
  cairn::ByteWriter whole;
  if (bytes.front() != std::byte{0}) {
    bytes = bytes.subspan(1);
    whole.WriteBytes(std::as_bytes(std::span("CAIRNDIX", 8)));
    whole.WriteU32(1);
    whole.WriteU64(kBuild);
    whole.WriteU32(cairn::Crc32c(bytes));
  }
  whole.WriteBytes(bytes);
  const DumpIndex index = DumpIndex::FromBytes(whole.bytes(), kBuild);
  const std::vector<std::byte> written = index.Bytes(kBuild);
  const DumpIndex again = DumpIndex::FromBytes(written, kBuild);
  Check(again.size() == index.size());
  Check(index.size() <= DumpIndex::kMostEntries && written.size() <= whole.size() + 64);
  return 0;
}
