// SPDX-License-Identifier: Apache-2.0
#include "os/windows/exit_code.h"

#include <fmt/format.h>

#include <array>

#include "base/signal_name.h"

namespace cairn {
namespace {

static_assert(kKilledExitCode == kKilledByCairn);
constexpr uint32_t kCppException = 0xE06D'7363;  // thrown, and caught by nobody

struct Named {
  uint32_t code;
  const char* name;
};
constexpr std::array kNamed = {
    Named{0x4001'0004, "DBG_TERMINATE_PROCESS (its console was closed, or the session ended)"},
    Named{0x8000'0002, "EXCEPTION_DATATYPE_MISALIGNMENT"},
    Named{0x8000'0003, "EXCEPTION_BREAKPOINT"},
    Named{0x8000'0004, "EXCEPTION_SINGLE_STEP"},
    Named{0xC000'0005, "EXCEPTION_ACCESS_VIOLATION"},
    Named{0xC000'0006, "EXCEPTION_IN_PAGE_ERROR"},
    Named{0xC000'0017, "STATUS_NO_MEMORY"},
    Named{0xC000'001D, "EXCEPTION_ILLEGAL_INSTRUCTION"},
    Named{0xC000'0025, "EXCEPTION_NONCONTINUABLE_EXCEPTION"},
    Named{0xC000'008C, "EXCEPTION_ARRAY_BOUNDS_EXCEEDED"},
    Named{0xC000'008E, "EXCEPTION_FLT_DIVIDE_BY_ZERO"},
    Named{0xC000'0094, "EXCEPTION_INT_DIVIDE_BY_ZERO"},
    Named{0xC000'0095, "EXCEPTION_INT_OVERFLOW"},
    Named{0xC000'0096, "EXCEPTION_PRIV_INSTRUCTION"},
    Named{0xC000'00FD, "EXCEPTION_STACK_OVERFLOW"},
    Named{0xC000'0135, "STATUS_DLL_NOT_FOUND"},
    Named{0xC000'0139, "STATUS_ENTRYPOINT_NOT_FOUND"},
    Named{0xC000'013A, "STATUS_CONTROL_C_EXIT"},
    Named{0xC000'0142, "STATUS_DLL_INIT_FAILED"},
    Named{0xC000'0374, "STATUS_HEAP_CORRUPTION"},
    Named{0xC000'0409, "STATUS_STACK_BUFFER_OVERRUN (fastfail)"},
    Named{0xC000'0417, "STATUS_INVALID_CRUNTIME_PARAMETER"},
    Named{0xC000'0420, "STATUS_ASSERTION_FAILURE"},
    Named{kKilledExitCode, "TerminateProcess"},
    Named{kCppException, "an uncaught C++ exception"},
};

}  // namespace

std::string NameOfExitCode(uint32_t code) {
  for (const Named& named : kNamed) {
    if (named.code == code) return named.name;
  }
  return fmt::format("exception 0x{:08X}", code);
}

}  // namespace cairn
