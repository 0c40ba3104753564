// SPDX-License-Identifier: Apache-2.0
#include "format/trace/trace_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <system_error>
#include <utility>

#include "base/text.h"
#include "format/file/file_cost.h"
#include "format/trace/decoded_spans.h"
#include "format/trace/trace_tables.h"

namespace cairn {
namespace {

RecordChunkHeader HeaderOf(const TraceSpan& span) {
  return {span.first_number, span.last_number, span.first_frame, span.record_count,
          span.frame_ends};
}

bool SameHeader(const RecordChunkHeader& a, const RecordChunkHeader& b) {
  return a.first_number == b.first_number && a.last_number == b.last_number &&
         a.first_frame == b.first_frame && a.record_count == b.record_count &&
         a.frame_ends == b.frame_ends;
}

std::string InWords(const RecordChunkHeader& header) {
  return fmt::format(
      "records {} to {} (frame {}{})", header.first_number, header.last_number, header.first_frame,
      header.frame_ends == 0 ? "" : fmt::format(" to {}", header.first_frame + header.frame_ends));
}

// Index of the chunk whose header is at `offset`.
std::optional<size_t> ChunkAt(const FileReader& file, uint64_t offset) {
  const std::vector<ChunkInfo>& chunks = file.chunks();
  const auto found = std::lower_bound(
      chunks.begin(), chunks.end(), offset,
      [](const ChunkInfo& chunk, uint64_t wanted) { return chunk.offset < wanted; });
  if (found == chunks.end() || found->offset != offset) return std::nullopt;
  return static_cast<size_t>(found - chunks.begin());
}

}  // namespace

// Puts the parts of a trace together from the chunks of a file.
class TraceOpener {
 public:
  explicit TraceOpener(TraceReader::State* state) : state_(*state) {}

  Status Open();

 private:
  Status ReadTable();
  void ReadEnd();
  std::optional<TraceIndex> ReadIndex();
  void TakeIndex(const TraceIndex& index);
  void Scan();
  void FindFirstFrame(std::span<const std::byte> payload);
  void AddSpan(size_t chunk, const RecordChunkHeader& header);
  void Lose(size_t chunk, const std::string& reason) {
    const ChunkInfo& info = state_.file.chunks()[chunk];
    losses_.Add(info.offset, info.end_offset() - info.offset, reason);
  }
  // The last chunk of a type that `decode` accepts.
  template <typename T>
  std::optional<T> LastOf(ChunkType type, Result<T> (*decode)(std::span<const std::byte>));

