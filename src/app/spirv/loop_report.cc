// SPDX-License-Identifier: Apache-2.0
#include "app/spirv/loop_report.h"

#include <utility>
#include <vector>

namespace cairn::spirv {

LoopReport::LoopReport(Module& module, const BasicTypes& types)
    : module_(module),
      types_(types),
      invocation_(module, types),
      function_(module.NewId()),
      function_type_(module.Define(spv::OpTypeFunction, 0,
                                   {types.void_type, types.uint2, types.bool_type, types.uint_type,
                                    types.uint_type, types.uint_type})) {
  UseAddresses(module);
}

uint32_t LoopReport::Word(uint32_t value) {
  return module_.Define(spv::OpConstant, types_.uint_type, {value});
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

  const uint32_t relaxed = Word(0);
  const uint32_t scope = DeviceScope(module_, types_);
  enum { kCount, kCut, kStore, kStored, kDone, kBlocks };
  function.blocks.resize(kBlocks);
  uint32_t labels[kBlocks];
  for (uint32_t i = 0; i < kBlocks; ++i) {
    labels[i] = module_.NewId();
    function.blocks[i].label = Make(spv::OpLabel, 0, labels[i], {}, AllIds());
  }
  const auto code_of = [&](int block) {
    return Code(module_, types_, function.blocks[block].instructions);
  };
  // The record is aligned: no word of it lies beyond 4 GiB from the first.
  const auto word_at = [&](Code& code, size_t offset) {
    return code.WordAt(record, static_cast<uint32_t>(offset));
  };
  {
    Code code = code_of(kCount);
    code.Value(spv::OpAtomicIAdd, types_.uint_type,
               {word_at(code, offsetof(LoopRecord, executions)), scope, relaxed, Word(1)});
    code.Value(spv::OpAtomicUMax, types_.uint_type,
               {word_at(code, offsetof(LoopRecord, most_trips)), scope, relaxed, trips});
    code.Select(cut, labels[kCut], labels[kDone]);
  }
  {
    Code code = code_of(kCut);
    const uint32_t before =
        code.Value(spv::OpAtomicIAdd, types_.uint_type,
                   {word_at(code, offsetof(LoopRecord, cuts)), scope, relaxed, Word(1)});
    const uint32_t is_first = code.Value(spv::OpIEqual, types_.bool_type, {before, Word(0)});
    code.Select(is_first, labels[kStore], labels[kStored]);
  }
  {
    Code code = code_of(kStore);
    const auto store = [&](size_t offset, uint32_t value) {
      code.StoreWord(word_at(code, offset), value);
    };
    invocation_.Store(code, record, offsetof(LoopRecord, invocation));
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
