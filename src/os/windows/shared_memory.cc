// SPDX-License-Identifier: Apache-2.0
//
// Sections of the page file. Their size is fixed when they are made: nothing can shrink them.
#include "os/shared_memory.h"

#include <algorithm>
#include <string>
#include <utility>

#include "os/memory.h"
#include "os/this_process.h"
#include "os/windows/system.h"
// Behind it.
#include <winternl.h>

namespace cairn {
namespace {

constexpr DWORD kReadWrite = FILE_MAP_READ | FILE_MAP_WRITE;

// What is mapped there, in whole pages; 0 if that is not known.
uint64_t MappedBytes(const void* view) {
  MEMORY_BASIC_INFORMATION info = {};
  return VirtualQuery(view, &info, sizeof(info)) == 0 ? 0 : info.RegionSize;
}

// In the part of the system's names that is this session's.
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

// Named "NAME-PID-N" with the lowest N that nobody has: somebody may have taken names, or still hold memory of an
// earlier process of this number.
Result<SharedMemory> SharedMemory::Create(const char* name, uint64_t size_bytes) {
  constexpr int kMostNames = 64;
  const std::string problem =
      "shared memory of " + std::to_string(size_bytes) + " bytes cannot be ";
  SharedMemory memory;
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

Result<SharedMemory> SharedMemory::MapForReading(SystemHandle memory, uint64_t size_bytes) {
  return Map(std::move(memory), size_bytes, false);
}

Result<SharedMemory> SharedMemory::MapForWriting(SystemHandle memory, uint64_t size_bytes) {
  return Map(std::move(memory), size_bytes, true);
}

Result<SharedMemory> SharedMemory::Map(SystemHandle handle, uint64_t size_bytes, bool writable) {
  SharedMemory memory;
  // All of it: a view of `size_bytes` would not show that there is more.
  memory.data_ = static_cast<std::byte*>(
      MapViewOfFile(HandleOf(handle), writable ? kReadWrite : FILE_MAP_READ, 0, 0, 0));
  if (memory.data_ == nullptr) {
    const Status status = StatusFromLastError("the memory handed over cannot be mapped");
    // What is no memory, or is not open, was never made by Create.
    return GetLastError() == ERROR_INVALID_HANDLE ? Status(StatusCode::kCorrupt, status.message())
                                                  : status;
  }
  const uint64_t mapped = MappedBytes(memory.data_);
  const uint64_t page = PageBytes();
  if (size_bytes == 0 || (size_bytes + page - 1) / page * page != mapped) {
    return Status(StatusCode::kCorrupt, "the memory handed over has " + std::to_string(mapped) +
                                            " bytes, not the " + std::to_string(size_bytes) +
                                            " announced");
  }
  memory.size_bytes_ = size_bytes;
  memory.name_ = NameOf(HandleOf(handle));
  return memory;
}

std::string SharedMemory::PathForOthers() const {
  return Utf8(WholeName(name_));
}

Result<SharedMemory> SharedMemory::MapPathForWriting(const std::string& path) {
  const SystemHandle section = Owned(OpenFileMappingW(kReadWrite, FALSE, Wide(path).c_str()));
  if (!section.valid()) return StatusFromLastError(path);
  const void* const view = MapViewOfFile(HandleOf(section), FILE_MAP_READ, 0, 0, 0);
  const uint64_t size_bytes = view == nullptr ? 0 : MappedBytes(view);
  if (view != nullptr) UnmapViewOfFile(view);
  return MapForWriting(CopyOf(section.get()), size_bytes);
}

Result<SharedMemory> SharedMemory::MapAgainForReading() const {
  SystemHandle again = CopyOf(handle_.get());
  if (!again.valid()) return StatusFromLastError("shared memory cannot be mapped a second time");
  return MapForReading(std::move(again), size_bytes_);
}

SharedMemory::~SharedMemory() {
  if (data_ != nullptr) UnmapViewOfFile(data_);
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_bytes_(std::exchange(other.size_bytes_, 0)),
      handle_(std::move(other.handle_)),
      name_(std::move(other.name_)) {}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_bytes_, other.size_bytes_);
  std::swap(handle_, other.handle_);
  std::swap(name_, other.name_);
  return *this;
}

}  // namespace cairn
