// SPDX-License-Identifier: Apache-2.0
#include "app/spirv/loop_report.h"

#include <utility>
#include <vector>

namespace cairn::spirv {

LoopReport::LoopReport(Module& module, const BasicTypes& types)
    : module_(module), types_(types), invocation_(module, types), function_(module.NewId()) {
  UseAddresses(module);
}

Instruction LoopReport::CallFor(uint64_t record, uint32_t cut, uint32_t trips, uint32_t left,
                                uint32_t right) {
  std::vector<Instruction> none;
  const uint32_t address = Code(module_, types_, none).Address(record);
  return Make(spv::OpFunctionCall, types_.void_type, module_.NewId(),
              {function_, address, cut, trips, left, right}, AllIds());
}

void LoopReport::AddFunction() {
  enum { kCount, kCut, kStore, kStored, kDone, kBlocks };
  NewFunction function(
      module_, types_, function_, types_.void_type,
      {types_.uint2, types_.bool_type, types_.uint_type, types_.uint_type, types_.uint_type},
      kBlocks);
  const uint32_t record = function.parameter(0);
  const uint32_t cut = function.parameter(1);
  const uint32_t trips = function.parameter(2);
  const uint32_t scope = DeviceScope(module_, types_);
  // The record is aligned: no word of it lies beyond 4 GiB from the first.
  const auto word_at = [&](Code& code, size_t offset) {
    return code.WordAt(record, static_cast<uint32_t>(offset));
  };
  {
    Code code = function.In(kCount);
    code.Value(
        spv::OpAtomicIAdd, types_.uint_type,
        {word_at(code, offsetof(LoopRecord, executions)), scope, code.Word(0), code.Word(1)});
    code.Value(spv::OpAtomicUMax, types_.uint_type,
               {word_at(code, offsetof(LoopRecord, most_trips)), scope, code.Word(0), trips});
    code.Select(cut, function.label(kCut), function.label(kDone));
  }
  {
    Code code = function.In(kCut);
    code.Select(code.IsFirst(record, offsetof(LoopRecord, cuts), scope), function.label(kStore),
                function.label(kStored));
  }
  {
    Code code = function.In(kStore);
    const auto store = [&](size_t offset, uint32_t value) {
      code.StoreWord(word_at(code, offset), value);
    };
    invocation_.Store(code, record, offsetof(LoopRecord, invocation));
    store(offsetof(LoopRecord, left), function.parameter(3));
    store(offsetof(LoopRecord, right), function.parameter(4));
    store(offsetof(LoopRecord, first), code.Word(1));
    code.Do(spv::OpBranch, {function.label(kStored)});
  }
  function.In(kStored).Do(spv::OpBranch, {function.label(kDone)});
  function.In(kDone).Do(spv::OpReturn, {});
  module_.functions.push_back(function.Take());
}

}  // namespace cairn::spirv
