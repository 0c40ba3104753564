// SPDX-License-Identifier: Apache-2.0
//
// For tests: a session whose processes and files are made up, so that everything can happen at any
// time. Forbidden actions of a session are checked wherever it would take them.
#ifndef CAIRN_WATCHER_TESTING_SESSION_SCENE_H_
#define CAIRN_WATCHER_TESTING_SESSION_SCENE_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <new>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cairn/marker_types.h"

#include "format/block/capture_region.h"
#include "format/snapshot/testing/test_block.h"
#include "watcher/session.h"
#include "watcher/testing/test_signals.h"

namespace cairn {

inline constexpr uint64_t kSecond = 1'000'000'000;
inline constexpr ProcessId kGame = 71;
inline constexpr ProcessId kChild = 72;

// A block with work that was submitted and never finishes.
inline SharedMemory BlockWithWork() {
  static constexpr size_t kPage = 4096;
  static const auto& written = *[] {
    TestBlock block;
    const uint32_t context = block.AddContext();
    const uint32_t queue = block.AddQueue(context, 0, "Graphics");
    const TestBlock::List list = block.AddList(context, queue, 1, "Main");
    block.Scope(list, CAIRN_MARKER_DISPATCH, "Blur");
    block.Close(list);
    block.Submit(queue, list);
    auto* pages = new std::map<size_t, std::array<std::byte, kPage>>;
    for (size_t at = 0; at < block.bytes().size(); at += kPage) {
      const auto page = block.bytes().subspan(at, kPage);
      if (std::all_of(page.begin(), page.end(), [](std::byte b) { return b == std::byte{}; })) {
        continue;
      }
      std::memcpy((*pages)[at].data(), page.data(), kPage);
    }
    return pages;
  }();
  SharedMemory memory = std::move(SharedMemory::Create("test", kTestBlockBytes)).value();
  for (const auto& [at, page] : written) std::memcpy(memory.data() + at, page.data(), kPage);
  return memory;
}

struct FakeProcess {
  std::string program = "game";
  std::string command_line = "./game";
  SharedMemory block;  // the last one that it handed over
  ProcessCondition condition = ProcessCondition::kRunning;
  bool dead = false;
  ProcessEnd end;
  bool keeps_number = true;  // once dead, somebody who comes late still learns how it ended
  std::vector<int> signals;
  int kills = 0;
};

struct FakeReport {
  ProcessId process = 0;
  std::string path;
  std::string program;
  std::vector<std::string> why_no_block;
  std::vector<IncidentKind> incidents;
  bool of_kept_state = false;  // not of the state at the end
};

// A session's fake environment, and a log of the session's actions.
class FakeWorld final : public WatchedSystem, public SessionOutput {
 public:
  std::map<ProcessId, FakeProcess> processes;
  std::deque<ReceivedMessage> messages;
  uint64_t now_ns = kSecond;
  uint64_t turned_away = 0;
  size_t room = 100;  // processes that may be watched
  std::vector<ProcessId> with_block;
  std::vector<Descendant> descendants;  // looked at only where the session follows them
  std::map<ProcessId, ProcessLook> looks;
  Status report_error;
  bool out_of_memory = false;
  std::set<std::string> in_the_way;  // names that cannot be used

  std::map<uint64_t, ProcessId> watched;  // by the session's number, while it is
  std::set<ProcessId> captured;           // that have a capture now
  std::map<std::string, std::set<ProcessId>> writers;
  std::vector<FakeReport> reports;
  int captures_refused = 0;
  uint32_t captures_begun = 0;
  int triggers = 0;
  bool capture_ends_slowly = false;  // not as long as this is true

  void Send(ProcessId sender, HandoverKind kind, const SharedMemory* memory = nullptr) {
    ReceivedMessage received;
    received.message.kind = kind;
    received.sender.pid = sender;
    if (memory != nullptr) {
      received.message.block_bytes = memory->size_bytes();
      received.memory = AttachedMemory::Of(*memory);
    }
    messages.push_back(std::move(received));
  }
  void SendBlock(ProcessId sender) {
    FakeProcess& process = processes[sender];
    process.block = BlockWithWork();
    Send(sender, HandoverKind::kBlock, &process.block);
  }
  void SendCapture(ProcessId sender) {
    static const SharedMemory& region =
        *new SharedMemory(std::move(SharedMemory::Create("test", kCaptureRegionBytes)).value());
    Send(sender, HandoverKind::kCapture, &region);
  }
  void LoseDevice(ProcessId sender) {
    if (std::byte* const block = processes[sender].block.data(); block != nullptr) {
      const auto& header = *reinterpret_cast<const BlockHeader*>(block);
      auto& context = *reinterpret_cast<ContextRecord*>(block + header.contexts_offset);
      context.device_lost_code = -4;
      context.device_lost = 1;
    }
    Send(sender, HandoverKind::kDeviceLost);
  }
  void Die(ProcessId id, ProcessEnd end) {
    processes[id].dead = true;
    processes[id].end = end;
  }
  uint64_t NumberOf(ProcessId id) const {
    for (const auto& [number, watched_id] : watched) {
      if (watched_id == id) return number;
    }
    return ~uint64_t{0};
  }
  FakeProcess& Watched(uint64_t number) { return processes.at(watched.at(number)); }
  void WriteTo(const std::string& path, ProcessId id) {
    EXPECT_NE(path, "");
    writers[path].insert(id);
    EXPECT_EQ(writers[path].size(), 1u) << path << " is the file of two processes";
  }

