// SPDX-License-Identifier: Apache-2.0
//
// Functions of ours in tables of methods, which all objects of a class share.
#ifndef CAIRN_APP_REPLACEMENT_METHODS_H_
#define CAIRN_APP_REPLACEMENT_METHODS_H_

#include <unknwn.h>

#include <cstddef>
#include <span>

namespace cairn {

struct ReplacedMethod {
  size_t slot;
  void* (*over)(void* function);  // as Replacement::Over
};

// Replaces methods in the table of `object`, an interface that has these slots. Each table is
// changed once: a later replacement by others stays. Keeps the table's library loaded. Any thread;
// allocates.
void ReplaceMethods(void* object, std::span<const ReplacedMethod> methods);
// The same in the table of its interface `iid`, if it has that: an object may have one table for several interfaces, or
// one for each.
void ReplaceMethodsAs(IUnknown* object, const IID& iid, std::span<const ReplacedMethod> methods);

// Returns the function that was in this slot of the table of `object` before ReplaceMethods(), for
// calls that must not be recorded; the current one if it was not replaced. Takes a lock.
void* MethodBehind(void* object, size_t slot);

}  // namespace cairn

#endif  // CAIRN_APP_REPLACEMENT_METHODS_H_
