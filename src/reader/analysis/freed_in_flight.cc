// SPDX-License-Identifier: Apache-2.0
#include "reader/analysis/freed_in_flight.h"

#include <algorithm>
#include <tuple>

#include "format/snapshot/object_kinds.h"
#include "reader/analysis/fault_address.h"
#include "reader/analysis/progress.h"

namespace cairn {
namespace {

// Returns true if shaders can reach the object by address. A report of address bindings gives an
// address for an image, too, but no shader has it.
bool IsReachable(const Object& object) {
  const bool is_vulkan = (object.kind & kVulkanObject) != 0;
  const bool is_buffer =
      object.kind == kVulkanBufferKind || object.kind == kVulkanAccelerationStructureKind;
  return HasGpuRange(object) && object.size_bytes != 0 && (!is_vulkan || is_buffer);
}

bool HasFailed(const Snapshot& snapshot, uint32_t device) {
  return snapshot.devices[device].device_lost ||
         std::any_of(snapshot.faults.begin(), snapshot.faults.end(),
                     [device](const Fault& fault) { return fault.device == device; });
}

// Returns each device's first submission in flight; kNone: none.
std::vector<uint32_t> FirstInFlight(const Snapshot& snapshot, const Analysis& analysis) {
  std::vector<uint32_t> first(snapshot.devices.size(), kNone);
  std::vector<uint32_t> last(snapshot.devices.size(), kNone);
  for (const Execution& execution : analysis.executions) {
    const Recording& recording = snapshot.recordings[execution.recording];
    if (execution.submission == kNone || recording.device == kNone) continue;
    uint32_t& latest = last[recording.device];
    if (latest == kNone || latest < execution.submission) latest = execution.submission;
    if (execution.state != WorkState::kInFlight || EndIsUnseen(snapshot, recording)) continue;
    uint32_t& earliest = first[recording.device];
    earliest = std::min(earliest, execution.submission);  // kNone is the largest
  }
  for (uint32_t device = 0; device < first.size(); ++device) {
    if (first[device] == kNone && HasFailed(snapshot, device)) first[device] = last[device];
  }
  return first;
}

// CLOCK_MONOTONIC; UINT64_MAX where no time is known.
uint64_t TimeOfIncident(const Snapshot& snapshot) {
  const Process& process = snapshot.process;
  for (const Incident& incident : snapshot.incidents) {
    if (incident.kind == IncidentKind::kRequested || incident.time_ns < process.start_time_ns ||
        process.start_monotonic_ns == 0) {
      continue;
    }
    return incident.time_ns - process.start_time_ns + process.start_monotonic_ns;
  }
  return UINT64_MAX;
}

}  // namespace

std::vector<FreedInFlight> FindFreedInFlight(const Snapshot& snapshot, const Analysis& analysis) {
  std::vector<FreedInFlight> found;
  const std::vector<uint32_t> in_flight = FirstInFlight(snapshot, analysis);
  const uint64_t incident_ns = TimeOfIncident(snapshot);
  for (uint32_t i = 0; i < snapshot.objects.size(); ++i) {
    const Object& object = snapshot.objects[i];
    if (object.state != ObjectState::kDestroyed || object.device == kNone || !IsReachable(object) ||
        in_flight[object.device] == kNone) {
      continue;
    }
    const uint32_t submission = in_flight[object.device];
    const uint64_t submitted_ns = snapshot.submissions[submission].time_ns;
    if (object.destroyed_ns < submitted_ns || object.destroyed_ns > incident_ns ||
        object.created_ns > submitted_ns) {
      continue;
    }
    found.push_back(
        {i, submission, static_cast<int64_t>(object.destroyed_ns - submitted_ns), kNone});
  }
  std::sort(found.begin(), found.end(), [](const FreedInFlight& a, const FreedInFlight& b) {
    return std::tuple(a.after_submission_ns, a.object) <
           std::tuple(b.after_submission_ns, b.object);
  });
  if (found.size() > kMostFreedInFlight) found.resize(kMostFreedInFlight);
  for (FreedInFlight& freed : found) {
    for (uint32_t i = 0; i < snapshot.destructions.size(); ++i) {
      if (snapshot.destructions[i].object == freed.object) freed.destruction = i;
    }
  }
  return found;
}

}  // namespace cairn
