// SPDX-License-Identifier: Apache-2.0
#include "reader/replay/descriptor_views.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "d3d12abi/buffer_desc.h"
#include "reader/replay/testing/test_call.h"

namespace cairn {
namespace {

using testing::HasSubstr;

constexpr uint64_t kTargets = 10;  // a heap of 8 descriptors
constexpr uint64_t kOthers = 11;
constexpr uint64_t kTexture = 20;
constexpr uint64_t kBuffer = 21;
constexpr uint64_t kList = 30;
constexpr D3D12_CPU_DESCRIPTOR_HANDLE kHandle = {0};  // values are not looked at

class DescriptorViewsTest : public testing::Test {
 protected:
  DescriptorViewsTest() {
    objects_.AddHeap(kTargets, D3D12_DESCRIPTOR_HEAP_TYPE_RTV, 8);
    objects_.AddHeap(kOthers, D3D12_DESCRIPTOR_HEAP_TYPE_RTV, 8);
    D3D12_RESOURCE_DESC desc = {};
    desc.Dimension = D3D12_RESOURCE_DIMENSION_TEXTURE2D;
    desc.Width = 64;
    desc.Height = 32;
    desc.DepthOrArraySize = 1;
    desc.MipLevels = 3;
    desc.Format = DXGI_FORMAT_R8G8B8A8_UNORM;
    desc.SampleDesc.Count = 1;
    objects_.AddResource(kTexture, desc);
    objects_.AddResource(kBuffer, BufferDesc(4096));
  }

  // A view of a mip of the texture.
  Status SetTarget(uint64_t heap, uint32_t index, uint32_t mip = 0, uint64_t resource = kTexture) {
    D3D12_RENDER_TARGET_VIEW_DESC desc = {};
    desc.ViewDimension = D3D12_RTV_DIMENSION_TEXTURE2D;
    desc.Texture2D.MipSlice = mip;
    TestCall set(&objects_.table, Method::ID3D12Device_CreateRenderTargetView, TestObjects::kDevice,
                 objects_.Real(resource), &desc, kHandle);
    return Made(&set, {objects_.At(heap, index)});
  }
  Status Made(TestCall* call, const std::vector<ReplayDescriptor>& descriptors) {
    const Status status = views_.Check(&call->call, descriptors);
    if (status.ok()) views_.Note(&call->call, descriptors);
    return status;
  }
  // Clears the rectangles, and leaves in `rects` those that are passed on.
  Status Clear(uint64_t heap, uint32_t index, std::vector<D3D12_RECT>* rects) {
    const float colour[4] = {};
    TestCall clear(&objects_.table, Method::ID3D12GraphicsCommandList_ClearRenderTargetView, kList,
                   kHandle, static_cast<const float*>(colour), static_cast<UINT>(rects->size()),
                   static_cast<const D3D12_RECT*>(rects->data()));
    const Status status = Made(&clear, {objects_.At(heap, index)});
    rects->resize(clear.call.At<UINT>(2));
    return status;
  }
  Status Clear(uint64_t heap, uint32_t index) {
    std::vector<D3D12_RECT> all;
    return Clear(heap, index, &all);
  }

