// SPDX-License-Identifier: Apache-2.0
//
// How large and how deep a module may be: beyond, its validation alone may take minutes, or all of a thread's stack.
#ifndef CAIRN_APP_SPIRV_MODULE_BOUNDS_H_
#define CAIRN_APP_SPIRV_MODULE_BOUNDS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "app/spirv/control_flow.h"
#include "app/spirv/module.h"
#include "base/status.h"

namespace cairn::spirv {

inline constexpr size_t kMostWords = size_t{4} << 20;  // 16 MiB
inline constexpr uint32_t kMostLoops = 4096;
// Bound for one function.
inline constexpr size_t kMostBlocks = 65536;
// Loops, branches and switches within each other: the validator takes no more either.
inline constexpr uint32_t kMostNesting = 1023;
// The same for all blocks of the module together: the validator lists the blocks of each.
inline constexpr uint64_t kMostNestedBlocks = uint64_t{4} << 20;
// From the begins of all branches up to the dominators of their ends: the validator walks them one by one.
inline constexpr uint64_t kMostSteps = uint64_t{4} << 20;
// Types within types.
inline constexpr uint32_t kMostTypeDepth = 255;
// Members that the validator looks at, for all values of the module together.
inline constexpr uint64_t kMostMembers = uint64_t{64} << 20;

// Variables that are told with their names and lines.
inline constexpr size_t kMostBindings = 1024;

// Looks at the first word of each instruction alone. kUnsupported: says what there is too much of.
Status CheckSize(std::span<const uint32_t> words);
// flows: of its functions. The module may be one that is not valid. kUnsupported: the same. Linear in the module.
Status CheckShape(const Module& module, const std::vector<ControlFlow>& flows);

// kUnsupported: the same, of the variables that a module has for bindings.
Status CheckBindings(size_t variables);

}  // namespace cairn::spirv

#endif  // CAIRN_APP_SPIRV_MODULE_BOUNDS_H_
