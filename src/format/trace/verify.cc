// SPDX-License-Identifier: Apache-2.0
#include "format/trace/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "base/text.h"
#include "d3d12gen/interfaces.h"
#include "format/calls/value_encoder.h"
#include "format/trace/trace_state.h"
#include "format/trace/verify_calls.h"

namespace cairn {
namespace {

// The interface that a method belongs to, from "ID3D12Device::CreateFence".
const InterfaceInfo* InterfaceOf(Method method) {
  static const std::vector<const InterfaceInfo*> interfaces = [] {
    std::unordered_map<std::string_view, const InterfaceInfo*> by_name;
    for (const InterfaceInfo& info : Interfaces()) by_name.emplace(info.name, &info);
    std::vector<const InterfaceInfo*> result;
    for (uint32_t i = 0; i < kMethodCount; ++i) {
      const std::string_view name = Describe(static_cast<Method>(i)).name;
      const auto found = by_name.find(name.substr(0, name.find("::")));
      result.push_back(found == by_name.end() ? nullptr : found->second);
    }
    return result;
  }();
  return interfaces[static_cast<size_t>(method)];
}

// A call whose result has not come.
struct OpenCall {
  uint64_t number = 0;
  uint64_t object = 0;
  uint16_t method = 0;
  bool restores = false;
};

class Verifier {
 public:
  Verifier(TraceReader* trace, const VerifyOptions& options)
      : trace_(*trace),
        options_(options),
        state_(*trace),
        findings_(&report_),
        calls_(trace, &state_, &findings_) {}

  Result<VerifyReport> Verify() {
    LookAtFile();
    LookAtOtherChunks();
    const std::string left_out = trace_.LimitCost();
    if (!left_out.empty()) findings_.Warning(VerifyRule::kFile, 0, left_out);
    TraceCursor cursor(trace_);
    Record record;
    while (cursor.Next(&record)) {
      if (report_.records++ % kRecordsPerProgress == 0 && options_.progress != nullptr &&
          !options_.progress(report_.records - 1, trace_.record_count())) {
        report_.interrupted = true;
        break;
      }
      LookAt(record);
    }
    CAIRN_RETURN_IF_ERROR(cursor.status());
    for (const Loss& loss : cursor.losses()) AddLoss(loss);
    if (!report_.interrupted && left_out.empty()) LookAtEnd();
    return std::move(report_);
  }

 private:
  void AddLoss(const Loss& loss) {
    findings_.Error(
        VerifyRule::kFile, 0,
        fmt::format("{} (offset {} of the file)", VisibleText(loss.reason), loss.offset));
  }

  // Checks the file. An unfinished file misses its end, as a killed watcher leaves it.
  void LookAtFile() {
    const bool cut = !trace_.file().has_index();
    uint64_t end = 0;
    for (const ChunkInfo& chunk : trace_.file().chunks()) end = std::max(end, chunk.end_offset());
    for (const Loss& loss : trace_.losses()) {
      if (cut && loss.offset >= end) {
        findings_.Note(VerifyRule::kCutEnd, 0, VisibleText(loss.reason));
      } else {
        AddLoss(loss);
      }
    }
    if (!trace_.finished()) {
      findings_.Note(VerifyRule::kCutEnd, 0, "the recording was cut off, and has no end");
    }
    if (trace_.finished() && trace_.totals().has_value() &&
        trace_.totals()->records != trace_.record_count()) {
      findings_.Error(VerifyRule::kFile, 0,
                      fmt::format("{} records were written, and {} are in the file",
                                  trace_.totals()->records, trace_.record_count()));
    }
  }

  // Checks the chunks that no record leads to: tables, the report of a crash.
  void LookAtOtherChunks() {
    const FileReader& file = trace_.file();
    for (size_t i = 0; i < file.chunks().size(); ++i) {
      const ChunkInfo& chunk = file.chunks()[i];
      if (chunk.type == kTraceRecordChunk || chunk.type == kTraceBlobChunk) continue;
      const Status status = file.Read(i).status();
      if (status.code() != StatusCode::kCorrupt) continue;
      const bool is_told =
          std::any_of(trace_.losses().begin(), trace_.losses().end(),
                      [&](const Loss& loss) { return loss.offset == chunk.offset; });
      if (!is_told) findings_.Error(VerifyRule::kFile, 0, VisibleText(status.message()));
    }
  }

