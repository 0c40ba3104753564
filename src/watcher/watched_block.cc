// SPDX-License-Identifier: Apache-2.0
#include "watcher/watched_block.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "format/file/file_writer.h"
#include "format/snapshot/block_reader.h"
#include "format/snapshot/call_numbers.h"
#include "format/snapshot/snapshot_file.h"
#include "format/snapshot/snapshot_from_block.h"
#include "os/clock.h"
#include "watcher/indirect_values.h"
#include "watcher/kernel_lines.h"

namespace cairn {
namespace {

uint64_t ContextOffset(const BlockReader& block, uint32_t context) {
  return block.contexts_offset() + context * sizeof(ContextRecord);
}

// The process and what happened to it; no block is needed for that.
Snapshot HeadOf(const DumpSubject& subject) {
  Snapshot head;
  head.process.process_id = static_cast<uint64_t>(subject.process_id);
  head.process.snapshot_time_ns = RealtimeNs();
  head.process.program = head.AddText(subject.program);
  head.process.command_line = head.AddText(subject.command_line);
  for (const NoticedIncident& noticed : subject.incidents) {
    NoteIncident({.kind = noticed.kind,
                  .value = noticed.value,
                  .time_ns = noticed.time_ns,
                  .address = noticed.address},
                 noticed.detail, &head);
  }
  return head;
}

// Puts the watcher's incidents before those of the block alone; an incident of both becomes one.
void MergeIncidents(std::span<const NoticedIncident> noticed, Snapshot* snapshot) {
  const std::vector<Incident> told = std::move(snapshot->incidents);
  snapshot->incidents.clear();
  for (const NoticedIncident& incident : noticed) {
    const bool queue_known = incident.queue < snapshot->queues.size();
    snapshot->incidents.push_back(
        {.kind = incident.kind,
         .value = incident.value,
         .time_ns = incident.time_ns,
         .queue = queue_known ? incident.queue : kNone,
         .address = incident.address,
         .detail = incident.detail.empty() ? TextRef{} : snapshot->AddText(incident.detail)});
  }
  for (const Incident& incident : told) {
    const std::string detail(snapshot->Text(incident.detail));
    NoteIncident(incident, detail, snapshot);
  }
}

void NoteStands(std::span<const QueueStand> stands, Snapshot* snapshot) {
  for (const QueueStand& stand : stands) {
    if (stand.queue < snapshot->queues.size()) {
      snapshot->queues[stand.queue].still_since_ns = stand.since_ns;
    }
  }
}

// The signal that the process's handler noted last. 0: none.
uint32_t NotedSignal(const WatchedBlock& block) {
  const Result<BlockReader> reader = BlockReader::Open(block.bytes());
  return reader.ok() ? reader->Load32(offsetof(BlockHeader, crash_signal)) : 0;
}

bool DiedOfNotedSignal(const DumpSubject& subject, const WatchedBlock& block) {
  const uint32_t noted = NotedSignal(block);
  return noted != 0 && std::any_of(subject.incidents.begin(), subject.incidents.end(),
                                   [noted](const NoticedIncident& incident) {
                                     return incident.kind == IncidentKind::kSignal &&
                                            incident.value == static_cast<int64_t>(noted);
                                   });
}

Snapshot BodyOf(const DumpSubject& subject, const WatchedBlock& block, Snapshot head) {
  if (!block.present()) {
    for (const std::string& why : subject.why_no_block) {
      head.losses.push_back(head.AddText("No GPU work was seen: " + why + "."));
    }
    if (!subject.why_no_block.empty()) return head;
    head.losses.push_back(head.AddText(
        "The program never created a Cairn context: it does not use libcairn, or ended before."));
    return head;
  }
  const bool of_fault = DiedOfNotedSignal(subject, block);
  if (!of_fault && block.kept_state().has_value()) {
    Snapshot kept = *block.kept_state();
    kept.process.command_line = kept.AddText(subject.command_line);
    MergeIncidents(subject.incidents, &kept);
    NoteStands(subject.stands, &kept);
    return kept;
  }
  Result<Snapshot> snapshot = SnapshotFromBlock(block.bytes(), RealtimeNs(), Binaries::kKeep,
                                                of_fault ? Moment::kLastFault : Moment::kNow);
  if (!snapshot.ok()) {
    head.losses.push_back(
        head.AddText("Nothing could be read: " + snapshot.status().message() + "."));
    return head;
  }
  ReadIndirectValues(subject.process_id, &*snapshot);
  snapshot->process.command_line = snapshot->AddText(subject.command_line);
  MergeIncidents(subject.incidents, &*snapshot);
  NoteStands(subject.stands, &*snapshot);
  return std::move(snapshot).value();
}

// Returns true if one of the incidents may be in the kernel's log.
bool MayBeLogged(std::span<const NoticedIncident> incidents) {
  return std::any_of(incidents.begin(), incidents.end(), [](const NoticedIncident& incident) {
    return incident.kind == IncidentKind::kSignal || incident.kind == IncidentKind::kHang ||
           incident.kind == IncidentKind::kDeviceLost;
  });
}

Status WriteDumpTo(FileWriter* writer, const DumpSubject& subject, const WatchedBlock& block,
                   const std::function<uint64_t()>& last_call = nullptr) {
  Snapshot head = HeadOf(subject);
  CAIRN_RETURN_IF_ERROR(WriteSnapshotHead(head, writer));
  Snapshot body = BodyOf(subject, block, std::move(head));
  if (last_call) RestoreCallNumbers(&body, last_call());
  if (MayBeLogged(subject.incidents)) AddKernelLog(subject.process_id, &body);
  return WriteSnapshotBody(body, writer);
}

}  // namespace

std::vector<QueueObservation> WatchedBlock::ObserveQueues() {
  std::vector<QueueObservation> observations;
  if (!present() || probe_stopped_) return observations;
  if (!probe_.has_value()) {
    Result<ProgressProbe> probe = ProgressProbe::Open(bytes());
    // A block that cannot be read is judged when the process ends.
    if (!probe.ok()) return observations;
    probe_ = std::move(probe).value();
  }
  for (const QueueProgress& queue : probe_->Poll()) {
    observations.push_back({queue.device, queue.queue, queue.unfinished != 0, queue.fingerprint});
  }
  return observations;
}

std::vector<LostDevice> WatchedBlock::LostDevices() const {
  std::vector<LostDevice> lost;
  if (!present()) return lost;
  const Result<BlockReader> block = BlockReader::Open(bytes());
  if (!block.ok()) return lost;
  for (uint32_t i = 0; i < block->ContextCount(); ++i) {
    const uint64_t context = ContextOffset(*block, i);
    if (block->Load32(context + offsetof(ContextRecord, state)) == kEntryFree ||
        block->Load32(context + offsetof(ContextRecord, device_lost)) != 1) {
      continue;
    }
    lost.push_back({i, static_cast<int32_t>(
                           block->Load32(context + offsetof(ContextRecord, device_lost_code)))});
  }
  return lost;
}

bool WatchedBlock::IsWithoutWords() const {
  if (!present()) return false;
  const Result<BlockReader> block = BlockReader::Open(bytes());
  if (!block.ok()) return false;
  uint32_t devices = 0;
  for (uint32_t i = 0; i < block->ContextCount(); ++i) {
    const uint64_t context = ContextOffset(*block, i);
    if (block->Load32(context + offsetof(ContextRecord, state)) != kEntryPublished) continue;
    ++devices;
    const uint32_t mode = block->Load32(context + offsetof(ContextRecord, mode));
    if (mode != static_cast<uint32_t>(MarkerMode::kOff)) return false;
  }
  return devices != 0;
}

EndEvidence WatchedBlock::Evidence() {
  EndEvidence evidence;
  if (!present()) return evidence;
  const Result<BlockReader> block = BlockReader::Open(bytes());
  if (!block.ok()) return evidence;
  evidence.crash_signal = block->Load32(offsetof(BlockHeader, crash_signal));
  evidence.crash_address = block->Load64(offsetof(BlockHeader, crash_address));
  evidence.exit_unnoted = block->Load32(offsetof(BlockHeader, exit_noted)) == 0;
  const uint64_t exit_code = block->Load64(offsetof(BlockHeader, exit_code));
  if ((exit_code & kExitCodeKnown) != 0) evidence.exit_code = static_cast<uint32_t>(exit_code);
  const std::vector<QueueObservation> queues = ObserveQueues();
  evidence.work_unfinished = std::any_of(
      queues.begin(), queues.end(), [](const QueueObservation& queue) { return queue.unfinished; });
  return evidence;
}

void WatchedBlock::KeepState() {
  if (!present()) return;
  Result<Snapshot> snapshot = SnapshotFromBlock(bytes(), RealtimeNs(), Binaries::kKeep);
  if (snapshot.ok()) kept_state_ = std::move(snapshot).value();
}

// Counts the tables that grow with what the program does.
uint64_t WatchedBlock::KeptBytes() const {
  if (!kept_state_.has_value()) return 0;
  const Snapshot& kept = *kept_state_;
  return kept.text.size() + kept.blobs.size() + kept.events.size() * sizeof(Event) +
         kept.binds.size() * sizeof(Bind) + kept.annotations.size() * sizeof(Annotation) +
         kept.recordings.size() * sizeof(Recording) + kept.objects.size() * sizeof(Object) +
         kept.pipelines.size() * sizeof(Pipeline) + kept.submissions.size() * sizeof(Submission) +
         kept.syncs.size() * sizeof(Sync) + kept.raw_markers.size() * sizeof(RawMarker) +
         kept.calls.size() * sizeof(Call);
}

std::string WatchedBlock::Program() const {
  if (!present()) return "";
  const Result<BlockReader> block = BlockReader::Open(bytes());
  if (!block.ok()) return "";
  char program[sizeof(BlockHeader::program)];
  block->Copy(offsetof(BlockHeader, program), program, sizeof(program));
  return std::string(program, strnlen(program, sizeof(program)));
}

Status WriteDump(const std::string& path, const DumpSubject& subject, const WatchedBlock& block) {
  Result<FileWriter> writer = FileWriter::Create(path);
  if (!writer.ok()) return writer.status();
  return WriteDump(&*writer, subject, block);
}

Status WriteDump(FileWriter* file, const DumpSubject& subject, const WatchedBlock& block) {
  CAIRN_RETURN_IF_ERROR(WriteDumpTo(file, subject, block));
  return file->Finish();
}

Status AppendDump(FileWriter* file, const DumpSubject& subject, const WatchedBlock& block,
                  const std::function<uint64_t()>& last_call) {
  CAIRN_RETURN_IF_ERROR(file->Append(kSnapshotStartChunk, {}));
  return WriteDumpTo(file, subject, block, last_call);
}

}  // namespace cairn
