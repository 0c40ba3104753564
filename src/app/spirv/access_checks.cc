// SPDX-License-Identifier: Apache-2.0
#include "app/spirv/access_checks.h"

#include <unordered_map>
#include <utility>

#include "app/spirv/address_guard.h"
#include "app/spirv/decorations.h"
#include "app/spirv/descriptor_rewriter.h"
#include "app/spirv/index_guard.h"
#include "app/spirv/inserted_code.h"
#include "app/spirv/invocation_note.h"
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
  return !DecoratedWith(module, spv::DecorationCoherent).empty() ||
         !DecoratedWith(module, spv::DecorationVolatile).empty();
}

// Loads and stores say how they access memory behind their operands; by address they always do.
void MakeVolatile(Instruction& instruction) {
  size_t mask = 0;
  if (instruction.opcode == spv::OpLoad) mask = 4;
  if (instruction.opcode == spv::OpStore) mask = 3;
  if (mask != 0 && mask < instruction.words.size())
    instruction.words[mask] |= spv::MemoryAccessVolatileMask;
}

struct Numbered {
  const FoundAccess* access;
  uint64_t record;  // its address
};

// Changes the accesses of a module that can be checked.
class Rewriter {
 public:
  Rewriter(Module& module, const BasicTypes& types, const InvocationNote& invocation,
           const AccessChecks& checks)
      : module_(module),
        types_(types),
        checks_(checks),
        is_coherent_(HasCoherentMemory(module)),
        addresses_(module, types, invocation),
        indices_(module, types, invocation),
        descriptors_(module, types, indices_, checks.only_counts) {}

  void RewriteBlock(std::span<const Numbered> accesses, Block* block) {
    std::vector<Instruction> changed;
    changed.reserve(block->instructions.size() + 3 * accesses.size());
    Code code(module_, types_, changed);
    auto next = accesses.begin();
    for (uint32_t i = 0; i < block->instructions.size(); ++i) {
      Instruction& instruction = block->instructions[i];
      for (; next != accesses.end() && next->access->instruction == i; ++next) {
        if (next->access->path) {
          has_descriptors_ = true;
          descriptors_.Rewrite(code, *next->access, next->record, &instruction);
        } else {
          has_addresses_ = true;
          GiveAddress(code, *next, &instruction);
        }
      }
      changed.push_back(std::move(instruction));
    }
    block->instructions = std::move(changed);
  }

  // Adds the functions that are called. Once, behind the last block.
  void Finish() {
    descriptors_.Finish();
    if (has_addresses_) addresses_.AddFunction(checks_.table);
    if (has_descriptors_) indices_.AddFunction();
  }

 private:
  // Gives an access the address that the guard returns.
  void GiveAddress(Code& code, const Numbered& numbered, Instruction* instruction) {
    const FoundAccess& access = *numbered.access;
    uint32_t& pointer = instruction->words[access.word];
    const uint32_t own = code.Value(spv::OpBitcast, types_.uint2, {pointer});
    const uint64_t spare = access.kind == AccessKind::kLoad ? checks_.zeros : checks_.spare;
    const uint32_t instead = checks_.only_counts ? own : code.Address(spare);
    const uint32_t address = addresses_.Call(code, own, access.bytes, numbered.record, instead);
    pointer = code.Value(spv::OpBitcast, access.pointer_type, {address});
    if (is_coherent_) MakeVolatile(*instruction);
  }

  Module& module_;
  const BasicTypes& types_;
  const AccessChecks& checks_;
  const bool is_coherent_;
  AddressGuard addresses_;
  IndexGuard indices_;
  DescriptorRewriter descriptors_;
  bool has_addresses_ = false;
  bool has_descriptors_ = false;
};

struct Binding {
  uint32_t set = 0;
  uint32_t binding = 0;
};

// Where descriptors stand, by their variables.
std::unordered_map<uint32_t, Binding> BindingsOf(const Module& module) {
  std::unordered_map<uint32_t, Binding> bindings;
  for (const Decorated& decorated : DecoratedWith(module, spv::DecorationDescriptorSet))
    bindings[decorated.id].set = decorated.value;
  for (const Decorated& decorated : DecoratedWith(module, spv::DecorationBinding))
    bindings[decorated.id].binding = decorated.value;
  return bindings;
}

Access Described(const Function& function, const FoundAccess& found, const SourcePlaces& places,
                 std::unordered_map<uint32_t, Binding>& bindings) {
  Access access;
  access.function = function.id();
  const std::span<const Instruction> instructions = function.blocks[found.block].instructions;
  access.place = places.PlaceOf(function, instructions.first(found.instruction + 1));
  access.kind = found.kind;
  access.bytes = found.bytes;
  access.pointer = places.NameOf(instructions[found.instruction].words[found.word]);
  access.cannot = found.cannot;
  if (found.path && found.cannot.empty()) access.partly = found.path->partly;
  if (found.path) {
    // A block without a name is called by its members.
    const std::string name = places.NameOf(found.path->variable);
    if (!name.empty()) access.pointer = name;
    access.by_descriptor = true;
    access.set = bindings[found.path->variable].set;
    access.binding = bindings[found.path->variable].binding;
    access.indices = found.path->checked;
  }
  return access;
}

// CheckAccesses for a module of which SPIRV-Tools knows everything. No words where nothing is checked.
Result<CheckedModule> CheckKnown(std::span<const uint32_t> words, const AccessChecks& checks) {
  Result<ValidModule> read = ReadValid(words);
  if (!read.ok()) return read.status();
  Module& module = read->module;
  CheckedModule result;
  UseAddresses(module);
  const size_t functions = module.functions.size();
  const BasicTypes types(module);
  const InvocationNote invocation(module, types);
  CAIRN_RETURN_IF_ERROR(invocation.status());
  PointeeSizes sizes(module);
  std::vector<std::vector<FoundAccess>> found;
  {
    const SourcePlaces places(module);
    std::unordered_map<uint32_t, Binding> bindings = BindingsOf(module);
    for (const Function& function : module.functions) {
      found.push_back(FindAccesses(module, function, sizes));
      for (const FoundAccess& access : found.back())
        result.accesses.push_back(Described(function, access, places, bindings));
    }
  }
  Rewriter rewriter(module, types, invocation, checks);
  uint64_t record = checks.records;
  for (size_t f = 0; f < functions; ++f) {
    std::vector<std::vector<Numbered>> by_block(module.functions[f].blocks.size());
    for (const FoundAccess& access : found[f]) {
      if (access.cannot.empty()) by_block[access.block].push_back({&access, record});
      record += sizeof(AccessRecord);
    }
    for (size_t b = 0; b < by_block.size(); ++b) {
      if (by_block[b].empty()) continue;
      result.checked += static_cast<uint32_t>(by_block[b].size());
      rewriter.RewriteBlock(by_block[b], &module.functions[f].blocks[b]);
    }
  }
  if (result.checked == 0) return result;
  rewriter.Finish();
  result.invocations = invocation.kind();
  result.words = module.Words();
  if (Status valid = Validate(result.words); !valid.ok()) {
    return Status(StatusCode::kUnsupported, "the changed module is not valid: " + valid.message());
  }
  return result;
}

}  // namespace

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
