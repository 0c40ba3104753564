// SPDX-License-Identifier: Apache-2.0
//
// The `cairn` command as people meet it: help, bad input, damaged files, pipes and terminals. What needs only files is in
// file_verbs_test.cc.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "base/testing/json.h"
#include "base/testing/json_schema_check.h"
#include "harness.h"
#include "help_reading.h"

namespace cairn::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class CliTest : public ::testing::Test {
 protected:
  // `cairn ARGUMENTS` in the test's folder.
  CommandResult Cairn(std::vector<std::string> arguments,
                      std::vector<std::string> environment = {}) {
    arguments.insert(arguments.begin(), Program("cairn"));
    return RunCommand(arguments, {.folder = folder_.path(), .environment = environment});
  }

  // The command must fail with this one line and leave nothing on stdout or in the folder.
  void ExpectRefused(const std::vector<std::string>& arguments, int exit_code,
                     const std::string& line, const std::vector<std::string>& environment = {}) {
    const std::vector<std::string> before = folder_.Contents();
    const CommandResult result = Cairn(arguments, environment);
    EXPECT_EQ(result.errors, line + "\n");
    EXPECT_EQ(result.exit_code, exit_code);
    EXPECT_EQ(result.output, "");
    EXPECT_EQ(folder_.Contents(), before);
  }

  // A small whole file, "whole.cairn".
  void WriteFile() {
    const std::string program = CAIRN_BINARY_DIR "/tests/programs/misbehave";
    ASSERT_EQ(Cairn({"run", "--quiet", "-o", "whole.cairn", "--", program, "kill"}).exit_code,
              128 + SIGKILL);
  }
  void WriteBeginning(const std::string& name, size_t size) {
    std::ofstream(folder_ / name) << ReadFile(folder_ / "whole.cairn").substr(0, size);
  }

  TemporaryFolder folder_;
};

// Bytes, which are characters in what has no names.
size_t LongestLine(const std::string& text) {
  size_t longest = 0;
  for (const std::string& line : Lines(text)) longest = std::max(longest, line.size());
  return longest;
}

TEST_F(CliTest, EveryHelpHasExamples) {
  const std::vector<std::vector<std::string>> commands = {
      {"--help"},           {"run", "--help"},      {"report", "--help"},
      {"info", "--help"},   {"calls", "--help"},    {"objects", "--help"},
      {"images", "--help"}, {"state", "--help"},    {"diff", "--help"},
      {"verify", "--help"}, {"trim", "--help"},     {"repack", "--help"},
      {"replay", "--help"}, {"bisect", "--help"},   {"why", "--help"},
      {"top", "--help"},    {"selftest", "--help"}, {"triage", "--help"},
      {"help", "--help"},   {"export", "--help"},   {"pix", "--help"},
      {"mcp", "--help"},    {"watch", "--help"},    {"probe", "--help"},
      {"trial", "--help"},  {"pictures", "--help"}};
  for (const std::vector<std::string>& command : commands) {
    const CommandResult result = Cairn(command, {"COLUMNS"});
    EXPECT_EQ(result.exit_code, 0) << command[0];
    EXPECT_EQ(result.errors, "") << command[0];
    EXPECT_THAT(result.output, HasSubstr("\nExamples:\n  cairn ")) << command[0];
    EXPECT_THAT(result.output, HasSubstr("Usage: cairn ")) << command[0];
    EXPECT_LE(LongestLine(result.output), 100u) << result.output;
  }
  for (const char* const hidden : {"watch", "probe", "trial", "pictures", "hand-on"}) {
    EXPECT_THAT(Cairn({"--help"}).output, Not(HasSubstr(std::string("\n  ") + hidden + " ")));
  }
}

