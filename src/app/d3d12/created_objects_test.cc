// SPDX-License-Identifier: Apache-2.0
//
// Notes in the block about objects that the implementation makes, or has no memory for: on a device of our own with
// 16 MiB; compiled for both calling conventions.
#include <gtest/gtest.h>

#include "app/d3d12/device.h"
#include "app/d3d12/globals.h"
#include "app/d3d12/layer.h"
#include "app/d3d12/testing/test_device.h"
#include "app/recorder/block_writer.h"
#include "d3d12abi/testing/fake_device.h"
#include "format/block/object_description.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {
namespace {

constexpr uint64_t kTooManyBytes = uint64_t{1} << 30;

class CreatedObjectsTest : public testing::Test {
 protected:
  CreatedObjectsTest() { *device_.Receive() = WrapDevice(CreateFakeDevice(), {}); }

  const MemoryRecord& Memory() const {
    const auto* const device =
        static_cast<WrappedID3D12Device*>(AsWrapper(static_cast<IUnknown*>(device_.get())));
    EXPECT_NE(device->context(), nullptr);
    return ProcessBlock()->memory()[device->context() == nullptr ? 0 : device->context_index()];
  }

  ObjectDescription DescriptionOf(const D3D12_RESOURCE_DESC& desc) {
    D3D12_HEAP_PROPERTIES heap = {};
    heap.Type = D3D12_HEAP_TYPE_DEFAULT;
    ComPtr<ID3D12Resource> made;
    EXPECT_EQ(device_->CreateCommittedResource(&heap, D3D12_HEAP_FLAG_NONE, &desc,
                                               D3D12_RESOURCE_STATE_COMMON, nullptr,
                                               __uuidof(ID3D12Resource), made.Receive()),
              S_OK);
    if (made.get() == nullptr) return {};
    return UnpackDescription(
        ProcessBlock()->objects().Find(AsWrapper(made.get())->object_index())->description);
  }

  HRESULT MakeHeap(uint64_t bytes, ComPtr<ID3D12Heap>* heap) {
    D3D12_HEAP_DESC desc = {};
    desc.SizeInBytes = bytes;
    desc.Properties.Type = D3D12_HEAP_TYPE_UPLOAD;
    return device_->CreateHeap(&desc, __uuidof(ID3D12Heap), heap->Receive());
  }

