// SPDX-License-Identifier: Apache-2.0
//
// Files of less than 1 MiB that stand for gigabytes: however they do it, every verb that reads files answers
// with no more than 512 MiB of memory and of output, and says that something was left out.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cairn/marker_types.h"

#include "format/calls/call_builder.h"
#include "format/file/file_cost.h"
#include "format/file/file_writer.h"
#include "format/snapshot/snapshot_file.h"
#include "format/snapshot/testing/full_tables.h"
#include "format/trace/testing/test_trace.h"
#include "format/trace/trace_reader.h"
#include "format/trace/trace_writer.h"
#include "harness.h"

namespace cairn::testing {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr uint64_t kMostBytes = uint64_t{512} << 20;
// Seconds of processor time, at most. The bound is 10 s on an idle machine; a busy one takes longer.
constexpr double kMostSeconds = 30;
// Address space that is no memory: code, the stack and the arena of a second thread.
[[maybe_unused]] constexpr uint64_t kUnusedBytes = uint64_t{224} << 20;

struct Answer {
  int status = 0;  // as waitpid gives it
  double processor_s = 0;
  uint64_t output_bytes = 0;
  std::string output;  // its end
  std::string errors;
};

// Runs a verb. Its output is counted and, but for the end, thrown away.
Answer Ask(const std::vector<std::string>& words, const std::string& folder) {
  int out[2] = {-1, -1};
  const std::string errors = folder + "/errors";
  std::vector<std::string> arguments = {Program("cairn")};
  arguments.insert(arguments.end(), words.begin(), words.end());
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  EXPECT_EQ(pipe2(out, O_CLOEXEC), 0);
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit = {kMostBytes + kUnusedBytes, kMostBytes + kUnusedBytes};
    setrlimit(RLIMIT_AS, &limit);
    dup2(out[1], STDOUT_FILENO);
    dup2(open(errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
    execv(argv[0], argv.data());
    _exit(127);
  }
  close(out[1]);
  Answer answer;
  std::string piece(1 << 20, '\0');
  constexpr size_t kKept = 1 << 20;
  for (ssize_t count = 0; (count = read(out[0], piece.data(), piece.size())) > 0;) {
    answer.output_bytes += static_cast<uint64_t>(count);
    answer.output.append(piece, 0, static_cast<size_t>(count));
    if (answer.output.size() > 2 * kKept) answer.output.erase(0, answer.output.size() - kKept);
  }
  close(out[0]);
  rusage used = {};
  wait4(child, &answer.status, 0, &used);
  for (const timeval& time : {used.ru_utime, used.ru_stime}) {
    answer.processor_s +=
        static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  }
  answer.errors = ReadFile(errors);
  return answer;
}

// A verb that fails must not have run out of memory, nor died.
void ExpectBounded(const std::vector<std::string>& words, const Answer& answer) {
  const std::string what = ::testing::PrintToString(words);
  EXPECT_TRUE(WIFEXITED(answer.status)) << what << " died: " << answer.status << answer.errors;
  EXPECT_LE(answer.output_bytes, kMostBytes) << what;
  // The bound of the whole process is for what nobody has thought of.
  EXPECT_THAT(answer.errors, Not(AnyOf(HasSubstr("bad_alloc"), HasSubstr("no memory"),
                                       HasSubstr("CAIRN_NO_LIMITS"))))
      << what;
  EXPECT_LE(answer.processor_s, kMostSeconds) << what;
}

// ---- Snapshots -------------------------------------------------------------------------------------

class SmallFiles : public ::testing::Test {
 protected:
  // The kept dumps of cairn triage are not this user's.
  SmallFiles() { setenv("XDG_CACHE_HOME", (folder_ / "cache").c_str(), 1); }
  std::string path() const { return folder_ / "small.cairn"; }

  void Write(const Snapshot& snapshot) {
    Result<FileWriter> file = FileWriter::Create(path(), Compression::kZstdSmall);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(WriteSnapshot(snapshot, &*file).ok());
    ASSERT_TRUE(file->Finish().ok());
  }
  void Write(TestTrace& trace) {
    ASSERT_TRUE(trace.status().ok()) << trace.status().message();
    const std::vector<std::byte>& bytes = trace.Bytes();
    std::FILE* const file = std::fopen(path().c_str(), "wb");
    ASSERT_EQ(std::fwrite(bytes.data(), 1, bytes.size(), file), bytes.size());
    std::fclose(file);
  }
  using Words = std::vector<std::string>;

  // Asks, and looks for each of `said` in the answer's end or among the errors.
  void Expect(Words words, const Words& said) {
    ASSERT_LT(std::filesystem::file_size(path()), kSmallFileBytes);
    words.push_back(path());
    const Answer answer = Ask(words, folder_.path().string());
    ExpectBounded(words, answer);
    for (const std::string& each : said) {
      EXPECT_TRUE(answer.output.find(each) != std::string::npos ||
                  answer.errors.find(each) != std::string::npos)
          << ::testing::PrintToString(words) << " does not say '" << each << "': " << answer.errors
          << answer.output.substr(answer.output.size() -
                                  std::min<size_t>(answer.output.size(), 2000));
    }
  }
  // Every verb about a dump says each of `said`, and `report --all` also `all_says`.
  void ExpectReports(const Words& said, const Words& all_says = {}) {
    for (const Words& words : std::vector<Words>{{"report"},
                                                 {"report", "--json"},
                                                 {"report", "--json", "--redact"},
                                                 {"info", "--json"},
                                                 {"info"}}) {
      Expect(words, said);
    }
    Words all = said;
    all.insert(all.end(), all_says.begin(), all_says.end());
    Expect({"report", "--all"}, all);
  }

  static Snapshot OneDevice() {
    Snapshot snapshot;
    snapshot.process.process_id = 1;
    snapshot.process.program = snapshot.AddText("game");
    Device device;
    device.api = Api::kD3D12;
    snapshot.devices.push_back(device);
    Queue queue;
    queue.device = 0;
    snapshot.queues.push_back(queue);
    return snapshot;
  }
  // A list that the GPU is in the middle of.
  static Recording List(uint32_t first_event, uint32_t event_count) {
    Recording list;
    list.device = 0;
    list.queue = 0;
    list.recording_id = 1;
    list.first_event = first_event;
    list.event_count = event_count;
    list.reached = 1;
    list.submit_count = 1;
    return list;
  }
  static Event Begin(TextRef name) {
    Event event;
    event.type = CAIRN_MARKER_DRAW_INSTANCED;
    event.flags = kEventWritesTop | kEventWritesBottom;
    event.name = name;
    return event;
  }

  TemporaryFolder folder_;
};

TEST_F(SmallFiles, OfMillionsOfLevels) {
  constexpr uint32_t kLevels = 8'000'000;
  Snapshot snapshot = OneDevice();
  snapshot.events.assign(kLevels, Begin(snapshot.AddText("level")));
  snapshot.recordings.push_back(List(0, kLevels));
  Write(snapshot);
  ExpectReports({"events would cost more than a file of this size may"});
}

TEST_F(SmallFiles, OfLongNamesThatEverythingHas) {
  constexpr uint32_t kEvents = 400'000;
  Snapshot snapshot = OneDevice();
  const TextRef name = snapshot.AddText(std::string(60'000, '\x1b'));
  Pipeline pipeline;
  pipeline.device = 0;
  pipeline.name = name;
  pipeline.shader_names.fill(name);
  snapshot.pipelines.push_back(pipeline);
  Event begin = Begin(name);
  begin.pipeline = 0;
  snapshot.events.assign(kEvents, begin);
  for (uint32_t i = 1; i < kEvents; i += 2) {
    snapshot.events[i] = {};
    snapshot.events[i].kind = EventKind::kEnd;
    snapshot.events[i].match = i;
    snapshot.events[i - 1].match = i + 1;
  }
  snapshot.recordings.push_back(List(0, kEvents));
  snapshot.recordings.back().name = name;
  snapshot.devices[0].notes = snapshot.devices[0].name = name;
  snapshot.queues[0].name = name;
  for (uint32_t i = 0; i < 100'000; ++i) {
    Object object;
    object.state = ObjectState::kAlive;
    object.device = 0;
    object.name = name;
    snapshot.objects.push_back(object);
  }
  Write(snapshot);
  ExpectReports({"names of more than 4,096 bytes are cut there",
                 "references to names are cut after 64 bytes"},
                {"a report has no more than 192 MiB"});
  Expect({"report", "--width", "80", "--all"}, {"a report has no more than 192 MiB"});
}

TEST_F(SmallFiles, OfSubmissionsWithoutEnd) {
  constexpr uint32_t kScopes = 200'000;
  Snapshot snapshot = OneDevice();
  snapshot.events.assign(kScopes, Begin({}));
  snapshot.recordings.push_back(List(0, kScopes));
  snapshot.recordings.back().reusable = true;
  snapshot.recordings.back().name = snapshot.AddText(std::string(1000, 'n'));
  Submission submission;
  submission.queue = 0;
  submission.recording = 0;
  for (uint32_t i = 0; i < 400'000; ++i) {
    submission.serial = i;
    submission.run = i + 1;
    submission.number = i / 200'000;
    snapshot.submissions.push_back(submission);
  }
  for (uint32_t i = 0; i < 50'000; ++i) {
    ReportedEventId reported;
    reported.device = 0;
    reported.event_id = i;
    snapshot.reported_event_ids.push_back(reported);
  }
  Write(snapshot);
  ExpectReports({"submissions are skipped"});
}

TEST_F(SmallFiles, OfMoreObjectsAndThreadsThanAProgramHas) {
  Snapshot snapshot = OneDevice();
  Object object;
  object.state = ObjectState::kAlive;
  object.device = 0;
  snapshot.objects.assign(1'000'000, object);
  Thread thread;
  thread.name = snapshot.AddText(std::string(3000, 't'));
  snapshot.threads.assign(1'000'000, thread);
  Write(snapshot);
  ExpectReports({"objects are skipped"});
}

// Every verb that reads dumps, of files in which every row has a long name.
TEST_F(SmallFiles, WhoseTablesAreFull) {
  struct Form {
    size_t rows;
    uint32_t inner_rows;
    std::vector<ChunkType> chunks;
  };
  for (const Form& form : {Form{20'000, 4, {}}, Form{8, 120'000, {kThreadChunk}},
                           Form{100'000, 3, {kThreadChunk}}, Form{1, 4096, {kKernelLogChunk}},
                           Form{400'000, 16, {kFaultChunk, kObjectChunk, kDestructionChunk}},
                           Form{200'000, 16, {kPipelineChunk, kQueueMarkerChunk, kSyncChunk}}}) {
    Snapshot snapshot = OneDevice();
    Incident incident;
    incident.kind = IncidentKind::kSignal;
    incident.value = 11;
    snapshot.incidents.push_back(incident);
    TableFiller filler(&snapshot, form.rows, form.inner_rows, std::string(4096, 'n'));
    filler.Choose(form.chunks);
    VisitTables(filler, snapshot);
    Write(snapshot);
    for (const Words& words :
         std::vector<Words>{{"report", "--all"},
                            {"report", "--json"},
                            {"report", "--json", "--redact"},
                            {"report", "--redact", "--all"},
                            {"report", "--html", folder_ / "page.html", "--force"},
                            {"info"},
                            {"triage"},
                            {"triage", "--jsonl"},
                            {"triage", "--html", folder_ / "page.html", "--force"},
                            {"export", "--perfetto", "-o", folder_ / "out.pftrace"}}) {
      Expect(words, {});
      for (const char* const name : {"page.html", "out.pftrace"}) {
        std::error_code none;
        const uint64_t size = std::filesystem::file_size(folder_ / name, none);
        EXPECT_TRUE(none || size <= kMostBytes) << name << " has " << size << " bytes";
      }
    }
  }
}

TEST_F(SmallFiles, OfMoreDevicesThanABlockHas) {
  Snapshot snapshot = OneDevice();
  snapshot.devices.assign(200'000, snapshot.devices[0]);
  Write(snapshot);
  ExpectReports({"is damaged"});
}

TEST_F(SmallFiles, WhoseChunksDecodeToGigabytes) {
  Result<FileWriter> file = FileWriter::Create(path(), Compression::kZstdSmall);
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(WriteSnapshot(OneDevice(), &*file).ok());
  const std::vector<std::byte> zeros(size_t{60} << 20);
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE(file->Append(MakeChunkType("TEXT"), zeros).ok());
  }
  ASSERT_TRUE(file->Finish().ok());
  Expect({"report"}, {"is skipped: it would decode to 62914560 bytes"});
  Expect({"info"}, {"is skipped: it would decode to 62914560 bytes"});
}

// ---- Traces ----------------------------------------------------------------------------------------

constexpr uint64_t kDevice = 1, kList = 2, kQueue = 3, kBuffer = 4, kHeap = 5, kOther = 6;

void MakeObjects(TestTrace* trace) {
  trace->Object(kDevice, Chain::kID3D12Device, kDevice);
  trace->Object(kList, Chain::kID3D12GraphicsCommandList, kDevice);
  trace->Object(kQueue, Chain::kID3D12CommandQueue, kDevice);
  ResourceFacts buffer{};
  buffer.size_bytes = 1 << 20;
  trace->Resource(kBuffer, kDevice, 0, buffer);
}

TEST_F(SmallFiles, OfMillionsOfCalls) {
  TestTrace trace(Compression::kZstdSmall);
  MakeObjects(&trace);
  const auto body = CallBuilder().Call(Method::ID3D12GraphicsCommandList_Dispatch, 1, 1, 1);
  for (int i = 0; i < 2'400'000; ++i) {
    trace.Call(Method::ID3D12GraphicsCommandList_Dispatch, kList, body.bytes);
  }
  Write(trace);
  for (const Words& words : std::vector<Words>{{"calls"},
                                               {"calls", "--json"},
                                               {"calls", "--json", "--whole"},
                                               {"calls", "--submission", "1"},
                                               {"verify"},
                                               {"objects", "--json"},
                                               {"state", "--call", "1000000"},
                                               {"diff", path()}}) {
    Expect(words, {"are skipped: of a file of "});
  }
  // A playback needs all of them.
  Result<TraceReader> played = TraceReader::Open(path());
  ASSERT_TRUE(played.ok());
  EXPECT_TRUE(played->losses().empty());
  EXPECT_EQ(played->spans().back().last_number, trace.number);
  Expect({"repack", "-o", folder_ / "repacked.cairn"}, {});
  played = TraceReader::Open(folder_ / "repacked.cairn");
  ASSERT_TRUE(played.ok());
  EXPECT_EQ(played->spans().back().last_number, trace.number);
}

// Each call names a thousand objects, each of them with a long name.
TEST_F(SmallFiles, OfCallsWithLongNames) {
  TestTrace trace(Compression::kZstdSmall);
  MakeObjects(&trace);
  trace.Make(Method::ID3D12Object_SetName, kList, std::u16string(1000, u'\x202e').c_str());
  const std::vector<void*> lists(500, ObjectPointer(kList));
  const auto body =
      CallBuilder().Call(Method::ID3D12CommandQueue_ExecuteCommandLists, 500, lists.data());
  ASSERT_TRUE(body.ok);
  for (int i = 0; i < 100; ++i) {
    trace.Call(Method::ID3D12CommandQueue_ExecuteCommandLists, kQueue, body.bytes);
  }
  Write(trace);
  Expect({"calls", "--json"}, {"are listed without arguments: a file of "});
  Expect({"calls", "--whole"}, {});
  Expect({"diff", path()}, {"no call differs"});
  Expect({"state", "--call", "7", "--json"}, {"no command list records"});
}

// The same, but so that nothing can be counted instead of printed.
TEST_F(SmallFiles, OfCallsThatNameManyThings) {
  TestTrace trace(Compression::kZstdSmall);
  MakeObjects(&trace);
  trace.Object(kOther, Chain::kID3D12GraphicsCommandList, kDevice);
  for (const uint64_t list : {kList, kOther}) {
    trace.Make(Method::ID3D12Object_SetName, list, std::u16string(1000, u'\x202e').c_str());
  }
  // Every later record waits for the fence's result.
  void* fence = nullptr;
  struct {
    uint8_t bytes[16];
  } const iid = {};
  trace.Make(Method::ID3D12Device_CreateFence, kDevice, 0, 0, iid, &fence);
  std::vector<void*> lists(500, ObjectPointer(kList));
  for (size_t i = 0; i < lists.size(); i += 2) lists[i] = ObjectPointer(kOther);
  const auto body =
      CallBuilder().Call(Method::ID3D12CommandQueue_ExecuteCommandLists, 500, lists.data());
  ASSERT_TRUE(body.ok);
  for (int i = 0; i < 60'000; ++i) {
    trace.Call(Method::ID3D12CommandQueue_ExecuteCommandLists, kQueue, body.bytes);
  }
  Write(trace);
  Expect({"calls", "--json"}, {"are listed without arguments: a file of "});
  Expect({"calls", "--whole"}, {"are listed without arguments: a file of "});
  Expect({"diff", path()}, {"say more than a file of its size may"});
}

// The same mebibyte is written again and again, and stands in the file once.
TEST_F(SmallFiles, OfWritesOfTheSameBytes) {
  TestTrace trace(Compression::kZstdSmall);
  MakeObjects(&trace);
  const uint64_t blob = trace.Blob(std::vector<std::byte>(kMaxBlobBytes, std::byte{7}));
  constexpr uint32_t kParts = 64;
  std::vector<std::byte> parts;
  for (uint32_t i = 0; i < kParts; ++i) {
    const auto* const number = reinterpret_cast<const std::byte*>(&blob);
    parts.insert(parts.end(), number, number + sizeof(blob));
  }
  struct __attribute__((packed)) InBlobs {
    uint32_t mark = kBytesInBlobs;
    uint64_t size = uint64_t{kParts} * kMaxBlobBytes;
    uint32_t parts = kParts;
  };
  const auto write = BodyBytes(MemoryBody{}, BodyBytes(InBlobs{}, parts));
  for (int i = 0; i < 20'000; ++i) trace.Add(RecordKind::kMemory, kBuffer, write);
  Write(trace);
  Expect({"calls", "--whole"}, {"are listed without arguments: a file of "});
  Expect({"calls", "--whole", "--json"}, {"are listed without arguments: a file of "});
  Expect({"calls"}, {"67,108,864 bytes"});
  Expect({"verify"}, {});
}

// A million objects, and each of them has a name of its own.
TEST_F(SmallFiles, OfAMillionObjects) {
  TestTrace trace(Compression::kZstdSmall);
  MakeObjects(&trace);
  trace.Make(Method::ID3D12Object_SetName, kList, std::u16string(1000, u'n').c_str());
  const auto body =
      CallBuilder().Call(Method::ID3D12Object_SetName, std::u16string(1000, u'n').c_str());
  for (uint64_t i = 10; i < 500'000; ++i) {
    trace.Object(i, Chain::kID3D12Resource, kDevice);
    if (i < 200'000) trace.Call(Method::ID3D12Object_SetName, i, body.bytes);
  }
  Write(trace);
  Expect({"objects"}, {"contradict others"});
  Expect({"objects", "--json"}, {"contradict others"});
  Expect({"calls", "--json"}, {"could not be read"});
  Expect({"verify"}, {"more than a file of this size may have"});
}

TEST_F(SmallFiles, OfCopiesOfDescriptors) {
  TestTrace trace(Compression::kZstdSmall);
  MakeObjects(&trace);
  DescriptorHeapFacts heap{};
  heap.count = 1'000'000;
  heap.increment_bytes = 32;
  heap.cpu_start = 0x100000;
  heap.gpu_start = 0x900000;
  trace.DescriptorHeap(kHeap, kDevice, 0, heap);
  trace.Make(Method::ID3D12Device_CreateUnorderedAccessView, kDevice, ObjectPointer(kBuffer),
             nullptr, nullptr, heap.cpu_start);
  for (int i = 0; i < 1000; ++i) {
    trace.Make(Method::ID3D12Device_CopyDescriptorsSimple, kDevice, 900'000, heap.cpu_start + 32,
               heap.cpu_start, 0);
  }
  const uint64_t dispatch = trace.Make(Method::ID3D12GraphicsCommandList_Dispatch, kList, 1, 1, 1);
  Write(trace);
  Expect({"state", "--call", std::to_string(dispatch)}, {"descriptors are copied than a file of "});
}

}  // namespace
}  // namespace cairn::testing
