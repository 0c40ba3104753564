// SPDX-License-Identifier: Apache-2.0
#include "reader/bisect/asker.h"

#include <fmt/format.h>

#include <algorithm>

namespace cairn {
namespace {

Status TooMany(uint64_t probes, const BisectWords& words) {
  return Status(
      StatusCode::kUnsupported,
      fmt::format("not found after {} probes, the most that a search makes; the failure may "
                  "need very much of the {}, or come and go: try --runs 10",
                  probes, words.whole));
}

Status Undecidable(uint32_t plays, const std::string& why) {
  return Status(StatusCode::kUnsupported,
                fmt::format("{} plays in a row did not show whether it fails: {}", plays, why));
}

}  // namespace

Result<ProbeAnswer> Asker::Once(const BisectQuestion& question) {
  const uint32_t most = std::max(1u, options_.most_undecided);
  for (uint32_t undecided = 0;;) {
    Result<ProbeAnswer> answer = Play(question);
    if (!answer.ok() || answer->outcome != ProbeOutcome::kUndecided) return answer;
    ++undecided_;
    if (++undecided >= most) return Undecidable(undecided, answer->why);
  }
}

Result<ProbeAnswer> Asker::Play(const BisectQuestion& question) {
  if (probes_ >= options_.max_probes) return TooMany(probes_, options_.words);
  if (options_.progress) {
    options_.progress({probes_, std::max(expected_, probes_ + 1), what_});
  }
  ++probes_;
  return probe_(question);
}

}  // namespace cairn
