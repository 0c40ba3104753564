// SPDX-License-Identifier: Apache-2.0
#include "format/pix/blob.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "format/pix/format.h"
#include "format/pix/text_decode.h"

namespace cairn {
namespace {

constexpr size_t kQwordBytes = 8;
constexpr uint64_t kUnknownSize = 127;  // in the header of version 2: clamped, or not known
constexpr uint64_t kColourFollows = 0xF;

uint64_t Bits(uint64_t qword, unsigned first, unsigned count) {
  return qword >> first & ((uint64_t{1} << count) - 1);
}

PixColour ColourFromQword(uint64_t qword) {
  // PIX_COLOR has an opaque alpha, PIX_COLOR_INDEX is a byte.
  const uint32_t value = static_cast<uint32_t>(qword);
  return {value < 256 ? PixColourKind::kPalette : PixColourKind::kArgb, value};
}

class BlobReader {
 public:
  BlobReader(std::span<const std::byte> bytes, PixEvent& event) : rest_(bytes), event_(event) {}

  void Read() {
    uint64_t header = 0;
    if (!Qword(header)) {
      Incomplete(fmt::format("{} bytes are too few for an event", rest_.size()));
      return;
    }
    event_.timestamp = Bits(header, 20, 44);
    const bool is_v1 = Bits(header, 0, 7) == 0;
    event_.format = is_v1 ? PixFormat::kBlobV1 : PixFormat::kBlobV2;
    if (is_v1) {
      ReadV1(Bits(header, 10, 10));
    } else {
      ReadV2(header);
    }
  }

 private:
  void ReadV1(uint64_t type) {
    const bool has_context = (type & 0x10) != 0;
    bool has_arguments = false;
    switch (type & ~uint64_t{0x10}) {
      case 1: has_arguments = true; [[fallthrough]];
      case 2: event_.kind = PixKind::kBegin; break;
      case 7: has_arguments = true; [[fallthrough]];
      case 8: event_.kind = PixKind::kMarker; break;
      default: Incomplete(fmt::format("{:#x} is no type of event", type)); return;
    }
    uint64_t colour = 0;
    if (!Qword(colour)) return Incomplete("the colour is missing");
    event_.colour = ColourFromQword(colour);
    if (has_context && !ReadContext()) return;
    uint64_t info = 0;
    if (!Qword(info)) return Incomplete("the name is missing");
    StringInfo layout;
    if (!ReadStringInfo(info, layout)) return;
    event_.name_is_ansi = layout.is_ansi;
    const bool whole = ReadText(layout, event_.name);
    if (!whole) Incomplete("the name is cut");
    if (has_arguments && whole) {
      ReadArguments(/*must_be_there=*/true);
    } else {
      ShowName();
    }
  }

  void ReadV2(uint64_t header) {
    const uint64_t type = Bits(header, 7, 5);
    if (type > 2) return Incomplete(fmt::format("{} is no type of event", type));
    constexpr PixKind kKinds[] = {PixKind::kEnd, PixKind::kBegin, PixKind::kMarker};
    event_.kind = kKinds[type];
    const bool size_fits = LimitToSize(Bits(header, 0, 7));
    const uint64_t palette = Bits(header, 16, 4);
    uint64_t colour = palette;
    if (palette == kColourFollows) {
      if (!Qword(colour)) return Incomplete("the colour is missing");
      event_.colour = ColourFromQword(colour);
    } else if (palette < 8) {
      event_.colour = {PixColourKind::kPalette, static_cast<uint32_t>(palette)};
    } else {
      Incomplete(fmt::format("{} is no colour of the palette", palette));
    }
    if (Bits(header, 12, 1) != 0 && !ReadContext()) return;
    if (event_.kind == PixKind::kEnd) return;
    event_.name_is_ansi = Bits(header, 13, 1) != 0;
    const bool whole = ReadText({event_.name_is_ansi, kQwordBytes, 0}, event_.name);
    if (whole) {
      ReadArguments(/*must_be_there=*/false);
    } else {
      Incomplete("the name is cut");
      ShowName();
    }
    if (!size_fits) Incomplete("the bytes end before the event");
  }

  // False if the event is longer than what is here.
  bool LimitToSize(uint64_t qwords) {
    if (qwords == kUnknownSize) return true;
    const size_t bytes = static_cast<size_t>(qwords - 1) * kQwordBytes;
    const bool fits = bytes <= rest_.size();
    if (fits) rest_ = rest_.first(bytes);
    return fits;
  }

  bool ReadContext() {
    uint64_t context = 0;
    if (Qword(context)) {
      event_.context = context;
      return true;
    }
    Incomplete("the context is missing");
    return false;
  }

  struct StringInfo {
    bool is_ansi = false;
    size_t chunk_bytes = kQwordBytes;
    size_t skipped_bytes = 0;
  };