  void LookAt(const Record& record) {
    if (record.kind != RecordKind::kResult) {
      // Results first look at what the call did, then say that it ended.
      const Status status = state_.Apply(record);
      if (!status.ok()) findings_.Error(VerifyRule::kRecord, record.number, status.message());
    }
    switch (record.kind) {
      case RecordKind::kCall: return LookAtCall(record);
      case RecordKind::kResult: return LookAtResult(record);
      case RecordKind::kObject: return LookAtObject(record);
      case RecordKind::kBlob: return LookAtBlob(record);
      case RecordKind::kFrame: return LookAtFrame(record);
      case RecordKind::kMemory: return LookAtMemory(record);
      case RecordKind::kContents:
      case RecordKind::kStructure:
      case RecordKind::kResourceHash:
      case RecordKind::kFenceReached:
      case RecordKind::kReadback: Exists(record, record.object); return;
      case RecordKind::kStart: return LookAtStart(record);
      case RecordKind::kNote: return LookAtNote(record);
      case RecordKind::kObjectEnd:
      case RecordKind::kDevice:
      case RecordKind::kStop: return;
    }
  }

  // Says so if the object that a record is about does not live.
  bool Exists(const Record& record, uint64_t number) {
    const TracedObject* object = state_.Find(number);
    if (object == nullptr) {
      findings_.Error(VerifyRule::kObject, record.number,
                      fmt::format("object {} was never made", number));
      return false;
    }
    if (object->ended != 0) {
      findings_.Error(
          VerifyRule::kObject, record.number,
          fmt::format("{} was destroyed at record {}", state_.Object(number), object->ended));
      return false;
    }
    return true;
  }

  void LookAtCall(const Record& record) {
    ++report_.calls;
    std::vector<OpenCall>& open = open_calls_[record.thread];
    const std::optional<Method> method = trace_.MethodOf(record);
    if (!method.has_value()) {
      findings_.Add(VerifyRule::kUnknown, Severity::kWarning, record.number,
                    fmt::format("this cairn does not know {} as it was recorded: its calls are not "
                                "checked",
                                trace_.MethodName(record)));
      return;
    }
    if (HasResults(Describe(*method))) {
      open.push_back(
          {record.number, record.object, record.method, (record.flags & kRecordRestores) != 0});
    }
    if (!Exists(record, record.object)) return;
    const Chain chain = state_.Find(record.object)->chain;
    const InterfaceInfo* interface = InterfaceOf(*method);
    if (interface != nullptr && chain != Chain::kNone && !HasTearOff(*interface) &&
        !IsVersionOf(chain, *interface)) {
      findings_.Error(VerifyRule::kCall, record.number,
                      fmt::format("{} is called on {}", trace_.MethodName(record),
                                  state_.Object(record.object)));
      return;
    }
    report_.checked_calls += calls_.LookAtCall(record, *method);
  }

  void LookAtResult(const Record& record) {
    ResultBody body;
    std::memcpy(&body, record.body.data(), sizeof(body));  // the reader made sure that it is there
    std::vector<OpenCall>& open = open_calls_[record.thread];
    // A thread's calls have rising numbers.
    const auto call = std::partition_point(
        open.begin(), open.end(), [&](const OpenCall& one) { return one.number < body.call; });
    const std::optional<Method> method = trace_.MethodOf(record);
    if (call == open.end() || call->number != body.call) {
      // The call may be missing if it came before a late start, or if this build does not know its
      // method.
      if (method.has_value() && body.call > start_) {
        findings_.Error(
            VerifyRule::kRecord, record.number,
            fmt::format("the result of call {}, which this thread has not begun or which "
                        "has no results",
                        body.call));
      }
      return;
    }
    if (call->method != record.method || call->object != record.object) {
      findings_.Error(
          VerifyRule::kRecord, record.number,
          fmt::format("the result of call {} is that of another method or object", body.call));
    }
    for (auto inner = call + 1; inner != open.end(); ++inner) {
      findings_.Error(VerifyRule::kRecord, inner->number,
                      "the call never returned, and its thread went on");
    }
    open.erase(call, open.end());
    if (method.has_value()) calls_.LookAtResult(record, body.call, *method);
  }

  void LookAtObject(const Record& record) {
    ++report_.objects;
    const TracedObject* object = state_.Find(record.object);
    if (object == nullptr || object->created != record.number) return;  // said already
    if (object->device != record.object) Exists(record, object->device);
    if (object->creator >= record.number) {
      findings_.Error(VerifyRule::kObject, record.number, "the object was made by a later call");
    }
    calls_.LookAtObject(*object);
  }

  void LookAtBlob(const Record& record) {
    ++report_.blobs;
    const Result<std::span<const std::byte>> bytes = trace_.Blob(record.number);
    if (!bytes.ok()) {
      findings_.Unread(VerifyRule::kBlob, record.number, bytes.status());
    }
  }

  void LookAtFrame(const Record& record) {
    std::span<const std::byte> rest = record.body;
    const Result<FrameBody> body = DecodeBody<FrameBody>(&rest);
    if (!body.ok()) {
      findings_.Error(VerifyRule::kFrame, record.number, body.status().message());
      return;
    }
    if (next_frame_.has_value() && body->frame != *next_frame_) {
      findings_.Error(
          VerifyRule::kFrame, record.number,
          fmt::format("frame {} ends where frame {} should", body->frame, *next_frame_));
    }
    next_frame_ = body->frame + 1;
    if (record.object != kNoObject) Exists(record, record.object);
  }

