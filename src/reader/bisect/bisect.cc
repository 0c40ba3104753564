// SPDX-License-Identifier: Apache-2.0
#include "reader/bisect/bisect.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>
#include <unordered_set>
#include <utility>

#include "base/text.h"
#include "reader/bisect/asker.h"

namespace cairn {
namespace {

constexpr uint32_t kMostTries = 50;
constexpr int kRounds = 3;

using Suspects = std::vector<Suspect>;

// The condition for an answer. With random failures "clean" needs more tries; on machines that fail
// by themselves now and then a failure needs confirmation.
struct Policy {
  uint32_t tries = 1;
  uint32_t failures = 1;
};

uint64_t Log2(uint64_t n) {
  return n == 0 ? 0 : static_cast<uint64_t>(std::bit_width(n));
}

// The failure as plays of the whole trace showed it.
struct Failure {
  BisectAnswer what;  // place, kind, how often
  uint64_t last_place = 0;

  bool IsIt(const ProbeAnswer& answer) const { return IsSameFailure(what, answer); }
  double rate() const { return static_cast<double>(what.failed) / what.asked; }
};

class Search {
 public:
  Search(const BisectTree& tree, Asker& asker, const Failure& failure, Policy policy,
         uint32_t repeats)
      : tree_(tree), asker_(asker), failure_(failure), policy_(policy), repeats_(repeats) {}

  // The culprits; empty: the failure stays when everything is left out.
  Result<Suspects> Run();

  // Returns true if it still fails with nothing but the culprits left.
  Result<bool> FailsAgain(const Suspects& culprits, Policy policy) {
    return Fails(level_, culprits, policy);
  }

 private:
  using Level = Suspect::Kind;
  // Returns true if it still fails with only these left.
  Result<bool> Fails(Level level, const Suspects& kept, Policy policy);
  BisectQuestion QuestionFor(Level level, const Suspects& kept) const;
  uint64_t StopBefore() const;
  Result<Suspects> Narrow(Level level, Suspects items);
  Result<size_t> ShortestPrefix(Level level, const Suspects& needed, const Suspects& candidates,
                                bool from_the_end);
  Result<Suspects> Minimise(Level level, Suspects needed);

  Result<Suspects> NarrowSubmissions();
  Suspects ListsOf(const Suspects& submissions) const;
  Suspects CallsOf(const Suspects& lists) const;
  const BisectTree::Submission& SubmissionOf(uint64_t call) const;

