// SPDX-License-Identifier: Apache-2.0
//
// Libraries of Windows as they lie in the memory of a process under Wine.
#ifndef CAIRN_APP_ENTRY_LINUX_WINE_EXPORTS_H_
#define CAIRN_APP_ENTRY_LINUX_WINE_EXPORTS_H_

#include <cstddef>

namespace cairn {

// The kind of this process's program. `base`: the address of its image.
enum class WineProgram {
  kNone,     // there is none
  kOfWine,   // Wine's own: a service, the desktop, a tool
  k32Bits,   // one that somebody runs, into which libraries of 64 bits cannot be loaded
  kProgram,  // any other
};
WineProgram KindOfProgram(const std::byte* base);

// Returns the address that the library at `base` exports by this name; null if there is none, or if
// it is forwarded to another library.
void* FindExport(const std::byte* base, const char* name);

}  // namespace cairn

#endif  // CAIRN_APP_ENTRY_LINUX_WINE_EXPORTS_H_
