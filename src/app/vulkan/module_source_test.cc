// SPDX-License-Identifier: Apache-2.0
#include "app/vulkan/module_source.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace cairn {
namespace {

std::vector<uint32_t> String(uint32_t id, const std::string& text) {
  std::vector<uint32_t> words(2 + text.size() / 4 + 1);
  words[0] = static_cast<uint32_t>(words.size()) << 16 | 7;
  words[1] = id;
  std::memcpy(&words[2], text.data(), text.size());
  return words;
}
// OpSource GLSL 450 of this file.
std::vector<uint32_t> Source(uint32_t file) {
  return {4u << 16 | 3, 2, 450, file};
}
std::vector<uint32_t> ModuleOf(const std::vector<std::vector<uint32_t>>& parts) {
  std::vector<uint32_t> words = {0x07230203, 0x00010000, 0, 8, 0};
  words.insert(words.end(), {2u << 16 | 17, 1});  // OpCapability Shader
  for (const std::vector<uint32_t>& part : parts)
    words.insert(words.end(), part.begin(), part.end());
  return words;
}

TEST(ModuleSource, IsTheFileOfItsSource) {
  EXPECT_EQ(
      SourceFileOfModule(ModuleOf({String(1, "lib.h"), String(2, "shaders/fog.comp"), Source(2)})),
      "fog.comp");
  EXPECT_EQ(SourceFileOfModule(ModuleOf({String(2, "C:\\game\\fog.hlsl"), Source(2)})), "fog.hlsl");
}

TEST(ModuleSource, WithoutOneItHasNone) {
  const std::vector<uint32_t> without_file = {3u << 16 | 3, 2, 450};
  EXPECT_EQ(SourceFileOfModule(ModuleOf({String(2, "fog.comp"), without_file})), "");
  EXPECT_EQ(SourceFileOfModule(ModuleOf({String(2, "fog.comp"), Source(3)})), "");
  EXPECT_EQ(SourceFileOfModule(ModuleOf({String(2, ""), Source(2)})), "");
  // Behind names there are no sources.
  const std::vector<uint32_t> name = {3u << 16 | 5, 9, 0};
  EXPECT_EQ(SourceFileOfModule(ModuleOf({name, String(2, "fog.comp"), Source(2)})), "");
}

TEST(ModuleSource, AnyWordsAreSafe) {
  EXPECT_EQ(SourceFileOfModule({}), "");
  std::vector<uint32_t> words = ModuleOf({String(2, "fog.comp"), Source(2)});
  words.pop_back();
  EXPECT_EQ(SourceFileOfModule(words), "") << "it ends inside of the source";
  words = ModuleOf({{3u << 16 | 7, 2, 0x41414141}, Source(2)});
  EXPECT_EQ(SourceFileOfModule(words), "") << "the text has no end";
  words[5] = 0;
  EXPECT_EQ(SourceFileOfModule(words), "") << "an instruction without words";
}

}  // namespace
}  // namespace cairn
