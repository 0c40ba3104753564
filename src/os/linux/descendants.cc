// SPDX-License-Identifier: Apache-2.0
#include "os/descendants.h"

#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

#include "os/linux/file_descriptor.h"
#include "os/process.h"
#include "os/running_processes.h"

namespace cairn {
namespace {

constexpr size_t kMostEnvironmentBytes = size_t{1} << 20;
constexpr size_t kMostChildrenBytes = size_t{1} << 20;
constexpr size_t kMostMapBytes = size_t{8} << 20;
constexpr size_t kMostDataFolders = 32;
constexpr size_t kMostManifests = 128;  // of a folder
constexpr size_t kMostManifestBytes = size_t{1} << 16;

std::string FolderOf(ProcessId id) {
  return "/proc/" + std::to_string(id);
}

// Returns the file's text, `most_bytes` or a little more of it at most.
std::string ReadAll(const std::string& path, size_t most_bytes) {
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  std::string text;
  char part[16384];
  while (file.valid() && text.size() < most_bytes) {
    const ssize_t size = read(file.get(), part, sizeof(part));
    if (size <= 0) break;
    text.append(part, static_cast<size_t>(size));
  }
  return text;
}

template <typename Number>
void ParseInto(std::string_view text, Number* number) {
  std::from_chars(text.data(), text.data() + text.size(), *number);
}

// Reads /proc/PID/stat. Returns false if it cannot be read. The second field, the program's name,
// may contain spaces and parentheses.
bool ReadStat(ProcessId id, Descendant* process) {
  const std::string line = ReadAll(FolderOf(id) + "/stat", 4096);
  const size_t name_end = line.rfind(')');
  if (name_end == std::string::npos || name_end + 2 > line.size()) return false;
  std::string_view rest = std::string_view(line).substr(name_end + 2);
  process->id = id;
  for (int field = 3; !rest.empty() && field <= 22; ++field) {
    const std::string_view value = rest.substr(0, rest.find(' '));
    if (field == 3) process->ended = value == "Z" || value == "X";
    if (field == 4) ParseInto(value, &process->parent);
    if (field == 5) ParseInto(value, &process->group);
    if (field == 6) ParseInto(value, &process->session);
    if (field == 22) ParseInto(value, &process->started);
    rest.remove_prefix(std::min(rest.size(), value.size() + 1));
  }
  return true;
}

// Returns the children of this process. Those that have ended stay in the list until this process waits for them.
std::vector<ProcessId> OwnChildren() {
  std::vector<ProcessId> children;
  std::error_code error;
  bool known = false;
  for (std::filesystem::directory_iterator task("/proc/self/task", error), end;
       !error && task != end; task.increment(error)) {
    const FileDescriptor file(open((task->path() / "children").c_str(), O_RDONLY | O_CLOEXEC));
    known = known || file.valid();
    const std::string text = ReadAll(task->path() / "children", kMostChildrenBytes);
    for (std::string_view rest = text; !rest.empty();) {
      const std::string_view number = rest.substr(0, rest.find(' '));
      rest.remove_prefix(std::min(rest.size(), number.size() + 1));
      ProcessId child = 0;
      ParseInto(number, &child);
      if (child > 0) children.push_back(child);
    }
  }
  if (known) return children;
  // This kernel does not tell (CONFIG_PROC_CHILDREN).
  for (const Descendant& process : Descendants()) {
    if (process.parent == getpid()) children.push_back(process.id);
  }
  return children;
}

// "libvulkan.so.1" of "7f.. r-xp 0 08:01 12  /usr/lib/libvulkan.so.1"
std::string_view FileOfMapping(std::string_view line) {
  const size_t path = line.find('/');
  if (path == std::string_view::npos) return {};
  return line.substr(path);
}

GpuLibrary KindOf(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, GpuLibrary>, 13> kKnown = {{
      {"libvkd3d.so", GpuLibrary::kDirect3D},
      {"libvkd3d-proton", GpuLibrary::kDirect3D},
      {"d3d12.dll", GpuLibrary::kDirect3D},
      {"d3d11.dll", GpuLibrary::kDirect3D},
      {"libvulkan.so", GpuLibrary::kVulkan},
      {"libvulkan_", GpuLibrary::kDriver},
      {"amdvlk", GpuLibrary::kDriver},
      {"libGLX_nvidia.so", GpuLibrary::kDriver},
      {"libvk_swiftshader", GpuLibrary::kDriver},
      {"libnvidia-vulkan", GpuLibrary::kDriver},
      {"libGL.so", GpuLibrary::kOpenGl},
      {"libEGL.so", GpuLibrary::kOpenGl},
      {"libGLX.so", GpuLibrary::kOpenGl},
  }};
  for (const auto& [beginning, kind] : kKnown) {
    if (name.starts_with(beginning)) return kind;
  }
  return GpuLibrary::kNone;
}

void LookAtMemory(ProcessId id, const std::string& library, ProcessLook* look) {
  const std::string maps = ReadAll(FolderOf(id) + "/maps", kMostMapBytes);
  bool opengl = false;
  const std::string_view wanted = std::string_view(library).substr(library.rfind('/') + 1);
  for (std::string_view rest = maps; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    const std::string_view file = FileOfMapping(line);
    const std::string_view name = file.substr(file.rfind('/') + 1);
    // Another root may show it under another path.
    if (!wanted.empty() && name == wanted) look->has_library = true;
    const GpuLibrary kind = KindOf(name);
    opengl = opengl || kind == GpuLibrary::kOpenGl;
    if (kind <= look->gpu) continue;
    look->gpu = kind;
    look->gpu_library = name;
  }
  // A driver of both is opened by the libraries of OpenGL as well.
  if (opengl && look->gpu == GpuLibrary::kDriver) look->gpu = GpuLibrary::kOpenGl;
}

void LookAtEnvironment(ProcessId id, const LookFor& wanted, ProcessLook* look) {
  const FileDescriptor file(open((FolderOf(id) + "/environ").c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return;
  look->environment_known = true;
  const std::string text = ReadAll(FolderOf(id) + "/environ", kMostEnvironmentBytes);
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view entry = rest.substr(0, rest.find('\0'));
    rest.remove_prefix(std::min(rest.size(), entry.size() + 1));
    const bool is_wanted =
        std::any_of(wanted.environment_names.begin(), wanted.environment_names.end(),
                    [entry](const std::string& beginning) { return entry.starts_with(beginning); });
    if (is_wanted) look->environment.emplace_back(entry);
  }
}

// Notes the program's width and if it names a loader. An unreadable file counts as an ordinary one.
void LookAtFile(const std::string& path, ProcessLook* look) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return;
  look->is_setuid = (info.st_mode & (S_ISUID | S_ISGID)) != 0;
  look->has_capabilities = getxattr(path.c_str(), "security.capability", nullptr, 0) > 0;
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  Elf64_Ehdr header{};
  if (!file.valid() || read(file.get(), &header, sizeof(header)) != sizeof(header) ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
    return;
  }
  look->is_32_bit = header.e_ident[EI_CLASS] == ELFCLASS32;
  if (look->is_32_bit || header.e_phentsize != sizeof(Elf64_Phdr)) return;
  look->is_static = true;
  for (uint16_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    const auto offset = static_cast<off_t>(header.e_phoff + i * sizeof(segment));
    if (pread(file.get(), &segment, sizeof(segment), offset) != sizeof(segment)) break;
    if (segment.p_type == PT_INTERP) look->is_static = false;
  }
}

bool HasEnded(ProcessId id) {
  char target[1];
  return readlink((FolderOf(id) + "/exe").c_str(), target, sizeof(target)) < 0 && errno == ENOENT;
}

void LookAtUser(ProcessId id, ProcessLook* look) {
  struct stat info {};
  if (stat(FolderOf(id).c_str(), &info) != 0) return;
  look->same_user = info.st_uid == geteuid();
  look->user_id = std::to_string(info.st_uid);
}

// The vector has pairs of words as wide as the program's.
template <typename Word>
bool IsSecure(const std::string& auxiliary) {
  Word pair[2];
  for (size_t at = 0; at + sizeof(pair) <= auxiliary.size(); at += sizeof(pair)) {
    std::memcpy(pair, auxiliary.data() + at, sizeof(pair));
    if (pair[0] == AT_SECURE) return pair[1] != 0;
  }
  return false;
}

void LookAtRights(ProcessId id, ProcessLook* look) {
  const std::string auxiliary = ReadAll(FolderOf(id) + "/auxv", 4096);
  look->is_secure = look->is_32_bit ? IsSecure<uint32_t>(auxiliary) : IsSecure<uint64_t>(auxiliary);
}

// Returns true if the process is in another namespace of this kind; false if that cannot be read.
bool IsInOther(ProcessId id, const char* kind) {
  struct stat own {
  }, theirs{};
  const std::string name = std::string("/ns/") + kind;
  return stat(("/proc/self" + name).c_str(), &own) == 0 &&
         stat((FolderOf(id) + name).c_str(), &theirs) == 0 && own.st_ino != theirs.st_ino;
}

// Returns true if a file of the folder contains the layer's name. Containers give manifests other names.
bool HasManifest(const std::string& folder, const std::string& layer) {
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(opendir(folder.c_str()), closedir);
  if (entries == nullptr) return false;
  for (size_t count = 0; count < kMostManifests; ++count) {
    const dirent* const entry = readdir(entries.get());
    if (entry == nullptr) return false;
    const std::string_view name = entry->d_name;
    if (!name.ends_with(".json")) continue;
    if (ReadAll(folder + "/" + std::string(name), kMostManifestBytes).find(layer) !=
        std::string::npos) {
      return true;
    }
  }
  return false;
}

void LookForManifest(ProcessId id, const std::string& root, const std::string& layer,
                     ProcessLook* look) {
  constexpr std::string_view kFolders = "XDG_DATA_DIRS=";
  LookFor wanted;
  wanted.environment_names = {std::string(kFolders)};
  ProcessLook variables;
  LookAtEnvironment(id, wanted, &variables);
  std::string folders = "/usr/local/share:/usr/share";
  for (const std::string& entry : variables.environment) {
    if (entry.size() > kFolders.size()) folders = entry.substr(kFolders.size());
  }
  size_t count = 0;
  for (std::string_view rest = folders; !rest.empty() && count < kMostDataFolders; ++count) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(rest.size(), folder.size() + 1));
    if (!folder.starts_with('/')) continue;
    look->has_manifest =
        look->has_manifest ||
        HasManifest(root + std::string(folder) + "/vulkan/implicit_layer.d", layer);
  }
}

