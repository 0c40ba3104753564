// SPDX-License-Identifier: Apache-2.0
#include "os/own_limits.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <optional>

namespace cairn {
namespace {

constexpr size_t kMostWords = 1000;
// Read by the handler of a signal: its length is set last.
char g_last_words[kMostWords];
std::atomic<size_t> g_last_words_bytes{0};

// Returns the writable memory of this process alone: what RLIMIT_DATA counts, and the stack. 0 if it is not known.
uint64_t WritableBytes() {
  std::FILE* const file = std::fopen("/proc/self/statm", "re");
  if (file == nullptr) return 0;
  unsigned long pages = 0;
  const int read = std::fscanf(file, "%*u %*u %*u %*u %*u %lu", &pages);
  std::fclose(file);
  return read == 1 ? uint64_t{pages} * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) : 0;
}

struct OwnLimit {
  __rlimit_resource what;
  std::optional<rlim_t> before = {};
};
OwnLimit g_memory{RLIMIT_DATA};
OwnLimit g_processor{RLIMIT_CPU};

bool SetLimit(OwnLimit* own, uint64_t value) {
  rlimit limit = {};
  if (getrlimit(own->what, &limit) != 0) return false;
  if (!own->before.has_value()) own->before = limit.rlim_cur;
  limit.rlim_cur = std::min<rlim_t>(value, limit.rlim_max);
  return setrlimit(own->what, &limit) == 0;
}

void LiftLimit(OwnLimit* own) {
  rlimit limit = {};
  if (!own->before.has_value() || getrlimit(own->what, &limit) != 0) return;
  limit.rlim_cur = *own->before;
  if (setrlimit(own->what, &limit) == 0) own->before.reset();
}

void EndNow(int) {
  const size_t size = g_last_words_bytes.load(std::memory_order_acquire);
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, g_last_words, size);
  _exit(1);
}

}  // namespace

bool LimitOwnMemory(uint64_t more_bytes) {
  const uint64_t now = WritableBytes();
  return now != 0 && SetLimit(&g_memory, now + more_bytes);
}

bool LimitOwnProcessorTime(uint64_t more_seconds, const std::string& last_words) {
  rusage used = {};
  if (getrusage(RUSAGE_SELF, &used) != 0) return false;
  g_last_words_bytes.store(0, std::memory_order_release);
  const size_t size = std::min(last_words.size(), kMostWords);
  std::memcpy(g_last_words, last_words.data(), size);
  g_last_words_bytes.store(size, std::memory_order_release);
  struct sigaction action = {};
  action.sa_handler = EndNow;
  if (sigaction(SIGXCPU, &action, nullptr) != 0) return false;
  const auto seconds = static_cast<uint64_t>(used.ru_utime.tv_sec + used.ru_stime.tv_sec);
  return SetLimit(&g_processor, seconds + std::max<uint64_t>(more_seconds, 1));
}

void LiftOwnLimits() {
  LiftLimit(&g_memory);
  LiftLimit(&g_processor);
}

}  // namespace cairn
