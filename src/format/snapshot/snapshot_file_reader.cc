// SPDX-License-Identifier: Apache-2.0
#include "format/snapshot/snapshot_file_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"

namespace cairn {

// Reads rows, field by field.
class RowReader {
 public:
  template <typename T>
  using Row = T;

  enum class Texts { kByNumber, kInRows };
  RowReader(SnapshotFileReader& file, ByteReader& reader, Texts texts = Texts::kByNumber)
      : file_(file), reader_(reader), texts_(texts) {}

  // False: the row is malformed.
  template <typename T>
  bool Visit(T& row) {
    step_ = 0;
    cairn::Visit(*this, row);
    return reader_.ok();
  }
  template <typename T>
  bool VisitLater(T& row) {
    step_ = 0;
    cairn::VisitLater(*this, row);
    return reader_.ok();
  }
  // The row and those after it cost more than the file may.
  bool too_expensive() const { return too_expensive_; }

  void Number(const char*, uint64_t& value, Privacy = Privacy::kPublic) {
    reader_.ReadVarint(value);
  }
  template <typename T>
  requires(sizeof(T) == sizeof(uint32_t)) void Number(const char*, T& value) {
    uint32_t number = 0;
    reader_.ReadVarint32(number);
    value = static_cast<T>(number);
  }
  void Fixed(const char*, uint64_t& value, Privacy = Privacy::kPublic) { reader_.ReadU64(value); }
  template <typename T>
  void Signed(const char*, T& value) {
    int64_t wide = 0;
    reader_.ReadSignedVarint(wide);
    value = static_cast<T>(wide);
  }
  void Step(const char*, uint64_t& value) {
    int64_t step = 0;
    reader_.ReadSignedVarint(step);
    value = before_[step_++] += static_cast<uint64_t>(step);
  }
  void Rise(const char*, uint64_t& value) {
    uint64_t step = 0;
    reader_.ReadVarint(step);
    value = before_[step_++] += step;
    if (value < step) reader_.Fail();
  }
  void After(const char*, uint64_t& value, uint64_t other) {
    int64_t step = 0;
    reader_.ReadSignedVarint(step);
    value = other + static_cast<uint64_t>(step);
  }
  template <typename E>
  void Choice(const char* key, E& value, E first, E last) {
    Number(key, value);
    if (value < first || value > last) reader_.Fail();
  }
  template <typename E>
  void Bits(const char*, E& value, E last, bool& flag) {
    uint32_t bits = 0;
    reader_.ReadVarint32(bits);
    const auto behind = static_cast<uint32_t>(FlagBehind(last));
    value = std::min(static_cast<E>(bits & (behind - 1)), last);
    flag = (bits & behind) != 0;
  }
  template <typename... Flag>
  void Flags(const char*, Flag&... flags) {
    uint32_t bits = 0;
    reader_.ReadVarint32(bits);
    ((flags = (bits & 1) != 0, bits >>= 1), ...);
  }
  void Optional(const char*, bool& has, uint32_t& value) {
    uint64_t number = 0;
    reader_.ReadVarint(number);
    has = number != 0;
    value = has ? static_cast<uint32_t>(number - 1) : 0;
  }
  void Index(const char*, uint32_t& index, Table table) {
    // The rows of the process come before all tables: CheckIncidents.
    const size_t limit = texts_ == Texts::kInRows ? kNone - 1 : RowCount(file_.snapshot_, table);
    index = file_.ReadIndex(reader_, limit);
  }
  void Name(const char*, TextRef& text) { Text(text); }
  void Fact(const char*, TextRef& text) { Text(text); }
  void Path(const char*, TextRef& text) { Text(text); }
  void Payload(const char*, TextRef& bytes) { bytes = file_.ReadPayload(reader_); }
  void Handle(const char*, uint64_t& handle) { reader_.ReadVarint(handle); }
  void Address(const char*, uint64_t& address) { reader_.ReadVarint(address); }
  template <typename T>
  void Rows(const RowFacts& facts, std::vector<T> Snapshot::*table, uint32_t& first,
            uint32_t& count) {
    std::vector<T>& rows = file_.snapshot_.*table;
    first = static_cast<uint32_t>(rows.size());
    count = 0;
    uint32_t told = 0;
    if (!reader_.ReadCount(facts.least_bytes, told)) return;
    if (facts.most_rows != 0 && told > facts.most_rows) return reader_.Fail();
    if (facts.cost != 0 && file_.Afford(told, facts.cost, facts.name) != told) {
      too_expensive_ = true;
      return;
    }
    RowReader reader(file_, reader_);
    for (; count < told; ++count) {
      T row;
      if (!reader.Visit(row)) return;
      rows.push_back(row);
    }
  }
  void Events(uint32_t&, uint32_t& count) {
    int64_t step = 0;
    reader_.ReadSignedVarint(step);
    file_.first_event_in_file_ = file_.next_event_ + static_cast<uint64_t>(step);
    reader_.ReadVarint32(count);
  }