  const BisectTree& tree_;
  Asker& asker_;
  const Failure& failure_;
  const Policy policy_;
  const uint32_t repeats_;
  // The parts that the levels above kept.
  Suspects kept_submissions_;
  Suspects kept_lists_;
  Suspects all_calls_;                                // of kept_lists_
  Suspect::Kind level_ = Suspect::Kind::kSubmission;  // of what FailsAgain is given
};

const BisectTree::Submission& Search::SubmissionOf(uint64_t call) const {
  return *std::lower_bound(
      tree_.submissions.begin(), tree_.submissions.end(), call,
      [](const BisectTree::Submission& submission, uint64_t c) { return submission.call < c; });
}

// Returns the submission behind the failure: later work does not matter, but the CPU's calls until
// then do.
uint64_t Search::StopBefore() const {
  for (const BisectTree::Submission& submission : tree_.submissions) {
    if (submission.call > failure_.last_place) return submission.call;
  }
  return ~uint64_t{0};
}

// Returns the question of a level: omit all parts of the level that are not kept, and those omitted
// on the levels above.
BisectQuestion Search::QuestionFor(Level level, const Suspects& kept) const {
  BisectQuestion question;
  question.stop_before = StopBefore();
  const Suspects& lists = level == Level::kList ? kept : kept_lists_;
  std::set<uint64_t> submissions;
  for (const Suspect& suspect : level == Level::kSubmission ? kept : kept_submissions_) {
    submissions.insert(suspect.call);
  }
  for (const BisectTree::Submission& submission : tree_.submissions) {
    if (submission.call > failure_.last_place) break;
    if (!submissions.contains(submission.call)) {
      question.left_out.push_back({Level::kSubmission, submission.call, 0});
    }
  }
  if (level == Level::kSubmission) return question;
  for (const uint64_t call : submissions) {
    for (uint32_t index = 0; index < SubmissionOf(call).lists.size(); ++index) {
      const Suspect list{Level::kList, call, index};
      if (!std::binary_search(lists.begin(), lists.end(), list)) question.left_out.push_back(list);
    }
  }
  if (level == Level::kCall) {
    std::set_difference(all_calls_.begin(), all_calls_.end(), kept.begin(), kept.end(),
                        std::back_inserter(question.left_out));
  }
  std::sort(question.left_out.begin(), question.left_out.end());
  return question;
}

Result<bool> Search::Fails(Level level, const Suspects& kept, Policy policy) {
  const BisectQuestion question = QuestionFor(level, kept);
  uint32_t failures = 0;
  for (uint32_t i = 0; i < policy.tries; ++i) {
    const Result<ProbeAnswer> answer = asker_.Once(question);
    if (!answer.ok()) return answer.status();
    if (failure_.IsIt(*answer) && ++failures >= policy.failures) return true;
    if (answer->outcome == ProbeOutcome::kInvalid) return false;
    if (failures + (policy.tries - i - 1) < policy.failures) return false;
  }
  return false;
}

// `needed` and all `candidates` together fail, `needed` alone does not. How many of the first candidates
// it takes: those before are seen not to be enough. `from_the_end`: culprits are likely near the end, so
// look there first, in steps that double.
Result<size_t> Search::ShortestPrefix(Level level, const Suspects& needed,
                                      const Suspects& candidates, bool from_the_end) {
  size_t enough = candidates.size();
  size_t too_few = 0;
  size_t step = from_the_end ? 1 : candidates.size();
  while (enough - too_few > 1) {
    const size_t half = too_few + (enough - too_few) / 2;
    const size_t middle = enough - too_few > step ? std::max(half, enough - step) : half;
    Suspects kept(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(middle));
    kept.insert(kept.end(), needed.begin(), needed.end());
    const Result<bool> fails = Fails(level, kept, policy_);
    if (!fails.ok()) return fails.status();
    if (*fails) {
      enough = middle;
      step *= 2;
    } else {
      too_few = middle;
      step = candidates.size();
    }
  }
  return enough;
}

// Omits one part after the other; a part without which it still fails goes. The remaining parts
// were seen to fail.
Result<Suspects> Search::Minimise(Level level, Suspects needed) {
  if (needed.size() < 2) return needed;
  const Policy sure = {std::max(policy_.tries, policy_.failures + repeats_ - 1), policy_.failures};
  for (size_t i = 0; i < needed.size();) {
    Suspects kept = needed;
    kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(i));
    const Result<bool> fails = Fails(level, kept, sure);
    if (!fails.ok()) return fails.status();
    if (*fails) {
      needed = std::move(kept);
    } else {
      ++i;
    }
  }
  return needed;
}

// All `items` together fail. Those of which none can be left out; sorted.
Result<Suspects> Search::Narrow(Level level, Suspects items) {
  const bool from_the_end = level == Level::kSubmission;
  Suspects needed;
  while (!items.empty()) {
    // An empty set is an answer that no other question checks: one failure is not enough.
    Policy policy = policy_;
    if (needed.empty()) {
      policy.failures = std::max(2u, policy.failures);
      policy.tries = std::max(2u, policy.tries);
    }
    const Result<bool> alone = Fails(level, needed, policy);
    if (!alone.ok()) return alone.status();
    if (*alone) break;
    // Most failures need nothing but the submission in which they show.
    if (from_the_end && needed.empty() && items.size() > 1) {
      const Result<bool> last = Fails(level, {items.back()}, policy_);
      if (!last.ok()) return last.status();
      if (*last) return Suspects{items.back()};
    }
    const Result<size_t> prefix = ShortestPrefix(level, needed, items, from_the_end);
    if (!prefix.ok()) return prefix.status();
    items.resize(*prefix);
    needed.insert(needed.begin(), items.back());
    items.pop_back();
  }
  return Minimise(level, std::move(needed));
}

Result<Suspects> Search::NarrowSubmissions() {
  Suspects items;
  for (const BisectTree::Submission& submission : tree_.submissions) {
    if (submission.call > failure_.last_place) break;
    items.push_back({Level::kSubmission, submission.call, 0});
  }
  asker_.Expect(Counted(items.size(), asker_.words().submission), 8 + Log2(items.size()));
  // Without parts to omit, keep everything.
  if (items.empty()) return items;
  return Narrow(Level::kSubmission, std::move(items));
}

Suspects Search::ListsOf(const Suspects& submissions) const {
  Suspects lists;
  for (const Suspect& suspect : submissions) {
    const size_t count = SubmissionOf(suspect.call).lists.size();
    for (uint32_t i = 0; i < count; ++i) lists.push_back({Level::kList, suspect.call, i});
  }
  return lists;
}

// A recording that is executed twice has its calls once.
Suspects Search::CallsOf(const Suspects& lists) const {
  std::set<uint64_t> numbers;
  for (const Suspect& suspect : lists) {
    const BisectTree::List& list = SubmissionOf(suspect.call).lists[suspect.list];
    if (list.calls != nullptr) numbers.insert(list.calls->begin(), list.calls->end());
  }
  Suspects calls;
  for (const uint64_t number : numbers) calls.push_back({Level::kCall, number, 0});
  return calls;
}

Result<Suspects> Search::Run() {
  const BisectWords& words = asker_.words();
  Result<Suspects> submissions = NarrowSubmissions();
  if (!submissions.ok() || submissions->empty()) return submissions;

  level_ = Level::kList;
  kept_submissions_ = *submissions;
  kept_lists_ = ListsOf(*submissions);
  if (kept_lists_.size() > 1) {
    asker_.Expect(submissions->size() == 1
                      ? fmt::format("the {} of the failing {}",
                                    Counted(kept_lists_.size(), words.list), words.submission)
                      : fmt::format("the {} of {}", Counted(kept_lists_.size(), words.list),
                                    Counted(submissions->size(), words.submission)),
                  3 + Log2(kept_lists_.size()) + Log2(CallsOf(kept_lists_).size()));
    Result<Suspects> lists = Narrow(Level::kList, kept_lists_);
    if (!lists.ok()) return lists;
    if (lists->empty()) {
      level_ = Level::kSubmission;
      return submissions;
    }
    kept_lists_ = std::move(*lists);
  }

  all_calls_ = CallsOf(kept_lists_);
  if (kept_lists_.empty()) {
    level_ = Level::kSubmission;
    return submissions;
  }
  if (all_calls_.empty()) return kept_lists_;
  const std::string counted = Counted(all_calls_.size(), words.call, words.calls);
  asker_.Expect(kept_lists_.size() == 1
                    ? fmt::format("the {} of the failing {}", counted, words.list)
                    : fmt::format("the {} of {}", counted, Counted(kept_lists_.size(), words.list)),
                4 + Log2(all_calls_.size()));
  level_ = Level::kCall;
  Result<Suspects> calls = Narrow(Level::kCall, all_calls_);
  if (!calls.ok() || !calls->empty()) return calls;
  level_ = Level::kList;
  return kept_lists_;
}

// Plays of the whole trace. A failure that shows in other places each time has any of them.
Result<Failure> Learn(Asker& asker, uint32_t repeats) {
  asker.Expect("the whole " + asker.words().whole, repeats + 8);
  Failure failure;
  for (uint32_t i = 0; i < repeats; ++i) {
    const Result<ProbeAnswer> answer = asker.Once({});
    if (!answer.ok()) return answer.status();
    if (answer->outcome == ProbeOutcome::kInvalid) continue;
    BisectAnswer& what = failure.what;
    ++what.asked;
    if (answer->outcome != ProbeOutcome::kFails) continue;
    if (what.failed++ == 0) {
      what.place = answer->place;
      what.kind = answer->kind;
      what.signal = answer->signal;
    }
    if (what.place != answer->place) what.place_varies = true;
    if (what.kind != answer->kind || what.signal != answer->signal) what.kind_varies = true;
    failure.last_place = std::max(failure.last_place, answer->place);
  }
  return failure;
}

// Returns the number of clean answers in a row after which 99 of 100 failures of this frequency
// would have shown.
uint32_t TriesFor(const Failure& failure) {
  if (failure.what.failed == failure.what.asked) return 1;
  return std::min(kMostTries,
                  static_cast<uint32_t>(std::ceil(std::log(0.01) / std::log(1 - failure.rate()))));
}

// Returns the condition for the culprit: a constant failure must fail each time, an occasional one
// at least half as often as the whole trace did, and more than once, because a single failure may
// have another cause.
Policy PolicyForCulprit(const Failure& failure, Policy policy, uint32_t repeats) {
  const uint32_t tries = std::max(2u, policy.tries * repeats);
  if (policy.tries == 1) return {repeats, repeats};
  return {tries, std::max(2u, static_cast<uint32_t>(failure.rate() * tries / 2))};
}

void Count(const Asker& asker, BisectAnswer* answer) {
  answer->probes = asker.probes();
  answer->undecided = asker.undecided();
}

// Looks for another failure without the culprits; repeats this for occasional failures.
Status LookWithoutCulprits(Asker& asker, uint32_t tries, BisectAnswer* answer) {
  asker.Expect(fmt::format("the {} without the culprit", asker.words().whole), tries);
  BisectQuestion question;
  question.left_out = answer->culprits;
  question.rest_stays = true;
  for (uint32_t i = 0; i < tries; ++i) {
    const Result<ProbeAnswer> without = asker.Once(question);
    if (!without.ok()) return without.status();
    answer->without = without->outcome;
    answer->other_place = without->place;
    if (without->outcome != ProbeOutcome::kClean) break;
  }
  return {};
}

}  // namespace

