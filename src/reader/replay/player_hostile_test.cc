// SPDX-License-Identifier: Apache-2.0
//
// A trace in which one byte lies, for every byte: the playback ends, and gives everything back.
#include "reader/replay/testing/player_fuzz_input.h"
#include "reader/replay/testing/player_hostile_script.h"

namespace cairn {
namespace {

// Records calls whose places in heaps, resources and root signatures the player checks.
void Bind(HostileScript* script, uint64_t list) {
  const uint64_t views = script->CreateDescriptors(D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV, 4);
  const uint64_t targets = script->CreateDescriptors(D3D12_DESCRIPTOR_HEAP_TYPE_RTV, 2);
  const uint64_t signature = script->CreateRootSignature(script->RootSignature());
  const uint64_t buffer = script->CreateBuffer(D3D12_HEAP_TYPE_DEFAULT, 65536);
  const uint64_t texture = script->CreateTexture(TextureDesc(16, 16, 2));
  const uint64_t queries = script->CreateQueries(D3D12_QUERY_HEAP_TYPE_OCCLUSION, 4);
  D3D12_SHADER_RESOURCE_VIEW_DESC view = {};
  view.ViewDimension = D3D12_SRV_DIMENSION_TEXTURE2D;
  view.Texture2D.MipLevels = 2;
  script->Call(Method::ID3D12Device_CreateShaderResourceView, script->device,
               ObjectPointer(texture), &view, script->Cpu(views, 0));
  script->Call(Method::ID3D12Device_CreateRenderTargetView, script->device, ObjectPointer(texture),
               nullptr, script->Cpu(targets, 1));
  script->Call(Method::ID3D12Device_CopyDescriptorsSimple, script->device, 1u,
               script->Cpu(targets, 0), script->Cpu(targets, 1), D3D12_DESCRIPTOR_HEAP_TYPE_RTV);
  void* heaps[] = {ObjectPointer(views)};
  script->Call(Method::ID3D12GraphicsCommandList_SetDescriptorHeaps, list, 1u, heaps);
  script->Call(Method::ID3D12GraphicsCommandList_SetComputeRootSignature, list,
               ObjectPointer(signature));
  script->Call(Method::ID3D12GraphicsCommandList_SetComputeRootDescriptorTable, list, 0u,
               script->Gpu(views, 1));
  script->Call(Method::ID3D12GraphicsCommandList_SetComputeRoot32BitConstant, list, 1u, 5u, 3u);
  script->Call(Method::ID3D12GraphicsCommandList_Dispatch, list, 1u, 1u, 1u);
  const float colour[4] = {};
  const D3D12_RECT rect = {1, 1, 8, 8};
  script->Call(Method::ID3D12GraphicsCommandList_ClearRenderTargetView, list,
               script->Cpu(targets, 0), colour, 1u, &rect);
  D3D12_TEXTURE_COPY_LOCATION to = {};
  to.pResource = static_cast<ID3D12Resource*>(ObjectPointer(texture));
  to.SubresourceIndex = 1;
  D3D12_TEXTURE_COPY_LOCATION from = {};
  from.pResource = static_cast<ID3D12Resource*>(ObjectPointer(buffer));
  from.Type = D3D12_TEXTURE_COPY_TYPE_PLACED_FOOTPRINT;
  from.PlacedFootprint.Footprint = {DXGI_FORMAT_R8G8B8A8_UNORM, 8, 8, 1, 256};
  script->Call(Method::ID3D12GraphicsCommandList_CopyTextureRegion, list, &to, 0u, 0u, 0u, &from,
               nullptr);
  script->Call(Method::ID3D12GraphicsCommandList_EndQuery, list, ObjectPointer(queries),
               D3D12_QUERY_TYPE_OCCLUSION, 3u);
}

std::vector<std::byte> Input() {
  HostileScript script;
  const std::vector<std::byte> bytes(64, std::byte{7});
  Bind(&script, script.CreateList());
  const CopyProgram program(&script, bytes, bytes);
  EXPECT_TRUE(script.ok);
  TraceReader trace = script.trace.Open();
  return FuzzInputOf(ReadAll(trace));
}

TEST(PlayerHostileTest, TheInputItselfIsPlayed) {
  const PlayerResult result = PlayFuzzInput(Input());
  EXPECT_EQ(result.frames, 1u);
  EXPECT_EQ(result.compared_readbacks, 1u);
  EXPECT_THAT(result.notes, testing::IsEmpty());
  EXPECT_EQ(FakeObjectCount(), 0);
}

TEST(PlayerHostileTest, AnyByteMayLie) {
  const std::vector<std::byte> input = Input();
  uint64_t refused = 0;
  for (size_t i = 0; i < input.size(); ++i) {
    std::vector<std::byte> changed = input;
    changed[i] ^= std::byte{static_cast<uint8_t>(i % 3 == 0 ? 0xFF : 0x01)};
    if (PlayFuzzInput(changed).frames == 0) ++refused;
    ASSERT_EQ(FakeObjectCount(), 0) << "byte " << i;
  }
  EXPECT_GT(refused, 0u);
}

TEST(PlayerHostileTest, ItMayEndAnywhere) {
  const std::vector<std::byte> input = Input();
  for (size_t size = 0; size < input.size(); size += 3) {
    PlayFuzzInput(std::span(input).first(size));
    ASSERT_EQ(FakeObjectCount(), 0) << size << " bytes";
  }
}

}  // namespace
}  // namespace cairn
