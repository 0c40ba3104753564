// SPDX-License-Identifier: Apache-2.0
#include "reader/analysis/ties.h"

#include <algorithm>
#include <tuple>

#include "cairn/marker_types.h"

#include "format/block/marker_kinds.h"
#include "reader/analysis/arguments.h"

namespace cairn {

std::strong_ordering operator<=>(const TieScore& a, const TieScore& b) {
  return std::tuple(!a.is_absurd, a.shaders, b.thousands) <=>
         std::tuple(!b.is_absurd, b.shaders, a.thousands);
}

TieScorer::TieScorer(const Snapshot& snapshot) : snapshot_(snapshot) {
  traits_.reserve(snapshot.shaders.size());
  for (const Shader& shader : snapshot.shaders) traits_.emplace_back(shader.hash, shader.traits);
  std::sort(traits_.begin(), traits_.end());
}

TieScore TieScorer::Of(uint32_t event) const {
  const uint64_t size = SizeOfWork(ArgumentsOf(snapshot_, event));
  TieScore score;
  score.is_absurd = size >= kAbsurdSize;
  score.shaders = ShadersOf(snapshot_.events[event].pipeline);
  for (uint64_t rest = size / 1000; rest != 0; rest /= 1000) ++score.thousands;
  return score;
}

uint32_t TieScorer::ShadersOf(uint32_t pipeline) const {
  if (pipeline == kNone) return TieScore::kUnknown;
  bool all_read = false;
  for (const uint64_t hash : snapshot_.pipelines[pipeline].shader_hashes) {
    if (hash == 0) continue;
    const auto found = std::lower_bound(traits_.begin(), traits_.end(), std::pair(hash, 0u));
    const uint32_t traits = found == traits_.end() || found->first != hash ? 0 : found->second;
    if ((traits & kShaderLoops) != 0) return TieScore::kLoops;
    if ((traits & kShaderRead) == 0) return TieScore::kUnknown;
    all_read = true;
  }
  return all_read ? TieScore::kNoLoops : TieScore::kUnknown;
}

TieEvidence TieScorer::Between(const TieScore& first, const TieScore& other) {
  if (first.is_absurd != other.is_absurd) return TieEvidence::kAbsurdSize;
  if (first.shaders != other.shaders) {
    return first.shaders == TieScore::kLoops ? TieEvidence::kLoops : TieEvidence::kMayLoop;
  }
  return first.thousands != other.thousands ? TieEvidence::kLarger : TieEvidence::kNone;
}

bool IsWrittenBetween(const Snapshot& snapshot, uint32_t from, uint32_t to) {
  for (uint32_t i = from + 1; i <= to; ++i) {
    if ((snapshot.events[i].flags & (kEventWritesTop | kEventWritesBottom)) != 0) return true;
  }
  return false;
}

bool IsInRenderPass(const Snapshot& snapshot, uint32_t first_event, uint32_t event) {
  for (uint32_t i = event; i-- > first_event;) {
    const Event& before = snapshot.events[i];
    if (before.kind != EventKind::kBegin) continue;
    if (EndsRenderPass(before.type)) return false;
    switch (before.type) {
      case CAIRN_MARKER_BEGIN_RENDER_PASS:
      case CAIRN_MARKER_BEGIN_RENDERING:
      case CAIRN_MARKER_NEXT_SUBPASS: return true;
      default: break;
    }
  }
  return false;
}

}  // namespace cairn
