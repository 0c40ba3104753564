// SPDX-License-Identifier: Apache-2.0
#include "format/pix/pix_event.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/text.h"
#include "format/pix/blob.h"
#include "format/pix/text_decode.h"

namespace cairn {
namespace {

constexpr size_t kShownBytes = 32;

std::string BytesInWords(uint32_t metadata, std::span<const std::byte> payload,
                         uint64_t size_bytes) {
  std::string text =
      fmt::format("metadata {}, {} byte{}", metadata, size_bytes, size_bytes == 1 ? "" : "s");
  const size_t shown = std::min(payload.size(), kShownBytes);
  if (shown != 0) text += ':';
  for (const std::byte byte : payload.first(shown)) {
    fmt::format_to(std::back_inserter(text), " {:02x}", std::to_integer<unsigned>(byte));
  }
  if (shown < size_bytes && shown != 0) text += " …";
  return text;
}

void TakeString(PixFormat format, DecodedText decoded, bool is_cut, PixEvent& event) {
  event.format = format;
  event.name_is_ansi = format == PixFormat::kAnsi;
  event.name = std::move(decoded.text);
  event.text = Utf8Prefix(event.name, kMaxPixTextBytes);
  if (is_cut && !decoded.has_terminator) {
    event.complete = false;
    event.problem = "the string is cut";
  } else if (event.text.size() < event.name.size()) {
    event.complete = false;
    event.problem = fmt::format("the text is longer than {} bytes", kMaxPixTextBytes);
  }
}

}  // namespace

PixEvent DecodePixEvent(uint32_t metadata, std::span<const std::byte> payload,
                        uint64_t size_bytes) {
  PixEvent event;
  const bool is_cut = size_bytes > payload.size();
  switch (metadata) {
    case kPixMetadataUtf16:
      if (LooksLikeUtf32(payload)) {
        TakeString(PixFormat::kUtf32, DecodeUtf32(payload), is_cut, event);
      } else {
        TakeString(PixFormat::kUtf16, DecodeUtf16(payload), is_cut, event);
      }
      return event;
    case kPixMetadataAnsi:
      TakeString(PixFormat::kAnsi, DecodeAnsi(payload), is_cut, event);
      return event;
    case kPixMetadataBlob:
    case kPixMetadataBlobV2:
      DecodePixBlob(payload, event);
      if (event.kind == PixKind::kUnknown) event.text = BytesInWords(metadata, payload, size_bytes);
      return event;
    default:
      event.text = BytesInWords(metadata, payload, size_bytes);
      event.complete = false;
      event.problem = fmt::format("{} is no metadata of PIX", metadata);
      return event;
  }
}

PixEvent DecodePixEvent(uint32_t metadata, std::span<const std::byte> payload) {
  return DecodePixEvent(metadata, payload, payload.size());
}

std::string PixText(uint32_t metadata, std::span<const std::byte> payload, uint64_t size_bytes) {
  PixEvent event = DecodePixEvent(metadata, payload, size_bytes);
  const bool is_bytes = event.format == PixFormat::kUnknown ||
                        (event.kind == PixKind::kUnknown && (event.format == PixFormat::kBlobV1 ||
                                                             event.format == PixFormat::kBlobV2));
  if (!event.complete && !is_bytes) event.text += "…";
  return std::move(event.text);
}

std::string PixText(uint32_t metadata, std::span<const std::byte> payload) {
  return PixText(metadata, payload, payload.size());
}

uint32_t PixMetadata(PixFormat format) {
  switch (format) {
    case PixFormat::kAnsi: return kPixMetadataAnsi;
    case PixFormat::kBlobV1: return kPixMetadataBlob;
    case PixFormat::kBlobV2: return kPixMetadataBlobV2;
    case PixFormat::kUnknown:
    case PixFormat::kUtf16:
    case PixFormat::kUtf32: break;
  }
  return kPixMetadataUtf16;
}

const char* PixFormatName(PixFormat format) {
  switch (format) {
    case PixFormat::kUnknown: break;
    case PixFormat::kUtf16: return "UTF-16 string";
    case PixFormat::kUtf32: return "UTF-32 string";
    case PixFormat::kAnsi: return "ANSI string";
    case PixFormat::kBlobV1: return "PIX blob, version 1";
    case PixFormat::kBlobV2: return "PIX blob, version 2";
  }
  return "unknown";
}

const char* PixKindName(PixKind kind) {
  switch (kind) {
    case PixKind::kUnknown: break;
    case PixKind::kEnd: return "end";
    case PixKind::kBegin: return "begin";
    case PixKind::kMarker: return "marker";
  }
  return "unknown";
}

const char* PixArgumentTypeName(PixArgumentType type) {
  switch (type) {
    case PixArgumentType::kRaw: break;
    case PixArgumentType::kSigned: return "signed";
    case PixArgumentType::kUnsigned: return "unsigned";
    case PixArgumentType::kFloat: return "float";
    case PixArgumentType::kCharacter: return "character";
    case PixArgumentType::kPointer: return "pointer";
    case PixArgumentType::kString: return "string";
    case PixArgumentType::kNullString: return "null string";
  }
  return "raw";
}

}  // namespace cairn
