// SPDX-License-Identifier: Apache-2.0
//
// Requests of the user to a process that works for another one: it receives them, and obeys none by
// itself.
#ifndef CAIRN_OS_USER_REQUESTS_H_
#define CAIRN_OS_USER_REQUESTS_H_

#include <memory>

#include "base/status.h"
#include "os/handle.h"

namespace cairn {

struct UserRequest {
  enum class Kind {
    kSignal,   // to end or to interrupt
    kTrigger,  // SIGUSR1, on Windows the event Local\cairn-trigger-PID: means what this program says
  };
  Kind kind = Kind::kSignal;
  // A number of <csignal>. On Windows SIGINT is ^C, SIGBREAK ^Break, SIGTERM a console that is
  // closed or a session that ends.
  int signal_number = 0;
  // The system has asked the other processes of the terminal for the same: ^C; on Windows always.
  bool asked_of_all = false;
};

// One object at a time, of the only thread. While it lives, requests to end this process wait here, and neither a
// reader that is gone nor a file that may not grow ends it: both are errors of a write.
class UserRequests {
 public:
  UserRequests();
  // All of it has the effect again that it had before. Requests that were not taken do as well.
  ~UserRequests();
  UserRequests(const UserRequests&) = delete;
  UserRequests& operator=(const UserRequests&) = delete;

  // `with_trigger`: kTrigger comes, too.
  Status Listen(bool with_trigger);
  // The next one. False: none for now.
  bool Take(UserRequest* request);
  // For a WaitSet: something happens when Take has something to do.
  const SystemHandle& handle() const;

  struct State;
  const State& state() const { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

}  // namespace cairn

#endif  // CAIRN_OS_USER_REQUESTS_H_
