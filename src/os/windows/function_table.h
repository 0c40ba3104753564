// SPDX-License-Identifier: Apache-2.0
//
// Places in tables of addresses that others made: of imports, of methods.
#ifndef CAIRN_OS_WINDOWS_FUNCTION_TABLE_H_
#define CAIRN_OS_WINDOWS_FUNCTION_TABLE_H_

namespace cairn {

// The table may be protected. False: the place stays as it was. Any thread.
bool WriteFunction(void** place, void* function);

// The library that `address` lies in stays loaded until the process ends. What lies in none is left alone.
void KeepLibraryOf(const void* address);

}  // namespace cairn

#endif  // CAIRN_OS_WINDOWS_FUNCTION_TABLE_H_
