// SPDX-License-Identifier: Apache-2.0
//
// Traits of a DXIL program: LLVM 3.7 bitcode, of which the branches of functions are read and nothing else. Part of
// shader_traits.h.
#ifndef CAIRN_FORMAT_SNAPSHOT_DXIL_TRAITS_H_
#define CAIRN_FORMAT_SNAPSHOT_DXIL_TRAITS_H_

#include <cstdint>
#include <span>

namespace cairn {

// Like TraitsOfDxbc, for the words of a part "DXIL": the program's header and the bitcode behind
// it. Any words are safe.
// Time: linear in the words.
uint32_t TraitsOfDxil(std::span<const uint32_t> part);

}  // namespace cairn

#endif  // CAIRN_FORMAT_SNAPSHOT_DXIL_TRAITS_H_
