// SPDX-License-Identifier: Apache-2.0
//
// The declarations fit an implementation that is compiled with the same convention: arguments and
// aggregates arrive. Compiled once for each convention.
#include "d3d12abi/testing/fake_device.h"

#include <gtest/gtest.h>

#include <utility>

#include "d3d12abi/aggregates.h"
#include "d3d12abi/com_ptr.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {
namespace {

// The initial bytes of memory that the CPU writes: a real device promises no value.
constexpr uint8_t kFreshByte = 0xCD;

ComPtr<ID3D12Device> MakeDevice() {
  ComPtr<ID3D12Device> device(CreateFakeDevice());
  device->Release();
  return device;
}

ComPtr<ID3D12Resource> MakeBuffer(ID3D12Device* device, uint64_t size) {
  D3D12_HEAP_PROPERTIES heap = {};
  heap.Type = D3D12_HEAP_TYPE_UPLOAD;
  D3D12_RESOURCE_DESC desc = {};
  desc.Dimension = D3D12_RESOURCE_DIMENSION_BUFFER;
  desc.Width = size;
  ComPtr<ID3D12Resource> buffer;
  EXPECT_EQ(device->CreateCommittedResource(&heap, D3D12_HEAP_FLAG_NONE, &desc,
                                            D3D12_RESOURCE_STATE_COPY_DEST, nullptr,
                                            __uuidof(ID3D12Resource), buffer.Receive()),
            S_OK);
  return buffer;
}

TEST(FakeDevice, AggregatesAreReturned) {
  const ComPtr<ID3D12Device> device = MakeDevice();
  EXPECT_EQ(GetAdapterLuid(device.get()).LowPart, kFakeLuidLow);
  EXPECT_EQ(GetAdapterLuid(device.get()).HighPart, kFakeLuidHigh);
  const ComPtr<ID3D12Resource> buffer = MakeBuffer(device.get(), 12345);
  EXPECT_EQ(GetDesc(buffer.get()).Width, 12345u);
  EXPECT_EQ(GetAllocationInfo(device.get(), GetDesc(buffer.get())).SizeInBytes, 12345u);
  EXPECT_EQ(GetAllocationInfo(device.get(), GetDesc(buffer.get())).Alignment, 65536u);
  EXPECT_EQ(GetCustomHeapProperties(device.get(), D3D12_HEAP_TYPE_DEFAULT).CPUPageProperty,
            D3D12_CPU_PAGE_PROPERTY_NOT_AVAILABLE);
  EXPECT_EQ(device->GetDescriptorHandleIncrementSize(D3D12_DESCRIPTOR_HEAP_TYPE_RTV), 34u);
}

HRESULT MakeDescriptorHeap(ID3D12Device* device, UINT type, UINT count,
                           ComPtr<ID3D12DescriptorHeap>* heap) {
  D3D12_DESCRIPTOR_HEAP_DESC desc = {};
  desc.Type = static_cast<D3D12_DESCRIPTOR_HEAP_TYPE>(type);
  desc.NumDescriptors = count;
  return device->CreateDescriptorHeap(&desc, __uuidof(ID3D12DescriptorHeap), heap->Receive());
}

TEST(FakeDevice, MemoryHasAnEndAndComesBack) {
  constexpr uint64_t kMemoryBytes = uint64_t{16} << 20;
  const ComPtr<ID3D12Device> device = MakeDevice();
  for (int i = 0; i < 2; ++i) {
    const ComPtr<ID3D12Resource> all_but_little = MakeBuffer(device.get(), kMemoryBytes - 64);
    ComPtr<ID3D12DescriptorHeap> heap;
    EXPECT_EQ(MakeDescriptorHeap(device.get(), D3D12_DESCRIPTOR_HEAP_TYPE_RTV, 2, &heap),
              E_OUTOFMEMORY);
    EXPECT_EQ(MakeDescriptorHeap(device.get(), D3D12_DESCRIPTOR_HEAP_TYPE_RTV, 1, &heap), S_OK);
  }
  ComPtr<ID3D12DescriptorHeap> heap;
  EXPECT_EQ(MakeDescriptorHeap(device.get(), D3D12_DESCRIPTOR_HEAP_TYPE_RTV, ~0u, &heap),
            E_OUTOFMEMORY);
}

TEST(FakeDevice, DescriptorsAreOfAKnownType) {
  const ComPtr<ID3D12Device> device = MakeDevice();
  for (const UINT type : {UINT{D3D12_DESCRIPTOR_HEAP_TYPE_NUM_TYPES}, 0x05000000u, ~0u}) {
    ComPtr<ID3D12DescriptorHeap> heap;
    EXPECT_EQ(MakeDescriptorHeap(device.get(), type, 8, &heap), E_INVALIDARG) << type;
  }
}

TEST(FakeDevice, ArgumentsArriveInTheirOrder) {
  const ComPtr<ID3D12Device> device = MakeDevice();
  const ComPtr<ID3D12Resource> from = MakeBuffer(device.get(), 64);
  const ComPtr<ID3D12Resource> to = MakeBuffer(device.get(), 64);
  uint8_t* source = nullptr;
  uint8_t* target = nullptr;
  ASSERT_EQ(from->Map(0, nullptr, reinterpret_cast<void**>(&source)), S_OK);
  ASSERT_EQ(to->Map(0, nullptr, reinterpret_cast<void**>(&target)), S_OK);
  for (uint8_t i = 0; i < 64; ++i) source[i] = i;
  ComPtr<ID3D12CommandAllocator> allocator;
  ComPtr<ID3D12GraphicsCommandList> list;
  ASSERT_EQ(device->CreateCommandAllocator(D3D12_COMMAND_LIST_TYPE_COPY,
                                           __uuidof(ID3D12CommandAllocator), allocator.Receive()),
            S_OK);
  ASSERT_EQ(device->CreateCommandList(0, D3D12_COMMAND_LIST_TYPE_COPY, allocator.get(), nullptr,
                                      __uuidof(ID3D12GraphicsCommandList), list.Receive()),
            S_OK);
  EXPECT_EQ(list->GetType(), D3D12_COMMAND_LIST_TYPE_COPY);
  list->CopyBufferRegion(to.get(), 8, from.get(), 16, 4);
  EXPECT_EQ(list->Close(), S_OK);
  D3D12_COMMAND_QUEUE_DESC desc = {};
  desc.Type = D3D12_COMMAND_LIST_TYPE_COPY;
  desc.Priority = 100;
  ComPtr<ID3D12CommandQueue> queue;
  ASSERT_EQ(device->CreateCommandQueue(&desc, __uuidof(ID3D12CommandQueue), queue.Receive()), S_OK);
  EXPECT_EQ(GetDesc(queue.get()).Priority, 100);
  ID3D12CommandList* const lists[] = {list.get()};
  queue->ExecuteCommandLists(1, lists);
  EXPECT_EQ(target[7], kFreshByte);
  EXPECT_EQ(target[8], 16);
  EXPECT_EQ(target[11], 19);
  EXPECT_EQ(target[12], kFreshByte);
}

TEST(FakeDevice, EverythingGoesWithItsLastReference) {
  const int before = FakeObjectCount();
  {
    const ComPtr<ID3D12Device> device = MakeDevice();
    const ComPtr<ID3D12Resource> buffer = MakeBuffer(device.get(), 4);
    EXPECT_TRUE(buffer.As<IUnknown>());
    EXPECT_FALSE(buffer.As<ID3D12Fence>());
    EXPECT_EQ(FakeObjectCount(), before + 3);  // a committed resource has a heap of its own
  }
  EXPECT_EQ(FakeObjectCount(), before);
}

}  // namespace
}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
