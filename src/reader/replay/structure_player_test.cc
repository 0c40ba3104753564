// SPDX-License-Identifier: Apache-2.0
#include "reader/replay/structure_player.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "d3d12abi/buffer_desc.h"
#include "format/trace/testing/test_trace.h"
#include "reader/replay/testing/test_call.h"

namespace cairn {
namespace {

using testing::HasSubstr;

constexpr uint64_t kDevice = TestObjects::kDevice;
constexpr uint64_t kBuffer = 20, kAbsent = 21;
constexpr uint64_t kRecordedAddress = 0x10000;

class NoBlobs final : public BlobSource {
 public:
  Result<std::span<const std::byte>> Blob(uint64_t) override {
    return Status(StatusCode::kNotFound, "no blobs");
  }
};

class StructurePlayerTest : public testing::Test {
 protected:
  explicit StructurePlayerTest(ID3D12Device* device = CreateNewerFakeDevice()) {
    *device_.Receive() = device;
    devices_.Add(kDevice, device_);
    objects_.AddResource(kBuffer, BufferDesc(4096, D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS));
    ResourceFacts facts{};
    facts.gpu_address = kRecordedAddress;
    facts.size_bytes = 4096;
    ReplayObject* const buffer = objects_.table.Find(kBuffer);
    EXPECT_TRUE(objects_.table.SetFacts(buffer, facts).ok()) << buffer->gpu_address;
    objects_.table.AddAbsent(kAbsent, false);
    log_.Begin(7);
  }

  // Returns why the record was skipped; "": it was not.
  std::string Play(uint64_t object, const StructureBody& body, size_t input_bytes) {
    return PlayBytes(object, Bytes(body, std::vector<std::byte>(input_bytes)));
  }
  static std::vector<std::byte> Bytes(const StructureBody& body,
                                      std::span<const std::byte> inputs) {
    return BodyBytes(body, BodyBytes(static_cast<uint32_t>(inputs.size()), inputs));
  }
  // Returns the inputs of a triangle with vertices of bytes `value`.
  static std::vector<std::byte> TriangleBytes(const StructureBody& body, uint8_t value) {
    StructureGeometry geometry = {};
    geometry.count = 3;
    geometry.stride_bytes = 12;
    geometry.index_offset_bytes = kNoStructureInput;
    geometry.transform_offset_bytes = kNoStructureInput;
    geometry.format = DXGI_FORMAT_R32G32B32_FLOAT;
    const std::vector<std::byte> vertices(36, std::byte{value});
    return Bytes(body, BodyBytes(geometry, std::span<const std::byte>(vertices)));
  }
  std::string PlayBytes(uint64_t object, std::span<const std::byte> bytes) {
    Record record = {};
    record.kind = RecordKind::kStructure;
    record.number = 7;
    record.object = object;
    record.body = bytes;
    const size_t before = log_.result().left_out.size();
    EXPECT_TRUE(player_.Play(record).ok());
    const auto& kinds = log_.result().left_out;
    return kinds.size() == before ? "" : kinds.back().what;
  }
  static StructureBody Body(StructureStep step) {
    StructureBody body = {};
    body.step = static_cast<uint32_t>(step);
    body.type = kTopLevel;
    body.count = 1;
    return body;
  }

  ID3D12Resource* Buffer() { return objects_.table.Find(kBuffer)->As<ID3D12Resource>(); }
  uint64_t RealAddress() { return Buffer()->GetGPUVirtualAddress(); }
  uint32_t WordAt(uint64_t offset_bytes) {
    void* data = nullptr;
    EXPECT_EQ(Buffer()->Map(0, nullptr, &data), S_OK);
    uint32_t word = 0;
    std::memcpy(&word, static_cast<const std::byte*>(data) + offset_bytes, sizeof(word));
    return word;
  }

