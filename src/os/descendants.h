// SPDX-License-Identifier: Apache-2.0
//
// The processes that this one and its descendants started, and what they show of themselves: for
// saying why nothing was seen of a program's work. The facts of a process may be outdated a moment
// later.
#ifndef CAIRN_OS_DESCENDANTS_H_
#define CAIRN_OS_DESCENDANTS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "os/this_process.h"

namespace cairn {

struct Descendant {
  ProcessId id = -1;
  ProcessId parent = -1;
  uint64_t started = 0;  // with `id`: another process than a later one of the same number
  ProcessId session = -1;
  bool ended = false;  // and its parent has not taken note of that yet
  ProcessId group = -1;
};

// Makes this process the parent of descendants whose parent ends; they stay descendants. False if
// the system cannot do that, as on Windows.
bool AdoptOrphans();

// Takes note of the end of each child that has ended, unless `keep` wants to know of it itself. Costs one system call if
// there is none. Windows: nothing.
void ForgetEndedOrphans(const std::function<bool(ProcessId id)>& keep);

// All descendants of this process that live, in no order, but those of the process groups `without_groups`, and what descends
// from them.
// Windows: none. Costs some microseconds for each process of the machine.
std::vector<Descendant> Descendants(const std::vector<ProcessId>& without_groups = {});

// The GPU library in a process's memory; a later value wins.
enum class GpuLibrary : uint8_t { kNone, kOpenGl, kDriver, kVulkan, kDirect3D };

struct ProcessLook {
  std::string program;                 // as ProgramOf (os/process.h)
  std::string command_line;            // as CommandLineOf
  std::vector<std::string> arguments;  // the same, one by one; their beginning
  GpuLibrary gpu = GpuLibrary::kNone;
  std::string gpu_library;   // its file's name
  bool has_library = false;  // the one that was asked for is in its memory
  // True if the environment that it was started with can be read. Entries are "NAME=value".
  bool environment_known = false;
  std::vector<std::string>
      environment;  // those that begin with one of the names that were asked for
  bool same_user = true;
  std::string user_id;
  bool is_setuid = false;         // or setgid
  bool has_capabilities = false;  // its file
  bool is_secure = false;         // the kernel gave it more rights than its user has (AT_SECURE)
  bool is_out_of_reach = false;   // in other namespaces of network and processes than this process
  bool library_in_reach = true;   // the library's path leads to a file under its root
  // Where it does not: XDG_DATA_DIRS leads to a manifest of the implicit layer, under its root.
  bool has_manifest = false;
  bool is_static = false;  // its file names no loader
  bool is_32_bit = false;
};

struct LookFor {
  std::string library;                         // by its path; "" for none
  std::string implicit_layer;                  // by its name; "" for none
  std::vector<std::string> environment_names;  // beginnings of entries
};

// Returns the facts of a process; empty if it is gone or cannot be read. Costs some 100
// microseconds; the memory map of a large process some milliseconds.
ProcessLook LookAtProcess(ProcessId id, const LookFor& wanted);

// Returns what the file of a program shows of it, before it is started or when it has ended: is_setuid,
// has_capabilities, is_static, is_32_bit; `program` is the path. All false if the file cannot be read, and on Windows.
ProcessLook LookAtProgramFile(const std::string& path);

}  // namespace cairn

#endif  // CAIRN_OS_DESCENDANTS_H_
