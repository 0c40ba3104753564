// SPDX-License-Identifier: Apache-2.0
#include "reader/redact/trace_redaction.h"

#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "format/calls/record.h"
#include "format/calls/recorded_device.h"
#include "format/calls/structure_inputs.h"
#include "format/snapshot/snapshot_file.h"
#include "format/trace/record_chunk.h"
#include "reader/redact/call_redactor.h"
#include "reader/redact/hidden_bytes.h"
#include "reader/report/redact.h"

namespace cairn {
namespace {

class TraceRedactor final : public RecordFilter {
 public:
  TraceRedactor(TraceReader* trace, TraceRedaction what)
      : trace_(*trace), what_(what), calls_(trace, what, &hidden_) {}

  uint64_t unread() const { return unread_; }

  void Start() override {
    unread_ = 0;
    unread_calls_.clear();
  }

  bool Keep(Record* record, uint64_t) override {
    switch (record->kind) {
      case RecordKind::kCall: return KeepCall(record);
      case RecordKind::kResult: return KeepResult(record);
      case RecordKind::kDevice: return KeepDevice(record);
      case RecordKind::kMemory: return KeepContents<MemoryBody>(record);
      case RecordKind::kContents: return KeepContents<ContentsBody>(record);
      case RecordKind::kStructure: return KeepStructure(record);
      case RecordKind::kFrame: return KeepFrame(record);
      case RecordKind::kReadback:
      case RecordKind::kResourceHash: return !what_.contents;
      case RecordKind::kObject:
      case RecordKind::kObjectEnd:
      case RecordKind::kBlob:
      case RecordKind::kStart:
      case RecordKind::kStop:
      case RecordKind::kNote:
      case RecordKind::kFenceReached: return true;
    }
    return Unread();  // of a later version
  }

  void ChangeBlob(uint64_t number, std::span<std::byte> bytes) override {
    hidden_.HideBlob(number, bytes);
  }

 private:
  bool Unread() {
    ++unread_;
    return false;
  }

  // A body that has grown too long is no body.
  bool KeepAs(Record* record, std::span<const std::byte> body) {
    record->body = body;
    return CheckRecord(*record, RecordKinds::kKnown).ok() || Unread();
  }

  bool KeepCall(Record* record) {
    if (KeepBody(record, record->body, CallBody::kArguments, {})) return true;
    unread_calls_.insert(record->number);
    return false;
  }

  bool KeepResult(Record* record) {
    std::span<const std::byte> rest = record->body;
    const Result<ResultBody> result = DecodeBody<ResultBody>(&rest);
    if (!result.ok() || unread_calls_.contains(result->call)) return Unread();
    return KeepBody(record, rest, CallBody::kResults, record->body.first(sizeof(ResultBody)));
  }

  // `head`: stands before `body` in the record.
  bool KeepBody(Record* record, std::span<const std::byte> body, CallBody kind,
                std::span<const std::byte> head) {
    const std::optional<Method> method = trace_.MethodOf(*record);
    if (!method.has_value()) return Unread();
    const Result<std::span<const std::byte>> redacted = calls_.Redact(*method, body, kind);
    if (!redacted.ok()) return Unread();
    if (head.empty()) return KeepAs(record, *redacted);
    body_.assign(head.begin(), head.end());
    body_.insert(body_.end(), redacted->begin(), redacted->end());
    return KeepAs(record, body_);
  }

  // The third text names the application.
  bool KeepDevice(Record* record) {
    const Result<RecordedDevice> device = DecodeDevice(*record);
    if (!device.ok()) return Unread();
    if (device->application.data() == nullptr)
      return KeepAs(record, DeviceWithoutName(*record, *device));
    const auto* const text = reinterpret_cast<const std::byte*>(device->application.data());
    const auto at = static_cast<size_t>(text - record->body.data());
    const std::string hidden = HiddenName(device->application);
    const auto size = static_cast<uint32_t>(hidden.size());
    body_.assign(record->body.begin(),
                 record->body.begin() + static_cast<ptrdiff_t>(at - sizeof(size)));
    Append(BytesOf(size));
    Append(std::as_bytes(std::span(hidden)));
    Append(record->body.subspan(at + device->application.size()));
    return KeepAs(record, body_);
  }

