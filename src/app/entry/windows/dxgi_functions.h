// SPDX-License-Identifier: Apache-2.0
//
// DXGI makes swap chains for queues of Direct3D 12, and gives out their images. Its own objects have no wrappers:
// functions of ours stand in their tables of methods, which all objects of a class share. So it does not matter from
// whom a program has a factory, and what DXGI's objects say of each other stays as it is.
#ifndef CAIRN_APP_ENTRY_WINDOWS_DXGI_FUNCTIONS_H_
#define CAIRN_APP_ENTRY_WINDOWS_DXGI_FUNCTIONS_H_

#include <unknwn.h>

namespace cairn {

// Call it before the program has a queue that is a wrapper. Makes a factory if none has been seen
// yet. Any thread; not from DllMain.
void ReplaceMethodsOfFactories();
// The same for a device of Direct3D 11: by the factory that it comes from.
void ReplaceMethodsOfFactoryOf(IUnknown* device);

}  // namespace cairn

#endif  // CAIRN_APP_ENTRY_WINDOWS_DXGI_FUNCTIONS_H_
