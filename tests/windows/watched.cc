// SPDX-License-Identifier: Apache-2.0
//
// watched.exe [--with LIBRARY.dll] COMMAND...: runs it, and holds the blocks of its processes, as `cairn run` does. Says in
// the end what is in them, and ends as the command did. LIBRARY, a whole path, is in the program before it runs.
#include <cstdio>
#include <deque>
#include <string>

#include "cairn/marker_types.h"

#include "format/settings/layer_settings.h"
#include "format/snapshot/snapshot_from_block.h"
#include "os/clock.h"
#include "os/wait_set.h"
#include "os/windows/launch.h"
#include "reader/analysis/findings.h"
#include "reader/report/text.h"
#include "tests/windows/layered/inject.h"
#include "watcher/handover_receiver.h"

namespace cairn {
namespace {

constexpr uint64_t kMessages = 1;
constexpr uint64_t kProcess = 2;

[[noreturn]] void Fail(const Status& status) {
  std::fprintf(stderr, "watched: %s\n", status.message().c_str());
  std::exit(125);
}

template <typename T>
T Checked(Result<T> result) {
  if (!result.ok()) Fail(result.status());
  return std::move(*result);
}

void Check(const Status& status) {
  if (!status.ok()) Fail(status);
}

void Tell(const SharedMemory& block) {
  const Snapshot snapshot =
      Checked(SnapshotFromBlock(std::span(block.data(), block.size_bytes()), RealtimeNs()));
  for (const Device& device : snapshot.devices) {
    std::printf("watched: frame %llu\n", static_cast<unsigned long long>(device.frame));
  }
  for (const Queue& queue : snapshot.queues) {
    std::printf("watched: queue with %llu submissions\n",
                static_cast<unsigned long long>(queue.submission_count));
  }
  uint64_t draws = 0;
  for (const Event& event : snapshot.events) {
    draws += event.kind == EventKind::kBegin && event.type == CAIRN_MARKER_DRAW_INDEXED_INSTANCED;
  }
  std::printf("watched: lists %zu\n", snapshot.recordings.size());
  std::printf("watched: draws %llu\n", static_cast<unsigned long long>(draws));
  std::fputs(TextReport(snapshot, AnalyseDump(snapshot), {}).c_str(), stdout);
}

ProcessHandle Start(Launch launch, const std::string& library) {
  launch.flags = CREATE_SUSPENDED;
  ProcessHandle process;
  if (const std::error_code error = LaunchProgram(launch, &process)) {
    Fail(Status(StatusCode::kIo, launch.words[0] + " cannot be started: " + error.message()));
  }
  const HANDLE handle = HandleOf(process.handle);
  if (!library.empty() && !testing::Inject(handle, Wide(library))) {
    TerminateProcess(handle, 1);
    Fail(Status(StatusCode::kIo, library + " cannot be loaded in " + launch.words[0]));
  }
  using Resume = LONG(NTAPI*)(HANDLE process);
  reinterpret_cast<Resume>(reinterpret_cast<void*>(
      GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "NtResumeProcess")))(handle);
  return process;
}

int Watch(const std::vector<std::string>& command, const std::string& library) {
  ChannelEnds ends = Checked(MakeChannel());
  HandoverReceiver receiver;
  Check(receiver.Open(std::move(ends.first), OwnProcessId()));
  receiver.OpenDoors();
  WaitSet set;
  Check(set.Open());
  Check(set.Add(receiver.handle(), kMessages));
  Launch launch;
  launch.file = SystemPath(command[0]);
  launch.words = command;
  launch.environment = {FormatSetting<&LayerSettings::watcher_address>(receiver.address())};
  const ProcessHandle process = Start(std::move(launch), library);
  Check(set.Add(process.handle, kProcess));
  std::deque<SharedMemory> blocks;
  for (bool ended = false; !ended;) {
    for (const uint64_t key : Checked(set.Wait(WaitSet::kTime))) ended = ended || key == kProcess;
    ReceivedMessage received;
    while (receiver.Receive(&received)) {
      if (received.message.kind != HandoverKind::kBlock) continue;
      blocks.push_back(Checked(received.memory.MapForReading(received.message.block_bytes)));
    }
  }
  for (const SharedMemory& block : blocks) Tell(block);
  const ProcessEnd end = CollectEnd(process);
  std::printf("watched: %zu blocks; ended with %#x\n", blocks.size(),
              static_cast<unsigned>(end.value));
  return end.value;
}

}  // namespace
}  // namespace cairn

int main(int argc, char** argv) {
  std::vector<std::string> words = cairn::CommandLineWords(argc, argv);
  std::string library;
  if (words.size() >= 2 && words[0] == "--with") {
    library = words[1];
    words.erase(words.begin(), words.begin() + 2);
  }
  if (words.empty()) {
    std::fprintf(stderr, "watched: wants a command\n");
    return 2;
  }
  return cairn::Watch(words, library);
}