TEST_F(CliTest, UnknownVerbsAndOptions) {
  ExpectRefused({}, 2,
                "cairn: no command is given; the commands are run, report, view, bisect, why, top, "
                "watchd, list, "
                "calls, objects, "
                "state, images, replay, verify, trim, repack, diff, triage, info, export, mcp, "
                "selftest, pix, "
                "help; cairn --help explains them");
  ExpectRefused({"probe"}, 2, "cairn probe: cairn bisect starts it; say cairn bisect FILE");
  ExpectRefused({"pictures"}, 2, "cairn pictures: cairn view starts it; say cairn view FILE");
  ExpectRefused({"trial"}, 2, "cairn trial: cairn bisect starts it; say cairn bisect -- PROGRAM");
  ExpectRefused({"reprot"}, 2, "cairn: unknown command 'reprot'; did you mean 'report'?");
  ExpectRefused(
      {"explode"}, 2,
      "cairn: unknown command 'explode'; the commands are run, report, view, bisect, why, top, "
      "watchd, list, "
      "calls, "
      "objects, state, images, replay, verify, trim, repack, diff, triage, info, export, mcp, "
      "selftest, pix, help");
  ExpectRefused({"--vresion"}, 2, "cairn: unknown option '--vresion'; did you mean --version?");
  ExpectRefused({"report", "--jason", "x"}, 2,
                "cairn report: unknown option '--jason'; did you mean --json?");
  ExpectRefused({"report", "--explode", "x"}, 2,
                "cairn report: unknown option '--explode'; see cairn report --help");
  ExpectRefused({"info", "a", "b"}, 2,
                "cairn info: unexpected argument 'b'; see cairn info --help");
  ExpectRefused({"run", "--kill-on-hnag", "--", "true"}, 125,
                "cairn run: unknown option '--kill-on-hnag'; did you mean --kill-on-hang?");
}

TEST_F(CliTest, ValuesOutOfRange) {
  ExpectRefused({"report", "x", "--color", "pink"}, 2,
                "cairn report: --color: pink not in {auto,always,never}; see cairn report --help");
  ExpectRefused({"report", "x", "--width", "3"}, 2,
                "cairn report: --width: '3' is not a number from 40 to 10000 (0: no limit)");
  ExpectRefused({"report", "x", "--width"}, 2,
                "cairn report: --width needs a value; see cairn report --help");
  ExpectRefused({"selftest", "--api", "metal"}, 2,
                "cairn selftest: --api: metal not in {vulkan,d3d12}; see cairn selftest --help");
  for (const std::string bad : {"-1", "abc", "1s", "nan", "1e9", "0.0001", ""}) {
    ExpectRefused({"run", "--hang-timeout=" + bad, "--", "true"}, 125,
                  bad.empty() ? "cairn run: --hang-timeout needs a value; see cairn run --help"
                              : "cairn run: --hang-timeout: '" + bad +
                                    "' is not a time in seconds from 0.001 to 1000000 (0: never)");
  }
}

TEST_F(CliTest, ProgramsThatCannotBeStarted) {
  ExpectRefused({"run"}, 125, "cairn run: no program is given; say cairn run -- PROGRAM ARGUMENTS");
  ExpectRefused({"run", "--"}, 125,
                "cairn run: no program is given; say cairn run -- PROGRAM ARGUMENTS");
  ExpectRefused(
      {"run", "--", "no-such-game"}, 127,
      "cairn run: program 'no-such-game' was not found; give its path, or a name in PATH");
  ExpectRefused({"run", "--", "./no-such-game"}, 127,
                "cairn run: program './no-such-game' was not found; give its path, or a name in "
                "PATH");
  std::ofstream(folder_ / "data") << "x";
  ExpectRefused({"run", "--", "./data"}, 126,
                "cairn run: './data' cannot be executed: Permission denied");
  std::ofstream(folder_ / "script") << "#!/no/such/interpreter\n";
  std::filesystem::permissions(folder_ / "script", std::filesystem::perms::owner_all);
  ExpectRefused({"run", "--", "./script"}, 126,
                "cairn run: './script' cannot be executed: its interpreter is missing");
}

TEST_F(CliTest, PlacesThatCannotBeWritten) {
  ExpectRefused({"run", "-o", "missing/a.cairn", "--", "true"}, 125,
                "cairn run: no file can be written in directory 'missing' (No such file or "
                "directory); give another with -o FILE");
  ExpectRefused({"run", "-o", ".", "--", "true"}, 125,
                "cairn run: '.' is a directory; give a file with -o FILE");
  ExpectRefused({"run", "-o", "/dev/null", "--", "true"}, 125,
                "cairn run: '/dev/null' is not a regular file; give a file with -o FILE");
  const CommandResult result = Cairn({"run", "-o", "/proc/a.cairn", "--", "true"});
  EXPECT_EQ(result.exit_code, 125);
  EXPECT_THAT(result.errors,
              StartsWith("cairn run: no file can be written in directory '/proc' ("));
}

