// SPDX-License-Identifier: Apache-2.0
//
// On a real device: what was written is read back, and states stay as they were.
#include "d3d12abi/texture_readback.h"

#include <gtest/gtest.h>

#include "d3d12abi/aggregates.h"
#include "d3d12abi/testing/system_device.h"

namespace cairn {
namespace {

class TextureReadbackTest : public testing::Test {
 protected:
  void SetUp() override {
    device_ = CreateSystemDevice();
    if (!device_) GTEST_SKIP() << "no device of Direct3D 12";
    D3D12_COMMAND_QUEUE_DESC desc = {};
    ASSERT_EQ(device_->CreateCommandQueue(&desc, __uuidof(ID3D12CommandQueue), queue_.Receive()),
              S_OK);
    desc.Type = D3D12_COMMAND_LIST_TYPE_COPY;
    ASSERT_EQ(
        device_->CreateCommandQueue(&desc, __uuidof(ID3D12CommandQueue), copy_queue_.Receive()),
        S_OK);
    readback_ = std::make_unique<TextureReadback>(device_.get());
  }

  ComPtr<ID3D12Resource> Create(const D3D12_RESOURCE_DESC& desc, D3D12_RESOURCE_STATES state,
                                D3D12_HEAP_TYPE type = D3D12_HEAP_TYPE_DEFAULT) {
    D3D12_HEAP_PROPERTIES heap = {};
    heap.Type = type;
    ComPtr<ID3D12Resource> resource;
    EXPECT_EQ(device_->CreateCommittedResource(&heap, D3D12_HEAP_FLAG_NONE, &desc, state, nullptr,
                                               __uuidof(ID3D12Resource), resource.Receive()),
              S_OK);
    return resource;
  }

  static D3D12_RESOURCE_DESC Texture(DXGI_FORMAT format, uint32_t width, uint32_t height) {
    D3D12_RESOURCE_DESC desc = {};
    desc.Dimension = D3D12_RESOURCE_DIMENSION_TEXTURE2D;
    desc.Width = width;
    desc.Height = height;
    desc.DepthOrArraySize = 1;
    desc.MipLevels = 1;
    desc.Format = format;
    desc.SampleDesc.Count = 1;
    return desc;
  }
  static D3D12_RESOURCE_DESC Buffer(uint64_t size_bytes) {
    D3D12_RESOURCE_DESC desc = Texture(DXGI_FORMAT_UNKNOWN, 1, 1);
    desc.Dimension = D3D12_RESOURCE_DIMENSION_BUFFER;
    desc.Width = size_bytes;
    desc.Layout = D3D12_TEXTURE_LAYOUT_ROW_MAJOR;
    return desc;
  }
  static std::vector<std::byte> Bytes(size_t count, uint32_t seed) {
    std::vector<std::byte> bytes(count);
    for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i * 31 + seed + i / 251);
    return bytes;
  }

