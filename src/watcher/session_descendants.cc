// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "watcher/session.h"

namespace cairn {
namespace {

std::string JoinedNames(const std::vector<std::string>& names) {
  std::string joined;
  for (size_t i = 0; i < std::min(names.size(), kMaxNamed); ++i) {
    joined += (i == 0 ? "" : ", ") + names[i];
  }
  if (names.size() > kMaxNamed) joined += fmt::format(" and {} more", names.size() - kMaxNamed);
  return joined;
}

}  // namespace

// While the program's own work is followed there is nothing to learn of the others.
uint64_t WatchSession::NextLookNs() const {
  if (!descendants_.has_value() || awaits_nobody_) return kNever;
  if (main_alive()) return had_work_ ? looked_ns_ + kForgetNs : descendants_->next_look_ns();
  return awaited_.empty() ? kNever : descendants_->next_look_ns();
}

void WatchSession::LookAtDescendants() {
  looked_ns_ = system_.MonotonicNs();
  system_.ForgetOrphans();
  if (had_work_ && main_alive()) return;
  descendants_->See(system_.LivingDescendants(), looked_ns_,
                    [this](ProcessId id) { return system_.LookAt(id, descendants_->wanted()); });
  if (main_alive()) return;
  DescendantLog::Awaiting awaiting{last_end_ns_, had_work_, unwatched_};
  for (const auto& [number, process] : processes_) {
    if (process->alive()) awaiting.without.push_back(process->id);  // that is waited for anyway
  }
  awaited_ = descendants_->Awaited(awaiting, looked_ns_);
  if (awaited_.empty() || said_awaited_ || looked_ns_ - last_end_ns_ < kTellAwaitedNs) return;
  said_awaited_ = true;
  lines_.Say(fmt::format("cairn: {} has ended; cairn waits for what it started: {}; ^C ends that",
                         processes_.at(0)->program, JoinedNames(awaited_)));
}

void WatchSession::SayWhyNothing() {
  if (!descendants_.has_value() || had_work_) return;
  std::vector<std::string> told = descendants_->TellUnfollowed();
  if (told.empty()) told.push_back(descendants_->TellWhoRan());
  for (const std::string& sentence : told) {
    lines_.Say(fmt::format("cairn: no GPU work was seen: {}", sentence));
  }
}

}  // namespace cairn
