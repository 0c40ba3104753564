// SPDX-License-Identifier: Apache-2.0
//
// Shared by both ends of a channel: pipes of messages, and the layout of a message.
#ifndef CAIRN_OS_WINDOWS_CHANNEL_H_
#define CAIRN_OS_WINDOWS_CHANNEL_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "os/channel.h"
#include "os/windows/system.h"

namespace cairn {

// One message of a pipe. Attached handles stay with the sender, which gives its own numbers of
// them: the receiver copies the handles and sets `taken`, for which the sender waits. So a number
// is valid in the sender's process only, and nothing is lost if the sender dies after that.
struct ChannelFrame {
  uint32_t size_bytes = 0;  // of the message, which may be longer than what is here
  uint32_t sender =
      0;  // its process; believed only if that process has this end of the pipe, or is gone
  uint64_t end = 0;     // handle of the pipe there
  uint64_t memory = 0;  // handle of a section there; 0: none
  uint64_t taken = 0;   // handle of an event there
  std::array<std::byte, kMostMessageBytes> bytes;
};

// "\cairn-1234-..."; what the system calls the pipe that this is an end of. "" if it is none.
struct PipeName {
  std::array<wchar_t, 128> text = {};
  bool operator==(const PipeName&) const = default;
  bool valid() const { return text[0] != 0; }
};
PipeName NameOfPipe(HANDLE end);

// An end that listens. Only this user's processes on this machine may connect.
HANDLE MakePipe(const std::wstring& name, bool first);
// The other end; INVALID_HANDLE_VALUE and GetLastError.
HANDLE ConnectToPipe(const std::wstring& name);
// "\\.\pipe\NAME"
std::wstring PathOfPipe(const std::string& name);

// Returns the user whose rights a process has, as the text of the user's number; "" if it cannot be
// read.
std::wstring UserOf(HANDLE process);

}  // namespace cairn

#endif  // CAIRN_OS_WINDOWS_CHANNEL_H_
