// SPDX-License-Identifier: Apache-2.0
//
// The `cairn` command where somebody gives one thing in the place of another: a program for a file, a file
// for a program, a page for a file, no name where one can be made.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "harness.h"

namespace cairn::testing {
namespace {

using ::testing::MatchesRegex;
using ::testing::StartsWith;

class MistakenWordsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Put("snapshot-vulkan-v1.cairn", "dump.cairn");
    Put("trace-v1.cairn", "trace.cairn");
    std::filesystem::copy_file(Program("cairn"), folder_ / "game");
    Write("elsewhere", "#!/bin/sh\nexit 0\n");
  }
  void Put(const std::string& golden, const std::string& name) {
    std::filesystem::copy_file(CAIRN_SOURCE_DIR "/tests/golden/" + golden, folder_ / name);
  }
  void Write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }

  CommandResult Cairn(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), Program("cairn"));
    return RunCommand(arguments, {.folder = folder_.path()});
  }
  // The command must fail with this one line, and write nothing.
  void ExpectRefused(const std::vector<std::string>& arguments, int exit_code,
                     const std::string& line) {
    const std::vector<std::string> before = folder_.Contents();
    const CommandResult result = Cairn(arguments);
    EXPECT_EQ(result.errors, line + "\n");
    EXPECT_EQ(result.exit_code, exit_code) << line;
    EXPECT_EQ(result.output, "") << line;
    EXPECT_EQ(folder_.Contents(), before) << line;
  }

  TemporaryFolder folder_;
};

TEST_F(MistakenWordsTest, APageWithoutAName) {
  std::filesystem::create_directory(folder_ / "crashes");
  Put("snapshot-v1.cairn", "crashes/one.cairn");
  const CommandResult page = Cairn({"report", "--html", "crashes/one.cairn"});
  if (page.exit_code != 0) GTEST_SKIP() << "built without the viewer: " << page.errors;
  EXPECT_THAT(page.output, MatchesRegex("crashes/one.html \\([0-9]+ bytes\\)\n"));
  EXPECT_THAT(ReadFile(folder_ / "crashes/one.html"), StartsWith("<!doctype html>"));
  EXPECT_THAT(Cairn({"report", "dump.cairn", "--html"}).output, StartsWith("dump.html ("));
  EXPECT_THAT(Cairn({"report", "--html", "--redact", "--force", "dump.cairn"}).output,
              StartsWith("dump.html ("));
  EXPECT_THAT(Cairn({"report", "--html=b", "dump.cairn"}).output, StartsWith("b ("));
  EXPECT_THAT(Cairn({"report", "--html", "c.html", "dump.cairn"}).output, StartsWith("c.html ("));
  ExpectRefused({"report", "--html", "dump.cairn"}, 1,
                "cairn report: --html: cannot write 'dump.html': it is there already; --force "
                "replaces it");
  ExpectRefused({"report", "--html", "c.html"}, 2,
                "cairn report: no file is given; say cairn report --html c.html FILE.cairn");
  ExpectRefused({"report", "--html"}, 2,
                "cairn report: no file is given; say cairn report --html PAGE.html FILE.cairn");
  // A trace that took hours is not replaced by a page.
  ExpectRefused({"report", "--force", "--html", "trace.cairn", "dump.cairn"}, 2,
                "cairn report: --html: 'trace.cairn' is the name of a .cairn file, not of a page; "
                "give one file at a time, or say --html=PAGE.html");
}

