// SPDX-License-Identifier: Apache-2.0
//
// Places in tables of addresses that others made: of imports, of methods.
#ifndef CAIRN_OS_WINDOWS_FUNCTION_TABLE_H_
#define CAIRN_OS_WINDOWS_FUNCTION_TABLE_H_

namespace cairn {

// The table may be protected. False: the place stays as it was. Any thread.
bool WriteFunction(void** place, void* function);

// Keeps the library that `address` lies in loaded until the process ends. Does nothing for an
// address outside of all libraries.
void KeepLibraryOf(const void* address);

}  // namespace cairn

#endif  // CAIRN_OS_WINDOWS_FUNCTION_TABLE_H_
