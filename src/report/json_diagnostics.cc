// SPDX-License-Identifier: Apache-2.0
#include "report/json_diagnostics.h"

#include <fmt/format.h>

#include "analysis/checkpoint_check.h"
#include "analysis/fault_address.h"
#include "analysis/waits.h"
#include "report/words.h"

namespace cairn {
namespace {

class DiagnosticsWriter {
 public:
  DiagnosticsWriter(const Snapshot& snapshot, const Analysis& analysis, JsonWriter* json)
      : snapshot_(snapshot), analysis_(analysis), json_(*json) {}

  void Write() {
    WriteSyncs();
    WriteWaits();
    WriteFaults();
    WriteCheckpoints();
    WriteShaders();
  }

 private:
  void StringKey(std::string_view key, std::string_view value) {
    json_.Key(key);
    json_.String(value);
  }
  void NumberKey(std::string_view key, uint64_t value) {
    json_.Key(key);
    json_.Number(value);
  }
  void HexKey(std::string_view key, uint64_t value) {
    json_.Key(key);
    json_.Hex(value);
  }
  void BoolKey(std::string_view key, bool value) {
    json_.Key(key);
    json_.Bool(value);
  }
  void SignedKey(std::string_view key, int64_t value) {
    json_.Key(key);
    json_.SignedNumber(value);
  }
  void IndexKey(std::string_view key, uint32_t index) {
    json_.Key(key);
    if (index == kNone) {
      json_.Null();
    } else {
      json_.Number(index);
    }
  }
  void TimeKey(std::string_view key, uint64_t monotonic_ns) {
    json_.Key(key);
    const std::string time = MonotonicTimeInWords(snapshot_.process, monotonic_ns);
    if (time.empty()) {
      json_.Null();
    } else {
      json_.String(time);
    }
  }

  void WriteSyncs();
  void WriteWaits();
  void WriteWait(const Wait& wait);
  void WriteFaults();
  void WriteFaultAddress(const FaultAddressVerdict& verdict);
  void WriteNeighbour(std::string_view key, const AddressNeighbour& neighbour);
  void WriteCheckpoints();
  void WriteShaders();

