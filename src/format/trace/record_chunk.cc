// SPDX-License-Identifier: Apache-2.0
#include "format/trace/record_chunk.h"

#include <fmt/format.h>

#include <cstring>
#include <unordered_map>
#include <utility>

#include "base/byte_reader.h"
#include "base/byte_writer.h"
#include "format/file/chunk.h"

namespace cairn {
namespace {

constexpr uint8_t kHasFlags = 0x80;

// The bodies of a chunk stand in groups: those of one kind and method one after another, the groups in
// the order in which the first of each comes. Calls of one method are alike.
class BodyGroups {
 public:
  void Count(RecordKind kind, uint16_t method, size_t bytes) {
    const uint32_t key = uint32_t{static_cast<uint8_t>(kind)} << 16 | method;
    const auto [group, is_new] = group_of_.try_emplace(key, groups_.size());
    if (is_new) groups_.push_back(0);
    groups_[group->second] += bytes;
    order_.push_back(static_cast<uint32_t>(group->second));
  }
  // Turns the sizes of groups into their begins.
  void Lay() {
    size_t start = 0;
    for (size_t& group : groups_) start += std::exchange(group, start);
    next_ = 0;
  }
  // Reserves `bytes` for the next record's body and returns their offset.
  size_t Place(size_t bytes) {
    size_t& group = groups_[order_[next_++]];
    return std::exchange(group, group + bytes);
  }

 private:
  std::unordered_map<uint32_t, size_t> group_of_;
  std::vector<size_t> groups_;
  std::vector<uint32_t> order_;
  size_t next_ = 0;
};

uint16_t GroupMethod(RecordKind kind, uint16_t method) {
  return kind == RecordKind::kCall || kind == RecordKind::kResult ? method : uint16_t{0};
}

// The state that column values are predicted from: the last record of the same thread in the chunk.
struct ThreadState {
  uint64_t object = 0;
  uint32_t method = 0;
};

class ThreadStates {
 public:
  ThreadState& Of(uint32_t thread) {
    if (thread < kDirect) {
      if (thread >= direct_.size()) direct_.resize(thread + 1);
      return direct_[thread];
    }
    return others_[thread];
  }

