// SPDX-License-Identifier: Apache-2.0
#include "app/breadcrumbs/crash_signals.h"

#include <array>
#include <atomic>
#include <mutex>
#include <thread>

#include "app/breadcrumbs/context.h"
#include "base/signal_name.h"
#include "os/clock.h"
#include "os/crash.h"
#include "os/this_process.h"
#include "os/thread.h"

namespace cairn {
namespace {

// Read by the handler: plain atomics, no lock.
std::array<std::atomic<Context*>, kMaxContexts> contexts;
std::atomic<BlockHeader*> header{nullptr};
std::atomic<bool> is_shared{false};
// Handlers that may be using a context right now.
std::atomic<uint32_t> mirroring{0};
// The thread that writes the note of its fault, 0 for none.
std::atomic<uint32_t> writer{0};
static_assert(std::atomic<uint32_t>::is_always_lock_free);

// The last fault that was recorded, and perhaps forgotten.
std::atomic<uint32_t> last_fault_thread{0};
std::atomic<uint64_t> last_fault_address{0};

// A note takes microseconds; a thread that writes it for longer is stuck, and others give up
// waiting.
constexpr int kTriesForTurn = 1 << 16;

// False for a thread that writes its note already: that is what faults now.
bool TakeTurn(uint32_t thread) {
  for (int i = 0; i < kTriesForTurn; ++i) {
    uint32_t nobody = 0;
    if (writer.compare_exchange_weak(nobody, thread)) return true;
    if (nobody == thread) return false;
  }
  return false;
}

struct Note {
  uint32_t signal = 0;
  uint32_t thread = 0;
  uint64_t address = 0;
};

// Returns the note that was there: of a fault whose handler has not returned.
Note NoteFault(BlockHeader* block, const Note& fault) {
  const Note before = {block->crash_signal.load(), block->crash_thread.load(),
                       block->crash_address};
  const uint64_t now_ns = MonotonicNs();
  block->crash_ns.store(0);
  block->crash_thread.store(fault.thread);
  block->crash_address = fault.address;
  // The note comes first: mirroring reads a device's memory, and may be what faults next.
  block->crash_signal.store(fault.signal, std::memory_order_release);
  mirroring.fetch_add(1);
  for (std::atomic<Context*>& slot : contexts) {
    if (Context* context = slot.load()) context->KeepWords(now_ns);
  }
  mirroring.fetch_sub(1);
  block->crash_ns.store(now_ns, std::memory_order_release);
  return before;
}

// Takes back the fault of `thread`, which was handled. An earlier fault may still be fatal: its
// note is restored, and the words stay those that were copied last.
void ForgetFault(BlockHeader* block, uint32_t thread, const Note& before) {
  if (block->crash_thread.load() != thread || !TakeTurn(thread)) return;
  if (block->crash_thread.load() == thread) {
    if (before.signal == 0) block->crash_ns.store(0);
    block->crash_thread.store(before.thread);
    block->crash_address = before.address;
    block->crash_signal.store(before.signal, std::memory_order_release);
  }
  writer.store(0);
}

// Null if there is none, or it is the parent's of a forked child.
BlockHeader* OwnBlock() {
  BlockHeader* block = header.load(std::memory_order_acquire);
  const bool is_own =
      block != nullptr && block->process_id == static_cast<uint64_t>(OwnProcessId());
  return is_own ? block : nullptr;
}

void OnCrash(Crash& crash) {
  BlockHeader* block = OwnBlock();
  if (block == nullptr) {
    crash.PassOn();
    return;
  }
  const uint32_t thread = CurrentThreadId();
  Note before;
  if (TakeTurn(thread)) {
    before = NoteFault(block, {crash.code(), thread, crash.address()});
    writer.store(0);
  }
  last_fault_thread.store(thread);
  last_fault_address.store(crash.address());
  // An application that repairs its faults (write tracking, null checks of a virtual machine) lives
  // on: that was no crash. A fault that was not repaired comes back here, or ends the process.
  if (crash.PassOn()) ForgetFault(block, thread, before);
}

}  // namespace

void RememberContextInCrashSignals(Context* context, BlockHeader* block_header) {
  static std::once_flag installed;
  // A forked child that has a block of its own must not mirror into its parent's.
  if (header.exchange(block_header) != block_header) {
    for (std::atomic<Context*>& slot : contexts) slot.store(nullptr);
    writer.store(0);
  }
  contexts[context->index()].store(context, std::memory_order_release);
  std::call_once(installed, [] { InstallCrashHandler(&OnCrash); });
}

void ForgetContextInCrashSignals(Context* context) {
  Context* expected = context;
  contexts[context->index()].compare_exchange_strong(expected, nullptr);
  // A handler on another thread may have found the context just before.
  while (mirroring.load() != 0) std::this_thread::yield();
}

void ShareBlock(BlockHeader* block_header) {
  header.store(block_header, std::memory_order_release);
  is_shared.store(true);
}

void MirrorAtExit() {
  if (OwnBlock() == nullptr) return;
  mirroring.fetch_add(1);
  for (std::atomic<Context*>& slot : contexts) {
    if (Context* context = slot.load()) context->Mirror();
  }
  mirroring.fetch_sub(1);
}

void NoteExit(uint32_t code) {
  const bool exception = IsExceptionCode(code);
  // Any program ends with this function. One that the Windows half knows is of Windows, whatever its code.
  BlockHeader* block = exception || is_shared.load() ? OwnBlock() : nullptr;
  if (block == nullptr) return;
  block->exit_code.store(kExitCodeKnown | code, std::memory_order_release);
  if (!exception || block->crash_signal.load() == code) return;
  const uint32_t thread = CurrentThreadId();
  if (!TakeTurn(thread)) return;
  const bool of_memory = code == kAccessViolation && last_fault_thread.load() == thread;
  NoteFault(block, {code, thread, of_memory ? last_fault_address.load() : 0});
  writer.store(0);
}

void ForgetFaultOfThisThread(BlockHeader* block_header) {
  ForgetFault(block_header, CurrentThreadId(), {});
}

}  // namespace cairn
