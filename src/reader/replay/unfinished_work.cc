// SPDX-License-Identifier: Apache-2.0
#include "reader/replay/unfinished_work.h"

#include <algorithm>

namespace cairn {

void UnfinishedWork::Submitted(uint64_t queue, uint64_t submission) {
  if (!on_change_) return;
  given_[queue].push_back({.submission = submission, .signal = {}});
  Tell();
}

void UnfinishedWork::Signalled(uint64_t queue, uint64_t fence, uint64_t value) {
  const auto given = given_.find(queue);
  if (given == given_.end() || given->second.empty()) return;
  given->second.push_back({.submission = 0, .signal = {fence, value}});
}

void UnfinishedWork::Reached(uint64_t fence, uint64_t value) {
  bool changed = false;
  for (auto& [queue, given] : given_) {
    const auto last = std::find_if(given.rbegin(), given.rend(), [&](const Entry& entry) {
      return entry.submission == 0 && entry.signal.fence == fence && entry.signal.value <= value;
    });
    if (last == given.rend()) continue;
    given.erase(given.begin(), last.base());
    changed = true;
  }
  if (changed) Tell();
}

void UnfinishedWork::Idle(uint64_t queue) {
  if (given_.erase(queue) != 0) Tell();
}

void UnfinishedWork::Tell() {
  std::pair<uint64_t, uint64_t> now = {0, 0};
  for (const auto& [queue, given] : given_) {
    for (const Entry& entry : given) {
      if (entry.submission == 0) continue;
      now.first = now.first == 0 ? entry.submission : std::min(now.first, entry.submission);
      now.second = std::max(now.second, entry.submission);
    }
  }
  if (now == told_) return;
  told_ = now;
  on_change_(now.first, now.second);
}

}  // namespace cairn
