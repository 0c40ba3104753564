// SPDX-License-Identifier: Apache-2.0
//
// A trace that is sent: is any name of the program left in it, and does it still say what was done?
#include "reader/redact/trace_redaction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "d3d12gen/supplement.h"
#include "format/calls/name_guids.h"
#include "format/pix/pix_event.h"
#include "format/snapshot/snapshot_file.h"
#include "format/trace/testing/test_trace.h"
#include "format/trace/verify.h"
#include "reader/redact/testing/trace_strings.h"
#include "reader/report/redact.h"

namespace cairn {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr uint64_t kDevice = 1, kQueue = 2, kList = 3, kResource = 4, kLibrary = 5, kInfo = 6,
                   kSession = 7, kState = 8, kGraph = 9;
constexpr char kSemantic[] = "SECRET_SEMANTIC";
constexpr char16_t kExport[] = u"SecretExport";
constexpr InterfaceGuid kOwnGuid = {1, 2, 3, {4, 5, 6, 7, 8, 9, 10, 11}};

std::vector<std::byte> BytesOfText(std::string_view text, size_t size_bytes = 0) {
  std::string filled(text);
  if (size_bytes != 0) filled.resize(size_bytes, '\1');
  const auto bytes = std::as_bytes(std::span(filled));
  return {bytes.begin(), bytes.end()};
}

std::vector<std::byte> ByteValue(std::string_view text) {
  ByteWriter out;
  out.WriteU32(static_cast<uint32_t>(text.size()));
  out.WriteBytes(std::as_bytes(std::span(text)));
  return out.Take();
}

struct Redacted {
  RedactedTrace trace;
  MemoryFile file;
};

std::unique_ptr<Redacted> RedactedOf(TraceReader& trace, const RedactionOptions& options = {}) {
  auto redacted = std::make_unique<Redacted>();
  Result<FileWriter> file = FileWriter::CreateOn(std::make_unique<MemorySink>(redacted->file));
  Result<RedactedTrace> copy = RedactTrace(&trace, options, &*file);
  EXPECT_TRUE(copy.ok()) << copy.status().message();
  if (copy.ok()) redacted->trace = std::move(*copy);
  EXPECT_TRUE(file->Finish().ok());
  return redacted;
}

// A trace with a text wherever a program can leave one. Every secret begins with "Secret".
class SecretTrace {
 public:
  SecretTrace() : test_(Compression::kZstd, Table()) {
    AddDevice();
    AddNames();
    AddMarkers();
    AddPrivateData();
    AddCaches();
    AddAnswers();
    AddShaders();
    AddContents();
    test_.Frame();
    test_.Flush();
    Snapshot snapshot;
    snapshot.process.program = snapshot.AddText("/home/SecretSnapshotProgram");
    snapshot.process.command_line = snapshot.AddText("--SecretSnapshotOption");
    const TraceThread threads[] = {{0, 77, "SecretThread", 0}};
    test_.WithoutEnd(threads);
    EXPECT_TRUE(WriteSnapshot(snapshot, &test_.file()).ok());
    test_.End();
    EXPECT_TRUE(test_.status().ok()) << test_.status().message();
  }

  TraceReader Open() { return std::move(TraceReader::FromBytes(test_.Bytes())).value(); }

 private:
  // Leaves finishing the file to its caller, which adds chunks.
  class Trace : public TestTrace {
   public:
    using TestTrace::TestTrace;
    void WithoutEnd(std::span<const TraceThread> threads) {
      EXPECT_TRUE(writer().Finish(threads).ok());
    }
    void End() { EXPECT_TRUE(file().Finish().ok()); }
    const std::vector<std::byte>& Bytes() { return BytesSoFar(); }
  };

  static TraceTable Table() {
    TraceFacts facts = SampleFacts();
    facts.program = "/home/SecretUser/SecretGame";
    facts.command_line = "SecretGame --SecretOption";
    return MakeTraceTable(facts);
  }

