// SPDX-License-Identifier: Apache-2.0
#include "format/snapshot/shader_traits.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace cairn {
namespace {

constexpr uint32_t Instruction(uint32_t opcode, uint32_t words) {
  return words << 16 | opcode;
}
const std::vector<uint32_t> kHeader = {0x07230203, 0x00010000, 0, 8, 0};

uint32_t TraitsOf(std::vector<uint32_t> instructions) {
  std::vector<uint32_t> code = kHeader;
  code.insert(code.end(), instructions.begin(), instructions.end());
  return TraitsOfSpirv(code);
}

TEST(ShaderTraits, LoopsAndAtomicsAreFound) {
  const uint32_t no_loop[] = {Instruction(17, 2), 1, Instruction(253, 1)};
  EXPECT_EQ(TraitsOf({no_loop, no_loop + 3}), kShaderRead);
  EXPECT_EQ(TraitsOf({Instruction(246, 4), 1, 2, 0, Instruction(253, 1)}),
            kShaderRead | kShaderLoops);
  EXPECT_EQ(TraitsOf({Instruction(234, 7), 1, 2, 3, 4, 5, 6}), kShaderRead | kShaderAtomics);
  EXPECT_EQ(TraitsOf({Instruction(6035, 2), 1, Instruction(246, 4), 1, 2, 0}),
            kShaderRead | kShaderLoops | kShaderAtomics);
}

TEST(ShaderTraits, OperandsAreNoInstructions) {
  EXPECT_EQ(TraitsOf({Instruction(17, 2), Instruction(246, 4)}), kShaderRead);
}

TEST(ShaderTraits, WhatIsNoModuleTellsNothing) {
  EXPECT_EQ(TraitsOfSpirv({}), 0u);
  EXPECT_EQ(TraitsOfSpirv(std::vector<uint32_t>{0x03022307, 0, 0, 0, 0}), 0u);
  EXPECT_EQ(TraitsOf({Instruction(246, 4), 1, 2}), 0u) << "cut";
  EXPECT_EQ(TraitsOf({Instruction(17, 0), 1}), 0u) << "would never end";
}

// A container of the repository.
std::vector<uint32_t> ContainerIn(const std::string& path) {
  std::ifstream file(CAIRN_SOURCE_DIR "/" + path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  EXPECT_FALSE(bytes.empty()) << path;
  std::vector<uint32_t> words(bytes.size() / sizeof(uint32_t));
  if (!words.empty()) std::memcpy(words.data(), bytes.data(), words.size() * sizeof(uint32_t));
  return words;
}

TEST(ShaderTraits, CodeOfShaderModel5IsRead) {
  const std::string folder = "samples/shaders/d3d12/";
  EXPECT_EQ(TraitsOfDxbc(ContainerIn(folder + "triangle.ps.dxbc")), kShaderRead);
  EXPECT_EQ(TraitsOfDxbc(ContainerIn(folder + "solid.vs.dxbc")), kShaderRead);
  EXPECT_EQ(TraitsOfDxbc(ContainerIn(folder + "hang.ps.dxbc")), kShaderRead | kShaderLoops);
  EXPECT_EQ(TraitsOfDxbc(ContainerIn(folder + "hang.cs.dxbc")) & kShaderLoops, kShaderLoops);
}

// Made by DXC of the files beside them.
TEST(ShaderTraits, BranchesOfDxilThatLeadInACircleAreALoop) {
  const std::string folder = "tests/golden/shaders/";
  EXPECT_EQ(TraitsOfDxbc(ContainerIn(folder + "straight.cs.dxil")), kShaderRead)
      << "an if, an else and a switch";
  EXPECT_EQ(TraitsOfDxbc(ContainerIn(folder + "loop.cs.dxil")),
            kShaderRead | kShaderLoops | kShaderAtomics);
}

// kShaderRead stands for code that was read to its end.
TEST(ShaderTraits, AContainerThatIsCutTellsNothing) {
  for (const char* const path :
       {"samples/shaders/d3d12/hang.ps.dxbc", "tests/golden/shaders/loop.cs.dxil"}) {
    const std::vector<uint32_t> whole = ContainerIn(path);
    for (size_t words = 0; words < whole.size(); ++words) {
      const std::vector<uint32_t> cut(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(words));
      const uint32_t traits = TraitsOfDxbc(cut);
      EXPECT_TRUE(traits == 0 || traits == TraitsOfDxbc(whole))
          << path << ", " << words << " words";
    }
  }
}

TEST(ShaderTraits, AnyChangedWordIsSafe) {
  for (const char* const path :
       {"samples/shaders/d3d12/hang.ps.dxbc", "tests/golden/shaders/loop.cs.dxil"}) {
    std::vector<uint32_t> words = ContainerIn(path);
    for (uint32_t& word : words) {
      const uint32_t before = word;
      for (const uint32_t value : {0u, 1u, 0xFFFFFFFFu, before ^ 0x80000000u, before + 4}) {
        word = value;
        EXPECT_LE(TraitsOfDxbc(words), kShaderRead | kShaderLoops | kShaderAtomics);
      }
      word = before;
    }
  }
}

}  // namespace
}  // namespace cairn
