// SPDX-License-Identifier: Apache-2.0
//
// A last look before the process dies of a fault: the signal is noted in the block, mirrored words are
// brought up to date, and all words are copied to where the GPU does not write, so that a report tells this
// moment, however long the process takes to die. Then the signal goes on to whoever handled it before.
//
// The program must not notice (os/crash.h):
// - A program that repairs its faults lives on, and so does a thread that left the handler by a jump and
//   submits again: that was no crash.
// - The handler is installed once, with the first context. Where the program has replaced it since, as for a
//   stack overflow on a thread without a stack for handlers and for SIGKILL, which nobody sees, the watcher's own
//   look at the dying process has to do (watcher/watcher.h).
// - A Windows program under Wine dies of no signal: Wine takes each fault for an exception, which the program may
//   handle, and exits with the code of the one that nobody handled. So the code is noted as well.
#ifndef CAIRN_APP_BREADCRUMBS_CRASH_SIGNALS_H_
#define CAIRN_APP_BREADCRUMBS_CRASH_SIGNALS_H_

#include <cstdint>

#include "format/block/block.h"

namespace cairn {

class Context;

void RememberContextInCrashSignals(Context* context, BlockHeader* header);
void ForgetContextInCrashSignals(Context* context);

// The Windows half (os/linux_half.h) uses this process's block as well, and notes exceptions and exits there.
void ShareBlock(BlockHeader* header);

// Call it when this process, a program of Windows under Wine, ends with this code. An exception's
// code that was not noted yet is noted like a fault; the address is that of the calling thread's
// last fault, where the exception is one of memory. As careful as a signal handler.
void NoteExit(uint32_t code);

// This process ends in order, while its other threads may still run: words that are copied are brought up to date, for
// what has finished since the last copy has finished. As careful as a signal handler.
void MirrorAtExit();

// Forgets a fault that the calling thread, a thread of the program, survived.
void ForgetFaultOfThisThread(BlockHeader* header);
inline void NoteThreadLivesOn(BlockHeader* header) {
  if (header->crash_signal.load(std::memory_order_relaxed) != 0) [[unlikely]] {
    ForgetFaultOfThisThread(header);
  }
}

}  // namespace cairn

#endif  // CAIRN_APP_BREADCRUMBS_CRASH_SIGNALS_H_
