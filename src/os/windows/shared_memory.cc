// SPDX-License-Identifier: Apache-2.0
//
// Sections of the page file. Their size is fixed when they are made: nothing can shrink them.
#include "os/shared_memory.h"

#include <string>
#include <utility>

#include "os/memory.h"
#include "os/windows/system.h"

namespace cairn {
namespace {

constexpr DWORD kReadWrite = FILE_MAP_READ | FILE_MAP_WRITE;

// What is mapped there, in whole pages; 0 if that is not known.
uint64_t MappedBytes(const void* view) {
  MEMORY_BASIC_INFORMATION info = {};
  return VirtualQuery(view, &info, sizeof(info)) == 0 ? 0 : info.RegionSize;
}

}  // namespace

// Nobody can look for it by name: it has none, as the file of memory on Linux has none in any folder.
Result<SharedMemory> SharedMemory::Create(const char*, uint64_t size_bytes) {
  const std::string problem =
      "shared memory of " + std::to_string(size_bytes) + " bytes cannot be ";
  SharedMemory memory;
  memory.handle_ = Owned(CreateFileMappingW(INVALID_HANDLE_VALUE, nullptr, PAGE_READWRITE,
                                            static_cast<DWORD>(size_bytes >> 32),
                                            static_cast<DWORD>(size_bytes), nullptr));
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
    return StatusFromLastError("the memory handed over cannot be mapped");
  }
  const uint64_t mapped = MappedBytes(memory.data_);
  const uint64_t page = PageBytes();
  if (size_bytes == 0 || (size_bytes + page - 1) / page * page != mapped) {
    return Status(StatusCode::kCorrupt, "the memory handed over has " + std::to_string(mapped) +
                                            " bytes, not the " + std::to_string(size_bytes) +
                                            " announced");
  }
  memory.size_bytes_ = size_bytes;
  return memory;
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
      handle_(std::move(other.handle_)) {}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_bytes_, other.size_bytes_);
  std::swap(handle_, other.handle_);
  return *this;
}

}  // namespace cairn
