// SPDX-License-Identifier: Apache-2.0
#include "reader/redact/call_redactor.h"

#include <cstring>
#include <string>
#include <utility>

#include "base/text.h"
#include "d3d12gen/roles.h"
#include "format/calls/name_guids.h"
#include "format/calls/record.h"
#include "format/pix/pix_event.h"
#include "reader/redact/value_roles.h"
#include "reader/report/redact.h"

namespace cairn {
namespace {

std::string_view TextOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// UTF-16 of a text of ASCII characters.
std::string Widened(std::string_view text) {
  std::string wide;
  for (const char c : text) wide.append({c, '\0'});
  return wide;
}

// The name that reports show of a marker.
std::string NameOfMarker(const PixEvent& event, uint32_t metadata,
                         std::span<const std::byte> payload) {
  const bool is_whole = event.complete && event.format != PixFormat::kUnknown;
  return is_whole ? event.text : PixText(metadata, payload);
}

}  // namespace

std::string Utf8OfUtf16(std::span<const std::byte> bytes) {
  std::string text(bytes.size() / 2 * 3 + 4, '\0');
  text.resize(WriteUtf8({bytes.data(), 2, bytes.size() / 2}, text).text.size());
  return text;
}

std::string HiddenName(std::string_view name) {
  return name.empty() ? std::string() : RedactedName(name);
}

Result<std::span<const std::byte>> CallRedactor::Redact(Method method,
                                                        std::span<const std::byte> body,
                                                        CallBody kind) {
  body_.clear();
  arena_.Reset();
  const Role role = RoleOf(method).role;
  Status status;
  if (kind == CallBody::kArguments && role == Role::kPrivateData) {
    status = RedactPrivateData(body);
  } else if (kind == CallBody::kArguments && (role == Role::kBeginEvent || role == Role::kMarker)) {
    status = RedactMarker(body);
  } else {
    status = RedactValues(method, body, kind);
  }
  if (!status.ok()) return status;
  return std::span<const std::byte>(body_);
}

// SetPrivateData: GUID, size, and the data as a byte value.
Status CallRedactor::RedactPrivateData(std::span<const std::byte> body) {
  const Result<InterfaceGuid> guid = DecodeBody<InterfaceGuid>(&body);
  const Result<uint32_t> size = DecodeBody<uint32_t>(&body);
  if (!size.ok()) return size.status();
  const Result<std::span<const std::byte>> data = ByteValue(body);
  if (!data.ok()) return data.status();
  std::string hidden;
  if (*guid == kWideNameGuid) {
    hidden = Widened(HiddenName(Utf8OfUtf16(*data)));
  } else if (*guid == kNameGuid) {
    const std::string_view text = TextOf(*data);
    hidden = HiddenName(text.substr(0, text.find('\0')));
  } else {
    hidden = HiddenName(TextOf(*data));
  }
  const bool is_null = data->data() == nullptr;
  PutNumber(*guid);
  PutNumber(is_null ? *size : static_cast<uint32_t>(hidden.size()));
  PutNumber(is_null ? kNullBytes : static_cast<uint32_t>(hidden.size()));
  Put(std::as_bytes(std::span(hidden)));
  return {};
}

// BeginEvent and SetMarker: metadata, the payload as a byte value, and its size.
Status CallRedactor::RedactMarker(std::span<const std::byte> body) {
  const Result<uint32_t> metadata = DecodeBody<uint32_t>(&body);
  if (!metadata.ok()) return metadata.status();
  if (body.size() < 2 * sizeof(uint32_t))
    return Status(StatusCode::kCorrupt, "the record is too short");
  const std::span<const std::byte> size = body.last(sizeof(uint32_t));
  const Result<std::span<const std::byte>> payload =
      ByteValue(body.first(body.size() - size.size()));
  if (!payload.ok()) return payload.status();
  if (payload->data() == nullptr) {
    PutNumber(*metadata);
    PutNumber(kNullBytes);
    Put(size);
    return {};
  }
  PixEvent event = DecodePixEvent(*metadata, *payload);
  event.name = HiddenName(NameOfMarker(event, *metadata, *payload));
  // Its numbers are part of the text.
  event.arguments.clear();
  event.context.reset();
  event.timestamp = 0;
  if (!event.complete || event.format == PixFormat::kUnknown) event.format = PixFormat::kAnsi;
  const std::vector<std::byte> hidden = EncodePixEvent(event);
  PutNumber(PixMetadata(event.format));
  PutNumber(static_cast<uint32_t>(hidden.size()));
  Put(hidden);
  PutNumber(static_cast<uint32_t>(hidden.size()));
  return {};
}

Status CallRedactor::RedactValues(Method method, std::span<const std::byte> body, CallBody kind) {
  values_.clear();
  DecodeOptions options;
  options.blobs = &trace_;
  options.refuse_unknown_parts = true;  // they may hold anything
  CAIRN_RETURN_IF_ERROR(
      FindEncodedValues(Describe(method), body, kind, options, &arena_, &values_));
  size_t done = 0;
  for (const EncodedValue& value : values_) {
    Put(body.subspan(done, value.offset - done));
    CAIRN_RETURN_IF_ERROR(
        PutValue(method, value, body.subspan(value.offset, value.size_bytes), kind));
    done = value.offset + value.size_bytes;
  }
  Put(body.subspan(done));
  return {};
}

Status CallRedactor::PutValue(Method method, const EncodedValue& value,
                              std::span<const std::byte> encoded, CallBody kind) {
  const bool is_text = value.shape != Shape::kBytes;
  const ValueRole role =
      is_text ? RoleOfText(Describe(method), value, kind) : RoleOfBytes(method, *value.value, kind);
  if (role == ValueRole::kAnswer) {
    PutNumber(kNullBytes);
    return {};
  }
  const bool is_hidden = role == ValueRole::kName || role == ValueRole::kCache ||
                         (role == ValueRole::kCode && what_.shaders) ||
                         (role == ValueRole::kContents && what_.contents);
  if (is_hidden && is_text) {
    PutText(value.shape, encoded);
    return {};
  }
  Put(encoded);
  if (!is_hidden) return {};
  std::string hash;
  if (role == ValueRole::kCode) {
    const Result<std::span<const std::byte>> code = ByteValue(encoded);
    if (!code.ok()) return code.status();
    hash = HiddenName(TextOf(*code));
  }
  hidden_.Hide(std::span(body_).last(encoded.size()), hash);
  return {};
}

void CallRedactor::PutText(Shape shape, std::span<const std::byte> encoded) {
  const std::span<const std::byte> text = encoded.subspan(sizeof(uint32_t));
  if (text.empty()) return Put(encoded);  // null, too
  const bool is_wide = shape == Shape::kWideString;
  std::string hidden = HiddenName(is_wide ? Utf8OfUtf16(text) : std::string(TextOf(text)));
  if (is_wide) hidden = Widened(hidden);
  PutNumber(static_cast<uint32_t>(hidden.size()));
  Put(std::as_bytes(std::span(hidden)));
}

}  // namespace cairn
