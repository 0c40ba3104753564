// SPDX-License-Identifier: Apache-2.0
//
// Loads the layer into processes that the program starts, as on Linux, where LD_PRELOAD is
// inherited. The layer itself does that, in the call that makes the process: the system tells
// others (a job's port) only once it runs.
#include "app/entry/windows/functions.h"
#include "app/replacement/replacement.h"
#include "app/settings/log.h"
#include "os/library.h"
#include "os/linux_half.h"
#include "os/windows/library_injection.h"
#include "os/windows/system.h"

namespace cairn {
namespace {

template <typename Text, typename StartupInfo>
using CreateProcessFunction = BOOL (*)(const Text*, Text*, SECURITY_ATTRIBUTES*,
                                       SECURITY_ATTRIBUTES*, BOOL, DWORD, void*, const Text*,
                                       StartupInfo*, PROCESS_INFORMATION*);

std::wstring OwnFile() {
  return Wide(LibraryPathOf(reinterpret_cast<const void*>(&OwnFile)));
}

// Loads the layer into a process that has not run yet. If that fails, the process runs without the
// layer.
void LoadInto(const PROCESS_INFORMATION& started) try {
  const Status loaded = LoadIntoProcess(started.hProcess, OwnFile());
  if (loaded.ok()) return;
  Log(LogLevel::kInfo, "the calls of process " + std::to_string(started.dwProcessId) +
                           " are not followed: " + loaded.message());
} catch (const std::bad_alloc&) {
  Log(LogLevel::kInfo, "no memory to follow a process that was started");
}

// A process that its maker debugs stops for him at each thread and library; he waits in this call.
bool IsForDebugger(DWORD flags) {
  return (flags & (DEBUG_PROCESS | DEBUG_ONLY_THIS_PROCESS)) != 0;
}

// `make` takes the flags.
template <typename Make>
BOOL MakeWithLayer(DWORD flags, PROCESS_INFORMATION* process, const Make& make) {
  // One function of the system may call the other.
  const InsideScope scope;
  // The Linux half, if there is one, is loaded into started processes as well.
  if (FindLinuxHalf() != nullptr || !scope.outermost() || IsForDebugger(flags) ||
      process == nullptr)
    return make(flags);
  const BOOL made = make(flags | CREATE_SUSPENDED);
  const DWORD error = GetLastError();
  if (made != 0) {
    LoadInto(*process);
    if ((flags & CREATE_SUSPENDED) == 0) ResumeThread(process->hThread);
  }
  SetLastError(error);
  return made;
}

template <typename Text, typename StartupInfo>
BOOL OnCreateProcess(CreateProcessFunction<Text, StartupInfo> next, const Text* program, Text* line,
                     SECURITY_ATTRIBUTES* of_process, SECURITY_ATTRIBUTES* of_thread, BOOL inherits,
                     DWORD flags, void* environment, const Text* folder, StartupInfo* info,
                     PROCESS_INFORMATION* process) {
  return MakeWithLayer(flags, process, [&](DWORD wanted) {
    return next(program, line, of_process, of_thread, inherits, wanted, environment, folder, info,
                process);
  });
}

}  // namespace

void* OverCreateProcessA(void* function) {
  return Replacement<&OnCreateProcess<char, STARTUPINFOA>>::Over(function);
}
void* OverCreateProcessW(void* function) {
  return Replacement<&OnCreateProcess<wchar_t, STARTUPINFOW>>::Over(function);
}

}  // namespace cairn
