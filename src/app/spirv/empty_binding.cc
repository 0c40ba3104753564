// SPDX-License-Identifier: Apache-2.0
#include "app/spirv/empty_binding.h"

#include <fmt/format.h>
#include <spirv-tools/libspirv.h>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "app/spirv/module.h"
#include "app/spirv/module_bindings.h"
#include "app/spirv/module_bounds.h"
#include "app/spirv/new_modes.h"
#include "app/spirv/valid_module.h"
#include "app/spirv/validator.h"

namespace cairn::spirv {
namespace {

// Names the fate of an instruction that takes a pointer into the binding, or an image or a sampler of it.
enum class Fate : uint8_t {
  kStays,    // only tells debuggers of it
  kCarries,  // its result leads to the binding, too
  kZeros,    // its result becomes zeros
  kGoes,     // is left out
  kCalls,
  kRefused,
};

bool IsDebugInfo(std::string_view set) {
  return set.starts_with("NonSemantic.") || set == "OpenCL.DebugInfo.100" || set == "DebugInfo";
}

// Follows the variables of one binding through a valid module.
class Binder {
 public:
  Binder(Module& module, const std::vector<uint32_t>& variables)
      : module_(module), carriers_(variables.begin(), variables.end()) {
    for (const Instruction& global : module.globals) {
      if (global.opcode == spv::OpExtInstImport && IsDebugInfo(global.StringAt(0)))
        debug_infos_.insert(global.result);
    }
    for (size_t i = 0; i < module.functions.size(); ++i) {
      functions_[module.functions[i].id()] = i;
      to_follow_.push_back(i);
    }
  }

  // Finds all that leads to the binding. A sentence for a use that cannot be emptied; "".
  std::string Follow() {
    for (const Instruction& global : module_.globals) {
      const bool holds = global.opcode == spv::OpVariable || global.opcode == spv::OpSpecConstantOp;
      if (holds && UsesIt(global)) return Cannot(global);
    }
    while (!to_follow_.empty()) {
      const size_t function = to_follow_.back();
      to_follow_.pop_back();
      if (std::string why = FollowIn(module_.functions[function]); !why.empty()) return why;
    }
    return CheckCalls();
  }

  // Behind Follow, once. Returns how many instructions it has changed.
  uint32_t Empty() {
    uint32_t emptied = 0;
    for (Function& function : module_.functions) {
      for (Block& block : function.blocks) {
        for (Instruction& instruction : block.instructions) {
          if (UsesIt(instruction) && FateOf(instruction) == Fate::kZeros) {
            ++emptied;
            const uint32_t zeros = module_.Define(spv::OpConstantNull, instruction.type, {});
            instruction =
                Make(spv::OpCopyObject, instruction.type, instruction.result, {zeros}, AllIds{});
          }
        }
        emptied += static_cast<uint32_t>(std::erase_if(block.instructions, [&](const auto& each) {
          return UsesIt(each) && FateOf(each) == Fate::kGoes;
        }));
      }
    }
    return emptied;
  }

 private:
  bool Carries(uint32_t id) const { return carriers_.contains(id); }

  bool UsesIt(const Instruction& instruction) const {
    return std::ranges::any_of(instruction.id_uses,
                               [&](uint16_t word) { return Carries(instruction.words[word]); });
  }

  static std::string Cannot(const Instruction& instruction) {
    return fmt::format("the shader uses the binding in {}, which cannot be emptied",
                       std::string("Op") + spvOpcodeString(instruction.opcode));
  }

  std::string FollowIn(const Function& function) {
    for (const Block& block : function.blocks) {
      for (const Instruction& instruction : block.instructions) {
        if (!UsesIt(instruction)) continue;
        switch (FateOf(instruction)) {
          case Fate::kCarries: carriers_.insert(instruction.result); break;
          case Fate::kCalls: FollowCall(instruction); break;
          case Fate::kRefused: return Cannot(instruction);
          case Fate::kStays:
          case Fate::kZeros:
          case Fate::kGoes: break;
        }
      }
    }
    return "";
  }

