// SPDX-License-Identifier: Apache-2.0
//
// The verbs of `cairn` that need nothing but files, on every system that has them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/testing/json.h"
#include "base/testing/json_schema_check.h"
#include "harness.h"

namespace cairn::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const std::string kGolden = CAIRN_SOURCE_DIR "/tests/golden/";

// Returns the path in this system's spelling.
std::string Path(const std::string& path) {
  const std::u8string text =
      std::filesystem::path(std::u8string(path.begin(), path.end())).make_preferred().u8string();
  return std::string(text.begin(), text.end());
}

class FileVerbsTest : public ::testing::Test {
 protected:
  // `cairn ARGUMENTS` in the test's folder.
  CommandResult Cairn(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), Program("cairn"));
    return RunCommand(arguments, {.folder = folder_.path()});
  }
  // The command must fail with this one line and leave nothing on stdout or in the folder.
  void ExpectRefused(const std::vector<std::string>& arguments, int exit_code,
                     const std::string& line) {
    const std::vector<std::string> before = folder_.Contents();
    const CommandResult result = Cairn(arguments);
    EXPECT_EQ(result.errors, line + "\n");
    EXPECT_EQ(result.exit_code, exit_code);
    EXPECT_EQ(result.output, "");
    EXPECT_EQ(folder_.Contents(), before);
  }
  // Names beyond ASCII and long ones, which std::filesystem does not take from text on every system.
  std::filesystem::path In(const std::string& name) {
    return folder_.path() / std::filesystem::path(std::u8string(name.begin(), name.end()));
  }
  void Copy(const std::string& golden, const std::string& name) {
    std::filesystem::copy_file(kGolden + golden, In(name));
  }

  TemporaryFolder folder_;
};

