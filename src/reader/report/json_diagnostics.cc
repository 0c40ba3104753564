// SPDX-License-Identifier: Apache-2.0
#include "reader/report/json_diagnostics.h"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reader/report/describe.h"
#include "reader/report/destruction_text.h"
#include "reader/report/fault_text.h"
#include "reader/report/json_columns.h"
#include "reader/report/memory_text.h"
#include "reader/report/reason_text.h"
#include "reader/report/words.h"

namespace cairn {
namespace {

class DiagnosticsWriter {
 public:
  DiagnosticsWriter(const Findings& findings, const JsonRows& rows)
      : snapshot_(rows.snapshot()),
        findings_(findings),
        waits_(findings.waits),
        rows_(rows),
        json_(rows.json()) {}

  void Write() {
    rows_.Array("syncs", snapshot_.syncs, json_column::kSync);
    WriteWaits();
    WriteFaults();
    WriteMemory();
    WriteCrashAddresses();
    WriteFreedInFlight();
    WriteCheckpoints();
    rows_.Array("shaders", snapshot_.shaders, json_column::kShader,
                [this](const Shader& shader, size_t) {
                  if ((shader.traits & kShaderRead) == 0) return;
                  rows_.Columns(shader, json_column::kShaderTraits);
                });
    WriteKernelLog();
  }

 private:
  void WriteWaits();
  void WriteFaults();
  void WriteMemory();
  void WriteCrashAddresses();
  void WriteFreedInFlight();
  void WriteFaultAddress(const FaultAddressVerdict& verdict);
  void WriteNeighbour(std::string_view key, const AddressNeighbour& neighbour);
  void WriteCheckpoints();
  void WriteOwners(const FaultAddressVerdict& verdict);
  void WriteKernelAddress(uint32_t line);
  void WriteKernelLog();

  const Snapshot& snapshot_;
  const Findings& findings_;
  const WaitGraph& waits_;  // of these
  const JsonRows& rows_;
  JsonWriter& json_;  // of the rows
};

void DiagnosticsWriter::WriteWaits() {
  json_.BeginObject("waits");
  rows_.Array("queues", waits_.queues, json_column::kQueueWaits);
  rows_.Array("waits", waits_.waits, json_column::kWait);
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
    words = "Deadlock: ";
    AppendCycle(snapshot_, waits_, cycle, words);
    words += '.';
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
  json_.BeginObject();
  rows_.Columns(snapshot_.fault_addresses[verdict.address], json_column::kFaultAddress);
  WriteOwners(verdict);
  json_.EndObject();
}

void DiagnosticsWriter::WriteOwners(const FaultAddressVerdict& verdict) {
  json_.StringKey("state", AddressStateWord(verdict.state));
  json_.HexKey("first", verdict.first);
  json_.HexKey("last", verdict.last);
  rows_.Array("owners", verdict.owners, json_column::kAddressOwner,
              [this](const AddressOwner& owner, size_t) {
                WriteDestruction(snapshot_, "destruction", owner.destruction, &json_);
              });
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

void DiagnosticsWriter::WriteMemory() {
  std::string words;
  rows_.Array("memory", snapshot_.memory, json_column::kDeviceMemory,
              [&](const DeviceMemory& memory, size_t) {
                rows_.Array(
                    "heaps",
                    std::span(snapshot_.memory_heaps).subspan(memory.first_heap, memory.heap_count),
                    json_column::kMemoryHeap, [&](const MemoryHeap& heap, size_t index) {
                      words.clear();
                      AppendHeap(heap, static_cast<uint32_t>(index), words);
                      json_.StringKey("words", words);
                    });
                json_.BoolKey("exhausted", IsExhausted(snapshot_, memory));
                words.clear();
                AppendExhausted(snapshot_, memory, words);
                json_.StringKey("words", words);
              });
}

void DiagnosticsWriter::WriteFaults() {
  rows_.Array("faults", snapshot_.faults, json_column::kFault,
              [this](const Fault& fault, size_t index) {
                json_.BeginArray("addresses");
                for (const FaultAddressVerdict& verdict : findings_.addresses.of_drivers) {
                  if (verdict.fault == index) WriteFaultAddress(verdict);
                }
                json_.EndArray();
                const auto infos = std::span(snapshot_.vendor_infos)
                                       .subspan(fault.first_vendor_info, fault.vendor_info_count);
                rows_.Array("vendor_infos", infos, json_column::kVendorInfo);
                rows_.Columns(fault, json_column::kVendorBinary);
              });
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
  rows_.TextKey("why_not", log.why_not);
  const auto lines = std::span(snapshot_.kernel_lines).subspan(log.first_line, log.line_count);
  rows_.Array("lines", lines, json_column::kKernelLine, [&](const KernelLine&, size_t index) {
    WriteKernelAddress(log.first_line + static_cast<uint32_t>(index));
  });
  json_.EndObject();
}

}  // namespace

void WriteDiagnostics(const Findings& findings, const JsonRows& rows) {
  DiagnosticsWriter(findings, rows).Write();
}

}  // namespace cairn
