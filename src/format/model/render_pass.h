// SPDX-License-Identifier: Apache-2.0
//
// The structs of BeginRenderPass, as Direct3D 12 has them; objects are their numbers.
#ifndef CAIRN_FORMAT_MODEL_RENDER_PASS_H_
#define CAIRN_FORMAT_MODEL_RENDER_PASS_H_

#include <cstdint>

namespace cairn {

struct BeginningAccess {
  uint32_t type;
  uint32_t clear[5];
};
inline constexpr uint32_t kBeginDiscard = 0;
inline constexpr uint32_t kBeginClear = 2;
inline constexpr uint32_t kBeginNone = 3;
struct ResolvedPart {
  uint32_t from;
  uint32_t to;
  uint32_t x;
  uint32_t y;
  uint32_t rect[4];  // zeros: the whole subresource
};
struct EndingAccess {
  uint32_t type;
  uint32_t padding;
  // If it is kEndResolve.
  uint64_t from;
  uint64_t to;
  uint32_t part_count;
  uint32_t padding_of_parts;
  const void* parts;
  uint32_t format, mode, preserve, end;
};
static_assert(sizeof(EndingAccess) == 56);
inline constexpr uint32_t kEndResolve = 2;
struct PassTarget {
  uint64_t view;
  BeginningAccess beginning;
  EndingAccess ending;
};
struct PassDepth {
  uint64_t view;
  BeginningAccess beginning[2];  // of depth, of stencil
  EndingAccess ending[2];
};
static_assert(sizeof(PassTarget) == 88 && sizeof(PassDepth) == 168);
inline constexpr uint32_t kSuspendingPass = 2;
inline constexpr uint32_t kResumingPass = 4;

}  // namespace cairn

#endif  // CAIRN_FORMAT_MODEL_RENDER_PASS_H_
