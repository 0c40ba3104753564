// SPDX-License-Identifier: Apache-2.0
#include "app/d3d12/submission_fences.h"

#include <algorithm>

#include "app/breadcrumbs/context.h"
#include "app/recorder/block_writer.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

void SubmissionFences::Stop() {
  const std::lock_guard lock(mutex_);
  context_ = nullptr;
  count_.store(0, std::memory_order_relaxed);
}

void SubmissionFences::Complete(const Signal& signal) {
  context_->block()->objects().NoteCompleted(signal.object, signal.value);
  static_cast<void>(context_->NotifyCompleted(signal.queue, signal.submission).ok());
}

template <typename Which>
void SubmissionFences::Remove(Which which) {
  const auto begin = pending_.begin();
  const auto end = begin + static_cast<ptrdiff_t>(count_.load(std::memory_order_relaxed));
  const auto rest = std::remove_if(begin, end, which);
  count_.store(static_cast<size_t>(rest - begin), std::memory_order_relaxed);
}

template <typename Wanted>
void SubmissionFences::Ask(Wanted wanted) {
  const ID3D12Fence* asked = nullptr;
  uint64_t value = 0;
  Remove([&](const Signal& signal) {
    if (!wanted(signal)) return false;
    if (signal.fence != asked) {
      asked = signal.fence;
      value = signal.fence->GetCompletedValue();
    }
    // All ones is what a lost device answers.
    if (value < signal.value || value == UINT64_MAX) return false;
    Complete(signal);
    return true;
  });
}

void SubmissionFences::Add(const Signal& signal) {
  const std::lock_guard lock(mutex_);
  if (context_ == nullptr) return;
  Ask([&](const Signal& pending) { return pending.queue == signal.queue; });
  size_t count = count_.load(std::memory_order_relaxed);
  if (count == kMostPending) {
    std::move(pending_.begin() + 1, pending_.end(), pending_.begin());
    --count;
  }
  pending_[count] = signal;
  count_.store(count + 1, std::memory_order_relaxed);
}

void SubmissionFences::Reached(ID3D12Fence* fence, uint64_t value) {
  if (count_.load(std::memory_order_relaxed) == 0 || value == UINT64_MAX) return;
  const std::lock_guard lock(mutex_);
  Remove([&](const Signal& signal) {
    if (signal.fence != fence || signal.value > value) return false;
    Complete(signal);
    return true;
  });
}

void SubmissionFences::Look(ID3D12Fence* fence) {
  if (count_.load(std::memory_order_relaxed) == 0) return;
  const std::lock_guard lock(mutex_);
  Ask([&](const Signal& signal) { return signal.fence == fence; });
}

void SubmissionFences::Forget(ID3D12Fence* fence) {
  if (count_.load(std::memory_order_relaxed) == 0) return;
  const std::lock_guard lock(mutex_);
  const auto is_its = [&](const Signal& signal) { return signal.fence == fence; };
  Ask(is_its);
  Remove(is_its);
}

void SubmissionFences::Distrust(ID3D12Fence* fence) {
  if (count_.load(std::memory_order_relaxed) == 0) return;
  const std::lock_guard lock(mutex_);
  Remove([&](const Signal& signal) { return signal.fence == fence; });
}

void SubmissionFences::ForgetQueue(void* queue) {
  if (count_.load(std::memory_order_relaxed) == 0) return;
  const std::lock_guard lock(mutex_);
  const auto is_its = [&](const Signal& signal) { return signal.queue == queue; };
  Ask(is_its);
  Remove(is_its);
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
