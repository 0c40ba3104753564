// SPDX-License-Identifier: Apache-2.0
// Any bytes with any metadata must give bounded UTF-8 text, and an event that encodes to bytes which
// decode to the same event again.
//
// Input: Metadata (4 bytes), how many bytes the program passed beyond those that are here (2 bytes),
// the payload.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "base/text.h"
#include "format/pix/pix_event.h"

namespace cairn {
namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

void RequireSane(const PixEvent& event) {
  Require(event.text.size() <= kMaxPixTextBytes);
  Require(IsValidUtf8(event.text) && IsValidUtf8(event.name));
  Require(event.complete == event.problem.empty());
  Require(event.arguments.size() <= kMaxPixArguments);
  Require(event.timestamp >> 44 == 0);
  for (const PixArgument& argument : event.arguments) {
    Require(IsValidUtf8(argument.text));
    Require(argument.text.empty() || argument.type == PixArgumentType::kString);
  }
}

bool IsBlob(const PixEvent& event) {
  return event.format == PixFormat::kBlobV1 || event.format == PixFormat::kBlobV2;
}

void RequireRoundTrip(const PixEvent& event) {
  const std::vector<std::byte> bytes = EncodePixEvent(event);
  const PixEvent again = DecodePixEvent(PixMetadata(event.format), bytes);
  RequireSane(again);
  // The encoder cuts what is longer than an event may be, and no longer knows colours as they were.
  const bool is_short = !IsBlob(event) || bytes.size() < 512;
  const bool is_same = event.colour.kind != PixColourKind::kNone || !IsBlob(event);
  if (!event.complete || !is_short || !is_same) return;
  // Unusual characters of UTF-16 are taken for UTF-32.
  if (again.format != event.format) return;
  Require(again.name == event.name && again.kind == event.kind);
  Require(again.colour == event.colour && again.context == event.context);
  Require(again.timestamp == event.timestamp);
  Require(again.arguments.size() == event.arguments.size());
  for (size_t i = 0; i < event.arguments.size(); ++i) {
    Require(again.arguments[i].type == event.arguments[i].type);
    Require(again.arguments[i].text == event.arguments[i].text);
  }
}

}  // namespace
}  // namespace cairn

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  uint32_t metadata = 0;
  uint16_t beyond = 0;
  if (size < sizeof(metadata) + sizeof(beyond)) return 0;
  std::memcpy(&metadata, data, sizeof(metadata));
  std::memcpy(&beyond, data + sizeof(metadata), sizeof(beyond));
  // Memory of its own, so that a read in front of it is seen as well.
  const std::vector<uint8_t> copy(data + 6, data + size);
  const auto payload = std::as_bytes(std::span(copy));
  const cairn::PixEvent event = cairn::DecodePixEvent(metadata, payload, payload.size() + beyond);
  cairn::RequireSane(event);
  const std::string text = cairn::PixText(metadata, payload, payload.size() + beyond);
  cairn::Require(text.starts_with(event.text));
  cairn::Require(std::equal(copy.begin(), copy.end(), data + 6));
  const bool is_event = event.format != cairn::PixFormat::kUnknown &&
                        (!cairn::IsBlob(event) || event.kind != cairn::PixKind::kUnknown);
  if (is_event) cairn::RequireRoundTrip(event);
  return 0;
}
