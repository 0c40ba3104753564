// SPDX-License-Identifier: Apache-2.0
//
// Private data that are the name of their object.
#ifndef CAIRN_FORMAT_CALLS_NAME_GUIDS_H_
#define CAIRN_FORMAT_CALLS_NAME_GUIDS_H_

#include "d3d12gen/interfaces.h"

namespace cairn {

// WKPDID_D3DDebugObjectName and WKPDID_D3DDebugObjectNameW.
inline constexpr InterfaceGuid kNameGuid = {
    0x429b8c22, 0x9188, 0x4b0c, {0x87, 0x42, 0xac, 0xb0, 0xbf, 0x85, 0xc2, 0x00}};
inline constexpr InterfaceGuid kWideNameGuid = {
    0x4cca5fd8, 0x921f, 0x42c8, {0x85, 0x66, 0x70, 0xca, 0xf2, 0xa9, 0xb7, 0x41}};

}  // namespace cairn

#endif  // CAIRN_FORMAT_CALLS_NAME_GUIDS_H_
