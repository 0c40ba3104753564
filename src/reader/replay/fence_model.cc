// SPDX-License-Identifier: Apache-2.0
#include "reader/replay/fence_model.h"

#include <algorithm>

namespace cairn {

void FenceModel::Remove(uint64_t object) {
  if (queues_.erase(object) == 0 && values_.erase(object) == 0) return;
  for (std::vector<FenceValue>& any : awaited_) {
    std::erase_if(any, [&](const FenceValue& awaited) { return awaited.fence == object; });
  }
  std::erase_if(awaited_, [](const std::vector<FenceValue>& any) { return any.empty(); });
  Advance();
}

void FenceModel::Correct(uint64_t fence, uint64_t value) {
  values_[fence] = value;
}

void FenceModel::SignalFromCpu(uint64_t fence, uint64_t value) {
  values_[fence] = value;
  Advance();
}

void FenceModel::SignalFromQueue(uint64_t queue, uint64_t fence, uint64_t value) {
  queues_[queue].push_back({true, {fence, value}});
  Advance();
}

void FenceModel::WaitOnQueue(uint64_t queue, uint64_t fence, uint64_t value) {
  queues_[queue].push_back({false, {fence, value}});
  Advance();
}

bool FenceModel::Reachable(uint64_t fence, uint64_t value) const {
  const auto found = values_.find(fence);
  return found != values_.end() && found->second >= value;
}

bool FenceModel::Blocked(uint64_t queue) const {
  const auto found = queues_.find(queue);
  return found != queues_.end() && !found->second.empty();
}

std::vector<std::vector<FenceValue>> FenceModel::TakeReachable() {
  std::vector<std::vector<FenceValue>> result;
  std::erase_if(awaited_, [&](std::vector<FenceValue>& any) {
    std::vector<FenceValue> reachable;
    for (const FenceValue& awaited : any) {
      if (Reachable(awaited.fence, awaited.value)) reachable.push_back(awaited);
    }
    if (reachable.empty()) return false;
    result.push_back(std::move(reachable));
    return true;
  });
  return result;
}

void FenceModel::Advance() {
  for (bool moved = true; moved;) {
    moved = false;
    for (auto& [queue, operations] : queues_) {
      while (!operations.empty()) {
        const Operation& next = operations.front();
        if (next.is_signal) {
          values_[next.what.fence] = next.what.value;
        } else if (!Reachable(next.what.fence, next.what.value)) {
          break;
        }
        operations.pop_front();
        moved = true;
      }
    }
  }
}

}  // namespace cairn
