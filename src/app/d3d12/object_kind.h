// SPDX-License-Identifier: Apache-2.0
//
// Kinds of objects as the block, the driver interface and DRED number them: D3D12_DRED_ALLOCATION_TYPE.
#ifndef CAIRN_APP_D3D12_OBJECT_KIND_H_
#define CAIRN_APP_D3D12_OBJECT_KIND_H_

#include <cstdint>
#include <string_view>

namespace cairn {

// Returns the kind of objects of an interface, "ID3D12Fence" or any other version of it; 0 for
// interfaces without a number (devices, root signatures, trackers).
uint32_t ObjectKindOf(std::string_view interface_name);

// "fence", "command list", ... for people; also for the objects without a number.
std::string_view ObjectKindName(std::string_view interface_name);

}  // namespace cairn

#endif  // CAIRN_APP_D3D12_OBJECT_KIND_H_
