// SPDX-License-Identifier: Apache-2.0
#include "format/trace/trace_tables.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/byte_reader.h"
#include "base/byte_writer.h"
#include "d3d12gen/interfaces.h"
#include "d3d12gen/structs.h"
#include "format/file/chunk.h"

namespace cairn {
namespace {

constexpr size_t kLongestName = 1024;
constexpr size_t kMaxFactBytes = 64 << 10;
constexpr uint64_t kTrimmedFlag = 1;
constexpr uint64_t kNamesRedactedFlag = 2;
constexpr uint64_t kShadersRedactedFlag = 4;
constexpr uint64_t kContentsRedactedFlag = 8;

class Hasher {
 public:
  Hasher& Add(uint64_t number) {
    hash_ = XXH3_64bits_withSeed(&number, sizeof(number), hash_);
    return *this;
  }
  Hasher& Add(std::string_view text) {
    hash_ = XXH3_64bits_withSeed(text.data(), text.size(), hash_);
    return *this;
  }
  uint64_t hash() const { return hash_; }

 private:
  uint64_t hash_ = 0;
};

void AddValue(const ValueInfo& value, std::span<const uint64_t> structs, Hasher* hasher) {
  hasher->Add(value.name).Add(value.type).Add(static_cast<uint64_t>(value.kind));
  hasher->Add(value.pointers).Add(value.size_bytes).Add(value.array_length);
  hasher->Add(value.count.factor_count).Add(value.count.in_bytes);
  for (size_t i = 0; i < value.count.factor_count && i < std::size(value.count.factors); ++i) {
    const CountFactor& factor = value.count.factors[i];
    hasher->Add(static_cast<uint64_t>(factor.kind)).Add(factor.value);
  }
  if (value.kind == ValueKind::kStruct && value.type_index < structs.size()) {
    hasher->Add(structs[value.type_index]);
  }
}

uint64_t HashStruct(const StructInfo& info, std::span<const uint64_t> structs) {
  Hasher hasher;
  hasher.Add(info.name).Add(info.size_bytes).Add(info.is_union);
  hasher.Add(static_cast<uint64_t>(info.tag_field));
  for (const FieldInfo& field : info.fields) {
    AddValue(field, structs, &hasher);
    hasher.Add(field.offset_bytes).Add(field.bit_offset).Add(field.bit_count).Add(field.in_union);
    for (const uint32_t tag : field.tag_values) hasher.Add(tag);
  }
  return hasher.hash();
}

// Structs may point to their own kind, so that each is hashed with the hashes that the round before gave
// to those within it: after as many rounds as structs are nested, a change anywhere is in all above it.
std::vector<uint64_t> HashStructs() {
  constexpr int kRounds = 8;
  std::vector<uint64_t> hashes(Structs().size());
  for (int round = 0; round < kRounds; ++round) {
    std::vector<uint64_t> next;
    for (const StructInfo& info : Structs()) next.push_back(HashStruct(info, hashes));
    hashes = std::move(next);
  }
  return hashes;
}

std::vector<uint32_t> HashLayouts() {
  const std::vector<uint64_t> structs = HashStructs();
  std::vector<uint32_t> layouts;
  for (uint32_t i = 0; i < kMethodCount; ++i) {
    const MethodInfo& method = Describe(static_cast<Method>(i));
    Hasher hasher;
    AddValue(method.result, structs, &hasher);
    for (const ParameterInfo& parameter : method.parameters) {
      AddValue(parameter, structs, &hasher);
      hasher.Add(static_cast<uint64_t>(parameter.direction));
    }
    layouts.push_back(static_cast<uint32_t>(hasher.hash()));
  }
  return layouts;
}

std::string ChainName(size_t chain) {
  return chain == 0 ? "" : Describe(static_cast<Chain>(chain)).first->name;
}

Status Corrupt(const char* what) {
  return Status(StatusCode::kCorrupt, what);
}

bool ReadText(ByteReader& in, size_t max_bytes, std::string* text) {
  std::string_view view;
  const bool read = in.ReadString(max_bytes, view);
  *text = view;
  return read;
}

}  // namespace

uint32_t LayoutHash(Method method) {
  static const std::vector<uint32_t> layouts = HashLayouts();
  return layouts[static_cast<size_t>(method)];
}

TraceTable MakeTraceTable(const TraceFacts& facts) {
  TraceTable table;
  table.facts = facts;
  for (uint32_t i = 0; i < kMethodCount; ++i) {
    const auto method = static_cast<Method>(i);
    table.methods.push_back({Describe(method).name, LayoutHash(method)});
  }
  for (size_t i = 0; i < kChainCount; ++i) table.chains.push_back(ChainName(i));
  return table;
}

std::vector<std::byte> EncodeTraceTable(const TraceTable& table) {
  ByteWriter out;
  out.WriteVarint(kTraceFormatVersion);
  out.WriteString(table.facts.program, kMaxFactBytes);
  out.WriteString(table.facts.command_line, kMaxFactBytes);
  out.WriteString(table.facts.library_version, kMaxFactBytes);
  out.WriteVarint(table.facts.process_id);
  out.WriteVarint(table.facts.start_realtime_ns);
  out.WriteVarint(table.facts.start_monotonic_ns);
  out.WriteVarint((table.facts.trimmed ? kTrimmedFlag : 0) |
                  (table.redaction.names ? kNamesRedactedFlag : 0) |
                  (table.redaction.shaders ? kShadersRedactedFlag : 0) |
                  (table.redaction.contents ? kContentsRedactedFlag : 0));
  out.WriteVarint(table.methods.size());
  for (const TracedMethod& method : table.methods) {
    out.WriteString(method.name, kLongestName);
    out.WriteU32(method.layout);
  }
  out.WriteVarint(table.chains.size());
  for (const std::string& chain : table.chains) out.WriteString(chain, kLongestName);
  return out.Take();
}

Result<TraceTable> DecodeTraceTable(std::span<const std::byte> payload) {
  ByteReader in(payload);
  uint64_t version = 0;
  in.ReadVarint(version);
  if (in.ok() && version > kTraceFormatVersion) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("the trace has version {} and this cairn reads up to version {}; use "
                              "the cairn that recorded it, or a newer one",
                              version, kTraceFormatVersion));
  }
  TraceTable table;
  uint64_t flags = 0;
  ReadText(in, kMaxFactBytes, &table.facts.program);
  ReadText(in, kMaxFactBytes, &table.facts.command_line);
  ReadText(in, kMaxFactBytes, &table.facts.library_version);
  in.ReadVarint(table.facts.process_id);
  in.ReadVarint(table.facts.start_realtime_ns);
  in.ReadVarint(table.facts.start_monotonic_ns);
  in.ReadVarint(flags);
  table.facts.trimmed = (flags & kTrimmedFlag) != 0;
  table.redaction = {.names = (flags & kNamesRedactedFlag) != 0,
                     .shaders = (flags & kShadersRedactedFlag) != 0,
                     .contents = (flags & kContentsRedactedFlag) != 0};
  uint32_t count = 0;
  in.ReadCount(5, count);
  // Record::method has 16 bits.
  if (count > 0x10000 || version == 0) in.Fail();
  for (uint32_t i = 0; i < count && in.ok(); ++i) {
    TracedMethod method;
    ReadText(in, kLongestName, &method.name);
    in.ReadU32(method.layout);
    table.methods.push_back(std::move(method));
  }
  count = 0;
  in.ReadCount(1, count);
  if (count > 0x10000) in.Fail();
  for (uint32_t i = 0; i < count && in.ok(); ++i) {
    std::string chain;
    ReadText(in, kLongestName, &chain);
    table.chains.push_back(std::move(chain));
  }
  if (!in.ok()) return Corrupt("the names of the methods are damaged");
  return table;
}

