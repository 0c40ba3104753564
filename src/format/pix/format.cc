// SPDX-License-Identifier: Apache-2.0
#include "format/pix/format.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>

#include "base/text.h"
#include "format/pix/text_decode.h"

namespace cairn {
namespace {

// The limit of a shown field: a larger width or precision changes nothing.
constexpr uint32_t kMaxField = kMaxPixTextBytes;

class SpecReader {
 public:
  // `format` starts with '%'.
  explicit SpecReader(std::string_view format) : format_(format) {}

  // Returns nullopt if the text is no conversion.
  std::optional<Conversion> Read() {
    Conversion conversion;
    while (ReadFlag(conversion)) ++at_;
    if (Take('*')) {
      conversion.width_is_argument = true;
    } else {
      conversion.width = ReadNumber();
    }
    if (Take('.')) {
      if (Take('*')) {
        conversion.precision_is_argument = true;
      } else {
        conversion.precision = ReadNumber();
      }
    }
    conversion.length = ReadLength();
    constexpr std::string_view kTypes = "diuoxXcCsSpfFeEgGaA";
    if (at_ == format_.size() || kTypes.find(format_[at_]) == kTypes.npos) return std::nullopt;
    conversion.type = format_[at_++];
    conversion.spelling = format_.substr(0, at_);
    return conversion;
  }

 private:
  bool Take(char wanted) {
    const bool found = at_ < format_.size() && format_[at_] == wanted;
    if (found) ++at_;
    return found;
  }

  bool TakeWord(std::string_view word) {
    const bool found = format_.substr(at_).starts_with(word);
    if (found) at_ += word.size();
    return found;
  }

  bool ReadFlag(Conversion& conversion) const {
    if (at_ == format_.size()) return false;
    switch (format_[at_]) {
      case '-': return conversion.left = true;
      case '+': return conversion.plus = true;
      case ' ': return conversion.space = true;
      case '#': return conversion.alternate = true;
      case '0': return conversion.zeros = true;
      default: return false;
    }
  }

  uint32_t ReadNumber() {
    uint32_t number = 0;
    for (; at_ < format_.size() && format_[at_] >= '0' && format_[at_] <= '9'; ++at_) {
      number = std::min(kMaxField, number * 10 + static_cast<uint32_t>(format_[at_] - '0'));
    }
    return number;
  }

  LengthModifier ReadLength() {
    if (TakeWord("hh")) return LengthModifier::kChar;
    if (TakeWord("h")) return LengthModifier::kShort;
    if (TakeWord("ll") || TakeWord("I64")) return LengthModifier::kLongLong;
    if (TakeWord("I32")) return LengthModifier::kNone;
    if (TakeWord("l") || TakeWord("w")) return LengthModifier::kLong;
    if (TakeWord("j") || TakeWord("z") || TakeWord("t") || TakeWord("q") || TakeWord("L") ||
        TakeWord("I")) {
      return LengthModifier::kLongLong;
    }
    return LengthModifier::kNone;
  }

