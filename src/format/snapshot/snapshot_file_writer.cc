// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <string>
#include <vector>

#include "base/byte_writer.h"
#include "format/snapshot/rows.h"
#include "format/snapshot/snapshot_file.h"
#include "format/snapshot/text_pool.h"

namespace cairn {
namespace {

constexpr uint32_t kEventsPerPayload = 1u << 18;
// Shaders of one chunk, so that they compress together; one that is larger has a chunk of its own.
constexpr uint64_t kShaderBytesPerPayload = uint64_t{1} << 20;

// kNone becomes 0, and small indices stay small.
uint64_t OneBased(uint32_t index) {
  return index == kNone ? 0 : uint64_t{index} + 1;
}

// Writes rows, field by field.
class RowWriter {
 public:
  template <typename T>
  using Row = const T;

  // Without `texts` they stand in the rows.
  RowWriter(const Snapshot& snapshot, TextPoolWriter* texts, ByteWriter* out)
      : snapshot_(snapshot), texts_(texts), out_(out) {}

  // Rows of one table, one behind the other.
  template <typename T>
  void Visit(const T& row) {
    step_ = 0;
    cairn::Visit(*this, row);
  }
  template <typename T>
  void VisitLater(const T& row) {
    step_ = 0;
    cairn::VisitLater(*this, row);
  }
  void StartAgain() { before_ = {}; }

  template <typename T>
  void Number(const char*, T value, Privacy = Privacy::kPublic) {
    out_->WriteVarint(static_cast<uint64_t>(value));
  }
  void Fixed(const char*, uint64_t value, Privacy = Privacy::kPublic) { out_->WriteU64(value); }
  void Signed(const char*, int64_t value) { out_->WriteSignedVarint(value); }
  void Step(const char*, uint64_t value) {
    uint64_t& before = before_[step_++];
    out_->WriteSignedVarint(static_cast<int64_t>(value - before));
    before = value;
  }
  void Rise(const char*, uint64_t value) {
    uint64_t& before = before_[step_++];
    out_->WriteVarint(value - before);
    before = value;
  }
  void After(const char*, uint64_t value, uint64_t other) {
    out_->WriteSignedVarint(static_cast<int64_t>(value - other));
  }
  template <typename E>
  void Choice(const char* key, E value, E, E) {
    Number(key, value);
  }
  template <typename E>
  void Bits(const char*, E value, E last, bool flag) {
    out_->WriteVarint(static_cast<uint64_t>(value) | (flag ? FlagBehind(last) : 0));
  }
  template <typename... Flag>
  void Flags(const char*, Flag... flags) {
    uint64_t bits = 0, bit = 1;
    ((bits |= flags ? bit : 0, bit <<= 1), ...);
    out_->WriteVarint(bits);
  }
  void Optional(const char*, bool has, uint32_t value) {
    out_->WriteVarint(has ? uint64_t{value} + 1 : 0);
  }
  void Index(const char*, uint32_t index, Table) { out_->WriteVarint(OneBased(index)); }
  void Name(const char*, TextRef text) { Text(text); }
  void Fact(const char*, TextRef text) { Text(text); }
  void Path(const char*, TextRef text) { Text(text); }
  void Payload(const char*, TextRef bytes) { Text(bytes); }
  void Handle(const char*, uint64_t handle) { out_->WriteVarint(handle); }
  void Address(const char*, uint64_t address) { out_->WriteVarint(address); }
  template <typename T>
  void Rows(const RowFacts&, std::vector<T> Snapshot::*table, uint32_t first, uint32_t count) {
    out_->WriteVarint(count);
    RowWriter rows(snapshot_, texts_, out_);
    for (const T& row : std::span(snapshot_.*table).subspan(first, count)) rows.Visit(row);
  }
  void Events(uint32_t first, uint32_t count) {
    // An empty range has no position worth storing.
    const uint64_t first_in_file = count == 0 ? next_event_ : first;
    out_->WriteSignedVarint(static_cast<int64_t>(first_in_file - next_event_));
    out_->WriteVarint(count);
    next_event_ = first_in_file + count;
  }

