// SPDX-License-Identifier: Apache-2.0
//
// Every example of README.md and docs/guide that is shown with its output, run as it stands there: the programs of today
// print the words that the page shows. Numbers, hashes and the breaks of lines may differ; a line "..." stands for any
// lines. And the picture in README.md, which tools/verdict-picture makes.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "harness.h"

namespace cairn::testing {
namespace {

// A command and what the page shows below it.
struct Example {
  std::string command;
  std::vector<std::string> output;
};

// Returns the words of lines, each with a blank behind it: breaks of lines do not count. All numbers are the same word, and
// all hashes. Lines about what was measured at barriers are left to others: it depends on who else uses the device.
std::string WordsOf(const std::vector<std::string>& lines) {
  std::string words;
  for (const std::string& line : lines) {
    if (line.find(" waits at barriers behind ") != std::string::npos) continue;
    std::istringstream stream(line);
    for (std::string word; stream >> word;) words += word + ' ';
  }
  words = std::regex_replace(words, std::regex("\\b(0x)?[0-9a-f]{8,}"), "H");
  return std::regex_replace(words, std::regex("[0-9]+([.,][0-9]+)*"), "N");
}

// Returns a part of what is expected and what is there, from where they differ.
std::string FromDifference(const std::string& shown, const std::string& found) {
  constexpr size_t kBefore = 60, kBytes = 240;
  const auto [here, there] = std::mismatch(shown.begin(), shown.end(), found.begin(), found.end());
  size_t at = static_cast<size_t>(here - shown.begin());
  at -= std::min(at, kBefore);
  return "the page shows:\n  " + shown.substr(at, kBytes) + "\nthe program prints:\n  " +
         found.substr(std::min(at, found.size()), kBytes);
}

// Returns what is wrong with the lines that a page shows of an output; nothing if they are all in it.
std::string Difference(const std::vector<std::string>& shown, const std::string& output) {
  const std::string found = ' ' + WordsOf(Lines(output));
  size_t at = 0;          // of the blank in front of what has not been found yet
  bool anywhere = false;  // behind a line "..."
  for (size_t i = 0; i < shown.size();) {
    if (shown[i] == "...") {
      anywhere = true;
      ++i;
      continue;
    }
    std::vector<std::string> piece;
    for (; i < shown.size() && shown[i] != "..."; ++i) piece.push_back(shown[i]);
    const std::string words = ' ' + WordsOf(piece);
    const size_t next = found.find(words, at);
    if (next == std::string::npos || (!anywhere && next != at)) {
      return anywhere ? "the program does not print:\n  " + words
                      : FromDifference(words, found.substr(at));
    }
    at = next + words.size() - 1;
    anywhere = false;
  }
  if (anywhere || at + 1 >= found.size()) return "";
  return "the page does not show, and has no \"...\" for it:\n  " + found.substr(at, 240);
}

// Returns the commands of a page that stand behind "$ " in a block, and the lines below them. What is shown without
// output is left to others, but for files that later examples read.
std::vector<Example> ExamplesOf(const std::string& page) {
  std::vector<Example> examples;
  bool inside = false;  // of a block of any language
  for (const std::string& line : Lines(page)) {
    if (line.starts_with("```")) {
      inside = !inside;
      examples.emplace_back();
    } else if (inside && line.starts_with("$ ")) {
      examples.push_back({line.substr(2), {}});
    } else if (inside && !examples.back().command.empty()) {
      examples.back().output.push_back(line);
    }
  }
  std::erase_if(examples, [](const Example& example) { return example.output.empty(); });
  return examples;
}

class GuideExamples : public ::testing::Test {
 protected:
  // Returns what a terminal would show.
  std::string Shell(const std::string& words) {
    const std::string path =
        std::filesystem::path(Program("cairn")).parent_path().string() + ":/usr/bin:/bin";
    std::vector<std::string> environment = LavapipeEnvironment();
    environment.insert(environment.end(), {"PATH=" + path, "XDG_CONFIG_HOME=" + (folder_ / "user"),
                                           "XDG_CACHE_HOME=" + (folder_ / "cache")});
    const CommandResult result =
        RunCommand({"bash", "-c", "exec 2>&1; " + words},
                   {.folder = folder_.path(), .environment = environment, .timeout_s = 300});
    EXPECT_FALSE(result.timed_out) << words;
    return result.output;
  }

  // Gives samples the names that the page uses ("bisect:game": in commands with that word alone), makes the files that
  // it reads, and runs its examples one after the other.
  void Check(const std::string& page, size_t count,
             const std::map<std::string, std::string>& programs, const std::string& before = "") {
    const std::vector<Example> examples =
        ExamplesOf(ReadFile(std::string(CAIRN_SOURCE_DIR "/") + page));
    EXPECT_EQ(examples.size(), count);
    if (!before.empty()) {
      PutPrograms(before, programs);
      Shell(before);
    }
    for (const Example& example : examples) {
      SCOPED_TRACE(page + ": " + example.command);
      PutPrograms(example.command, programs);
      const std::string output = Shell(example.command);
      const std::string difference = Difference(example.output, output);
      EXPECT_TRUE(difference.empty()) << difference << "\nof:\n" << output;
    }
  }

