// SPDX-License-Identifier: Apache-2.0
//
// Finds dumps in folders, and tells a file from a later one of its name.
#ifndef CAIRN_READER_SERVE_DUMP_FILES_H_
#define CAIRN_READER_SERVE_DUMP_FILES_H_

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/status.h"
#include "reader/view/dump_index.h"

namespace cairn {

// Gives the named files and the .cairn files in the named folders, one after the other, as the folders have them; does not
// follow links to folders. `visit` ends it by false; the answer is kInterrupted then. Errors: kIo, for a folder that
// cannot be read.
Status ForEachDumpFile(const std::vector<std::string>& paths,
                       const std::function<bool(std::string file)>& visit);

// Returns the same files, sorted, each once. Errors: kIo.
Result<std::vector<std::string>> DumpFilesIn(const std::vector<std::string>& paths);

struct FoundDump {
  std::string path;  // absolute; "" for what cannot be known again
  FileStamp stamp;
  bool is_new =
      false;  // written less than two seconds ago: another one could have its size and time
};
// `here`: the current folder. `now`: no later than this call.
FoundDump LookAtDump(const std::string& file, const std::filesystem::path& here,
                     std::filesystem::file_time_type now);

}  // namespace cairn

#endif  // CAIRN_READER_SERVE_DUMP_FILES_H_
