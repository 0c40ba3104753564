// SPDX-License-Identifier: Apache-2.0
//
// `cairn why`, of programs and of traces: the cause that it names, what the layers are told in each run, what is said of a
// program in which nothing can be changed, and a search that is interrupted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "base/testing/json.h"
#include "harness.h"
#include "reader/page/testing/unpack.h"
#include "why_fixture.h"

namespace cairn::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class WhyProgramTest : public SearchOfCausesTest {
 protected:
  static std::string Unwritten() { return CAIRN_BINARY_DIR "/tests/programs/unwritten_vulkan"; }
  // The answer about a trace of tests/golden/played.
  Json WhyOfTrace(const std::vector<std::string>& options, const std::string& name, int exit_code) {
    std::filesystem::copy_file(kPlayed + name, folder_ / name,
                               std::filesystem::copy_options::overwrite_existing);
    return Answer(Words(options, {name}), exit_code);
  }
  // A script that writes what the layers are told, a line a run, into the file "told", and then does this.
  std::vector<std::string> TellingScript(const std::string& rest) {
    std::ofstream script(folder_ / "program.sh");
    script << "board=none; [ -n \"$CAIRN_EXPERIMENT_BOARD\" ] && board=$(wc -c < "
              "\"$CAIRN_EXPERIMENT_BOARD\")\n"
           << "echo \"${CAIRN_EXPERIMENT:-as-it-is} $board\" >> told\n"
           << rest << "\n";
    return {"sh", "program.sh"};
  }
  std::vector<std::string> Told() {
    std::vector<std::string> lines;
    std::istringstream told(ReadFile(folder_ / "told"));
    for (std::string line; std::getline(told, line);) lines.push_back(line);
    return lines;
  }
};

int ChangesOf(const Json& answer, const std::string& experiment) {
  for (const Json& result : answer["experiments"]) {
    if (result["name"] == experiment) return result["changes"].get<int>();
  }
  return -1;
}

TEST_F(WhyProgramTest, WithoutVulkanNothingCanBeChanged) {
  const Json answer = Why({}, {"sh", "-c", "kill -SEGV $$"}, 1);
  EXPECT_EQ(false, answer["found"]);
  EXPECT_EQ("death", answer["failure"]);
  EXPECT_EQ(SIGSEGV, answer["signal"]);
  EXPECT_EQ(false, answer["layers_seen"]);
  EXPECT_EQ(3, answer["runs"]);
  ASSERT_EQ(12u, answer["experiments"].size());
  for (const auto& [name, verdict] : Verdicts(answer)) EXPECT_EQ("does not apply", verdict) << name;

  const CommandResult text = Run({"why", "--", "sh", "-c", "kill -SEGV $$"});
  EXPECT_EQ(1, text.exit_code);
  EXPECT_THAT(
      text.output,
      HasSubstr("dies of SIGSEGV, in 3 of 3 runs.\n\nNo experiment could be made: no layer "
                "saw the program record work of Vulkan or Direct3D 12.\nNext      cairn "
                "run -- sh -c 'kill -SEGV $$'   says why the layers saw nothing\n3 runs, "));

  const CommandResult markdown =
      Run({"why", "--markdown", "--runs", "1", "--", "sh", "-c", "kill -SEGV $$"});
  EXPECT_EQ(1, markdown.exit_code);
  EXPECT_EQ(
      "### `sh -c 'kill -SEGV $$'` dies of SIGSEGV, in 1 of 1 run\n\nNo experiment could be made: "
      "no "
      "layer saw the program record work of Vulkan or Direct3D 12.\n\nRepeated by `cairn why "
      "--runs 1 "
      "-- sh -c 'kill -SEGV $$'`, in 1 run\n",
      markdown.output);
  EXPECT_EQ(2, Run({"why", "--markdown", "--json", "--", "true"}).exit_code);
  EXPECT_THAT(folder_.Contents(), IsEmpty());
}

TEST_F(WhyProgramTest, AProgramThatDoesNotFail) {
  const Json answer = Why({"--runs", "2"}, {Program("sample-triangle-vulkan-plain")}, 1);
  EXPECT_EQ("", answer["failure"]);
  EXPECT_EQ(2, answer["unchanged"]["runs"]);
  EXPECT_EQ(0, answer["unchanged"]["failed"]);
  EXPECT_EQ(true, answer["layers_seen"]);
  EXPECT_EQ(0u, answer["experiments"].size());
}

