// SPDX-License-Identifier: Apache-2.0
//
// On a device of our own, for both calling conventions.
#include <gtest/gtest.h>

#include "d3d12abi/testing/fake_device.h"
#include "d3d12abi/texture_readback.h"

namespace cairn {
namespace {

TEST(BufferReadbackTest, BytesComeBackAndNothingIsLeft) {
  {
    ComPtr<ID3D12Device> device;
    *device.Receive() = CreateFakeDevice();
    D3D12_COMMAND_QUEUE_DESC queue_desc = {};
    ComPtr<ID3D12CommandQueue> queue;
    ASSERT_EQ(
        device->CreateCommandQueue(&queue_desc, __uuidof(ID3D12CommandQueue), queue.Receive()),
        S_OK);
    D3D12_HEAP_PROPERTIES heap = {};
    heap.Type = D3D12_HEAP_TYPE_DEFAULT;
    D3D12_RESOURCE_DESC desc = {};
    desc.Dimension = D3D12_RESOURCE_DIMENSION_BUFFER;
    desc.Width = 256;
    ComPtr<ID3D12Resource> buffer;
    ASSERT_EQ(device->CreateCommittedResource(&heap, D3D12_HEAP_FLAG_NONE, &desc,
                                              D3D12_RESOURCE_STATE_COMMON, nullptr,
                                              __uuidof(ID3D12Resource), buffer.Receive()),
              S_OK);
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

}  // namespace
}  // namespace cairn
