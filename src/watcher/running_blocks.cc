// SPDX-License-Identifier: Apache-2.0
#include "watcher/running_blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

#include "format/block/block.h"
#include "format/block/handover.h"
#include "os/running_processes.h"

namespace cairn {
namespace {

// The beginning of a block's header, if it is one.
struct Head {
  uint64_t process_id = 0;
  std::string program;
};
std::optional<Head> ReadHead(const HeldMemory& memory) {
  uint64_t magic = 0;
  Head head;
  char program[sizeof(BlockHeader::program)];
  if (!memory.ReadAt(offsetof(BlockHeader, magic), std::as_writable_bytes(std::span(&magic, 1))) ||
      magic != kBlockMagic ||
      !memory.ReadAt(offsetof(BlockHeader, process_id),
                     std::as_writable_bytes(std::span(&head.process_id, 1))) ||
      !memory.ReadAt(offsetof(BlockHeader, program), std::as_writable_bytes(std::span(program)))) {
    return std::nullopt;
  }
  head.program.assign(program, strnlen(program, sizeof(program)));
  return head;
}

struct FoundBlock {
  HeldMemory memory;
  Head head;
};
struct Search {
  std::error_code error;  // of looking at what the process holds
  std::optional<FoundBlock> own;
  bool other_version = false;  // something has the name, and is no block that this program knows
};

bool IsGone(const std::error_code& error) {
  return error == std::errc::no_such_file_or_directory || error == std::errc::no_such_process;
}
bool IsForbidden(const std::error_code& error) {
  return error == std::errc::permission_denied || error == std::errc::operation_not_permitted;
}

Search SearchIn(ProcessId pid) {
  Search search;
  const ProcessId own_number = OwnNumberOf(pid);
  search.error = LookAtHeldMemory(pid, kBlockMemoryName, [&](HeldMemory& memory) {
    std::optional<Head> head = ReadHead(memory);
    if (!head.has_value()) {
      search.other_version = true;
    } else if (head->process_id == static_cast<uint64_t>(own_number)) {
      search.own = FoundBlock{std::move(memory), std::move(*head)};
    }
    return search.own.has_value();
  });
  return search;
}

Status WhyNot(ProcessId pid, const Search& search) {
  if (IsGone(search.error)) {
    return Status(StatusCode::kNotFound, fmt::format("there is no process {}", pid));
  }
  if (IsForbidden(search.error)) {
    return Status(
        StatusCode::kUnsupported,
        fmt::format("process {} may not be looked into: that needs its user or root, and a process "
                    "that lets itself be traced (ptrace(2), PTRACE_MODE_READ; not setuid, not "
                    "PR_SET_DUMPABLE 0; in a container CAP_SYS_PTRACE)",
                    pid));
  }
  if (search.error) {
    return StatusFromErrno(search.error.value(),
                           fmt::format("process {} cannot be looked into", pid));
  }
  // A watcher maps the blocks of those that it watches, and keeps none of them open.
  for (const LiveProcess& process : FindLiveProcesses().processes) {
    if (ParentOf(process.pid) != pid) continue;
    return Status(
        StatusCode::kNotFound,
        fmt::format("process {0} is not recorded itself, but process {1} is; say cairn top {1}",
                    pid, process.pid));
  }
  if (search.other_version) {
    return Status(StatusCode::kNotFound,
                  fmt::format("process {} has made no device yet, or uses another version "
                              "of Cairn",
                              pid));
  }
  return Status(
      StatusCode::kNotFound,
      fmt::format("process {} is not recorded: it uses no graphics device that Cairn follows; "
                  "start it with cairn run -- PROGRAM",
                  pid));
}

}  // namespace

LiveProcesses FindLiveProcesses() {
  LiveProcesses found;
  for (const ProcessId pid : RunningProcesses()) {
    Search search = SearchIn(pid);
    if (search.own.has_value()) {
      found.processes.push_back({pid, std::move(search.own->head.program)});
    } else if (IsForbidden(search.error)) {
      ++found.not_permitted;
    }
  }
  std::sort(found.processes.begin(), found.processes.end(),
            [](const LiveProcess& a, const LiveProcess& b) { return a.pid < b.pid; });
  return found;
}

std::vector<LiveProcess> FindLiveProcessesWith(const std::string& environment_entry) {
  std::vector<LiveProcess> found;
  for (const ProcessId pid : RunningProcesses()) {
    // Most are done with by this: reading one file is cheaper than looking at all that is open.
    if (!WasStartedWith(pid, environment_entry)) continue;
    Search search = SearchIn(pid);
    if (search.own.has_value()) found.push_back({pid, std::move(search.own->head.program)});
  }
  return found;
}

Result<SharedMemory> OpenLiveBlock(ProcessId pid) {
  Search search = SearchIn(pid);
  if (!search.own.has_value()) return WhyNot(pid, search);
  return search.own->memory.MapForReading();
}

}  // namespace cairn
