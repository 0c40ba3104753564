// SPDX-License-Identifier: Apache-2.0
//
// Vulkan programs that know nothing of Cairn, under `cairn run`: they do what they do without it, the
// validation layer says nothing that it does not say without us, be it above or below our layer, and the
// report is that of a program which tells everything itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/testing/json.h"
#include "base/testing/json_schema_check.h"
#include "harness.h"
#include "report_reading.h"
#include "screen_of_tests.h"

namespace cairn::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;

constexpr char kValidation[] = "VK_LAYER_KHRONOS_validation";
constexpr char kOurs[] = "VK_LAYER_CAIRN_breadcrumbs";

// The device on the CPU, where there is a choice.
std::vector<std::string> Lavapipe() {
  for (const char* folder : {"/usr/share/vulkan/icd.d", "/etc/vulkan/icd.d"}) {
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
      if (!entry.path().filename().string().starts_with("lvp_icd")) continue;
      return {"VK_ICD_FILENAMES=" + entry.path().string(),
              "VK_DRIVER_FILES=" + entry.path().string()};
    }
  }
  return {};
}

class VulkanProgramsTest : public ::testing::Test {
 protected:
  void SetUp() override {
#if defined(CAIRN_SANITIZED)
    GTEST_SKIP() << "a library with sanitizers cannot be loaded into programs without them";
#endif
    LetValidationSay("");
  }

  // Errors, warnings and more, into a file.
  void LetValidationSay(const std::string& more) {
    std::ofstream(folder_ / "vk_layer_settings.txt")
        << "khronos_validation.report_flags = error,warn,perf\n"
           "khronos_validation.debug_action = VK_DBG_LAYER_ACTION_LOG_MSG\n"
           "khronos_validation.log_filename = "
        << folder_ / "validation"
        << "\n"
        << more;
  }
  // The identifiers of the validation layer's messages since the last call.
  std::set<std::string> ValidationMessages() {
    std::set<std::string> found;
    const std::string text = ReadFile(folder_ / "validation");
    std::filesystem::remove(folder_ / "validation");
    const std::regex identifier("(VUID|UNASSIGNED|BestPractices)-[A-Za-z0-9-]+");
    for (std::sregex_iterator match(text.begin(), text.end(), identifier), end; match != end;
         ++match) {
      found.insert(match->str());
    }
    return found;
  }

  CommandResult Run(const std::vector<std::string>& command,
                    std::vector<std::string> environment = {}) {
    const std::vector<std::string> lavapipe = Lavapipe();
    environment.insert(environment.begin(), lavapipe.begin(), lavapipe.end());
    CommandResult result =
        RunCommand(command, {.folder = folder_.path(), .environment = environment});
    EXPECT_FALSE(result.timed_out);
    EXPECT_THAT(result.left_behind, IsEmpty());
    return result;
  }

  // The result of a run: its end, its output, its picture.
  struct Outcome {
    int exit_code = -1;
    std::string said;
    std::string picture;
    std::set<std::string> messages;
  };
  Outcome OutcomeOf(const std::vector<std::string>& command,
                    std::vector<std::string> environment = {}) {
    const std::string picture = folder_ / "picture";
    environment.insert(
        environment.end(),
        {"DISPLAY=" + Screen::Display(), "PICTURE_AFTER=200", "PICTURE_FILE=" + picture,
         "LD_PRELOAD=" CAIRN_BINARY_DIR "/tests/programs/libstop_at_frame.so"});
    const CommandResult result = Run(command, environment);
    // The validation layer may say where it writes.
    const std::regex about_its_file("Validation Layer Info - [^\n]*\n");
    Outcome outcome{result.exit_code, std::regex_replace(result.output, about_its_file, ""),
                    ReadFile(picture), ValidationMessages()};
    std::filesystem::remove(picture);
    return outcome;
  }

