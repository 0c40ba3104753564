// SPDX-License-Identifier: Apache-2.0
#include "format/model/live_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "d3d12gen/chains.h"
#include "d3d12gen/methods.h"
#include "format/calls/call_builder.h"

namespace cairn {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr uint64_t kDevice = 1;
constexpr uint64_t kIncrement = 32;
struct Guid {
  uint8_t bytes[16];
};
constexpr Guid kIid{};
// Mirrors of structs of Direct3D 12.
struct ConstantBufferView {
  uint64_t address;
  uint32_t size_bytes;
  uint32_t padding;
};
struct TileCoordinate {
  uint32_t x, y, z, subresource;
};
struct TileSize {
  uint32_t tiles, use_box, width;
  uint16_t height, depth;
};

// Feeds the records of a program. Restored records are compared as "NUMBER kind" texts.
class LiveStateTest : public testing::Test {
 protected:
  LiveStateTest() {
    Put(RecordKind::kDevice, kDevice, {});
    Object(kDevice, kDevice, 0);
  }

  uint64_t Put(RecordKind kind, uint64_t object, std::vector<std::byte> body, uint16_t method = 0) {
    Record record;
    record.kind = kind;
    record.number = ++number_;
    record.object = object;
    record.method = method;
    record.body = body;
    state_.Keep(record);
    return number_;
  }
  template <typename... Arguments>
  uint64_t Call(Method method, uint64_t object, const Arguments&... arguments) {
    CallBuilder builder(number_ + 1);
    const CallBuilder::Body body = builder.Call(method, arguments...);
    EXPECT_TRUE(body.ok) << Describe(method).name;
    for (const CallBuilder::Blob& blob : body.blobs) Put(RecordKind::kBlob, 0, blob.body);
    return Put(RecordKind::kCall, object, body.bytes, static_cast<uint16_t>(method));
  }
  // The call returned an HRESULT and nothing else that counts here.
  void Return(Method method, uint64_t object, uint64_t call, int32_t code = 0) {
    std::vector<std::byte> body(sizeof(ResultBody) + sizeof(code));
    std::memcpy(body.data(), &call, sizeof(call));
    std::memcpy(body.data() + sizeof(ResultBody), &code, sizeof(code));
    Put(RecordKind::kResult, object, body, static_cast<uint16_t>(method));
  }
  template <typename... Arguments>
  uint64_t CallAndReturn(Method method, uint64_t object, const Arguments&... arguments) {
    const uint64_t call = Call(method, object, arguments...);
    Return(method, object, call);
    return call;
  }

  template <typename Facts>
  void Object(uint64_t object, uint64_t creator, const Facts& facts, FactsKind kind) {
    const ObjectBody body{kDevice, creator, 0, kind};
    std::vector<std::byte> bytes(sizeof(body) + sizeof(facts));
    std::memcpy(bytes.data(), &body, sizeof(body));
    std::memcpy(bytes.data() + sizeof(body), &facts, sizeof(facts));
    Put(RecordKind::kObject, object, bytes);
  }
  void Object(uint64_t object, uint64_t, uint64_t creator) { Object(object, creator, 0, kNoFacts); }
  void End(uint64_t object) { Put(RecordKind::kObjectEnd, object, {}); }

