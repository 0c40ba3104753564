// SPDX-License-Identifier: Apache-2.0
//
// Sections of the page file. Their size is fixed when they are made: nothing can shrink them.
#include "os/shared_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>

#include "os/linux_half.h"
#include "os/memory.h"
#include "os/this_process.h"
#include "os/windows/system.h"
// Included after windows.h.
#include <winternl.h>

namespace cairn {
namespace {

constexpr DWORD kReadWrite = FILE_MAP_READ | FILE_MAP_WRITE;

// Returns the accessible bytes there, in whole pages; 0 if there are none, or if unknown.
uint64_t MappedBytes(const void* view) {
  MEMORY_BASIC_INFORMATION info = {};
  if (VirtualQuery(view, &info, sizeof(info)) == 0 || info.State != MEM_COMMIT) return 0;
  return info.RegionSize;
}

// The memory of another process, as PathForOthers writes it: "process/4711/handle/128/bytes/8192".
// A section itself stores whole pages only.
struct MemoryElsewhere {
  DWORD process_id = 0;
  RawHandle handle = 0;
  uint64_t size_bytes = 0;
};

constexpr std::string_view kProcess = "process/";
constexpr std::string_view kHandle = "/handle/";
constexpr std::string_view kBytes = "/bytes/";

// Takes `word` and the number behind it from the front of `text`.
template <typename Number>
bool Take(std::string_view word, Number* number, std::string_view* text) {
  if (!text->starts_with(word)) return false;
  text->remove_prefix(word.size());
  const char* const end = text->data() + text->size();
  const auto [rest, error] = std::from_chars(text->data(), end, *number);
  text->remove_prefix(static_cast<size_t>(rest - text->data()));
  return error == std::errc();
}

Result<MemoryElsewhere> ParsePath(std::string_view path) {
  MemoryElsewhere found;
  std::string_view text = path;
  // Rejects negative handles: they stand for the process that uses them, and its threads.
  if (Take(kProcess, &found.process_id, &text) && Take(kHandle, &found.handle, &text) &&
      Take(kBytes, &found.size_bytes, &text) && text.empty() && found.process_id != 0 &&
      found.handle > 0) {
    return found;
  }
  return Status(StatusCode::kInvalidArgument,
                fmt::format("'{}' is no memory of another process: that is written process/NUMBER"
                            "/handle/NUMBER/bytes/NUMBER",
                            path));
}

// A copy of it for this process.
Result<SystemHandle> CopyFrom(const MemoryElsewhere& elsewhere, const std::string& path) {
  const SystemHandle process =
      Owned(::OpenProcess(PROCESS_DUP_HANDLE, FALSE, elsewhere.process_id));
  if (!process.valid()) {
    // The system's word for a number that no process has.
    if (GetLastError() == ERROR_INVALID_PARAMETER) {
      return Status(StatusCode::kNotFound, path + ": there is no such process");
    }
    return StatusFromLastError(path);
  }
  HANDLE copy = nullptr;
  if (DuplicateHandle(HandleOf(process), reinterpret_cast<HANDLE>(elsewhere.handle),
                      GetCurrentProcess(), &copy, 0, FALSE, DUPLICATE_SAME_ACCESS) == 0) {
    return StatusFromLastError(path);
  }
  return Owned(copy);
}

// Returns the name in this session's part of the system's names.
std::wstring WholeName(const std::string& name) {
  return L"Local\\" + Wide(name);
}

SystemHandle MakeSection(uint64_t size_bytes, const wchar_t* name) {
  return Owned(CreateFileMappingW(INVALID_HANDLE_VALUE, nullptr, PAGE_READWRITE,
                                  static_cast<DWORD>(size_bytes >> 32),
                                  static_cast<DWORD>(size_bytes), name));
}

// The last part of what the system calls it; "" if it has no name, or one that was not given here.
std::string NameOf(HANDLE section) {
  constexpr size_t kMostBytes = 100;
  using Query = NTSTATUS(NTAPI*)(HANDLE, int, void*, ULONG, ULONG*);
  constexpr int kNameInformation = 1;  // ObjectNameInformation, which not all headers have
  static const auto query = reinterpret_cast<Query>(
      reinterpret_cast<void*>(GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "NtQueryObject")));
  struct {
    UNICODE_STRING name;
    wchar_t text[512];
  } told = {};
  if (query == nullptr || query(section, kNameInformation, &told, sizeof(told), nullptr) < 0) {
    return {};
  }
  const std::wstring_view whole(told.name.Buffer, told.name.Length / sizeof(wchar_t));
  const std::string name = Utf8(whole.substr(whole.rfind(L'\\') + 1));
  return name.size() <= kMostBytes ? name : std::string();
}

}  // namespace