  void AddDevice() {
    ByteWriter device;
    for (const uint32_t fact : {0x10005u, 0u, 2u, 0xb000u}) device.WriteU32(fact);
    for (const std::string_view text : {"llvmpipe", "Mesa 25", "SecretApplication"}) {
      device.WriteU32(static_cast<uint32_t>(text.size()));
      device.WriteBytes(std::as_bytes(std::span(text)));
    }
    device.WriteU64(0x12345);
    test_.Add(RecordKind::kDevice, kDevice, device.bytes());
    const std::pair<uint64_t, Chain> objects[] = {
        {kDevice, Chain::kID3D12Device},
        {kQueue, Chain::kID3D12CommandQueue},
        {kList, Chain::kID3D12GraphicsCommandList},
        {kResource, Chain::kID3D12Resource},
        {kLibrary, Chain::kID3D12PipelineLibrary},
        {kState, Chain::kID3D12StateObject},
    };
    for (const auto& [number, chain] : objects) {
      if (number != kResource) test_.Object(number, chain, kDevice);
    }
    ResourceFacts buffer{};
    buffer.size_bytes = 0x10000;
    buffer.heap_type = 2;
    test_.Resource(kResource, kDevice, 0, buffer);
  }

  void AddNames() {
    test_.Make(Method::ID3D12Object_SetName, kResource, u"SecretObject \u00e4");
    test_.Make(Method::ID3D12Object_SetName, kQueue, std::u16string(3000, u'S').c_str());
    test_.Make(Method::ID3D12Device_CreateSharedHandle, kDevice, ObjectPointer(kResource), nullptr,
               0u, u"SecretShare", nullptr);
    test_.Make(Method::ID3D12PipelineLibrary_StorePipeline, kLibrary, u"SecretPipeline",
               ObjectPointer(99));
    test_.Make(Method::ID3D12InfoQueue_AddApplicationMessage, kInfo, 0, "SecretMessage");
  }

  void Marker(Method method, uint64_t object, uint32_t metadata, std::span<const std::byte> bytes) {
    test_.Make(method, object, metadata, bytes.data(), static_cast<UINT>(bytes.size()));
  }
  void Marker(PixFormat format, const char* name, PixKind kind = PixKind::kBegin) {
    PixEvent event;
    event.format = format;
    event.kind = kind;
    event.name = name;
    event.name_is_ansi = true;
    event.colour = {PixColourKind::kArgb, 0xff00ff00};
    if (event.name.find('%') != std::string::npos) {
      event.arguments = {{PixArgumentType::kString, 0, "SecretArgument", false},
                         {PixArgumentType::kSigned, 4711, "", false}};
    }
    const std::vector<std::byte> bytes = EncodePixEvent(event);
    Marker(Method::ID3D12GraphicsCommandList_BeginEvent, kList, PixMetadata(format), bytes);
    Marker(Method::ID3D12CommandQueue_SetMarker, kQueue, PixMetadata(format), bytes);
  }
  void AddMarkers() {
    Marker(PixFormat::kAnsi, "SecretAnsi");
    Marker(PixFormat::kUtf16, "SecretUtf16");
    Marker(PixFormat::kUtf32, "SecretUtf32");
    Marker(PixFormat::kBlobV1, "SecretBlobOne %s %d");
    Marker(PixFormat::kBlobV2, "SecretBlobTwo %s %d");
    Marker(Method::ID3D12VideoDecodeCommandList_BeginEvent, kList, 77,
           BytesOfText("SecretUnknown"));
    Marker(Method::ID3D12GraphicsCommandList_SetMarker, kList, kPixMetadataAnsi,
           BytesOfText("SecretLongMarker", 9000));
    test_.Make(Method::ID3D12GraphicsCommandList_EndEvent, kList);
  }

