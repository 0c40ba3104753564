// SPDX-License-Identifier: Apache-2.0
#include "app/d3d12/object_name.h"

#include <gtest/gtest.h>

#include <string>

#include "app/d3d12/object_kind.h"
#include "base/text.h"

namespace cairn {
namespace {

std::string Utf8(const void* name, uint32_t char_bytes, size_t max_bytes = SIZE_MAX) {
  return std::string(ObjectName(name, char_bytes, max_bytes).utf8());
}

TEST(ObjectNameTest, AllSizesOfCharacters) {
  EXPECT_EQ(Utf8("Größe €", 1), "Größe €");
  EXPECT_EQ(Utf8(u"Größe €", 2), "Größe €");
  EXPECT_EQ(Utf8(U"Größe €", 4), "Größe €");
  EXPECT_EQ(Utf8(u"\U0001F525!", 2), "\U0001F525!");
  EXPECT_EQ(Utf8(U"\U0001F525!", 4), "\U0001F525!");
}

TEST(ObjectNameTest, NoNameAndAnEmptyName) {
  EXPECT_EQ(Utf8(nullptr, 2), "");
  EXPECT_EQ(Utf8(u"", 2), "");
  EXPECT_EQ(Utf8("abc", 1, 0), "");
}

TEST(ObjectNameTest, EndsWhereTheDataEnds) {
  EXPECT_EQ(Utf8("shadow map", 1, 6), "shadow");
  EXPECT_EQ(Utf8(u"shadow map", 2, 12), "shadow");
  EXPECT_EQ(Utf8(u"shadow map", 2, 13), "shadow");  // Half a character more.
  EXPECT_EQ(Utf8("shadow\0map", 1, 10), "shadow");
}

TEST(ObjectNameTest, WhatIsNoTextIsReplaced) {
  const char16_t lone[] = {'a', 0xD83D, 'b', 0xDC00, 0xD800, 0};
  EXPECT_EQ(Utf8(lone, 2), "a\uFFFDb\uFFFD\uFFFD");
  const char32_t too_large[] = {'a', 0x110000, 0xFFFFFFFF, 0};
  EXPECT_EQ(Utf8(too_large, 4), "a\uFFFD\uFFFD");
  EXPECT_EQ(Utf8("Gr\xF6\xDF"
                 "e",
                 1),
            "Größe");  // Latin-1
}

TEST(ObjectNameTest, LongNamesAreCutBetweenCharacters) {
  for (const uint32_t start : {0u, 1u, 2u}) {
    const std::u32string name = std::u32string(start, U'a') + std::u32string(64 * 1024, U'€');
    const ObjectName cut(name.c_str(), 4);
    EXPECT_TRUE(cut.cut());
    EXPECT_TRUE(IsValidUtf8(cut.utf8()));
    EXPECT_GT(cut.utf8().size(), kObjectNameBytes - 3);
    std::string utf8(start, 'a');
    for (int i = 0; i < 64 * 1024; ++i) utf8 += "€";
    const ObjectName same(utf8.c_str(), 1);
    EXPECT_TRUE(same.cut());
    EXPECT_EQ(same.utf8(), cut.utf8());
  }
}

TEST(ObjectNameTest, ANameThatJustFitsIsNotCut) {
  const std::string name(kObjectNameBytes, 'x');
  EXPECT_EQ(Utf8(name.c_str(), 1), name);
  EXPECT_FALSE(ObjectName(name.c_str(), 1).cut());
  EXPECT_TRUE(ObjectName((name + "y").c_str(), 1).cut());
}

TEST(ObjectNameTest, UnalignedData) {
  char bytes[1 + sizeof(u"abc")];
  __builtin_memcpy(bytes + 1, u"abc", sizeof(u"abc"));
  EXPECT_EQ(Utf8(bytes + 1, 2, sizeof(u"abc")), "abc");
}

TEST(ObjectKindTest, VersionsShareTheirKind) {
  EXPECT_EQ(ObjectKindOf("ID3D12Fence"), 23u);
  EXPECT_EQ(ObjectKindOf("ID3D12Fence1"), 23u);
  EXPECT_EQ(ObjectKindOf("ID3D12GraphicsCommandList10"), 22u);
  EXPECT_EQ(ObjectKindOf("ID3D12VideoEncoderHeap"), 49u);
  EXPECT_EQ(ObjectKindOf("ID3D12Device11"), 0u);
  EXPECT_EQ(ObjectKindOf("IUnknown"), 0u);
  EXPECT_EQ(ObjectKindName("ID3D12RootSignature"), "root signature");
  EXPECT_EQ(ObjectKindName("ID3D12Resource2"), "resource");
  EXPECT_EQ(ObjectKindName("ID3D12Unheard"), "ID3D12Unheard");
}

}  // namespace
}  // namespace cairn
