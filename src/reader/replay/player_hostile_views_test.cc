// SPDX-License-Identifier: Apache-2.0
//
// Views that do not fit their resources, and what is cleared through them.
#include "reader/replay/testing/player_hostile_script.h"

namespace cairn {
namespace {

// ---- Views ----

void ExpectSrvRefused(const D3D12_RESOURCE_DESC& texture,
                      const D3D12_SHADER_RESOURCE_VIEW_DESC& view, const std::string& gist) {
  HostileScript script;
  const uint64_t heap = script.CreateDescriptors(D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV, 4);
  const uint64_t resource = script.CreateTexture(texture);
  ExpectRefused(&script,
                script.Call(Method::ID3D12Device_CreateShaderResourceView, script.device,
                            ObjectPointer(resource), &view, script.Cpu(heap, 0)),
                gist);
}

D3D12_SHADER_RESOURCE_VIEW_DESC Srv(D3D12_SRV_DIMENSION dimension) {
  D3D12_SHADER_RESOURCE_VIEW_DESC view = {};
  view.Format = DXGI_FORMAT_R8G8B8A8_UNORM;
  view.ViewDimension = dimension;
  view.Shader4ComponentMapping = D3D12_DEFAULT_SHADER_4_COMPONENT_MAPPING;
  return view;
}

TEST(ViewTest, MipsAndSlicesThatAreNone) {
  D3D12_SHADER_RESOURCE_VIEW_DESC view = Srv(D3D12_SRV_DIMENSION_TEXTURE2D);
  view.Texture2D.MostDetailedMip = 1;
  view.Texture2D.MipLevels = 2;
  ExpectSrvRefused(TextureDesc(16, 16, 2), view,
                   "a view of 2 mips from 1 and 1 slices from 0 on of resource 101, which has 2 "
                   "and 1");
  view.Texture2D.MipLevels = 0;
  ExpectSrvRefused(TextureDesc(16, 16, 2), view, "a view of 0 mips from 1");
  view.Texture2D.MostDetailedMip = 2;
  view.Texture2D.MipLevels = ~0u;
  ExpectSrvRefused(TextureDesc(16, 16, 2), view, "a view of -1 mips from 2");
  view = Srv(D3D12_SRV_DIMENSION_TEXTURE2DARRAY);
  view.Texture2DArray.MipLevels = 1;
  view.Texture2DArray.FirstArraySlice = 3;
  view.Texture2DArray.ArraySize = ~0u - 1;
  ExpectSrvRefused(TextureDesc(16, 16, 1, 4), view, "-2 slices from 3 on of resource 101");
  view = Srv(D3D12_SRV_DIMENSION_TEXTURECUBE);
  view.TextureCube.MipLevels = 1;
  ExpectSrvRefused(TextureDesc(16, 16, 1, 5), view, "6 slices from 0 on of resource 101");
  view = Srv(D3D12_SRV_DIMENSION_TEXTURECUBEARRAY);
  view.TextureCubeArray.MipLevels = 1;
  view.TextureCubeArray.NumCubes = 0x2AAAAAAB;  // times six: two
  ExpectSrvRefused(TextureDesc(16, 16, 1, 6), view, "slices from 0 on of resource 101");
}

TEST(ViewTest, DimensionThatTheResourceHasNot) {
  D3D12_SHADER_RESOURCE_VIEW_DESC view = Srv(D3D12_SRV_DIMENSION_TEXTURE3D);
  view.Texture3D.MipLevels = 1;
  ExpectSrvRefused(TextureDesc(16, 16), view, "resource 101 is of dimension 3, the view of 4");
  ExpectSrvRefused(TextureDesc(16, 16), Srv(D3D12_SRV_DIMENSION_BUFFER),
                   "resource 101 is of dimension 3, the view of 1");
  ExpectSrvRefused(TextureDesc(16, 16), Srv(static_cast<D3D12_SRV_DIMENSION>(77)),
                   "a view of dimension 77");
}

TEST(ViewTest, AllThatAreLeft) {
  HostileScript script;
  const uint64_t heap = script.CreateDescriptors(D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV, 4);
  const uint64_t texture = script.CreateTexture(TextureDesc(16, 16, 3, 4));
  D3D12_SHADER_RESOURCE_VIEW_DESC view = Srv(D3D12_SRV_DIMENSION_TEXTURE2DARRAY);
  view.Texture2DArray = {1, ~0u, 3, ~0u, 0, 0};
  script.Call(Method::ID3D12Device_CreateShaderResourceView, script.device, ObjectPointer(texture),
              &view, script.Cpu(heap, 0));
  ExpectPlayed(&script);
}

// Reads by the GPU beyond the buffer may be the fault to find, so that the view is made.
TEST(ViewTest, LargerThanTheBufferIsMade) {
  HostileScript script;
  const uint64_t heap = script.CreateDescriptors(D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV, 4);
  const uint64_t buffer = script.CreateBuffer(D3D12_HEAP_TYPE_DEFAULT, 4096);
  D3D12_SHADER_RESOURCE_VIEW_DESC view = Srv(D3D12_SRV_DIMENSION_BUFFER);
  view.Buffer.NumElements = 1u << 28;
  script.Call(Method::ID3D12Device_CreateShaderResourceView, script.device, ObjectPointer(buffer),
              &view, script.Cpu(heap, 0));
  const D3D12_CONSTANT_BUFFER_VIEW_DESC constants = {script.AddressOf(buffer) + 4080, 65536};
  script.Call(Method::ID3D12Device_CreateConstantBufferView, script.device, &constants,
              script.Cpu(heap, 1));
  const D3D12_VERTEX_BUFFER_VIEW vertices = {script.AddressOf(buffer), 1u << 30, 16};
  const uint64_t list = script.CreateList();
  script.Call(Method::ID3D12GraphicsCommandList_IASetVertexBuffers, list, 31u, 1u, &vertices);
  ExpectPlayed(&script);
}

TEST(ViewTest, TargetsOfOtherMips) {
  HostileScript script;
  const uint64_t heap = script.CreateDescriptors(D3D12_DESCRIPTOR_HEAP_TYPE_RTV, 4);
  const uint64_t texture = script.CreateTexture(TextureDesc(16, 16, 2));
  D3D12_RENDER_TARGET_VIEW_DESC view = {};
  view.ViewDimension = D3D12_RTV_DIMENSION_TEXTURE2D;
  view.Texture2D.MipSlice = 2;
  ExpectRefused(&script,
                script.Call(Method::ID3D12Device_CreateRenderTargetView, script.device,
                            ObjectPointer(texture), &view, script.Cpu(heap, 0)),
                "a view of 1 mips from 2");
}

// Only shaders look at the slices of a volume; targets are made of theirs.
TEST(ViewTest, SlicesOfAVolume) {
  HostileScript script;
  const uint64_t views = script.CreateDescriptors(D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV, 4);
  const uint64_t targets = script.CreateDescriptors(D3D12_DESCRIPTOR_HEAP_TYPE_RTV, 4);
  D3D12_RESOURCE_DESC desc = TextureDesc(16, 16, 2, 8);
  desc.Dimension = D3D12_RESOURCE_DIMENSION_TEXTURE3D;
  const uint64_t texture = script.CreateTexture(desc);
  D3D12_UNORDERED_ACCESS_VIEW_DESC view = {};
  view.ViewDimension = D3D12_UAV_DIMENSION_TEXTURE3D;
  view.Texture3D = {1, 2, 8};
  script.Call(Method::ID3D12Device_CreateUnorderedAccessView, script.device, ObjectPointer(texture),
              nullptr, &view, script.Cpu(views, 0));
  D3D12_RENDER_TARGET_VIEW_DESC target = {};
  target.ViewDimension = D3D12_RTV_DIMENSION_TEXTURE3D;
  target.Texture3D = {1, 2, 8};
  ExpectRefused(&script,
                script.Call(Method::ID3D12Device_CreateRenderTargetView, script.device,
                            ObjectPointer(texture), &target, script.Cpu(targets, 0)),
                "8 slices from 2 on of resource 102, which has 2 and 4");
}

TEST(ViewTest, MipOfAVolume) {
  HostileScript script;
  const uint64_t views = script.CreateDescriptors(D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV, 4);
  D3D12_RESOURCE_DESC desc = TextureDesc(16, 16, 2, 8);
  desc.Dimension = D3D12_RESOURCE_DIMENSION_TEXTURE3D;
  const uint64_t texture = script.CreateTexture(desc);
  D3D12_UNORDERED_ACCESS_VIEW_DESC view = {};
  view.ViewDimension = D3D12_UAV_DIMENSION_TEXTURE3D;
  view.Texture3D = {2, 0, 1};
  ExpectRefused(&script,
                script.Call(Method::ID3D12Device_CreateUnorderedAccessView, script.device,
                            ObjectPointer(texture), nullptr, &view, script.Cpu(views, 0)),
                "a view of 1 mips from 2");
}

TEST(ViewTest, SlicesOfADepthTarget) {
  HostileScript script;
  const uint64_t heap = script.CreateDescriptors(D3D12_DESCRIPTOR_HEAP_TYPE_DSV, 4);
  const uint64_t texture = script.CreateTexture(TextureDesc(16, 16, 1, 2, DXGI_FORMAT_D32_FLOAT));
  D3D12_DEPTH_STENCIL_VIEW_DESC view = {};
  view.ViewDimension = D3D12_DSV_DIMENSION_TEXTURE2DARRAY;
  view.Texture2DArray = {0, 1, 2};
  ExpectRefused(&script,
                script.Call(Method::ID3D12Device_CreateDepthStencilView, script.device,
                            ObjectPointer(texture), &view, script.Cpu(heap, 0)),
                "2 slices from 1 on of resource 101");
}

TEST(ViewTest, TargetThatIsABuffer) {
  HostileScript script;
  const uint64_t heap = script.CreateDescriptors(D3D12_DESCRIPTOR_HEAP_TYPE_RTV, 4);
  const uint64_t buffer = script.CreateBuffer(D3D12_HEAP_TYPE_DEFAULT, 4096);
  script.Call(Method::ID3D12Device_CreateRenderTargetView, script.device, ObjectPointer(buffer),
              nullptr, script.Cpu(heap, 0));
  ExpectLeftOut(&script, "its target is a buffer");
}

TEST(ViewTest, CounterThatIsATexture) {
  HostileScript script;
  const uint64_t heap = script.CreateDescriptors(D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV, 4);
  const uint64_t buffer = script.CreateBuffer(D3D12_HEAP_TYPE_DEFAULT, 4096);
  const uint64_t texture = script.CreateTexture(TextureDesc(16, 16));
  D3D12_UNORDERED_ACCESS_VIEW_DESC view = {};
  view.ViewDimension = D3D12_UAV_DIMENSION_BUFFER;
  ExpectRefused(
      &script,
      script.Call(Method::ID3D12Device_CreateUnorderedAccessView, script.device,
                  ObjectPointer(buffer), ObjectPointer(texture), &view, script.Cpu(heap, 0)),
      "resource 101 is no buffer");
}

// ---- Clears ----

class ClearTest : public testing::Test {
 protected:
  ClearTest() {
    list_ = script_.CreateList();
    heap_ = script_.CreateDescriptors(D3D12_DESCRIPTOR_HEAP_TYPE_RTV, 4);
    texture_ = script_.CreateTexture(TextureDesc(16, 8));
    script_.Call(Method::ID3D12Device_CreateRenderTargetView, script_.device,
                 ObjectPointer(texture_), nullptr, script_.Cpu(heap_, 1));
  }
  uint64_t Clear(uint32_t index, std::vector<D3D12_RECT> rects = {}) {
    const float colour[4] = {};
    return script_.Call(Method::ID3D12GraphicsCommandList_ClearRenderTargetView, list_,
                        script_.Cpu(heap_, index), colour, static_cast<UINT>(rects.size()),
                        rects.empty() ? nullptr : rects.data());
  }

