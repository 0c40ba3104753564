// SPDX-License-Identifier: Apache-2.0
//
// Objects that the implementation keeps when the program has released them: they can be used as long as
// they are there, through the pointers that the program has. On a device of our own, whose placed
// resources keep their heap; compiled for both calling conventions.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "app/d3d12/globals.h"
#include "app/d3d12/layer.h"
#include "app/d3d12/testing/test_device.h"
#include "d3d12abi/aggregates.h"
#include "d3d12abi/testing/fake_device.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {
namespace {

constexpr uint64_t kHeapBytes = 256 << 10;
constexpr uint64_t kBufferBytes = 4096;

class KeptObjectsTest : public testing::Test {
 protected:
  KeptObjectsTest() { *device_.Receive() = WrapDevice(CreateFakeDevice(), {}); }
  ~KeptObjectsTest() override {
    device_ = {};
    EXPECT_EQ(Wrappers().size(), 0u);
    EXPECT_EQ(FakeObjectCount(), 0);
  }

  ComPtr<ID3D12Heap> NewHeap() {
    D3D12_HEAP_DESC desc = {};
    desc.SizeInBytes = kHeapBytes;
    desc.Properties.Type = D3D12_HEAP_TYPE_UPLOAD;
    ComPtr<ID3D12Heap> heap;
    EXPECT_EQ(device_->CreateHeap(&desc, __uuidof(ID3D12Heap), heap.Receive()), S_OK);
    return heap;
  }
  ComPtr<ID3D12Resource> Place(ID3D12Heap* heap, uint64_t offset_bytes) {
    const D3D12_RESOURCE_DESC desc = BufferDesc(kBufferBytes);
    ComPtr<ID3D12Resource> buffer;
    EXPECT_EQ(
        device_->CreatePlacedResource(heap, offset_bytes, &desc, D3D12_RESOURCE_STATE_GENERIC_READ,
                                      nullptr, __uuidof(ID3D12Resource), buffer.Receive()),
        S_OK);
    return buffer;
  }
  static ID3D12Heap* RealOf(ID3D12Heap* heap) {
    return static_cast<ID3D12Heap*>(RealObject(static_cast<IUnknown*>(heap)));
  }

  ComPtr<ID3D12Device> device_;
};

TEST_F(KeptObjectsTest, AHeapWithoutReferencesIsWhatItWasWhileAPlacedResourceKeepsIt) {
  ID3D12Heap* const heap = NewHeap().Detach();
  ID3D12Heap* const real = RealOf(heap);
  ASSERT_NE(real, heap);
  ComPtr<ID3D12Resource> first = Place(heap, 0);
  EXPECT_EQ(CountOf(device_.get()), 3u);
  EXPECT_EQ(heap->Release(), 0u);
  EXPECT_EQ(CountOf(device_.get()), 2u) << "it counts with the device no longer";

  EXPECT_EQ(FindWrapper(real), heap);
  EXPECT_EQ(RealOf(heap), real);
  EXPECT_EQ(GetDesc(heap).SizeInBytes, kHeapBytes);
  ComPtr<ID3D12Resource> second = Place(heap, 64 << 10);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->GetGPUVirtualAddress() - first->GetGPUVirtualAddress(), 64u << 10);
  first = {};
  EXPECT_EQ(FindWrapper(real), heap) << "the second one keeps it";
  second = {};
  EXPECT_EQ(FindWrapper(real), nullptr);
  EXPECT_EQ(FakeObjectCount(), 1) << "the device";
}

TEST_F(KeptObjectsTest, ANewReferenceMakesItCountAgain) {
  ID3D12Heap* const heap = NewHeap().Detach();
  ID3D12Heap* const real = RealOf(heap);
  ComPtr<ID3D12Resource> buffer = Place(heap, 0);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(heap->Release(), 0u);
    EXPECT_EQ(CountOf(device_.get()), 2u);
    EXPECT_EQ(heap->AddRef(), 1u);
    EXPECT_EQ(CountOf(device_.get()), 3u);
  }
  buffer = {};
  EXPECT_EQ(FindWrapper(real), heap) << "the reference keeps it";
  EXPECT_EQ(GetDesc(heap).SizeInBytes, kHeapBytes);
  EXPECT_EQ(heap->Release(), 0u);
  EXPECT_EQ(FindWrapper(real), nullptr);
}

TEST_F(KeptObjectsTest, ItMayOutliveTheReferencesOfItsDevice) {
  ID3D12Heap* const heap = NewHeap().Detach();
  ComPtr<ID3D12Resource> buffer = Place(heap, 0);
  EXPECT_EQ(heap->Release(), 0u);
  EXPECT_EQ(device_.Detach()->Release(), 1u);
  EXPECT_EQ(GetDesc(heap).SizeInBytes, kHeapBytes);
  EXPECT_EQ(heap->AddRef(), 1u);
  EXPECT_EQ(heap->Release(), 0u);
  ComPtr<ID3D12Device> again;
  EXPECT_EQ(heap->GetDevice(__uuidof(ID3D12Device), again.Receive()), S_OK);
  EXPECT_EQ(CountOf(again.get()), 2u);
}

// The real object may end in the same moment as the last reference: the wrapper must be released
// once, in any order.
TEST_F(KeptObjectsTest, HeapAndResourceMayGoAtTheSameTime) {
  constexpr int kRounds = 2000;
  std::vector<ID3D12Heap*> heaps(kRounds);
  std::vector<ID3D12Resource*> buffers(kRounds);
  for (int i = 0; i < kRounds; ++i) {
    // All fake devices have 16 MiB.
    D3D12_HEAP_DESC desc = {};
    desc.SizeInBytes = kBufferBytes;
    desc.Properties.Type = D3D12_HEAP_TYPE_UPLOAD;
    ASSERT_EQ(device_->CreateHeap(&desc, __uuidof(ID3D12Heap), reinterpret_cast<void**>(&heaps[i])),
              S_OK);
    buffers[i] = Place(heaps[i], 0).Detach();
  }
  std::atomic<int> started{0};
  const auto release_all = [&](auto& objects) {
    ++started;
    while (started != 2) {
    }
    for (auto* const object : objects) object->Release();
  };
  std::thread other([&] { release_all(heaps); });
  release_all(buffers);
  other.join();
  EXPECT_EQ(Wrappers().size(), 1u) << "the device";
}

}  // namespace
}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
