// SPDX-License-Identifier: Apache-2.0
#include "app/spirv/address_guard.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "format/experiment/access_record.h"

namespace cairn::spirv {
namespace {

// Two words, the low one first: no device has to know integers of 64 bits.
struct Wide {
  uint32_t low;
  uint32_t high;
};

// The arithmetic of the search, in one block.
class WideCode {
 public:
  WideCode(Code& code, const BasicTypes& types) : code_(code), types_(types) {}

  Wide Split(uint32_t address) { return {code_.Half(address, 0), code_.Half(address, 1)}; }
  uint32_t Join(Wide value) {
    return code_.Value(spv::OpCompositeConstruct, types_.uint2, {value.low, value.high});
  }
  uint32_t Add(uint32_t a, uint32_t b) {
    return code_.Value(spv::OpIAdd, types_.uint_type, {a, b});
  }
  uint32_t Test(spv::Op opcode, uint32_t a, uint32_t b) {
    return code_.Value(opcode, types_.bool_type, {a, b});
  }
  uint32_t Choose(uint32_t condition, uint32_t yes, uint32_t no) {
    return code_.Value(spv::OpSelect, types_.uint_type, {condition, yes, no});
  }
  // Moves on by a number of 32 bits.
  Wide Plus(Wide a, uint32_t b) {
    const uint32_t low = Add(a.low, b);
    return {low, Add(a.high, Carry(Test(spv::OpULessThan, low, a.low)))};
  }
  Wide Minus(Wide a, Wide b) {
    const uint32_t borrow = Carry(Test(spv::OpULessThan, a.low, b.low));
    const uint32_t high = code_.Value(spv::OpISub, types_.uint_type, {a.high, b.high});
    return {code_.Value(spv::OpISub, types_.uint_type, {a.low, b.low}),
            code_.Value(spv::OpISub, types_.uint_type, {high, borrow})};
  }
  uint32_t IsLess(Wide a, Wide b) {
    const uint32_t same = Test(spv::OpIEqual, a.high, b.high);
    const uint32_t low = Test(spv::OpLogicalAnd, same, Test(spv::OpULessThan, a.low, b.low));
    return Test(spv::OpLogicalOr, Test(spv::OpULessThan, a.high, b.high), low);
  }
  uint32_t Not(uint32_t condition) {
    return code_.Value(spv::OpLogicalNot, types_.bool_type, {condition});
  }
  // The host may write at any time.
  uint32_t Load(Wide address, uint32_t offset) {
    const uint32_t pointer = code_.WordAt(Join(address), offset);
    return code_.Value(spv::OpLoad, types_.uint_type,
                       {pointer, spv::MemoryAccessAlignedMask | spv::MemoryAccessVolatileMask, 4},
                       {1, 2});
  }

 private:
  uint32_t Carry(uint32_t condition) { return Choose(condition, code_.Word(1), code_.Word(0)); }

