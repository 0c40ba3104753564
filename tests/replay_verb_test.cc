// SPDX-License-Identifier: Apache-2.0
//
// `cairn replay` of traces that this device cannot play, or whose GPU work does not end; its options; and
// captures that a trigger starts and stops while the program runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/testing/json.h"
#include "format/trace/trace_filter.h"
#include "format/trace/trace_reader.h"
#include "harness.h"
#include "reader/replay/testing/test_script.h"

namespace cairn::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

constexpr uint64_t kFrames = 20;

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t start = 0; start < text.size();) {
    const size_t end = std::min(text.find('\n', start), text.size());
    lines.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return lines;
}

// Looks every few milliseconds; false when it took a minute.
bool WaitUntil(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

class ReplayVerbTest : public ::testing::Test {
 protected:
  Command::Options Options(int timeout_s = 120) const {
    return {.folder = folder_.path(), .environment = LavapipeEnvironment(), .timeout_s = timeout_s};
  }
  static std::vector<std::string> Arguments(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), Program("cairn"));
    return arguments;
  }
  CommandResult Cairn(const std::vector<std::string>& arguments) {
    const CommandResult result = RunCommand(Arguments(arguments), Options());
    EXPECT_FALSE(result.timed_out) << result.Summary();
    EXPECT_THAT(result.left_behind, IsEmpty());
    return result;
  }
  void Capture() {
    const CommandResult result = Cairn({"run", "--quiet", "--capture", "--hash-frames", "-o",
                                        "a.cairn", "--", Program("sample-scale-d3d12-plain"),
                                        "--frames", std::to_string(kFrames), "--calls", "100"});
    ASSERT_EQ(result.exit_code, 0) << result.Summary();
  }
  // What `cairn replay --hash` prints: a line for each frame.
  std::string Hashes(std::vector<std::string> options, const std::string& file = "a.cairn") {
    options.insert(options.begin(), {"replay", "--hash", "--quiet"});
    options.push_back(file);
    const CommandResult result = Cairn(options);
    EXPECT_EQ(result.exit_code, 0) << result.Summary();
    EXPECT_EQ(result.errors, "");
    return result.output;
  }

  TemporaryFolder folder_;
};

// ---- Devices that lack something --------------------------------------------------------------------

class OtherDeviceTest : public ReplayVerbTest {
 protected:
  // What the program asked its device, and what that said.
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

// libvkd3d 1.2 has ID3D12Device only.
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
  EXPECT_THAT(result.output, HasSubstr("; 1 call left out"));
  EXPECT_EQ(
      result.errors,
      "cairn replay: warning: left out (call " + std::to_string(call) +
          "): ID3D12Device4::CreateCommandList1: this device has no ID3D12Device4; it succeeded "
          "when it was recorded; the devices differ in D3D12_FEATURE_D3D12_OPTIONS\n");
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
  EXPECT_THAT(
      result.errors,
      MatchesRegex(
          "cairn replay: warning: left out .call [0-9]+.: ID3D12Device::CreateHeap: this device "
          "refuses it with 0x[0-9A-F]+; it succeeded when it was recorded; the "
          "devices differ in D3D12_FEATURE_D3D12_OPTIONS\n"));
}

TEST_F(OtherDeviceTest, WhatAnswersTheSameDoesNotDiffer) {
  D3D12_HEAP_DESC desc = {};
  desc.Properties.Type = D3D12_HEAP_TYPE_DEFAULT;
  desc.Flags = D3D12_HEAP_FLAG_ALLOW_ONLY_BUFFERS;
  script_.Create(Method::ID3D12Device_CreateHeap, Chain::kID3D12Heap, &desc, __uuidof(ID3D12Heap));
  const CommandResult result = Replay();
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.errors, ::testing::EndsWith("it succeeded when it was recorded\n"));
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
  EXPECT_THAT(result.errors, HasSubstr("; check with `vulkaninfo`"));
}

