// SPDX-License-Identifier: Apache-2.0
//
// Differences between implementations with different calling conventions: compiled for both.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "d3d12abi/testing/fake_device.h"
#include "d3d12abi/testing/fake_names.h"
#include "reader/replay/device.h"
#include "reader/replay/player.h"
#include "reader/replay/testing/player_hostile_script.h"

namespace cairn {
namespace {

#if defined(CAIRN_D3D12_SYSV_ABI)
constexpr char kLibrary[] = "libother-d3d12.so";
constexpr bool kTakesNull = true;
#else
constexpr char kLibrary[] = "";
constexpr bool kTakesNull = false;
#endif

PlayerResult PlayHere(TestScript* script) {
  EXPECT_TRUE(script->ok) << "arguments that do not fit";
  PlayerOptions options;
  options.library = kLibrary;
  options.create_device = [](uint32_t) -> void* { return CreateFakeDevice(); };
  TraceReader trace = script->trace.Open();
  Result<std::unique_ptr<Player>> player = Player::Create(&trace, std::move(options));
  if (!player.ok()) {
    ADD_FAILURE() << player.status().message();
    return {};
  }
  const Status status = (*player)->Run();
  EXPECT_TRUE(status.ok()) << status.message();
  return (*player)->result();
}

TEST(PlayerConventionTest, NamesHaveTheCharactersOfTheImplementation) {
  TestScript script;
  script.Call(Method::ID3D12Object_SetName, script.CreateFence(),
              static_cast<const void*>(u"Frame fence"));
  EXPECT_EQ(PlayHere(&script).skipped, 0u);
  EXPECT_EQ(LastFakeName(), "Frame fence");
}

// Texels of another size: libvkd3d gives the copy to the driver, others look at it themselves.
TEST(PlayerConventionTest, CopyBetweenFormatsThatHaveNothingInCommon) {
  HostileScript script;
  const uint64_t list = script.CreateList();
  const uint64_t to = script.CreateTexture(TextureDesc(16, 16));
  const uint64_t from =
      script.CreateTexture(TextureDesc(16, 16, 1, 1, DXGI_FORMAT_R16G16B16A16_FLOAT));
  const uint64_t other = script.CreateTexture(TextureDesc(16, 17));
  const auto copy = [&](uint64_t source) {
    script.Call(Method::ID3D12GraphicsCommandList_CopyResource, list, ObjectPointer(to),
                ObjectPointer(source));
  };
  copy(from);
  copy(other);  // nobody makes that
  const std::string what = "texels of R16G16B16A16_FLOAT are copied to R8G8B8A8_UNORM";
  const PlayerResult result = PlayHere(&script);
  EXPECT_EQ(result.skipped, kTakesNull ? 1u : 2u);
  ASSERT_FALSE(result.left_out.empty());
  EXPECT_THAT(result.left_out.back().what, testing::HasSubstr("not of the same size"));
  if (kTakesNull) {
    EXPECT_THAT(result.notes, testing::ElementsAre(testing::HasSubstr(what)));
  } else {
    EXPECT_THAT(result.notes, testing::IsEmpty());
    EXPECT_THAT(result.left_out.front().what, testing::HasSubstr(what));
  }
}

// Tables are read by the GPU, or, by libvkd3d, on the CPU.
TEST(PlayerConventionTest, TableThatIsInNoHeap) {
  HostileScript script;
  const uint64_t list = script.CreateList();
  const uint64_t signature = script.CreateRootSignature(script.RootSignature());
  script.Call(Method::ID3D12GraphicsCommandList_SetComputeRootSignature, list,
              ObjectPointer(signature));
  script.Call(Method::ID3D12GraphicsCommandList_SetComputeRootDescriptorTable, list, 0u,
              D3D12_GPU_DESCRIPTOR_HANDLE{0x1234});
  script.Call(Method::ID3D12GraphicsCommandList_Dispatch, list, 1u, 1u, 1u);
  const PlayerResult result = PlayHere(&script);
  EXPECT_EQ(result.skipped, kTakesNull ? 0u : 1u);
  ASSERT_EQ(result.notes.size(), 1u);
  EXPECT_THAT(result.notes[0], testing::HasSubstr(kTakesNull ? "it is passed on as it is"
                                                             : "here the table is null"));
}

// libvkd3d's first releases read the buffer there: they get zeros, and no view of indices.
TEST(PlayerConventionTest, NullInPlaceOfAnAddress) {
  HostileScript script;
  const uint64_t list = script.CreateList();
  const uint64_t signature = script.CreateRootSignature(script.RootSignature());
  script.Call(Method::ID3D12GraphicsCommandList_SetComputeRootSignature, list,
              ObjectPointer(signature));
  script.Call(Method::ID3D12GraphicsCommandList_SetComputeRootConstantBufferView, list, 2u,
              uint64_t{0});
  const D3D12_INDEX_BUFFER_VIEW indices = {0, 0, DXGI_FORMAT_R16_UINT};
  script.Call(Method::ID3D12GraphicsCommandList_IASetIndexBuffer, list, &indices);
  EXPECT_EQ(PlayHere(&script).skipped, 0u);
  EXPECT_EQ(LastFakeRootView() != 0, !kTakesNull);
  EXPECT_EQ(LastFakeIndexViewWasNull(), !kTakesNull);
}

TEST(PlayerConventionTest, ReleasesOfLibvkd3dThatTakeNull) {
  EXPECT_FALSE(Libvkd3dTakesNull(0, 0));  // not known
  EXPECT_FALSE(Libvkd3dTakesNull(1, 2));
  EXPECT_TRUE(Libvkd3dTakesNull(1, 17));
  EXPECT_TRUE(Libvkd3dTakesNull(2, 0));
}

// libvkd3d's first releases read them: they get as many that are null each.
TEST(PlayerConventionTest, VertexBuffersThatAreNullAsAWhole) {
  TestScript script;
  const uint64_t list = script.CreateList(script.CreateAllocator());
  script.Call(Method::ID3D12GraphicsCommandList_IASetVertexBuffers, list, 0u, 2u, nullptr);
  EXPECT_EQ(PlayHere(&script).skipped, 0u);
  EXPECT_EQ(LastFakeVertexViewsWereNull(), kTakesNull);
}

}  // namespace
}  // namespace cairn
