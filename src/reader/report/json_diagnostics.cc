// SPDX-License-Identifier: Apache-2.0
#include "reader/report/json_diagnostics.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "reader/report/describe.h"
#include "reader/report/destruction_text.h"
#include "reader/report/fault_text.h"
#include "reader/report/reason_text.h"
#include "reader/report/words.h"

namespace cairn {
namespace {

class DiagnosticsWriter {
 public:
  DiagnosticsWriter(const Snapshot& snapshot, const Findings& findings, JsonWriter* json)
      : snapshot_(snapshot), findings_(findings), waits_(findings.waits), json_(*json) {}

  void Write() {
    WriteSyncs();
    WriteWaits();
    WriteFaults();
    WriteCrashAddresses();
    WriteFreedInFlight();
    WriteCheckpoints();
    WriteShaders();
    WriteKernelLog();
  }

 private:
  void TimeKey(std::string_view key, uint64_t monotonic_ns) {
    const std::string time = MonotonicTimeInWords(snapshot_.process, monotonic_ns);
    time.empty() ? json_.NullKey(key) : json_.StringKey(key, time);
  }

  void WriteSyncs();
  void WriteWaits();
  void WriteWait(const Wait& wait);
  void WriteFaults();
  void WriteCrashAddresses();
  void WriteFreedInFlight();
  void WriteFaultAddress(const FaultAddressVerdict& verdict);
  void WriteNeighbour(std::string_view key, const AddressNeighbour& neighbour);
  void WriteCheckpoints();
  void WriteShaders();
  void WriteOwners(const FaultAddressVerdict& verdict);
  void WriteKernelAddress(uint32_t line);
  void WriteKernelLog();

