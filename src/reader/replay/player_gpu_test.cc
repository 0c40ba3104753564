// SPDX-License-Identifier: Apache-2.0
//
// Traces that are written here, on the Direct3D 12 of this machine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "d3d12abi/testing/system_device.h"
#include "reader/replay/player.h"
#include "reader/replay/testing/test_script.h"

namespace cairn {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::byte> Bytes(size_t count) {
  std::vector<std::byte> bytes(count);
  for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(3 * i + 1);
  return bytes;
}

class PlayerGpuTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!CreateSystemDevice()) GTEST_SKIP() << "no device of Direct3D 12";
  }

  Status Play(PlayerOptions options = {}) {
    EXPECT_TRUE(script_.ok);
    trace_.emplace(script_.trace.Open());
    options.validate = true;
    Result<std::unique_ptr<Player>> player = Player::Create(&*trace_, std::move(options));
    if (!player.ok()) return player.status();
    const Status status = (*player)->Run();
    failure_ = (*player)->failure();
    result_ = (*player)->result();
    return status;
  }

  // Expects that it plays.
  std::vector<FrameImage> PlayedImages() {
    PlayerOptions options;
    options.images = true;
    std::vector<FrameImage> images;
    options.on_image = [&](FrameImage image) { images.push_back(std::move(image)); };
    const Status status = Play(options);
    EXPECT_TRUE(status.ok()) << status.message();
    return images;
  }

  // Adds the contents of one subresource, in one piece.
  void Contents(uint64_t resource, uint32_t state, uint64_t row_pitch,
                const std::vector<std::byte>& bytes) {
    const ContentsBody body = {0, state, row_pitch, 0, bytes.size()};
    script_.trace.Add(RecordKind::kContents, resource,
                      BodyBytes(body, BodyBytes(static_cast<uint32_t>(bytes.size()), bytes)));
  }

  uint64_t CreateTexture(uint32_t size, DXGI_FORMAT format = DXGI_FORMAT_R8G8B8A8_UNORM,
                         D3D12_RESOURCE_FLAGS flags = D3D12_RESOURCE_FLAG_ALLOW_RENDER_TARGET) {
    D3D12_HEAP_PROPERTIES heap = {};
    heap.Type = D3D12_HEAP_TYPE_DEFAULT;
    D3D12_RESOURCE_DESC desc = {};
    desc.Dimension = D3D12_RESOURCE_DIMENSION_TEXTURE2D;
    desc.Width = size;
    desc.Height = size;
    desc.DepthOrArraySize = 1;
    desc.MipLevels = 1;
    desc.Format = format;
    desc.SampleDesc.Count = 1;
    desc.Flags = flags;
    const uint64_t object = next_texture_++;
    void* place = nullptr;
    const Method method = Method::ID3D12Device_CreateCommittedResource;
    const uint64_t call =
        script_.Call(method, script_.device, &heap, D3D12_HEAP_FLAG_NONE, &desc,
                     D3D12_RESOURCE_STATE_COPY_DEST, nullptr, __uuidof(ID3D12Resource), &place);
    ResourceFacts facts = {};
    facts.heap_type = D3D12_HEAP_TYPE_DEFAULT;
    std::memcpy(facts.desc, &desc, sizeof(desc));
    script_.trace.Resource(object, script_.device, call, facts);
    return object;
  }

  uint64_t CreateHeap(D3D12_DESCRIPTOR_HEAP_TYPE type, uint32_t count) {
    D3D12_DESCRIPTOR_HEAP_DESC desc = {};
    desc.Type = type;
    desc.NumDescriptors = count;
    const uint64_t object = next_heap_++;
    void* place = nullptr;
    const uint64_t call = script_.Call(Method::ID3D12Device_CreateDescriptorHeap, script_.device,
                                       &desc, __uuidof(ID3D12DescriptorHeap), &place);
    DescriptorHeapFacts facts = {};
    facts.cpu_start = Handle(object, 0).ptr;
    facts.type = type;
    facts.count = count;
    facts.increment_bytes = kIncrementBytes;
    script_.trace.DescriptorHeap(object, script_.device, call, facts);
    return object;
  }
  // Returns the handle as the recorded process saw it.
  static D3D12_CPU_DESCRIPTOR_HANDLE Handle(uint64_t heap, uint32_t index) {
    return {static_cast<SIZE_T>(heap * 0x100000 + uint64_t{index} * kIncrementBytes)};
  }

  static constexpr uint32_t kIncrementBytes = 24;
  TestScript script_;
  std::optional<TraceReader> trace_;
  PlayerFailure failure_ = PlayerFailure::kNone;
  PlayerResult result_;
  uint64_t next_heap_ = 200;
  uint64_t next_texture_ = 100;
};

