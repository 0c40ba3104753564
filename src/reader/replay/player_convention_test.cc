// SPDX-License-Identifier: Apache-2.0
//
// What differs between implementations with different calling conventions: compiled for both.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "d3d12abi/testing/fake_device.h"
#include "d3d12abi/testing/fake_names.h"
#include "reader/replay/player.h"
#include "reader/replay/testing/test_script.h"

namespace cairn {
namespace {

#if defined(CAIRN_D3D12_SYSV_ABI)
constexpr char kLibrary[] = "libother-d3d12.so";
constexpr bool kTakesNullViews = true;
#else
constexpr char kLibrary[] = "";
constexpr bool kTakesNullViews = false;
#endif

PlayerResult Play(TestScript* script) {
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
  EXPECT_EQ(Play(&script).skipped, 0u);
  EXPECT_EQ(LastFakeName(), "Frame fence");
}

// What was bound stays bound; libvkd3d would read them.
TEST(PlayerConventionTest, VertexBuffersThatAreNullAsAWhole) {
  TestScript script;
  const uint64_t list = script.CreateList(script.CreateAllocator());
  script.Call(Method::ID3D12GraphicsCommandList_IASetVertexBuffers, list, 0u, 2u, nullptr);
  const PlayerResult result = Play(&script);
  EXPECT_EQ(result.skipped, kTakesNullViews ? 0u : 1u);
}

}  // namespace
}  // namespace cairn
