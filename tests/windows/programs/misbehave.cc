// SPDX-License-Identifier: Apache-2.0
//
// A program of Windows that ends badly on request: misbehave MODE [ARGUMENT]. Every mode first records one frame and
// lets the simulated GPU stand still inside the dispatch "Blur".
#include <process.h>
#include <windows.h>

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>

#include "programs/simulated_frame.h"

namespace {

volatile int* const nowhere = reinterpret_cast<volatile int*>(0x1230);
volatile int one = 1, zero = 0;

[[noreturn]] void WaitForEver() {
  for (;;) Sleep(INFINITE);
}

// Looks until the file is there.
void WaitForFile(const char* path) {
  while (GetFileAttributesA(path) == INVALID_FILE_ATTRIBUTES) Sleep(5);
}

int __attribute__((noinline)) Recurse(volatile int* before) {
  volatile int here[1024];
  here[0] = *before;
  return here[0] != 0 ? 0 : Recurse(here) + here[0];
}

LONG CALLBACK LeaveThread(EXCEPTION_POINTERS* exception) {
  if (exception->ExceptionRecord->ExceptionCode != EXCEPTION_ACCESS_VIOLATION) {
    return EXCEPTION_CONTINUE_SEARCH;
  }
  // Behind the store: rax holds where it went.
  static int somewhere;
  exception->ContextRecord->Rax = reinterpret_cast<DWORD64>(&somewhere);
  return EXCEPTION_CONTINUE_EXECUTION;
}

void Write() {
  asm volatile("movl $1, (%%rax)" : : "a"(nowhere) : "memory");
}

// Runs this program again with another mode, and returns its exit code.
DWORD RunAnother(const char* mode) {
  wchar_t path[1024];
  GetModuleFileNameW(nullptr, path, 1024);
  std::wstring line =
      L"misbehave " + std::wstring(mode, mode + std::char_traits<char>::length(mode));
  STARTUPINFOW info = {};
  info.cb = sizeof(info);
  PROCESS_INFORMATION started = {};
  if (CreateProcessW(path, line.data(), nullptr, nullptr, FALSE, 0, nullptr, nullptr, &info,
                     &started) == 0) {
    std::exit(71);
  }
  WaitForSingleObject(started.hProcess, INFINITE);
  DWORD code = 0;
  GetExitCodeProcess(started.hProcess, &code);
  return code;
}

// Ends, or returns if it is not the mode.
void Die(const std::string& mode) {
  if (mode == "kill") TerminateProcess(GetCurrentProcess(), 77);
  if (mode == "terminate-0") TerminateProcess(GetCurrentProcess(), 0);
  if (mode == "abort") std::abort();
  if (mode == "throw") throw std::runtime_error("nobody catches this");
  if (mode == "write") Write();
  if (mode == "write-in-thread") std::thread(Write).join();
  if (mode == "execute") reinterpret_cast<void (*)()>(const_cast<int*>(nowhere))();
  if (mode == "divide") std::exit(one / zero);
  if (mode == "raise") RaiseException(0xe0001234, 0, 0, nullptr);
  if (mode == "fastfail") asm volatile("int $0x29" : : "c"(FAST_FAIL_FATAL_APP_EXIT));
  if (mode == "overflow") std::exit(Recurse(&zero));
  if (mode == "exit-process") ExitProcess(5);
  if (mode == "quick-exit") std::_Exit(6);
}

// Never returns a value that the mode does not promise.
int Misbehave(const std::string& mode, const char* argument, SimulatedDevice& device,
              SimulatedCommandList& native) {
  Die(mode);
  if (mode == "exit") {
    device.Finish(native);
    Must(cairnDestroyContext(device.context()), "cairnDestroyContext");
    return argument == nullptr ? 0 : std::atoi(argument);
  }
  // As an access violation has for its code what Linux keeps of it.
  if (mode == "handled") {
    AddVectoredExceptionHandler(1, LeaveThread);
    Write();
    return 5;
  }
  if (mode == "handled-then-hang" || mode == "hang") {
    if (mode == "handled-then-hang") {
      AddVectoredExceptionHandler(0, LeaveThread);
      Write();
    }
    WaitForEver();
  }
  if (mode == "device-lost") {
    Must(cairnReportDeviceLost(device.context(), -4, "vkQueueSubmit"), "cairnReportDeviceLost");
    return 3;
  }
  if (mode == "hang-then-finish" || mode == "hang-then-kill") {
    WaitForFile(argument);
    if (mode == "hang-then-kill") Die("kill");
    device.Finish(native);
    cairnRefresh(device.context());
    return 0;
  }
  if (mode == "idle" || mode == "idle-then-terminate-0") {
    device.Finish(native);
    cairnRefresh(device.context());
    Sleep(argument == nullptr ? 0 : static_cast<DWORD>(std::atoi(argument)));
    if (mode == "idle-then-terminate-0") Die("terminate-0");
    return 0;
  }
  if (mode == "two") {
    if (RunAnother("kill") != 77) return 72;
    Die("kill");
  }
  if (mode == "start-watcher" || mode == "start-watcher-late") Die("kill");
  return 73;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  const char* argument = argc > 2 ? argv[2] : nullptr;
  SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX);  // no box with a button
  CairnWatcherDesc watcher{};
  watcher.struct_size = sizeof(watcher);
  watcher.output_path = argument;
  watcher.cairn_path = argc > 3 ? argv[3] : nullptr;
  if (mode == "start-watcher") Must(cairnStartWatcher(&watcher), "cairnStartWatcher");
  SimulatedDevice device;
  SimulatedCommandList native;
  RecordFrame(device, native);
  if (mode == "start-watcher-late") Must(cairnStartWatcher(&watcher), "cairnStartWatcher");
  device.Execute(native, kWritesIntoBlur);
  cairnRefresh(device.context());
  // Tests wait for this line before they kill the program.
  std::printf("ready %d\n", _getpid());
  std::fflush(stdout);
  return Misbehave(mode, argument, device, native);
}
