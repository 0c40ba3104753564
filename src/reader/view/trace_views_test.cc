// SPDX-License-Identifier: Apache-2.0
#include "reader/view/trace_views.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/json.h"
#include "base/testing/json_schema_check.h"
#include "format/calls/import_facts.h"
#include "format/trace/testing/test_trace.h"

namespace cairn::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A device, two buffers of which one is destroyed in the second frame, and two heaps without a name, of which one is over
// the program's memory.
void FillObjects(TestTrace* test) {
  ByteWriter device;
  for (const uint32_t number : {0u, 0u, 4u, 0u}) device.WriteU32(number);
  for (const std::string_view text : {"llvmpipe", "Mesa\x1b", "game"}) {
    device.WriteU32(static_cast<uint32_t>(text.size()));
    device.WriteBytes(ToBytes(text));
  }
  device.WriteU64(uint64_t{1} << 32 | 0xE2A3);
  device.WriteU32(3);  // the third adapter
  test->Add(RecordKind::kDevice, 1, device.bytes());
  test->Object(1, Chain::kID3D12Device, 1);
  ResourceFacts facts{};
  facts.heap_type = 2;
  facts.size_bytes = 65536;
  test->Resource(2, 1, 0, facts);
  const std::u16string_view name = u"Depth";
  test->Call(Method::ID3D12Object_SetName, 2,
             BodyBytes(uint32_t{10}, std::as_bytes(std::span(name))));
  test->Resource(5, 1, 0, facts);
  test->Frame();
  test->ObjectEnd(5);
  test->DescriptorHeap(6, 1, 0, {0x100, 0x200, 1, 1, 8, 32});
  test->Note(NoteKind::kTracking, "page faults");
  test->Add(RecordKind::kObject, 7,
            BodyBytes(ObjectBody{1, 0, static_cast<uint32_t>(Chain::kID3D12Heap), kImportFacts},
                      BodyBytes(ImportFacts{.source = 1, .place = 0x7f000000, .value = 65536})));
  test->Frame();
}

std::string Violation(const char* schema, const Json& value) {
  return SchemaViolation(Json::ParseFile(std::string(CAIRN_SOURCE_DIR "/docs/formats/") + schema),
                         value);
}

TEST(TraceViewsTest, ObjectsAtTheEnd) {
  TestTrace test;
  FillObjects(&test);
  TraceReader trace = test.Open();
  const Result<ObjectList> list = ListObjects(trace, {});
  ASSERT_TRUE(list.ok());
  EXPECT_EQ(list->objects.size(), 5u);
  const std::string text = ObjectsText(*list);
  EXPECT_THAT(text, HasSubstr("       2  resource                               frame 0, 3"));
  EXPECT_THAT(text, HasSubstr("\"Depth\" (upload, 65,536 bytes)\n"));
  EXPECT_THAT(text, HasSubstr("frame 0, 5           frame 1, 7  (upload, 65,536 bytes)\n"));
  EXPECT_THAT(text, HasSubstr("(8 descriptors, shader-visible)\n"));
  EXPECT_THAT(text, HasSubstr("adapter 2, LUID 0x000000010000e2a3)\n"));
  EXPECT_THAT(text, HasSubstr("(opened at address 0x7f000000, 65,536 bytes)\n"));
  EXPECT_THAT(text, HasSubstr("\n5 objects made, 4 alive when the recording ended\n"));
  std::string document;
  ASSERT_TRUE(WriteObjectsJson(*list, [&document](std::string_view piece) {
    document += piece;
    return true;
  }));
  const Json json = Json::Parse(document);
  EXPECT_EQ(Violation("objects.schema.json", json), "");
  EXPECT_EQ(json["objects"][0]["adapter_luid"], "0x000000010000e2a3");
  EXPECT_EQ(json["objects"][0]["adapter"], 2);
  EXPECT_EQ(json["objects"][4]["opened"], "opened at address 0x7f000000, 65,536 bytes");
  EXPECT_EQ(json["objects"][1]["name"], "Depth");
  EXPECT_FALSE(json["objects"][1].contains("adapter_luid"));
  EXPECT_EQ(json["objects"][2]["destroyed_frame"], 1);
}

TEST(TraceViewsTest, ObjectsAtAPlace) {
  TestTrace test;
  FillObjects(&test);
  TraceReader trace = test.Open();
  ObjectQuery query;
  query.alive = true;
  query.at_frame = 1;
  query.kind = "resource";
  Result<ObjectList> list = ListObjects(trace, query);
  ASSERT_TRUE(list.ok());
  EXPECT_EQ(list->objects.size(), 2u);
  EXPECT_EQ(list->alive, 3u);
  EXPECT_FALSE(list->at_end);
  EXPECT_THAT(ObjectsText(*list), HasSubstr("3 alive at that place, in frame 1"));
  query.at_frame.reset();
  query.at_number = 3;
  list = ListObjects(trace, query);
  EXPECT_TRUE(list->objects.empty());
  EXPECT_EQ(list->made, 1u);
  query.at_frame = 3;
  EXPECT_EQ(ListObjects(trace, query).status().code(), StatusCode::kInvalidArgument);
}

