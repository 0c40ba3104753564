// SPDX-License-Identifier: Apache-2.0
//
// Reads a Snapshot from the chunks of a file (snapshot_file.h: ReadSnapshot). Nothing outside of
// this folder needs it. The sources:
//   snapshot_file_reader.cc   the order of things, texts, rows of tables (by rows.h)
//   snapshot_file_events.cc   columns of events, and the recordings that they belong to
//   snapshot_file_blobs.cc    what drivers and shaders left as bytes
// One thread; the file must outlive it.
#ifndef CAIRN_FORMAT_SNAPSHOT_SNAPSHOT_FILE_READER_H_
#define CAIRN_FORMAT_SNAPSHOT_SNAPSHOT_FILE_READER_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/byte_reader.h"
#include "format/file/file_cost.h"
#include "format/snapshot/rows.h"
#include "format/snapshot/snapshot_file.h"
#include "format/snapshot/text_pool.h"

namespace cairn {

// Events of the file that follow one another, and where they are in the snapshot.
struct EventRun {
  uint64_t first_in_file;
  uint64_t count;
  uint64_t first;
};

class SnapshotFileReader {
 public:
  explicit SnapshotFileReader(const FileReader& file)
      : file_(file),
        text_budget_bytes_(std::min(kMaxFileTextBytes, FileBudget(file.size_bytes(), kTextBytes))),
        row_budget_(FileBudget(file.size_bytes(), kTableRows)),
        named_budget_bytes_(FileBudget(file.size_bytes(), kNamedBytes)) {
    for (size_t i = 0; i < file.chunks().size(); ++i) {
      if (file.chunks()[i].type == kSnapshotStartChunk) first_chunk_ = i;
    }
  }

  Result<Snapshot> Read();

 private:
  friend class RowReader;
  friend class TableReader;

  void ReadTexts();
  // Decodes the chunks of a type with `decode`, which returns false for a malformed payload.
  using Decoder = std::function<bool(ByteReader&)>;
  enum class Expected { kAnyNumber, kOneOrMore, kOne, kAtMostOne };
  void ReadChunks(ChunkType type, Expected expected, const Decoder& decode);
  void NoteLoss(const std::string& sentence) {
    if (snapshot_.losses.size() == kMaxFileLosses) return;
    snapshot_.losses.push_back(snapshot_.AddText(sentence));
  }

  bool DecodeProcess(ByteReader& reader);
  template <typename T>
  bool DecodeRows(const TableFacts& facts, std::vector<T>& rows, ByteReader& reader);
  bool DecodeEvents(ByteReader& reader);
  struct EventColumns;
  void DecodeBegin(uint8_t bits, EventColumns& columns, Event* event);
  void DecodeBind(uint8_t bits, EventColumns& columns, Event* event);
  bool DecodeVendorBinary(ByteReader& reader);
  bool DecodeShaderCode(ByteReader& reader);
  bool DecodeUserData(ByteReader& reader);
  // The next `size` bytes of a payload as a blob; empty if there are not so many, or too many in all.
  BlobRef ReadBlob(ByteReader& reader, uint64_t size);
  bool DecodeLosses(ByteReader& reader);

  // Checks what the fields of a row cannot express: consistency with earlier rows. Adds derived
  // data.
  template <typename T>
  bool Accept(T&) {
    return true;
  }
  bool Accept(Recording& recording);
  bool Accept(Submission& submission);
  bool Accept(ReportedEventId& reported);
  bool Accept(Checkpoint& checkpoint);
  bool Accept(Shader& shader);
  bool Accept(DescribedPipeline& described);

  // Returns how many of `count` rows of a table fit into the file's cost limit; a row counts as
  // `weight` small ones. Notes the number of omitted rows as a loss.
  uint32_t Afford(uint32_t count, uint32_t weight, const char* what);

  bool ReadOwnText(ByteReader& reader, TextRef* text);
  // A name; what is too long is cut, and counted, and so is what all rows together would be too long with.
  TextRef ReadText(ByteReader& reader) { return Shortened(ReadBytes(reader)); }
  TextRef ReadBytes(ByteReader& reader);
  TextRef ReadPayload(ByteReader& reader);
  TextRef Shortened(TextRef text);
  TextRef Prefix(TextRef text, size_t bytes) const;
  // A one-based index below `limit`; 0, and what is out of range (counted), becomes kNone.
  uint32_t ReadIndex(ByteReader& reader, size_t limit) {
    uint64_t value = 0;
    reader.ReadVarint(value);
    return IndexOf(value, limit);
  }
  uint32_t IndexOf(uint64_t value, size_t limit) {
    if (value - 1 < limit) return static_cast<uint32_t>(value - 1);
    if (value != 0) ++bad_indices_;
    return kNone;
  }
  // Finds the recording's events; without them it keeps its words, which then prove nothing.
  void PlaceEvents(uint64_t first_in_file, Recording* recording);
  void SortArguments();
  void CheckIncidents();

  const FileReader& file_;
  size_t first_chunk_ = 0;
  Snapshot snapshot_;
  TextPoolReader texts_;
  uint64_t text_budget_bytes_;
  uint64_t row_budget_;
  uint64_t named_budget_bytes_;
  std::vector<EventRun> event_runs_;
  uint64_t next_event_ = 0;           // of the recording behind the last one, in the file
  uint64_t first_event_in_file_ = 0;  // of the recording that is read
  std::unordered_set<uint64_t> shader_hashes_;
  uint32_t last_described_ = kNone;  // the pipeline of the last DescribedPipeline
  std::vector<uint32_t> open_events_;
  bool process_found_ = false;
  bool is_later_version_ = false;
  uint64_t bad_indices_ = 0;
  uint64_t long_names_ = 0;
  uint64_t costly_names_ = 0;
  uint64_t bad_matches_ = 0;
  uint64_t events_missing_ = 0;
  uint64_t events_left_out_ = 0;
};

}  // namespace cairn

#endif  // CAIRN_FORMAT_SNAPSHOT_SNAPSHOT_FILE_READER_H_
