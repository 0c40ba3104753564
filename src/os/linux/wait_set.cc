// SPDX-License-Identifier: Apache-2.0
#include "os/wait_set.h"

#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "os/linux/file_descriptor.h"

namespace cairn {

struct WaitSet::State {
  static constexpr size_t kMostAtOnce = 16;

  SystemHandle set;
  SystemHandle timer;
  std::array<uint64_t, kMostAtOnce> keys = {};
};

WaitSet::WaitSet() : state_(std::make_unique<State>()) {}
WaitSet::~WaitSet() = default;

namespace {

Status Failed() {
  return StatusFromErrno(errno, "events cannot be waited for");
}

}  // namespace

Status WaitSet::Open() {
  state_->set = FileDescriptor(epoll_create1(EPOLL_CLOEXEC));
  state_->timer = FileDescriptor(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!state_->set.valid() || !state_->timer.valid()) return Failed();
  return Add(state_->timer, kTime);
}

Status WaitSet::Add(const SystemHandle& handle, uint64_t key) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = key;
  const int added =
      epoll_ctl(DescriptorOf(state_->set), EPOLL_CTL_ADD, DescriptorOf(handle), &event);
  return added == 0 ? Status() : Failed();
}

void WaitSet::Remove(const SystemHandle& handle) {
  epoll_ctl(DescriptorOf(state_->set), EPOLL_CTL_DEL, DescriptorOf(handle), nullptr);
}

Result<std::span<const uint64_t>> WaitSet::Wait(uint64_t time_ns) {
  itimerspec when{};
  if (time_ns != kTime) {
    // A time of 0 would disarm the timer; one in the past fires at once.
    time_ns = std::max<uint64_t>(time_ns, 1);
    when.it_value.tv_sec = static_cast<time_t>(time_ns / 1'000'000'000);
    when.it_value.tv_nsec = static_cast<long>(time_ns % 1'000'000'000);
  }
  timerfd_settime(DescriptorOf(state_->timer), TFD_TIMER_ABSTIME, &when, nullptr);
  std::array<epoll_event, State::kMostAtOnce> events;
  const int count = epoll_wait(DescriptorOf(state_->set), events.data(), State::kMostAtOnce, -1);
  if (count < 0 && errno != EINTR) return Failed();
  for (int i = 0; i < count; ++i) {
    state_->keys[static_cast<size_t>(i)] = events[static_cast<size_t>(i)].data.u64;
    uint64_t expirations = 0;
    if (events[static_cast<size_t>(i)].data.u64 == kTime) {
      (void)!read(DescriptorOf(state_->timer), &expirations, sizeof(expirations));
    }
  }
  return std::span<const uint64_t>(state_->keys.data(), static_cast<size_t>(std::max(count, 0)));
}

}  // namespace cairn