  void CreateFence(uint64_t object) {
    const uint64_t call = Call(Method::ID3D12Device_CreateFence, kDevice, 0, 0, kIid, nullptr);
    Object(object, kDevice, call);
    Return(Method::ID3D12Device_CreateFence, kDevice, call);
  }
  void CreateAllocator(uint64_t object) {
    const uint64_t call =
        Call(Method::ID3D12Device_CreateCommandAllocator, kDevice, 0, kIid, nullptr);
    Object(object, kDevice, call);
    Return(Method::ID3D12Device_CreateCommandAllocator, kDevice, call);
  }
  void CreateList(uint64_t object, uint64_t allocator) {
    const uint64_t call = Call(Method::ID3D12Device_CreateCommandList, kDevice, 0, 0,
                               ObjectPointer(allocator), nullptr, kIid, nullptr);
    Object(object, kDevice, call);
    Return(Method::ID3D12Device_CreateCommandList, kDevice, call);
  }
  void CreateDescriptorHeap(uint64_t object, uint64_t start, uint32_t count) {
    DescriptorHeapFacts facts{};
    facts.cpu_start = start;
    facts.count = count;
    facts.increment_bytes = kIncrement;
    Object(object, 0, facts, kDescriptorHeapFacts);
  }
  void CreateBuffer(uint64_t object, uint64_t address = 0, uint64_t size_bytes = 256) {
    ResourceFacts facts{};
    facts.gpu_address = address;
    facts.size_bytes = size_bytes;
    Object(object, 0, facts, kResourceFacts);
  }
  void CreateTarget(uint64_t resource, uint64_t handle) {
    Call(Method::ID3D12Device_CreateRenderTargetView, kDevice, ObjectPointer(resource), nullptr,
         handle);
  }
  void Clear(uint64_t list, uint64_t handle) {
    const float color[4] = {};
    Call(Method::ID3D12GraphicsCommandList_ClearRenderTargetView, list, handle, color, 0, nullptr);
  }
  void CreateView(uint64_t resource, uint64_t handle) {
    Call(Method::ID3D12Device_CreateShaderResourceView, kDevice, ObjectPointer(resource), nullptr,
         handle);
  }

  std::vector<std::string> Restored() {
    std::vector<std::string> restored;
    uint64_t before = 0;
    const Status status = state_.WriteTo(++number_, [&](const Record& record) {
      EXPECT_GT(record.number, before);
      EXPECT_LT(record.number, number_);
      EXPECT_EQ(record.flags, kRecordRestores);
      before = record.number;
      restored.push_back(Words(record));
      return Status();
    });
    EXPECT_TRUE(status.ok());
    // The device, which every test has.
    EXPECT_GE(restored.size(), 2u);
    restored.erase(restored.begin(), restored.begin() + 2);
    return restored;
  }
  static std::string Words(const Record& record) {
    switch (record.kind) {
      case RecordKind::kCall: {
        std::string name = Describe(static_cast<Method>(record.method)).name;
        name = name.substr(name.find("::") + 2);
        if (name == "CreateShaderResourceView" || name == "CreateRenderTargetView") {
          uint64_t handle = 0;
          std::memcpy(&handle, record.body.data() + record.body.size() - 8, 8);
          name += " " + std::to_string(handle);
        }
        return name;
      }
      case RecordKind::kResult: return "result";
      case RecordKind::kObject: return "object " + std::to_string(record.object);
      case RecordKind::kObjectEnd: return "end " + std::to_string(record.object);
      case RecordKind::kBlob: return "blob";
      default: return "kind " + std::to_string(static_cast<int>(record.kind));
    }
  }

