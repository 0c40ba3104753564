// SPDX-License-Identifier: Apache-2.0
//
// Decoder and encoder against bytes that are written out, against each other, and against damage.
#include "cairn/pix.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "base/text.h"
#include "format/pix/pix_event.h"

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

using Bytes = std::vector<std::byte>;

Bytes Qwords(const std::vector<uint64_t>& qwords) {
  Bytes bytes;
  for (const uint64_t qword : qwords) {
    for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<std::byte>(qword >> (8 * i)));
  }
  return bytes;
}

template <typename Unit>
Bytes BytesOf(const std::basic_string<Unit>& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return Bytes(bytes.begin(), bytes.end());
}

Bytes BytesOf(const cairn_pix::Blob& blob) {
  const auto* data = static_cast<const std::byte*>(blob.data());
  return Bytes(data, data + blob.size_bytes());
}

constexpr uint64_t kColour = 0xff112233;
constexpr uint64_t kAnsiInfo = 0x0440000000000000;

template <typename Unit, typename... Arguments>
Bytes Encoded(int version, const Unit* format, Arguments... arguments) {
  const cairn_pix::Header header(version, cairn_pix::Kind::kBegin, kColour, 0);
  return BytesOf(cairn_pix::Encode(header, format, arguments...));
}

// Both versions of the event, which must agree.
template <typename Unit, typename... Arguments>
std::string Text(const Unit* format, Arguments... arguments) {
  const std::string v1 = PixText(kPixMetadataBlob, Encoded(1, format, arguments...));
  EXPECT_EQ(PixText(kPixMetadataBlobV2, Encoded(2, format, arguments...)), v1);
  return v1;
}

TEST(PixDecoder, GivenVectorV1) {
  const Bytes bytes =
      Qwords({0x0000000000000800, 0x00000000ff112233, 0x0440000000000000, 0x0000006f6c6c6548});
  ASSERT_EQ(bytes.size(), 32u);
  // Either metadata: the first qword tells the version.
  for (const uint32_t metadata : {kPixMetadataBlob, kPixMetadataBlobV2}) {
    const PixEvent event = DecodePixEvent(metadata, bytes);
    EXPECT_EQ(event.format, PixFormat::kBlobV1);
    EXPECT_EQ(event.kind, PixKind::kBegin);
    EXPECT_EQ(event.name, "Hello");
    EXPECT_EQ(event.text, "Hello");
    EXPECT_TRUE(event.name_is_ansi);
    EXPECT_EQ(event.colour, (PixColour{PixColourKind::kArgb, 0xff112233}));
    EXPECT_FALSE(event.context.has_value());
    EXPECT_EQ(event.timestamp, 0u);
    EXPECT_TRUE(event.arguments.empty());
    EXPECT_TRUE(event.complete) << event.problem;
    EXPECT_EQ(EncodePixEvent(event), bytes);
  }
  EXPECT_EQ(Encoded(1, "Hello"), bytes);
}

TEST(PixDecoder, GivenVectorV2) {
  const Bytes bytes = Qwords({0x0000000000033083, 0xcccccccccccccccc, 0x0000006f6c6c6548});
  ASSERT_EQ(bytes.size(), 24u);
  for (const uint32_t metadata : {kPixMetadataBlob, kPixMetadataBlobV2}) {
    const PixEvent event = DecodePixEvent(metadata, bytes);
    EXPECT_EQ(event.format, PixFormat::kBlobV2);
    EXPECT_EQ(event.kind, PixKind::kBegin);
    EXPECT_EQ(event.text, "Hello");
    EXPECT_EQ(event.colour, (PixColour{PixColourKind::kPalette, 3}));
    EXPECT_EQ(event.context, 0xcccccccccccccccc);
    EXPECT_TRUE(event.complete) << event.problem;
    EXPECT_EQ(EncodePixEvent(event), bytes);
  }
  cairn_pix::Header header(2, cairn_pix::Kind::kBegin, 3, 0);
  header.has_context = true;
  header.context = 0xcccccccccccccccc;
  EXPECT_EQ(BytesOf(cairn_pix::Encode(header, "Hello")), bytes);
}