// Its work takes a minute, in loops of 4,096 trips: with 4 it is done at once.
TEST_F(WhyProgramTest, ALoopThatRunsTooLong) {
  const Json answer = Why({"--runs", "2", "--trips", "4", "--hang-timeout", "2", "--max-runs", "8"},
                          {Program("sample-hang-vulkan-plain"), "--seconds", "60"}, 0);
  EXPECT_EQ(true, answer["found"]) << answer.dump(2);
  EXPECT_EQ("program", answer["subject"]);
  EXPECT_EQ("hang", answer["failure"]);
  EXPECT_THAT(answer["driver"].get<std::string>(), HasSubstr("Mesa"));
  ASSERT_EQ(1u, answer["causes"].size()) << answer.dump(2);
  EXPECT_EQ("loops", answer["causes"][0]);
  const Json& loops = answer["experiments"][0];
  EXPECT_EQ("proven", loops["verdict"]) << loops.dump(2);
  EXPECT_EQ("A loop does not end, or runs far too long.", loops["sentence"]);
  EXPECT_EQ(0, loops["with"]["failed"]);
  EXPECT_EQ(3, loops["with"]["runs"]);
  EXPECT_EQ(1, loops["without"]["failed"]);
  EXPECT_EQ(1, loops["control"]["failed"]);
  ASSERT_EQ(1u, loops["loops"].size()) << loops.dump(2);
  const Json& loop = loops["loops"][0];
  EXPECT_EQ("main", loop["function"]);
  EXPECT_EQ(true, loop["alone"]);
  EXPECT_EQ(4, loop["most_trips"]);
  EXPECT_LT(0u, loop["cuts"].get<uint64_t>());
  EXPECT_EQ(loop["executions"], loop["cuts"]);
  EXPECT_EQ("trip", loop["left"]);
  EXPECT_EQ("<", loop["comparison"]);
  EXPECT_EQ("bound", loop["right"]);
  EXPECT_EQ("3", loop["left_value"]);
  EXPECT_EQ("4096", loop["right_value"]);
  // The report of the first failure named its suspects.
  const std::string experiment = loops["experiment"].get<std::string>();
  EXPECT_THAT(experiment, ::testing::StartsWith("loops=4,shader="));
  EXPECT_THAT(experiment, HasSubstr(",shader=" + loop["shader"].get<std::string>()));
  EXPECT_THAT(folder_.Contents(), IsEmpty());
}

class WhyOfKnownFaultsTest : public WhyProgramTest {
 protected:
  // A fault of tests/truth/why.
  Json WhyFault(const std::string& fault, const char* max_runs, const char* counts = "16384") {
    const std::string program = CAIRN_BINARY_DIR "/tests/truth/why_program";
    return Why({"--runs", "1", "--hang-timeout", "2", "--max-runs", max_runs, "--counts", counts},
               {program, "--size", "1,256,100000000", "--limit", "30", fault}, 0);
  }
};

TEST_F(WhyOfKnownFaultsTest, ADrawOfFarTooManyVertices) {
  const Json answer = WhyFault("vertices", "5");
  EXPECT_EQ("hang", answer["failure"]);
  ASSERT_THAT(Causes(answer), Contains("counts")) << answer.dump(2);
  EXPECT_EQ("counts", Causes(answer)[0]);
  const Json& counts = answer["experiments"][1];
  EXPECT_EQ("proven", counts["verdict"]) << counts.dump(2);
  EXPECT_EQ("counts=16384", counts["experiment"]);
  EXPECT_EQ(0, counts["control"]["runs"]);
  ASSERT_EQ(1u, counts["calls"].size()) << counts.dump(2);
  const Json& call = counts["calls"][0];
  EXPECT_EQ("vkCmdDraw", call["command"]);
  EXPECT_EQ("Terrain", call["label"]);
  EXPECT_EQ(false, call["indirect"]);
  EXPECT_EQ(4294967295u, call["counts"][0].get<uint64_t>());
  EXPECT_EQ(16384, call["limited_to"][0]);
  EXPECT_EQ(1, call["limited"]);
}

