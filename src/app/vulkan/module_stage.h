// SPDX-License-Identifier: Apache-2.0
#ifndef CAIRN_APP_VULKAN_MODULE_STAGE_H_
#define CAIRN_APP_VULKAN_MODULE_STAGE_H_

#include <cstdint>
#include <optional>
#include <span>

#include "format/block/block.h"

namespace cairn {

// The stage of all entry points of a SPIR-V module of this machine's byte order; nothing if they have several, or none.
// Any words are safe. Reads up to the entry points.
std::optional<ShaderStage> StageOfModule(std::span<const uint32_t> words);

}  // namespace cairn

#endif  // CAIRN_APP_VULKAN_MODULE_STAGE_H_