TEST(TraceViewsTest, ObjectsHaveTheFramesOfTheProgram) {
  TestTrace test;
  test.frame = 500;
  FillObjects(&test);
  TraceReader trace = test.Open();
  ObjectQuery query;
  query.at_frame = 501;
  Result<ObjectList> list = ListObjects(trace, query);
  ASSERT_TRUE(list.ok());
  EXPECT_EQ(list->frame, 501u);
  EXPECT_EQ(list->objects.size(), 3u);
  EXPECT_EQ(list->objects.at(0).created_frame, 500u);
  query.at_frame = 502;
  list = ListObjects(trace, query);
  ASSERT_TRUE(list.ok());
  EXPECT_EQ(list->objects.at(2).ended_frame, 501u);
  for (const uint64_t frame : {0u, 499u, 503u}) {
    query.at_frame = frame;
    EXPECT_EQ(ListObjects(trace, query).status().message(),
              "there is no frame " + std::to_string(frame) + ": the trace has frames 500 to 501");
  }
}

TEST(TraceViewsTest, WhatALateRecordingFoundIsThereInItsFirstFrame) {
  TestTrace test;
  test.frame = 500;
  const ObjectBody device{1, 0, static_cast<uint32_t>(Chain::kID3D12Device), kNoFacts};
  test.Add(RecordKind::kObject, 1, BodyBytes(device), 0, kRecordRestores);
  test.Add(RecordKind::kStart, 0, {}, 0, kRecordRestores);
  test.Object(2, Chain::kID3D12Fence, 1);
  test.Frame();
  TraceReader trace = test.Open();
  ObjectQuery query;
  query.at_frame = 500;
  const Result<ObjectList> list = ListObjects(trace, query);
  ASSERT_TRUE(list.ok()) << list.status().message();
  ASSERT_EQ(list->objects.size(), 1u);
  EXPECT_EQ(list->objects[0].number, 1u);
  EXPECT_EQ(list->frame, 500u);
}

TEST(TraceViewsTest, InfoNamesDevicesNotesAndThreads) {
  TestTrace test;
  FillObjects(&test);
  const TraceThread threads[] = {{0, 9, "main", 4}};
  test.Finish(threads);
  TraceReader trace = test.Open();
  const std::string text = TraceInfoText(trace);
  EXPECT_THAT(text, HasSubstr("Trace     finished\n"));
  EXPECT_THAT(text, HasSubstr("Device    llvmpipe, Mesa\\x1b\n"));
  EXPECT_THAT(text, HasSubstr("Note      tracking: page faults\n"));
  EXPECT_THAT(text, HasSubstr("Thread    0 \"main\" is still in call 4\n"));
  EXPECT_THAT(text, HasSubstr("frames                        2\n"));
  std::string info;
  JsonWriter writer(&info);
  WriteTraceInfo(trace, &writer);
  const Json json = Json::Parse(R"({"format": "cairn-info", "version": 1, "file": "x",
    "file_version": "1.0", "finished": true, "chunks": [], "losses": ["some"], "trace": )" +
                                info + "}");
  EXPECT_EQ(Violation("info.schema.json", json), "");
  EXPECT_EQ(json["trace"]["devices"][0]["gpu"], "llvmpipe");
}

TEST(TraceViewsTest, FindingsAsTextAndJson) {
  TestTrace test;
  FillObjects(&test);
  for (int i = 0; i < 30; ++i) test.ObjectEnd(77);
  TraceReader trace = test.Open();
  const Result<VerifyReport> report = VerifyTrace(&trace, {});
  ASSERT_TRUE(report.ok());
  const std::string text = VerifyText("a\nb.cairn", *report, trace.frame_count());
  EXPECT_THAT(text,
              HasSubstr("a\\x0ab.cairn: 41 records in 2 frames, 1 call (1 checked), 5 objects, "
                        "0 blobs\n"));
  EXPECT_THAT(text, HasSubstr("error    record                12  the end of an object"));
  EXPECT_THAT(text, HasSubstr("and 10 more of the rule record\n30 errors, 0 warnings\n"));
  const Json json = Json::Parse(VerifyJson(*report, trace.frame_count()));
  EXPECT_EQ(Violation("verify.schema.json", json), "");
  EXPECT_EQ(json["counts"]["record"], 30);
  EXPECT_EQ(json["clean"], false);
}

}  // namespace
}  // namespace cairn::cli