  std::string_view format_;
  size_t at_ = 1;
};

// A number to print. `prefix` (sign and base) stands in front of the digits; padding never
// separates them.
struct Number {
  std::string prefix;
  std::string digits;
  bool may_have_zeros = true;
};

void MakeUpper(Number& number) {
  for (std::string* part : {&number.prefix, &number.digits}) {
    std::transform(part->begin(), part->end(), part->begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  }
}

std::string Digits(uint64_t value, int base) {
  char buffer[24];
  const auto result = std::to_chars(buffer, buffer + sizeof(buffer), value, base);
  return std::string(buffer, result.ptr);
}

const char* SignPrefix(const Conversion& conversion, bool negative) {
  if (negative) return "-";
  if (conversion.plus) return "+";
  return conversion.space ? " " : "";
}

// Truncates an argument as C does before printing: a shorter type takes the low bits.
int64_t Narrowed(uint64_t bits, LengthModifier length) {
  switch (length) {
    case LengthModifier::kChar: return static_cast<int8_t>(bits);
    case LengthModifier::kShort: return static_cast<int16_t>(bits);
    case LengthModifier::kNone: return static_cast<int32_t>(bits);
    case LengthModifier::kLong:
    case LengthModifier::kLongLong: break;
  }
  return static_cast<int64_t>(bits);
}

uint64_t NarrowedUnsigned(uint64_t bits, LengthModifier length) {
  switch (length) {
    case LengthModifier::kChar: return static_cast<uint8_t>(bits);
    case LengthModifier::kShort: return static_cast<uint16_t>(bits);
    case LengthModifier::kNone: return static_cast<uint32_t>(bits);
    case LengthModifier::kLong:
    case LengthModifier::kLongLong: break;
  }
  return bits;
}

void ApplyPrecision(const Conversion& conversion, Number& number) {
  if (!conversion.precision.has_value()) return;
  number.may_have_zeros = false;
  if (*conversion.precision == 0 && number.digits == "0") number.digits.clear();
  if (number.digits.size() < *conversion.precision) {
    number.digits.insert(0, *conversion.precision - number.digits.size(), '0');
  }
}

Number SignedNumber(const Conversion& conversion, uint64_t bits) {
  const int64_t value = Narrowed(bits, conversion.length);
  const uint64_t magnitude =
      value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  Number number{SignPrefix(conversion, value < 0), Digits(magnitude, 10)};
  ApplyPrecision(conversion, number);
  return number;
}

Number UnsignedNumber(const Conversion& conversion, uint64_t bits) {
  const uint64_t value = NarrowedUnsigned(bits, conversion.length);
  const bool hex = conversion.type == 'x' || conversion.type == 'X';
  Number number{"", Digits(value, hex ? 16 : conversion.type == 'o' ? 8 : 10)};
  ApplyPrecision(conversion, number);
  if (conversion.alternate && hex && value != 0) number.prefix = "0x";
  if (conversion.alternate && conversion.type == 'o' && !number.digits.starts_with('0')) {
    number.digits.insert(0, "0");
  }
  if (conversion.type == 'X') MakeUpper(number);
  return number;
}

std::string Digits(double value, std::chars_format format, std::optional<int> precision) {
  // The largest double has 309 digits in front of its point.
  std::string digits(static_cast<size_t>(precision.value_or(0)) + 400, '\0');
  char* const end = digits.data() + digits.size();
  const auto result = precision.has_value()
                          ? std::to_chars(digits.data(), end, value, format, *precision)
                          : std::to_chars(digits.data(), end, value, format);
  digits.resize(static_cast<size_t>(result.ptr - digits.data()));
  return digits;
}

// %g with '#', which keeps the zeros at the end: in the notation that %g chooses.
std::string GeneralWithZeros(double value, int precision) {
  precision = std::max(1, precision);
  const std::string scientific = Digits(value, std::chars_format::scientific, precision - 1);
  int exponent = 0;
  const size_t sign = scientific.find('e') + 1;
  std::from_chars(scientific.data() + sign + (scientific[sign] == '+' ? 1 : 0),
                  scientific.data() + scientific.size(), exponent);
  if (exponent < -4 || exponent >= precision) return scientific;
  return Digits(value, std::chars_format::fixed, precision - 1 - exponent);
}

std::string FiniteDigits(const Conversion& conversion, char type, double value) {
  const int precision = static_cast<int>(conversion.precision.value_or(6));
  std::string digits;
  if (type == 'f') digits = Digits(value, std::chars_format::fixed, precision);
  if (type == 'e') digits = Digits(value, std::chars_format::scientific, precision);
  if (type == 'g') {
    digits = conversion.alternate ? GeneralWithZeros(value, precision)
                                  : Digits(value, std::chars_format::general, precision);
  }
  if (type == 'a') {
    digits = Digits(value, std::chars_format::hex,
                    conversion.precision.has_value() ? std::optional(precision) : std::nullopt);
  }
  if (conversion.alternate && digits.find('.') == digits.npos) {
    const size_t exponent = digits.find(type == 'a' ? 'p' : 'e');
    digits.insert(std::min(exponent, digits.size()), ".");
  }
  return digits;
}

Number FloatNumber(const Conversion& conversion, uint64_t bits) {
  const double value = std::bit_cast<double>(bits);
  const bool is_upper = conversion.type < 'a';
  const char type = static_cast<char>(conversion.type | 0x20);
  Number number{SignPrefix(conversion, std::signbit(value)), ""};
  number.may_have_zeros = std::isfinite(value);
  if (std::isfinite(value)) {
    if (type == 'a') number.prefix += "0x";
    number.digits = FiniteDigits(conversion, type, std::fabs(value));
  } else {
    number.digits = std::isnan(value) ? "nan" : "inf";
  }
  if (is_upper) MakeUpper(number);
  return number;
}

class Filler {
 public:
  Filler(bool format_is_ansi, const std::vector<PixArgument>& arguments)
      : format_is_ansi_(format_is_ansi), arguments_(arguments) {}

  void Literal(std::string_view literal) { text_ += literal; }

  void Fill(Conversion conversion) {
    if (next_ + conversion.argument_count() > arguments_.size()) {
      // The conversions that follow have no argument either.
      next_ = arguments_.size();
      text_ += conversion.spelling;
      return;
    }
    TakeField(conversion);
    const PixArgument& argument = arguments_[next_++];
    switch (conversion.argument_type()) {
      case PixArgumentType::kSigned:
        Pad(conversion, SignedNumber(conversion, argument.bits));
        break;
      case PixArgumentType::kUnsigned:
        Pad(conversion, UnsignedNumber(conversion, argument.bits));
        break;
      case PixArgumentType::kFloat: Pad(conversion, FloatNumber(conversion, argument.bits)); break;
      case PixArgumentType::kPointer:
        Pad(conversion, Number{"", "0x" + Digits(argument.bits, 16), false});
        break;
      case PixArgumentType::kCharacter:
        Pad(conversion, Character(conversion, argument.bits));
        break;
      default: Pad(conversion, Text(conversion, argument)); break;
    }
  }

  bool is_full() const { return text_.size() > kMaxPixTextBytes; }
  std::string Take() { return std::move(text_); }

 private:
  // Width and precision that stand among the arguments.
  void TakeField(Conversion& conversion) {
    if (conversion.width_is_argument) {
      const int64_t width = static_cast<int32_t>(arguments_[next_++].bits);
      if (width < 0) conversion.left = true;
      conversion.width = static_cast<uint32_t>(std::min<int64_t>(kMaxField, std::abs(width)));
    }
    if (conversion.precision_is_argument) {
      const int64_t precision = static_cast<int32_t>(arguments_[next_++].bits);
      if (precision >= 0) {
        conversion.precision = static_cast<uint32_t>(std::min<int64_t>(kMaxField, precision));
      }
    }
  }

  Number Character(const Conversion& conversion, uint64_t bits) const {
    const bool wide = conversion.length == LengthModifier::kLong || conversion.type == 'C' ||
                      (!format_is_ansi_ && conversion.length != LengthModifier::kShort);
    Number number{"", "", false};
    AppendUtf8(wide ? static_cast<uint32_t>(bits) : static_cast<uint8_t>(bits), number.digits);
    return number;
  }

  static Number Text(const Conversion& conversion, const PixArgument& argument) {
    const bool is_null = argument.type == PixArgumentType::kNullString;
    std::string_view text = is_null ? "(null)" : std::string_view(argument.text);
    if (conversion.precision.has_value()) {
      text = UnitPrefix(text, argument.is_ansi, *conversion.precision);
    }
    return Number{"", std::string(Utf8Prefix(text, kMaxPixTextBytes)), false};
  }

  void Pad(const Conversion& conversion, const Number& number) {
    const size_t units =
        UnitCount(number.prefix, format_is_ansi_) + UnitCount(number.digits, format_is_ansi_);
    const size_t padding = conversion.width > units ? conversion.width - units : 0;
    const bool zeros = conversion.zeros && !conversion.left && number.may_have_zeros;
    if (!conversion.left && !zeros) text_.append(padding, ' ');
    text_ += number.prefix;
    if (zeros) text_.append(padding, '0');
    text_ += number.digits;
    if (conversion.left) text_.append(padding, ' ');
  }

  bool format_is_ansi_;
  const std::vector<PixArgument>& arguments_;
  size_t next_ = 0;
  std::string text_;
};

}  // namespace

PixArgumentType Conversion::argument_type() const {
  switch (type) {
    case 'd':
    case 'i': return PixArgumentType::kSigned;
    case 'u':
    case 'o':
    case 'x':
    case 'X': return PixArgumentType::kUnsigned;
    case 'c':
    case 'C': return PixArgumentType::kCharacter;
    case 's':
    case 'S': return PixArgumentType::kString;
    case 'p': return PixArgumentType::kPointer;
    default: return PixArgumentType::kFloat;
  }
}

std::vector<FormatPiece> ParseFormat(std::string_view format) {
  std::vector<FormatPiece> pieces;
  size_t argument_count = 0;
  size_t start = 0;  // of what is not in a piece yet
  for (size_t at = format.find('%'); at < format.size(); at = format.find('%', at)) {
    if (format.substr(at).starts_with("%%")) {
      pieces.push_back({format.substr(start, at + 1 - start), std::nullopt});
      start = at += 2;
      continue;
    }
    const std::optional<Conversion> conversion = SpecReader(format.substr(at)).Read();
    if (!conversion.has_value() ||
        argument_count + conversion->argument_count() > kMaxPixArguments) {
      ++at;
      continue;
    }
    argument_count += conversion->argument_count();
    pieces.push_back({format.substr(start, at - start), conversion});
    start = at += conversion->spelling.size();
  }
  pieces.push_back({format.substr(start), std::nullopt});
  return pieces;
}

std::string FillFormat(const std::vector<FormatPiece>& pieces, bool format_is_ansi,
                       const std::vector<PixArgument>& arguments, bool* cut) {
  Filler filler(format_is_ansi, arguments);
  for (const FormatPiece& piece : pieces) {
    filler.Literal(piece.literal);
    if (piece.conversion.has_value()) filler.Fill(*piece.conversion);
    if (filler.is_full()) break;
  }
  std::string text = filler.Take();
  *cut = text.size() > kMaxPixTextBytes;
  if (*cut) text.resize(Utf8Prefix(text, kMaxPixTextBytes).size());
  return text;
}

}  // namespace cairn
