// SPDX-License-Identifier: Apache-2.0
//
// The format strings of PIX events, read and filled without printf.
#ifndef CAIRN_FORMAT_PIX_FORMAT_H_
#define CAIRN_FORMAT_PIX_FORMAT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/pix/pix_event.h"

namespace cairn {

enum class LengthModifier : uint8_t { kNone, kChar, kShort, kLong, kLongLong };

// One conversion as in printf of the C and Windows libraries: %[flags][width][.precision][length]type.
struct Conversion {
  std::string_view spelling;
  bool left = false;       // '-'
  bool plus = false;       // '+'
  bool space = false;      // ' '
  bool alternate = false;  // '#'
  bool zeros = false;      // '0'
  bool width_is_argument = false;
  bool precision_is_argument = false;
  uint32_t width = 0;
  std::optional<uint32_t> precision;
  LengthModifier length = LengthModifier::kNone;
  char type = 0;

  // Returns the type of the conversion's last argument; the arguments before it are kSigned.
  PixArgumentType argument_type() const;
  size_t argument_count() const {
    return 1 + (width_is_argument ? 1 : 0) + (precision_is_argument ? 1 : 0);
  }
};

// A stretch of text that stands for itself, then perhaps a conversion.
struct FormatPiece {
  std::string_view literal;
  std::optional<Conversion> conversion;
};

// Pieces point into `format`. "%%" is the text "%"; %n and invalid conversions are text as well. At
// most kMaxPixArguments arguments are asked for: conversions beyond are text.
std::vector<FormatPiece> ParseFormat(std::string_view format);

// `format_is_ansi` decides what widths count, as UnitCount does. The result has at most
// kMaxPixTextBytes bytes; `cut` says that there would be more.
std::string FillFormat(const std::vector<FormatPiece>& pieces, bool format_is_ansi,
                       const std::vector<PixArgument>& arguments, bool* cut);

}  // namespace cairn

#endif  // CAIRN_FORMAT_PIX_FORMAT_H_
