// SPDX-License-Identifier: Apache-2.0
//
// The shaders of a pipeline that is being made: for its note, and for the Vulkan layer, which sees the translations of
// them as modules of the same thread.
#ifndef CAIRN_APP_D3D12_PIPELINE_STAGES_H_
#define CAIRN_APP_D3D12_PIPELINE_STAGES_H_

#include <array>

#include "app/breadcrumbs/driver_half.h"
#include "app/d3d12/objects.h"
#include "app/d3d12/policy.h"
#include "d3d12abi/d3d12_api.h"
#include "format/block/block.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

// By stage; those that the pipeline has not have no bytes.
using StageCodes = std::array<D3D12_SHADER_BYTECODE, kStageCount>;

// Null descriptions have none. A stream is read as far as its types are known and lie within its size.
StageCodes StagesOf(const D3D12_GRAPHICS_PIPELINE_STATE_DESC* desc);
StageCodes StagesOf(const D3D12_COMPUTE_PIPELINE_STATE_DESC* desc);
StageCodes StagesOf(const D3D12_PIPELINE_STATE_STREAM_DESC* desc);

// The targets that a pipeline draws into; null descriptions, and streams that do not say them, tell none.
PipelineDescription DescriptionOf(const D3D12_GRAPHICS_PIPELINE_STATE_DESC* desc);
PipelineDescription DescriptionOf(const D3D12_COMPUTE_PIPELINE_STATE_DESC* desc);
PipelineDescription DescriptionOf(const D3D12_PIPELINE_STATE_STREAM_DESC* desc);

// The hashes of what has code.
PipelineCode HashesOf(const StageCodes& stages);
// Keeps the code, and tells the note.
void NoteStages(const StageCodes& stages, PipelineNote* note);

// Makes a pipeline by `create(out)`, which calls the thin class, and notes its shaders.
template <typename Desc, typename Create>
HRESULT CreateWithStages(const Desc* desc, void** pipeline, Create create) {
  const StageCodes stages = StagesOf(desc);
  const PipelineCode hashes = HashesOf(stages);
  const PipelineCodeScope scope(hashes);
  if (pipeline == nullptr) return create(pipeline);
  // A result that the implementation does not write keeps the application's value and is not read.
  void* made = &untouched_result;
  const HRESULT result = create(&made);
  if (made == &untouched_result) return result;
  *pipeline = made;
  if (FAILED(result)) return result;
  Wrapper* const wrapper = AsWrapper(static_cast<ID3D12PipelineState*>(made));
  if (wrapper == nullptr) return result;
  PipelineNote& note = static_cast<WrappedID3D12PipelineState*>(wrapper)->note();
  NoteStages(stages, &note);
  note.SetDescription(DescriptionOf(desc));
  return result;
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_APP_D3D12_PIPELINE_STAGES_H_
