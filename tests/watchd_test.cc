// SPDX-License-Identifier: Apache-2.0
//
// cairn watchd, and what it keeps: programs are started as a desktop starts them, without cairn run
// (docs/reference/cairn-watchd.md).
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <regex>
#include <span>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "base/testing/json.h"
#include "format/block/handover.h"
#include "harness.h"
#include "os/channel.h"
#include "report_reading.h"

namespace cairn::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

using Words = std::vector<std::string>;

constexpr char kKilled[] = CAIRN_BINARY_DIR "/bin/sample-killed-vulkan-plain";
constexpr char kPasses[] = CAIRN_BINARY_DIR "/bin/sample-passes-vulkan-plain";
constexpr char kHang[] = CAIRN_BINARY_DIR "/bin/sample-hang-vulkan-plain";

// Copies of this process, killed with this object.
class Children {
 public:
  template <typename Function>
  Children(int count, Function function) {
    for (int i = 0; i < count; ++i) {
      const pid_t child = fork();
      if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        function();
      }
      children_.push_back(child);
    }
  }
  ~Children() {
    for (const pid_t child : children_) kill(child, SIGKILL);
    for (const pid_t child : children_) waitpid(child, nullptr, 0);
  }
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;

 private:
  std::vector<pid_t> children_;
};

// Tells this process how far its children are.
class Milestones {
 public:
  Milestones() { EXPECT_EQ(pipe(ends_.data()), 0); }
  ~Milestones() {
    for (const int end : ends_) close(end);
  }
  Milestones(const Milestones&) = delete;
  Milestones& operator=(const Milestones&) = delete;