  TraceReader::State& state_;
  LossList losses_;
};

Status TraceOpener::Open() {
  CAIRN_RETURN_IF_ERROR(ReadTable());
  state_.meaning = MeaningOf(state_.table);
  ReadEnd();
  if (const std::optional<TraceIndex> index = ReadIndex(); index.has_value()) {
    TakeIndex(*index);
  } else {
    Scan();
  }
  state_.losses = state_.file.losses();
  for (Loss& loss : losses_.Take()) state_.losses.push_back(std::move(loss));
  return Status();
}

Status TraceOpener::ReadTable() {
  bool any_records = false;
  Status error;
  for (size_t i = 0; i < state_.file.chunks().size(); ++i) {
    const ChunkType type = state_.file.chunks()[i].type;
    any_records = any_records || type == kTraceRecordChunk || type == kTraceTableChunk;
    if (type != kTraceTableChunk) continue;
    const Result<std::vector<std::byte>> payload = state_.file.Read(i);
    Result<TraceTable> table =
        payload.ok() ? DecodeTraceTable(*payload) : Result<TraceTable>(payload.status());
    if (table.ok()) {
      state_.table = std::move(table).value();
      return Status();
    }
    if (table.status().code() == StatusCode::kUnsupported) return table.status();
    error = table.status();
    Lose(i, "the trace's table cannot be read: " + error.message());
  }
  if (!any_records) {
    return Status(StatusCode::kNotFound, "the file holds no trace");
  }
  return Status(StatusCode::kCorrupt,
                "the trace cannot be read: the names of its methods are damaged");
}

template <typename T>
std::optional<T> TraceOpener::LastOf(ChunkType type,
                                     Result<T> (*decode)(std::span<const std::byte>)) {
  for (size_t i = state_.file.chunks().size(); i-- > 0;) {
    if (state_.file.chunks()[i].type != type) continue;
    const Result<std::vector<std::byte>> payload = state_.file.Read(i);
    Result<T> decoded = payload.ok() ? decode(*payload) : Result<T>(payload.status());
    if (decoded.ok()) return std::move(decoded).value();
    Lose(i, decoded.status().message());
  }
  return std::nullopt;
}

void TraceOpener::ReadEnd() {
  auto end = LastOf(kTraceEndChunk, &DecodeTraceEnd);
  state_.finished = end.has_value();
  if (end.has_value()) state_.threads = std::move(*end);
}

// Returns nullopt if the index misses a chunk of records: it then belongs to another trace, or is
// forged.
std::optional<TraceIndex> TraceOpener::ReadIndex() {
  std::optional<TraceIndex> index = LastOf(kTraceIndexChunk, &DecodeTraceIndex);
  if (!index.has_value()) return std::nullopt;
  size_t found = 0;
  for (const TraceIndexEntry& entry : index->entries) {
    const std::optional<size_t> chunk = ChunkAt(state_.file, entry.offset);
    if (!chunk.has_value()) continue;
    if (state_.file.chunks()[*chunk].type != kTraceRecordChunk) return std::nullopt;
    ++found;
  }
  const auto records =
      std::count_if(state_.file.chunks().begin(), state_.file.chunks().end(),
                    [](const ChunkInfo& chunk) { return chunk.type == kTraceRecordChunk; });
  if (found != static_cast<size_t>(records)) return std::nullopt;
  return index;
}

void TraceOpener::TakeIndex(const TraceIndex& index) {
  state_.totals = index.totals;
  if (index.totals.frames != 0) state_.first_frame = index.totals.first_frame;
  for (const TraceIndexEntry& entry : index.entries) {
    const std::optional<size_t> chunk = ChunkAt(state_.file, entry.offset);
    if (chunk.has_value()) {
      AddSpan(*chunk, entry.header);
    } else {
      losses_.Add(entry.offset, 0, InWords(entry.header) + " are lost with their chunk");
    }
  }
}

void TraceOpener::Scan() {
  for (size_t i = 0; i < state_.file.chunks().size(); ++i) {
    if (state_.file.chunks()[i].type != kTraceRecordChunk) continue;
    const Result<std::vector<std::byte>> payload = state_.file.Read(i);
    const Result<RecordChunkHeader> header = payload.ok()
                                                 ? DecodeRecordChunkHeader(*payload)
                                                 : Result<RecordChunkHeader>(payload.status());
    if (header.ok()) {
      AddSpan(i, *header);
      if (header->frame_ends != 0 && !state_.first_frame.has_value()) FindFirstFrame(*payload);
    } else {
      Lose(i, header.status().message());
    }
  }
}

void TraceOpener::FindFirstFrame(std::span<const std::byte> payload) {
  const Result<DecodedRecords> records = DecodeRecordChunk(payload);
  if (!records.ok()) return;
  for (const Record& record : records->records) {
    std::span<const std::byte> rest = record.body;
    if (record.kind != RecordKind::kFrame) continue;
    const Result<FrameBody> body = DecodeBody<FrameBody>(&rest);
    if (body.ok()) state_.first_frame = body->frame;
    return;
  }
}

void TraceOpener::AddSpan(size_t chunk, const RecordChunkHeader& header) {
  if (!state_.spans.empty()) {
    const TraceSpan& last = state_.spans.back();
    if (header.first_number <= last.last_number ||
        header.first_frame < last.first_frame + last.frame_ends) {
      Lose(chunk, InWords(header) + " contradict those before them");
      return;
    }
  }
  state_.spans.push_back({header.first_number, header.last_number, header.first_frame,
                          header.frame_ends, header.record_count, chunk});
  state_.record_count += header.record_count;
}

Result<DecodedRecords> TraceReader::State::Decode(size_t index) const {
  const TraceSpan& span = spans[index];
  const Result<std::vector<std::byte>> payload = file.Read(span.chunk);
  if (!payload.ok()) return payload.status().WithContext(InWords(HeaderOf(span)));
  Result<DecodedRecords> decoded = DecodeRecordChunk(*payload);
  if (!decoded.ok()) return decoded.status().WithContext(InWords(HeaderOf(span)));
  if (!SameHeader(decoded->header, HeaderOf(span))) {
    return Status(StatusCode::kCorrupt,
                  InWords(HeaderOf(span)) + ": the index and the records contradict each other");
  }
  return decoded;
}

void TraceReader::State::DecodeAhead(size_t index) {
  const bool is_cached = std::any_of(span_cache.begin(), span_cache.end(),
                                     [&](const auto& cached) { return cached.first == index; });
  if (is_cached || (ahead.has_value() && ahead->first == index)) return;
  ahead.reset();
  try {
    ahead.emplace(index, std::async(std::launch::async, [this, index] { return Decode(index); }));
  } catch (const std::system_error&) {
    // Without a thread, Span() decodes it on demand.
  }
}

Result<std::shared_ptr<const DecodedRecords>> TraceReader::State::Span(size_t index) {
  for (size_t i = 0; i < span_cache.size(); ++i) {
    if (span_cache[i].first != index) continue;
    std::rotate(span_cache.begin(), span_cache.begin() + static_cast<ptrdiff_t>(i),
                span_cache.begin() + static_cast<ptrdiff_t>(i) + 1);
    return span_cache.front().second;
  }
  const bool is_ahead = ahead.has_value() && ahead->first == index;
  Result<DecodedRecords> decoded = is_ahead ? ahead->second.get() : Decode(index);
  if (is_ahead) ahead.reset();
  if (!decoded.ok()) return decoded.status();
  if (span_cache.size() == kCachedChunks) span_cache.pop_back();
  auto records = std::make_shared<const DecodedRecords>(std::move(decoded).value());
  span_cache.emplace(span_cache.begin(), index, records);
  return std::shared_ptr<const DecodedRecords>(std::move(records));
}

Result<std::span<const std::byte>> TraceReader::State::BlobChunk(uint64_t offset) {
  const std::optional<size_t> chunk = ChunkAt(file, offset);
  if (!chunk.has_value() || file.chunks()[*chunk].type != kTraceBlobChunk) {
    return Status(StatusCode::kNotFound,
                  fmt::format("there are no blobs at offset {} of the file", offset));
  }
  const auto known = std::find_if(blob_cache.begin(), blob_cache.end(),
                                  [&](const auto& cached) { return cached.first == *chunk; });
  if (known != blob_cache.end()) {
    std::rotate(blob_cache.begin(), known, known + 1);
    return std::span<const std::byte>(blob_cache.front().second);
  }
  Result<std::vector<std::byte>> payload = file.Read(*chunk);
  if (!payload.ok()) return payload.status();
  const size_t payload_bytes = payload->size();
  const auto cached_bytes = [&] {
    return std::accumulate(
        blob_cache.begin(), blob_cache.end(), payload_bytes,
        [](size_t sum, const auto& cached) { return sum + cached.second.size(); });
  };
  while (blob_cache.size() == kCachedChunks ||
         (!blob_cache.empty() && cached_bytes() > kCachedBlobBytes)) {
    blob_cache.pop_back();
  }
  blob_budget -= std::min<uint64_t>(blob_budget, payload_bytes);
  blob_cache.emplace(blob_cache.begin(), *chunk, std::move(payload).value());
  return std::span<const std::byte>(blob_cache.front().second);
}

TraceReader::TraceReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
TraceReader::TraceReader(TraceReader&&) noexcept = default;
TraceReader& TraceReader::operator=(TraceReader&&) noexcept = default;
TraceReader::~TraceReader() = default;

Result<TraceReader> TraceReader::Open(const std::string& path, Check check) {
  Result<FileReader> file = FileReader::Open(path, check);
  if (!file.ok()) return file.status();
  Result<TraceReader> trace = FromFile(std::move(file).value());
  if (!trace.ok()) return trace.status().WithFile(path);
  return trace;
}

Result<TraceReader> TraceReader::FromBytes(std::span<const std::byte> bytes) {
  Result<FileReader> file = FileReader::FromBytes(bytes);
  if (!file.ok()) return file.status();
  return FromFile(std::move(file).value());
}

Result<TraceReader> TraceReader::FromFile(FileReader file) {
  auto state = std::make_unique<State>(std::move(file));
  CAIRN_RETURN_IF_ERROR(TraceOpener(state.get()).Open());
  return TraceReader(std::move(state));
}

void TraceReader::StopWhen(const std::atomic<bool>* ended) {
  state_->ended = ended;
}

std::string TraceReader::LimitCost() {
  State& state = *state_;
  const uint64_t file_bytes = state.file.size_bytes();
  state.blob_budget = FileBudget(file_bytes, kBlobBytes);
  const uint64_t most_records = FileBudget(file_bytes, kTraceRecords);
  if (state.record_count <= most_records) return "";
  const uint64_t last_number = state.spans.back().last_number;
  while (state.record_count > most_records) {
    state.record_count -= state.spans.back().record_count;
    state.spans.pop_back();
  }
  const uint64_t number = state.spans.empty() ? 0 : state.spans.back().last_number + 1;
  return fmt::format("records {} to {} are skipped: of a file of {} bytes at most {} are looked at",
                     number, last_number, file_bytes, most_records);
}

const TraceFacts& TraceReader::facts() const {
  return state_->table.facts;
}
const TraceTable& TraceReader::table() const {
  return state_->table;
}
const FileReader& TraceReader::file() const {
  return state_->file;
}
std::span<const TraceSpan> TraceReader::spans() const {
  return state_->spans;
}
uint64_t TraceReader::record_count() const {
  return state_->record_count;
}
std::optional<uint64_t> TraceReader::first_frame() const {
  return state_->first_frame;
}
Result<uint64_t> TraceReader::OrdinalOf(uint64_t frame) const {
  const uint64_t first = first_frame().value_or(0);
  if (frame >= first && frame - first <= frame_count()) return frame - first;
  const std::string there_are =
      frame_count() == 0 ? "no ends of frames"
                         : fmt::format("frames {} to {}", first, first + frame_count() - 1);
  return Status(StatusCode::kInvalidArgument,
                fmt::format("there is no frame {}: the trace has {}", frame, there_are));
}
const std::optional<TraceTotals>& TraceReader::totals() const {
  return state_->totals;
}
std::span<const TraceThread> TraceReader::threads() const {
  return state_->threads;
}
bool TraceReader::finished() const {
  return state_->finished;
}
const std::vector<Loss>& TraceReader::losses() const {
  return state_->losses;
}

uint64_t TraceReader::frame_count() const {
  if (state_->spans.empty()) return 0;
  return state_->spans.back().first_frame + state_->spans.back().frame_ends;
}

std::optional<Method> TraceReader::MethodOf(const Record& record) const {
  if (record.method >= state_->meaning.methods.size()) return std::nullopt;
  return state_->meaning.methods[record.method];
}

std::string TraceReader::MethodName(const Record& record) const {
  if (record.method < state_->table.methods.size()) {
    constexpr size_t kLongestName = 128;
    return VisibleText(Utf8Prefix(state_->table.methods[record.method].name, kLongestName));
  }
  return fmt::format("method {}", record.method);
}

Chain TraceReader::ChainOf(uint32_t traced_chain) const {
  if (traced_chain >= state_->meaning.chains.size()) return Chain::kNone;
  return state_->meaning.chains[traced_chain];
}

Result<std::span<const std::byte>> TraceReader::Blob(uint64_t number) {
  const auto missing = [&] {
    return Status(StatusCode::kNotFound, fmt::format("the trace holds no blob {}", number));
  };
  const std::vector<TraceSpan>& spans = state_->spans;
  const auto span = std::lower_bound(
      spans.begin(), spans.end(), number,
      [](const TraceSpan& one, uint64_t wanted) { return one.last_number < wanted; });
  if (span == spans.end() || span->first_number > number) return missing();
  const auto records = state_->Span(static_cast<size_t>(span - spans.begin()));
  if (!records.ok()) return records.status();
  const std::vector<StoredBlob>& blobs = (*records)->blobs;
  const auto blob =
      std::lower_bound(blobs.begin(), blobs.end(), number,
                       [](const StoredBlob& one, uint64_t wanted) { return one.number < wanted; });
  if (blob == blobs.end() || blob->number != number) return missing();
  const auto bytes = state_->BlobChunk(blob->chunk_offset);
  if (!bytes.ok()) return bytes.status().WithContext(fmt::format("blob {}", number));
  if (blob->offset_bytes > bytes->size() || blob->size_bytes > bytes->size() - blob->offset_bytes) {
    return Status(StatusCode::kCorrupt,
                  fmt::format("blob {} lies outside of the chunk that it is in", number));
  }
  if (blob->size_bytes >= state_->blob_budget) {
    state_->blob_budget = 0;
    return Status(StatusCode::kOutOfMemory,
                  fmt::format("blob {} is skipped: the bytes shown before have cost what a file of "
                              "{} bytes may",
                              number, state_->file.size_bytes()));
  }
  state_->blob_budget -= blob->size_bytes;
  return bytes->subspan(blob->offset_bytes, blob->size_bytes);
}

}  // namespace cairn