  TestObjects objects_;
  DescriptorViews views_{&objects_.table};
};

TEST_F(DescriptorViewsTest, IsNeedlessForMethodsWithoutViewsAlone) {
  TestCall draw(&objects_.table, Method::ID3D12GraphicsCommandList_DrawInstanced, kList, UINT{3},
                UINT{1}, UINT{0}, UINT{0});
  EXPECT_TRUE(Made(&draw, {}).ok());
  EXPECT_FALSE(draw.call.Needs(CallPart::kViewChecks));
  EXPECT_FALSE(draw.call.Needs(CallPart::kViewNotes));
  EXPECT_TRUE(draw.call.Needs(CallPart::kCopyChecks));
  D3D12_RENDER_TARGET_VIEW_DESC desc = {};
  desc.ViewDimension = D3D12_RTV_DIMENSION_TEXTURE2D;
  TestCall set(&objects_.table, Method::ID3D12Device_CreateRenderTargetView, TestObjects::kDevice,
               objects_.Real(kTexture), &desc, kHandle);
  EXPECT_TRUE(Made(&set, {objects_.At(kTargets, 0)}).ok());
  EXPECT_TRUE(set.call.Needs(CallPart::kViewChecks));
  EXPECT_TRUE(set.call.Needs(CallPart::kViewNotes));
}

TEST_F(DescriptorViewsTest, ClearIsCutToTheMipOfItsView) {
  ASSERT_TRUE(SetTarget(kTargets, 5, /*mip=*/1).ok());  // 32 x 16
  std::vector<D3D12_RECT> rects = {{-4, -4, 100, 100}, {40, 0, 50, 8}, {2, 3, 4, 5}};
  EXPECT_TRUE(Clear(kTargets, 5, &rects).ok());
  ASSERT_EQ(rects.size(), 2u);
  EXPECT_EQ(rects[0].left, 0);
  EXPECT_EQ(rects[0].top, 0);
  EXPECT_EQ(rects[0].right, 32);
  EXPECT_EQ(rects[0].bottom, 16);
  EXPECT_EQ(rects[1].left, 2);
  EXPECT_EQ(rects[1].bottom, 5);
  rects = {{32, 0, 64, 16}};
  EXPECT_EQ(Clear(kTargets, 5, &rects).code(), StatusCode::kInvalidArgument);
}

// Descriptors before, behind, and in another heap.
TEST_F(DescriptorViewsTest, OthersHoldNoView) {
  ASSERT_TRUE(SetTarget(kTargets, 5).ok());
  for (const ReplayDescriptor& other :
       {objects_.At(kTargets, 4), objects_.At(kTargets, 6), objects_.At(kOthers, 5)}) {
    const Status status = Clear(other.heap, other.index);
    EXPECT_EQ(status.code(), StatusCode::kUnsupported);
    EXPECT_EQ(status.message(), "its descriptor holds no view");
  }
}

// A call that failed, or that was skipped, is not noted.
TEST_F(DescriptorViewsTest, RefusedViewIsNotHeld) {
  const Status status = SetTarget(kTargets, 2, /*mip=*/3);
  EXPECT_EQ(status.code(), StatusCode::kCorrupt);
  EXPECT_THAT(status.message(), HasSubstr("a view of 1 mips from 3 and 1 slices from 0 on of "
                                          "resource 20, which has 3 and 1"));
  EXPECT_EQ(SetTarget(kTargets, 2, 0, kBuffer).message(), "its target is a buffer");
  EXPECT_EQ(Clear(kTargets, 2).message(), "its descriptor holds no view");
}

TEST_F(DescriptorViewsTest, CopiesHoldWhatTheirSourcesHeld) {
  ASSERT_TRUE(SetTarget(kTargets, 1, /*mip=*/2).ok());  // 16 x 8
  TestCall copy(&objects_.table, Method::ID3D12Device_CopyDescriptorsSimple, TestObjects::kDevice,
                UINT{2}, kHandle, kHandle, D3D12_DESCRIPTOR_HEAP_TYPE_RTV);
  ASSERT_TRUE(SetTarget(kOthers, 7).ok());  // the second one of the copy clears it again
  ASSERT_TRUE(Made(&copy, {objects_.At(kOthers, 6), objects_.At(kTargets, 1)}).ok());
  std::vector<D3D12_RECT> rects = {{0, 0, 64, 64}};
  EXPECT_TRUE(Clear(kOthers, 6, &rects).ok());
  EXPECT_EQ(rects.at(0).right, 16);
  EXPECT_EQ(rects.at(0).bottom, 8);
  EXPECT_EQ(Clear(kOthers, 7).message(), "its descriptor holds no view");
}

// Ranges of 1 and 2 descriptors are filled from one of 3.
TEST_F(DescriptorViewsTest, CopiesOfRangesOfOtherSizes) {
  ASSERT_TRUE(SetTarget(kTargets, 0, 0).ok());
  ASSERT_TRUE(SetTarget(kTargets, 1, 1).ok());
  ASSERT_TRUE(SetTarget(kTargets, 2, 2).ok());
  const D3D12_CPU_DESCRIPTOR_HANDLE handles[2] = {};
  const UINT to_sizes[] = {1, 2}, from_sizes[] = {3};
  const auto* const all = static_cast<const D3D12_CPU_DESCRIPTOR_HANDLE*>(handles);
  TestCall copy(&objects_.table, Method::ID3D12Device_CopyDescriptors, TestObjects::kDevice,
                UINT{2}, all, static_cast<const UINT*>(to_sizes), UINT{1}, all,
                static_cast<const UINT*>(from_sizes), D3D12_DESCRIPTOR_HEAP_TYPE_RTV);
  ASSERT_TRUE(
      Made(&copy, {objects_.At(kOthers, 3), objects_.At(kOthers, 6), objects_.At(kTargets, 0)})
          .ok());
  const LONG widths[] = {64, 32, 16};
  const uint32_t places[] = {3, 6, 7};
  for (size_t i = 0; i < 3; ++i) {
    std::vector<D3D12_RECT> rects = {{0, 0, 100, 100}};
    EXPECT_TRUE(Clear(kOthers, places[i], &rects).ok());
    EXPECT_EQ(rects.at(0).right, widths[i]);
  }
}

// The descriptor outlives the resource; the range of targets reaches to it.
TEST_F(DescriptorViewsTest, ResourceThatHasEnded) {
  ASSERT_TRUE(SetTarget(kTargets, 3).ok());
  objects_.table.Remove(kTexture);
  const char* const gist =
      "descriptor 3 of descriptor heap 10 is a view of resource 20, which has ended";
  EXPECT_EQ(Clear(kTargets, 3).message(), gist);
  const auto set = [&](UINT count, BOOL is_range) {
    const D3D12_CPU_DESCRIPTOR_HANDLE* const handles = &kHandle;
    TestCall call(&objects_.table, Method::ID3D12GraphicsCommandList_OMSetRenderTargets, kList,
                  count, handles, is_range, nullptr);
    return Made(&call, {objects_.At(kTargets, 2)});
  };
  EXPECT_TRUE(set(1, TRUE).ok());
  EXPECT_TRUE(set(2, FALSE).ok());
  EXPECT_EQ(set(2, TRUE).message(), gist);
}

TEST_F(DescriptorViewsTest, HeapThatTakesTheNumberOfAnother) {
  ASSERT_TRUE(SetTarget(kTargets, 1).ok());
  objects_.table.Remove(kTargets);
  views_.Remove(kTargets);
  objects_.AddHeap(kTargets, D3D12_DESCRIPTOR_HEAP_TYPE_RTV, 2);
  EXPECT_EQ(Clear(kTargets, 1).message(), "its descriptor holds no view");
}

// Views are cleared as what they are; of the two descriptors the CPU reads the second.
TEST_F(DescriptorViewsTest, ClearThroughAnotherKindOfView) {
  constexpr uint64_t kViews = 12;
  objects_.AddHeap(kViews, D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV, 4);
  IUnknown* const buffer = objects_.Real(kBuffer);
  TestCall srv(&objects_.table, Method::ID3D12Device_CreateShaderResourceView, TestObjects::kDevice,
               buffer, nullptr, kHandle);
  TestCall uav(&objects_.table, Method::ID3D12Device_CreateUnorderedAccessView,
               TestObjects::kDevice, buffer, nullptr, nullptr, kHandle);
  ASSERT_TRUE(Made(&srv, {objects_.At(kViews, 0)}).ok());
  ASSERT_TRUE(Made(&uav, {objects_.At(kViews, 1)}).ok());
  const auto clear = [&](uint32_t for_gpu, uint32_t for_cpu) {
    const UINT values[4] = {};
    TestCall call(&objects_.table, Method::ID3D12GraphicsCommandList_ClearUnorderedAccessViewUint,
                  kList, D3D12_GPU_DESCRIPTOR_HANDLE{0}, kHandle, buffer,
                  static_cast<const UINT*>(values), UINT{0}, nullptr);
    return Made(&call, {objects_.At(kViews, for_gpu), objects_.At(kViews, for_cpu)});
  };
  EXPECT_TRUE(clear(0, 1).ok());
  EXPECT_EQ(clear(1, 0).message(), "descriptor 0 of descriptor heap 12 holds another kind of view");
}

}  // namespace
}  // namespace cairn