namespace {

const std::unordered_map<std::string_view, Method>& MethodsByName() {
  static const auto methods = [] {
    std::unordered_map<std::string_view, Method> by_name;
    for (uint32_t i = 0; i < kMethodCount; ++i) {
      const auto method = static_cast<Method>(i);
      by_name.emplace(Describe(method).name, method);
    }
    return by_name;
  }();
  return methods;
}

const std::unordered_map<std::string, Chain>& ChainsByName() {
  static const auto chains = [] {
    std::unordered_map<std::string, Chain> by_name;
    for (size_t i = 1; i < kChainCount; ++i) by_name.emplace(ChainName(i), static_cast<Chain>(i));
    return by_name;
  }();
  return chains;
}

}  // namespace

TraceMeaning MeaningOf(const TraceTable& table) {
  const auto& methods = MethodsByName();
  const auto& chains = ChainsByName();
  TraceMeaning meaning;
  for (const TracedMethod& traced : table.methods) {
    const auto known = methods.find(traced.name);
    const bool same = known != methods.end() && LayoutHash(known->second) == traced.layout;
    meaning.methods.push_back(same ? std::optional(known->second) : std::nullopt);
  }
  for (const std::string& traced : table.chains) {
    const auto known = chains.find(traced);
    meaning.chains.push_back(known == chains.end() ? Chain::kNone : known->second);
  }
  return meaning;
}

