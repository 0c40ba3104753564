// SPDX-License-Identifier: Apache-2.0
//
// Limits the loops of a SPIR-V module. docs/internals/shaders.md has what is inserted.
//
// Threads: any. May throw std::bad_alloc.
#ifndef CAIRN_APP_SPIRV_LOOP_LIMITS_H_
#define CAIRN_APP_SPIRV_LOOP_LIMITS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/spirv/source_places.h"
#include "base/status.h"
#include "format/experiment/loop_record.h"

namespace cairn::spirv {

// The comparison whose result leaves a loop: "i < 3.0" of two values of 32 bits.
struct ExitCondition {
  std::string left;  // a name, or the value of a constant; "" for a value without a name
  std::string right;
  std::string comparison;  // "<", "<=", ">", ">=", "==", "!="
  bool is_float = false;   // how LoopRecord::left and right are to be read
  bool is_signed = false;
};

// One loop, in the order in which loops stand in the module.
struct Loop {
  uint32_t function = 0;  // id of its function
  SourcePlace place;      // of its header
  // Empty if the loop can be limited, else a sentence that says why not.
  std::string cannot;
  // Its exit, where LoopRecord::left and right can be recorded.
  std::optional<ExitCondition> exit;
};

struct LoopLimits {
  uint32_t trips = 65536;  // after which a loop ends; from 1 on. UINT32_MAX: only counts
  // Address on the device of the records, a LoopRecord for each loop of the module, in their order. A multiple of 64.
  uint64_t records = 0;
  // The one loop that is changed, by its place in the module; all loops without.
  std::optional<uint32_t> only;
};

struct LimitedModule {
  std::vector<uint32_t> words;  // equal to the module's own where `limited` is 0
  std::vector<Loop> loops;      // all
  uint32_t limited = 0;         // how many loops are limited
  InvocationKind invocations = InvocationKind::kUnknown;
};

// How many loops a module has, without reading more of it than the first word of each instruction; 0 for other bytes.
uint32_t CountLoops(std::span<const uint32_t> words);

// Limits the loops of a module, which may be any words. The device needs bufferDeviceAddress.
// kCorrupt: SPIRV-Tools can't parse the module. kUnsupported: the module is not valid, is beyond one of the bounds in
// module_bounds.h, or has another addressing model; the message says which. kInvalidArgument: it has no loop `only`.
// A loop without which alone the changed module is valid is not limited, and Loop::cannot says so.
// Cost: two validations, up to 64 (8 for a large module) if the changed module is not valid at once; the rest is linear
// in the module. Memory: some ten times the module. Stack: depends on bounds alone.
Result<LimitedModule> LimitLoops(std::span<const uint32_t> words, const LoopLimits& limits);

}  // namespace cairn::spirv

#endif  // CAIRN_APP_SPIRV_LOOP_LIMITS_H_
