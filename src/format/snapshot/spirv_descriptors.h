// SPDX-License-Identifier: Apache-2.0
//
// Finds the descriptors that a shader declares: the DescriptorSet and Binding decorations of a
// SPIR-V module. A shader uses no others; it need not use all of them.
#ifndef CAIRN_FORMAT_SNAPSHOT_SPIRV_DESCRIPTORS_H_
#define CAIRN_FORMAT_SNAPSHOT_SPIRV_DESCRIPTORS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "format/snapshot/snapshot.h"

namespace cairn {

// Returns the descriptors in ascending order, each once. nullopt for words that are no SPIR-V in
// this machine's byte order, are cut before their functions, or decorate groups, which were removed
// after SPIR-V 1.0.
std::optional<std::vector<ShaderDescriptor>> FindSpirvDescriptors(std::span<const uint32_t> code);

}  // namespace cairn

#endif  // CAIRN_FORMAT_SNAPSHOT_SPIRV_DESCRIPTORS_H_
