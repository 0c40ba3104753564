// SPDX-License-Identifier: Apache-2.0
#include "os/wait_set.h"

#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "os/linux/file_descriptor.h"

namespace cairn {
namespace {

Status Failed() {
  return StatusFromErrno(errno, "events cannot be waited for");
}

}  // namespace

Status WaitSet::Open() {
  set_ = FileDescriptor(epoll_create1(EPOLL_CLOEXEC));
  timer_ = FileDescriptor(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!set_.valid() || !timer_.valid()) return Failed();
  return Add(timer_, kTime);
}

Status WaitSet::Add(const SystemHandle& handle, uint64_t key) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = key;
  const int added = epoll_ctl(DescriptorOf(set_), EPOLL_CTL_ADD, DescriptorOf(handle), &event);
  return added == 0 ? Status() : Failed();
}

Result<std::span<const uint64_t>> WaitSet::Wait(uint64_t time_ns) {
  itimerspec when{};
  if (time_ns != kTime) {
    // A time of 0 would disarm the timer; one in the past fires at once.
    time_ns = std::max<uint64_t>(time_ns, 1);
    when.it_value.tv_sec = static_cast<time_t>(time_ns / 1'000'000'000);
    when.it_value.tv_nsec = static_cast<long>(time_ns % 1'000'000'000);
  }
  timerfd_settime(DescriptorOf(timer_), TFD_TIMER_ABSTIME, &when, nullptr);
  std::array<epoll_event, kMostAtOnce> events;
  const int count = epoll_wait(DescriptorOf(set_), events.data(), kMostAtOnce, -1);
  if (count < 0 && errno != EINTR) return Failed();
  for (int i = 0; i < count; ++i) {
    keys_[static_cast<size_t>(i)] = events[static_cast<size_t>(i)].data.u64;
    uint64_t expirations = 0;
    if (events[static_cast<size_t>(i)].data.u64 == kTime) {
      (void)!read(DescriptorOf(timer_), &expirations, sizeof(expirations));
    }
  }
  return std::span<const uint64_t>(keys_.data(), static_cast<size_t>(std::max(count, 0)));
}

}  // namespace cairn
