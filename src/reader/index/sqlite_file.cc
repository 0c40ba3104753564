// SPDX-License-Identifier: Apache-2.0
#include "reader/index/sqlite_file.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <utility>

#include "base/text.h"

namespace cairn {
namespace {

constexpr int kMostValueBytes = 1 << 20;
constexpr sqlite3_int64 kMostMemory = sqlite3_int64{256} << 20;
constexpr int kMostColumns = 64;
constexpr int kMostSqlBytes = 1 << 16;

Status StatusOf(sqlite3* database, int code) {
  switch (code & 0xff) {
    case SQLITE_OK:
    case SQLITE_ROW:
    case SQLITE_DONE: return {};
    case SQLITE_NOMEM:
      return Status(StatusCode::kOutOfMemory, "it takes more than 256 MiB of memory");
    case SQLITE_NOTADB: return Status(StatusCode::kCorrupt, "not an SQLite database");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return Status(StatusCode::kIo, "another process is using it; try again when that has ended");
    case SQLITE_FULL: return Status(StatusCode::kIo, "no space is left for it");
    case SQLITE_CORRUPT:
    case SQLITE_TOOBIG:
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_ERROR:
      return Status(StatusCode::kCorrupt, "damaged: " + VisibleText(sqlite3_errmsg(database)));
    default: return Status(StatusCode::kIo, VisibleText(sqlite3_errmsg(database)));
  }
}

void Protect(sqlite3* database) {
  for (const auto& [option, value] :
       {std::pair(SQLITE_DBCONFIG_DEFENSIVE, 1), std::pair(SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0),
        std::pair(SQLITE_DBCONFIG_ENABLE_TRIGGER, 0), std::pair(SQLITE_DBCONFIG_ENABLE_VIEW, 0),
        std::pair(SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0)}) {
    sqlite3_db_config(database, option, value, nullptr);
  }
  for (const auto& [limit, value] :
       {std::pair(SQLITE_LIMIT_LENGTH, kMostValueBytes),
        std::pair(SQLITE_LIMIT_SQL_LENGTH, kMostSqlBytes),
        std::pair(SQLITE_LIMIT_COLUMN, kMostColumns), std::pair(SQLITE_LIMIT_ATTACHED, 0),
        std::pair(SQLITE_LIMIT_TRIGGER_DEPTH, 0)}) {
    sqlite3_limit(database, limit, value);
  }
  sqlite3_hard_heap_limit64(kMostMemory);
}

}  // namespace

SqliteStatement::SqliteStatement(sqlite3* database, const char* sql) : database_(database) {
  Check(sqlite3_prepare_v2(database, sql, -1, &statement_, nullptr));
}

SqliteStatement::SqliteStatement(SqliteStatement&& other) noexcept
    : database_(other.database_),
      statement_(std::exchange(other.statement_, nullptr)),
      bound_(other.bound_),
      status_(std::move(other.status_)) {}

SqliteStatement::~SqliteStatement() {
  sqlite3_finalize(statement_);
}

void SqliteStatement::Check(int code) {
  if (status_.ok()) status_ = StatusOf(database_, code);
}

SqliteStatement& SqliteStatement::Number(int64_t value) {
  if (status_.ok()) Check(sqlite3_bind_int64(statement_, ++bound_, value));
  return *this;
}

SqliteStatement& SqliteStatement::Text(std::string_view value) {
  const char* const text = value.empty() ? "" : value.data();  // null would be NULL
  if (status_.ok()) {
    Check(
        sqlite3_bind_text64(statement_, ++bound_, text, value.size(), SQLITE_STATIC, SQLITE_UTF8));
  }
  return *this;
}

SqliteStatement& SqliteStatement::Blob(std::span<const std::byte> value) {
  const void* const bytes = value.empty() ? static_cast<const void*>("") : value.data();
  if (status_.ok()) {
    Check(sqlite3_bind_blob64(statement_, ++bound_, bytes, value.size(), SQLITE_STATIC));
  }
  return *this;
}

SqliteStatement& SqliteStatement::Null() {
  if (status_.ok()) Check(sqlite3_bind_null(statement_, ++bound_));
  return *this;
}

bool SqliteStatement::Step() {
  if (!status_.ok()) return false;
  const int code = sqlite3_step(statement_);
  Check(code);
  return code == SQLITE_ROW;
}

Status SqliteStatement::Finish() {
  if (statement_ == nullptr) return status_;  // it was never prepared
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
  bound_ = 0;
  return std::exchange(status_, Status());
}

Status SqliteStatement::Run() {
  while (Step()) {
  }
  return Finish();
}

int64_t SqliteStatement::NumberAt(int column) const {
  return sqlite3_column_int64(statement_, column);
}

bool SqliteStatement::IsNullAt(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

std::string_view SqliteStatement::TextAt(int column) const {
  const auto* const text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  if (text == nullptr) return {};
  return {text, static_cast<size_t>(sqlite3_column_bytes(statement_, column))};
}

std::span<const std::byte> SqliteStatement::BlobAt(int column) const {
  const auto* const bytes = static_cast<const std::byte*>(sqlite3_column_blob(statement_, column));
  if (bytes == nullptr) return {};
  return {bytes, static_cast<size_t>(sqlite3_column_bytes(statement_, column))};
}

SqliteFile::SqliteFile(sqlite3* database) : database_(database) {}

SqliteFile::SqliteFile(SqliteFile&& other) noexcept
    : database_(std::exchange(other.database_, nullptr)) {}

SqliteFile::~SqliteFile() {
  sqlite3_close(database_);
}

Result<SqliteFile> SqliteFile::Open(const std::string& path, Access access,
                                    std::chrono::milliseconds wait) {
  sqlite3* database = nullptr;
  const int flags = (access == Access::kRead ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE) |
                    SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  const int code = sqlite3_open_v2(path.c_str(), &database, flags, nullptr);
  SqliteFile file(database);
  if (database == nullptr) return Status(StatusCode::kOutOfMemory, "no memory");
  if (code != SQLITE_OK) return StatusOf(database, code);
  Protect(database);
  sqlite3_busy_timeout(database, static_cast<int>(wait.count()));
  CAIRN_RETURN_IF_ERROR(file.Run("PRAGMA mmap_size = 0"));
  CAIRN_RETURN_IF_ERROR(file.Run("PRAGMA cell_size_check = ON"));
  CAIRN_RETURN_IF_ERROR(file.Run("PRAGMA cache_size = -65536"));  // KiB
  return file;
}

SqliteStatement SqliteFile::Prepare(const char* sql) const {
  return SqliteStatement(database_, sql);
}

Status SqliteFile::Run(const char* sql) const {
  return Prepare(sql).Run();
}

Result<int64_t> SqliteFile::NumberOf(const char* sql) const {
  SqliteStatement statement = Prepare(sql);
  const int64_t number = statement.Step() ? statement.NumberAt(0) : 0;
  CAIRN_RETURN_IF_ERROR(statement.Finish());
  return number;
}

Result<SqliteTransaction> SqliteTransaction::Begin(const SqliteFile& file, Kind kind) {
  CAIRN_RETURN_IF_ERROR(file.Run(kind == Kind::kWrite ? "BEGIN IMMEDIATE" : "BEGIN"));
  return SqliteTransaction(&file);
}

SqliteTransaction::SqliteTransaction(SqliteTransaction&& other) noexcept
    : file_(std::exchange(other.file_, nullptr)) {}

SqliteTransaction::~SqliteTransaction() {
  if (file_ != nullptr) static_cast<void>(file_->Run("ROLLBACK"));
}

Status SqliteTransaction::Commit() {
  CAIRN_RETURN_IF_ERROR(file_->Run("COMMIT"));
  file_ = nullptr;
  return {};
}

}  // namespace cairn
