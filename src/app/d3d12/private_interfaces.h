// SPDX-License-Identifier: Apache-2.0
//
// The interfaces of app/breadcrumbs/layer_identity.h, by which libcairn in the same process recognises
// wrappers.
#ifndef CAIRN_APP_D3D12_PRIVATE_INTERFACES_H_
#define CAIRN_APP_D3D12_PRIVATE_INTERFACES_H_

#include "app/d3d12/wrapper.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

// True if `riid` is one of them and the object has it: then `object` is set.
bool GivePrivateInterface(Wrapper& wrapper, REFIID riid, void** object);

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_APP_D3D12_PRIVATE_INTERFACES_H_
