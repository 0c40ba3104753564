// SPDX-License-Identifier: Apache-2.0
//
// Chooses the file that each process of a run writes to. The first process with a report gets the
// name that the user gave, every other, and every further file of a process, a name made from it.
// Without such a name no file of an earlier run is written over.
#ifndef CAIRN_WATCHER_OUTPUT_NAMES_H_
#define CAIRN_WATCHER_OUTPUT_NAMES_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "watcher/output_path.h"

namespace cairn {

// One thread.
class OutputNames {
 public:
  // `wanted`: the name that the user gave, "" for one made from the program's. `most`: of all names.
  // `exists`: whether a file has this name.
  OutputNames(std::string wanted, uint64_t most,
              std::function<bool(const std::string&)> exists = IsThere)
      : wanted_(std::move(wanted)), most_(most), exists_(std::move(exists)) {}

  // The names of one process.
  struct OfProcess {
    uint32_t others = 0;  // names that were made from the wanted one
  };

  // The next name of a process; "" if it had, or all together had, as many as there may be.
  std::string Next(OfProcess* process, const std::string& program, int64_t process_id) {
    if (count_ >= most_ || process->others >= kMaxPathsOfProcess) return "";
    ++count_;
    const std::string path = wanted_.empty() ? DefaultOutputPath(program) : wanted_;
    if (!std::exchange(wanted_taken_, true) && IsFree(path)) return path;
    std::string other;
    do {
      other = OutputPathOfProcess(path, process_id, ++process->others);
    } while (!IsFree(other) && process->others < kMaxPathsOfProcess);
    return IsFree(other) ? other : "";
  }

 private:
  // Returns true if `path` may be written. A name that the user gave always may, even if a file has
  // it.
  bool IsFree(const std::string& path) const { return !wanted_.empty() || !exists_(path); }

  std::string wanted_;
  uint64_t most_;
  std::function<bool(const std::string&)> exists_;
  uint64_t count_ = 0;
  bool wanted_taken_ = false;
};

}  // namespace cairn

#endif  // CAIRN_WATCHER_OUTPUT_NAMES_H_
