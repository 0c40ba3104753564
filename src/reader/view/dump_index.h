// SPDX-License-Identifier: Apache-2.0
//
// Keeps the summaries that `cairn triage` has read as bytes, so that it need not read the files again. The bytes come from a file
// and are hostile: what contradicts this format is no index at all.
//
//   "CAIRNDIX"  8 bytes
//   u32         version of this format
//   u64         the build that has read the files: another one may read something else in them
//   u32         CRC-32C of the rest
//   varint      entries, each:
//     string    path
//     varint    size of the file in bytes
//     i64       when it was written, in ticks of the system's clock of files
//     u8        0: a dump; else 1 + StatusCode, and a string why there is none
//     of a dump: varint seen_ns, program, version, u8 certainty, sentence, varint loss_count, and of the signature
//     kind, cause, device, driver, id, the strings of path and of shaders behind their varint counts
//
// Integers are little endian. A string is a varint length and its bytes.
#ifndef CAIRN_READER_VIEW_DUMP_INDEX_H_
#define CAIRN_READER_VIEW_DUMP_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/byte_reader.h"
#include "base/byte_writer.h"
#include "base/status.h"
#include "reader/view/triage.h"

namespace cairn {

// Distinguishes a file from a later one of its name.
struct FileStamp {
  uint64_t size_bytes = 0;
  int64_t written = 0;
  bool operator==(const FileStamp&) const = default;
};

// One thread.
class DumpIndex {
 public:
  // Returns what Bytes() gave, and an index without entries for all other bytes. `build`: that of Bytes(). DumpSummary
  // of its entries has no `file`.
  static DumpIndex FromBytes(std::span<const std::byte> bytes, uint64_t build);
  std::vector<std::byte> Bytes(uint64_t build) const;

  // Null if nothing is kept of the file, or of an earlier one of its name. Good until the index changes.
  const Result<DumpSummary>* Find(const std::string& path, const FileStamp& stamp) const;
  // Keeps what was read. Returns false, and keeps nothing, of an error that does not follow from the bytes of the file
  // alone or whose message names the file; of a dump with more than 1 MiB of texts; beyond kMostEntries and kMostBytes.
  bool Keep(const std::string& path, const FileStamp& stamp, const Result<DumpSummary>& dump);
  // Drops the entries of other files.
  void KeepOnly(std::span<const std::string> paths);

  size_t size() const { return entries_.size(); }

  static constexpr size_t kMostEntries = 200'000;
  static constexpr size_t kMostBytes = size_t{128} << 20;

 private:
  struct Entry {
    FileStamp stamp;
    Result<DumpSummary> dump;
    size_t bytes = 0;
  };
  static void WriteEntry(const std::string& path, const Entry& entry, ByteWriter* writer);
  bool ReadEntry(ByteReader* reader);
  void Drop(std::unordered_map<std::string, Entry>::iterator entry);

  std::unordered_map<std::string, Entry> entries_;  // by path
  size_t bytes_ = 0;                                // of all entries, written
};

}  // namespace cairn

#endif  // CAIRN_READER_VIEW_DUMP_INDEX_H_
