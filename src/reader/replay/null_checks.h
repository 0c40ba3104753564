// SPDX-License-Identifier: Apache-2.0
//
// Null where descriptions from a trace promise that something is there: implementations use it without
// checking. All return kCorrupt then, with the name of the field.
#ifndef CAIRN_READER_REPLAY_NULL_CHECKS_H_
#define CAIRN_READER_REPLAY_NULL_CHECKS_H_

#include "base/status.h"
#include "d3d12abi/d3d12_api.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

Status NotNull(const void* pointer, const char* name);
Status CheckShader(const D3D12_SHADER_BYTECODE& shader);
Status CheckPipeline(const D3D12_GRAPHICS_PIPELINE_STATE_DESC& desc);
// Checks the parts that this build knows; the decoder refuses streams with others.
Status CheckPipelineStream(const D3D12_PIPELINE_STATE_STREAM_DESC& desc);
// kUnsupported: a node of a kind that is not known, whose pointers mean nothing here.
Status CheckStateObject(const D3D12_STATE_OBJECT_DESC& desc);

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_READER_REPLAY_NULL_CHECKS_H_
