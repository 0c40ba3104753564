// SPDX-License-Identifier: Apache-2.0
#include "app/breadcrumbs/mirror_thread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <thread>

namespace cairn {
namespace {

using std::chrono::microseconds;

std::atomic<int> mirrored{0};
std::atomic<bool> unmapped{false};

void Mirror() {
  if (unmapped) std::_Exit(3);
  ++mirrored;
}

// A driver that was loaded before ends: its memory is gone, and a reader would die of it.
void Unmap() {
  const int at_exit = mirrored;
  unmapped = true;
  if (MirrorThread::MemoryIsThere()) std::_Exit(4);
  if (at_exit < 3) std::_Exit(5);
}

TEST(MirrorThreadTest, MirrorsUntilItIsStopped) {
  mirrored = 0;
  MirrorThread thread;
  thread.Start(microseconds(10), Mirror);
  while (mirrored < 3) std::this_thread::yield();
  EXPECT_TRUE(MirrorThread::MemoryIsThere());
  thread.Stop();
  const int stopped = mirrored;
  thread.Stop();
  EXPECT_EQ(mirrored, stopped);
}

TEST(MirrorThreadTest, NothingIsReadWhenDriversEndAtTheExit) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        std::atexit(Unmap);
        mirrored = 0;
        MirrorThread& thread = *new MirrorThread;  // of a device that is never destroyed
        thread.Start(microseconds(1), Mirror);
        while (mirrored < 2) std::this_thread::yield();
        std::exit(2);
      },
      testing::ExitedWithCode(2), "");
}

}  // namespace
}  // namespace cairn