TEST_F(CliTest, OptionsOfTheProgramAreNotOurs) {
  // Without "--" the first word that is no option starts the program.
  EXPECT_EQ(Cairn({"run", "sh", "-c", "exit 6", "--quiet"}).exit_code, 6);
  EXPECT_EQ(Cairn({"run", "--quiet", "sh", "-c", "exit 6"}).exit_code, 6);
  EXPECT_EQ(Cairn({"run", "--hang-timeout", "5", "sh", "-c", "exit 6"}).exit_code, 6);
  EXPECT_EQ(Cairn({"run", "--", "echo", "--", "--help"}).output, "-- --help\n");
}

TEST_F(CliTest, ATruncatedFileGivesWhatIsLeft) {
  WriteFile();
  const size_t size = ReadFile(folder_ / "whole.cairn").size();
  const std::string whole = Cairn({"report", "whole.cairn"}).output;
  size_t readable = 0;
  for (size_t cut = 0; cut < size; cut += 13) {
    WriteBeginning("cut.cairn", cut);
    const CommandResult result = Cairn({"report", "cut.cairn"});
    SCOPED_TRACE("cut after " + std::to_string(cut) + " bytes: " + result.Summary());
    EXPECT_EQ(std::count(result.errors.begin(), result.errors.end(), '\n'), 1);
    if (result.exit_code == 0) {
      ++readable;
      EXPECT_THAT(
          result.errors,
          StartsWith(
              "cairn report: warning: cut.cairn is damaged; only the readable part is shown: "));
      // The incident is readable from the first bytes on; losses are reported.
      EXPECT_THAT(result.output, HasSubstr("signal 9 (SIGKILL)"));
      EXPECT_THAT(result.output, HasSubstr("Missing from this report"));
    } else {
      EXPECT_EQ(result.exit_code, 1);
      EXPECT_EQ(result.output, "");
    }
  }
  EXPECT_GT(readable, size / 13 / 2);
  WriteBeginning("all.cairn", size);
  std::string all = Cairn({"report", "all.cairn"}).output;
  // The names of both files are of one length.
  for (size_t at; (at = all.find("all.cairn")) != std::string::npos;)
    all.replace(at, 9, "whole.cairn");
  EXPECT_EQ(all, whole);
}