TEST(PixEncoder, GoldenBytesOfEveryPartV1) {
  cairn_pix::Header header(1, cairn_pix::Kind::kMarker, 5, 0x123456789ab);
  header.has_context = true;
  header.context = 0x1000;
  const Bytes bytes = BytesOf(cairn_pix::Encode(header, L"%d %s", -1, "12345678"));
  // Marker with arguments and context; colour; context; "%d %s" in UTF-16; -1; the string.
  EXPECT_EQ(bytes, Qwords({0x123456789ab05c00, 5, 0x1000, 0x0400000000000000, 0x0025002000640025,
                           0x73, 0xffffffffffffffff, kAnsiInfo, 0x3837363534333231, 0}));
}

TEST(PixEncoder, GoldenBytesOfEveryPartV2) {
  const cairn_pix::Header header(2, cairn_pix::Kind::kMarker, kColour, 1);
  EXPECT_EQ(BytesOf(cairn_pix::Encode(header, "%u%s", 7u, static_cast<const char*>(nullptr))),
            Qwords({0x1f2105, kColour, 0x0000000073257525, 7, 0}));
}

TEST(PixDecoder, ScalarsOfEveryType) {
  enum class Enumerator : int16_t { kValue = -7 };
  EXPECT_EQ(Text("%d %d %d %d", true, 'A', static_cast<signed char>(-3), short{-4}), "1 65 -3 -4");
  EXPECT_EQ(Text("%hhd %hd %d", -3, -300, std::numeric_limits<int>::min()), "-3 -300 -2147483648");
  EXPECT_EQ(Text("%u %u %u", uint8_t{200}, uint16_t{60000}, 4'000'000'000u),
            "200 60000 4000000000");
  EXPECT_EQ(Text("%x %X %o %#x %#o", -1, 48879u, 8, 255, 8), "ffffffff BEEF 10 0xff 010");
  EXPECT_EQ(Text("%lld %I64d %llu %zu %ld", std::numeric_limits<int64_t>::min(), int64_t{-5},
                 std::numeric_limits<uint64_t>::max(), size_t{9}, -8L),
            "-9223372036854775808 -5 18446744073709551615 9 -8");
  EXPECT_EQ(Text("%.2f %g %e %a", 1.5f, 0.1, 12345.678, 1.0), "1.50 0.1 1.234568e+04 0x1p+0");
  EXPECT_EQ(Text("%f %F %G", std::numeric_limits<double>::infinity(),
                 -std::numeric_limits<double>::infinity(), 1e-10),
            "inf -INF 1E-10");
  EXPECT_EQ(Text("%c%c%lc", 'o', 'k', L'\u20ac'), "ok€");
  EXPECT_EQ(Text("%p %p", nullptr, reinterpret_cast<void*>(0xabc)), "0x0 0xabc");
  EXPECT_EQ(Text("%d", Enumerator::kValue), "-7");
  EXPECT_EQ(Text("%f", 2.0L), "2.000000");
}

TEST(PixDecoder, StringsInBothEncodings) {
  const char* const narrow = "grün";
  const wchar_t* const wide = L"日本 😀";
  for (const std::string& text :
       {Text("%s|%ls|%S", narrow, wide, u"x"), Text(L"%hs|%s|%s", narrow, wide, u"x"),
        Text(u"%s|%s|%s", narrow, wide, u"x")}) {
    EXPECT_EQ(text, "grün|日本 😀|x");
  }
  EXPECT_EQ(Text("%s %s", static_cast<const char*>(nullptr), static_cast<wchar_t*>(nullptr)),
            "(null) (null)");
  EXPECT_EQ(Text("[%s]%s", "", L""), "[]");
  char array[] = "array";
  EXPECT_EQ(Text("%s", array), "array");
  // Every length around a chunk.
  for (size_t size = 0; size <= 40; ++size) {
    const std::string text(size, 'x');
    EXPECT_EQ(Text("%s %d", text.c_str(), 5), text + " 5");
    EXPECT_EQ(Text((text + "%d").c_str(), 5), text + "5");
    EXPECT_EQ(Text((std::wstring(size, L'x') + L"%d").c_str(), 5), text + "5");
    EXPECT_EQ(Text("%s %d", std::wstring(size, L'x').c_str(), 5), text + " 5");
  }
}

TEST(PixDecoder, ArgumentsAreListed) {
  const PixEvent event =
      DecodePixEvent(kPixMetadataBlob, Encoded(1, "%d %*.*f %s %s", 1, 8, 2, 0.5, L"w", nullptr));
  ASSERT_EQ(event.arguments.size(), 6u);
  std::vector<PixArgumentType> types;
  for (const PixArgument& argument : event.arguments) types.push_back(argument.type);
  EXPECT_THAT(types, ElementsAre(PixArgumentType::kSigned, PixArgumentType::kSigned,
                                 PixArgumentType::kSigned, PixArgumentType::kFloat,
                                 PixArgumentType::kString, PixArgumentType::kNullString));
  EXPECT_EQ(event.arguments[3].bits, std::bit_cast<uint64_t>(0.5));
  EXPECT_EQ(event.arguments[4].text, "w");
  EXPECT_FALSE(event.arguments[4].is_ansi);
  EXPECT_EQ(event.text, "1     0.50 w (null)");
}

TEST(PixDecoder, PrecisionOfStrings) {
  const char unterminated[3] = {'a', 'b', 'c'};
  EXPECT_EQ(Text("%.*s|", 3, unterminated), "abc|");
  EXPECT_EQ(Text("%.3s|%d", unterminated, 4), "abc|4");
  EXPECT_EQ(Text("%.*s|", 0, unterminated), "|");
  EXPECT_EQ(Text("%.*s|", -1, "abcdef"), "abcdef|");
  EXPECT_EQ(Text("%*.*s|", 5, 2, "abcdef"), "   ab|");
  EXPECT_EQ(Text("%-*s|", 5, "ab"), "ab   |");
  EXPECT_EQ(Text("%*s|", -5, "ab"), "ab   |");
  // Bytes, but no half characters; units of UTF-16 in wide strings.
  EXPECT_EQ(Text("%.3s|", "grün"), "gr|");
  EXPECT_EQ(Text(L"%.2s|", L"日本語"), "日本|");
  const wchar_t wide[2] = {L'x', L'y'};
  EXPECT_EQ(Text(L"%.2s|", wide), "xy|");
}

TEST(PixDecoder, SixteenArguments) {
  EXPECT_EQ(Text("%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
                 15, 16),
            "12345678910111213141516");
  // The seventeenth conversion is text.
  EXPECT_EQ(
      Text("%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d", 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5, 6),
      "1234567890123456%d");
}

TEST(PixDecoder, WhatIsNoConversionIsText) {
  EXPECT_EQ(Text("%n %y %d%% %", 5), "%n %y 5% %");
  EXPECT_EQ(Text("%hn%lln%d", 5), "%hn%lln5");
  // A plain name is shown as it is.
  EXPECT_EQ(Text("100% of %%"), "100% of %%");
  EXPECT_EQ(PixText(kPixMetadataAnsi, BytesOf(std::string("%s%n%s"))), "%s%n%s");
  EXPECT_EQ(PixText(kPixMetadataBlobV2, Encoded(2, "%s%n%s")), "%s%n%s");
}

TEST(PixDecoder, ArgumentsBeyondTheFormatAreRaw) {
  const PixEvent event = DecodePixEvent(kPixMetadataBlob, Encoded(1, "x%d", 1, 2, 3));
  ASSERT_EQ(event.arguments.size(), 3u);
  EXPECT_EQ(event.arguments[2].type, PixArgumentType::kRaw);
  EXPECT_EQ(event.arguments[2].bits, 3u);
  EXPECT_EQ(event.text, "x1");
}

TEST(PixDecoder, MissingArguments) {
  const PixEvent v1 = DecodePixEvent(kPixMetadataBlob, Encoded(1, "%d %s %d", 1));
  EXPECT_EQ(v1.text, "1 %s %d");
  EXPECT_FALSE(v1.complete);
  EXPECT_EQ(v1.problem, "2 of 3 arguments are missing");
  EXPECT_EQ(PixText(kPixMetadataBlob, Encoded(1, "%d %s %d", 1)), "1 %s %d…");
}

// Expects the text that the C library prints for the same format, for flags, widths and precisions.
template <typename T>
void ExpectLikePrintf(const std::string& format, T value) {
  char expected[512];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  std::snprintf(expected, sizeof(expected), format.c_str(), value);
#pragma GCC diagnostic pop
#ifdef _WIN32
  // The C library of Windows prints nothing for a zero without digits; the standard requires one
  // with %#o.
  if (value == 0 && format.ends_with(".0o") && format.find('#') != std::string::npos) return;
#endif
  EXPECT_EQ(Text(format.c_str(), value), expected) << format;
}

TEST(PixDecoder, FormatsLikePrintf) {
  const std::vector<std::string> fields = {"", "1", "12", ".0", ".1", ".5", "12.5", "3.9", "12.0"};
  const std::vector<std::string> flags = {"", "-", "0", "+", " ", "-0", "+0", " 0", "-+", "+ "};
  for (const std::string& field : fields) {
    for (const std::string& flag : flags) {
      for (const int value : {0, 1, -1, 123456, std::numeric_limits<int>::min()}) {
        ExpectLikePrintf("%" + flag + field + "d", value);
        ExpectLikePrintf("%" + flag + field + "hhd", value);
        ExpectLikePrintf("%" + flag + field + "hi", value);
      }
      for (const double value :
           {0.0, -0.0, 1.0, -1234.5678, 1e300, 1e-7, 0.1, std::numeric_limits<double>::infinity(),
            -std::numeric_limits<double>::infinity()}) {
        for (const char type : {'f', 'F', 'e', 'E', 'g', 'G'}) {
          ExpectLikePrintf("%" + flag + field + type, value);
          ExpectLikePrintf("%#" + flag + field + type, value);
        }
      }
    }
    for (const std::string flag : {"", "-", "0", "#", "#0", "-#"}) {
      for (const unsigned value : {0u, 1u, 0xabcdefu, 0xffffffffu}) {
        for (const char type : {'u', 'x', 'X', 'o'}) {
          if (type == 'u' && flag.find('#') != flag.npos) continue;
          ExpectLikePrintf("%" + flag + field + type, value);
        }
      }
    }
    for (const std::string flag : {"", "-"}) {
      ExpectLikePrintf("%" + flag + field + "s", "text");
      ExpectLikePrintf("%" + flag + field + "s", "");
    }
  }
  ExpectLikePrintf("%5c|", 'x');
  ExpectLikePrintf("%-5c|", 'x');
  ExpectLikePrintf("%10a", 1.5);
  ExpectLikePrintf("%A", -0.3);
  ExpectLikePrintf("%.3a", 1.1);
}

TEST(PixDecoder, OutputIsBounded) {
  const PixEvent wide =
      DecodePixEvent(kPixMetadataBlob, Encoded(1, "%999999999d%*d", 1, 2147483647, 2));
  EXPECT_EQ(wide.text.size(), kMaxPixTextBytes);
  EXPECT_FALSE(wide.complete);
  EXPECT_EQ(wide.problem, "the text is longer than 4096 bytes");
  EXPECT_EQ(DecodePixEvent(kPixMetadataBlob, Encoded(1, "%.*f", 2147483647, 1.5)).text.size(),
            kMaxPixTextBytes);
  EXPECT_EQ(DecodePixEvent(kPixMetadataBlob, Encoded(1, "%.2147483648d", 1)).text.size(),
            kMaxPixTextBytes);
  const PixEvent text = DecodePixEvent(kPixMetadataAnsi, BytesOf(std::string(1 << 20, 'x')));
  EXPECT_EQ(text.text.size(), kMaxPixTextBytes);
  EXPECT_EQ(text.name.size(), size_t{1} << 20);
  // A name without arguments, and one that is cut.
  for (const uint64_t version_and_type : {uint64_t{0x800}, uint64_t{0x20ff}}) {
    Bytes blob = Qwords({version_and_type});
    if (version_and_type == 0x800) blob = Qwords({version_and_type, kColour, kAnsiInfo});
    blob.resize(blob.size() + 8000, std::byte{'x'});
    for (int terminated = 0; terminated < 2; ++terminated) {
      const PixEvent name = DecodePixEvent(kPixMetadataBlob, blob);
      EXPECT_EQ(name.text, std::string(kMaxPixTextBytes, 'x'));
      EXPECT_EQ(name.name.size(), 8000u);
      EXPECT_FALSE(name.complete);
      blob.resize(blob.size() + 8);
    }
  }
  EXPECT_FALSE(text.complete);
}

TEST(PixDecoder, Colours) {
  for (const uint64_t colour : {uint64_t{0}, uint64_t{7}, uint64_t{8}, uint64_t{255}}) {
    for (const int version : {1, 2}) {
      const cairn_pix::Header header(version, cairn_pix::Kind::kMarker, colour, 0);
      const PixEvent event =
          DecodePixEvent(kPixMetadataBlob, BytesOf(cairn_pix::Encode(header, "x")));
      EXPECT_EQ(event.colour, (PixColour{PixColourKind::kPalette, static_cast<uint32_t>(colour)}));
      EXPECT_TRUE(event.complete) << event.problem;
    }
  }
  EXPECT_EQ(PIX_COLOR(0x11, 0x22, 0x33), kColour);
  EXPECT_EQ(PIX_COLOR_INDEX(300), 44u);
  const PixEvent odd = DecodePixEvent(kPixMetadataBlobV2, Qwords({0x92103 - 1, 0x41}));
  EXPECT_EQ(odd.text, "A");
  EXPECT_EQ(odd.problem, "9 is no colour of the palette");
}

TEST(PixDecoder, EndEventsOfVersion2) {
  PixEvent end;
  end.format = PixFormat::kBlobV2;
  end.kind = PixKind::kEnd;
  end.context = 0x77;
  end.timestamp = 5;
  const Bytes bytes = EncodePixEvent(end);
  EXPECT_EQ(bytes, Qwords({0x501002, 0x77}));
  const PixEvent event = DecodePixEvent(kPixMetadataBlobV2, bytes);
  EXPECT_EQ(event.kind, PixKind::kEnd);
  EXPECT_EQ(event.context, 0x77u);
  EXPECT_EQ(event.timestamp, 5u);
  EXPECT_TRUE(event.complete);
  EXPECT_EQ(event.text, "");
}

TEST(PixDecoder, GarbageBehindTheTerminatorIsIgnored) {
  const Bytes v1 = Qwords({0x400, kColour, kAnsiInfo, 0xdeadbe00'64257325 & ~uint64_t{0xff00000000},
                           kAnsiInfo, 0xffffffffff006261, 42});
  EXPECT_EQ(PixText(kPixMetadataBlob, v1), "ab42");
  const Bytes v2 = Qwords({0x032087 - 1, 0x5555550064257325, kAnsiInfo, 0xaaaaaaaaaa006261,
                           static_cast<uint64_t>(-42), 0});
  EXPECT_EQ(PixText(kPixMetadataBlobV2, v2), "ab-42");
}

TEST(PixDecoder, ChunksOfSixteenBytes) {
  constexpr uint64_t kInfo16 = uint64_t{16} << 55 | uint64_t{1} << 54;
  const Bytes bytes =
      Qwords({0x400, kColour, kInfo16, 0x00642573, 0x1111111111111111, kAnsiInfo, 0x61, 7});
  // The name is "s%d": one argument, which would be the string's description.
  EXPECT_EQ(DecodePixEvent(kPixMetadataBlob, bytes).arguments.size(), 3u);
  const Bytes wide =
      Qwords({0x400, kColour, uint64_t{16} << 55, 0x0000'0064'0025, ~uint64_t{0}, 9});
  EXPECT_EQ(PixText(kPixMetadataBlob, wide), "9");
  // The info's alignment says how many bytes of the first chunk are not the string's.
  const Bytes aligned = Qwords({0x800, kColour, uint64_t{3} << 60 | kAnsiInfo, 0x6968ffffff});
  EXPECT_EQ(PixText(kPixMetadataBlob, aligned), "hi");
}

TEST(PixDecoder, DescriptionsOfStringsThatMakeNoSense) {
  for (const uint64_t info : {uint64_t{1}, kAnsiInfo | 1, uint64_t{9} << 55, ~uint64_t{0},
                              uint64_t{8} << 60 | kAnsiInfo}) {
    const PixEvent event =
        DecodePixEvent(kPixMetadataBlob, Qwords({0x400, kColour, kAnsiInfo, 0x7325, info, 0x41}));
    EXPECT_FALSE(event.complete);
    EXPECT_EQ(event.text, "%s");
    EXPECT_FALSE(event.problem.empty());
  }
  const PixEvent shortcut = DecodePixEvent(
      kPixMetadataBlob, Qwords({0x800, kColour, kAnsiInfo | uint64_t{1} << 53, 0x41}));
  EXPECT_EQ(shortcut.problem, "a string is not stored in the event");
}

TEST(PixDecoder, CutAtEveryByte) {
  for (const int version : {1, 2}) {
    const Bytes whole = Encoded(version, L"grün %s %d %s", "narrow text", 42, L"wide text");
    const std::string text = PixText(kPixMetadataBlob, whole);
    EXPECT_EQ(text, "grün narrow text 42 wide text");
    for (size_t size = 0; size < whole.size(); ++size) {
      // A copy of exactly this size, so that AddressSanitizer sees a read beyond it.
      const Bytes cut(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size));
      const PixEvent event = DecodePixEvent(kPixMetadataBlob, cut, whole.size());
      const bool only_padding = event.complete;
      EXPECT_TRUE(IsValidUtf8(event.text)) << size;
      if (only_padding) {
        EXPECT_EQ(version, 1);
        EXPECT_EQ(event.text, text) << size;
        EXPECT_GE(size + 8, whole.size());
      } else {
        EXPECT_FALSE(event.problem.empty());
      }
      if (size >= 48) {
        EXPECT_THAT(event.text, StartsWith("gr")) << size;
      }
    }
  }
}