  ComPtr<ID3D12Device> device_;
  ComPtr<ID3D12CommandQueue> queue_;
  ComPtr<ID3D12CommandQueue> copy_queue_;
  std::unique_ptr<TextureReadback> readback_;
};

TEST_F(TextureReadbackTest, TexturesComeBackAsTheyWereWritten) {
  D3D12_RESOURCE_DESC desc = Texture(DXGI_FORMAT_R8G8B8A8_UNORM, 37, 19);
  desc.MipLevels = 3;
  desc.DepthOrArraySize = 2;
  constexpr auto kState = D3D12_RESOURCE_STATE_PIXEL_SHADER_RESOURCE;
  const auto texture = Create(desc, kState);
  for (uint32_t i = 0; i < 6; ++i) {
    const uint32_t width = 37 >> (i % 3);
    const uint32_t height = 19 >> (i % 3);
    const auto bytes = Bytes(size_t{width} * height * 4, i);
    ASSERT_TRUE(readback_->Write(queue_.get(), texture.get(), i, kState, width * 4, bytes).ok());
  }
  for (uint32_t i = 0; i < 6; ++i) {
    const Result<SubresourceBytes> read = readback_->Read(queue_.get(), texture.get(), i, kState);
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_EQ(read->width, 37u >> (i % 3));
    EXPECT_EQ(read->height, 19u >> (i % 3));
    EXPECT_EQ(read->depth, 1u);
    EXPECT_EQ(read->format, uint32_t{DXGI_FORMAT_R8G8B8A8_UNORM});
    EXPECT_EQ(read->row_bytes, read->width * 4u);
    EXPECT_EQ(read->bytes, Bytes(size_t{read->width} * read->height * 4, i)) << i;
  }
}

TEST_F(TextureReadbackTest, RowsOfAnyPitchAreTaken) {
  const auto texture = Create(Texture(DXGI_FORMAT_R16_UINT, 5, 3), D3D12_RESOURCE_STATE_COMMON);
  const auto bytes = Bytes(2 * 64 + 10, 1);
  ASSERT_TRUE(
      readback_->Write(queue_.get(), texture.get(), 0, D3D12_RESOURCE_STATE_COMMON, 64, bytes)
          .ok());
  const auto read = readback_->Read(queue_.get(), texture.get(), 0, D3D12_RESOURCE_STATE_COMMON);
  ASSERT_TRUE(read.ok()) << read.status().message();
  ASSERT_EQ(read->bytes.size(), 30u);
  for (size_t i = 0; i < 30; ++i) EXPECT_EQ(read->bytes[i], bytes[i / 10 * 64 + i % 10]) << i;
}

TEST_F(TextureReadbackTest, Volumes) {
  D3D12_RESOURCE_DESC desc = Texture(DXGI_FORMAT_R8_UNORM, 8, 4);
  desc.Dimension = D3D12_RESOURCE_DIMENSION_TEXTURE3D;
  desc.DepthOrArraySize = 6;
  const auto texture = Create(desc, D3D12_RESOURCE_STATE_COPY_DEST);
  const auto bytes = Bytes(8 * 4 * 6, 3);
  ASSERT_TRUE(
      readback_->Write(queue_.get(), texture.get(), 0, D3D12_RESOURCE_STATE_COPY_DEST, 8, bytes)
          .ok());
  const auto read = readback_->Read(queue_.get(), texture.get(), 0, D3D12_RESOURCE_STATE_COPY_DEST);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->depth, 6u);
  EXPECT_EQ(read->bytes, bytes);
}

TEST_F(TextureReadbackTest, CompressedFormats) {
  // The sizes are no multiples of the blocks.
  D3D12_RESOURCE_DESC desc = Texture(DXGI_FORMAT_BC1_UNORM, 16, 8);
  desc.MipLevels = 3;
  const auto texture = Create(desc, D3D12_RESOURCE_STATE_COMMON);
  const auto bytes = Bytes(8, 5);
  ASSERT_TRUE(
      readback_->Write(queue_.get(), texture.get(), 2, D3D12_RESOURCE_STATE_COMMON, 8, bytes).ok());
  const auto read = readback_->Read(queue_.get(), texture.get(), 2, D3D12_RESOURCE_STATE_COMMON);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->width, 4u);
  EXPECT_EQ(read->height, 2u);
  EXPECT_EQ(read->row_count, 1u);
  EXPECT_EQ(read->row_bytes, 8u);
  EXPECT_EQ(read->bytes, bytes);
}