  void LookAtMemory(const Record& record) {
    if (!Exists(record, record.object)) return;
    std::span<const std::byte> rest = record.body;
    const Result<MemoryBody> body = DecodeBody<MemoryBody>(&rest);
    Result<std::span<const std::byte>> bytes = body.status();
    if (body.ok()) bytes = calls_.Bytes(&rest);
    if (!bytes.ok()) {
      findings_.Unread(VerifyRule::kMemory, record.number, bytes.status());
      return;
    }
    const TracedObject* object = state_.Find(record.object);
    if (!object->resource.has_value()) {
      findings_.Error(VerifyRule::kMemory, record.number,
                      fmt::format("memory of {} was written", state_.Object(record.object)));
      return;
    }
    const uint64_t size =
        object->resource->size_bytes;  // 0: a texture, whose layout is the driver's
    if (size != 0 && (body->offset_bytes > size || bytes->size() > size - body->offset_bytes)) {
      findings_.Error(VerifyRule::kMemory, record.number,
                      fmt::format("{} bytes at {} of {}, which has {}", bytes->size(),
                                  body->offset_bytes, state_.Object(record.object), size));
    }
  }

  // Calls that restore earlier state have results only if these matter.
  void LookAtStart(const Record& record) {
    start_ = record.number;
    for (auto& [thread, calls] : open_calls_) {
      std::erase_if(calls, [](const OpenCall& call) { return call.restores; });
    }
  }

  void LookAtNote(const Record& record) {
    std::span<const std::byte> rest = record.body;
    const Result<NoteBody> body = DecodeBody<NoteBody>(&rest);
    if (!body.ok() || body->text_bytes > rest.size()) {
      findings_.Error(VerifyRule::kRecord, record.number, "a note that is shorter than it says");
      return;
    }
    const auto kind = static_cast<NoteKind>(body->kind);
    if (kind != NoteKind::kUnsupported && kind != NoteKind::kIncomplete) return;
    const std::string_view text(reinterpret_cast<const char*>(rest.data()), body->text_bytes);
    findings_.Add(VerifyRule::kRecording,
                  kind == NoteKind::kIncomplete ? Severity::kWarning : Severity::kNote,
                  record.number, text.empty() ? "a note that says nothing" : VisibleText(text));
  }

  void LookAtEnd() {
    std::vector<OpenCall> unreturned;
    for (const auto& [thread, calls] : open_calls_) {
      unreturned.insert(unreturned.end(), calls.begin(), calls.end());
    }
    std::sort(unreturned.begin(), unreturned.end(),
              [](const OpenCall& a, const OpenCall& b) { return a.number < b.number; });
    for (const OpenCall& call : unreturned) {
      Record record;
      record.method = call.method;
      findings_.Note(VerifyRule::kCutEnd, call.number,
                     fmt::format("{} never returned", trace_.MethodName(record)));
    }
    calls_.LookAtEnd();
  }

  TraceReader& trace_;
  const VerifyOptions& options_;
  VerifyReport report_;
  TraceState state_;
  FindingList findings_;
  CallVerifier calls_;
  std::unordered_map<uint32_t, std::vector<OpenCall>> open_calls_;  // by thread
  uint64_t start_ = 0;                                              // number of the kStart record
  std::optional<uint64_t> next_frame_;
};

}  // namespace

void FindingList::Add(VerifyRule rule, Severity severity, uint64_t record, std::string text) {
  report_.errors += severity == Severity::kError;
  report_.warnings += severity == Severity::kWarning;
  uint64_t& count = report_.counts[static_cast<size_t>(rule)];
  if (count++ < kFindingsPerRule) {
    report_.findings.push_back({rule, severity, record, std::move(text)});
  }
}

const char* VerifyRuleName(VerifyRule rule) {
  switch (rule) {
    case VerifyRule::kFile: return "file";
    case VerifyRule::kRecord: return "record";
    case VerifyRule::kCall: return "call";
    case VerifyRule::kObject: return "object";
    case VerifyRule::kBlob: return "blob";
    case VerifyRule::kAddress: return "address";
    case VerifyRule::kDescriptor: return "descriptor";
    case VerifyRule::kFence: return "fence";
    case VerifyRule::kMemory: return "memory";
    case VerifyRule::kFrame: return "frame";
    case VerifyRule::kUnknown: return "unknown";
    case VerifyRule::kRecording: return "recording";
    case VerifyRule::kCutEnd: return "cut-end";
  }
  return "";
}

const char* SeverityName(Severity severity) {
  switch (severity) {
    case Severity::kNote: return "note";
    case Severity::kWarning: return "warning";
    case Severity::kError: return "error";
  }
  return "";
}

Result<VerifyReport> VerifyTrace(TraceReader* trace, const VerifyOptions& options) {
  return Verifier(trace, options).Verify();
}

}  // namespace cairn
