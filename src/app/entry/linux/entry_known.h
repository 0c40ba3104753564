// SPDX-License-Identifier: Apache-2.0
//
// The known functions of an implementation. An unknown function that takes or returns objects would
// receive wrappers.
#ifndef CAIRN_APP_ENTRY_LINUX_ENTRY_KNOWN_H_
#define CAIRN_APP_ENTRY_LINUX_ENTRY_KNOWN_H_

#include <span>
#include <string>
#include <string_view>

namespace cairn {

// Returns the first unknown function of the library that `function` lies in, and of the loaded
// libraries whose file names start with `libraries`: "vkd3d_... of libvkd3d.so.1"; "" if there is
// none. `ours`: the functions that this library replaces. Unreadable names count as known.
std::string UnknownFunction(void* function, std::string_view libraries,
                            std::span<const std::string_view> ours);

}  // namespace cairn

#endif  // CAIRN_APP_ENTRY_LINUX_ENTRY_KNOWN_H_
