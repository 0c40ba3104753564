// SPDX-License-Identifier: Apache-2.0
//
// The file of a report or a trace, under the name that was asked for or, if something came into the way of
// that since it was checked, under another beside it: a report is not lost for its name.
#ifndef CAIRN_WATCHER_OUTPUT_FILE_H_
#define CAIRN_WATCHER_OUTPUT_FILE_H_

#include <functional>
#include <string>

#include "base/status.h"
#include "format/file/file_writer.h"

namespace cairn {

struct OutputFile {
  FileWriter writer;
  std::string path;     // its name when it is finished
  std::string why_not;  // of the name that was asked for; "" if it has that
};

// `other_name`: further names, one after the other, "" when there are none. Errors: those of `path`, and
// nothing is left then. `space`: the file is made of that, where it is valid().
Result<OutputFile> CreateOutput(const std::string& path,
                                const std::function<std::string()>& other_name,
                                SpareSpace* space = nullptr);

}  // namespace cairn

#endif  // CAIRN_WATCHER_OUTPUT_FILE_H_
