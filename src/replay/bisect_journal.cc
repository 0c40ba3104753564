// SPDX-License-Identifier: Apache-2.0
#include "replay/bisect_journal.h"

#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>
#include <xxhash.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <optional>
#include <utility>

#include "base/clock.h"

namespace cairn {
namespace {

constexpr std::string_view kFirstLine = "cairn bisect journal 1\n";
constexpr std::string_view kIdentityWord = "for ";
// Of 100,000 probes, and then some.
constexpr size_t kMaxJournalBytes = size_t{64} << 20;

struct OutcomeWord {
  std::string_view word;
  ProbeOutcome outcome;
  FailureKind kind;
};
constexpr OutcomeWord kOutcomes[] = {
    {"clean", ProbeOutcome::kClean, FailureKind::kNone},
    {"invalid", ProbeOutcome::kInvalid, FailureKind::kNone},
    {"fails", ProbeOutcome::kFails, FailureKind::kNone},
    {"hang", ProbeOutcome::kFails, FailureKind::kHang},
    {"lost", ProbeOutcome::kFails, FailureKind::kLost},
    {"died", ProbeOutcome::kFails, FailureKind::kDied},
};

std::string_view WordOf(const ProbeAnswer& answer) {
  for (const OutcomeWord& known : kOutcomes) {
    if (known.outcome != answer.outcome) continue;
    if (known.outcome != ProbeOutcome::kFails || known.kind == answer.kind) return known.word;
  }
  return "fails";
}

// The first word of `text`, which `ending` follows; nullopt if it does not.
std::optional<std::string_view> TakeWord(std::string_view* text, char ending) {
  const size_t end = text->find_first_of(" \n");
  if (end == std::string_view::npos || (*text)[end] != ending) return std::nullopt;
  const std::string_view word = text->substr(0, end);
  text->remove_prefix(end + 1);
  return word;
}

std::optional<uint64_t> TakeNumber(std::string_view* text, char ending, int base) {
  const std::optional<std::string_view> word = TakeWord(text, ending);
  if (!word) return std::nullopt;
  uint64_t number = 0;
  const auto [end, error] =
      std::from_chars(word->data(), word->data() + word->size(), number, base);
  if (error != std::errc() || end != word->data() + word->size()) return std::nullopt;
  return number;
}

std::optional<OutcomeWord> TakeOutcome(std::string_view* text) {
  const std::optional<std::string_view> word = TakeWord(text, ' ');
  for (const OutcomeWord& known : kOutcomes) {
    if (word == known.word) return known;
  }
  return std::nullopt;
}

std::optional<JournalEntry> TakeEntry(std::string_view* text) {
  constexpr uint64_t kMostSignals = 64;
  JournalEntry entry;
  const std::optional<uint64_t> question = TakeNumber(text, ' ', 16);
  const std::optional<OutcomeWord> outcome = question ? TakeOutcome(text) : std::nullopt;
  const std::optional<uint64_t> place = outcome ? TakeNumber(text, ' ', 10) : std::nullopt;
  const std::optional<uint64_t> signal = place ? TakeNumber(text, ' ', 10) : std::nullopt;
  const std::optional<uint64_t> duration = signal ? TakeNumber(text, '\n', 10) : std::nullopt;
  if (!duration || *signal > kMostSignals) return std::nullopt;
  entry.question = *question;
  entry.answer = {outcome->outcome, *place, outcome->kind, static_cast<int>(*signal)};
  entry.duration_ms = *duration;
  return entry;
}

std::string Header(const std::string& identity) {
  return fmt::format("{}{}{}\n", kFirstLine, kIdentityWord, identity);
}

// Everything that is in the file; kInvalidArgument if that is more than a journal can be.
Result<std::string> ReadAll(std::FILE* file, const std::string& path) {
  std::string text;
  std::array<char, 65536> piece;
  while (const size_t bytes = std::fread(piece.data(), 1, piece.size(), file)) {
    text.append(piece.data(), bytes);
    if (text.size() > kMaxJournalBytes) break;
  }
  if (std::ferror(file) != 0) return StatusFromErrno(errno, path);
  const std::string_view start = std::string_view(text).substr(0, kFirstLine.size());
  if (text.size() > kMaxJournalBytes || (!text.empty() && !kFirstLine.starts_with(start))) {
    return Status(
        StatusCode::kInvalidArgument,
        fmt::format("{} is in the way: it is not a journal of cairn bisect; move it, or name "
                    "another file with --journal",
                    path));
  }
  return text;
}

}  // namespace

uint64_t QuestionKey(const BisectQuestion& question) {
  std::vector<uint64_t> words = {question.stop_before};
  for (const Suspect& suspect : question.left_out) {
    words.push_back(uint64_t{static_cast<uint8_t>(suspect.kind)} << 32 | suspect.list);
    words.push_back(suspect.call);
  }
  return XXH3_64bits(words.data(), words.size() * sizeof(words[0]));
}

std::vector<JournalEntry> ParseJournal(std::string_view text, std::string_view identity,
                                       size_t* header_bytes) {
  *header_bytes = 0;
  std::string_view rest = text;
  for (const std::string_view part :
       {kFirstLine, kIdentityWord, identity, std::string_view("\n")}) {
    if (!rest.starts_with(part)) return {};
    rest.remove_prefix(part.size());
  }
  *header_bytes = text.size() - rest.size();
  std::vector<JournalEntry> entries;
  while (std::optional<JournalEntry> entry = TakeEntry(&rest)) {
    entry->end_offset = text.size() - rest.size();
    entries.push_back(*entry);
  }
  return entries;
}

Result<std::unique_ptr<BisectJournal>> BisectJournal::Open(const std::string& path,
                                                           const std::string& identity) {
  std::FILE* file = std::fopen(path.c_str(), "r+e");
  if (file == nullptr && errno == ENOENT) file = std::fopen(path.c_str(), "w+e");
  if (file == nullptr) return StatusFromErrno(errno, path);
  std::unique_ptr<BisectJournal> journal(new BisectJournal(path, file));
  if (flock(fileno(file), LOCK_EX | LOCK_NB) != 0) {
    return Status(
        StatusCode::kInvalidArgument,
        fmt::format("{} is in use: another cairn bisect searches this trace; wait for it, or "
                    "name another file with --journal",
                    path));
  }
  const Result<std::string> text = ReadAll(file, path);
  if (!text.ok()) return text.status();
  journal->entries_ = ParseJournal(*text, identity, &journal->header_bytes_);
  journal->remembered_ = journal->entries_.size();
  if (journal->header_bytes_ == 0) {
    CAIRN_RETURN_IF_ERROR(journal->CutAt(0));
    const std::string header = Header(identity);
    if (std::fwrite(header.data(), 1, header.size(), file) != header.size() ||
        std::fflush(file) != 0) {
      return StatusFromErrno(errno, path);
    }
    journal->header_bytes_ = header.size();
  } else {
    const auto& entries = journal->entries_;
    CAIRN_RETURN_IF_ERROR(
        journal->CutAt(entries.empty() ? journal->header_bytes_ : entries.back().end_offset));
  }
  return journal;
}

BisectJournal::~BisectJournal() {
  if (file_ != nullptr) std::fclose(file_);
}

// What is behind `offset` goes, and writing goes on there.
Status BisectJournal::CutAt(size_t offset) {
  if (std::fflush(file_) != 0 || ftruncate(fileno(file_), static_cast<off_t>(offset)) != 0 ||
      std::fseek(file_, static_cast<long>(offset), SEEK_SET) != 0) {
    return StatusFromErrno(errno, path_);
  }
  return {};
}

Status BisectJournal::Append(const JournalEntry& entry) {
  const std::string line =
      fmt::format("{:016x} {} {} {} {}\n", entry.question, WordOf(entry.answer), entry.answer.place,
                  entry.answer.signal, entry.duration_ms);
  // On the disk before the next probe: that one may take the machine down.
  if (std::fwrite(line.data(), 1, line.size(), file_) != line.size() || std::fflush(file_) != 0 ||
      (fdatasync(fileno(file_)) != 0 && errno != EINVAL)) {
    return StatusFromErrno(errno, path_);
  }
  return {};
}

Result<ProbeAnswer> BisectJournal::Ask(const BisectQuestion& question, const Probe& probe) {
  const uint64_t key = QuestionKey(question);
  if (HasNext()) {
    if (entries_[next_].question == key) return entries_[next_++].answer;
    // Of another version of the strategy: from here on it is of no use.
    entries_.resize(next_);
    CAIRN_RETURN_IF_ERROR(CutAt(next_ == 0 ? header_bytes_ : entries_.back().end_offset));
  }
  const uint64_t start_ns = MonotonicNs();
  const Result<ProbeAnswer> answer = probe(question);
  if (!answer.ok()) return answer.status();
  JournalEntry entry = {key, *answer, (MonotonicNs() - start_ns) / 1'000'000};
  CAIRN_RETURN_IF_ERROR(Append(entry));
  entries_.push_back(entry);
  next_ = entries_.size();
  return *answer;
}

uint64_t BisectJournal::AverageMs() const {
  if (entries_.empty()) return 0;
  uint64_t sum = 0;
  for (const JournalEntry& entry : entries_) sum += entry.duration_ms / entries_.size();
  return sum;
}

Status BisectJournal::Remove() {
  std::fclose(std::exchange(file_, nullptr));
  if (unlink(path_.c_str()) != 0 && errno != ENOENT) return StatusFromErrno(errno, path_);
  return {};
}

}  // namespace cairn
