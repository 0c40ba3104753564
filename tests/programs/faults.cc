// SPDX-License-Identifier: Apache-2.0
//
// A program that handles its faults itself: faults MODE [plain]. It installs its handlers, then has a GPU
// stand still inside the dispatch "Blur" (not with "plain", where no Cairn is in the process), and then
// faults. What it prints and how it ends must be the same in both cases.
#include <sys/mman.h>
#include <unistd.h>

#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>

#include "programs/simulated_device.h"

namespace {

constexpr size_t kWritesIntoBlur = 1;
constexpr size_t kStackBytes = 256 << 10;
char alternate_stack[kStackBytes];

SimulatedDevice* device = nullptr;
SimulatedCommandList native_list;
volatile int* page = nullptr;
sigjmp_buf before_fault;
volatile sig_atomic_t calls = 0;

// Safe in a handler.
void Say(const char* text) {
  [[maybe_unused]] const ssize_t written = write(STDOUT_FILENO, text, std::strlen(text));
}

void Install(int flags, void (*handler)(int, siginfo_t*, void*), int masked = 0) {
  struct sigaction action {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | flags;
  sigemptyset(&action.sa_mask);
  if (masked != 0) sigaddset(&action.sa_mask, masked);
  sigaction(SIGSEGV, &action, nullptr);
}

void UseAlternateStack() {
  stack_t stack{};
  stack.ss_sp = alternate_stack;
  stack.ss_size = sizeof(alternate_stack);
  sigaltstack(&stack, nullptr);
}

bool OnAlternateStack() {
  stack_t stack{};
  sigaltstack(nullptr, &stack);
  return (stack.ss_flags & SS_ONSTACK) != 0;
}

void Repair(int, siginfo_t*, void*) {
  calls = calls + 1;
  mprotect(const_cast<int*>(page), 4096, PROT_READ | PROT_WRITE);
}
void Jump(int, siginfo_t*, void*) {
  siglongjmp(before_fault, 1);
}
void SayAndReturn(int, siginfo_t*, void*) {
  Say("handler\n");
}
void SayWhereAndLeave(int, siginfo_t*, void*) {
  Say(OnAlternateStack() ? "on the alternate stack\n" : "on the thread's stack\n");
  _exit(5);
}
void SayMaskAndLeave(int, siginfo_t*, void*) {
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  Say(sigismember(&blocked, SIGUSR1) ? "SIGUSR1 is blocked\n" : "SIGUSR1 is not blocked\n");
  Say(sigismember(&blocked, SIGUSR2) ? "SIGUSR2 is blocked\n" : "SIGUSR2 is not blocked\n");
  Say(sigismember(&blocked, SIGSEGV) ? "SIGSEGV is blocked\n" : "SIGSEGV is not blocked\n");
  _exit(6);
}
void FaultAgain(int, siginfo_t*, void*) {
  calls = calls + 1;
  if (calls == 3) {
    Say("third fault\n");
    _exit(7);
  }
  *reinterpret_cast<volatile int*>(0xdead000) = 1;
}
// A crash reporter that takes long.
void FinishAndDie(int number, siginfo_t*, void*) {
  if (device != nullptr) {
    device->Finish(native_list);
    cairnRefresh(device->context());
  }
  std::signal(number, SIG_DFL);
}

void RecordFrame() {
  device = new SimulatedDevice;
  CairnCommandListDesc desc{};
  desc.struct_size = sizeof(desc);
  desc.native = &native_list;
  desc.queue = device->queue();
  desc.name = "Main";
  CairnCommandList* list = nullptr;
  Must(cairnBeginCommandList(device->context(), &desc, &list), "cairnBeginCommandList");
  Must(cairnBeginMarker(list, CAIRN_MARKER_DISPATCH, "Blur", CAIRN_NAME_STATIC),
       "cairnBeginMarker");
  Must(cairnEndMarker(list), "cairnEndMarker");
  Must(cairnEndCommandList(list), "cairnEndCommandList");
  Must(cairnNotifySubmit(device->context(), device->queue(), &list, 1), "cairnNotifySubmit");
  device->Execute(native_list, kWritesIntoBlur);
  cairnRefresh(device->context());
}

void Fault() {
  *reinterpret_cast<volatile int*>(0xdead000) = 1;
}

// The compiler cannot know that it never ends, nor make it a loop.
volatile bool enough = false;
int Overflow(unsigned depth) {
  if (enough) return 0;
  volatile char frame[1024];
  frame[0] = static_cast<char>(depth);
  return Overflow(depth + 1) + frame[0];
}

void Prepare(const std::string& mode) {
  page = static_cast<volatile int*>(
      mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (mode == "repair") Install(0, Repair);
  if (mode == "jump" || mode == "jump-then-kill") Install(SA_NODEFER, Jump);
  if (mode == "once") Install(SA_RESETHAND, SayAndReturn);
  if (mode == "overflow") {
    UseAlternateStack();
    Install(SA_ONSTACK, SayWhereAndLeave);
  }
  if (mode == "overflow-unhandled") Install(0, SayWhereAndLeave);
  if (mode == "own-stack") {
    UseAlternateStack();
    Install(0, SayWhereAndLeave);
  }
  if (mode == "mask") Install(0, SayMaskAndLeave, SIGUSR1);
  if (mode == "nested") Install(SA_NODEFER, FaultAgain);
  if (mode == "nested-blocked") Install(0, FaultAgain);
  if (mode == "finish") Install(0, FinishAndDie);
  if (mode == "ignored") std::signal(SIGSEGV, SIG_IGN);
}

int Misbehave(const std::string& mode) {
  if (mode == "repair") {
    for (int i = 0; i < 1000; ++i) {
      mprotect(const_cast<int*>(page), 4096, PROT_READ);
      *page = i;
    }
    std::printf("repaired %d\n", static_cast<int>(calls));
    return 0;
  }
  if (mode == "jump" || mode == "jump-then-kill") {
    if (sigsetjmp(before_fault, 1) == 0) Fault();
    Say("jumped\n");
    if (mode == "jump") return 3;
    if (device != nullptr) {
      device->Finish(native_list);
      cairnRefresh(device->context());
    }
    raise(SIGKILL);
  }
  if (mode == "overflow" || mode == "overflow-unhandled") return Overflow(0);
  if (mode == "ignored") {
    raise(SIGSEGV);
    Say("ignored\n");
    return 4;
  }
  Fault();
  return 73;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  Prepare(mode);
  if (argc == 2) RecordFrame();
  return Misbehave(mode);
}
