// SPDX-License-Identifier: Apache-2.0
//
// A SPIR-V module as functions, blocks and instructions. Whatever is not changed is written back word by word.
#ifndef CAIRN_APP_SPIRV_MODULE_H_
#define CAIRN_APP_SPIRV_MODULE_H_

#include <cstdint>
#include <initializer_list>
#include <span>
#include <spirv/unified1/spirv.hpp>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/status.h"

namespace cairn::spirv {

struct Instruction {
  spv::Op opcode = spv::OpNop;
  uint32_t type = 0;            // id of the result's type; 0: none
  uint32_t result = 0;          // 0: none
  std::vector<uint32_t> words;  // all, the first with the opcode and their count
  std::vector<uint16_t>
      id_uses;  // indices in `words` of ids that are operands; the type is one, the result is not

  // The words behind the opcode, the type and the result.
  std::span<const uint32_t> operands() const;
  // The literal string that begins at operand `index`, within `words`.
  std::string_view StringAt(size_t index) const;
};

struct Block {
  std::vector<Instruction> before;  // OpLine and the like, in front of the label
  Instruction label;
  std::vector<Instruction> instructions;  // the last one ends the block

  uint32_t id() const { return label.result; }
  const Instruction& end() const { return instructions.back(); }
  Instruction& end() { return instructions.back(); }
  // OpLoopMerge or OpSelectionMerge; null for none.
  const Instruction* merge() const;
  Instruction* merge();
  // The index of the first instruction that is no OpPhi, OpLine or OpNoLine.
  size_t BehindPhis() const;
};

struct Function {
  std::vector<Instruction> begin;  // up to the first block: OpFunction, its parameters, lines
  std::vector<Block> blocks;       // empty for a declaration
  std::vector<Instruction> end;    // OpFunctionEnd, and lines in front of it

  const Instruction& definition() const;  // OpFunction
  uint32_t id() const { return definition().result; }
};

class Module {
 public:
  // Parses a module of this machine's byte order, or the other one.
  // kCorrupt: the parser's message.
  static Result<Module> Read(std::span<const uint32_t> words);
  std::vector<uint32_t> Words() const;

  // 0x00010300 for SPIR-V 1.3.
  uint32_t version() const { return header_[1]; }
  uint32_t NewId() { return header_[3]++; }

  // Everything before the first function.
  std::vector<Instruction> globals;
  std::vector<Function> functions;

  // The instruction that defines an id; null for none, or for one of a function. Lasts until `globals` changes.
  const Instruction* Global(uint32_t id) const;

  bool HasCapability(spv::Capability capability) const;
  void AddCapability(spv::Capability capability);
  void AddExtension(std::string_view name);
  // Adds a decoration of `operands`: the decoration, and what it takes.
  void Decorate(uint32_t id, std::initializer_list<uint32_t> operands);
  // Adds one without operands to each of `ids`. Cost: linear in the module, once.
  void DecorateAll(const std::vector<uint32_t>& ids, spv::Decoration decoration);
  void DecorateMember(uint32_t id, uint32_t member, std::initializer_list<uint32_t> operands);
  // The id of the type, or the constant, that is defined so; adds one if there is none. `type` is 0 for types. Constant
  // time, once definitions were looked for.
  uint32_t Define(spv::Op opcode, uint32_t type, std::vector<uint32_t> operands);
  // Adds a definition that nothing shares.
  uint32_t DefineNew(spv::Op opcode, uint32_t type, std::vector<uint32_t> operands);

 private:
  void InsertGlobal(size_t index, Instruction instruction);
  void Index() const;
  void IndexGlobal(size_t index) const;
  size_t FirstDecoratable() const;

  uint32_t header_[5] = {};
  mutable std::unordered_map<uint32_t, size_t> global_index_;  // into `globals`, by id
  // The first one with a hash of its content. Those that share it by chance are not found, and defined again.
  mutable std::unordered_map<uint64_t, size_t> definitions_;
  mutable bool indexed_ = false;
};

// A member of a structure, for maps.
inline uint64_t MemberKey(uint32_t structure, uint32_t index) {
  return uint64_t{structure} << 32 | index;
}

// The length of an instruction is a number of 16 bits.
inline constexpr size_t kMostInstructionWords = 65535;
// How many blocks an OpPhi can name.
inline constexpr size_t kMostPhiPairs = (kMostInstructionWords - 3) / 2;

// Returns true for the instructions that make pointers into structures and arrays.
inline bool IsAccessChain(spv::Op opcode) {
  return opcode == spv::OpAccessChain || opcode == spv::OpInBoundsAccessChain;
}

// Adds ids to an instruction; it has room for them.
void AddIds(Instruction& instruction, std::initializer_list<uint32_t> ids);

// Makes an instruction out of its parts. `ids` are the indices among `operands` that are ids; `kAllIds` for all.
struct AllIds {};
Instruction Make(spv::Op opcode, uint32_t type, uint32_t result, std::vector<uint32_t> operands,
                 AllIds);
Instruction Make(spv::Op opcode, uint32_t type, uint32_t result, std::vector<uint32_t> operands,
                 std::initializer_list<uint16_t> ids);

}  // namespace cairn::spirv

#endif  // CAIRN_APP_SPIRV_MODULE_H_
