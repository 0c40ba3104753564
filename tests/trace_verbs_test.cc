// SPDX-License-Identifier: Apache-2.0
//
// `cairn info`, `verify`, `objects` and `repack` of traces, whole and damaged ones, and of what is none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/testing/json.h"
#include "base/testing/json_schema_check.h"
#include "harness.h"

namespace cairn::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class TraceVerbsTest : public ::testing::Test {
 protected:
  // Copies of the golden traces, under short names.
  TraceVerbsTest() {
    for (const char* name : {"trace-v1", "trace-v1-small", "trace-v1-cut", "container-v1"}) {
      std::filesystem::copy_file(CAIRN_SOURCE_DIR "/tests/golden/" + std::string(name) + ".cairn",
                                 folder_ / (std::string(name) + ".cairn"));
    }
  }
  CommandResult Cairn(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), Program("cairn"));
    return RunCommand(arguments, {.folder = folder_.path()});
  }
  Json JsonOf(const std::vector<std::string>& arguments, const std::string& schema, int exit_code) {
    const CommandResult result = Cairn(arguments);
    EXPECT_EQ(result.exit_code, exit_code) << result.Summary();
    const Json json = Json::Parse(result.output);
    EXPECT_EQ(SchemaViolation(Json::ParseFile(CAIRN_SOURCE_DIR "/docs/formats/" + schema), json),
              "");
    return json;
  }
  // Changes a byte in the middle of the first chunk of a type.
  void Damage(const std::string& name, const std::string& type) {
    std::string bytes = ReadFile(folder_ / name);
    const size_t chunk = bytes.find("CHK1" + type);
    ASSERT_NE(chunk, std::string::npos);
    bytes[chunk + 44 + 20] ^= 1;
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
  }

  TemporaryFolder folder_;
};

TEST_F(TraceVerbsTest, InfoTellsWhatATraceHolds) {
  const CommandResult result = Cairn({"info", "trace-v1-small.cairn"});
  EXPECT_EQ(result.exit_code, 0) << result.Summary();
  EXPECT_EQ(result.errors, "");
  EXPECT_THAT(result.output, HasSubstr("\nTrace     finished\nRecorded  /games/game (PID 4711)\n"));
  EXPECT_THAT(result.output, HasSubstr("Thread    1 \"worker\" is still in call 7\n"));
  EXPECT_THAT(result.output, HasSubstr("\nNothing is lost.\n"));
  const Json json = JsonOf({"info", "--json", "trace-v1.cairn"}, "info.schema.json", 0);
  EXPECT_EQ(json["trace"]["frames"], 2);
  EXPECT_EQ(json["trace"]["first_frame"], 100);
  EXPECT_EQ(json["trace"]["devices"][0]["driver"], "Mesa");
  EXPECT_EQ(json["trace"]["notes"][0]["text"], "page faults");
  EXPECT_EQ(json["trace"]["distinct_blob_bytes"], 5000);
}

TEST_F(TraceVerbsTest, VerifyTellsDeathFromDamage) {
  CommandResult result = Cairn({"verify", "trace-v1-small.cairn"});
  EXPECT_EQ(result.exit_code, 0) << result.Summary();
  EXPECT_EQ(result.output,
            "trace-v1-small.cairn: 7 records in 1 frame, 2 calls (2 checked), 3 objects, 0 blobs\n"
            "note     cut-end                7  ID3D12CommandQueue::Signal never returned\n"
            "0 errors, 0 warnings\n");
  result = Cairn({"verify", "trace-v1-cut.cairn"});
  EXPECT_EQ(result.exit_code, 0) << result.Summary();
  EXPECT_THAT(result.output, HasSubstr("the recording was cut off, and has no end"));
  Damage("trace-v1.cairn", "RECD");
  const Json json = JsonOf({"verify", "--json", "trace-v1.cairn"}, "verify.schema.json", 1);
  EXPECT_FALSE(json["clean"].get<bool>());
  EXPECT_GT(json["counts"]["file"].get<int>(), 0);
}

TEST_F(TraceVerbsTest, ObjectsThatLive) {
  const Json json =
      JsonOf({"objects", "--alive", "--json", "trace-v1.cairn"}, "objects.schema.json", 0);
  std::vector<int> numbers;
  for (const Json& object : json["objects"]) numbers.push_back(object["object"].get<int>());
  EXPECT_THAT(numbers, ElementsAre(1, 2, 3, 4, 5, 10));
  EXPECT_EQ(json["objects"][2]["name"], "Main");
  const CommandResult result = Cairn({"objects", "--kind", "signature", "trace-v1.cairn"});
  EXPECT_THAT(result.output, HasSubstr("  root signature "));
  EXPECT_THAT(result.output, HasSubstr("7 objects made, 6 alive when the recording ended\n"));
  EXPECT_EQ(Cairn({"objects", "--frame", "9", "trace-v1.cairn"}).errors,
            "cairn objects: there is no frame 9: the trace has frames 100 to 101\n");
  EXPECT_EQ(Cairn({"objects", "--at", "x", "trace-v1.cairn"}).exit_code, 2);
}

