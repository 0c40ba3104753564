// SPDX-License-Identifier: Apache-2.0
#include "reader/view/call_lines.h"

#include <fmt/compile.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "base/json_text.h"
#include "base/text.h"
#include "format/calls/value_output.h"
#include "format/calls/value_shape.h"
#include "format/pix/pix_event.h"

namespace cairn::cli {
namespace {

using nlohmann::ordered_json;

const char* FrameEndInWords(uint32_t how) {
  switch (static_cast<FrameEndKind>(how)) {
    case FrameEndKind::kPresent: return "present";
    case FrameEndKind::kSubmissions: return "submissions";
    case FrameEndKind::kMarker: return "marker";
    case FrameEndKind::kEnd: return "end of the program";
  }
  return "unknown";
}

// What an annotation says: "" for other calls.
std::string AnnotationText(std::optional<Method> method, const DecodedCall& call,
                           const Status& decoded) {
  if (!decoded.ok() || !method.has_value()) return "";
  const std::string_view name = ShortName(Describe(*method).name);
  if (name != "BeginEvent" && name != "SetMarker") return "";
  const auto* const data = Load<const std::byte*>(call.arguments[1]);
  if (data == nullptr) return "";
  return PixText(Load<uint32_t>(call.arguments[0]),
                 std::span(data, static_cast<size_t>(call.counts[1])));
}

void AddProblem(std::string_view problem, CallLine* line) {
  if (!line->problem.empty()) line->problem += "; ";
  line->problem += problem;
}

// How many bytes the byte value at the beginning of `rest` stands for; 0 if none can be read.
uint64_t ByteCount(std::span<const std::byte> rest) {
  const Result<uint32_t> size = DecodeBody<uint32_t>(&rest);
  if (!size.ok() || *size == kNullBytes) return 0;
  if (*size != kBytesInBlobs) return *size;
  const Result<uint64_t> total = DecodeBody<uint64_t>(&rest);
  return total.ok() ? *total : 0;
}

}  // namespace

std::string_view ShortName(std::string_view method) {
  const size_t colon = method.rfind(':');
  return colon == std::string_view::npos ? method : method.substr(colon + 1);
}

struct CallLines::Words {
  const char* kind = "";
  std::string text;
  ordered_json json = ordered_json::object();
  // To be shown behind the others; may be many, so that they are not copied more often than needed.
  std::optional<std::span<const std::byte>> bytes;
};

// ---- Calls ----

void CallLines::AddCall(const Record& record, uint64_t frame, std::optional<Method> method,
                        const DecodedCall& call, const Status& decoded, const LineOptions& options,
                        CallLine* line) const {
  const std::string annotation = AnnotationText(method, call, decoded);
  std::string& text = line->text;
  const auto out = std::back_inserter(text);
  if (options.json) {
    fmt::format_to(out,
                   FMT_COMPILE("{{\"kind\":\"call\",\"number\":{},\"frame\":{},\"thread\":{},"
                               "\"object\":{},\"object_text\":\""),
                   record.number, frame, record.thread, record.object);
    AppendJsonText(NameOf(record.object), text);
    text += "\",\"method\":\"";
    AppendJsonText(method.has_value() ? Describe(*method).name : trace_.MethodName(record), text);
    text += "\",\"arguments\":";
    if (decoded.ok()) {
      AppendArgumentsJson(Describe(*method), call, *names_, options.whole, &text);
    } else {
      text += "null";
      AddProblem(decoded.message(), line);
    }
    if (annotation.empty()) return;
    text += ",\"annotation\":\"";
    AppendJsonText(VisibleText(annotation), text);
    text += '"';
    return;
  }
  fmt::format_to(out, FMT_COMPILE("{:>9}  t{:<3} {}  "), record.number, record.thread,
                 NameOf(record.object));
  if (decoded.ok()) {
    text += PrintArguments(Describe(*method), call, *names_, options.whole);
  } else {
    text += method.has_value() ? std::string(ShortName(Describe(*method).name))
                               : trace_.MethodName(record);
    text += fmt::format("(<{}>)", VisibleText(decoded.message()));
  }
  if (!annotation.empty()) text += fmt::format("  \"{}\"", VisibleText(annotation));
}

Status CallLines::AddResult(const Record& record, std::span<const std::byte> results,
                            const LineOptions& options, CallLine* line) {
  const std::optional<Method> method = trace_.MethodOf(record);
  if (!method.has_value()) return Status();
  const MethodInfo& info = Describe(*method);
  DecodeOptions decode;
  decode.blobs = &trace_;
  arena_.Reset();
  DecodedCall call;
  const Status decoded = DecodeResults(info, results, decode, &arena_, &call);
  if (!decoded.ok()) {
    if (options.json) {
      AddProblem(decoded.message(), line);
    } else {
      line->text += fmt::format(" = <{}>", VisibleText(decoded.message()));
    }
  } else if (options.json) {
    AppendResultJson(info, call, *names_, options.whole, &line->result);
  } else {
    line->result = PrintResult(info, call, *names_, options.whole);
    if (!line->result.empty()) line->text += " = " + line->result;
  }
  return decoded;
}

// ---- Other records ----

std::string CallLines::NameOf(uint64_t object) const {
  return VisibleText(names_->Object(object));
}

Status CallLines::PutFrame(const Record& record, Words* words) const {
  std::span<const std::byte> rest = record.body;
  const Result<FrameBody> body = DecodeBody<FrameBody>(&rest);
  if (!body.ok()) return body.status();
  words->json = {{"frame", body->frame}, {"how", FrameEndInWords(body->how)}};
  words->text = fmt::format("end of frame {} ({})", body->frame, FrameEndInWords(body->how));
  if (record.object != kNoObject) {
    words->json["image"] = record.object;
    words->text += ", image " + NameOf(record.object);
  }
  if (body->hashed != 0) {
    const std::string hash = fmt::format("{:016x}{:016x}", body->hash_high, body->hash_low);
    words->json["hash"] = hash;
    words->text += ", hash " + hash;
  }
  return Status();
}

Status CallLines::PutBytes(std::span<const std::byte> rest, const LineOptions& options,
                           Words* words) {
  const uint64_t count = ByteCount(rest);
  words->json["bytes"] = count;
  if (!options.whole) {
    words->text += fmt::format("{} byte{}", GroupedDigits(count), count == 1 ? "" : "s");
    return Status();
  }
  arena_.Reset();
  const Result<std::span<const std::byte>> bytes = DecodeBytes(&rest, &trace_, &arena_);
  if (bytes.ok()) words->bytes = *bytes;
  return bytes.status();
}

Status CallLines::PutWrite(const Record& record, const LineOptions& options, Words* words) {
  std::span<const std::byte> rest = record.body;
  const Result<MemoryBody> body = DecodeBody<MemoryBody>(&rest);
  if (!body.ok()) return body.status();
  words->json = {{"object", record.object},
                 {"object_text", NameOf(record.object)},
                 {"subresource", body->subresource},
                 {"offset", body->offset_bytes}};
  words->text = fmt::format("the program wrote into {}, subresource {}, at offset {}: ",
                            NameOf(record.object), body->subresource, body->offset_bytes);
  return PutBytes(rest, options, words);
}

Status CallLines::PutContents(const Record& record, const LineOptions& options, Words* words) {
  std::span<const std::byte> rest = record.body;
  const Result<ContentsBody> body = DecodeBody<ContentsBody>(&rest);
  if (!body.ok()) return body.status();
  words->json = {{"object", record.object},
                 {"object_text", NameOf(record.object)},
                 {"subresource", body->subresource},
                 {"offset", body->offset_bytes}};
  words->text = fmt::format("{} held, subresource {}, at offset {}: ", NameOf(record.object),
                            body->subresource, body->offset_bytes);
  return PutBytes(rest, options, words);
}

Status CallLines::PutReadback(const Record& record, Words* words) const {
  std::span<const std::byte> rest = record.body;
  const Result<ReadbackBody> body = DecodeBody<ReadbackBody>(&rest);
  if (!body.ok()) return body.status();
  const std::string hash = fmt::format("{:016x}{:016x}", body->hash_high, body->hash_low);
  words->json = {{"object", record.object},
                 {"object_text", NameOf(record.object)},
                 {"subresource", body->subresource},
                 {"offset", body->offset_bytes},
                 {"hash", hash}};
  words->text = fmt::format(
      "the GPU wrote into {}, subresource {}, at offset {}: {} row{} of {} bytes, hash {}; there "
      "when {} has come to {}",
      NameOf(record.object), body->subresource, body->offset_bytes, body->row_count,
      body->row_count == 1 ? "" : "s", body->row_bytes, hash, NameOf(body->fence),
      body->fence_value);
  return Status();
}

Status CallLines::PutNote(const Record& record, Words* words) const {
  std::span<const std::byte> rest = record.body;
  const Result<NoteBody> body = DecodeBody<NoteBody>(&rest);
  if (!body.ok() || body->text_bytes > rest.size()) {
    return Status(StatusCode::kCorrupt, "the record is too short");
  }
  const std::string text =
      VisibleText(std::string_view(reinterpret_cast<const char*>(rest.data()), body->text_bytes));
  words->json = {{"text", text}};
  words->text = "note: " + text;
  return Status();
}

Status CallLines::PutObject(const Record& record, Words* words) const {
  std::span<const std::byte> rest = record.body;
  const Result<ObjectBody> body = DecodeBody<ObjectBody>(&rest);
  if (!body.ok()) return body.status();
  words->json = {{"object", record.object}, {"object_text", NameOf(record.object)}};
  words->text = NameOf(record.object) + " came to be";
  if (body->creator != 0) words->text += fmt::format(", made by call {}", body->creator);
  return Status();
}

Status CallLines::PutWords(const Record& record, const LineOptions& options, Words* words) {
  switch (record.kind) {
    case RecordKind::kMemory: words->kind = "write"; return PutWrite(record, options, words);
    case RecordKind::kContents:
      words->kind = "contents";
      return PutContents(record, options, words);
    case RecordKind::kFrame: words->kind = "frame"; return PutFrame(record, words);
    case RecordKind::kReadback: words->kind = "readback"; return PutReadback(record, words);
    case RecordKind::kNote: words->kind = "note"; return PutNote(record, words);
    case RecordKind::kObject: words->kind = "object"; return PutObject(record, words);
    case RecordKind::kStart:
      words->kind = "start";
      words->text = "what stands before restores a state; the recording begins";
      return Status();
    case RecordKind::kStop:
      words->kind = "stop";
      words->text = "the recording ended as it was asked to";
      return Status();
    case RecordKind::kObjectEnd:
      words->kind = "object_end";
      words->json = {{"object", record.object}, {"object_text", NameOf(record.object)}};
      words->text = NameOf(record.object) + " ended";
      return Status();
    case RecordKind::kDevice:
      words->kind = "device";
      words->json = {{"object", record.object}, {"object_text", NameOf(record.object)}};
      words->text = "facts about the device " + NameOf(record.object);
      return Status();
    case RecordKind::kBlob:
      words->kind = "blob";
      words->text = "bytes that a later record refers to";
      return Status();
    case RecordKind::kCall:
    case RecordKind::kResult: break;
  }
  std::span<const std::byte> rest = record.body;
  const Result<ResultBody> body = DecodeBody<ResultBody>(&rest);
  if (!body.ok()) return body.status();
  words->kind = "result";
  words->json = {{"call", body->call}};
  words->text = fmt::format("call {} returned", body->call);
  return Status();
}

Status CallLines::AddOther(const Record& record, uint64_t frame, const LineOptions& options,
                           CallLine* line) {
  Words words;
  const Status described = PutWords(record, options, &words);
  if (!described.ok()) words.text += fmt::format("<{}>", VisibleText(described.message()));
  if (!options.json) {
    line->text = fmt::format("{:>9}  ---- {}", record.number, words.text);
    if (words.bytes.has_value()) AppendBytesInWords(*words.bytes, /*whole=*/true, line->text);
    return described;
  }
  ordered_json json = {{"kind", words.kind}, {"number", record.number}};
  if (record.kind == RecordKind::kMemory || record.kind == RecordKind::kContents) {
    json["frame"] = frame;
  }
  json.update(words.json);
  if (!described.ok()) AddProblem(described.message(), line);
  line->text = VisibleJson(json.dump(-1, ' ', false, ordered_json::error_handler_t::replace));
  line->text.pop_back();  // more may follow
  if (words.bytes.has_value()) {
    line->text += ",\"hex\":\"";
    AppendHex(words.bytes->first(std::min(words.bytes->size(), kMostShownBytes)), "", line->text);
    line->text += '"';
  }
  return described;
}

}  // namespace cairn::cli