TEST_F(FileVerbsTest, Version) {
  const CommandResult result = Cairn({"--version"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.output, "cairn " CAIRN_VERSION "\n");
}

TEST_F(FileVerbsTest, FilesThatAreNoCairnFiles) {
  std::ofstream(folder_ / "text", std::ios::binary) << "hello, world\n";
  std::ofstream(folder_ / "empty") << "";
  for (const std::string verb : {"report", "info"}) {
    const std::string start = "cairn " + verb + ": ";
    ExpectRefused({verb}, 2, start + "no file is given; say cairn " + verb + " FILE.cairn");
    ExpectRefused({verb, "none"}, 1,
                  start +
                      "cannot open none: No such file or directory; cairn run -- PROGRAM writes "
                      "one when PROGRAM crashes");
    ExpectRefused({verb, "text"}, 1,
                  start +
                      "text: not a .cairn file: it starts with 68 65 6c 6c 6f 2c 20 77, and a "
                      ".cairn file with 89 43 41 49 52 4e 0d 0a; give a file that cairn run "
                      "has written");
    ExpectRefused({verb, "empty"}, 1,
                  start +
                      "empty: the file is empty: its writer was stopped before it wrote "
                      "anything, or a copy of it failed; give a file that cairn run has "
                      "written");
    ExpectRefused({verb, "."}, 1,
                  start +
                      "cannot open .: it is a directory, not a .cairn file; give a file "
                      "that cairn run has written");
  }
}

TEST_F(FileVerbsTest, ExtractWritesShadersAndBinariesOnce) {
  const std::string dump = CAIRN_SOURCE_DIR "/tests/golden/snapshot-vulkan-v1.cairn";
  const std::vector<std::string> extract = {"report", "--extract", "parts/of it", dump};
  const CommandResult written = Cairn(extract);
  EXPECT_EQ(written.exit_code, 0) << written.errors;
  EXPECT_EQ(written.output, Path("parts/of it/00000000000000c1.spv") + " (14 bytes)\n" +
                                Path("parts/of it/00000000000000a1.spv") + " (17 bytes)\n" +
                                Path("parts/of it/vendor-binary-0.bin") + " (15 bytes)\n");
  const std::filesystem::path shader = folder_ / "parts/of it/00000000000000c1.spv";
  EXPECT_EQ(ReadFile(shader), "SPIR-V of cull");
  std::ofstream(shader) << "mine";
  const CommandResult again = Cairn(extract);
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_THAT(again.errors, HasSubstr("cairn report: --extract: cannot write '" +
                                      Path("parts/of it/00000000000000c1.spv") +
                                      "': it is there already; --force replaces it\n"));
  EXPECT_EQ(ReadFile(shader), "mine");
  EXPECT_EQ(Cairn({"report", "--force", "--extract", "parts/of it", dump}).exit_code, 0);
  EXPECT_EQ(ReadFile(shader), "SPIR-V of cull");
  const std::string without = CAIRN_SOURCE_DIR "/tests/golden/snapshot-v1.cairn";
  ExpectRefused({"report", "--extract", "none", without}, 1,
                "cairn report: --extract: '" + without +
                    "' holds neither shader code nor user data nor a binary of a driver");
  ExpectRefused({"report", "--redact", "--extract", "none", dump}, 2,
                "cairn report: --redact excludes --extract; see cairn report --help");
}

// A real one (driver 580.159; bench/truth's vertices-destroyed@foliage, before the layer noted vertex buffers): the
// GPU went on behind the fetch that faulted.
TEST_F(FileVerbsTest, AFaultThatAnH100ToldLate) {
  const CommandResult report =
      Cairn({"report", CAIRN_SOURCE_DIR "/tests/golden/late-fault-h100-v1.cairn"});
  EXPECT_EQ(report.exit_code, 0) << report.errors;
  const std::string answer = report.output.substr(0, report.output.find("\n\n"));
  EXPECT_THAT(answer, StartsWith("GPU fault (from the kernel log)  "));
  EXPECT_THAT(answer,
              HasSubstr(" culprit unknown\n  because   every command with a marker that began also "
                        "ended. "));
  EXPECT_THAT(answer, HasSubstr("\n  completed queue 0 \"Graphics\" (graphics): the last to "
                                "complete was DRAW_INDIRECT #1 of "
                                "Frame 2 > Transparent > Particles "
                                "in command buffer 16 \"Main\"\n"
                                "            queue 1 \"Compute\" (compute): the last to complete "
                                "was DISPATCH_INDIRECT #1 of "
                                "Frame 2 > Skinning > Vertices "
                                "in command buffer 15 \"Async\"\n"));
  EXPECT_THAT(
      answer,
      HasSubstr("\n  fault     page at 0xdef5fa0000: in buffer \"Victim\" + 0x0 of 64 MiB, "
                "destroyed by thread \"truth_program\" (546) in frame 0, after submission 1 "
                "of queue 0, 136 ms before the fault was noticed\n"));
  EXPECT_THAT(
      answer,
      HasSubstr("\n            its memory: device memory 30 + 0x0 of 64 MiB, freed by thread "));
  EXPECT_THAT(
      answer,
      HasSubstr(
          "\n            at the same address, too: device memory 29 + 0x0 of 64 MiB, alive\n"));
  EXPECT_THAT(answer, HasSubstr("\n  next      cairn run --breadcrumbs exact -- "));
  EXPECT_THAT(
      report.output,
      HasSubstr(
          "in buffer \"Victim\" + 0x0 of 64 MiB, destroyed by thread \"truth_program\" (546)"));
  EXPECT_THAT(report.output, HasSubstr("It had completed, and nothing behind it had begun."));
}

TEST_F(FileVerbsTest, NamesOfFilesAreShownSoThatTheyCannotAct) {
  const std::string dump = CAIRN_SOURCE_DIR "/tests/golden/snapshot-vulkan-v1.cairn";
  const std::string folder = "parts\u202e\u009b";
  const CommandResult written = Cairn({"report", "--extract", folder, dump});
  EXPECT_EQ(written.exit_code, 0) << written.errors;
  EXPECT_THAT(written.output, StartsWith(Path("parts\\u{202e}\\u{9b}/")));
  const CommandResult info = Cairn({"info", "--json", folder + "/00000000000000c1.spv"});
  EXPECT_EQ(info.output, "");
  EXPECT_THAT(info.errors, HasSubstr("parts\\u{202e}\\u{9b}/"));
}

TEST_F(FileVerbsTest, PixDecodesHexAndFiles) {
  const std::string v2 = "8330030000000000 cccccccccccccccc 48656c6c6f000000";
  const std::string described =
      "Hello\n"
      "  format    PIX blob, version 2\n"
      "  kind      begin\n"
      "  colour    palette 3\n"
      "  context   0xcccccccccccccccc\n";
  EXPECT_EQ(Cairn({"pix", "decode", v2}).output, described);
  EXPECT_EQ(
      Cairn({"pix", "decode", "--qwords", "33083", "0xcccccccccccccccc", "6f6c6c6548"}).output,
      described);
  std::ofstream(folder_ / "hex", std::ios::binary) << v2 << "\n";
  EXPECT_EQ(Cairn({"pix", "decode", "hex"}).output, described);
  const std::string bytes(
      "\x00\x08\0\0\0\0\0\0\x33\x22\x11\xff\0\0\0\0\0\0\0\0\0\0\x40\x04Hello\0\0\0", 32);
  std::ofstream(folder_ / "bytes", std::ios::binary) << bytes;
  EXPECT_EQ(Cairn({"pix", "decode", "bytes"}).output,
            "Hello\n  format    PIX blob, version 1\n  kind      begin\n  colour    #112233\n");
  const CommandResult input =
      RunCommand({Program("cairn"), "pix", "decode", "-"},
                 {.folder = folder_.path(), .environment = {}, .input = bytes});
  EXPECT_THAT(input.output, StartsWith("Hello\n"));
  EXPECT_EQ(Cairn({"pix", "decode", "--metadata", "1", "53 68 1b"}).output,
            "Sh\\x1b\n  format    ANSI string\n");
  // U+009B starts an escape sequence by itself, U+202E turns the line around.
  const CommandResult hostile =
      Cairn({"pix", "decode", "--json", "--metadata", "0", "9b00 2e20 4100 0000"});
  EXPECT_EQ(Json::Parse(hostile.output).at("text"), "\u009b\u202eA");
  EXPECT_THAT(hostile.output, HasSubstr("\\u009b\\u202eA"));
}

// Covers each encoding, and each kind of argument.
TEST_F(FileVerbsTest, PixJsonFollowsItsSchema) {
  const Json schema = Json::ParseFile(CAIRN_SOURCE_DIR "/docs/formats/pix.schema.json");
  const auto json_of = [&](std::vector<std::string> words, int exit_code) {
    words.insert(words.begin(), {"pix", "decode", "--json"});
    const CommandResult result = Cairn(words);
    EXPECT_EQ(result.exit_code, exit_code) << result.Summary();
    const Json json = Json::Parse(result.output);
    EXPECT_EQ(SchemaViolation(schema, json), "") << result.output;
    return json;
  };
  const Json begin = json_of({"--qwords", "33083", "cccccccccccccccc", "6f6c6c6548"}, 0);
  EXPECT_EQ(begin.at("encoding"), "PIX blob, version 2");
  EXPECT_EQ(begin.at("palette"), 3);
  EXPECT_EQ(begin.at("context"), "0xcccccccccccccccc");
  EXPECT_FALSE(begin.contains("colour"));
  EXPECT_EQ(json_of({"--metadata", "0", "41000000"}, 0).at("encoding"), "UTF-16 string");
  EXPECT_EQ(json_of({"--metadata", "1", "41"}, 0).at("encoding"), "ANSI string");
  EXPECT_EQ(json_of({"--metadata", "9", "00"}, 1).at("encoding"), "unknown");
  // Version 1 with its time, a colour, and "%d %u %f" for four arguments.
  const auto event_with = [](const std::string& real) {
    return std::vector<std::string>{"--qwords",
                                    "100400",
                                    "ff112233",
                                    "0440000000000000",
                                    "6625207525206425",
                                    "0",
                                    "ffffffffffffffff",
                                    "2",
                                    real,
                                    "5"};
  };
  const Json event = json_of(event_with("3fe0000000000000"), 0);
  EXPECT_EQ(event.at("encoding"), "PIX blob, version 1");
  EXPECT_EQ(event.at("text"), "-1 2 0.500000");
  EXPECT_EQ(event.at("colour"), "#ff112233");
  EXPECT_EQ(event.at("timestamp"), 1);
  ASSERT_EQ(event.at("arguments").size(), 4u);
  EXPECT_EQ(event.at("arguments")[0].at("value"), -1);
  EXPECT_EQ(event.at("arguments")[2].at("value"), 0.5);
  EXPECT_FALSE(event.at("arguments")[3].contains("value"));
  const Json nan = json_of(event_with("7ff8000000000000"), 0);
  EXPECT_EQ(nan.at("arguments")[2].at("value"), Json::Parse("null"));
}

TEST_F(FileVerbsTest, PixSaysWhatIsMissing) {
  const CommandResult cut = Cairn({"pix", "decode", "--qwords", "33083", "cccccccccccccccc"});
  EXPECT_EQ(cut.exit_code, 1);
  EXPECT_EQ(cut.errors, "cairn pix: warning: the name is cut\n");
  const CommandResult json = Cairn({"pix", "decode", "--json", "--metadata", "9", "00"});
  EXPECT_EQ(json.exit_code, 1);
  const Json document = Json::Parse(json.output);
  EXPECT_EQ(document.at("text"), "metadata 9, 1 byte: 00");
  EXPECT_EQ(document.at("complete"), false);
  EXPECT_EQ(document.at("problem"), "9 is no metadata of PIX");
  ExpectRefused({"pix"}, 2,
                "cairn pix: say what to do: cairn pix decode HEX; see cairn pix --help");
  ExpectRefused({"pix", "encode"}, 2,
                "cairn pix: unknown action 'encode'; there is: decode; see cairn pix --help");
  ExpectRefused({"pix", "decode"}, 2,
                "cairn pix: no bytes are given; say HEX, a file, or - for standard input");
  ExpectRefused({"pix", "decode", "abc"}, 2, "cairn pix: 'abc' has 3 digits; bytes have two each");
  ExpectRefused({"pix", "decode", "nowhere"}, 1,
                "cairn pix: 'nowhere' is not HEX, and no file that can be opened: No such file or "
                "directory");
  ExpectRefused({"pix", "decode", "--metadata", "two", "00"}, 2,
                "cairn pix: --metadata: 'two' is not a number from 0 to 4294967295; 0 is UTF-16, 1 "
                "ANSI, 2 and 6345127 are blobs");
}

TEST_F(FileVerbsTest, TriageGroupsWhatAFolderHolds) {
  std::filesystem::create_directories(In("crashes/below"));
  Copy("snapshot-v1.cairn", "crashes/one.cairn");
  Copy("snapshot-v1.cairn", "crashes/below/\xc3\xa4 two.cairn");
  Copy("snapshot-vulkan-v1.cairn", "crashes/three.cairn");
  Copy("snapshot-v1.cairn", "crashes/other ending");
  std::ofstream(In("crashes/text.cairn")) << "hello";
  const CommandResult result = Cairn({"triage", "crashes"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.output,
              StartsWith("3 dumps, 2 signatures; 1 file is without a report\n\n    2 device lost"));
  EXPECT_THAT(result.errors, StartsWith("cairn triage: warning: " + Path("crashes/text.cairn") +
                                        ": not a .cairn file"));
  const Json groups = Json::Parse(Cairn({"triage", "--json", "crashes"}).output).at("groups");
  ASSERT_EQ(groups.size(), 2u);
  const Json report = Json::Parse(Cairn({"report", "--json", Path("crashes/one.cairn")}).output);
  EXPECT_EQ(groups[0]["signature"], report["signature"]);
  EXPECT_EQ(groups[0]["example"]["sentence"], report["verdict"]["sentence"]);
  // In the order of their names; a file that is named twice counts once.
  const CommandResult lines = Cairn({"triage", "--jsonl", "crashes", Path("crashes/one.cairn")});
  std::vector<std::string> files;
  std::istringstream input(lines.output);
  for (std::string line; std::getline(input, line);) {
    files.push_back(Json::Parse(line)["file"].get<std::string>());
  }
  EXPECT_THAT(files, ::testing::ElementsAre(Path("crashes/below/\xc3\xa4 two.cairn"),
                                            Path("crashes/one.cairn"), Path("crashes/text.cairn"),
                                            Path("crashes/three.cairn")));
  // A row for each report alone.
  const CommandResult rows = Cairn({"triage", "--tsv", "crashes"});
  EXPECT_THAT(rows.errors, HasSubstr("crashes/text.cairn"));
  EXPECT_EQ(std::ranges::count(rows.output, '\n'), 3);
  EXPECT_EQ(std::ranges::count(rows.output, '\t'), 3 * 15);
  EXPECT_THAT(rows.output, HasSubstr("\t" + Path("crashes/one.cairn") + "\t"));
  ExpectRefused({"triage", "--tsv", "--json", "crashes"}, 2,
                "cairn triage: --json excludes --tsv; see cairn triage --help");
}

TEST_F(FileVerbsTest, TriageOfNothing) {
  std::ofstream(folder_ / "text.cairn") << "hello";
  ExpectRefused({"triage"}, 2,
                "cairn triage: no file is given; say cairn triage FOLDER, or name the files");
  std::filesystem::create_directories(In("empty"));
  ExpectRefused({"triage", "empty"}, 1,
                "cairn triage: no file there ends with .cairn; cairn run writes such files");
  const CommandResult result = Cairn({"triage", "text.cairn", "none.cairn"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.output, "0 dumps, 0 signatures; 2 files are without a report\n");
  EXPECT_THAT(result.errors, HasSubstr("cannot open none.cairn"));
}

TEST_F(FileVerbsTest, EveryHelpHasExamples) {
  for (const char* const verb :
       {"report", "info", "calls", "objects", "state", "diff", "verify", "repack", "pix"}) {
    const CommandResult result = Cairn({verb, "--help"});
    EXPECT_EQ(result.exit_code, 0) << verb;
    EXPECT_EQ(result.errors, "") << verb;
    EXPECT_THAT(result.output, HasSubstr("\nExamples:\n  cairn " + std::string(verb))) << verb;
    EXPECT_THAT(result.output, HasSubstr("Usage: cairn " + std::string(verb))) << verb;
    EXPECT_THAT(Cairn({"--help"}).output, HasSubstr("\n  " + std::string(verb) + " ")) << verb;
  }
}

TEST_F(FileVerbsTest, MistypedVerbsAndOptions) {
  ExpectRefused({"reprot"}, 2, "cairn: unknown command 'reprot'; did you mean 'report'?");
  ExpectRefused({"--vresion"}, 2, "cairn: unknown option '--vresion'; did you mean --version?");
  ExpectRefused({"report", "--jason", "x"}, 2,
                "cairn report: unknown option '--jason'; did you mean --json?");
  ExpectRefused({"info", "a", "b"}, 2,
                "cairn info: unexpected argument 'b'; see cairn info --help");
  ExpectRefused({"report", "x", "--width", "3"}, 2,
                "cairn report: --width: '3' is not a number from 40 to 10000 (0: no limit)");
}

TEST_F(FileVerbsTest, NamesOfFilesMayBeUnusual) {
  for (const std::string name :
       {"a b.cairn", "Gr\u00fc\u00dfe aus \u6771\u4eac.cairn", "'&%;$^.cairn"}) {
    Copy("trace-v1.cairn", name);
    EXPECT_THAT(Cairn({"info", name}).output, StartsWith("File      " + name + "\n"));
    EXPECT_EQ(Cairn({"verify", name}).exit_code, 0);
    const CommandResult repacked = Cairn({"repack", name});
    EXPECT_EQ(repacked.exit_code, 0) << repacked.Summary();
    EXPECT_THAT(repacked.output, StartsWith(name + ": "));
    EXPECT_EQ(Cairn({"verify", name}).exit_code, 0);
    EXPECT_TRUE(std::filesystem::remove(In(name)));
    EXPECT_EQ(folder_.Contents().size(), 0u);
  }
}

TEST_F(FileVerbsTest, NamesOfThreeHundredCharacters) {
  // Made by the command itself: the standard library does not take such names everywhere.
  const std::string part(120, 'x');
  const std::string folder = part + "/" + part + "/" + part;
  const CommandResult made =
      Cairn({"report", "--extract", folder, kGolden + "snapshot-vulkan-v1.cairn"});
  EXPECT_EQ(made.exit_code, 0) << made.Summary();
  const std::string shader = folder + "/00000000000000c1.spv";
  EXPECT_THAT(Cairn({"info", shader}).errors, HasSubstr("not a .cairn file: it starts with 53 50"));
  const std::string packed = folder + "/packed.cairn";
  const CommandResult repacked = Cairn({"repack", "-o", packed, kGolden + "trace-v1.cairn"});
  EXPECT_EQ(repacked.exit_code, 0) << repacked.Summary();
  const CommandResult again = Cairn({"repack", packed});
  EXPECT_EQ(again.exit_code, 0) << again.Summary();
  EXPECT_EQ(Cairn({"objects", packed}).output,
            Cairn({"objects", kGolden + "trace-v1.cairn"}).output);
  EXPECT_EQ(Cairn({"diff", packed, kGolden + "trace-v1.cairn"}).exit_code, 0);
  EXPECT_EQ(Cairn({"info", folder}).exit_code, 1);
  EXPECT_THAT(Cairn({"info", folder + "/none.cairn"}).errors,
              HasSubstr("none.cairn: No such file or directory; "));
}

TEST_F(FileVerbsTest, OutputIsTheSameBytesEverywhere) {
  const CommandResult report = Cairn({"report", kGolden + "snapshot-v1.cairn"});
  EXPECT_EQ(report.exit_code, 0) << report.Summary();
  EXPECT_EQ(report.output.find('\r'), std::string::npos);
  EXPECT_THAT(report.output, Not(HasSubstr("\x1b[")));
  const CommandResult json = Cairn({"report", "--json", kGolden + "snapshot-v1.cairn"});
  EXPECT_EQ(json.output.find('\r'), std::string::npos);
  EXPECT_EQ(Json::Parse(json.output).at("executions").at(0).at("name"), "Main");
  EXPECT_EQ(Cairn({"report", "none"}).errors.find('\r'), std::string::npos);
}

TEST_F(FileVerbsTest, ColoursOnlyWhereTheyAreWanted) {
  const std::string file = kGolden + "snapshot-v1.cairn";
  EXPECT_THAT(Cairn({"report", file}).output, Not(HasSubstr("\x1b[")));
  EXPECT_THAT(Cairn({"report", file, "--color", "always"}).output, HasSubstr("\x1b["));
  EXPECT_THAT(Cairn({"report", file, "--color=never"}).output, Not(HasSubstr("\x1b[")));
}

TEST_F(FileVerbsTest, ATruncatedFileGivesWhatIsLeft) {
  const std::string whole = ReadFile(kGolden + "snapshot-vulkan-v1.cairn");
  size_t readable = 0;
  for (size_t cut = 0; cut < whole.size(); cut += 97) {
    std::ofstream(folder_ / "cut.cairn", std::ios::binary) << whole.substr(0, cut);
    const CommandResult result = Cairn({"report", "cut.cairn"});
    SCOPED_TRACE("cut after " + std::to_string(cut) + " bytes: " + result.Summary());
    EXPECT_EQ(std::count(result.errors.begin(), result.errors.end(), '\n'), 1);
    if (result.exit_code == 0) {
      ++readable;
      EXPECT_THAT(
          result.errors,
          StartsWith(
              "cairn report: warning: cut.cairn is damaged; only the readable part is shown: "));
    } else {
      EXPECT_EQ(result.exit_code, 1);
      EXPECT_EQ(result.output, "");
    }
  }
  EXPECT_GT(readable, 5u);
}

TEST_F(FileVerbsTest, DiffTellsByItsExitCode) {
  Copy("trace-v1.cairn", "a.cairn");
  Copy("trace-v1-small.cairn", "b.cairn");
  const CommandResult same = Cairn({"diff", "a.cairn", "a.cairn"});
  EXPECT_EQ(same.exit_code, 0) << same.Summary();
  EXPECT_THAT(same.output, HasSubstr(": no call differs"));
  const CommandResult json = Cairn({"diff", "--json", "a.cairn", "a.cairn"});
  EXPECT_EQ(json.exit_code, 0) << json.Summary();
  EXPECT_EQ(Json::Parse(json.output).at("format"), "cairn-diff-calls");
  const CommandResult aligned = Cairn({"diff", "--align", "a.cairn", "a.cairn"});
  EXPECT_EQ(aligned.exit_code, 0) << aligned.Summary();
  EXPECT_EQ(aligned.output, same.output);
  EXPECT_EQ(
      Cairn({"diff", "--align", "--images", "a.cairn", "a.cairn"}).errors,
      "cairn diff: --align lines up the calls of traces; images are compared by their frames\n");
  const CommandResult other = Cairn({"diff", "a.cairn", "b.cairn"});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_EQ(
      other.errors,
      "cairn diff: the traces have no frame in common: the first has frames 100 to 101, the second "
      "frames 0 to 0\n");
  EXPECT_EQ(Cairn({"diff", "a.cairn", "none"}).exit_code, 2);
  EXPECT_EQ(Cairn({"diff", "a.cairn", "."}).errors,
            "cairn diff: . is a folder and a.cairn is not; give two traces or two folders\n");
}

}  // namespace
}  // namespace cairn::testing