// A root folder that this process may not enter counts as having the library.
void LookAtRoot(ProcessId id, const LookFor& wanted, ProcessLook* look) {
  const std::string root = FolderOf(id) + "/root";
  if (wanted.library.empty() || access(root.c_str(), X_OK) != 0) return;
  look->library_in_reach = access((root + wanted.library).c_str(), F_OK) == 0;
  if (look->library_in_reach || wanted.implicit_layer.empty()) return;
  LookForManifest(id, root, wanted.implicit_layer, look);
}

}  // namespace

bool AdoptOrphans() {
  return prctl(PR_SET_CHILD_SUBREAPER, 1) == 0;
}

void ForgetEndedOrphans(const std::function<bool(ProcessId id)>& keep) {
  siginfo_t info{};
  if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) return;
  for (const ProcessId child : OwnChildren()) {
    Descendant process;
    if (ReadStat(child, &process) && process.ended && !keep(child)) {
      waitpid(static_cast<pid_t>(child), nullptr, WNOHANG);
    }
  }
}

std::vector<Descendant> Descendants(const std::vector<ProcessId>& without_groups) {
  std::map<ProcessId, Descendant> all;
  for (const ProcessId id : RunningProcesses()) {
    Descendant process;
    if (ReadStat(id, &process)) all[id] = process;
  }
  const ProcessId own = OwnProcessId();
  std::map<ProcessId, bool> known = {{own, true}};
  for (const auto& [id, process] : all) {
    if (std::find(without_groups.begin(), without_groups.end(), process.group) !=
        without_groups.end()) {
      known[id] = false;
    }
  }
  std::vector<Descendant> found;
  for (const auto& [id, process] : all) {
    if (id == own) continue;
    // Up to one of which it is known.
    std::vector<ProcessId> path;
    ProcessId at = id;
    while (!known.contains(at) && all.contains(at) && path.size() <= all.size()) {
      path.push_back(at);
      at = all[at].parent;
    }
    const auto end = known.find(at);
    const bool below = end != known.end() && end->second;
    for (const ProcessId passed : path) known[passed] = below;
    if (below) found.push_back(process);
  }
  return found;
}

ProcessLook LookAtProgramFile(const std::string& path) {
  ProcessLook look;
  look.program = path;
  LookAtFile(path, &look);
  return look;
}

ProcessLook LookAtProcess(ProcessId id, const LookFor& wanted) {
  ProcessLook look;
  look.program = ProgramOf(id);
  look.command_line = CommandLineOf(id);
  const std::string arguments = ArgumentsOf(id);
  for (std::string_view rest = arguments; !rest.empty();) {
    const std::string_view argument = rest.substr(0, rest.find('\0'));
    rest.remove_prefix(std::min(rest.size(), argument.size() + 1));
    look.arguments.emplace_back(argument);
  }
  LookAtUser(id, &look);
  look.is_out_of_reach = IsInOther(id, "net") && IsInOther(id, "pid");
  LookAtEnvironment(id, wanted, &look);
  LookAtMemory(id, wanted.library, &look);
  LookAtRoot(id, wanted, &look);
  LookAtFile(FolderOf(id) + "/exe", &look);
  LookAtRights(id, &look);
  // One that ended meanwhile shows a part of itself, which would pass for the whole.
  return HasEnded(id) ? ProcessLook() : look;
}

}  // namespace cairn
