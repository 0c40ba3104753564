// SPDX-License-Identifier: Apache-2.0
//
// The answers of a search, in a file, so that a search that was interrupted goes on: the strategy asks the
// same questions again, and those that have an answer here are not played. A text of lines:
//
//   cairn bisect journal 3
//   for NAME: VALUE                       what the answers are about, a line each: the trace, the device, ...
//   answers
//   QUESTION OUTCOME PLACE SIGNAL MS      16 hexadecimal digits; clean, invalid, hang, lost, died, or
//                                         fails; numbers
//
// A line is complete or not there: what a cut or damaged file holds before the damage counts. Undecided
// answers are none: they do not stand here.
#ifndef CAIRN_READER_BISECT_BISECT_JOURNAL_H_
#define CAIRN_READER_BISECT_BISECT_JOURNAL_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "os/file.h"
#include "reader/bisect/bisect.h"

namespace cairn {

// The subject of the answers, by name: they hold only if all values are equal. Names without
// colons, nothing with line breaks; VisibleText ensures it.
using JournalIdentity = std::vector<std::pair<std::string, std::string>>;

struct JournalEntry {
  uint64_t question = 0;  // QuestionKey
  ProbeAnswer answer;
  uint64_t duration_ms = 0;
  size_t end_offset = 0;  // of its line in the text
};

// The same for the same question, in every process.
uint64_t QuestionKey(const BisectQuestion& question);

// The subject in the head of a journal, without parts that are cut or damaged. `version` is 0 if
// the text is no journal.
struct JournalHead {
  uint32_t version = 0;
  JournalIdentity identity;
  bool whole = false;  // entries may follow, from `bytes` on
  bool damaged =
      false;  // not whole, and not because it is cut: something stands where more of it should
  size_t bytes = 0;
};
JournalHead ParseJournalHead(std::string_view text);

// The entries of `text` up to the first damage; none if it is of something else. `header_bytes`: where the
// first entry begins, 0 if the text is not a journal for `identity`.
std::vector<JournalEntry> ParseJournal(std::string_view text, const JournalIdentity& identity,
                                       size_t* header_bytes);

// "device: there X, here Y; options: ...", "" if there is no difference.
std::string IdentityDifference(const JournalIdentity& there, const JournalIdentity& here);

class BisectJournal {
 public:
  // One search at a time: a file that another one has open is kInvalidArgument. Where there is none, one is
  // begun. A journal with answers about something else, of another version, or with a damaged head is put aside
  // (the name with ".old", ".old.1", ...: none is ever overwritten) and a new one begun; with `restart` what any
  // journal holds is forgotten. A file that is no journal at all is kInvalidArgument and left alone.
  static Result<std::unique_ptr<BisectJournal>> Open(const std::string& path,
                                                     const JournalIdentity& identity,
                                                     bool restart = false);
  BisectJournal(const BisectJournal&) = delete;
  BisectJournal& operator=(const BisectJournal&) = delete;

  // Answers from the file as long as the questions are those in it, in its order; from then on, asks
  // `probe` and writes its answers down. Errors: those of `probe`; kIo.
  Result<ProbeAnswer> Ask(const BisectQuestion& question, const Probe& probe);
  // The same for a question of another kind: `key` is the same for the same question in every process.
  Result<ProbeAnswer> AskKey(uint64_t key, const std::function<Result<ProbeAnswer>()>& probe);

  // Returns the difference because of which the existing file was renamed; "" if it was not.
  const std::string& put_aside() const { return put_aside_; }
  // Returns the path of the renamed file.
  const std::string& old_path() const { return old_path_; }
  // Answers in the file when it was opened.
  size_t remembered() const { return remembered_; }
  // True if the next question's answer is in the file, unless it is another one.
  bool HasNext() const { return next_ < entries_.size(); }
  // True if it holds no answer.
  bool empty() const { return entries_.empty(); }
  // Returns the average time of a play; 0 if there was none yet, or if plays are shorter.
  uint64_t AverageMs() const;
  // The search is over. Errors: kIo.
  Status Remove();

 private:
  BisectJournal(std::string path, File file) : path_(std::move(path)), file_(std::move(file)) {}
  static Result<std::unique_ptr<BisectJournal>> OpenFile(const std::string& path, FileMode mode);
  Status Begin(const JournalIdentity& identity);
  Status Append(const JournalEntry& entry);
  Status CutAt(size_t offset);

  std::string path_;
  std::string put_aside_;
  std::string old_path_;
  File file_;
  size_t header_bytes_ = 0;
  std::vector<JournalEntry> entries_;
  size_t next_ = 0;
  size_t remembered_ = 0;
};

}  // namespace cairn

#endif  // CAIRN_READER_BISECT_BISECT_JOURNAL_H_
