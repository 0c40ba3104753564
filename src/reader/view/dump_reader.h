// SPDX-License-Identifier: Apache-2.0
//
// Many dumps, read by several threads and given in the order of their files.
#ifndef CAIRN_READER_VIEW_DUMP_READER_H_
#define CAIRN_READER_VIEW_DUMP_READER_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "reader/view/triage.h"

namespace cairn {

// For one thread, which need not be the one that made it. Memory: of the dumps that are read just now, one a thread,
// and of the summaries of as many batches as there are threads.
class DumpReader {
 public:
  // Begins to read. `files` has to outlive it. `threads`: 1 or more; 0 is as many as there are cores, at most
  // kMostThreads. Where no thread is to be had, Next() reads.
  explicit DumpReader(const std::vector<std::string>& files, size_t threads = 0,
                      DumpNames names = DumpNames::kShown);
  // Waits for the files that are being read just now, and reads no others.
  ~DumpReader();
  DumpReader(const DumpReader&) = delete;
  DumpReader& operator=(const DumpReader&) = delete;

  // SummariseDump of the next file; nothing if it is not read within this time: ask again. Not to be called once all
  // files were given. Throws what reading threw, such as std::bad_alloc; not to be called after that.
  std::optional<Result<DumpSummary>> Next(std::chrono::milliseconds wait);

  static constexpr size_t kMostThreads = 16;

 private:
  using Batch = std::vector<Result<DumpSummary>>;
  Batch Read(size_t begin, size_t end) const;
  void ReadAhead();

  const std::vector<std::string>& files_;
  const size_t threads_;
  const DumpNames names_;
  std::atomic<bool> ending_ = false;
  size_t begun_ = 0;                       // files whose batch is under way, or was
  std::deque<std::future<Batch>> coming_;  // at most threads_
  Batch batch_;                            // what Next() gives
  size_t given_ = 0;                       // of batch_
};

}  // namespace cairn

#endif  // CAIRN_READER_VIEW_DUMP_READER_H_
