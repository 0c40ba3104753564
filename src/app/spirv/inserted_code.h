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

  // A constant.
  uint32_t Word(uint32_t value);
  // The low or the high word of an address, which is a vector of two.
  uint32_t Half(uint32_t address, uint32_t index);
  // A pointer to the word at `address`, the id of a vector of two words, and `offset` bytes. The low word may not
  // overflow.
  uint32_t WordAt(uint32_t address, uint32_t offset);
  void StoreWord(uint32_t pointer, uint32_t value);
  // Ends the block: goes to `yes` if `condition` holds, else to `no`, where both meet.
  void Select(uint32_t condition, uint32_t yes, uint32_t no);

 private:
  Module& module_;
  const BasicTypes& types_;
  std::vector<Instruction>& out_;
};

// The scope of atomic operations that all invocations of the device see.
uint32_t DeviceScope(Module& module, const BasicTypes& types);

}  // namespace cairn::spirv

#endif  // CAIRN_APP_SPIRV_INSERTED_CODE_H_
