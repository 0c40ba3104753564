// SPDX-License-Identifier: Apache-2.0
//
// The declarations fit the implementation: methods that return aggregates fill them with the values
// that they must have, and so do methods called after them.
#include "d3d12abi/d3d12_api.h"

#include <gtest/gtest.h>

#include "d3d12abi/aggregates.h"
#include "d3d12abi/buffer_desc.h"
#include "d3d12abi/com_ptr.h"
#include "d3d12abi/testing/system_device.h"

namespace cairn {
namespace {

class D3D12ApiTest : public testing::Test {
 protected:
  void SetUp() override {
    device_ = CreateSystemDevice();
    if (!device_) GTEST_SKIP() << "no device of Direct3D 12";
  }

  ComPtr<ID3D12DescriptorHeap> CreateDescriptorHeap(uint32_t count) {
    D3D12_DESCRIPTOR_HEAP_DESC desc = {};
    desc.Type = D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV;
    desc.NumDescriptors = count;
    desc.Flags = D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE;
    ComPtr<ID3D12DescriptorHeap> heap;
    EXPECT_EQ(device_->CreateDescriptorHeap(&desc, __uuidof(ID3D12DescriptorHeap), heap.Receive()),
              S_OK);
    return heap;
  }

  ComPtr<ID3D12Device> device_;
};

// An implementation that counts in other units runs over the end.
TEST_F(D3D12ApiTest, NamesAreReadAsWideCharacters) {
  static_assert(sizeof(WCHAR) == sizeof(wchar_t));
  EXPECT_EQ(device_->SetName(L"device"), S_OK);
  const auto heap = CreateDescriptorHeap(1);
  EXPECT_EQ(heap->SetName(L"heap"), S_OK);
}

TEST_F(D3D12ApiTest, InterfacesAnswerToTheirIdentifiers) {
  EXPECT_EQ(device_.As<ID3D12Device>().get(), device_.get());
  EXPECT_TRUE(device_.As<IUnknown>());
  EXPECT_FALSE(device_.As<ID3D12Resource>());
}

TEST_F(D3D12ApiTest, DescriptorHeapStarts) {
  const auto first = CreateDescriptorHeap(5);
  const auto second = CreateDescriptorHeap(7);
  EXPECT_NE(GetCpuStart(first.get()).ptr, 0u);
  EXPECT_NE(GetCpuStart(first.get()).ptr, GetCpuStart(second.get()).ptr);
  EXPECT_NE(GetGpuStart(first.get()).ptr, 0u);
  EXPECT_NE(GetGpuStart(first.get()).ptr, GetGpuStart(second.get()).ptr);
  EXPECT_EQ(GetCpuStart(first.get()).ptr, GetCpuStart(first.get()).ptr);
  EXPECT_EQ(GetDesc(first.get()).NumDescriptors, 5u);
  EXPECT_EQ(GetDesc(second.get()).NumDescriptors, 7u);
  EXPECT_EQ(GetDesc(second.get()).Type, D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV);
}

TEST_F(D3D12ApiTest, ResourceDescription) {
  D3D12_HEAP_PROPERTIES heap = {};
  heap.Type = D3D12_HEAP_TYPE_READBACK;
  const D3D12_RESOURCE_DESC wanted = BufferDesc(12345);
  ComPtr<ID3D12Resource> buffer;
  ASSERT_EQ(device_->CreateCommittedResource(&heap, D3D12_HEAP_FLAG_NONE, &wanted,
                                             D3D12_RESOURCE_STATE_COPY_DEST, nullptr,
                                             __uuidof(ID3D12Resource), buffer.Receive()),
            S_OK);
  const D3D12_RESOURCE_DESC desc = GetDesc(buffer.get());
  EXPECT_EQ(desc.Dimension, D3D12_RESOURCE_DIMENSION_BUFFER);
  EXPECT_EQ(desc.Width, 12345u);
  EXPECT_EQ(desc.Height, 1u);
  EXPECT_EQ(desc.Layout, D3D12_TEXTURE_LAYOUT_ROW_MAJOR);
  EXPECT_NE(buffer->GetGPUVirtualAddress(), 0u);
}

TEST_F(D3D12ApiTest, ResourceAllocationInfo) {
  const D3D12_RESOURCE_DESC desc = BufferDesc(100000);
  const D3D12_RESOURCE_ALLOCATION_INFO info = GetAllocationInfo(device_.get(), desc);
  EXPECT_EQ(info.SizeInBytes, 131072u);
  EXPECT_EQ(info.Alignment, 65536u);
}

TEST_F(D3D12ApiTest, CustomHeapProperties) {
  const D3D12_HEAP_PROPERTIES upload =
      GetCustomHeapProperties(device_.get(), D3D12_HEAP_TYPE_UPLOAD);
  EXPECT_EQ(upload.Type, D3D12_HEAP_TYPE_CUSTOM);
  EXPECT_NE(upload.CPUPageProperty, D3D12_CPU_PAGE_PROPERTY_UNKNOWN);
  const D3D12_HEAP_PROPERTIES device_memory =
      GetCustomHeapProperties(device_.get(), D3D12_HEAP_TYPE_DEFAULT);
  EXPECT_EQ(device_memory.Type, D3D12_HEAP_TYPE_CUSTOM);
  EXPECT_EQ(device_memory.CPUPageProperty, D3D12_CPU_PAGE_PROPERTY_NOT_AVAILABLE);
}

TEST_F(D3D12ApiTest, QueueDescription) {
  D3D12_COMMAND_QUEUE_DESC wanted = {};
  wanted.Type = D3D12_COMMAND_LIST_TYPE_COPY;
  ComPtr<ID3D12CommandQueue> queue;
  ASSERT_EQ(device_->CreateCommandQueue(&wanted, __uuidof(ID3D12CommandQueue), queue.Receive()),
            S_OK);
  EXPECT_EQ(GetDesc(queue.get()).Type, D3D12_COMMAND_LIST_TYPE_COPY);
  EXPECT_EQ(GetDesc(queue.get()).NodeMask, 1u);
}

TEST_F(D3D12ApiTest, HeapDescription) {
  D3D12_HEAP_DESC wanted = {};
  wanted.SizeInBytes = 131072;
  wanted.Properties.Type = D3D12_HEAP_TYPE_UPLOAD;
  wanted.Flags = D3D12_HEAP_FLAG_ALLOW_ONLY_BUFFERS;
  ComPtr<ID3D12Heap> heap;
  ASSERT_EQ(device_->CreateHeap(&wanted, __uuidof(ID3D12Heap), heap.Receive()), S_OK);
  EXPECT_EQ(GetDesc(heap.get()).SizeInBytes, 131072u);
  EXPECT_EQ(GetDesc(heap.get()).Properties.Type, D3D12_HEAP_TYPE_UPLOAD);
}

TEST(ComPtrTest, CountsReferences) {
  const ComPtr<ID3D12Device> owner = CreateSystemDevice();
  ASSERT_TRUE(owner);
  ID3D12Device* const device = owner.get();
  const auto count = [&] {
    device->AddRef();
    return device->Release();
  };
  const uint32_t before = count();
  {
    const ComPtr<ID3D12Device> one(device);
    EXPECT_EQ(count(), before + 1);
    ComPtr<ID3D12Device> two = one;
    EXPECT_EQ(count(), before + 2);
    const ComPtr<ID3D12Device> three = std::move(two);
    EXPECT_EQ(count(), before + 2);
    EXPECT_FALSE(two);  // NOLINT: moved from on purpose
    ComPtr<ID3D12Device> four = one.As<ID3D12Device>();
    EXPECT_EQ(count(), before + 3);
    four = ComPtr<ID3D12Device>();
    EXPECT_EQ(count(), before + 2);
  }
  EXPECT_EQ(count(), before);
  ComPtr<ID3D12Device> detached(device);
  EXPECT_EQ(detached.Detach(), device);
  EXPECT_EQ(count(), before + 1);
  device->Release();
}

}  // namespace
}  // namespace cairn
