// SPDX-License-Identifier: Apache-2.0
//
// What the tables say of the arguments of a method, found out once. Most calls that a program makes often have numbers
// and short arrays only: their arguments are copied from the record, without a walk through the tables.
#ifndef CAIRN_FORMAT_CALLS_ARGUMENT_PLAN_H_
#define CAIRN_FORMAT_CALLS_ARGUMENT_PLAN_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "d3d12gen/methods.h"
#include "format/calls/value_decoder.h"
#include "format/calls/value_shape.h"

namespace cairn {

// Returns the size of a parameter's own memory.
inline uint64_t ArgumentBytes(const ParameterInfo& parameter) {
  const uint64_t bytes = std::max<uint64_t>(parameter.size_bytes, kPointerBytes);
  return Arena::Aligned(bytes);
}

struct ArgumentStep {
  enum class Kind : uint8_t {
    kCopy,      // a value of `bytes`
    kElements,  // a pointer to elements of `bytes` each
  };
  Kind kind = Kind::kCopy;
  bool is_visited = false;  // it has values in it that a visitor sees
  bool is_bytes = false;    // kElements: their number may say that they are in blobs
  uint32_t bytes = 0;
  uint32_t place_bytes = 0;  // ArgumentBytes
};

// A parameter that points to elements, and what says how many.
struct ArgumentCount {
  enum class Source : uint8_t {
    kNone,      // nothing does
    kConstant,  // `value`
    kNumber,    // the parameter with index `value`, of 4 bytes, `times` a constant
    kComputed,  // the other arguments: CountOf
  };
  uint8_t parameter = 0;
  Source source = Source::kNone;
  uint32_t value = 0;
  uint32_t times = 1;
};

struct ArgumentPlan {
  const MethodInfo* method = nullptr;
  // All parameters are values or arrays with nothing behind them: CopyArguments() may do. What follows is
  // empty otherwise.
  bool is_copied = false;
  bool is_visited = false;            // one of them
  uint32_t place_bytes = 0;           // of all of them
  std::vector<ArgumentStep> steps;    // one a parameter
  std::vector<ArgumentCount> counts;  // those that point to elements, in their order
};

ArgumentPlan MakeArgumentPlan(const MethodInfo& method);

// Returns the plan of a method, which is made when it is asked for first; null: it is in no table. Any thread.
const ArgumentPlan* FindArgumentPlan(const MethodInfo& method);

// Decodes the arguments of a method whose plan is_copied; a visitor has still to see them. False: they are not as those
// of most calls are (blobs, too few bytes, another count): nothing is known of `call`, and the walk decides.
bool CopyArguments(const ArgumentPlan& plan, std::span<const std::byte> body, Arena* arena,
                   DecodedCall* call);

}  // namespace cairn

#endif  // CAIRN_FORMAT_CALLS_ARGUMENT_PLAN_H_
