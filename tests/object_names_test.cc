// SPDX-License-Identifier: Apache-2.0
//
// An object of a trace has one name in everything that is printed: resource 3 "Scene colour". Verbs that need no device
// print here; docs/reference/command-line.md says what can be typed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <vector>

#include "base/testing/json.h"
#include "harness.h"

namespace cairn::testing {
namespace {

using ::testing::HasSubstr;

std::string Golden(const std::string& name) {
  return CAIRN_SOURCE_DIR "/tests/golden/played/" + name + ".cairn";
}

CommandResult Cairn(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), Program("cairn"));
  return RunCommand(arguments, {});
}

std::string Output(const std::vector<std::string>& arguments) {
  const CommandResult result = Cairn(arguments);
  EXPECT_EQ(result.exit_code, 0) << result.Summary();
  return result.output;
}

// Returns the first spelling of an object's name that is not the one of ObjectText(); "" if there is none.
std::string OtherSpelling(const std::string& text) {
  // `ID3D12Resource #4`, `ID3D12Resource 4`, `ID3D12Resource "Depth"`, `object 4 "Depth"`, `fence #4`.
  static const std::regex other(
      R"((ID3D12|IDXGI)\w+ (#?\d|\\?")|\bobject #?\d+ \\?"|\b[a-z]+ #\d|"#\d)");
  std::smatch found;
  return std::regex_search(text, found, other) ? found.str() : "";
}

TEST(ObjectNames, OtherSpellingsAreFound) {
  for (const char* const text :
       {"ID3D12Resource #4", "ID3D12Resource 4", R"(ID3D12Fence "Loads")", R"(object 3 "Depth")",
        "a fence #4", R"("text": "#12 + 16")", R"(ID3D12Resource \"a\")"}) {
    EXPECT_NE(OtherSpelling(text), "") << text;
  }
  EXPECT_EQ(OtherSpelling(R"(resource 3 "Depth", ID3D12Fence::Signal(), object 3, DRAW #2)"), "");
}

TEST(ObjectNames, AreAlikeInAllThatIsPrinted) {
  const std::string triangle = Golden("triangle");
  const std::string hang = Golden("hang");
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"calls", triangle},
                                             {"calls", "--json", triangle},
                                             {"calls", "--no-names", triangle},
                                             {"calls", hang},
                                             {"state", "--call", "62", triangle},
                                             {"state", "--json", "--call", "62", triangle},
                                             {"objects", triangle},
                                             {"objects", "--json", triangle},
                                             {"info", triangle},
                                             {"verify", triangle},
                                             {"report", "--all", hang},
                                             {"report", "--json", hang}}) {
    const std::string output = Output(arguments);
    EXPECT_NE(output, "") << arguments[0];
    EXPECT_EQ(OtherSpelling(output), "") << arguments[0] << ' ' << arguments[1];
  }
  const CommandResult diff = Cairn({"diff", triangle, hang});
  EXPECT_EQ(diff.exit_code, 1) << diff.Summary();
  EXPECT_EQ(OtherSpelling(diff.output), "");
}

TEST(ObjectNames, AreKindNumberAndName) {
  const std::string triangle = Golden("triangle");
  EXPECT_THAT(Output({"calls", triangle}), HasSubstr("  command list 10 \"Main\"  DrawInstanced("));
  const std::string state = Output({"state", "--call", "62", triangle});
  EXPECT_THAT(state, HasSubstr("command list 10 \"Main\""));
  EXPECT_THAT(state, HasSubstr("pipeline state 8 \"Triangle\""));
  const Json objects = Json::Parse(Output({"objects", "--json", triangle}));
  EXPECT_EQ(objects["objects"][4]["object_text"], "resource 5 \"Picture\"");
  EXPECT_EQ(objects["objects"][4]["object"], 5);
  EXPECT_EQ(objects["objects"][4]["kind"], "ID3D12Resource");
  EXPECT_EQ(objects["objects"][2]["object_text"], "fence 3");
}

TEST(ObjectNames, CanBeTypedAsTheyArePrinted) {
  const std::string triangle = Golden("triangle");
  const std::string calls = Output({"calls", "--object", "10", triangle});
  EXPECT_THAT(calls, HasSubstr("DrawInstanced("));
  for (const char* const spelling : {"#10", "command list 10", "command list 10 \"Main\""}) {
    EXPECT_EQ(Output({"calls", "--object", spelling, triangle}), calls) << spelling;
  }
  EXPECT_EQ(Output({"objects", "--kind", "pipeline state", triangle}),
            Output({"objects", "--kind", "id3d12pipelinestate", triangle}));
  const CommandResult none = Cairn({"calls", "--object", "resource 99", triangle});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_EQ(none.errors,
            "cairn calls: there is no object 99; cairn objects lists those that there are\n");
}

}  // namespace
}  // namespace cairn::testing
