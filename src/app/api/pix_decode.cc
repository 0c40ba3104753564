// SPDX-License-Identifier: Apache-2.0
#include "cairn/pix_decode.h"

#include <cstring>
#include <span>
#include <string_view>

#include "app/api/errors.h"
#include "base/text.h"
#include "format/pix/pix_event.h"

namespace cairn {
namespace {

static_assert(CAIRN_PIX_TEXT_BYTES == kMaxPixTextBytes);
static_assert(CAIRN_PIX_MAX_ARGUMENTS == kMaxPixArguments);
static_assert(CAIRN_PIX_FORMAT_UTF32 == static_cast<int>(PixFormat::kUtf32));
static_assert(CAIRN_PIX_FORMAT_BLOB_V2 == static_cast<int>(PixFormat::kBlobV2));
static_assert(CAIRN_PIX_KIND_MARKER == static_cast<int>(PixKind::kMarker));
static_assert(CAIRN_PIX_COLOUR_PALETTE == static_cast<int>(PixColourKind::kPalette));
static_assert(CAIRN_PIX_ARGUMENT_NULL_STRING == static_cast<int>(PixArgumentType::kNullString));

template <size_t kSize>
void CopyText(std::string_view from, char (&to)[kSize]) {
  // A zero in it would end it for the reader.
  from = Utf8Prefix(from.substr(0, from.find('\0')), kSize - 1);
  std::memcpy(to, from.data(), from.size());
  to[from.size()] = 0;
}

void Fill(const PixEvent& decoded, CairnPixEvent* event) {
  *event = {};
  event->struct_size = sizeof(*event);
  event->format = static_cast<CairnPixFormat>(decoded.format);
  event->kind = static_cast<CairnPixKind>(decoded.kind);
  event->colour_kind = static_cast<CairnPixColourKind>(decoded.colour.kind);
  event->colour = decoded.colour.value;
  event->has_context = decoded.context.has_value();
  event->context = decoded.context.value_or(0);
  event->timestamp = decoded.timestamp;
  event->complete = decoded.complete;
  for (const PixArgument& argument : decoded.arguments) {
    if (event->argument_count == CAIRN_PIX_MAX_ARGUMENTS) break;
    const uint32_t index = event->argument_count++;
    event->argument_types[index] = static_cast<CairnPixArgumentType>(argument.type);
    event->argument_bits[index] = argument.bits;
  }
  CopyText(decoded.name, event->name);
  CopyText(decoded.text, event->text);
  CopyText(decoded.problem, event->problem);
}

}  // namespace
}  // namespace cairn

CairnResult cairnDecodePixEvent(uint32_t metadata, const void* data, size_t available_bytes,
                                uint64_t size_bytes, CairnPixEvent* event) {
  return cairn::Guarded([&] {
    if (event == nullptr || event->struct_size != sizeof(CairnPixEvent) ||
        (data == nullptr && available_bytes != 0) || available_bytes > size_bytes) {
      return cairn::Fail(CAIRN_ERROR_INVALID_ARGUMENT,
                         "CairnPixEvent is NULL or its struct_size is not sizeof(CairnPixEvent), "
                         "the payload is NULL, or it has more bytes than were passed");
    }
    const std::span payload(static_cast<const std::byte*>(data), available_bytes);
    cairn::Fill(cairn::DecodePixEvent(metadata, payload, size_bytes), event);
    return CAIRN_OK;
  });
}