  const Snapshot& snapshot_;
  const Findings& findings_;
  const WaitGraph& waits_;  // of these
  JsonWriter& json_;
};

void DiagnosticsWriter::WriteSyncs() {
  json_.BeginArray("syncs");
  for (const Sync& sync : snapshot_.syncs) {
    json_.BeginObject();
    json_.StringKey("kind", SyncKindWord(sync.kind));
    json_.IndexKey("device", sync.device);
    json_.IndexKey("queue", sync.queue);
    json_.NumberKey("submission", sync.submission_number);
    json_.HexKey("native_handle", sync.native_handle);
    json_.IndexKey("object", sync.object);
    json_.HexKey("value", sync.value);
    json_.BoolKey("binary", (sync.flags & kSyncBinary) != 0);
    json_.BoolKey("fence", (sync.flags & kSyncFence) != 0);
    json_.BoolKey("present", (sync.flags & kSyncPresent) != 0);
    json_.BoolKey("acquire", (sync.flags & kSyncAcquire) != 0);
    TimeKey("time", sync.time_ns);
    json_.EndObject();
  }
  json_.EndArray();
}

void DiagnosticsWriter::WriteWait(const Wait& wait) {
  json_.BeginObject();
  json_.NumberKey("sync", wait.sync);
  json_.StringKey("state", WaitStateWord(wait.state));
  json_.IndexKey("signal", wait.signal);
  json_.NumberKey("held_submission", wait.held_submission);
  json_.IndexKey("cycle", wait.cycle);
  json_.EndObject();
}

void DiagnosticsWriter::WriteWaits() {
  json_.BeginObject("waits");
  json_.BeginArray("queues");
  for (const QueueWaits& waits : waits_.queues) {
    json_.BeginObject();
    json_.IndexKey("queue", waits.queue);
    json_.NumberKey("submitted", waits.submitted);
    json_.NumberKey("finished", waits.finished);
    json_.NumberKey("first_unfinished", waits.first_unfinished);
    json_.BoolKey("begun", waits.begun);
    json_.BoolKey("held", waits.held);
    json_.NumberKey("first_wait", waits.first_wait);
    json_.NumberKey("wait_count", waits.wait_count);
    json_.EndObject();
  }
  json_.EndArray();
  json_.BeginArray("waits");
  for (const Wait& wait : waits_.waits) WriteWait(wait);
  json_.EndArray();
  json_.BeginArray("cycles");
  for (const std::vector<uint32_t>& cycle : waits_.cycles) {
    json_.BeginArray();
    for (const uint32_t wait : cycle) json_.Number(wait);
    json_.EndArray();
  }
  json_.EndArray();
  json_.BeginArray("cycle_words");
  std::string words;
  for (const std::vector<uint32_t>& cycle : waits_.cycles) {
    words.clear();
    AppendCycle(snapshot_, waits_, cycle, words);
    json_.String(words);
  }
  json_.EndArray();
  json_.NumberKey("cycles_left_out", waits_.cycles_left_out);
  json_.EndObject();
}

void DiagnosticsWriter::WriteNeighbour(std::string_view key, const AddressNeighbour& neighbour) {
  if (neighbour.object == kNone) return json_.NullKey(key);
  json_.BeginObject(key);
  json_.NumberKey("object", neighbour.object);
  json_.HexKey("distance", neighbour.distance);
  json_.EndObject();
}

void DiagnosticsWriter::WriteFaultAddress(const FaultAddressVerdict& verdict) {
  const FaultAddress& address = snapshot_.fault_addresses[verdict.address];
  json_.BeginObject();
  json_.StringKey("type", FaultAddressTypeWord(address.type));
  json_.HexKey("address", address.address);
  json_.HexKey("precision", address.precision);
  WriteOwners(verdict);
  json_.EndObject();
}

void DiagnosticsWriter::WriteOwners(const FaultAddressVerdict& verdict) {
  json_.StringKey("state", AddressStateWord(verdict.state));
  json_.HexKey("first", verdict.first);
  json_.HexKey("last", verdict.last);
  json_.BeginArray("owners");
  for (const AddressOwner& owner : verdict.owners) {
    json_.BeginObject();
    json_.NumberKey("object", owner.object);
    json_.BoolKey("exact", owner.exact);
    json_.HexKey("offset", owner.offset);
    json_.SignedKey("destroyed_after_fault_ns", owner.destroyed_after_fault_ns);
    json_.SignedKey("destroyed_after_submission_ns", owner.destroyed_after_submission_ns);
    WriteDestruction(snapshot_, "destruction", owner.destruction, &json_);
    json_.EndObject();
  }
  json_.EndArray();
  json_.NumberKey("owner_count", verdict.owner_count);
  WriteNeighbour("below", verdict.below);
  WriteNeighbour("above", verdict.above);
  std::string words;
  AppendOwners(snapshot_, verdict, kMostOwners, words);
  json_.StringKey("words", words);
  words.clear();
  AppendAround(snapshot_, verdict, words);
  json_.StringKey("around", words);
}

void DiagnosticsWriter::WriteFaults() {
  json_.BeginArray("faults");
  for (uint32_t i = 0; i < snapshot_.faults.size(); ++i) {
    const Fault& fault = snapshot_.faults[i];
    json_.BeginObject();
    json_.IndexKey("device", fault.device);
    json_.StringKey("source", snapshot_.Text(fault.source));
    json_.SignedKey("result", fault.result);
    json_.StringKey("description", snapshot_.Text(fault.description));
    TimeKey("time", fault.time_ns);
    json_.BeginArray("addresses");
    for (const FaultAddressVerdict& verdict : findings_.addresses.of_drivers) {
      if (verdict.fault == i) WriteFaultAddress(verdict);
    }
    json_.EndArray();
    json_.BeginArray("vendor_infos");
    for (uint32_t info = 0; info < fault.vendor_info_count; ++info) {
      const VendorInfo& vendor = snapshot_.vendor_infos[fault.first_vendor_info + info];
      json_.BeginObject();
      json_.StringKey("description", snapshot_.Text(vendor.description));
      json_.HexKey("code", vendor.code);
      json_.HexKey("data", vendor.data);
      json_.EndObject();
    }
    json_.EndArray();
    json_.NumberKey("vendor_binary_bytes", fault.vendor_binary_bytes);
    json_.BoolKey("vendor_binary_kept", !fault.vendor_binary.empty());
    json_.EndObject();
  }
  json_.EndArray();
}

void DiagnosticsWriter::WriteCrashAddresses() {
  json_.BeginArray("crash_addresses");
  for (const FaultAddressVerdict& verdict : findings_.addresses.of_cpu) {
    json_.BeginObject();
    json_.NumberKey("incident", verdict.incident);
    json_.HexKey("address", verdict.given);
    WriteOwners(verdict);
    json_.EndObject();
  }
  json_.EndArray();
}

void DiagnosticsWriter::WriteFreedInFlight() {
  json_.BeginArray("freed_in_flight");
  std::string words;
  for (const FreedInFlight& freed : findings_.freed_in_flight) {
    json_.BeginObject();
    json_.NumberKey("object", freed.object);
    json_.IndexKey("queue", snapshot_.submissions[freed.submission].queue);
    json_.NumberKey("submission", snapshot_.submissions[freed.submission].number);
    json_.SignedKey("after_submission_ns", freed.after_submission_ns);
    WriteDestruction(snapshot_, "destruction", freed.destruction, &json_);
    words.clear();
    AppendFreedInFlight(snapshot_, freed, words);
    json_.StringKey("words", words);
    json_.EndObject();
  }
  json_.EndArray();
}

void DiagnosticsWriter::WriteCheckpoints() {
  json_.BeginArray("checkpoints");
  std::string reason;
  for (const CheckpointVerdict& verdict : findings_.checkpoints) {
    const Checkpoint& checkpoint = snapshot_.checkpoints[verdict.checkpoint];
    json_.BeginObject();
    json_.IndexKey("device", checkpoint.device);
    json_.IndexKey("queue", checkpoint.queue);
    json_.StringKey("stage", PipeStageWord(checkpoint.stage));
    checkpoint.recording == kNone
        ? json_.NullKey("recording_id")
        : json_.NumberKey("recording_id", snapshot_.recordings[checkpoint.recording].recording_id);
    json_.NumberKey("event", checkpoint.sequence);
    json_.StringKey("relation", CheckpointRelationWord(verdict.relation));
    reason.clear();
    AppendCheckpointReason(snapshot_, verdict, reason);
    json_.StringKey("reason", reason);
    json_.EndObject();
  }
  json_.EndArray();
}

void DiagnosticsWriter::WriteShaders() {
  json_.BeginArray("shaders");
  for (const Shader& shader : snapshot_.shaders) {
    json_.BeginObject();
    json_.StringKey("hash", fmt::format("{:016x}", shader.hash));
    json_.StringKey("code", ShaderCodeWord(shader.code));
    json_.NumberKey("size", shader.size_bytes);
    json_.BoolKey("kept", !shader.bytes.empty());
    if ((shader.traits & kShaderRead) != 0) {
      json_.BoolKey("loops", (shader.traits & kShaderLoops) != 0);
      json_.BoolKey("atomics", (shader.traits & kShaderAtomics) != 0);
    }
    json_.EndObject();
  }
  json_.EndArray();
}

void DiagnosticsWriter::WriteKernelAddress(uint32_t line) {
  const std::vector<FaultAddressVerdict>& addresses = findings_.addresses.of_kernel;
  const auto named = std::find_if(
      addresses.begin(), addresses.end(),
      [line](const FaultAddressVerdict& verdict) { return verdict.kernel_line == line; });
  if (named == addresses.end()) return json_.NullKey("address");
  json_.BeginObject("address");
  json_.HexKey("address", named->given);
  WriteOwners(*named);
  json_.EndObject();
}

void DiagnosticsWriter::WriteKernelLog() {
  json_.Key("kernel_log");
  if (snapshot_.kernel_logs.empty()) return json_.Null();
  const KernelLog& log = snapshot_.kernel_logs.front();
  json_.BeginObject();
  json_.StringKey("why_not", snapshot_.Text(log.why_not));
  json_.Key("lines");
  json_.BeginArray();
  for (uint32_t i = 0; i < log.line_count; ++i) {
    const KernelLine& line = snapshot_.kernel_lines[log.first_line + i];
    json_.BeginObject();
    json_.StringKey("time", KernelTimeInWords(line.time_ns));
    json_.BoolKey("names_process", line.names_process);
    json_.BoolKey("tells_fault", line.tells_fault);
    json_.StringKey("text", snapshot_.Text(line.text));
    WriteKernelAddress(log.first_line + i);
    json_.EndObject();
  }
  json_.EndArray();
  json_.EndObject();
}

}  // namespace

void WriteDiagnostics(const Snapshot& snapshot, const Findings& findings, JsonWriter* json) {
  DiagnosticsWriter(snapshot, findings, json).Write();
}

}  // namespace cairn
