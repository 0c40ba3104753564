// SPDX-License-Identifier: Apache-2.0
//
// Finds the exports of a loaded library by the tables that the loader uses itself.
#ifndef CAIRN_APP_ENTRY_LINUX_EXPORTS_H_
#define CAIRN_APP_ENTRY_LINUX_EXPORTS_H_

#include <string>
#include <string_view>
#include <vector>

namespace cairn {

// The functions of the library that `library` (of dlopen) stands for whose names start with `prefix`; those
// of libraries that it needs are not among them.
std::vector<std::string> ExportedFunctions(void* library, std::string_view prefix);

}  // namespace cairn

#endif  // CAIRN_APP_ENTRY_LINUX_EXPORTS_H_