 private:
  static constexpr uint32_t kDirect = 1024;
  std::vector<ThreadState> direct_;
  std::unordered_map<uint32_t, ThreadState> others_;
};

bool HasMethod(RecordKind kind) {
  return kind == RecordKind::kCall || kind == RecordKind::kResult;
}

Status Damaged(const char* what) {
  return Status(StatusCode::kCorrupt, fmt::format("records are damaged: {}", what));
}

}  // namespace

Status CheckRecord(const Record& record, RecordKinds kinds) {
  const auto refuse = [&](const char* what) {
    return Status(StatusCode::kInvalidArgument, fmt::format("record {}: {}", record.number, what));
  };
  const auto kind = static_cast<uint8_t>(record.kind);
  const uint8_t last_kind = kinds == RecordKinds::kAll ? kHasFlags - 1 : kLastRecordKind;
  if (kind == 0 || kind > last_kind) return refuse("there is no such kind");
  if (record.number == 0) return refuse("numbers begin with 1");
  if (record.body.size() > kMaxBodyBytes) return refuse("its body is too long");
  if (record.kind == RecordKind::kResult) {
    ResultBody body;
    if (record.body.size() < sizeof(body)) return refuse("a result needs the number of its call");
    std::memcpy(&body, record.body.data(), sizeof(body));
    if (body.call >= record.number) return refuse("a result is later than its call");
  }
  if (record.kind == RecordKind::kFrame && record.body.size() < sizeof(FrameBody)) {
    return refuse("the body of a frame is too short");
  }
  if (record.kind == RecordKind::kBlob) {
    BlobBody body;
    if (record.body.size() < sizeof(body)) return refuse("the body of a blob is too short");
    std::memcpy(&body, record.body.data(), sizeof(body));
    if (body.size_bytes != record.body.size() - sizeof(body)) {
      return refuse("a blob has another size than it says");
    }
  }
  return Status();
}

void RecordChunkEncoder::Add(const Record& record, const StoredBlob* blob) {
  Pending pending{record.kind,   record.flags,   record.method,
                  record.thread, record.number,  record.object,
                  /*call=*/0,    bodies_.size(), 0};
  std::span<const std::byte> body = record.body;
  if (record.kind == RecordKind::kResult) {
    std::memcpy(&pending.call, body.data(), sizeof(pending.call));
    body = body.subspan(sizeof(ResultBody));
  } else if (record.kind == RecordKind::kBlob) {
    blobs_.push_back(*blob);
    body = {};
  } else if (record.kind == RecordKind::kFrame) {
    ++frame_ends_;
  }
  pending.body_bytes = body.size();
  bodies_.insert(bodies_.end(), body.begin(), body.end());
  records_.push_back(pending);
}

void RecordChunkEncoder::PlaceBlobs(uint64_t chunk_offset) {
  for (StoredBlob& blob : blobs_) {
    if (blob.chunk_offset == 0) blob.chunk_offset = chunk_offset;
  }
}

RecordChunkHeader RecordChunkEncoder::header(uint64_t first_frame) const {
  RecordChunkHeader header;
  header.first_number = records_.front().number;
  header.last_number = records_.back().number;
  header.first_frame = first_frame;
  header.record_count = static_cast<uint32_t>(records_.size());
  header.frame_ends = frame_ends_;
  return header;
}

std::vector<std::byte> RecordChunkEncoder::Take(uint64_t first_frame) {
  const RecordChunkHeader head = header(first_frame);
  ByteWriter out;
  out.Reserve(size_bytes() + size_bytes() / 8);
  out.WriteVarint(head.first_number);
  out.WriteVarint(head.last_number - head.first_number);
  out.WriteVarint(head.first_frame);
  out.WriteVarint(head.record_count);
  out.WriteVarint(head.frame_ends);
  for (const Pending& record : records_) {
    out.WriteU8(static_cast<uint8_t>(static_cast<uint8_t>(record.kind) |
                                     (record.flags != 0 ? kHasFlags : 0)));
  }
  for (const Pending& record : records_) {
    if (record.flags != 0) out.WriteU8(record.flags);
  }
  uint64_t number = head.first_number;
  for (size_t i = 1; i < records_.size(); ++i) {
    out.WriteVarint(records_[i].number - std::exchange(number, records_[i].number) - 1);
  }
  for (const Pending& record : records_) out.WriteVarint(record.thread);
  ThreadStates threads;
  for (const Pending& record : records_) {
    if (!HasMethod(record.kind)) continue;
    ThreadState& last = threads.Of(record.thread);
    if (record.kind == RecordKind::kCall) {
      out.WriteVarint(record.method);
      last.method = record.method + 1u;
    } else {
      out.WriteVarint(last.method == record.method + 1u ? 0 : record.method + 1u);
    }
  }
  for (const Pending& record : records_) {
    ThreadState& last = threads.Of(record.thread);
    out.WriteSignedVarint(static_cast<int64_t>(record.object - last.object));
    last.object = record.object;
  }
  for (const Pending& record : records_) {
    if (record.kind == RecordKind::kResult) out.WriteVarint(record.number - record.call);
  }
  for (const StoredBlob& blob : blobs_) {
    out.WriteVarint(blob.chunk_offset / kChunkAlignment);
    out.WriteVarint(blob.offset_bytes);
    out.WriteVarint(blob.size_bytes);
  }
  BodyGroups groups;
  for (const Pending& record : records_) {
    if (record.kind != RecordKind::kBlob) out.WriteVarint(record.body_bytes);
    groups.Count(record.kind, GroupMethod(record.kind, record.method), record.body_bytes);
  }
  groups.Lay();
  std::vector<std::byte> grouped(bodies_.size());
  for (const Pending& record : records_) {
    const size_t place = groups.Place(record.body_bytes);
    if (record.body_bytes == 0) continue;
    std::memcpy(grouped.data() + place, bodies_.data() + record.body_offset, record.body_bytes);
  }
  out.WriteBytes(grouped);
  records_.clear();
  bodies_.clear();
  blobs_.clear();
  frame_ends_ = 0;
  return out.Take();
}

namespace {

bool ReadHeader(ByteReader& in, RecordChunkHeader* header) {
  uint64_t span = 0;
  in.ReadVarint(header->first_number);
  in.ReadVarint(span);
  in.ReadVarint(header->first_frame);
  in.ReadCount(1, header->record_count);
  in.ReadVarint32(header->frame_ends);
  header->last_number = header->first_number + span;
  return in.ok() && header->first_number != 0 && header->last_number >= header->first_number &&
         header->record_count != 0 && header->record_count <= kMaxRecordsInChunk &&
         span >= header->record_count - 1 && header->frame_ends <= header->record_count &&
         header->first_frame <= ~uint64_t{0} - kMaxRecordsInChunk;
}

// Reads the columns one after another.
class Decoder {
 public:
  explicit Decoder(std::span<const std::byte> payload) : in_(payload), payload_(payload) {}

