// SPDX-License-Identifier: Apache-2.0
//
// An SQLite database in a file that nobody vouches for. SQLite is seen in sqlite_file.cc alone.
//
//   SqliteStatement rows = file.Prepare("SELECT name, size FROM files WHERE size > ?");
//   rows.Number(4096);
//   while (rows.Step()) Print(rows.TextAt(0), rows.NumberAt(1));
//   CAIRN_RETURN_IF_ERROR(rows.Finish());
#ifndef CAIRN_READER_INDEX_SQLITE_FILE_H_
#define CAIRN_READER_INDEX_SQLITE_FILE_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"

struct sqlite3;
struct sqlite3_stmt;

namespace cairn {

// One thread. What is bound has to live until Finish().
class SqliteStatement {
 public:
  ~SqliteStatement();
  SqliteStatement(SqliteStatement&& other) noexcept;
  SqliteStatement& operator=(SqliteStatement&&) = delete;

  // The value of the next "?". One of no value is NULL.
  SqliteStatement& Number(int64_t value);
  SqliteStatement& Text(std::string_view value);
  SqliteStatement& Blob(std::span<const std::byte> value);
  SqliteStatement& Null();

  // True: there is a row, whose columns are good until the next call. False: it was the last one, or an error came.
  bool Step();
  // The status of all that was done since the last Finish(). The statement can be used again, with new values.
  Status Finish();
  // Step() as far as it goes, and Finish().
  Status Run();

  int64_t NumberAt(int column) const;  // 0 for NULL
  bool IsNullAt(int column) const;
  std::string_view TextAt(int column) const;
  std::span<const std::byte> BlobAt(int column) const;

 private:
  friend class SqliteFile;
  SqliteStatement(sqlite3* database, const char* sql);
  void Check(int code);

  sqlite3* database_;
  sqlite3_stmt* statement_ = nullptr;
  int bound_ = 0;
  Status status_;
};

class SqliteFile {
 public:
  enum class Access { kRead, kReadAndWrite };
  // Opens a file that is there; one of no bytes is an empty database. Nothing in it can run: no trigger, no view, no
  // function of a schema. A value has 1 MiB at most, all databases of this process together 256 MiB of memory. `wait`:
  // how long a statement waits for another process. Errors: kNotFound, kIo. Bytes that are no database are found by the
  // first statement: kCorrupt.
  static Result<SqliteFile> Open(const std::string& path, Access access,
                                 std::chrono::milliseconds wait);
  ~SqliteFile();
  SqliteFile(SqliteFile&& other) noexcept;
  SqliteFile& operator=(SqliteFile&&) = delete;

  SqliteStatement Prepare(const char* sql) const;
  Status Run(const char* sql) const;
  Result<int64_t> NumberOf(
      const char* sql) const;  // the first column of the first row; 0 without one

 private:
  explicit SqliteFile(sqlite3* database);

  sqlite3* database_;
};

// Takes back what was not committed.
class SqliteTransaction {
 public:
  enum class Kind { kRead, kWrite };
  static Result<SqliteTransaction> Begin(const SqliteFile& file, Kind kind);
  ~SqliteTransaction();
  SqliteTransaction(SqliteTransaction&& other) noexcept;
  SqliteTransaction& operator=(SqliteTransaction&&) = delete;
  Status Commit();

 private:
  explicit SqliteTransaction(const SqliteFile* file) : file_(file) {}
  const SqliteFile* file_;  // null: it has ended
};

}  // namespace cairn

#endif  // CAIRN_READER_INDEX_SQLITE_FILE_H_
