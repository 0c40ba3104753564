// SPDX-License-Identifier: Apache-2.0
#include "format/snapshot/snapshot_losses.h"

#include <fmt/format.h>

#include "format/snapshot/block_tables.h"

namespace cairn {

void NoteLosses(const BlockReader& block, const LossCounts& losses, Snapshot* snapshot) {
  const auto note = [snapshot](uint64_t count, const char* what) {
    if (count == 0) return;
    snapshot->losses.push_back(snapshot->AddText(fmt::format("{} {}", count, what)));
  };
  const uint32_t refused = block.Load32(offsetof(BlockHeader, pages_refused));
  if (block.is_cut()) {
    snapshot->losses.push_back(snapshot->AddText(
        "The shared block is truncated; the contents of its end are unavailable."));
  }
  note(refused,
       "allocations found the shared block full: later markers were dropped. Use a larger "
       "block_size_bytes.");
  note(losses.raw_markers, "raw markers are more than a report keeps.");
  note(losses.contexts, "devices have tables outside the shared block; they are skipped.");
  note(losses.queues, "queues belong to no device; they are skipped.");
  note(losses.recordings_changed,
       "command lists were recycled while they were read; they had finished.");
  note(losses.recordings_left_out,
       "command lists are more than a report keeps: the earliest that the GPU is not inside of are "
       "skipped.");
  note(losses.recordings_bad, "command lists have an unknown state; they are skipped.");
  note(losses.events_missing, "markers could not be read from their command lists.");
  note(losses.events_bad, "markers contradict their neighbours and are ignored.");
  note(losses.pipelines_bad, "markers name a pipeline that does not exist.");
  note(losses.words_bad,
       "command lists have progress words beyond their last marker; nothing is concluded from "
       "them.");
  note(losses.submissions_torn, "submissions could not be read.");
  note(losses.submissions_later,
       "command lists were submitted after the fault, by other threads; they are skipped.");
  note(losses.objects_changed, "objects changed while they were read and are skipped.");
  note(losses.objects_bad, "bindings name an object that does not exist.");
  note(losses.secondaries_unknown,
       "executions of secondary command buffers name one that is not known; what ran there is not "
       "shown.");
  note(losses.secondaries_nested,
       "secondary command buffers are executed by secondary ones; what ran there is not shown.");
  note(losses.secondaries_over_budget,
       "executions of secondary command buffers are too many to be shown; what ran there is not "
       "shown.");
  note(losses.syncs_bad, "waits and signals of semaphores and fences could not be read.");
  note(losses.checkpoints_bad,
       "checkpoints of the driver name command buffers that have ended; they are skipped.");
  note(losses.destructions_torn, "destructions of objects could not be read.");
  note(block.Load32(offsetof(BlockHeader, descriptor_sets_left_out)),
       "descriptor sets found no room in the shared block: what they hold is not looked into.");
  note(losses.binaries_bad, "binaries of the driver could not be kept.");
  note(losses.shaders_bad, "shaders could not be read.");
  note(losses.user_data_bad, "entries of user data could not be read.");
  if (block.shaders_offset() != 0) {
    note(block.Load32(offsetof(BlockHeader, shaders_dropped)),
         "shaders found no room in the shared block: their code is not in this report.");
  }
  if (block.objects_offset() != 0) {
    note(block.Load32(offsetof(BlockHeader, objects_dropped)),
         "objects found no room in the table of objects.");
  }
  const DroppedMarkers dropped = CountDroppedMarkers(block);
  note(dropped.of_lists, "markers of command lists found no room: their EventIDs are unknown.");
  note(dropped.of_queues,
       "markers of command queues were dropped to bound their memory: their EventIDs have "
       "expired.");
  note(losses.names_unreadable, "names could not be read and are left empty.");
}

}  // namespace cairn
