// SPDX-License-Identifier: Apache-2.0
#include "cli/written_output.h"

#include <fmt/format.h>

#include <string>
#include <system_error>

#include "base/text.h"
#include "cli/verb.h"
#include "os/file.h"
#include "os/new_file.h"

namespace cairn::cli {

namespace {

Status CannotWrite(std::string_view option, const std::filesystem::path& path,
                   const std::error_code& error, bool force) {
  const std::string what = fmt::format("{}: cannot write '{}'", option, TextOfPath(path));
  if (error == std::errc::file_exists && !force) {
    return Status(StatusCode::kIo, what + ": it is there already; --force replaces it");
  }
  return error ? StatusFromError(error, what) : Status();
}

}  // namespace

Status CheckNew(std::string_view option, const std::filesystem::path& path, bool force) {
  const bool is_there = FactsOfName(FilePath(path)).type != std::filesystem::file_type::not_found;
  std::error_code error;
  if (!is_there) error = CheckCreation(FilePath(path));
  if (is_there && !force) error = std::make_error_code(std::errc::file_exists);
  return CannotWrite(option, path, error, force);
}

Status WriteNew(std::string_view option, const std::filesystem::path& path,
                std::span<const std::byte> bytes, bool force) {
  std::error_code error;
  NewFile file = NewFile::Make(path, error);
  if (!error) error = file.Append(bytes);
  if (!error) error = file.Finish(force ? TakenName::kReplace : TakenName::kRefuse);
  return CannotWrite(option, path, error, force);
}

int WriteHtmlFile(
    std::string_view verb, const std::string& path, bool force,
    const std::function<Status(const std::function<bool(std::string_view)>& print)>& write) {
  std::string page;
  Status status = write([&page](std::string_view piece) {
    page += piece;
    return true;
  });
  if (status.ok()) {
    status = WriteNew("--html", FilePath(path), std::as_bytes(std::span(page)), force);
  }
  if (!status.ok()) {
    PrintError(verb, status.message());
    return kExitFailed;
  }
  const std::string written = fmt::format("{} ({} bytes)\n", VisibleText(path), page.size());
  return PrintOutput(verb, written) ? 0 : kExitFailed;
}

}  // namespace cairn::cli
