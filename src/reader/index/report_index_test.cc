// SPDX-License-Identifier: Apache-2.0
#include "reader/index/report_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "reader/view/triage_row.h"

namespace cairn {
namespace {

namespace fs = std::filesystem;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::chrono::milliseconds kNoWait(0);
constexpr uint64_t kSecondNs = 1'000'000'000;

DumpSummary Dump(uint64_t number, uint64_t signature) {
  DumpSummary dump;
  dump.seen_ns = (1'700'000'000 + number) * kSecondNs;
  dump.size_bytes = 1000 + number;
  dump.program = "game";
  dump.version = "1.0.0";
  dump.sentence = "The GPU hung in " + std::to_string(signature) + ".";
  dump.certainty = Certainty::kProven;
  dump.content = fmt::format("{:032x}", number);
  dump.signature = {.kind = "GPU hang",
                    .cause = std::string("a\0b\xff", 4),
                    .path = {"Frame #", "Pass " + std::to_string(signature)},
                    .shaders = {"a9e48b677ebe6776", ""},
                    .device = "Test device",
                    .driver = "1.2",
                    .id = fmt::format("{:016x}", signature)};
  return dump;
}

std::string AsItIs(std::string path) {
  return path;
}

class ReportIndexTest : public ::testing::Test {
 protected:
  ReportIndexTest() { fs::create_directories(folder_); }
  ~ReportIndexTest() override { fs::remove_all(folder_); }

  std::string In(const std::string& name) const { return (folder_ / name).string(); }
  std::unique_ptr<ReportIndex> Open(const std::string& name) {
    Result<std::unique_ptr<ReportIndex>> index =
        ReportIndex::Open(In(name), ReportIndex::Access::kNew, kNoWait);
    EXPECT_TRUE(index.ok()) << index.status().message();
    return index.ok() ? std::move(*index) : nullptr;
  }
  Status OpenStatus(const std::string& name,
                    ReportIndex::Access access = ReportIndex::Access::kNew) {
    return ReportIndex::Open(In(name), access, kNoWait).status();
  }
  static ReportIndex::Found Found(const std::string& path, int64_t written = 1) {
    return {.path = path, .stamp = {.size_bytes = 10, .written = written}, .is_new = false};
  }
  static void Keep(ReportIndex& index, const ReportIndex::Found& found,
                   const Result<DumpSummary>& dump) {
    const std::pair<ReportIndex::Found, Result<DumpSummary>> reads[] = {{found, dump}};
    const Status status = index.Keep(reads);
    EXPECT_TRUE(status.ok()) << status.message();
  }
  static bool Knows(const ReportIndex& index, const ReportIndex::Found& found) {
    return index.Knows(std::span(&found, 1)).value().front();
  }
  static uint64_t Merge(ReportIndex& index, const ReportIndex& other, const std::string& machine) {
    bool theirs = false;
    const Result<uint64_t> added = index.Merge(
        other, machine, [] { return true; }, &theirs);
    EXPECT_TRUE(added.ok()) << added.status().message();
    return added.ok() ? *added : 0;
  }
  // "MACHINE FILE NUMBER" of each report.
  static std::vector<std::string> Rows(const ReportIndex& index) {
    std::vector<std::string> rows;
    const Status status = index.ForEach([&](const DumpSummary& dump, std::string_view machine) {
      rows.push_back(
          fmt::format("{} {} {}", machine, dump.file, std::stoul(dump.content, nullptr, 16)));
      return true;
    });
    EXPECT_TRUE(status.ok()) << status.message();
    return rows;
  }
  void Sql(const std::string& name, const std::string& sql) {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(In(name).c_str(), &database), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(database);
    sqlite3_close(database);
  }
  std::string Bytes(const std::string& name) const {
    std::ifstream file(In(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void Write(const std::string& name, const std::string& bytes) {
    std::ofstream(In(name), std::ios::binary) << bytes;
  }
  // With reports of three groups.
  void Fill(const std::string& name) {
    std::vector<std::pair<ReportIndex::Found, Result<DumpSummary>>> reads;
    for (uint64_t i = 1; i <= 30; ++i) {
      reads.emplace_back(Found("/crashes/" + std::to_string(i)), Dump(i, i % 3));
    }
    EXPECT_TRUE(Open(name)->Keep(reads).ok());
  }

  const fs::path folder_ =
      fs::path(::testing::TempDir()) /
      ("report-index-" + std::to_string(::testing::UnitTest::GetInstance()->random_seed()) +
       ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(ReportIndexTest, GivesBackWhatItWasGiven) {
  DumpSummary dump = Dump(7, 1);
  dump.loss_count = 3;
  {
    const std::unique_ptr<ReportIndex> index = Open("a.index");
    Keep(*index, Found("/crashes/a"), dump);
  }
  const std::unique_ptr<ReportIndex> index = Open("a.index");
  dump.file = "/crashes/a";
  dump.size_bytes = 10;  // the file's
  std::string row;
  EXPECT_TRUE(index
                  ->ForEach([&](const DumpSummary& found, std::string_view machine) {
                    row += TriageRow(found, machine);
                    EXPECT_EQ(found.signature.cause, dump.signature.cause);
                    EXPECT_EQ(found.signature.path, dump.signature.path);
                    EXPECT_EQ(found.signature.shaders, dump.signature.shaders);
                    EXPECT_EQ(found.sentence, dump.sentence);
                    return true;
                  })
                  .ok());
  EXPECT_EQ(row, TriageRow(dump));
  // For its owner alone.
  EXPECT_EQ(fs::status(In("a.index")).permissions() & fs::perms::all,
            fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(ReportIndexTest, KnowsAFileBySizeAndTime) {
  const std::unique_ptr<ReportIndex> index = Open("a.index");
  Keep(*index, Found("/crashes/a"), Dump(1, 1));
  EXPECT_TRUE(Knows(*index, Found("/crashes/a")));
  EXPECT_FALSE(Knows(*index, Found("/crashes/b")));
  EXPECT_FALSE(Knows(*index, Found("/crashes/a", 2)));
  // A later one of its name takes its place.
  ReportIndex::Found later = Found("/crashes/a", 2);
  later.is_new = true;
  Keep(*index, later, Dump(2, 1));
  EXPECT_FALSE(Knows(*index, later)) << "its time may be that of the next one";
  EXPECT_THAT(Rows(*index), ElementsAre(" /crashes/a 2"));
  Keep(*index, later, Status(StatusCode::kCorrupt, "no dump"));
  EXPECT_THAT(Rows(*index), ElementsAre());
}

TEST_F(ReportIndexTest, GroupsAreThoseOfTheReports) {
  const std::unique_ptr<ReportIndex> index = Open("a.index");
  Triage expected;
  std::vector<std::pair<ReportIndex::Found, Result<DumpSummary>>> reads;
  for (uint64_t i = 1; i <= 30; ++i) {
    DumpSummary dump = Dump(i / 4, i % 3);  // several at one time
    if (i % 3 == 2) dump.seen_ns = 0;
    dump.content = fmt::format("{:032x}", i);
    dump.file = "/crashes/" + std::to_string(i);
    dump.sentence = dump.file;
    reads.emplace_back(Found(dump.file), dump);
    expected.Add(dump);
  }
  ASSERT_TRUE(index->Keep(reads).ok());
  Triage triage;
  EXPECT_TRUE(index->AddGroupsTo(&triage, AsItIs).ok());
  EXPECT_EQ(triage.Json(), expected.Json());
  EXPECT_EQ(triage.Text(), expected.Text());
  EXPECT_EQ(triage.group_count(), 3u);
}

TEST_F(ReportIndexTest, MergesEachReportOnce) {
  const std::unique_ptr<ReportIndex> a = Open("a.index");
  const std::unique_ptr<ReportIndex> b = Open("b.index");
  Keep(*a, Found("/crashes/1"), Dump(1, 1));
  Keep(*a, Found("/crashes/2"), Dump(2, 1));
  Keep(*b, Found("/crashes/1"), Dump(2, 1));  // another file of this name
  Keep(*b, Found("/crashes/3"), Dump(3, 2));
  Keep(*b, Found("/crashes/4"), Dump(3, 2));  // a copy
  EXPECT_EQ(Merge(*a, *b, "b"), 1u);
  EXPECT_EQ(Merge(*a, *b, "b"), 0u);
  EXPECT_THAT(Rows(*a), ElementsAre(" /crashes/1 1", " /crashes/2 2", "b /crashes/3 3"));
  Triage triage;
  EXPECT_TRUE(a->AddGroupsTo(&triage, AsItIs).ok());
  EXPECT_THAT(triage.Text(), HasSubstr("b:/crashes/3"));
  // The name of a machine goes on with its reports.
  const std::unique_ptr<ReportIndex> all = Open("all.index");
  EXPECT_EQ(Merge(*all, *a, "a"), 3u);
  EXPECT_THAT(Rows(*all), ElementsAre("a /crashes/1 1", "a /crashes/2 2", "b /crashes/3 3"));
  // A file of this machine takes the place of its merged copy.
  Keep(*all, Found("/here/3"), Dump(3, 2));
  EXPECT_THAT(Rows(*all), ElementsAre("a /crashes/1 1", "a /crashes/2 2", " /here/3 3"));
}

TEST_F(ReportIndexTest, AMergeThatStopsKeepsWhatItAdded) {
  const std::unique_ptr<ReportIndex> many = Open("many.index");
  std::vector<std::pair<ReportIndex::Found, Result<DumpSummary>>> reads;
  for (uint64_t i = 0; i < 5'000; ++i) reads.emplace_back(Found(std::to_string(i)), Dump(i, i % 7));
  ASSERT_TRUE(many->Keep(reads).ok());
  const std::unique_ptr<ReportIndex> index = Open("a.index");
  bool theirs = false;
  int calls = 0;
  const Result<uint64_t> added = index->Merge(
      *many, "many", [&calls] { return ++calls < 2; }, &theirs);
  EXPECT_EQ(added.status().code(), StatusCode::kInterrupted);
  EXPECT_EQ(index->ReportCount().value(), 4'096u);
  EXPECT_EQ(Merge(*index, *many, "many"), 5'000u - 4'096u);
}

TEST_F(ReportIndexTest, OtherFilesAreRefused) {
  Write("text.index",
        "this is no database, but some text that is longer than the header of one; "
        "a hundred bytes are");
  EXPECT_EQ(OpenStatus("text.index").message(), "not an SQLite database");
  EXPECT_EQ(OpenStatus("none.index", ReportIndex::Access::kRead).code(), StatusCode::kNotFound);
  fs::create_directory(In("folder.index"));
  EXPECT_EQ(OpenStatus("folder.index").message(), "not a file");
  Sql("foreign.index", "CREATE TABLE reports (file TEXT)");
  EXPECT_EQ(OpenStatus("foreign.index").message(), "not an index of cairn triage");
  Fill("newer.index");
  Sql("newer.index", "PRAGMA user_version = 2");
  EXPECT_EQ(OpenStatus("newer.index").code(), StatusCode::kUnsupported);
  EXPECT_THAT(OpenStatus("newer.index").message(), HasSubstr("version 2, and this Cairn reads"));
  for (const char* const sql :
       {"CREATE TRIGGER t AFTER DELETE ON reports BEGIN DELETE FROM signatures; END",
        "CREATE VIEW v AS SELECT * FROM reports", "DROP INDEX reports_by_content",
        "ALTER TABLE reports ADD COLUMN more TEXT"}) {
    fs::remove(In("changed.index"));
    Fill("changed.index");
    Sql("changed.index", sql);
    EXPECT_EQ(OpenStatus("changed.index").message(), "not an index of cairn triage") << sql;
  }
  // A creation that was killed leaves a file of no bytes.
  Write("empty.index", "");
  EXPECT_TRUE(OpenStatus("empty.index").ok());
}

// SQLite would play a journal back, whoever has put it there.
TEST_F(ReportIndexTest, WhatAnotherUserHasPutThereIsNotUsed) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can make files of another user";
  constexpr uid_t kOther = 65534;
  fs::create_directory(In("shared"));
  ASSERT_EQ(chmod(In("shared").c_str(), 01777), 0);
  Fill("shared/a.index");
  fs::create_symlink("shared/a.index", In("link.index"));
  for (const char* const ending : {"-journal", "-wal", "-shm", ""}) {
    const std::string planted = In("shared/a.index") + ending;
    std::ofstream(planted, std::ios::app).flush();
    ASSERT_EQ(chown(planted.c_str(), kOther, kOther), 0);
    for (const char* const name : {"shared/a.index", "link.index"}) {
      const Status status = OpenStatus(name);
      EXPECT_EQ(status.code(), StatusCode::kIo) << name << ending;
      EXPECT_THAT(status.message(),
                  HasSubstr("another user's, in a folder that others can write to"));
    }
    if (*ending != 0) fs::remove(planted);
  }
}

TEST_F(ReportIndexTest, ImpossibleValuesAreDamage) {
  for (const char* const sql :
       {"UPDATE reports SET seen = 9000000000000000000", "UPDATE reports SET seen = -1",
        "UPDATE signatures SET path = x'ffff'", "UPDATE signatures SET id = 'no' WHERE key = 2",
        "DELETE FROM signatures"}) {
    fs::remove(In("a.index"));
    Fill("a.index");
    Sql("a.index", sql);
    Triage triage;
    const Status status = Open("a.index")->AddGroupsTo(&triage, AsItIs);
    EXPECT_EQ(status.code(), StatusCode::kCorrupt) << sql;
    EXPECT_THAT(status.message(), HasSubstr("damaged: ")) << sql;
  }
  fs::remove(In("a.index"));
  Fill("a.index");
  Sql("a.index", "UPDATE reports SET how_sure = 99 WHERE file = '/crashes/9'");
  const std::unique_ptr<ReportIndex> all = Open("all.index");
  bool theirs = false;
  EXPECT_EQ(all->Merge(
                   *Open("a.index"), "a", [] { return true; }, &theirs)
                .status()
                .code(),
            StatusCode::kCorrupt);
  EXPECT_TRUE(theirs);
  EXPECT_EQ(all->ReportCount().value(), 0u);
}

// Whatever the bytes are, there is an answer or a status.
TEST_F(ReportIndexTest, DamagedBytes) {
  Fill("whole.index");
  const std::string whole = Bytes("whole.index");
  std::mt19937 random(1);
  int answers = 0;
  for (int i = 0; i < 100; ++i) {
    std::string bytes = whole;
    for (int k = 0; k < 1 + i % 20; ++k) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    if (i % 5 == 0) bytes.resize(random() % bytes.size());
    Write("a.index", bytes);
    Result<std::unique_ptr<ReportIndex>> index =
        ReportIndex::Open(In("a.index"), ReportIndex::Access::kNew, kNoWait);
    if (!index.ok()) continue;
    Triage triage;
    answers += (*index)->AddGroupsTo(&triage, AsItIs).ok() ? 1 : 0;
    triage.Json();
    static_cast<void>((*index)->ForEach([](const DumpSummary&, std::string_view) { return true; }));
    const std::pair<ReportIndex::Found, Result<DumpSummary>> reads[] = {
        {Found("/crashes/new"), Dump(99, 1)}};
    if (i % 4 == 0) static_cast<void>((*index)->Keep(reads));
  }
  EXPECT_GT(answers, 0);
}

TEST_F(ReportIndexTest, WaitsForNoProcessForEver) {
  Fill("a.index");
  const std::unique_ptr<ReportIndex> index = Open("a.index");
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(In("a.index").c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  const std::pair<ReportIndex::Found, Result<DumpSummary>> reads[] = {
      {Found("/crashes/new"), Dump(99, 1)}};
  const Status status = index->Keep(reads);
  EXPECT_EQ(status.code(), StatusCode::kIo);
  EXPECT_EQ(status.message(), "another process is using it; try again when that has ended");
  // Readers go on.
  EXPECT_EQ(index->ReportCount().value(), 30u);
  sqlite3_close(other);
  EXPECT_TRUE(index->Keep(reads).ok());
  EXPECT_EQ(index->ReportCount().value(), 31u);
}

}  // namespace
}  // namespace cairn
