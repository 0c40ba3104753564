// SPDX-License-Identifier: Apache-2.0
//
// The output of codegen/d3d11.py: a function for each method that is recorded, and the tables that
// it is put into.
#ifndef CAIRN_APP_D3D11_THIN_H_
#define CAIRN_APP_D3D11_THIN_H_

#include <d3d11_4.h>

#include <span>

#include "app/replacement/methods.h"

namespace cairn {

// The methods that one version of an interface adds.
struct D3D11Interface {
  IID iid;
  std::span<const ReplacedMethod> methods;
};

// All versions, oldest first.
std::span<const D3D11Interface> DeviceInterfaces();
std::span<const D3D11Interface> ContextInterfaces();
std::span<const D3D11Interface> AnnotationInterfaces();
std::span<const D3D11Interface> MultithreadInterfaces();
// Returns the methods of every ID3D11DeviceChild.
std::span<const ReplacedMethod> ChildMethods();

}  // namespace cairn

#endif  // CAIRN_APP_D3D11_THIN_H_
