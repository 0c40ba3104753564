// SPDX-License-Identifier: Apache-2.0
#include "reader/replay/memory_player.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "d3d12abi/buffer_desc.h"
#include "format/trace/testing/test_trace.h"
#include "reader/replay/testing/test_call.h"

namespace cairn {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr uint64_t kDevice = TestObjects::kDevice;
constexpr uint64_t kQueue = 10, kFence = 11;
constexpr uint64_t kUpload = 20, kReadback = 21, kDefault = 22, kTexture = 23, kAbsent = 24,
                   kNotZeroed = 25;
constexpr uint64_t kBytes = 4096;

std::vector<std::byte> Bytes(size_t count, uint8_t value) {
  return std::vector<std::byte>(count, std::byte{value});
}

class NoBlobs final : public BlobSource {
 public:
  Result<std::span<const std::byte>> Blob(uint64_t) override {
    return Status(StatusCode::kNotFound, "no blobs");
  }
};

class MemoryPlayerTest : public testing::Test {
 protected:
  MemoryPlayerTest() {
    options_.validate = true;
    options_.validate_resources = true;
    DeviceContext* const context = devices_.Add(
        kDevice, ComPtr<ID3D12Device>(objects_.table.Find(kDevice)->As<ID3D12Device>()));
    objects_.AddQueue(kQueue);
    context->queues[kQueue] = {};
    objects_.AddFence(kFence);
    waits_.fences().Create(kFence, 0);
    objects_.AddResource(kUpload, BufferDesc(kBytes), D3D12_HEAP_TYPE_UPLOAD);
    objects_.AddResource(kReadback, BufferDesc(kBytes), D3D12_HEAP_TYPE_READBACK);
    objects_.AddResource(kDefault, BufferDesc(kBytes));
    D3D12_RESOURCE_DESC desc = {};
    desc.Dimension = D3D12_RESOURCE_DIMENSION_TEXTURE2D;
    desc.Width = desc.Height = 16;
    desc.DepthOrArraySize = desc.MipLevels = 1;
    desc.Format = DXGI_FORMAT_R8G8B8A8_UNORM;
    desc.SampleDesc.Count = 1;
    objects_.AddResource(kTexture, desc);
    objects_.table.AddAbsent(kAbsent, false);
    log_.Begin(7);
  }

  // A record of the object with the body, number 7.
  template <typename Body>
  Record Of(uint64_t object, const Body& body, std::span<const std::byte> rest = {}) {
    body_ = BodyBytes(body, rest);
    Record record = {};
    record.number = 7;
    record.object = object;
    record.body = body_;
    return record;
  }
  Status Write(uint64_t object, uint64_t offset_bytes, const std::vector<std::byte>& bytes) {
    return memory_.Write(
        Of(object, MemoryBody{0, 0, offset_bytes},
           BodyBytes(static_cast<uint32_t>(bytes.size()), std::span<const std::byte>(bytes))));
  }
  void WriteContents(uint64_t buffer, const std::vector<std::byte>& bytes) {
    ContentsBody body = {};
    body.total_bytes = bytes.size();
    EXPECT_TRUE(memory_
                    .WriteContents(Of(buffer, body,
                                      BodyBytes(static_cast<uint32_t>(bytes.size()),
                                                std::span<const std::byte>(bytes))))
                    .ok());
    EXPECT_EQ(LeftOut(), "");
  }
  Status CompareReadback(uint64_t object, uint64_t offset_bytes,
                         const std::vector<std::byte>& bytes, FenceValue after = {}) {
    ReadbackBody body = {.row_count = 1, .offset_bytes = offset_bytes, .row_bytes = bytes.size()};
    const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
    body.hash_low = hash.low64;
    body.hash_high = hash.high64;
    body.fence = after.fence;
    body.fence_value = after.value;
    return memory_.CompareReadback(Of(object, body));
  }
  Status CompareHash(uint64_t object, const std::vector<std::byte>& bytes) {
    const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
    return memory_.CompareHash(
        Of(object, ResourceHashBody{0, 0, bytes.size(), hash.low64, hash.high64}));
  }
  // The bytes that the CPU sees in a buffer.
  std::vector<std::byte> Seen(uint64_t buffer) {
    auto* const resource = objects_.table.Find(buffer)->As<ID3D12Resource>();
    void* data = nullptr;
    EXPECT_EQ(resource->Map(0, nullptr, &data), S_OK);
    std::vector<std::byte> bytes(kBytes);
    std::memcpy(bytes.data(), data, bytes.size());
    resource->Unmap(0, nullptr);
    return bytes;
  }
  std::string LeftOut() {
    const std::vector<cairn::LeftOut>& kinds = log_.result().left_out;
    return kinds.empty() ? "" : kinds.back().what;
  }