TEST_F(WhyOfKnownFaultsTest, ArgumentsInABufferOfFarTooManyGroups) {
  const Json answer = WhyFault("groups", "6");
  ASSERT_THAT(Causes(answer), Contains("counts")) << answer["experiments"][1].dump(2);
  EXPECT_EQ("counts", Causes(answer)[0]);
  const Json& counts = answer["experiments"][1];
  EXPECT_EQ("proven", counts["verdict"]) << counts.dump(2);
  EXPECT_EQ(1, counts["control"]["failed"]);
  ASSERT_EQ(1u, counts["calls"].size()) << counts.dump(2);
  const Json& call = counts["calls"][0];
  EXPECT_EQ("vkCmdDispatchIndirect", call["command"]);
  EXPECT_EQ("Particles", call["label"]);
  EXPECT_EQ(true, call["indirect"]);
  EXPECT_EQ(65535, call["counts"][1]);
  EXPECT_EQ(16384, call["limited_to"][0]);
  EXPECT_EQ(1, call["limited_to"][1]);
  EXPECT_EQ(1, call["limited"]);
}

// No experiment but this one helps at once. The picture is drawn, and holds zeros.
TEST_F(WhyOfKnownFaultsTest, PixelsThatTakeLong) {
  const Json answer = WhyFault("pixels", "14", "32768");
  ASSERT_THAT(Causes(answer), Contains("stages")) << answer.dump(2);
  EXPECT_EQ("stages", Causes(answer)[0]);
  for (const Json& stages : answer["experiments"]) {
    if (stages["name"] != "stages") continue;
    EXPECT_EQ("likely", stages["verdict"]) << stages.dump(2);
    EXPECT_EQ("fragment", stages["stage"]);
    EXPECT_THAT(stages["experiment"].get<std::string>(),
                ::testing::StartsWith("stage=fragment,shader="));
    EXPECT_EQ(1, stages["changes"]);
  }
}

// The program dies of an index that a shader made of a push constant, and of which no other experiment knows: without the
// constant the index is 0, and without the store in the buffer as well.
TEST_F(WhyOfKnownFaultsTest, AConstantThatBecomesAnIndex) {
  const Json answer = WhyFault("read-back", "20");
  EXPECT_EQ("death", answer["failure"]);
  EXPECT_EQ(SIGSEGV, answer["signal"]);
  ASSERT_THAT(Causes(answer), ElementsAre("bindings")) << answer.dump(2);
  const Json& bindings = answer["experiments"][answer["experiments"].size() - 1];
  EXPECT_EQ("likely", bindings["verdict"]) << bindings.dump(2);
  EXPECT_EQ(
      "The failure depends on what the shaders read from the push constants (constants), or write "
      "to "
      "it.",
      bindings["sentence"]);
  EXPECT_THAT(bindings["experiment"].get<std::string>(),
              ::testing::StartsWith("binding=push-constants,shader="));
  EXPECT_EQ(1, bindings["control"]["failed"]);
  EXPECT_EQ(1, bindings["changes"]);
  ASSERT_EQ(1u, bindings["bindings"].size());
  EXPECT_EQ("push constants", bindings["bindings"][0]["kind"]);
  EXPECT_EQ("compute", bindings["bindings"][0]["stage"]);
  ASSERT_EQ(1u, bindings["also"].size()) << bindings.dump(2);
  EXPECT_EQ("storage buffer", bindings["also"][0]["kind"]);
  EXPECT_EQ("Words", bindings["also"][0]["name"]);
  EXPECT_EQ(0, bindings["also"][0]["set"]);
  EXPECT_EQ(0, bindings["also"][0]["binding"]);
  EXPECT_EQ(0, bindings["not_asked"]);
}

// The same on Direct3D 12: the shader is named as the report names it, and no other one is changed. With a page.
TEST_F(WhyProgramTest, ALoopOfDirect3D12) {
  const std::vector<std::string> program = {Program("sample-hang-d3d12-plain"), "--seconds", "60"};
  const Json answer =
      Why({"--runs", "1", "--trips", "4", "--hang-timeout", "2", "--max-runs", "6"}, program, 0);
  EXPECT_EQ("hang", answer["failure"]);
  EXPECT_THAT(Causes(answer), ElementsAre("loops")) << answer.dump(2);
  const Json& loops = answer["experiments"][0];
  EXPECT_EQ("proven", loops["verdict"]) << loops.dump(2);
  const std::string hang = "258211c53633d7b4";  // samples/shaders/d3d12/hang.cs.dxbc
  EXPECT_THAT(loops["experiment"].get<std::string>(), ::testing::StartsWith("loops=4,shader="));
  EXPECT_THAT(loops["experiment"].get<std::string>(), HasSubstr(",shader=" + hang));
  EXPECT_EQ(1, loops["limited_loops"]);
  ASSERT_EQ(1u, loops["loops"].size()) << loops.dump(2);
  const Json& loop = loops["loops"][0];
  EXPECT_EQ(hang, loop["dxbc"]);
  EXPECT_EQ("compute", loop["stage"]);
  EXPECT_EQ(4, loop["most_trips"]);
  EXPECT_EQ(0, loop["index"]);
  EXPECT_EQ(1, loop["count"]);
  const std::string place = answer["answer"]["causes"][0]["places"][0]["place"].get<std::string>();
  EXPECT_THAT(place, ::testing::StartsWith("compute shader DXBC " + hang));
  EXPECT_THAT(folder_.Contents(), IsEmpty());
}