  // WatchedSystem
  uint64_t MonotonicNs() override { return now_ns; }
  uint64_t RealtimeNs() override { return now_ns; }
  bool Receive(ReceivedMessage* received) override {
    if (messages.empty()) return false;
    *received = std::move(messages.front());
    messages.pop_front();
    return true;
  }
  uint64_t TurnedAway() override { return turned_away; }
  Watching Watch(uint64_t number, ProcessHandle handle) override {
    if (watched.size() >= room) return Watching::kNoRoom;
    EXPECT_TRUE(watched.emplace(number, handle.pid).second);
    const FakeProcess& process = processes.at(handle.pid);
    return process.dead && !process.keeps_number ? Watching::kGone : Watching::kAlive;
  }
  ProcessEnd CollectEnd(uint64_t number) override {
    FakeProcess& process = Watched(number);
    EXPECT_TRUE(process.dead);
    watched.erase(number);
    return process.keeps_number ? process.end : ProcessEnd();
  }
  void Forget(uint64_t number) override { EXPECT_EQ(watched.erase(number), 1u); }
  ProcessCondition ConditionOf(uint64_t number) override {
    if (Watched(number).program == "slow") now_ns += kSecond;
    return Watched(number).dead ? ProcessCondition::kEnding : Watched(number).condition;
  }
  bool Kill(uint64_t number) override {
    FakeProcess& process = Watched(number);
    EXPECT_EQ(process.condition, ProcessCondition::kRunning);
    EXPECT_EQ(++process.kills, 1);
    return !process.dead;
  }
  bool PassOn(uint64_t number, int signal_number) override {
    Watched(number).signals.push_back(signal_number);
    return !Watched(number).dead;
  }
  std::string ProgramOf(ProcessId id) override {
    return processes[id].dead ? "" : processes[id].program;
  }
  std::string CommandLineOf(ProcessId id) override {
    return processes[id].dead ? "" : processes[id].command_line;
  }
  std::vector<ProcessId> ProcessesWithBlock() override { return with_block; }
  std::vector<Descendant> LivingDescendants() override { return descendants; }
  ProcessLook LookAt(ProcessId id, const LookFor&) override { return looks[id]; }

  // SessionOutput
  Status WriteReport(const DumpSubject& subject, const WatchedBlock& block,
                     const std::function<std::string()>& other_name, Place* place) override {
    if (out_of_memory) throw std::bad_alloc();
    if (!report_error.ok()) return report_error;
    if (in_the_way.contains(place->path)) *place = {other_name(), place->path + " is in use", {}};
    NoteReport(subject, place->path);
    reports.back().of_kept_state = block.kept_state().has_value();
    return Status();
  }
  std::unique_ptr<SessionCapture> StartCapture(SharedMemory region,
                                               CaptureDrainSettings settings) override;
  void RefuseCapture(SharedMemory) override { ++captures_refused; }

