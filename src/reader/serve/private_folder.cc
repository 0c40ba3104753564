// SPDX-License-Identifier: Apache-2.0
#include "reader/serve/private_folder.h"

#include <fmt/format.h>

#include <cstdint>
#include <span>
#include <system_error>

#include "os/file.h"
#include "os/random.h"

namespace cairn {

Result<PrivateFolder> PrivateFolder::Make() {
  uint64_t random = 0;
  std::error_code error;
  if (!FillWithSecrets(std::as_writable_bytes(std::span(&random, 1)))) {
    return Status(StatusCode::kIo, "the system has no random numbers");
  }
  const std::filesystem::path path =
      std::filesystem::temp_directory_path(error) / fmt::format("cairn-view-{:016x}", random);
  if (!error) error = MakePrivateFolder(path);
  if (error) return StatusFromError(error, fmt::format("'{}' cannot be made", TextOfPath(path)));
  return PrivateFolder(path);
}

PrivateFolder::~PrivateFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace cairn
