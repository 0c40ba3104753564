// SPDX-License-Identifier: Apache-2.0
#include "reader/report/signature.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>

#include "base/signal_name.h"
#include "base/text.h"
#include "format/elimination/work_key.h"
#include "reader/analysis/work_class.h"
#include "reader/report/describe.h"
#include "reader/report/words.h"

namespace cairn {
namespace {

constexpr size_t kSuspectsCompared = 64;

bool IsRedacted(std::string_view name) {
  constexpr std::string_view kStart = "name-";
  return name.size() == kStart.size() + 16 && name.starts_with(kStart) &&
         name.find_first_not_of("0123456789abcdef", kStart.size()) == std::string_view::npos;
}

// "Frame 12" and "Frame 7" are one name; redaction has made others of them.
std::string CommonName(std::string_view name) {
  return IsRedacted(name) ? std::string(name) : WithoutNumbers(name);
}

std::string CauseOf(const Snapshot& snapshot, const CulpritFinding& finding) {
  if (finding.kind == FindingKind::kGpuFault && finding.fault_address != kNone) {
    return std::string(FaultAddressTypeWord(snapshot.fault_addresses[finding.fault_address].type));
  }
  if (finding.incident == kNone) return "";
  const Incident& incident = snapshot.incidents[finding.incident];
  if (incident.kind == IncidentKind::kSignal && incident.value != 0) {
    const std::string_view name = SignalName(incident.value);
    return name.empty() ? SignalInWords(incident.value) : std::string(name);
  }
  if (incident.kind == IncidentKind::kDeviceLost) {
    const std::string_view name = DeviceLostCodeName(incident.value);
    return name.empty() ? DeviceLostCodeInWords(incident.value) : std::string(name);
  }
  return "";
}

class SignatureMaker {
 public:
  SignatureMaker(const Snapshot& snapshot, const Findings& findings)
      : snapshot_(snapshot),
        analysis_(findings.analysis),
        waits_(findings.waits),
        finding_(findings.culprit) {}

  Signature Make() {
    signature_.kind = FindingKindWord(finding_.kind);
    signature_.cause = CauseOf(snapshot_, finding_);
    if (finding_.kind == FindingKind::kDeadlock) {
      AddDeadlock();
    } else if (finding_.kind == FindingKind::kEndlessWait) {
      AddEndlessWait();
    } else if (finding_.crash.call != kNone) {
      AddCrash();
    } else {
      AddSuspects();
    }
    AddDevice();
    AddId();
    return std::move(signature_);
  }

 private:
  std::string NameOfQueue(uint32_t index) const {
    if (index == kNone) return "CPU";
    const Queue& queue = snapshot_.queues[index];
    return fmt::format("queue {}", queue.name.empty() ? std::string(QueueTypeWord(queue.type))
                                                      : CommonName(snapshot_.Text(queue.name)));
  }

  // Wherever the cycle begins, it is the same one.
  void AddDeadlock() {
    if (finding_.cycle == kNone) return;
    for (const uint32_t wait : waits_.cycles[finding_.cycle]) {
      queue_ = snapshot_.syncs[waits_.waits[wait].sync].queue;
      signature_.path.push_back(NameOfQueue(queue_));
    }
    std::sort(signature_.path.begin(), signature_.path.end());
    KeepInnermost();
  }

  void AddEndlessWait() {
    const Sync& sync = snapshot_.syncs[waits_.waits[finding_.wait].sync];
    queue_ = sync.queue;
    device_ = sync.device;
    signature_.path.push_back(NameOfQueue(queue_));
    if (sync.object == kNone) return;
    const Object& object = snapshot_.objects[sync.object];
    signature_.path.push_back(object.name.empty() ? std::string(ObjectKindWord(object.kind))
                                                  : CommonName(snapshot_.Text(object.name)));
  }

  // The call that the program died in, whatever the GPU did meanwhile.
  void AddCrash() {
    const Call& call = snapshot_.calls[finding_.crash.call];
    if (!call.function.empty()) signature_.path.emplace_back(snapshot_.Text(call.function));
  }

  std::string NameOfScope(const Scope& scope) const {
    const Event& event = snapshot_.events[scope.event];
    if (!event.name.empty()) return CommonName(snapshot_.Text(event.name));
    std::string type;
    AppendMarkerType(event.type, type);
    return type;
  }

  std::vector<std::string> PathOfSuspect(const SuspectWork& suspect) const {
    std::vector<std::string> path;
    for (uint32_t scope = suspect.scope; scope != kNone && path.size() < Signature::kPathLength;
         scope = analysis_.scopes[scope].parent) {
      path.push_back(NameOfScope(analysis_.scopes[scope]));
    }
    std::reverse(path.begin(), path.end());
    return path;
  }