  Result<DecodedRecords> Decode() {
    if (payload_.size() > kMaxRecordChunkBytes) return Damaged("there are too many bytes");
    if (!ReadHeader(in_, &out_.header)) return Damaged("what they begin with contradicts itself");
    CAIRN_RETURN_IF_ERROR(ReadKindsAndNumbers());
    ReadThreads();
    ReadMethods();
    ReadObjects();
    CAIRN_RETURN_IF_ERROR(ReadCalls());
    CAIRN_RETURN_IF_ERROR(ReadBlobs());
    CAIRN_RETURN_IF_ERROR(ReadBodies());
    return std::move(out_);
  }

 private:
  Status ReadKindsAndNumbers() {
    out_.records.resize(out_.header.record_count);
    uint32_t frame_ends = 0;
    for (Record& record : out_.records) {
      uint8_t kind = 0;
      in_.ReadU8(kind);
      record.kind = static_cast<RecordKind>(kind & ~kHasFlags);
      record.flags = kind & kHasFlags;  // until they are read
      if (record.kind == RecordKind{}) in_.Fail();
      frame_ends += record.kind == RecordKind::kFrame;
    }
    for (Record& record : out_.records) {
      if (record.flags != 0) in_.ReadU8(record.flags);
    }
    if (!in_.ok()) return Damaged("a record is of no kind");
    uint64_t number = out_.header.first_number;
    bool rises = true;
    out_.records.front().number = number;
    for (size_t i = 1; i < out_.records.size(); ++i) {
      uint64_t step = 0;
      in_.ReadVarint(step);
      rises = rises && step < out_.header.last_number - number;
      number += step + 1;
      out_.records[i].number = number;
    }
    if (!in_.ok() || !rises || number != out_.header.last_number) {
      return Damaged("their numbers contradict each other");
    }
    if (frame_ends != out_.header.frame_ends) return Damaged("their frames are miscounted");
    return Status();
  }

  void ReadThreads() {
    for (Record& record : out_.records) {
      if (!in_.ReadVarint32(record.thread)) return;
    }
  }

  void ReadMethods() {
    for (Record& record : out_.records) {
      if (!HasMethod(record.kind)) continue;
      uint32_t value = 0;
      if (!in_.ReadVarint32(value)) return;
      ThreadState& last = threads_.Of(record.thread);
      if (record.kind == RecordKind::kCall) {
        last.method = value + 1;
      } else if (value == 0) {
        value = last.method - 1;  // without a call: 0xFFFFFFFF, which is refused
      } else {
        --value;
      }
      if (value > 0xFFFF) in_.Fail();
      record.method = static_cast<uint16_t>(value);
    }
  }

  void ReadObjects() {
    for (Record& record : out_.records) {
      int64_t step = 0;
      if (!in_.ReadSignedVarint(step)) return;
      ThreadState& last = threads_.Of(record.thread);
      last.object += static_cast<uint64_t>(step);
      record.object = last.object;
    }
  }

