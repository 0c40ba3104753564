// SPDX-License-Identifier: Apache-2.0
//
// For tests: modules that are written by hand, and how they look once a binding is empty.
#ifndef CAIRN_APP_SPIRV_TESTING_ASSEMBLED_H_
#define CAIRN_APP_SPIRV_TESTING_ASSEMBLED_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <spirv-tools/libspirv.hpp>
#include <string>
#include <vector>

#include "app/spirv/module.h"

namespace cairn::spirv::testing {

inline std::vector<uint32_t> Assembled(const std::string& text) {
  std::vector<uint32_t> words;
  spvtools::SpirvTools tools(SPV_ENV_UNIVERSAL_1_3);
  std::string message;
  tools.SetMessageConsumer(
      [&](spv_message_level_t, const char*, const spv_position_t& at, const char* what) {
        message += std::to_string(at.line + 1) + ": " + what + "\n";
      });
  EXPECT_TRUE(tools.Assemble(text, &words)) << message << text;
  return words;
}

// The instructions of all functions, without those around blocks.
inline std::vector<spv::Op> BodyOf(const std::vector<uint32_t>& words) {
  Result<Module> module = Module::Read(words);
  EXPECT_TRUE(module.ok());
  std::vector<spv::Op> body;
  if (!module.ok()) return body;
  for (const Function& function : module->functions) {
    for (const Block& block : function.blocks) {
      for (const Instruction& instruction : block.instructions) body.push_back(instruction.opcode);
    }
  }
  return body;
}

// Copies of zeros of their type: all that the pass puts in.
inline uint32_t CountZeros(const std::vector<uint32_t>& words) {
  Result<Module> module = Module::Read(words);
  EXPECT_TRUE(module.ok());
  uint32_t zeros = 0;
  for (const Function& function : module->functions) {
    for (const Block& block : function.blocks) {
      for (const Instruction& instruction : block.instructions) {
        if (instruction.opcode != spv::OpCopyObject) continue;
        const Instruction* const copied = module->Global(instruction.operands()[0]);
        if (copied == nullptr || copied->opcode != spv::OpConstantNull) continue;
        EXPECT_EQ(copied->type, instruction.type);
        ++zeros;
      }
    }
  }
  return zeros;
}

}  // namespace cairn::spirv::testing

#endif  // CAIRN_APP_SPIRV_TESTING_ASSEMBLED_H_