  const Snapshot& snapshot_;
  const Analysis& analysis_;
  JsonWriter& json_;
};

void DiagnosticsWriter::WriteSyncs() {
  json_.Key("syncs");
  json_.BeginArray();
  for (const Sync& sync : snapshot_.syncs) {
    json_.BeginObject();
    StringKey("kind", SyncKindWord(sync.kind));
    IndexKey("device", sync.device);
    IndexKey("queue", sync.queue);
    NumberKey("submission", sync.submission_number);
    HexKey("native_handle", sync.native_handle);
    IndexKey("object", sync.object);
    HexKey("value", sync.value);
    BoolKey("binary", (sync.flags & kSyncBinary) != 0);
    BoolKey("fence", (sync.flags & kSyncFence) != 0);
    BoolKey("present", (sync.flags & kSyncPresent) != 0);
    BoolKey("acquire", (sync.flags & kSyncAcquire) != 0);
    TimeKey("time", sync.time_ns);
    json_.EndObject();
  }
  json_.EndArray();
}

void DiagnosticsWriter::WriteWait(const Wait& wait) {
  json_.BeginObject();
  NumberKey("sync", wait.sync);
  StringKey("state", WaitStateWord(wait.state));
  IndexKey("signal", wait.signal);
  NumberKey("held_submission", wait.held_submission);
  IndexKey("cycle", wait.cycle);
  json_.EndObject();
}

void DiagnosticsWriter::WriteWaits() {
  const WaitGraph graph = snapshot_.syncs.empty() ? WaitGraph() : FindWaits(snapshot_, analysis_);
  json_.Key("waits");
  json_.BeginObject();
  json_.Key("queues");
  json_.BeginArray();
  for (const QueueWaits& waits : graph.queues) {
    json_.BeginObject();
    IndexKey("queue", waits.queue);
    NumberKey("submitted", waits.submitted);
    NumberKey("finished", waits.finished);
    NumberKey("first_unfinished", waits.first_unfinished);
    BoolKey("begun", waits.begun);
    BoolKey("held", waits.held);
    NumberKey("first_wait", waits.first_wait);
    NumberKey("wait_count", waits.wait_count);
    json_.EndObject();
  }
  json_.EndArray();
  json_.Key("waits");
  json_.BeginArray();
  for (const Wait& wait : graph.waits) WriteWait(wait);
  json_.EndArray();
  json_.Key("cycles");
  json_.BeginArray();
  for (const std::vector<uint32_t>& cycle : graph.cycles) {
    json_.BeginArray();
    for (const uint32_t wait : cycle) json_.Number(wait);
    json_.EndArray();
  }
  json_.EndArray();
  NumberKey("cycles_left_out", graph.cycles_left_out);
  json_.EndObject();
}

void DiagnosticsWriter::WriteNeighbour(std::string_view key, const AddressNeighbour& neighbour) {
  json_.Key(key);
  if (neighbour.object == kNone) {
    json_.Null();
    return;
  }
  json_.BeginObject();
  NumberKey("object", neighbour.object);
  HexKey("distance", neighbour.distance);
  json_.EndObject();
}

void DiagnosticsWriter::WriteFaultAddress(const FaultAddressVerdict& verdict) {
  const FaultAddress& address = snapshot_.fault_addresses[verdict.address];
  json_.BeginObject();
  StringKey("type", FaultAddressTypeWord(address.type));
  HexKey("address", address.address);
  HexKey("precision", address.precision);
  StringKey("state", AddressStateWord(verdict.state));
  HexKey("first", verdict.first);
  HexKey("last", verdict.last);
  json_.Key("owners");
  json_.BeginArray();
  for (const AddressOwner& owner : verdict.owners) {
    json_.BeginObject();
    NumberKey("object", owner.object);
    BoolKey("exact", owner.exact);
    HexKey("offset", owner.offset);
    SignedKey("destroyed_after_fault_ns", owner.destroyed_after_fault_ns);
    SignedKey("destroyed_after_submission_ns", owner.destroyed_after_submission_ns);
    json_.EndObject();
  }
  json_.EndArray();
  NumberKey("owner_count", verdict.owner_count);
  WriteNeighbour("below", verdict.below);
  WriteNeighbour("above", verdict.above);
  json_.EndObject();
}

void DiagnosticsWriter::WriteFaults() {
  const std::vector<FaultAddressVerdict> verdicts = FindFaultAddresses(snapshot_, analysis_);
  json_.Key("faults");
  json_.BeginArray();
  for (uint32_t i = 0; i < snapshot_.faults.size(); ++i) {
    const Fault& fault = snapshot_.faults[i];
    json_.BeginObject();
    IndexKey("device", fault.device);
    StringKey("source", snapshot_.Text(fault.source));
    SignedKey("result", fault.result);
    StringKey("description", snapshot_.Text(fault.description));
    TimeKey("time", fault.time_ns);
    json_.Key("addresses");
    json_.BeginArray();
    for (const FaultAddressVerdict& verdict : verdicts) {
      if (verdict.fault == i) WriteFaultAddress(verdict);
    }
    json_.EndArray();
    json_.Key("vendor_infos");
    json_.BeginArray();
    for (uint32_t info = 0; info < fault.vendor_info_count; ++info) {
      const VendorInfo& vendor = snapshot_.vendor_infos[fault.first_vendor_info + info];
      json_.BeginObject();
      StringKey("description", snapshot_.Text(vendor.description));
      HexKey("code", vendor.code);
      HexKey("data", vendor.data);
      json_.EndObject();
    }
    json_.EndArray();
    NumberKey("vendor_binary_bytes", fault.vendor_binary_bytes);
    BoolKey("vendor_binary_kept", !fault.vendor_binary.empty());
    json_.EndObject();
  }
  json_.EndArray();
}

void DiagnosticsWriter::WriteCheckpoints() {
  json_.Key("checkpoints");
  json_.BeginArray();
  for (const CheckpointVerdict& verdict : CheckCheckpoints(snapshot_, analysis_)) {
    const Checkpoint& checkpoint = snapshot_.checkpoints[verdict.checkpoint];
    json_.BeginObject();
    IndexKey("device", checkpoint.device);
    IndexKey("queue", checkpoint.queue);
    StringKey("stage", PipeStageWord(checkpoint.stage));
    json_.Key("recording_id");
    if (checkpoint.recording == kNone) {
      json_.Null();
    } else {
      json_.Number(snapshot_.recordings[checkpoint.recording].recording_id);
    }
    NumberKey("event", checkpoint.sequence);
    StringKey("relation", CheckpointRelationWord(verdict.relation));
    StringKey("reason", verdict.reason);
    json_.EndObject();
  }
  json_.EndArray();
}

void DiagnosticsWriter::WriteShaders() {
  json_.Key("shaders");
  json_.BeginArray();
  for (const Shader& shader : snapshot_.shaders) {
    json_.BeginObject();
    StringKey("hash", fmt::format("{:016x}", shader.hash));
    StringKey("code", ShaderCodeWord(shader.code));
    NumberKey("size", shader.size_bytes);
    BoolKey("kept", !shader.bytes.empty());
    json_.EndObject();
  }
  json_.EndArray();
}

}  // namespace

void WriteDiagnostics(const Snapshot& snapshot, const Analysis& analysis, JsonWriter* json) {
  DiagnosticsWriter(snapshot, analysis, json).Write();
}

}  // namespace cairn
