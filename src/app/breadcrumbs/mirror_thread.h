// SPDX-License-Identifier: Apache-2.0
//
// A thread that copies the GPU's words into the block again and again, until the context ends or the process
// exits: a driver unmaps its memory then, also under a device that was never destroyed.
#ifndef CAIRN_APP_BREADCRUMBS_MIRROR_THREAD_H_
#define CAIRN_APP_BREADCRUMBS_MIRROR_THREAD_H_

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace cairn {

class MirrorThread {
 public:
  MirrorThread() = default;
  ~MirrorThread() { Stop(); }
  MirrorThread(const MirrorThread&) = delete;
  MirrorThread& operator=(const MirrorThread&) = delete;

  // Call it once. Throws as std::thread does.
  void Start(std::chrono::microseconds period, std::function<void()> mirror);
  // Returns when the thread has ended.
  void Stop();

  // False once the process exits. Safe in a signal handler.
  static bool MemoryIsThere();

 private:
  class AtExit;
  void Run(std::chrono::microseconds period);
  void End();

  std::function<void()> mirror_;
  std::mutex mutex_;
  std::condition_variable stop_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace cairn

#endif  // CAIRN_APP_BREADCRUMBS_MIRROR_THREAD_H_
