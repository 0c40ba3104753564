// SPDX-License-Identifier: Apache-2.0
#include "reader/bisect/ray_call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "format/trace/testing/test_trace.h"

namespace cairn {
namespace {

constexpr uint64_t kDevice = 1;
constexpr uint64_t kList = 3;
constexpr uint64_t kState = 4;
constexpr uint64_t kBuffer = 5;
constexpr uint64_t kAddress = 0x50000;

class RayCallTest : public testing::Test {
 protected:
  RayCallTest() {
    test_.Object(kDevice, Chain::kID3D12Device, kDevice);
    test_.Object(kState, Chain::kID3D12StateObject, kDevice);
    ResourceFacts facts = {};
    facts.gpu_address = kAddress;
    facts.size_bytes = 4096;
    test_.Resource(kBuffer, kDevice, 0, facts);
    test_.Object(kList, Chain::kID3D12GraphicsCommandList, kDevice);
  }
  uint64_t Build(D3D12_RAYTRACING_ACCELERATION_STRUCTURE_TYPE type,
                 D3D12_RAYTRACING_ACCELERATION_STRUCTURE_BUILD_FLAGS flags = {}) {
    D3D12_BUILD_RAYTRACING_ACCELERATION_STRUCTURE_DESC desc = {};
    desc.Inputs.Type = type;
    desc.Inputs.Flags = flags;
    desc.Inputs.NumDescs = type == D3D12_RAYTRACING_ACCELERATION_STRUCTURE_TYPE_TOP_LEVEL ? 4 : 0;
    desc.Inputs.InstanceDescs = kAddress + 128;
    return test_.Make(Method::ID3D12GraphicsCommandList4_BuildRaytracingAccelerationStructure,
                      kList, &desc, 0u, nullptr);
  }
  Result<RayCall> Read(uint64_t call) {
    EXPECT_TRUE(test_.status().ok()) << test_.status().message();
    trace_.emplace(test_.Open());
    return RayCall::Read(&*trace_, call);
  }

