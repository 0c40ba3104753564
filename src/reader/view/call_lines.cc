// SPDX-License-Identifier: Apache-2.0
#include "reader/view/call_lines.h"

#include <fmt/compile.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "base/json_writer.h"
#include "base/text.h"
#include "d3d12abi/d3d12_api.h"
#include "format/calls/import_facts.h"
#include "format/calls/object_text.h"
#include "format/calls/recorded_device.h"
#include "format/calls/value_output.h"
#include "format/calls/value_shape.h"
#include "format/pix/pix_event.h"
#include "reader/replay/buffer_addresses.h"

namespace cairn::cli {
namespace {

const char* FrameEndInWords(uint32_t how) {
  switch (static_cast<FrameEndKind>(how)) {
    case FrameEndKind::kPresent: return "present";
    case FrameEndKind::kSubmissions: return "submissions";
    case FrameEndKind::kMarker: return "marker";
    case FrameEndKind::kEnd: return "end of the program";
  }
  return "unknown";
}

const char* StructureStepInWords(uint32_t step) {
  switch (static_cast<StructureStep>(step)) {
    case StructureStep::kBuild: return "built";
    case StructureStep::kUpdate: return "updated";
    case StructureStep::kClone: return "cloned";
    case StructureStep::kCompact: return "compacted";
  }
  return "made";
}

const char* KindWord(RecordKind kind) {
  switch (kind) {
    case RecordKind::kCall: return "call";
    case RecordKind::kResult: return "result";
    case RecordKind::kMemory: return "write";
    case RecordKind::kContents: return "contents";
    case RecordKind::kFrame: return "frame";
    case RecordKind::kReadback: return "readback";
    case RecordKind::kResourceHash: return "resource_hash";
    case RecordKind::kFenceReached: return "fence_reached";
    case RecordKind::kStructure: return "structure";
    case RecordKind::kNote: return "note";
    case RecordKind::kObject: return "object";
    case RecordKind::kObjectEnd: return "object_end";
    case RecordKind::kDevice: return "device";
    case RecordKind::kBlob: return "blob";
    case RecordKind::kStart: return "start";
    case RecordKind::kStop: return "stop";
  }
  return "unknown";
}

// Returns the text of an annotation; "" for other calls.
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

struct TableCounts {
  uint64_t miss = 0;
  uint64_t hit_group = 0;
  uint64_t callable = 0;
};
// Counts the records in the shader tables of a DispatchRays; nullopt for other calls.
std::optional<TableCounts> CountsOfTables(std::optional<Method> method, const DecodedCall& call,
                                          const Status& decoded) {
  if (!decoded.ok() || method != Method::ID3D12GraphicsCommandList4_DispatchRays) return {};
  const auto* const place = Load<const std::byte*>(call.arguments[0]);
  if (place == nullptr) return {};
  const auto desc = Load<D3D12_DISPATCH_RAYS_DESC>(place);
  const auto count = [](const D3D12_GPU_VIRTUAL_ADDRESS_RANGE_AND_STRIDE& table) {
    return CountRecords(table.SizeInBytes, table.StrideInBytes);
  };
  return TableCounts{count(desc.MissShaderTable), count(desc.HitGroupTable),
                     count(desc.CallableShaderTable)};
}

void AddProblem(std::string_view problem, CallLine* line) {
  if (!line->problem.empty()) line->problem += "; ";
  line->problem += problem;
}

// Returns the number of bytes in the byte value at the beginning of `rest`; 0 if it cannot be read.
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
  std::string text;
  std::string keys;
  JsonWriter json{&keys, JsonWriter::kOneLine};
};

// ---- Calls ----

void CallLines::AddCall(const Record& record, uint64_t frame, std::optional<Method> method,
                        const DecodedCall& call, const Status& decoded, const LineOptions& options,
                        CallLine* line) const {
  const std::string annotation = AnnotationText(method, call, decoded);
  const std::optional<TableCounts> tables = CountsOfTables(method, call, decoded);
  std::string& text = line->text;
  if (options.json) {
    JsonWriter json(&text, JsonWriter::kOneLine);
    json.StringKey("kind", "call");
    json.NumberKey("number", record.number);
    json.NumberKey("frame", frame);
    json.NumberKey("thread", record.thread);
    ObjectKeys(record, &json);
    json.StringKey("method",
                   method.has_value() ? Describe(*method).name : trace_.MethodName(record));
    json.Key("arguments");
    if (decoded.ok()) {
      WriteArguments(Describe(*method), call, *names_, options.whole, &json);
    } else {
      json.Null();
      AddProblem(decoded.message(), line);
    }
    if (!annotation.empty()) json.StringKey("annotation", VisibleText(annotation));
    if (tables) {
      json.BeginObject("records");
      json.NumberKey("miss", tables->miss);
      json.NumberKey("hit_group", tables->hit_group);
      json.NumberKey("callable", tables->callable);
      json.EndObject();
    }
    return;
  }
  fmt::format_to(std::back_inserter(text), FMT_COMPILE("{:>9}  t{:<3} {}  "), record.number,
                 record.thread, NameOf(record.object));
  if (decoded.ok()) {
    text += PrintArguments(Describe(*method), call, *names_, options.whole);
  } else {
    text += method.has_value() ? std::string(ShortName(Describe(*method).name))
                               : trace_.MethodName(record);
    text += fmt::format("(<{}>)", VisibleText(decoded.message()));
  }
  if (!annotation.empty()) text += fmt::format("  \"{}\"", VisibleText(annotation));
  if (tables) {
    text +=
        fmt::format("  records: {} miss, {} hit group, {} callable", GroupedDigits(tables->miss),
                    GroupedDigits(tables->hit_group), GroupedDigits(tables->callable));
  }
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
    JsonWriter json(&line->result, JsonWriter::kOneLine);
    WriteResult(info, call, *names_, options.whole, &json);
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

void CallLines::ObjectKeys(const Record& record, JsonWriter* json) const {
  json->NumberKey("object", record.object);
  json->StringKey("object_text", NameOf(record.object));
}

Status CallLines::PutFrame(const Record& record, Words* words) const {
  std::span<const std::byte> rest = record.body;
  const Result<FrameBody> body = DecodeBody<FrameBody>(&rest);
  if (!body.ok()) return body.status();
  words->json.NumberKey("frame", body->frame);
  words->json.StringKey("how", FrameEndInWords(body->how));
  words->text += fmt::format("end of frame {} ({})", body->frame, FrameEndInWords(body->how));
  if (record.object != kNoObject) {
    words->json.NumberKey("image", record.object);
    words->text += ", image " + NameOf(record.object);
  }
  if (body->hashed != 0) {
    const std::string hash = fmt::format("{:016x}{:016x}", body->hash_high, body->hash_low);
    words->json.StringKey("hash", hash);
    words->text += ", hash " + hash;
  }
  return Status();
}

Status CallLines::PutBytes(std::span<const std::byte> rest, const LineOptions& options,
                           Words* words) {
  const uint64_t count = ByteCount(rest);
  words->json.NumberKey("bytes", count);
  if (!options.whole) {
    words->text += Counted(count, "byte");
    return Status();
  }
  arena_.Reset();
  const Result<std::span<const std::byte>> bytes = DecodeBytes(&rest, &trace_, &arena_);
  if (!bytes.ok()) return bytes.status();
  if (options.json) {
    words->json.Key("hex");
    words->json.HexBytes(bytes->first(std::min(bytes->size(), kMostShownBytes)));
  } else {
    AppendBytesInWords(*bytes, /*whole=*/true, words->text);
  }
  return Status();
}

Status CallLines::PutWrite(const Record& record, const LineOptions& options, Words* words) {
  std::span<const std::byte> rest = record.body;
  const Result<MemoryBody> body = DecodeBody<MemoryBody>(&rest);
  if (!body.ok()) return body.status();
  ObjectKeys(record, &words->json);
  words->json.NumberKey("subresource", body->subresource);
  words->json.NumberKey("offset", body->offset_bytes);
  words->text += fmt::format("the program wrote into {}, subresource {}, at offset {}: ",
                             NameOf(record.object), body->subresource, body->offset_bytes);
  return PutBytes(rest, options, words);
}

Status CallLines::PutContents(const Record& record, const LineOptions& options, Words* words) {
  std::span<const std::byte> rest = record.body;
  const Result<ContentsBody> body = DecodeBody<ContentsBody>(&rest);
  if (!body.ok()) return body.status();
  ObjectKeys(record, &words->json);
  words->json.NumberKey("subresource", body->subresource);
  words->json.NumberKey("offset", body->offset_bytes);
  words->text += fmt::format("{} held, subresource {}, at offset {}: ", NameOf(record.object),
                             body->subresource, body->offset_bytes);
  return PutBytes(rest, options, words);
}

Status CallLines::PutReadback(const Record& record, Words* words) const {
  std::span<const std::byte> rest = record.body;
  const Result<ReadbackBody> body = DecodeBody<ReadbackBody>(&rest);
  if (!body.ok()) return body.status();
  const std::string hash = fmt::format("{:016x}{:016x}", body->hash_high, body->hash_low);
  ObjectKeys(record, &words->json);
  words->json.NumberKey("subresource", body->subresource);
  words->json.NumberKey("offset", body->offset_bytes);
  words->json.StringKey("hash", hash);
  words->text += fmt::format(
      "the GPU wrote into {}, subresource {}, at offset {}: {} row{} of {} bytes, hash {}; there "
      "when {} has come to {}",
      NameOf(record.object), body->subresource, body->offset_bytes, body->row_count,
      Plural(body->row_count, "", "s"), body->row_bytes, hash, NameOf(body->fence),
      body->fence_value);
  return Status();
}

Status CallLines::PutResourceHash(const Record& record, Words* words) const {
  std::span<const std::byte> rest = record.body;
  const Result<ResourceHashBody> body = DecodeBody<ResourceHashBody>(&rest);
  if (!body.ok()) return body.status();
  const std::string hash = fmt::format("{:016x}{:016x}", body->hash_high, body->hash_low);
  ObjectKeys(record, &words->json);
  words->json.NumberKey("subresource", body->subresource);
  words->json.NumberKey("bytes", body->total_bytes);
  words->json.StringKey("hash", hash);
  words->text += fmt::format("{} holds, subresource {}: {} bytes, hash {}", NameOf(record.object),
                             body->subresource, GroupedDigits(body->total_bytes), hash);
  return Status();
}

Status CallLines::PutFenceReached(const Record& record, Words* words) const {
  std::span<const std::byte> rest = record.body;
  const Result<FenceReachedBody> body = DecodeBody<FenceReachedBody>(&rest);
  if (!body.ok()) return body.status();
  ObjectKeys(record, &words->json);
  words->json.NumberKey("value", body->value);
  words->json.BoolKey("seen", body->seen != 0);
  words->text += fmt::format("{} {} {}, which an event waited for", NameOf(record.object),
                             body->seen != 0 ? "reached" : "is taken to have reached", body->value);
  return Status();
}

Status CallLines::PutStructure(const Record& record, const LineOptions& options, Words* words) {
  std::span<const std::byte> rest = record.body;
  const Result<StructureBody> body = DecodeBody<StructureBody>(&rest);
  if (!body.ok()) return body.status();
  ObjectKeys(record, &words->json);
  words->json.NumberKey("offset", body->offset_bytes);
  words->json.StringKey("step", StructureStepInWords(body->step));
  words->text +=
      fmt::format("{} held an acceleration structure at offset {}, {}: ", NameOf(record.object),
                  body->offset_bytes, StructureStepInWords(body->step));
  return PutBytes(rest, options, words);
}

Status CallLines::PutNote(const Record& record, Words* words) const {
  std::span<const std::byte> rest = record.body;
  const Result<NoteBody> body = DecodeBody<NoteBody>(&rest);
  if (!body.ok() || body->text_bytes > rest.size()) {
    return Status(StatusCode::kCorrupt, "the record is too short");
  }
  const std::string text =
      VisibleText(std::string_view(reinterpret_cast<const char*>(rest.data()), body->text_bytes));
  words->json.StringKey("text", text);
  words->text += "note: " + text;
  return Status();
}

Status CallLines::PutDevice(const Record& record, Words* words) const {
  constexpr size_t kMostBytes = 256;
  const Result<RecordedDevice> device = DecodeDevice(record);
  if (!device.ok()) return device.status();
  ObjectKeys(record, &words->json);
  words->text += "facts about " + ObjectText(Chain::kID3D12Device, record.object);
  const std::string gpu = VisibleText(Utf8Prefix(device->gpu, kMostBytes));
  if (!gpu.empty()) words->text += ": " + gpu;
  words->json.StringKey("gpu_name", gpu);
  const std::string adapter = AdapterText(*device);
  if (!adapter.empty()) words->text += ", " + adapter;
  if (device->adapter_place) words->json.NumberKey("adapter", *device->adapter_place);
  if (device->adapter_luid) words->json.StringKey("adapter_luid", LuidText(*device->adapter_luid));
  return Status();
}

Status CallLines::PutObject(const Record& record, Words* words) const {
  std::span<const std::byte> rest = record.body;
  const Result<ObjectBody> body = DecodeBody<ObjectBody>(&rest);
  if (!body.ok()) return body.status();
  ObjectKeys(record, &words->json);
  words->text += NameOf(record.object) + " came to be";
  if (body->creator != 0) words->text += fmt::format(", made by call {}", body->creator);
  const std::optional<ImportFacts> import = ImportOf(record);
  if (!import) return Status();
  words->text += ", " + ImportText(*import);
  words->json.StringKey("opened", ImportText(*import));
  if (import->original != 0) {
    words->text += ": " + NameOf(import->original);
    words->json.NumberKey("opened_object", import->original);
  }
  return Status();
}

Status CallLines::PutWords(const Record& record, const LineOptions& options, Words* words) {
  switch (record.kind) {
    case RecordKind::kMemory: return PutWrite(record, options, words);
    case RecordKind::kContents: return PutContents(record, options, words);
    case RecordKind::kFrame: return PutFrame(record, words);
    case RecordKind::kReadback: return PutReadback(record, words);
    case RecordKind::kResourceHash: return PutResourceHash(record, words);
    case RecordKind::kFenceReached: return PutFenceReached(record, words);
    case RecordKind::kStructure: return PutStructure(record, options, words);
    case RecordKind::kNote: return PutNote(record, words);
    case RecordKind::kObject: return PutObject(record, words);
    case RecordKind::kStart:
      words->text += "the records before this restore a state; the recording begins";
      return Status();
    case RecordKind::kStop: words->text += "the recording ended as requested"; return Status();
    case RecordKind::kObjectEnd:
      ObjectKeys(record, &words->json);
      words->text += NameOf(record.object) + " ended";
      return Status();
    case RecordKind::kDevice: return PutDevice(record, words);
    case RecordKind::kBlob: words->text += "bytes that a later record refers to"; return Status();
    case RecordKind::kCall:
    case RecordKind::kResult: break;
  }
  std::span<const std::byte> rest = record.body;
  const Result<ResultBody> body = DecodeBody<ResultBody>(&rest);
  if (!body.ok()) return body.status();
  words->json.NumberKey("call", body->call);
  words->text += fmt::format("call {} returned", body->call);
  return Status();
}

Status CallLines::AddOther(const Record& record, uint64_t frame, const LineOptions& options,
                           CallLine* line) {
  Words words;
  words.text = fmt::format("{:>9}  ---- ", record.number);
  words.json.StringKey("kind", KindWord(record.kind));
  words.json.NumberKey("number", record.number);
  if (record.kind == RecordKind::kMemory || record.kind == RecordKind::kContents) {
    words.json.NumberKey("frame", frame);
  }
  const Status described = PutWords(record, options, &words);
  if (!described.ok()) {
    words.text += fmt::format("<{}>", VisibleText(described.message()));
    if (options.json) AddProblem(described.message(), line);
  }
  line->text = std::move(options.json ? words.keys : words.text);
  return described;
}

}  // namespace cairn::cli
