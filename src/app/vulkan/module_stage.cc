// SPDX-License-Identifier: Apache-2.0
#include "app/vulkan/module_stage.h"

#include "app/vulkan/instructions.h"

namespace cairn {
namespace {

// Numbers of SPIR-V.
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
  std::optional<ShaderStage> stage;
  VisitInstructions(words, [&](uint32_t opcode, std::span<const uint32_t> instruction) {
    if (opcode == kOpFunction) return false;
    if (opcode != kOpEntryPoint || instruction.size() < 2) return true;
    const std::optional<ShaderStage> of_entry = StageOfModel(instruction[1]);
    const bool agrees = of_entry && stage.value_or(*of_entry) == *of_entry;
    stage = agrees ? of_entry : std::nullopt;
    return agrees;
  });
  return stage;
}

}  // namespace cairn