TEST_F(TraceVerbsTest, RepackKeepsEverythingOrTheOldFile) {
  const CommandResult result = Cairn({"repack", "-o", "small.cairn", "trace-v1.cairn"});
  EXPECT_EQ(result.exit_code, 0) << result.Summary();
  EXPECT_THAT(result.output, StartsWith("small.cairn: "));
  const Json before = JsonOf({"info", "--json", "trace-v1.cairn"}, "info.schema.json", 0);
  const Json after = JsonOf({"info", "--json", "small.cairn"}, "info.schema.json", 0);
  EXPECT_EQ(before["trace"], after["trace"]);
  EXPECT_EQ(Cairn({"objects", "--json", "trace-v1.cairn"}).output,
            Cairn({"objects", "--json", "small.cairn"}).output);
  // Another file is replaced only with --force.
  const std::string small = ReadFile(folder_ / "small.cairn");
  const CommandResult taken = Cairn({"repack", "-o", "small.cairn", "trace-v1.cairn"});
  EXPECT_EQ(taken.exit_code, 1);
  EXPECT_EQ(taken.errors,
            "cairn repack: cannot write 'small.cairn': it is there already; --force replaces it\n");
  EXPECT_EQ(ReadFile(folder_ / "small.cairn"), small);
  EXPECT_EQ(Cairn({"repack", "--force", "-o", "small.cairn", "trace-v1.cairn"}).exit_code, 0);
  EXPECT_EQ(Cairn({"repack", "trace-v1.cairn"}).exit_code, 0);
  EXPECT_EQ(Cairn({"verify", "trace-v1.cairn"}).exit_code, 0);
  Damage("trace-v1.cairn", "RECD");
  const std::string damaged = ReadFile(folder_ / "trace-v1.cairn");
  const std::vector<std::string> contents = folder_.Contents();
  const CommandResult refused = Cairn({"repack", "trace-v1.cairn"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(
      refused.errors,
      HasSubstr("trace-v1.cairn is damaged or cut, and repacking would make that look whole"));
  EXPECT_EQ(ReadFile(folder_ / "trace-v1.cairn"), damaged);
  EXPECT_EQ(folder_.Contents(), contents);
}

TEST_F(TraceVerbsTest, RedactingWritesAnotherFileThatTellsOfIt) {
  const std::string original = ReadFile(folder_ / "trace-v1.cairn");
  const CommandResult in_place = Cairn({"repack", "--redact", "trace-v1.cairn"});
  EXPECT_EQ(in_place.exit_code, 2);
  EXPECT_EQ(in_place.errors,
            "cairn repack: --redact writes another file; give its name with -o FILE\n");
  const CommandResult itself =
      Cairn({"repack", "--redact", "--force", "-o", "./trace-v1.cairn", "trace-v1.cairn"});
  EXPECT_EQ(itself.exit_code, 2);
  EXPECT_THAT(itself.errors, HasSubstr("./trace-v1.cairn is the trace itself"));
  EXPECT_EQ(ReadFile(folder_ / "trace-v1.cairn"), original);
  const CommandResult named = Cairn({"repack", "--redact", "-o", "n.cairn", "trace-v1.cairn"});
  EXPECT_EQ(named.exit_code, 0) << named.Summary();
  EXPECT_EQ(named.errors, "");
  EXPECT_EQ(Cairn({"verify", "n.cairn"}).exit_code, Cairn({"verify", "trace-v1.cairn"}).exit_code);
  EXPECT_THAT(Cairn({"info", "n.cairn"}).output,
              HasSubstr("\nRedacted  names are hashes\nRecorded  name-"));
  const Json names = JsonOf({"info", "--json", "n.cairn"}, "info.schema.json", 0);
  EXPECT_EQ(names["trace"]["redacted"]["names"], true);
  EXPECT_EQ(names["trace"]["redacted"]["shaders"], false);
  const Json before = JsonOf({"info", "--json", "trace-v1.cairn"}, "info.schema.json", 0);
  EXPECT_EQ(names["trace"]["calls"], before["trace"]["calls"]);
  EXPECT_THAT(Cairn({"objects", "n.cairn"}).output, HasSubstr("\"name-"));
}

TEST_F(TraceVerbsTest, ATraceWithoutShadersIsNotPlayed) {
  const CommandResult all = Cairn({"repack", "--redact=all", "-o", "n.cairn", "trace-v1.cairn"});
  EXPECT_EQ(all.exit_code, 0) << all.Summary();
  EXPECT_THAT(
      Cairn({"info", "n.cairn"}).output,
      HasSubstr("\nRedacted  names and shaders are hashes; it cannot be played; contents of "
                "resources are zeros\n"));
  for (const std::vector<std::string>& verb : {std::vector<std::string>{"replay"},
                                               {"replay", "--quiet"},
                                               {"images"},
                                               {"trim", "--frames", "0"},
                                               {"bisect"}}) {
    std::vector<std::string> arguments = verb;
    arguments.push_back("n.cairn");
    const CommandResult result = Cairn(arguments);
    EXPECT_EQ(result.exit_code, 1) << result.Summary();
    EXPECT_EQ(result.errors, "cairn " + verb[0] +
                                 ": n.cairn holds hashes instead of shaders (cairn repack "
                                 "--redact=shaders), so it cannot be played; cairn calls, objects "
                                 "and state read it\n");
  }
  for (const std::string verb : {"calls", "objects", "state"}) {
    EXPECT_EQ(Cairn({verb, "n.cairn"}).exit_code, Cairn({verb, "trace-v1.cairn"}).exit_code)
        << verb;
  }
}

TEST_F(TraceVerbsTest, ADamagedTraceIsNotRedacted) {
  Damage("trace-v1.cairn", "RECD");
  const std::vector<std::string> contents = folder_.Contents();
  const CommandResult refused = Cairn({"repack", "--redact", "-o", "n.cairn", "trace-v1.cairn"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.errors, HasSubstr("trace-v1.cairn is damaged or cut"));
  EXPECT_EQ(folder_.Contents(), contents);
}

TEST_F(TraceVerbsTest, ExportReplacesNothingUnlessThatIsWanted) {
  std::ofstream(folder_ / "trace-v1.pftrace") << "mine";
  const std::vector<std::string> words = {"export", "--perfetto", "trace-v1.cairn"};
  const CommandResult taken = Cairn(words);
  EXPECT_EQ(taken.exit_code, 1);
  EXPECT_EQ(taken.errors,
            "cairn export: cannot write 'trace-v1.pftrace': it is there already; --force replaces "
            "it\n");
  EXPECT_EQ(ReadFile(folder_ / "trace-v1.pftrace"), "mine");
  EXPECT_EQ(Cairn({"export", "--perfetto", "--force", "trace-v1.cairn"}).exit_code, 0);
  EXPECT_NE(ReadFile(folder_ / "trace-v1.pftrace"), "mine");
}

// A file that cannot be written whole has no name, and what was there before has it still.
TEST_F(TraceVerbsTest, ALimitOfTheSizeLeavesNoHalfFile) {
#ifdef _WIN32
  GTEST_SKIP() << "Windows has no such limit";
#endif
  for (const std::string& command :
       {std::string("report --force --html taken " CAIRN_SOURCE_DIR
                    "/tests/golden/snapshot-vulkan-v1.cairn"),
        std::string("export --perfetto --force -o taken trace-v1.cairn"),
        std::string("repack --force -o taken trace-v1.cairn")}) {
    SCOPED_TRACE(command);
    std::ofstream(folder_ / "taken") << "before";
    const std::vector<std::string> contents = folder_.Contents();
    const CommandResult result =
        RunCommand({"sh", "-c", "ulimit -f 1 && exec " + Program("cairn") + " " + command},
                   {.folder = folder_.path()});
    if (result.errors.find("without its viewer") != std::string::npos) continue;
    EXPECT_EQ(result.exit_code, 1) << result.Summary();
    EXPECT_THAT(result.errors, HasSubstr("File too large"));
    EXPECT_EQ(ReadFile(folder_ / "taken"), "before");
    EXPECT_EQ(folder_.Contents(), contents);
  }
}

TEST_F(TraceVerbsTest, WhatIsNoTraceIsRefusedInOneLine) {
  for (const std::string verb : {"verify", "objects", "repack"}) {
    CommandResult result = Cairn({verb, "container-v1.cairn"});
    EXPECT_EQ(result.exit_code, 1) << verb;
    EXPECT_EQ(result.output, "");
    EXPECT_EQ(result.errors,
              "cairn " + verb +
                  ": container-v1.cairn: the file holds no trace; cairn run --capture "
                  "-- PROGRAM records one\n");
    result = Cairn({verb});
    EXPECT_EQ(result.exit_code, 2) << verb;
    EXPECT_THAT(Cairn({verb, "--help"}).output, HasSubstr("\nExamples:\n  cairn " + verb));
  }
  // Its name is shown otherwise than it is given, and shown once.
  EXPECT_THAT(Cairn({"verify", "odd\nname.cairn"}).errors,
              StartsWith("cairn verify: cannot open odd\\x0aname.cairn: "));
}

}  // namespace
}  // namespace cairn::testing