TEST(PixDecoder, Strings) {
  // With and without terminator.
  for (const std::string& ansi :
       {std::string("Pass"), std::string("Pass\0", 5), std::string("Pass\0garbage", 12)}) {
    const PixEvent event = DecodePixEvent(kPixMetadataAnsi, BytesOf(ansi));
    EXPECT_EQ(event.format, PixFormat::kAnsi);
    EXPECT_EQ(event.text, "Pass");
    EXPECT_TRUE(event.complete);
  }
  for (const std::u16string& wide : {std::u16string(u"Päss 😀"), std::u16string(u"Päss 😀\0", 8)}) {
    const PixEvent event = DecodePixEvent(kPixMetadataUtf16, BytesOf(wide));
    EXPECT_EQ(event.format, PixFormat::kUtf16);
    EXPECT_EQ(event.text, "Päss 😀");
  }
  for (const std::u32string& wide : {std::u32string(U"Päss 😀"), std::u32string(U"Päss 😀\0", 7)}) {
    const PixEvent event = DecodePixEvent(kPixMetadataUtf16, BytesOf(wide));
    EXPECT_EQ(event.format, PixFormat::kUtf32);
    EXPECT_EQ(event.text, "Päss 😀");
  }
  EXPECT_EQ(PixText(kPixMetadataUtf16, BytesOf(std::u16string(u"A\0", 2))), "A");
  EXPECT_EQ(PixText(kPixMetadataUtf16, BytesOf(std::u16string(u"日本"))), "日本");
  EXPECT_EQ(PixText(kPixMetadataUtf16, {}), "");
  EXPECT_EQ(PixText(kPixMetadataAnsi, {}), "");
}

