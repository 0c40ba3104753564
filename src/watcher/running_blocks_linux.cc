// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>

#include "format/block/block.h"
#include "format/block/handover.h"
#include "os/linux/file_descriptor.h"
#include "os/process.h"
#include "watcher/running_blocks.h"

namespace cairn {
namespace {

namespace fs = std::filesystem;

// What an open block is called by the kernel. (Its name is no more proof than any other name: the header
// is read before anything is concluded.)
std::string BlockLink() {
  return fmt::format("/memfd:{} (deleted)", kBlockMemoryName);
}

std::optional<ProcessId> ProcessNumber(const std::string& text) {
  ProcessId pid = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, pid);
  if (error != std::errc() || rest != end || pid <= 0) return std::nullopt;
  return pid;
}

// The number by which the process knows itself: another one in a container.
ProcessId OwnNumberOf(ProcessId pid) {
  std::ifstream status(fmt::format("/proc/{}/status", pid));
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with("NSpid:")) continue;
    std::istringstream numbers(line.substr(line.find(':') + 1));
    ProcessId number = pid;
    while (numbers >> number) {
    }
    return number;
  }
  return pid;
}

// The beginning of a block's header, if it is one.
struct Head {
  uint64_t process_id = 0;
  std::string program;
};
std::optional<Head> ReadHead(int fd) {
  uint64_t magic = 0;
  Head head;
  char program[sizeof(BlockHeader::program)];
  const auto read = [fd](void* out, size_t bytes, size_t offset) {
    return pread(fd, out, bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes);
  };
  if (!read(&magic, sizeof(magic), offsetof(BlockHeader, magic)) || magic != kBlockMagic ||
      !read(&head.process_id, sizeof(head.process_id), offsetof(BlockHeader, process_id)) ||
      !read(program, sizeof(program), offsetof(BlockHeader, program))) {
    return std::nullopt;
  }
  head.program.assign(program, strnlen(program, sizeof(program)));
  return head;
}

// Opens what a descriptor of another process refers to, if it is memory as blocks are in. Between the look at its
// name and this the process may have put anything there: opening a FIFO would wait for its writer, and
// opening a terminal could make it ours.
FileDescriptor OpenMemory(const fs::path& path, bool* is_memory) {
  FileDescriptor fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat info {};
  *is_memory = fd.valid() && fstat(fd.get(), &info) == 0 && S_ISREG(info.st_mode) &&
               fcntl(fd.get(), F_GET_SEALS) >= 0;
  return fd;
}

// As the process was started with it.
bool HasEnvironmentEntry(ProcessId pid, const std::string& entry) {
  constexpr size_t kMostBytes = 1u << 20;  // a process may make it longer than it has to be
  const FileDescriptor file(
      open(fmt::format("/proc/{}/environ", pid).c_str(), O_RDONLY | O_CLOEXEC));
  std::string text(1, '\0');
  char part[16384];
  while (file.valid() && text.size() < kMostBytes) {
    const ssize_t size = read(file.get(), part, sizeof(part));
    if (size <= 0) break;
    text.append(part, static_cast<size_t>(size));
  }
  text += '\0';
  return text.find('\0' + entry + '\0') != std::string::npos;
}

ProcessId ParentOf(ProcessId pid) {
  std::ifstream status(fmt::format("/proc/{}/status", pid));
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("PPid:")) return std::atoi(line.c_str() + std::strlen("PPid:"));
  }
  return -1;
}

struct FoundBlock {
  FileDescriptor fd;
  Head head;
};
struct Search {
  int error = 0;  // of looking into /proc/PID/fd
  std::optional<FoundBlock> own;
  bool other_version = false;  // something has the name, and is no block that this program knows
};

