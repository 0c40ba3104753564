// SPDX-License-Identifier: Apache-2.0
//
// Instructions that are added to a module: values and calls of one block, in order, and memory by address.
#ifndef CAIRN_APP_SPIRV_INSERTED_CODE_H_
#define CAIRN_APP_SPIRV_INSERTED_CODE_H_

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "app/spirv/module.h"

namespace cairn::spirv {

inline constexpr uint32_t kSpirv14 = 0x00010400;
inline constexpr uint32_t kSpirv15 = 0x00010500;

// Types that the inserted code uses, by their ids.
struct BasicTypes {
  explicit BasicTypes(Module& module);
  uint32_t void_type, bool_type, uint_type, uint2, uint4;
};

// Gives a module, with the addressing model Logical or PhysicalStorageBuffer64, what memory by address takes.
void UseAddresses(Module& module);

// Writes instructions of one block. All outlive it.
class Code {
 public:
  Code(Module& module, const BasicTypes& types, std::vector<Instruction>& out)
      : module_(module), types_(types), out_(out) {}

  // Adds an instruction with a result, which it returns. literals: the operands, from 0 on, that are no ids.
  uint32_t Value(spv::Op opcode, uint32_t type, std::vector<uint32_t> operands,
                 std::initializer_list<uint16_t> literals = {});
  void Do(spv::Op opcode, std::vector<uint32_t> ids);
  void Add(Instruction instruction) { out_.push_back(std::move(instruction)); }

  // Constants: a word, and an address as a vector of two words.
  uint32_t Word(uint32_t value);
  uint32_t Address(uint64_t value);
  // The low or the high word of an address, which is a vector of two.
  uint32_t Half(uint32_t address, uint32_t index);
  // A pointer to the word at `address`, the id of a vector of two words, and `offset` bytes. The low word may not
  // overflow.
  uint32_t WordAt(uint32_t address, uint32_t offset);
  void StoreWord(uint32_t pointer, uint32_t value);
  // Adds one to the word of a record, at `address` and `offset`, and returns whether it was zero. scope: DeviceScope.
  uint32_t IsFirst(uint32_t address, uint32_t offset, uint32_t scope);
  // Ends the block: goes to `yes` if `condition` holds, else to `no`, where both meet.
  void Select(uint32_t condition, uint32_t yes, uint32_t no);

 private:
  Module& module_;
  const BasicTypes& types_;
  std::vector<Instruction>& out_;
};

// A function that is added to a module, with as many blocks as are asked for.
class NewFunction {
 public:
  // id: NewId's, which calls may have named before. parameters: types.
  NewFunction(Module& module, const BasicTypes& types, uint32_t id, uint32_t return_type,
              std::vector<uint32_t> parameters, size_t blocks);

  // The value of the parameter at `index`.
  uint32_t parameter(size_t index) const { return parameters_[index]; }
  uint32_t label(size_t block) const { return function_.blocks[block].id(); }
  // Goes on with a block. Only one at a time, and before Take.
  Code In(size_t block) { return Code(module_, types_, function_.blocks[block].instructions); }
  // Takes it, to be put behind the functions of the module.
  Function Take();

 private:
  Module& module_;
  const BasicTypes& types_;
  Function function_;
  std::vector<uint32_t> parameters_;
};

// The scope of atomic operations that all invocations of the device see.
uint32_t DeviceScope(Module& module, const BasicTypes& types);

}  // namespace cairn::spirv

#endif  // CAIRN_APP_SPIRV_INSERTED_CODE_H_
