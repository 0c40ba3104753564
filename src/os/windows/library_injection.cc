// SPDX-License-Identifier: Apache-2.0
#include "os/windows/library_injection.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace cairn {
namespace {

constexpr DWORD kLongestLoadMs = 60'000;

// The data of the thread in the other process. The path follows. Functions of kernel32 have the
// same address in all processes, until the machine starts again.
struct Order {
  void* load_library;    // LoadLibraryExW
  void* get_last_error;  // GetLastError
  uint64_t loaded;       // what the first one has returned
  uint64_t error;        // and the second
};
constexpr size_t kPathOffset = sizeof(Order);
static_assert(kPathOffset == 0x20 && offsetof(Order, loaded) == 0x10 &&
              offsetof(Order, error) == 0x18);

// The thread's function: a thread's exit code has 32 bits, which hold neither the address nor the
// reason.
constexpr std::array<uint8_t, 42> kCode = {
    0x53,                          // push rbx
    0x48, 0x83, 0xEC, 0x20,        // sub rsp, 0x20
    0x48, 0x89, 0xCB,              // mov rbx, rcx: the order
    0x48, 0x8D, 0x4B, 0x20,        // lea rcx, [rbx + 0x20]: the path
    0x31, 0xD2,                    // xor edx, edx
    0x41, 0xB8, 0x08, 0,    0, 0,  // mov r8d, LOAD_WITH_ALTERED_SEARCH_PATH
    0xFF, 0x13,                    // call [rbx]: LoadLibraryExW
    0x48, 0x89, 0x43, 0x10,        // mov [rbx + 0x10], rax
    0xFF, 0x53, 0x08,              // call [rbx + 8]: GetLastError
    0x89, 0x43, 0x18,              // mov [rbx + 0x18], eax
    0x31, 0xC0,                    // xor eax, eax
    0x48, 0x83, 0xC4, 0x20,        // add rsp, 0x20
    0x5B,                          // pop rbx
    0xC3,                          // ret
    0xCC, 0xCC,
};
static_assert(LOAD_WITH_ALTERED_SEARCH_PATH == 8);

// Memory of another process. Leave() leaves it there, where a thread may still be using it.
class RemoteMemory {
 public:
  RemoteMemory(HANDLE process, size_t size_bytes)
      : process_(process),
        address_(VirtualAllocEx(process, nullptr, size_bytes, MEM_COMMIT | MEM_RESERVE,
                                PAGE_READWRITE)) {}
  ~RemoteMemory() {
    if (address_ != nullptr) VirtualFreeEx(process_, address_, 0, MEM_RELEASE);
  }
  RemoteMemory(const RemoteMemory&) = delete;
  RemoteMemory& operator=(const RemoteMemory&) = delete;

  void* address() const { return address_; }
  void Leave() { address_ = nullptr; }
  bool Write(const void* bytes, size_t size_bytes) const {
    return address_ != nullptr &&
           WriteProcessMemory(process_, address_, bytes, size_bytes, nullptr) != 0;
  }
  bool Read(void* bytes, size_t size_bytes) const {
    return ReadProcessMemory(process_, address_, bytes, size_bytes, nullptr) != 0;
  }
  bool MakeExecutable(size_t size_bytes) const {
    DWORD before = 0;
    return VirtualProtectEx(process_, address_, size_bytes, PAGE_EXECUTE_READ, &before) != 0 &&
           FlushInstructionCache(process_, address_, size_bytes) != 0;
  }

 private:
  HANDLE process_;
  void* address_;
};

void* AddressOf(const char* function) {
  return reinterpret_cast<void*>(GetProcAddress(GetModuleHandleW(L"kernel32.dll"), function));
}

// An order and the path behind it.
std::vector<std::byte> BytesOfOrder(const std::wstring& library) {
  const Order order = {AddressOf("LoadLibraryExW"), AddressOf("GetLastError"), 0, 0};
  std::vector<std::byte> bytes(kPathOffset + (library.size() + 1) * sizeof(wchar_t));
  std::memcpy(bytes.data(), &order, sizeof(order));
  std::memcpy(bytes.data() + kPathOffset, library.c_str(), bytes.size() - kPathOffset);
  return bytes;
}

Status NotLoaded(const std::wstring& library, const std::string& why) {
  return Status(StatusCode::kIo, fmt::format("{} is not loaded into it: {}", Utf8(library), why));
}

std::string InWords(DWORD error) {
  SetLastError(error);
  return LastError().default_error_condition().message();
}

bool IsOfOtherKind(HANDLE process) {
  BOOL is_of_32_bits = FALSE;
  return IsWow64Process(process, &is_of_32_bits) != 0 && is_of_32_bits != 0;
}

}  // namespace

bool IsProgramOf32Bits(const std::wstring& file) {
  DWORD kind = 0;
  return GetBinaryTypeW(file.c_str(), &kind) != 0 && kind == SCS_32BIT_BINARY;
}

Status LoadIntoProcess(HANDLE process, const std::wstring& library) {
  if (IsOfOtherKind(process)) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("{} has 64 bits, and the program 32", Utf8(library)));
  }
  const std::vector<std::byte> bytes = BytesOfOrder(library);
  RemoteMemory code(process, kCode.size());
  RemoteMemory order(process, bytes.size());
  if (!code.Write(kCode.data(), kCode.size()) || !code.MakeExecutable(kCode.size()) ||
      !order.Write(bytes.data(), bytes.size())) {
    return NotLoaded(library, InWords(GetLastError()));
  }
  const SystemHandle thread = Owned(CreateRemoteThread(
      process, nullptr, 0, reinterpret_cast<LPTHREAD_START_ROUTINE>(code.address()),
      order.address(), 0, nullptr));
  if (!thread.valid()) return NotLoaded(library, InWords(GetLastError()));
  const HANDLE ends[] = {HandleOf(thread), process};
  if (WaitForMultipleObjects(2, ends, FALSE, kLongestLoadMs) != WAIT_OBJECT_0) {
    code.Leave();
    order.Leave();
    const bool has_ended = WaitForSingleObject(process, 0) == WAIT_OBJECT_0;
    return NotLoaded(library, has_ended ? "the process has ended" : "that has taken a minute");
  }
  Order done = {};
  if (!order.Read(&done, sizeof(done))) return NotLoaded(library, "the process has ended");
  if (done.loaded == 0) return NotLoaded(library, InWords(static_cast<DWORD>(done.error)));
  return Status();
}

}  // namespace cairn