TEST(PixDecoder, TextThatIsNoUnicode) {
  EXPECT_EQ(PixText(kPixMetadataAnsi, BytesOf(std::string("gr\xfcn \x80"))), "grün €");
  EXPECT_EQ(PixText(kPixMetadataUtf16, BytesOf(std::u16string{u'a', 0xD800, u'b', 0xDC00})),
            "a\uFFFDb\uFFFD");
  // A sequence that the cut left incomplete is not taken for Windows-1252.
  EXPECT_EQ(PixText(kPixMetadataAnsi, BytesOf(std::string("gr\xc3")), 10), "gr…");
}

TEST(PixDecoder, UnknownMetadataAndNoEvents) {
  const Bytes bytes = {std::byte{1}, std::byte{0xff}};
  EXPECT_EQ(PixText(3, bytes), "metadata 3, 2 bytes: 01 ff");
  EXPECT_EQ(DecodePixEvent(3, bytes).format, PixFormat::kUnknown);
  EXPECT_FALSE(DecodePixEvent(3, bytes).complete);
  EXPECT_EQ(PixText(3, {}), "metadata 3, 0 bytes");
  EXPECT_EQ(PixText(2, bytes), "metadata 2, 2 bytes: 01 ff");
  EXPECT_EQ(PixText(0xffffffff, Bytes(40)).size(),
            std::string("metadata 4294967295, 40 bytes:").size() + 32 * 3 + 4);
  EXPECT_EQ(DecodePixEvent(2, Qwords({0xffff0000'00000c00})).problem, "0x3 is no type of event");
  EXPECT_EQ(DecodePixEvent(2, Qwords({0x00000181 | 1})).problem, "3 is no type of event");
}

TEST(PixEncoder, CutsAtFiveHundredTwelveBytes) {
  const std::string long_text(2000, 'x');
  for (const int version : {1, 2}) {
    const Bytes name = Encoded(version, long_text.c_str(), 1);
    EXPECT_EQ(name.size(), 512u);
    EXPECT_FALSE(DecodePixEvent(kPixMetadataBlob, name).complete);
    const Bytes argument = Encoded(version, "%s %d", long_text.c_str(), 1);
    EXPECT_EQ(argument.size(), 512u);
    const PixEvent event = DecodePixEvent(kPixMetadataBlob, argument);
    EXPECT_EQ(event.problem, "a string is cut");
    EXPECT_THAT(event.text, StartsWith(std::string(400, 'x')));
  }
  // A character that does not fit is left out whole.
  std::string accents;
  for (int i = 0; i < 1000; ++i) accents += "é";
  EXPECT_TRUE(IsValidUtf8(PixText(kPixMetadataBlob, Encoded(1, ("x" + accents).c_str()))));
}

TEST(PixEncoder, DecodedEventsEncodeToTheSameBytes) {
  for (const int version : {1, 2}) {
    for (const Bytes& bytes :
         {Encoded(version, "plain"), Encoded(version, L"wide %s 😀 %s", "n", L"w😀"),
          Encoded(version, "%d %u %f %c %p %s %s", -1, 2u, 3.0, 'c', nullptr, "s", nullptr)}) {
      const PixEvent event = DecodePixEvent(kPixMetadataBlob, bytes);
      EXPECT_TRUE(event.complete) << event.problem;
      EXPECT_EQ(EncodePixEvent(event), bytes);
    }
  }
  for (const PixFormat format : {PixFormat::kUtf16, PixFormat::kUtf32, PixFormat::kAnsi}) {
    PixEvent event;
    event.format = format;
    event.name = "Päss 😀";
    const PixEvent again = DecodePixEvent(PixMetadata(format), EncodePixEvent(event));
    EXPECT_EQ(again.name, event.name);
    EXPECT_EQ(again.format, format);
  }
}

}  // namespace
}  // namespace cairn
