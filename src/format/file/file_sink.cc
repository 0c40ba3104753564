// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "base/text.h"
#include "format/file/byte_sink.h"
#include "os/file.h"

namespace cairn {
namespace {

using std::filesystem::file_type;

// Returns the user's next step after this error.
const char* NextStep(const std::error_code& error) {
  if (IsOutOfSpace(error)) return "free some space or write to another disk";
  if (error == std::errc::file_too_large) {
    return "raise the file size limit (ulimit -f) or write to another file system";
  }
  if (error == std::errc::no_such_file_or_directory) {
    return "create the folder or choose another one";
  }
  if (error == std::errc::permission_denied || error == std::errc::operation_not_permitted ||
      error == std::errc::read_only_file_system) {
    return "choose a folder that this user may write to";
  }
  if (error == std::errc::device_or_resource_busy) {
    return "close it where it is open, or choose another file name";
  }
  return "choose another place for the file";
}

Status SinkError(const char* action, const std::string& path, const std::error_code& error) {
  const Status status =
      StatusFromError(error, fmt::format("cannot {} {}", action, VisibleText(path)));
  return Status(status.code(), fmt::format("{}; {}", status.message(), NextStep(error)));
}

bool IsAt(const File& file, const std::string& path) {
  return file.IsAt(path) && FactsOfName(path).type != file_type::symlink;
}

class FileSink : public ByteSink {
 public:
  // `final_path` is empty when the bytes go straight to where they belong.
  FileSink(File file, std::string written_path, std::string final_path)
      : file_(std::move(file)),
        written_path_(std::move(written_path)),
        final_path_(std::move(final_path)) {}

  Status Write(std::span<const std::byte> bytes) override {
    const std::error_code error = file_.Append(bytes);
    return error ? SinkError("write to", written_path_, error) : Status();
  }

  void CutBack(uint64_t size_bytes) override {
    // If truncation fails, the reader detects the incomplete chunk by itself.
    (void)file_.Truncate(size_bytes);
  }

  Status Sync() override {
    const std::error_code error = file_.Sync();
    // A device has nothing to sync.
    const bool device = error == std::errc::invalid_argument && final_path_.empty();
    return error && !device ? SinkError("save", written_path_, error) : Status();
  }

  void Discard() override {
    if (!final_path_.empty() && IsAt(file_, written_path_)) (void)RemoveFile(written_path_);
  }

  Status Commit() override {
    // Space that was taken for it, and not needed.
    if (!final_path_.empty()) (void)file_.Truncate(file_.facts().size_bytes);
    CAIRN_RETURN_IF_ERROR(Sync());
    if (final_path_.empty()) return Status();
    if (!IsAt(file_, written_path_)) {
      return Status(StatusCode::kIo,
                    fmt::format("cannot rename {}: another program moved or replaced it; look for "
                                "the file beside it",
                                VisibleText(written_path_)));
    }
    if (const std::error_code error = Rename(written_path_, final_path_)) {
      const Status status = SinkError("rename the finished file to", final_path_, error);
      return Status(status.code(), fmt::format("{} (it is complete in {})", status.message(),
                                               VisibleText(written_path_)));
    }
    // The bytes are safe under one of the two names, whether this has an effect or not.
    SyncFolder(FilePath(final_path_).parent_path());
    return Status();
  }