bool IsSameFailure(const BisectAnswer& failure, const ProbeAnswer& answer) {
  return answer.outcome == ProbeOutcome::kFails &&
         (failure.place_varies || answer.place == failure.place) &&
         (failure.kind_varies || (answer.kind == failure.kind && answer.signal == failure.signal));
}

uint32_t TriesOf(const BisectAnswer& failure) {
  return failure.failed == failure.asked ? 1 : failure.asked * 4;
}

Result<bool> FailsTheSame(const BisectAnswer& failure, const Probe& probe,
                          const BisectOptions& options) {
  Asker asker(probe, options);
  for (uint32_t i = 0; i < TriesOf(failure); ++i) {
    const Result<ProbeAnswer> answer = asker.Once({});
    if (!answer.ok()) return answer.status();
    if (IsSameFailure(failure, *answer)) return true;
  }
  return false;
}

Result<BisectAnswer> Bisect(const BisectTree& tree, const Probe& probe,
                            const BisectOptions& options) {
  const uint32_t repeats = std::max(1u, options.repeats);
  Asker asker(probe, options);
  Result<Failure> failure = Learn(asker, repeats);
  if (!failure.ok()) return failure.status();
  BisectAnswer answer = failure->what;
  answer.repeats = repeats;
  Count(asker, &answer);
  if (answer.failed == 0) {
    answer.no_culprit = answer.asked == 0 ? NoCulprit::kRefused : NoCulprit::kNeverFails;
    return answer;
  }

  Policy policy = {TriesFor(*failure), 1};
  for (int round = 0; round < kRounds; ++round) {
    Search search(tree, asker, *failure, policy, repeats);
    Result<Suspects> culprits = search.Run();
    if (!culprits.ok()) return culprits.status();
    Count(asker, &answer);
    if (culprits->empty()) {
      answer.no_culprit = NoCulprit::kFailsAnyway;
      return answer;
    }
    const Policy sure = PolicyForCulprit(*failure, policy, repeats);
    asker.Expect("whether the culprit fails again", sure.tries + policy.tries);
    const Result<bool> again = search.FailsAgain(*culprits, sure);
    if (!again.ok()) return again.status();
    if (*again) {
      answer.found = true;
      answer.culprits = std::move(*culprits);
      CAIRN_RETURN_IF_ERROR(LookWithoutCulprits(asker, policy.tries, &answer));
      Count(asker, &answer);
      return answer;
    }
    // An answer was luck. Believe no single one any more.
    policy.failures = 2;
    policy.tries = std::min(kMostTries, std::max(8u, policy.tries * 2));
  }
  Count(asker, &answer);
  answer.no_culprit = NoCulprit::kContradiction;
  answer.contradicted_after = asker.probes();
  return answer;
}

}  // namespace cairn