Search SearchIn(ProcessId pid) {
  Search search;
  std::error_code error;
  const ProcessId own_number = OwnNumberOf(pid);
  fs::directory_iterator entry(fmt::format("/proc/{}/fd", pid), error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    std::error_code gone;
    if (fs::read_symlink(entry->path(), gone) != BlockLink()) continue;
    bool is_memory = false;
    FileDescriptor fd = OpenMemory(entry->path(), &is_memory);
    if (!fd.valid()) {
      search.error = errno;
      continue;
    }
    if (!is_memory) continue;
    std::optional<Head> head = ReadHead(fd.get());
    if (!head.has_value()) {
      search.other_version = true;
    } else if (head->process_id == static_cast<uint64_t>(own_number)) {
      search.own = FoundBlock{std::move(fd), std::move(*head)};
      return search;
    }
  }
  if (error) search.error = error.value();
  return search;
}

Status WhyNot(ProcessId pid, const Search& search) {
  if (search.error == ENOENT || search.error == ESRCH) {
    return Status(StatusCode::kNotFound, fmt::format("there is no process {}", pid));
  }
  if (search.error == EACCES || search.error == EPERM) {
    return Status(
        StatusCode::kUnsupported,
        fmt::format("process {} may not be looked into: that needs its user or root, and a process "
                    "that lets itself be traced (ptrace(2), PTRACE_MODE_READ; not setuid, not "
                    "PR_SET_DUMPABLE 0; in a container CAP_SYS_PTRACE)",
                    pid));
  }
  if (search.error != 0) {
    return StatusFromErrno(search.error, fmt::format("process {} cannot be looked into", pid));
  }
  // A watcher maps the blocks of those that it watches, and keeps none of them open.
  for (const LiveProcess& process : FindLiveProcesses().processes) {
    if (ParentOf(process.pid) != pid) continue;
    return Status(StatusCode::kNotFound,
                  fmt::format("process {0} has no block of its own, but that of process {1}; say "
                              "cairn top {1}",
                              pid, process.pid));
  }
  if (search.other_version) {
    return Status(StatusCode::kNotFound,
                  fmt::format("process {} has a block that nobody has laid out yet", pid));
  }
  return Status(
      StatusCode::kNotFound,
      fmt::format("process {} has no block: it uses no graphics device that Cairn follows; "
                  "start it with cairn run -- PROGRAM",
                  pid));
}

}  // namespace

LiveProcesses FindLiveProcesses() {
  LiveProcesses found;
  std::error_code error;
  fs::directory_iterator entry("/proc", error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const std::optional<ProcessId> pid = ProcessNumber(entry->path().filename().string());
    if (!pid.has_value()) continue;
    Search search = SearchIn(*pid);
    if (search.own.has_value()) {
      found.processes.push_back({*pid, std::move(search.own->head.program)});
    } else if (search.error == EACCES || search.error == EPERM) {
      ++found.not_permitted;
    }
  }
  std::sort(found.processes.begin(), found.processes.end(),
            [](const LiveProcess& a, const LiveProcess& b) { return a.pid < b.pid; });
  return found;
}

std::vector<LiveProcess> FindLiveProcessesWith(const std::string& environment_entry) {
  std::vector<LiveProcess> found;
  std::error_code error;
  fs::directory_iterator entry("/proc", error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const std::optional<ProcessId> pid = ProcessNumber(entry->path().filename().string());
    // Most are done with by this: reading one file is cheaper than looking at all that is open.
    if (!pid.has_value() || !HasEnvironmentEntry(*pid, environment_entry)) continue;
    Search search = SearchIn(*pid);
    if (search.own.has_value()) {
      found.push_back({*pid, std::move(search.own->head.program)});
    }
  }
  return found;
}

Result<SharedMemory> OpenLiveBlock(ProcessId pid) {
  Search search = SearchIn(pid);
  if (!search.own.has_value()) return WhyNot(pid, search);
  struct stat info {};
  if (fstat(search.own->fd.get(), &info) != 0 || info.st_size <= 0) {
    return StatusFromErrno(errno, fmt::format("the block of process {} is unreadable", pid));
  }
  return SharedMemory::MapForReading(search.own->fd.Release(), static_cast<uint64_t>(info.st_size));
}

}  // namespace cairn
