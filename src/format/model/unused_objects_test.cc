// SPDX-License-Identifier: Apache-2.0
#include "format/model/unused_objects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "format/calls/call_builder.h"
#include "format/calls/import_facts.h"
#include "format/trace/testing/test_trace.h"

namespace cairn {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

struct Guid {
  uint8_t bytes[16];
};
constexpr Guid kIid{};
// D3D12_SHADER_RESOURCE_VIEW_DESC of an acceleration structure.
struct SceneView {
  uint32_t format = 0, dimension = 11, mapping = 0, padding = 0;
  uint64_t scene;
  uint64_t end[2] = {};
};
constexpr uint64_t kDevice = 1;
constexpr uint64_t kQueue = 2;
constexpr uint64_t kList = 3;

// A trace that starts late: a device, a queue and a list, and what a test adds.
class UnusedObjectsTest : public testing::Test {
 protected:
  UnusedObjectsTest() {
    PutObject(kDevice, Chain::kNone, 0);
    PutObject(kQueue, Chain::kID3D12CommandQueue, 0);
    PutObject(kList, Chain::kID3D12GraphicsCommandList, 0);
  }

  uint64_t Put(RecordKind kind, uint64_t object, std::span<const std::byte> body,
               uint16_t method = 0) {
    return trace_.Add(kind, object, body, method, started_ ? 0 : kRecordRestores);
  }
  void PutObject(uint64_t object, Chain chain, uint64_t creator, FactsKind kind = kNoFacts,
                 std::span<const std::byte> facts = {}) {
    const ObjectBody body{kDevice, creator, static_cast<uint32_t>(chain), kind};
    Put(RecordKind::kObject, object, BodyBytes(body, facts));
  }

  template <typename... Arguments>
  uint64_t Call(Method method, uint64_t object, const Arguments&... arguments) {
    CallBuilder builder;
    const CallBuilder::Body body = builder.Call(method, arguments...);
    EXPECT_TRUE(body.ok) << Describe(method).name;
    return Put(RecordKind::kCall, object, body.bytes, static_cast<uint16_t>(method));
  }
  uint64_t CallThatCreates() {
    return Call(Method::ID3D12Device_CreateFence, kDevice, 0, 0, kIid, nullptr);
  }
  void CreateFence(uint64_t object) {
    const uint64_t call = CallThatCreates();
    PutObject(object, Chain::kID3D12Fence, call);
    Put(RecordKind::kResult, kDevice, BodyBytes(ResultBody{call}),
        static_cast<uint16_t>(Method::ID3D12Device_CreateFence));
  }
  void CreateBuffer(uint64_t object, uint64_t address, uint64_t size_bytes = 256) {
    ResourceFacts facts{};
    facts.gpu_address = address;
    facts.size_bytes = size_bytes;
    PutObject(object, Chain::kID3D12Resource, CallThatCreates(), kResourceFacts, BodyBytes(facts));
  }
  void CreateHeap(uint64_t object, uint64_t start) {
    DescriptorHeapFacts facts{};
    facts.cpu_start = start;
    facts.gpu_start = start + 0x10000;
    facts.count = 4;
    facts.increment_bytes = 32;
    PutObject(object, Chain::kID3D12DescriptorHeap, CallThatCreates(), kDescriptorHeapFacts,
              BodyBytes(facts));
  }
  void StartRecording() {
    started_ = true;
    Put(RecordKind::kStart, 0, {});
  }

  // The objects that are left.
  std::set<uint64_t> Left() {
    TraceReader trace = trace_.Open();
    return LeftOf(trace, UnusedObjects::Find(&trace));
  }
  std::set<uint64_t> LeftOf(TraceReader& trace, Result<UnusedObjects> unused) {
    EXPECT_TRUE(unused.ok());
    std::set<uint64_t> objects;
    std::set<uint64_t> calls;
    TraceCursor cursor(trace);
    Record record;
    while (cursor.Next(&record)) {
      if (!unused->Keep(&record, 0)) continue;
      if (record.kind == RecordKind::kObject) objects.insert(record.object);
      if (record.kind == RecordKind::kCall) calls.insert(record.number);
      if (record.kind == RecordKind::kResult) {
        ResultBody body;
        std::memcpy(&body, record.body.data(), sizeof(body));
        EXPECT_TRUE(calls.contains(body.call)) << "a result without its call";
      }
    }
    calls_left_ = calls.size();
    objects.erase(kDevice);
    objects.erase(kQueue);
    objects.erase(kList);
    return objects;
  }

