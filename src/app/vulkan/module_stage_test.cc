// SPDX-License-Identifier: Apache-2.0
#include "app/vulkan/module_stage.h"

#include <gtest/gtest.h>

#include <vector>

namespace cairn {
namespace {

// An entry point of this execution model, without a name.
std::vector<uint32_t> EntryPoint(uint32_t model) {
  return {4u << 16 | 15, model, 7, 0};
}

std::vector<uint32_t> ModuleOf(std::vector<std::vector<uint32_t>> parts) {
  std::vector<uint32_t> words = {0x07230203, 0x00010000, 0, 8, 0};
  words.insert(words.end(), {2u << 16 | 17, 1});  // OpCapability Shader
  for (const std::vector<uint32_t>& part : parts)
    words.insert(words.end(), part.begin(), part.end());
  return words;
}

TEST(ModuleStage, IsThatOfItsEntryPoints) {
  EXPECT_EQ(StageOfModule(ModuleOf({EntryPoint(4)})), kStagePixel);
  EXPECT_EQ(StageOfModule(ModuleOf({EntryPoint(5), EntryPoint(5)})), kStageCompute);
  EXPECT_EQ(StageOfModule(ModuleOf({EntryPoint(5365)})), kStageMesh);
  EXPECT_EQ(StageOfModule(ModuleOf({EntryPoint(0), EntryPoint(4)})), std::nullopt);
  EXPECT_EQ(StageOfModule(ModuleOf({EntryPoint(99)})), std::nullopt);
  EXPECT_EQ(StageOfModule(ModuleOf({})), std::nullopt);
}

TEST(ModuleStage, AnyWordsAreSafe) {
  EXPECT_EQ(StageOfModule({}), std::nullopt);
  std::vector<uint32_t> words = ModuleOf({EntryPoint(4)});
  words.pop_back();
  EXPECT_EQ(StageOfModule(words), std::nullopt) << "it ends inside of the entry point";
  words[5] = 0;
  EXPECT_EQ(StageOfModule(words), std::nullopt) << "an instruction without words";
  // Behind the first function there are no entry points.
  const std::vector<uint32_t> function = {2u << 16 | 54, 0};
  EXPECT_EQ(StageOfModule(ModuleOf({function, EntryPoint(4)})), std::nullopt);
  words = ModuleOf({EntryPoint(4)});
  words[0] = 0x03022307;
  EXPECT_EQ(StageOfModule(words), std::nullopt);
}

}  // namespace
}  // namespace cairn
