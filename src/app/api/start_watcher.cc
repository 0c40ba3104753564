// SPDX-License-Identifier: Apache-2.0
#include "app/api/start_watcher.h"

#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "app/recorder/block_writer.h"
#include "app/recorder/watcher_link.h"
#include "format/block/handover.h"
#include "format/settings/layer_settings.h"
#include "os/channel.h"
#include "os/detached_process.h"
#include "os/environment.h"
#include "os/file.h"
#include "os/library.h"
#include "os/process.h"
#include "os/this_process.h"

namespace cairn {
namespace {

constexpr uint64_t kStartTimeoutNs = uint64_t{10} * 1'000'000'000;

bool IsProgram(const std::filesystem::path& path) {
  using std::filesystem::perms;
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  constexpr perms kExecutable = perms::owner_exec | perms::group_exec | perms::others_exec;
  return std::filesystem::is_regular_file(status) &&
         (status.permissions() & kExecutable) != perms::none;
}

// Returns the path of cairn: in bin/ of the installation that the library belongs to (lib/ or
// lib/ARCHITECTURE/ of it), beside the library, or beside the program; "" if it is in none. Does
// not search PATH, which might name another program.
std::string FindCairn(const CairnWatcherDesc& desc) {
  if (desc.cairn_path != nullptr) return desc.cairn_path;
  std::error_code ignored;
  const std::string cairn = ProgramFile("cairn");
  std::vector<std::filesystem::path> places;
  const std::string library = LibraryPathOf(reinterpret_cast<void*>(&cairnStartWatcher));
  if (!library.empty()) {
    const auto folder = std::filesystem::absolute(FilePath(library), ignored).parent_path();
    places.push_back(folder.parent_path() / "bin" / cairn);
    if (folder.parent_path().filename() == "lib") {
      places.push_back(folder.parent_path().parent_path() / "bin" / cairn);
    }
    places.push_back(folder / cairn);
  }
  places.push_back(FilePath(OwnProgramPath()).parent_path() / cairn);
  for (const std::filesystem::path& place : places) {
    if (IsProgram(place)) return TextOfPath(place);
  }
  return "";
}

std::vector<std::string> Arguments(const CairnWatcherDesc& desc, const std::string& cairn,
                                   RawHandle channel) {
  std::vector<std::string> arguments = {cairn, "watch", "--fd",
                                        std::to_string(NumberInDetached(channel))};
  if (desc.hang_timeout_ms != 0) {
    arguments.push_back("--hang-timeout");
    arguments.push_back(std::to_string(desc.hang_timeout_ms / 1000) + "." +
                        std::to_string(1000 + desc.hang_timeout_ms % 1000).substr(1));
  }
  if (desc.output_path != nullptr) {
    arguments.push_back("-o");
    arguments.push_back(desc.output_path);
  }
  if (desc.on_report != nullptr) {
    arguments.push_back("--on-report");
    arguments.push_back(desc.on_report);
  }
  return arguments;
}

// Waits for the watcher's word that it watches this process.
Status AwaitWatcher(RawHandle channel) {
  ChannelMessage received;
  const Received what = ReceiveWithin(channel, kStartTimeoutNs, &received);
  HandoverMessage message;
  if (what == Received::kMessage && received.size_bytes == sizeof(message)) {
    std::memcpy(&message, received.data.data(), sizeof(message));
    if (message.magic == kHandoverMagic && message.kind == HandoverKind::kWatching) return Status();
  }
  return Status(StatusCode::kIo, what == Received::kNothing
                                     ? "the watcher does not answer"
                                     : "the watcher ended at once; it says why on stderr");
}

}  // namespace

Status StartWatcher(const CairnWatcherDesc& desc) {
  if (IsPrivilegedProcess()) {
    return Status(StatusCode::kIo,
                  "this program has more rights than its user: it starts no watcher");
  }
  if (HasWatcher()) return Status();
  const std::string cairn = FindCairn(desc);
  if (cairn.empty()) {
    return Status(StatusCode::kNotFound,
                  "the program cairn is neither in the installation of libcairn nor beside this "
                  "program; set CairnWatcherDesc::cairn_path");
  }
  Result<ChannelEnds> ends = MakeChannel();
  if (!ends.ok()) return ends.status();
  const std::error_code error =
      StartDetached(Arguments(desc, cairn, ends->second.get()), ends->second.get());
  ends->second.Close();
  if (error) {
    return StatusFromError(
        error, "the watcher " + cairn + " cannot be started; set CairnWatcherDesc::cairn_path");
  }
  CAIRN_RETURN_IF_ERROR(AwaitWatcher(ends->first.get()));
  // Closed with the process; the watcher takes that as its end.
  const RawHandle watcher = ends->first.Release();
  SetVariable(kVariableOf<&LayerSettings::watcher_fd>, TextOfInherited(watcher));
  return BlockWriter::HandOverToNewWatcher();
}

}  // namespace cairn
