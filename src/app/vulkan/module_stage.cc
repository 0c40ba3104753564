// SPDX-License-Identifier: Apache-2.0
#include "app/vulkan/module_stage.h"

namespace cairn {
namespace {

// Numbers of SPIR-V.
constexpr uint32_t kMagicNumber = 0x07230203;
constexpr size_t kHeaderWords = 5;
constexpr uint32_t kOpCodeMask = 0xffff;
constexpr uint32_t kWordCountShift = 16;
constexpr uint32_t kOpEntryPoint = 15;
constexpr uint32_t kOpFunction = 54;

std::optional<ShaderStage> StageOfModel(uint32_t execution_model) {
  switch (execution_model) {
    case 0: return kStageVertex;
    case 1: return kStageHull;
    case 2: return kStageDomain;
    case 3: return kStageGeometry;
    case 4: return kStagePixel;
    case 5: return kStageCompute;
    case 5267:  // TaskNV
    case 5364: return kStageAmplification;
    case 5268:  // MeshNV
    case 5365: return kStageMesh;
    case 5313:
    case 5314:
    case 5315:
    case 5316:
    case 5317:
    case 5318: return kStageRayTracing;
    default: return std::nullopt;
  }
}

}  // namespace

std::optional<ShaderStage> StageOfModule(std::span<const uint32_t> words) {
  if (words.size() < kHeaderWords || words[0] != kMagicNumber) return std::nullopt;
  std::optional<ShaderStage> stage;
  for (size_t at = kHeaderWords; at < words.size();) {
    const uint32_t length = words[at] >> kWordCountShift;
    const uint32_t opcode = words[at] & kOpCodeMask;
    if (length == 0 || length > words.size() - at || opcode == kOpFunction) break;
    if (opcode == kOpEntryPoint && length > 1) {
      const std::optional<ShaderStage> of_entry = StageOfModel(words[at + 1]);
      if (!of_entry || stage.value_or(*of_entry) != *of_entry) return std::nullopt;
      stage = of_entry;
    }
    at += length;
  }
  return stage;
}

}  // namespace cairn