 private:
  void Text(TextRef& text) {
    if (texts_ == Texts::kByNumber) {
      text = file_.ReadText(reader_);
    } else if (!file_.ReadOwnText(reader_, &text)) {
      reader_.Fail();
    }
  }

  SnapshotFileReader& file_;
  ByteReader& reader_;
  const Texts texts_;
  std::array<uint64_t, kMostSteps> before_{};  // values of the row before
  size_t step_ = 0;
  bool too_expensive_ = false;
};

template <typename T>
bool SnapshotFileReader::DecodeRows(const TableFacts& facts, std::vector<T>& rows,
                                    ByteReader& reader) {
  uint32_t count = 0;
  const RowFacts& of_row = facts.rows;
  if (!reader.ReadCount(of_row.least_bytes, count)) return false;
  if (of_row.most_rows != 0 &&
      count > of_row.most_rows - std::min<size_t>(of_row.most_rows, rows.size())) {
    return false;
  }
  const uint32_t kept = of_row.cost == 0 ? count : Afford(count, of_row.cost, of_row.name);
  RowReader row_reader(*this, reader);
  for (uint32_t i = 0; i < kept; ++i) {
    T row;
    if (!row_reader.Visit(row)) return false;
    if (row_reader.too_expensive()) return true;
    if (!Accept(row)) return false;
    rows.push_back(row);
  }
  if constexpr (HasLater<RowReader, T>) {
    // The later part begins where the last row ends.
    if (reader.remaining() == 0 || kept != count) return true;
    RowReader later(*this, reader);
    for (T& row : rows) {
      if (!later.VisitLater(row)) return false;
      if (later.too_expensive()) return true;
    }
  }
  return true;
}

// Reads the tables that others refer to before these: events refer to most others, and recordings to events.
class TableReader {
 public:
  enum class Pass { kTables, kEvents, kRecordings };
  TableReader(SnapshotFileReader& file, bool is_later_version, Pass pass)
      : file_(file), is_later_version_(is_later_version), pass_(pass) {}

  template <typename T>
  void Table(const TableFacts& facts, std::vector<T>& rows) {
    const bool needs_recordings = facts.chunk == kRecordingChunk ||
                                  facts.chunk == kSubmissionChunk ||
                                  facts.chunk == kCheckpointChunk;
    if (pass_ != (needs_recordings ? Pass::kRecordings : Pass::kTables)) return;
    file_.ReadChunks(facts.chunk, ExpectedOf(facts),
                     [&](ByteReader& reader) { return file_.DecodeRows(facts, rows, reader); });
  }
  void EventColumns(std::vector<Event>&) {
    if (pass_ != Pass::kEvents) return;
    file_.ReadChunks(kEventChunk, Expected::kAnyNumber,
                     [this](ByteReader& reader) { return file_.DecodeEvents(reader); });
  }

 private:
  using Expected = SnapshotFileReader::Expected;

  Expected ExpectedOf(const TableFacts& facts) const {
    if (facts.rows_in_chunk != 0) return Expected::kOneOrMore;
    switch (facts.presence) {
      case Presence::kAlways: return Expected::kOne;
      case Presence::kLater: return is_later_version_ ? Expected::kOne : Expected::kAtMostOne;
      case Presence::kIfAny: return Expected::kAtMostOne;
    }
    return Expected::kAtMostOne;
  }

