// SPDX-License-Identifier: Apache-2.0
#include "replay/probe_answer.h"

#include <algorithm>

namespace cairn {

uint64_t PlaceOf(uint64_t call, const BisectTree& tree) {
  const auto after = std::upper_bound(
      tree.submissions.begin(), tree.submissions.end(), call,
      [](uint64_t c, const BisectTree::Submission& submission) { return c < submission.call; });
  return after == tree.submissions.begin() ? 0 : std::prev(after)->call;
}

Result<ProbeAnswer> AnswerOf(const ProbeRun& run, const BisectTree& tree) {
  if (run.interrupted) return Status(StatusCode::kIo, kInterrupted);
  switch (run.end) {
    case ProbeEnd::kFinished: return ProbeAnswer{ProbeOutcome::kClean, 0};
    case ProbeEnd::kHang:
    case ProbeEnd::kLost:
    case ProbeEnd::kDied: return ProbeAnswer{ProbeOutcome::kFails, PlaceOf(run.call, tree)};
    case ProbeEnd::kRefused: return ProbeAnswer{ProbeOutcome::kInvalid, 0};
    case ProbeEnd::kNone:
    case ProbeEnd::kError: break;
  }
  return Status(StatusCode::kUnsupported, run.message);
}

}  // namespace cairn