  TestTrace test_;
  std::optional<TraceReader> trace_;
};

TEST_F(RayCallTest, InstancesOfATopLevel) {
  const uint64_t bottom = Build(D3D12_RAYTRACING_ACCELERATION_STRUCTURE_TYPE_BOTTOM_LEVEL);
  const uint64_t call = Build(D3D12_RAYTRACING_ACCELERATION_STRUCTURE_TYPE_TOP_LEVEL);
  const uint64_t update = Build(D3D12_RAYTRACING_ACCELERATION_STRUCTURE_TYPE_TOP_LEVEL,
                                D3D12_RAYTRACING_ACCELERATION_STRUCTURE_BUILD_FLAG_PERFORM_UPDATE);
  const Result<RayCall> rays = Read(call);
  ASSERT_TRUE(rays.ok()) << rays.status().message();
  const CallParts parts = rays->PartsOf(call);
  EXPECT_EQ("instance", parts.word);
  EXPECT_EQ(4u, parts.count);
  EXPECT_FALSE(parts.only_prefixes || parts.count_is_limit);
  EXPECT_EQ((BytesToRead{9, kBuffer, 128 + 2 * 64, 64}), rays->PlaceOf(2, 9));
  EXPECT_EQ(0u, rays->PlaceOf(4, 9).size_bytes);
  D3D12_RAYTRACING_INSTANCE_DESC instance = {};
  instance.InstanceID = 7;
  instance.InstanceMask = 0xff;
  instance.InstanceContributionToHitGroupIndex = 3;
  instance.AccelerationStructure = kAddress + 256;
  instance.Transform[1][3] = 2.5f;
  const auto bytes = std::as_bytes(std::span(&instance, 1));
  EXPECT_EQ(
      "InstanceID 7, InstanceMask 0xff, hit groups from 3, bottom level resource 5 + 256, "
      "at (0, 2.5, 0), turned or scaled",
      rays->InWords(2, bytes));
  instance.AccelerationStructure = 0xdead0000;
  for (size_t i = 0; i < 3; ++i) instance.Transform[i][i] = 1;
  EXPECT_EQ(
      "InstanceID 7, InstanceMask 0xff, hit groups from 3, bottom level at 0xdead0000, where no "
      "buffer is, at (0, 2.5, 0)",
      rays->InWords(2, bytes));
  instance.Transform[0][0] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(rays->InWords(2, bytes),
              testing::EndsWith("at (0, 2.5, 0), with axes that are not finite"));
  EXPECT_EQ("", rays->InWords(2, bytes.first(63)));
  EXPECT_EQ(StatusCode::kNotFound, Read(bottom).status().code());
  EXPECT_EQ(StatusCode::kNotFound, Read(update).status().code());
  EXPECT_EQ(StatusCode::kNotFound, Read(999).status().code());
}

TEST_F(RayCallTest, RecordsHaveTheNamesOfTheirExports) {
  ShaderIdentifier glass = {};
  glass.fill(std::byte{0x11});
  const char16_t* const name = u"Glass";
  const uint64_t asked =
      test_.Make(Method::ID3D12StateObjectProperties_GetShaderIdentifier, kState, name);
  const void* const identifier = glass.data();
  test_.Gave(asked, identifier, name);
  // One shader under two names; the other one is too long.
  const std::u16string long_name(1000, u'x');
  ShaderIdentifier shared = {};
  shared.fill(std::byte{0x33});
  const void* const shared_identifier = shared.data();
  for (const char16_t* const each : {u"Water", u"Water", long_name.c_str()}) {
    const uint64_t again =
        test_.Make(Method::ID3D12StateObjectProperties_GetShaderIdentifier, kState, each);
    test_.Gave(again, shared_identifier, each);
  }
  D3D12_DISPATCH_RAYS_DESC desc = {};
  desc.RayGenerationShaderRecord = {kAddress, 32};
  desc.MissShaderTable = {kAddress + 64, 64, 32};
  desc.HitGroupTable = {kAddress + 128, 192, 64};
  desc.Width = 1;
  const uint64_t call = test_.Make(Method::ID3D12GraphicsCommandList4_DispatchRays, kList, &desc);
  const Result<RayCall> rays = Read(call);
  ASSERT_TRUE(rays.ok()) << rays.status().message();
  EXPECT_EQ("record", rays->PartsOf(call).word);
  EXPECT_EQ(5u, rays->PartsOf(call).count);
  EXPECT_EQ((BytesToRead{9, kBuffer, 64 + 32, 32}), rays->PlaceOf(1, 9));
  EXPECT_EQ((BytesToRead{9, kBuffer, 128 + 128, 32}), rays->PlaceOf(4, 9));
  EXPECT_EQ("hit group [2], export \"Glass\"", rays->InWords(4, glass));
  EXPECT_THAT(rays->InWords(4, shared),
              testing::MatchesRegex("hit group .2., export \"Water\" or \"x+…\""));
  EXPECT_EQ("miss [1], no shader", rays->InWords(1, ShaderIdentifier{}));
  glass[0] = std::byte{9};
  EXPECT_EQ("miss [0], an identifier that GetShaderIdentifier did not return",
            rays->InWords(0, glass));
  EXPECT_EQ("hit group [0]", rays->InWords(2, {}));
  EXPECT_EQ("", rays->InWords(5, glass));
  EXPECT_EQ((BytesToRead{0, kBuffer, 0, 32}), rays->PlaceOfRayGeneration());
  EXPECT_EQ("ray generation, no shader", rays->RayGenerationInWords(ShaderIdentifier{}));
  EXPECT_THAT(rays->RangesOfTables(),
              testing::ElementsAre(std::pair(0u, 2u), std::pair(2u, 5u), std::pair(5u, 5u)));
}

}  // namespace
}  // namespace cairn
