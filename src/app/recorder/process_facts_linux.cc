// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <string_view>

#include "app/recorder/process_facts.h"
#include "base/program_name.h"
#include "os/clock.h"

namespace cairn {

uint64_t CurrentProcessId() {
  return static_cast<uint64_t>(getpid());
}

namespace {

// Under Wine the executable is Wine's: the program is the .exe that the command line names.
void NameWindowsProgram(BlockHeader& header) {
  if (!NameOfProgram(header.program).starts_with("wine")) return;
  char command_line[4096];
  const int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  const ssize_t size = file < 0 ? 0 : read(file, command_line, sizeof(command_line));
  if (file >= 0) close(file);
  if (size <= 0) return;
  const std::string_view program =
      ProgramOfCommandLine(std::string_view(command_line, static_cast<size_t>(size)));
  if (!IsWindowsProgram(program) || program.size() >= sizeof(header.program)) return;
  std::memcpy(header.program, program.data(), program.size());
  header.program[program.size()] = 0;
}

}  // namespace

void FillProcessFacts(BlockHeader& header) {
  header.process_id = CurrentProcessId();
  header.start_realtime_ns = RealtimeNs();
  header.start_monotonic_ns = MonotonicNs();
  const ssize_t length = readlink("/proc/self/exe", header.program, sizeof(header.program) - 1);
  header.program[length > 0 ? length : 0] = 0;
  NameWindowsProgram(header);
  std::strncpy(header.library_version, CAIRN_LIBRARY_VERSION, sizeof(header.library_version) - 1);
}

}  // namespace cairn