  ComPtr<ID3D12Device> device_;
};

TEST_F(CreatedObjectsTest, ThatMemoryRanOutIsNotedWithWhatWasMade) {
  EXPECT_EQ(Memory().state.load(), kEntryFree) << "nothing has failed";
  ComPtr<ID3D12Resource> buffer;
  EXPECT_EQ(CreateBuffer(device_.get(), kTooManyBytes, __uuidof(ID3D12Resource), buffer.Receive()),
            E_OUTOFMEMORY);
  EXPECT_EQ(buffer.get(), nullptr);
  ASSERT_EQ(Memory().state.load(), kEntryPublished);
  EXPECT_EQ(Memory().result, E_OUTOFMEMORY);
  EXPECT_EQ(Memory().failed_count, 1u);
  EXPECT_STREQ(Memory().function, "creation of an object with ID3D12Resource");
  EXPECT_EQ(Memory().wanted_bytes, 0u);
  EXPECT_EQ(Memory().heap_count, 0u) << "no adapter has the LUID of this device";

  ComPtr<ID3D12Heap> heap;
  EXPECT_EQ(MakeHeap(kTooManyBytes, &heap), E_OUTOFMEMORY);
  EXPECT_EQ(heap.get(), nullptr);
  EXPECT_STREQ(Memory().function, "creation of an object with ID3D12Heap");
  EXPECT_EQ(Memory().failed_count, 2u);

  D3D12_DESCRIPTOR_HEAP_DESC desc = {};
  desc.Type = D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV;
  desc.NumDescriptors = 1u << 28;
  ComPtr<ID3D12DescriptorHeap> descriptors;
  EXPECT_EQ(
      device_->CreateDescriptorHeap(&desc, __uuidof(ID3D12DescriptorHeap), descriptors.Receive()),
      E_OUTOFMEMORY);
  EXPECT_STREQ(Memory().function, "creation of an object with ID3D12DescriptorHeap");
  EXPECT_EQ(Memory().failed_count, 3u);
}

TEST_F(CreatedObjectsTest, CallsThatSucceedOrFailOtherwiseAreNotNoted) {
  ComPtr<ID3D12Heap> heap;
  ASSERT_EQ(MakeHeap(64 << 10, &heap), S_OK);
  const D3D12_RESOURCE_DESC desc = BufferDesc(128 << 10);
  ComPtr<ID3D12Resource> buffer;
  EXPECT_EQ(device_->CreatePlacedResource(heap.get(), 0, &desc, D3D12_RESOURCE_STATE_GENERIC_READ,
                                          nullptr, __uuidof(ID3D12Resource), buffer.Receive()),
            E_INVALIDARG);
  EXPECT_EQ(Memory().state.load(), kEntryFree);
}

TEST_F(CreatedObjectsTest, EachDeviceHasItsOwnNote) {
  ComPtr<ID3D12Device> other;
  *other.Receive() = WrapDevice(CreateFakeDevice(), {});
  ComPtr<ID3D12Resource> buffer;
  EXPECT_EQ(CreateBuffer(other.get(), kTooManyBytes, __uuidof(ID3D12Resource), buffer.Receive()),
            E_OUTOFMEMORY);
  EXPECT_EQ(Memory().state.load(), kEntryFree);
}

TEST_F(CreatedObjectsTest, TexturesAreDescribed) {
  D3D12_RESOURCE_DESC desc = {};
  desc.Dimension = D3D12_RESOURCE_DIMENSION_TEXTURE2D;
  desc.Width = 1920;
  desc.Height = 1080;
  desc.DepthOrArraySize = 6;
  desc.MipLevels = 1;
  desc.SampleDesc.Count = 1;
  desc.Format = DXGI_FORMAT_R16G16B16A16_FLOAT;
  desc.Flags = D3D12_RESOURCE_FLAG_ALLOW_RENDER_TARGET | D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS;
  ObjectDescription expected;
  expected.shape = ObjectShape::kTexture2D;
  expected.uses = kUsedAsTarget | kUsedAsStorage;
  expected.format = DXGI_FORMAT_R16G16B16A16_FLOAT;
  expected.width = 1920;
  expected.height = 1080;
  expected.layers = 6;
  EXPECT_EQ(DescriptionOf(desc), expected);

  desc.Format = DXGI_FORMAT_D32_FLOAT;
  desc.Flags = D3D12_RESOURCE_FLAG_ALLOW_DEPTH_STENCIL;
  expected.uses = kUsedAsDepth;
  expected.format = DXGI_FORMAT_D32_FLOAT;
  EXPECT_EQ(DescriptionOf(desc), expected);

  desc.Dimension = D3D12_RESOURCE_DIMENSION_TEXTURE3D;
  desc.Format = DXGI_FORMAT_R8_UNORM;
  desc.Flags = D3D12_RESOURCE_FLAG_NONE;
  desc.DepthOrArraySize = 64;
  expected.shape = ObjectShape::kTexture3D;
  expected.uses = 0;
  expected.format = DXGI_FORMAT_R8_UNORM;
  expected.layers = 64;
  EXPECT_EQ(DescriptionOf(desc), expected);

  // Larger ones are described as the largest.
  desc.Dimension = D3D12_RESOURCE_DIMENSION_TEXTURE1D;
  desc.Width = uint64_t{1} << 40;
  desc.Height = 1;
  desc.DepthOrArraySize = 2048;
  expected.shape = ObjectShape::kTexture1D;
  expected.width = 65535;
  expected.height = 1;
  expected.layers = 255;
  EXPECT_EQ(DescriptionOf(desc), expected);
}

TEST_F(CreatedObjectsTest, BuffersAreDescribedByTheirUse) {
  ObjectDescription expected;
  expected.shape = ObjectShape::kBuffer;
  EXPECT_EQ(DescriptionOf(BufferDesc(4096)), expected) << "a buffer's size is a field of its own";
  expected.uses = kUsedAsStorage;
  EXPECT_EQ(DescriptionOf(BufferDesc(4096, D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS)), expected);
}

}  // namespace
}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