TEST_F(MistakenWordsTest, AProgramWithoutDashes) {
  ExpectRefused({"bisect", "./game"}, 2,
                "cairn bisect: ./game is a program: cairn bisect -- ./game");
  ExpectRefused({"bisect", "--hang-timeout", "2", "game", "--level", "a b", "--json"}, 2,
                "cairn bisect: game is a program: cairn bisect --hang-timeout 2 --json -- ./game "
                "--level 'a b'");
  ExpectRefused({"bisect", "--runs=3", "elsewhere", "--", "--level", "3"}, 2,
                "cairn bisect: elsewhere is a program: cairn bisect --runs=3 -- ./elsewhere "
                "--level 3");
  ExpectRefused({"bisect", "sh", "-c", "x"}, 2,
                "cairn bisect: sh is a program: cairn bisect -- sh -c x");
  Write("old.exe", "MZ");
  ExpectRefused({"bisect", "old.exe"}, 2,
                "cairn bisect: old.exe is a program of Windows: cairn bisect -- wine ./old.exe");
  // Neither a file nor a program.
  ExpectRefused({"bisect", "nothing"}, 1,
                "cairn bisect: cannot open nothing: No such file or directory; for a program say "
                "cairn bisect -- PROGRAM");
  // A name that is not quite right.
  ExpectRefused(
      {"bisect", "./gmae"}, 1,
      "cairn bisect: cannot open ./gmae: there is no such file; did you mean cairn bisect "
      "-- ./game?");
  ExpectRefused({"report", "./gmae"}, 1,
                "cairn report: cannot open ./gmae: there is no such file; did you mean cairn run "
                "-- ./game?");
  ExpectRefused({"report", "dmup.cairn"}, 1,
                "cairn report: cannot open dmup.cairn: there is no such file; did you mean "
                "dump.cairn?");
}

TEST_F(MistakenWordsTest, AProgramWhereAFileBelongs) {
  for (const std::string verb : {"report", "info"}) {
    ExpectRefused({verb, "./game"}, 1,
                  "cairn " + verb +
                      ": ./game is a program: cairn run -- ./game writes a file if it crashes "
                      "or hangs, which cairn " +
                      verb + " reads");
  }
  for (const std::string verb : {"calls", "replay", "verify", "objects", "images"}) {
    ExpectRefused({verb, "game"}, 1,
                  "cairn " + verb +
                      ": game is a program: cairn run --capture -- ./game records a "
                      "trace, which cairn " +
                      verb + " reads");
  }
  ExpectRefused(
      {"./game", "--level", "3"}, 2,
      "cairn: ./game is a program, not a command of cairn: cairn run -- ./game --level 3");
}

TEST_F(MistakenWordsTest, AFileWhereAProgramBelongs) {
  ExpectRefused(
      {"run", "dump.cairn"}, 127,
      "cairn run: dump.cairn is a .cairn file, not a program: cairn report dump.cairn says "
      "what it holds");
  ExpectRefused(
      {"run", "--", "./dump.cairn"}, 126,
      "cairn run: ./dump.cairn is a .cairn file, not a program: cairn report ./dump.cairn "
      "says what it holds");
  ExpectRefused({"bisect", "--", "trace.cairn"}, 1,
                "cairn bisect: trace.cairn is a .cairn file, not a program: cairn bisect "
                "trace.cairn");
  ExpectRefused({"run", "--", "elsewhere"}, 127,
                "cairn run: program 'elsewhere' was not found in PATH; did you mean ./elsewhere?");
  ExpectRefused(
      {"dump.cairn"}, 2,
      "cairn: dump.cairn is a .cairn file, not a command of cairn: cairn report dump.cairn");
}

TEST_F(MistakenWordsTest, AnotherFile) {
  ExpectRefused({"report", "dump"}, 1,
                "cairn report: there is no file dump; did you mean dump.cairn?");
  ExpectRefused({"replay", "dump.cairn"}, 1,
                "cairn replay: dump.cairn: the file holds no trace; cairn run --capture -- PROGRAM "
                "records one; cairn report dump.cairn shows what it holds");
  ExpectRefused({"bisect", "dump.cairn"}, 1,
                "cairn bisect: dump.cairn: the file holds no trace; cairn run --capture -- PROGRAM "
                "records one; cairn report dump.cairn shows what it holds; cairn bisect -- PROGRAM "
                "needs no trace");
  Write("packed", "\x1f\x8b\x08");
  ExpectRefused({"report", "packed"}, 1,
                "cairn report: packed is packed with gzip: unpack it first; cairn report reads "
                ".cairn files, which cairn run writes");
  std::string core(64, '\0');
  core.replace(0, 6,
               "\x7f"
               "ELF\x02\x01");
  core[16] = 4;
  Write("core", core);
  ExpectRefused({"report", "core"}, 1,
                "cairn report: core is a core dump, which holds the state of the CPU; cairn report "
                "reads .cairn files, which cairn run writes");
}

}  // namespace
}  // namespace cairn::testing
