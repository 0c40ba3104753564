// SPDX-License-Identifier: Apache-2.0
#include "reader/bisect/probe_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "base/signal_name.h"
#include "os/child.h"

namespace cairn {

uint64_t PlaceOf(uint64_t call, const BisectTree& tree) {
  const auto after = std::upper_bound(
      tree.submissions.begin(), tree.submissions.end(), call,
      [](uint64_t c, const BisectTree::Submission& submission) { return c < submission.call; });
  return after == tree.submissions.begin() ? 0 : std::prev(after)->call;
}

namespace {

FailureKind KindOf(ProbeEnd end) {
  switch (end) {
    case ProbeEnd::kHang: return FailureKind::kHang;
    case ProbeEnd::kLost: return FailureKind::kLost;
    case ProbeEnd::kDied: return FailureKind::kDied;
    default: return FailureKind::kNone;
  }
}

ProbeAnswer Undecided(const std::string& why) {
  return {ProbeOutcome::kUndecided, 0, FailureKind::kNone, 0, why};
}

}  // namespace

Result<ProbeAnswer> AnswerOf(const ProbeRun& run, const BisectTree& tree) {
  if (run.interrupted) return Status(StatusCode::kInterrupted, "interrupted");
  // What the watchdog killed is a hang, not a death.
  if (run.end == ProbeEnd::kDied && WasKilled({EndKind::kSignalled, run.signal})) {
    return Undecided(
        "something else killed the playback (SIGKILL): look into the kernel's log whether "
        "the machine ran out of memory");
  }
  switch (run.end) {
    case ProbeEnd::kFinished: return ProbeAnswer{ProbeOutcome::kClean, 0};
    case ProbeEnd::kHang:
    case ProbeEnd::kLost:
    case ProbeEnd::kDied:
      return ProbeAnswer{ProbeOutcome::kFails, PlaceOf(run.call, tree), KindOf(run.end),
                         run.end == ProbeEnd::kDied ? run.signal : 0};
    case ProbeEnd::kRefused: return ProbeAnswer{ProbeOutcome::kInvalid, 0};
    case ProbeEnd::kUnclear: return Undecided(run.message);
    case ProbeEnd::kNone:
    case ProbeEnd::kNoDevice:
    case ProbeEnd::kError: break;
  }
  return Status(StatusCode::kUnsupported, run.message);
}

Result<ProbeAnswer> AnswerOf(const ProbeRun& run, const BisectTree& tree,
                             const DeviceFacts& device) {
  Result<ProbeAnswer> answer = AnswerOf(run, tree);
  if (!answer.ok() || run.devices == 0 || run.device == device) return answer;
  return Undecided(OtherDevice(run.device, device));
}

std::string OtherDevice(const DeviceFacts& there, const DeviceFacts& wanted) {
  const bool other_library = there.name == wanted.name && there.driver == wanted.driver;
  const auto text = [&](const DeviceFacts& device) {
    return fmt::format("{} ({}{}{})", device.name, device.driver, other_library ? ", with " : "",
                       other_library ? device.library_paths : "");
  };
  return fmt::format("it was played on {}, not on {}", text(there), text(wanted));
}

std::string SignalName(int number) {
  const auto code = static_cast<uint32_t>(number);
  return IsExceptionCode(code) ? SignalInWords(code) : CauseOfDeath(number);
}

}  // namespace cairn
