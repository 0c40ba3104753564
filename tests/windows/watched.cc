// SPDX-License-Identifier: Apache-2.0
//
// watched.exe COMMAND...: runs it, and holds the blocks of its processes, as `cairn run` does. Says in the end what is in
// them, and ends as the command did.
#include <cstdio>
#include <deque>
#include <string>

#include "format/snapshot/snapshot_from_block.h"
#include "os/clock.h"
#include "os/wait_set.h"
#include "reader/analysis/analysis.h"
#include "reader/report/text.h"
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
  uint64_t events = 0;
  for (const Recording& recording : snapshot.recordings) events += recording.event_count;
  std::printf("watched: %zu command lists with %llu events\n", snapshot.recordings.size(),
              static_cast<unsigned long long>(events));
  std::fputs(TextReport(snapshot, Analyse(snapshot), {}).c_str(), stdout);
}

int Watch(const std::vector<std::string>& command) {
  ChannelEnds ends = Checked(MakeChannel());
  HandoverReceiver receiver;
  Check(receiver.Open(std::move(ends.first), OwnProcessId()));
  receiver.OpenDoors();
  WaitSet set;
  Check(set.Open());
  Check(set.Add(receiver.handle(), kMessages));
  SpawnRequest request;
  request.arguments = command;
  request.environment = {std::string(kWatcherAddressVariable) + "=" + receiver.address()};
  const ProcessHandle process = Checked(SpawnProgram(request));
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
  std::printf("watched: %zu blocks; ended with %d\n", blocks.size(), end.value);
  return end.value;
}

}  // namespace
}  // namespace cairn

int main(int argc, char** argv) {
  return cairn::Watch(cairn::CommandLineWords(argc, argv));
}
