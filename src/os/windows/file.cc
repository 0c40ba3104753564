// SPDX-License-Identifier: Apache-2.0
#include "os/file.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <vector>

#include "os/windows/channel.h"
#include "os/windows/system.h"
// Included after windows.h.
#include <sddl.h>

namespace cairn {
namespace {

constexpr DWORD kAnybodyMay = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;

HANDLE HandleFrom(intptr_t handle) {
  return reinterpret_cast<HANDLE>(handle);
}

std::error_code ErrorUnless(BOOL done) {
  return done != 0 ? std::error_code() : LastError();
}

struct OpenRequest {
  DWORD access = 0;
  DWORD creation = OPEN_EXISTING;
  DWORD flags = FILE_ATTRIBUTE_NORMAL;
};

OpenRequest RequestOf(FileMode mode) {
  // Writes append, even after writes of other processes.
  constexpr DWORD kAppend = FILE_APPEND_DATA | FILE_READ_ATTRIBUTES | SYNCHRONIZE;
  constexpr DWORD kWhole = GENERIC_READ | FILE_WRITE_DATA | FILE_APPEND_DATA;
  // A handle that may only append cannot lock.
  constexpr DWORD kWrite = kAppend | FILE_WRITE_DATA;
  switch (mode) {
    // A folder is opened as well.
    case FileMode::kRead: return {.access = GENERIC_READ, .flags = FILE_FLAG_BACKUP_SEMANTICS};
    case FileMode::kWrite: return {.access = kAppend};
    case FileMode::kWriteItself: return {.access = kWrite, .flags = FILE_FLAG_OPEN_REPARSE_POINT};
    case FileMode::kCreate: return {.access = kWhole, .creation = CREATE_NEW};
    case FileMode::kOpenOrCreate:
      return {.access = kWhole, .creation = OPEN_ALWAYS, .flags = FILE_FLAG_OPEN_REPARSE_POINT};
  }
  return {};
}

HANDLE OpenFile(const std::filesystem::path& path, const OpenRequest& request) {
  return CreateFileW(SystemPath(path).c_str(), request.access, kAnybodyMay, nullptr,
                     request.creation, request.flags, nullptr);
}

// Makes the position parameter of functions that take an offset in an OVERLAPPED.
OVERLAPPED At(uint64_t offset) {
  OVERLAPPED place = {};
  place.Offset = static_cast<DWORD>(offset);
  place.OffsetHigh = static_cast<DWORD>(offset >> 32);
  return place;
}
constexpr uint64_t kEnd = ~uint64_t{0};  // a write there goes to the end

DWORD AtOnce(size_t bytes) {
  return static_cast<DWORD>(std::min<size_t>(bytes, size_t{1} << 30));
}

std::error_code WriteAll(HANDLE file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    OVERLAPPED end = At(kEnd);
    DWORD written = 0;
    if (WriteFile(file, bytes.data(), AtOnce(bytes.size()), &written, &end) == 0) {
      return LastError();
    }
    bytes = bytes.subspan(written);
  }
  return {};
}

// Locks cover bytes. A byte behind the end of every file hinders no reads or writes.
constexpr uint64_t kLockedByte = uint64_t{1} << 62;

bool LockByte(HANDLE file, DWORD flags) {
  OVERLAPPED place = At(kLockedByte);
  return LockFileEx(file, LOCKFILE_EXCLUSIVE_LOCK | flags, 0, 1, 0, &place) != 0;
}

bool IsLink(HANDLE file) {
  FILE_ATTRIBUTE_TAG_INFO info = {};
  return GetFileInformationByHandleEx(file, FileAttributeTagInfo, &info, sizeof(info)) != 0 &&
         (info.FileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0 &&
         (info.ReparseTag == IO_REPARSE_TAG_SYMLINK ||
          info.ReparseTag == IO_REPARSE_TAG_MOUNT_POINT);
}

// Returns true if another handle has the file open: it cannot be opened exclusively then.
bool IsOpenElsewhere(const std::filesystem::path& path) {
  const SystemHandle alone = Owned(CreateFileW(SystemPath(path).c_str(), GENERIC_READ, 0, nullptr,
                                               OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, nullptr));
  return !alone.valid() && GetLastError() == ERROR_SHARING_VIOLATION;
}

FileFacts FactsOf(HANDLE file) {
  using std::filesystem::file_type;
  switch (GetFileType(file)) {
    case FILE_TYPE_CHAR: return {file_type::character, 0};
    case FILE_TYPE_PIPE: return {file_type::fifo, 0};
    case FILE_TYPE_DISK: break;
    default: return {};
  }
  BY_HANDLE_FILE_INFORMATION info = {};
  if (GetFileInformationByHandle(file, &info) == 0) return {};
  if ((info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0) return {file_type::directory, 0};
  return {file_type::regular, uint64_t{info.nFileSizeHigh} << 32 | info.nFileSizeLow};
}

// `flags`: FILE_FLAG_OPEN_REPARSE_POINT for what has this name itself.
FileFacts FactsOf(const std::filesystem::path& path, DWORD flags) {
  using std::filesystem::file_type;
  const SystemHandle file = Owned(OpenFile(
      path, {.access = FILE_READ_ATTRIBUTES, .flags = FILE_FLAG_BACKUP_SEMANTICS | flags}));
  if (file.valid()) {
    return IsLink(HandleOf(file)) ? FileFacts{file_type::symlink, 0} : FactsOf(HandleOf(file));
  }
  switch (GetLastError()) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_INVALID_NAME:
    case ERROR_BAD_NETPATH: return {file_type::not_found, 0};
    default: return {};
  }
}

}  // namespace

FileFacts FactsAt(const FilePath& path) {
  return FactsOf(path, 0);
}

FileFacts FactsOfName(const FilePath& path) {
  return FactsOf(path, FILE_FLAG_OPEN_REPARSE_POINT);
}

// Only its owner may: new files have what their folder says, as everything that this user makes.
File File::Open(const FilePath& path, FileMode mode, std::error_code& error) {
  File file;
  file.handle_ = reinterpret_cast<intptr_t>(OpenFile(path, RequestOf(mode)));
  error = ErrorUnless(file.valid());
  const bool itself = mode == FileMode::kWriteItself || mode == FileMode::kOpenOrCreate;
  if (file.valid() && itself && IsLink(HandleFrom(file.handle_))) {
    file = File();
    error = std::make_error_code(std::errc::too_many_symbolic_link_levels);
  }
  return file;
}

File::~File() {
  if (valid()) CloseHandle(HandleFrom(handle_));
}

FileFacts File::facts() const {
  return FactsOf(HandleFrom(handle_));
}

std::error_code File::ReadAt(uint64_t offset, std::span<std::byte> bytes,
                             size_t* read_bytes) const {
  *read_bytes = 0;
  while (*read_bytes < bytes.size()) {
    OVERLAPPED place = At(offset + *read_bytes);
    DWORD count = 0;
    if (ReadFile(HandleFrom(handle_), bytes.data() + *read_bytes,
                 AtOnce(bytes.size() - *read_bytes), &count, &place) == 0) {
      if (GetLastError() == ERROR_HANDLE_EOF) break;
      return LastError();
    }
    if (count == 0) break;
    *read_bytes += count;
  }
  return {};
}

std::error_code File::Append(std::span<const std::byte> bytes) {
  return WriteAll(HandleFrom(handle_), bytes);
}

std::error_code File::Truncate(uint64_t size_bytes) {
  FILE_END_OF_FILE_INFO end = {};
  end.EndOfFile.QuadPart = static_cast<LONGLONG>(size_bytes);
  return ErrorUnless(
      SetFileInformationByHandle(HandleFrom(handle_), FileEndOfFileInfo, &end, sizeof(end)));
}

std::error_code File::Sync() {
  // The system's words for it differ from device to device.
  if (GetFileType(HandleFrom(handle_)) != FILE_TYPE_DISK) {
    return std::make_error_code(std::errc::invalid_argument);
  }
  return ErrorUnless(FlushFileBuffers(HandleFrom(handle_)));
}

std::error_code File::LetEverybodyRead() {
  return {};
}

std::error_code File::Close() {
  return ErrorUnless(CloseHandle(HandleFrom(std::exchange(handle_, kNoHandle))));
}

bool File::TryLock() {
  return LockByte(HandleFrom(handle_), LOCKFILE_FAIL_IMMEDIATELY);
}

std::error_code File::Lock() {
  return ErrorUnless(LockByte(HandleFrom(handle_), 0));
}

bool File::IsAt(const FilePath& path) const {
  const HANDLE named =
      OpenFile(path, {.access = FILE_READ_ATTRIBUTES, .flags = FILE_FLAG_BACKUP_SEMANTICS});
  if (named == INVALID_HANDLE_VALUE) return false;
  const SystemHandle owned = Owned(named);
  BY_HANDLE_FILE_INFORMATION facts[2] = {};
  if (GetFileInformationByHandle(HandleFrom(handle_), &facts[0]) == 0 ||
      GetFileInformationByHandle(named, &facts[1]) == 0) {
    return false;
  }
  return facts[0].dwVolumeSerialNumber == facts[1].dwVolumeSerialNumber &&
         facts[0].nFileIndexHigh == facts[1].nFileIndexHigh &&
         facts[0].nFileIndexLow == facts[1].nFileIndexLow;
}

std::FILE* OpenStream(const FilePath& path) {
  return _wfopen(SystemPath(path).c_str(), L"rb");
}

bool IsOfAnother(const FilePath&) {
  return false;
}

// The first way takes the name also while others have the file of that name open.
std::error_code Rename(const FilePath& path, const FilePath& new_path) {
  constexpr auto kRenameInfoEx = static_cast<FILE_INFO_BY_HANDLE_CLASS>(22);  // not in all headers
  std::error_code none;
  const std::filesystem::path whole = std::filesystem::absolute(new_path, none);
  const std::wstring name = SystemPath(none ? new_path : whole);
  std::vector<std::byte> bytes(sizeof(FILE_RENAME_INFO) + name.size() * sizeof(wchar_t));
  auto* const info = new (bytes.data()) FILE_RENAME_INFO{};
  info->Flags = FILE_RENAME_FLAG_REPLACE_IF_EXISTS | FILE_RENAME_FLAG_POSIX_SEMANTICS;
  info->FileNameLength = static_cast<DWORD>(name.size() * sizeof(wchar_t));
  std::memcpy(info->FileName, name.c_str(), (name.size() + 1) * sizeof(wchar_t));
  const SystemHandle file = Owned(OpenFile(path, {.access = DELETE | SYNCHRONIZE}));
  if (file.valid() && SetFileInformationByHandle(HandleOf(file), kRenameInfoEx, info,
                                                 static_cast<DWORD>(bytes.size())) != 0) {
    return {};
  }
  const std::error_code error = ErrorUnless(MoveFileExW(
      SystemPath(path).c_str(), SystemPath(new_path).c_str(), MOVEFILE_REPLACE_EXISTING));
  return error == std::errc::permission_denied && IsOpenElsewhere(new_path)
             ? std::make_error_code(std::errc::device_or_resource_busy)
             : error;
}

std::error_code RenameToFree(const FilePath& path, const FilePath& free_path) {
  return ErrorUnless(MoveFileExW(SystemPath(path).c_str(), SystemPath(free_path).c_str(), 0));
}

void CopyPermissions(const FilePath&, const FilePath&) {}

std::error_code RemoveFile(const FilePath& path) {
  return ErrorUnless(DeleteFileW(SystemPath(path).c_str()));
}

std::error_code MakeFolders(const FilePath& folder) {
  const FileFacts there = FactsAt(folder);
  if (there.type == std::filesystem::file_type::directory) return {};
  const std::filesystem::path above = folder.parent_path();
  if (!above.empty() && above != folder) {
    if (const std::error_code error = MakeFolders(above)) return error;
  }
  if (CreateDirectoryW(SystemPath(folder).c_str(), nullptr) != 0) return {};
  const std::error_code error = LastError();
  // Another process made the folder first, or the name ends with a slash.
  return FactsAt(folder).type == std::filesystem::file_type::directory ? std::error_code() : error;
}

std::error_code MakePrivateFolder(const FilePath& folder) {
  // The list of rights names this user only, for the folder and for files in it.
  const std::wstring rights = L"D:P(A;OICI;FA;;;" + UserOf(GetCurrentProcess()) + L")";
  SECURITY_ATTRIBUTES security = {sizeof(security), nullptr, FALSE};
  if (ConvertStringSecurityDescriptorToSecurityDescriptorW(
          rights.c_str(), SDDL_REVISION_1, &security.lpSecurityDescriptor, nullptr) == 0) {
    return LastError();
  }
  const std::error_code error =
      ErrorUnless(CreateDirectoryW(SystemPath(folder).c_str(), &security));
  LocalFree(security.lpSecurityDescriptor);
  return error;
}

// NTFS has a journal for names.
void SyncFolder(const FilePath&) {}

std::error_code CheckCreation(const FilePath& path) {
  const HANDLE opened = OpenFile(path, {.access = GENERIC_WRITE | DELETE,
                                        .creation = CREATE_NEW,
                                        .flags = FILE_FLAG_DELETE_ON_CLOSE});
  if (opened == INVALID_HANDLE_VALUE) return LastError();
  return ErrorUnless(CloseHandle(opened));
}

size_t MostBytesOfName(const FilePath& folder) {
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::absolute(folder, error);
  DWORD most = 0;
  if (error || GetVolumeInformationW((whole.root_path().wstring()).c_str(), nullptr, 0, nullptr,
                                     &most, nullptr, nullptr, 0) == 0) {
    return 0;
  }
  return most;  // in UTF-16; a byte stands for no more than one unit
}

void TellFileLimitsAsErrors() {}

bool IsOutOfSpace(const std::error_code& error) {
  constexpr int kQuotaExceeded = 1295;  // ERROR_DISK_QUOTA_EXCEEDED, which not all headers have
  return error == std::errc::no_space_on_device ||
         error == std::error_code(kQuotaExceeded, std::system_category());
}

Status StatusFromError(const std::error_code& error, const std::string& what) {
  StatusCode code = StatusCode::kIo;
  if (error == std::errc::no_such_file_or_directory) code = StatusCode::kNotFound;
  if (error == std::errc::not_enough_memory) code = StatusCode::kOutOfMemory;
  if (error == std::errc::invalid_argument) code = StatusCode::kInvalidArgument;
  // Use the words of other systems, if there are some.
  const std::error_condition condition = error.default_error_condition();
  return Status(code, what + ": " + condition.message());
}

}  // namespace cairn
