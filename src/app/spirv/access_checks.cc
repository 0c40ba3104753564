// SPDX-License-Identifier: Apache-2.0
#include "app/spirv/access_checks.h"

#include <algorithm>
#include <utility>

#include "app/spirv/access_guard.h"
#include "app/spirv/inserted_code.h"
#include "app/spirv/module.h"
#include "app/spirv/module_bounds.h"
#include "app/spirv/new_modes.h"
#include "app/spirv/pointee_size.h"
#include "app/spirv/valid_module.h"
#include "app/spirv/validator.h"

namespace cairn::spirv {
namespace {

// Memory that other invocations write meanwhile is decorated as such at the variables and members of a module without
// the Vulkan memory model. A pointer that was made of an address has no decoration.
bool HasCoherentMemory(const Module& module) {
  if (module.HasCapability(spv::CapabilityVulkanMemoryModel)) return false;
  return std::ranges::any_of(module.globals, [](const Instruction& global) {
    const bool is_member = global.opcode == spv::OpMemberDecorate;
    if (!is_member && global.opcode != spv::OpDecorate) return false;
    const uint32_t decoration = global.operands()[is_member ? 2 : 1];
    return decoration == spv::DecorationCoherent || decoration == spv::DecorationVolatile;
  });
}

// Loads and stores say how they access memory behind their operands; by address they always do.
void MakeVolatile(Instruction& instruction) {
  size_t mask = 0;
  if (instruction.opcode == spv::OpLoad) mask = 4;
  if (instruction.opcode == spv::OpStore) mask = 3;
  if (mask != 0 && mask < instruction.words.size())
    instruction.words[mask] |= spv::MemoryAccessVolatileMask;
}

struct Checked {
  const FoundAccess* access;
  uint64_t record;
};

// Gives the accesses of one block the addresses that the guard returns.
void RewriteBlock(Module& module, const BasicTypes& types, AccessGuard& guard,
                  const AccessChecks& checks, std::span<const Checked> accesses, bool is_coherent,
                  Block* block) {
  std::vector<Instruction> changed;
  changed.reserve(block->instructions.size() + 3 * accesses.size());
  Code code(module, types, changed);
  auto next = accesses.begin();
  for (uint32_t i = 0; i < block->instructions.size(); ++i) {
    Instruction& instruction = block->instructions[i];
    for (; next != accesses.end() && next->access->instruction == i; ++next) {
      const FoundAccess& access = *next->access;
      uint32_t& pointer = instruction.words[access.word];
      const uint32_t own = code.Value(spv::OpBitcast, types.uint2, {pointer});
      const uint64_t spare = access.kind == AccessKind::kLoad ? checks.zeros : checks.spare;
      const uint32_t instead = checks.only_counts ? own : guard.Address(spare);
      const uint32_t address = guard.Call(code, own, access.bytes, next->record, instead);
      pointer = code.Value(spv::OpBitcast, access.pointer_type, {address});
      if (is_coherent) MakeVolatile(instruction);
    }
    changed.push_back(std::move(instruction));
  }
  block->instructions = std::move(changed);
}

Access Described(const Function& function, const FoundAccess& found, const SourcePlaces& places) {
  Access access;
  access.function = function.id();
  const std::span<const Instruction> instructions = function.blocks[found.block].instructions;
  access.place = places.PlaceOf(function, instructions.first(found.instruction + 1));
  access.kind = found.kind;
  access.bytes = found.bytes;
  access.pointer = places.NameOf(instructions[found.instruction].words[found.word]);
  access.cannot = found.cannot;
  return access;
}

// CheckAccesses for a module of which SPIRV-Tools knows everything. No words where nothing is checked.
Result<CheckedModule> CheckKnown(std::span<const uint32_t> words, const AccessChecks& checks) {
  Result<ValidModule> read = ReadValid(words);
  if (!read.ok()) return read.status();
  Module& module = read->module;
  CheckedModule result;
  if (module.HasCapability(spv::CapabilityPhysicalStorageBufferAddresses)) {
    const size_t functions = module.functions.size();
    const BasicTypes types(module);
    AccessGuard guard(module, types);
    CAIRN_RETURN_IF_ERROR(guard.status());
    PointeeSizes sizes(module);
    std::vector<std::vector<FoundAccess>> found;
    {
      const SourcePlaces places(module);
      for (const Function& function : module.functions) {
        found.push_back(FindAccesses(module, function, sizes));
        for (const FoundAccess& access : found.back())
          result.accesses.push_back(Described(function, access, places));
      }
    }
    const bool is_coherent = HasCoherentMemory(module);
    uint64_t record = checks.records;
    for (size_t f = 0; f < functions; ++f) {
      std::vector<std::vector<Checked>> by_block(module.functions[f].blocks.size());
      for (const FoundAccess& access : found[f]) {
        if (access.cannot.empty()) by_block[access.block].push_back({&access, record});
        record += sizeof(AccessRecord);
      }
      for (size_t b = 0; b < by_block.size(); ++b) {
        if (by_block[b].empty()) continue;
        result.checked += static_cast<uint32_t>(by_block[b].size());
        RewriteBlock(module, types, guard, checks, by_block[b], is_coherent,
                     &module.functions[f].blocks[b]);
      }
    }
    if (result.checked != 0) {
      guard.AddFunction(checks.table);
      result.invocations = guard.invocations();
      result.words = module.Words();
      if (Status valid = Validate(result.words); !valid.ok()) {
        return Status(StatusCode::kUnsupported,
                      "the changed module is not valid: " + valid.message());
      }
    }
  }
  return result;
}

}  // namespace

bool HasAddresses(std::span<const uint32_t> words) {
  constexpr size_t kHeaderWords = 5;
  if (words.size() < kHeaderWords || words[0] != spv::MagicNumber) return false;
  // Capabilities come first.
  for (size_t at = kHeaderWords; at + 1 < words.size(); at += 2) {
    if (words[at] != (2u << spv::WordCountShift | spv::OpCapability)) return false;
    if (words[at + 1] == spv::CapabilityPhysicalStorageBufferAddresses) return true;
  }
  return false;
}

Result<uint32_t> CountAccesses(std::span<const uint32_t> words) {
  CAIRN_RETURN_IF_ERROR(CheckSize(words));
  const NewModes modes(words);
  const Result<Module> module = Module::Read(modes.rest());
  if (!module.ok()) return module.status();
  uint32_t count = 0;
  for (const Function& function : module->functions) count += CountAccesses(*module, function);
  return count;
}

Result<CheckedModule> CheckAccesses(std::span<const uint32_t> words, const AccessChecks& checks) {
  CAIRN_RETURN_IF_ERROR(CheckSize(words));
  const NewModes modes(words);
  Result<CheckedModule> checked = CheckKnown(modes.rest(), checks);
  if (!checked.ok()) return checked;
  if (checked->checked == 0) {
    checked->words.assign(words.begin(), words.end());
  } else {
    modes.PutBack(&checked->words);
  }
  return checked;
}

}  // namespace cairn::spirv
