// SPDX-License-Identifier: Apache-2.0
#include "format/trace/trace_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "format/calls/created_object.h"
#include "format/trace/testing/test_trace.h"

namespace cairn {
namespace {

using ::testing::Pair;

constexpr uint64_t kDevice = 1;

std::vector<std::byte> NameArguments(std::u16string_view name) {
  const auto size = static_cast<uint32_t>(name.size() * 2);
  return BodyBytes(size, std::as_bytes(std::span(name)));
}

ResourceFacts BufferAt(uint64_t address, uint64_t size) {
  ResourceFacts facts{};
  facts.gpu_address = address;
  facts.size_bytes = size;
  return facts;
}

Status ApplyAll(TraceReader& trace, TraceState* state) {
  TraceCursor cursor(trace);
  Record record;
  Status first;
  while (cursor.Next(&record)) {
    Status status = state->Apply(record);
    if (first.ok()) first = std::move(status);
  }
  return first;
}

TEST(TraceStateTest, ObjectsHaveNamesLivesAndPlaces) {
  TestTrace test;
  test.Object(kDevice, Chain::kID3D12Device, kDevice);
  const uint64_t call = test.Call(Method::ID3D12Device_CreateCommittedResource, kDevice);
  test.Resource(12, kDevice, call, BufferAt(0x10000, 0x1000));
  test.Call(Method::ID3D12Object_SetName, 12, NameArguments(u"Tiefe \u00E4\n"));
  test.Frame();
  test.DescriptorHeap(20, kDevice, 0, {0x500, 0x9000, 0, 1, 16, 32});
  TraceReader trace = test.Open();
  TraceState state(trace);
  ASSERT_TRUE(ApplyAll(trace, &state).ok());
  const TracedObject* buffer = state.Find(12);
  ASSERT_NE(buffer, nullptr);
  EXPECT_EQ(buffer->chain, Chain::kID3D12Resource);
  EXPECT_EQ(buffer->creator, call);
  EXPECT_EQ(buffer->created_frame, 0u);
  EXPECT_EQ(state.Find(20)->created_frame, 1u);
  EXPECT_EQ(state.alive_count(), 3u);
  EXPECT_EQ(state.Object(12), "resource 12 \"Tiefe \u00E4\\x0a\"");
  EXPECT_EQ(state.Object(0), "null");
  EXPECT_EQ(state.Object(99), "object 99");
  EXPECT_EQ(state.GpuAddress(0x10010), "resource 12 \"Tiefe \u00E4\\x0a\" + 16");
  EXPECT_EQ(state.GpuAddress(0x11000), "");
  EXPECT_EQ(state.CpuDescriptor(0x500 + 3 * 32), "descriptor heap 20 [3]");
  EXPECT_EQ(state.GpuDescriptor(0x9000 + 15 * 32), "descriptor heap 20 [15]");
  EXPECT_EQ(state.GpuDescriptor(0x9000 + 16 * 32), "");
}

TEST(TraceStateTest, AnAddressBelongsToWhoeverLives) {
  TestTrace test;
  test.Resource(2, kDevice, 0, BufferAt(0x1000, 0x100));
  test.ObjectEnd(2);
  test.Resource(3, kDevice, 0, BufferAt(0x1000, 0x200));
  TraceReader trace = test.Open();
  TraceState state(trace);
  ASSERT_TRUE(ApplyAll(trace, &state).ok());
  EXPECT_EQ(state.gpu_addresses().Find(0x1080)->object, 3u);
  EXPECT_EQ(state.Find(2)->ended, 2u);
  EXPECT_EQ(state.gpu_addresses().size(), 1u);
}

TEST(TraceStateTest, NamesAsPrivateDataCount) {
  constexpr uint8_t kGuid[16] = {0x22, 0x8c, 0x9b, 0x42, 0x88, 0x91, 0x0c, 0x4b,
                                 0x87, 0x42, 0xac, 0xb0, 0xbf, 0x85, 0xc2, 0x00};
  TestTrace test;
  test.Object(5, Chain::kID3D12Fence, kDevice);
  ByteWriter arguments;
  arguments.WriteBytes(std::as_bytes(std::span(kGuid)));
  arguments.WriteU32(4);
  arguments.WriteU32(4);
  arguments.WriteBytes(ToBytes("done"));
  test.Call(Method::ID3D12Object_SetPrivateData, 5, arguments.bytes());
  TraceReader trace = test.Open();
  TraceState state(trace);
  ASSERT_TRUE(ApplyAll(trace, &state).ok());
  EXPECT_EQ(state.Object(5), "fence 5 \"done\"");
}

TEST(TraceStateTest, RecordsThatContradictEachOtherAreNamedAndPassedOver) {
  TestTrace test;
  test.Object(5, Chain::kID3D12Fence, kDevice);
  test.Object(5, Chain::kID3D12Heap, kDevice);
  test.ObjectEnd(6);
  test.ObjectEnd(5);
  test.ObjectEnd(5);
  test.Add(RecordKind::kObject, 7, {});
  test.Object(0, Chain::kID3D12Heap, kDevice);
  TraceReader trace = test.Open();
  TraceState state(trace);
  TraceCursor cursor(trace);
  Record record;
  std::vector<std::pair<uint64_t, std::string>> refused;
  while (cursor.Next(&record)) {
    const Status status = state.Apply(record);
    if (status.ok()) continue;
    EXPECT_EQ(status.code(), StatusCode::kCorrupt);
    refused.emplace_back(record.number, status.message());
  }
  EXPECT_THAT(refused,
              ::testing::ElementsAre(Pair(2, "an object with a number that another one has had"),
                                     Pair(3, "the end of an object that was never made"),
                                     Pair(5, "the second end of an object"),
                                     Pair(6, "an object without the facts about it"),
                                     Pair(7, "an object without a number")));
  EXPECT_EQ(state.Find(5)->chain, Chain::kID3D12Fence);
  EXPECT_EQ(state.alive_count(), 0u);
}

TEST(CreatedObjectTest, FactsThatAreCutAreNone) {
  const auto refusal = [](uint32_t facts, size_t bytes) {
    std::vector<std::byte> body = BodyBytes(ObjectBody{1, 2, 0, facts});
    body.resize(bytes);
    Record record;
    record.body = body;
    const Result<CreatedObject> object = DecodeObject(record);
    return object.ok() ? "" : object.status().message();
  };
  constexpr size_t kBody = sizeof(ObjectBody);
  EXPECT_EQ(refusal(kNoFacts, kBody - 1), "an object without the facts about it");
  EXPECT_EQ(refusal(kNoFacts, kBody), "");
  EXPECT_EQ(refusal(kResourceFacts, kBody + sizeof(ResourceFacts) - 1),
            "a resource without the facts about it");
  EXPECT_EQ(refusal(kResourceFacts, kBody + sizeof(ResourceFacts)), "");
  EXPECT_EQ(refusal(kDescriptorHeapFacts, kBody), "a descriptor heap without the facts about it");
  EXPECT_EQ(refusal(kDescriptorHeapFacts, kBody + sizeof(DescriptorHeapFacts)), "");
}

TEST(AddressMapTest, RangesMayOverlapAndEndAtTheLastAddress) {
  AddressMap map;
  map.Add(100, 50, 1);
  map.Add(100, 10, 2);
  map.Add(120, 10, 3);
  EXPECT_EQ(map.Find(105)->object, 2u);
  EXPECT_EQ(map.Find(115)->object, 1u);
  EXPECT_EQ(map.Find(125)->object, 3u);
  EXPECT_EQ(map.Find(140)->object, 1u);
  EXPECT_EQ(map.Find(140)->offset_bytes, 40u);
  EXPECT_FALSE(map.Find(150).has_value());
  EXPECT_FALSE(map.Find(99).has_value());
  map.Remove(2);
  EXPECT_EQ(map.Find(105)->object, 1u);
  map.Add(~uint64_t{0}, 2, 4);
  EXPECT_FALSE(map.Find(~uint64_t{0}).has_value());
  map.Add(500, 5, 1);  // an object has one range
  EXPECT_FALSE(map.Find(140).has_value());
}

TEST(AddressMapTest, AllThatHaveAnAddressAreFoundTheNearestFirst) {
  AddressMap map;
  map.Add(0, 1000, 9);  // null is no address
  map.Add(100, 50, 1, /*created=*/11);
  map.Add(120, 10, 2, /*created=*/12);
  map.Add(140, 10, 3, /*created=*/13);
  const auto at = [&map](uint64_t address) {
    std::vector<std::pair<uint64_t, uint64_t>> found;
    map.ForEachAt(address,
                  [&](const auto& range) { found.emplace_back(range.object, range.created); });
    return found;
  };
  EXPECT_THAT(at(125), ::testing::ElementsAre(Pair(2, 12), Pair(1, 11)));
  EXPECT_THAT(at(135), ::testing::ElementsAre(Pair(1, 11)));
  EXPECT_TRUE(at(50).empty());
  map.Remove(2);
  EXPECT_THAT(at(125), ::testing::ElementsAre(Pair(1, 11)));
}

}  // namespace
}  // namespace cairn