// Returns the only kind of skipped calls.
std::string OnlyKind(const PlayerResult& result) {
  EXPECT_EQ(result.left_out.size(), 1u);
  return result.left_out.empty() ? "" : result.left_out[0].what;
}

TEST_F(PlayerGpuTest, CopyIsReadBackAndTheCanaryLives) {
  const CopyProgram program(&script_, Bytes(64), Bytes(64));
  PlayerOptions options;
  options.canary = true;
  const Status status = Play(options);
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(result_.compared_readbacks, 1u);
  EXPECT_THAT(result_.notes, IsEmpty());
}

TEST_F(PlayerGpuTest, ContentsOfBuffersAreThereBeforeTheFirstCall) {
  const uint64_t from = script_.CreateBuffer(D3D12_HEAP_TYPE_DEFAULT, 65536);
  const uint64_t to = script_.CreateBuffer(D3D12_HEAP_TYPE_READBACK, 65536);
  Contents(from, D3D12_RESOURCE_STATE_COPY_SOURCE, 0, Bytes(128));
  script_.trace.Add(RecordKind::kStart, 0, {});
  const uint64_t queue = script_.CreateQueue();
  const uint64_t list = script_.CreateList(script_.CreateAllocator());
  const uint64_t fence = script_.CreateFence();
  script_.Call(Method::ID3D12GraphicsCommandList_CopyBufferRegion, list, ObjectPointer(to),
               uint64_t{0}, ObjectPointer(from), uint64_t{0}, uint64_t{128});
  script_.Close(list);
  script_.Execute(queue, list);
  script_.Signal(queue, fence, 1);
  script_.Completed(fence, 1);
  script_.ReadBack(to, 0, Bytes(128));
  const Status status = Play();
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(result_.compared_readbacks, 1u);
}

// The next allocation reuses freed memory: without zeros the second buffer has the bytes of the
// first.
TEST_F(PlayerGpuTest, ClearedMemoryIsZeros) {
  constexpr uint32_t kSize = 65536;
  const uint64_t from = script_.CreateBuffer(D3D12_HEAP_TYPE_UPLOAD, kSize);
  const uint64_t to = script_.CreateBuffer(D3D12_HEAP_TYPE_READBACK, kSize);
  script_.Write(from, 0, Bytes(kSize));
  const uint64_t queue = script_.CreateQueue();
  const uint64_t fence = script_.CreateFence();
  const auto copy = [&](uint64_t target, uint64_t source, uint64_t value) {
    const uint64_t list = script_.CreateList(script_.CreateAllocator());
    script_.Call(Method::ID3D12GraphicsCommandList_CopyBufferRegion, list, ObjectPointer(target),
                 uint64_t{0}, ObjectPointer(source), uint64_t{0}, uint64_t{kSize});
    script_.Close(list);
    script_.Execute(queue, list);
    script_.Signal(queue, fence, value);
    script_.Completed(fence, value);
  };
  for (uint64_t i = 0; i < 32; ++i) {
    const uint64_t buffer = script_.CreateBuffer(D3D12_HEAP_TYPE_DEFAULT, kSize);
    copy(to, buffer, 3 * i + 1);
    script_.ReadBack(to, 0, std::vector<std::byte>(kSize));
    copy(buffer, from, 3 * i + 2);
    copy(to, buffer, 3 * i + 3);
    script_.ReadBack(to, 0, Bytes(kSize));
    script_.trace.Add(RecordKind::kObjectEnd, buffer, {});
    script_.trace.Frame(FrameEndKind::kEnd);
  }
  PlayerOptions options;
  options.new_memory = NewMemory::kZeros;
  const Status status = Play(options);
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(result_.compared_readbacks, 64u);
}

