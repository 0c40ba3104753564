// SPDX-License-Identifier: Apache-2.0
//
// Files. A writer makes a new one and renames it, so that a reader finds the old one or the new one; writers
// take turns by a lock on the folder.
#include "os/settings_store.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "os/environment.h"
#include "os/file.h"

namespace cairn {
namespace {

constexpr char kFileName[] = "d3dconfig";

std::string Environment(const char* name) {
  const char* value = OwnVariable(name);
  return value == nullptr ? "" : value;
}

// The XDG base directory specification has relative paths ignored.
Result<std::string> Folder(SettingsScope scope) {
  if (scope == SettingsScope::kSystem) {
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

// With all folders above it. Those that are new get this mode whatever the umask is: in a folder for
// everybody that only root may enter, the settings would be there and have no effect.
Status MakeFolder(const std::string& folder, mode_t mode) {
  std::filesystem::path path;
  for (const std::filesystem::path& part : std::filesystem::path(folder)) {
    path /= part;
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) continue;
    // Another process may have made it meanwhile.
    if (mkdir(path.c_str(), mode) != 0) {
      const int number = errno;
      if (number == EEXIST && std::filesystem::is_directory(path, error)) continue;
      return StatusFromErrno(number == EEXIST ? ENOTDIR : number,
                             fmt::format("{} cannot be created", folder));
    }
    if (chmod(path.c_str(), mode) != 0) {
      return StatusFromErrno(errno, fmt::format("{} cannot get mode {:04o}", path.string(), mode));
    }
  }
  return Status();
}

Status Fill(File file, const std::string& path, std::string_view text) {
  if (const std::error_code error = file.Append(std::as_bytes(std::span(text)))) {
    return StatusFromError(error, "writing failed");
  }
  // Everybody may read it: the system's settings are for every user.
  if (chmod(path.c_str(), 0644) != 0) return StatusFromErrno(errno, "setting permissions failed");
  if (const std::error_code error = file.Sync()) {
    return StatusFromError(error, "writing to the disk failed");
  }
  return Status();
}

// The caller has the lock: nobody else uses the other name.
Status Replace(const std::string& path, std::string_view text) {
  const std::string problem = path + " cannot be written";
  const std::string temporary = path + ".new";
  std::error_code error;
  std::filesystem::remove(temporary, error);  // of a writer that died
  File file = File::Open(temporary, FileMode::kCreate, error);
  if (error) return StatusFromError(error, problem);
  Status status = Fill(std::move(file), temporary, text);
  if (status.ok()) {
    std::filesystem::rename(temporary, path, error);
    if (error) status = StatusFromError(error, "renaming failed");
  }
  if (!status.ok()) std::filesystem::remove(temporary, error);
  return status.WithContext(problem);
}

}  // namespace

Result<std::string> SettingsName(SettingsScope scope) {
  Result<std::string> folder = Folder(scope);
  if (!folder.ok()) return folder;
  return *folder + "/" + kFileName;
}

Result<std::string> ReadSettings(SettingsScope scope, size_t most_bytes) {
  const Result<std::string> path = SettingsName(scope);
  if (!path.ok()) return path;
  const auto problem = [&path](const std::error_code& error) {
    return StatusFromError(error, fmt::format("{} cannot be read", *path));
  };
  std::error_code error;
  const File file = File::Open(*path, FileMode::kRead, error);
  if (error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory) {
    return std::string();
  }
  if (error) return problem(error);
  if (file.facts().type != std::filesystem::file_type::regular) {
    return Status(StatusCode::kCorrupt, fmt::format("{} is no file", *path));
  }
  std::string text(most_bytes + 1, '\0');
  size_t size = 0;
  error = file.ReadAt(0, std::as_writable_bytes(std::span(text)), &size);
  if (error) return problem(error);
  text.resize(size);
  return text;
}

Status ChangeSettings(SettingsScope scope, const std::function<Result<std::string>()>& change) {
  const Result<std::string> folder = Folder(scope);
  if (!folder.ok()) return folder.status();
  CAIRN_RETURN_IF_ERROR(MakeFolder(*folder, scope == SettingsScope::kSystem ? 0755 : 0700));
  std::error_code error;
  // Held until the end of this function.
  File lock = File::Open(*folder, FileMode::kRead, error);
  if (error) return StatusFromError(error, fmt::format("{} cannot be opened", *folder));
  error = lock.Lock();
  if (error) return StatusFromError(error, fmt::format("{} cannot be locked", *folder));
  const Result<std::string> text = change();
  if (!text.ok()) return text.status();
  const std::string path = *folder + "/" + kFileName;
  CAIRN_RETURN_IF_ERROR(Replace(path, *text));
  // Without an effect the change might only be undone if the machine loses power now.
  SyncFolder(*folder);
  return Status();
}

}  // namespace cairn
