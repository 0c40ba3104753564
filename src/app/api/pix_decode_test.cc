// SPDX-License-Identifier: Apache-2.0
#include "cairn/pix_decode.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "cairn/pix.h"

namespace {

// Receives the calls of the macros in cairn/pix.h.
struct List {
  void BeginEvent(unsigned metadata_in, const void* data, unsigned size) {
    metadata = metadata_in;
    bytes.assign(static_cast<const char*>(data), size);
  }
  void SetMarker(unsigned metadata_in, const void* data, unsigned size) {
    BeginEvent(metadata_in, data, size);
  }
  void EndEvent() {}
  uint32_t metadata = 0;
  std::string bytes;
};

class PixDecodeTest : public testing::Test {
 protected:
  PixDecodeTest() : event_(std::make_unique<CairnPixEvent>()) {
    event_->struct_size = sizeof(CairnPixEvent);
  }
  CairnResult Decode(uint32_t metadata, const std::string& bytes, uint64_t size = 0) {
    // At the end of memory that can be read, as far as the sanitizers see it.
    const std::vector<char> exact(bytes.begin(), bytes.end());
    return cairnDecodePixEvent(metadata, exact.data(), exact.size(),
                               size == 0 ? exact.size() : size, event_.get());
  }
  std::unique_ptr<CairnPixEvent> event_;
};

TEST_F(PixDecodeTest, WhatTheMacrosEncode) {
  List list;
  PIXBeginEvent(&list, PIX_COLOR(1, 2, 3), "Cascade %d of %s at %f", -7, "Sun", 0.5);
  ASSERT_EQ(Decode(list.metadata, list.bytes), CAIRN_OK) << cairnGetLastErrorMessage();
  EXPECT_EQ(event_->format, CAIRN_PIX_FORMAT_BLOB_V1);
  EXPECT_EQ(event_->kind, CAIRN_PIX_KIND_BEGIN);
  EXPECT_EQ(event_->colour_kind, CAIRN_PIX_COLOUR_ARGB);
  EXPECT_EQ(event_->colour, 0xff010203u);
  EXPECT_EQ(event_->complete, 1u);
  EXPECT_STREQ(event_->name, "Cascade %d of %s at %f");
  EXPECT_STREQ(event_->text, "Cascade -7 of Sun at 0.500000");
  EXPECT_STREQ(event_->problem, "");
  ASSERT_EQ(event_->argument_count, 3u);
  EXPECT_EQ(event_->argument_types[0], CAIRN_PIX_ARGUMENT_SIGNED);
  EXPECT_EQ(static_cast<int64_t>(event_->argument_bits[0]), -7);
  EXPECT_EQ(event_->argument_types[1], CAIRN_PIX_ARGUMENT_STRING);
  EXPECT_EQ(event_->argument_types[2], CAIRN_PIX_ARGUMENT_FLOAT);
  double half = 0;
  std::memcpy(&half, &event_->argument_bits[2], sizeof(half));
  EXPECT_EQ(half, 0.5);
}

TEST_F(PixDecodeTest, PlainStringsAndVersion2) {
  ASSERT_EQ(Decode(1, "ANSI"), CAIRN_OK);
  EXPECT_EQ(event_->format, CAIRN_PIX_FORMAT_ANSI);
  EXPECT_STREQ(event_->text, "ANSI");
  const char16_t wide[] = u"Wide";
  ASSERT_EQ(Decode(0, std::string(reinterpret_cast<const char*>(wide), sizeof(wide))), CAIRN_OK);
  EXPECT_EQ(event_->format, CAIRN_PIX_FORMAT_UTF16);
  EXPECT_STREQ(event_->text, "Wide");
  // "Hello" with palette index 3 and a context pointer.
  const uint64_t v2[] = {0x0000000000033083, 0xcccccccccccccccc, 0x0000006f6c6c6548};
  ASSERT_EQ(Decode(6345127, std::string(reinterpret_cast<const char*>(v2), sizeof(v2))), CAIRN_OK);
  EXPECT_EQ(event_->format, CAIRN_PIX_FORMAT_BLOB_V2);
  EXPECT_EQ(event_->colour_kind, CAIRN_PIX_COLOUR_PALETTE);
  EXPECT_EQ(event_->colour, 3u);
  EXPECT_EQ(event_->has_context, 1u);
  EXPECT_EQ(event_->context, 0xccccccccccccccccu);
  EXPECT_STREQ(event_->text, "Hello");
}

TEST_F(PixDecodeTest, EveryCutOfAnEventIsSaidAndStaysInsideOfItsBytes) {
  List list;
  PIXSetMarker(&list, PIX_COLOR_DEFAULT, "%s and %s", "one", L"two");
  size_t cut = 0;
  for (size_t kept = 0; kept < list.bytes.size(); ++kept) {
    ASSERT_EQ(Decode(list.metadata, list.bytes.substr(0, kept), list.bytes.size()), CAIRN_OK);
    if (event_->complete != 0) {
      // Only padding is missing.
      EXPECT_STREQ(event_->text, "one and two") << kept;
      continue;
    }
    ++cut;
    EXPECT_STRNE(event_->problem, "") << kept;
  }
  EXPECT_GT(cut, list.bytes.size() / 2);
}

TEST_F(PixDecodeTest, TextIsNoFormatAndIsCutBetweenCharacters) {
  ASSERT_EQ(Decode(1, "%n%s%n"), CAIRN_OK);
  EXPECT_STREQ(event_->text, "%n%s%n");
  std::string text(CAIRN_PIX_TEXT_BYTES - 1, 'x');
  text += "\xc3\xa9\xc3\xa9";
  ASSERT_EQ(Decode(1, text), CAIRN_OK);
  EXPECT_EQ(std::string(event_->text), std::string(CAIRN_PIX_TEXT_BYTES - 1, 'x'));
}

TEST_F(PixDecodeTest, UnknownMetadataIsShownInHex) {
  ASSERT_EQ(Decode(99, "\x01\x02"), CAIRN_OK);
  EXPECT_EQ(event_->format, CAIRN_PIX_FORMAT_UNKNOWN);
  EXPECT_NE(std::string(event_->text).find("01"), std::string::npos) << event_->text;
}

TEST_F(PixDecodeTest, WrongArgumentsChangeNothing) {
  event_->colour = 77;
  EXPECT_EQ(cairnDecodePixEvent(1, "x", 1, 1, nullptr), CAIRN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(cairnDecodePixEvent(1, nullptr, 1, 1, event_.get()), CAIRN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(cairnDecodePixEvent(1, "xy", 2, 1, event_.get()), CAIRN_ERROR_INVALID_ARGUMENT);
  event_->struct_size = 8;
  EXPECT_EQ(cairnDecodePixEvent(1, "x", 1, 1, event_.get()), CAIRN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(event_->colour, 77u);
  event_->struct_size = sizeof(CairnPixEvent);
  EXPECT_EQ(cairnDecodePixEvent(1, nullptr, 0, 0, event_.get()), CAIRN_OK);
}

}  // namespace
