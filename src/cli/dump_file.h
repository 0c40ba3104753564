// SPDX-License-Identifier: Apache-2.0
//
// Opening the .cairn file that a verb is given.
#ifndef CAIRN_CLI_DUMP_FILE_H_
#define CAIRN_CLI_DUMP_FILE_H_

#include <optional>
#include <string>
#include <string_view>

#include "cairnfile/file_reader.h"
#include "snapshot/snapshot.h"

namespace cairn::cli {

// Opens the file. Prints what is wrong (one line) and returns nothing if nothing of it can be read;
// warns (one line) if something is lost. `path` may be empty: the argument is missing then.
std::optional<FileReader> OpenDumpFile(std::string_view verb, const std::string& path);

// The snapshot in the file, or one line that says that it holds none.
std::optional<Snapshot> ReadDump(std::string_view verb, const std::string& path,
                                 const FileReader& reader);

}  // namespace cairn::cli

#endif  // CAIRN_CLI_DUMP_FILE_H_