// A page is refused before the runs, and written behind them.
TEST_F(WhyProgramTest, ThePageHasTheAnswerAndTheReport) {
  std::ofstream(folder_ / "taken.html") << "x";
  const std::vector<std::string> program = {"sh", "-c", "kill -SEGV $$"};
  const CommandResult refused = Run(Words({"why", "--html", "taken.html", "--"}, program));
  EXPECT_EQ(1, refused.exit_code);
  EXPECT_EQ("", refused.output);
  EXPECT_THAT(refused.errors,
              ::testing::AnyOf("cairn why: --html: cannot write 'taken.html': it is there already; "
                               "--force replaces it\n",
                               HasSubstr("built without its viewer")));
  if (refused.errors.find("without its viewer") != std::string::npos) return;
  EXPECT_EQ("x", ReadFile(folder_ / "taken.html"));
  const CommandResult written =
      Run(Words({"why", "--runs", "1", "--force", "--html", "taken.html", "--"},
                {Program("sample-fault-vulkan-plain")}));
  EXPECT_EQ(0, written.exit_code) << written.Summary();
  EXPECT_THAT(written.output, HasSubstr("\ntaken.html ("));
  const std::string page = ReadFile(folder_ / "taken.html");
  const size_t begin = page.find("id=\"data\">") + 10;
  const Json data =
      Json::Parse(Unpacked(std::string_view(page).substr(begin, page.find('<', begin) - begin)));
  EXPECT_EQ("death", Json::Parse(data["why"].get<std::string>())["failure"]);
  EXPECT_EQ("CPU fault", data["report"]["verdict"]["kind"]);
  EXPECT_EQ(Program("sample-fault-vulkan-plain"), data["file"].get<std::string>());
  EXPECT_THAT(folder_.Contents(), ElementsAre("taken.html"));
}

// A dispatch stores at an address where nothing is: on lavapipe the program dies of it.
TEST_F(WhyProgramTest, AnAccessOutsideOfEveryBuffer) {
  const Json answer = Why({"--runs", "2"}, {Program("sample-fault-vulkan-plain")}, 0);
  ASSERT_EQ(1u, answer["causes"].size()) << answer.dump(2);
  EXPECT_EQ("bounds", answer["causes"][0]);
  // No barrier helps, and they were there.
  std::map<std::string, std::string> verdicts = Verdicts(answer);
  for (const char* barrier : {"barrier-before", "barrier-after"}) {
    EXPECT_EQ("fails", verdicts[barrier]);
    EXPECT_LT(0, ChangesOf(answer, barrier)) << barrier;
  }
  const Json& bounds = answer["experiments"][1];
  EXPECT_EQ("proven", bounds["verdict"]) << bounds.dump(2);
  EXPECT_EQ(1, bounds["control"]["failed"]);
  ASSERT_EQ(1u, bounds["accesses"].size()) << bounds.dump(2);
  const Json& access = bounds["accesses"][0];
  EXPECT_EQ("store", access["kind"]);
  EXPECT_EQ("main", access["function"]);
  EXPECT_LT(0u, access["misses"].get<uint64_t>());
  EXPECT_THAT(access["address"].get<std::string>(), ::testing::StartsWith("0xbaddead0"));
  EXPECT_THAT(folder_.Contents(), IsEmpty());
}

