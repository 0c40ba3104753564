// SPDX-License-Identifier: Apache-2.0
//
// EncodePixEvent: in terms of the encoder that applications use.
#include <algorithm>
#include <cstring>
#include <string_view>

#include "cairn/pix.h"

#include "format/pix/pix_event.h"

namespace cairn {
namespace {

// UTF-8 of our own decoder: valid. char16_t and char32_t are the sizes that wchar_t has.
std::u32string CodePoints(std::string_view text) {
  std::u32string points;
  for (size_t at = 0; at < text.size();) {
    const uint8_t lead = static_cast<uint8_t>(text[at]);
    const size_t bytes = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    char32_t point = bytes == 1 ? lead : lead & (0xFFu >> (bytes + 1));
    for (size_t i = 1; i < bytes && at + i < text.size(); ++i) {
      point = point << 6 | (static_cast<uint8_t>(text[at + i]) & 0x3Fu);
    }
    points += point;
    at += bytes;
  }
  return points;
}

void AppendBytes(const void* data, size_t size, std::vector<std::byte>& bytes) {
  const std::byte* first = static_cast<const std::byte*>(data);
  bytes.insert(bytes.end(), first, first + size);
}

void AppendUnit(uint32_t unit, size_t unit_bytes, std::vector<std::byte>& bytes) {
  for (size_t i = 0; i < unit_bytes; ++i) bytes.push_back(static_cast<std::byte>(unit >> (8 * i)));
}

std::vector<std::byte> EncodeString(const PixEvent& event) {
  std::vector<std::byte> bytes;
  if (event.format == PixFormat::kAnsi) {
    AppendBytes(event.name.data(), event.name.size(), bytes);
    AppendUnit(0, 1, bytes);
    return bytes;
  }
  const size_t unit_bytes = event.format == PixFormat::kUtf32 ? 4 : 2;
  for (const char32_t point : CodePoints(event.name) + U'\0') {
    if (unit_bytes == 2 && point >= 0x10000) {
      AppendUnit(0xD800 + ((point - 0x10000) >> 10), 2, bytes);
      AppendUnit(0xDC00 + ((point - 0x10000) & 0x3FF), 2, bytes);
    } else {
      AppendUnit(point, unit_bytes, bytes);
    }
  }
  return bytes;
}

cairn_pix::Header BlobHeader(const PixEvent& event) {
  cairn_pix::Header header(
      event.format == PixFormat::kBlobV2 ? 2 : 1,
      event.kind == PixKind::kBegin ? cairn_pix::Kind::kBegin : cairn_pix::Kind::kMarker,
      event.colour.value, event.timestamp);
  header.has_context = event.context.has_value();
  header.context = event.context.value_or(0);
  return header;
}

void WriteString(const std::string& text, bool is_ansi, cairn_pix::Blob& blob) {
  if (is_ansi) {
    blob.String(text.c_str(), cairn_pix::kNoLimit);
  } else {
    blob.String(CodePoints(text).c_str(), cairn_pix::kNoLimit);
  }
}

cairn_pix::Blob BeginBlob(const PixEvent& event) {
  const bool has_arguments = !event.arguments.empty();
  if (event.name_is_ansi) {
    return cairn_pix::Blob(BlobHeader(event), event.name.c_str(), has_arguments);
  }
  return cairn_pix::Blob(BlobHeader(event), CodePoints(event.name).c_str(), has_arguments);
}

// An end has neither name nor arguments, and only version 2 has a blob for it.
std::vector<std::byte> EncodeEnd(const PixEvent& event) {
  const bool colour_follows = event.colour.value >= 8;
  std::vector<uint64_t> qwords = {event.timestamp << cairn_pix::kTimestampShift |
                                  uint64_t{colour_follows ? 0xF : event.colour.value}
                                      << cairn_pix::kColourShiftV2 |
                                  uint64_t{event.context.has_value()} << cairn_pix::kContextBitV2};
  if (colour_follows) qwords.push_back(event.colour.value);
  if (event.context.has_value()) qwords.push_back(*event.context);
  qwords[0] |= qwords.size();
  std::vector<std::byte> bytes;
  AppendBytes(qwords.data(), qwords.size() * sizeof(uint64_t), bytes);
  return bytes;
}

}  // namespace

std::vector<std::byte> EncodePixEvent(const PixEvent& event) {
  if (event.format != PixFormat::kBlobV1 && event.format != PixFormat::kBlobV2) {
    return EncodeString(event);
  }
  if (event.kind == PixKind::kEnd) return EncodeEnd(event);
  cairn_pix::Blob blob = BeginBlob(event);
  for (const PixArgument& argument : event.arguments) {
    if (argument.type == PixArgumentType::kString) {
      WriteString(argument.text, argument.is_ansi, blob);
    } else {
      blob.Number(argument.bits);
    }
  }
  blob.Finish();
  std::vector<std::byte> bytes;
  AppendBytes(blob.data(), blob.size_bytes(), bytes);
  return bytes;
}

}  // namespace cairn
