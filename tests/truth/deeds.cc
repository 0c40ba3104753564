// SPDX-License-Identifier: Apache-2.0
#include "truth/deeds.h"

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>

namespace cairn::truth {
namespace {

void StoreToNowhere() {
  volatile int* volatile nowhere = nullptr;
  *nowhere = 1;
}

// More than any stack holds, written all over.
int Deeper(int depth) {
  volatile char room[65536];
  room[0] = static_cast<char>(depth);
  room[sizeof(room) - 1] = 1;
  return depth < (1 << 20) ? Deeper(depth + 1) + room[0] : room[0];
}

}  // namespace

void DoIt(Deed deed, double idle_s, Notes* notes) {
  if (deed == Deed::kNothing) return;
  if (deed != Deed::kIdle) notes->NoteFault();
  switch (deed) {
    case Deed::kSegmentationFault: StoreToNowhere(); break;
    case Deed::kAbort: std::abort();
    case Deed::kDivideByZero: raise(SIGFPE); break;
    case Deed::kStackOverflow: Deeper(0); break;
    case Deed::kKill: kill(getpid(), SIGKILL); break;
    case Deed::kTerminate: kill(getpid(), SIGTERM); break;
    case Deed::kExit: std::_Exit(3);
    case Deed::kNothing:
    case Deed::kIdle: std::this_thread::sleep_for(std::chrono::duration<double>(idle_s)); return;
  }
  // A signal to the process may reach another thread first.
  for (;;) pause();
}

void DoItWhile(uint32_t work, Deed deed, Notes* notes) {
  std::thread([work, deed, notes] {
    while (!notes->Begun(work)) std::this_thread::yield();
    DoIt(deed, 0, notes);
  }).detach();
}

}  // namespace cairn::truth
