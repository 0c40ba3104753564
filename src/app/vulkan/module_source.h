// SPDX-License-Identifier: Apache-2.0
#ifndef CAIRN_APP_VULKAN_MODULE_SOURCE_H_
#define CAIRN_APP_VULKAN_MODULE_SOURCE_H_

#include <cstdint>
#include <span>
#include <string_view>

namespace cairn {

// The name of the source file of a SPIR-V module of this machine's byte order, without its folders: "fog.comp". "" for
// one that was compiled without debug information. Any words are safe. Reads up to the names of variables, which come
// right behind; the result lies in `words`.
std::string_view SourceFileOfModule(std::span<const uint32_t> words);

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_MODULE_SOURCE_H_
