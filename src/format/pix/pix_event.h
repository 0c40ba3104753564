// SPDX-License-Identifier: Apache-2.0
//
// The arguments of BeginEvent and SetMarker: (Metadata, pData, Size) as data that can be shown.
// Readers that only need one line of text call PixText.
//
// The bytes are hostile: nothing outside of them is read, whatever they say about their lengths, and
// no text in them is ever a format for printf. Nothing here blocks, throws (but for memory) or keeps
// state; all functions may be called by any thread. Cost: BM_DecodePixEvent of pix_bench.
// The formats are explained in docs/reference/pix.md.
#ifndef CAIRN_FORMAT_PIX_PIX_EVENT_H_
#define CAIRN_FORMAT_PIX_PIX_EVENT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace cairn {

// Values of Metadata. There are no others.
inline constexpr uint32_t kPixMetadataUtf16 = 0;
inline constexpr uint32_t kPixMetadataAnsi = 1;
inline constexpr uint32_t kPixMetadataBlob = 2;          // PIX3
inline constexpr uint32_t kPixMetadataBlobV2 = 6345127;  // PIX3, second version

// Text is cut at this many bytes of UTF-8, whatever widths and arguments ask for.
inline constexpr size_t kMaxPixTextBytes = 4096;
inline constexpr size_t kMaxPixArguments = 16;

enum class PixFormat : uint8_t {
  kUnknown,  // a Metadata value that nobody defined
  kUtf16,    // a string
  kUtf32,    // a string of 32-bit wchar_t, as native programs on Linux pass it with Metadata 0
  kAnsi,     // a string
  kBlobV1,
  kBlobV2,
};

enum class PixKind : uint8_t {
  kUnknown,  // a string says nothing about it
  kEnd,
  kBegin,
  kMarker,
};

enum class PixColourKind : uint8_t { kNone, kArgb, kPalette };

struct PixColour {
  PixColourKind kind = PixColourKind::kNone;
  uint32_t value = 0;  // 0xAARRGGBB, or the index into the viewer's palette
  bool operator==(const PixColour&) const = default;
};

// The argument type that a conversion of the format string requests: the bytes themselves do not
// show it.
enum class PixArgumentType : uint8_t {
  kRaw,         // no conversion uses it
  kSigned,      // %d %i, and a width or precision given as *
  kUnsigned,    // %u %o %x %X
  kFloat,       // %f %e %g %a
  kCharacter,   // %c
  kPointer,     // %p
  kString,      // %s
  kNullString,  // %s, and the program passed a null pointer
};

struct PixArgument {
  PixArgumentType type = PixArgumentType::kRaw;
  uint64_t bits = 0;     // the qword; for strings the one that describes them
  std::string text;      // kString: UTF-8
  bool is_ansi = false;  // kString: how it was passed
  bool operator==(const PixArgument&) const = default;
};

struct PixEvent {
  PixFormat format = PixFormat::kUnknown;
  PixKind kind = PixKind::kUnknown;
  // The format string, or the string; UTF-8. Bytes that are invalid in the given encoding become
  // U+FFFD, but an ANSI string that is not UTF-8 is read as Windows-1252.
  std::string name;
  bool name_is_ansi = false;
  // `name` with the arguments in it; `name` itself if there are none. At most kMaxPixTextBytes.
  // A conversion whose argument is missing stays as it is written.
  std::string text;
  PixColour colour;
  std::optional<uint64_t> context;  // the pointer that the program passed
  uint64_t timestamp = 0;           // low 44 bits of a tick count; 0: none
  std::vector<PixArgument> arguments;
  // False if the bytes end before the event does, or contradict the format: `problem` says what is
  // missing, and the rest is what could be decoded.
  bool complete = true;
  std::string problem;
};

// Decodes `payload`: the bytes at pData, `size_bytes` of which the program passed; fewer are here if
// the payload was cut. An unknown `metadata` gives kUnknown with `text` saying the bytes in hex.
PixEvent DecodePixEvent(uint32_t metadata, std::span<const std::byte> payload, uint64_t size_bytes);
PixEvent DecodePixEvent(uint32_t metadata, std::span<const std::byte> payload);

// The text alone, for people: ends with "…" if it is not complete; says the bytes in hex if they are
// no event. UTF-8 that may hold control characters: show it with VisibleText.
std::string PixText(uint32_t metadata, std::span<const std::byte> payload, uint64_t size_bytes);
std::string PixText(uint32_t metadata, std::span<const std::byte> payload);

// Writes `event` (format, kind, name, colour, context, timestamp, arguments) back into bytes, as
// include/cairn/pix.h does: at most 512 bytes for blobs. Metadata is PixMetadata(event.format).
std::vector<std::byte> EncodePixEvent(const PixEvent& event);
uint32_t PixMetadata(PixFormat format);

// "UTF-16 string", "PIX blob, version 2", ...; "begin", "end", "marker", "unknown".
const char* PixFormatName(PixFormat format);
const char* PixKindName(PixKind kind);
const char* PixArgumentTypeName(PixArgumentType type);

}  // namespace cairn

#endif  // CAIRN_FORMAT_PIX_PIX_EVENT_H_
