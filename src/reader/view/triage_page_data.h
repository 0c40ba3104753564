// SPDX-License-Identifier: Apache-2.0
//
// The data of the page of `cairn triage --html` and `--serve`: the groups, and how many dumps each has by day, program,
// version and certainty. docs/reference/cairn-triage.md has the keys.
#ifndef CAIRN_READER_VIEW_TRIAGE_PAGE_DATA_H_
#define CAIRN_READER_VIEW_TRIAGE_PAGE_DATA_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "reader/view/triage.h"

namespace cairn {

// Memory: grows with the signatures, and with the days, programs and versions of each.
class TriagePageData {
 public:
  // `place`: how the page calls what was read; untrusted. `made_ns`: now, ns since 1970. `is_served`: numbers of files
  // lead to their reports.
  TriagePageData(std::string place, uint64_t made_ns, bool is_served)
      : place_(std::move(place)), made_ns_(made_ns), is_served_(is_served) {}

  // `number`: by which a server knows the file.
  void Add(const DumpSummary& dump, uint64_t number);
  void AddUnreadable(std::string_view file, const Status& why_not) {
    triage_.AddUnreadable(file, why_not);
  }
  const Triage& triage() const { return triage_; }

  // JSON on one line, of some 96 MiB at most, which leaves out what the page could not hold. The order in which dumps
  // were added makes no difference, but for numbers of names.
  std::string Json() const;

  static constexpr size_t kMostFiles = 10;  // of a group

 private:
  struct Cell {
    int64_t day;  // since 1970, UTC; -1: the time is not known
    uint32_t program;
    uint32_t version;
    Certainty certainty;
    auto operator<=>(const Cell&) const = default;
  };
  struct File {
    std::string name;
    uint64_t seen_ns;
    uint64_t number;
  };
  struct Detail {
    std::map<Cell, uint64_t> counts;
    std::vector<File> files;  // those that were seen last
  };
  // Names by their places, each once.
  class Names {
   public:
    uint32_t PlaceOf(const std::string& name);
    const std::vector<std::string>& all() const { return all_; }

   private:
    std::map<std::string, uint32_t> places_;
    std::vector<std::string> all_;
  };
  static void AddFile(File file, std::vector<File>* files);

  const std::string place_;
  const uint64_t made_ns_;
  const bool is_served_;
  Triage triage_;
  std::map<std::string, Detail> details_;  // by Signature::id
  Names programs_;
  Names versions_;
};

}  // namespace cairn

#endif  // CAIRN_READER_VIEW_TRIAGE_PAGE_DATA_H_
