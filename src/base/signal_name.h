// SPDX-License-Identifier: Apache-2.0
#ifndef CAIRN_BASE_SIGNAL_NAME_H_
#define CAIRN_BASE_SIGNAL_NAME_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace cairn {

// Signal numbers of Linux on x86-64 and ARM, as they stand in blocks and files; either may be read on another
// system.
inline constexpr int64_t kSignalKill = 9;

// "SIGSEGV"; empty if unknown.
constexpr std::string_view SignalName(int64_t number) {
  switch (number) {
    case 1: return "SIGHUP";
    case 2: return "SIGINT";
    case 3: return "SIGQUIT";
    case 4: return "SIGILL";
    case 5: return "SIGTRAP";
    case 6: return "SIGABRT";
    case 7: return "SIGBUS";
    case 8: return "SIGFPE";
    case kSignalKill: return "SIGKILL";
    case 10: return "SIGUSR1";
    case 11: return "SIGSEGV";
    case 12: return "SIGUSR2";
    case 13: return "SIGPIPE";
    case 14: return "SIGALRM";
    case 15: return "SIGTERM";
    case 24: return "SIGXCPU";
    case 25: return "SIGXFSZ";
    case 31: return "SIGSYS";
    default: return "";
  }
}

// "signal 11 (SIGSEGV)"; "signal 40" for what has no name.
inline std::string SignalInWords(int64_t number) {
  const std::string words = "signal " + std::to_string(number);
  const std::string_view name = SignalName(number);
  return name.empty() ? words : words + " (" + std::string(name) + ")";
}

// True for those with which others end a program; what its own code raises is a fault.
constexpr bool IsSentFromOutside(int64_t number) {
  switch (number) {
    case 1:
    case 2:
    case 3:
    case kSignalKill:
    case 14:
    case 15:
    case 24: return true;
    default: return false;
  }
}

}  // namespace cairn

#endif  // CAIRN_BASE_SIGNAL_NAME_H_