  void NoteReport(const DumpSubject& subject, const std::string& path) {
    WriteTo(path, subject.process_id);
    FakeReport report{subject.process_id, path, subject.program, subject.why_no_block, {}, false};
    for (const NoticedIncident& incident : subject.incidents) {
      report.incidents.push_back(incident.kind);
    }
    reports.push_back(std::move(report));
  }
};

class FakeCapture final : public SessionCapture {
 public:
  FakeCapture(FakeWorld* world, const CaptureDrainSettings& settings)
      : world_(*world),
        process_(static_cast<ProcessId>(settings.facts.process_id)),
        path_(settings.path) {
    world_.WriteTo(path_, process_);
    const bool is_first = world_.captured.insert(process_).second;
    EXPECT_TRUE(is_first || world_.capture_ends_slowly) << "two captures of a process";
    ++world_.captures_begun;
  }
  ~FakeCapture() override {
    EXPECT_TRUE(finished_);
    world_.captured.erase(process_);
  }
  const std::string& path() const override { return path_; }
  const std::string& why_not_there() const override { return why_not_there_; }
  bool failed() const override { return false; }
  void Trigger() override { ++world_.triggers; }
  void BeginEnd() override { ended_ = true; }
  bool ended() const override { return ended_ && !world_.capture_ends_slowly; }
  Status AppendReport(const DumpSubject& subject, const WatchedBlock&) override {
    EXPECT_FALSE(finished_);
    if (world_.processes[subject.process_id].dead && world_.NumberOf(process_) == ~uint64_t{0}) {
      EXPECT_TRUE(ended_) << "the report of an end stands behind the trace";
    }
    world_.NoteReport(subject, path_);
    return Status();
  }
  Result<CaptureSummary> Finish() override {
    EXPECT_FALSE(std::exchange(finished_, true));
    CaptureSummary summary;
    summary.calls = summary.frames = 1;
    summary.file_bytes = 100;
    return summary;
  }

 private:
  FakeWorld& world_;
  ProcessId process_;
  std::string path_;
  std::string why_not_there_;
  bool ended_ = false;
  bool finished_ = false;
};

inline std::unique_ptr<SessionCapture> FakeWorld::StartCapture(SharedMemory region,
                                                               CaptureDrainSettings settings) {
  EXPECT_EQ(region.size_bytes(), kCaptureRegionBytes);
  return std::make_unique<FakeCapture>(this, settings);
}

// For a scene whose user gave no name.
inline constexpr char kNamedByProgram[] = "(named by the program)";

// A session, its world and its lines; warnings begin with "! ".
struct Scene {
  explicit Scene(SessionSettings wanted = {}) {
    wanted.policy.hang_timeout_ns = kSecond;
    if (wanted.output_path.empty()) wanted.output_path = "game.cairn";
    if (wanted.output_path == kNamedByProgram) wanted.output_path.clear();
    wanted.say = [this](const std::string& line) { lines.push_back(line); };
    wanted.warn = [this](const std::string& line) { lines.push_back("! " + line); };
    session = std::make_unique<WatchSession>(wanted, &world, &world);
  }
  void StartGame() {
    world.processes[kGame];
    ASSERT_TRUE(session->AddMainProcess(Handle(kGame), "game", "./game").ok());
  }
  // The first process is `program`, which may start or become the game.
  void StartWrapper(const std::string& program) {
    world.processes[kGame] = {.program = program, .command_line = program + " ./child"};
    world.processes[kChild] = {.program = "./child", .command_line = "./child"};
    ASSERT_TRUE(
        session->AddMainProcess(Handle(kGame), program, world.processes[kGame].command_line).ok());
  }
  static ProcessHandle Handle(ProcessId id) {
    ProcessHandle handle;
    handle.pid = static_cast<decltype(handle.pid)>(id);
    return handle;
  }
  void Block(ProcessId id) {
    world.SendBlock(id);
    session->OnMessages();
  }
  void Capture(ProcessId id) {
    world.SendCapture(id);
    session->OnMessages();
  }
  void LoseDevice(ProcessId id) {
    world.LoseDevice(id);
    session->OnMessages();
  }
  void End(ProcessId id, ProcessEnd end) {
    world.Die(id, end);
    session->OnEnded(world.NumberOf(id));
  }
  // All that the session wants to do until then.
  void Pass(uint64_t time_ns) {
    const uint64_t until_ns = world.now_ns + time_ns;
    while (session->NextTimeNs() <= until_ns) {
      world.now_ns = std::max(world.now_ns, session->NextTimeNs());
      session->OnTime();
    }
    world.now_ns = until_ns;
  }

  std::vector<std::string> lines;
  FakeWorld world;
  std::unique_ptr<WatchSession> session;
};

inline SessionSettings Capturing() {
  SessionSettings settings;
  settings.capture = true;
  return settings;
}
inline SessionSettings KillingOnHang() {
  SessionSettings settings;
  settings.policy.kill_on_hang = true;
  return settings;
}

inline constexpr ProcessEnd kSegv = {EndKind::kSignalled, SIGSEGV};
inline constexpr ProcessEnd kKilled = {EndKind::kSignalled, kSigkill};
inline constexpr ProcessEnd kExit = {EndKind::kExited, 0};

}  // namespace cairn

#endif  // CAIRN_WATCHER_TESTING_SESSION_SCENE_H_