TEST_F(CliTest, InfoDescribesTheFile) {
  WriteFile();
  const CommandResult result = Cairn({"info", "whole.cairn"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.errors, "");
  EXPECT_THAT(result.output, StartsWith("Incident  died with signal 9 (SIGKILL), 2"));
  EXPECT_THAT(result.output,
              HasSubstr("\nFile      whole.cairn\nFormat    1.0, finished\n\nProcess"));
  // The table of chunks comes last, before what is lost.
  EXPECT_GT(result.output.find("\n  chunk  "), result.output.find("\n  marker events "));
  EXPECT_LT(result.output.find("\n  all  "), result.output.find("\nNothing is lost."));
  EXPECT_THAT(result.output, HasSubstr("\nDevice    custom backend\n"));
  EXPECT_THAT(result.output, HasSubstr("\n  queues                    1\n"));
  EXPECT_THAT(result.output, HasSubstr("\n  marker events            12\n"));
  EXPECT_THAT(result.output, HasSubstr("\nNothing is lost.\n"));

  WriteBeginning("cut.cairn", ReadFile(folder_ / "whole.cairn").size() - 1);
  const CommandResult cut = Cairn({"info", "cut.cairn"});
  EXPECT_EQ(cut.exit_code, 0);
  EXPECT_EQ(
      cut.errors,
      "cairn info: warning: cut.cairn is cut off or damaged; what is lost is listed at the end\n");
  EXPECT_THAT(cut.output, HasSubstr("\nLost:\n  "));
}

TEST_F(CliTest, JsonAndRedactedReports) {
  WriteFile();
  const CommandResult json = Cairn({"report", "--json", "whole.cairn"});
  EXPECT_EQ(Json::Parse(json.output).at("executions").at(0).at("name"), "Main");
  for (const char* form : {"--json", "--all"}) {
    const CommandResult redacted = Cairn({"report", form, "--redact", "whole.cairn"});
    EXPECT_EQ(redacted.exit_code, 0);
    EXPECT_THAT(redacted.output, HasSubstr("name-"));
    for (const char* name : {"Main", "Blur", "MainVS", "misbehave", "Graphics"}) {
      EXPECT_THAT(redacted.output, Not(HasSubstr(name))) << form;
    }
  }
}

TEST_F(CliTest, ExtractFollowsNoLinksAndKeepsOthersOut) {
  const std::string dump = CAIRN_SOURCE_DIR "/tests/golden/snapshot-vulkan-v1.cairn";
  const std::vector<std::string> extract = {"report", "--extract", "parts", dump};
  EXPECT_EQ(Cairn(extract).exit_code, 0);
  const std::filesystem::path shader = folder_ / "parts/00000000000000c1.spv";
  // A link that somebody put there leads nowhere.
  std::ofstream(folder_ / "theirs") << "precious";
  std::filesystem::remove(shader);
  std::filesystem::create_symlink(folder_ / "theirs", shader);
  EXPECT_EQ(Cairn(extract).exit_code, 1);
  EXPECT_EQ(Cairn({"report", "--force", "--extract", "parts", dump}).exit_code, 0);
  EXPECT_EQ(ReadFile(folder_ / "theirs"), "precious");
  EXPECT_FALSE(std::filesystem::is_symlink(shader));
  EXPECT_EQ(ReadFile(shader), "SPIR-V of cull");
  EXPECT_EQ(std::filesystem::status(shader).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST_F(CliTest, AReaderThatGoesAwayIsNoError) {
  WriteFile();
  const std::string cairn = Program("cairn");
  for (const std::string trap : {"", "trap '' PIPE; "}) {
    const CommandResult result = RunCommand(
        {"bash", "-c", trap + cairn + " report whole.cairn | true"}, {.folder = folder_.path()});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.errors, "");
  }
  const CommandResult full = RunCommand({"bash", "-c", cairn + " report whole.cairn > /dev/full"},
                                        {.folder = folder_.path()});
  EXPECT_EQ(full.exit_code, 1);
  EXPECT_EQ(full.errors, "cairn report: the output cannot be written: No space left on device\n");
  // The text must not go into the file that gets the number of the closed stream.
  const CommandResult closed =
      RunCommand({"bash", "-c", cairn + " report whole.cairn >&-"}, {.folder = folder_.path()});
  EXPECT_EQ(closed.exit_code, 1);
  EXPECT_EQ(closed.errors, "cairn report: the output cannot be written: Bad file descriptor\n");
}

// Returns the output of `cairn VERB WORD` on a terminal of 60 columns.
std::string OnTerminal(const std::string& verb, const std::string& word,
                       const std::vector<std::string>& environment) {
  const int master = posix_openpt(O_RDWR | O_NOCTTY);
  EXPECT_EQ(grantpt(master), 0);
  EXPECT_EQ(unlockpt(master), 0);
  const winsize size{24, 60, 0, 0};
  const int slave = open(ptsname(master), O_RDWR | O_NOCTTY);
  ioctl(slave, TIOCSWINSZ, &size);
  const pid_t child = fork();
  if (child == 0) {
    dup2(slave, STDOUT_FILENO);
    unsetenv("NO_COLOR");
    setenv("TERM", "xterm", 1);
    setenv("CAIRN_PAGER", "", 1);
    for (const std::string& setting : environment) putenv(const_cast<char*>(setting.c_str()));
    execl(Program("cairn").c_str(), "cairn", verb.c_str(), word.c_str(), nullptr);
    _exit(1);
  }
  close(slave);
  std::string text;
  char buffer[4096];
  for (ssize_t got = 0; (got = read(master, buffer, sizeof(buffer))) > 0;) {
    text.append(buffer, static_cast<size_t>(got));
  }
  waitpid(child, nullptr, 0);
  close(master);
  return text;
}

TEST_F(CliTest, HelpIsAsWideAsTheTerminal) {
  size_t tried = 0;
  for (const std::string& verb : CommandsIn(Cairn({"help"}).output)) {
    std::string help = OnTerminal(verb, "--help", {});
    help.erase(std::remove(help.begin(), help.end(), '\r'), help.end());
    EXPECT_LE(LongestLine(help), 60u) << help;
    EXPECT_THAT(help, HasSubstr("\nExamples:\n  cairn " + verb));
    ++tried;
  }
  EXPECT_GE(tried, 20u);
}

TEST_F(CliTest, TextFitsANarrowTerminal) {
  const std::string dump = CAIRN_SOURCE_DIR "/tests/golden/snapshot-vulkan-v1.cairn";
  const std::string link = folder_ / "a.cairn";
  std::filesystem::create_symlink(dump, link);
  for (const char* const verb : {"info", "triage"}) {
    std::string text = OnTerminal(verb, link, {});
    text.erase(std::remove(text.begin(), text.end(), '\r'), text.end());
    EXPECT_LE(LongestLine(text), 60u) << text;
    EXPECT_GT(Lines(text).size(), 4u) << text;
  }
}

// In a pipe or a file: sentences at COLUMNS, or 100; rows of the tree, and JSON, in one line each.
TEST_F(CliTest, SentencesAreWrappedWithoutATerminalToo) {
  const std::string dump = "late.cairn";
  std::filesystem::copy_file(CAIRN_SOURCE_DIR "/tests/golden/late-fault-h100-v1.cairn",
                             folder_ / dump);
  const auto report = [&](const std::vector<std::string>& options,
                          const std::vector<std::string>& environment) {
    std::vector<std::string> words = {"report", dump};
    words.insert(words.end(), options.begin(), options.end());
    const CommandResult result = Cairn(words, environment);
    EXPECT_EQ(result.exit_code, 0) << result.Summary();
    return result.output;
  };
  // Returns the answer and what follows as far as the waits, which is made of sentences in ASCII.
  const auto sentences = [](const std::string& text) {
    return text.substr(0, text.find("\nWaits"));
  };
  const std::string whole = report({}, {"COLUMNS=0"});
  EXPECT_GT(LongestLine(sentences(whole)), 150u);
  const std::string piped = report({}, {"COLUMNS"});
  EXPECT_LE(LongestLine(sentences(piped)), 100u);
  EXPECT_GT(LongestLine(sentences(piped)), 90u);
  EXPECT_EQ(piped, report({}, {"COLUMNS=100"}));
  EXPECT_NE(report({}, {"COLUMNS=60"}), piped);
  EXPECT_EQ(report({"--width", "0"}, {"COLUMNS"}), whole);
  const auto tree = [](const std::string& text) {
    const size_t begin = text.find("<Frame ");
    return text.substr(begin, text.find("\n\n", begin) - begin);
  };
  EXPECT_EQ(tree(piped), tree(whole));
  EXPECT_THAT(tree(report({"--width", "60"}, {"COLUMNS"})), HasSubstr("…\n"));
  EXPECT_EQ(report({"--json"}, {"COLUMNS=60"}), report({"--json"}, {"COLUMNS"}));
  EXPECT_LE(LongestLine(Cairn({"help", "run"}, {"COLUMNS=60"}).output), 60u);
}

TEST_F(CliTest, ColoursOnlyOnTerminalsThatWantThem) {
  WriteFile();
  const std::string file = folder_ / "whole.cairn";
  EXPECT_THAT(OnTerminal("report", file, {}), HasSubstr("\x1b["));
  EXPECT_THAT(OnTerminal("report", file, {"NO_COLOR=1"}), Not(HasSubstr("\x1b[")));
  EXPECT_THAT(OnTerminal("report", file, {"TERM=dumb"}), Not(HasSubstr("\x1b[")));
  EXPECT_THAT(Cairn({"report", "whole.cairn"}, {"TERM=xterm"}).output, Not(HasSubstr("\x1b[")));
  EXPECT_THAT(Cairn({"report", "whole.cairn", "--color", "always"}).output, HasSubstr("\x1b["));
  EXPECT_THAT(Cairn({"report", "whole.cairn", "--color=never"}).output, Not(HasSubstr("\x1b[")));
}

TEST_F(CliTest, LocalesWithoutUtf8ShowAscii) {
  const auto is_ascii = [](const std::string& text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c > 0 && c < 127; });
  };
  // Commands are not wrapped: the file has a short name.
  const std::string dump = "v.cairn";
  std::filesystem::copy_file(CAIRN_SOURCE_DIR "/tests/golden/snapshot-vulkan-v1.cairn",
                             folder_ / dump);
  const std::vector<std::string> words = {"report", "--all", "--width", "60", dump};
  const std::string utf8 = Cairn(words).output;
  EXPECT_THAT(utf8, HasSubstr("└─"));
  EXPECT_THAT(utf8, HasSubstr("…\n"));
  const std::string ascii = Cairn(words, {"LC_ALL=C"}).output;
  EXPECT_TRUE(is_ascii(ascii)) << ascii;
  EXPECT_THAT(ascii, HasSubstr("`-"));
  EXPECT_THAT(ascii, HasSubstr("...\n"));
  EXPECT_EQ(LongestLine(ascii), 60u) << ascii;
  EXPECT_EQ(Lines(ascii).size(), Lines(utf8).size());
  // JSON is UTF-8 everywhere.
  EXPECT_EQ(Cairn({"report", "--json", dump}, {"LC_ALL=C"}).output,
            Cairn({"report", "--json", dump}).output);
}