  bool ReadStringInfo(uint64_t info, StringInfo& layout) {
    layout.skipped_bytes = static_cast<size_t>(Bits(info, 60, 4));
    layout.chunk_bytes = static_cast<size_t>(Bits(info, 55, 5));
    layout.is_ansi = Bits(info, 54, 1) != 0;
    if (Bits(info, 53, 1) != 0) {
      Incomplete("a string is not stored in the event");
      return false;
    }
    const bool known = (layout.chunk_bytes == 8 || layout.chunk_bytes == 16) &&
                       layout.skipped_bytes < layout.chunk_bytes && Bits(info, 0, 53) == 0;
    if (!known) Incomplete(fmt::format("{:#018x} does not describe a string", info));
    return known;
  }

  // Returns false if the end of the bytes cuts the text; `text` then has the part that exists.
  bool ReadText(const StringInfo& layout, std::string& text) {
    const size_t skipped = std::min(layout.skipped_bytes, rest_.size());
    const std::span<const std::byte> bytes = rest_.subspan(skipped);
    DecodedText decoded = layout.is_ansi ? DecodeAnsi(bytes) : DecodeUtf16(bytes);
    text = std::move(decoded.text);
    // Bytes behind the terminator in the last chunk are no part of the event.
    const size_t used = skipped + decoded.consumed_bytes;
    const size_t chunks = (used + layout.chunk_bytes - 1) / layout.chunk_bytes;
    rest_ = rest_.subspan(std::min(chunks * layout.chunk_bytes, rest_.size()));
    return decoded.has_terminator;
  }

  // The bytes do not say what an argument is, the format string does.
  void ReadArguments(bool must_be_there) {
    const std::vector<FormatPiece> pieces = ParseFormat(event_.name);
    size_t wanted = 0;
    bool goes_on = true;
    for (const FormatPiece& piece : pieces) {
      if (!piece.conversion.has_value()) continue;
      const size_t count = piece.conversion->argument_count();
      wanted += count;
      for (size_t i = 0; i + 1 < count && goes_on; ++i) {
        goes_on = ReadArgument(PixArgumentType::kSigned);
      }
      goes_on = goes_on && ReadArgument(piece.conversion->argument_type());
    }
    const size_t found = event_.arguments.size();
    if (found < wanted && (must_be_there || found > 0 || !rest_.empty())) {
      Incomplete(fmt::format("{} of {} arguments are missing", wanted - found, wanted));
    }
    while (goes_on && event_.arguments.size() < kMaxPixArguments &&
           ReadArgument(PixArgumentType::kRaw)) {
    }
    if (event_.arguments.empty() && !must_be_there) {
      ShowName();
      return;
    }
    bool cut = false;
    event_.text = FillFormat(pieces, event_.name_is_ansi, event_.arguments, &cut);
    if (cut) TextIsTooLong();
  }

  // False if none can follow.
  bool ReadArgument(PixArgumentType type) {
    PixArgument argument;
    argument.type = type;
    if (!Qword(argument.bits)) return false;
    bool goes_on = true;
    if (type == PixArgumentType::kString && argument.bits == 0) {
      argument.type = PixArgumentType::kNullString;
    } else if (type == PixArgumentType::kString) {
      StringInfo layout;
      if (!ReadStringInfo(argument.bits, layout)) return false;
      argument.is_ansi = layout.is_ansi;
      goes_on = ReadText(layout, argument.text);
      if (!goes_on) Incomplete("a string is cut");
    }
    event_.arguments.push_back(std::move(argument));
    return goes_on;
  }

  bool Qword(uint64_t& qword) {
    if (rest_.size() < kQwordBytes) return false;
    qword = 0;
    for (size_t i = 0; i < kQwordBytes; ++i) {
      qword |= std::to_integer<uint64_t>(rest_[i]) << (8 * i);
    }
    rest_ = rest_.subspan(kQwordBytes);
    return true;
  }

  // The name as it is: there are no arguments to fill in.
  void ShowName() {
    event_.text = Utf8Prefix(event_.name, kMaxPixTextBytes);
    if (event_.text.size() < event_.name.size()) TextIsTooLong();
  }

  void TextIsTooLong() {
    Incomplete(fmt::format("the text is longer than {} bytes", kMaxPixTextBytes));
  }

  // The first problem is the cause of those that follow.
  void Incomplete(std::string problem) {
    if (event_.complete) event_.problem = std::move(problem);
    event_.complete = false;
  }

  std::span<const std::byte> rest_;
  PixEvent& event_;
};

}  // namespace

void DecodePixBlob(std::span<const std::byte> bytes, PixEvent& event) {
  event.format = PixFormat::kBlobV1;  // as good as any, if there is no header
  BlobReader(bytes, event).Read();
}

}  // namespace cairn
