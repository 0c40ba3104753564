// SPDX-License-Identifier: Apache-2.0
#include "app/spirv/loop_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace cairn::spirv {
namespace {

constexpr uint32_t kSpirv14 = 0x00010400;
constexpr uint32_t kSpirv15 = 0x00010500;
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

// Writes instructions of one block, in order.
class Code {
 public:
  Code(Module& module, std::vector<Instruction>& out) : module_(module), out_(out) {}
  uint32_t Value(spv::Op opcode, uint32_t type, std::vector<uint32_t> operands,
                 std::initializer_list<uint16_t> literals = {}) {
    const uint32_t id = module_.NewId();
    Instruction made = Make(opcode, type, id, std::move(operands), AllIds());
    for (uint16_t literal : literals) std::erase(made.id_uses, static_cast<uint16_t>(3 + literal));
    out_.push_back(std::move(made));
    return id;
  }
  void Do(spv::Op opcode, std::vector<uint32_t> ids) {
    out_.push_back(Make(opcode, 0, 0, std::move(ids), AllIds()));
  }
  void Add(Instruction instruction) { out_.push_back(std::move(instruction)); }

 private:
  Module& module_;
  std::vector<Instruction>& out_;
};

}  // namespace

BasicTypes::BasicTypes(Module& module)
    : void_type(module.Define(spv::OpTypeVoid, 0, {})),
      bool_type(module.Define(spv::OpTypeBool, 0, {})),
      uint_type(module.Define(spv::OpTypeInt, 0, {32, 0})),
      uint2(module.Define(spv::OpTypeVector, 0, {uint_type, 2})),
      uint4(module.Define(spv::OpTypeVector, 0, {uint_type, 4})) {}

LoopReport::LoopReport(Module& module, const BasicTypes& types)
    : module_(module),
      types_(types),
      function_(module.NewId()),
      function_type_(module.Define(spv::OpTypeFunction, 0,
                                   {types.void_type, types.uint2, types.bool_type, types.uint_type,
                                    types.uint_type, types.uint_type})) {
  UseAddresses();
  NoteInvocations();
}

