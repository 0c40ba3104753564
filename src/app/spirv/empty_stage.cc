// SPDX-License-Identifier: Apache-2.0
#include "app/spirv/empty_stage.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "app/spirv/module.h"
#include "app/spirv/module_bounds.h"
#include "app/spirv/new_modes.h"
#include "app/spirv/valid_module.h"
#include "app/spirv/validator.h"

namespace cairn::spirv {
namespace {

spv::ExecutionModel ModelOf(EmptiedStage stage) {
  switch (stage) {
    case EmptiedStage::kVertex: return spv::ExecutionModelVertex;
    case EmptiedStage::kFragment: return spv::ExecutionModelFragment;
    case EmptiedStage::kCompute: break;
  }
  return spv::ExecutionModelGLCompute;
}

// Returns the interface of each function that is an entry point of the stage, by its id.
std::unordered_map<uint32_t, std::vector<uint32_t>> EntriesOf(const Module& module,
                                                              spv::ExecutionModel model) {
  std::unordered_map<uint32_t, std::vector<uint32_t>> entries;
  for (const Instruction& global : module.globals) {
    if (global.opcode != spv::OpEntryPoint || global.operands()[0] != model) continue;
    std::vector<uint32_t>& variables = entries[global.operands()[1]];
    // The ids behind the function's; the name between them is none.
    for (const uint16_t word : global.id_uses) {
      if (global.words[word] != global.operands()[1]) variables.push_back(global.words[word]);
    }
  }
  return entries;
}

// Returns the stores of zeros into those of the variables that are outputs.
std::vector<Instruction> ZerosInto(Module& module, const std::vector<uint32_t>& variables) {
  std::vector<Instruction> stores;
  std::unordered_set<uint32_t> known;
  for (const uint32_t variable : variables) {
    const Instruction* const defined = module.Global(variable);
    if (defined == nullptr || defined->opcode != spv::OpVariable ||
        defined->operands()[0] != spv::StorageClassOutput || !known.insert(variable).second) {
      continue;
    }
    const uint32_t type = module.Global(defined->type)->operands()[1];
    const uint32_t zeros = module.Define(spv::OpConstantNull, type, {});
    stores.push_back(Make(spv::OpStore, 0, 0, {variable, zeros}, AllIds{}));
  }
  return stores;
}

void NoteResults(const Block& block, std::unordered_set<uint32_t>* ids) {
  ids->insert(block.id());
  for (const Instruction& instruction : block.instructions) ids->insert(instruction.result);
}

// Names and decorations of what is gone.
void RemoveUsers(Module& module, const std::unordered_set<uint32_t>& gone) {
  std::erase_if(module.globals, [&](const Instruction& global) {
    return std::ranges::any_of(global.id_uses, [&](uint16_t word) {
      return global.words[word] != 0 && gone.contains(global.words[word]);
    });
  });
}

// Takes a module that SPIRV-Tools knows.
Result<EmptiedModule> EmptyInKnown(std::span<const uint32_t> words, EmptiedStage stage) {
  Result<ValidModule> read = ReadValid(words);
  if (!read.ok()) return read.status();
  Module& module = read->module;
  const auto entries = EntriesOf(module, ModelOf(stage));
  EmptiedModule result;
  std::unordered_set<uint32_t> gone;
  for (Function& function : module.functions) {
    const auto entry = entries.find(function.id());
    if (entry == entries.end()) continue;
    for (const Block& block : function.blocks) NoteResults(block, &gone);
    Block only;
    only.label = Make(spv::OpLabel, 0, module.NewId(), {}, AllIds{});
    only.instructions = ZerosInto(module, entry->second);
    only.instructions.push_back(Make(spv::OpReturn, 0, 0, {}, AllIds{}));
    function.blocks.clear();
    function.blocks.push_back(std::move(only));
    ++result.emptied;
  }
  if (result.emptied == 0) return result;
  RemoveUsers(module, gone);
  result.words = module.Words();
  if (const Status valid = Validate(result.words); !valid.ok()) {
    return Status(StatusCode::kUnsupported, "the emptied module is not valid: " + valid.message());
  }
  return result;
}

}  // namespace

Result<EmptiedModule> EmptyStage(std::span<const uint32_t> words, EmptiedStage stage) {
  CAIRN_RETURN_IF_ERROR(CheckSize(words));
  const NewModes modes(words);
  Result<EmptiedModule> emptied = EmptyInKnown(modes.rest(), stage);
  if (emptied.ok() && emptied->emptied != 0) modes.PutBack(&emptied->words);
  return emptied;
}

}  // namespace cairn::spirv
