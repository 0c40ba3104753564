// SPDX-License-Identifier: Apache-2.0
//
// Programs with more rights than their user do nothing that the user's environment asks of Cairn.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "harness.h"
#include "report_reading.h"

namespace cairn::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kRefused[] =
    "watcher CAIRN_ERROR_OPERATING_SYSTEM: this program has more rights than its user: it starts "
    "no "
    "watcher\n";

// The cause in the report of a program with more rights, which shows no work.
constexpr char kCause[] =
    " and was not followed: it has more rights than its user \\((setuid or setgid|file "
    "capabilities)\\), and the system keeps other libraries out; type: cp ";

class PrivilegedTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root: a copy gets rights, and another user runs it";
    // The other user writes here, too.
    fs::permissions(folder_.path(), fs::perms::all);
    copy_ = folder_ / "privileged-copy";
    fs::copy_file(CAIRN_BINARY_DIR "/tests/programs/privileged", copy_);
    fs::create_directory(folder_ / "path");
    std::ofstream(folder_ / "path/cairn") << "#!/bin/sh\necho > " << folder_ / "cairn-ran"
                                          << "\n";
    fs::permissions(folder_ / "path/cairn", fs::perms::all);
  }

  // Runs as user nobody, under `cairn run --dump-on-exit`, with every variable that could mislead
  // it.
  CommandResult RunAsNobody() {
    std::vector<std::string> environment = LavapipeEnvironment();
    for (const std::string& more :
         {std::string("CAIRN_DRIVER=" CAIRN_BINARY_DIR "/tests/programs/libforeign_driver.so"),
          std::string("CAIRN_LOG=debug"), std::string("CAIRN_CHECK=1"),
          "PATH=" + (folder_ / "path") + ":/usr/bin:/bin:/usr/sbin:/sbin"}) {
      environment.push_back(more);
    }
    return RunCommand({Program("cairn"), "run", "--dump-on-exit", "-o", folder_ / "out.cairn", "--",
                       "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", copy_},
                      {.folder = folder_.path(), .environment = environment});
  }

  void ExpectNothingObeyed(const CommandResult& result) {
    EXPECT_EQ(result.exit_code, 0) << result.Summary();
    EXPECT_THAT(result.output, HasSubstr("device made\n"));
    EXPECT_THAT(result.output, HasSubstr(kRefused));
    EXPECT_THAT(folder_.Contents(), Not(Contains("driver-ran")));
    EXPECT_THAT(folder_.Contents(), Not(Contains("cairn-ran")));
    // CAIRN_LOG counts for nothing, and no block came over CAIRN_WATCHER_FD.
    EXPECT_THAT(result.errors, Not(HasSubstr("cairn: debug")));
    EXPECT_THAT(ReadReportedWork(folder_ / "out.cairn").losses, ElementsAre(ContainsRegex(kCause)));
  }

  TemporaryFolder folder_;
  std::string copy_;
};

// An ordinary copy obeys the variables that the privileged ones ignore.
TEST_F(PrivilegedTest, AnOrdinaryCopyObeys) {
  const CommandResult result = RunAsNobody();
  if (result.exit_code == 127) GTEST_SKIP() << "another user cannot read the build folder";
  EXPECT_EQ(result.exit_code, 0) << result.Summary();
  EXPECT_THAT(result.output, HasSubstr("secure 0, user 65534\ndevice made\nwatcher CAIRN_OK\n"));
  EXPECT_THAT(folder_.Contents(), Contains("driver-ran"));
  const ReportedWork work = ReadReportedWork(folder_ / "out.cairn");
  EXPECT_TRUE(work.valid);
  EXPECT_THAT(work.losses, Not(Contains(HasSubstr("No GPU work was seen"))));
}

TEST_F(PrivilegedTest, ASetuidCopyDoesNot) {
  ASSERT_EQ(chmod(copy_.c_str(), 04755), 0);
  const CommandResult result = RunAsNobody();
  if (result.output.find("secure 0") != std::string::npos) {
    GTEST_SKIP() << "setuid has no effect in " << folder_.path();
  }
  EXPECT_THAT(result.output, HasSubstr("secure 1, user 0\n"));
  ExpectNothingObeyed(result);
}

TEST_F(PrivilegedTest, ACopyWithCapabilitiesDoesNot) {
  if (RunCommand({"setcap", "cap_net_raw+ep", copy_}, {}).exit_code != 0) {
    GTEST_SKIP() << "file capabilities cannot be set in " << folder_.path();
  }
  const CommandResult result = RunAsNobody();
  if (result.exit_code == 127) GTEST_SKIP() << "another user cannot read the build folder";
  EXPECT_THAT(result.output, HasSubstr("secure 1, user 65534\n"));
  ExpectNothingObeyed(result);
}

// Root gains nothing by them, so that the kernel does not call it secure; the rule holds all the same.
TEST_F(PrivilegedTest, NorDoesItForRoot) {
  if (RunCommand({"setcap", "cap_net_raw+ep", copy_}, {}).exit_code != 0) {
    GTEST_SKIP() << "file capabilities cannot be set in " << folder_.path();
  }
  const CommandResult result = RunCommand({copy_}, {.folder = folder_.path()});
  EXPECT_THAT(result.output, HasSubstr("secure 0, user 0\n"));
  EXPECT_THAT(result.output, HasSubstr(kRefused));
}

// PATH may name another program with the watcher's name.
TEST_F(PrivilegedTest, PathIsNotSearchedForTheWatcher) {
  fs::copy_file(CAIRN_BINARY_DIR "/tests/programs/misbehave", folder_ / "misbehave-copy");
  fs::create_directories(folder_ / "elsewhere/libraries");
  for (const auto& entry : fs::directory_iterator(CAIRN_BINARY_DIR "/lib")) {
    const std::string name = entry.path().filename();
    if (!name.starts_with("libcairn.so")) continue;
    fs::copy_file(fs::canonical(entry.path()), folder_ / ("elsewhere/libraries/" + name));
  }
  const CommandResult result =
      RunCommand({folder_ / "misbehave-copy", "start-watcher"},
                 {.folder = folder_.path(),
                  .environment = {"LD_LIBRARY_PATH=" + (folder_ / "elsewhere/libraries"),
                                  "PATH=" + (folder_ / "path")}});
  EXPECT_EQ(result.exit_code, 70) << result.Summary();
  EXPECT_EQ(result.errors,
            "cairnStartWatcher: CAIRN_ERROR_OPERATING_SYSTEM: the program cairn is neither in the "
            "installation of libcairn nor beside this program; set CairnWatcherDesc::cairn_path\n");
  EXPECT_THAT(folder_.Contents(), Not(Contains("cairn-ran")));
}

}  // namespace
}  // namespace cairn::testing
