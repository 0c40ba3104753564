// SPDX-License-Identifier: Apache-2.0
//
// Settings in files. A writer makes a new file and renames it, so that a reader finds the old one or
// the new one; writers take turns by a lock on the folder.
#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string_view>

#include "format/d3dconfig/settings.h"
#include "os/environment.h"

namespace cairn {
namespace {

constexpr char kFileName[] = "d3dconfig";

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  ~FileDescriptor() {
    if (fd_ >= 0) close(fd_);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

std::string Environment(const char* name) {
  const char* value = OwnVariable(name);
  return value == nullptr ? "" : value;
}

// The XDG base directory specification has relative paths ignored.
Result<std::string> Folder(D3DConfigScope scope) {
  if (scope == D3DConfigScope::kSystem) {
    const std::string folder = Environment("CAIRN_SYSTEM_CONFIG_DIR");
    return folder.starts_with('/') ? folder : std::string("/etc/cairn");
  }
  const std::string config = Environment("XDG_CONFIG_HOME");
  if (config.starts_with('/')) return config + "/cairn";
  const std::string home = Environment("HOME");
  if (home.starts_with('/')) return home + "/.config/cairn";
  return Status(
      StatusCode::kNotFound,
      "neither XDG_CONFIG_HOME nor HOME names a folder for the user's settings; set one, or "
      "use --system");
}

Result<std::string> ReadText(const std::string& path) {
  // Not blocking: something other than a file may have been put there.
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) {
    if (errno == ENOENT || errno == ENOTDIR) return std::string();
    return StatusFromErrno(errno, fmt::format("{} cannot be read", path));
  }
  struct stat status = {};
  if (fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return Status(StatusCode::kCorrupt, fmt::format("{} is no file", path));
  }
  // One byte more than allowed shows that there are too many.
  std::string text(kMaxD3DConfigBytes + 1, '\0');
  size_t size = 0;
  while (size < text.size()) {
    const ssize_t count = read(file.get(), text.data() + size, text.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return StatusFromErrno(errno, fmt::format("{} cannot be read", path));
    if (count == 0) break;
    size += static_cast<size_t>(count);
  }
  text.resize(size);
  return text;
}

Status WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(fd, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return StatusFromErrno(errno, "writing failed");
    text.remove_prefix(static_cast<size_t>(count));
  }
  return Status();
}

// Everybody may read it: the system's settings are for every user.
Status FillFile(int fd, std::string_view text) {
  CAIRN_RETURN_IF_ERROR(WriteAll(fd, text));
  if (fchmod(fd, 0644) != 0) return StatusFromErrno(errno, "setting permissions failed");
  if (fsync(fd) != 0) return StatusFromErrno(errno, "writing to the disk failed");
  return Status();
}

// With all folders above it. Those that are new get this mode whatever the umask is: in a folder for
// everybody that only root may enter, the settings would be there and have no effect.
Status MakeFolder(const std::string& folder, mode_t mode) {
  std::filesystem::path path;
  for (const std::filesystem::path& part : std::filesystem::path(folder)) {
    path /= part;
    struct stat status = {};
    if (stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) continue;
    // Another process may have made it meanwhile.
    if (mkdir(path.c_str(), mode) != 0) {
      if (errno == EEXIST && stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) continue;
      return StatusFromErrno(errno == EEXIST ? ENOTDIR : errno,
                             fmt::format("{} cannot be created", folder));
    }
    if (chmod(path.c_str(), mode) != 0) {
      return StatusFromErrno(errno, fmt::format("{} cannot get mode {:04o}", path.string(), mode));
    }
  }
  return Status();
}

Status Replace(const std::string& path, std::string_view text) {
  std::string temporary = path + ".XXXXXX";
  const FileDescriptor file(mkostemp(temporary.data(), O_CLOEXEC));
  if (file.get() < 0) return StatusFromErrno(errno, fmt::format("{} cannot be written", path));
  Status status = FillFile(file.get(), text);
  if (status.ok() && rename(temporary.c_str(), path.c_str()) != 0) {
    status = StatusFromErrno(errno, "renaming failed");
  }
  if (!status.ok()) unlink(temporary.c_str());
  return status.WithContext(fmt::format("{} cannot be written", path));
}

}  // namespace

D3DConfigScope DefaultD3DConfigScope() {
  return geteuid() == 0 ? D3DConfigScope::kSystem : D3DConfigScope::kUser;
}

std::string D3DConfigUserName() {
  const passwd* const user = getpwuid(geteuid());
  if (user != nullptr && user->pw_name != nullptr && user->pw_name[0] != 0) return user->pw_name;
  return fmt::format("number {}", geteuid());
}

Result<std::string> D3DConfigPlaceName(D3DConfigScope scope) {
  Result<std::string> folder = Folder(scope);
  if (!folder.ok()) return folder;
  return *folder + "/" + kFileName;
}

Result<D3DConfigPlace> ReadD3DConfigPlace(D3DConfigScope scope) {
  const Result<std::string> path = D3DConfigPlaceName(scope);
  if (!path.ok()) return path.status();
  const Result<std::string> text = ReadText(*path);
  if (!text.ok()) return text.status();
  Result<D3DConfigPlace> place = ParseD3DConfig(*text);
  if (!place.ok()) return place.status().WithContext(fmt::format("{} is damaged", *path));
  return place;
}

Status ChangeD3DConfigPlace(D3DConfigScope scope,
                            const std::function<void(D3DConfigPlace&)>& change,
                            std::vector<std::string>* warnings) {
  const Result<std::string> folder = Folder(scope);
  if (!folder.ok()) return folder.status();
  CAIRN_RETURN_IF_ERROR(MakeFolder(*folder, scope == D3DConfigScope::kSystem ? 0755 : 0700));
  // Held until the end of this function.
  const FileDescriptor lock(open(folder->c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (lock.get() < 0) return StatusFromErrno(errno, fmt::format("{} cannot be opened", *folder));
  while (flock(lock.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return StatusFromErrno(errno, fmt::format("{} cannot be locked", *folder));
  }
  Result<D3DConfigPlace> place = ReadD3DConfigPlace(scope);
  if (!place.ok()) {
    if (place.status().code() != StatusCode::kCorrupt) return place.status();
    if (warnings != nullptr) {
      warnings->push_back(place.status().message() + "; what it said is replaced");
    }
    place = D3DConfigPlace();
  }
  change(*place);
  const std::string path = *folder + "/" + kFileName;
  const Result<std::string> text = FormatD3DConfig(*place);
  if (!text.ok()) return text.status();
  CAIRN_RETURN_IF_ERROR(Replace(path, *text));
  // Not fatal: the change is made, it might only be undone if the machine loses power now.
  (void)fsync(lock.get());
  return Status();
}

}  // namespace cairn