TEST_F(PlayerGpuTest, ContentsOfTexturesAreTheImageOfTheFrame) {
  constexpr uint32_t kSize = 4;
  const std::vector<std::byte> pixels = Bytes(kSize * kSize * 4);
  const uint64_t texture = CreateTexture(kSize);
  Contents(texture, D3D12_RESOURCE_STATE_RENDER_TARGET, kSize * 4, pixels);
  const XXH128_hash_t hash = XXH3_128bits(pixels.data(), pixels.size());
  FrameBody frame = {};
  frame.how = static_cast<uint32_t>(FrameEndKind::kEnd);
  frame.hashed = 1;
  frame.hash_low = hash.low64;
  frame.hash_high = hash.high64;
  script_.trace.Add(RecordKind::kFrame, texture, BodyBytes(frame));
  const std::vector<FrameImage> images = PlayedImages();
  EXPECT_EQ(result_.compared_frames, 1u);
  ASSERT_EQ(images.size(), 1u);
  EXPECT_EQ(images[0].width, kSize);
  EXPECT_EQ(images[0].pixels, pixels);
}

// A driver on the CPU would write behind the texture.
TEST_F(PlayerGpuTest, ClearsAreCutAtTheEdges) {
  constexpr uint32_t kSize = 4;
  const uint64_t texture = CreateTexture(kSize);
  const uint64_t heap = CreateHeap(D3D12_DESCRIPTOR_HEAP_TYPE_RTV, 4);
  const uint64_t queue = script_.CreateQueue();
  const uint64_t list = script_.CreateList(script_.CreateAllocator());
  script_.Call(Method::ID3D12Device_CreateRenderTargetView, script_.device, ObjectPointer(texture),
               nullptr, Handle(heap, 1));
  D3D12_RESOURCE_BARRIER barrier = {};
  barrier.Transition.pResource = static_cast<ID3D12Resource*>(ObjectPointer(texture));
  barrier.Transition.Subresource = D3D12_RESOURCE_BARRIER_ALL_SUBRESOURCES;
  barrier.Transition.StateBefore = D3D12_RESOURCE_STATE_COPY_DEST;
  barrier.Transition.StateAfter = D3D12_RESOURCE_STATE_RENDER_TARGET;
  script_.Call(Method::ID3D12GraphicsCommandList_ResourceBarrier, list, 1u, &barrier);
  const float black[4] = {};
  const float white[4] = {1, 1, 1, 1};
  const Method clear = Method::ID3D12GraphicsCommandList_ClearRenderTargetView;
  script_.Call(clear, list, Handle(heap, 1), black, 0u, nullptr);
  const D3D12_RECT rects[] = {{-100, 2, 1 << 28, 1 << 28}, {50, 50, 60, 60}};
  script_.Call(clear, list, Handle(heap, 1), white, 2u, rects);
  script_.Close(list);
  script_.Execute(queue, list);
  std::vector<std::byte> pixels(kSize * kSize * 4, std::byte{0});
  std::fill(pixels.begin() + kSize * 4 * 2, pixels.end(), std::byte{0xFF});
  const XXH128_hash_t hash = XXH3_128bits(pixels.data(), pixels.size());
  FrameBody frame = {};
  frame.hashed = 1;
  frame.hash_low = hash.low64;
  frame.hash_high = hash.high64;
  script_.trace.Add(RecordKind::kFrame, texture, BodyBytes(frame));
  const Status status = Play();
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(result_.compared_frames, 1u);
  EXPECT_THAT(result_.notes, IsEmpty());
}

TEST_F(PlayerGpuTest, ViewInAHeapOfAnotherTypeIsRefused) {
  const uint64_t texture = CreateTexture(4);
  const uint64_t heap = CreateHeap(D3D12_DESCRIPTOR_HEAP_TYPE_DSV, 4);
  script_.Call(Method::ID3D12Device_CreateRenderTargetView, script_.device, ObjectPointer(texture),
               nullptr, Handle(heap, 1));
  const Status status = Play();
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_THAT(OnlyKind(result_), HasSubstr("heap 200 holds descriptors of type 3, not 2"));
}

