// SPDX-License-Identifier: Apache-2.0
//
// Numbers and enumerators in words, for every form of the report. Values may come from a file: each
// function has an answer for any number.
#ifndef CAIRN_READER_REPORT_WORDS_H_
#define CAIRN_READER_REPORT_WORDS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "format/snapshot/object_kinds.h"
#include "format/snapshot/snapshot.h"
#include "reader/analysis/findings.h"
#include "reader/report/work_states.h"

namespace cairn {

// One word each, in lower case; "unknown" for values that this version does not know.
std::string_view ApiWord(Api api);
std::string_view ModeWord(MarkerMode mode);
std::string_view MemoryWord(WordMemory memory);
std::string_view SourceStateWord(SourceState state);
std::string_view QueueTypeWord(uint32_t type);
std::string_view IncidentWord(IncidentKind kind);
// "VK_AMD_buffer_marker"
std::string_view MethodName(WriteMethod method);
// "Vulkan"
std::string_view ApiName(Api api);

std::string_view EventIdStateWord(EventIdState state);
std::string_view QueueMarkerKindWord(QueueMarkerKind kind);
std::string_view BindingStateWord(BindingState state);
std::string_view ObjectStateWord(ObjectState state);
// "render target", "root constants buffer"
std::string_view BindPointWord(BindPoint point);

// "invalid read", "an instruction that faulted"
std::string_view FaultAddressTypeWord(FaultAddressType type);
std::string_view AddressStateWord(AddressState state);
std::string_view WaitStateWord(WaitState state);
std::string_view SyncKindWord(SyncKind kind);
std::string_view PipeStageWord(PipeStage stage);
std::string_view CheckpointRelationWord(CheckpointRelation relation);
// "written", "missing", "unknown"
std::string_view RawArrivalWord(RawArrival arrival);
// "GPU hang", "likely", "last reached": what JSON calls them.
std::string_view FindingKindWord(FindingKind kind);
std::string_view CertaintyWord(Certainty certainty);
// "ranked": the word in JSON's deprecated key "certainty", which the next version leaves out.
std::string_view OldCertaintyWord(Certainty certainty);
std::string_view SuspectReasonWord(SuspectReason reason);
// "SPIR-V"
std::string_view ShaderCodeWord(ShaderCode code);

// "VK_ERROR_DEVICE_LOST", "DXGI_ERROR_DEVICE_HUNG"; empty if unknown.
std::string_view DeviceLostCodeName(int64_t code);
// "VK_ERROR_DEVICE_LOST (-4)", "DXGI_ERROR_DEVICE_HUNG (0x887a0006)"
std::string DeviceLostCodeInWords(int64_t code);

// "2023-11-14 22:13:25.000 UTC"
std::string TimeInWords(uint64_t realtime_ns);
// "2.5 s"
std::string MillisecondsInWords(int64_t milliseconds);
// "3.2 ms", "17 µs", "2.5 s"; the absolute value.
std::string DurationInWords(int64_t ns);
// Since the program started, "1.250 s"; empty where the snapshot does not say when that was.
std::string MonotonicTimeInWords(const Process& process, uint64_t monotonic_ns);
// "44306.335255": seconds, as dmesg prints them.
std::string KernelTimeInWords(uint64_t time_ns);
// "4 MiB"
std::string BytesInWords(uint64_t bytes);

// Returns one sentence: what happened and how it was noticed. Contains names as they came:
// untrusted.
std::string IncidentSentence(const Snapshot& snapshot, const Incident& incident);

// Returns one or two sentences: what a marker mode can show, and what it cannot.
std::string_view ModeSentence(MarkerMode mode);
std::string MemorySentence(const Device& device);

// Returns true if the shader of this stage has a known name or hash.
bool HasShader(const Pipeline& pipeline, uint32_t stage);
// "graphics", "compute", "ray tracing", "" when no shader is known of it.
std::string_view PipelineKind(const Pipeline& pipeline);
// "VS"
std::string_view ShaderStageWord(uint32_t stage);

}  // namespace cairn

#endif  // CAIRN_READER_REPORT_WORDS_H_