// A trace with a device, and nothing that could be compared.
TEST_F(OtherDeviceTest, ThatNothingWasComparedIsSaidOnceAndNotIfQuiet) {
  const CommandResult said = Replay({"--validate", "--loop", "2"});
  EXPECT_EQ(said.exit_code, 0) << said.Summary();
  EXPECT_EQ(Lines(said.output).size(), 2u);
  EXPECT_EQ(
      said.errors,
      "cairn replay: warning: nothing was compared: cairn run --capture --hash-frames records "
      "images' hashes\n");
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
  // Where it waits: behind the submission that hangs, which is the trace's last.
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

// ---- What kills the playback --------------------------------------------------------------------------

class DeathTest : public ReplayVerbTest {
 protected:
  void SetUp() override {
    const CommandResult captured = Cairn({"run", "--quiet", "--capture", "-o", "a.cairn", "--",
                                          Program("sample-fault-d3d12-plain")});
    ASSERT_EQ(captured.exit_code, 128 + SIGSEGV) << captured.Summary();
    for (const std::string& line :
         Lines(Cairn({"calls", "--json", "--function", "ExecuteCommandLists", "a.cairn"}).output)) {
      const Json call = Json::Parse(line);
      if (call.value("kind", "") == "call") submission_ = call["number"].get<uint64_t>();
    }
    ASSERT_NE(submission_, 0u);
  }
  // Who asked for the playback lives on and says what killed it, and where: a thread of lavapipe faults.
  void ExpectDeathIsTold(const CommandResult& result, const std::string& verb) {
    EXPECT_EQ(result.exit_code, 4) << result.Summary();
    EXPECT_EQ(result.output, "");
    ASSERT_EQ(Lines(result.errors).size(), 1u) << result.Summary();
    EXPECT_THAT(
        result.errors,
        MatchesRegex("cairn " + verb +
                     ": .*: the playback died of SIGSEGV in a thread of the driver, when "
                     "the playback was at call [0-9,]+, ID3D12[A-Za-z0-9]+::[A-Za-z0-9]+; the "
                     "GPU may have been at work on the submission of call " +
                     std::to_string(submission_) +
                     "; cairn bisect .* finds the work that does it\n"));
  }

  uint64_t submission_ = 0;
};

TEST_F(DeathTest, ReplaySaysWhatKilledItAndWhere) {
  ExpectDeathIsTold(Cairn({"replay", "a.cairn"}), "replay");
  // For a debugger.
  const CommandResult here = Cairn({"replay", "--in-process", "a.cairn"});
  EXPECT_EQ(here.exit_code, 128 + SIGSEGV) << here.Summary();
}

TEST_F(DeathTest, ImagesSaysItAndLeavesNoFolder) {
  ExpectDeathIsTold(Cairn({"images", "-o", "images", "a.cairn"}), "images");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "images"));
}

// Also which of the traces it was.
TEST_F(DeathTest, DiffSaysItAndLeavesNoFolder) {
  const CommandResult captured = Cairn({"run", "--quiet", "--capture", "-o", "good.cairn", "--",
                                        Program("sample-triangle-d3d12-plain"), "sample.png"});
  ASSERT_EQ(captured.exit_code, 0) << captured.Summary();
  const CommandResult result = Cairn({"diff", "--images", "-o", "new", "good.cairn", "a.cairn"});
  EXPECT_EQ(result.exit_code, 2) << result.Summary();
  EXPECT_EQ(result.output, "");
  EXPECT_THAT(
      result.errors,
      MatchesRegex("cairn diff: a.cairn: the playback died of SIGSEGV .*submission of call " +
                   std::to_string(submission_) + "; .*\n"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "new"));
}

// Traces of crashes have no whole frames: the playback of a good one is made to die.
TEST_F(ReplayVerbTest, TrimSaysThatItsPlaybackDiedAndLeavesNoFile) {
  const CommandResult captured =
      Cairn({"run", "--quiet", "--capture", "-o", "a.cairn", "--",
             Program("sample-scale-d3d12-plain"), "--frames", "300", "--calls", "1000"});
  ASSERT_EQ(captured.exit_code, 0) << captured.Summary();
  Command trim(Arguments({"trim", "--frames", "0-299", "-o", "b.cairn", "a.cairn"}), Options());
  pid_t player = 0;
  ASSERT_TRUE(WaitUntil([&] {
    const pid_t replay = ChildOf(trim.pid());
    if (replay > 0) player = ChildOf(replay);
    // Who plays has a group of its own. Before, a child tries whether the library can be loaded.
    return player > 0 && getpgid(player) == player;
  }));
  kill(player, SIGSEGV);
  const CommandResult result = trim.Wait();
  EXPECT_EQ(result.exit_code, 4) << result.Summary();
  EXPECT_THAT(result.left_behind, IsEmpty());
  EXPECT_EQ(result.output, "");
  EXPECT_THAT(result.errors, MatchesRegex("cairn trim: .*the playback died of SIGSEGV .*\n"));
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
    EXPECT_EQ(entry.path().filename(), "a.cairn");
  }
}

