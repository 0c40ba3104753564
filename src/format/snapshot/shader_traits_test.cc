// SPDX-License-Identifier: Apache-2.0
#include "format/snapshot/shader_traits.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace cairn
