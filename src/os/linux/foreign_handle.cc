// SPDX-License-Identifier: Apache-2.0
#include "os/linux/foreign_handle.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>

#include <cerrno>
#include <deque>
#include <exception>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "os/clock.h"
#include "os/thread.h"

namespace cairn {
namespace {

// A thread that has closed nothing for this time is blocked: another one is started.
constexpr uint64_t kWaitsNs = 50'000'000;
constexpr int kMostClosers = 16;
// Freeing this much takes a few milliseconds.
constexpr uint64_t kQuicklyUnmappedBytes = uint64_t{16} << 20;
// So many wait to be unmapped; others are unmapped at once, so that nobody makes memory faster than it is freed.
constexpr uint64_t kMostUnmapped = 4;

// The device number of the file system in which the kernel makes memory.
dev_t DeviceOfMemory() {
  static const dev_t device = [] {
    const FileDescriptor memory(memfd_create("cairn-look", MFD_CLOEXEC));
    struct stat info {};
    return fstat(memory.get(), &info) == 0 ? info.st_dev : dev_t{0};
  }();
  return device;
}

// A descriptor to close, or memory to unmap.
struct Foreign {
  SystemHandle handle;
  void* data = nullptr;
  uint64_t size_bytes = 0;

  void Release() {
    handle.Close();
    if (data != nullptr) munmap(data, size_bytes);
  }
};

class Closers {
 public:
  explicit Closers(const char* thread_name) : thread_name_(thread_name) {}

  void Add(Foreign foreign) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(foreign));
    const uint64_t now_ns = MonotonicNs();
    const bool all_wait = now_ns - last_closed_ns_ >= kWaitsNs;
    if (count_ != 0 && (!all_wait || count_ >= kMostClosers)) return;
    last_closed_ns_ = now_ns;
    ++count_;
    try {
      StartInnerThread(thread_name_, [this] { Run(); }).detach();
    } catch (const std::exception&) {
      --count_;  // The next one tries again.
    }
  }
  uint64_t still_open() {
    const std::lock_guard lock(mutex_);
    return waiting_.size() + static_cast<uint64_t>(count_);
  }

 private:
  void Run() {
    std::unique_lock lock(mutex_);
    while (!waiting_.empty()) {
      Foreign next = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      next.Release();
      lock.lock();
      last_closed_ns_ = MonotonicNs();
    }
    --count_;
  }

  const char* const thread_name_;
  std::mutex mutex_;
  std::deque<Foreign> waiting_;
  int count_ = 0;  // threads
  uint64_t last_closed_ns_ = 0;
};

// Never destroyed: their threads may outlive everything else.
Closers& ClosersOfHandles() {
  static Closers& closers = *new Closers("cairn-close");
  return closers;
}
// These threads are apart from those, which may all wait for a minute.
Closers& ClosersOfMemory() {
  static Closers& closers = *new Closers("cairn-unmap");
  return closers;
}

}  // namespace

bool IsSealedMemory(int fd) {
  constexpr int kWanted = F_SEAL_SHRINK | F_SEAL_GROW;
  // Comes first: it fails at once for what belongs to any other file system, which is not asked.
  const int seals = fcntl(fd, F_GET_SEALS);
  if (seals < 0 || (seals & kWanted) != kWanted) return false;
  struct stat info {};
  struct statfs system {};
  return fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && fstatfs(fd, &system) == 0 &&
         system.f_type == TMPFS_MAGIC;
}

FileDescriptor OpenMemory(const char* path, int flags) {
  // O_PATH does not open the target: a device is not started, a FIFO not waited for.
  FileDescriptor found(open(path, O_PATH | O_CLOEXEC));
  if (!found.valid()) return found;
  struct statx info {};
  // Use the facts that the kernel has: a file system of a hostile process is not asked.
  if (statx(found.get(), "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &info) != 0) {
    return FileDescriptor();
  }
  FileDescriptor opened;
  if (S_ISREG(info.stx_mode) &&
      makedev(info.stx_dev_major, info.stx_dev_minor) == DeviceOfMemory()) {
    const std::string again = "/proc/self/fd/" + std::to_string(found.get());
    opened = FileDescriptor(open(again.c_str(), flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!opened.valid() || IsSealedMemory(opened.get())) return opened;
  }
  // Refuses any other kind: closing it could wait.
  errno = 0;
  return FileDescriptor();
}

void CloseElsewhere(SystemHandle handle) {
  if (!handle.valid()) return;
  // Memory never waits, and is what mostly comes.
  if (fcntl(static_cast<int>(handle.get()), F_GET_SEALS) >= 0) return;
  ClosersOfHandles().Add({std::move(handle)});
}

uint64_t HandlesStillOpen() {
  return ClosersOfHandles().still_open();
}

void UnmapElsewhere(void* data, uint64_t size_bytes) {
  if (size_bytes < kQuicklyUnmappedBytes || ClosersOfMemory().still_open() >= kMostUnmapped) {
    munmap(data, size_bytes);
  } else {
    ClosersOfMemory().Add({SystemHandle(), data, size_bytes});
  }
}

}  // namespace cairn
