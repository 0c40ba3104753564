// SPDX-License-Identifier: Apache-2.0
#include "reader/bisect/probe_question.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/byte_reader.h"
#include "base/byte_writer.h"

namespace cairn {
namespace {

constexpr uint8_t kMostSuspectKind = static_cast<uint8_t>(Suspect::Kind::kCall);

void WriteText(const std::string& text, ByteWriter* writer) {
  writer->WriteString(text, ProbeQuestion::kMaxTextBytes);
}

std::string ReadText(ByteReader* reader) {
  std::string_view text;
  reader->ReadString(ProbeQuestion::kMaxTextBytes, text);
  return std::string(text);
}

// 0 or 1.
bool ReadFlag(ByteReader* reader) {
  uint8_t flag = 0;
  reader->ReadU8(flag);
  if (flag > 1) reader->Fail();
  return flag == 1;
}

Suspect ReadSuspect(ByteReader* reader) {
  uint8_t kind = 0;
  Suspect suspect;
  reader->ReadU8(kind);
  reader->ReadVarint(suspect.call);
  reader->ReadVarint32(suspect.list);
  if (kind > kMostSuspectKind) reader->Fail();
  suspect.kind = static_cast<Suspect::Kind>(std::min(kind, kMostSuspectKind));
  return suspect;
}

}  // namespace

std::vector<std::byte> WriteProbeQuestion(const ProbeQuestion& question) {
  ByteWriter writer;
  WriteText(question.path, &writer);
  WriteText(question.on.library, &writer);
  WriteText(question.on.adapter, &writer);
  writer.WriteU64(question.hang_timeout_ns);
  writer.WriteU8(question.device.has_value() ? 1 : 0);
  if (question.device.has_value()) {
    WriteText(question.device->name, &writer);
    WriteText(question.device->driver, &writer);
    WriteText(question.device->library, &writer);
    WriteText(question.device->library_paths, &writer);
  }
  writer.WriteU8(question.only_device ? 1 : 0);
  writer.WriteU64(question.leave.stop_before);
  writer.WriteVarint(question.leave.left_out.size());
  for (const Suspect& suspect : question.leave.left_out) {
    writer.WriteU8(static_cast<uint8_t>(suspect.kind));
    writer.WriteVarint(suspect.call);
    writer.WriteVarint(suspect.list);
  }
  const std::optional<KeptParts>& parts = question.leave.parts;
  writer.WriteU8(parts.has_value() ? 1 : 0);
  if (parts.has_value()) {
    for (const uint64_t word : {parts->call, parts->first, parts->end}) writer.WriteVarint(word);
    writer.WriteVarint(parts->stride_bytes);
  }
  const BytesToRead& read = question.read;
  for (const uint64_t word : {read.submission, read.buffer, read.offset_bytes, read.size_bytes}) {
    writer.WriteVarint(word);
  }
  return writer.Take();
}

Result<ProbeQuestion> ReadProbeQuestion(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  ProbeQuestion question;
  question.path = ReadText(&reader);
  question.on.library = ReadText(&reader);
  question.on.adapter = ReadText(&reader);
  reader.ReadU64(question.hang_timeout_ns);
  if (ReadFlag(&reader)) {
    DeviceFacts device;
    device.name = ReadText(&reader);
    device.driver = ReadText(&reader);
    device.library = ReadText(&reader);
    device.library_paths = ReadText(&reader);
    question.device = std::move(device);
  }
  question.only_device = ReadFlag(&reader);
  reader.ReadU64(question.leave.stop_before);
  constexpr size_t kLeastSuspectBytes = 3;
  uint32_t count = 0;
  reader.ReadCount(kLeastSuspectBytes, count);
  std::vector<Suspect>& left_out = question.leave.left_out;
  left_out.reserve(count);
  for (uint32_t i = 0; i < count && reader.ok(); ++i) left_out.push_back(ReadSuspect(&reader));
  if (ReadFlag(&reader)) {
    KeptParts& parts = question.leave.parts.emplace();
    for (uint64_t* const word : {&parts.call, &parts.first, &parts.end}) reader.ReadVarint(*word);
    reader.ReadVarint32(parts.stride_bytes);
  }
  BytesToRead& read = question.read;
  for (uint64_t* const word :
       {&read.submission, &read.buffer, &read.offset_bytes, &read.size_bytes}) {
    reader.ReadVarint(*word);
  }
  if (read.size_bytes > BytesToRead::kMostBytes) reader.Fail();
  if (!reader.ok() || reader.remaining() != 0) {
    return Status(StatusCode::kCorrupt, "the question to a probe is damaged");
  }
  return question;
}

}  // namespace cairn
