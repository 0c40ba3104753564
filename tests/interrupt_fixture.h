// SPDX-License-Identifier: Apache-2.0
//
// InterruptTest: traces, and verbs that are interrupted while they work on them.
#ifndef CAIRN_TESTS_INTERRUPT_FIXTURE_H_
#define CAIRN_TESTS_INTERRUPT_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "harness.h"
#include "played.h"

namespace cairn::testing {

// Long enough that ^C comes before its end, whatever else the machine does.
inline constexpr char kFrames[] = "1500";

// Traces that all tests use.
class Traces : public ::testing::Environment {
 public:
  void SetUp() override {
    folder_ = std::make_unique<TemporaryFolder>();
    if (!WhyNothingIsPlayed().empty()) return;
    const CommandResult captured =
        RunCommand({Program("cairn"), "run", "--quiet", "--capture", "-o", "long.cairn", "--",
                    Program("sample-scale-d3d12-plain"), "--frames", kFrames, "--calls", "100"},
                   {.folder = folder_->path(), .environment = LavapipeEnvironment()});
    ASSERT_EQ(captured.exit_code, 0) << captured.Summary();
    const CommandResult faulted =
        RunCommand({Program("cairn"), "run", "--quiet", "--capture", "-o", "fault.cairn", "--",
                    Program("sample-fault-d3d12-plain")},
                   {.folder = folder_->path(), .environment = LavapipeEnvironment()});
    ASSERT_TRUE(std::filesystem::exists(*folder_ / "fault.cairn")) << faulted.Summary();
  }
  void TearDown() override { folder_.reset(); }
  static std::string Path(const std::string& name) { return *folder_ / name; }

 private:
  static inline std::unique_ptr<TemporaryFolder> folder_;
};
[[maybe_unused]] inline const auto* const kTraces = ::testing::AddGlobalTestEnvironment(new Traces);

class InterruptTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!WhyNothingIsPlayed().empty()) GTEST_SKIP() << WhyNothingIsPlayed();
  }
  void Copy(const std::string& name) {
    std::filesystem::copy_file(Traces::Path(name), folder_ / name);
  }
  static std::vector<std::string> Arguments(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), Program("cairn"));
    return arguments;
  }
  Command::Options Options() const {
    return {.folder = folder_.path(),
            .environment = LavapipeEnvironment(),
            .timeout_s = 120,
            .own_console = true};
  }
  // Runs the command, and presses ^C when `ready`.
  CommandResult Interrupt(const std::vector<std::string>& arguments,
                          const std::function<bool(const Command&)>& ready) {
    Command command(Arguments(arguments), Options());
    EXPECT_TRUE(WaitUntil([&] { return ready(command) || !IsRunning(command.pid()); }));
    EXPECT_TRUE(IsRunning(command.pid())) << "it was over before";
    PressInterrupt(command.pid());
    const CommandResult result = command.Wait();
    EXPECT_FALSE(result.timed_out);
    EXPECT_THAT(result.left_behind, ::testing::IsEmpty());
    return result;
  }
  bool Has(const std::string& part) const {
    const std::vector<std::string> names = folder_.Contents();
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return name.find(part) != std::string::npos;
    });
  }
  // Bytes of the file that trim records into. It makes an empty one first, to see whether it can.
  uintmax_t Recorded() const {
    uintmax_t bytes = 0;
    for (const std::string& name : folder_.Contents()) {
      std::error_code gone;
      if (!name.ends_with(".recorded.part")) continue;
      const uintmax_t size = std::filesystem::file_size(folder_ / name, gone);
      if (!gone) bytes += size;
    }
    return bytes;
  }
  // In the journal of a search: the lines behind its header.
  static size_t AnswerCount(const std::string& path) {
    const std::string text = ReadFile(path);
    const std::string header = "\nanswers\n";
    const size_t end = text.find(header);
    return end == std::string::npos ? 0 : LineCount(text.substr(end + header.size()));
  }
  static size_t LineCount(const std::string& text) {
    return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
  }

  TemporaryFolder folder_;
};

}  // namespace cairn::testing

#endif  // CAIRN_TESTS_INTERRUPT_FIXTURE_H_
