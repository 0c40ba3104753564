// SPDX-License-Identifier: Apache-2.0
//
// This program, run again as a child: for what may hang, die, or take a device with it. Parent and child speak
// through memory, which outlives both.
//
//   Result<SharedMemory> memory = SharedMemory::Create("cairn-probe", bytes);
//   Result<Child> child = Child::Start({.purpose = "the probe", .arguments = {"probe"}, .memory = &*memory});
//   while (!child->WaitForEnd(look_ns)) ...;
//   const ProcessEnd end = child->End();
//
// The child ends when this process is killed, from its first moment on. One thread uses all of
// this.
#ifndef CAIRN_OS_CHILD_H_
#define CAIRN_OS_CHILD_H_

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "os/clock.h"
#include "os/process.h"
#include "os/shared_memory.h"

namespace cairn {

// ---- In the parent ------------------------------------------------------------------------------------

struct ChildRequest {
  std::string purpose;                   // for errors: "a process for PURPOSE cannot be made"
  std::vector<std::string> arguments;    // behind the program's name
  std::vector<std::string> environment;  // "NAME=value", each set for the child
  // Made by SharedMemory::Create; the child gets it with TakeMemoryOfParent.
  const SharedMemory* memory = nullptr;
  // True: the child reads nothing, and its output and that of its drivers is discarded. Otherwise
  // it has this process's input and output.
  bool silent = false;
  // New files, or ones that are replaced, for what it prints and for its errors; it reads nothing then. Empty: as above.
  std::filesystem::path output;
  std::filesystem::path errors;
};

// A child that ^C does not reach: what becomes of it is for its parent to say. Destroyed before it has ended, it
// is killed.
class Child {
 public:
  // Errors: kIo or what the system says; nothing runs then.
  static Result<Child> Start(const ChildRequest& request);
  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  ~Child();

  // Returns true once the child has ended. May return false before the time is up, and does when
  // this process is interrupted.
  bool WaitForEnd(uint64_t timeout_ns) const;
  // Kills the child at once. It is gone when WaitForEnd returns true: a process that is stuck in a
  // driver may stay.
  Status Kill() const;
  // The same for the processes that it has started, too: for its group, and KillAll also for
  // processes that left the group, as long as their parents live. KillAll may be called when the
  // child has ended, before End(), to end the processes that it left behind. Errors: none if there
  // are no processes any more; AskAllToEnd kUnsupported where they cannot be asked, as on Windows
  // without a console. On Windows its group is a job that processes cannot leave, and they are
  // asked by ^Break.
  Status AskAllToEnd() const;
  Status KillAll() const;
  // Returns true if another process of its group lives. A killed process counts while one of its
  // threads is in a driver.
  bool GroupLives() const;
  // Returns how the child ended. It must have ended. Call it once.
  ProcessEnd End();
  // Returns the number by which people know the process.
  uint64_t number() const;

 private:
  struct State;
  explicit Child(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Kills it, and waits until it is gone, or until `most_ns` are over: false, it is stuck in a driver.
inline bool KillAndWait(const Child& child, uint64_t most_ns) {
  if (!child.Kill().ok()) return false;
  const uint64_t end_ns = MonotonicNs() + most_ns;
  while (!child.WaitForEnd(most_ns)) {
    if (MonotonicNs() >= end_ns) return false;
  }
  return true;
}

// Starts the child and waits for its end. Passes requests to this process (to end: ^C; to stop, and
// to go on) to the child. Errors: those of Start.
Result<ProcessEnd> RunInForeground(const ChildRequest& request);

// Returns the cause of an end of kind kSignalled: "SIGSEGV", on Windows
// "EXCEPTION_ACCESS_VIOLATION"; "signal 99", "exception 0xC0001234" for values without a name.
std::string CauseOfDeath(int value);
// Returns true if another process, or a system that runs out of memory, killed it, not a fault of
// its own.
bool WasKilled(const ProcessEnd& end);
// Returns true if the process was asked to end: ^C, a closed terminal, a reader of its output that
// is gone.
bool WasAskedToEnd(const ProcessEnd& end);
// Ends this process in the same way, without a dump.
[[noreturn]] void EndAs(const ProcessEnd& end);

// ---- In the child -------------------------------------------------------------------------------------

// Returns true if a parent waits for the results of this process in its memory.
bool WasStartedAsChild();
// Maps the parent's memory. Call it once. Errors: kNotFound if there is none; kCorrupt, kIo.
Result<SharedMemory> TakeMemoryOfParent();

// Signals that are ignored in this process since its parent started it have their usual effect again, here and in
// programs that it starts from now on: they were ignored for the parent's sake. Windows: nothing.
void TakeUsualSignals();

// Makes the system keep none of this process's memory when it dies.
void LeaveNoDump();

// The thread of a fault or abort: the one that called TellFaults, or another one.
enum class FaultThread : uint32_t { kNone, kCaller, kOther };
// Stores the thread of a fault in `told` before the process dies of it. `told` lives as long as the
// process.
void TellFaults(std::atomic<FaultThread>* told);

}  // namespace cairn

#endif  // CAIRN_OS_CHILD_H_
