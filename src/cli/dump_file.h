// SPDX-License-Identifier: Apache-2.0
//
// Opening the .cairn file that a verb is given.
#ifndef CAIRN_CLI_DUMP_FILE_H_
#define CAIRN_CLI_DUMP_FILE_H_

#include <optional>
#include <string>
#include <string_view>

#include "format/file/file_reader.h"
#include "format/snapshot/snapshot.h"

namespace cairn::cli {

// Opens the file. If nothing of it can be read, prints one line that says why and returns nothing.
// `path` may be empty: the argument is missing then.
std::optional<FileReader> OpenDumpFile(std::string_view verb, const std::string& path);

// The snapshot in the file; warns with one line if something is lost. Prints one line and returns
// nothing if no snapshot is left.
std::optional<Snapshot> ReadDump(std::string_view verb, const std::string& path,
                                 const FileReader& reader);

}  // namespace cairn::cli

#endif  // CAIRN_CLI_DUMP_FILE_H_