  // Without us; then in every mode, alone, and with the validation layer on either side.
  void ExpectUnchanged(const std::vector<std::string>& program) {
    const Outcome without = OutcomeOf(program);
    ASSERT_EQ(without.exit_code, 0) << without.said;
    const std::string enabled = std::string("VK_INSTANCE_LAYERS=") + kValidation;
    const Outcome validated = OutcomeOf(program, {enabled});
    for (const char* mode : {"off", "top", "full", "exact"}) {
      for (const std::string& layers :
           {std::string("VK_INSTANCE_LAYERS"), enabled,
            std::string("VK_INSTANCE_LAYERS=") + kOurs + ":" + kValidation}) {
        SCOPED_TRACE(std::string(mode) + ", " + layers);
        std::vector<std::string> watched = {Program("cairn"), "run", "--quiet",
                                            "--dump-on-exit", "-o",  "a.cairn",
                                            "--breadcrumbs",  mode,  "--"};
        watched.insert(watched.end(), program.begin(), program.end());
        const Outcome with = OutcomeOf(watched, {layers});
        EXPECT_EQ(with.exit_code, 0) << with.said;
        EXPECT_EQ(with.said, without.said);
        EXPECT_TRUE(with.picture == without.picture) << "the window shows something else";
        EXPECT_EQ(with.messages, validated.messages);
        ExpectFollowed(std::string(mode) != "off");
      }
    }
    picture_ = without.picture;
  }

  // The layer was there: every list that it saw has finished.
  void ExpectFollowed(bool followed) {
    const ReportedWork work = ReadReportedWork(folder_ / "a.cairn");
    EXPECT_EQ(!work.executions.empty(), followed);
    EXPECT_THAT(work.candidates, IsEmpty());
    std::filesystem::remove(folder_ / "a.cairn");
  }

  TemporaryFolder folder_;
  std::string picture_;
};

TEST_F(VulkanProgramsTest, VkcubeShowsTheSameWindow) {
  if (Screen::Display().empty()) GTEST_SKIP() << "Xvfb is needed: install the package xvfb";
  if (Run({"sh", "-c", "command -v vkcube"}).exit_code != 0) {
    GTEST_SKIP() << "vkcube is needed: install the package vulkan-tools";
  }
  ExpectUnchanged({"vkcube", "--c", "300"});
  // Something is drawn: not one colour only.
  EXPECT_GT(std::set<char>(picture_.begin(), picture_.end()).size(), 8u);
}

TEST_F(VulkanProgramsTest, ThreadsWithSecondariesComputeTheSame) {
  ExpectUnchanged({Program("sample-threads-vulkan")});
}

// The validation layer does report messages, so that the two tests above can fail.
TEST_F(VulkanProgramsTest, TheValidationLayerSpeaks) {
  LetValidationSay(
      "khronos_validation.enables = VK_VALIDATION_FEATURE_ENABLE_BEST_PRACTICES_EXT\n"
      "khronos_validation.validate_best_practices = true\n");
  const CommandResult result = Run({Program("sample-triangle-vulkan-plain")},
                                   {std::string("VK_INSTANCE_LAYERS=") + kValidation});
  EXPECT_EQ(result.exit_code, 0) << result.Summary();
  EXPECT_THAT(ValidationMessages(), Not(IsEmpty()));
}

// A line of a report's tree, without what only a program's own words or only a layer can tell: shaders'
// names, numbers among siblings, barriers.
struct TreeLine {
  size_t depth = 0;
  std::string state;
  std::string text;
  bool operator==(const TreeLine&) const = default;
};
void PrintTo(const TreeLine& line, std::ostream* out) {
  *out << "\n" << std::string(line.depth, ' ') << line.state << " " << line.text;
}

std::vector<TreeLine> LinesOf(const std::string& tree) {
  std::vector<TreeLine> lines;
  std::istringstream text(tree);
  for (std::string line; std::getline(text, line);) {
    const size_t mark = line.find('[');
    if (mark == std::string::npos) continue;
    TreeLine parsed;
    // The lines of the tree have more bytes than columns.
    for (size_t i = 0; i < mark; ++i) parsed.depth += (line[i] & 0xC0) != 0x80;
    parsed.state = line.substr(mark, 3);
    parsed.text = std::regex_replace(line.substr(mark + 4), std::regex(" \\[ .* \\]"), "");
    parsed.text = std::regex_replace(parsed.text, std::regex("^([A-Z_]+) #[0-9]+"), "$1");
    if (!parsed.text.starts_with("PIPELINE_BARRIER")) lines.push_back(parsed);
  }
  return lines;
}

