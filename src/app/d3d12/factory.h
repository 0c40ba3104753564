// SPDX-License-Identifier: Apache-2.0
//
// Creates the wrapper of the right class for a real object.
#ifndef CAIRN_APP_D3D12_FACTORY_H_
#define CAIRN_APP_D3D12_FACTORY_H_

#include "app/d3d12/capture/creation.h"
#include "app/d3d12/wrapper.h"
#include "d3d12gen/interfaces.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

// The wrapper of `real`, an object of this chain, with one reference; it takes over the reference on
// `real`. An object that is wrapped already (implementations may return one twice) gets another
// reference, and that on `real` goes. Null if there is no memory: then the reference on `real` is gone
// too.
Wrapper* MakeWrapper(Chain chain, WrappedID3D12Device& device, void* real,
                     const Creation& creation = {});

// The same for a further interface of `owner`'s object: takes over the reference on `real`, has none of
// its own. Null if there is no memory, with the reference untouched.
Wrapper* MakeTearOff(const InterfaceInfo& wanted, void* real, Wrapper& owner);

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_APP_D3D12_FACTORY_H_
