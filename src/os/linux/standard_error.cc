// SPDX-License-Identifier: Apache-2.0
#include "os/standard_error.h"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <ctime>

namespace cairn {
namespace {

// While it lives, this thread is not ended by a write that fails: because there is no reader
// (SIGPIPE), or because the file may not grow (SIGXFSZ, ulimit -f). Signals that came before stay.
// Safe in a crash handler.
class HeldBackSignals {
 public:
  HeldBackSignals() {
    sigemptyset(&of_writes_);
    sigaddset(&of_writes_, SIGPIPE);
    sigaddset(&of_writes_, SIGXFSZ);
    sigemptyset(&before_);
    sigpending(&before_);
    pthread_sigmask(SIG_BLOCK, &of_writes_, &mask_);
  }
  ~HeldBackSignals() {
    for (const int number : {SIGPIPE, SIGXFSZ}) {
      if (sigismember(&before_, number) == 1) sigdelset(&of_writes_, number);
    }
    constexpr timespec kAtOnce{0, 0};
    while (sigtimedwait(&of_writes_, nullptr, &kAtOnce) > 0) {
    }
    pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
  }
  HeldBackSignals(const HeldBackSignals&) = delete;
  HeldBackSignals& operator=(const HeldBackSignals&) = delete;

 private:
  sigset_t of_writes_;
  sigset_t before_;
  sigset_t mask_;
};

bool WriteAll(int stream, std::string_view text) {
  const HeldBackSignals held_back;
  while (!text.empty()) {
    const ssize_t written = write(stream, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

}  // namespace

void WriteStandardError(std::string_view text) {
  const int error = errno;
  (void)WriteAll(STDERR_FILENO, text);
  errno = error;
}

bool WriteStandardOutput(std::string_view text) {
  return WriteAll(STDOUT_FILENO, text);
}

}  // namespace cairn