  // Calls visit(argument, parameter) for each argument of a call.
  template <typename Visit>
  void ForArguments(const Instruction& call, const Visit& visit) {
    const auto operands = call.operands();
    size_t argument = 1;  // behind the function
    for (const Instruction& begin : module_.functions[functions_.at(operands[0])].begin) {
      if (begin.opcode == spv::OpFunctionParameter && argument < operands.size())
        visit(operands[argument++], begin.result);
    }
  }

  void FollowCall(const Instruction& call) {
    bool is_new = false;
    ForArguments(call, [&](uint32_t argument, uint32_t parameter) {
      if (Carries(argument)) is_new |= carriers_.insert(parameter).second;
    });
    if (is_new) to_follow_.push_back(functions_.at(call.operands()[0]));
  }

  // A parameter that leads to the binding in one call alone can't be emptied.
  std::string CheckCalls() {
    bool differ = false;
    for (const Function& function : module_.functions) {
      for (const Block& block : function.blocks) {
        for (const Instruction& instruction : block.instructions) {
          if (instruction.opcode != spv::OpFunctionCall) continue;
          ForArguments(instruction, [&](uint32_t argument, uint32_t parameter) {
            differ |= Carries(parameter) && !Carries(argument);
          });
        }
      }
    }
    return differ ? "the shader passes the binding to a function that gets another one elsewhere"
                  : "";
  }

  // A type of values that can be zeros.
  bool HasZeros(uint32_t type) const {
    const auto [known, is_new] = has_zeros_.try_emplace(type, false);
    if (!is_new) return known->second;
    const bool has = LookForZeros(type);
    has_zeros_[type] = has;
    return has;
  }

  // Types do not nest deeper than module_bounds.h says.
  bool LookForZeros(uint32_t type) const {
    const Instruction* const definition = module_.Global(type);
    if (definition == nullptr) return false;
    const auto operands = definition->operands();
    switch (definition->opcode) {
      case spv::OpTypeBool:
      case spv::OpTypeInt:
      case spv::OpTypeFloat:
      case spv::OpTypeVector:
      case spv::OpTypeMatrix: return true;
      case spv::OpTypeArray: return HasZeros(operands[0]);
      case spv::OpTypeStruct:
        return std::ranges::all_of(operands, [&](uint32_t member) { return HasZeros(member); });
      default: return false;
    }
  }

  Fate FateOfLoad(uint32_t type) const {
    const Instruction* const definition = module_.Global(type);
    if (definition == nullptr) return Fate::kRefused;
    switch (definition->opcode) {
      case spv::OpTypeImage:
      case spv::OpTypeSampler:
      case spv::OpTypeSampledImage:
      case spv::OpTypeAccelerationStructureKHR:
      case spv::OpTypePointer: return Fate::kCarries;
      default: return HasZeros(type) ? Fate::kZeros : Fate::kRefused;
    }
  }

  Fate FateOf(const Instruction& instruction) const {
    const auto operands = instruction.operands();
    switch (instruction.opcode) {
      case spv::OpAccessChain:
      case spv::OpInBoundsAccessChain:
      case spv::OpPtrAccessChain:
      case spv::OpInBoundsPtrAccessChain:
      case spv::OpCopyObject:
      case spv::OpImageTexelPointer:
      case spv::OpSampledImage:
      case spv::OpImage: return Fate::kCarries;
      case spv::OpLoad: return FateOfLoad(instruction.type);
      // A pointer into the binding that is stored elsewhere is out of sight.
      case spv::OpStore:
      case spv::OpCopyMemory: return Carries(operands[0]) ? Fate::kGoes : Fate::kRefused;
      case spv::OpAtomicStore:
      case spv::OpImageWrite: return Fate::kGoes;
      case spv::OpFunctionCall: return Fate::kCalls;
      case spv::OpExtInst:
        return debug_infos_.contains(operands[0]) ? Fate::kStays : Fate::kRefused;
      default: return GivesValues(instruction.opcode) ? Fate::kZeros : Fate::kRefused;
    }
  }