  HostileScript script_;
  uint64_t list_;
  uint64_t heap_;
  uint64_t texture_;
};

TEST_F(ClearTest, ColourThatIsNull) {
  const float* const none = nullptr;
  script_.Call(Method::ID3D12GraphicsCommandList_ClearRenderTargetView, list_,
               script_.Cpu(heap_, 1), none, 0u, nullptr);
  ExpectLeftOut(&script_, "ColorRGBA is null");
}

TEST_F(ClearTest, RectanglesThatTouchTheTargetAreCut) {
  Clear(1);
  Clear(1, {{-5, -5, 1 << 30, 1 << 30}, {20, 0, 30, 8}});
  ExpectPlayed(&script_);
}

TEST_F(ClearTest, RectanglesThatDoNotTouchTheTarget) {
  Clear(1, {{16, 0, 30, 8}, {3, 3, 3, 3}});
  ExpectPlayed(&script_);
}

TEST_F(ClearTest, DescriptorWithoutAView) {
  Clear(0);
  ExpectLeftOut(&script_, "its descriptor holds no view");
}

TEST_F(ClearTest, CopyOfAView) {
  script_.Call(Method::ID3D12Device_CopyDescriptorsSimple, script_.device, 2u,
               script_.Cpu(heap_, 2), script_.Cpu(heap_, 0), D3D12_DESCRIPTOR_HEAP_TYPE_RTV);
  Clear(3);
  ExpectPlayed(&script_);
}

TEST_F(ClearTest, CopyInRangesOfOtherSizes) {
  const D3D12_CPU_DESCRIPTOR_HANDLE to[] = {script_.Cpu(heap_, 2), script_.Cpu(heap_, 3)};
  const D3D12_CPU_DESCRIPTOR_HANDLE from[] = {script_.Cpu(heap_, 0)};
  const UINT from_sizes[] = {2};
  script_.Call(Method::ID3D12Device_CopyDescriptors, script_.device, 2u, to, nullptr, 1u, from,
               from_sizes, D3D12_DESCRIPTOR_HEAP_TYPE_RTV);
  Clear(3);
  ExpectPlayed(&script_);
}

TEST_F(ClearTest, TargetThatHasEnded) {
  script_.trace.ObjectEnd(texture_);
  ExpectRefused(&script_, Clear(1),
                "descriptor 1 of descriptor heap 100 is a view of resource 101, which has ended");
}

TEST_F(ClearTest, TargetThatIsSetAndHasEnded) {
  script_.trace.ObjectEnd(texture_);
  const D3D12_CPU_DESCRIPTOR_HANDLE first = script_.Cpu(heap_, 0);
  ExpectRefused(&script_,
                script_.Call(Method::ID3D12GraphicsCommandList_OMSetRenderTargets, list_, 2u,
                             &first, TRUE, nullptr),
                "descriptor 1 of descriptor heap 100 is a view of resource 101, which has ended");
}

TEST_F(ClearTest, HeapThatTakesTheNumberOfAnother) {
  script_.trace.ObjectEnd(heap_);
  script_.CreateDescriptors(D3D12_DESCRIPTOR_HEAP_TYPE_RTV, 4, heap_);
  Clear(1);
  ExpectLeftOut(&script_, "its descriptor holds no view");
}

TEST_F(ClearTest, ViewOfAnotherKind) {
  const uint64_t views = script_.CreateDescriptors(D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV, 3);
  const uint64_t buffer = script_.CreateBuffer(D3D12_HEAP_TYPE_DEFAULT, 4096);
  const D3D12_CONSTANT_BUFFER_VIEW_DESC constants = {script_.AddressOf(buffer), 256};
  script_.Call(Method::ID3D12Device_CreateShaderResourceView, script_.device, ObjectPointer(buffer),
               nullptr, script_.Cpu(views, 0));
  script_.Call(Method::ID3D12Device_CreateConstantBufferView, script_.device, &constants,
               script_.Cpu(views, 1));
  script_.Call(Method::ID3D12Device_CreateUnorderedAccessView, script_.device,
               ObjectPointer(buffer), nullptr, nullptr, script_.Cpu(views, 2));
  const UINT values[4] = {};
  // The GPU's view is not checked.
  script_.Call(Method::ID3D12GraphicsCommandList_ClearUnorderedAccessViewUint, list_,
               script_.Gpu(views, 1), script_.Cpu(views, 2), ObjectPointer(buffer), values, 0u,
               nullptr);
  ExpectRefused(
      &script_,
      script_.Call(Method::ID3D12GraphicsCommandList_ClearUnorderedAccessViewUint, list_,
                   script_.Gpu(views, 1), script_.Cpu(views, 0), ObjectPointer(buffer), values, 0u,
                   nullptr),
      "descriptor 0 of descriptor heap " + std::to_string(views) + " holds another kind of view");
}

}  // namespace
}  // namespace cairn
