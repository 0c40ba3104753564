// SPDX-License-Identifier: Apache-2.0
//
// Reads the dumps of folders, and those that it has read before from a file that it keeps: docs/reference/cairn-triage.md.
#ifndef CAIRN_READER_SERVE_KEPT_DUMPS_H_
#define CAIRN_READER_SERVE_KEPT_DUMPS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/status.h"
#include "reader/view/dump_index.h"
#include "reader/view/triage.h"

namespace cairn {

// One thread.
class KeptDumps {
 public:
  // `file`: where to keep what was read, in a folder of its own, which is made if it is missing; "": nowhere. Whatever
  // else lies there is read as if nothing did, and replaced. `build`: what reads the files.
  // `names`: kRedacted only with no `file`: facts with names would be kept beside those without.
  KeptDumps(std::string file, uint64_t build, DumpNames names = DumpNames::kShown);

  // Gives what SummariseDump says of each file, in their order. `goes_on` is called now and then with the number of files
  // that were given; once it returns false, the answer is kInterrupted. Then what was read so far is kept as well. Drops
  // what is kept of all other files otherwise. A file that was written less than two seconds ago is read anew the next
  // time: another one could have its size and time.
  Status Read(const std::vector<std::string>& files,
              const std::function<bool(uint64_t given)>& goes_on,
              const std::function<void(const std::string& file, const Result<DumpSummary>&)>& take);

  uint64_t read_count() const { return read_count_; }  // files that were opened, in all

  static constexpr size_t kMostFiles = 32;  // in the folder; the oldest are deleted

 private:
  void Load();
  void Save();

  const std::string file_;
  const uint64_t build_;
  const DumpNames names_;
  DumpIndex index_;
  bool is_loaded_ = false;
  uint64_t read_count_ = 0;
};

}  // namespace cairn

#endif  // CAIRN_READER_SERVE_KEPT_DUMPS_H_