// A dispatch takes what stands behind an array of a buffer for a part of an address: on lavapipe the program dies of it.
TEST_F(WhyProgramTest, AnIndexBehindAnArray) {
  const std::string program = CAIRN_BINARY_DIR "/tests/truth/why_program";
  for (const std::string where : {"storage", "uniform"}) {
    const Json answer =
        Why({"--runs", "2"}, {program, "--size", "1,4294967295,1", where + "-index"}, 0);
    EXPECT_THAT(Causes(answer), ElementsAre("bounds")) << answer.dump(2);
    const Json& bounds = answer["experiments"][1];
    EXPECT_EQ("proven", bounds["verdict"]) << bounds.dump(2);
    EXPECT_EQ(1, bounds["control"]["failed"]);
    ASSERT_EQ(1u, bounds["accesses"].size()) << bounds.dump(2);
    const Json& access = bounds["accesses"][0];
    EXPECT_EQ("load", access["kind"]);
    EXPECT_EQ(where + "_index.comp", access["file"]);
    EXPECT_THAT(access["text"].get<std::string>(), ::testing::EndsWith("// culprit"));
    EXPECT_EQ(where == "storage" ? 2 : 1, access["binding"]);
    EXPECT_EQ(64, access["misses"]);
    const int length = where == "storage" ? 1128 : 8;
    const Json& index = access["indices"][0];
    EXPECT_EQ("element", index["kind"]);
    EXPECT_EQ(length, index["index"]);
    EXPECT_EQ(length, index["bound"]);
  }
  EXPECT_THAT(folder_.Contents(), IsEmpty());
}

// A dispatch stores by the address of a buffer that was destroyed before it was submitted.
TEST_F(WhyProgramTest, ABufferThatIsUsedBehindItsEnd) {
  const Json answer = Why({"--runs", "2"}, {Program("sample-fault-vulkan-plain"), "--freed"}, 0);
  EXPECT_EQ("death", answer["failure"]);
  EXPECT_EQ(SIGSEGV, answer["signal"]);
  EXPECT_THAT(Causes(answer), ElementsAre("keep-alive", "bounds")) << answer.dump(2);
  const Json& kept = answer["experiments"][2];
  EXPECT_EQ("keep-alive", kept["name"]);
  EXPECT_EQ("proven", kept["verdict"]) << kept.dump(2);
  EXPECT_EQ(0, kept["with"]["failed"]);
  EXPECT_EQ(3, kept["with"]["runs"]);
  EXPECT_EQ(1, kept["without"]["failed"]);
  EXPECT_LE(2, kept["changes"].get<int>()) << "the buffer and its memory, at least";
  std::map<std::string, std::string> verdicts = Verdicts(answer);
  EXPECT_EQ("fails", verdicts["memory-00"]);
  EXPECT_EQ("fails", verdicts["memory-fe"]);
}

// A store far away does not depend on what is kept or filled.
TEST_F(WhyProgramTest, KeptObjectsAndFilledMemoryAreNotTheCauseOfEverything) {
  const Json answer = Why({"--runs", "1"}, {Program("sample-fault-vulkan-plain")}, 0);
  std::map<std::string, std::string> verdicts = Verdicts(answer);
  EXPECT_EQ("fails", verdicts["memory-00"]) << answer.dump(2);
  EXPECT_EQ("fails", verdicts["memory-fe"]);
  EXPECT_THAT(verdicts["keep-alive"], ::testing::AnyOf("fails", "does not apply"));
}

// A divisor that nobody wrote: 0 in memory that is fresh from the system.
TEST_F(WhyProgramTest, MemoryThatNobodyWroteAndThatMustNotBeZero) {
  const Json answer = Why({"--runs", "2"}, {Unwritten(), "--divides"}, 0);
  EXPECT_EQ(SIGFPE, answer["signal"]);
  EXPECT_THAT(Causes(answer), ElementsAre("memory-fe")) << answer.dump(2);
  std::map<std::string, std::string> verdicts = Verdicts(answer);
  EXPECT_EQ("proven", verdicts["memory-fe"]);
  EXPECT_EQ("fails", verdicts["memory-00"]);
}

// An index that nobody wrote: rubbish where the C library leaves some.
TEST_F(WhyProgramTest, MemoryThatNobodyWroteAndThatMustBeZero) {
  environment_ = {"MALLOC_PERTURB_=85"};
  const Json answer = Why({"--runs", "2"}, {Unwritten(), "--indexes"}, 0);
  EXPECT_EQ(SIGSEGV, answer["signal"]);
  EXPECT_THAT(Causes(answer), ElementsAre("memory-00")) << answer.dump(2);
  std::map<std::string, std::string> verdicts = Verdicts(answer);
  EXPECT_EQ("proven", verdicts["memory-00"]);
  EXPECT_EQ("fails", verdicts["memory-fe"]);
}

// ---- Synchronisation, on the driver of tests/icd, where work races by the program's choice -----------------------------