  void Reach() const { EXPECT_EQ(write(ends_[1], "", 1), 1); }
  // False if they are not reached in time.
  bool WaitFor(int count) const {
    for (char byte = 0; count > 0; --count) {
      pollfd waited{.fd = ends_[0], .events = POLLIN, .revents = 0};
      if (poll(&waited, 1, 60'000) != 1 || read(ends_[0], &byte, 1) != 1) return false;
    }
    return true;
  }

 private:
  std::array<int, 2> ends_{};
};

// Before, the end of a program that has been reaped is known to nobody else.
bool IsLinuxSince616() {
  utsname system{};
  int major = 0;
  int minor = 0;
  return uname(&system) == 0 && std::sscanf(system.release, "%d.%d", &major, &minor) == 2 &&
         (major > 6 || (major == 6 && minor >= 16));
}

class WatchdTest : public ::testing::Test {
 protected:
  void SetUp() override {
#if defined(CAIRN_SANITIZED)
    GTEST_SKIP() << "a library with sanitizers cannot be loaded into programs without them";
#endif
    for (const fs::path& folder : {runtime_, state_, data_}) fs::create_directories(folder);
    const CommandResult enabled = Cairn({"watchd", "--enable"});
    ASSERT_EQ(enabled.exit_code, 0) << enabled.Summary();
    enabled_ = enabled.output;
  }

  Command::Options Options() const {
    Command::Options options;
    options.folder = all_.path();
    options.environment = LavapipeEnvironment();
    options.environment.push_back("COLUMNS=0");
    for (const std::string& variable :
         {"XDG_RUNTIME_DIR=" + runtime_.string(), "XDG_STATE_HOME=" + state_.string(),
          "XDG_DATA_HOME=" + data_.string()}) {
      options.environment.push_back(variable);
    }
    return options;
  }
  // Not a Command, whose end would be that of the service.
  CommandResult Run(const Words& words, const std::string& more = "") const {
    std::string line = "cd '" + all_.path().string() + "' && env " + more;
    for (const std::string& variable : Options().environment) line += " '" + variable + "'";
    for (const std::string& word : words) line += " '" + word + "'";
    line += " > '" + (all_ / "output") + "' 2> '" + (all_ / "errors") + "'";
    const int status = std::system(line.c_str());
    CommandResult result;
    result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    result.output = ReadFile(all_ / "output");
    result.errors = ReadFile(all_ / "errors");
    return result;
  }
  CommandResult Cairn(Words words) const {
    words.insert(words.begin(), Program("cairn"));
    return Run(words);
  }

  // The service; ready when this returns.
  void ExpectStart(const Words& more = {}) {
    Words words = {Program("cairn"), "watchd"};
    words.insert(words.end(), more.begin(), more.end());
    service_.emplace(words, Options());
    // The file of its door is there before anybody can connect.
    WaitUntilTold("cairn watchd: ready; reports go to " + reports_.string() + "\n");
  }
  CommandResult EndService() {
    kill(service_->pid(), SIGTERM);
    return service_->Wait();
  }

  std::vector<std::string> Reports() const {
    std::vector<std::string> names;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(reports_, none)) {
      if (entry.path().extension() == ".cairn") names.push_back(entry.path().filename().string());
    }
    return names;
  }
  // A report comes when the program has ended already; of the reports whose names begin so.
  std::vector<std::string> WaitForReports(size_t count, const std::string& beginning = "") const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    for (;;) {
      std::vector<std::string> names = Reports();
      std::erase_if(names, [&](const std::string& name) { return !name.starts_with(beginning); });
      if (names.size() >= count || std::chrono::steady_clock::now() >= end) return names;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

  void WaitUntilTold(const std::string& line) const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (service_->errors().find(line) == std::string::npos &&
           std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    EXPECT_THAT(service_->errors(), HasSubstr(line));
  }

  // A connection as a layer makes it, with this as its first message.
  template <typename Message>
  SystemHandle Connect(const Message& first) const {
    std::error_code error;
    return ConnectTo(DoorName::kPath, (runtime_ / "cairn-watchd").string(),
                     std::as_bytes(std::span(&first, 1)), error);
  }

  // Says that there is a block; none comes with it.
  static void SendBlock(const SystemHandle& connection, uint64_t bytes) {
    const HandoverMessage block{.block_bytes = bytes};
    (void)SendOver(connection.get(), std::as_bytes(std::span(&block, 1))).ok();
  }

  TemporaryFolder all_;
  const fs::path runtime_ = all_.path() / "run";
  const fs::path state_ = all_.path() / "state";
  const fs::path data_ = all_.path() / "data";
  const fs::path reports_ = state_ / "cairn";
  const fs::path manifest_ = data_ / "vulkan/implicit_layer.d/cairn-watchd.json";
  std::string enabled_;
  std::optional<Command> service_;
};

TEST_F(WatchdTest, AKilledProgramIsReported) {
  ExpectStart();
  const CommandResult killed = Run({kKilled});
  EXPECT_EQ(killed.exit_code, 128 + SIGKILL);
  EXPECT_THAT(killed.errors, Not(HasSubstr("cairn"))) << "the program's terminal is its own";
  const std::vector<std::string> reports = WaitForReports(1);
  ASSERT_THAT(
      reports,
      ElementsAre(MatchesRegex("sample-killed-vulkan-plain-[0-9]{8}T[0-9]{6}Z-[0-9]+\\.cairn")));
  const std::string file = (reports_ / reports[0]).string();
  struct stat info {};
  ASSERT_EQ(stat(reports_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);

  const CommandResult list = Cairn({"list"});
  EXPECT_THAT(list.output,
              AllOf(MatchesRegex("20[0-9][0-9]-[0-9-]{5} [0-9:]{8}  sample-killed-vulkan-plain was "
                                 "killed by SIGKILL; running: .*DISPATCH.*"),
                    HasSubstr("\n                     " + file + " (")));
  const CommandResult last = Cairn({"report", "--last"});
  EXPECT_THAT(last.output, StartsWith("The program was killed by SIGKILL\n")) << last.Summary();
  EXPECT_EQ(Cairn({"report", file}).output, last.output);
  const CommandResult ended = EndService();
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_THAT(ended.left_behind, ElementsAre());
  EXPECT_THAT(ended.errors,
              AllOf(HasSubstr("cairn watchd: ready; reports go to " + reports_.string() + "\n"),
                    HasSubstr("report: cairn report " + file + "\n")));
  EXPECT_THAT(ReadReportedWork(file).candidates, Contains("DISPATCH "));
}

TEST_F(WatchdTest, NothingIsKeptOfProgramsThatEndWell) {
  ExpectStart();
  const CommandResult passed = Run({kPasses});
  EXPECT_EQ(passed.exit_code, 0) << passed.Summary();
  // Watchers are started in the order of their programs.
  Run({kKilled});
  EXPECT_THAT(WaitForReports(1), ElementsAre(StartsWith("sample-killed-vulkan-plain-")));
  EXPECT_EQ(EndService().exit_code, 0);
  EXPECT_THAT(Reports(), ElementsAre(StartsWith("sample-killed-vulkan-plain-")));
}

TEST_F(WatchdTest, WithoutTheServiceProgramsAreLeftAlone) {
  const CommandResult without = Run({kPasses}, "CAIRN_DISABLE_WATCHD=1");
  const CommandResult with = Run({kPasses});
  EXPECT_EQ(with.exit_code, 0);
  EXPECT_EQ(with.output, without.output);
  EXPECT_EQ(with.errors, without.errors);
  EXPECT_FALSE(fs::exists(reports_));
  EXPECT_THAT(Cairn({"list"}).output, "no reports in " + reports_.string() + "\n");
  const CommandResult last = Cairn({"report", "--last"});
  EXPECT_EQ(last.exit_code, 1);
  EXPECT_THAT(last.errors, HasSubstr("--last: there is no report in '" + reports_.string() + "'"));
}

TEST_F(WatchdTest, AHangIsReportedWhileTheProgramLives) {
  ExpectStart({"--hang-timeout", "1"});
  std::optional<Command> hang;
  hang.emplace(Words{kHang}, Options());
  ASSERT_THAT(WaitForReports(1), ElementsAre(StartsWith("sample-hang-vulkan-plain-")));
  EXPECT_TRUE(IsRunning(hang->pid()));
  EXPECT_THAT(Cairn({"report", "--last"}).output, StartsWith("GPU hang in DISPATCH #1 ("));
  kill(hang->pid(), SIGKILL);
  EXPECT_TRUE(WaitForEnd(hang->pid()));
  EndService();
}

TEST_F(WatchdTest, ProgramsOfCairnRunAreNotWatchedTwice) {
  ExpectStart();
  const CommandResult run = Cairn({"run", "-o", "run.cairn", "--", kKilled});
  EXPECT_TRUE(fs::exists(all_.path() / "run.cairn")) << run.Summary();
  EXPECT_EQ(Cairn({"run", "--", "printenv", "CAIRN_DISABLE_WATCHD"}).output, "1\n");
  EndService();
  EXPECT_THAT(Reports(), ElementsAre());
}

// Its layer and the service's are one library: one of them works, for the same watcher.
TEST_F(WatchdTest, AProgramThatEnablesTheLayerItselfIsReportedOnce) {
  ExpectStart();
  Run({kKilled});
  const std::vector<std::string> alone = WaitForReports(1);
  ASSERT_THAT(alone, SizeIs(1));
  fs::rename(reports_ / alone[0], all_ / "alone.cairn");
  const CommandResult killed =
      Run({kKilled}, "VK_ADD_LAYER_PATH=" CAIRN_BINARY_DIR "/lib LD_PRELOAD=" CAIRN_BINARY_DIR
                     "/tests/programs/libenable_layer.so");
  EXPECT_EQ(killed.exit_code, 128 + SIGKILL) << killed.Summary();
  const std::vector<std::string> reports = WaitForReports(1);
  ASSERT_THAT(reports, SizeIs(1)) << killed.Summary() << service_->errors();
  EndService();
  // The sample measures how many groups keep this device busy.
  const std::regex groups(R"(\([0-9]+, 1, 1\))");
  const auto tree = [&](const std::string& file) {
    return std::regex_replace(ReportTree(file, true), groups, "(N, 1, 1)");
  };
  EXPECT_EQ(tree((reports_ / reports[0]).string()), tree(all_ / "alone.cairn"));
}

TEST_F(WatchdTest, OldReportsMakeRoom) {
  fs::create_directories(reports_);
  fs::permissions(reports_, fs::perms::owner_all);
  const auto now = fs::file_time_type::clock::now();
  for (const int hours : {1, 2, 3}) {
    const fs::path old = reports_ / ("old" + std::to_string(hours) + ".cairn");
    std::ofstream(old) << std::string(400 << 10, 'x');
    fs::last_write_time(old, now - std::chrono::hours(hours));
  }
  ExpectStart({"--quota", "1"});
  EXPECT_THAT(Reports(), ::testing::UnorderedElementsAre("old1.cairn", "old2.cairn"));
  std::ofstream(reports_ / "old1.cairn", std::ios::app) << std::string(400 << 10, 'x');
  Run({kKilled});
  EXPECT_THAT(WaitForReports(1, "sample-killed-vulkan-plain-"), SizeIs(1));
  EndService();
  EXPECT_THAT(Reports(), Contains("old1.cairn"));
  EXPECT_THAT(Reports(), Not(Contains("old2.cairn")));
}

// Sends the service what no layer sends.
TEST_F(WatchdTest, VisitorsCostNobodyAReport) {
  ExpectStart();
  std::vector<SystemHandle> kept;
  for (int i = 0; i < 10'000; ++i) {
    HandoverGreeting greeting;
    if (i % 3 == 1) greeting.magic = 0;
    SystemHandle connection = Connect(greeting);
    ASSERT_TRUE(connection.valid()) << i;
    if (i % 3 == 2) {
      // Rubbish in the place of a block.
      SendBlock(connection, ~uint64_t{0});
    }
    if (i % 100 == 0) kept.push_back(std::move(connection));
  }
  Run({kKilled});
  EXPECT_THAT(WaitForReports(1), ElementsAre(StartsWith("sample-killed-vulkan-plain-")));
  // This process has a watcher, which goes on.
  kill(service_->pid(), SIGTERM);
  EXPECT_TRUE(WaitForEnd(service_->pid()));
}

TEST_F(WatchdTest, ConnectionsBeyondTheBoundAreTold) {
  ExpectStart();
  // 16 of each process; those beyond end the oldest of the same process.
  const Children children(257, [this] {
    std::vector<SystemHandle> kept;
    while (kept.size() < 20) {
      // The queue of the door is full while the service has no time.
      SystemHandle connection = Connect(HandoverGreeting());
      if (connection.valid()) kept.push_back(std::move(connection));
    }
    for (;;) pause();
  });
  WaitUntilTold(" programs are connected; programs beyond run unwatched\n");
}

TEST_F(WatchdTest, ConnectionsOfOneProcessCostNoOther) {
  ExpectStart();
  std::vector<SystemHandle> kept;
  for (int i = 0; i < 100; ++i) kept.push_back(Connect(HandoverGreeting()));
  Run({kKilled});
  EXPECT_THAT(WaitForReports(1), ElementsAre(StartsWith("sample-killed-vulkan-plain-")));
  // The service has several doors, and may have come to that of the program first.
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  const auto open = [&kept] {
    return std::count_if(kept.begin(), kept.end(), [](const SystemHandle& connection) {
      return !IsChannelClosed(connection.get());
    });
  };
  while (open() > 16 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  EXPECT_EQ(open(), 16);
}

TEST_F(WatchdTest, ProgramsBeyondTheBoundAreTold) {
  ExpectStart();
  const Milestones watched;
  {
    const Children children(257, [&] {
      const SystemHandle connection = Connect(HandoverGreeting());
      SendBlock(connection, 1);
      ChannelMessage answer;
      if (ReceiveWithin(connection.get(), 60'000'000'000, &answer) == Received::kMessage) {
        watched.Reach();
      }
      for (;;) pause();
    });
    WaitUntilTold("cairn watchd: 256 programs are watched; programs beyond run unwatched\n");
    EXPECT_TRUE(watched.WaitFor(256));
  }
  EXPECT_THAT(WaitForReports(256), SizeIs(256)) << "they were killed";
  EXPECT_EQ(EndService().exit_code, 0);
}

// Its watcher starts when it has been reaped.
TEST_F(WatchdTest, AProgramThatIsGoneIsReported) {
  if (!IsLinuxSince616()) GTEST_SKIP() << "before Linux 6.16 nobody knows how such a program ended";
  ExpectStart();
  kill(service_->pid(), SIGSTOP);
  const Milestones sent;
  {
    const Children child(1, [&] {
      const SystemHandle connection = Connect(HandoverGreeting());
      SendBlock(connection, 1);
      sent.Reach();
      for (;;) pause();
    });
    ASSERT_TRUE(sent.WaitFor(1));
  }
  kill(service_->pid(), SIGCONT);
  ASSERT_THAT(WaitForReports(1), SizeIs(1));
  EXPECT_THAT(Cairn({"report", "--last"}).output,
              StartsWith("The program was killed by SIGKILL\n"));
  EXPECT_EQ(EndService().exit_code, 0);
}

TEST_F(WatchdTest, ThereIsOneServiceOfAUser) {
  ExpectStart();
  const CommandResult second = Cairn({"watchd"});
  EXPECT_EQ(second.exit_code, 1);
  EXPECT_EQ(second.errors, "cairn watchd: it runs already: " +
                               (runtime_ / "cairn-watchd").string() + " is open\n");
  EXPECT_EQ(EndService().exit_code, 0);
  EXPECT_FALSE(fs::exists(runtime_ / "cairn-watchd"));
}

TEST_F(WatchdTest, IsSwitchedOnAndOff) {
  EXPECT_THAT(enabled_, AllOf(HasSubstr(manifest_.string()), HasSubstr("start `cairn watchd`")));
  const Json manifest = Json::Parse(ReadFile(manifest_));
  const Json layer = manifest["layer"];
  EXPECT_EQ(layer["name"], "VK_LAYER_CAIRN_watched");
  EXPECT_EQ(layer["library_path"], CAIRN_BINARY_DIR "/lib/libcairn-d3d12.so");
  EXPECT_EQ(Cairn({"watchd", "--disable"}).exit_code, 0);
  EXPECT_FALSE(fs::exists(manifest_));
  EXPECT_EQ(Cairn({"watchd", "--disable"}).exit_code, 0) << "it is off already";
}

TEST_F(WatchdTest, AFolderOfOthersIsRefused) {
  fs::create_directories(reports_);
  fs::permissions(reports_, fs::perms::all);
  const CommandResult refused = Cairn({"watchd"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.errors, HasSubstr("others may write to '" + reports_.string() + "'"));
}

}  // namespace
}  // namespace cairn::testing
