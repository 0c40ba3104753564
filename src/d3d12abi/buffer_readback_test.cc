// SPDX-License-Identifier: Apache-2.0
//
// On a device of our own, for both calling conventions.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <span>
#include <vector>

#include "base/testing/leaks_are_meant.h"
#include "d3d12abi/testing/fake_device.h"
#include "d3d12abi/testing/fake_names.h"
#include "d3d12abi/texture_readback.h"
#include "os/uncached_copy.h"

namespace cairn {
namespace {

ComPtr<ID3D12CommandQueue> MakeQueue(ID3D12Device* device) {
  const D3D12_COMMAND_QUEUE_DESC desc = {};
  ComPtr<ID3D12CommandQueue> queue;
  EXPECT_EQ(device->CreateCommandQueue(&desc, __uuidof(ID3D12CommandQueue), queue.Receive()), S_OK);
  return queue;
}

// Of 256 bytes.
ComPtr<ID3D12Resource> MakeBuffer(ID3D12Device* device, D3D12_HEAP_TYPE type) {
  D3D12_HEAP_PROPERTIES heap = {};
  heap.Type = type;
  D3D12_RESOURCE_DESC desc = {};
  desc.Dimension = D3D12_RESOURCE_DIMENSION_BUFFER;
  desc.Width = 256;
  ComPtr<ID3D12Resource> buffer;
  EXPECT_EQ(device->CreateCommittedResource(&heap, D3D12_HEAP_FLAG_NONE, &desc,
                                            D3D12_RESOURCE_STATE_COMMON, nullptr,
                                            __uuidof(ID3D12Resource), buffer.Receive()),
            S_OK);
  return buffer;
}

TEST(BufferReadbackTest, BytesComeBackAndNothingIsLeft) {
  {
    ComPtr<ID3D12Device> device;
    *device.Receive() = CreateFakeDevice();
    const ComPtr<ID3D12CommandQueue> queue = MakeQueue(device.get());
    const ComPtr<ID3D12Resource> buffer = MakeBuffer(device.get(), D3D12_HEAP_TYPE_DEFAULT);
    TextureReadback readback(device.get());
    std::vector<std::byte> bytes(64, std::byte{0x5a});
    bytes[63] = std::byte{1};
    ASSERT_TRUE(
        readback.WriteBuffer(queue.get(), buffer.get(), 128, bytes, D3D12_RESOURCE_STATE_COMMON)
            .ok());
    const auto read =
        readback.ReadBuffer(queue.get(), buffer.get(), 128, 64, D3D12_RESOURCE_STATE_COMMON);
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_EQ(*read, bytes);
    const auto before =
        readback.ReadBuffer(queue.get(), buffer.get(), 124, 4, D3D12_RESOURCE_STATE_COMMON);
    ASSERT_TRUE(before.ok());
    EXPECT_EQ((*before)[3], std::byte{0});
  }
  EXPECT_EQ(FakeObjectCount(), 0);
}

TEST(BufferReadbackTest, BytesAtAnyPlaceAreCopiedFromUncachedMemory) {
  alignas(16) std::byte from[96];
  for (size_t i = 0; i < sizeof(from); ++i) from[i] = static_cast<std::byte>(i + 1);
  for (size_t offset = 0; offset < 20; ++offset) {
    for (size_t size = 0; size + offset <= 60; ++size) {
      std::vector<std::byte> to(size + 1, std::byte{0xEE});
      CopyFromUncached(to.data(), from + offset, size);
      EXPECT_TRUE(std::equal(from + offset, from + offset + size, to.begin()));
      EXPECT_EQ(to[size], std::byte{0xEE}) << offset << ", " << size;
    }
  }
}

// Pieces of several buffers: those that can be mapped cost the GPU nothing, the others one list.
TEST(BufferReadbackTest, PiecesOfSeveralBuffersAtOnce) {
  ComPtr<ID3D12Device> device;
  *device.Receive() = CreateFakeDevice();
  const ComPtr<ID3D12CommandQueue> queue = MakeQueue(device.get());
  const ComPtr<ID3D12Resource> buffers[] = {MakeBuffer(device.get(), D3D12_HEAP_TYPE_DEFAULT),
                                            MakeBuffer(device.get(), D3D12_HEAP_TYPE_UPLOAD),
                                            MakeBuffer(device.get(), D3D12_HEAP_TYPE_DEFAULT)};
  const BufferPiece pieces[] = {{buffers[0].get(), 0, 8},
                                {buffers[0].get(), 64, 4},
                                {buffers[1].get(), 16, 8},
                                {buffers[2].get(), 248, 8}};
  std::vector<std::byte> bytes(28);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i + 1);
  TextureReadback readback(device.get());
  const uint64_t before = FakeExecutions();
  ASSERT_TRUE(readback.WritePieces(queue.get(), pieces, bytes).ok());
  EXPECT_EQ(FakeExecutions() - before, 1u);
  const Result<std::vector<std::byte>> read = readback.ReadPieces(queue.get(), pieces);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(*read, bytes);
  EXPECT_EQ(FakeExecutions() - before, 2u);
  ASSERT_TRUE(
      readback.WritePieces(queue.get(), std::span(pieces).subspan(2, 1), std::span(bytes).first(8))
          .ok());
  EXPECT_EQ(FakeExecutions() - before, 2u) << "memory of the CPU";
  const BufferPiece outside[] = {{buffers[0].get(), 250, 8}};
  EXPECT_EQ(readback.ReadPieces(queue.get(), outside).status().code(),
            StatusCode::kInvalidArgument);
}

// The GPU has not written yet when the call returns; what comes next waits.
TEST(BufferReadbackTest, WritingPiecesDoesNotWait) {
  ComPtr<ID3D12Device> device;
  *device.Receive() = CreateFakeDevice();
  const ComPtr<ID3D12CommandQueue> queue = MakeQueue(device.get());
  const ComPtr<ID3D12Resource> buffer = MakeBuffer(device.get(), D3D12_HEAP_TYPE_DEFAULT);
  const BufferPiece piece[] = {{buffer.get(), 0, 8}};
  const std::vector<std::byte> bytes(8, std::byte{7});
  const LeaksAreMeant left_behind;
  TextureReadback readback(device.get(), std::chrono::milliseconds(1));
  HoldFakeSignals(true);
  EXPECT_TRUE(readback.WritePieces(queue.get(), piece, bytes).ok());
  EXPECT_EQ(readback.ReadPieces(queue.get(), piece).status().code(), StatusCode::kDeviceLost);
  HoldFakeSignals(false);
}

}  // namespace
}  // namespace cairn