class WhySynchronisationTest : public WhyProgramTest {
 protected:
  Json WhyScenario(const std::string& scenario, const std::string& settings) {
    const std::string driver = CAIRN_BINARY_DIR "/tests/icd/cairn_icd.json";
    environment_ = {"VK_ICD_FILENAMES=" + driver, "VK_DRIVER_FILES=" + driver,
                    "CAIRN_ICD=" + settings};
    return Why({"--runs", "2", "--hang-timeout", "2"},
               {CAIRN_BINARY_DIR "/tests/icd/icd_program", scenario}, 0);
  }
};

TEST_F(WhySynchronisationTest, AMissingBarrier) {
  const Json answer = WhyScenario("missing-barrier", "");
  EXPECT_EQ("device lost", answer["failure"]) << answer.dump(2);
  ASSERT_EQ(2u, answer["causes"].size()) << answer.dump(2);
  EXPECT_EQ("barrier-before", answer["causes"][0]) << "in front of what reads";
  EXPECT_EQ("barrier-after", answer["causes"][1]) << "behind what writes";
  std::map<std::string, std::string> verdicts = Verdicts(answer);
  EXPECT_EQ("proven", verdicts["barrier-before"]);
  EXPECT_EQ("proven", verdicts["barrier-after"]);
  EXPECT_EQ("does not apply", verdicts["serial-queues"]) << "there is one submission";
  EXPECT_EQ(3, ChangesOf(answer, "barrier-before")) << "one for each dispatch";
}

TEST_F(WhySynchronisationTest, QueuesThatRace) {
  const Json answer = WhyScenario("racing-queues", "lazy");
  ASSERT_EQ(1u, answer["causes"].size()) << answer.dump(2);
  EXPECT_EQ("serial-queues", answer["causes"][0]);
  std::map<std::string, std::string> verdicts = Verdicts(answer);
  EXPECT_EQ("proven", verdicts["serial-queues"]);
  EXPECT_EQ("fails", verdicts["barrier-before"]) << "barriers order one queue";
  EXPECT_EQ("fails", verdicts["barrier-after"]);
  EXPECT_EQ(1, ChangesOf(answer, "serial-queues")) << "the second submission waited";
}

// A trace of Direct3D 12, which is played through vkd3d and the Vulkan layer.
TEST_F(WhyProgramTest, ATraceWithALoopThatRunsTooLong) {
  const Json answer = WhyOfTrace(
      {"--runs", "1", "--trips", "4", "--hang-timeout", "2", "--max-runs", "6"}, "hang.cairn", 0);
  EXPECT_EQ("trace", answer["subject"]);
  EXPECT_EQ("hang.cairn", answer["program"]);
  EXPECT_EQ("hang", answer["failure"]);
  EXPECT_THAT(Causes(answer), ElementsAre("loops")) << answer.dump(2);
  const Json& loops = answer["experiments"][0];
  EXPECT_EQ("proven", loops["verdict"]) << loops.dump(2);
  // The report knows DXBC, and the layer what the translator made of it: no other shader was changed.
  const std::string fog = "fbc1d50553206fbc";  // samples/shaders/d3d12/hang.ps.dxbc
  EXPECT_THAT(loops["experiment"].get<std::string>(), ::testing::StartsWith("loops=4,shader="));
  EXPECT_THAT(loops["experiment"].get<std::string>(), HasSubstr(",shader=" + fog));
  EXPECT_EQ(1, loops["limited_loops"]);
  EXPECT_EQ(0, loops["with"]["failed"]);
  EXPECT_EQ(2, loops["with"]["runs"]);
  EXPECT_EQ(1, loops["control"]["failed"]);
  ASSERT_EQ(1u, loops["loops"].size()) << loops.dump(2);
  const Json& loop = loops["loops"][0];
  EXPECT_EQ(4, loop["most_trips"]);
  EXPECT_LT(0u, loop["cuts"].get<uint64_t>());
  EXPECT_EQ(fog, loop["dxbc"]);
  EXPECT_EQ("pixel", loop["stage"]);
  EXPECT_EQ("Volumetric fog", loop["pipeline"]);
  EXPECT_EQ(1, loop["count"]);
  ASSERT_EQ("SPIR-V", loop["excerpt"]["of"]) << loop.dump(2);
  const Json& lines = loop["excerpt"]["lines"];
  EXPECT_THAT(lines[loop["excerpt"]["marked"].get<size_t>()].get<std::string>(),
              HasSubstr("OpLoopMerge"));
  EXPECT_THAT(folder_.Contents(), ElementsAre("hang.cairn"));
}