  Status ReadCalls() {
    for (const Record& record : out_.records) {
      if (record.kind != RecordKind::kResult) continue;
      uint64_t distance = 0;
      in_.ReadVarint(distance);
      if (!in_.ok()) break;
      if (distance == 0 || distance > record.number) {
        return Status(StatusCode::kCorrupt,
                      fmt::format("record {}: it is the result of a later call", record.number));
      }
      calls_.push_back(record.number - distance);
    }
    return in_.ok() ? Status() : Damaged("a column ends early");
  }

  Status ReadBlobs() {
    for (const Record& record : out_.records) {
      if (record.kind != RecordKind::kBlob) continue;
      StoredBlob blob;
      blob.number = record.number;
      in_.ReadVarint(blob.chunk_offset);
      in_.ReadVarint32(blob.offset_bytes);
      in_.ReadVarint32(blob.size_bytes);
      if (!in_.ok()) return Damaged("a column ends early");
      if (blob.chunk_offset > ~uint64_t{0} / kChunkAlignment || blob.size_bytes > kMaxBlobBytes) {
        return Status(StatusCode::kCorrupt,
                      fmt::format("record {}: the place of its bytes is none", record.number));
      }
      blob.chunk_offset *= kChunkAlignment;
      out_.blobs.push_back(blob);
    }
    return Status();
  }

  // The part of the body that does not lie among the bodies.
  static size_t BytesInFront(RecordKind kind) {
    if (kind == RecordKind::kResult) return sizeof(ResultBody);
    return kind == RecordKind::kBlob ? sizeof(BlobBody) : 0;
  }

  Status ReadBodies() {
    std::vector<uint32_t> sizes(out_.records.size());
    BodyGroups groups;
    uint64_t stored_bytes = 0;
    uint64_t all_bytes = 0;
    for (size_t i = 0; i < sizes.size(); ++i) {
      const Record& record = out_.records[i];
      if (record.kind != RecordKind::kBlob) in_.ReadVarint32(sizes[i]);
      if (sizes[i] + uint64_t{BytesInFront(record.kind)} > kMaxBodyBytes) {
        return Status(StatusCode::kCorrupt,
                      fmt::format("record {}: its body is too long", record.number));
      }
      stored_bytes += sizes[i];
      all_bytes += sizes[i] + BytesInFront(record.kind);
      groups.Count(record.kind, GroupMethod(record.kind, record.method), sizes[i]);
    }
    if (!in_.ok() || stored_bytes > in_.remaining()) return Damaged("a column ends early");
    groups.Lay();
    const std::span<const std::byte> stored = payload_.subspan(in_.offset());
    out_.bodies.resize(all_bytes);
    std::byte* to = out_.bodies.data();
    size_t call = 0;
    size_t blob = 0;
    for (size_t i = 0; i < sizes.size(); ++i) {
      Record& record = out_.records[i];
      const std::byte* const begin = to;
      if (record.kind == RecordKind::kResult) {
        const ResultBody body{calls_[call++]};
        std::memcpy(to, &body, sizeof(body));
      } else if (record.kind == RecordKind::kBlob) {
        const BlobBody body{out_.blobs[blob++].size_bytes, 0};
        std::memcpy(to, &body, sizeof(body));
      }
      to += BytesInFront(record.kind);
      const size_t place = groups.Place(sizes[i]);
      if (sizes[i] != 0) std::memcpy(to, stored.data() + place, sizes[i]);
      to += sizes[i];
      record.body = {begin, static_cast<size_t>(to - begin)};
    }
    return Status();
  }

  ByteReader in_;
  std::span<const std::byte> payload_;
  ThreadStates threads_;
  std::vector<uint64_t> calls_;
  DecodedRecords out_;
};

}  // namespace

Result<RecordChunkHeader> DecodeRecordChunkHeader(std::span<const std::byte> payload) {
  ByteReader in(payload);
  RecordChunkHeader header;
  if (!ReadHeader(in, &header)) return Damaged("what they begin with contradicts itself");
  return header;
}

Result<DecodedRecords> DecodeRecordChunk(std::span<const std::byte> payload) {
  return Decoder(payload).Decode();
}

}  // namespace cairn
