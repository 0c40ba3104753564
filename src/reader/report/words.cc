// SPDX-License-Identifier: Apache-2.0
#include "reader/report/words.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cstdint>
#include <ctime>

#include "base/result_name.h"
#include "base/signal_name.h"
#include "base/text.h"

namespace cairn {
namespace {

std::string_view VkResultName(int64_t code) {
  switch (code) {
    case 1: return "VK_NOT_READY";
    case 2: return "VK_TIMEOUT";
    case -1: return "VK_ERROR_OUT_OF_HOST_MEMORY";
    case -2: return "VK_ERROR_OUT_OF_DEVICE_MEMORY";
    case -3: return "VK_ERROR_INITIALIZATION_FAILED";
    case -4: return "VK_ERROR_DEVICE_LOST";
    case -5: return "VK_ERROR_MEMORY_MAP_FAILED";
    case -13: return "VK_ERROR_UNKNOWN";
    case -1000000000: return "VK_ERROR_SURFACE_LOST_KHR";
    case -1000001004: return "VK_ERROR_OUT_OF_DATE_KHR";
    default: return {};
  }
}

}  // namespace

std::string_view ApiWord(Api api) {
  switch (api) {
    case Api::kNone: return "none";
    case Api::kD3D12: return "d3d12";
    case Api::kVulkan: return "vulkan";
    case Api::kCustom: return "custom";
    case Api::kD3D11: return "d3d11";
  }
  return "unknown";
}

std::string_view ApiName(Api api) {
  switch (api) {
    case Api::kNone: return "no API";
    case Api::kD3D12: return "Direct3D 12";
    case Api::kVulkan: return "Vulkan";
    case Api::kCustom: return "a custom backend";
    case Api::kD3D11: return "Direct3D 11";
  }
  return "an unknown API";
}

std::string_view ModeWord(MarkerMode mode) {
  switch (mode) {
    case MarkerMode::kTop: return "top";
    case MarkerMode::kPass: return "pass";
    case MarkerMode::kFull: return "full";
    case MarkerMode::kOff: return "off";
    case MarkerMode::kExact: return "exact";
  }
  return "unknown";
}

std::string_view MemoryWord(WordMemory memory) {
  switch (memory) {
    case WordMemory::kNone: return "none";
    case WordMemory::kImported: return "imported";
    case WordMemory::kMirrored: return "mirrored";
    case WordMemory::kCallback: return "callback";
  }
  return "unknown";
}

std::string_view SourceStateWord(SourceState state) {
  switch (state) {
    case SourceState::kAbsent: return "absent";
    case SourceState::kPresent: return "present";
    case SourceState::kFailed: return "failed";
    case SourceState::kSilent: return "silent";
  }
  return "unknown";
}

std::string_view QueueTypeWord(uint32_t type) {
  switch (type) {
    case 0: return "direct";
    case 1: return "compute";
    case 2: return "copy";
    case 3: return "other";
    default: return "unknown";
  }
}

std::string_view EventIdStateWord(EventIdState state) {
  switch (state) {
    case EventIdState::kUnknown: return "unknown";
    case EventIdState::kExpired: return "expired";
    case EventIdState::kResolved: return "resolved";
  }
  return "unknown";
}

std::string_view QueueMarkerKindWord(QueueMarkerKind kind) {
  switch (kind) {
    case QueueMarkerKind::kBegin: return "begin";
    case QueueMarkerKind::kSetMarker: return "marker";
    case QueueMarkerKind::kEnd: return "end";
  }
  return "unknown";
}

std::string_view BindingStateWord(BindingState state) {
  switch (state) {
    case BindingState::kAlive: return "alive";
    case BindingState::kDestroyed: return "destroyed";
    case BindingState::kReplaced: return "replaced";
    case BindingState::kUnknown: return "unknown";
    case BindingState::kNotSeen: return "not seen";
  }
  return "unknown";
}

std::string_view ObjectStateWord(ObjectState state) {
  switch (state) {
    case ObjectState::kFree: return "free";
    case ObjectState::kAlive: return "alive";
    case ObjectState::kDestroyed: return "destroyed";
  }
  return "unknown";
}

std::string_view BindPointWord(BindPoint point) {
  switch (point) {
    case BindPoint::kRenderTarget: return "render target";
    case BindPoint::kDepthStencil: return "depth stencil";
    case BindPoint::kVertexBuffer: return "vertex buffer";
    case BindPoint::kIndexBuffer: return "index buffer";
    case BindPoint::kRootConstantBuffer: return "root CBV";
    case BindPoint::kRootShaderResource: return "root SRV";
    case BindPoint::kRootUnorderedAccess: return "root UAV";
    case BindPoint::kStreamOutput: return "stream output";
    case BindPoint::kIndirectArguments: return "indirect arguments";
    case BindPoint::kSource: return "source";
    case BindPoint::kDestination: return "destination";
    case BindPoint::kSecondary: return "secondary command buffer";
    case BindPoint::kDescriptorSet: return "descriptor set";
  }
  return "unknown";
}

std::string_view FaultAddressTypeWord(FaultAddressType type) {
  switch (type) {
    case FaultAddressType::kNone: return "no address";
    case FaultAddressType::kReadInvalid: return "invalid read";
    case FaultAddressType::kWriteInvalid: return "invalid write";
    case FaultAddressType::kExecuteInvalid: return "invalid execution";
    case FaultAddressType::kInstructionUnknown: return "instruction of unknown part";
    case FaultAddressType::kInstructionInvalid: return "invalid instruction";
    case FaultAddressType::kInstructionFault: return "instruction that faulted";
  }
  return "unknown";
}

std::string_view AddressStateWord(AddressState state) {
  switch (state) {
    case AddressState::kOwned: return "owned";
    case AddressState::kFreed: return "freed";
    case AddressState::kNeverMapped: return "never mapped";
    case AddressState::kNoAddress: return "no address";
  }
  return "unknown";
}

std::string_view WaitStateWord(WaitState state) {
  switch (state) {
    case WaitState::kSatisfied: return "satisfied";
    case WaitState::kWillBeSignalled: return "will be signalled";
    case WaitState::kBlocked: return "blocked";
    case WaitState::kNeverSignalled: return "never signalled";
    case WaitState::kDeadlock: return "deadlock";
    case WaitState::kUnknown: break;
  }
  return "unknown";
}

std::string_view SyncKindWord(SyncKind kind) {
  switch (kind) {
    case SyncKind::kWait: return "wait";
    case SyncKind::kSignal: return "signal";
  }
  return "unknown";
}

std::string_view PipeStageWord(PipeStage stage) {
  switch (stage) {
    case PipeStage::kTop: return "top of the pipe";
    case PipeStage::kBottom: return "bottom of the pipe";
    case PipeStage::kOther: break;
  }
  return "another stage";
}

std::string_view RawArrivalWord(RawArrival arrival) {
  switch (arrival) {
    case RawArrival::kArrived: return "written";
    case RawArrival::kMissing: return "missing";
    case RawArrival::kUnknown: break;
  }
  return "unknown";
}

std::string_view CheckpointRelationWord(CheckpointRelation relation) {
  switch (relation) {
    case CheckpointRelation::kAgrees: return "agrees";
    case CheckpointRelation::kTellsMore: return "tells more";
    case CheckpointRelation::kWordsBehind: return "contradicts the words, which are behind";
    case CheckpointRelation::kCheckpointBehind: return "contradicts the words, which are further";
    case CheckpointRelation::kNotCompared: break;
  }
  return "not compared";
}

std::string_view FindingKindWord(FindingKind kind) {
  switch (kind) {
    case FindingKind::kNothingWrong: return "nothing wrong";
    case FindingKind::kGpuFault: return "GPU fault";
    case FindingKind::kDeviceLost: return "device lost";
    case FindingKind::kGpuHang: return "GPU hang";
    case FindingKind::kDeadlock: return "deadlock";
    case FindingKind::kEndlessWait: return "endless wait";
    case FindingKind::kCpuFault: return "CPU fault";
    case FindingKind::kKilled: return "killed";
    case FindingKind::kExited: return "exited";
  }
  return "unknown";
}

std::string_view CertaintyWord(Certainty certainty) {
  switch (certainty) {
    case Certainty::kProven: return "proven";
    case Certainty::kLikely: return "likely";
    case Certainty::kOneOf: return "one of";
    case Certainty::kNothingRunning: return "nothing running";
    case Certainty::kAllCompleted: return "all completed";
    case Certainty::kUnknown: break;
  }
  return "unknown";
}

std::string_view OldCertaintyWord(Certainty certainty) {
  switch (certainty) {
    case Certainty::kProven: return "proved";
    case Certainty::kLikely: return "ranked";
    case Certainty::kOneOf: return "one of";
    case Certainty::kNothingRunning: return "nothing running";
    case Certainty::kAllCompleted: return "all finished";
    case Certainty::kUnknown: return "not known";
  }
  return "unknown";
}

std::string_view SuspectReasonWord(SuspectReason reason) {
  switch (reason) {
    case SuspectReason::kOnlyWorkRunning: return "only work running";
    case SuspectReason::kLeadsToFault: return "leads to the fault";
    case SuspectReason::kFinishedByItsWord: return "finished by its word";
    case SuspectReason::kBarrierBehind: return "barrier behind it";
    case SuspectReason::kFirstUnfinished: return "first unfinished";
    case SuspectReason::kUnfinished: return "unfinished";
    case SuspectReason::kLastReached: return "last reached";
    case SuspectReason::kReached: return "reached";
    case SuspectReason::kReachedTogether: return "reached together";
    case SuspectReason::kMayHaveBegun: return "may have begun";
    case SuspectReason::kOutsideOfMarkers: return "outside of markers";
    case SuspectReason::kRawMarkers: return "raw markers";
    case SuspectReason::kRawMarkerLost: return "raw marker lost";
    case SuspectReason::kRawMarkersClear: return "raw markers clear it";
    case SuspectReason::kTied: return "tied";
    case SuspectReason::kRunsNothing: return "runs nothing";
    case SuspectReason::kHeldBack: return "held back";
    case SuspectReason::kEndUnseen: return "end unseen";
  }
  return "unknown";
}

std::string_view ShaderCodeWord(ShaderCode code) {
  switch (code) {
    case ShaderCode::kUnknown: break;
    case ShaderCode::kSpirV: return "SPIR-V";
    case ShaderCode::kDxbc: return "DXBC";
  }
  return "unknown";
}

std::string_view IncidentWord(IncidentKind kind) {
  switch (kind) {
    case IncidentKind::kNone: return "none";
    case IncidentKind::kRequested: return "requested";
    case IncidentKind::kExited: return "exited";
    case IncidentKind::kSignal: return "signal";
    case IncidentKind::kDeviceLost: return "device lost";
    case IncidentKind::kHang: return "hang";
  }
  return "unknown";
}

std::string_view MethodName(WriteMethod method) {
  switch (method) {
    case WriteMethod::kNone: return "no method";
    case WriteMethod::kD3D12WriteBufferImmediate: return "WriteBufferImmediate";
    case WriteMethod::kD3D12CopyBufferRegion: return "CopyBufferRegion";
    case WriteMethod::kVulkanBufferMarker: return "VK_AMD_buffer_marker";
    case WriteMethod::kVulkanFillBuffer: return "vkCmdFillBuffer";
    case WriteMethod::kCustom: return "a custom backend";
    case WriteMethod::kDriverBufferMarker: return "VK_AMD_buffer_marker through the Vulkan layer";
    case WriteMethod::kDriverFillBuffer: return "vkCmdFillBuffer through the Vulkan layer";
    case WriteMethod::kD3D11Fence: return "ID3D11Fence";
    case WriteMethod::kD3D11EventQuery: return "D3D11_QUERY_EVENT";
    case WriteMethod::kAmdAgs: return "AMD's amd_ags_x64.dll";
    case WriteMethod::kD3D11Labels: return "labels for the Vulkan layer";
  }
  return "unknown method";
}

std::string_view DeviceLostCodeName(int64_t code) {
  const std::string_view name = VkResultName(code);
  const bool may_be_hresult = code < 0 && code >= INT32_MIN;
  return name.empty() && may_be_hresult ? HresultName(static_cast<uint32_t>(code)) : name;
}

std::string DeviceLostCodeInWords(int64_t code) {
  const std::string_view name = DeviceLostCodeName(code);
  // Results of COM have a facility in their upper half and are known by their hexadecimal form.
  const bool is_hresult = code < -1'000'000'000 && code != -1'000'001'004;
  const std::string number =
      is_hresult ? fmt::format("{:#x}", static_cast<uint32_t>(code)) : fmt::format("{}", code);
  return name.empty() ? "code " + number : fmt::format("{} ({})", name, number);
}

std::string TimeInWords(uint64_t realtime_ns) {
  const std::time_t seconds = static_cast<std::time_t>(realtime_ns / 1'000'000'000);
  return fmt::format("{:%Y-%m-%d %H:%M:%S}.{:03} UTC", fmt::gmtime(seconds),
                     realtime_ns / 1'000'000 % 1000);
}

std::string MillisecondsInWords(int64_t milliseconds) {
  return fmt::format("{:g} s", static_cast<double>(milliseconds) / 1000);
}

std::string DurationInWords(int64_t ns) {
  const double value = static_cast<double>(ns < 0 ? 0 - static_cast<uint64_t>(ns) : ns);
  if (value < 999.5e3) return fmt::format("{:.3g} µs", value / 1e3);
  if (value < 999.5e6) return fmt::format("{:.3g} ms", value / 1e6);
  return fmt::format("{:.4g} s", value / 1e9);
}

std::string MonotonicTimeInWords(const Process& process, uint64_t monotonic_ns) {
  if (process.start_monotonic_ns == 0 || monotonic_ns < process.start_monotonic_ns) return "";
  return fmt::format("{:.3f} s",
                     static_cast<double>(monotonic_ns - process.start_monotonic_ns) / 1e9);
}

std::string KernelTimeInWords(uint64_t time_ns) {
  return fmt::format("{}.{:06}", time_ns / 1'000'000'000, time_ns / 1000 % 1'000'000);
}

std::string BytesInWords(uint64_t bytes) {
  constexpr std::string_view kUnits[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  size_t unit = 0;
  double value = static_cast<double>(bytes);
  for (; value >= 1024; value /= 1024) ++unit;
  return fmt::format("{:.4g} {}", value, kUnits[unit]);
}

namespace {

// Every other time of a report counts from the start of the program.
std::string TimeOfIncident(const Process& process, uint64_t realtime_ns) {
  if (process.start_time_ns == 0 || realtime_ns < process.start_time_ns) {
    return "at " + TimeInWords(realtime_ns);
  }
  return fmt::format("{:.3f} s after the program started",
                     static_cast<double>(realtime_ns - process.start_time_ns) / 1e9);
}

}  // namespace

std::string IncidentSentence(const Snapshot& snapshot, const Incident& incident) {
  std::string sentence;
  switch (incident.kind) {
    case IncidentKind::kRequested:
      sentence = "This report was asked for; nothing had gone wrong";
      break;
    case IncidentKind::kExited:
      sentence = fmt::format("The program exited with code {}", incident.value);
      break;
    case IncidentKind::kSignal: {
      if (incident.value == 0) {
        sentence = "The program ended with GPU work unfinished; how it ended is not known";
        break;
      }
      sentence = "The program died of " + SignalInWords(incident.value);
      if (incident.address != 0) sentence += fmt::format(" at address {:#x}", incident.address);
      if (incident.value == kSignalKill) sentence += ", which Cairn did not send";
      if (IsTermination(incident.value)) sentence += ", which Cairn did not call";
      break;
    }
    case IncidentKind::kDeviceLost:
      sentence =
          "The program reported that the device was lost: " + DeviceLostCodeInWords(incident.value);
      if (!incident.detail.empty()) {
        sentence += fmt::format(", noticed at \"{}\"", snapshot.Text(incident.detail));
      }
      break;
    case IncidentKind::kHang:
      sentence = "The watchdog saw a hang";
      if (incident.time_ns != 0)
        sentence += ' ' + TimeOfIncident(snapshot.process, incident.time_ns);
      sentence += ": ";
      if (incident.queue < snapshot.queues.size()) {
        sentence += fmt::format("queue {}", incident.queue);
        const std::string_view name = snapshot.Text(snapshot.queues[incident.queue].name);
        if (!name.empty()) sentence += fmt::format(" \"{}\"", name);
      } else {
        sentence += "submitted work";
      }
      sentence += " made no progress for " + MillisecondsInWords(incident.value);
      break;
    default:
      sentence = fmt::format("Something happened that this version does not know (incident {})",
                             static_cast<uint32_t>(incident.kind));
      break;
  }
  if (incident.kind == IncidentKind::kHang) {
    if (!incident.detail.empty()) {
      sentence += fmt::format(". It then ended the program ({})",
                              VisibleText(snapshot.Text(incident.detail)));
    }
    return sentence + ".";
  }
  if (incident.time_ns != 0) sentence += ", " + TimeOfIncident(snapshot.process, incident.time_ns);
  if (incident.kind == IncidentKind::kSignal && !incident.detail.empty()) {
    sentence += fmt::format("; {}", snapshot.Text(incident.detail));
  }
  return sentence + ".";
}

std::string_view ModeSentence(MarkerMode mode) {
  switch (mode) {
    case MarkerMode::kTop:
      return "Mode top records what the GPU began. That work completed shows only at the end of a "
             "list, and at barriers at which the GPU was measured to wait: all other work that "
             "began is a candidate.";
    case MarkerMode::kPass:
      return "Mode pass records what the GPU began and which passes completed; inside an "
             "unfinished pass all work that began is a candidate.";
    case MarkerMode::kFull:
      return "Mode full records for each command with a marker whether the GPU began and completed "
             "it; commands without a marker of their own count with the scope around them.";
    case MarkerMode::kExact:
      return "Mode exact lets no work of a queue overlap: the GPU runs one command at a time, and "
             "records its end behind a barrier; in a render pass that cannot be split all "
             "commands count as one piece.";
    case MarkerMode::kOff:
      return "Mode off asks the GPU to write nothing: lists and submissions are known, but not how "
             "far the GPU came.";
  }
  return "The marker mode is unknown to this version.";
}

std::string MemorySentence(const Device& device) {
  switch (device.memory) {
    case WordMemory::kImported:
      return "The GPU writes into shared memory (imported): nothing is lost when the program dies.";
    case WordMemory::kMirrored:
      return fmt::format(
          "The GPU writes into memory of the device, copied every {} \u00b5s (mirrored): when the "
          "program is killed, the last {} \u00b5s may be missing, and work may have come further "
          "than is shown.",
          device.mirror_period_us, device.mirror_period_us);
    case WordMemory::kCallback:
      return "The program's own backend writes the progress words (callback): they are as good as "
             "it is.";
    case WordMemory::kNone: return "No memory for the progress words was found.";
  }
  return "The memory of the progress words is unknown to this version.";
}

bool HasShader(const Pipeline& pipeline, uint32_t stage) {
  return !pipeline.shader_names[stage].empty() || pipeline.shader_hashes[stage] != 0;
}

std::string_view PipelineKind(const Pipeline& pipeline) {
  if (HasShader(pipeline, kStageCompute)) return "compute";
  if (HasShader(pipeline, kStageRayTracing)) return "ray tracing";
  for (uint32_t stage = 0; stage < kStageCount; ++stage) {
    if (HasShader(pipeline, stage)) return "graphics";
  }
  return "";
}

std::string_view ShaderStageWord(uint32_t stage) {
  constexpr std::string_view kWords[kStageCount] = {"VS", "HS", "DS", "GS", "PS",
                                                    "MS", "AS", "CS", "RT"};
  return stage < kStageCount ? kWords[stage] : "??";
}

}  // namespace cairn
