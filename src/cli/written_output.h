// SPDX-License-Identifier: Apache-2.0
//
// Files that a user names for what a verb makes.
#ifndef CAIRN_CLI_WRITTEN_OUTPUT_H_
#define CAIRN_CLI_WRITTEN_OUTPUT_H_

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"

namespace cairn::cli {

// Writes a file, for its owner alone. `force`: replaces what has the name, or the link that has it; what a link leads to
// stays as it is. `option`: by which the user named the file, for messages. Errors: kIo.
Status WriteNew(std::string_view option, const std::filesystem::path& path,
                std::span<const std::byte> bytes, bool force);

// The error that WriteNew would return, as far as it can be known before: for work that takes long.
Status CheckNew(std::string_view option, const std::filesystem::path& path, bool force);

// Writes the page that `write` prints in pieces to the file of --html, as WriteNew does, and prints its name and size.
// Returns an exit code: errors are printed as those of `verb`.
int WriteHtmlFile(
    std::string_view verb, const std::string& path, bool force,
    const std::function<Status(const std::function<bool(std::string_view)>& print)>& write);

}  // namespace cairn::cli

#endif  // CAIRN_CLI_WRITTEN_OUTPUT_H_
