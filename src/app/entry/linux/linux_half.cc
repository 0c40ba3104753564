// SPDX-License-Identifier: Apache-2.0
#include "app/entry/linux/linux_half.h"

#include <cerrno>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>
#include <span>
#include <utility>

#include "app/breadcrumbs/crash_signals.h"
#include "app/breadcrumbs/driver_half.h"
#include "app/recorder/block_writer.h"
#include "app/recorder/watcher_link.h"
#include "os/channel.h"
#include "os/clock.h"
#include "os/futex.h"
#include "os/shared_memory.h"
#include "os/this_process.h"
#include "os/thread.h"

namespace cairn {
namespace {

// No exception leaves these functions: the caller is built by another system's compiler.
class ThisHalf final : public LinuxHalf {
 public:
  uint64_t ProcessId() const override { return static_cast<uint64_t>(OwnProcessId()); }
  uint32_t ThreadId() const override {
    static thread_local const uint32_t id = CurrentThreadId();
    return id;
  }
  uint64_t MonotonicNs() const override { return cairn::MonotonicNs(); }

  void* CreateMemory(const char* name, uint64_t size_bytes) override try {
    return Keep(SharedMemory::Create(name, size_bytes));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  void* MapMemory(const char* path, uint64_t* size_bytes) override try {
    Result<SharedMemory> memory = SharedMemory::MapPathForWriting(path);
    if (memory.ok()) *size_bytes = memory->size_bytes();
    return Keep(std::move(memory));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  void FreeMemory(void* memory) override {
    const std::lock_guard lock(mutex_);
    memory_.erase(memory);
  }
  bool Wait(const void* word, uint32_t expected, uint64_t timeout_ns) const override {
    return FutexWait({}, *static_cast<const std::atomic<uint32_t>*>(word), expected, timeout_ns);
  }
  void Wake(const void* word) const override {
    FutexWake({}, *static_cast<const std::atomic<uint32_t>*>(word), 0);
  }

  void* ProcessBlock(uint64_t wanted_bytes, uint64_t* size_bytes) override try {
    const Result<BlockWriter*> block = BlockWriter::OfThisProcess(wanted_bytes);
    if (!block.ok()) return nullptr;
    static std::once_flag shared;
    std::call_once(shared, [&] {
      ShareBlock((*block)->header());
      // Handles ExitProcess; the other ends reach _exit (exit.cc).
      on_exit([](int code, void*) { NoteExit(static_cast<uint32_t>(code)); }, nullptr);
    });
    *size_bytes = (*block)->size_bytes();
    return (*block)->data();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  bool HasWatcher() const override {
    const Result<RawHandle> socket = WatcherSocket();
    return socket.ok() && !WatcherIsGone(*socket);
  }
  int32_t SendToWatcher(const void* message, uint64_t size_bytes,
                        const void* memory) const override {
    const Result<RawHandle> socket = WatcherSocket();
    if (!socket.ok()) return ENOTCONN;
    const std::lock_guard lock(mutex_);
    const auto attached = memory_.find(memory);
    if (memory != nullptr && attached == memory_.end()) return EINVAL;
    const Status sent =
        SendOver(*socket, std::span(static_cast<const std::byte*>(message), size_bytes),
                 memory == nullptr ? nullptr : &attached->second);
    return sent.ok() ? 0 : EPIPE;
  }

  void* ThreadScopes() const override { return &ThreadDriverScopes(); }
  void* Driver() const override { return GetDriverHalf(); }

 private:
  void* Keep(Result<SharedMemory> memory) {
    if (!memory.ok()) return nullptr;
    void* const data = memory->data();
    const std::lock_guard lock(mutex_);
    memory_.emplace(data, std::move(*memory));
    return data;
  }

  mutable std::mutex mutex_;
  std::map<const void*, SharedMemory> memory_;  // by what it begins with
};

}  // namespace

LinuxHalf& ThisLinuxHalf() {
  // Calls may come after static destructors.
  static auto* const half = new ThisHalf;
  return *half;
}

}  // namespace cairn