  // Bytes that were cut off, or lie behind the last text that can be read, may be a name.
  std::span<const std::byte> DeviceWithoutName(const Record& record, const RecordedDevice& device) {
    body_.assign(record.body.begin(), record.body.begin() + sizeof(DeviceBody));
    for (const std::string_view text : {device.gpu, device.driver}) {
      if (text.data() == nullptr) return body_;
      Append(BytesOf(static_cast<uint32_t>(text.size())));
      Append(std::as_bytes(std::span(text)));
    }
    return body_;
  }

  // A struct, and a byte value behind it.
  template <typename Body>
  bool KeepContents(Record* record) {
    if (!what_.contents || record->body.size() < sizeof(Body)) return true;
    body_.assign(record->body.begin(), record->body.end());
    hidden_.Hide(std::span(body_).subspan(sizeof(Body)), "");
    return KeepAs(record, body_);
  }

  // Geometries stay, and so do instances, which are addresses; the vertices become zeros.
  bool KeepStructure(Record* record) {
    std::span<const std::byte> rest = record->body;
    const Result<StructureBody> structure = DecodeBody<StructureBody>(&rest);
    if (!what_.contents || !structure.ok() || structure->type == kTopLevel) return true;
    body_.assign(record->body.begin(), record->body.end());
    hidden_.Hide(std::span(body_).subspan(sizeof(StructureBody)), "",
                 uint64_t{structure->count} * sizeof(StructureGeometry));
    return KeepAs(record, body_);
  }

  // The images are others, and a hash of the old one tells of it.
  bool KeepFrame(Record* record) {
    std::span<const std::byte> rest = record->body;
    Result<FrameBody> frame = DecodeBody<FrameBody>(&rest);
    if (!what_.contents || !frame.ok()) return true;
    frame->hashed = 0;
    frame->hash_low = 0;
    frame->hash_high = 0;
    body_.clear();
    Append(BytesOf(*frame));
    Append(rest);
    return KeepAs(record, body_);
  }

  void Append(std::span<const std::byte> bytes) {
    body_.insert(body_.end(), bytes.begin(), bytes.end());
  }

  TraceReader& trace_;
  const TraceRedaction what_;
  HiddenBytes hidden_;
  CallRedactor calls_;
  std::vector<std::byte> body_;
  uint64_t unread_ = 0;
  std::unordered_set<uint64_t> unread_calls_;
};

TraceFacts RedactedFacts(TraceFacts facts) {
  facts.program = HiddenName(facts.program);
  facts.command_line = HiddenName(facts.command_line);
  return facts;
}

std::vector<TraceThread> RedactedThreads(std::span<const TraceThread> threads) {
  std::vector<TraceThread> redacted(threads.begin(), threads.end());
  for (TraceThread& thread : redacted) thread.name = HiddenName(thread.name);
  return redacted;
}

}  // namespace

Result<RedactedTrace> RedactTrace(TraceReader* from, const RedactionOptions& options,
                                  FileWriter* to) {
  CopyOptions copy;
  copy.trimmed = false;
  copy.redaction = {.names = true, .shaders = options.shaders, .contents = options.contents};
  copy.facts = RedactedFacts(from->facts());
  copy.threads = RedactedThreads(from->threads());
  copy.chunk_bytes = options.chunk_bytes;
  copy.progress = options.progress;
  TraceRedactor redactor(from, copy.redaction);
  Result<CopiedTrace> copied = CopyTrace(from, &redactor, copy, to);
  if (!copied.ok()) return copied.status();
  RedactedTrace redacted = {.copied = std::move(*copied), .unread = redactor.unread()};
  if (redacted.copied.interrupted) return redacted;
  Result<Snapshot> snapshot = ReadSnapshot(from->file());
  if (snapshot.ok()) {
    CAIRN_RETURN_IF_ERROR(WriteSnapshot(Redact(std::move(*snapshot)), to));
  } else if (snapshot.status().code() != StatusCode::kNotFound) {
    return snapshot.status();
  }
  return redacted;
}

}  // namespace cairn
