// SPDX-License-Identifier: Apache-2.0
#include "reader/why/culprit_shaders.h"

#include <algorithm>
#include <iterator>

#include "format/block/marker_kinds.h"
#include "format/experiment/experiment.h"
#include "reader/analysis/work_class.h"

namespace cairn {

std::vector<uint64_t> CulpritShaders(const Snapshot& snapshot, const Findings& findings) {
  std::vector<uint64_t> hashes;
  for (const SuspectWork& suspect : findings.culprit.suspects) {
    if (suspect.scope == kNone) return {};
    const Scope& scope = findings.analysis.scopes[suspect.scope];
    if (!RunsShaders(snapshot.events[scope.event].type)) continue;
    const uint32_t index = PipelineOf(snapshot, scope);
    if (index == kNone) return {};
    const Pipeline& pipeline = snapshot.pipelines[index];
    if (pipeline.device == kNone || snapshot.devices[pipeline.device].api != Api::kVulkan) {
      return {};
    }
    // Of those for rays one shader of many is known.
    if (pipeline.shader_hashes[kStageRayTracing] != 0) return {};
    const size_t before = hashes.size();
    std::copy_if(pipeline.shader_hashes.begin(), pipeline.shader_hashes.end(),
                 std::back_inserter(hashes), [](uint64_t hash) { return hash != 0; });
    if (hashes.size() == before) return {};
  }
  std::sort(hashes.begin(), hashes.end());
  hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
  if (hashes.size() > Experiment::kMostShaders) return {};
  return hashes;
}

}  // namespace cairn
