// SPDX-License-Identifier: Apache-2.0
//
// For tests: builds a Snapshot the way the recorder would fill it, list by list.
#ifndef CAIRN_READER_ANALYSIS_TESTING_SNAPSHOT_BUILDER_H_
#define CAIRN_READER_ANALYSIS_TESTING_SNAPSHOT_BUILDER_H_

#include <cstdint>
#include <vector>

#include "cairn/marker_types.h"

#include "format/snapshot/snapshot.h"

namespace cairn {

class SnapshotBuilder {
 public:
  explicit SnapshotBuilder(MarkerMode mode = MarkerMode::kFull) {
    Device device;
    device.mode = mode;
    device.method = WriteMethod::kVulkanBufferMarker;
    device.memory = WordMemory::kImported;
    snapshot.devices.push_back(device);
  }

  uint32_t AddQueue() {
    snapshot.queues.emplace_back().device = 0;
    return static_cast<uint32_t>(snapshot.queues.size() - 1);
  }

  // A list that is recorded until the next BeginList or Submit; returns its index.
  uint32_t BeginList(uint32_t queue, uint64_t frame = 0) {
    Recording recording;
    recording.device = 0;
    recording.queue = queue;
    recording.frame = frame;
    recording.recording_id = snapshot.recordings.size() + 1;
    recording.first_event = static_cast<uint32_t>(snapshot.events.size());
    snapshot.recordings.push_back(recording);
    open_.clear();
    return static_cast<uint32_t>(snapshot.recordings.size() - 1);
  }

  // Each returns the sequence number of its event.
  uint32_t Begin(CairnMarkerType type, bool writes = true) {
    Event event;
    event.kind = EventKind::kBegin;
    event.type = static_cast<uint16_t>(type);
    event.flags = writes ? kEventWritesTop : 0;
    // Nearly all passes have a name.
    if (type == CAIRN_MARKER_PASS) {
      if (pass_name_.empty()) pass_name_ = snapshot.AddText("Pass");
      event.name = pass_name_;
    }
    const uint32_t sequence = Add(event);
    open_.push_back({sequence, type});
    return sequence;
  }
  uint32_t End(bool writes = true) {
    const Open open = open_.back();
    open_.pop_back();
    Event event;
    event.kind = EventKind::kEnd;
    event.match = open.sequence;
    if (writes && WritesBottom(open.type)) event.flags = kEventWritesBottom;
    const uint32_t sequence = Add(event);
    snapshot.events[snapshot.recordings.back().first_event + open.sequence - 1].match = sequence;
    return sequence;
  }
  void Scope(CairnMarkerType type, bool writes = true) {
    Begin(type, writes);
    End(writes);
  }
  void BindNothing(BindPoint point) {
    Event event;
    event.kind = EventKind::kBind;
    event.type = static_cast<uint16_t>(point);
    event.detail = static_cast<uint32_t>(snapshot.binds.size());
    snapshot.binds.emplace_back();
    Add(event);
  }
  // The bottom-of-pipe write of a list's end: on its last event, unless that has one.
  void EndList() {
    if (snapshot.recordings.back().event_count != 0) {
      snapshot.events.back().flags |= kEventWritesBottom;
    }
  }

  void Submit(uint32_t queue, uint32_t recording) {
    Submission submission;
    submission.serial = snapshot.submissions.size() + 1;
    submission.queue = queue;
    submission.recording = recording;
    submission.run = ++snapshot.recordings[recording].submit_count;
    submission.number = ++snapshot.queues[queue].submission_count;
    submission.frame = snapshot.recordings[recording].frame;
    snapshot.submissions.push_back(submission);
  }

  void SetWords(uint32_t recording, uint32_t reached, uint32_t passed) {
    snapshot.recordings[recording].reached = reached;
    snapshot.recordings[recording].passed = passed;
  }

  Snapshot snapshot;

 private:
  struct Open {
    uint32_t sequence;
    CairnMarkerType type;
  };

  bool WritesBottom(CairnMarkerType type) const {
    const MarkerMode mode = snapshot.devices[0].mode;
    return WritesAllEnds(mode) || (mode == MarkerMode::kPass && type == CAIRN_MARKER_PASS);
  }

  uint32_t Add(const Event& event) {
    snapshot.events.push_back(event);
    return ++snapshot.recordings.back().event_count;
  }

  std::vector<Open> open_;
  TextRef pass_name_;
};

}  // namespace cairn

#endif  // CAIRN_READER_ANALYSIS_TESTING_SNAPSHOT_BUILDER_H_
