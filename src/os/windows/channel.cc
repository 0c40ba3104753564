// SPDX-License-Identifier: Apache-2.0
#include "os/windows/channel.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <cwchar>
#include <utility>

#include "os/random.h"
#include "os/this_process.h"
// Included after windows.h.
#include <sddl.h>

namespace cairn {
namespace {

constexpr DWORD kPipeBytes = 64u << 10;

// A receiver that takes no message for this time is taken to be stopped.
constexpr DWORD kPatienceMs = 1000;

HANDLE RawOf(RawHandle end) {
  return reinterpret_cast<HANDLE>(end);
}

// Reading or writing that may take its time: its event, and what became of it.
class Transfer {
 public:
  Transfer() : event_(Owned(CreateEventW(nullptr, TRUE, FALSE, nullptr))) {
    overlapped_.hEvent = HandleOf(event_);
  }
  OVERLAPPED* overlapped() { return &overlapped_; }

  // Waits for the end of a ReadFile or WriteFile, whose result is `done`. Returns 0, the system's
  // error number, or WAIT_TIMEOUT.
  DWORD End(HANDLE pipe, BOOL done, DWORD timeout_ms, DWORD* bytes) {
    if (done == 0 && GetLastError() != ERROR_IO_PENDING) return GetLastError();
    const bool in_time = WaitForSingleObject(HandleOf(event_), timeout_ms) == WAIT_OBJECT_0;
    if (!in_time) CancelIoEx(pipe, &overlapped_);
    // The transfer may have ended meanwhile.
    if (GetOverlappedResult(pipe, &overlapped_, bytes, TRUE) != 0) return 0;
    return in_time ? GetLastError() : WAIT_TIMEOUT;
  }

