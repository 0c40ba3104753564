// SPDX-License-Identifier: Apache-2.0
//
// cairn triage: many dumps, grouped by their signatures. docs/reference/cairn-triage.md is the page for people.
#ifndef CAIRN_READER_VIEW_TRIAGE_H_
#define CAIRN_READER_VIEW_TRIAGE_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_writer.h"
#include "base/status.h"
#include "reader/report/signature.h"

namespace cairn {

// The facts of a dump for a comparison with others. Texts are untrusted.
struct DumpSummary {
  std::string file;
  uint64_t size_bytes = 0;
  uint64_t seen_ns = 0;  // of the first incident, else of the dump; ns since 1970, 0: not known
  std::string program;
  std::string version;  // of libcairn
  Certainty certainty = Certainty::kUnknown;
  std::string sentence;  // visible text
  uint64_t loss_count = 0;
  // Hexadecimal, the same for copies of a file: of the process, and of the checksums of all parts. "" if not known.
  std::string content;
  Signature signature;
};

// kRedacted: names in dumps, and the file's, are hashes, as Redact() makes them.
enum class DumpNames { kShown, kRedacted };

// Reads only the report, and no trace in the same file. Errors: those of FileReader::Open;
// kNotFound: the file is intact and holds no report. Counts the losses of a damaged file.
Result<DumpSummary> SummariseDump(const std::string& file, DumpNames names = DumpNames::kShown);
// "name-0123456789abcdef.cairn": the hash of the file's name without its folder.
std::string RedactedFileName(const std::string& file);

// "2023-11-14T22:13:25.000Z": databases read it, and its order as text is that of time.
std::string IsoTime(uint64_t realtime_ns);

// One line of JSON each (docs/formats/triage-line.schema.json): a dump, and a file that is none.
std::string TriageLine(const DumpSummary& dump);
std::string TriageLine(std::string_view file, const Status& why_not);

// The parts that dumps of one signature have in common.
struct TriageGroup {
  Signature signature;
  uint64_t count = 0;
  uint64_t first_seen_ns = 0;  // 0: of none that is known
  uint64_t last_seen_ns = 0;
  std::string example;  // the file that was seen last, of several the first by its name
  std::string sentence;
};

// Groups dumps. Keeps only the groups: memory grows with the number of signatures alone.
class Triage {
 public:
  void Add(const DumpSummary& dump);
  // Adds dumps of one signature, of which none was added before.
  void AddGroup(TriageGroup added);
  void AddUnreadable(std::string_view file, const Status& why_not);
  void CountUnreadable(uint64_t count) { unreadable_count_ += count; }  // files that are not named

  uint64_t dump_count() const { return dump_count_; }
  uint64_t group_count() const { return groups_.size(); }
  uint64_t unreadable_count() const { return unreadable_count_; }

  // The group with the most dumps first, of those the one that was seen last. The order in which dumps were added
  // makes no difference.
  std::string Text() const;
  std::string Json() const;  // docs/formats/triage.schema.json
  // The same on one line, of some `most_bytes` at most: groups and files behind them are left out.
  std::string ShortJson(uint64_t most_bytes) const;
  // Signature::id of each group, in the order of Json().
  std::vector<std::string> GroupIds() const;

 private:
  struct Unreadable {
    std::string file;
    std::string reason;
  };
  std::vector<const TriageGroup*> Sorted() const;
  void Write(JsonWriter* json) const;

  std::map<std::string, TriageGroup> groups_;  // by Signature::id
  std::vector<Unreadable> unreadable_;         // the first kMostUnreadable
  uint64_t unreadable_count_ = 0;
  uint64_t dump_count_ = 0;
};

}  // namespace cairn

#endif  // CAIRN_READER_VIEW_TRIAGE_H_