 private:
  File file_;
  std::string written_path_;
  std::string final_path_;
};

const char* KindOfFile(file_type type) {
  switch (type) {
    case file_type::directory: return "a directory";
    case file_type::symlink: return "a symbolic link";
    case file_type::fifo: return "a pipe";
    default: return "no regular file";
  }
}

// Opens a .part file without a writer, and locks it; not valid() if there is none.
Result<File> OpenLeftover(const std::string& part_path) {
  const file_type type = FactsOfName(part_path).type;
  if (type != file_type::none && type != file_type::not_found && type != file_type::regular) {
    return Status(
        StatusCode::kInvalidArgument,
        fmt::format("cannot write to {}: it is {}; move it away or choose another file name",
                    VisibleText(part_path), KindOfFile(type)));
  }
  if (IsOfAnother(part_path)) {
    return Status(
        StatusCode::kInvalidArgument,
        fmt::format("cannot write to {}: another user has made it, in a folder that others "
                    "can write to; choose another folder",
                    VisibleText(part_path)));
  }
  std::error_code error;
  File leftover = File::Open(part_path, FileMode::kWriteItself, error);
  if (error == std::errc::no_such_file_or_directory) return File();  // its writer has just finished
  if (error) return SinkError("write to", part_path, error);
  if (!leftover.TryLock()) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("cannot write to {}: another process is writing it; choose another "
                              "file name or wait until it is done",
                              VisibleText(part_path)));
  }
  return leftover;
}

// Moves it out of the way: it may be the only trace of an earlier crash.
Status KeepLeftover(const std::string& part_path) {
  const Result<File> leftover = OpenLeftover(part_path);
  if (!leftover.ok() || !leftover->valid() || !IsAt(*leftover, part_path)) return leftover.status();
  const std::string old_path = part_path + ".old";
  const std::error_code error = Rename(part_path, old_path);
  return error ? SinkError("keep the unfinished file of an earlier run as", old_path, error)
               : Status();
}

// For its owner alone: command lines, names and memory of programs are in it.
File MakePart(const std::string& part_path, SpareSpace* space, std::error_code& error) {
  if (space != nullptr && space->valid()) {
    File file = space->Become(part_path, error);
    // After any other error an ordinary file can still be created.
    if (!error || error == std::errc::file_exists) return file;
  }
  return File::Open(part_path, FileMode::kCreate, error);
}

Result<std::unique_ptr<ByteSink>> OpenPart(const std::string& path, SpareSpace* space) {
  const std::string part_path = path + ".part";
  // More than one round only when another process opens or finishes the same file right now.
  for (int attempt = 0; attempt < 8; ++attempt) {
    std::error_code error;
    File file = MakePart(part_path, space, error);
    if (!error) {
      // The lock tells other writers that this file is alive; it goes away with this process.
      if (!file.TryLock() || !IsAt(file, part_path)) continue;
      return std::unique_ptr<ByteSink>(
          std::make_unique<FileSink>(std::move(file), part_path, path));
    }
    if (error != std::errc::file_exists) return SinkError("create", part_path, error);
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
  const Result<File> leftover = OpenLeftover(part_path);
  if (!leftover.ok() || !leftover->valid()) return leftover.status();
  const std::string old_path = part_path + ".old";
  if (FactsOfName(old_path).type != file_type::directory) return Status();
  return SinkError("keep the unfinished file of an earlier run as", old_path,
                   std::make_error_code(std::errc::is_a_directory));
}

Result<std::unique_ptr<ByteSink>> OpenFileSink(const std::string& path, SpareSpace* space) {
  if (path.empty()) {
    return Status(StatusCode::kInvalidArgument, "cannot create a file: its name is empty");
  }
  const file_type type = FactsAt(path).type;
  if (type == file_type::none || type == file_type::not_found || type == file_type::regular) {
    return OpenPart(path, space);
  }
  if (type == file_type::character) {
    std::error_code error;
    File device = File::Open(path, FileMode::kWrite, error);
    if (error) return SinkError("open", path, error);
    return std::unique_ptr<ByteSink>(std::make_unique<FileSink>(std::move(device), path, ""));
  }
  const bool folder = type == file_type::directory;
  return Status(
      StatusCode::kInvalidArgument,
      fmt::format("cannot write {}: it is {}; give the name of a file{}", VisibleText(path),
                  folder ? "a directory" : "not a regular file", folder ? " in it" : ""));
}

}  // namespace cairn
