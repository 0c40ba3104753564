// SPDX-License-Identifier: Apache-2.0
#include "os/interrupt.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <array>

#include "os/linux/file_descriptor.h"

namespace cairn {
namespace {

constexpr std::array kRequests = {SIGINT, SIGTERM, SIGHUP};

sigset_t Requests() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : kRequests) sigaddset(&signals, number);
  return signals;
}

// The state of the handlers; there is one object at a time.
volatile sig_atomic_t waiting = 0;    // the signal is for Wait() to tell
volatile sig_atomic_t signalled = 0;  // the number of the one that came
std::string_view last_words_to_write;
std::array<struct sigaction, kRequests.size()> actions_before;

void InstallHandlers(void (*handler)(int), int flags) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_mask = Requests();
  action.sa_flags = SA_RESTART | flags;
  for (size_t i = 0; i < kRequests.size(); ++i) {
    sigaction(kRequests[i], nullptr, &actions_before[i]);
    if (actions_before[i].sa_handler != SIG_IGN) sigaction(kRequests[i], &action, nullptr);
  }
}

void RemoveHandlers() {
  for (size_t i = 0; i < kRequests.size(); ++i) {
    sigaction(kRequests[i], &actions_before[i], nullptr);
  }
}

void NoteSignal(int number) {
  signalled = number;
}

// Calls nothing but what a handler may call.
void TellOrEnd(int number) {
  if (waiting != 0) {
    signalled = number;
    return;
  }
  const ssize_t written =
      write(STDOUT_FILENO, last_words_to_write.data(), last_words_to_write.size());
  static_cast<void>(written);      // There is nobody left to be told.
  if (number == SIGINT) _exit(0);  // Like from Wait(): the user has seen enough.
  signal(number, SIG_DFL);
  raise(number);  // It ends the process when this returns.
}

}  // namespace

InterruptNote::InterruptNote() {
  signalled = 0;
  InstallHandlers(NoteSignal, static_cast<int>(SA_RESETHAND));
}

InterruptNote::~InterruptNote() {
  RemoveHandlers();
}

bool InterruptNote::came() const {
  return signalled != 0;
}

InterruptibleWait::InterruptibleWait(std::string_view last_words) {
  last_words_to_write = last_words;
  InstallHandlers(TellOrEnd, 0);
}

InterruptibleWait::Woken InterruptibleWait::Wait(const ProcessHandle& process,
                                                 uint64_t timeout_ns) {
  pollfd end = {DescriptorOf(process.handle), POLLIN, 0};
  const timespec timeout = {static_cast<time_t>(timeout_ns / 1'000'000'000),
                            static_cast<long>(timeout_ns % 1'000'000'000)};
  // Blocked but while ppoll() sleeps, so that none comes between the look at `signalled` and the sleep.
  const sigset_t signals = Requests();
  sigset_t before;
  sigprocmask(SIG_BLOCK, &signals, &before);
  signalled = 0;
  waiting = 1;
  const int ready = ppoll(&end, 1, &timeout, &before);
  waiting = 0;
  request_ = signalled;
  // A later signal finds that no wait is active.
  sigprocmask(SIG_SETMASK, &before, nullptr);
  if (request_ == SIGINT) return Woken::kByUser;
  if (request_ != 0) return Woken::kByRequest;
  return ready > 0 ? Woken::kByProcess : Woken::kByTime;
}

void InterruptibleWait::Obey() const {
  raise(request_);
}

void InterruptibleWait::Close() {
  if (!open_) return;
  open_ = false;
  RemoveHandlers();
}

}  // namespace cairn