// The variables that an entry point uses stand behind its name.
void LoopReport::Name(Instruction& entry_point, uint32_t variable) {
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

uint32_t LoopReport::Word(uint32_t value) {
  return module_.Define(spv::OpConstant, types_.uint_type, {value});
}

void LoopReport::UseAddresses() {
  module_.AddCapability(spv::CapabilityPhysicalStorageBufferAddresses);
  if (module_.version() < kSpirv15) module_.AddExtension("SPV_KHR_physical_storage_buffer");
  for (Instruction& global : module_.globals) {
    if (global.opcode == spv::OpMemoryModel)
      global.words[1] = spv::AddressingModelPhysicalStorageBuffer64;
  }
}

// A module with entry points of several kinds keeps zeros: one function may belong to two of them. So does one with
// hundreds: all globals are looked at for each.
void LoopReport::NoteInvocations() {
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
  invocation_ = module_.DefineNew(spv::OpVariable, pointer, {spv::StorageClassPrivate, zeros});
  // Variables are added behind them meanwhile.
  for (size_t i = 0; i < module_.globals.size(); ++i) {
    if (module_.globals[i].opcode != spv::OpEntryPoint) continue;
    Instruction entry_point = module_.globals[i];
    NoteInvocation(entry_point);
    // Decorations may have been added, but never in front of entry points.
    module_.globals[i] = std::move(entry_point);
  }
}

// The variable of a built-in value, the program's own or a new one.
uint32_t LoopReport::Input(Instruction& entry_point, spv::BuiltIn builtin, uint32_t type,
                           uint32_t* loaded_type) {
  uint32_t variable = 0;
  for (const Instruction& global : module_.globals) {
    const auto operands = global.operands();
    if (global.opcode != spv::OpDecorate || operands[1] != spv::DecorationBuiltIn ||
        operands[2] != builtin)
      continue;
    const Instruction* decorated = module_.Global(operands[0]);
    if (decorated != nullptr && decorated->opcode == spv::OpVariable &&
        decorated->operands()[0] == spv::StorageClassInput) {
      variable = operands[0];
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

void LoopReport::NoteInvocation(Instruction& entry_point) {
  if (module_.version() >= kSpirv14) Name(entry_point, invocation_);
  const auto function =
      std::ranges::find(module_.functions, entry_point.operands()[1], &Function::id);
  std::vector<Instruction> added;
  Code code(module_, added);
  const auto load = [&](spv::BuiltIn builtin, uint32_t type, uint32_t as) {
    uint32_t loaded_type = 0;
    const uint32_t variable = Input(entry_point, builtin, type, &loaded_type);
    const uint32_t value = code.Value(spv::OpLoad, loaded_type, {variable});
    return loaded_type == as ? value : code.Value(spv::OpBitcast, as, {value});
  };
  const uint32_t zero = Word(0);
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
  code.Do(spv::OpStore, {invocation_, note});

  // Variables of a function stand before all else in its first block.
  std::vector<Instruction>& first = function->blocks.front().instructions;
  size_t at = 0;
  for (size_t i = 0; i < first.size(); ++i) {
    if (first[i].opcode == spv::OpVariable) at = i + 1;
  }
  first.insert(first.begin() + static_cast<ptrdiff_t>(at), std::make_move_iterator(added.begin()),
               std::make_move_iterator(added.end()));
}

Instruction LoopReport::CallFor(uint64_t record, uint32_t cut, uint32_t trips, uint32_t left,
                                uint32_t right) {
  const uint32_t address = module_.Define(
      spv::OpConstantComposite, types_.uint2,
      {Word(static_cast<uint32_t>(record)), Word(static_cast<uint32_t>(record >> 32))});
  return Make(spv::OpFunctionCall, types_.void_type, module_.NewId(),
              {function_, address, cut, trips, left, right}, AllIds());
}

void LoopReport::AddFunction() {
  Function function;
  const auto parameter = [&](uint32_t type) {
    function.begin.push_back(Make(spv::OpFunctionParameter, type, module_.NewId(), {}, AllIds()));
    return function.begin.back().result;
  };
  function.begin.push_back(Make(spv::OpFunction, types_.void_type, function_,
                                {spv::FunctionControlMaskNone, function_type_}, {1}));
  const uint32_t record = parameter(types_.uint2);
  const uint32_t cut = parameter(types_.bool_type);
  const uint32_t trips = parameter(types_.uint_type);
  const uint32_t left = parameter(types_.uint_type);
  const uint32_t right = parameter(types_.uint_type);

  const uint32_t pointer = module_.Define(
      spv::OpTypePointer, 0, {spv::StorageClassPhysicalStorageBuffer, types_.uint_type});
  const uint32_t relaxed = Word(0);
  const uint32_t scope =
      Word(module_.HasCapability(spv::CapabilityVulkanMemoryModel) ? spv::ScopeQueueFamily
                                                                   : spv::ScopeDevice);
  enum { kCount, kCut, kStore, kStored, kDone, kBlocks };
  function.blocks.resize(kBlocks);
  uint32_t labels[kBlocks];
  for (uint32_t i = 0; i < kBlocks; ++i) {
    labels[i] = module_.NewId();
    function.blocks[i].label = Make(spv::OpLabel, 0, labels[i], {}, AllIds());
  }
  const auto code_of = [&](int block) {
    return Code(module_, function.blocks[block].instructions);
  };
  // The record is aligned: no word of it lies beyond 4 GiB from the first.
  const auto word_at = [&](Code& code, size_t offset) {
    const uint32_t low = code.Value(spv::OpCompositeExtract, types_.uint_type, {record, 0}, {1});
    const uint32_t high = code.Value(spv::OpCompositeExtract, types_.uint_type, {record, 1}, {1});
    const uint32_t moved =
        code.Value(spv::OpIAdd, types_.uint_type, {low, Word(static_cast<uint32_t>(offset))});
    const uint32_t address = code.Value(spv::OpCompositeConstruct, types_.uint2, {moved, high});
    return code.Value(spv::OpBitcast, pointer, {address});
  };
  const auto select = [&](Code& code, uint32_t condition, int yes, int no) {
    code.Add(Make(spv::OpSelectionMerge, 0, 0, {labels[no], spv::SelectionControlMaskNone}, {0}));
    code.Do(spv::OpBranchConditional, {condition, labels[yes], labels[no]});
  };
  {
    Code code = code_of(kCount);
    code.Value(spv::OpAtomicIAdd, types_.uint_type,
               {word_at(code, offsetof(LoopRecord, executions)), scope, relaxed, Word(1)});
    code.Value(spv::OpAtomicUMax, types_.uint_type,
               {word_at(code, offsetof(LoopRecord, most_trips)), scope, relaxed, trips});
    select(code, cut, kCut, kDone);
  }
  {
    Code code = code_of(kCut);
    const uint32_t before =
        code.Value(spv::OpAtomicIAdd, types_.uint_type,
                   {word_at(code, offsetof(LoopRecord, cuts)), scope, relaxed, Word(1)});
    const uint32_t is_first = code.Value(spv::OpIEqual, types_.bool_type, {before, Word(0)});
    select(code, is_first, kStore, kStored);
  }
  {
    Code code = code_of(kStore);
    const auto store = [&](size_t offset, uint32_t value) {
      code.Add(Make(spv::OpStore, 0, 0,
                    {word_at(code, offset), value, spv::MemoryAccessAlignedMask, 4}, {0, 1}));
    };
    if (invocation_ != 0) {
      const uint32_t note = code.Value(spv::OpLoad, types_.uint4, {invocation_});
      for (uint32_t i = 0; i < 4; ++i) {
        store(offsetof(LoopRecord, invocation) + 4 * i,
              code.Value(spv::OpCompositeExtract, types_.uint_type, {note, i}, {1}));
      }
    }
    store(offsetof(LoopRecord, left), left);
    store(offsetof(LoopRecord, right), right);
    store(offsetof(LoopRecord, first), Word(1));
    code.Do(spv::OpBranch, {labels[kStored]});
  }
  code_of(kStored).Do(spv::OpBranch, {labels[kDone]});
  code_of(kDone).Do(spv::OpReturn, {});
  function.end.push_back(Make(spv::OpFunctionEnd, 0, 0, {}, AllIds()));
  module_.functions.push_back(std::move(function));
}

}  // namespace cairn::spirv
