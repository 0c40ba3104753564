// SPDX-License-Identifier: Apache-2.0
//
// Every example of every --help, run as it stands there, with files of the names that it uses. Numbers that a person
// takes from a report of his own become those of these files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "harness.h"
#include "help_reading.h"

namespace cairn::testing {
namespace {

using ::testing::AnyOf;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

const std::string kGolden = CAIRN_SOURCE_DIR "/tests/golden/";

// The command lines of an --help, without what is said of them.
std::vector<std::string> ExamplesIn(const std::string& help) {
  std::vector<std::string> examples;
  std::istringstream lines(help);
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line == "Examples:") {
      inside = true;
    } else if (line.empty()) {
      inside = false;
    } else if (inside && line.compare(0, 2, "  ") == 0 && line[2] != ' ') {
      examples.push_back(line.substr(2, line.find("  ", 2) - 2));
    }
  }
  return examples;
}

// Returns the verbs that the help of the program lists.
std::string Replaced(std::string text, const std::string& what, const std::string& with) {
  for (size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
  return text;
}

class HelpExamplesTest : public ::testing::Test {
 protected:
  CommandResult Shell(const std::string& words) {
    const std::string path = (folder_ / "bin:") +
                             std::filesystem::path(Program("cairn")).parent_path().string() +
                             ":/usr/bin:/bin";
    std::vector<std::string> environment = LavapipeEnvironment();
    environment.insert(
        environment.end(),
        {"PATH=" + path, "HOME=" + folder_.path().string(), "XDG_STATE_HOME", "XDG_DATA_HOME",
         "XDG_RUNTIME_DIR=" + (folder_ / "run"), "XDG_CONFIG_HOME=" + (folder_ / "user"),
         "XDG_CACHE_HOME=" + (folder_ / "cache"),
         "CAIRN_SYSTEM_CONFIG_DIR=" + (folder_ / "system")});
    return RunCommand({"bash", "-o", "pipefail", "-c", words},
                      {.folder = folder_.path(), .environment = environment, .timeout_s = 300});
  }

  void Put(const std::string& golden, const std::string& name) {
    std::filesystem::copy_file(kGolden + golden, folder_ / name,
                               std::filesystem::copy_options::overwrite_existing);
  }

  // Makes the files that the examples of a verb name.
  void PutFiles(const std::string& verb) {
    static const std::map<std::string, std::string> kGame = {
        {"report", "snapshot-vulkan-v1.cairn"},
        {"info", "played/hang.cairn"},
        {"export", "played/hang.cairn"},
        {"bisect", "played/fault.cairn"},
        {"", "played/hang.cairn"},
    };
    const auto game = kGame.find(verb);
    Put(game == kGame.end() ? "played/scale.cairn" : game->second, "game.cairn");
    Put("played/scale.cairn", "old.cairn");
    Put("played/scale.cairn", "new.cairn");
    Put("snapshot-v1.cairn", "monday.cairn");
    Put("snapshot-v1.cairn", "tuesday.cairn");
    std::filesystem::create_directories(folder_ / "crashes");
    std::filesystem::create_directories(folder_ / "out");
    Put("snapshot-v1.cairn", "crashes/one.cairn");
    std::filesystem::create_directories(folder_ / ".local/state/cairn");
    Put("snapshot-v1.cairn", ".local/state/cairn/one.cairn");
    Put("why-source.json", "why.json");
    for (const char* const pictures : {"out1", "out2"}) {
      std::filesystem::create_directories(folder_ / pictures);
      Put("played/triangle.png", std::string(pictures) + "/frame-000000.png");
    }
    std::ofstream(folder_ / "payload.bin") << "5368 1b";
    PutProgram("game", "#!/bin/sh\nexit 0\n");
    PutProgram("send.sh", "#!/bin/sh\nexit 0\n");
  }

  void PutProgram(const std::string& name, const std::string& script) {
    std::ofstream(folder_ / name) << script;
    std::filesystem::permissions(folder_ / name, std::filesystem::perms::owner_all);
  }

  TemporaryFolder folder_;
};

bool IsServed(const std::string& example) {
  return example.find(" --serve ") != std::string::npos || example.starts_with("cairn view ");
}

// Returns true for examples that a test cannot run: a window and ^C; a process of that number or name; a service. A page
// that is served is below.
bool EndsNever(const std::string& example) {
  return example.find("--loop 0") != std::string::npos ||
         example.find(" 4711") != std::string::npos || example == "cairn top game" ||
         example == "cairn watchd" || IsServed(example);
}

TEST_F(HelpExamplesTest, AllOfThemWork) {
  std::vector<std::string> verbs = CommandsIn(Shell("cairn help").output);
  EXPECT_GE(verbs.size(), 19u);
  std::erase(verbs, "view");  // below
  verbs.push_back("");
  // A search may find nothing, and a comparison differences.
  const std::set<std::string> may_fail = {"bisect", "diff", "pix", "why"};
  size_t run = 0;
  std::vector<std::string> left_out;
  for (const std::string& verb : verbs) {
    const std::string help = Shell("cairn help " + verb).output;
    const std::vector<std::string> examples = ExamplesIn(help);
    EXPECT_GE(examples.size(), 2u) << "of cairn help " << verb;
    for (const std::string& example : examples) {
      if (EndsNever(example)) {
        left_out.push_back(example);
        continue;
      }
      PutFiles(verb);
      std::string words = Replaced(example, "18233", "121");
      words = Replaced(words, "100-199", "10-12");
      words = Replaced(words, "--frame 100", "--frame 10");
      words = Replaced(words, "Depth", "Picture");
      words = Replaced(words, "| less", "| cat");
      const CommandResult result = Shell(words);
      ++run;
      EXPECT_FALSE(result.timed_out) << words;
      // There may be no program to look at.
      if (may_fail.count(verb) != 0 || words == "cairn top") {
        EXPECT_THAT(result.exit_code, AnyOf(0, 1)) << words << "\n" << result.Summary();
      } else {
        EXPECT_EQ(result.exit_code, 0) << words << "\n" << result.Summary();
      }
    }
  }
  EXPECT_GT(run, 50u);
  EXPECT_THAT(left_out,
              UnorderedElementsAre(
                  "cairn replay --loop 0 --pace original --window game.cairn", "cairn top 4711",
                  "cairn top game", "cairn top --interval 0.1 4711", "cairn top --once --json 4711",
                  "cairn triage --serve crashes/", "cairn view game.cairn", "cairn watchd"));
}

// A browser that asks for the page, says so, and goes; the command ends with it, or when it is asked to.
TEST_F(HelpExamplesTest, ThoseThatServeAPageWork) {
  PutFiles("view");
  Put("played/scale.cairn", "other.cairn");
  const CommandResult page = Shell("cairn report --html page.html monday.cairn");
  if (page.exit_code != 0) GTEST_SKIP() << "built without the viewer: " << page.errors;
  std::filesystem::create_directories(folder_ / "bin");
  PutProgram("bin/xdg-open", R"sh(#!/bin/bash
rest=$(sed -n 's|.*url=http://\([^"#]*\)[^"]*".*|\1|p' "$1") host=${rest%%/*}
exec 3<>"/dev/tcp/${host%:*}/${host#*:}"
printf 'GET /%s HTTP/1.1\r\nHost: %s\r\n\r\n' "${rest#*/}" "$host" >&3
page=$(sed -n 's/^Location: \(.*\)\r$/\1/p' <&3)
exec 3<>"/dev/tcp/${host%:*}/${host#*:}"
printf 'GET %sopen HTTP/1.1\r\nHost: %s\r\n\r\n' "$page" "$host" >&3
head -n 1 <&3 >opened
)sh");
  std::vector<std::string> examples = ExamplesIn(Shell("cairn help view").output);
  std::ranges::copy_if(ExamplesIn(Shell("cairn help triage").output), std::back_inserter(examples),
                       IsServed);
  EXPECT_EQ(examples.size(), 7u);
  for (const std::string& example : examples) {
    SCOPED_TRACE(example);
    const bool opens = example.find("--no-browser") == std::string::npos;
    std::filesystem::remove(folder_ / "opened");
    const CommandResult result =
        Shell(opens ? example
                    : "mkfifo address; " + example +
                          " >address & read -r url <address; echo $url; kill -TERM $!; wait $!");
    EXPECT_EQ(result.exit_code, 0) << result.Summary();
    EXPECT_THAT(result.output, StartsWith("http://127.0.0.1:"));
    EXPECT_EQ(ReadFile(folder_ / "opened"), opens ? "HTTP/1.1 200 OK\r\n" : "");
  }
}

TEST_F(HelpExamplesTest, ThoseOfD3DConfigWork) {
  std::filesystem::create_directories(folder_ / "bin");
  PutProgram("bin/sudo", "#!/bin/sh\nexec \"$@\"\n");
  const std::vector<std::string> examples = ExamplesIn(Shell("d3dconfig --help").output);
  EXPECT_EQ(examples.size(), 4u);
  for (const std::string& example : examples) {
    const CommandResult result = Shell(example);
    EXPECT_EQ(result.exit_code, 0) << example << "\n" << result.Summary();
    EXPECT_THAT(result.output, StartsWith("force-driver-retail-annotations=")) << example;
  }
}

}  // namespace
}  // namespace cairn::testing