 private:
  void Text(TextRef ref) {
    const std::string_view text = snapshot_.Text(ref);
    if (texts_ == nullptr) {
      out_->WriteString(text, kMaxRowTextBytes);
    } else {
      out_->WriteVarint(texts_->NumberOf(text));
    }
  }

  const Snapshot& snapshot_;
  TextPoolWriter* const texts_;
  ByteWriter* const out_;
  std::array<uint64_t, kMostSteps> before_{};  // values of the row before
  size_t step_ = 0;
  uint64_t next_event_ = 0;
};

void WriteProcessPayload(const Snapshot& snapshot, ByteWriter* out) {
  RowWriter rows(snapshot, nullptr, out);
  rows.Visit(snapshot.process);
  out->WriteVarint(snapshot.incidents.size());
  for (const Incident& incident : snapshot.incidents) rows.Visit(incident);
  rows.VisitLater(snapshot.process);
}

// Returns true if the file needs the fields behind all rows. They were added later, or can be
// derived.
bool NeedsLater(const Snapshot&, const std::vector<Device>&) {
  return true;
}
bool NeedsLater(const Snapshot&, const std::vector<Pipeline>& pipelines) {
  return std::any_of(pipelines.begin(), pipelines.end(), [](const Pipeline& pipeline) {
    return pipeline.shader_hashes != Pipeline().shader_hashes;
  });
}
bool NeedsLater(const Snapshot&, const std::vector<Queue>& queues) {
  return std::any_of(queues.begin(), queues.end(),
                     [](const Queue& queue) { return queue.still_since_ns != 0; });
}
bool NeedsLater(const Snapshot&, const std::vector<Thread>& threads) {
  return std::any_of(threads.begin(), threads.end(), [](const Thread& thread) {
    return thread.crashed || thread.argument_count != 0;
  });
}
bool NeedsLater(const Snapshot& snapshot, const std::vector<Submission>& submissions) {
  return !std::all_of(submissions.begin(), submissions.end(), [&](const Submission& submission) {
    return submission.frame ==
           (submission.recording == kNone ? 0 : snapshot.recordings[submission.recording].frame);
  });
}
bool NeedsLater(const Snapshot&, const std::vector<Object>& objects) {
  return std::any_of(objects.begin(), objects.end(),
                     [](const Object& object) { return object.description != 0; });
}
bool NeedsLater(const Snapshot&, const std::vector<Shader>& shaders) {
  return std::any_of(shaders.begin(), shaders.end(),
                     [](const Shader& shader) { return shader.traits != 0; });
}

// Encodes an event. Readers of version 1.0 use the lowest bits; to them a bind is an end that ends
// nothing.
uint8_t EventBits(const Snapshot& snapshot, const Event& event) {
  unsigned bits = (event.flags & (kEventWritesTop | kEventWritesBottom)) << 2;
  if (event.kind != EventKind::kEnd) bits |= (event.flags & kEventNameTruncated) << 2;
  switch (event.kind) {
    case EventKind::kBegin:
      if (event.detail != kNone) bits |= kEventBitAnnotation;
      break;
    case EventKind::kEnd:
      bits |= event.match != 0 ? kEventBitEnd | kEventBitMatched : kEventBitEnd;
      bits |= event.flags & kEventDrains;
      break;
    case EventKind::kBind:
      bits |= kEventBitEnd | kEventBitBind;
      if (snapshot.binds[event.detail].is_address) bits |= kEventBitAddress;
      break;
  }
  return static_cast<uint8_t>(bits);
}

// Columns compress better than records: in most of them one value repeats or rises evenly.
void WriteEvents(const Snapshot& snapshot, uint32_t first, uint32_t count, TextPoolWriter* texts,
                 ByteWriter* out) {
  const std::span<const Event> events = std::span(snapshot.events).subspan(first, count);
  out->WriteVarint(first);
  out->WriteVarint(count);
  for (const Event& event : events) out->WriteU8(EventBits(snapshot, event));
  for (const Event& event : events) {
    if (event.kind == EventKind::kBegin) out->WriteVarint(event.type);
  }
  for (const Event& event : events) {
    if (event.kind == EventKind::kBegin) out->WriteVarint(OneBased(event.pipeline));
  }
  int64_t before = 0;
  for (const Event& event : events) {
    if (event.kind != EventKind::kBegin) continue;
    const int64_t number = static_cast<int64_t>(texts->NumberOf(snapshot.Text(event.name)));
    out->WriteSignedVarint(number - before);
    before = number;
  }
  int64_t annotation_before = -1;
  for (const Event& event : events) {
    if (event.kind != EventKind::kBegin || event.detail == kNone) continue;
    out->WriteSignedVarint(event.detail - annotation_before);
    annotation_before = event.detail;
  }
  for (const Event& event : events) {
    if (event.kind == EventKind::kBind) out->WriteVarint(event.type);
  }
  for (const Event& event : events) {
    if (event.kind == EventKind::kBind) out->WriteVarint(snapshot.binds[event.detail].slot);
  }
  for (const Event& event : events) {
    if (event.kind != EventKind::kBind) continue;
    const Bind& bind = snapshot.binds[event.detail];
    out->WriteVarint(bind.is_address ? bind.value : OneBased(static_cast<uint32_t>(bind.value)));
  }
  if (std::none_of(events.begin(), events.end(),
                   [](const Event& event) { return event.call != 0; }))
    return;
  uint64_t call_before = 0;
  for (const Event& event : events) {
    if (event.kind != EventKind::kBegin) continue;
    out->WriteSignedVarint(static_cast<int64_t>(event.call - call_before));
    call_before = event.call;
  }
}

// Writes large data directly from the snapshot, one chunk at a time.
Status WriteBlobs(const Snapshot& snapshot, FileWriter* writer) {
  ByteWriter out;
  for (uint32_t i = 0; i < snapshot.user_data.size(); ++i) {
    const BlobRef bytes = snapshot.user_data[i].bytes;
    if (bytes.empty()) continue;
    out.Clear();
    out.WriteVarint(OneBased(i));
    out.WriteBytes(snapshot.Blob(bytes));
    CAIRN_RETURN_IF_ERROR(writer->Append(kUserDataBytesChunk, out.bytes()));
  }
  for (uint32_t i = 0; i < snapshot.faults.size(); ++i) {
    const BlobRef binary = snapshot.faults[i].vendor_binary;
    if (binary.empty()) continue;
    out.Clear();
    out.WriteVarint(OneBased(i));
    out.WriteBytes(snapshot.Blob(binary));
    CAIRN_RETURN_IF_ERROR(writer->Append(kVendorBinaryChunk, out.bytes()));
  }
  out.Clear();
  for (uint32_t i = 0; i < snapshot.shaders.size(); ++i) {
    const BlobRef code = snapshot.shaders[i].bytes;
    if (code.empty()) continue;
    if (out.bytes().size() != 0 && out.bytes().size() + code.length > kShaderBytesPerPayload) {
      CAIRN_RETURN_IF_ERROR(writer->Append(kShaderCodeChunk, out.bytes()));
      out.Clear();
    }
    out.WriteVarint(OneBased(i));
    out.WriteVarint(code.length);
    out.WriteBytes(snapshot.Blob(code));
  }
  if (out.bytes().empty()) return Status();
  return writer->Append(kShaderCodeChunk, out.bytes());
}

// Makes the payloads that refer to texts by number; afterwards `texts` holds those texts.
class TableWriter {
 public:
  explicit TableWriter(const Snapshot& snapshot) : snapshot_(snapshot) {}

