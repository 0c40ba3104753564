// SPDX-License-Identifier: Apache-2.0
#include "app/d3d12/pipeline_stages.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "app/d3d12/pipeline_stream.h"
#include "app/recorder/block_writer.h"
#include "app/recorder/dxbc_code.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {
namespace {

constexpr std::pair<uint32_t, ShaderStage> kStagesOfStreams[] = {
    {D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_VS, kStageVertex},
    {D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_HS, kStageHull},
    {D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_DS, kStageDomain},
    {D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_GS, kStageGeometry},
    {D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_PS, kStagePixel},
    {D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_AS, kStageAmplification},
    {D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_MS, kStageMesh},
    {D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_CS, kStageCompute},
};

bool HasCode(const D3D12_SHADER_BYTECODE& shader) {
  return shader.pShaderBytecode != nullptr && shader.BytecodeLength != 0;
}

}  // namespace

StageCodes StagesOf(const D3D12_GRAPHICS_PIPELINE_STATE_DESC* desc) {
  StageCodes stages{};
  if (desc == nullptr) return stages;
  stages[kStageVertex] = desc->VS;
  stages[kStageHull] = desc->HS;
  stages[kStageDomain] = desc->DS;
  stages[kStageGeometry] = desc->GS;
  stages[kStagePixel] = desc->PS;
  return stages;
}

StageCodes StagesOf(const D3D12_COMPUTE_PIPELINE_STATE_DESC* desc) {
  StageCodes stages{};
  if (desc != nullptr) stages[kStageCompute] = desc->CS;
  return stages;
}

StageCodes StagesOf(const D3D12_PIPELINE_STATE_STREAM_DESC* desc) {
  StageCodes stages{};
  if (desc == nullptr || desc->pPipelineStateSubobjectStream == nullptr) return stages;
  const auto* const stream = static_cast<const std::byte*>(desc->pPipelineStateSubobjectStream);
  ForEachSubobject({stream, desc->SizeInBytes}, [&](uint32_t type, size_t content) {
    for (const auto& [of_stream, stage] : kStagesOfStreams) {
      if (type == of_stream) std::memcpy(&stages[stage], stream + content, sizeof(stages[stage]));
    }
  });
  return stages;
}

namespace {

// The first one that is there.
uint32_t FirstFormat(const DXGI_FORMAT* formats, UINT count) {
  const DXGI_FORMAT* const end = formats + std::min<UINT>(count, 8);
  const DXGI_FORMAT* const first =
      std::find_if(formats, end, [](DXGI_FORMAT format) { return format != DXGI_FORMAT_UNKNOWN; });
  return first == end ? 0 : static_cast<uint32_t>(*first);
}

}  // namespace

PipelineDescription DescriptionOf(const D3D12_GRAPHICS_PIPELINE_STATE_DESC* desc) {
  PipelineDescription description;
  if (desc == nullptr) return description;
  description.tells_targets = true;
  description.target_count = desc->NumRenderTargets;
  description.first_target_format = FirstFormat(desc->RTVFormats, desc->NumRenderTargets);
  description.depth_format = static_cast<uint32_t>(desc->DSVFormat);
  return description;
}

PipelineDescription DescriptionOf(const D3D12_COMPUTE_PIPELINE_STATE_DESC*) {
  return {};
}

PipelineDescription DescriptionOf(const D3D12_PIPELINE_STATE_STREAM_DESC* desc) {
  PipelineDescription description;
  if (desc == nullptr || desc->pPipelineStateSubobjectStream == nullptr) return description;
  const auto* const stream = static_cast<const std::byte*>(desc->pPipelineStateSubobjectStream);
  ForEachSubobject({stream, desc->SizeInBytes}, [&](uint32_t type, size_t content) {
    if (type == D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_RENDER_TARGET_FORMATS) {
      D3D12_RT_FORMAT_ARRAY formats;
      std::memcpy(&formats, stream + content, sizeof(formats));
      description.tells_targets = true;
      description.target_count = formats.NumRenderTargets;
      description.first_target_format = FirstFormat(formats.RTFormats, formats.NumRenderTargets);
    }
    if (type == D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_DEPTH_STENCIL_FORMAT) {
      DXGI_FORMAT format;
      std::memcpy(&format, stream + content, sizeof(format));
      description.tells_targets = true;
      description.depth_format = static_cast<uint32_t>(format);
    }
  });
  return description;
}

PipelineCode HashesOf(const StageCodes& stages) {
  PipelineCode hashes{};
  for (uint32_t stage = 0; stage < kStageCount; ++stage) {
    hashes[stage] = HashOfDxbc(stages[stage].pShaderBytecode, stages[stage].BytecodeLength);
  }
  return hashes;
}

void NoteStages(const StageCodes& stages, PipelineNote* note) {
  for (uint32_t stage = 0; stage < kStageCount; ++stage) {
    const D3D12_SHADER_BYTECODE& shader = stages[stage];
    if (!HasCode(shader)) continue;
    note->SetStage(static_cast<ShaderStage>(stage),
                   KeepDxbc(ProcessBlock(), shader.pShaderBytecode, shader.BytecodeLength));
  }
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
