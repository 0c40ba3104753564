// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstring>

#include "base/clock.h"
#include "recorder/process_facts.h"

namespace cairn {

uint64_t CurrentProcessId() {
  return static_cast<uint64_t>(getpid());
}

void FillProcessFacts(BlockHeader& header) {
  header.process_id = CurrentProcessId();
  header.start_realtime_ns = RealtimeNs();
  header.start_monotonic_ns = MonotonicNs();
  const ssize_t length = readlink("/proc/self/exe", header.program, sizeof(header.program) - 1);
  header.program[length > 0 ? length : 0] = 0;
  std::strncpy(header.library_version, CAIRN_LIBRARY_VERSION, sizeof(header.library_version) - 1);
}

}  // namespace cairn
