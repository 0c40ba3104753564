// SPDX-License-Identifier: Apache-2.0
//
// The `d3dconfig` command as people meet it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "harness.h"

namespace cairn::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kSetting[] = "force-driver-retail-annotations";

class D3DConfigTest : public ::testing::Test {
 protected:
  CommandResult D3DConfig(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), Program("d3dconfig"));
    return RunCommand(arguments,
                      {.folder = folder_.path(),
                       .environment = {"XDG_CONFIG_HOME=" + (folder_ / "user"),
                                       "CAIRN_SYSTEM_CONFIG_DIR=" + (folder_ / "system")},
                       .input = ""});
  }
  void ExpectRefused(const std::vector<std::string>& arguments, const std::string& line) {
    const CommandResult result = D3DConfig(arguments);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.output, "");
    EXPECT_EQ(result.errors, line + "\n");
  }
  // Returns the text that the command prints after the setting, for each place.
  std::string User() {
    CommandResult who = RunCommand({"id", "-un"}, {.folder = folder_.path()});
    who.output.pop_back();
    return "  (for programs of user " + who.output + ": " + (folder_ / "user/cairn/d3dconfig") +
           ")\n";
  }
  std::string System() {
    return "  (for every user of this machine: " + (folder_ / "system/d3dconfig") + ")\n";
  }
  std::string Set(const char* value) { return std::string(kSetting) + "=" + value; }

  TemporaryFolder folder_;
};