TEST_F(WhyProgramTest, ATraceThatDoesNotFail) {
  const Json answer = WhyOfTrace({"--runs", "2"}, "triangle.cairn", 1);
  EXPECT_EQ("", answer["failure"]);
  EXPECT_EQ(2, answer["unchanged"]["runs"]);
  EXPECT_EQ(0, answer["unchanged"]["failed"]);
  EXPECT_EQ(true, answer["layers_seen"]);
  EXPECT_EQ(0, answer["exit_code"]);
  const CommandResult text = Run({"why", "--runs", "2", "triangle.cairn"});
  EXPECT_EQ(1, text.exit_code);
  EXPECT_THAT(text.output,
              ::testing::StartsWith("triangle.cairn: no cause: the trace does not fail on this "
                                    "device: 2 of 2 replays were clean.\n"));
}

// The playback dies in a thread of the driver: of a store to where a constant says. The player's own shader is left alone,
// so that an empty binding of the program's is no failure of the device.
TEST_F(WhyProgramTest, ATraceThatKillsItsPlayback) {
  const Json answer = WhyOfTrace({"--runs", "1"}, "fault.cairn", 0);
  EXPECT_EQ("death", answer["failure"]);
  EXPECT_EQ(SIGSEGV, answer["signal"]);
  EXPECT_EQ(1, answer["unchanged"]["failed"]);
  ASSERT_EQ(12u, answer["experiments"].size());
  EXPECT_THAT(Causes(answer), ElementsAre("bindings"));
  const Json& bindings = answer["experiments"][11];
  EXPECT_EQ("likely", bindings["verdict"]);
  EXPECT_EQ(0, bindings["with"]["otherwise"]) << bindings.dump(2);
  ASSERT_FALSE(bindings["bindings"].empty());
  EXPECT_EQ("push constants", bindings["bindings"][0]["kind"]);
  EXPECT_NE("", bindings["bindings"][0]["dxbc"]) << "a shader of the program";
  ASSERT_EQ(1u, bindings["also"].size()) << bindings.dump(2);
  EXPECT_EQ(0, bindings["also"][0]["set"]);
  EXPECT_EQ(0, bindings["also"][0]["binding"]);
}

// It dies of the CPU, behind healthy work: each change is made once, and none helps.
TEST_F(WhyProgramTest, EachRunHasItsExperimentAndLoopsTheirBoard) {
  const Json answer =
      Why({}, TellingScript(Program("sample-triangle-vulkan-plain") + "\nkill -SEGV $$"), 1);
  EXPECT_EQ(false, answer["found"]) << answer.dump(2);
  EXPECT_EQ(true, answer["layers_seen"]);
  std::vector<std::string> told = Told();
  ASSERT_EQ(16u, told.size());
  EXPECT_EQ(16, answer["runs"]);
  // Its shaders have no binding that could be emptied.
  for (const char* stage :
       {"binding=none [0-9]{5,}", "stage=vertex [0-9]{5,}", "stage=fragment [0-9]{5,}"}) {
    EXPECT_THAT(told.back(), ::testing::MatchesRegex(stage));
    told.pop_back();
  }
  const std::string loops = told.back();
  told.pop_back();
  EXPECT_THAT(told.back(), ::testing::MatchesRegex("counts=16777216 [0-9]{5,}"));
  told.pop_back();
  EXPECT_THAT(told[4], ::testing::MatchesRegex("bounds=skip [0-9]{5,}"));
  told.erase(told.begin() + 4);
  EXPECT_THAT(told, ElementsAre("as-it-is none", "as-it-is none", "as-it-is none", "robust none",
                                "keep-alive none", "barrier-before none", "barrier-after none",
                                "serial-queues none", "memory=00 none", "memory=fe none"));
  EXPECT_THAT(loops, ::testing::MatchesRegex("loops=65536 [0-9]{5,}"));
  for (const Json& result : answer["experiments"]) {
    if (result["verdict"] == "does not apply") continue;
    EXPECT_EQ("fails", result["verdict"]) << result.dump();
    EXPECT_EQ(1, result["with"]["failed"]);
    EXPECT_LT(0, result["changes"].get<int>());
  }
}

