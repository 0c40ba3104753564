// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "base/text.h"
#include "format/file/byte_sink.h"

namespace cairn {
namespace {

// What the user can do about it.
const char* NextStep(int error_number) {
  switch (error_number) {
    case ENOSPC:
    case EDQUOT: return "free some space or write to another disk";
    case EFBIG: return "raise the file size limit (ulimit -f) or write to another file system";
    case ENOENT: return "create the folder or choose another one";
    case EACCES:
    case EPERM:
    case EROFS: return "choose a folder that this user may write to";
    default: return "choose another place for the file";
  }
}

Status SinkError(const char* action, const std::string& path, int error_number) {
  const Status status =
      StatusFromErrno(error_number, fmt::format("cannot {} {}", action, VisibleText(path)));
  return Status(status.code(), fmt::format("{}; {}", status.message(), NextStep(error_number)));
}

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&&) = delete;
  ~FileDescriptor() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }

 private:
  int fd_;
};

bool IsAt(int fd, const std::string& path) {
  struct stat opened {};
  struct stat named {};
  return fstat(fd, &opened) == 0 && lstat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

class FileSink : public ByteSink {
 public:
  // `final_path` is empty when the bytes go straight to where they belong.
  FileSink(FileDescriptor file, std::string written_path, std::string final_path)
      : file_(std::move(file)),
        written_path_(std::move(written_path)),
        final_path_(std::move(final_path)) {}

  Status Write(std::span<const std::byte> bytes) override {
    while (!bytes.empty()) {
      const ssize_t written = write(file_.get(), bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return SinkError("write to", written_path_, errno);
      bytes = bytes.subspan(static_cast<size_t>(written));
    }
    return Status();
  }

  void CutBack(uint64_t size_bytes) override {
    // Where this fails the reader finds the incomplete chunk by itself.
    if (ftruncate(file_.get(), static_cast<off_t>(size_bytes)) != 0) errno = 0;
  }

  Status Sync() override {
    if (fdatasync(file_.get()) == 0) return Status();
    // A device has nothing to sync.
    if (errno == EINVAL && final_path_.empty()) return Status();
    return SinkError("save", written_path_, errno);
  }

  Status Commit() override {
    if (final_path_.empty()) return Sync();
    if (fsync(file_.get()) != 0) return SinkError("save", written_path_, errno);
    if (!IsAt(file_.get(), written_path_)) {
      return Status(StatusCode::kIo,
                    fmt::format("cannot rename {}: another program moved or replaced it; look for "
                                "the file beside it",
                                VisibleText(written_path_)));
    }
    if (rename(written_path_.c_str(), final_path_.c_str()) != 0) {
      const Status status = SinkError("rename the finished file to", final_path_, errno);
      return Status(status.code(), fmt::format("{} (it is complete in {})", status.message(),
                                               VisibleText(written_path_)));
    }
    SyncFolder();
    return Status();
  }

 private:
  // Makes the new name durable. Some file systems refuse, and the bytes are safe under one of the
  // two names either way, so an error changes nothing for the caller.
  void SyncFolder() {
    const std::filesystem::path folder = std::filesystem::path(final_path_).parent_path();
    const FileDescriptor opened(
        open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (opened.valid()) fsync(opened.get());
  }

  FileDescriptor file_;
  std::string written_path_;
  std::string final_path_;
};

const char* KindOfFile(mode_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISLNK(mode)) return "a symbolic link";
  return S_ISFIFO(mode) ? "a pipe" : "no regular file";
}

// A .part file that nobody writes any more, locked; no descriptor if there is none.
Result<FileDescriptor> OpenLeftover(const std::string& part_path) {
  struct stat info {};
  if (lstat(part_path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    return Status(
        StatusCode::kInvalidArgument,
        fmt::format("cannot write to {}: it is {}; move it away or choose another file name",
                    VisibleText(part_path), KindOfFile(info.st_mode)));
  }
  // Non-blocking, in case a pipe has that name by now.
  FileDescriptor leftover(open(part_path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!leftover.valid()) {
    if (errno == ENOENT) return leftover;  // its writer has just finished
    return SinkError("write to", part_path, errno);
  }
  if (flock(leftover.get(), LOCK_EX | LOCK_NB) != 0) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("cannot write to {}: another process is writing it; choose another "
                              "file name or wait until it is done",
                              VisibleText(part_path)));
  }
  return leftover;
}

// Moves it out of the way: it may be the only trace of an earlier crash.
Status KeepLeftover(const std::string& part_path) {
  const Result<FileDescriptor> leftover = OpenLeftover(part_path);
  if (!leftover.ok() || !leftover->valid()) return leftover.status();
  const std::string old_path = part_path + ".old";
  if (IsAt(leftover->get(), part_path) && rename(part_path.c_str(), old_path.c_str()) != 0) {
    return SinkError("keep the unfinished file of an earlier run as", old_path, errno);
  }
  return Status();
}

// For its owner alone: command lines, names and memory of programs are in it.
Result<std::unique_ptr<ByteSink>> OpenPart(const std::string& path) {
  const std::string part_path = path + ".part";
  // More than one round only when another process opens or finishes the same file right now.
  for (int attempt = 0; attempt < 8; ++attempt) {
    FileDescriptor file(open(part_path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (file.valid()) {
      // The lock tells other writers that this file is alive; it goes away with this process.
      if (flock(file.get(), LOCK_EX | LOCK_NB) != 0 || !IsAt(file.get(), part_path)) continue;
      return std::unique_ptr<ByteSink>(
          std::make_unique<FileSink>(std::move(file), part_path, path));
    }
    if (errno != EEXIST) return SinkError("create", part_path, errno);
    CAIRN_RETURN_IF_ERROR(KeepLeftover(part_path));
  }
  return Status(StatusCode::kIo,
                fmt::format("cannot create {}: other processes keep creating it; choose another "
                            "file name",
                            VisibleText(part_path)));
}

}  // namespace

Status CheckFileSink(const std::string& path) {
  const std::string part_path = path + ".part";
  const Result<FileDescriptor> leftover = OpenLeftover(part_path);
  if (!leftover.ok() || !leftover->valid()) return leftover.status();
  const std::string old_path = part_path + ".old";
  struct stat info {};
  if (lstat(old_path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) return Status();
  return SinkError("keep the unfinished file of an earlier run as", old_path, EISDIR);
}

Result<std::unique_ptr<ByteSink>> OpenFileSink(const std::string& path) {
  struct stat existing {};
  if (path.empty()) {
    return Status(StatusCode::kInvalidArgument, "cannot create a file: its name is empty");
  }
  if (stat(path.c_str(), &existing) != 0 || S_ISREG(existing.st_mode)) return OpenPart(path);
  if (S_ISCHR(existing.st_mode)) {
    FileDescriptor device(open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
    if (!device.valid()) return SinkError("open", path, errno);
    return std::unique_ptr<ByteSink>(std::make_unique<FileSink>(std::move(device), path, ""));
  }
  const bool folder = S_ISDIR(existing.st_mode);
  return Status(
      StatusCode::kInvalidArgument,
      fmt::format("cannot write {}: it is {}; give the name of a file{}", VisibleText(path),
                  folder ? "a directory" : "not a regular file", folder ? " in it" : ""));
}

}  // namespace cairn
