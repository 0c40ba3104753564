// SPDX-License-Identifier: Apache-2.0
#include "os/running_processes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#include "os/linux/file_descriptor.h"
#include "os/linux/foreign_handle.h"

namespace cairn {
namespace {

namespace fs = std::filesystem;

std::string FolderOf(ProcessId id) {
  return "/proc/" + std::to_string(id);
}

// Returns the text behind `name` in the process's status; nullopt if there is no such line.
std::optional<std::string> StatusOf(ProcessId id, std::string_view name) {
  std::ifstream status(FolderOf(id) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(name)) return line.substr(name.size());
  }
  return std::nullopt;
}

}  // namespace

std::vector<ProcessId> RunningProcesses() {
  std::vector<ProcessId> ids;
  std::error_code error;
  fs::directory_iterator entry("/proc", error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    pid_t id = 0;
    const char* const end = name.data() + name.size();
    const auto [rest, failed] = std::from_chars(name.data(), end, id);
    if (failed == std::errc() && rest == end && id > 0) ids.push_back(id);
  }
  return ids;
}

ProcessId ParentOf(ProcessId id) {
  const std::optional<std::string> parent = StatusOf(id, "PPid:");
  return parent.has_value() ? std::atoi(parent->c_str()) : -1;
}

ProcessId OwnNumberOf(ProcessId id) {
  std::istringstream numbers(StatusOf(id, "NSpid:").value_or(""));
  ProcessId number = id;
  for (ProcessId next = 0; numbers >> next;) number = next;
  return number;
}

bool WasStartedWith(ProcessId id, const std::string& environment_entry) {
  constexpr size_t kMostBytes = 1u << 20;  // a process may make it longer than it has to be
  const FileDescriptor file(open((FolderOf(id) + "/environ").c_str(), O_RDONLY | O_CLOEXEC));
  std::string text(1, '\0');
  char part[16384];
  while (file.valid() && text.size() < kMostBytes) {
    const ssize_t size = read(file.get(), part, sizeof(part));
    if (size <= 0) break;
    text.append(part, static_cast<size_t>(size));
  }
  text += '\0';
  return text.find('\0' + environment_entry + '\0') != std::string::npos;
}

bool HeldMemory::ReadAt(uint64_t offset, std::span<std::byte> bytes) const {
  return pread(DescriptorOf(handle_), bytes.data(), bytes.size(), static_cast<off_t>(offset)) ==
         static_cast<ssize_t>(bytes.size());
}

Result<SharedMemory> HeldMemory::MapForReading() {
  struct stat info {};
  if (fstat(DescriptorOf(handle_), &info) != 0 || info.st_size <= 0) {
    return Status(StatusCode::kIo, "its size is not known");
  }
  return SharedMemory::MapForReading(std::move(handle_), static_cast<uint64_t>(info.st_size));
}

std::error_code LookAtHeldMemory(ProcessId id, const char* name,
                                 const std::function<bool(HeldMemory& memory)>& look) {
  const std::string link = "/memfd:" + std::string(name) + " (deleted)";
  std::error_code not_opened;
  std::error_code error;
  fs::directory_iterator entry(FolderOf(id) + "/fd", error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    std::error_code gone;
    if (fs::read_symlink(entry->path(), gone) != link) continue;
    // The name may be anything's, and between the look at it and this the process may have put anything there.
    FileDescriptor fd = OpenMemory(entry->path().c_str(), O_RDONLY);
    if (fd.valid()) {
      HeldMemory memory(std::move(fd));
      if (look(memory)) return {};
    } else if (errno != 0) {
      not_opened.assign(errno, std::generic_category());
    }
  }
  return error ? error : not_opened;
}

}  // namespace cairn
