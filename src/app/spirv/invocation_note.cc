// SPDX-License-Identifier: Apache-2.0
#include "app/spirv/invocation_note.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "app/spirv/decorations.h"

namespace cairn::spirv {
namespace {

constexpr size_t kMostEntryPoints = 256;

InvocationKind KindOf(uint32_t model) {
  switch (model) {
    case spv::ExecutionModelGLCompute:
    case spv::ExecutionModelTaskEXT:
    case spv::ExecutionModelMeshEXT: return InvocationKind::kGlobal;
    case spv::ExecutionModelFragment: return InvocationKind::kFragment;
    case spv::ExecutionModelVertex: return InvocationKind::kVertex;
    case spv::ExecutionModelRayGenerationKHR:
    case spv::ExecutionModelIntersectionKHR:
    case spv::ExecutionModelAnyHitKHR:
    case spv::ExecutionModelClosestHitKHR:
    case spv::ExecutionModelMissKHR:
    case spv::ExecutionModelCallableKHR: return InvocationKind::kLaunch;
    default: return InvocationKind::kUnknown;
  }
}

}  // namespace

InvocationNote::InvocationNote(Module& module, const BasicTypes& types)
    : module_(module), types_(types) {
  Add();
}

// The variables that an entry point uses stand behind its name.
void InvocationNote::Name(Instruction& entry_point, uint32_t variable) {
  const auto is_variable = [&](uint16_t at) { return entry_point.words[at] == variable; };
  if (std::ranges::any_of(entry_point.id_uses, is_variable)) return;
  if (entry_point.words.size() < kMostInstructionWords) {
    AddIds(entry_point, {variable});
  } else {
    status_ =
        Status(StatusCode::kUnsupported,
               fmt::format("an entry point has {} words, and no room to name one more variable",
                           entry_point.words.size()));
  }
}

// A module with entry points of several kinds keeps zeros: one function may belong to two of them. So does one with
// hundreds: all globals are looked at for each.
void InvocationNote::Add() {
  std::optional<InvocationKind> kind;
  std::vector<uint32_t> functions;
  for (const Instruction& global : module_.globals) {
    if (global.opcode != spv::OpEntryPoint) continue;
    if (kind && *kind != KindOf(global.operands()[0])) return;
    // One function under two names.
    if (std::ranges::find(functions, global.operands()[1]) != functions.end()) return;
    if (functions.size() == kMostEntryPoints) return;
    kind = KindOf(global.operands()[0]);
    functions.push_back(global.operands()[1]);
  }
  if (!kind || *kind == InvocationKind::kUnknown) return;
  kind_ = *kind;
  const uint32_t pointer =
      module_.Define(spv::OpTypePointer, 0, {spv::StorageClassPrivate, types_.uint4});
  const uint32_t zeros = module_.Define(spv::OpConstantNull, types_.uint4, {});
  variable_ = module_.DefineNew(spv::OpVariable, pointer, {spv::StorageClassPrivate, zeros});
  // Variables are added behind them meanwhile.
  for (size_t i = 0; i < module_.globals.size(); ++i) {
    if (module_.globals[i].opcode != spv::OpEntryPoint) continue;
    Instruction entry_point = module_.globals[i];
    AddTo(entry_point);
    // Decorations may have been added, but never in front of entry points.
    module_.globals[i] = std::move(entry_point);
  }
}

// The variable of a built-in value, the program's own or a new one.
uint32_t InvocationNote::Input(Instruction& entry_point, spv::BuiltIn builtin, uint32_t type,
                               uint32_t* loaded_type) {
  uint32_t variable = 0;
  for (const Decorated& decorated : DecoratedWith(module_, spv::DecorationBuiltIn)) {
    if (decorated.member || decorated.value != static_cast<uint32_t>(builtin)) continue;
    const Instruction* const definition = module_.Global(decorated.id);
    if (definition != nullptr && definition->opcode == spv::OpVariable &&
        definition->operands()[0] == spv::StorageClassInput) {
      variable = decorated.id;
    }
  }
  if (variable == 0) {
    const uint32_t pointer = module_.Define(spv::OpTypePointer, 0, {spv::StorageClassInput, type});
    variable = module_.DefineNew(spv::OpVariable, pointer, {spv::StorageClassInput});
    module_.Decorate(variable, {spv::DecorationBuiltIn, static_cast<uint32_t>(builtin)});
  }
  Name(entry_point, variable);
  *loaded_type = module_.Global(module_.Global(variable)->type)->operands()[1];
  return variable;
}

void InvocationNote::AddTo(Instruction& entry_point) {
  if (module_.version() >= kSpirv14) Name(entry_point, variable_);
  const auto function =
      std::ranges::find(module_.functions, entry_point.operands()[1], &Function::id);
  std::vector<Instruction> added;
  Code code(module_, types_, added);
  const auto load = [&](spv::BuiltIn builtin, uint32_t type, uint32_t as) {
    uint32_t loaded_type = 0;
    const uint32_t variable = Input(entry_point, builtin, type, &loaded_type);
    const uint32_t value = code.Value(spv::OpLoad, loaded_type, {variable});
    return loaded_type == as ? value : code.Value(spv::OpBitcast, as, {value});
  };
  const uint32_t zero = code.Word(0);
  uint32_t note = 0;
  if (kind_ == InvocationKind::kGlobal || kind_ == InvocationKind::kLaunch) {
    const uint32_t uint3 = module_.Define(spv::OpTypeVector, 0, {types_.uint_type, 3});
    const spv::BuiltIn builtin =
        kind_ == InvocationKind::kGlobal ? spv::BuiltInGlobalInvocationId : spv::BuiltInLaunchIdKHR;
    note = code.Value(spv::OpCompositeConstruct, types_.uint4, {load(builtin, uint3, uint3), zero});
  } else if (kind_ == InvocationKind::kVertex) {
    const uint32_t vertex = load(spv::BuiltInVertexIndex, types_.uint_type, types_.uint_type);
    const uint32_t instance = load(spv::BuiltInInstanceIndex, types_.uint_type, types_.uint_type);
    note = code.Value(spv::OpCompositeConstruct, types_.uint4, {vertex, instance, zero, zero});
  } else {
    const uint32_t float_type = module_.Define(spv::OpTypeFloat, 0, {32});
    const uint32_t float4 = module_.Define(spv::OpTypeVector, 0, {float_type, 4});
    const uint32_t position = load(spv::BuiltInFragCoord, float4, float4);
    std::vector<uint32_t> pixel;
    for (uint32_t i = 0; i < 2; ++i) {
      const uint32_t value = code.Value(spv::OpCompositeExtract, float_type, {position, i}, {1});
      pixel.push_back(code.Value(spv::OpConvertFToU, types_.uint_type, {value}));
    }
    note = code.Value(spv::OpCompositeConstruct, types_.uint4, {pixel[0], pixel[1], zero, zero});
  }
  code.Do(spv::OpStore, {variable_, note});

  // Variables of a function stand before all else in its first block.
  std::vector<Instruction>& first = function->blocks.front().instructions;
  size_t at = 0;
  for (size_t i = 0; i < first.size(); ++i) {
    if (first[i].opcode == spv::OpVariable) at = i + 1;
  }
  first.insert(first.begin() + static_cast<ptrdiff_t>(at), std::make_move_iterator(added.begin()),
               std::make_move_iterator(added.end()));
}

void InvocationNote::Store(Code& code, uint32_t address, uint32_t offset) const {
  if (variable_ == 0) return;
  const uint32_t note = code.Value(spv::OpLoad, types_.uint4, {variable_});
  for (uint32_t i = 0; i < 4; ++i) {
    const uint32_t word = code.Value(spv::OpCompositeExtract, types_.uint_type, {note, i}, {1});
    code.StoreWord(code.WordAt(address, offset + 4 * i), word);
  }
}

}  // namespace cairn::spirv
