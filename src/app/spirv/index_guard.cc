// SPDX-License-Identifier: Apache-2.0
#include "app/spirv/index_guard.h"

#include <cstddef>

#include "format/experiment/access_record.h"

namespace cairn::spirv {

IndexGuard::IndexGuard(Module& module, const BasicTypes& types, const InvocationNote& invocation)
    : module_(module), types_(types), invocation_(invocation), function_(module.NewId()) {}

uint32_t IndexGuard::Call(Code& code, const std::vector<Bounded>& indices, uint64_t record) {
  std::vector<uint32_t> index, bound;
  for (uint32_t i = 0; i < kMostIndices; ++i) {
    index.push_back(i < indices.size() ? indices[i].index : code.Word(0));
    bound.push_back(i < indices.size() ? indices[i].bound : code.Word(1));
  }
  const uint32_t all = code.Value(spv::OpCompositeConstruct, types_.uint4, std::move(index));
  const uint32_t below = code.Value(spv::OpCompositeConstruct, types_.uint4, std::move(bound));
  return code.Value(spv::OpFunctionCall, types_.bool_type,
                    {function_, all, below, code.Address(record)});
}

void IndexGuard::AddFunction() {
  enum { kBegin, kOutside, kStore, kStored, kEnd, kBlocks };
  NewFunction function(module_, types_, function_, types_.bool_type,
                       {types_.uint4, types_.uint4, types_.uint2}, kBlocks);
  const uint32_t index = function.parameter(0);
  const uint32_t bound = function.parameter(1);
  const uint32_t record = function.parameter(2);
  uint32_t inside = 0;
  {
    Code code = function.In(kBegin);
    const uint32_t bool4 = module_.Define(spv::OpTypeVector, 0, {types_.bool_type, kMostIndices});
    const uint32_t each = code.Value(spv::OpULessThan, bool4, {index, bound});
    inside = code.Value(spv::OpAll, types_.bool_type, {each});
    const uint32_t outside = code.Value(spv::OpLogicalNot, types_.bool_type, {inside});
    code.Select(outside, function.label(kOutside), function.label(kEnd));
  }
  {
    Code code = function.In(kOutside);
    const uint32_t scope = DeviceScope(module_, types_);
    code.Select(code.IsFirst(record, offsetof(AccessRecord, misses), scope), function.label(kStore),
                function.label(kStored));
  }
  {
    Code code = function.In(kStore);
    const auto store_all = [&](size_t offset, uint32_t vector) {
      for (uint32_t i = 0; i < kMostIndices; ++i) {
        const uint32_t word =
            code.Value(spv::OpCompositeExtract, types_.uint_type, {vector, i}, {1});
        code.StoreWord(code.WordAt(record, static_cast<uint32_t>(offset) + 4 * i), word);
      }
    };
    constexpr size_t kMiss = offsetof(AccessRecord, address);
    store_all(kMiss + offsetof(IndexMiss, index), index);
    store_all(kMiss + offsetof(IndexMiss, bound), bound);
    invocation_.Store(code, record, offsetof(AccessRecord, invocation));
    code.StoreWord(code.WordAt(record, offsetof(AccessRecord, first)), code.Word(1));
    code.Do(spv::OpBranch, {function.label(kStored)});
  }
  function.In(kStored).Do(spv::OpBranch, {function.label(kEnd)});
  function.In(kEnd).Do(spv::OpReturnValue, {inside});
  module_.functions.push_back(function.Take());
}

}  // namespace cairn::spirv
