// SPDX-License-Identifier: Apache-2.0
#include "reader/bisect/call_parts.h"

#include <algorithm>
#include <bit>

#include "base/text.h"
#include "reader/bisect/asker.h"

namespace cairn {
namespace {

enum class Seen : uint8_t { kClean, kFails, kNothing };

class PartSearch {
 public:
  PartSearch(const CallParts& parts, uint64_t stop_before, const BisectAnswer& failure,
             Asker* asker, PartsAnswer* answer)
      : parts_(parts), failure_(failure), asker_(*asker), answer_(answer) {
    question_.stop_before = stop_before;
    question_.rest_stays = true;
  }

  Status Run();

 private:
  Result<Seen> Play(uint64_t first, uint64_t end);
  // `first`..`end` fail, and none of them does not.
  Status Search(uint64_t first, uint64_t end);
  // Halves between a clean and a failing bound until they are neighbours; `play` is given what lies between.
  template <typename PlayAt>
  static Result<uint64_t> Nearest(uint64_t clean, uint64_t fails, const PlayAt& play);

  const CallParts& parts_;
  const BisectAnswer& failure_;
  Asker& asker_;
  PartsAnswer* const answer_;
  BisectQuestion question_;
};

Result<Seen> PartSearch::Play(uint64_t first, uint64_t end) {
  question_.parts = KeptParts{parts_.call, first, end, parts_.stride_bytes};
  for (uint32_t i = 0; i < TriesOf(failure_); ++i) {
    const Result<ProbeAnswer> answer = asker_.Once(question_);
    answer_->probes = asker_.probes();
    if (!answer.ok()) return answer.status();
    if (answer->outcome == ProbeOutcome::kInvalid) return Seen::kNothing;
    if (IsSameFailure(failure_, *answer)) return Seen::kFails;
  }
  return Seen::kClean;
}

template <typename PlayAt>
Result<uint64_t> PartSearch::Nearest(uint64_t clean, uint64_t fails, const PlayAt& play) {
  while (clean + 1 != fails && fails + 1 != clean) {
    const uint64_t middle =
        std::min(clean, fails) + (std::max(clean, fails) - std::min(clean, fails)) / 2;
    const Result<Seen> seen = play(middle);
    if (!seen.ok()) return seen.status();
    (*seen == Seen::kFails ? fails : clean) = middle;
  }
  return fails;
}

Status PartSearch::Search(uint64_t first, uint64_t end) {
  const Result<uint64_t> last =
      Nearest(first, end, [&](uint64_t middle) { return Play(first, middle); });
  if (!last.ok()) return last.status();
  PartRange range = {*last - 1, *last};
  if (parts_.only_prefixes || range.first == first) {
    answer_->guilty.push_back(range);
    return {};
  }
  const Result<Seen> alone = Play(range.first, range.end);
  if (!alone.ok()) return alone.status();
  if (*alone != Seen::kFails) {
    const Result<uint64_t> begin =
        Nearest(range.first, first, [&](uint64_t middle) { return Play(middle, range.end); });
    if (!begin.ok()) return begin.status();
    range.first = *begin;
  }
  answer_->guilty.push_back(range);
  return {};
}

Status PartSearch::Run() {
  asker_.Expect("the " + Counted(parts_.count, parts_.word) + " of the culprit",
                4 + static_cast<uint64_t>(std::bit_width(parts_.count)));
  const Result<Seen> none = Play(0, 0);
  if (!none.ok()) return none.status();
  answer_->needs_none = *none == Seen::kFails;
  if (*none != Seen::kClean || parts_.count == 0) return {};
  uint64_t first = 0;
  while (first < parts_.count) {
    if (first != 0) {
      if (parts_.only_prefixes || parts_.count_is_limit) return {};
      const Result<Seen> rest = Play(first, parts_.count);
      if (!rest.ok()) return rest.status();
      if (*rest != Seen::kFails) break;
      answer_->more = true;
      if (answer_->guilty.size() >= kMostGuiltyParts) return {};
    }
    CAIRN_RETURN_IF_ERROR(Search(first, parts_.count));
    answer_->more = false;
    first = answer_->guilty.back().end;
  }
  answer_->all_looked_at = true;
  return {};
}

}  // namespace

uint64_t EndOfFailure(const BisectTree& tree, const BisectAnswer& failure) {
  if (failure.place_varies) return ~uint64_t{0};
  const auto after = std::find_if(
      tree.submissions.begin(), tree.submissions.end(),
      [&](const BisectTree::Submission& submission) { return submission.call > failure.place; });
  return after == tree.submissions.end() ? ~uint64_t{0} : after->call;
}

Status SearchParts(const CallParts& parts, const BisectTree& tree, const BisectAnswer& failure,
                   const Probe& probe, const BisectOptions& options, PartsAnswer* answer) {
  *answer = {};
  answer->probes = failure.probes;
  Asker asker(probe, options, failure.probes);
  return PartSearch(parts, EndOfFailure(tree, failure), failure, &asker, answer).Run();
}

}  // namespace cairn