TEST_F(TextureReadbackTest, SamplesAreResolved) {
  D3D12_RESOURCE_DESC desc = Texture(DXGI_FORMAT_R8G8B8A8_UNORM, 16, 16);
  desc.SampleDesc.Count = 4;
  desc.Flags = D3D12_RESOURCE_FLAG_ALLOW_RENDER_TARGET;
  const auto texture = Create(desc, D3D12_RESOURCE_STATE_RENDER_TARGET);
  D3D12_DESCRIPTOR_HEAP_DESC heap_desc = {};
  heap_desc.Type = D3D12_DESCRIPTOR_HEAP_TYPE_RTV;
  heap_desc.NumDescriptors = 1;
  ComPtr<ID3D12DescriptorHeap> heap;
  ASSERT_EQ(
      device_->CreateDescriptorHeap(&heap_desc, __uuidof(ID3D12DescriptorHeap), heap.Receive()),
      S_OK);
  device_->CreateRenderTargetView(texture.get(), nullptr, GetCpuStart(heap.get()));
  OneShotList clear(device_.get());
  const auto list = clear.Begin(queue_.get());
  ASSERT_TRUE(list.ok());
  const float color[] = {1.0f, 0.0f, 0.2f, 1.0f};
  (*list)->ClearRenderTargetView(GetCpuStart(heap.get()), color, 0, nullptr);
  ASSERT_TRUE(clear.Run(queue_.get(), std::chrono::seconds(20)).ok());
  for (int again = 0; again < 2; ++again) {
    const auto read =
        readback_->Read(queue_.get(), texture.get(), 0, D3D12_RESOURCE_STATE_RENDER_TARGET);
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_EQ(read->width, 16u);
    ASSERT_EQ(read->bytes.size(), 1024u);
    EXPECT_EQ(read->bytes[1020], std::byte{255});
    EXPECT_EQ(read->bytes[1021], std::byte{0});
    EXPECT_EQ(read->bytes[1022], std::byte{51});
    EXPECT_EQ(read->bytes[1023], std::byte{255});
  }
}

TEST_F(TextureReadbackTest, BuffersOfEveryHeap) {
  const std::pair<D3D12_HEAP_TYPE, D3D12_RESOURCE_STATES> heaps[] = {
      {D3D12_HEAP_TYPE_DEFAULT, D3D12_RESOURCE_STATE_COMMON},
      {D3D12_HEAP_TYPE_UPLOAD, D3D12_RESOURCE_STATE_GENERIC_READ},
      {D3D12_HEAP_TYPE_READBACK, D3D12_RESOURCE_STATE_COPY_DEST}};
  for (const auto& [type, state] : heaps) {
    const auto buffer = Create(Buffer(1000), state, type);
    const auto bytes = Bytes(500, 9);
    ASSERT_TRUE(readback_->WriteBuffer(queue_.get(), buffer.get(), 300, bytes, state).ok());
    const auto read = readback_->ReadBuffer(queue_.get(), buffer.get(), 300, 500, state);
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_EQ(*read, bytes) << type;
    const auto part = readback_->ReadBuffer(copy_queue_.get(), buffer.get(), 301, 3, state);
    ASSERT_TRUE(part.ok()) << part.status().message();
    EXPECT_EQ((*part)[2], bytes[3]);
  }
}

TEST_F(TextureReadbackTest, WhatCannotBeIsRefused) {
  const auto buffer = Create(Buffer(1000), D3D12_RESOURCE_STATE_COMMON);
  const auto texture =
      Create(Texture(DXGI_FORMAT_R8G8B8A8_UNORM, 4, 4), D3D12_RESOURCE_STATE_COMMON);
  constexpr auto kCommon = D3D12_RESOURCE_STATE_COMMON;
  EXPECT_EQ(readback_->ReadBuffer(queue_.get(), buffer.get(), 900, 101, kCommon).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(
      readback_->ReadBuffer(queue_.get(), buffer.get(), UINT64_MAX, 2, kCommon).status().code(),
      StatusCode::kInvalidArgument);
  EXPECT_EQ(readback_->ReadBuffer(queue_.get(), texture.get(), 0, 4, kCommon).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(readback_->Read(queue_.get(), buffer.get(), 0, kCommon).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(readback_->Read(queue_.get(), texture.get(), 1, kCommon).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(readback_->Write(queue_.get(), texture.get(), 0, kCommon, 16, Bytes(63, 0)).code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(readback_->Write(queue_.get(), texture.get(), 0, kCommon, 15, Bytes(64, 0)).code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(readback_
                ->ReadBuffer(queue_.get(), buffer.get(), 0, 4,
                             D3D12_RESOURCE_STATE_RAYTRACING_ACCELERATION_STRUCTURE)
                .status()
                .code(),
            StatusCode::kUnsupported);
}

}  // namespace
}  // namespace cairn
