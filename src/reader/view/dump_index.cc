// SPDX-License-Identifier: Apache-2.0
#include "reader/view/dump_index.h"

#include <algorithm>
#include <cstring>
#include <unordered_set>
#include <utility>

#include "base/crc32c.h"

namespace cairn {
namespace {

constexpr char kMagic[] = "CAIRNDIX";
constexpr size_t kMagicBytes = sizeof(kMagic) - 1;
constexpr uint32_t kVersion = 1;
constexpr size_t kMostTextBytes = size_t{1} << 20;
constexpr uint32_t kMostTexts = 65'536;  // of a list
constexpr size_t kIdDigits = 16;
constexpr size_t kFewestBytes = 12;  // of an entry

// Fields in their order, once for writing and once for reading.
template <typename Coder>
void CodeDump(DumpSummary& dump, Coder& coder) {
  coder.Number(dump.seen_ns);
  coder.Text(dump.program);
  coder.Text(dump.version);
  coder.Word(dump.certainty);
  coder.Text(dump.sentence);
  coder.Number(dump.loss_count);
  Signature& signature = dump.signature;
  for (std::string* const text :
       {&signature.kind, &signature.cause, &signature.device, &signature.driver, &signature.id}) {
    coder.Text(*text);
  }
  coder.Texts(signature.path);
  coder.Texts(signature.shaders);
}

struct Encoder {
  ByteWriter& to;
  void Number(uint64_t value) { to.WriteVarint(value); }
  void Text(const std::string& text) { to.WriteString(text, kMostTextBytes); }
  void Word(Certainty value) { to.WriteU8(static_cast<uint8_t>(value)); }
  void Texts(const std::vector<std::string>& texts) {
    to.WriteVarint(texts.size());
    for (const std::string& text : texts) Text(text);
  }
};

struct Decoder {
  ByteReader& from;
  void Number(uint64_t& value) { from.ReadVarint(value); }
  void Text(std::string& text) {
    std::string_view view;
    if (from.ReadString(kMostTextBytes, view)) text = view;
  }
  void Word(Certainty& value) {
    uint8_t word = 0;
    from.ReadU8(word);
    if (word > static_cast<uint8_t>(Certainty::kUnknown)) return from.Fail();
    value = static_cast<Certainty>(word);
  }
  void Texts(std::vector<std::string>& texts) {
    uint32_t count = 0;
    from.ReadCount(1, count);
    if (count > kMostTexts) return from.Fail();
    for (uint32_t i = 0; i < count && from.ok(); ++i) Text(texts.emplace_back());
  }
};

bool IsId(std::string_view id) {
  return id.size() == kIdDigits &&
         id.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// Other reasons do not follow from the bytes of the file alone.
bool IsOfTheFile(StatusCode code) {
  return code == StatusCode::kCorrupt || code == StatusCode::kNotFound ||
         code == StatusCode::kUnsupported;
}

// A message may name its file as this run calls it, which a later run need not do.
bool NamesItsFile(const Status& status) {
  return status.WithFile("a file").message() == status.message();
}

}  // namespace

void DumpIndex::WriteEntry(const std::string& path, const Entry& entry, ByteWriter* writer) {
  writer->WriteString(path, kMostTextBytes);
  writer->WriteVarint(entry.stamp.size_bytes);
  writer->WriteI64(entry.stamp.written);
  if (entry.dump.ok()) {
    writer->WriteU8(0);
    DumpSummary dump = *entry.dump;
    Encoder encoder{*writer};
    CodeDump(dump, encoder);
    return;
  }
  const Status status = entry.dump.status();
  writer->WriteU8(static_cast<uint8_t>(1 + static_cast<int>(status.code())));
  writer->WriteString(status.message(), kMostTextBytes);
}

bool DumpIndex::ReadEntry(ByteReader* reader) {
  const size_t begin = reader->offset();
  std::string_view path;
  Entry entry{.stamp = {}, .dump = DumpSummary()};
  uint8_t state = 0;
  if (!reader->ReadString(kMostTextBytes, path) || path.empty()) return false;
  reader->ReadVarint(entry.stamp.size_bytes);
  reader->ReadI64(entry.stamp.written);
  reader->ReadU8(state);
  if (state == 0) {
    Decoder decoder{*reader};
    CodeDump(*entry.dump, decoder);
    entry.dump->size_bytes = entry.stamp.size_bytes;
    if (!IsId(entry.dump->signature.id) ||
        entry.dump->signature.path.size() > Signature::kPathLength) {
      return false;
    }
  } else {
    std::string_view message;
    reader->ReadString(kMostTextBytes, message);
    const auto code = static_cast<StatusCode>(state - 1);
    if (!IsOfTheFile(code)) return false;
    entry.dump = Status(code, std::string(message));
  }
  entry.bytes = reader->offset() - begin;
  bytes_ += entry.bytes;
  return reader->ok() && entries_.try_emplace(std::string(path), std::move(entry)).second;
}

DumpIndex DumpIndex::FromBytes(std::span<const std::byte> bytes, uint64_t build) {
  DumpIndex index;
  ByteReader reader(bytes);
  std::span<const std::byte> magic;
  uint32_t version = 0;
  uint64_t found_build = 0;
  uint32_t crc = 0;
  uint32_t count = 0;
  if (!reader.ReadBytes(kMagicBytes, magic) ||
      std::memcmp(magic.data(), kMagic, kMagicBytes) != 0 || !reader.ReadU32(version) ||
      version != kVersion || !reader.ReadU64(found_build) || found_build != build ||
      !reader.ReadU32(crc) || crc != Crc32c(bytes.subspan(reader.offset())) ||
      !reader.ReadCount(kFewestBytes, count) || count > kMostEntries) {
    return index;
  }
  index.entries_.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    if (!index.ReadEntry(&reader)) return {};
  }
  return reader.remaining() == 0 ? std::move(index) : DumpIndex();
}

std::vector<std::byte> DumpIndex::Bytes(uint64_t build) const {
  ByteWriter body;
  body.Reserve(bytes_ + 16);
  body.WriteVarint(entries_.size());
  for (const auto& [path, entry] : entries_) WriteEntry(path, entry, &body);
  ByteWriter writer;
  writer.Reserve(body.size() + 32);
  writer.WriteBytes(std::as_bytes(std::span(kMagic, kMagicBytes)));
  writer.WriteU32(kVersion);
  writer.WriteU64(build);
  writer.WriteU32(Crc32c(body.bytes()));
  writer.WriteBytes(body.bytes());
  return writer.Take();
}

const Result<DumpSummary>* DumpIndex::Find(const std::string& path, const FileStamp& stamp) const {
  const auto found = entries_.find(path);
  return found == entries_.end() || found->second.stamp != stamp ? nullptr : &found->second.dump;
}

void DumpIndex::Drop(std::unordered_map<std::string, Entry>::iterator entry) {
  bytes_ -= entry->second.bytes;
  entries_.erase(entry);
}

bool DumpIndex::Keep(const std::string& path, const FileStamp& stamp,
                     const Result<DumpSummary>& dump) {
  if (const auto before = entries_.find(path); before != entries_.end()) Drop(before);
  if (!dump.ok() && (!IsOfTheFile(dump.status().code()) || NamesItsFile(dump.status()))) {
    return false;
  }
  Entry entry{.stamp = stamp, .dump = dump};
  if (dump.ok()) entry.dump->file.clear();
  ByteWriter size;
  WriteEntry(path, entry, &size);
  entry.bytes = size.size();
  // A text that was cut makes an entry of more than this.
  if (entry.bytes > kMostTextBytes) return false;
  if (entries_.size() == kMostEntries || bytes_ + entry.bytes > kMostBytes) return false;
  bytes_ += entry.bytes;
  entries_.emplace(path, std::move(entry));
  return true;
}

void DumpIndex::KeepOnly(std::span<const std::string> paths) {
  const std::unordered_set<std::string_view> kept(paths.begin(), paths.end());
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    const auto at = entry++;
    if (!kept.contains(at->first)) Drop(at);
  }
}

}  // namespace cairn
