// SPDX-License-Identifier: Apache-2.0
//
// The keys of the JSON report for each kind of row, in their order: docs/formats/report.schema.json
// describes them.
#ifndef CAIRN_READER_REPORT_JSON_COLUMNS_H_
#define CAIRN_READER_REPORT_JSON_COLUMNS_H_

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "base/signal_name.h"
#include "reader/analysis/findings.h"
#include "reader/report/json_rows.h"
#include "reader/report/object_words.h"
#include "reader/report/reason_text.h"
#include "reader/report/words.h"

namespace cairn::json_column {

inline std::string_view NameOfIncident(const Incident& incident) {
  if (incident.kind == IncidentKind::kSignal) return SignalName(incident.value);
  if (incident.kind == IncidentKind::kDeviceLost) return DeviceLostCodeName(incident.value);
  return {};
}
inline std::string HashInWords(uint64_t hash) {
  return fmt::format("{:016x}", hash);
}
constexpr std::string_view PipeWord(bool top) {
  return top ? "top" : "bottom";
}

// ---- Rows of the snapshot (format/snapshot/snapshot.h) ----

inline constexpr JsonColumn<Process> kProcess[] = {
    Number<&Process::process_id>("id"),
    Text<&Process::program>("program"),
    Text<&Process::command_line>("command_line"),
    Text<&Process::library_version>("library_version"),
    Time<&Process::start_time_ns>("started"),
    Time<&Process::snapshot_time_ns>("seen"),
};

inline constexpr JsonColumn<Incident> kIncident[] = {
    Word<&Incident::kind, IncidentWord>("kind"),
    Signed<&Incident::value>("value"),
    Words<NameOfIncident, &Incident::kind, &Incident::value>("name"),
    Time<&Incident::time_ns>("time"),
    Index<&Incident::queue>("queue"),
    Hex<&Incident::address>("address"),
    Text<&Incident::detail>("detail"),
    Words<IncidentSentence, &Incident::kind, &Incident::value>("sentence"),
};

inline constexpr JsonColumn<Source> kSource[] = {
    Text<&Source::name>("name"),
    Word<&Source::state, SourceStateWord>("state"),
    Text<&Source::reason>("reason"),
};

inline constexpr JsonColumn<Device> kDevice[] = {
    Text<&Device::name>("name"),
    Text<&Device::driver>("driver"),
    Text<&Device::notes>("notes"),
    Number<&Device::vendor_id>("vendor_id"),
    Number<&Device::device_id>("device_id"),
    Word<&Device::api, ApiWord>("api"),
    Word<&Device::mode, ModeWord>("marker_mode"),
    Word<&Device::mode, ModeSentence>("marker_mode_tells"),
    Word<&Device::method, MethodName>("write_method"),
    Word<&Device::memory, MemoryWord>("word_memory"),
    Words<MemorySentence, &Device::memory, &Device::mirror_period_us>("word_memory_tells"),
    Text<&Device::application>("application"),
    Text<&Device::annotation_driver>("annotation_driver"),
    Bool<&Device::annotations_forced>("annotations_forced"),
    Number<&Device::mirror_period_us>("mirror_period_us"),
    Number<&Device::frame>("frame"),
    Number<&Device::lists_dropped>("lists_dropped"),
    Bool<&Device::destroyed>("destroyed"),
    Bool<&Device::device_lost>("device_lost"),
    Signed<&Device::device_lost_code>("device_lost_code"),
};

inline constexpr JsonColumn<Queue> kQueue[] = {
    Index<&Queue::device>("device"),
    Word<&Queue::type, QueueTypeWord>("type"),
    Text<&Queue::name>("name"),
    Hex<&Queue::native_handle>("native_handle"),
    Number<&Queue::submission_count>("submission_count"),
    Number<&Queue::completed_submission>("completed_submission"),
};

inline constexpr JsonColumn<Pipeline> kPipeline[] = {
    Index<&Pipeline::device>("device"),
    Words<PipelineKind, &Pipeline::shader_names, &Pipeline::shader_hashes>("kind"),
    Text<&Pipeline::name>("name"),
    Made<&Pipeline::shader_names>(
        "shaders",
        [](const JsonRows& out, std::string_view key, const Pipeline& pipeline) {
          out.json().BeginObject(key);
          for (uint32_t stage = 0; stage < kStageCount; ++stage) {
            if (pipeline.shader_names[stage].empty()) continue;
            out.TextKey(ShaderStageWord(stage), pipeline.shader_names[stage]);
          }
          out.json().EndObject();
        }),
    Made<&Pipeline::shader_hashes>(
        "shader_hashes",
        [](const JsonRows& out, std::string_view key, const Pipeline& pipeline) {
          out.json().BeginObject(key);
          for (uint32_t stage = 0; stage < kStageCount; ++stage) {
            if (pipeline.shader_hashes[stage] == 0) continue;
            out.json().StringKey(ShaderStageWord(stage),
                                 HashInWords(pipeline.shader_hashes[stage]));
          }
          out.json().EndObject();
        }),
    Hex<&Pipeline::native_handle>("native_handle"),
    Made<&Pipeline::native_handle>(
        "description",
        [](const JsonRows& out, std::string_view key, const Pipeline& pipeline) {
          const Snapshot& snapshot = out.snapshot();
          std::string words;
          AppendPipelineDescription(
              snapshot, static_cast<uint32_t>(&pipeline - snapshot.pipelines.data()), words);
          out.json().StringKey(key, words);
        }),
    Bool<&Pipeline::unregistered>("unregistered"),
};

inline constexpr JsonColumn<Annotation> kAnnotation[] = {
    Hex<&Annotation::event_id>("event_id"),
    Text<&Annotation::name>("name"),
    Made<&Annotation::has_colour, &Annotation::colour>(
        "colour",
        [](const JsonRows& out, std::string_view key, const Annotation& annotation) {
          annotation.has_colour ? out.json().HexKey(key, annotation.colour)
                                : out.json().NullKey(key);
        }),
    Number<&Annotation::metadata>("metadata"),
    Number<&Annotation::size_bytes>("size"),
};

inline constexpr JsonColumn<ReportedEventId> kReportedEventId[] = {
    Index<&ReportedEventId::device>("device"),
    Hex<&ReportedEventId::event_id>("event_id"),
    Word<&ReportedEventId::state, EventIdStateWord>("state"),
    Index<&ReportedEventId::annotation>("annotation"),
};

inline constexpr JsonColumn<QueueMarker> kQueueMarker[] = {
    Index<&QueueMarker::queue>("queue"),
    Hex<&QueueMarker::native_handle>("native_handle"),
    Word<&QueueMarker::kind, QueueMarkerKindWord>("kind"),
    Number<&QueueMarker::submission>("submissions_before"),
    Index<&QueueMarker::annotation>("annotation"),
};

inline constexpr JsonColumn<Thread> kThread[] = {
    Number<&Thread::thread_id>("id"),
    Text<&Thread::name>("name"),
    Bool<&Thread::ended>("ended"),
    Bool<&Thread::crashed>("crashed"),
};

inline constexpr JsonColumn<Call> kCall[] = {
    Number<&Call::number>("number"),
    Text<&Call::function>("function"),
    Hex<&Call::object>("object"),
    Bool<&Call::returned>("returned"),
};

// Free entries have their state alone.
inline constexpr JsonColumn<Object> kObjectState[] = {
    Word<&Object::state, ObjectStateWord>("state"),
};
inline constexpr JsonColumn<Object> kObject[] = {
    Word<&Object::kind, ObjectKindWord>("kind"),
    Number<&Object::kind>("kind_number"),
    Index<&Object::device>("device"),
    Text<&Object::name>("name"),
    Bool<&Object::name_cut>("name_cut"),
    Hex<&Object::native_handle>("native_handle"),
    Number<&Object::serial>("serial"),
    Monotonic<&Object::created_ns>("created"),
    Monotonic<&Object::destroyed_ns>("destroyed"),
    Hex<&Object::gpu_address>("gpu_address"),
    Number<&Object::size_bytes>("size"),
    Made<&Object::description>("description",
                               [](const JsonRows& out, std::string_view key, const Object& object) {
                                 std::string words;
                                 AppendDescription(object, words);
                                 out.json().StringKey(key, words);
                               }),
};
inline constexpr JsonColumn<Object> kSemaphore[] = {
    Hex<&Object::signalled>("signalled"),
    Hex<&Object::waited>("waited"),
    Hex<&Object::completed>("completed"),
};

inline constexpr JsonColumn<RawMarker> kRawMarker[] = {
    Index<&RawMarker::device>("device"),
    Number<&RawMarker::index>("slot"),
    Hex<&RawMarker::value>("value"),
};

inline constexpr JsonColumn<Sync> kSync[] = {
    Word<&Sync::kind, SyncKindWord>("kind"),
    Index<&Sync::device>("device"),
    Index<&Sync::queue>("queue"),
    Number<&Sync::submission_number>("submission"),
    Hex<&Sync::native_handle>("native_handle"),
    Index<&Sync::object>("object"),
    Hex<&Sync::value>("value"),
    Flag<&Sync::flags, kSyncBinary>("binary"),
    Flag<&Sync::flags, kSyncFence>("fence"),
    Flag<&Sync::flags, kSyncPresent>("present"),
    Flag<&Sync::flags, kSyncAcquire>("acquire"),
    Monotonic<&Sync::time_ns>("time"),
};

inline constexpr JsonColumn<Fault> kFault[] = {
    Index<&Fault::device>("device"),    Text<&Fault::source>("source"),
    Signed<&Fault::result>("result"),   Text<&Fault::description>("description"),
    Monotonic<&Fault::time_ns>("time"),
};
inline constexpr JsonColumn<VendorInfo> kVendorInfo[] = {
    Text<&VendorInfo::description>("description"),
    Hex<&VendorInfo::code>("code"),
    Hex<&VendorInfo::data>("data"),
};
inline constexpr JsonColumn<Fault> kVendorBinary[] = {
    Number<&Fault::vendor_binary_bytes>("vendor_binary_bytes"),
    Made<&Fault::vendor_binary>("vendor_binary_kept",
                                [](const JsonRows& out, std::string_view key, const Fault& fault) {
                                  out.json().BoolKey(key, !fault.vendor_binary.empty());
                                }),
};

inline constexpr JsonColumn<DeviceMemory> kDeviceMemory[] = {
    Index<&DeviceMemory::device>("device"),          Signed<&DeviceMemory::result>("result"),
    Text<&DeviceMemory::function>("function"),       Monotonic<&DeviceMemory::failed_ns>("failed"),
    Number<&DeviceMemory::failed_count>("failures"), Number<&DeviceMemory::wanted_bytes>("wanted"),
    Monotonic<&DeviceMemory::asked_ns>("asked"),
};
inline constexpr JsonColumn<MemoryHeap> kMemoryHeap[] = {
    Bool<&MemoryHeap::device_local>("device_local"), Bool<&MemoryHeap::tells_use>("tells_use"),
    Number<&MemoryHeap::size_bytes>("size"),         Number<&MemoryHeap::used_bytes>("used"),
    Number<&MemoryHeap::budget_bytes>("budget"),
};

inline constexpr JsonColumn<UserData> kUserData[] = {
    Text<&UserData::key>("key"),
    Number<&UserData::size_bytes>("size_bytes"),
};

inline constexpr JsonColumn<FaultAddress> kFaultAddress[] = {
    Word<&FaultAddress::type, FaultAddressTypeWord>("type"),
    Hex<&FaultAddress::address>("address"),
    Hex<&FaultAddress::precision>("precision"),
};

inline constexpr JsonColumn<Shader> kShader[] = {
    Word<&Shader::hash, HashInWords>("hash"),
    Word<&Shader::code, ShaderCodeWord>("code"),
    Number<&Shader::size_bytes>("size"),
    Made<&Shader::bytes>("kept",
                         [](const JsonRows& out, std::string_view key, const Shader& shader) {
                           out.json().BoolKey(key, !shader.bytes.empty());
                         }),
};
// Only of code that was read.
inline constexpr JsonColumn<Shader> kShaderTraits[] = {
    Flag<&Shader::traits, kShaderLoops>("loops"),
    Flag<&Shader::traits, kShaderAtomics>("atomics"),
};

inline constexpr JsonColumn<KernelLine> kKernelLine[] = {
    Word<&KernelLine::time_ns, KernelTimeInWords>("time"),
    Bool<&KernelLine::names_process>("names_process"),
    Bool<&KernelLine::tells_fault>("tells_fault"),
    Text<&KernelLine::text>("text"),
};

// ---- Rows of the findings (reader/analysis/findings.h) ----

inline constexpr JsonColumn<EmptySubmission> kEmptySubmission[] = {
    Index<&EmptySubmission::queue>("queue"),
    Number<&EmptySubmission::number>("number"),
    Monotonic<&EmptySubmission::time_ns>("time"),
};

inline constexpr JsonColumn<QueueWaits> kQueueWaits[] = {
    Index<&QueueWaits::queue>("queue"),
    Number<&QueueWaits::submitted>("submitted"),
    Number<&QueueWaits::finished>("finished"),
    Number<&QueueWaits::first_unfinished>("first_unfinished"),
    Bool<&QueueWaits::begun>("begun"),
    Bool<&QueueWaits::held>("held"),
    Number<&QueueWaits::first_wait>("first_wait"),
    Number<&QueueWaits::wait_count>("wait_count"),
};

inline constexpr JsonColumn<Wait> kWait[] = {
    Number<&Wait::sync>("sync"),    Word<&Wait::state, WaitStateWord>("state"),
    Index<&Wait::signal>("signal"), Number<&Wait::held_submission>("held_submission"),
    Index<&Wait::cycle>("cycle"),
};

inline constexpr JsonColumn<AddressOwner> kAddressOwner[] = {
    Number<&AddressOwner::object>("object"),
    Bool<&AddressOwner::exact>("exact"),
    Hex<&AddressOwner::offset>("offset"),
    Signed<&AddressOwner::destroyed_after_fault_ns>("destroyed_after_fault_ns"),
    Signed<&AddressOwner::destroyed_after_submission_ns>("destroyed_after_submission_ns"),
};

inline constexpr JsonColumn<RawMarkerVerdict> kRawMarkerVerdict[] = {
    Index<&RawMarkerVerdict::queue>("queue"),
    Index<&RawMarkerVerdict::device>("device"),
    Bool<&RawMarkerVerdict::consistent>("consistent"),
    Number<&RawMarkerVerdict::executions_left_out>("executions_left_out"),
    Number<&RawMarkerVerdict::candidate_count>("candidate_count"),
    Number<&RawMarkerVerdict::likely_count>("likely_count"),
};
inline constexpr JsonColumn<RawMarkerCommand> kRawMarkerCommand[] = {
    Index<&RawMarkerCommand::execution>("execution"),
    Word<&RawMarkerCommand::top, PipeWord>("pipe"),
    Number<&RawMarkerCommand::slot>("slot"),
    Hex<&RawMarkerCommand::value>("value"),
    Word<&RawMarkerCommand::arrival, RawArrivalWord>("arrival"),
};
inline constexpr JsonColumn<RawMarkerWork> kRawMarkerWork[] = {
    Index<&RawMarkerWork::execution>("execution"),
    Index<&RawMarkerWork::scope>("scope"),
    Number<&RawMarkerWork::after_marker>("after_marker"),
    Word<&RawMarkerWork::state, WorkStateWord>("state"),
    Bool<&RawMarkerWork::likely>("likely"),
    Word<&RawMarkerWork::reason, RawReasonInWords>("reason"),
};

inline constexpr JsonColumn<SlowProgress> kSlowProgress[] = {
    Number<&SlowProgress::done_count>("done"),
    Number<&SlowProgress::work_count>("works"),
    Bool<&SlowProgress::counts_begun>("counts_begun"),
    Number<&SlowProgress::duration_ns>("duration_ns"),
};

inline constexpr JsonColumn<UsualDuration> kUsualDuration[] = {
    Number<&UsualDuration::execution>("execution"),
    Number<&UsualDuration::unfinished_ns>("unfinished_ns"),
    Number<&UsualDuration::count>("count"),
    Number<&UsualDuration::median_ns>("median_ns"),
    Number<&UsualDuration::longest_ns>("longest_ns"),
};

inline constexpr JsonColumn<LabelDuration> kLabelDuration[] = {
    Number<&LabelDuration::scope>("scope"),
    Number<&LabelDuration::running_ns>("running_ns"),
    Number<&LabelDuration::count>("count"),
    Number<&LabelDuration::median_ns>("median_ns"),
    Number<&LabelDuration::longest_ns>("longest_ns"),
};

inline constexpr JsonColumn<ArgumentsWriter> kArgumentsWriter[] = {
    Number<&ArgumentsWriter::execution>("execution"),
    Number<&ArgumentsWriter::scope>("scope"),
    Bool<&ArgumentsWriter::is_certain>("certain"),
    Word<&ArgumentsWriter::point, BindPointWord>("point"),
    Number<&ArgumentsWriter::slot>("slot"),
    Index<&ArgumentsWriter::binding>("binding"),
};

inline constexpr JsonColumn<BoundTable> kBoundTable[] = {
    Number<&BoundTable::parameter>("parameter"),
    Hex<&BoundTable::handle>("handle"),
    Index<&BoundTable::heap>("heap"),
};

}  // namespace cairn::json_column

#endif  // CAIRN_READER_REPORT_JSON_COLUMNS_H_