  static bool GivesValues(spv::Op opcode) {
    switch (opcode) {
      case spv::OpArrayLength:
      case spv::OpAtomicLoad:
      case spv::OpAtomicExchange:
      case spv::OpAtomicCompareExchange:
      case spv::OpAtomicIIncrement:
      case spv::OpAtomicIDecrement:
      case spv::OpAtomicIAdd:
      case spv::OpAtomicISub:
      case spv::OpAtomicSMin:
      case spv::OpAtomicUMin:
      case spv::OpAtomicSMax:
      case spv::OpAtomicUMax:
      case spv::OpAtomicAnd:
      case spv::OpAtomicOr:
      case spv::OpAtomicXor:
      case spv::OpAtomicFAddEXT:
      case spv::OpAtomicFMinEXT:
      case spv::OpAtomicFMaxEXT:
      case spv::OpImageSampleImplicitLod:
      case spv::OpImageSampleExplicitLod:
      case spv::OpImageSampleDrefImplicitLod:
      case spv::OpImageSampleDrefExplicitLod:
      case spv::OpImageSampleProjImplicitLod:
      case spv::OpImageSampleProjExplicitLod:
      case spv::OpImageSampleProjDrefImplicitLod:
      case spv::OpImageSampleProjDrefExplicitLod:
      case spv::OpImageFetch:
      case spv::OpImageGather:
      case spv::OpImageDrefGather:
      case spv::OpImageRead:
      case spv::OpImageQuerySizeLod:
      case spv::OpImageQuerySize:
      case spv::OpImageQueryLod:
      case spv::OpImageQueryLevels:
      case spv::OpImageQuerySamples:
      case spv::OpImageSparseSampleImplicitLod:
      case spv::OpImageSparseSampleExplicitLod:
      case spv::OpImageSparseSampleDrefImplicitLod:
      case spv::OpImageSparseSampleDrefExplicitLod:
      case spv::OpImageSparseFetch:
      case spv::OpImageSparseGather:
      case spv::OpImageSparseDrefGather:
      case spv::OpImageSparseRead: return true;
      default: return false;
    }
  }

  Module& module_;
  std::unordered_set<uint32_t> carriers_;  // ids that lead to the binding
  std::unordered_set<uint32_t> debug_infos_;
  mutable std::unordered_map<uint32_t, bool> has_zeros_;  // by type
  std::unordered_map<uint32_t, size_t> functions_;        // into the module's, by id
  std::vector<size_t> to_follow_;
};

// Takes a module that SPIRV-Tools knows.
Result<UnboundModule> EmptyInKnown(std::span<const uint32_t> words, const BindingPlace& place) {
  Result<ValidModule> read = ReadValid(words);
  if (!read.ok()) return read.status();
  Module& module = read->module;
  std::vector<uint32_t> variables;
  for (const Binding& binding : FindBindings(module)) {
    if (binding.place == place) variables.push_back(binding.variable);
  }
  UnboundModule result;
  if (variables.empty()) return result;
  Binder binder(module, variables);
  if (std::string why = binder.Follow(); !why.empty())
    return Status(StatusCode::kUnsupported, std::move(why));
  result.emptied = binder.Empty();
  if (result.emptied == 0) return result;
  result.words = module.Words();
  if (const Status valid = Validate(result.words); !valid.ok()) {
    return Status(StatusCode::kUnsupported, "the emptied module is not valid: " + valid.message());
  }
  return result;
}

}  // namespace

Result<UnboundModule> EmptyBinding(std::span<const uint32_t> words, const BindingPlace& place) {
  CAIRN_RETURN_IF_ERROR(CheckSize(words));
  const NewModes modes(words);
  Result<UnboundModule> unbound = EmptyInKnown(modes.rest(), place);
  if (unbound.ok() && unbound->emptied != 0) modes.PutBack(&unbound->words);
  return unbound;
}

}  // namespace cairn::spirv
