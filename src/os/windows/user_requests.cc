// SPDX-License-Identifier: Apache-2.0
//
// The system tells of ^C, ^Break, a console that is closed and a session that ends on a thread of its own.
#include "os/user_requests.h"

#include <fmt/format.h>

#include <atomic>
#include <csignal>
#include <deque>
#include <mutex>

#include "os/this_process.h"
#include "os/windows/system.h"

namespace cairn {

struct UserRequests::State {
  void Add(const UserRequest& request) {
    const std::lock_guard lock(mutex);
    waiting.push_back(request);
    SetEvent(HandleOf(some));
  }

  std::mutex mutex;
  std::deque<UserRequest> waiting;
  SystemHandle some;     // is set while there are any
  SystemHandle trigger;  // others set it
  HANDLE trigger_wait = nullptr;
  SystemHandle gone;  // nobody listens any more
  bool listens = false;
};

namespace {

// The mutex of the one listener. Handlers may still run when the listener ends.
std::mutex& ListenerMutex() {
  static std::mutex& mutex = *new std::mutex;
  return mutex;
}
UserRequests::State* g_listener = nullptr;

int SignalOf(DWORD request) {
  switch (request) {
    case CTRL_C_EVENT: return SIGINT;
    case CTRL_BREAK_EVENT: return SIGBREAK;
    default: return SIGTERM;
  }
}

BOOL WINAPI OnRequest(DWORD request) {
  SystemHandle gone;
  {
    const std::lock_guard lock(ListenerMutex());
    if (g_listener == nullptr) return FALSE;
    g_listener->Add({UserRequest::Kind::kSignal, SignalOf(request), true});
    gone = CopyOf(g_listener->gone.get());
  }
  // The system ends the process for a closed console or session when this returns.
  if (SignalOf(request) == SIGTERM) {
    WaitForSingleObject(HandleOf(gone), INFINITE);
    return FALSE;
  }
  return TRUE;
}

void CALLBACK OnTrigger(void* state, BOOLEAN) {
  static_cast<UserRequests::State*>(state)->Add({.kind = UserRequest::Kind::kTrigger});
}

}  // namespace

UserRequests::UserRequests() : state_(std::make_unique<State>()) {}

UserRequests::~UserRequests() {
  if (!state_->listens) return;
  SetConsoleCtrlHandler(OnRequest, FALSE);
  {
    const std::lock_guard lock(ListenerMutex());
    g_listener = nullptr;
  }
  if (state_->trigger_wait != nullptr) UnregisterWaitEx(state_->trigger_wait, INVALID_HANDLE_VALUE);
  SetEvent(HandleOf(state_->gone));
  for (const UserRequest& request : state_->waiting) {
    // End the process as the system does if no handler takes the request.
    if (request.kind == UserRequest::Kind::kSignal) {
      ExitProcess(static_cast<UINT>(STATUS_CONTROL_C_EXIT));
    }
  }
}

Status UserRequests::Listen(bool with_trigger) {
  state_->some = Owned(CreateEventW(nullptr, TRUE, FALSE, nullptr));
  state_->gone = Owned(CreateEventW(nullptr, TRUE, FALSE, nullptr));
  if (!state_->some.valid() || !state_->gone.valid()) {
    return StatusFromLastError("requests of the user cannot be waited for");
  }
  state_->listens = true;
  {
    const std::lock_guard lock(ListenerMutex());
    g_listener = state_.get();
  }
  if (SetConsoleCtrlHandler(OnRequest, TRUE) == 0) {
    return StatusFromLastError("requests of the user cannot be waited for");
  }
  if (!with_trigger) return Status();
  const std::wstring name = Wide(fmt::format("Local\\cairn-trigger-{}", OwnProcessId()));
  state_->trigger = Owned(CreateEventW(nullptr, FALSE, FALSE, name.c_str()));
  if (!state_->trigger.valid() ||
      RegisterWaitForSingleObject(&state_->trigger_wait, HandleOf(state_->trigger), &OnTrigger,
                                  state_.get(), INFINITE, WT_EXECUTEINWAITTHREAD) == 0) {
    return StatusFromLastError("the event " + Utf8(name) + " cannot be waited for");
  }
  return Status();
}

bool UserRequests::Take(UserRequest* request) {
  const std::lock_guard lock(state_->mutex);
  if (state_->waiting.empty()) return false;
  *request = state_->waiting.front();
  state_->waiting.pop_front();
  if (state_->waiting.empty()) ResetEvent(HandleOf(state_->some));
  return true;
}

const SystemHandle& UserRequests::handle() const {
  return state_->some;
}

}  // namespace cairn
