// SPDX-License-Identifier: Apache-2.0
#include "os/spare_space.h"

namespace cairn {

SpareSpace SpareSpace::Take(const FilePath&, uint64_t, std::error_code& error) {
  error = std::make_error_code(std::errc::not_supported);
  return {};
}

File SpareSpace::Become(const FilePath& path, std::error_code& error) {
  return File::Open(path, FileMode::kCreate, error);
}

}  // namespace cairn