  template <typename T>
  void Table(const TableFacts& facts, const std::vector<T>& rows) {
    if (facts.presence == Presence::kIfAny && rows.empty()) return;
    const size_t most = facts.rows_in_chunk == 0 ? rows.size() : facts.rows_in_chunk;
    RowWriter writer(snapshot_, &texts_, &out_);
    size_t first = 0;
    do {
      const std::span<const T> part =
          std::span(rows).subspan(first, std::min(most, rows.size() - first));
      out_.WriteVarint(part.size());
      writer.StartAgain();
      for (const T& row : part) writer.Visit(row);
      if constexpr (HasLater<RowWriter, T>) {
        writer.StartAgain();
        if (NeedsLater(snapshot_, rows)) {
          for (const T& row : part) writer.VisitLater(row);
        }
      }
      Keep(facts.chunk);
      first += part.size();
    } while (first < rows.size());
  }

  void EventColumns(const std::vector<Event>& events) {
    const uint32_t size = static_cast<uint32_t>(events.size());
    for (uint32_t first = 0; first < size; first += kEventsPerPayload) {
      WriteEvents(snapshot_, first, std::min(kEventsPerPayload, size - first), &texts_, &out_);
      Keep(kEventChunk);
    }
  }

  void Losses() {
    out_.WriteVarint(snapshot_.losses.size() + more_losses_.size());
    for (const TextRef& loss : snapshot_.losses) {
      out_.WriteVarint(texts_.NumberOf(snapshot_.Text(loss)));
    }
    for (const std::string& loss : more_losses_) out_.WriteVarint(texts_.NumberOf(loss));
    Keep(kLossChunk);
  }