  void PrivateData(const InterfaceGuid& guid, std::span<const std::byte> bytes) {
    test_.Make(Method::ID3D12Object_SetPrivateData, kResource, guid,
               static_cast<UINT>(bytes.size()), bytes.data());
  }
  void AddPrivateData() {
    PrivateData(kNameGuid, BytesOfText("SecretNarrow"));
    PrivateData(kWideNameGuid, BytesOfText(AsUtf16("SecretWide")));
    PrivateData(kOwnGuid, BytesOfText("SecretUserData"));
    PrivateData(kOwnGuid, BytesOfText("SecretLargeData", 10'000));
    test_.Make(Method::ID3D12Object_SetPrivateData, kResource, kOwnGuid, 0u, nullptr);
  }

  void AddCaches() {
    const auto key = BytesOfText("SecretKey");
    const auto value = BytesOfText("SecretValue", 6000);
    test_.Make(Method::ID3D12ShaderCacheSession_StoreValue, kSession, key.data(),
               static_cast<UINT>(key.size()), value.data(), static_cast<UINT>(value.size()));
    const auto library = BytesOfText("SecretLibrary", 5000);
    void* made = nullptr;
    test_.Make(Method::ID3D12Device1_CreatePipelineLibrary, kDevice, library.data(),
               SIZE_T{library.size()}, __uuidof(ID3D12PipelineLibrary), &made);
  }

  void AddAnswers() {
    UINT size = 13;
    char name[] = "SecretAnswer";
    const uint64_t asked = test_.Make(Method::ID3D12Object_GetPrivateData, kResource, kNameGuid,
                                      &size, static_cast<void*>(name));
    test_.Gave(asked, S_OK, kNameGuid, &size, static_cast<void*>(name));
    const uint64_t graph = test_.Make(Method::ID3D12WorkGraphProperties_GetProgramName, kGraph, 0u);
    test_.Gave(graph, u"SecretProgram", 0u);
  }

  void AddShaders() {
    const auto code = BytesOfText("DXBC SecretShader", 3 << 19);  // two blobs
    const auto cached = BytesOfText("SecretCached", 5000);
    D3D12_COMPUTE_PIPELINE_STATE_DESC compute = {};
    compute.CS = {code.data(), code.size()};
    compute.CachedPSO = {cached.data(), cached.size()};
    void* made = nullptr;
    test_.Make(Method::ID3D12Device_CreateComputePipelineState, kDevice, &compute,
               __uuidof(ID3D12PipelineState), &made);
    D3D12_INPUT_ELEMENT_DESC element = {};
    element.SemanticName = kSemantic;
    D3D12_GRAPHICS_PIPELINE_STATE_DESC graphics = {};
    graphics.InputLayout = {&element, 1};
    test_.Make(Method::ID3D12Device_CreateGraphicsPipelineState, kDevice, &graphics,
               __uuidof(ID3D12PipelineState), &made);
    test_.Make(Method::ID3D12StateObjectProperties_GetShaderIdentifier, kState, kExport);
  }

  void AddContents() {
    const std::string_view text = "SecretContents";
    test_.Add(RecordKind::kMemory, kResource, BodyBytes(MemoryBody{0, 0, 64}, ByteValue(text)));
    const uint64_t blob = test_.Blob(BytesOfText("SecretStored", 9000));
    ByteWriter value;
    value.WriteU32(kBytesInBlobs);
    value.WriteU64(9000);
    value.WriteU32(1);
    value.WriteU64(blob);
    test_.Add(RecordKind::kContents, kResource,
              BodyBytes(ContentsBody{0, 0, 0, 0, 0x10000}, value.bytes()));
  }

  Trace test_;
};

TEST(TraceRedaction, NoNameIsLeft) {
  SecretTrace secret;
  TraceReader trace = secret.Open();
  const std::string before = DecodedBytes(trace);
  const auto redacted = RedactedOf(trace);
  Result<TraceReader> copy = TraceReader::FromBytes(redacted->file.bytes);
  ASSERT_TRUE(copy.ok()) << copy.status().message();
  EXPECT_EQ(redacted->trace.unread, 0u);
  EXPECT_EQ(copy->record_count(), trace.record_count() - 2) << "or blobs of names are left";
  const std::string after = DecodedBytes(*copy);
  const std::string_view kKept[] = {"SecretShader", "SecretExport", "SecretContents",
                                    "SecretStored"};
  for (const char* const name :
       {"SecretUser",     "SecretGame",     "SecretOption",          "SecretApplication",
        "SecretObject",   "SecretShare",    "SecretPipeline",        "SecretMessage",
        "SecretAnsi",     "SecretUtf16",    "SecretBlobOne",         "SecretBlobTwo",
        "SecretArgument", "SecretUnknown",  "SecretLongMarker",      "SecretNarrow",
        "SecretWide",     "SecretUserData", "SecretLargeData",       "SecretKey",
        "SecretValue",    "SecretLibrary",  "SecretAnswer",          "SecretProgram",
        "SecretCached",   "SecretThread",   "SecretSnapshotProgram", "SecretSnapshotOption"}) {
    EXPECT_TRUE(Holds(before, name)) << name << " is not tested";
    EXPECT_FALSE(Holds(after, name)) << name;
  }
  EXPECT_FALSE(Holds(after, "4711")) << "a number in a marker";
  for (const size_t bytes : {1, 2}) {
    for (const std::string& run : RunsIn(before, kLeastString, bytes)) {
      if (run.find("Secret") == run.npos && run.find("SSSS") == run.npos) continue;
      const bool is_kept = std::ranges::any_of(
          kKept, [&](std::string_view kept) { return run.find(kept) != run.npos; });
      EXPECT_EQ(Holds(after, run), is_kept) << run.substr(0, 100);
    }
  }
  EXPECT_TRUE(Holds(after, kSemantic)) << "pipelines need it";
  EXPECT_TRUE(copy->table().redaction.names);
  EXPECT_FALSE(copy->table().redaction.shaders);
  EXPECT_FALSE(copy->facts().trimmed);
  EXPECT_TRUE(copy->finished());
}

TEST(TraceRedaction, NamesAreThoseOfRedactedReports) {
  SecretTrace secret;
  TraceReader trace = secret.Open();
  const auto redacted = RedactedOf(trace);
  Result<TraceReader> copy = TraceReader::FromBytes(redacted->file.bytes);
  ASSERT_TRUE(copy.ok());
  EXPECT_EQ(copy->facts().program, RedactedName("/home/SecretUser/SecretGame"));
  EXPECT_EQ(copy->threads()[0].name, RedactedName("SecretThread"));
  const std::set<std::string> names = NamesIn(*copy);
  for (const char* const name : {"SecretObject \u00e4", "SecretWide", "SecretNarrow", "SecretUtf16",
                                 "SecretAnsi", "SecretBlobTwo SecretArgument 4711"}) {
    EXPECT_TRUE(names.contains(RedactedName(name))) << name;
  }
  const Result<Snapshot> snapshot = ReadSnapshot(copy->file());
  ASSERT_TRUE(snapshot.ok());
  EXPECT_EQ(snapshot->Text(snapshot->process.program), RedactedName("/home/SecretSnapshotProgram"));
}

TEST(TraceRedaction, CallsStayAsTheyWere) {
  SecretTrace secret;
  TraceReader trace = secret.Open();
  const auto redacted = RedactedOf(trace);
  Result<TraceReader> copy = TraceReader::FromBytes(redacted->file.bytes);
  ASSERT_TRUE(copy.ok());
  const Result<VerifyReport> before = VerifyTrace(&trace, {});
  const Result<VerifyReport> after = VerifyTrace(&*copy, {});
  ASSERT_TRUE(before.ok() && after.ok());
  EXPECT_EQ(after->errors, before->errors);
  std::vector<uint64_t> numbers[2];
  for (TraceReader* const each : {&trace, &*copy}) {
    for (const KeptRecord& kept : ReadAll(*each)) {
      if (kept.record.kind != RecordKind::kBlob) {
        numbers[each == &trace ? 0 : 1].push_back(kept.record.number);
      }
      if (kept.record.kind == RecordKind::kMemory) {
        EXPECT_THAT(AsText(kept.body), HasSubstr("SecretContents"));
      }
    }
  }
  EXPECT_EQ(numbers[0], numbers[1]);
}

TEST(TraceRedaction, ShadersAndContentsGoOnRequest) {
  SecretTrace secret;
  TraceReader trace = secret.Open();
  const auto redacted = RedactedOf(trace, {.shaders = true, .contents = true});
  Result<TraceReader> copy = TraceReader::FromBytes(redacted->file.bytes);
  ASSERT_TRUE(copy.ok());
  const std::string after = DecodedBytes(*copy);
  for (const char* const text : {"Secret", "SECRET"}) EXPECT_FALSE(Holds(after, text)) << text;
  EXPECT_THAT(after, HasSubstr(RedactedName(AsText(BytesOfText("DXBC SecretShader", 3 << 19)))));
  EXPECT_THAT(after, HasSubstr(RedactedName(kSemantic)));
  EXPECT_THAT(after, HasSubstr(AsUtf16(RedactedName("SecretExport"))));
  EXPECT_TRUE(copy->table().redaction.shaders && copy->table().redaction.contents);
  uint64_t blob_bytes = 0;
  for (const KeptRecord& kept : ReadAll(*copy)) {
    if (kept.record.kind != RecordKind::kBlob) continue;
    blob_bytes += kept.body.size() - sizeof(BlobBody);
  }
  // Values keep their sizes: a shader, a cached blob, a cache's value, a library, contents.
  EXPECT_EQ(blob_bytes, (3u << 19) + 5000 + 6000 + 5000 + 9000);
}

TEST(TraceRedaction, HashesOfContentsGoWithThem) {
  TestTrace test;
  FrameBody frame{};
  frame.hashed = 1;
  frame.hash_low = 0x1122334455667788;
  test.Add(RecordKind::kResourceHash, 4, BodyBytes(ResourceHashBody{0, 0, 64, 1, 2}));
  test.Add(RecordKind::kReadback, 4, BodyBytes(ReadbackBody{}));
  test.Add(RecordKind::kFrame, 0, BodyBytes(frame));
  TraceReader trace = test.Open();
  for (const bool contents : {false, true}) {
    const auto redacted = RedactedOf(trace, {.contents = contents});
    Result<TraceReader> copy = TraceReader::FromBytes(redacted->file.bytes);
    ASSERT_TRUE(copy.ok());
    const auto records = ReadAll(*copy);
    ASSERT_EQ(records.size(), contents ? 1u : 3u);
    FrameBody copied{};
    std::memcpy(&copied, records.back().body.data(), sizeof(copied));
    EXPECT_EQ(copied.hashed, contents ? 0u : 1u);
    EXPECT_EQ(copied.hash_low, contents ? 0u : frame.hash_low);
    EXPECT_EQ(redacted->trace.unread, 0u);
  }
}

TEST(TraceRedaction, VerticesGoWithContentsAndGeometriesStay) {
  TestTrace test;
  StructureGeometry geometry{};
  geometry.count = 3;
  geometry.stride_bytes = 12;
  geometry.format = 6;
  geometry.index_offset_bytes = geometry.transform_offset_bytes = kNoStructureInput;
  const std::string inputs = AsText(BodyBytes(geometry)) + std::string(36, 'v');
  test.Add(RecordKind::kStructure, 4,
           BodyBytes(StructureBody{.type = 1, .count = 1}, ByteValue(inputs)));
  TraceReader trace = test.Open();
  const auto redacted = RedactedOf(trace, {.contents = true});
  Result<TraceReader> copy = TraceReader::FromBytes(redacted->file.bytes);
  ASSERT_TRUE(copy.ok());
  const auto records = ReadAll(*copy);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].body,
            BodyBytes(StructureBody{.type = 1, .count = 1},
                      ByteValue(AsText(BodyBytes(geometry)) + std::string(36, '\0'))));
}

// A call that cannot be read may hold a name anywhere.
TEST(TraceRedaction, WhatCannotBeReadIsLeftOutAndCounted) {
  TraceTable table = MakeTraceTable(SampleFacts());
  table.methods.push_back({"ID3D12Later::SetSecretName", 1});
  TestTrace test(Compression::kZstd, table);
  const auto text = BytesOfText("SecretLater");
  const uint64_t cut = test.Call(Method::ID3D12Object_SetName, 4, text);
  test.Return(cut, BodyBytes(HRESULT{S_OK}));
  test.Add(RecordKind::kCall, 4, text, static_cast<uint16_t>(table.methods.size() - 1));
  test.Add(RecordKind::kDevice, 4, BytesOfText("Secret"));
  Record later;
  later.kind = static_cast<RecordKind>(100);
  later.number = ++test.number;
  later.body = text;
  ASSERT_TRUE(test.writer().Add(later, RecordKinds::kAll).ok());
  test.Frame();
  ASSERT_TRUE(test.status().ok());
  TraceReader trace = test.Open();
  const auto redacted = RedactedOf(trace);
  Result<TraceReader> copy = TraceReader::FromBytes(redacted->file.bytes);
  ASSERT_TRUE(copy.ok());
  EXPECT_EQ(redacted->trace.unread, 5u);
  EXPECT_EQ(copy->record_count(), 1u);
  EXPECT_FALSE(Holds(DecodedBytes(*copy), "Secret"));
}

// A device whose application is cut off: the rest may be its name.
TEST(TraceRedaction, ADeviceThatIsCutKeepsItsGpu) {
  TestTrace test;
  ByteWriter device;
  for (const uint32_t fact : {1u, 2u, 4u, 0u, 3u}) device.WriteU32(fact);
  device.WriteBytes(std::as_bytes(std::span(std::string_view("gpu"))));
  device.WriteU32(1000);
  device.WriteBytes(std::as_bytes(std::span(std::string_view("SecretRest"))));
  test.Add(RecordKind::kDevice, 1, device.bytes());
  TraceReader trace = test.Open();
  const auto redacted = RedactedOf(trace);
  Result<TraceReader> copy = TraceReader::FromBytes(redacted->file.bytes);
  ASSERT_TRUE(copy.ok());
  ASSERT_EQ(ReadAll(*copy).size(), 1u);
  EXPECT_EQ(AsText(ReadAll(*copy)[0].body).substr(16), std::string("\3\0\0\0gpu", 7));
}

TEST(TraceRedaction, CanBeInterrupted) {
  SecretTrace secret;
  TraceReader trace = secret.Open();
  const auto redacted = RedactedOf(trace, {.progress = [](uint64_t, uint64_t) { return false; }});
  EXPECT_TRUE(redacted->trace.copied.interrupted);
}

// Numbers and GUIDs look like text now and then, but have no four letters of one case in a row.
bool HasWord(std::string_view run) {
  size_t small = 0;
  size_t capital = 0;
  for (const char c : run) {
    small = c >= 'a' && c <= 'z' ? small + 1 : 0;
    capital = c >= 'A' && c <= 'Z' ? capital + 1 : 0;
    if (small == kLeastString || capital == kLeastString) return true;
  }
  return false;
}

// Traces that programs made (tests/golden/played).
class RedactedSample : public ::testing::TestWithParam<const char*> {};

TEST_P(RedactedSample, HasNoStringOfTheProgram) {
  const std::string path =
      CAIRN_SOURCE_DIR "/tests/golden/played/" + std::string(GetParam()) + ".cairn";
  Result<TraceReader> trace = TraceReader::Open(path);
  ASSERT_TRUE(trace.ok()) << trace.status().message();
  const auto redacted = RedactedOf(*trace, {.shaders = true});
  Result<TraceReader> copy = TraceReader::FromBytes(redacted->file.bytes);
  ASSERT_TRUE(copy.ok()) << copy.status().message();
  EXPECT_EQ(redacted->trace.unread, 0u);
  const std::string before = DecodedBytes(*trace);
  const std::string after = DecodedBytes(*copy);
  // Texts that are not the program's: its GPU, its driver, notes of Cairn, and functions and sources in
  // the snapshot of a crash.
  std::string kept(trace->facts().library_version);
  Result<Snapshot> snapshot = ReadSnapshot(trace->file());
  if (snapshot.ok()) kept += Redact(std::move(*snapshot)).text;
  for (const KeptRecord& each : ReadAll(*trace)) {
    const bool is_ours =
        each.record.kind == RecordKind::kDevice || each.record.kind == RecordKind::kNote;
    if (is_ours) kept += AsText(each.body);
  }
  size_t names = 0;
  for (const std::string& name : NamesIn(*trace)) {
    if (Holds(kept, name)) continue;
    ++names;
    EXPECT_TRUE(Holds(before, name)) << name;
    EXPECT_FALSE(Holds(after, name)) << name;
  }
  EXPECT_GT(names, 5u);
  size_t runs = 0;
  for (const size_t bytes : {1, 2}) {
    for (const std::string& run : RunsIn(before, kLeastString, bytes)) {
      if (!HasWord(run)) continue;
      ++runs;
      EXPECT_TRUE(!Holds(after, run) || Holds(kept, run)) << run << " is left";
    }
  }
  EXPECT_GT(runs, 5u);
}

INSTANTIATE_TEST_SUITE_P(All, RedactedSample,
                         ::testing::Values("scale", "passes", "triangle", "hang", "fault"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace cairn
