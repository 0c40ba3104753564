// SPDX-License-Identifier: Apache-2.0
#include "os/running_processes.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "os/windows/process_memory.h"
#include "os/windows/system.h"
// Included after windows.h.
#include <psapi.h>

namespace cairn {
namespace {

SystemHandle OpenToLook(ProcessId id) {
  return Owned(::OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION | SYNCHRONIZE, FALSE,
                             static_cast<DWORD>(id)));
}

// Returns the start time in units of the system; 0 if unknown.
uint64_t StartOf(ProcessId id) {
  const SystemHandle process = OpenToLook(id);
  FILETIME start = {};
  FILETIME others[3];
  if (!process.valid() ||
      GetProcessTimes(HandleOf(process), &start, &others[0], &others[1], &others[2]) == 0) {
    return 0;
  }
  return uint64_t{start.dwHighDateTime} << 32 | start.dwLowDateTime;
}

// A whole section; null if it cannot be read.
class View {
 public:
  explicit View(const SystemHandle& section)
      : data_(static_cast<const std::byte*>(
            MapViewOfFile(HandleOf(section), FILE_MAP_READ, 0, 0, 0))) {}
  ~View() {
    if (data_ != nullptr) UnmapViewOfFile(data_);
  }
  View(const View&) = delete;
  View& operator=(const View&) = delete;

  const std::byte* data() const { return data_; }
  uint64_t size_bytes() const {
    MEMORY_BASIC_INFORMATION info = {};
    return data_ == nullptr || VirtualQuery(data_, &info, sizeof(info)) == 0 ? 0 : info.RegionSize;
  }

 private:
  const std::byte* data_;
};

}  // namespace

std::vector<ProcessId> RunningProcesses() {
  std::vector<DWORD> ids(256);
  DWORD bytes = 0;
  // The system does not report the number, only that the whole room was used.
  while (EnumProcesses(ids.data(), static_cast<DWORD>(ids.size() * sizeof(DWORD)), &bytes) != 0 &&
         bytes == ids.size() * sizeof(DWORD)) {
    ids.resize(ids.size() * 2);
  }
  ids.resize(bytes / sizeof(DWORD));
  // 0 is what runs when nothing does.
  std::erase(ids, 0u);
  return {ids.begin(), ids.end()};
}

ProcessId ParentOf(ProcessId id) {
  const ProcessId starter = StarterOf(id);
  const uint64_t start = StartOf(starter);
  // A later process may have that number by now.
  return start == 0 || start > StartOf(id) ? -1 : starter;
}

ProcessId OwnNumberOf(ProcessId id) {
  return id;
}

bool WasStartedWith(ProcessId id, const std::string& environment_entry) {
  constexpr size_t kMostUnits = 1u << 20;
  const std::wstring wanted = L'\0' + Wide(environment_entry) + L'\0';
  return (L'\0' + EnvironmentIn(id, kMostUnits)).find(wanted) != std::wstring::npos;
}

bool HeldMemory::ReadAt(uint64_t offset, std::span<std::byte> bytes) const {
  const View view(handle_);
  const uint64_t size_bytes = view.size_bytes();
  if (offset > size_bytes || bytes.size() > size_bytes - offset) return false;
  std::memcpy(bytes.data(), view.data() + offset, bytes.size());
  return true;
}

Result<SharedMemory> HeldMemory::MapForReading() {
  const uint64_t size_bytes = View(handle_).size_bytes();
  if (size_bytes == 0) return Status(StatusCode::kIo, "its size is not known");
  return SharedMemory::MapForReading(std::move(handle_), size_bytes);
}

// Finds the memory by the names that SharedMemory::Create gives: the lowest free numbers, of which
// few are in use.
std::error_code LookAtHeldMemory(ProcessId id, const char* name,
                                 const std::function<bool(HeldMemory& memory)>& look) {
  constexpr int kMostNames = 8;
  const SystemHandle process = OpenToLook(id);
  const bool is_there = process.valid() ? WaitForSingleObject(HandleOf(process), 0) != WAIT_OBJECT_0
                                        : GetLastError() == ERROR_ACCESS_DENIED;
  if (!is_there) return std::make_error_code(std::errc::no_such_process);
  std::error_code not_opened;
  for (int i = 0; i < kMostNames; ++i) {
    const std::string whole = std::string("Local\\") + name + "-" + std::to_string(id) + "-";
    SystemHandle section =
        Owned(OpenFileMappingW(FILE_MAP_READ, FALSE, Wide(whole + std::to_string(i)).c_str()));
    if (section.valid()) {
      HeldMemory memory(std::move(section));
      if (look(memory)) return {};
    } else if (GetLastError() != ERROR_FILE_NOT_FOUND) {
      not_opened = LastError();
    }
  }
  return not_opened;
}

}  // namespace cairn