// Memory is named "NAME-PID-N" with the lowest free N: another process may have taken names, or
// still hold memory of an earlier process of this number.
uint64_t SharedMemory::MostBytes() {
  return ~uint64_t{0};
}

void SharedMemory::ForgetPages() const {}

Result<SharedMemory> SharedMemory::Create(const char* name, uint64_t size_bytes) {
  constexpr int kMostNames = 64;
  const std::string problem =
      "shared memory of " + std::to_string(size_bytes) + " bytes cannot be ";
  SharedMemory memory;
  if (LinuxHalf* const half = FindLinuxHalf()) {
    memory.data_ = static_cast<std::byte*>(half->CreateMemory(name, size_bytes));
    if (memory.data_ == nullptr) return Status(StatusCode::kOutOfMemory, problem + "reserved");
    memory.size_bytes_ = size_bytes;
    return memory;
  }
  for (int i = 0; i < kMostNames && !memory.handle_.valid(); ++i) {
    memory.name_ = name + ("-" + std::to_string(OwnProcessId()) + "-" + std::to_string(i));
    memory.handle_ = MakeSection(size_bytes, WholeName(memory.name_).c_str());
    if (GetLastError() == ERROR_ALREADY_EXISTS) memory.handle_.Close();
  }
  if (!memory.handle_.valid()) {
    memory.name_.clear();
    memory.handle_ = MakeSection(size_bytes, nullptr);
  }
  if (!memory.handle_.valid()) return StatusFromLastError(problem + "reserved");
  memory.data_ = static_cast<std::byte*>(
      MapViewOfFile(HandleOf(memory.handle_), kReadWrite, 0, 0, size_bytes));
  if (memory.data_ == nullptr) return StatusFromLastError(problem + "mapped");
  memory.size_bytes_ = size_bytes;
  return memory;
}

Result<SharedMemory> SharedMemory::Map(SystemHandle handle, uint64_t size_bytes, bool writable) {
  SharedMemory memory;
  // All of it: a view of `size_bytes` would not show that there is more.
  memory.data_ = static_cast<std::byte*>(
      MapViewOfFile(HandleOf(handle), writable ? kReadWrite : FILE_MAP_READ, 0, 0, 0));
  // A handle that is closed or is no memory was not made by Create.
  if (memory.data_ == nullptr && GetLastError() == ERROR_INVALID_HANDLE) {
    return Status(StatusCode::kCorrupt, "what was handed over is no memory");
  }
  if (memory.data_ == nullptr) {
    return StatusFromLastError("the memory handed over cannot be mapped");
  }
  const uint64_t mapped = MappedBytes(memory.data_);
  const uint64_t page = PageBytes();
  if (size_bytes == 0 || size_bytes > mapped || mapped - size_bytes >= page) {
    return Status(StatusCode::kCorrupt, "the memory handed over has " + std::to_string(mapped) +
                                            " bytes, not the " + std::to_string(size_bytes) +
                                            " announced");
  }
  memory.size_bytes_ = size_bytes;
  memory.name_ = NameOf(HandleOf(handle));
  return memory;
}

std::string SharedMemory::PathForOthers() const {
  return fmt::format("{}{}{}{}{}{}", kProcess, GetCurrentProcessId(), kHandle, handle_.get(),
                     kBytes, size_bytes_);
}

Result<SharedMemory> SharedMemory::MapPathForWriting(const std::string& path) {
  if (LinuxHalf* const half = FindLinuxHalf()) {
    SharedMemory memory;
    memory.data_ = static_cast<std::byte*>(half->MapMemory(path.c_str(), &memory.size_bytes_));
    if (memory.data_ != nullptr) return memory;
    return Status(StatusCode::kNotFound, path + ": the Linux half of Cairn cannot map it");
  }
  const Result<MemoryElsewhere> elsewhere = ParsePath(path);
  if (!elsewhere.ok()) return elsewhere.status();
  Result<SystemHandle> handle = CopyFrom(*elsewhere, path);
  if (!handle.ok()) return handle.status();
  Result<SharedMemory> memory = Map(std::move(*handle), elsewhere->size_bytes, true);
  return memory.ok() ? std::move(memory) : memory.status().WithContext(path);
}

Result<SharedMemory> SharedMemory::MapAgainForReading() const {
  SystemHandle again = CopyOf(handle_.get());
  if (!again.valid()) return StatusFromLastError("shared memory cannot be mapped a second time");
  return MapForReading(std::move(again), size_bytes_);
}

SharedMemory::~SharedMemory() {
  if (data_ == nullptr || borrowed_) return;
  if (LinuxHalf* const half = FindLinuxHalf()) {
    half->FreeMemory(data_);
  } else {
    UnmapViewOfFile(data_);
  }
}

}  // namespace cairn
