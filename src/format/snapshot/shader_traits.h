// SPDX-License-Identifier: Apache-2.0
//
// The traits of a shader's code that decide how long it may run: loops, and atomics, with which
// invocations wait for each other.
#ifndef CAIRN_FORMAT_SNAPSHOT_SHADER_TRAITS_H_
#define CAIRN_FORMAT_SNAPSHOT_SHADER_TRAITS_H_

#include <cstdint>
#include <span>

#include "format/snapshot/snapshot.h"

namespace cairn {

// Shader::traits of a SPIR-V module: kShaderRead and further traits. 0 for words that are no SPIR-V
// in this machine's byte order, or end inside of an instruction. Any words are safe. Time: linear
// in the instructions.
uint32_t TraitsOfSpirv(std::span<const uint32_t> code);

// The same of a container "DXBC", with code of shader model 4 or 5 in it, or DXIL. 0 for one that is damaged, or has
// neither. Any words are safe; time and memory: linear in them. May throw std::bad_alloc.
uint32_t TraitsOfDxbc(std::span<const uint32_t> container);

}  // namespace cairn

#endif  // CAIRN_FORMAT_SNAPSHOT_SHADER_TRAITS_H_