  TestObjects objects_;
  ComPtr<ID3D12Device> device_;
  PlayerOptions options_;
  NoBlobs blobs_;
  PlayLog log_{options_};
  ReplayDevices devices_{options_, &log_};
  PlayCost cost_{0};
  StructurePlayer player_{{.blobs = &blobs_,
                           .objects = &objects_.table,
                           .devices = &devices_,
                           .log = &log_,
                           .cost = &cost_,
                           .own = nullptr,
                           .check_cost = [] { return Status(); },
                           .limit = std::chrono::seconds(20)}};
};

// Two devices may have the same addresses; of buffers that share memory the one that ends first may have something else
// behind it.
TEST_F(StructurePlayerTest, RoomIsThatOfBuffersOfOneDeviceThatMayHaveStructures) {
  constexpr uint64_t kOther = 900, kOfOther = 30, kSmall = 31, kConstants = 32;
  ReplayObjects& table = objects_.table;
  const uint64_t address = RealAddress();
  EXPECT_TRUE(table.Add(kOfOther, Chain::kID3D12Resource, kOther, Buffer()).ok());
  ASSERT_TRUE(table.RoomAt(kDevice, address));
  EXPECT_EQ(table.RoomAt(kDevice, address)->buffer, kBuffer);
  EXPECT_EQ(table.RoomAt(kOther, address)->buffer, kOfOther);
  EXPECT_FALSE(table.RoomAt(kOther, address, /*without=*/kOfOther));

  D3D12_HEAP_DESC desc = {};
  desc.SizeInBytes = 65536;
  desc.Properties.Type = D3D12_HEAP_TYPE_DEFAULT;
  ComPtr<ID3D12Heap> heap;
  ASSERT_EQ(device_->CreateHeap(&desc, __uuidof(ID3D12Heap), heap.Receive()), S_OK);
  const auto place = [&](uint64_t number, uint64_t bytes, D3D12_RESOURCE_FLAGS flags) {
    const D3D12_RESOURCE_DESC buffer = BufferDesc(bytes, flags);
    ComPtr<IUnknown> made;
    EXPECT_EQ(device_->CreatePlacedResource(heap.get(), 0, &buffer, D3D12_RESOURCE_STATE_COMMON,
                                            nullptr, __uuidof(ID3D12Resource), made.Receive()),
              S_OK);
    return objects_.Add(number, Chain::kID3D12Resource, made.get())->gpu_address;
  };
  const uint64_t large = place(40, 4096, D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS);
  place(kSmall, 1024, D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS);
  place(kConstants, 512, D3D12_RESOURCE_FLAG_NONE);
  EXPECT_EQ(table.RoomAt(kDevice, large)->buffer, 40u);
  EXPECT_EQ(table.RoomAt(kDevice, large)->end, large + 1024);
  EXPECT_EQ(table.RoomAt(kDevice, large, kSmall)->end, large + 4096);
  EXPECT_EQ(table.RoomAt(kDevice, large + 1024)->end, large + 4096);
}

TEST_F(StructurePlayerTest, RecordsOfOtherObjectsAreSkipped) {
  EXPECT_THAT(Play(99, Body(StructureStep::kBuild), 64), HasSubstr("there is no buffer 99"));
  EXPECT_EQ(Play(kDevice, Body(StructureStep::kBuild), 64), "") << "of the same kind as the first";
  EXPECT_EQ(log_.result().skipped, 2u);
  EXPECT_EQ(Play(kAbsent, Body(StructureStep::kBuild), 64), "");
  EXPECT_EQ(log_.result().skipped, 2u) << "what it depends on was skipped before";
}

TEST_F(StructurePlayerTest, BytesThatAreTooFewAreSkipped) {
  EXPECT_THAT(PlayBytes(kBuffer, std::vector<std::byte>(31)), HasSubstr("too short"));
  EXPECT_THAT(Play(kBuffer, Body(StructureStep::kBuild), 63), HasSubstr("63 bytes of inputs"));
}

TEST_F(StructurePlayerTest, StepsToNothingAreSkipped) {
  EXPECT_THAT(Play(kBuffer, Body(StructureStep::kUpdate), 64), HasSubstr("that was not built"));
  EXPECT_EQ(Play(kBuffer, Body(StructureStep::kCompact), 0), "") << "said once a structure";
  StructureBody other = Body(StructureStep::kClone);
  other.offset_bytes = 256;
  EXPECT_EQ(log_.result().skipped, 1u);
  EXPECT_EQ(Play(kBuffer, other, 0), "") << "of the same kind as the first";
  EXPECT_EQ(log_.result().skipped, 2u) << "it is another structure";
}

TEST_F(StructurePlayerTest, DeviceThatBuildsNoneSkipsAllSteps) {
  StructureBody empty = Body(StructureStep::kBuild);
  empty.count = 0;  // the made-up device has no size for it
  EXPECT_THAT(Play(kBuffer, empty, 0), HasSubstr("this device does not build them"));
  EXPECT_EQ(Play(kBuffer, Body(StructureStep::kUpdate), 64), "");
  EXPECT_EQ(Play(kBuffer, Body(StructureStep::kCompact), 0), "");
}

// Made-up structures hold a word of what they were built of.
TEST_F(StructurePlayerTest, StepsEndInTheBufferAndInstancesPointThere) {
  StructureBody body = Body(StructureStep::kBuild);
  body.type = kBottomLevel;
  body.flags = D3D12_RAYTRACING_ACCELERATION_STRUCTURE_BUILD_FLAG_ALLOW_UPDATE;
  body.offset_bytes = 256;
  body.steps_left = 2;
  body.copies_left = 1;
  EXPECT_EQ(PlayBytes(kBuffer, TriangleBytes(body, 7)), "");
  EXPECT_EQ(WordAt(256), 0u) << "it is in memory of the player's";
  body.step = static_cast<uint32_t>(StructureStep::kUpdate);
  body.steps_left = 1;
  EXPECT_EQ(PlayBytes(kBuffer, TriangleBytes(body, 9)), "");
  body.step = static_cast<uint32_t>(StructureStep::kCompact);
  body.steps_left = body.copies_left = 0;
  EXPECT_EQ(Play(kBuffer, body, 0), "");
  EXPECT_EQ(WordAt(256), 0x09090909u);

  for (const uint64_t address :
       {kRecordedAddress + 256, kRecordedAddress + 512, uint64_t{0x7777777700}}) {
    std::vector<std::byte> instance(kInstanceDescBytes);
    std::memcpy(instance.data() + kInstanceStructure, &address, sizeof(address));
    EXPECT_EQ(PlayBytes(kBuffer, Bytes(Body(StructureStep::kBuild), instance)), "");
    const bool is_there = address == kRecordedAddress + 256;
    EXPECT_EQ(WordAt(0), is_there ? static_cast<uint32_t>(RealAddress() + 256) : 0);
  }
}

TEST_F(StructurePlayerTest, StructuresThatDoNotFitAreSkipped) {
  StructureBody body = Body(StructureStep::kBuild);
  body.offset_bytes = 4096;
  EXPECT_THAT(Play(kBuffer, body, 64), HasSubstr("one begins at 4096 in a buffer of 4096 bytes"));
  body.offset_bytes = 4096 - 256;
  EXPECT_EQ(Play(kBuffer, body, 64), "");
  body.count = 2;
  EXPECT_THAT(Play(kBuffer, body, 128), HasSubstr("needs 512 bytes for one that has 256"));
  body = Body(StructureStep::kBuild);
  body.steps_left = 1;
  EXPECT_EQ(Play(kBuffer, body, 64), "");
  body.steps_left = 0;
  body.step = static_cast<uint32_t>(StructureStep::kUpdate);
  EXPECT_THAT(Play(kBuffer, body, 64), HasSubstr("something else than its build"))
      << "it does not allow updates";
  constexpr uint32_t kUpdatable = D3D12_RAYTRACING_ACCELERATION_STRUCTURE_BUILD_FLAG_ALLOW_UPDATE;
  for (const auto& [count, flags] : {std::pair{1u, 0u}, std::pair{2u, kUpdatable}}) {
    body = Body(StructureStep::kBuild);
    body.flags = kUpdatable;
    body.steps_left = 1;
    EXPECT_EQ(Play(kBuffer, body, 64), "");
    body.steps_left = 0;
    body.step = static_cast<uint32_t>(StructureStep::kUpdate);
    body.count = count;
    body.flags = flags;
    const uint64_t skipped = log_.result().skipped;
    Play(kBuffer, body, 128);
    EXPECT_EQ(log_.result().skipped, skipped + 1) << count << " instances, flags " << flags;
  }
  body = Body(StructureStep::kBuild);
  body.steps_left = 1;
  EXPECT_EQ(Play(kBuffer, body, 64), "");
  body.step = static_cast<uint32_t>(StructureStep::kClone);
  body.steps_left = 0;
  EXPECT_THAT(Play(kBuffer, body, 0), HasSubstr("one is copied onto itself"));
}

TEST_F(StructurePlayerTest, MorePartsThanAStructureHasAreSkipped) {
  StructureBody body = Body(StructureStep::kBuild);
  body.count = (1u << 24) + 1;
  EXPECT_THAT(Play(kBuffer, body, 64), HasSubstr("16777217 instances or geometries"));
  body = Body(StructureStep::kBuild);
  body.type = kBottomLevel;
  body.count = 1025;  // of 2^19 boxes that all of them share
  StructureGeometry geometry = {};
  geometry.type = kBoxes;
  geometry.count = 1u << 19;
  geometry.stride_bytes = 1;
  geometry.index_offset_bytes = geometry.transform_offset_bytes = kNoStructureInput;
  std::vector<std::byte> bytes;
  for (uint32_t i = 0; i < body.count; ++i) {
    const std::vector<std::byte> head = BodyBytes(geometry);
    bytes.insert(bytes.end(), head.begin(), head.end());
  }
  bytes.resize(bytes.size() + (1u << 19) + kBoxBytes);
  EXPECT_THAT(PlayBytes(kBuffer, Bytes(body, bytes)), HasSubstr("more primitives"));
}

TEST_F(StructurePlayerTest, AnyByteMayLie) {
  StructureBody body = Body(StructureStep::kBuild);
  body.type = kBottomLevel;
  body.copies_left = body.steps_left = 1;
  StructureBody copy = body;
  copy.step = static_cast<uint32_t>(StructureStep::kClone);
  copy.copies_left = copy.steps_left = 0;
  const std::vector<std::byte> records[] = {TriangleBytes(body, 7), Bytes(copy, {})};
  for (const size_t changed : {0, 1}) {
    for (size_t i = 0; i < records[changed].size(); ++i) {
      std::vector<std::byte> bytes[] = {records[0], records[1]};
      bytes[changed][i] ^= std::byte{static_cast<uint8_t>(i % 3 == 0 ? 0xFF : 0x01)};
      for (const std::vector<std::byte>& each : bytes) PlayBytes(kBuffer, each);
    }
  }
  EXPECT_GT(log_.result().skipped, 0u);
}

class OlderDeviceTest : public StructurePlayerTest {
 protected:
  OlderDeviceTest() : StructurePlayerTest(CreateFakeDevice()) {}
};

TEST_F(OlderDeviceTest, DeviceWithoutTheInterfacesSkipsThem) {
  EXPECT_THAT(Play(kBuffer, Body(StructureStep::kBuild), 64),
              HasSubstr("this device has no ray tracing"));
}

}  // namespace
}  // namespace cairn
