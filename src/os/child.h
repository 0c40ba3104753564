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
// Whoever kills this process ends the child, too, from its first moment on. All of it is for one thread.
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
  // It reads nothing, and what it and its drivers print goes nowhere. Otherwise it has this process's input and
  // output.
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

  // True once it has ended. May return false before the time is up, and does when somebody interrupts this
  // process.
  bool WaitForEnd(uint64_t timeout_ns) const;
  // At once. It is gone when WaitForEnd says so: a process that is stuck in a driver may stay.
  Status Kill() const;
  // The same for all that it has started, too: for its group, and KillAll also for what left that, as long as those
  // that started it live. KillAll also when it has ended, before End(): what it left behind goes. Errors: none if
  // there is nobody any more; AskAllToEnd kUnsupported where they cannot be asked, as on Windows without a console.
  // On Windows its group is a job that nobody can leave, and ^Break is how it is asked.
  Status AskAllToEnd() const;
  Status KillAll() const;
  // Whether another process of its group lives. One that was killed does for as long as a thread of it is in a
  // driver.
  bool GroupLives() const;
  // Of one that has ended. Call it once.
  ProcessEnd End();
  // By which people know it.
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

// Starts it and waits for its end. What somebody wants of this process meanwhile (to end: ^C; to stop, and to go
// on) is wanted of the child instead. Errors: those of Start.
Result<ProcessEnd> RunInForeground(const ChildRequest& request);

// Of what a process died whose end is kSignalled: "SIGSEGV", on Windows "EXCEPTION_ACCESS_VIOLATION"; "signal 99",
// "exception 0xC0001234" for what has no name.
std::string CauseOfDeath(int value);
// Whether somebody made it die at once, not a fault of its own: also what a system does that runs out of memory.
bool WasKilled(const ProcessEnd& end);
// Whether it ended because somebody asked it to: ^C, a terminal that was closed, nobody who reads its output.
bool WasAskedToEnd(const ProcessEnd& end);
// Ends this process in the same way, without a dump.
[[noreturn]] void EndAs(const ProcessEnd& end);

// ---- In the child -------------------------------------------------------------------------------------

// Whether somebody waits for what this process does with his memory.
bool WasStartedAsChild();
// Once. Errors: kNotFound where there is none; kCorrupt, kIo.
Result<SharedMemory> TakeMemoryOfParent();

// When this process dies, the system keeps nothing of its memory.
void LeaveNoDump();

// Which thread a fault met, or an abort: that which called TellFaults, or another one.
enum class FaultThread : uint32_t { kNone, kCaller, kOther };
// From now on that is told before the process dies of it. `told` lives as long as the process.
void TellFaults(std::atomic<FaultThread>* told);

}  // namespace cairn

#endif  // CAIRN_OS_CHILD_H_
