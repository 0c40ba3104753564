// SPDX-License-Identifier: Apache-2.0
#include "reader/replay/fence_model.h"

#include <algorithm>

namespace cairn {

void FenceModel::AddNumber(uint64_t fence, uint64_t original) {
  const uint64_t first = Of(original);
  if (first == fence || original_of_.contains(fence) || numbers_of_.contains(fence)) return;
  values_.erase(fence);
  RemoveWaits(fence);
  original_of_[fence] = first;
  ++numbers_of_[first].further;
}

bool FenceModel::HasNumbers(uint64_t fence) const {
  const auto found = numbers_of_.find(Of(fence));
  if (found == numbers_of_.end()) return false;
  return found->second.further + (found->second.first_removed ? 0 : 1) > 1;
}

void FenceModel::Remove(uint64_t object) {
  if (const auto further = original_of_.find(object); further != original_of_.end()) {
    const uint64_t first = further->second;
    original_of_.erase(further);
    const auto numbers = numbers_of_.find(first);
    if (--numbers->second.further != 0) return;
    const bool was_last = numbers->second.first_removed;
    numbers_of_.erase(numbers);
    if (was_last && values_.erase(first) != 0) RemoveWaits(first);
    return;
  }
  const auto numbers = numbers_of_.find(object);
  if (numbers != numbers_of_.end() && !numbers->second.first_removed) {
    numbers->second.first_removed = true;  // it goes on under its other numbers
    return;
  }
  if (const auto queue = queues_.find(object); queue != queues_.end()) {
    if (!queue->second.empty()) {
      const FenceValue& what = queue->second.front().what;
      blocked_[what.fence].erase({what.value, object});
    }
    queues_.erase(queue);
    return;
  }
  if (values_.erase(object) != 0) RemoveWaits(object);
}

void FenceModel::RemoveWaits(uint64_t fence) {
  const auto waits = waits_.find(fence);
  if (waits == waits_.end()) return;
  for (const auto& [value, number] : waits->second) {
    const auto wait = awaited_.find(number);
    wait->second.erase(fence);
    --awaited_count_;
    if (wait->second.empty()) awaited_.erase(wait);
  }
  waits_.erase(waits);
}

void FenceModel::Set(uint64_t fence, uint64_t value) {
  SetValue(fence, value);
  Advance();
}

void FenceModel::SetValue(uint64_t fence, uint64_t value) {
  values_[fence] = value;
  if (waits_.contains(fence)) changed_.insert(fence);
  const auto blocked = blocked_.find(fence);
  if (blocked == blocked_.end()) return;
  Waiting& queues = blocked->second;
  while (!queues.empty() && queues.begin()->first <= value) {
    woken_.push_back(queues.begin()->second);
    queues.erase(queues.begin());
  }
  if (queues.empty()) blocked_.erase(blocked);
}

void FenceModel::SignalFromQueue(uint64_t queue, uint64_t fence, uint64_t value) {
  Enqueue(queue, {true, {Of(fence), value}});
}

void FenceModel::WaitOnQueue(uint64_t queue, uint64_t fence, uint64_t value) {
  Enqueue(queue, {false, {Of(fence), value}});
}

void FenceModel::Enqueue(uint64_t queue, const Operation& operation) {
  std::deque<Operation>& operations = queues_[queue];
  operations.push_back(operation);
  if (operations.size() > 1) return;  // blocked
  woken_.push_back(queue);
  Advance();
}

void FenceModel::Advance() {
  while (!woken_.empty()) {
    const uint64_t queue = woken_.front();
    woken_.pop_front();
    std::deque<Operation>& operations = queues_[queue];
    while (!operations.empty()) {
      const auto [is_signal, what] = operations.front();
      if (!is_signal && !Reachable(what.fence, what.value)) {
        blocked_[what.fence].insert({what.value, queue});
        break;
      }
      operations.pop_front();
      if (is_signal) SetValue(what.fence, what.value);
    }
  }
}

bool FenceModel::Reachable(uint64_t fence, uint64_t value) const {
  const auto found = values_.find(Of(fence));
  return found != values_.end() && found->second >= value;
}

bool FenceModel::Blocked(uint64_t queue) const {
  const auto found = queues_.find(queue);
  return found != queues_.end() && !found->second.empty();
}

bool FenceModel::Await(const std::vector<FenceValue>& any) {
  if (any.size() > kMostAwaited - awaited_count_) return false;
  std::map<uint64_t, Awaited> wait;
  for (const auto& [fence, value] : any) {
    const auto [entry, is_new] = wait.try_emplace(Of(fence), Awaited{value, fence});
    if (!is_new && value < entry->second.value) entry->second = {value, fence};
  }
  if (wait.empty()) return true;
  const uint64_t number = next_wait_++;
  for (const auto& [fence, awaited] : wait) {
    waits_[fence].insert({awaited.value, number});
    changed_.insert(fence);
  }
  awaited_count_ += wait.size();
  awaited_.emplace(number, std::move(wait));
  return true;
}

std::vector<std::vector<FenceValue>> FenceModel::TakeReachable() {
  std::set<uint64_t> taken;
  for (const uint64_t fence : changed_) {
    const auto waits = waits_.find(fence);
    if (waits == waits_.end()) continue;
    for (const auto& [value, number] : waits->second) {
      if (!Reachable(fence, value)) break;
      taken.insert(number);
    }
  }
  changed_.clear();
  std::vector<std::vector<FenceValue>> result;
  for (const uint64_t number : taken) {
    const auto wait = awaited_.find(number);
    std::vector<FenceValue> reachable;
    for (const auto& [fence, awaited] : wait->second) {
      if (Reachable(fence, awaited.value)) reachable.push_back({awaited.number, awaited.value});
      const auto waits = waits_.find(fence);
      waits->second.erase({awaited.value, number});
      if (waits->second.empty()) waits_.erase(waits);
    }
    awaited_count_ -= wait->second.size();
    awaited_.erase(wait);
    result.push_back(std::move(reachable));
  }
  return result;
}

}  // namespace cairn
