// SPDX-License-Identifier: Apache-2.0
//
// Checks of a trace on a device that wants other sizes than that of the recording.
#include "reader/replay/device_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "d3d12abi/buffer_desc.h"
#include "d3d12abi/testing/fake_device.h"
#include "reader/replay/testing/test_script.h"

namespace cairn {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr uint64_t kBlock = 65536;

class DeviceCheckTest : public testing::Test {
 protected:
  void TearDown() override { SetFakeSizes(0, kBlock); }

  uint64_t CreateHeap(uint64_t size_bytes) {
    D3D12_HEAP_DESC desc = {};
    desc.SizeInBytes = size_bytes;
    desc.Properties.Type = D3D12_HEAP_TYPE_DEFAULT;
    return script_.Create(Method::ID3D12Device_CreateHeap, Chain::kID3D12Heap, &desc,
                          __uuidof(ID3D12Heap));
  }
  uint64_t Place(uint64_t heap, uint64_t offset, uint64_t size_bytes) {
    const D3D12_RESOURCE_DESC desc = BufferDesc(size_bytes);
    return script_.Create(Method::ID3D12Device_CreatePlacedResource, Chain::kID3D12Resource,
                          ObjectPointer(heap), offset, &desc, D3D12_RESOURCE_STATE_COMMON, nullptr,
                          __uuidof(ID3D12Resource));
  }
  // The program asks how much memory a buffer needs, and is told this.
  uint64_t AskAllocation(uint64_t size_bytes, D3D12_RESOURCE_ALLOCATION_INFO told) {
    const D3D12_RESOURCE_DESC desc = BufferDesc(size_bytes);
    const Method method = Method::ID3D12Device_GetResourceAllocationInfo;
    const uint64_t call = script_.Call(method, script_.device, 0u, 1u, &desc);
    script_.Return(method, call, told, 0u, 1u, &desc);
    return call;
  }
  uint64_t AskStructure(UINT instances, uint64_t told_bytes) {
    D3D12_BUILD_RAYTRACING_ACCELERATION_STRUCTURE_INPUTS inputs = {};
    inputs.Type = D3D12_RAYTRACING_ACCELERATION_STRUCTURE_TYPE_TOP_LEVEL;
    inputs.NumDescs = instances;
    return AskStructure(inputs, told_bytes);
  }
  uint64_t AskStructure(const D3D12_BUILD_RAYTRACING_ACCELERATION_STRUCTURE_INPUTS& inputs,
                        uint64_t told_bytes) {
    D3D12_RAYTRACING_ACCELERATION_STRUCTURE_PREBUILD_INFO info = {};
    const Method method = Method::ID3D12Device5_GetRaytracingAccelerationStructurePrebuildInfo;
    const uint64_t call = script_.Call(method, script_.device, &inputs, &info);
    info.ResultDataMaxSizeInBytes = told_bytes;
    script_.Return(method, call, nullptr, &inputs, &info);
    return call;
  }
  // "prevents: text", of each difference.
  std::vector<std::string> Check(bool newer = false) {
    EXPECT_TRUE(script_.ok);
    TraceReader trace = script_.trace.Open();
    PlayerOptions options;
    options.check_only = true;
    options.list_adapters = adapters_;
    if (adapters_) options.adapter = "0";
    options.create_device = [newer](uint32_t) -> void* {
      return newer ? CreateNewerFakeDevice() : CreateFakeDevice();
    };
    Result<std::unique_ptr<Player>> player = Player::Create(&trace, std::move(options));
    EXPECT_TRUE(player.ok());
    const Status status = (*player)->Run();
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_EQ((*player)->result().calls, 0u);
    std::vector<std::string> lines;
    for (const DeviceDifference& one : (*player)->result().differences) {
      lines.push_back((one.prevents ? "prevents: " : "differs: ") + one.text);
    }
    return lines;
  }

