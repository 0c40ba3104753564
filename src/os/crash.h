// SPDX-License-Identifier: Apache-2.0
//
// Crashes of this process, as they happen, in a program that must not notice that somebody looks:
// - The handler takes over what the one before it asked of the system: its stack, nesting, restarts, and being
//   called only once.
// - The handler is installed once. A handler that the program installs later is its own, and
//   replaces this one: nothing is intercepted, nothing is installed again, and no thread gets a
//   stack for it.
// On Windows a fault is told before anybody has had a chance to handle it, and nobody tells what became of it: who
// reads the note has to look whether the process ended with that code, or whether the thread went on. The thread that
// installs gets room on its stack for being told of an overflow. A fastfail reaches nobody.
#ifndef CAIRN_OS_CRASH_H_
#define CAIRN_OS_CRASH_H_

#include <cstdint>

namespace cairn {

class Crash {
 public:
  // Signal number; on Windows an exception code, or that of an abort (base/signal_name.h).
  uint32_t code() const { return code_; }
  // Returns the address that could not be read, written or executed; 0 if the signal was sent and
  // is no fault of the program. Faults of Windows without such an address give that of the
  // instruction.
  uint64_t address() const { return address_; }

  // Passes the crash to the earlier handler, at once or when this handler returns. Call it once a
  // crash. True: that handler went on as if the fault were repaired; if it was not, it comes again.
  // False: it did not, or that is not known yet.
  virtual bool PassOn() = 0;

 protected:
  Crash(uint32_t code, uint64_t address) : code_(code), address_(address) {}
  ~Crash() = default;

 private:
  uint32_t code_;
  uint64_t address_;
};

// Calls `handler` for each crash from now on, on the thread that crashed, in the middle of anything: no locks, no
// memory, nothing that may crash before it has noted what matters. It calls PassOn(). errno is taken care of. Once a
// process.
void InstallCrashHandler(void (*handler)(Crash& crash));

// Calls `function` when this process exits, on systems that do not report whether a process exited
// or was ended by another one; elsewhere never. The call comes late, in the middle of anything,
// perhaps on the last thread. Call TellExit once a process.
void TellExit(void (*function)());

}  // namespace cairn

#endif  // CAIRN_OS_CRASH_H_
