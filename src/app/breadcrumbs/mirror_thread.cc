// SPDX-License-Identifier: Apache-2.0
#include "app/breadcrumbs/mirror_thread.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <utility>
#include <vector>

#include "os/this_process.h"
#include "os/thread.h"

namespace cairn {
namespace {

std::atomic<bool> exits{false};

}  // namespace

// The threads that run. Functions registered last are called first: this one before those that the driver registered
// when it was loaded. Where the system ends threads before that, there is nothing to do.
class MirrorThread::AtExit {
 public:
  static AtExit& Get() {
    static AtExit& all = *new AtExit;
    return all;
  }

  // False: the process exits.
  bool Add(MirrorThread* thread) {
    const std::lock_guard lock(mutex_);
    if (!MemoryIsThere()) return false;
    running_.push_back(thread);
    return true;
  }
  // Waits for the end of the process's exit from them, if that has begun.
  void Remove(MirrorThread* thread) {
    const std::lock_guard lock(mutex_);
    std::erase(running_, thread);
  }

 private:
  AtExit() : process_(OwnProcessId()) {
    if (kThreadsRunAtExit) std::atexit([] { Get().EndAll(); });
  }

  void EndAll() {
    // A copy of the process has none of the threads.
    if (OwnProcessId() != process_) return;
    const std::lock_guard lock(mutex_);
    for (MirrorThread* const thread : running_) {
      thread->End();
      thread->mirror_();  // the last words that there are
    }
    running_.clear();
    exits.store(true);
  }

  const ProcessId process_;
  std::mutex mutex_;
  std::vector<MirrorThread*> running_;
};

bool MirrorThread::MemoryIsThere() {
  return !exits.load(std::memory_order_relaxed);
}

void MirrorThread::Start(std::chrono::microseconds period, std::function<void()> mirror) {
  mirror_ = std::move(mirror);
  if (!AtExit::Get().Add(this)) return;
  thread_ = StartInnerThread("cairn-mirror", [this, period] { Run(period); });
}

void MirrorThread::Run(std::chrono::microseconds period) {
  std::unique_lock lock(mutex_);
  while (!stop_.wait_for(lock, period, [this] { return stopping_; })) mirror_();
}

void MirrorThread::End() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  stop_.notify_one();
  thread_.join();
}

void MirrorThread::Stop() {
  if (!mirror_) return;
  AtExit::Get().Remove(this);
  End();
}

}  // namespace cairn