  SnapshotFileReader& file_;
  const bool is_later_version_;
  const Pass pass_;
};

Result<Snapshot> SnapshotFileReader::Read() {
  const auto read = [this](ChunkType type, Expected expected,
                           bool (SnapshotFileReader::*decode)(ByteReader&)) {
    ReadChunks(type, expected, [&](ByteReader& reader) { return (this->*decode)(reader); });
  };
  read(kProcessChunk, Expected::kAnyNumber, &SnapshotFileReader::DecodeProcess);
  if (!process_found_) {
    return Status(StatusCode::kNotFound,
                  "the file holds no snapshot: no readable chunk PROC is in it");
  }
  ReadTexts();
  using Pass = TableReader::Pass;
  for (const Pass pass : {Pass::kTables, Pass::kEvents, Pass::kRecordings}) {
    TableReader tables(*this, is_later_version_, pass);
    VisitTables(tables, snapshot_);
  }
  read(kUserDataBytesChunk, Expected::kAnyNumber, &SnapshotFileReader::DecodeUserData);
  read(kVendorBinaryChunk, Expected::kAnyNumber, &SnapshotFileReader::DecodeVendorBinary);
  read(kShaderCodeChunk, Expected::kAnyNumber, &SnapshotFileReader::DecodeShaderCode);
  read(kLossChunk, Expected::kOne, &SnapshotFileReader::DecodeLosses);
  SortArguments();
  CheckIncidents();
  const auto note_count = [this](uint64_t count, const char* what) {
    if (count != 0) NoteLoss(fmt::format("{} {}", count, what));
  };
  note_count(events_missing_, "markers are missing from the file.");
  note_count(bad_matches_, "markers contradict their neighbours and are ignored.");
  note_count(bad_indices_, "references lead nowhere and are ignored.");
  note_count(texts_.unknown_count(), "names are missing from the file.");
  note_count(events_left_out_, "events would cost more than a file of this size may: truncated.");
  note_count(long_names_, "references to names of more than 4,096 bytes are cut there.");
  note_count(costly_names_,
             "references to names are cut after 64 bytes: together they are longer than a file of "
             "this size may have them.");
  for (const Loss& loss : file_.losses()) {
    NoteLoss(fmt::format("The file is damaged at byte {}: {}.", loss.offset, loss.reason));
  }
  return std::move(snapshot_);
}

void SnapshotFileReader::ReadTexts() {
  for (size_t i = first_chunk_; i < file_.chunks().size(); ++i) {
    if (file_.chunks()[i].type != kTextChunk) continue;
    const Result<std::vector<std::byte>> payload = file_.Read(i);
    if (!payload.ok() || !texts_.AddPayload(*payload, &text_budget_bytes_, &snapshot_)) {
      NoteLoss("A part of the names is damaged.");
    }
  }
}

void SnapshotFileReader::ReadChunks(ChunkType type, Expected expected, const Decoder& decode) {
  bool found = false;
  for (size_t i = first_chunk_; i < file_.chunks().size(); ++i) {
    if (file_.chunks()[i].type != type) continue;
    if (found && (expected == Expected::kOne || expected == Expected::kAtMostOne)) continue;
    found = true;
    const Result<std::vector<std::byte>> payload = file_.Read(i);
    bool good = payload.ok();
    if (good) {
      ByteReader reader(*payload);
      good = decode(reader);
    }
    if (!good) NoteLoss(fmt::format("A chunk {} is damaged.", ChunkTypeName(type)));
  }
  if (!found && (expected == Expected::kOne || expected == Expected::kOneOrMore)) {
    NoteLoss(fmt::format("The chunk {} is missing from the file.", ChunkTypeName(type)));
  }
}

bool SnapshotFileReader::ReadOwnText(ByteReader& reader, TextRef* text) {
  std::string_view value;
  if (!reader.ReadString(kMaxRowTextBytes, value) || value.size() > text_budget_bytes_)
    return false;
  text_budget_bytes_ -= value.size();
  *text = snapshot_.AddText(value);
  return true;
}

TextRef SnapshotFileReader::ReadBytes(ByteReader& reader) {
  uint64_t number = 0;
  reader.ReadVarint(number);
  return texts_.Text(number);
}

// A part of it would mean something else.
TextRef SnapshotFileReader::ReadPayload(ByteReader& reader) {
  const TextRef bytes = ReadBytes(reader);
  const TextRef kept = Shortened(bytes);
  return kept.length == bytes.length ? bytes : TextRef{};
}

TextRef SnapshotFileReader::Shortened(TextRef text) {
  static_assert(kMaxFileNameBytes == 4096 && kShortNameBytes == 64, "the losses say so");
  if (text.length > kMaxFileNameBytes) {
    ++long_names_;
    text = Prefix(text, kMaxFileNameBytes);
  }
  if (text.length <= kShortNameBytes) return text;  // the rows pay for it
  if (text.length > named_budget_bytes_) {
    ++costly_names_;
    return Prefix(text, kShortNameBytes);
  }
  named_budget_bytes_ -= text.length;
  return text;
}

TextRef SnapshotFileReader::Prefix(TextRef text, size_t bytes) const {
  const std::string_view kept = Utf8Prefix(snapshot_.Text(text), bytes);
  return {text.offset, static_cast<uint32_t>(kept.size())};
}

uint32_t SnapshotFileReader::Afford(uint32_t count, uint32_t weight, const char* what) {
  const auto kept = static_cast<uint32_t>(std::min<uint64_t>(count, row_budget_ / weight));
  row_budget_ -= uint64_t{kept} * weight;
  if (kept != count) {
    NoteLoss(
        fmt::format("{} of {} {} are skipped: they would cost more than a file of {} bytes may.",
                    GroupedDigits(count - kept), GroupedDigits(count), what,
                    GroupedDigits(file_.size_bytes())));
  }
  return kept;
}

bool SnapshotFileReader::DecodeProcess(ByteReader& reader) {
  RowReader rows(*this, reader, RowReader::Texts::kInRows);
  Process process;
  uint32_t count = 0;
  if (!rows.Visit(process) || !reader.ReadCount(20, count) || count > kMaxFileIncidents) {
    return false;
  }
  std::vector<Incident> incidents(count);
  for (Incident& incident : incidents) {
    if (!rows.Visit(incident)) return false;
  }
  if (reader.remaining() != 0) {
    is_later_version_ = true;
    rows.VisitLater(process);
  }
  snapshot_.process = process;
  snapshot_.incidents = std::move(incidents);
  process_found_ = true;
  return true;
}

bool SnapshotFileReader::Accept(Submission& submission) {
  if (submission.recording != kNone) {
    submission.frame = snapshot_.recordings[submission.recording].frame;
  }
  return true;
}

bool SnapshotFileReader::Accept(ReportedEventId& reported) {
  if (reported.state != EventIdState::kExpired) {
    reported.state =
        reported.annotation == kNone ? EventIdState::kUnknown : EventIdState::kResolved;
  }
  if (reported.state != EventIdState::kResolved) reported.annotation = kNone;
  return true;
}

bool SnapshotFileReader::Accept(Checkpoint& checkpoint) {
  const bool known = checkpoint.stage == PipeStage::kTop || checkpoint.stage == PipeStage::kBottom;
  if (!known) checkpoint.stage = PipeStage::kOther;
  return true;
}

bool SnapshotFileReader::Accept(Shader& shader) {
  return shader_hashes_.insert(shader.hash).second;
}

// They are looked up by their pipeline.
bool SnapshotFileReader::Accept(DescribedPipeline& described) {
  const bool follows = last_described_ == kNone || last_described_ < described.pipeline;
  last_described_ = described.pipeline;
  return follows;
}

bool SnapshotFileReader::DecodeLosses(ByteReader& reader) {
  uint32_t count = 0;
  if (!reader.ReadCount(1, count)) return false;
  for (uint32_t i = 0; i < count && reader.ok(); ++i) {
    if (snapshot_.losses.size() == kMaxFileLosses) return true;
    snapshot_.losses.push_back(ReadText(reader));
  }
  return reader.ok();
}

// Restores the program's order, so that the arguments of a call are found without a full search.
void SnapshotFileReader::SortArguments() {
  const auto by_call = [](const CallArgument& a, const CallArgument& b) { return a.call < b.call; };
  for (const Thread& thread : snapshot_.threads) {
    const auto all =
        std::span(snapshot_.call_arguments).subspan(thread.first_argument, thread.argument_count);
    if (!std::is_sorted(all.begin(), all.end(), by_call)) {
      std::stable_sort(all.begin(), all.end(), by_call);
    }
  }
}

void SnapshotFileReader::CheckIncidents() {
  for (Incident& incident : snapshot_.incidents) {
    if (incident.queue == kNone || incident.queue < snapshot_.queues.size()) continue;
    incident.queue = kNone;
    ++bad_indices_;
  }
}

Result<Snapshot> ReadSnapshot(const FileReader& reader) {
  return SnapshotFileReader(reader).Read();
}

}  // namespace cairn