  void Process() {
    WriteProcessPayload(snapshot_, &out_);
    Keep(kProcessChunk);
  }

  // Names first: a file that is cut then still says what the rest of it speaks of.
  Status AppendTo(FileWriter* writer) {
    while (texts_.NextPayload(&out_)) {
      CAIRN_RETURN_IF_ERROR(writer->Append(kTextChunk, out_.bytes()));
    }
    for (const Chunk& chunk : chunks_) {
      CAIRN_RETURN_IF_ERROR(writer->Append(chunk.type, chunk.payload));
    }
    return Status();
  }

 private:
  struct Chunk {
    ChunkType type;
    std::vector<std::byte> payload;
  };

  // A table that is too large does not cost the report.
  void Keep(ChunkType type) {
    if (out_.bytes().size() > kMaxChunkBytes) {
      more_losses_.push_back(
          fmt::format("The table {} takes {} bytes and is skipped: a chunk has {}.",
                      ChunkTypeName(type), out_.bytes().size(), kMaxChunkBytes));
      out_.Clear();
      return;
    }
    chunks_.push_back({type, out_.Take()});
  }

  const Snapshot& snapshot_;
  TextPoolWriter texts_;
  ByteWriter out_;
  std::deque<std::string> more_losses_;
  std::vector<Chunk> chunks_;
};

}  // namespace

Status WriteSnapshotHead(const Snapshot& snapshot, FileWriter* writer) {
  ByteWriter payload;
  WriteProcessPayload(snapshot, &payload);
  CAIRN_RETURN_IF_ERROR(writer->Append(kProcessChunk, payload.bytes()));
  return writer->Sync();
}

Status WriteSnapshotBody(const Snapshot& snapshot, FileWriter* writer) {
  TableWriter tables(snapshot);
  tables.Process();
  VisitTables(tables, snapshot);
  tables.Losses();
  CAIRN_RETURN_IF_ERROR(tables.AppendTo(writer));
  return WriteBlobs(snapshot, writer);
}

Status WriteSnapshot(const Snapshot& snapshot, FileWriter* writer) {
  CAIRN_RETURN_IF_ERROR(WriteSnapshotHead(snapshot, writer));
  return WriteSnapshotBody(snapshot, writer);
}

}  // namespace cairn
