// SPDX-License-Identifier: Apache-2.0
//
// The system tells of ^C, ^Break, a console that is closed and a session that ends on a thread that it starts for
// that. It ends the process when a handler returns that was told of one of the last two, and after some seconds
// anyway.
#include "os/interrupt.h"

#include <atomic>
#include <string_view>

#include "os/windows/system.h"

namespace cairn {
namespace {

constexpr DWORD kNone = ~DWORD{0};

// The state of the handlers; there is one object at a time.
std::atomic<DWORD> request_that_came{kNone};
std::atomic<HANDLE> waiter{nullptr};  // an event: the request is for Wait() to tell
std::string_view last_words_to_write;

// Gives the process all the time that there is.
void StayWhileAllowed(DWORD request) {
  if (request != CTRL_C_EVENT && request != CTRL_BREAK_EVENT) Sleep(INFINITE);
}

BOOL WINAPI Note(DWORD request) {
  // A second request of a kind goes on to the next handler, which ends the process.
  if (request_that_came.exchange(request) == request) return FALSE;
  StayWhileAllowed(request);
  return TRUE;
}

BOOL WINAPI TellOrEnd(DWORD request) {
  if (const HANDLE event = waiter.load(); event != nullptr) {
    request_that_came = request;
    SetEvent(event);
    StayWhileAllowed(request);
    return TRUE;
  }
  DWORD written = 0;
  WriteFile(GetStdHandle(STD_OUTPUT_HANDLE), last_words_to_write.data(),
            static_cast<DWORD>(last_words_to_write.size()), &written, nullptr);
  if (request == CTRL_C_EVENT) ExitProcess(0);  // Like from Wait(): the user has seen enough.
  return FALSE;
}

}  // namespace

InterruptNote::InterruptNote() {
  request_that_came = kNone;
  SetConsoleCtrlHandler(Note, TRUE);
}

InterruptNote::~InterruptNote() {
  SetConsoleCtrlHandler(Note, FALSE);
}

bool InterruptNote::came() const {
  return request_that_came.load(std::memory_order_relaxed) != kNone;
}

InterruptibleWait::InterruptibleWait(std::string_view last_words) {
  last_words_to_write = last_words;
  SetConsoleCtrlHandler(TellOrEnd, TRUE);
}

InterruptibleWait::Woken InterruptibleWait::Wait(const ProcessHandle& process,
                                                 uint64_t timeout_ns) {
  const SystemHandle event = Owned(CreateEventW(nullptr, TRUE, FALSE, nullptr));
  const HANDLE both[] = {HandleOf(event), HandleOf(process.handle)};
  request_that_came = kNone;
  waiter = HandleOf(event);
  const DWORD woken =
      WaitForMultipleObjects(process.handle.valid() ? 2 : 1, both, FALSE, Milliseconds(timeout_ns));
  waiter = nullptr;
  const DWORD request = request_that_came;
  request_ = static_cast<int>(request);
  if (request == CTRL_C_EVENT) return Woken::kByUser;
  if (request != kNone) return Woken::kByRequest;
  return woken == WAIT_OBJECT_0 + 1 ? Woken::kByProcess : Woken::kByTime;
}

// Ends the process as the system does if no handler takes the request.
void InterruptibleWait::Obey() const {
  ExitProcess(static_cast<UINT>(STATUS_CONTROL_C_EXIT));
}

void InterruptibleWait::Close() {
  if (!open_) return;
  open_ = false;
  SetConsoleCtrlHandler(TellOrEnd, FALSE);
}

}  // namespace cairn