TEST_F(PlayerGpuTest, CopiesOfDescriptorsStayInTheirHeaps) {
  const uint64_t from = CreateHeap(D3D12_DESCRIPTOR_HEAP_TYPE_RTV, 4);
  const uint64_t to = CreateHeap(D3D12_DESCRIPTOR_HEAP_TYPE_RTV, 4);
  const Method method = Method::ID3D12Device_CopyDescriptorsSimple;
  script_.Call(method, script_.device, 2u, Handle(to, 2), Handle(from, 0),
               D3D12_DESCRIPTOR_HEAP_TYPE_RTV);
  script_.Call(method, script_.device, 3u, Handle(to, 2), Handle(from, 0),
               D3D12_DESCRIPTOR_HEAP_TYPE_RTV);
  const Status status = Play();
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_THAT(OnlyKind(result_), HasSubstr("3 descriptors from 2 on in heap 201, which has 4"));
  EXPECT_EQ(result_.calls, 3u);  // two heaps and the first copy
}

TEST_F(PlayerGpuTest, HandleBetweenTwoDescriptorsIsNone) {
  const uint64_t heap = CreateHeap(D3D12_DESCRIPTOR_HEAP_TYPE_RTV, 4);
  D3D12_CPU_DESCRIPTOR_HANDLE handle = Handle(heap, 1);
  handle.ptr += 8;
  script_.Call(Method::ID3D12Device_CreateRenderTargetView, script_.device,
               ObjectPointer(CreateTexture(4)), nullptr, handle);
  const Status status = Play();
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_THAT(OnlyKind(result_), HasSubstr("is no descriptor of descriptor heap 200"));
}

// Texels of one format are blocks of the other, byte for byte.
TEST_F(PlayerGpuTest, BlocksAreCopiedToTexels) {
  constexpr uint32_t kBlocks = 4;
  const std::vector<std::byte> bytes = Bytes(kBlocks * kBlocks * 8);
  const uint64_t blocks =
      CreateTexture(kBlocks * 4, DXGI_FORMAT_BC1_UNORM, D3D12_RESOURCE_FLAG_NONE);
  const uint64_t texels = CreateTexture(kBlocks, DXGI_FORMAT_R16G16B16A16_UINT);
  Contents(blocks, D3D12_RESOURCE_STATE_COPY_SOURCE, kBlocks * 8, bytes);
  script_.trace.Add(RecordKind::kStart, 0, {});
  const uint64_t queue = script_.CreateQueue();
  const uint64_t list = script_.CreateList(script_.CreateAllocator());
  script_.Call(Method::ID3D12GraphicsCommandList_CopyResource, list, ObjectPointer(texels),
               ObjectPointer(blocks));
  script_.Close(list);
  script_.Execute(queue, list);
  FrameBody frame = {};
  script_.trace.Add(RecordKind::kFrame, texels, BodyBytes(frame));
  const std::vector<FrameImage> images = PlayedImages();
  EXPECT_EQ(result_.skipped, 0u);
  ASSERT_EQ(images.size(), 1u);
  EXPECT_EQ(images[0].pixels, bytes);
}

TEST_F(PlayerGpuTest, WritesIntoTexturesStayInThem) {
  const uint64_t texture = CreateTexture(16);
  const std::vector<std::byte> bytes(32);
  const D3D12_BOX box = {0, 0, 0, 17, 1, 1};
  const Method method = Method::ID3D12Resource_WriteToSubresource;
  const auto* const data = static_cast<const void*>(bytes.data());
  const auto write = [&](const D3D12_BOX* where) {
    script_.builder.SetCallerBytes(bytes.size());
    return script_.Call(method, texture, 0u, where, data, 64u, 1024u);
  };
  write(&box);
  write(nullptr);
  // The call was refused in the recording as well, so that its omission is no loss.
  const uint64_t failed = write(&box);
  script_.Return(method, failed, HRESULT{E_INVALIDARG}, 0u, &box, data, 64u, 1024u);
  const Status status = Play();
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(result_.skipped, 2u);
  std::vector<std::string> kinds;
  for (const LeftOut& kind : result_.left_out) kinds.push_back(kind.what);
  EXPECT_THAT(kinds,
              testing::UnorderedElementsAre(HasSubstr("its box lies outside of subresource 0"),
                                            HasSubstr("1024 bytes are written, 32 were recorded")));
}