// Who ends the playback on purpose ends both.
TEST_F(ReplayVerbTest, KillingThePlaybackLeavesNothingBehind) {
  Capture();
  for (const int number : {SIGKILL, SIGTERM}) {
    Command endless(Arguments({"replay", "--hash", "--quiet", "--loop", "0", "a.cairn"}),
                    Options());
    ASSERT_TRUE(WaitUntil([&] { return Lines(endless.output()).size() > kFrames; }));
    kill(endless.pid(), number);
    const CommandResult result = endless.Wait();
    EXPECT_EQ(result.exit_code, number == SIGKILL ? 128 + SIGKILL : 0) << result.Summary();
    EXPECT_THAT(result.left_behind, IsEmpty());
  }
  // The playback itself, by somebody else.
  Command endless(Arguments({"replay", "--hash", "--quiet", "--loop", "0", "a.cairn"}), Options());
  ASSERT_TRUE(WaitUntil([&] { return Lines(endless.output()).size() > kFrames; }));
  kill(ChildOf(endless.pid()), SIGKILL);
  const CommandResult result = endless.Wait();
  EXPECT_EQ(result.exit_code, 4) << result.Summary();
  EXPECT_THAT(result.errors, HasSubstr("the playback died of SIGKILL at call "));
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

  // Until ^C: the exit code is 0, and all that was printed is whole.
  Command endless(Arguments({"replay", "--hash", "--quiet", "--loop", "0", "a.cairn"}), Options());
  ASSERT_TRUE(WaitUntil([&] { return Lines(endless.output()).size() > 2 * kFrames; }));
  kill(endless.pid(), SIGINT);
  const CommandResult result = endless.Wait();
  EXPECT_EQ(result.exit_code, 0) << result.Summary();
  EXPECT_THAT(result.left_behind, IsEmpty());
  EXPECT_THAT(result.errors, StartsWith("cairn replay: warning: stopped after "));
  const std::vector<std::string> lines = Lines(result.output);
  const std::vector<std::string> expected = Lines(once);
  ASSERT_GT(lines.size(), 2 * kFrames);
  for (size_t i = 0; i < lines.size(); ++i) EXPECT_EQ(lines[i], expected[i % kFrames]) << i;
  EXPECT_EQ(result.output.back(), '\n');
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
  // What the playback makes, seen by a capture of it.
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
      "cairn replay: late.cairn has the frames 4 to 8 of its program: there is no frame ";
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
    EXPECT_EQ(refused("--loop", value), "cairn replay: --loop: '" + value +
                                            "' is no count; give 1 or more, or 0 for until ^C\n");
    EXPECT_EQ(refused("--pad", value),
              "cairn replay: --pad: '" + value + "' is no number of bytes; give 4096, say\n");
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
  // Whether the program has got so far.
  bool WaitForFrame(const Command& run, uint64_t frame) {
    return WaitUntil([&] {
      const pid_t child = ChildOf(run.pid());
      if (child <= 0) return false;
      const CommandResult top =
          Peek({Program("cairn"), "top", "--once", "--json", std::to_string(child)});
      const Json json = Json::Parse(top.output);
      if (!json.is_object() || !json.contains("devices") || json["devices"].empty()) return false;
      return json["devices"][0].value("frame", 0).get<uint64_t>() >= frame;
    });
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
    ASSERT_TRUE(WaitForFrame(run, 10));
    start(run.pid());
    ASSERT_TRUE(WaitForBytes(100'000));
    stop(run.pid());
    // Two more frames of a program that runs for long: by then the end is written, or comes with the
    // death.
    ASSERT_TRUE(WaitUntil([&] { return HasStop(); }));
    const pid_t child = ChildOf(run.pid());
    ASSERT_GT(child, 0);  // 0 would be this test itself
    kill(child, SIGTERM);
    const CommandResult result = run.Wait();
    EXPECT_EQ(result.exit_code, 128 + SIGTERM) << result.Summary();
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
    EXPECT_THAT(validated.output, HasSubstr(" images are what they were"));
    EXPECT_EQ(Cairn({"verify", "a.cairn"}).exit_code, 0);
  }

 private:
  // Unlike Cairn(), while another command runs: what that has started is not of this one.
  CommandResult Peek(const std::vector<std::string>& command) {
    const std::string line = [&] {
      std::string text;
      for (const std::string& part : command) text += "'" + part + "' ";
      return text + "> '" + (folder_ / "peek") + "' 2> /dev/null";
    }();
    CommandResult result;
    result.exit_code = std::system(line.c_str());
    result.output = ReadFile(folder_ / "peek");
    return result;
  }
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
  ExpectFramesBetween(
      "signal", [](pid_t run) { kill(run, SIGUSR1); }, [](pid_t run) { kill(run, SIGUSR1); });
}

}  // namespace
}  // namespace cairn::testing