  TestTrace trace_;
  bool started_ = false;
  size_t calls_left_ = 0;
};

// SetProgram names no object: what gave an identifier may be meant by one.
TEST_F(UnusedObjectsTest, StateObjectsWhoseProgramsWereAskedForStay) {
  PutObject(10, Chain::kID3D12StateObject, CallThatCreates());
  PutObject(11, Chain::kID3D12StateObject, CallThatCreates());
  Call(Method::ID3D12StateObjectProperties1_GetProgramIdentifier, 10, u"Culling");
  StartRecording();
  EXPECT_THAT(Left(), ElementsAre(10));
}

// The playback opens it from that one.
TEST_F(UnusedObjectsTest, OriginalsOfOpenedObjectsStay) {
  CreateFence(10);
  CreateFence(11);
  ImportFacts import{};
  import.source = static_cast<uint32_t>(ImportSource::kHandle);
  import.original = 10;
  PutObject(12, Chain::kID3D12Fence, CallThatCreates(), static_cast<FactsKind>(kImportFacts),
            BodyBytes(import));
  StartRecording();
  Call(Method::ID3D12CommandQueue_Signal, kQueue, ObjectPointer(12), 1);
  EXPECT_THAT(Left(), ElementsAre(10, 12));
}

TEST_F(UnusedObjectsTest, WhatNothingRefersToGoesWithItsCalls) {
  CreateFence(10);
  CreateFence(11);
  Call(Method::ID3D12Object_SetName, 10, u"of no use");
  StartRecording();
  Call(Method::ID3D12CommandQueue_Signal, kQueue, ObjectPointer(11), 1);
  EXPECT_THAT(Left(), ElementsAre(11));
  EXPECT_EQ(calls_left_, 2u);
}

TEST_F(UnusedObjectsTest, AddressesAndDescriptorsAreReferences) {
  CreateBuffer(10, 0x1000);
  CreateBuffer(11, 0x2000);
  CreateBuffer(12, 0x3000);
  CreateBuffer(13, 0x4000);
  CreateHeap(20, 0x50000);
  CreateHeap(21, 0x90000);
  Call(Method::ID3D12Device_CreateShaderResourceView, kDevice, ObjectPointer(12), nullptr,
       uint64_t{0x50020});
  Call(Method::ID3D12Device_CreateShaderResourceView, kDevice, ObjectPointer(13), nullptr,
       uint64_t{0x90000});
  StartRecording();
  Call(Method::ID3D12GraphicsCommandList_SetGraphicsRootConstantBufferView, kList, 0,
       uint64_t{0x10FF});
  Call(Method::ID3D12GraphicsCommandList_SetGraphicsRootDescriptorTable, kList, 0,
       uint64_t{0x60000});
  EXPECT_THAT(Left(), UnorderedElementsAre(10, 12, 20));
}

TEST_F(UnusedObjectsTest, BuffersStayWhereTheGpuReadsAddresses) {
  CreateBuffer(10, 0x1000);
  CreateFence(11);
  PutObject(12, Chain::kID3D12CommandSignature, CallThatCreates());
  StartRecording();
  Call(Method::ID3D12GraphicsCommandList_ExecuteIndirect, kList, ObjectPointer(12), 1, nullptr, 0,
       nullptr, 0);
  EXPECT_THAT(Left(), UnorderedElementsAre(10, 12));
}

class ViewOfASceneTest : public UnusedObjectsTest, public testing::WithParamInterface<Method> {};
INSTANTIATE_TEST_SUITE_P(Methods, ViewOfASceneTest,
                         testing::Values(Method::ID3D12Device_CreateShaderResourceView,
                                         Method::ID3D12Device15_TryCreateShaderResourceView));

TEST_P(ViewOfASceneTest, BuffersStayWhereAShaderFollowsRays) {
  CreateBuffer(10, 0x1000);
  CreateBuffer(11, 0x2000);
  CreateHeap(20, 0x50000);
  const SceneView view{.scene = 0x2000};
  Call(GetParam(), kDevice, nullptr, &view, uint64_t{0x50000});
  StartRecording();
  Call(Method::ID3D12GraphicsCommandList_SetComputeRootDescriptorTable, kList, 0,
       uint64_t{0x60000});
  EXPECT_THAT(Left(), UnorderedElementsAre(10, 11, 20));
}

TEST_F(UnusedObjectsTest, ARecordingFromTheBeginningRestoresNothing) {
  started_ = true;
  CreateFence(10);
  Call(Method::ID3D12Object_SetName, 10, u"of no use");
  EXPECT_THAT(Left(), ElementsAre(10));
  EXPECT_EQ(calls_left_, 2u);
}

TEST_F(UnusedObjectsTest, AllBuffersThatShareAnAddressStay) {
  CreateBuffer(10, 0x1000, 0x4000);
  CreateBuffer(11, 0x1000, 0x100);
  CreateBuffer(12, 0x2000, 0x100);
  StartRecording();
  Call(Method::ID3D12GraphicsCommandList_SetGraphicsRootConstantBufferView, kList, 0,
       uint64_t{0x2080});
  EXPECT_THAT(Left(), UnorderedElementsAre(10, 12));
}

TEST_F(UnusedObjectsTest, ObjectsOfTheRecordingStay) {
  StartRecording();
  CreateFence(10);
  EXPECT_THAT(Left(), ElementsAre(10));
}

// A recording from the beginning, of which a filter leaves some calls.
class UnusedInAllTest : public UnusedObjectsTest {
 protected:
  UnusedInAllTest() { started_ = true; }

