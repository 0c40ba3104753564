// SPDX-License-Identifier: Apache-2.0
//
// Copies of the structs whose objects no description of types can find (codegen/overrides.toml,
// [special]). As the generated ones (d3d12gen/unwrap.h): each takes a struct that is a copy already,
// and copies what hangs on it, with real objects instead of ours.
#ifndef CAIRN_APP_D3D12_UNWRAP_SPECIAL_H_
#define CAIRN_APP_D3D12_UNWRAP_SPECIAL_H_

#include <cstdint>
#include <cstring>

#include "app/d3d12/scratch.h"
#include "d3d12abi/d3d12_api.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

// An enumeration as the number that it is: applications pass what no enumerator stands for, and such a
// value must not be read as its type.
template <typename Enum>
uint32_t NumberOf(const Enum& value) {
  static_assert(sizeof(Enum) == sizeof(uint32_t));
  uint32_t number;
  std::memcpy(&number, &value, sizeof(number));
  return number;
}

// Sub-objects are copied with the array, so that associations, which point into it, point into the
// copy. Data behind an unknown type are passed unchanged.
void UnwrapFields(Scratch& scratch, D3D12_STATE_OBJECT_DESC& copy);

// The stream is copied as it is; root signatures in it are replaced. It is read as far as its types
// are known and lie within its size; the rest stays.
void UnwrapFields(Scratch& scratch, D3D12_PIPELINE_STATE_STREAM_DESC& copy);

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_APP_D3D12_UNWRAP_SPECIAL_H_