  TestScript script_{"Recorded"};
  std::function<std::vector<Adapter>()> adapters_;  // null: unknown
};

TEST_F(DeviceCheckTest, NothingDiffersOnTheSameDevice) {
  AskAllocation(kBlock, {kBlock, kBlock});
  const uint64_t heap = CreateHeap(2 * kBlock);
  Place(heap, 0, kBlock);
  Place(heap, kBlock, kBlock);
  EXPECT_THAT(Check(), IsEmpty());
}

TEST_F(DeviceCheckTest, ResourcesThatNeedMoreAreNamed) {
  AskAllocation(kBlock, {kBlock, kBlock});
  const uint64_t heap = CreateHeap(2 * kBlock);
  const uint64_t first = Place(heap, 0, kBlock);
  const uint64_t second = Place(heap, kBlock, kBlock);
  SetFakeSizes(4096, kBlock);
  EXPECT_THAT(
      Check(),
      ElementsAre(
          "differs: a resource of 65,536 bytes, alignment 65,536, when it was recorded needs "
          "69,632 bytes, alignment 65,536, here",
          "prevents: resource " + std::to_string(second) + " at offset 65,536 of heap " +
              std::to_string(heap) + " needs 69,632 bytes here, and the heap has 131,072",
          "prevents: resource " + std::to_string(second) + " at offset 65,536 of heap " +
              std::to_string(heap) + " needs 69,632 bytes here, and overlaps resource " +
              std::to_string(first) + ", which it did not when it was recorded"));
}

// A playback gives them memory of its own.
TEST_F(DeviceCheckTest, WhatNeedsMorePreventsNothingOnAnotherDevice) {
  AskAllocation(kBlock, {kBlock, kBlock});
  const uint64_t heap = CreateHeap(2 * kBlock);
  Place(heap, 0, kBlock);
  Place(heap, kBlock, kBlock);
  AskStructure(4, 1024);
  SetFakeSizes(4096, kBlock);
  adapters_ = [] { return std::vector<Adapter>{{"Another", 1, 0x1234, 0x5679}}; };
  const std::vector<std::string> lines = Check(/*newer=*/true);
  EXPECT_EQ(lines.size(), 4u);
  EXPECT_THAT(lines, testing::Each(testing::StartsWith("differs: ")));
  adapters_ = [] { return std::vector<Adapter>{{"Recorded", 1, 0x1234, 0x5678}}; };
  const std::vector<std::string> same = Check(/*newer=*/true);
  EXPECT_EQ(std::count_if(same.begin(), same.end(),
                          [](const auto& line) { return line.starts_with("prevents: "); }),
            3);
}

TEST_F(DeviceCheckTest, ResourcesThatSharedMemoryMayShareIt) {
  AskAllocation(kBlock, {kBlock, kBlock});
  const uint64_t heap = CreateHeap(4 * kBlock);
  Place(heap, 0, kBlock);
  Place(heap, 0, kBlock);
  SetFakeSizes(4096, kBlock);
  EXPECT_EQ(Check().size(), 1u);  // the size
}

TEST_F(DeviceCheckTest, EndedResourcesAreNoNeighbours) {
  AskAllocation(kBlock, {kBlock, kBlock});
  const uint64_t heap = CreateHeap(4 * kBlock);
  const uint64_t first = Place(heap, 0, kBlock);
  script_.trace.Add(RecordKind::kObjectEnd, first, {});
  Place(heap, kBlock, kBlock);
  SetFakeSizes(4096, kBlock);
  EXPECT_EQ(Check().size(), 1u);
}

TEST_F(DeviceCheckTest, AlignmentsAreCompared) {
  const uint64_t heap = CreateHeap(4 * kBlock);
  const uint64_t resource = Place(heap, kBlock, kBlock);
  SetFakeSizes(0, 2 * kBlock);
  EXPECT_THAT(Check(), ElementsAre("prevents: resource " + std::to_string(resource) +
                                   " at offset 65,536 of heap " + std::to_string(heap) +
                                   " needs alignment 131,072 here"));
}

TEST_F(DeviceCheckTest, StructuresThatNeedMoreAreNamed) {
  AskStructure(4, 1024);
  AskStructure(8, 4096);
  EXPECT_THAT(Check(/*newer=*/true), IsEmpty());
  SetFakeSizes(256, kBlock);
  EXPECT_THAT(
      Check(/*newer=*/true),
      ElementsAre("prevents: an acceleration structure needs 1,280 bytes here, and 1,024 when "
                  "it was recorded"));
}

// Another type of geometry means other bytes behind it, which are those of a stranger here.
TEST_F(DeviceCheckTest, UnknownGeometryReachesNoDevice) {
  SetFakeSizes(256, kBlock);
  const auto check = [](uint32_t type) {
    DeviceCheckTest_UnknownGeometryReachesNoDevice_Test other;
    D3D12_RAYTRACING_GEOMETRY_DESC geometry = {};
    std::memcpy(&geometry.Type, &type, sizeof(type));
    D3D12_BUILD_RAYTRACING_ACCELERATION_STRUCTURE_INPUTS inputs = {};
    inputs.Type = D3D12_RAYTRACING_ACCELERATION_STRUCTURE_TYPE_BOTTOM_LEVEL;
    inputs.NumDescs = 1;
    inputs.pGeometryDescs = &geometry;
    other.AskStructure(inputs, 1);
    return other.Check(/*newer=*/true).size();
  };
  EXPECT_EQ(check(0), 1u);
  EXPECT_EQ(check(1), 1u);
  EXPECT_EQ(check(2), 0u);
  EXPECT_EQ(check(0x80000000), 0u);
}

TEST_F(DeviceCheckTest, CallsThatFailedNeedNothing) {
  const Method method = Method::ID3D12Device4_CreateCommandList1;
  void* list = nullptr;
  for (const HRESULT recorded : {E_NOTIMPL, E_INVALIDARG}) {
    const uint64_t call =
        script_.Call(method, script_.device, 0u, D3D12_COMMAND_LIST_TYPE_DIRECT,
                     D3D12_COMMAND_LIST_FLAG_NONE, __uuidof(ID3D12GraphicsCommandList), &list);
    script_.Return(method, call, recorded, 0u, D3D12_COMMAND_LIST_TYPE_DIRECT,
                   D3D12_COMMAND_LIST_FLAG_NONE, __uuidof(ID3D12GraphicsCommandList), &list);
  }
  EXPECT_THAT(Check(), IsEmpty());
}

TEST_F(DeviceCheckTest, CallsWithoutAResultNeedTheirInterface) {
  const Method method = Method::ID3D12Device4_CreateCommandList1;
  void* list = nullptr;
  script_.Call(method, script_.device, 0u, D3D12_COMMAND_LIST_TYPE_DIRECT,
               D3D12_COMMAND_LIST_FLAG_NONE, __uuidof(ID3D12GraphicsCommandList), &list);
  EXPECT_EQ(Check().size(), 1u);
}

TEST_F(DeviceCheckTest, OpenedObjectsNeedNoInterface) {
  const void* const memory = this;
  void* heap = nullptr;
  script_.Call(Method::ID3D12Device3_OpenExistingHeapFromAddress, script_.device, memory,
               __uuidof(ID3D12Heap), &heap);
  EXPECT_THAT(Check(), IsEmpty());
}

TEST_F(DeviceCheckTest, EndedDevicesAreGivenBack) {
  const uint64_t list = script_.CreateList(script_.CreateAllocator());
  script_.Close(list);
  script_.trace.Add(RecordKind::kObjectEnd, script_.device, {});
  TraceReader trace = script_.trace.Open();
  PlayerOptions options;
  options.check_only = true;
  options.create_device = [](uint32_t) -> void* { return CreateFakeDevice(); };
  Result<std::unique_ptr<Player>> player = Player::Create(&trace, std::move(options));
  ASSERT_TRUE(player.ok());
  EXPECT_TRUE((*player)->Run().ok());
  EXPECT_EQ(FakeObjectCount(), 0);
}

TEST_F(DeviceCheckTest, MissingInterfacesAreNamedOnce) {
  for (int i = 0; i < 2; ++i) {
    script_.Create(Method::ID3D12Device4_CreateCommandList1, Chain::kID3D12GraphicsCommandList, 0u,
                   D3D12_COMMAND_LIST_TYPE_DIRECT, D3D12_COMMAND_LIST_FLAG_NONE,
                   __uuidof(ID3D12GraphicsCommandList));
  }
  // Nothing depends on the answer to a question.
  AskStructure(4, 1024);
  EXPECT_THAT(Check(),
              ElementsAre("prevents: ID3D12Device4::CreateCommandList1: this device has no "
                          "ID3D12Device4"));
}

}  // namespace
}  // namespace cairn
