// SPDX-License-Identifier: Apache-2.0
#include "format/snapshot/testing/snapshot_dump.h"

#include <fmt/format.h>

#include <memory>

#include "base/text.h"
#include "format/file/byte_sink.h"
#include "format/snapshot/snapshot_file.h"

namespace cairn {
namespace {

class MemorySink : public ByteSink {
 public:
  explicit MemorySink(std::vector<std::byte>* bytes) : bytes_(bytes) {}
  Status Write(std::span<const std::byte> bytes) override {
    bytes_->insert(bytes_->end(), bytes.begin(), bytes.end());
    return Status();
  }
  void CutBack(uint64_t size_bytes) override { bytes_->resize(size_bytes); }
  Status Sync() override { return Status(); }
  Status Commit() override { return Status(); }

 private:
  std::vector<std::byte>* bytes_;
};

bool IndexIsGood(uint32_t index, size_t limit) {
  return index == kNone || index < limit;
}

bool MatchIsGood(std::span<const Event> events, uint32_t index) {
  const Event& event = events[index];
  if (event.match == 0) return true;
  if (event.match > events.size()) return false;
  const Event& other = events[event.match - 1];
  const bool forwards =
      event.kind == EventKind::kBegin ? event.match > index + 1 : event.match < index + 1;
  return event.kind != EventKind::kBind && forwards && other.kind != event.kind &&
         other.match == index + 1;
}

std::string FindBadRecording(const Snapshot& s) {
  for (const Recording& recording : s.recordings) {
    const std::string name = fmt::format("recording {}", recording.recording_id);
    if (!IndexIsGood(recording.device, s.devices.size())) return name + ": device";
    if (!IndexIsGood(recording.queue, s.queues.size())) return name + ": queue";
    if (uint64_t{recording.first_event} + recording.event_count > s.events.size()) {
      return name + ": events";
    }
    const std::span<const Event> events =
        std::span(s.events).subspan(recording.first_event, recording.event_count);
    for (uint32_t i = 0; i < events.size(); ++i) {
      if (!MatchIsGood(events, i)) return fmt::format("{}: match of event {}", name, i);
      if (!IndexIsGood(events[i].pipeline, s.pipelines.size())) return name + ": pipeline";
    }
  }
  return "";
}

std::string FindBadDiagnostics(const Snapshot& s) {
  const auto blob_is_good = [&s](BlobRef blob, uint64_t size) {
    return blob.empty() || (blob.length == size && blob.offset <= s.blobs.size() &&
                            blob.length <= s.blobs.size() - blob.offset);
  };
  for (size_t i = 0; i < s.syncs.size(); ++i) {
    const Sync& sync = s.syncs[i];
    if (!IndexIsGood(sync.device, s.devices.size())) return "device of a sync";
    if (!IndexIsGood(sync.queue, s.queues.size())) return "queue of a sync";
    if (!IndexIsGood(sync.object, s.objects.size())) return "object of a sync";
    if (sync.kind != SyncKind::kWait && sync.kind != SyncKind::kSignal) return "kind of a sync";
    if (i != 0 && sync.serial < s.syncs[i - 1].serial) return "order of syncs";
  }
  for (const Fault& fault : s.faults) {
    if (!IndexIsGood(fault.device, s.devices.size())) return "device of a fault";
    if (uint64_t{fault.first_address} + fault.address_count > s.fault_addresses.size()) {
      return "addresses of a fault";
    }
    if (uint64_t{fault.first_vendor_info} + fault.vendor_info_count > s.vendor_infos.size()) {
      return "vendor infos of a fault";
    }
    if (!blob_is_good(fault.vendor_binary, fault.vendor_binary_bytes)) return "vendor binary";
  }
  for (const Checkpoint& checkpoint : s.checkpoints) {
    if (!IndexIsGood(checkpoint.device, s.devices.size())) return "device of a checkpoint";
    if (!IndexIsGood(checkpoint.queue, s.queues.size())) return "queue of a checkpoint";
    if (!IndexIsGood(checkpoint.recording, s.recordings.size())) return "checkpoint";
  }
  for (const Shader& shader : s.shaders) {
    if (!blob_is_good(shader.bytes, shader.size_bytes)) return "code of a shader";
  }
  return "";
}

// Of events, also of those that belong to no recording, and of the tables beside them.
std::string FindBadDetail(const Snapshot& s) {
  for (const Event& event : s.events) {
    const size_t limit = event.kind == EventKind::kBind ? s.binds.size() : s.annotations.size();
    if (event.kind == EventKind::kBind ? event.detail >= limit
                                       : !IndexIsGood(event.detail, limit)) {
      return "detail of an event";
    }
  }
  for (const Bind& bind : s.binds) {
    if (!bind.is_address && bind.value != kNone && bind.value >= s.objects.size()) return "bind";
  }
  for (const Object& object : s.objects) {
    if (!IndexIsGood(object.device, s.devices.size())) return "device of an object";
    if (object.state > ObjectState::kDestroyed) return "state of an object";
  }
  for (const Thread& thread : s.threads) {
    if (uint64_t{thread.first_call} + thread.call_count > s.calls.size()) return "calls";
    for (uint32_t i = 1; i < thread.call_count; ++i) {
      const Call* call = &s.calls[thread.first_call + i];
      if (call[0].number < call[-1].number) return "order of calls";
    }
  }
  for (const QueueMarker& marker : s.queue_markers) {
    if (!IndexIsGood(marker.queue, s.queues.size())) return "queue of a marker";
    if (!IndexIsGood(marker.annotation, s.annotations.size())) return "annotation of a queue";
  }
  for (const ReportedEventId& reported : s.reported_event_ids) {
    if (!IndexIsGood(reported.device, s.devices.size())) return "device of an EventID";
    const bool resolved = reported.state == EventIdState::kResolved;
    if (resolved ? reported.annotation >= s.annotations.size() : reported.annotation != kNone) {
      return "annotation of an EventID";
    }
  }
  return "";
}

std::string FindBadText(const Snapshot& s) {
  std::vector<TextRef> refs = s.losses;
  refs.insert(refs.end(), {s.process.program, s.process.command_line, s.process.library_version});
  for (const Incident& incident : s.incidents) refs.push_back(incident.detail);
  for (const Device& device : s.devices) {
    refs.insert(refs.end(), {device.name, device.driver, device.notes, device.annotation_driver,
                             device.application});
  }
  for (const Source& source : s.sources) refs.insert(refs.end(), {source.name, source.reason});
  for (const Queue& queue : s.queues) refs.push_back(queue.name);
  for (const Pipeline& pipeline : s.pipelines) {
    refs.push_back(pipeline.name);
    refs.insert(refs.end(), pipeline.shader_names.begin(), pipeline.shader_names.end());
  }
  for (const Recording& recording : s.recordings) refs.push_back(recording.name);
  for (const Event& event : s.events) refs.push_back(event.name);
  for (const Annotation& a : s.annotations) refs.insert(refs.end(), {a.name, a.payload});
  for (const Object& object : s.objects) refs.push_back(object.name);
  for (const Thread& thread : s.threads) refs.push_back(thread.name);
  for (const Call& call : s.calls) refs.push_back(call.function);
  for (const Fault& fault : s.faults) refs.insert(refs.end(), {fault.source, fault.description});
  for (const VendorInfo& info : s.vendor_infos) refs.push_back(info.description);
  for (const TextRef& ref : refs) {
    if (uint64_t{ref.offset} + ref.length > s.text.size()) return "text out of range";
  }
  return "";
}

void AppendTables(const Snapshot& s, std::string* out) {
  const auto text = [&s](TextRef ref) { return VisibleText(s.Text(ref)); };
  for (const Annotation& a : s.annotations) {
    *out += fmt::format("annotation {:#x} {} {} {} {:#x} '{}' '{}'\n", a.event_id, a.metadata,
                        a.size_bytes, a.has_colour, a.colour, text(a.name), text(a.payload));
  }
  for (const Object& o : s.objects) {
    *out += fmt::format("object {} {} {} '{}' {} {:#x} {} {} {} {:#x} {} fence {} {} {}\n",
                        static_cast<uint32_t>(o.state), o.kind, o.device, text(o.name), o.name_cut,
                        o.native_handle, o.serial, o.created_ns, o.destroyed_ns, o.gpu_address,
                        o.size_bytes, o.signalled, o.waited, o.completed);
  }
  for (const Thread& t : s.threads) {
    *out += fmt::format("thread {} {} '{}' {}\n", t.thread_id, t.ended, text(t.name), t.ended_ns);
    for (uint32_t i = t.first_call; i < t.first_call + t.call_count; ++i) {
      const Call& call = s.calls[i];
      *out += fmt::format("  call {} '{}' {:#x} {}\n", call.number, text(call.function),
                          call.object, call.returned);
    }
  }
  for (const ReportedEventId& r : s.reported_event_ids) {
    *out += fmt::format("reported {} {:#x} {} {}\n", r.device, r.event_id,
                        static_cast<uint32_t>(r.state), r.annotation);
  }
  for (const QueueMarker& m : s.queue_markers) {
    *out += fmt::format("queue marker {} {:#x} {} {} {}\n", m.queue, m.native_handle,
                        static_cast<uint32_t>(m.kind), m.submission, m.annotation);
  }
}

void AppendDiagnostics(const Snapshot& s, std::string* out) {
  const auto text = [&s](TextRef ref) { return VisibleText(s.Text(ref)); };
  const auto bytes = [&s](BlobRef ref) {
    const std::span<const std::byte> blob = s.Blob(ref);
    return VisibleText({reinterpret_cast<const char*>(blob.data()), blob.size()});
  };
  for (const Sync& y : s.syncs) {
    *out += fmt::format("sync {} {} {} device {} queue {} {} {:#x} {} {} {}\n", y.serial,
                        y.kind == SyncKind::kWait ? "wait" : "signal", y.flags, y.device, y.queue,
                        y.submission_number, y.native_handle, y.object, y.value, y.time_ns);
  }
  for (const Fault& f : s.faults) {
    *out += fmt::format("fault {} {} {} '{}' '{}' {} '{}'\n", f.device, f.result, f.time_ns,
                        text(f.source), text(f.description), f.vendor_binary_bytes,
                        bytes(f.vendor_binary));
    for (uint32_t i = f.first_address; i < f.first_address + f.address_count; ++i) {
      const FaultAddress& a = s.fault_addresses[i];
      *out += fmt::format("  address {} {:#x} {:#x}\n", static_cast<uint32_t>(a.type), a.address,
                          a.precision);
    }
    for (uint32_t i = f.first_vendor_info; i < f.first_vendor_info + f.vendor_info_count; ++i) {
      const VendorInfo& info = s.vendor_infos[i];
      *out +=
          fmt::format("  vendor '{}' {:#x} {:#x}\n", text(info.description), info.code, info.data);
    }
  }
  for (const Checkpoint& c : s.checkpoints) {
    *out += fmt::format("checkpoint {} {} {} {} {}\n", c.device, c.queue,
                        static_cast<uint32_t>(c.stage), c.recording, c.sequence);
  }
  for (const Shader& h : s.shaders) {
    *out += fmt::format("shader {:016x} {} {} '{}'\n", h.hash, static_cast<uint32_t>(h.code),
                        h.size_bytes, bytes(h.bytes));
  }
}

}  // namespace

std::string FindInconsistency(const Snapshot& s) {
  for (const Device& device : s.devices) {
    if (uint64_t{device.first_source} + device.source_count > s.sources.size()) return "sources";
  }
  for (const Queue& queue : s.queues) {
    if (!IndexIsGood(queue.device, s.devices.size())) return "device of a queue";
  }
  for (const Pipeline& pipeline : s.pipelines) {
    if (!IndexIsGood(pipeline.device, s.devices.size())) return "device of a pipeline";
  }
  for (const Incident& incident : s.incidents) {
    if (!IndexIsGood(incident.queue, s.queues.size())) return "queue of an incident";
  }
  for (size_t i = 0; i < s.submissions.size(); ++i) {
    const Submission& submission = s.submissions[i];
    if (!IndexIsGood(submission.queue, s.queues.size())) return "queue of a submission";
    if (!IndexIsGood(submission.recording, s.recordings.size())) return "submission";
    if (i != 0 && submission.serial < s.submissions[i - 1].serial) return "order of submissions";
  }
  for (const RawMarker& marker : s.raw_markers) {
    if (!IndexIsGood(marker.device, s.devices.size())) return "device of a raw marker";
  }
  if (std::string bad = FindBadText(s); !bad.empty()) return bad;
  if (std::string bad = FindBadDetail(s); !bad.empty()) return bad;
  if (std::string bad = FindBadDiagnostics(s); !bad.empty()) return bad;
  return FindBadRecording(s);
}

std::string DumpSnapshot(const Snapshot& s) {
  const auto text = [&s](TextRef ref) { return VisibleText(s.Text(ref)); };
  std::string out = fmt::format("process {} {} {} {} '{}' '{}' '{}'\n", s.process.process_id,
                                s.process.start_time_ns, s.process.snapshot_time_ns,
                                s.process.start_monotonic_ns, text(s.process.program),
                                text(s.process.command_line), text(s.process.library_version));
  for (const Incident& i : s.incidents) {
    out += fmt::format("incident {} {} {} {} {:#x} '{}'\n", static_cast<uint32_t>(i.kind), i.value,
                       i.time_ns, i.queue, i.address, text(i.detail));
  }
  for (const Device& d : s.devices) {
    out += fmt::format(
        "device {} {} {} {} {} frame {} dropped {} {} {} {} '{}' '{}' '{}' {:#x} {:#x} "
        "annotations '{}' {} '{}'\n",
        static_cast<uint32_t>(d.api), static_cast<uint32_t>(d.mode),
        static_cast<uint32_t>(d.method), static_cast<uint32_t>(d.memory), d.mirror_period_us,
        d.frame, d.lists_dropped, d.destroyed, d.device_lost, d.device_lost_code, text(d.name),
        text(d.driver), text(d.notes), d.vendor_id, d.device_id, text(d.annotation_driver),
        d.annotations_forced, text(d.application));
    for (uint32_t i = 0; i < d.source_count; ++i) {
      const Source& source = s.sources[d.first_source + i];
      out += fmt::format("  source '{}' {} '{}'\n", text(source.name),
                         static_cast<uint32_t>(source.state), text(source.reason));
    }
  }
  for (const Queue& q : s.queues) {
    out += fmt::format("queue {} {} '{}' {:#x} {} {}\n", q.device, q.type, text(q.name),
                       q.native_handle, q.submission_count, q.completed_submission);
  }
  for (const Pipeline& p : s.pipelines) {
    out += fmt::format("pipeline {} {} '{}' {:#x}", p.device, p.unregistered, text(p.name),
                       p.native_handle);
    for (const TextRef& shader : p.shader_names) out += fmt::format(" '{}'", text(shader));
    for (const uint64_t hash : p.shader_hashes) out += fmt::format(" {:x}", hash);
    out += "\n";
  }
  for (const Recording& r : s.recordings) {
    out += fmt::format(
        "recording {} device {} queue {} frame {} index {} {:#x} '{}' open {} reusable {} "
        "secondary {} "
        "dropped {} words {} {} runs {} {} {}\n",
        r.recording_id, r.device, r.queue, r.frame, r.submission_index, r.native_handle,
        text(r.name), r.open, r.reusable, r.secondary, r.dropped_count, r.reached, r.passed, r.runs,
        r.submit_count, r.finished_runs);
    for (uint32_t i = r.first_event; i < r.first_event + r.event_count; ++i) {
      const Event& e = s.events[i];
      if (e.kind == EventKind::kBind) {
        const Bind& bind = s.binds[e.detail];
        out += fmt::format("  bind {} {} {:#x} {:#x} {}\n", e.type, bind.slot, bind.value, e.flags,
                           bind.is_address);
        continue;
      }
      out += fmt::format("  {} {} type {} pipeline {} match {} '{}' {}\n",
                         e.kind == EventKind::kBegin ? "begin" : "end", e.flags, e.type, e.pipeline,
                         e.match, text(e.name), e.detail);
      if (e.call != 0) out.insert(out.size() - 1, fmt::format(" call {}", e.call));
    }
  }
  for (const Submission& b : s.submissions) {
    out += fmt::format("submission {} {} {} {} {} {} {}\n", b.serial, b.queue, b.recording, b.run,
                       b.number, b.time_ns, b.frame);
  }
  for (const RawMarker& m : s.raw_markers) {
    out += fmt::format("raw {} {} {:#x}\n", m.device, m.index, m.value);
  }
  AppendTables(s, &out);
  AppendDiagnostics(s, &out);
  for (const TextRef& loss : s.losses) out += fmt::format("loss '{}'\n", text(loss));
  return out;
}

std::vector<std::byte> SnapshotFileBytes(const Snapshot& snapshot, Compression compression) {
  std::vector<std::byte> bytes;
  Result<FileWriter> writer =
      FileWriter::CreateOn(std::make_unique<MemorySink>(&bytes), compression);
  if (!writer.ok() || !WriteSnapshot(snapshot, &*writer).ok() || !writer->Finish().ok()) return {};
  return bytes;
}

}  // namespace cairn