TEST_F(D3DConfigTest, HelpHasExamples) {
  const CommandResult result = D3DConfig({"--help"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.errors, "");
  EXPECT_THAT(result.output, HasSubstr("Usage: d3dconfig device "));
  EXPECT_THAT(result.output, HasSubstr("\nExamples:\n  d3dconfig device "));
}

// One source: what --help says stands there, too.
TEST_F(D3DConfigTest, ManualPageSaysWhatTheHelpSays) {
  const CommandResult result = D3DConfig({"--manual-page", folder_ / "man1/d3dconfig.1"});
  EXPECT_EQ(result.exit_code, 0) << result.Summary();
  EXPECT_EQ(result.output, "");
  const std::string page = ReadFile(folder_ / "man1/d3dconfig.1");
  EXPECT_THAT(page, HasSubstr(".TH D3DCONFIG 1 "));
  EXPECT_THAT(page, HasSubstr("\nd3dconfig \\- Settings of Direct3D 12 devices"));
  EXPECT_THAT(page, HasSubstr("\n.TP\n\\fB\\-\\-system\\fR\n"));
  EXPECT_THAT(page, HasSubstr("\n.SH EXAMPLES\n.nf\n  d3dconfig device "));
  EXPECT_THAT(page, Not(HasSubstr("manual\\-page")));
  EXPECT_THAT(D3DConfig({"--help"}).output, Not(HasSubstr("manual-page")));
  const CommandResult refused = D3DConfig({"--manual-page", "/dev/null/d3dconfig.1"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_EQ(refused.errors, "d3dconfig: cannot write '/dev/null/d3dconfig.1': Not a directory\n");
}

TEST_F(D3DConfigTest, ShowsWhatIsInEffectAndWhereFrom) {
  EXPECT_EQ(D3DConfig({"device"}).output, Set("off") + "  (default)\n");
  EXPECT_THAT(folder_.Contents(), IsEmpty());
  EXPECT_EQ(D3DConfig({"device", "--system", Set("TRUE")}).output, Set("on") + System());
  EXPECT_EQ(D3DConfig({"device"}).output, Set("on") + System());
  const CommandResult kept = D3DConfig({"device", "--user", Set("false")});
  EXPECT_EQ(kept.output, Set("off") + User());
  EXPECT_EQ(kept.errors, "d3dconfig: note: for your programs it stays on" +
                             System().substr(1, System().size() - 2) + "\n");
  EXPECT_EQ(D3DConfig({"device"}).output, Set("on") + System());
  EXPECT_EQ(D3DConfig({"device", "--user"}).output, Set("off") + User());
  EXPECT_EQ(D3DConfig({"device", "--system", Set("off")}).errors, "");
  EXPECT_EQ(D3DConfig({"device"}).output, Set("off") + System());
  EXPECT_EQ(D3DConfig({"device", "--user", Set("on")}).output, Set("on") + User());
  EXPECT_EQ(D3DConfig({"device"}).output, Set("on") + User());
  EXPECT_EQ(D3DConfig({"device", "--system"}).output, Set("off") + System());
}

TEST_F(D3DConfigTest, AnAdministratorSetsItForEveryDeviceOfTheMachine) {
  const bool administrator = geteuid() == 0;
  EXPECT_EQ(D3DConfig({"device", Set("on")}).output,
            Set("on") + (administrator ? System() : User()));
  EXPECT_EQ(std::filesystem::exists(folder_ / "system/d3dconfig"), administrator);
  EXPECT_EQ(std::filesystem::exists(folder_ / "user/cairn/d3dconfig"), !administrator);
  const CommandResult both = D3DConfig({"device", "--user", "--system", Set("on")});
  EXPECT_EQ(both.exit_code, 2);
  EXPECT_EQ(both.output, "");
}

TEST_F(D3DConfigTest, WrongCommandLinesChangeNothing) {
  ASSERT_EQ(D3DConfig({"device", "--user", Set("on")}).exit_code, 0);
  const std::string before = ReadFile(folder_ / "user/cairn/d3dconfig");
  ExpectRefused({}, "d3dconfig: say what to configure: d3dconfig device; see d3dconfig --help");
  ExpectRefused({"devise"},
                "d3dconfig: unknown topic 'devise'; there is: device; see d3dconfig --help");
  ExpectRefused({"device", "--sistem"},
                "d3dconfig: unknown option '--sistem'; see d3dconfig --help");
  ExpectRefused(
      {"device", "x=\x1b"},
      "d3dconfig: unknown setting 'x'; there is: force-driver-retail-annotations; nothing "
      "was changed");
  ExpectRefused(
      {"device", kSetting},
      "d3dconfig: 'force-driver-retail-annotations' has no value; say "
      "force-driver-retail-annotations=on or force-driver-retail-annotations=off; nothing "
      "was changed");
  ExpectRefused(
      {"device", Set("maybe\x1b")},
      "d3dconfig: 'maybe\\x1b' is no value of force-driver-retail-annotations; it is on or "
      "off (true, false); nothing was changed");
  ExpectRefused(
      {"device", Set("off"), "x=1"},
      "d3dconfig: unknown setting 'x'; there is: force-driver-retail-annotations; nothing "
      "was changed");
  ExpectRefused({"device", Set("off"), Set("on")},
                "d3dconfig: force-driver-retail-annotations is given twice; nothing was changed");
  EXPECT_EQ(ReadFile(folder_ / "user/cairn/d3dconfig"), before);
}

TEST_F(D3DConfigTest, ADamagedFileIsNamedAndReplaced) {
  std::filesystem::create_directories(folder_ / "user/cairn");
  const std::string file = folder_ / "user/cairn/d3dconfig";
  std::ofstream(file) << "force-driver-ret";
  const CommandResult shown = D3DConfig({"device"});
  EXPECT_EQ(shown.exit_code, 0);
  EXPECT_EQ(shown.output, Set("off") + "  (default)\n");
  EXPECT_EQ(shown.errors, "d3dconfig: warning: " + file +
                              " is damaged: line 1: this is no setting (NAME=VALUE); its settings "
                              "have no effect\n");
  const CommandResult changed = D3DConfig({"device", "--user", Set("on")});
  EXPECT_EQ(changed.output, Set("on") + User());
  EXPECT_THAT(changed.errors, HasSubstr("what it said is replaced"));
  EXPECT_EQ(D3DConfig({"device"}).errors, "");
}

TEST_F(D3DConfigTest, APlaceThatCannotBeWritten) {
  std::ofstream(folder_ / "user") << "a file where the folder should be";
  const CommandResult result = D3DConfig({"device", "--user", Set("on")});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.output, "");
  EXPECT_THAT(result.errors,
              HasSubstr("user/cairn cannot be created: Not a directory; nothing was changed"));
}

TEST_F(D3DConfigTest, CompletionOffersTheSetting) {
  const std::string script = "source " CAIRN_SOURCE_DIR
                             "/completions/d3dconfig.bash; "
                             "try() { COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _d3dconfig; "
                             "echo \"${COMPREPLY[*]}\"; }; "
                             "try d3dconfig d; try d3dconfig device f; try d3dconfig device x = o; "
                             "try d3dconfig device --s; try d3dconfig device --u";
  const CommandResult result = RunCommand(
      {"bash", "-c", script}, {.folder = folder_.path(), .environment = {}, .input = ""});
  EXPECT_EQ(result.output, "device\nforce-driver-retail-annotations=\non off\n--system\n--user\n");
}

}  // namespace
}  // namespace cairn::testing