std::vector<std::byte> EncodeTraceIndex(const TraceIndex& index) {
  ByteWriter out;
  const TraceTotals& totals = index.totals;
  for (const uint64_t total :
       {totals.records, totals.calls, totals.frames, totals.first_frame, totals.objects,
        totals.blobs, totals.blob_bytes, totals.stored_blob_bytes}) {
    out.WriteVarint(total);
  }
  out.WriteVarint(index.entries.size());
  uint64_t offset = 0;
  uint64_t number = 0;
  uint64_t frame = 0;
  for (const TraceIndexEntry& entry : index.entries) {
    const RecordChunkHeader& header = entry.header;
    out.WriteVarint((entry.offset - std::exchange(offset, entry.offset)) / kChunkAlignment);
    out.WriteVarint(header.first_number - number);
    out.WriteVarint(header.last_number - header.first_number);
    out.WriteVarint(header.first_frame - std::exchange(frame, header.first_frame));
    out.WriteVarint(header.record_count);
    out.WriteVarint(header.frame_ends);
    number = header.last_number;
  }
  return out.Take();
}

namespace {

// Adds `step` to `value`; false if that is too much.
bool Advance(uint64_t step, uint64_t* value) {
  return !__builtin_add_overflow(*value, step, value);
}

bool ReadEntry(ByteReader& in, TraceIndexEntry* last) {
  uint64_t offset = 0;
  uint64_t first = 0;
  uint64_t span = 0;
  uint64_t frame = 0;
  RecordChunkHeader& header = last->header;
  in.ReadVarint(offset);
  in.ReadVarint(first);
  in.ReadVarint(span);
  in.ReadVarint(frame);
  in.ReadVarint32(header.record_count);
  in.ReadVarint32(header.frame_ends);
  if (!in.ok() || offset == 0 || offset > ~uint64_t{0} / kChunkAlignment || first == 0)
    return false;
  header.first_number = header.last_number;
  return Advance(offset * kChunkAlignment, &last->offset) && Advance(first, &header.first_number) &&
         Advance(frame, &header.first_frame) &&
         !__builtin_add_overflow(header.first_number, span, &header.last_number) &&
         header.record_count != 0 && span >= header.record_count - 1 &&
         header.frame_ends <= header.record_count &&
         header.first_frame <= ~uint64_t{0} - kMaxRecordsInChunk;
}

}  // namespace

Result<TraceIndex> DecodeTraceIndex(std::span<const std::byte> payload) {
  ByteReader in(payload);
  TraceIndex index;
  TraceTotals& totals = index.totals;
  for (uint64_t* total :
       {&totals.records, &totals.calls, &totals.frames, &totals.first_frame, &totals.objects,
        &totals.blobs, &totals.blob_bytes, &totals.stored_blob_bytes}) {
    in.ReadVarint(*total);
  }
  uint32_t count = 0;
  in.ReadCount(6, count);
  if (!in.ok() || count > kMaxChunkCount) return Corrupt("the index of the records is damaged");
  TraceIndexEntry entry;
  index.entries.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    if (!ReadEntry(in, &entry)) return Corrupt("the index of the records is damaged");
    index.entries.push_back(entry);
  }
  return index;
}

std::vector<std::byte> EncodeTraceEnd(std::span<const TraceThread> threads) {
  ByteWriter out;
  out.WriteVarint(threads.size());
  for (const TraceThread& thread : threads) {
    out.WriteVarint(thread.index);
    out.WriteVarint(thread.thread_id);
    out.WriteString(thread.name, kLongestName);
    out.WriteVarint(thread.unreturned_call);
  }
  return out.Take();
}

Result<std::vector<TraceThread>> DecodeTraceEnd(std::span<const std::byte> payload) {
  ByteReader in(payload);
  uint32_t count = 0;
  in.ReadCount(4, count);
  if (count > kMaxTraceThreads) in.Fail();
  std::vector<TraceThread> threads;
  for (uint32_t i = 0; i < count && in.ok(); ++i) {
    TraceThread thread;
    in.ReadVarint32(thread.index);
    in.ReadVarint32(thread.thread_id);
    ReadText(in, kLongestName, &thread.name);
    in.ReadVarint(thread.unreturned_call);
    threads.push_back(std::move(thread));
  }
  if (!in.ok()) return Corrupt("the list of the threads is damaged");
  return threads;
}

}  // namespace cairn