  void AddSuspects() {
    const std::vector<SuspectWork>& suspects = finding_.suspects;
    if (suspects.empty()) return;
    const SuspectWork& first = suspects.front();
    queue_ = analysis_.verdicts[first.verdict].queue;
    device_ = analysis_.verdicts[first.verdict].device;
    signature_.path = PathOfSuspect(first);
    if (finding_.certainty == Certainty::kOneOf && suspects.size() > 1) {
      const size_t compared = std::min(suspects.size(), kSuspectsCompared);
      for (size_t i = 1; i < compared; ++i) KeepCommon(PathOfSuspect(suspects[i]));
      return;  // which of their pipelines it was is not known, either
    }
    if (first.scope != kNone) {
      AddShaders(PipelineOf(snapshot_, analysis_.scopes[first.scope]));
    }
  }

  void KeepCommon(const std::vector<std::string>& other) {
    std::vector<std::string>& path = signature_.path;
    const auto end = std::mismatch(path.begin(), path.end(), other.begin(), other.end()).first;
    path.erase(end, path.end());
  }

  void KeepInnermost() {
    std::vector<std::string>& path = signature_.path;
    if (path.size() > Signature::kPathLength) {
      path.erase(path.begin(), path.end() - Signature::kPathLength);
    }
  }

  void AddShaders(uint32_t pipeline_index) {
    if (pipeline_index == kNone) return;
    const Pipeline& pipeline = snapshot_.pipelines[pipeline_index];
    for (uint32_t stage = 0; stage < kStageCount; ++stage) {
      if (pipeline.shader_hashes[stage] != 0) {
        signature_.shaders.push_back(fmt::format("{:016x}", pipeline.shader_hashes[stage]));
      } else if (!pipeline.shader_names[stage].empty()) {
        // Often a hash of the program's own.
        signature_.shaders.emplace_back(snapshot_.Text(pipeline.shader_names[stage]));
      }
    }
  }

  // Adds the device of the work; else of the queue that hangs; else the lost device, or the only
  // one.
  void AddDevice() {
    if (queue_ == kNone && finding_.incident != kNone) {
      queue_ = snapshot_.incidents[finding_.incident].queue;
    }
    if (device_ == kNone && queue_ != kNone) device_ = snapshot_.queues[queue_].device;
    const std::vector<Device>& devices = snapshot_.devices;
    if (device_ == kNone && !devices.empty()) {
      const auto lost = std::find_if(devices.begin(), devices.end(),
                                     [](const Device& device) { return device.device_lost; });
      device_ = lost == devices.end() ? 0 : static_cast<uint32_t>(lost - devices.begin());
    }
    if (device_ == kNone) return;
    signature_.device = snapshot_.Text(devices[device_].name);
    signature_.driver = snapshot_.Text(devices[device_].driver);
  }

  void AddId() {
    std::string all;
    const auto add = [&](std::string_view text) {
      all += fmt::format("{}:", text.size());
      all += text;
    };
    const auto add_all = [&](const std::vector<std::string>& texts) {
      all += fmt::format("{}*", texts.size());
      for (const std::string& text : texts) add(text);
    };
    add(signature_.kind);
    add(signature_.cause);
    add_all(signature_.path);
    add_all(signature_.shaders);
    add(signature_.device);
    add(signature_.driver);
    signature_.id = fmt::format("{:016x}", XXH3_64bits(all.data(), all.size()));
  }

  const Snapshot& snapshot_;
  const Analysis& analysis_;
  const WaitGraph& waits_;
  const CulpritFinding& finding_;
  uint32_t queue_ = kNone;
  uint32_t device_ = kNone;
  Signature signature_;
};

std::string Joined(const std::vector<std::string>& texts, std::string_view separator) {
  std::string joined;
  for (const std::string& text : texts) {
    if (!joined.empty()) joined += separator;
    AppendVisibleText(text, joined);
  }
  return joined;
}

}  // namespace

Signature SignatureOf(const Snapshot& snapshot, const Findings& findings) {
  return SignatureMaker(snapshot, findings).Make();
}

std::string PathOf(const Signature& signature) {
  return Joined(signature.path, " > ");
}

std::string ShadersOf(const Signature& signature) {
  return Joined(signature.shaders, " ");
}

void WriteSignature(const Signature& signature, JsonWriter* json) {
  json->BeginObject("signature");
  json->StringKey("id", signature.id);
  json->StringKey("kind", signature.kind);
  json->StringKey("cause", signature.cause);
  json->StringsKey("path", signature.path);
  json->StringsKey("shaders", signature.shaders);
  json->StringKey("device", signature.device);
  json->StringKey("driver", signature.driver);
  json->EndObject();
}

}  // namespace cairn
