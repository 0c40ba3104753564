// SPDX-License-Identifier: Apache-2.0
#include "app/spirv/module.h"

#include <spirv-tools/libspirv.h>
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>
#include <utility>

namespace cairn::spirv {
namespace {

// What the parser calls back for.
struct Reading {
  uint32_t* header;
  std::vector<Instruction> instructions;
};

spv_result_t ReadHeader(void* data, spv_endianness_t, uint32_t, uint32_t version,
                        uint32_t generator, uint32_t bound, uint32_t schema) {
  uint32_t* header = static_cast<Reading*>(data)->header;
  header[0] = spv::MagicNumber;
  header[1] = version;
  header[2] = generator;
  header[3] = bound;
  header[4] = schema;
  return SPV_SUCCESS;
}

bool IsUse(spv_operand_type_t type) {
  return type == SPV_OPERAND_TYPE_ID || type == SPV_OPERAND_TYPE_TYPE_ID ||
         type == SPV_OPERAND_TYPE_SCOPE_ID || type == SPV_OPERAND_TYPE_MEMORY_SEMANTICS_ID;
}

spv_result_t ReadInstruction(void* data, const spv_parsed_instruction_t* parsed) {
  Instruction instruction;
  instruction.opcode = static_cast<spv::Op>(parsed->opcode);
  instruction.type = parsed->type_id;
  instruction.result = parsed->result_id;
  instruction.words.assign(parsed->words, parsed->words + parsed->num_words);
  for (uint16_t i = 0; i < parsed->num_operands; ++i) {
    const spv_parsed_operand_t& operand = parsed->operands[i];
    if (IsUse(operand.type)) instruction.id_uses.push_back(operand.offset);
  }
  static_cast<Reading*>(data)->instructions.push_back(std::move(instruction));
  return SPV_SUCCESS;
}

bool IsLine(spv::Op opcode) {
  return opcode == spv::OpLine || opcode == spv::OpNoLine;
}

bool EndsBlock(spv::Op opcode) {
  switch (opcode) {
    case spv::OpBranch:
    case spv::OpBranchConditional:
    case spv::OpSwitch:
    case spv::OpKill:
    case spv::OpReturn:
    case spv::OpReturnValue:
    case spv::OpUnreachable:
    case spv::OpTerminateInvocation:
    case spv::OpIgnoreIntersectionKHR:
    case spv::OpTerminateRayKHR:
    case spv::OpEmitMeshTasksEXT: return true;
    default: return false;
  }
}

// Puts the instructions behind the globals into functions and blocks. False: they do not stand in their order.
bool FillFunctions(std::vector<Instruction>::iterator at, std::vector<Instruction>::iterator end,
                   std::vector<Function>* functions) {
  std::vector<Instruction> lines;  // in front of what comes next
  Function* function = nullptr;
  Block* block = nullptr;
  for (; at != end; ++at) {
    const spv::Op opcode = at->opcode;
    if (block != nullptr) {
      block->instructions.push_back(std::move(*at));
      if (EndsBlock(opcode)) block = nullptr;
    } else if (opcode == spv::OpLabel) {
      if (function == nullptr) return false;
      block = &function->blocks.emplace_back();
      block->before = std::exchange(lines, {});
      block->label = std::move(*at);
    } else if (opcode == spv::OpFunctionEnd) {
      if (function == nullptr) return false;
      function->end = std::exchange(lines, {});
      function->end.push_back(std::move(*at));
      function = nullptr;
    } else if (opcode == spv::OpFunction || opcode == spv::OpFunctionParameter) {
      if ((opcode == spv::OpFunction) != (function == nullptr)) return false;
      if (opcode == spv::OpFunction) function = &functions->emplace_back();
      std::move(lines.begin(), lines.end(), std::back_inserter(function->begin));
      lines.clear();
      function->begin.push_back(std::move(*at));
    } else {
      // Lines, and instructions of debug information between functions.
      lines.push_back(std::move(*at));
    }
  }
  return function == nullptr && block == nullptr && lines.empty();
}

void Append(const std::vector<Instruction>& instructions, std::vector<uint32_t>* words) {
  for (const Instruction& instruction : instructions) {
    words->insert(words->end(), instruction.words.begin(), instruction.words.end());
  }
}

std::vector<uint32_t> WordsOf(std::string_view text) {
  std::vector<uint32_t> words(text.size() / 4 + 1);
  std::memcpy(words.data(), text.data(), text.size());
  return words;
}

uint64_t HashOf(spv::Op opcode, uint32_t type, std::span<const uint32_t> operands) {
  return XXH3_64bits_withSeed(operands.data(), operands.size_bytes(),
                              uint64_t{opcode} << 32 | type);
}

}  // namespace

std::span<const uint32_t> Instruction::operands() const {
  return std::span(words).subspan(1 + (type != 0) + (result != 0));
}

std::string_view Instruction::StringAt(size_t index) const {
  const auto text = operands().subspan(std::min(index, operands().size()));
  const char* begin = reinterpret_cast<const char*>(text.data());
  return {begin, strnlen(begin, text.size_bytes())};
}

const Instruction* Block::merge() const {
  // Directly in front of the branch.
  for (size_t i = instructions.size() - 1; i-- > 0;) {
    const spv::Op opcode = instructions[i].opcode;
    if (opcode == spv::OpLoopMerge || opcode == spv::OpSelectionMerge) return &instructions[i];
    if (!IsLine(opcode) && opcode != spv::OpExtInst) return nullptr;
  }
  return nullptr;
}

Instruction* Block::merge() {
  return const_cast<Instruction*>(std::as_const(*this).merge());
}

size_t Block::BehindPhis() const {
  size_t at = 0;
  while (at < instructions.size() &&
         (instructions[at].opcode == spv::OpPhi || IsLine(instructions[at].opcode)))
    ++at;
  return at;
}

const Instruction& Function::definition() const {
  return *std::find_if(begin.begin(), begin.end(), [](const Instruction& instruction) {
    return instruction.opcode == spv::OpFunction;
  });
}

Result<Module> Module::Read(std::span<const uint32_t> words) {
  const std::unique_ptr<spv_context_t, decltype(&spvContextDestroy)> context(
      spvContextCreate(SPV_ENV_UNIVERSAL_1_6), &spvContextDestroy);
  if (context == nullptr) return Status(StatusCode::kOutOfMemory, "SPIRV-Tools gives no context");
  Module module;
  Reading reading{module.header_, {}};
  spv_diagnostic diagnostic = nullptr;
  const spv_result_t result = spvBinaryParse(context.get(), &reading, words.data(), words.size(),
                                             &ReadHeader, &ReadInstruction, &diagnostic);
  const std::string error =
      diagnostic != nullptr && diagnostic->error != nullptr ? diagnostic->error : "";
  spvDiagnosticDestroy(diagnostic);
  if (result != SPV_SUCCESS) return Status(StatusCode::kCorrupt, "not a SPIR-V module: " + error);

  auto first = std::find_if(
      reading.instructions.begin(), reading.instructions.end(),
      [](const Instruction& instruction) { return instruction.opcode == spv::OpFunction; });
  // Lines in front of the first function are its own.
  while (first != reading.instructions.begin() && IsLine(std::prev(first)->opcode)) --first;
  module.globals.assign(std::make_move_iterator(reading.instructions.begin()),
                        std::make_move_iterator(first));
  if (!FillFunctions(first, reading.instructions.end(), &module.functions)) {
    return Status(StatusCode::kCorrupt, "not a SPIR-V module: its functions and blocks do not end");
  }
  return module;
}

std::vector<uint32_t> Module::Words() const {
  std::vector<uint32_t> words(header_, header_ + std::size(header_));
  Append(globals, &words);
  for (const Function& function : functions) {
    Append(function.begin, &words);
    for (const Block& block : function.blocks) {
      Append(block.before, &words);
      words.insert(words.end(), block.label.words.begin(), block.label.words.end());
      Append(block.instructions, &words);
    }
    Append(function.end, &words);
  }
  return words;
}

void Module::IndexGlobal(size_t index) const {
  const Instruction& global = globals[index];
  if (global.result == 0) return;
  global_index_[global.result] = index;
  definitions_.emplace(HashOf(global.opcode, global.type, global.operands()), index);
}

void Module::Index() const {
  if (indexed_) return;
  global_index_.clear();
  definitions_.clear();
  for (size_t i = 0; i < globals.size(); ++i) IndexGlobal(i);
  indexed_ = true;
}

const Instruction* Module::Global(uint32_t id) const {
  Index();
  const auto found = global_index_.find(id);
  return found == global_index_.end() ? nullptr : &globals[found->second];
}

bool Module::HasCapability(spv::Capability capability) const {
  return std::any_of(globals.begin(), globals.end(), [capability](const Instruction& instruction) {
    return instruction.opcode == spv::OpCapability &&
           instruction.operands()[0] == static_cast<uint32_t>(capability);
  });
}

void Module::InsertGlobal(size_t index, Instruction instruction) {
  const bool is_last = index == globals.size();
  globals.insert(globals.begin() + static_cast<ptrdiff_t>(index), std::move(instruction));
  if (is_last && indexed_) {
    IndexGlobal(index);
  } else {
    indexed_ = false;
  }
}

void Module::AddCapability(spv::Capability capability) {
  if (HasCapability(capability)) return;
  InsertGlobal(0, Make(spv::OpCapability, 0, 0, {static_cast<uint32_t>(capability)}, {}));
}

void Module::AddExtension(std::string_view name) {
  size_t at = 0;
  for (; at < globals.size(); ++at) {
    if (globals[at].opcode == spv::OpExtension && globals[at].StringAt(0) == name) return;
    if (globals[at].opcode != spv::OpCapability && globals[at].opcode != spv::OpExtension) break;
  }
  InsertGlobal(at, Make(spv::OpExtension, 0, 0, WordsOf(name), {}));
}

// The first type, constant or variable: decorations stand before all of them.
size_t Module::FirstDecoratable() const {
  size_t at = 0;
  for (; at < globals.size(); ++at) {
    const spv::Op opcode = globals[at].opcode;
    if (opcode >= spv::OpTypeVoid && opcode <= spv::OpSpecConstantOp) break;
    if (IsLine(opcode) || opcode == spv::OpExtInst || opcode == spv::OpUndef ||
        opcode == spv::OpVariable)
      break;
  }
  return at;
}

void Module::Decorate(uint32_t id, std::initializer_list<uint32_t> operands) {
  std::vector<uint32_t> all{id};
  all.insert(all.end(), operands);
  InsertGlobal(FirstDecoratable(), Make(spv::OpDecorate, 0, 0, std::move(all), {0}));
}

void Module::DecorateAll(const std::vector<uint32_t>& ids, spv::Decoration decoration) {
  std::vector<Instruction> added;
  for (uint32_t id : ids)
    added.push_back(Make(spv::OpDecorate, 0, 0, {id, static_cast<uint32_t>(decoration)}, {0}));
  globals.insert(globals.begin() + static_cast<ptrdiff_t>(FirstDecoratable()),
                 std::make_move_iterator(added.begin()), std::make_move_iterator(added.end()));
  indexed_ = false;
}

void Module::DecorateMember(uint32_t id, uint32_t member,
                            std::initializer_list<uint32_t> operands) {
  std::vector<uint32_t> all{id, member};
  all.insert(all.end(), operands);
  InsertGlobal(FirstDecoratable(), Make(spv::OpMemberDecorate, 0, 0, std::move(all), {0}));
}

uint32_t Module::Define(spv::Op opcode, uint32_t type, std::vector<uint32_t> operands) {
  Index();
  const auto found = definitions_.find(HashOf(opcode, type, operands));
  if (found != definitions_.end()) {
    const Instruction& global = globals[found->second];
    if (global.opcode == opcode && global.type == type &&
        std::ranges::equal(global.operands(), operands)) {
      return global.result;
    }
  }
  return DefineNew(opcode, type, std::move(operands));
}

uint32_t Module::DefineNew(spv::Op opcode, uint32_t type, std::vector<uint32_t> operands) {
  const uint32_t id = NewId();
  InsertGlobal(globals.size(), Make(opcode, type, id, std::move(operands), {}));
  return id;
}

void AddIds(Instruction& instruction, std::initializer_list<uint32_t> ids) {
  for (uint32_t id : ids) {
    instruction.id_uses.push_back(static_cast<uint16_t>(instruction.words.size()));
    instruction.words.push_back(id);
  }
  instruction.words[0] =
      static_cast<uint32_t>(instruction.words.size() << spv::WordCountShift | instruction.opcode);
}

Instruction Make(spv::Op opcode, uint32_t type, uint32_t result, std::vector<uint32_t> operands,
                 std::initializer_list<uint16_t> ids) {
  Instruction made;
  made.opcode = opcode;
  made.type = type;
  made.result = result;
  const size_t before = 1 + (type != 0) + (result != 0);
  made.words.reserve(before + operands.size());
  made.words.push_back(
      static_cast<uint32_t>((before + operands.size()) << spv::WordCountShift | opcode));
  if (type != 0) {
    made.id_uses.push_back(1);
    made.words.push_back(type);
  }
  if (result != 0) made.words.push_back(result);
  made.words.insert(made.words.end(), operands.begin(), operands.end());
  for (uint16_t index : ids) made.id_uses.push_back(static_cast<uint16_t>(before + index));
  return made;
}

Instruction Make(spv::Op opcode, uint32_t type, uint32_t result, std::vector<uint32_t> operands,
                 AllIds) {
  const size_t count = operands.size();
  Instruction made = Make(opcode, type, result, std::move(operands), {});
  const size_t before = made.words.size() - count;
  for (size_t i = 0; i < count; ++i) made.id_uses.push_back(static_cast<uint16_t>(before + i));
  return made;
}

}  // namespace cairn::spirv