TEST_F(WhyProgramTest, WhatCannotBeRunIsSaid) {
  const auto refused = [this](const std::vector<std::string>& words, int exit_code,
                              const std::string& error) {
    const CommandResult result = Run(Words({"why"}, words));
    EXPECT_EQ(exit_code, result.exit_code) << result.Summary();
    EXPECT_EQ("", result.output);
    EXPECT_EQ("cairn why: " + error + "\n", result.errors);
  };
  refused({}, 2, "nothing is given; say cairn why -- PROGRAM ARGUMENTS, or cairn why FILE.cairn");
  refused({"a.cairn", "--", "true"}, 2,
          "give a trace or a program, not both: a.cairn stands in front of --");
  refused({"--library", "x", "--", "true"}, 2, "--library is for traces: a program is not played");
  refused({"--survive", "20", "a.cairn"}, 2,
          "--survive is for programs: say cairn why --survive SECONDS -- PROGRAM");
  refused({"--hang-timeout", "0", "--", "true"}, 2,
          "--hang-timeout: without one a hang is never noticed; give seconds above 0");
  refused({"--survive", "5", "--", "true"}, 2,
          "--survive 5 ends a run before --hang-timeout 10 could tell of a hang; give more");
  refused({"--", "./no-such-program"}, 1,
          "program './no-such-program' was not found; give its path, or a name in PATH");
  std::filesystem::copy_file(CAIRN_SOURCE_DIR "/tests/golden/snapshot-v1.cairn",
                             folder_ / "game.cairn");
  refused({"game.cairn"}, 1,
          "game.cairn: the file holds no trace; cairn run --capture -- PROGRAM records one; cairn "
          "report game.cairn shows what it holds; cairn why -- PROGRAM needs no trace");
  refused({"--", "game.cairn"}, 1,
          "game.cairn is a .cairn file, not a program: cairn why game.cairn");
  refused({"sh", "-c", "x"}, 2, "sh is a program: cairn why -- sh -c x");
  std::filesystem::copy_file(kPlayed + "hang.cairn", folder_ / "hang.cairn");
  refused({"--journal", "./hang.cairn", "hang.cairn"}, 2,
          "./hang.cairn is the trace: its journal needs a file of its own; give another with "
          "--journal");
  refused(
      {"--library", "/no/such/library.so", "hang.cairn"}, 1,
      "hang.cairn: Direct3D 12 is not available: /no/such/library.so: cannot open shared object "
      "file: No such file or directory; name a library that exports D3D12CreateDevice");
  EXPECT_THAT(folder_.Contents(), ElementsAre("game.cairn", "hang.cairn"));
}

size_t AnswersIn(const std::string& journal) {
  const std::string text = ReadFile(journal);
  const size_t head = text.find("answers\n");
  return head == std::string::npos
             ? 0
             : static_cast<size_t>(
                   std::count(text.begin() + static_cast<std::ptrdiff_t>(head), text.end(), '\n')) -
                   1;
}

TEST_F(WhyProgramTest, AnInterruptedSearchGoesOn) {
  const std::vector<std::string> program =
      TellingScript(Program("sample-triangle-vulkan-plain") + "\nkill -SEGV $$");
  const std::vector<std::string> words =
      Words({Program("cairn"), "why", "--journal", "j", "--"}, program);
  Command command(words, Options());
  ASSERT_TRUE(WaitUntil([&] { return AnswersIn(folder_ / "j") >= 5; }));
  ASSERT_EQ(0, kill(command.pid(), SIGTERM));
  const CommandResult result = command.Wait();
  EXPECT_EQ(1, result.exit_code) << result.Summary();
  EXPECT_THAT(result.errors,
              HasSubstr("cairn why: interrupted; the same command resumes from here\n"));
  EXPECT_THAT(result.left_behind, IsEmpty());
  const size_t remembered = AnswersIn(folder_ / "j");
  const size_t runs = Told().size();
  const CommandResult rest = RunCommand(words, Options());
  EXPECT_THAT(rest.errors, HasSubstr("cairn why: warning: resumes after " +
                                     std::to_string(remembered) + " probes of an earlier search"));
  EXPECT_THAT(rest.output, HasSubstr("dies of SIGSEGV, in 3 of 3 runs."));
  // One more as it is, for the shaders that are suspected, and one more for the accesses that were checked. The counts
  // are asked behind what the first search has asked.
  EXPECT_EQ(16 - remembered + 2, Told().size() - runs);
  EXPECT_THAT(folder_.Contents(), UnorderedElementsAre("program.sh", "told", "triangle.png"));
}

}  // namespace
}  // namespace cairn::testing