  Code& code_;
  const BasicTypes& types_;
};

}  // namespace

AddressGuard::AddressGuard(Module& module, const BasicTypes& types,
                           const InvocationNote& invocation)
    : module_(module), types_(types), invocation_(invocation), function_(module.NewId()) {}

uint32_t AddressGuard::Call(Code& code, uint32_t address, uint32_t bytes, uint64_t record,
                            uint32_t instead) {
  return code.Value(spv::OpFunctionCall, types_.uint2,
                    {function_, address, code.Word(bytes), code.Address(record), instead});
}

void AddressGuard::AddFunction(uint64_t table_address) {
  enum { kBegin, kSearch, kHalve, kAgain, kFound, kOutside, kStore, kStored, kEnd, kBlocks };
  NewFunction function(module_, types_, function_, types_.uint2,
                       {types_.uint2, types_.uint_type, types_.uint2, types_.uint2}, kBlocks);
  const uint32_t address = function.parameter(0);
  const uint32_t bytes = function.parameter(1);
  const uint32_t record = function.parameter(2);
  const uint32_t instead = function.parameter(3);
  const uint32_t scope = DeviceScope(module_, types_);
  Wide ranges;
  uint32_t count = 0;
  {
    Code code = function.In(kBegin);
    WideCode wide(code, types_);
    const uint32_t table = code.Address(table_address);
    const uint32_t list_offset =
        code.Value(spv::OpAtomicLoad, types_.uint_type,
                   {code.WordAt(table, offsetof(AccessTable, list)), scope, code.Word(0)});
    const Wide list = wide.Plus(wide.Split(table), list_offset);
    const uint32_t told = wide.Load(list, offsetof(AccessList, count));
    const uint32_t most = code.Word(AccessList::kMostRanges);
    count = wide.Choose(wide.Test(spv::OpULessThan, told, most), told, most);
    ranges = wide.Plus(list, code.Word(sizeof(AccessList)));
    code.Do(spv::OpBranch, {function.label(kSearch)});
  }
  // The number of ranges that begin at the address or before lies between `low` and `high`.
  const uint32_t low = module_.NewId(), high = module_.NewId();
  const uint32_t next_low = module_.NewId(), next_high = module_.NewId();
  const auto range_at = [&](Code& code, WideCode& wide, uint32_t index) {
    const uint32_t bytes_before =
        code.Value(spv::OpIMul, types_.uint_type, {index, code.Word(sizeof(AccessRange))});
    return wide.Plus(ranges, bytes_before);
  };
  const auto load_wide = [&](WideCode& wide, Wide at, size_t offset) {
    const auto bytes_on = static_cast<uint32_t>(offset);
    return Wide{wide.Load(at, bytes_on), wide.Load(at, bytes_on + 4)};
  };
  {
    Code code = function.In(kSearch);
    WideCode wide(code, types_);
    code.Add(Make(spv::OpPhi, types_.uint_type, low,
                  {code.Word(0), function.label(kBegin), next_low, function.label(kAgain)},
                  AllIds()));
    code.Add(Make(spv::OpPhi, types_.uint_type, high,
                  {count, function.label(kBegin), next_high, function.label(kAgain)}, AllIds()));
    const uint32_t goes_on = wide.Test(spv::OpULessThan, low, high);
    code.Add(Make(spv::OpLoopMerge, 0, 0,
                  {function.label(kFound), function.label(kAgain), spv::LoopControlMaskNone},
                  {0, 1}));
    code.Do(spv::OpBranchConditional, {goes_on, function.label(kHalve), function.label(kFound)});
  }
  {
    Code code = function.In(kHalve);
    WideCode wide(code, types_);
    const uint32_t sum = wide.Add(low, high);
    const uint32_t middle =
        code.Value(spv::OpShiftRightLogical, types_.uint_type, {sum, code.Word(1)});
    const Wide at = range_at(code, wide, middle);
    const Wide begin = load_wide(wide, at, offsetof(AccessRange, begin));
    const uint32_t before = wide.IsLess(wide.Split(address), begin);
    const uint32_t behind = wide.Add(middle, code.Word(1));
    code.Add(Make(spv::OpSelect, types_.uint_type, next_low, {before, low, behind}, AllIds()));
    code.Add(Make(spv::OpSelect, types_.uint_type, next_high, {before, middle, high}, AllIds()));
    code.Do(spv::OpBranch, {function.label(kAgain)});
  }
  function.In(kAgain).Do(spv::OpBranch, {function.label(kSearch)});
  Wide begin, size;
  uint32_t has_range = 0;
  {
    Code code = function.In(kFound);
    WideCode wide(code, types_);
    const uint32_t zero = code.Word(0);
    has_range = wide.Test(spv::OpINotEqual, low, zero);
    const uint32_t before = code.Value(spv::OpISub, types_.uint_type, {low, code.Word(1)});
    const Wide at = range_at(code, wide, wide.Choose(has_range, before, zero));
    begin = load_wide(wide, at, offsetof(AccessRange, begin));
    size = load_wide(wide, at, offsetof(AccessRange, bytes));
    const Wide length{bytes, zero};
    const uint32_t is_larger = wide.IsLess(size, length);
    const uint32_t ends_behind =
        wide.IsLess(wide.Minus(size, length), wide.Minus(wide.Split(address), begin));
    const uint32_t beyond = wide.Test(spv::OpLogicalOr, is_larger, ends_behind);
    const uint32_t outside = wide.Test(spv::OpLogicalOr, wide.Not(has_range), beyond);
    code.Select(outside, function.label(kOutside), function.label(kEnd));
  }
  {
    Code code = function.In(kOutside);
    code.Select(code.IsFirst(record, offsetof(AccessRecord, misses), scope), function.label(kStore),
                function.label(kStored));
  }
  {
    Code code = function.In(kStore);
    WideCode wide(code, types_);
    const auto store = [&](size_t offset, uint32_t value) {
      code.StoreWord(code.WordAt(record, static_cast<uint32_t>(offset)), value);
    };
    const auto store_wide = [&](size_t offset, Wide value) {
      store(offset, value.low);
      store(offset + 4, value.high);
    };
    store(offsetof(AccessRecord, has_range), wide.Choose(has_range, code.Word(1), code.Word(0)));
    store(offsetof(AccessRecord, bytes), bytes);
    store_wide(offsetof(AccessRecord, address), wide.Split(address));
    constexpr size_t kRange = offsetof(AccessRecord, range);
    store_wide(kRange + offsetof(AccessRange, begin), begin);
    store_wide(kRange + offsetof(AccessRange, bytes), size);
    invocation_.Store(code, record, offsetof(AccessRecord, invocation));
    store(offsetof(AccessRecord, first), code.Word(1));
    code.Do(spv::OpBranch, {function.label(kStored)});
  }
  function.In(kStored).Do(spv::OpBranch, {function.label(kEnd)});
  {
    Code code = function.In(kEnd);
    const uint32_t result =
        code.Value(spv::OpPhi, types_.uint2,
                   {address, function.label(kFound), instead, function.label(kStored)});
    code.Do(spv::OpReturnValue, {result});
  }
  module_.functions.push_back(function.Take());
}

}  // namespace cairn::spirv
