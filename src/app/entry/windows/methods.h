// SPDX-License-Identifier: Apache-2.0
//
// Functions of ours in tables of methods.
#ifndef CAIRN_APP_ENTRY_WINDOWS_METHODS_H_
#define CAIRN_APP_ENTRY_WINDOWS_METHODS_H_

#include <cstddef>
#include <span>

#include "d3d12abi/d3d12_api.h"

namespace cairn {

struct ReplacedMethod {
  size_t slot;
  void* (*over)(void* function);  // as Replacement::Over
};

// In the table of `object`, an interface that has these slots. Once for a table: who replaces ours since then goes on
// to it. The library that the table lies in stays loaded. Any thread; allocates.
void ReplaceMethods(void* object, std::span<const ReplacedMethod> methods);
// The same in the table of its interface `iid`, if it has that: an object may have one table for several interfaces, or
// one for each.
void ReplaceMethodsAs(IUnknown* object, const IID& iid, std::span<const ReplacedMethod> methods);

}  // namespace cairn

#endif  // CAIRN_APP_ENTRY_WINDOWS_METHODS_H_
