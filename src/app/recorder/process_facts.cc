// SPDX-License-Identifier: Apache-2.0
#include "app/recorder/process_facts.h"

#include <cstring>
#include <string>
#include <string_view>

#include "base/program_name.h"
#include "os/clock.h"
#include "os/this_process.h"

namespace cairn {

namespace {

// Under Wine the executable is Wine's: the program is the .exe that the command line names.
void NameWindowsProgram(BlockHeader& header) {
  if (!NameOfProgram(header.program).starts_with("wine")) return;
  const std::string command_line = OwnCommandLine();
  const std::string_view program = ProgramOfCommandLine(command_line);
  if (!IsWindowsProgram(program) || program.size() >= sizeof(header.program)) return;
  std::memcpy(header.program, program.data(), program.size());
  header.program[program.size()] = 0;
}

}  // namespace

void FillProcessFacts(BlockHeader& header) {
  header.process_id = static_cast<uint64_t>(OwnProcessId());
  header.start_realtime_ns = RealtimeNs();
  header.start_monotonic_ns = MonotonicNs();
  const std::string program = OwnProgramPath();
  header.program[program.copy(header.program, sizeof(header.program) - 1)] = 0;
  NameWindowsProgram(header);
  std::strncpy(header.library_version, CAIRN_LIBRARY_VERSION, sizeof(header.library_version) - 1);
}

}  // namespace cairn
