// SPDX-License-Identifier: Apache-2.0
//
// Files that a user names for what a verb makes.
#ifndef CAIRN_CLI_WRITTEN_OUTPUT_H_
#define CAIRN_CLI_WRITTEN_OUTPUT_H_

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

#include "base/status.h"

namespace cairn::cli {

// Writes a file, for its owner alone. `force`: replaces what has the name, or the link that has it; what a link leads to
// stays as it is. `option`: by which the user named the file, for messages. Errors: kIo.
Status WriteNew(std::string_view option, const std::filesystem::path& path,
                std::span<const std::byte> bytes, bool force);

}  // namespace cairn::cli

#endif  // CAIRN_CLI_WRITTEN_OUTPUT_H_
