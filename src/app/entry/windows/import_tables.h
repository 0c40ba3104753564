// SPDX-License-Identifier: Apache-2.0
//
// Replaces imports of the libraries of this process: each library has a table of addresses, which
// the system fills in when it loads the library, and into which we write functions of ours.
#ifndef CAIRN_APP_ENTRY_WINDOWS_IMPORT_TABLES_H_
#define CAIRN_APP_ENTRY_WINDOWS_IMPORT_TABLES_H_

namespace cairn {

// Returns true if a copy of this library from another folder was loaded first: proxies beside a
// program load that of their folder. May be called from DllMain.
bool AnotherIsHere();

// Replaces ReplacedFunctions() in the tables of all images that were loaded since the last call.
// Waits for the system's loader; may be called from DllMain. Tables that cannot be written stay
// unchanged.
void ReplaceImports();

}  // namespace cairn

#endif  // CAIRN_APP_ENTRY_WINDOWS_IMPORT_TABLES_H_