// `Blur` with a `DISPATCH, compute pipeline "Blur"` below becomes `DISPATCH: "Blur", compute...`.
std::vector<TreeLine> WithLabelsAsNames(const std::vector<TreeLine>& lines) {
  std::vector<TreeLine> joined;
  for (TreeLine line : lines) {
    // The layer notes arguments, the program does not.
    line.text = std::regex_replace(line.text, std::regex(" \\([0-9]+, 1, 1\\)"), "");
    const bool is_command = line.text.starts_with("DISPATCH");
    if (is_command && !joined.empty() && joined.back().depth + 3 == line.depth &&
        joined.back().text.find("command buffer") == std::string::npos &&
        joined.back().text != "Cascades") {
      joined.back().text = "DISPATCH: \"" + joined.back().text + "\"" + line.text.substr(8);
    } else {
      joined.push_back(line);
    }
  }
  return joined;
}

class SameReportTest : public VulkanProgramsTest {
 protected:
  // Returns the lines of the last command lists, as the samples measure the device before.
  std::vector<TreeLine> LastLists(size_t count) {
    std::vector<TreeLine> lines = LinesOf(ReportTree(folder_ / "a.cairn", true));
    size_t start = lines.size();
    for (size_t found = 0; start > 0 && found < count;) {
      --start;
      if (lines[start].text.find("command buffer") != std::string::npos) {
        ++found;
        // The layer counts what the sample does not tell.
        static const std::regex numbers("submission [0-9]+, command buffer [0-9]+");
        lines[start].text = std::regex_replace(lines[start].text, numbers, "command buffer");
      }
    }
    return std::vector<TreeLine>(lines.begin() + static_cast<std::ptrdiff_t>(start), lines.end());
  }

  // The sample tells by libcairn alone; then it tells nothing but labels, and the layer finds out.
  void ExpectSameReport(const std::string& sample, size_t lists, int exit_code,
                        std::vector<std::string> options = {},
                        const std::vector<std::string>& environment = {}) {
    const auto run = [&](const std::string& program, std::vector<std::string> more) {
      more.insert(more.begin(), {Program("cairn"), "run", "--quiet", "-o", "a.cairn"});
      more.insert(more.end(), options.begin(), options.end());
      more.insert(more.end(), {"--", Program(program)});
      const CommandResult result = Run(more, environment);
      EXPECT_EQ(result.exit_code, exit_code) << result.Summary();
    };
    run("sample-" + sample + "-vulkan", {"--no-layer"});
    const std::vector<TreeLine> explicitly = LastLists(lists);
    const std::vector<ReportedIncident> incidents = ReportedIncidents(folder_ / "a.cairn");
    const size_t candidates = ReadReportedWork(folder_ / "a.cairn").candidates.size();
    ASSERT_FALSE(explicitly.empty());
    std::filesystem::remove(folder_ / "a.cairn");

    run("sample-" + sample + "-vulkan-plain", {"--breadcrumbs", "full"});
    EXPECT_EQ(WithLabelsAsNames(LastLists(lists)), explicitly);
    EXPECT_EQ(ReportedIncidents(folder_ / "a.cairn"), incidents);
    EXPECT_EQ(ReadReportedWork(folder_ / "a.cairn").candidates.size(), candidates);
    EXPECT_THAT(ReadReportedWork(folder_ / "a.cairn").candidates, ElementsAre("DISPATCH "));
  }
};

TEST_F(SameReportTest, Hang) {
  ExpectSameReport("hang", 1, 124, {"--hang-timeout", "1", "--kill-on-hang"});
}

TEST_F(SameReportTest, Fault) {
  // On lavapipe the shader runs in a thread of the program, so that it is the program that dies.
  ExpectSameReport("fault", 1, 128 + SIGSEGV);
}