  class Without final : public RecordFilter {
   public:
    explicit Without(uint64_t number) : number_(number) {}
    bool Keep(Record* record, uint64_t) override { return record->number != number_; }

   private:
    const uint64_t number_;
  };
  std::set<uint64_t> LeftWithout(uint64_t number) {
    Without filter(number);
    TraceReader trace = trace_.Open();
    return LeftOf(trace, UnusedObjects::FindInAll(&trace, &filter));
  }
};

TEST_F(UnusedInAllTest, WhatIsDoneWithAnObjectAloneDoesNotNeedIt) {
  CreateBuffer(10, 0x1000);
  CreateBuffer(11, 0x2000);
  CreateFence(12);
  for (const uint64_t buffer : {10, 11}) {
    Call(Method::ID3D12Object_SetName, buffer, u"a buffer");
    Call(Method::ID3D12Resource_Map, buffer, 0, nullptr, nullptr);
    Call(Method::ID3D12Resource_GetGPUVirtualAddress, buffer);
  }
  Call(Method::ID3D12GraphicsCommandList_SetComputeRootConstantBufferView, kList, 0,
       uint64_t{0x1010});
  EXPECT_THAT(LeftWithout(0), UnorderedElementsAre(10, 12));
  // Two creations, three calls of the buffer, the one of the list.
  EXPECT_EQ(calls_left_, 6u);
}

TEST_F(UnusedInAllTest, OnlyWhatIsLeftNeedsSomething) {
  CreateBuffer(10, 0x1000);
  const uint64_t call = Call(Method::ID3D12GraphicsCommandList_SetComputeRootConstantBufferView,
                             kList, 0, uint64_t{0x1010});
  EXPECT_THAT(LeftWithout(0), ElementsAre(10));
  EXPECT_THAT(LeftWithout(call), testing::IsEmpty());
}

TEST_F(UnusedInAllTest, ListsThatAreNotExecutedGoWithTheirAllocators) {
  for (const uint64_t allocator : {20, 22}) {
    PutObject(allocator, Chain::kID3D12CommandAllocator, CallThatCreates());
    PutObject(allocator + 1, Chain::kID3D12GraphicsCommandList, CallThatCreates());
    Call(Method::ID3D12GraphicsCommandList_Reset, allocator + 1, ObjectPointer(allocator), nullptr);
    Call(Method::ID3D12GraphicsCommandList_Close, allocator + 1);
    Call(Method::ID3D12CommandAllocator_Reset, allocator);
  }
  void* const lists[] = {ObjectPointer(23)};
  Call(Method::ID3D12CommandQueue_ExecuteCommandLists, kQueue, 1, lists);
  EXPECT_THAT(LeftWithout(0), UnorderedElementsAre(22, 23));
}

TEST_F(UnusedInAllTest, DescriptorsMayComeFromOtherHeaps) {
  CreateBuffer(10, 0x1000);
  CreateBuffer(11, 0x2000);
  CreateHeap(20, 0x50000);
  CreateHeap(21, 0x90000);
  CreateHeap(22, 0xD0000);
  Call(Method::ID3D12Device_CreateShaderResourceView, kDevice, ObjectPointer(10), nullptr,
       uint64_t{0x50000});
  Call(Method::ID3D12Device_CreateShaderResourceView, kDevice, ObjectPointer(11), nullptr,
       uint64_t{0xD0000});
  Call(Method::ID3D12Device_CopyDescriptorsSimple, kDevice, 1, uint64_t{0x90000}, uint64_t{0x50000},
       0);
  void* const heaps[] = {ObjectPointer(21)};
  Call(Method::ID3D12GraphicsCommandList_SetDescriptorHeaps, kList, 1, heaps);
  EXPECT_THAT(LeftWithout(0), UnorderedElementsAre(10, 20, 21));
}

}  // namespace
}  // namespace cairn
