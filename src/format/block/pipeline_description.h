// SPDX-License-Identifier: Apache-2.0
//
// PipelineRecord::description: what a pipeline draws into, in 64 bits: a report tells one without a name by it, and by
// its number. Values are stored in files.
#ifndef CAIRN_FORMAT_BLOCK_PIPELINE_DESCRIPTION_H_
#define CAIRN_FORMAT_BLOCK_PIPELINE_DESCRIPTION_H_

#include <algorithm>
#include <cstdint>

namespace cairn {

struct PipelineDescription {
  // False for pipelines of compute and ray tracing, and where the API did not say it with the pipeline.
  bool tells_targets = false;
  bool vulkan_format = false;  // the formats are VkFormats, otherwise DXGI_FORMATs
  uint32_t target_count = 0;   // up to 15
  // Formats beyond 1023 (of extensions) are stored as 0, as those that are not known.
  uint32_t first_target_format = 0;
  uint32_t depth_format = 0;  // 0: neither depth nor stencil
  bool operator==(const PipelineDescription&) const = default;
};

// From the lowest bit: 1, targets told 1, formats' API 1, count 4, formats 10 each. Never 0.
constexpr uint64_t PackDescription(const PipelineDescription& description) {
  const auto format = [](uint32_t value) { return uint64_t{value > 1023 ? 0 : value}; };
  return 1 | uint64_t{description.tells_targets ? 1u : 0u} << 1 |
         uint64_t{description.vulkan_format ? 1u : 0u} << 2 |
         uint64_t{std::min(description.target_count, 15u)} << 3 |
         format(description.first_target_format) << 7 | format(description.depth_format) << 17;
}

// Takes any number.
constexpr PipelineDescription UnpackPipelineDescription(uint64_t packed) {
  PipelineDescription description;
  description.tells_targets = (packed >> 1 & 1) != 0;
  description.vulkan_format = (packed >> 2 & 1) != 0;
  description.target_count = packed >> 3 & 15;
  description.first_target_format = packed >> 7 & 1023;
  description.depth_format = packed >> 17 & 1023;
  return description;
}

}  // namespace cairn

#endif  // CAIRN_FORMAT_BLOCK_PIPELINE_DESCRIPTION_H_
