// SPDX-License-Identifier: Apache-2.0
#include "reader/index/report_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <limits>
#include <system_error>

#include "base/byte_reader.h"
#include "base/byte_writer.h"
#include "base/text.h"
#include "os/file.h"

namespace cairn {
namespace {

constexpr int64_t kApplication = 0x4361496e;  // "CaIn"
constexpr int64_t kVersion = 1;
constexpr uint64_t kMergedAtOnce = 4096;
constexpr size_t kIdDigits = 16;
constexpr size_t kContentDigits = 32;
constexpr uint32_t kMostTexts = 4096;
// As Triage has it of a dump.
constexpr int64_t kLatestNs = int64_t{4'000'000'000} * 1'000'000'000;

// The schema of version 1, as sqlite_schema has it. `machine` is empty for reports of this one; `written` is NULL for
// merged reports, and for files that are read again. The lists of a signature are a varint count and strings.
constexpr const char* kSchema[] = {
    "CREATE TABLE signatures (key INTEGER PRIMARY KEY, id TEXT NOT NULL, kind TEXT NOT NULL, "
    "cause TEXT NOT NULL, path BLOB NOT NULL, shaders BLOB NOT NULL, device TEXT NOT NULL, "
    "driver TEXT NOT NULL) STRICT",
    "CREATE UNIQUE INDEX signatures_by_id ON signatures (id)",
    "CREATE TABLE reports (key INTEGER PRIMARY KEY, machine TEXT NOT NULL, file TEXT NOT NULL, "
    "size INTEGER NOT NULL, written INTEGER, content TEXT NOT NULL, seen INTEGER NOT NULL, "
    "program TEXT NOT NULL, library_version TEXT NOT NULL, how_sure INTEGER NOT NULL, "
    "sentence TEXT NOT NULL, losses INTEGER NOT NULL, signature INTEGER NOT NULL) STRICT",
    "CREATE UNIQUE INDEX reports_by_file ON reports (file) WHERE machine = ''",
    "CREATE INDEX reports_by_content ON reports (content)",
    "CREATE INDEX reports_by_signature ON reports (signature, seen)",
};

constexpr char kRows[] =
    "SELECT machine, file, size, content, seen, program, library_version, how_sure, sentence, "
    "losses, id, kind, cause, path, shaders, device, driver, reports.key FROM reports JOIN "
    "signatures "
    "ON signatures.key = reports.signature ";

std::vector<std::byte> ListBytes(const std::vector<std::string>& texts) {
  ByteWriter writer;
  writer.WriteVarint(texts.size());
  for (const std::string& text : texts) writer.WriteString(text, ReportIndex::kMostTextBytes);
  return writer.Take();
}

bool ReadList(std::span<const std::byte> bytes, size_t most, std::vector<std::string>* texts) {
  ByteReader reader(bytes);
  uint32_t count = 0;
  if (!reader.ReadCount(1, count) || count > most) return false;
  for (uint32_t i = 0; i < count; ++i) {
    std::string_view text;
    reader.ReadString(ReportIndex::kMostTextBytes, text);
    texts->emplace_back(text);
  }
  return reader.ok() && reader.remaining() == 0;
}

bool IsHexadecimal(std::string_view text, size_t digits) {
  return text.size() == digits &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Status Damaged(std::string_view what) {
  return Status(StatusCode::kCorrupt, fmt::format("damaged: {}", what));
}

// Reads the signature in the columns from `first` on.
bool ReadSignature(const SqliteStatement& row, int first, Signature* signature) {
  signature->id = row.TextAt(first);
  signature->kind = row.TextAt(first + 1);
  signature->cause = row.TextAt(first + 2);
  signature->device = row.TextAt(first + 5);
  signature->driver = row.TextAt(first + 6);
  return IsHexadecimal(signature->id, kIdDigits) &&
         ReadList(row.BlobAt(first + 3), Signature::kPathLength, &signature->path) &&
         ReadList(row.BlobAt(first + 4), kMostTexts, &signature->shaders);
}

// A row of kRows.
bool ReadRow(const SqliteStatement& row, DumpSummary* dump) {
  const int64_t size = row.NumberAt(2);
  const int64_t seen = row.NumberAt(4);
  const int64_t how_sure = row.NumberAt(7);
  dump->file = row.TextAt(1);
  dump->size_bytes = static_cast<uint64_t>(size);
  dump->content = row.TextAt(3);
  dump->seen_ns = static_cast<uint64_t>(seen);
  dump->program = row.TextAt(5);
  dump->version = row.TextAt(6);
  dump->sentence = row.TextAt(8);
  const int64_t losses = row.NumberAt(9);
  dump->loss_count = static_cast<uint64_t>(losses);
  if (size < 0 || losses < 0 || seen < 0 || seen >= kLatestNs || how_sure < 0 ||
      how_sure > static_cast<int64_t>(Certainty::kUnknown) ||
      !IsHexadecimal(dump->content, kContentDigits)) {
    return false;
  }
  dump->certainty = static_cast<Certainty>(how_sure);
  return ReadSignature(row, 10, &dump->signature);
}

// Prepares its statements once.
class RowWriter {
 public:
  explicit RowWriter(const SqliteFile& file)
      : find_(file.Prepare("SELECT key FROM signatures WHERE id = ?")),
        insert_signature_(
            file.Prepare("INSERT INTO signatures (id, kind, cause, path, shaders, device, driver) "
                         "VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING key")),
        insert_(file.Prepare(
            "INSERT INTO reports (machine, file, size, written, content, seen, program, "
            "library_version, how_sure, sentence, losses, signature) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")) {}

  // `found`: null for a report of another machine.
  Status Write(const DumpSummary& dump, std::string_view machine, const ReportIndex::Found* found) {
    const Result<int64_t> signature = KeyOf(dump.signature);
    if (!signature.ok()) return signature.status();
    insert_.Text(machine).Text(found == nullptr ? dump.file : found->path);
    insert_.Number(
        static_cast<int64_t>(found == nullptr ? dump.size_bytes : found->stamp.size_bytes));
    found == nullptr || found->is_new ? insert_.Null() : insert_.Number(found->stamp.written);
    insert_.Text(dump.content).Number(static_cast<int64_t>(dump.seen_ns)).Text(dump.program);
    insert_.Text(dump.version).Number(static_cast<int64_t>(dump.certainty)).Text(dump.sentence);
    return insert_.Number(static_cast<int64_t>(dump.loss_count)).Number(*signature).Run();
  }

 private:
  Result<int64_t> KeyOf(const Signature& signature) {
    find_.Text(signature.id);
    int64_t key = find_.Step() ? find_.NumberAt(0) : 0;
    CAIRN_RETURN_IF_ERROR(find_.Finish());
    if (key != 0) return key;
    const std::vector<std::byte> path = ListBytes(signature.path);
    const std::vector<std::byte> shaders = ListBytes(signature.shaders);
    insert_signature_.Text(signature.id).Text(signature.kind).Text(signature.cause);
    insert_signature_.Blob(path).Blob(shaders).Text(signature.device).Text(signature.driver);
    if (insert_signature_.Step()) key = insert_signature_.NumberAt(0);
    CAIRN_RETURN_IF_ERROR(insert_signature_.Run());
    return key;
  }

  SqliteStatement find_;
  SqliteStatement insert_signature_;
  SqliteStatement insert_;
};

// Returns true for an error that says nothing of what is in a file: it may be read the next time.
bool IsPassing(const Status& status) {
  return status.code() == StatusCode::kIo || status.code() == StatusCode::kNotFound ||
         status.code() == StatusCode::kOutOfMemory;
}

// A database of no bytes, for its owner alone.
Status MakeFile(const std::string& path) {
  if (FactsOfName(FilePath(path)).type != std::filesystem::file_type::not_found) return {};
  std::error_code error;
  const File file = File::Open(FilePath(path), FileMode::kOpenOrCreate, error);
  return error ? StatusFromError(error, "cannot make it") : Status();
}

// SQLite obeys a journal that lies beside the file that a link leads to.
Status CheckOwner(const FilePath& file) {
  std::error_code unknown;
  const FilePath real = std::filesystem::canonical(file, unknown);
  for (const char* const ending : {"", "-journal", "-wal", "-shm"}) {
    FilePath part = unknown ? file : real;
    part += ending;
    if (FactsOfName(part).type == std::filesystem::file_type::not_found || !IsOfAnother(part))
      continue;
    return Status(StatusCode::kIo,
                  *ending == 0
                      ? "it is another user's, in a folder that others can write to"
                      : fmt::format("its {} is another user's, in a folder that others can "
                                    "write to",
                                    ending + 1));
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<ReportIndex>> ReportIndex::Open(const std::string& file, Access access,
                                                       std::chrono::milliseconds wait) {
  if (access == Access::kNew) CAIRN_RETURN_IF_ERROR(MakeFile(file));
  const FileFacts facts = FactsAt(FilePath(file));
  if (facts.type == std::filesystem::file_type::not_found) {
    return Status(StatusCode::kNotFound, "no such file");
  }
  if (facts.type != std::filesystem::file_type::regular) {
    return Status(StatusCode::kInvalidArgument, "not a file");
  }
  if (access == Access::kNew) CAIRN_RETURN_IF_ERROR(CheckOwner(FilePath(file)));
  Result<SqliteFile> opened = SqliteFile::Open(
      file, access == Access::kNew ? SqliteFile::Access::kReadAndWrite : SqliteFile::Access::kRead,
      wait);
  if (!opened.ok()) return opened.status();
  std::unique_ptr<ReportIndex> index(new ReportIndex(std::move(*opened)));
  if (access == Access::kNew) CAIRN_RETURN_IF_ERROR(index->Make());
  CAIRN_RETURN_IF_ERROR(index->CheckSchema());
  if (access == Access::kRead) CAIRN_RETURN_IF_ERROR(index->CheckPages());
  return index;
}

// Two processes may come at once: the second one finds the tables.
Status ReportIndex::Make() const {
  const Result<int64_t> before = file_.NumberOf("PRAGMA page_count");
  if (!before.ok()) return before.status();
  if (*before != 0) return {};
  Result<SqliteTransaction> transaction =
      SqliteTransaction::Begin(file_, SqliteTransaction::Kind::kWrite);
  if (!transaction.ok()) return transaction.status();
  const Result<int64_t> tables = file_.NumberOf("SELECT count(*) FROM sqlite_schema");
  if (!tables.ok()) return tables.status();
  if (*tables != 0) return {};
  for (const char* const statement : kSchema) CAIRN_RETURN_IF_ERROR(file_.Run(statement));
  CAIRN_RETURN_IF_ERROR(file_.Run(fmt::format("PRAGMA application_id = {}", kApplication).c_str()));
  CAIRN_RETURN_IF_ERROR(file_.Run(fmt::format("PRAGMA user_version = {}", kVersion).c_str()));
  return transaction->Commit();
}

Status ReportIndex::CheckSchema() const {
  const Status foreign(StatusCode::kCorrupt, "not an index of cairn triage");
  const Result<int64_t> application = file_.NumberOf("PRAGMA application_id");
  if (!application.ok()) return application.status();
  if (*application != kApplication) return foreign;
  const Result<int64_t> version = file_.NumberOf("PRAGMA user_version");
  if (!version.ok()) return version.status();
  if (*version != kVersion) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("an index of version {}, and this Cairn reads version {}; a newer "
                              "Cairn reads it",
                              *version, kVersion));
  }
  size_t known = 0;
  SqliteStatement rows = file_.Prepare("SELECT sql FROM sqlite_schema");
  while (rows.Step()) {
    const std::string_view sql = rows.TextAt(0);
    if (std::find(std::begin(kSchema), std::end(kSchema), sql) == std::end(kSchema)) return foreign;
    ++known;
  }
  CAIRN_RETURN_IF_ERROR(rows.Finish());
  return known == std::size(kSchema) ? Status() : foreign;
}

Status ReportIndex::CheckPages() const {
  SqliteStatement check = file_.Prepare("PRAGMA quick_check(1)");
  const std::string answer(check.Step() ? check.TextAt(0) : "no answer");
  CAIRN_RETURN_IF_ERROR(check.Run());
  return answer == "ok" ? Status() : Damaged(VisibleText(answer));
}

Result<std::vector<bool>> ReportIndex::Knows(std::span<const Found> files) const {
  Result<SqliteTransaction> transaction =
      SqliteTransaction::Begin(file_, SqliteTransaction::Kind::kRead);
  if (!transaction.ok()) return transaction.status();
  SqliteStatement find = file_.Prepare(
      "SELECT 1 FROM reports WHERE machine = '' AND file = ? AND size = ? AND written = ?");
  std::vector<bool> known;
  for (const Found& file : files) {
    find.Text(file.path).Number(static_cast<int64_t>(file.stamp.size_bytes));
    find.Number(file.stamp.written);
    known.push_back(find.Step());
    CAIRN_RETURN_IF_ERROR(find.Finish());
  }
  return known;
}

bool ReportIndex::Fits(const DumpSummary& dump) {
  size_t bytes = dump.program.size() + dump.version.size() + dump.sentence.size() +
                 dump.signature.cause.size() + dump.signature.device.size() +
                 dump.signature.driver.size();
  for (const std::string& text : dump.signature.path) bytes += text.size();
  for (const std::string& text : dump.signature.shaders) bytes += text.size();
  return bytes <= kMostTextBytes && dump.signature.shaders.size() <= kMostTexts;
}

Status ReportIndex::Keep(std::span<const std::pair<Found, Result<DumpSummary>>> reads) {
  if (reads.empty()) return {};
  Result<SqliteTransaction> transaction =
      SqliteTransaction::Begin(file_, SqliteTransaction::Kind::kWrite);
  if (!transaction.ok()) return transaction.status();
  RowWriter rows(file_);
  SqliteStatement forget = file_.Prepare("DELETE FROM reports WHERE machine = '' AND file = ?");
  SqliteStatement give_way =
      file_.Prepare("DELETE FROM reports WHERE content = ? AND machine <> ''");
  for (const auto& [found, dump] : reads) {
    if (!dump.ok() && IsPassing(dump.status())) continue;
    CAIRN_RETURN_IF_ERROR(forget.Text(found.path).Run());
    if (!dump.ok()) continue;
    CAIRN_RETURN_IF_ERROR(give_way.Text(dump->content).Run());
    CAIRN_RETURN_IF_ERROR(rows.Write(*dump, "", &found));
  }
  return transaction->Commit();
}

Result<uint64_t> ReportIndex::Merge(const ReportIndex& other, std::string_view machine,
                                    const std::function<bool()>& goes_on, bool* theirs) {
  // Copies stand side by side, and new ones go to the end of this index.
  SqliteStatement rows =
      other.file_.Prepare((std::string(kRows) + "ORDER BY content, machine, file").c_str());
  SqliteStatement find = file_.Prepare("SELECT 1 FROM reports WHERE content = ?");
  RowWriter writer(file_);
  uint64_t added = 0;
  std::string before;
  for (bool more = true; more;) {
    *theirs = false;
    if (!goes_on()) return Status(StatusCode::kInterrupted, "stopped");
    Result<SqliteTransaction> transaction =
        SqliteTransaction::Begin(file_, SqliteTransaction::Kind::kWrite);
    if (!transaction.ok()) return transaction.status();
    for (uint64_t i = 0; i < kMergedAtOnce; ++i) {
      *theirs = true;
      more = rows.Step();
      if (!more) break;
      DumpSummary dump;
      if (!ReadRow(rows, &dump) || !Fits(dump)) return Damaged("a report has impossible values");
      *theirs = false;
      if (dump.content == before) continue;
      before = dump.content;
      const bool is_here = find.Text(dump.content).Step();
      CAIRN_RETURN_IF_ERROR(find.Finish());
      if (is_here) continue;
      const std::string_view from = rows.TextAt(0);
      CAIRN_RETURN_IF_ERROR(writer.Write(dump, from.empty() ? machine : from, nullptr));
      ++added;
    }
    if (!more) CAIRN_RETURN_IF_ERROR(rows.Finish());
    *theirs = false;
    CAIRN_RETURN_IF_ERROR(transaction->Commit());
  }
  return added;
}

Result<uint64_t> ReportIndex::ReportCount() const {
  const Result<int64_t> count = file_.NumberOf("SELECT count(*) FROM reports");
  if (!count.ok()) return count.status();
  return static_cast<uint64_t>(*count);
}

Status ReportIndex::AddGroupsTo(Triage* triage,
                                const std::function<std::string(std::string path)>& shown) const {
  Result<SqliteTransaction> transaction =
      SqliteTransaction::Begin(file_, SqliteTransaction::Kind::kRead);
  if (!transaction.ok()) return transaction.status();
  SqliteStatement groups = file_.Prepare(
      "SELECT signature, count(*), min(nullif(seen, 0)), max(seen) FROM reports "
      "GROUP BY signature");
  SqliteStatement latest =
      file_.Prepare("SELECT machine, file, sentence FROM reports WHERE signature = ? AND seen = ?");
  SqliteStatement find = file_.Prepare(
      "SELECT id, kind, cause, path, shaders, device, driver FROM signatures WHERE key = ?");
  while (groups.Step()) {
    const int64_t first = groups.NumberAt(2);
    const int64_t last = groups.NumberAt(3);
    if (first < 0 || last < 0 || last >= kLatestNs) return Damaged("a time is impossible");
    TriageGroup group;
    group.count = static_cast<uint64_t>(groups.NumberAt(1));
    group.first_seen_ns = static_cast<uint64_t>(first);
    group.last_seen_ns = static_cast<uint64_t>(last);
    if (!find.Number(groups.NumberAt(0)).Step() || !ReadSignature(find, 0, &group.signature)) {
      CAIRN_RETURN_IF_ERROR(find.Finish());
      return Damaged("a signature is missing");
    }
    CAIRN_RETURN_IF_ERROR(find.Finish());
    latest.Number(groups.NumberAt(0)).Number(last);
    for (bool any = false; latest.Step(); any = true) {
      const std::string machine(latest.TextAt(0));
      std::string file(latest.TextAt(1));
      file = machine.empty() ? shown(std::move(file)) : machine + ":" + file;
      if (any && file >= group.example) continue;
      group.example = std::move(file);
      group.sentence = latest.TextAt(2);
    }
    CAIRN_RETURN_IF_ERROR(latest.Finish());
    triage->AddGroup(std::move(group));
  }
  return groups.Finish();
}

Status ReportIndex::ForEach(
    const std::function<bool(const DumpSummary& dump, std::string_view machine)>& visit) const {
  // In portions: others can write while these are printed, which may take as long as its reader likes.
  constexpr int64_t kAtOnce = 1024;
  SqliteStatement rows = file_.Prepare(
      (std::string(kRows) + "WHERE reports.key > ? ORDER BY reports.key LIMIT ?").c_str());
  std::vector<std::pair<std::string, DumpSummary>> portion;
  for (int64_t last = std::numeric_limits<int64_t>::min();;) {
    portion.clear();
    rows.Number(last).Number(kAtOnce);
    while (rows.Step()) {
      auto& [machine, dump] = portion.emplace_back(rows.TextAt(0), DumpSummary());
      if (!ReadRow(rows, &dump)) return Damaged("a report has impossible values");
      last = rows.NumberAt(17);
    }
    CAIRN_RETURN_IF_ERROR(rows.Finish());
    if (portion.empty()) return {};
    for (const auto& [machine, dump] : portion) {
      if (!visit(dump, machine)) return Status(StatusCode::kInterrupted, "stopped");
    }
  }
}

}  // namespace cairn
