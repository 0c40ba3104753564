// SPDX-License-Identifier: Apache-2.0
//
// `cairn replay` of traces that this device cannot play, or whose GPU work does not end; its options; and
// captures that a trigger starts and stops while the program runs. What signals do to it: replay_signals_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "base/testing/json.h"
#include "base/testing/json_schema_check.h"
#include "format/trace/trace_filter.h"
#include "format/trace/trace_reader.h"
#include "reader/replay/testing/test_script.h"
#include "replay_verb_fixture.h"

namespace cairn::testing {
namespace {

using ::testing::AnyOf;
using ::testing::AssertionFailure;
using ::testing::AssertionResult;
using ::testing::AssertionSuccess;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// ---- Traces that were sent ---------------------------------------------------------------------------

TEST_F(ReplayVerbTest, ARedactedTraceHasTheSameImages) {
  Capture();
  const CommandResult redacted = Cairn({"repack", "--redact", "-o", "names.cairn", "a.cairn"});
  ASSERT_EQ(redacted.exit_code, 0) << redacted.Summary();
  EXPECT_EQ(Hashes({}, "names.cairn"), Hashes({}));
  EXPECT_EQ(Cairn({"replay", "--validate", "names.cairn"}).exit_code, 0);
  // A cut of it still says what it lacks.
  ASSERT_EQ(Cairn({"trim", "--frames", "7", "-o", "7.cairn", "names.cairn"}).exit_code, 0);
  EXPECT_THAT(Cairn({"info", "7.cairn"}).output,
              HasSubstr("\nRedacted  names are hashes\nRecorded  name-"));
}

TEST_F(ReplayVerbTest, ATraceWithoutContentsIsPlayed) {
  Capture();
  const CommandResult redacted =
      Cairn({"repack", "--redact=contents", "-o", "zeros.cairn", "a.cairn"});
  ASSERT_EQ(redacted.exit_code, 0) << redacted.Summary();
  EXPECT_EQ(Lines(Hashes({}, "zeros.cairn")).size(), kFrames);
  EXPECT_EQ(Cairn({"verify", "zeros.cairn"}).exit_code, 0);
}

// ---- Devices that lack something --------------------------------------------------------------------

class OtherDeviceTest : public ReplayVerbTest {
 protected:
  // Records the program's query of its device's options, and the result.
  void AskOptions(D3D12_CONSERVATIVE_RASTERIZATION_TIER tier) {
    D3D12_FEATURE_DATA_D3D12_OPTIONS options = {};
    const Method method = Method::ID3D12Device_CheckFeatureSupport;
    const uint64_t call = script_.Call(method, script_.device, D3D12_FEATURE_D3D12_OPTIONS,
                                       static_cast<void*>(&options), UINT{sizeof(options)});
    options.ConservativeRasterizationTier = tier;
    options.DoublePrecisionFloatShaderOps = TRUE;
    script_.Return(method, call, HRESULT{S_OK}, D3D12_FEATURE_D3D12_OPTIONS,
                   static_cast<void*>(&options), UINT{sizeof(options)});
  }
  CommandResult Replay(std::vector<std::string> options = {}) {
    EXPECT_TRUE(script_.ok);
    const std::vector<std::byte>& bytes = script_.trace.Bytes();
    std::ofstream(folder_ / "a.cairn", std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    options.insert(options.begin(), "replay");
    options.push_back("a.cairn");
    return Cairn(options);
  }

  TestScript script_;
};

// libvkd3d 1.2 has ID3D12Device only; that of Wine 10 has the interface, and does nothing here.
TEST_F(OtherDeviceTest, ANewerInterfaceIsNamedWithTheCallAndWhatDiffers) {
  AskOptions(D3D12_CONSERVATIVE_RASTERIZATION_TIER_3);
  const Method method = Method::ID3D12Device4_CreateCommandList1;
  void* list = nullptr;
  const uint64_t call =
      script_.Call(method, script_.device, 0u, D3D12_COMMAND_LIST_TYPE_DIRECT,
                   D3D12_COMMAND_LIST_FLAG_NONE, __uuidof(ID3D12GraphicsCommandList), &list);
  script_.trace.Object(20, Chain::kID3D12GraphicsCommandList, script_.device, call);
  list = ObjectPointer(20);
  script_.Return(method, call, HRESULT{S_OK}, 0u, D3D12_COMMAND_LIST_TYPE_DIRECT,
                 D3D12_COMMAND_LIST_FLAG_NONE, __uuidof(ID3D12GraphicsCommandList), &list);
  const CommandResult result = Replay();
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.output, HasSubstr("; 1 call skipped"));
  const auto words = [call](const std::string& reason) {
    return "cairn replay: warning: skipped (call " + std::to_string(call) +
           "): ID3D12Device4::CreateCommandList1: this device " + reason +
           "; it succeeded when it was recorded; the devices differ in "
           "D3D12_FEATURE_D3D12_OPTIONS\n";
  };
  EXPECT_THAT(result.errors,
              AnyOf(words("has no ID3D12Device4"), words("refuses it with 0x80004001")));
}

constexpr char kOtherOptions[] =
    "feature     differs   D3D12_FEATURE_D3D12_OPTIONS: this device's answer is another one\n";

TEST_F(OtherDeviceTest, ACheckDoesNotMindAnotherAnswer) {
  AskOptions(D3D12_CONSERVATIVE_RASTERIZATION_TIER_3);
  const CommandResult result = Replay({"--check"});
  EXPECT_EQ(result.exit_code, 0) << result.Summary();
  EXPECT_EQ(result.output, std::string(kOtherOptions) +
                               "a.cairn: nothing that was compared prevents the playback\n");
}

TEST_F(OtherDeviceTest, ACheckNamesWhatIsMissing) {
#if defined(_WIN32)
  GTEST_SKIP() << "Wine's own may have it";
#endif
  AskOptions(D3D12_CONSERVATIVE_RASTERIZATION_TIER_3);
  // The one of Debian 12 lacks it.
  const D3D12_COMMAND_QUEUE_DESC desc = {};
  const GUID creator = {};
  void* queue = nullptr;
  const uint64_t call = script_.Call(Method::ID3D12Device9_CreateCommandQueue1, script_.device,
                                     &desc, creator, __uuidof(ID3D12CommandQueue), &queue);
  CommandResult result = Replay({"--check"});
  EXPECT_EQ(result.exit_code, 3) << result.Summary();
  EXPECT_EQ(result.output,
            std::string(kOtherOptions) +
                "interface   prevents  ID3D12Device9::CreateCommandQueue1: this device has no "
                "ID3D12Device9, first in call " +
                std::to_string(call) +
                "\n"
                "a.cairn: one of these would be skipped or wrong here\n");
  result = Replay({"--check", "--json"});
  EXPECT_EQ(result.exit_code, 3);
  const Json json = Json::Parse(result.output);
  EXPECT_EQ("",
            SchemaViolation(
                Json::ParseFile(CAIRN_SOURCE_DIR "/docs/formats/device-check.schema.json"), json));
  EXPECT_EQ(json["plays"], false);
  EXPECT_EQ(json["differences"][1]["call"], call);
  EXPECT_EQ(Replay({"--json", "--hash"}).exit_code, 2);
  EXPECT_EQ(Replay({"--json", "--loop", "2"}).exit_code, 2);
}

TEST_F(OtherDeviceTest, APlaybackIsOneDocument) {
  script_.CreateBuffer(D3D12_HEAP_TYPE_DEFAULT, 4096);
  const CommandResult result = Replay({"--json"});
  EXPECT_EQ(result.exit_code, 0) << result.Summary();
  EXPECT_EQ(Replay({"--json", "--quiet"}).output, result.output);
  const Json json = Json::Parse(result.output);
  EXPECT_EQ("", SchemaViolation(
                    Json::ParseFile(CAIRN_SOURCE_DIR "/docs/formats/replay.schema.json"), json));
  EXPECT_EQ(json["calls"], 1);
  EXPECT_EQ(json["skipped"], 0);
  for (const char* const kind : {"structures", "scratches", "resources"}) {
    EXPECT_EQ(json["moved"][kind], 0) << kind;
  }
}

TEST_F(OtherDeviceTest, ACheckTakesNoOptionsOfPlaybacks) {
  for (const std::vector<std::string>& given :
       std::vector<std::vector<std::string>>{{"--images", "out"},
                                             {"--window"},
                                             {"--loop", "2"},
                                             {"--hash"},
                                             {"--validate"},
                                             {"--frames", "0"},
                                             {"--pad", "64"}}) {
    std::vector<std::string> options = given;
    options.insert(options.begin(), "--check");
    const CommandResult result = Replay(options);
    EXPECT_EQ(result.exit_code, 2) << given.front();
    EXPECT_EQ(result.errors,
              "cairn replay: " + given.front() + " is for playbacks: --check plays nothing\n");
  }
}

TEST_F(OtherDeviceTest, ARefusedCallIsNamedWithWhatDiffers) {
  AskOptions(D3D12_CONSERVATIVE_RASTERIZATION_TIER_3);
  // No implementation makes a heap without bytes.
  D3D12_HEAP_DESC desc = {};
  desc.Properties.Type = D3D12_HEAP_TYPE_DEFAULT;
  desc.Flags = D3D12_HEAP_FLAG_ALLOW_ONLY_BUFFERS;
  script_.Create(Method::ID3D12Device_CreateHeap, Chain::kID3D12Heap, &desc, __uuidof(ID3D12Heap));
  const CommandResult result = Replay();
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(Lines(result.errors).size(), 1u);
  EXPECT_THAT(result.errors, StartsWith("cairn replay: warning: skipped (call "));
  EXPECT_THAT(result.errors,
              HasSubstr("): ID3D12Device::CreateHeap: this device refuses it with 0x80"));
  EXPECT_THAT(result.errors, EndsWith("; it succeeded when it was recorded; the devices differ in "
                                      "D3D12_FEATURE_D3D12_OPTIONS\n"));
}

TEST_F(OtherDeviceTest, WhatAnswersTheSameDoesNotDiffer) {
  D3D12_HEAP_DESC desc = {};
  desc.Properties.Type = D3D12_HEAP_TYPE_DEFAULT;
  desc.Flags = D3D12_HEAP_FLAG_ALLOW_ONLY_BUFFERS;
  script_.Create(Method::ID3D12Device_CreateHeap, Chain::kID3D12Heap, &desc, __uuidof(ID3D12Heap));
  const CommandResult result = Replay();
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.errors, EndsWith("it succeeded when it was recorded\n"));
}

TEST_F(OtherDeviceTest, AFeatureLevelThatNoDeviceHas) {
  TestTrace trace;
  const DeviceBody body = {0x1234, 0x5678, 4, 0xF000};
  std::vector<std::byte> bytes = BodyBytes(body);
  bytes.resize(bytes.size() + 3 * sizeof(uint32_t));
  trace.Add(RecordKind::kDevice, 1, bytes);
  trace.Object(1, Chain::kID3D12Device, 1);
  std::ofstream(folder_ / "a.cairn", std::ios::binary)
      .write(reinterpret_cast<const char*>(trace.Bytes().data()),
             static_cast<std::streamsize>(trace.Bytes().size()));
  const CommandResult result = Cairn({"replay", "a.cairn"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.output, "");
  EXPECT_EQ(Lines(result.errors).size(), 1u);
  EXPECT_THAT(result.errors, HasSubstr("no device with feature level 15_0 can be made here: 0x"));
  EXPECT_THAT(result.errors, HasSubstr("; check with `"));
}

// A trace with a device, and nothing that could be compared.
TEST_F(OtherDeviceTest, ThatNothingWasComparedIsSaidOnceAndNotIfQuiet) {
  const CommandResult said = Replay({"--validate", "--loop", "2"});
  EXPECT_EQ(said.exit_code, 0) << said.Summary();
  EXPECT_EQ(Lines(said.output).size(), 2u);
  EXPECT_EQ(
      said.errors,
      "cairn replay: warning: nothing was compared: the trace has nothing that the program read "
      "back, and no hashes; record it with cairn run --capture --hash-frames, and --hash-resources "
      "for --validate=all\n");
  const CommandResult quiet = Replay({"--validate", "--quiet"});
  EXPECT_EQ(quiet.exit_code, 0) << quiet.Summary();
  EXPECT_EQ(quiet.output + quiet.errors, "");
}

// ---- GPU work that does not end -----------------------------------------------------------------------

TEST_F(ReplayVerbTest, AHangEndsThePlaybackAndNamesThePlace) {
  const CommandResult captured =
      // The sample finds out on a machine under load how much work that is: without the load it may take a
      // tenth of it, and is to outlast the time-out all the same. Nobody waits for its end.
      Cairn({"run", "--capture", "-o", "a.cairn", "--hang-timeout", "2", "--kill-on-hang", "--",
             Program("sample-hang-d3d12-plain"), "--seconds", "60"});
  EXPECT_NE(captured.exit_code, 0);
  const CommandResult result = Cairn({"replay", "--timeout", "2", "a.cairn"});
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_EQ(result.output, "");
  ASSERT_EQ(Lines(result.errors).size(), 1u) << result.Summary();
  EXPECT_THAT(result.errors, HasSubstr("within 2 s: the GPU hangs"));
  // The wait is behind the submission that hangs, which is the trace's last.
  const std::string start = "cairn replay: a.cairn: record ";
  ASSERT_THAT(result.errors, StartsWith(start));
  const uint64_t place = std::stoull(result.errors.substr(start.size()));
  uint64_t submission = 0;
  for (const std::string& line :
       Lines(Cairn({"calls", "--json", "--function", "ExecuteCommandLists", "a.cairn"}).output)) {
    const Json call = Json::Parse(line);
    if (call.value("kind", "") == "call") submission = call["number"].get<uint64_t>();
  }
  EXPECT_GT(submission, 0u);
  EXPECT_GE(place, submission);
}

// ---- Options ------------------------------------------------------------------------------------------

// Gives frames other times.
class Retime final : public RecordFilter {
 public:
  explicit Retime(uint64_t step_ns) : step_ns_(step_ns) {}
  bool Keep(Record* record, uint64_t frame) override {
    FrameBody body;
    if (record->kind != RecordKind::kFrame || record->body.size() < sizeof(body)) return true;
    body_.assign(record->body.begin(), record->body.end());
    std::memcpy(&body, body_.data(), sizeof(body));
    body.time_ns = (frame + 1) * step_ns_;
    std::memcpy(body_.data(), &body, sizeof(body));
    record->body = body_;
    return true;
  }

 private:
  const uint64_t step_ns_;
  std::vector<std::byte> body_;
};

TEST_F(ReplayVerbTest, TheOriginalPaceIsNotFasterThanTheProgramWas) {
  Capture();
  constexpr uint64_t kStep_ns = 50'000'000;
  Result<TraceReader> trace = TraceReader::Open(folder_ / "a.cairn");
  ASSERT_TRUE(trace.ok());
  Result<FileWriter> file = FileWriter::Create(folder_ / "slow.cairn");
  ASSERT_TRUE(file.ok());
  Retime retime(kStep_ns);
  ASSERT_TRUE(CopyTrace(&*trace, &retime, {}, &*file).ok());
  ASSERT_TRUE(file->Finish().ok());

  const std::string fast = Hashes({}, "slow.cairn");
  EXPECT_EQ(Lines(fast).size(), kFrames);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(Hashes({"--pace", "original"}, "slow.cairn"), fast);
  // From the first frame's end to the last one's.
  const std::chrono::nanoseconds least(kStep_ns * (kFrames - 1));
  EXPECT_GE(std::chrono::steady_clock::now() - start, least);
}

TEST_F(ReplayVerbTest, LoopsPlayTheSameEveryTime) {
  Capture();
  const std::string once = Hashes({});
  EXPECT_EQ(Hashes({"--loop", "3"}), once + once + once);
}

TEST_F(ReplayVerbTest, PaddedBuffersAreLargerAndShowTheSame) {
  Capture();
  const std::string once = Hashes({});
  EXPECT_EQ(Hashes({"--pad", "4096"}), once);
  const auto buffer_widths = [this](const std::string& file) {
    std::vector<uint64_t> widths;
    Result<TraceReader> trace = TraceReader::Open(folder_ / file);
    EXPECT_TRUE(trace.ok());
    TraceCursor cursor(*trace);
    Record record;
    while (cursor.Next(&record)) {
      std::span<const std::byte> rest = record.body;
      if (record.kind != RecordKind::kObject) continue;
      const Result<ObjectBody> body = DecodeBody<ObjectBody>(&rest);
      if (!body.ok() || body->facts != kResourceFacts) continue;
      const Result<ResourceFacts> facts = DecodeBody<ResourceFacts>(&rest);
      EXPECT_TRUE(facts.ok());
      D3D12_RESOURCE_DESC desc;
      std::memcpy(&desc, facts->desc, sizeof(desc));
      if (desc.Dimension == D3D12_RESOURCE_DIMENSION_BUFFER) widths.push_back(desc.Width);
    }
    return widths;
  };
  // A capture of the playback shows its calls.
  const CommandResult captured =
      Cairn({"run", "--quiet", "--capture", "-o", "padded.cairn", "--", Program("cairn"), "replay",
             "--quiet", "--pad", "4096", "a.cairn"});
  ASSERT_EQ(captured.exit_code, 0) << captured.Summary();
  std::vector<uint64_t> expected = buffer_widths("a.cairn");
  ASSERT_FALSE(expected.empty());
  for (uint64_t& width : expected) width += 4096;
  EXPECT_EQ(buffer_widths("padded.cairn"), expected);
}

TEST_F(ReplayVerbTest, FramesAreThoseThatTheProgramCounted) {
  Capture();
  const std::vector<std::string> all = Lines(Hashes({}));
  ASSERT_EQ(all.size(), kFrames);
  EXPECT_THAT(Lines(Hashes({"--frames", "5-7"})), ElementsAre(all[5], all[6], all[7]));
  EXPECT_THAT(Lines(Hashes({"--frames", "19"})), ElementsAre(all[19]));
  EXPECT_THAT(Lines(Hashes({"--frames", "18-"})), ElementsAre(all[18], all[19]));
  EXPECT_THAT(all[5], StartsWith("frame 5  "));
}

TEST_F(ReplayVerbTest, FramesThatTheTraceHasNotAreNamed) {
  Capture();
  const auto refused = [this](const std::string& frames, const std::string& file) {
    const CommandResult result =
        Cairn({"replay", "--hash", "--frames", frames, "--images", "images", file});
    EXPECT_EQ(result.exit_code, 1) << result.Summary();
    EXPECT_EQ(result.output, "");
    EXPECT_FALSE(std::filesystem::exists(folder_ / "images"));
    return result.errors;
  };
  const std::string all = "cairn replay: a.cairn has 20 frames, counted from 0: there is no frame ";
  EXPECT_EQ(refused("50", "a.cairn"), all + "50\n");
  EXPECT_EQ(refused("20-", "a.cairn"), all + "20\n");
  EXPECT_EQ(refused("18-20", "a.cairn"), all + "20\n");

  ASSERT_EQ(Cairn({"trim", "--quiet", "--frames", "4-8", "-o", "late.cairn", "a.cairn"}).exit_code,
            0);
  const std::string late =
      "cairn replay: late.cairn holds only frames 4 to 8 of its program: there is no frame ";
  EXPECT_EQ(refused("0-3", "late.cairn"), late + "0\n");
  EXPECT_EQ(refused("0-", "late.cairn"), late + "0\n");
  EXPECT_EQ(refused("4-9", "late.cairn"), late + "9\n");
  EXPECT_EQ(Lines(Hashes({"--frames", "4-8"}, "late.cairn")).size(), 5u);
}

TEST_F(ReplayVerbTest, NumbersThatAreNoneAreRefused) {
  const auto refused = [this](const std::string& option, const std::string& value) {
    const CommandResult result = Cairn({"replay", option, value, "none.cairn"});
    EXPECT_EQ(result.exit_code, 2) << result.Summary();
    return result.errors;
  };
  for (const std::string value : {"-1", "99999999999999999999", "0x10", ""}) {
    EXPECT_EQ(refused("--loop", value),
              "cairn replay: --loop: '" + value +
                  "' is not a count; give 1 or more, or 0 to play until ^C\n");
    EXPECT_EQ(refused("--pad", value), "cairn replay: --pad: '" + value +
                                           "' is not a number of bytes; give one such as 4096\n");
  }
}

// ---- Triggers -----------------------------------------------------------------------------------------

class TriggerTest : public ReplayVerbTest {
 protected:
  std::vector<std::string> RunOf(const std::string& trigger) {
    return Arguments({"run", "--quiet", "--capture", "--hash-frames", "--trigger", trigger, "-o",
                      "a.cairn", "--", Program("sample-scale-d3d12-plain"), "--frames", "1000000",
                      "--calls", "100"});
  }
  // Waits until the program has got so far; else says how far it got.
  AssertionResult ReachesFrame(const Command& run, uint64_t frame) {
    std::string seen;
    uint64_t reached = 0;
    WaitUntil([&] {
      const pid_t child = ChildOf(run.pid());
      if (child <= 0) return !IsRunning(run.pid());
      // While another command runs, whose processes are not of this one.
      seen = OutputBeside({Program("cairn"), "top", "--once", "--json", std::to_string(child)});
      const Json json = Json::Parse(seen);
      if (!json.is_object() || !json.contains("devices") || json["devices"].empty()) return false;
      reached = json["devices"][0].value("frame", 0).get<uint64_t>();
      return reached >= frame;
    });
    if (reached >= frame) return AssertionSuccess();
    return AssertionFailure() << "cairn run " << (IsRunning(run.pid()) ? "runs" : "has ended")
                              << " and said:\n"
                              << run.output() << run.errors() << "\ncairn top said last:\n"
                              << seen;
  }
  bool WaitForBytes(uint64_t bytes) {
    return WaitUntil([&] {
      std::error_code none;
      const uint64_t size = std::filesystem::file_size(folder_ / "a.cairn.part", none);
      return !none && size >= bytes;
    });
  }
  // `start` and `stop` while the program runs; the trace is what lies between.
  void ExpectFramesBetween(const std::string& trigger, const std::function<void(pid_t)>& start,
                           const std::function<void(pid_t)>& stop) {
    Command run(RunOf(trigger), Options());
    ASSERT_TRUE(ReachesFrame(run, 10));
    start(run.pid());
    ASSERT_TRUE(WaitForBytes(100'000));
    stop(run.pid());
    // Two more frames of a program that runs for long: by then the end is written, or comes with the
    // death.
    ASSERT_TRUE(WaitUntil([&] { return HasStop(); }));
    const pid_t child = ChildOf(run.pid());
    ASSERT_GT(child, 0);  // 0 would be this test itself
    KillProcess(child);
    const CommandResult result = run.Wait();
    EXPECT_EQ(result.exit_code, kExitOfKilled) << result.Summary();
    EXPECT_THAT(result.left_behind, IsEmpty());

    const Json info = Json::Parse(Cairn({"info", "--json", "a.cairn"}).output);
    ASSERT_TRUE(info.is_object());
    const uint64_t first = info["trace"]["first_frame"].get<uint64_t>();
    const uint64_t count = info["trace"]["frames"].get<uint64_t>();
    EXPECT_GE(first, 10u);
    ASSERT_GT(count, 0u);
    const std::vector<std::string> lines = Lines(Hashes({}));
    ASSERT_EQ(lines.size(), count);
    EXPECT_THAT(lines.front(), StartsWith("frame " + std::to_string(first) + "  "));
    EXPECT_THAT(lines.back(), StartsWith("frame " + std::to_string(first + count - 1) + "  "));
    const CommandResult validated = Cairn({"replay", "--validate", "a.cairn"});
    EXPECT_EQ(validated.exit_code, 0) << validated.Summary();
    EXPECT_THAT(validated.output, HasSubstr(" images match the recording"));
    EXPECT_EQ(Cairn({"verify", "a.cairn"}).exit_code, 0);
  }

 private:
  bool HasStop() {
    Result<TraceReader> trace = TraceReader::Open(folder_ / "a.cairn.part");
    if (!trace.ok()) return false;
    TraceCursor cursor(*trace);
    Record record;
    bool stopped = false;
    while (cursor.Next(&record)) stopped = record.kind == RecordKind::kStop;
    return stopped;
  }
};

TEST_F(TriggerTest, AFileThatComesAndGoes) {
  const std::string file = folder_ / "now";
  ExpectFramesBetween(
      file, [&](pid_t) { std::ofstream{file} << "x"; },
      [&](pid_t) { std::filesystem::remove(file); });
}

TEST_F(TriggerTest, ASignalAndAnother) {
  ExpectFramesBetween("signal", PullTrigger, PullTrigger);
}

}  // namespace
}  // namespace cairn::testing
