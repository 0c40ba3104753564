// SPDX-License-Identifier: Apache-2.0
#include "reader/bisect/call_parts.h"

#include <algorithm>
#include <bit>

#include "base/text.h"
#include "reader/bisect/asker.h"

namespace cairn {
namespace {

class PartSearch {
 public:
  PartSearch(const CallParts& parts, uint64_t stop_before, const BisectAnswer& failure,
             Asker* asker, PartsAnswer* answer)
      : parts_(parts), failure_(failure), asker_(*asker), answer_(answer) {
    question_.stop_before = stop_before;
    question_.rest_stays = true;
  }

  // A play that the device refuses ends the search: what is known by then stays.
  Status Run() {
    const Status status = SearchAll();
    return refused_ ? Status() : status;
  }

 private:
  Status SearchAll();
  // Returns true if the trace fails with these parts.
  Result<bool> Fails(uint64_t first, uint64_t end);
  // `first`..`end` fail, and none of them does not. False: the answers contradict each other.
  Result<bool> Search(uint64_t first, uint64_t end);
  // Plays once more what a range promises: one play that was clean by luck makes another range of it.
  Result<bool> Holds(uint64_t first, const PartRange& range);
  // Halves between a clean and a failing bound until they are neighbours; `play` is given what lies between.
  template <typename PlayAt>
  static Result<uint64_t> Nearest(uint64_t clean, uint64_t fails, const PlayAt& play);

  const CallParts& parts_;
  const BisectAnswer& failure_;
  Asker& asker_;
  PartsAnswer* const answer_;
  BisectQuestion question_;
  bool refused_ = false;
};

Result<bool> PartSearch::Fails(uint64_t first, uint64_t end) {
  question_.parts = KeptParts{parts_.call, first, end, parts_.stride_bytes};
  for (uint32_t i = 0; i < TriesOf(failure_); ++i) {
    const Result<ProbeAnswer> answer = asker_.Once(question_);
    answer_->probes = asker_.probes();
    if (!answer.ok()) return answer.status();
    if (answer->outcome == ProbeOutcome::kInvalid) {
      refused_ = true;
      return Status(StatusCode::kUnsupported, "the device refuses a play");
    }
    if (IsSameFailure(failure_, *answer)) return true;
  }
  return false;
}

template <typename PlayAt>
Result<uint64_t> PartSearch::Nearest(uint64_t clean, uint64_t fails, const PlayAt& play) {
  while (clean + 1 != fails && fails + 1 != clean) {
    const uint64_t middle =
        std::min(clean, fails) + (std::max(clean, fails) - std::min(clean, fails)) / 2;
    const Result<bool> seen = play(middle);
    if (!seen.ok()) return seen.status();
    (*seen ? fails : clean) = middle;
  }
  return fails;
}

Result<bool> PartSearch::Holds(uint64_t first, const PartRange& range) {
  const uint64_t begin = parts_.only_prefixes ? first : range.first;
  const Result<bool> whole = Fails(begin, range.end);
  if (!whole.ok() || !*whole) return whole;
  if (range.end - 1 != first) {
    const Result<bool> before = Fails(first, range.end - 1);
    if (!before.ok()) return before;
    if (*before) return false;
  }
  if (range.end - range.first == 1) return true;
  const Result<bool> behind = Fails(range.first + 1, range.end);
  if (!behind.ok()) return behind;
  return !*behind;
}

Result<bool> PartSearch::Search(uint64_t first, uint64_t end) {
  const Result<uint64_t> last =
      Nearest(first, end, [&](uint64_t middle) { return Fails(first, middle); });
  if (!last.ok()) return last.status();
  PartRange range = {*last - 1, *last};
  if (!parts_.only_prefixes && range.first != first) {
    const Result<bool> alone = Fails(range.first, range.end);
    if (!alone.ok()) return alone.status();
    if (!*alone) {
      const Result<uint64_t> begin =
          Nearest(range.first, first, [&](uint64_t middle) { return Fails(middle, range.end); });
      if (!begin.ok()) return begin.status();
      range.first = *begin;
    }
  }
  Result<bool> holds = Holds(first, range);
  if (holds.ok() && *holds) answer_->guilty.push_back(range);
  return holds;
}

Status PartSearch::SearchAll() {
  asker_.Expect("the " + Counted(parts_.count, parts_.word) + " of the culprit",
                8 + static_cast<uint64_t>(std::bit_width(parts_.count)));
  const Result<bool> none = Fails(0, 0);
  if (!none.ok()) return none.status();
  answer_->needs_none = *none;
  if (*none || parts_.count == 0) return {};
  const Result<bool> whole = Fails(0, parts_.count);
  if (!whole.ok()) return whole.status();
  answer_->fails_with_all = *whole;
  if (!*whole) return {};
  uint64_t first = 0;
  while (first < parts_.count) {
    if (first != 0) {
      if (parts_.only_prefixes || parts_.count_is_limit) return {};
      const Result<bool> rest = Fails(first, parts_.count);
      if (!rest.ok()) return rest.status();
      if (!*rest) break;
      answer_->more = true;
      if (answer_->guilty.size() >= kMostGuiltyParts) return {};
    }
    const Result<bool> held = Search(first, parts_.count);
    if (!held.ok() || !*held) return held.status();
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
