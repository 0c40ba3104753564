// SPDX-License-Identifier: Apache-2.0
#include "app/spirv/inserted_code.h"

#include <utility>

namespace cairn::spirv {

BasicTypes::BasicTypes(Module& module)
    : void_type(module.Define(spv::OpTypeVoid, 0, {})),
      bool_type(module.Define(spv::OpTypeBool, 0, {})),
      uint_type(module.Define(spv::OpTypeInt, 0, {32, 0})),
      uint2(module.Define(spv::OpTypeVector, 0, {uint_type, 2})),
      uint4(module.Define(spv::OpTypeVector, 0, {uint_type, 4})) {}

void UseAddresses(Module& module) {
  module.AddCapability(spv::CapabilityPhysicalStorageBufferAddresses);
  if (module.version() < kSpirv15) module.AddExtension("SPV_KHR_physical_storage_buffer");
  for (Instruction& global : module.globals) {
    if (global.opcode == spv::OpMemoryModel)
      global.words[1] = spv::AddressingModelPhysicalStorageBuffer64;
  }
}

uint32_t Code::Value(spv::Op opcode, uint32_t type, std::vector<uint32_t> operands,
                     std::initializer_list<uint16_t> literals) {
  const uint32_t id = module_.NewId();
  Instruction made = Make(opcode, type, id, std::move(operands), AllIds());
  for (uint16_t literal : literals) std::erase(made.id_uses, static_cast<uint16_t>(3 + literal));
  out_.push_back(std::move(made));
  return id;
}

void Code::Do(spv::Op opcode, std::vector<uint32_t> ids) {
  out_.push_back(Make(opcode, 0, 0, std::move(ids), AllIds()));
}

uint32_t Code::Word(uint32_t value) {
  return module_.Define(spv::OpConstant, types_.uint_type, {value});
}

uint32_t Code::Address(uint64_t value) {
  return module_.Define(
      spv::OpConstantComposite, types_.uint2,
      {Word(static_cast<uint32_t>(value)), Word(static_cast<uint32_t>(value >> 32))});
}

uint32_t Code::Half(uint32_t address, uint32_t index) {
  return Value(spv::OpCompositeExtract, types_.uint_type, {address, index}, {1});
}

uint32_t Code::WordAt(uint32_t address, uint32_t offset) {
  const uint32_t pointer = module_.Define(
      spv::OpTypePointer, 0, {spv::StorageClassPhysicalStorageBuffer, types_.uint_type});
  const uint32_t low = Value(spv::OpIAdd, types_.uint_type, {Half(address, 0), Word(offset)});
  const uint32_t moved = Value(spv::OpCompositeConstruct, types_.uint2, {low, Half(address, 1)});
  return Value(spv::OpBitcast, pointer, {moved});
}

void Code::StoreWord(uint32_t pointer, uint32_t value) {
  Add(Make(spv::OpStore, 0, 0, {pointer, value, spv::MemoryAccessAlignedMask, 4}, {0, 1}));
}

uint32_t Code::IsFirst(uint32_t address, uint32_t offset, uint32_t scope) {
  const uint32_t before = Value(spv::OpAtomicIAdd, types_.uint_type,
                                {WordAt(address, offset), scope, Word(0), Word(1)});
  return Value(spv::OpIEqual, types_.bool_type, {before, Word(0)});
}

void Code::Select(uint32_t condition, uint32_t yes, uint32_t no) {
  Add(Make(spv::OpSelectionMerge, 0, 0, {no, spv::SelectionControlMaskNone}, {0}));
  Do(spv::OpBranchConditional, {condition, yes, no});
}

NewFunction::NewFunction(Module& module, const BasicTypes& types, uint32_t id, uint32_t return_type,
                         std::vector<uint32_t> parameters, size_t blocks)
    : module_(module), types_(types) {
  std::vector<uint32_t> operands = {return_type};
  operands.insert(operands.end(), parameters.begin(), parameters.end());
  const uint32_t type = module.Define(spv::OpTypeFunction, 0, std::move(operands));
  function_.begin.push_back(
      Make(spv::OpFunction, return_type, id, {spv::FunctionControlMaskNone, type}, {1}));
  for (uint32_t parameter : parameters) {
    parameters_.push_back(module.NewId());
    function_.begin.push_back(
        Make(spv::OpFunctionParameter, parameter, parameters_.back(), {}, AllIds()));
  }
  function_.blocks.resize(blocks);
  for (Block& block : function_.blocks)
    block.label = Make(spv::OpLabel, 0, module.NewId(), {}, AllIds());
}

Function NewFunction::Take() {
  function_.end.push_back(Make(spv::OpFunctionEnd, 0, 0, {}, AllIds()));
  return std::move(function_);
}

uint32_t DeviceScope(Module& module, const BasicTypes& types) {
  const bool vulkan = module.HasCapability(spv::CapabilityVulkanMemoryModel);
  return module.Define(spv::OpConstant, types.uint_type,
                       {vulkan ? spv::ScopeQueueFamily : spv::ScopeDevice});
}

}  // namespace cairn::spirv
