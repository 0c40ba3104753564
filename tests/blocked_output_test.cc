// SPDX-License-Identifier: Apache-2.0
//
// `cairn run` where something is in the way of its file: before the program starts, and when the file is to be
// written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>

#include "harness.h"
#include "report_reading.h"

namespace cairn::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

class BlockedOutputTest : public ::testing::Test {
 protected:
  // `cairn run OPTIONS -- sh -c SCRIPT`.
  CommandResult Run(const std::vector<std::string>& options, const std::string& script) {
    std::vector<std::string> arguments = {Program("cairn"), "run"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    for (const std::string& word :
         {std::string("--"), std::string("sh"), std::string("-c"), script}) {
      arguments.push_back(word);
    }
    return RunCommand(arguments, {.folder = folder_.path()});
  }

  const std::string misbehave_ = CAIRN_BINARY_DIR "/tests/programs/misbehave";
  const std::string capture_ = CAIRN_BINARY_DIR "/tests/programs/hostile_capture";
  TemporaryFolder folder_;
};

TEST_F(BlockedOutputTest, NothingStartsWhereTheFileCannotBeWritten) {
  fs::create_directory(folder_ / "a.cairn.part");
  CommandResult result = Run({"-o", "a.cairn"}, "touch started");
  EXPECT_EQ(result.exit_code, 125);
  EXPECT_EQ(result.errors,
            "cairn run: cannot write to a.cairn.part: it is a directory; move it away or choose "
            "another file name\n");
  fs::create_symlink("elsewhere", folder_ / "b.cairn.part");
  result = Run({"-o", "b.cairn"}, "touch started");
  EXPECT_EQ(result.exit_code, 125);
  EXPECT_THAT(result.errors, HasSubstr("b.cairn.part: it is a symbolic link; "));
  std::ofstream(folder_ / "c.cairn.part") << "unfinished";
  fs::create_directory(folder_ / "c.cairn.part.old");
  result = Run({"-o", "c.cairn"}, "touch started");
  EXPECT_EQ(result.exit_code, 125);
  EXPECT_THAT(result.errors, HasSubstr("c.cairn.part.old: Is a directory; "));
  EXPECT_FALSE(fs::exists(folder_ / "started"));
}

TEST_F(BlockedOutputTest, AReportIsWrittenBesideWhatIsInTheWay) {
  const CommandResult result =
      Run({"-o", "out.cairn"}, "mkdir out.cairn.part; exec " + misbehave_ + " kill");
  EXPECT_EQ(result.exit_code, 128 + SIGKILL) << result.Summary();
  const std::vector<std::string> files = folder_.Contents();
  ASSERT_EQ(files.size(), 2u) << result.Summary();
  EXPECT_THAT(files[0], MatchesRegex("out-[0-9]+\\.cairn"));
  EXPECT_THAT(
      result.errors,
      StartsWith("cairn: cannot write to out.cairn.part: it is a directory; move it away or "
                 "choose another file name\n"));
  EXPECT_THAT(result.Lines(), EndsWith("; report: cairn report " + files[0] + "\n"));
  EXPECT_THAT(ReadReportedWork(folder_ / files[0]).candidates, ElementsAre("DISPATCH Blur"));
}

TEST_F(BlockedOutputTest, SoIsACapture) {
  const CommandResult result = Run({"--capture", "-o", "out.cairn"},
                                   "mkfifo out.cairn.part; exec " + capture_ + " regions 1");
  EXPECT_EQ(result.exit_code, 0) << result.Summary();
  const std::vector<std::string> files = folder_.Contents();
  ASSERT_EQ(files.size(), 2u) << result.Summary();
  EXPECT_THAT(files[0], MatchesRegex("out-[0-9]+\\.cairn"));
  EXPECT_THAT(result.errors, HasSubstr("cairn info " + files[0] +
                                       " (cannot write to out.cairn.part: it is a pipe; "));
}

// The folder is gone: there is no place beside it.
TEST_F(BlockedOutputTest, ACaptureThatIsLostIsNoSuccess) {
  fs::create_directory(folder_ / "sub");
  const CommandResult result = Run({"--capture", "--quiet", "-o", "sub/out.cairn"},
                                   "rmdir sub; exec " + capture_ + " regions 1");
  EXPECT_EQ(result.exit_code, 125) << result.Summary();
  EXPECT_THAT(result.errors, HasSubstr(" was not captured: cannot create sub/out.cairn.part: "));
  EXPECT_THAT(folder_.Contents(), IsEmpty());
}

TEST_F(BlockedOutputTest, NorIsAReportThatIsLost) {
  fs::create_directory(folder_ / "sub");
  CommandResult result = Run({"--dump-on-exit", "-o", "sub/out.cairn"}, "rmdir sub");
  EXPECT_EQ(result.exit_code, 125) << result.Summary();
  EXPECT_THAT(result.errors, HasSubstr("; no report: cannot create sub/out.cairn.part: "));
  // The program's own code says more.
  fs::create_directory(folder_ / "sub");
  result = Run({"--dump-on-exit", "-o", "sub/out.cairn"}, "rmdir sub; exit 7");
  EXPECT_EQ(result.exit_code, 7);
}

// A write beyond the limit of a file's size is an error like any other.
TEST_F(BlockedOutputTest, AFileSizeLimitDoesNotEndCairn) {
  const CommandResult result =
      RunCommand({"sh", "-c", "ulimit -Sf 8 && exec \"$@\"", "sh", Program("cairn"), "run",
                  "--capture", "-o", "out.cairn", "--", "sh", "-c",
                  // The program's own limit: it makes the memory that it shares.
                  "ulimit -Sf unlimited && exec " + capture_ + " regions 1"},
                 {.folder = folder_.path()});
  EXPECT_EQ(result.exit_code, 125) << result.Summary();
  EXPECT_THAT(result.errors,
              HasSubstr(" was not captured: cannot write to out.cairn.part: File too "
                        "large; "));
}

// On a disk of its own, which goes with the script.
class FullDiskTest : public BlockedOutputTest {
 protected:
  // `script` runs on an empty disk of so many KiB, with the name of cairn as $0.
  CommandResult RunOnDisk(int size_kib, const std::string& script) {
    const std::string disk = "mount -t tmpfs -o size=" + std::to_string(size_kib) +
                             "k none . && cd \"$PWD\" && " + script;
    return RunCommand({"unshare", "-rm", "sh", "-c", disk, Program("cairn")},
                      {.folder = folder_.path()});
  }
  void SetUp() override {
    if (RunOnDisk(64, "true").exit_code != 0) GTEST_SKIP() << "no disk can be made";
  }
  // Fills the disk to its end, then runs a program that dies.
  const std::string fill_ = "cat /dev/zero >full 2>/dev/null; exec " + misbehave_ + " kill";
};

// The space for the report was reserved when the program started.
TEST_F(FullDiskTest, TheReportIsWritten) {
  const CommandResult result = RunOnDisk(4096, "\"$0\" run -o out.cairn -- sh -c '" + fill_ +
                                                   "'; echo $?; ls; \"$0\" report out.cairn");
  EXPECT_THAT(result.output, HasSubstr("\n137\nfull\nout.cairn\n")) << result.Summary();
  EXPECT_THAT(result.output, HasSubstr("DISPATCH #1: \"Blur\""));
  EXPECT_THAT(result.Lines(), EndsWith("; report: cairn report out.cairn\n"));
}

TEST_F(FullDiskTest, WhereNoSpaceCouldBeTakenTheVerdictIsTold) {
  const CommandResult result =
      RunOnDisk(512, "\"$0\" run -o out.cairn -- sh -c '" + fill_ + "'; echo $?; ls");
  // No empty files are left.
  EXPECT_THAT(result.output, EndsWith("\n137\nfull\n")) << result.Summary();
  EXPECT_THAT(result.errors,
              StartsWith("cairn: warning: less than 2 MiB are free in '.': if a report cannot be "
                         "written there, its verdict is printed here\n"));
  EXPECT_THAT(result.errors, HasSubstr("; no report: cannot "));
  EXPECT_THAT(result.errors, HasSubstr("No space left on device"));
  EXPECT_THAT(result.errors, HasSubstr("DISPATCH #1: \"Blur\""));
  EXPECT_THAT(
      result.errors,
      HasSubstr("\nThe program was killed by SIGKILL\n  running   DISPATCH #1: \"Blur\"\n"));
}

TEST_F(BlockedOutputTest, ALimitOfTheSizeOfFilesIsToldWithTheVerdict) {
  const CommandResult result = RunCommand(
      {"sh", "-c", "ulimit -Sf 1 && exec \"$@\"", "sh", Program("cairn"), "run", "-o", "out.cairn",
       "--", "sh", "-c", "ulimit -Sf unlimited && exec " + misbehave_ + " kill"},
      {.folder = folder_.path()});
  EXPECT_EQ(result.exit_code, 128 + SIGKILL) << result.Summary();
  EXPECT_THAT(result.errors, HasSubstr("File too large"));
  EXPECT_THAT(result.errors, HasSubstr("DISPATCH #1: \"Blur\""));
}

TEST_F(BlockedOutputTest, ItsOwnNameMayBeTakenAsWell) {
  const CommandResult result =
      Run({"--capture", "-o", "out.cairn"}, "mkdir out.cairn; exec " + capture_ + " regions 1");
  const std::vector<std::string> files = folder_.Contents();
  ASSERT_EQ(files.size(), 2u) << result.Summary();
  EXPECT_THAT(result.errors, HasSubstr("cairn info out-"));
}

}  // namespace
}  // namespace cairn::testing
