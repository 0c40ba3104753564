// SPDX-License-Identifier: Apache-2.0
#include "reader/bisect/bisect_journal.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <limits>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

#include "os/clock.h"

namespace cairn {
namespace {

constexpr std::string_view kTitle = "cairn bisect journal ";
constexpr uint32_t kVersion = 3;
constexpr std::string_view kIdentityWord = "for ";
constexpr char kOldEnding[] = ".old";
constexpr std::string_view kAnswersLine = "answers\n";
// Room for more than 100,000 probes.
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

// A signal of Linux, or what a process of Windows ends with that dies.
bool IsCauseOfDeath(uint64_t number) {
  constexpr uint64_t kMostSignals = 64;
  constexpr uint64_t kLeastCode = 0x4000'0000;
  constexpr uint64_t kGreatestCode = 0xFFFF'FFFF;
  return number <= kMostSignals || (number >= kLeastCode && number <= kGreatestCode);
}

std::optional<JournalEntry> TakeEntry(std::string_view* text) {
  JournalEntry entry;
  const std::optional<uint64_t> question = TakeNumber(text, ' ', 16);
  const std::optional<OutcomeWord> outcome = question ? TakeOutcome(text) : std::nullopt;
  const std::optional<uint64_t> place = outcome ? TakeNumber(text, ' ', 10) : std::nullopt;
  const std::optional<uint64_t> signal = place ? TakeNumber(text, ' ', 10) : std::nullopt;
  const std::optional<uint64_t> duration = signal ? TakeNumber(text, '\n', 10) : std::nullopt;
  if (!duration || !IsCauseOfDeath(*signal)) return std::nullopt;
  entry.question = *question;
  entry.answer = {outcome->outcome, *place, outcome->kind,
                  static_cast<int>(static_cast<uint32_t>(*signal))};
  entry.duration_ms = *duration;
  return entry;
}

std::string Header(const JournalIdentity& identity) {
  std::string header = fmt::format("{}{}\n", kTitle, kVersion);
  for (const auto& [name, value] : identity) {
    header += fmt::format("{}{}: {}\n", kIdentityWord, name, value);
  }
  return header.append(kAnswersLine);
}

// Takes a line, without its end; nullopt if there is no whole one.
std::optional<std::string_view> TakeLine(std::string_view* text) {
  const size_t end = text->find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view line = text->substr(0, end);
  text->remove_prefix(end + 1);
  return line;
}

std::optional<std::string> ValueIn(const JournalIdentity& identity, const std::string& name) {
  for (const auto& [other, value] : identity) {
    if (other == name) return value;
  }
  return std::nullopt;
}

// Everything that is in the file; kInvalidArgument if that is more than a journal can be.
Result<std::string> ReadAll(const File& file, const std::string& path) {
  constexpr size_t kPieceBytes = 65536;
  std::string text;
  for (size_t bytes = kPieceBytes; bytes == kPieceBytes && text.size() <= kMaxJournalBytes;) {
    const size_t offset = text.size();
    text.resize(offset + kPieceBytes);
    const auto piece = std::as_writable_bytes(std::span(text).subspan(offset));
    const std::error_code error = file.ReadAt(offset, piece, &bytes);
    if (error) return StatusFromError(error, path);
    text.resize(offset + bytes);
  }
  const bool cut = kTitle.starts_with(text);
  if (text.size() > kMaxJournalBytes || (!cut && !text.starts_with(kTitle))) {
    return Status(
        StatusCode::kInvalidArgument,
        fmt::format("{} is in the way: it is not a journal of a search of cairn; move it, or name "
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
  if (question.rest_stays) words.push_back(1);
  if (const std::optional<KeptParts>& parts = question.parts) {
    // No submission has this number.
    words.insert(words.end(), {~uint64_t{0}, parts->call, parts->first, parts->end});
  }
  return XXH3_64bits(words.data(), words.size() * sizeof(words[0]));
}

JournalHead ParseJournalHead(std::string_view text) {
  JournalHead head;
  std::string_view rest = text;
  if (!rest.starts_with(kTitle)) return head;
  rest.remove_prefix(kTitle.size());
  head.damaged = rest.find('\n') != std::string_view::npos;
  const std::optional<uint64_t> version = TakeNumber(&rest, '\n', 10);
  if (!version || *version > std::numeric_limits<uint32_t>::max()) return head;
  head.damaged = false;
  head.version = static_cast<uint32_t>(*version);
  if (head.version != kVersion) return head;
  while (rest.starts_with(kIdentityWord)) {
    const std::optional<std::string_view> line = TakeLine(&rest);
    if (!line) return head;
    const std::string_view pair = line->substr(kIdentityWord.size());
    const size_t colon = pair.find(": ");
    head.damaged = colon == std::string_view::npos;
    if (head.damaged) return head;
    head.identity.emplace_back(pair.substr(0, colon), pair.substr(colon + 2));
  }
  head.whole = rest.starts_with(kAnswersLine);
  head.damaged = !head.whole && rest.find('\n') != std::string_view::npos;
  if (head.whole) head.bytes = text.size() - rest.size() + kAnswersLine.size();
  return head;
}

std::string IdentityDifference(const JournalIdentity& there, const JournalIdentity& here) {
  std::string text;
  const auto add = [&](const std::string& name, const std::optional<std::string>& old_value,
                       const std::optional<std::string>& new_value) {
    if (old_value == new_value) return;
    text += fmt::format("{}{}: there {}, here {}", text.empty() ? "" : "; ", name,
                        old_value.value_or("not said"), new_value.value_or("not said"));
  };
  for (const auto& [name, value] : here) add(name, ValueIn(there, name), value);
  for (const auto& [name, value] : there) {
    if (!ValueIn(here, name)) add(name, value, std::nullopt);
  }
  return text;
}

std::vector<JournalEntry> ParseJournal(std::string_view text, const JournalIdentity& identity,
                                       size_t* header_bytes) {
  *header_bytes = 0;
  const JournalHead head = ParseJournalHead(text);
  if (!head.whole || head.identity != identity) return {};
  std::string_view rest = text.substr(head.bytes);
  *header_bytes = head.bytes;
  std::vector<JournalEntry> entries;
  while (std::optional<JournalEntry> entry = TakeEntry(&rest)) {
    entry->end_offset = text.size() - rest.size();
    entries.push_back(*entry);
  }
  return entries;
}

namespace {

// Returns the difference because of which a journal is not continued; "" if it is. A journal
// without an answer, or cut before the first one, has nothing to lose.
std::string WhyPutAside(std::string_view text, const JournalIdentity& identity) {
  if (text.find('\n') == std::string_view::npos) return "";
  const JournalHead head = ParseJournalHead(text);
  if (head.damaged) return "its head is damaged";
  if (head.version != kVersion) {
    return fmt::format("it has the form of version {} of journals, not {}", head.version, kVersion);
  }
  if (!head.whole || text.find('\n', head.bytes) == std::string_view::npos) return "";
  const std::string difference = IdentityDifference(head.identity, identity);
  if (!difference.empty() || head.identity == identity) return difference;
  return "it says the same in another order";
}

// Renames the journal and returns its new name: the first free one.
Result<std::string> PutAside(const std::string& path) {
  constexpr uint32_t kMost = 1000;
  std::string old = path + kOldEnding;
  for (uint32_t i = 1;; ++i) {
    const std::error_code error = RenameToFree(path, old);
    if (!error) return old;
    const bool taken = FactsOfName(old).type != std::filesystem::file_type::not_found;
    if (!taken || i > kMost) return StatusFromError(error, old);
    old = fmt::format("{}{}.{}", path, kOldEnding, i);
  }
}

}  // namespace

Result<std::unique_ptr<BisectJournal>> BisectJournal::OpenFile(const std::string& path,
                                                               FileMode mode) {
  const auto in_use = [&path] {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("{} is in use: another search uses it; wait for it, or "
                              "name another file with --journal",
                              path));
  };
  // The earlier owner may have removed it, or renamed it, between the opening and the lock.
  constexpr int kTries = 10;
  for (int i = 0; i < kTries; ++i) {
    std::error_code error;
    File file = File::Open(path, mode, error);
    if (error) return StatusFromError(error, path);
    if (!file.TryLock()) return in_use();
    if (!file.IsAt(path)) continue;
    return std::unique_ptr<BisectJournal>(new BisectJournal(path, std::move(file)));
  }
  return in_use();
}

Result<std::unique_ptr<BisectJournal>> BisectJournal::Open(const std::string& path,
                                                           const JournalIdentity& identity,
                                                           bool restart) {
  Result<std::unique_ptr<BisectJournal>> journal = OpenFile(path, FileMode::kOpenOrCreate);
  if (!journal.ok()) return journal;
  const Result<std::string> text = ReadAll((*journal)->file_, path);
  if (!text.ok()) return text.status();
  const std::string why = restart ? "" : WhyPutAside(*text, identity);
  if (!why.empty()) {
    Result<std::string> old_path = PutAside(path);
    if (!old_path.ok()) return old_path.status();
    // If another search makes its own journal meanwhile, this one is not made.
    journal = OpenFile(path, FileMode::kCreate);
    if (!journal.ok()) return journal;
    (*journal)->put_aside_ = why;
    (*journal)->old_path_ = std::move(*old_path);
    CAIRN_RETURN_IF_ERROR((*journal)->Begin(identity));
    return journal;
  }
  BisectJournal& opened = **journal;
  if (!restart) opened.entries_ = ParseJournal(*text, identity, &opened.header_bytes_);
  opened.remembered_ = opened.entries_.size();
  if (opened.header_bytes_ == 0) {
    CAIRN_RETURN_IF_ERROR(opened.Begin(identity));
  } else {
    const auto& entries = opened.entries_;
    CAIRN_RETURN_IF_ERROR(
        opened.CutAt(entries.empty() ? opened.header_bytes_ : entries.back().end_offset));
  }
  return journal;
}

Status BisectJournal::Begin(const JournalIdentity& identity) {
  CAIRN_RETURN_IF_ERROR(CutAt(0));
  const std::string header = Header(identity);
  if (const std::error_code error = file_.Append(std::as_bytes(std::span(header)))) {
    // The journal holds nothing worth keeping.
    (void)Remove();
    return StatusFromError(error, path_);
  }
  header_bytes_ = header.size();
  return {};
}

// Cuts the file at `offset` and continues there.
Status BisectJournal::CutAt(size_t offset) {
  const std::error_code error = file_.Truncate(offset);
  return error ? StatusFromError(error, path_) : Status();
}

Status BisectJournal::Append(const JournalEntry& entry) {
  const std::string line =
      fmt::format("{:016x} {} {} {} {}\n", entry.question, WordOf(entry.answer), entry.answer.place,
                  static_cast<uint32_t>(entry.answer.signal), entry.duration_ms);
  std::error_code error = file_.Append(std::as_bytes(std::span(line)));
  // Sync to the disk before the next probe, which may take the machine down.
  if (!error) error = file_.Sync();
  return error && error != std::errc::invalid_argument ? StatusFromError(error, path_) : Status();
}

Result<ProbeAnswer> BisectJournal::Ask(const BisectQuestion& question, const Probe& probe) {
  return AskKey(QuestionKey(question), [&] { return probe(question); });
}

Result<ProbeAnswer> BisectJournal::AskKey(uint64_t key,
                                          const std::function<Result<ProbeAnswer>()>& probe) {
  if (HasNext()) {
    if (entries_[next_].question == key) return entries_[next_++].answer;
    // The entry is of another version of the strategy: it and those behind it are useless.
    entries_.resize(next_);
    CAIRN_RETURN_IF_ERROR(CutAt(next_ == 0 ? header_bytes_ : entries_.back().end_offset));
  }
  const uint64_t start_ns = MonotonicNs();
  const Result<ProbeAnswer> answer = probe();
  // An undecided one is asked again, now and in the search that goes on.
  if (!answer.ok() || answer->outcome == ProbeOutcome::kUndecided) return answer;
  JournalEntry entry = {key, *answer, (MonotonicNs() - start_ns) / 1'000'000};
  CAIRN_RETURN_IF_ERROR(Append(entry));
  entries_.push_back(entry);
  next_ = entries_.size();
  return *answer;
}

uint64_t BisectJournal::AverageMs() const {
  if (entries_.empty()) return 0;
  // A file may say anything.
  const uint64_t most = std::numeric_limits<uint64_t>::max() / entries_.size();
  uint64_t sum = 0;
  for (const JournalEntry& entry : entries_) sum += std::min(entry.duration_ms, most);
  return sum / entries_.size();
}

Status BisectJournal::Remove() {
  // Removes the file while it is locked, so that no other search has begun to use it.
  const std::error_code error = RemoveFile(path_);
  file_ = File();
  return error ? StatusFromError(error, path_) : Status();
}

}  // namespace cairn
