// SPDX-License-Identifier: Apache-2.0
//
// Classifies commands by their CairnMarkerType (cairn/marker_types.h). A type that this version
// does not know is none of these. Pure.
#ifndef CAIRN_FORMAT_BLOCK_MARKER_KINDS_H_
#define CAIRN_FORMAT_BLOCK_MARKER_KINDS_H_

#include <cstdint>

namespace cairn {

bool IsDraw(uint32_t type);      // of the vertex pipeline
bool IsDispatch(uint32_t type);  // of a compute pipeline
// Runs shaders of the application: these two, meshes, rays, and what may be one of them.
bool RunsShaders(uint32_t type);
// Copies, clears, fills, resolves, and writes of single words.
bool IsTransfer(uint32_t type);
// Makes later work wait for earlier work.
bool IsBarrier(uint32_t type);
bool EndsRenderPass(uint32_t type);
// Sets state, orders, names or frames work. Queries and timestamps wait for work and write a word.
bool RunsNothing(uint32_t type);

}  // namespace cairn

#endif  // CAIRN_FORMAT_BLOCK_MARKER_KINDS_H_