 private:
  SystemHandle event_;
  OVERLAPPED overlapped_ = {};
};

Status NotTaken(DWORD error) {
  SetLastError(error);
  return Status(StatusCode::kIo, "the watcher does not take the message: " + LastError().message());
}

}  // namespace

PipeName NameOfPipe(HANDLE end) {
  struct {
    DWORD bytes;
    wchar_t text[128];
  } info = {};
  PipeName name;
  if (GetFileType(end) == FILE_TYPE_PIPE &&
      GetFileInformationByHandleEx(end, FileNameInfo, &info, sizeof(info)) != 0) {
    const size_t length = std::min<size_t>(info.bytes / sizeof(wchar_t), name.text.size() - 1);
    std::copy_n(info.text, length, name.text.begin());
  }
  return name;
}

std::wstring UserOf(HANDLE process) {
  HANDLE opened = nullptr;
  if (OpenProcessToken(process, TOKEN_QUERY, &opened) == 0) return {};
  const SystemHandle token = Owned(opened);
  std::array<std::byte, 256> bytes;
  DWORD size = 0;
  wchar_t* text = nullptr;
  if (GetTokenInformation(opened, TokenUser, bytes.data(), static_cast<DWORD>(bytes.size()),
                          &size) == 0 ||
      ConvertSidToStringSidW(reinterpret_cast<TOKEN_USER*>(bytes.data())->User.Sid, &text) == 0) {
    return {};
  }
  std::wstring user = text;
  LocalFree(text);
  return user;
}

std::wstring PathOfPipe(const std::string& name) {
  return L"\\\\.\\pipe\\" + Wide(name);
}

HANDLE MakePipe(const std::wstring& path, bool first) {
  // The list of rights names this user only.
  const std::wstring rights = L"D:P(A;;GA;;;" + UserOf(GetCurrentProcess()) + L")";
  SECURITY_ATTRIBUTES security = {sizeof(security), nullptr, FALSE};
  if (ConvertStringSecurityDescriptorToSecurityDescriptorW(
          rights.c_str(), SDDL_REVISION_1, &security.lpSecurityDescriptor, nullptr) == 0) {
    return INVALID_HANDLE_VALUE;
  }
  const HANDLE pipe = CreateNamedPipeW(
      path.c_str(),
      PIPE_ACCESS_DUPLEX | FILE_FLAG_OVERLAPPED | (first ? FILE_FLAG_FIRST_PIPE_INSTANCE : 0),
      PIPE_TYPE_MESSAGE | PIPE_READMODE_MESSAGE | PIPE_REJECT_REMOTE_CLIENTS,
      PIPE_UNLIMITED_INSTANCES, kPipeBytes, kPipeBytes, 0, &security);
  const DWORD error = GetLastError();
  LocalFree(security.lpSecurityDescriptor);
  SetLastError(error);
  return pipe;
}

HANDLE ConnectToPipe(const std::wstring& path) {
  // The server may learn who this is, and not act as him.
  const HANDLE pipe =
      CreateFileW(path.c_str(), GENERIC_READ | GENERIC_WRITE, 0, nullptr, OPEN_EXISTING,
                  FILE_FLAG_OVERLAPPED | SECURITY_SQOS_PRESENT | SECURITY_IDENTIFICATION, nullptr);
  DWORD mode = PIPE_READMODE_MESSAGE;
  if (pipe != INVALID_HANDLE_VALUE) SetNamedPipeHandleState(pipe, &mode, nullptr, nullptr);
  return pipe;
}

AttachedMemory AttachedMemory::Of(const SharedMemory& memory) {
  return AttachedMemory(CopyOf(memory.handle()));
}

Result<ChannelEnds> MakeChannel() {
  uint64_t secret = 0;
  if (!FillWithSecrets(std::as_writable_bytes(std::span(&secret, 1)))) {
    return Status(StatusCode::kIo, "the watcher's pipe cannot be made: there is no random number");
  }
  const std::wstring path =
      PathOfPipe(fmt::format("cairn-channel-{}-{:016x}", OwnProcessId(), secret));
  ChannelEnds ends;
  ends.first = Owned(MakePipe(path, /*first=*/true));
  if (ends.first.valid()) ends.second = Owned(ConnectToPipe(path));
  if (!ends.second.valid()) return StatusFromLastError("the watcher's pipe cannot be made");
  return ends;
}

Result<ProcessHandle> MakerOfChannel(RawHandle end) {
  ULONG maker = 0;
  const PipeName name = NameOfPipe(RawOf(end));
  unsigned named = 0;
  // Older Wine does not know who made a pipe: the name that MakeChannel gave it says so.
  if (name.valid() && GetNamedPipeServerProcessId(RawOf(end), &maker) != 0 &&
      (maker != 0 || std::swscanf(name.text.data(), L"\\cairn-channel-%u-", &named) == 1)) {
    const auto pid = static_cast<ProcessId>(maker != 0 ? maker : named);
    Result<ProcessHandle> opened = OpenProcess(pid);
    if (opened.status().code() == StatusCode::kNotFound) return ProcessHandle{pid, {}};
    return opened;
  }
  return Status(StatusCode::kInvalidArgument,
                "handle " + std::to_string(end) + " is not a watcher's pipe");
}

// "N:NAME" with the name that the system gives it. A launcher may close it, and N be another one then.
std::string TextOfInherited(RawHandle end) {
  return std::to_string(end) + ":" + Utf8(NameOfPipe(RawOf(end)).text.data());
}

RawHandle FindInherited(const char* text) {
  RawHandle handle = -1;
  const char* const end = text + std::strlen(text);
  const auto number = std::from_chars(text, end, handle);
  if (number.ec != std::errc() || handle <= 0) return -1;
  const PipeName name = NameOfPipe(RawOf(handle));
  if (!name.valid()) return -1;
  // Some say only "N".
  if (number.ptr == end) return handle;
  // Names that are made here have no other characters.
  const auto is_same = [](char a, wchar_t b) { return static_cast<wchar_t>(a) == b; };
  const size_t length = std::wcslen(name.text.data());
  const bool found = *number.ptr == ':' && static_cast<size_t>(end - number.ptr - 1) == length &&
                     std::equal(number.ptr + 1, end, name.text.data(), is_same);
  return found ? handle : -1;
}

Status SendOver(RawHandle end, std::span<const std::byte> message, const SharedMemory* memory) {
  ChannelFrame frame = {};
  frame.size_bytes = static_cast<uint32_t>(message.size());
  frame.sender = GetCurrentProcessId();
  frame.end = static_cast<uint64_t>(end);
  std::copy_n(message.begin(), std::min(message.size(), kMostMessageBytes), frame.bytes.begin());
  SystemHandle taken;
  if (memory != nullptr) {
    taken = Owned(CreateEventW(nullptr, TRUE, FALSE, nullptr));
    frame.memory = static_cast<uint64_t>(memory->handle());
    frame.taken = static_cast<uint64_t>(taken.get());
  }
  Transfer transfer;
  DWORD written = 0;
  const BOOL done = WriteFile(RawOf(end), &frame, sizeof(frame), nullptr, transfer.overlapped());
  if (const DWORD error = transfer.End(RawOf(end), done, kPatienceMs, &written)) {
    return NotTaken(error);
  }
  if (memory != nullptr && WaitForSingleObject(HandleOf(taken), kPatienceMs) != WAIT_OBJECT_0) {
    return NotTaken(WAIT_TIMEOUT);
  }
  return Status();
}

Received ReceiveWithin(RawHandle end, uint64_t timeout_ns, ChannelMessage* message) {
  ChannelFrame frame;
  Transfer transfer;
  DWORD read = 0;
  const BOOL done = ReadFile(RawOf(end), &frame, sizeof(frame), nullptr, transfer.overlapped());
  const DWORD error = transfer.End(RawOf(end), done, Milliseconds(timeout_ns), &read);
  if (error == WAIT_TIMEOUT) return Received::kNothing;
  if (error != 0 || read != sizeof(frame)) return Received::kClosed;
  message->data = frame.bytes;
  message->size_bytes = std::min<size_t>(frame.size_bytes, kMostMessageBytes);
  return Received::kMessage;
}

bool IsChannelClosed(RawHandle end) {
  DWORD available = 0;
  return PeekNamedPipe(RawOf(end), nullptr, 0, nullptr, &available, nullptr) == 0;
}

}  // namespace cairn
