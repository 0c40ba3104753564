// SPDX-License-Identifier: Apache-2.0
#include "reader/why/culprit_shaders.h"

#include <algorithm>

#include "format/block/marker_kinds.h"
#include "format/experiment/experiment.h"
#include "reader/analysis/work_class.h"

namespace cairn {

namespace {

// The layers find these shaders again: Vulkan's SPIR-V, and what Direct3D 12 was made of.
bool NamesShaders(Api api) {
  return api == Api::kVulkan || api == Api::kD3D12;
}

}  // namespace

std::vector<uint64_t> CulpritShaders(const Snapshot& snapshot, const Findings& findings) {
  std::vector<uint64_t> hashes;
  for (const SuspectWork& suspect : findings.culprit.suspects) {
    if (suspect.scope == kNone) return {};
    const Scope& scope = findings.analysis.scopes[suspect.scope];
    if (!RunsShaders(snapshot.events[scope.event].type)) continue;
    const uint32_t index = PipelineOf(snapshot, scope);
    if (index == kNone) return {};
    const Pipeline& pipeline = snapshot.pipelines[index];
    if (pipeline.device == kNone || !NamesShaders(snapshot.devices[pipeline.device].api)) return {};
    // Of those for rays one shader of many is known.
    if (pipeline.shader_hashes[kStageRayTracing] != 0) return {};
    const size_t before = hashes.size();
    for (uint32_t stage = 0; stage < kStageCount; ++stage) {
      const uint64_t hash = pipeline.shader_hashes[stage];
      if (hash != 0) {
        hashes.push_back(hash);
      } else if (!pipeline.shader_names[stage].empty()) {
        return {};  // unsigned code of Direct3D
      }
    }
    if (hashes.size() == before) return {};
    // An implementation may translate them where the layer does not see of what.
    if (snapshot.devices[pipeline.device].api == Api::kD3D12) hashes.push_back(0);
  }
  std::sort(hashes.begin(), hashes.end());
  hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
  if (hashes.size() > Experiment::kMostShaders) return {};
  return hashes;
}

std::map<uint64_t, std::string> PipelinesOfShaders(const Snapshot& snapshot,
                                                   const Findings& findings) {
  std::map<uint64_t, std::string> names;
  const auto add = [&](const Pipeline& pipeline) {
    const std::string name(snapshot.Text(pipeline.name));
    if (name.empty()) return;
    for (const uint64_t hash : pipeline.shader_hashes) {
      if (hash != 0) names.try_emplace(hash, name);
    }
  };
  for (const SuspectWork& suspect : findings.culprit.suspects) {
    if (suspect.scope == kNone) continue;
    const uint32_t index = PipelineOf(snapshot, findings.analysis.scopes[suspect.scope]);
    if (index != kNone) add(snapshot.pipelines[index]);
  }
  for (const Pipeline& pipeline : snapshot.pipelines) add(pipeline);
  return names;
}

}  // namespace cairn
