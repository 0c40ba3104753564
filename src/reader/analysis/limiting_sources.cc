// SPDX-License-Identifier: Apache-2.0
#include "reader/analysis/limiting_sources.h"

#include <string_view>

namespace cairn {
namespace {

// Returns true if the finding does not say why the device failed, but that it did.
bool LacksFault(const CulpritFinding& finding) {
  return finding.kind == FindingKind::kDeviceLost ||
         (finding.kind == FindingKind::kGpuFault && finding.fault_address == kNone);
}

// Returns true if better progress of the GPU could have named one work. Of waits it could not.
bool LacksProgress(const CulpritFinding& finding) {
  if (finding.kind == FindingKind::kDeadlock || finding.kind == FindingKind::kEndlessWait) {
    return false;
  }
  // Markers tell no more of the only work in flight, even where faults are noticed late.
  if (!finding.suspects.empty() &&
      finding.suspects.front().reason == SuspectReason::kOnlyWorkRunning) {
    return false;
  }
  return finding.certainty == Certainty::kOneOf || finding.certainty == Certainty::kLikely ||
         finding.certainty == Certainty::kUnknown;
}

}  // namespace

std::vector<uint32_t> FindLimitingSources(const Snapshot& snapshot, const CulpritFinding& finding,
                                          uint32_t device) {
  const bool lacks_fault = LacksFault(finding);
  const bool lacks_progress = LacksProgress(finding);
  std::vector<uint32_t> limiting;
  if (!lacks_fault && !lacks_progress) return limiting;
  const auto count = static_cast<uint32_t>(snapshot.sources.size());
  const uint32_t begin = device == kNone ? 0 : snapshot.devices[device].first_source;
  const uint32_t end = device == kNone ? count : begin + snapshot.devices[device].source_count;
  for (uint32_t i = begin; i < end; ++i) {
    const Source& source = snapshot.sources[i];
    if (source.state == SourceState::kPresent) continue;
    // VK_EXT_device_fault and what tells of it; all other sources tell of progress.
    const bool of_faults =
        snapshot.Text(source.name).find("device_fault") != std::string_view::npos;
    if (of_faults ? lacks_fault : lacks_progress) limiting.push_back(i);
  }
  return limiting;
}

}  // namespace cairn
