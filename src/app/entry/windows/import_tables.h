// SPDX-License-Identifier: Apache-2.0
//
// What the libraries of this process import, and by which addresses: a table in each, which the system fills in when
// it loads the library, and where we put functions of ours.
#ifndef CAIRN_APP_ENTRY_WINDOWS_IMPORT_TABLES_H_
#define CAIRN_APP_ENTRY_WINDOWS_IMPORT_TABLES_H_

namespace cairn {

// Whether a copy of this library from another folder came in before: proxies beside a program bring that of their folder.
// May be called from DllMain.
bool AnotherIsHere();

// Replaces ReplacedFunctions() in the tables of all that is loaded and was not seen before. Waits for the system's
// loader; may be called from DllMain. What cannot be written stays as it is.
void ReplaceImports();

}  // namespace cairn

#endif  // CAIRN_APP_ENTRY_WINDOWS_IMPORT_TABLES_H_