  LiveState state_;
  uint64_t number_ = 0;
};

TEST_F(LiveStateTest, WhatLivesIsMadeAgainAndWhatEndedIsNot) {
  CreateFence(2);
  CreateFence(3);
  End(2);
  EXPECT_THAT(Restored(), ElementsAre("CreateFence", "object 3", "result"));
  EXPECT_EQ(state_.object_count(), 2u);
}

TEST_F(LiveStateTest, CallsThatLeaveNothingAreForgotten) {
  CreateFence(2);
  CallAndReturn(Method::ID3D12Fence_GetCompletedValue, 2);
  CallAndReturn(Method::ID3D12Device_GetNodeCount, kDevice);
  Put(RecordKind::kFrame, 0, std::vector<std::byte>(sizeof(FrameBody)));
  Put(RecordKind::kMemory, 2, std::vector<std::byte>(sizeof(MemoryBody)));
  EXPECT_THAT(Restored(), ElementsAre("CreateFence", "object 2", "result"));
}

TEST_F(LiveStateTest, WhatOthersWereMadeOfIsKeptWithItsEnd) {
  CreateAllocator(2);
  CreateList(3, 2);
  End(2);
  EXPECT_THAT(Restored(), ElementsAre("CreateCommandAllocator", "object 2", "result",
                                      "CreateCommandList", "object 3", "result", "end 2"));
}

TEST_F(LiveStateTest, NothingIsLeftOfAChainOfEndedObjects) {
  CreateAllocator(2);
  CreateList(3, 2);
  End(2);
  EXPECT_EQ(state_.object_count(), 3u);
  End(3);
  EXPECT_EQ(state_.object_count(), 1u);
  EXPECT_THAT(Restored(), IsEmpty());
}

TEST_F(LiveStateTest, TheLastNameCounts) {
  CreateFence(2);
  CallAndReturn(Method::ID3D12Object_SetName, 2, u"first");
  CallAndReturn(Method::ID3D12Object_SetName, 2, u"second");
  EXPECT_THAT(Restored(), ElementsAre("CreateFence", "object 2", "result", "SetName", "result"));
}

TEST_F(LiveStateTest, TheLastSlotOfShaderExtensionsCounts) {
  constexpr Method kSet = Method::ID3D12DeviceExt4_SetNvShaderExtnSlotSpace;
  CallAndReturn(kSet, kDevice, 63, 0, 0);
  CallAndReturn(kSet, kDevice, 62, 0, 0);
  EXPECT_THAT(Restored(), ElementsAre("SetNvShaderExtnSlotSpace", "result"));
}

TEST_F(LiveStateTest, ListsHoldWhatWasRecordedSinceTheirReset) {
  CreateAllocator(2);
  CreateList(3, 2);
  Call(Method::ID3D12GraphicsCommandList_Dispatch, 3, 1, 1, 1);
  CallAndReturn(Method::ID3D12GraphicsCommandList_Close, 3);
  CallAndReturn(Method::ID3D12GraphicsCommandList_Reset, 3, ObjectPointer(2), nullptr);
  Call(Method::ID3D12GraphicsCommandList_DrawInstanced, 3, 3, 1, 0, 0);
  // The first Close stays: the allocator was free for others since.
  EXPECT_THAT(Restored(), ElementsAre("CreateCommandAllocator", "object 2", "result",
                                      "CreateCommandList", "object 3", "result", "Close", "result",
                                      "Reset", "result", "DrawInstanced"));
}

TEST_F(LiveStateTest, AnOpenListThatRefersToWhatIsGoneIsRestoredEmpty) {
  CreateAllocator(2);
  CreateList(3, 2);
  CreateBuffer(4, 0x10000);
  Call(Method::ID3D12GraphicsCommandList_SetGraphicsRootConstantBufferView, 3, 0,
       uint64_t{0x10080});
  EXPECT_EQ(Restored().back(), "SetGraphicsRootConstantBufferView");
  End(4);
  EXPECT_EQ(Restored().back(), "result") << "of CreateCommandList";
}

// ---- What lists read while they are recorded

TEST_F(LiveStateTest, AListKeepsTheTargetsThatItReadThoughTheirDescriptorIsWrittenAgain) {
  CreateAllocator(2);
  CreateList(3, 2);
  CreateBuffer(4);
  CreateBuffer(5);
  CreateDescriptorHeap(6, 1000, 4);
  CreateTarget(4, 1000);
  Clear(3, 1000);
  CreateTarget(5, 1000);
  Clear(3, 1000);
  CreateTarget(4, 1000);  // nobody reads this one
  CreateTarget(5, 1000);
  EXPECT_THAT(Restored(), ElementsAre("CreateCommandAllocator", "object 2", "result",
                                      "CreateCommandList", "object 3", "result", "object 4",
                                      "object 5", "object 6", "CreateRenderTargetView 1000",
                                      "ClearRenderTargetView", "CreateRenderTargetView 1000",
                                      "ClearRenderTargetView", "CreateRenderTargetView 1000"));
}

TEST_F(LiveStateTest, AHeapThatIsGoneIsKeptForTheListThatReadIt) {
  CreateAllocator(2);
  CreateList(3, 2);
  CreateBuffer(4);
  CreateDescriptorHeap(5, 1000, 4);
  CreateTarget(4, 1000);
  Clear(3, 1000);
  End(5);
  CreateDescriptorHeap(6, 1000, 4);  // in the same place
  EXPECT_THAT(Restored(), ElementsAre("CreateCommandAllocator", "object 2", "result",
                                      "CreateCommandList", "object 3", "result", "object 4",
                                      "object 5", "CreateRenderTargetView 1000",
                                      "ClearRenderTargetView", "end 5", "object 6"));
  CallAndReturn(Method::ID3D12GraphicsCommandList_Close, 3);
  CallAndReturn(Method::ID3D12GraphicsCommandList_Reset, 3, ObjectPointer(2), nullptr);
  EXPECT_THAT(Restored(), ElementsAre("CreateCommandAllocator", "object 2", "result",
                                      "CreateCommandList", "object 3", "result", "object 4",
                                      "object 6", "Close", "result", "Reset", "result"));
}

TEST_F(LiveStateTest, OneHandleStandsForARangeOfTargets) {
  CreateAllocator(2);
  CreateList(3, 2);
  CreateBuffer(4);
  CreateDescriptorHeap(5, 1000, 4);
  for (uint64_t i = 0; i < 4; ++i) CreateTarget(4, 1000 + i * kIncrement);
  const uint64_t first = 1000;
  Call(Method::ID3D12GraphicsCommandList_OMSetRenderTargets, 3, 3, &first, 1, nullptr);
  for (uint64_t i = 0; i < 4; ++i) CreateTarget(kNoObject, 1000 + i * kIncrement);
  EXPECT_THAT(Restored(),
              ElementsAre("CreateCommandAllocator", "object 2", "result", "CreateCommandList",
                          "object 3", "result", "object 4", "object 5",
                          "CreateRenderTargetView 1000", "CreateRenderTargetView 1032",
                          "CreateRenderTargetView 1064", "OMSetRenderTargets",
                          "CreateRenderTargetView 1000", "CreateRenderTargetView 1032",
                          "CreateRenderTargetView 1064", "CreateRenderTargetView 1096"));
}

TEST_F(LiveStateTest, CopiesThatAListReadStandThereBeforeItDid) {
  CreateAllocator(2);
  CreateList(3, 2);
  CreateBuffer(4);
  CreateDescriptorHeap(5, 1000, 4);
  CreateDescriptorHeap(6, 5000, 4);
  for (uint64_t i = 0; i < 3; ++i) CreateTarget(4, 1000 + i * kIncrement);
  Call(Method::ID3D12Device_CopyDescriptorsSimple, kDevice, 3, uint64_t{5000}, uint64_t{1000}, 2);
  const uint64_t first = 5000;
  Call(Method::ID3D12GraphicsCommandList_OMSetRenderTargets, 3, 3, &first, 1, nullptr);
  for (uint64_t i = 0; i < 3; ++i) CreateTarget(kNoObject, 5000 + i * kIncrement);
  End(5);
  EXPECT_THAT(
      Restored(),
      ElementsAre("CreateCommandAllocator", "object 2", "result", "CreateCommandList", "object 3",
                  "result", "object 4", "object 6", "CreateRenderTargetView 5064",
                  "CreateRenderTargetView 5032", "CreateRenderTargetView 5000",
                  "OMSetRenderTargets", "CreateRenderTargetView 5000",
                  "CreateRenderTargetView 5032", "CreateRenderTargetView 5064"));
  EXPECT_EQ(state_.left_out(), 0u);
}

TEST_F(LiveStateTest, AListKeepsTheBundleThatItExecutedThoughThatIsRecordedAnew) {
  CreateAllocator(2);
  CreateAllocator(3);
  CreateList(4, 2);
  CreateList(5, 3);  // the bundle
  Call(Method::ID3D12GraphicsCommandList_DrawInstanced, 5, 3, 1, 0, 0);
  CallAndReturn(Method::ID3D12GraphicsCommandList_Close, 5);
  Call(Method::ID3D12GraphicsCommandList_ExecuteBundle, 4, ObjectPointer(5));
  CallAndReturn(Method::ID3D12GraphicsCommandList_Reset, 5, ObjectPointer(3), nullptr);
  Call(Method::ID3D12GraphicsCommandList_Dispatch, 5, 1, 1, 1);
  const std::vector<std::string> restored = Restored();
  EXPECT_THAT(std::vector(restored.end() - 7, restored.end()),
              ElementsAre("DrawInstanced", "Close", "result", "ExecuteBundle", "Reset", "result",
                          "Dispatch"));
}

TEST_F(LiveStateTest, AListThatReadAViewOfWhatIsGoneIsRestoredEmpty) {
  CreateAllocator(2);
  CreateList(3, 2);
  CreateBuffer(4);
  CreateDescriptorHeap(5, 1000, 4);
  CreateTarget(4, 1000);
  Clear(3, 1000);
  EXPECT_EQ(Restored().back(), "ClearRenderTargetView");
  End(4);
  EXPECT_EQ(Restored().back(), "object 5");
}

TEST_F(LiveStateTest, TheLastSignalOfAFence) {
  Object(2, kDevice, 0);  // a queue
  CreateFence(3);
  CallAndReturn(Method::ID3D12CommandQueue_Signal, 2, ObjectPointer(3), 1);
  CallAndReturn(Method::ID3D12CommandQueue_Signal, 2, ObjectPointer(3), 2);
  End(2);  // but its signal is needed
  EXPECT_THAT(Restored(), ElementsAre("object 2", "CreateFence", "object 3", "result", "Signal",
                                      "result", "end 2"));
}

// No replay makes it: it must not take the place of a signal that is made.
TEST_F(LiveStateTest, ASignalOfASharedFenceKeepsTheOneBeforeIt) {
  Object(2, kDevice, 0);  // a queue
  CreateFence(3);
  CallAndReturn(Method::ID3D12CommandQueue_Signal, 2, ObjectPointer(3), 1);
  CallAndReturn(Method::ID3D12SharingContract_SharedFenceSignal, 2, ObjectPointer(3), 2);
  EXPECT_THAT(Restored(),
              ElementsAre("object 2", "CreateFence", "object 3", "result", "Signal", "result"));
}

TEST_F(LiveStateTest, MapsLastUntilTheirUnmap) {
  CreateBuffer(2);
  CallAndReturn(Method::ID3D12Resource_Map, 2, 0, nullptr, nullptr);
  CallAndReturn(Method::ID3D12Resource_Map, 2, 0, nullptr, nullptr);
  Call(Method::ID3D12Resource_Unmap, 2, 0, nullptr);
  EXPECT_THAT(Restored(), ElementsAre("object 2", "Map", "result"));
  Call(Method::ID3D12Resource_Unmap, 2, 0, nullptr);
  EXPECT_THAT(Restored(), ElementsAre("object 2"));
}

TEST_F(LiveStateTest, AMapThatFailedLeavesNothing) {
  CreateBuffer(2);
  const uint64_t call = Call(Method::ID3D12Resource_Map, 2, 0, nullptr, nullptr);
  Return(Method::ID3D12Resource_Map, 2, call, -1);
  EXPECT_THAT(Restored(), ElementsAre("object 2"));
}

TEST_F(LiveStateTest, TheLastViewInADescriptor) {
  CreateBuffer(2);
  CreateDescriptorHeap(3, 1000, 4);
  CreateView(2, 1000);
  CreateView(2, 1032);
  CreateView(2, 1000);
  EXPECT_THAT(Restored(), ElementsAre("object 2", "object 3", "CreateShaderResourceView 1032",
                                      "CreateShaderResourceView 1000"));
}

TEST_F(LiveStateTest, ViewsOfWhatIsGoneAndInHeapsThatAreGone) {
  CreateBuffer(2);
  CreateBuffer(3);
  CreateDescriptorHeap(4, 1000, 4);
  CreateDescriptorHeap(5, 5000, 4);
  CreateView(2, 1000);
  CreateView(3, 1032);
  CreateView(3, 5000);
  CreateView(3, 9000);  // in no heap
  End(2);
  End(5);
  EXPECT_THAT(Restored(), ElementsAre("object 3", "object 4", "CreateShaderResourceView 1032"));
}

TEST_F(LiveStateTest, AnAddressThatIsUsedAgainIsThatOfAnotherBuffer) {
  CreateBuffer(2, 0x10000);
  CreateDescriptorHeap(3, 1000, 4);
  const ConstantBufferView view{0x10000, 256, 0};
  Call(Method::ID3D12Device_CreateConstantBufferView, kDevice, &view, uint64_t{1000});
  End(2);
  CreateBuffer(4, 0x10000);
  EXPECT_THAT(Restored(), ElementsAre("object 3", "object 4"));
  Call(Method::ID3D12Device_CreateConstantBufferView, kDevice, &view, uint64_t{1032});
  EXPECT_THAT(Restored(), ElementsAre("object 3", "object 4", "CreateConstantBufferView"));
}

TEST_F(LiveStateTest, BuffersThatShareAHeapOverlap) {
  CreateAllocator(2);
  CreateList(3, 2);
  CreateBuffer(4, 0x10000, 0x10000);
  CreateBuffer(5, 0x10000, 0x100);
  CreateBuffer(6, 0x11000, 0x100);
  // In the large one alone.
  Call(Method::ID3D12GraphicsCommandList_SetGraphicsRootConstantBufferView, 3, 0,
       uint64_t{0x18000});
  End(5);
  EXPECT_EQ(Restored().back(), "SetGraphicsRootConstantBufferView");
}

TEST_F(LiveStateTest, NamesInPrivateDataAreKeptAndOtherDataIsNot) {
  const Guid wide = {{0xd8, 0x5f, 0xca, 0x4c, 0x1f, 0x92, 0xc8, 0x42, 0x85, 0x66, 0x70, 0xca, 0xf2,
                      0xa9, 0xb7, 0x41}};
  CreateFence(2);
  CallAndReturn(Method::ID3D12Object_SetPrivateData, 2, wide, 4, u"x");
  CallAndReturn(Method::ID3D12Object_SetPrivateData, 2, wide, 4, u"y");
  CallAndReturn(Method::ID3D12Object_SetPrivateData, 2, kIid, 4, u"z");
  EXPECT_THAT(Restored(),
              ElementsAre("CreateFence", "object 2", "result", "SetPrivateData", "result"));
}

TEST_F(LiveStateTest, WhoMapsForEverCostsNoMemoryForIt) {
  CreateBuffer(2);
  for (int i = 0; i < 100; ++i) CallAndReturn(Method::ID3D12Resource_Map, 2, 0, nullptr, nullptr);
  EXPECT_EQ(Restored().size(), 1u + 2 * 16u);
  for (int i = 0; i < 100; ++i) Call(Method::ID3D12Resource_Unmap, 2, 0, nullptr);
  EXPECT_THAT(Restored(), ElementsAre("object 2"));
}

TEST_F(LiveStateTest, TilesThatAreMappedAgainReplaceTheirMapping) {
  Object(2, kDevice, 0);  // a queue
  CreateBuffer(3);
  const auto map = [this](uint32_t first) {
    const TileCoordinate at{first, 0, 0, 0};
    const TileSize size{4, 0, 0, 0, 0};
    Call(Method::ID3D12CommandQueue_UpdateTileMappings, 2, ObjectPointer(3), 1, &at, &size, nullptr,
         0, nullptr, nullptr, nullptr, 0);
  };
  map(0);
  map(4);
  for (int i = 0; i < 10; ++i) map(0);
  EXPECT_THAT(Restored(),
              ElementsAre("object 2", "object 3", "UpdateTileMappings", "UpdateTileMappings"));
}

TEST_F(LiveStateTest, CopiesAreResolved) {
  CreateBuffer(2);
  CreateDescriptorHeap(3, 1000, 4);
  CreateDescriptorHeap(4, 5000, 4);
  CreateView(2, 1000);
  Call(Method::ID3D12Device_CopyDescriptorsSimple, kDevice, 1, uint64_t{5064}, uint64_t{1000}, 0);
  End(3);
  EXPECT_THAT(Restored(), ElementsAre("object 2", "object 4", "CreateShaderResourceView 5064"));
}

TEST_F(LiveStateTest, ACopyOfManyDescriptors) {
  CreateBuffer(2);
  CreateDescriptorHeap(3, 1000, 8);
  CreateDescriptorHeap(4, 5000, 8);
  for (uint64_t i = 0; i < 4; ++i) CreateView(2, 1000 + i * kIncrement);
  const uint64_t to[] = {5000, 5128};
  const uint32_t to_sizes[] = {3, 1};
  const uint64_t from[] = {1000, 1032, 1064, 1096};
  Call(Method::ID3D12Device_CopyDescriptors, kDevice, 2, to, to_sizes, 4, from, nullptr, 0);
  // The sources are overwritten; three of the copies need numbers of calls that were thrown away.
  for (uint64_t i = 0; i < 4; ++i) CreateView(2, 1000 + i * kIncrement);
  const std::vector<std::string> restored = Restored();
  for (const int handle : {5000, 5032, 5064, 5128, 1000, 1032, 1064, 1096}) {
    EXPECT_THAT(restored, testing::Contains("CreateShaderResourceView " + std::to_string(handle)));
  }
  EXPECT_EQ(restored.size(), 3u + 8u);
  EXPECT_EQ(state_.left_out(), 0u);
}

TEST_F(LiveStateTest, ACopyOfAnEmptyDescriptorEmptiesTheOther) {
  CreateBuffer(2);
  CreateDescriptorHeap(3, 1000, 4);
  CreateView(2, 1000);
  Call(Method::ID3D12Device_CopyDescriptorsSimple, kDevice, 1, uint64_t{1000}, uint64_t{1032}, 0);
  EXPECT_THAT(Restored(), ElementsAre("object 2", "object 3"));
}

TEST_F(LiveStateTest, CallsThatHaveNotReturned) {
  Call(Method::ID3D12Device_CreateFence, kDevice, 0, 0, kIid, nullptr);
  EXPECT_THAT(Restored(), ElementsAre("CreateFence"));
}

TEST_F(LiveStateTest, BlobsStayWithTheirCall) {
  const std::vector<std::byte> code(10'000, std::byte{1});
  const uint64_t call = Call(Method::ID3D12Device_CreateRootSignature, kDevice, 0, code.data(),
                             code.size(), kIid, nullptr);
  Object(2, kDevice, call);
  Return(Method::ID3D12Device_CreateRootSignature, kDevice, call);
  EXPECT_THAT(Restored(), ElementsAre("blob", "CreateRootSignature", "object 2", "result"));
}

TEST_F(LiveStateTest, BodiesThatLieAreLeftOut) {
  Put(RecordKind::kObject, 7, std::vector<std::byte>(3));
  Put(RecordKind::kResult, 7, {});
  Put(RecordKind::kCall, 7, std::vector<std::byte>(3), 0xFFFF);
  Put(RecordKind::kCall, kDevice, std::vector<std::byte>(3),
      static_cast<uint16_t>(Method::ID3D12Device_CopyDescriptors));
  DescriptorHeapFacts facts{};
  facts.cpu_start = ~uint64_t{0} - 5;
  facts.count = 1000;
  facts.increment_bytes = 0xFFFFFFFF;
  Object(8, 0, facts, kDescriptorHeapFacts);
  End(8);
  End(9);
  EXPECT_THAT(Restored(), IsEmpty());
}

}  // namespace
}  // namespace cairn
