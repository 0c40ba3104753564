// SPDX-License-Identifier: Apache-2.0
#include "reader/analysis/findings.h"

#include "reader/analysis/fault_users.h"
#include "reader/analysis/limiting_sources.h"

namespace cairn {
namespace {

std::vector<uint32_t> FindSubmissionExecutions(const Snapshot& snapshot, const Analysis& analysis) {
  std::vector<uint32_t> executions(snapshot.submissions.size(), kNone);
  for (uint32_t i = 0; i < analysis.executions.size(); ++i) {
    const uint32_t submission = analysis.executions[i].submission;
    if (submission != kNone) executions[submission] = i;
  }
  return executions;
}

}  // namespace

Findings AnalyseDump(const Snapshot& snapshot, uint32_t device) {
  Findings findings;
  findings.device = device;
  findings.analysis = Analyse(snapshot);
  const Analysis& analysis = findings.analysis;
  findings.addresses = FindFaultAddresses(snapshot, analysis);
  FindFaultUsers(snapshot, findings.addresses, &findings.analysis);
  findings.waits = FindWaits(snapshot, analysis);
  findings.empty_submissions = FindEmptySubmissions(snapshot);
  findings.submission_executions = FindSubmissionExecutions(snapshot, analysis);
  findings.raw_markers = JudgeRawMarkers(snapshot, analysis);
  findings.freed_in_flight = FindFreedInFlight(snapshot, analysis);
  findings.checkpoints = CheckCheckpoints(snapshot, analysis);
  findings.culprit = FindCulprit(snapshot, analysis, findings.waits, findings.raw_markers, device);
  findings.duration = FindUsualDuration(snapshot, analysis, findings.culprit);
  findings.label_duration = FindLabelDuration(snapshot, analysis, findings.culprit);
  findings.arguments = FindArgumentsOrigin(snapshot, analysis, findings.culprit);
  findings.limiting_sources = FindLimitingSources(snapshot, findings.culprit, device);
  return findings;
}

}  // namespace cairn
