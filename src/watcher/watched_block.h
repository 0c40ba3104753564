// SPDX-License-Identifier: Apache-2.0
//
// Reads one process's block for the watcher, and makes the dump of it. Works the same while the
// process lives and after its death; trusts nothing in the block.
#ifndef CAIRN_WATCHER_WATCHED_BLOCK_H_
#define CAIRN_WATCHER_WATCHED_BLOCK_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "format/file/file_writer.h"
#include "format/snapshot/progress_probe.h"
#include "format/snapshot/snapshot.h"
#include "os/shared_memory.h"
#include "watcher/watcher.h"

namespace cairn {

// A device that the application reported as lost.
struct LostDevice {
  uint32_t device = kNone;  // context index
  int32_t code = 0;
};

class WatchedBlock {
 public:
  WatchedBlock() = default;  // of a process that handed none over
  explicit WatchedBlock(SharedMemory memory) : memory_(std::move(memory)) {}

  bool present() const { return memory_.data() != nullptr; }

  // Updates the probe's memory of the last look, so that it is not const.
  std::vector<QueueObservation> ObserveQueues();
  // Returns true if the process has devices, and the GPU writes progress words for none of them:
  // --breadcrumbs off, or Direct3D 11 on anything but DXVK. Then no hang can be noticed.
  bool IsWithoutWords() const;
  std::vector<LostDevice> LostDevices() const;
  EndEvidence Evidence();

  // Path of the executable, as the process gave it; untrusted text.
  std::string Program() const;

  // Keeps the state that the block shows now: later dumps show it, whatever the GPU writes from
  // here on.
  void KeepState();
  const std::optional<Snapshot>& kept_state() const { return kept_state_; }
  void ForgetKeptState() { kept_state_.reset(); }
  uint64_t KeptBytes() const;

  // Returns the memory that ObserveQueues keeps between calls.
  uint64_t ProbeBytes() const { return probe_.has_value() ? probe_->MemoryBytes() : 0; }
  // Frees that memory; ObserveQueues returns nothing from here on.
  void StopProbing() {
    probe_.reset();
    probe_stopped_ = true;
  }

  // Drops the pages that were read: they no longer count as this process's memory.
  void ForgetPages() const { memory_.ForgetPages(); }

  std::span<const std::byte> bytes() const { return {memory_.data(), memory_.size_bytes()}; }

 private:
  SharedMemory memory_;
  std::optional<ProgressProbe> probe_;
  bool probe_stopped_ = false;
  std::optional<Snapshot> kept_state_;
};

// The process that a dump is about.
struct DumpSubject {
  int64_t process_id = 0;
  std::string program;
  std::string command_line;
  std::span<const NoticedIncident> incidents;
  std::span<const QueueStand> stands;  // of its queues with unfinished work
  // The reasons why nothing is known of its GPU work, if it has no block; one sentence each,
  // without its final dot.
  std::vector<std::string> why_no_block;
};

// Writes the dump of a process. If it died of the last signal that its own handler saw, the dump
// has the state at that moment. Writes `path` (first as `path`.part: its beginning is in the file
// system before the block is read). On an error nothing is left at `path`, and an earlier file is
// untouched. Cost: bench Dump in docs/performance.md.
Status WriteDump(const std::string& path, const DumpSubject& subject, const WatchedBlock& block);
// The same into a file that was just created.
Status WriteDump(FileWriter* file, const DumpSubject& subject, const WatchedBlock& block);

// Adds the dump to a file that holds other things, too: a trace, and earlier dumps, of which the last
// counts. `last_call`: the last number that the capture of the same file gave out, asked for when the block
// has been read.
Status AppendDump(FileWriter* file, const DumpSubject& subject, const WatchedBlock& block,
                  const std::function<uint64_t()>& last_call);

}  // namespace cairn

#endif  // CAIRN_WATCHER_WATCHED_BLOCK_H_