  TestObjects objects_;
  PlayerOptions options_;
  D3D12Library library_;
  NoBlobs blobs_;
  PlayLog log_{options_};
  PlayCost cost_{~uint64_t{0}};
  BufferAddresses addresses_;
  Status cost_status_;
  ReplayDevices devices_{options_, &log_};
  WaitEngine waits_{options_, library_, &objects_.table, &devices_, &log_, [] { return 0; }};
  MemoryPlayer memory_{{.options = options_,
                        .blobs = &blobs_,
                        .objects = &objects_.table,
                        .devices = &devices_,
                        .waits = &waits_,
                        .log = &log_,
                        .cost = &cost_,
                        .addresses = &addresses_,
                        .check_cost = [this] { return cost_status_; }}};
  std::vector<std::byte> body_;
};

// ---- Writes ----

TEST_F(MemoryPlayerTest, WriteOfTheCpu) {
  ASSERT_TRUE(Write(kUpload, 0, Bytes(kBytes, 1)).ok());
  ASSERT_TRUE(Write(kUpload, 256, Bytes(16, 9)).ok());
  std::vector<std::byte> expected = Bytes(kBytes, 1);
  std::fill_n(expected.begin() + 256, 16, std::byte{9});
  EXPECT_EQ(Seen(kUpload), expected);
  EXPECT_EQ(LeftOut(), "");
}

// The program's own pointer stays mapped.
TEST_F(MemoryPlayerTest, WriteIntoMappedMemory) {
  std::vector<std::byte> mapped = Bytes(kBytes, 1);
  objects_.table.Find(kUpload)->maps[0] = {mapped.data(), 1};
  ASSERT_TRUE(Write(kUpload, 8, Bytes(2, 5)).ok());
  EXPECT_EQ(mapped[8], std::byte{5});
  EXPECT_EQ(mapped[10], std::byte{1});
}

TEST_F(MemoryPlayerTest, WritesThatCannotBe) {
  EXPECT_TRUE(Write(kUpload, kBytes - 8, Bytes(9, 1)).ok());
  EXPECT_EQ(LeftOut(), "9 bytes at 4088 are written into a buffer of 4096");
  EXPECT_TRUE(Write(kUpload, ~uint64_t{0}, Bytes(1, 1)).ok());
  EXPECT_EQ(log_.result().skipped, 2u);
  EXPECT_TRUE(Write(kTexture, 0, Bytes(1, 1)).ok());
  EXPECT_THAT(LeftOut(), HasSubstr("writes into mapped textures"));
  EXPECT_TRUE(Write(kQueue, 0, Bytes(1, 1)).ok());
  EXPECT_EQ(LeftOut(), "there is no resource 10 here");
  const uint64_t skipped = log_.result().skipped;
  EXPECT_TRUE(Write(kAbsent, 0, Bytes(1, 1)).ok());
  // The GPU writes there.
  const std::vector<std::byte> before = Seen(kReadback);
  EXPECT_TRUE(Write(kReadback, 0, Bytes(64, 99)).ok());
  EXPECT_EQ(Seen(kReadback), before);
  EXPECT_EQ(log_.result().skipped, skipped);
}

TEST_F(MemoryPlayerTest, NewMemoryOfTheCpuIsZero) {
  ASSERT_THAT(Write(kUpload, 0, Bytes(kBytes, 7)).ok(), true);
  ReplayObject* const upload = objects_.table.Find(kUpload);
  EXPECT_TRUE(memory_.Clear(upload, D3D12_RESOURCE_STATE_GENERIC_READ, /*committed=*/false).ok());
  EXPECT_EQ(Seen(kUpload), Bytes(kBytes, 7));  // its heap's, which may hold what others wrote
  EXPECT_TRUE(memory_.Clear(upload, D3D12_RESOURCE_STATE_GENERIC_READ, /*committed=*/true).ok());
  EXPECT_EQ(Seen(kUpload), Bytes(kBytes, 0));
}

// ---- Contents ----

TEST_F(MemoryPlayerTest, ContentsOfABuffer) {
  WriteContents(kDefault, Bytes(kBytes, 3));
  EXPECT_TRUE(CompareHash(kDefault, Bytes(kBytes, 3)).ok());
  EXPECT_EQ(log_.result().compared_resources, 1u);
  EXPECT_FALSE(CompareHash(kDefault, Bytes(kBytes, 4)).ok());
  EXPECT_EQ(log_.failure(), PlayerFailure::kMismatch);
}

// A recording that begins late reads the resources of one device.
TEST_F(MemoryPlayerTest, ContentsOfASharedBufferAreThoseOfTheDeviceThatWasRead) {
  objects_.table.Find(kUpload)->created.shares = kDefault;
  WriteContents(kUpload, Bytes(16, 3));
  EXPECT_EQ(Seen(kUpload)[15], std::byte{3}) << "the original got none";
  WriteContents(kDefault, Bytes(16, 4));
  WriteContents(kUpload, Bytes(16, 5));
  EXPECT_EQ(Seen(kUpload)[15], std::byte{3}) << "the original got them";
}

// An object that has two numbers keeps one while the other ends.
TEST_F(MemoryPlayerTest, ObjectsKeepTheNumberThatIsLeft) {
  ReplayObjects& table = objects_.table;
  const void* const pointer = table.Find(kFence)->pointer.get();
  for (const uint64_t further : {uint64_t{900}, uint64_t{901}}) {
    ASSERT_TRUE(
        table.Add(further, Chain::kID3D12Fence, kDevice, table.Find(kFence)->pointer.get()).ok());
  }
  EXPECT_EQ(table.NumberOf(pointer), 901u);
  table.Remove(901);
  EXPECT_EQ(table.NumberOf(pointer), 900u);
  table.Remove(kFence);
  EXPECT_EQ(table.NumberOf(pointer), 900u);
  table.Remove(900);
  EXPECT_EQ(table.NumberOf(pointer), kNoObject);
}

TEST_F(MemoryPlayerTest, NewMemoryOfTheGpuIsZeroIfAsked) {
  objects_.AddResource(kNotZeroed, BufferDesc(kBytes), D3D12_HEAP_TYPE_DEFAULT,
                       D3D12_HEAP_FLAG_CREATE_NOT_ZEROED);
  const auto begins_as = [&](uint64_t buffer, NewMemory memory, uint8_t value) {
    WriteContents(buffer, Bytes(kBytes, 3));
    options_.new_memory = memory;
    options_.validate_resources = false;
    EXPECT_TRUE(memory_
                    .Clear(objects_.table.Find(buffer), D3D12_RESOURCE_STATE_COMMON,
                           /*committed=*/true)
                    .ok());
    options_.validate_resources = true;
    EXPECT_TRUE(CompareHash(buffer, Bytes(kBytes, value)).ok());
  };
  begins_as(kDefault, NewMemory::kAsItIs, 3);
  begins_as(kDefault, NewMemory::kPromisedZeros, 0);
  begins_as(kDefault, NewMemory::kZeros, 0);
  begins_as(kNotZeroed, NewMemory::kAsItIs, 3);
  begins_as(kNotZeroed, NewMemory::kPromisedZeros, 3);
  begins_as(kNotZeroed, NewMemory::kZeros, 0);
  EXPECT_EQ(log_.result().compared_resources, 6u);
}

// ---- Comparisons ----

TEST_F(MemoryPlayerTest, ReadbackIsTheSameOrNot) {
  ASSERT_TRUE(Write(kUpload, 0, Bytes(kBytes, 1)).ok());
  EXPECT_TRUE(CompareReadback(kUpload, 128, Bytes(64, 1)).ok());
  EXPECT_EQ(log_.result().compared_readbacks, 1u);
  const Status status = CompareReadback(kUpload, 128, Bytes(64, 2));
  EXPECT_EQ(status.message(),
            "record 7: 64 bytes at 128 of resource 20 are not what the program read there");
  EXPECT_EQ(log_.failure(), PlayerFailure::kMismatch);
  EXPECT_EQ(log_.result().compared_readbacks, 2u);
  options_.validate = false;
  EXPECT_TRUE(CompareReadback(kUpload, 128, Bytes(64, 2)).ok());
  EXPECT_EQ(log_.result().compared_readbacks, 2u);
}

TEST_F(MemoryPlayerTest, ReadbackWaitsForItsFence) {
  options_.wait_timeout_ns = 20'000'000;
  ASSERT_TRUE(Write(kUpload, 0, Bytes(kBytes, 1)).ok());
  HoldFakeSignals(true);
  waits_.fences().SignalFromQueue(kQueue, kFence, 1);
  auto* const fence = objects_.table.Find(kFence)->As<ID3D12Fence>();
  EXPECT_EQ(objects_.table.Find(kQueue)->As<ID3D12CommandQueue>()->Signal(fence, 1), S_OK);
  EXPECT_THAT(CompareReadback(kUpload, 0, Bytes(64, 1), {kFence, 1}).message(),
              HasSubstr("fence 11 reached 0, not 1"));
  HoldFakeSignals(false);
  EXPECT_TRUE(CompareReadback(kUpload, 0, Bytes(64, 1), {kFence, 1}).ok());
}

TEST_F(MemoryPlayerTest, WhatCannotBeCompared) {
  EXPECT_TRUE(CompareReadback(kAbsent, 0, Bytes(1, 1)).ok());
  EXPECT_TRUE(CompareReadback(kUpload, kBytes, Bytes(1, 1)).ok());
  EXPECT_TRUE(CompareReadback(kTexture, 0, Bytes(1, 1)).ok());
  EXPECT_TRUE(CompareHash(kAbsent, Bytes(1, 1)).ok());
  EXPECT_TRUE(CompareHash(kDefault, Bytes(kBytes + 1, 1)).ok());
  EXPECT_EQ(log_.result().not_compared, 5u);
  EXPECT_THAT(log_.result().notes, Each(HasSubstr("not compared: ")));
  EXPECT_EQ(log_.result().compared_readbacks + log_.result().compared_resources, 0u);
  EXPECT_FALSE(log_.failed());
}

// Sizes of acceleration structures are the driver's, also in copies. They may be the same.
TEST_F(MemoryPlayerTest, SizesThatDifferAreNotCompared) {
  ASSERT_TRUE(Write(kUpload, 0, Bytes(kBytes, 1)).ok());
  memory_.CopyOwn(kUpload, kDefault);
  EXPECT_FALSE(CompareReadback(kUpload, 0, Bytes(8, 2)).ok());
  memory_.AddOwn(kDefault);
  memory_.CopyOwn(kUpload, kDefault);
  EXPECT_TRUE(CompareReadback(kUpload, 0, Bytes(8, 2)).ok());
  EXPECT_TRUE(CompareReadback(kUpload, 0, Bytes(8, 1)).ok());
  EXPECT_EQ(log_.result().compared_readbacks, 2u);
  EXPECT_THAT(log_.result().notes, ElementsAre("not compared: sizes of acceleration structures "
                                               "and memory behind work graphs, which are the "
                                               "driver's own"));
}

TEST_F(MemoryPlayerTest, LostDeviceIsNotRead) {
  EXPECT_TRUE(devices_.Lose(devices_.Find(kDevice), "it is gone").ok());
  EXPECT_TRUE(CompareReadback(kUpload, 0, Bytes(1, 1)).ok());
  EXPECT_TRUE(CompareHash(kDefault, Bytes(1, 1)).ok());
  EXPECT_THAT(log_.result().notes, ElementsAre("not compared: memory of a lost device"));
  EXPECT_EQ(log_.result().not_compared, 2u);
  EXPECT_EQ(memory_.ReadImage(kTexture, 0).status().message(), "its device is lost");
  EXPECT_EQ(memory_.ReadImage(99, 0).status().message(), "resource 99 does not exist here");
}

// Before anything is read, the cost is checked.
TEST_F(MemoryPlayerTest, TexturesThatCostTooMuch) {
  int given = 0;
  options_.on_texture = [&](TextureImage) { ++given; };
  options_.textures = {kTexture};
  cost_status_ = Status(StatusCode::kUnsupported, "too much");
  EXPECT_EQ(memory_.ReadTextures().message(), "too much");
  EXPECT_EQ(given, 0);
  cost_status_ = Status();
  EXPECT_TRUE(memory_.ReadTextures().ok());
  EXPECT_EQ(given, 1);
}

}  // namespace
}  // namespace cairn