// A layer of others that has handles of its own: ours must not call through it.
TEST_F(SameReportTest, FaultBesideGfxreconstruct) {
  constexpr char kRecorder[] = "VK_LAYER_LUNARG_gfxreconstruct";
  if (Run({"sh", "-c", "command -v gfxrecon-replay"}).exit_code != 0) {
    GTEST_SKIP() << "install the package gfxreconstruct";
  }
  for (const std::string& layers :
       {std::string(kRecorder), kOurs + (":" + std::string(kRecorder))}) {
    SCOPED_TRACE(layers);
    ExpectSameReport("fault", 1, 128 + SIGSEGV, {},
                     {"VK_INSTANCE_LAYERS=" + layers, "GFXRECON_CAPTURE_FILE_TIMESTAMP=false",
                      "GFXRECON_CAPTURE_FILE=" + (folder_ / "a.gfxr")});
    EXPECT_THAT(ReadFile(folder_ / "a.gfxr"), HasSubstr("GFXR"));
    std::filesystem::remove(folder_ / "a.gfxr");
  }
}

TEST_F(SameReportTest, Killed) {
  ExpectSameReport("killed", 2, 128 + SIGKILL);
}

// `cairn top` while the dispatch runs.
class LiveTest : public VulkanProgramsTest {
 protected:
  // Runs beside what Command started.
  std::string Top(const std::string& arguments) {
    const std::string out = folder_ / "top";
    const std::string command =
        "exec '" + Program("cairn") + "' top " + arguments + " >'" + out + "' 2>/dev/null";
    const pid_t child = fork();
    if (child == 0) {
      execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
      _exit(123);
    }
    waitpid(child, nullptr, 0);
    return ReadFile(out);
  }
  // The process that runs `program`, by the list of `cairn top`; "" while there is none.
  std::string ProcessOf(const std::string& program) {
    std::istringstream list(Top(""));
    for (std::string line; std::getline(list, line);) {
      if (!line.ends_with("  " + program)) continue;
      const size_t start = line.find_first_not_of(' ');
      return line.substr(start, line.find(' ', start) - start);
    }
    return "";
  }
  // Asks until something with this name runs; a null document when the time is up.
  Json WaitUntilRuns(const std::string& program, const std::string& name) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(40);
    while (std::chrono::steady_clock::now() < end) {
      const std::string pid = ProcessOf(program);
      if (pid.empty()) continue;
      const Json look = Json::Parse(Top("--once --json " + pid));
      if (look.is_discarded()) continue;
      for (const Json& queue : look["queues"]) {
        for (const Json& running : queue["running"]) {
          for (const std::string& part : running["path"].get<std::vector<std::string>>()) {
            if (part.find(name) != std::string::npos) return look;
          }
        }
      }
    }
    return nullptr;
  }
};

TEST_F(LiveTest, TheDispatchThatRunsIsShown) {
  const std::string program = Program("sample-hang-vulkan-plain");
  Command command({Program("cairn"), "run", "--quiet", "--hang-timeout", "0", "--breadcrumbs",
                   "full", "--", program, "--seconds", "60"},
                  {.folder = folder_.path(), .environment = Lavapipe(), .timeout_s = 120});
  const Json look = WaitUntilRuns(program, "Integrate");
  ASSERT_FALSE(look.is_null());
  EXPECT_EQ(
      SchemaViolation(Json::ParseFile(CAIRN_SOURCE_DIR "/docs/formats/top.schema.json"), look), "");
  ASSERT_EQ(look["queues"].size(), 1u);
  const Json queue = look["queues"][0];
  EXPECT_EQ(queue["name"], "Graphics");
  EXPECT_EQ(queue["pending"], 1);
  ASSERT_EQ(queue["running"].size(), 1u);
  const Json running = queue["running"][0];
  EXPECT_EQ(running["list"], "Main");
  ASSERT_EQ(running["path"].size(), 4u);
  EXPECT_EQ(running["path"][2], "Integrate");
  EXPECT_THAT(running["path"][3].get<std::string>(),
              MatchesRegex("DISPATCH #1 \\([0-9]+, 1, 1\\)"));
  EXPECT_THAT(running["pipeline"].get<std::string>(), HasSubstr("compute pipeline \"Integrate\""));
  EXPECT_EQ(running["candidates"], 1);
  EXPECT_LT(running["passed"].get<uint32_t>(), running["reached"].get<uint32_t>());
  EXPECT_LT(running["reached"].get<uint32_t>(), running["events"].get<uint32_t>());
  EXPECT_EQ(look["devices"][0]["api"], "vulkan");
}

}  // namespace
}  // namespace cairn::testing