// The value of a lost device may be the program's own: a wait for a smaller value is no loss.
// Copies before the signal let the wait be there first.
TEST_F(PlayerGpuTest, GreatestValueOfAFenceIsNoLoss) {
  constexpr uint64_t kSize = uint64_t{16} << 20;
  const uint64_t from = script_.CreateBuffer(D3D12_HEAP_TYPE_DEFAULT, kSize);
  const uint64_t to = script_.CreateBuffer(D3D12_HEAP_TYPE_DEFAULT, kSize);
  const uint64_t queue = script_.CreateQueue();
  const uint64_t list = script_.CreateList(script_.CreateAllocator());
  script_.Call(Method::ID3D12GraphicsCommandList_CopyBufferRegion, list, ObjectPointer(to),
               uint64_t{0}, ObjectPointer(from), uint64_t{0}, kSize);
  script_.Close(list);
  for (int i = 0; i < 10; ++i) {
    const uint64_t fence = script_.CreateFence();
    script_.Execute(queue, list);
    script_.Signal(queue, fence, ~uint64_t{0});
    script_.Completed(fence, 1);
  }
  const Status status = Play();
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(result_.skipped, 0u);
}

// An open list loses the device of libvkd3d. Other devices of the trace are played all the same, and whether the
// program had lost it, too, is the difference between a failure and none.
class LossTest : public PlayerGpuTest {
 protected:
  // `recorded`: the program had lost its device, too.
  void LoseOneOfTwo(bool recorded) {
    const uint64_t queue = script_.CreateQueue();
    const uint64_t list = script_.CreateList(script_.CreateAllocator());
    const uint64_t fence = script_.CreateFence();
    script_.Execute(queue, list);
    script_.Signal(queue, fence, 1);
    script_.Completed(fence, 1);
    const Method reason = Method::ID3D12Device_GetDeviceRemovedReason;
    const uint64_t asked = script_.Call(reason, script_.device);
    script_.Return(reason, asked, recorded ? HRESULT{DXGI_ERROR_INVALID_CALL} : HRESULT{S_OK});
    const Method signal = Method::ID3D12Fence_Signal;
    const uint64_t late = script_.Call(signal, fence, uint64_t{2});
    script_.Return(signal, late, HRESULT{S_OK}, uint64_t{2});

    constexpr uint64_t kOther = 90;
    std::vector<std::byte> body = BodyBytes(DeviceBody{0x1234, 0x5678, 4, D3D_FEATURE_LEVEL_11_0});
    body.resize(body.size() + 3 * sizeof(uint32_t));  // three empty texts
    script_.trace.Add(RecordKind::kDevice, kOther, body);
    script_.trace.Object(kOther, Chain::kID3D12Device, kOther);
    script_.device = kOther;
    const CopyProgram program(&script_, Bytes(64), Bytes(64));
    const Status status = Play();
    EXPECT_EQ(status.ok(), recorded) << status.message();
    EXPECT_EQ(failure_, recorded ? PlayerFailure::kNone : PlayerFailure::kLost);
    if (!recorded) {
      EXPECT_THAT(status.message(), HasSubstr("the device is lost"));
    }
    EXPECT_EQ(result_.compared_readbacks, 1u);
    if (recorded) {
      EXPECT_EQ(result_.skipped, 0u);
      return;
    }
    EXPECT_EQ(OnlyKind(result_), "calls of a device that was lost before");
    ASSERT_FALSE(result_.left_out.empty());
    EXPECT_EQ(result_.left_out[0].first, late);
  }
};

TEST_F(LossTest, ALostDeviceLosesNoOther) {
  LoseOneOfTwo(/*recorded=*/false);
}

TEST_F(LossTest, WhatTheProgramHadLostIsNoFailure) {
  LoseOneOfTwo(/*recorded=*/true);
}

}  // namespace
}  // namespace cairn