TEST_F(CliTest, NoVulkanDevice) {
  const CommandResult result =
      Cairn({"selftest", "--api", "vulkan"},
            {"VK_ICD_FILENAMES=/nonexistent", "VK_DRIVER_FILES=/nonexistent"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.output, "");
  EXPECT_EQ(result.errors,
            "cairn selftest: vulkan: no Vulkan device: the loader found none; install the package "
            "mesa-vulkan-drivers (a device on the CPU) or the driver of your GPU\n");
}

TEST_F(CliTest, LibrariesThatAreMissing) {
  // An empty file in place of each library is as good as none.
  std::filesystem::create_directory(folder_ / "lib");
  std::ofstream(folder_ / "lib/libvulkan.so.1") << "";
  std::ofstream(folder_ / "lib/libvkd3d-utils.so.1") << "";
  const std::vector<std::string> environment = {"LD_LIBRARY_PATH=" + (folder_ / "lib")};
  const CommandResult vulkan = Cairn({"selftest", "--api", "vulkan"}, environment);
  EXPECT_EQ(vulkan.exit_code, 1);
  EXPECT_EQ(vulkan.output, "");
  EXPECT_THAT(vulkan.errors, StartsWith("cairn selftest: vulkan: no Vulkan loader ("));
  EXPECT_THAT(vulkan.errors, ::testing::EndsWith("install one (Debian: the package libvulkan1)\n"));
  ExpectRefused({"selftest", "--api", "d3d12"}, 1,
                "cairn selftest: d3d12: Direct3D 12 is not available: " + (folder_ / "lib") +
                    "/libvkd3d-utils.so.1: file too short; install libvkd3d1 libvkd3d-utils1",
                environment);
  const CommandResult json = Cairn({"selftest", "--json"}, environment);
  EXPECT_EQ(json.exit_code, 1);
  const Json document = Json::Parse(json.output);
  EXPECT_THAT(document.at("devices"), IsEmpty());
  EXPECT_EQ(document.at("errors").size(), 2u);
  EXPECT_EQ(SchemaViolation(Json::ParseFile(CAIRN_SOURCE_DIR "/docs/formats/selftest.schema.json"),
                            document),
            "");
}

TEST_F(CliTest, CompletionOffersVerbsAndOptions) {
  const std::string script =
      "source " CAIRN_BINARY_DIR
      "/share/bash-completion/completions/cairn; "
      "try() { COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _cairn; echo \"${COMPREPLY[*]}\"; }; "
      "try cairn re; try cairn report --j; try cairn run --k; try cairn selftest --api v; "
      "try cairn report --color a; try cairn pix d; try cairn pix decode --j; try cairn top --o; "
      "try cairn help tri; try cairn run --breadcrumbs full -- ls --al; try cairn run -o x --qu; "
      "try cairn run --events re; try cairn bisect --no; try cairn triage --s; "
      "try cairn wh; try cairn why --t; try cairn why -- ls --al";
  const CommandResult result = RunCommand({"bash", "-c", script}, {.folder = folder_.path()});
  EXPECT_EQ(result.errors, "");
  EXPECT_EQ(result.output,
            "report replay repack\n--json\n--kill-on-hang\nvulkan\nauto "
            "always\ndecode\n--json\n--once\ntrim "
            "triage\n\n--quiet\nretail\n--no-output --no-why\n--serve\nwhy\n--trips\n\n");
}

// Each shell reads its own, and knows all verbs; where a shell is missing, its script is read by nobody.
TEST_F(CliTest, OtherShellsReadTheirCompletions) {
  const std::string share = CAIRN_BINARY_DIR "/share/";
  if (std::system("command -v zsh >/dev/null") == 0) {
    const CommandResult zsh =
        RunCommand({"zsh", "-fc",
                    "_arguments() { print -rl -- \"$@\"; }; _describe() { print -rl -- $verbs; }; "
                    "CURRENT=2; words=(cairn ''); source " +
                        share +
                        "zsh/site-functions/_cairn; "
                        "CURRENT=3; words=(cairn report ''); _cairn"},
                   {.folder = folder_.path()});
    EXPECT_EQ(zsh.errors, "");
    EXPECT_THAT(zsh.output, HasSubstr("\ntriage:Groups many"));
    EXPECT_THAT(zsh.output, HasSubstr("\n--json[Print JSON]\n"));
    EXPECT_THAT(zsh.output, HasSubstr(":WHEN:(auto always never)\n"));
  }
  if (std::system("command -v fish >/dev/null") == 0) {
    const CommandResult fish =
        RunCommand({"fish", "--no-config", "-c",
                    "source " + share +
                        "fish/vendor_completions.d/cairn.fish; complete -C 'cairn tri'; "
                        "complete -C 'cairn report --js'; complete -C 'cairn report --color '"},
                   {.folder = folder_.path(), .environment = {"HOME=" + folder_.path().string()}});
    EXPECT_EQ(fish.errors, "");
    EXPECT_THAT(fish.output, HasSubstr("triage\tGroups many"));
    EXPECT_THAT(fish.output, HasSubstr("--json\tPrint JSON"));
    EXPECT_THAT(fish.output, HasSubstr("always"));
  }
}

TEST_F(CliTest, HelpOfAVerbIsThatOfItsOption) {
  EXPECT_EQ(Cairn({"help"}).output, Cairn({"--help"}).output);
  EXPECT_EQ(Cairn({"help", "bisect"}).output, Cairn({"bisect", "--help"}).output);
  ExpectRefused({"help", "reprot"}, 2,
                "cairn help: unknown command 'reprot'; did you mean 'report'?");
  ExpectRefused({"help", "--files", "x", "run"}, 2,
                "cairn help: --files writes all of them; leave the command out");
}

// One source: what --help says of an option stands in the manual page, too.
TEST_F(CliTest, ManualPagesSayWhatTheHelpSays) {
  ASSERT_EQ(Cairn({"help", "--files", "share"}).exit_code, 0);
  const std::vector<std::string> arguments = {"man", "--warnings", "-E", "UTF-8", "-l"};
  for (const std::string verb : {"run", "report", "bisect", "triage", "pix"}) {
    const std::string page = ReadFile(folder_ / ("share/man/man1/cairn-" + verb + ".1"));
    EXPECT_THAT(page, HasSubstr("\n.SH OPTIONS\n")) << verb;
    EXPECT_THAT(page, HasSubstr("\n.SH EXAMPLES\n.nf\n  cairn " + verb)) << verb;
    std::vector<std::string> show = arguments;
    show.push_back(folder_ / ("share/man/man1/cairn-" + verb + ".1"));
    if (std::system("command -v man >/dev/null && command -v groff >/dev/null") != 0) continue;
    const CommandResult shown =
        RunCommand(show, {.folder = folder_.path(), .environment = {"MANWIDTH=200"}});
    EXPECT_EQ(shown.errors, "") << verb;
    EXPECT_THAT(shown.output, HasSubstr("cairn " + verb)) << verb;
  }
  EXPECT_THAT(ReadFile(folder_ / "share/man/man1/cairn.1"),
              HasSubstr("\n.TP\n\\fBcairn\\-triage\\fR(1)\nGroups many"));
}

TEST_F(CliTest, APagerShowsWhatIsLongOnATerminalOnly) {
  const std::string dump = CAIRN_SOURCE_DIR "/tests/golden/snapshot-v1.cairn";
  const Command::Options options = {.folder = folder_.path(),
                                    .environment = {"CAIRN_PAGER=sed s/^/paged:/", "TERM=xterm"}};
  const std::string words = Program("cairn") + " info " + dump;
  const CommandResult paged = RunCommand({"script", "-qec", words, "/dev/null"}, options);
  EXPECT_EQ(paged.exit_code, 0);
  EXPECT_THAT(paged.output, StartsWith("paged:Incident "));
  EXPECT_THAT(RunCommand({Program("cairn"), "info", dump}, options).output, HasSubstr("File "));
}

// docs/reference/exit-codes.md and the help have one table.
TEST_F(CliTest, ExitCodesAreThoseOfThePage) {
  const std::string page = ReadFile(CAIRN_SOURCE_DIR "/docs/reference/exit-codes.md");
  std::istringstream help(Cairn({"--help"}).output);
  int found = 0;
  for (std::string line; std::getline(help, line);) {
    int code = 0;
    int length = 0;
    if (std::sscanf(line.c_str(), "  %d %n", &code, &length) != 1) continue;
    if (line[static_cast<size_t>(length)] == '+') continue;  // 128 + N
    ++found;
    EXPECT_THAT(page, HasSubstr("| " + std::to_string(code) + " | " + line.substr(length)));
  }
  EXPECT_EQ(found, 9);
  EXPECT_THAT(help.str(), HasSubstr("\n  128 + N  signal N ended the program\n"));
  EXPECT_THAT(page, HasSubstr("\n| 128 + N | signal N ended the program |\n"));
}

// Each visible command has its page in the index, and its schema in the list of those with --json.
TEST_F(CliTest, EachCommandIsInTheDocumentation) {
  const std::string index = ReadFile(CAIRN_SOURCE_DIR "/docs/README.md");
  const std::string command_line = ReadFile(CAIRN_SOURCE_DIR "/docs/reference/command-line.md");
  const std::set<std::string> without_page = {"help", "info", "pix", "selftest"};
  for (const std::string& verb : CommandsIn(Cairn({"help"}).output)) {
    const bool in_index = index.find("[" + verb + "](") != std::string::npos;
    EXPECT_EQ(without_page.count(verb) == 0, in_index) << verb;
    const bool has_json = Cairn({verb, "--help"}).output.find("\n  --json") != std::string::npos;
    const bool has_schema = command_line.find("\n| " + verb + " | ") != std::string::npos;
    EXPECT_EQ(has_json, has_schema) << verb;
  }
}

// What people come for first; a trace and its commands are explained where they stand.
TEST_F(CliTest, CommandsStandByWhatTheyAreFor) {
  const std::string help = Cairn({"--help"}).output;
  size_t before = 0;
  for (const char* const part :
       {"\nFind a crash or a hang:\n  run ", "\n  report ", "\n  bisect ", "\n  why ",
        "\nLook into a trace: the calls of a Direct3D 12 program, recorded by cairn run "
        "--capture:\n",
        "\n  replay ", "\nCompare:\n  diff ", "\nFor scripts, agents and other programs:\n",
        "\n  mcp ", "\nAbout this machine, PIX and these commands:\n  selftest ",
        "\nExamples:\n"}) {
    const size_t at = help.find(part);
    ASSERT_NE(at, std::string::npos) << part << help;
    EXPECT_GT(at, before) << part;
    before = at;
  }
  EXPECT_EQ(help.find("Verbs"), std::string::npos);
}

}  // namespace
}  // namespace cairn::testing
