// SPDX-License-Identifier: Apache-2.0
//
// The summaries of the reports of one machine, or of many, in an SQLite database: `cairn triage --index`. The file may
// come from anybody. docs/reference/cairn-triage.md is the page for people.
#ifndef CAIRN_READER_INDEX_REPORT_INDEX_H_
#define CAIRN_READER_INDEX_REPORT_INDEX_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "reader/index/sqlite_file.h"
#include "reader/view/dump_index.h"
#include "reader/view/triage.h"

namespace cairn {

// One thread of one process at a time writes to the file; others wait. Errors name no file.
class ReportIndex {
 public:
  // kNew: makes the file if it is missing, for its owner alone, and takes one of no bytes for missing.
  enum class Access { kRead, kNew };
  // Errors: kNotFound; kIo; kCorrupt: it is damaged, or something else; kUnsupported: a newer Cairn has made it.
  // `wait`: how long anything waits for another process.
  static Result<std::unique_ptr<ReportIndex>> Open(
      const std::string& file, Access access,
      std::chrono::milliseconds wait = std::chrono::seconds(10));

  // A file of this machine, by its absolute path.
  struct Found {
    std::string path;
    FileStamp stamp;
    bool is_new = false;  // its stamp does not tell it from a later file: it is not known again
  };
  // Says of each file if the index has it with this stamp.
  Result<std::vector<bool>> Knows(std::span<const Found> files) const;

  // Keeps what was read of these files, all or nothing. What was kept of an earlier file of the same path goes; of one
  // without a report nothing is kept. A merged report with the same content gives way.
  // Not more than kMostTextBytes of one report.
  Status Keep(std::span<const std::pair<Found, Result<DumpSummary>>> reads);
  static constexpr size_t kMostTextBytes = size_t{512} << 10;
  static bool Fits(const DumpSummary& dump);

  // Adds the reports of another index whose content is not here, some thousand at a time, and counts those. `machine`:
  // the name of those which the other index has from its own machine. `goes_on` is called now and then; once it returns
  // false, the answer is kInterrupted, and what was added stays. `theirs`: true in an error of the other index.
  Result<uint64_t> Merge(const ReportIndex& other, std::string_view machine,
                         const std::function<bool()>& goes_on, bool* theirs);

  Result<uint64_t> ReportCount() const;
  // `shown`: how the path of a file of this machine is printed; of others it is MACHINE:PATH.
  Status AddGroupsTo(Triage* triage,
                     const std::function<std::string(std::string path)>& shown) const;
  // Gives all reports, in the order in which they came. Ends with kInterrupted once `visit` returns false.
  // DumpSummary::file is the path.
  Status ForEach(
      const std::function<bool(const DumpSummary& dump, std::string_view machine)>& visit) const;

 private:
  explicit ReportIndex(SqliteFile file) : file_(std::move(file)) {}
  Status Make() const;
  Status CheckSchema() const;
  Status CheckPages() const;  // reads all of them

  SqliteFile file_;
};

}  // namespace cairn

#endif  // CAIRN_READER_INDEX_REPORT_INDEX_H_