  void PutPrograms(const std::string& command, const std::map<std::string, std::string>& programs) {
    for (const auto& [name, sample] : programs) {
      const size_t colon = name.find(':');
      if (colon != std::string::npos && command.find(name.substr(0, colon)) == std::string::npos) {
        continue;
      }
      const size_t begin = colon == std::string::npos ? 0 : colon + 1;
      std::filesystem::copy_file(Program(sample), folder_ / name.substr(begin),
                                 std::filesystem::copy_options::overwrite_existing);
    }
  }

  TemporaryFolder folder_;
};

TEST(GuideExamplesReading, FindsWhatDiffers) {
  const std::vector<std::string> shown = {"GPU hang in DISPATCH #1 (910, 1, 1)    likely", "...",
                                          "  next  cairn view a", "        b"};
  EXPECT_EQ(
      Difference(shown, "GPU hang in\nDISPATCH #1 (7, 1, 1) likely\n x\n next cairn view a b"), "");
  EXPECT_NE(Difference(shown, "GPU hang in DISPATCH #1 (7, 1, 1) proven\n x\n next cairn view a b"),
            "");
  EXPECT_NE(Difference(shown, "GPU hang in DISPATCH #1 (7, 1, 1) likely\n next cairn view b"), "");
  EXPECT_NE(Difference(shown, "GPU hang in DISPATCH #1 (7, 1, 1) likely next cairn view a b c"),
            "");
  EXPECT_NE(Difference(shown, "x GPU hang in DISPATCH #1 (7, 1, 1) likely next cairn view a b"),
            "");
  EXPECT_NE(Difference({"1 of 2."}, "1 of 2"), "");
}

TEST_F(GuideExamples, Readme) {
  Check("README.md", 2,
        {{"run:game", "sample-hang-vulkan-plain"}, {"bisect:game", "sample-fault-vulkan-plain"}});
}
TEST_F(GuideExamples, FindACrash) {
  Check("docs/guide/find-a-crash.md", 3, {{"game", "sample-hang-vulkan-plain"}});
}
TEST_F(GuideExamples, FindWhy) {
  Check("docs/guide/find-why.md", 1, {{"game", "sample-fault-vulkan-plain"}});
}
TEST_F(GuideExamples, CaptureAndReplay) {
  Check("docs/guide/capture-and-replay.md", 3, {{"game", "sample-scale-d3d12-plain"}});
}
TEST_F(GuideExamples, MarkMyEngine) {
  Check("docs/guide/mark-my-engine.md", 1, {{"engine", "sample-hang-vulkan"}});
}
TEST_F(GuideExamples, DriverAuthors) {
  Check("docs/guide/driver-authors.md", 1, {});
}

const std::map<std::string, std::string> kTestsOfAGame = {
    {"triangle", "sample-triangle-vulkan-plain"},
    {"physics", "sample-hang-d3d12-plain"},
    {"particles", "sample-fault-vulkan-plain"},
    {"game", "sample-hang-vulkan-plain"},
};
TEST_F(GuideExamples, InCi) {
  Check("docs/guide/in-ci.md", 3, kTestsOfAGame);
}
TEST_F(GuideExamples, ShipIt) {
  Check("docs/guide/ship-it.md", 2, kTestsOfAGame,
        "for test in physics particles game; do cairn run --hang-timeout 2 --kill-on-hang --quiet "
        "-o $test.cairn -- ./$test; done; mkdir out; mv p*.cairn out");
}

// The lines of the terminal in the picture, of which each piece of text has its place.
TEST_F(GuideExamples, ThePictureOfTheVerdict) {
  const std::string picture = ReadFile(CAIRN_SOURCE_DIR "/docs/verdict.svg");
  static const std::regex piece("<text [^>]*y=\"([0-9]+)\"[^>]*>([^<]*)</text>");
  std::map<int, std::string> rows;
  for (std::sregex_iterator at(picture.begin(), picture.end(), piece), end; at != end; ++at) {
    std::string text = (*at)[2];
    for (const auto& [escape, character] : std::map<std::string, std::string>{
             {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&#x27;", "'"}, {"&amp;", "&"}}) {
      text = std::regex_replace(text, std::regex(escape), character);
    }
    rows[std::stoi((*at)[1])] += text + ' ';
  }
  std::vector<std::string> lines;
  for (const auto& [y, text] : rows) lines.push_back(text == "… " ? "..." : text);
  ASSERT_GT(lines.size(), 10u);
  ASSERT_TRUE(lines.front().starts_with("$ cairn run ")) << lines.front();
  std::filesystem::copy_file(Program("sample-hang-vulkan-plain"), folder_ / "game");
  const std::string output = Shell(lines.front().substr(2));
  lines.erase(lines.begin());
  const std::string difference = Difference(lines, output);
  EXPECT_TRUE(difference.empty()) << "tools/verdict-picture makes it again: " << difference;
}

}  // namespace
}  // namespace cairn::testing
