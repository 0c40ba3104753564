// SPDX-License-Identifier: Apache-2.0
//
// Questions to a device: how much memory an acceleration structure needs.
#ifndef CAIRN_READER_REPLAY_STRUCTURE_QUESTIONS_H_
#define CAIRN_READER_REPLAY_STRUCTURE_QUESTIONS_H_

#include <cstdint>
#include <cstring>

#include "d3d12abi/d3d12_api.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

// Returns an enumerator as a number: that of a trace may be any.
template <typename Enum>
uint32_t NumberOf(const Enum& value) {
  static_assert(sizeof(value) == sizeof(uint32_t));
  uint32_t number = 0;
  std::memcpy(&number, &value, sizeof(number));
  return number;
}

// Returns true if an implementation finds all that these inputs count, and knows it: the bytes behind others would be
// handed on as they are.
bool IsWhole(const D3D12_BUILD_RAYTRACING_ACCELERATION_STRUCTURE_INPUTS& inputs);

// Returns true if the structure may be updated later.
bool Updates(const D3D12_BUILD_RAYTRACING_ACCELERATION_STRUCTURE_INPUTS& inputs);

// Returns the device's answer. `inputs`: whole; of an update: what its build needs, too.
D3D12_RAYTRACING_ACCELERATION_STRUCTURE_PREBUILD_INFO PrebuildInfoOf(
    ID3D12Device5* device, D3D12_BUILD_RAYTRACING_ACCELERATION_STRUCTURE_INPUTS inputs);

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_READER_REPLAY_STRUCTURE_QUESTIONS_H_
