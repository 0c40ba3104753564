// SPDX-License-Identifier: Apache-2.0
//
// Checks that every call without an effect is reported; and the limits of waits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/leaks_are_meant.h"
#include "d3d12gen/supplement.h"
#include "os/clock.h"
#include "reader/replay/testing/player_hostile_script.h"
#include "reader/replay/unrepeatable.h"

namespace cairn {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string What(const LeftOut& kind) {
  return kind.what;
}

// A trace of one call without a result, on a missing object: it is counted, unless it has no effect
// at all.
TEST(EffectsTest, EveryMethodIsCounted) {
  for (uint32_t i = 0; i < kMethodCount; ++i) {
    const auto method = static_cast<Method>(i);
    // The playback itself calls this for each device.
    if (method == Method::ID3D12Device_GetDeviceRemovedReason) continue;
    TestScript script;
    script.trace.Call(method, 77);
    const PlayerResult result = Play(&script).result;
    const uint64_t counted = RoleOf(method).replay == Replay::kSkip ? 0u : 1u;
    EXPECT_EQ(result.skipped, counted) << Describe(method).name;
    EXPECT_EQ(result.left_out.size(), counted) << Describe(method).name;
  }
}

// Each on an object that is there, as it may be played elsewhere.
TEST(EffectsTest, WhatCannotBeRepeatedIsCounted) {
  for (uint32_t i = 0; i < kMethodCount; ++i) {
    const auto method = static_cast<Method>(i);
    const CallRole& role = RoleOf(method);
    if (role.replay != Replay::kCannot) continue;
    HostileScript script;
    script.trace.Call(method, script.CreateList());
    ExpectLeftOut(&script,
                  std::string(Describe(method).name) + ": " + WhyUnrepeatable(role.unrepeatable));
  }
}

TEST(EffectsTest, InteropThatFailedIsNoLoss) {
  TestScript script;
  const Method method = Method::ID3D12DXVKInteropDevice_LockCommandQueue;
  const uint64_t queue = script.CreateQueue();
  const uint64_t call = script.Call(method, script.device, ObjectPointer(queue));
  script.Return(method, call, HRESULT{E_INVALIDARG}, ObjectPointer(queue));
  EXPECT_EQ(Play(&script).result.skipped, 0u);
}

// Work behind SetProgram runs a program that this device does not have, until a pipeline is set.
TEST(EffectsTest, WhatRunsAProgramIsLeftOutToo) {
  HostileScript script;
  const D3D12_COMPUTE_PIPELINE_STATE_DESC desc = {};
  const uint64_t pipeline =
      script.Create(Method::ID3D12Device_CreateComputePipelineState, Chain::kID3D12PipelineState,
                    &desc, __uuidof(ID3D12PipelineState));
  const uint64_t list = script.CreateList();
  const auto dispatch = [&] {
    script.Call(Method::ID3D12GraphicsCommandList_Dispatch, list, 1u, 1u, 1u);
  };
  const D3D12_SET_PROGRAM_DESC program = {};
  script.Call(Method::ID3D12GraphicsCommandList10_SetProgram, list, &program);
  dispatch();
  script.Call(Method::ID3D12GraphicsCommandList_SetPipelineState, list, ObjectPointer(pipeline));
  dispatch();
  const PlayerResult result = Play(&script).result;
  EXPECT_EQ(result.skipped, 2u);
  ASSERT_EQ(result.left_out.size(), 2u);
  EXPECT_THAT(What(result.left_out[0]),
              HasSubstr("SetProgram: this device has no ID3D12GraphicsCommandList10"));
  EXPECT_THAT(What(result.left_out[1]), HasSubstr("Dispatch: its pipeline"));
}

// A driver's cache: this device has none, and its loss has no effect.
TEST(EffectsTest, CachesOfShadersAreNobodysLoss) {
  TestScript script;
  const Method method = Method::ID3D12Device9_CreateShaderCacheSession;
  const uint64_t call = script.trace.Call(method, script.device);
  script.trace.Object(50, Chain::kID3D12ShaderCacheSession, script.device, call);
  script.Call(Method::ID3D12Object_SetName, 50, static_cast<const void*>(u"Shaders"));
  script.trace.Call(Method::ID3D12ShaderCacheSession_StoreValue, 50);
  const Played played = Play(&script);
  EXPECT_TRUE(played.status.ok()) << played.status.message();
  EXPECT_THAT(played.result.left_out, IsEmpty());
}

TEST(EffectsTest, RemovingADeviceNeedsAnImplementationThatCan) {
  TestScript script;
  script.Call(Method::ID3D12Device5_RemoveDevice, script.device);
  ExpectLeftOut(&script, "this device has no ID3D12Device5");
}

// ---- Of newer devices ----

Played PlayOnNewer(TestScript* script, bool resources = false) {
  PlayerOptions options;
  options.validate = true;
  options.validate_resources = resources;
  options.create_device = [](uint32_t) -> void* { return CreateNewerFakeDevice(); };
  return Play(script, std::move(options));
}

// The program reads back memory that the GPU wrote before the device was removed.
TEST(EffectsTest, WhatFollowsARemovedDeviceIsNoLoss) {
  HostileScript script;
  const std::vector<std::byte> bytes(64, std::byte{7});
  const CopyProgram program(&script, bytes, bytes);
  script.Call(Method::ID3D12Device5_RemoveDevice, script.device);
  script.Call(Method::ID3D12GraphicsCommandList_Dispatch, program.list, 1u, 1u, 1u);
  script.Execute(program.queue, program.list);
  script.ReadBack(program.to, 512, bytes);
  const Played played = PlayOnNewer(&script);
  EXPECT_TRUE(played.status.ok()) << played.status.message();
  EXPECT_THAT(played.result.left_out, IsEmpty());
  EXPECT_EQ(played.result.compared_readbacks, 2u);
  EXPECT_EQ(played.result.not_compared, 0u);
}

// Plays copies out of a buffer with sizes of acceleration structures, or with zeros, that were others when recorded.
Played ReadOtherSizes(bool has_sizes) {
  HostileScript script;
  const uint64_t queue = script.CreateQueue();
  const uint64_t list = script.CreateList(script.CreateAllocator());
  const uint64_t fence = script.CreateFence();
  const uint64_t sizes = script.CreateBuffer(D3D12_HEAP_TYPE_DEFAULT, 65536);
  const uint64_t copy = script.CreateBuffer(D3D12_HEAP_TYPE_DEFAULT, 65536);
  const uint64_t read = script.CreateBuffer(D3D12_HEAP_TYPE_READBACK, 65536);
  const D3D12_RAYTRACING_ACCELERATION_STRUCTURE_POSTBUILD_INFO_DESC info = {
      TestScript::AddressOf(has_sizes ? sizes : read) + 64,
      D3D12_RAYTRACING_ACCELERATION_STRUCTURE_POSTBUILD_INFO_COMPACTED_SIZE};
  script.Call(Method::ID3D12GraphicsCommandList4_EmitRaytracingAccelerationStructurePostbuildInfo,
              list, &info, 0u, nullptr);
  script.Call(Method::ID3D12GraphicsCommandList_CopyResource, list, ObjectPointer(copy),
              ObjectPointer(sizes));
  script.Call(Method::ID3D12GraphicsCommandList_CopyBufferRegion, list,
              ObjectPointer(has_sizes ? read : sizes), uint64_t{0}, ObjectPointer(copy),
              uint64_t{64}, uint64_t{64});
  script.Close(list);
  script.Execute(queue, list);
  script.Signal(queue, fence, 1);
  script.Completed(fence, 1);
  const std::vector<std::byte> other(64, std::byte{3});
  if (has_sizes) script.ReadBack(read, 0, other);
  script.Hash(copy, std::vector<std::byte>(65536, std::byte{3}));
  return PlayOnNewer(&script, /*resources=*/true);
}

TEST(EffectsTest, SizesOfAccelerationStructuresAreTheDriversOwn) {
  const Played sizes = ReadOtherSizes(true);
  EXPECT_TRUE(sizes.status.ok()) << sizes.status.message();
  EXPECT_THAT(sizes.result.left_out, IsEmpty());
  EXPECT_EQ(sizes.result.compared_readbacks, 0u);
  EXPECT_EQ(sizes.result.compared_resources, 0u);
  EXPECT_EQ(sizes.result.not_compared, 0u);
  EXPECT_THAT(
      sizes.result.notes,
      ElementsAre(HasSubstr("sizes of acceleration structures and memory behind work graphs")));
  const Played others = ReadOtherSizes(false);
  EXPECT_EQ(others.result.compared_resources, 1u);
  EXPECT_THAT(others.status.message(), HasSubstr("does not hold what it held"));
}

class MetaCommandTest : public testing::Test {
 protected:
  MetaCommandTest() : bytes_(64, std::byte{9}) {
    queue_ = script_.CreateQueue();
    from_ = script_.CreateBuffer(D3D12_HEAP_TYPE_UPLOAD, 65536);
    to_ = script_.CreateBuffer(D3D12_HEAP_TYPE_READBACK, 65536);
    fence_ = script_.CreateFence();
    list_ = script_.CreateList(script_.CreateAllocator());
    command_ =
        script_.Create(Method::ID3D12Device5_CreateMetaCommand, Chain::kID3D12MetaCommand,
                       kFakeMetaCommand, 0u, nullptr, SIZE_T{0}, __uuidof(ID3D12MetaCommand));
    script_.Write(from_, 256, bytes_);
  }
  void Execute(const FakeCopy& copy, SIZE_T size = sizeof(FakeCopy)) {
    script_.Call(Method::ID3D12GraphicsCommandList4_ExecuteMetaCommand, list_,
                 ObjectPointer(command_), static_cast<const void*>(&copy), size);
  }

  TestScript script_;
  const std::vector<std::byte> bytes_;
  uint64_t queue_, from_, to_, fence_, list_, command_;
};

TEST_F(MetaCommandTest, ItsAddressesAreThoseOfTheReplay) {
  Execute({TestScript::AddressOf(from_) + 256, 64, TestScript::AddressOf(to_) + 512});
  script_.Close(list_);
  script_.Execute(queue_, list_);
  script_.Signal(queue_, fence_, 1);
  script_.Completed(fence_, 1);
  script_.ReadBack(to_, 512, bytes_);
  const Played played = PlayOnNewer(&script_);
  EXPECT_TRUE(played.status.ok()) << played.status.message();
  EXPECT_THAT(played.result.left_out, IsEmpty());
  EXPECT_EQ(played.result.compared_readbacks, 1u);
}

TEST_F(MetaCommandTest, WhatItCannotBeGivenIsCounted) {
  Execute({0x1234, 64, TestScript::AddressOf(to_)});
  Execute({TestScript::AddressOf(from_), 64, TestScript::AddressOf(to_)}, 16);
  const Played played = PlayOnNewer(&script_);
  EXPECT_TRUE(played.status.ok()) << played.status.message();
  ASSERT_EQ(played.result.left_out.size(), 2u);
  EXPECT_THAT(played.result.left_out[0].what, HasSubstr("an address that is in no buffer"));
  EXPECT_THAT(played.result.left_out[1].what,
              HasSubstr("its parameters are 16 bytes, and this device has 24"));
}

// ---- Waits ----

// One that takes ten times as long as a wait may, in a frame that took a minute when it was recorded.
class LongWaitTest : public testing::Test {
 protected:
  static constexpr uint64_t kTimeoutNs = 20'000'000;

  LongWaitTest() {
    const uint64_t queue = script_.CreateQueue();
    const uint64_t fence = script_.CreateFence();
    script_.Signal(queue, fence, 1);
    script_.Completed(fence, 1);
    HoldFakeSignals(true);
  }
  ~LongWaitTest() override { HoldFakeSignals(false); }

  void EndOfFrame(uint64_t after_ns) {
    FrameBody body = {};
    body.time_ns = kBeganNs + after_ns;
    script_.trace.Add(RecordKind::kFrame, 0, BodyBytes(body));
  }
  Played PlayIt(PlayerOptions options) {
    options.wait_timeout_ns = kTimeoutNs;
    options.interrupted = [began_ns = uint64_t{0}]() mutable {
      if (began_ns == 0) began_ns = MonotonicNs();
      if (MonotonicNs() - began_ns > 10 * kTimeoutNs) HoldFakeSignals(false);
      return false;
    };
    // A GPU that hangs may still use its objects: the player gives none of them back.
    const LeaksAreMeant meant;
    Played played = Play(&script_, std::move(options));
    HoldFakeSignals(false);
    return played;
  }

  static constexpr uint64_t kBeganNs = 1'000'000'000;  // of TestTrace
  TestScript script_;
};

TEST_F(LongWaitTest, MayTakeThreeTimesWhatItsFrameTook) {
  EndOfFrame(60'000'000'000);
  PlayerOptions options;
  options.wait_as_recorded = true;
  const Played played = PlayIt(options);
  EXPECT_TRUE(played.status.ok()) << played.status.message();
  EXPECT_THAT(played.result.left_out, IsEmpty());
}

TEST_F(LongWaitTest, MayNotIfATimeOutWasGiven) {
  EndOfFrame(60'000'000'000);
  const Played played = PlayIt({});
  EXPECT_EQ(played.failure, PlayerFailure::kHang);
  EXPECT_THAT(played.status.message(), HasSubstr("reached 0, not 1, within 0.02 s"));
}

TEST_F(LongWaitTest, IsAHangBeyondThat) {
  EndOfFrame(10'000'000);
  PlayerOptions options;
  options.wait_as_recorded = true;
  const Played played = PlayIt(options);
  EXPECT_EQ(played.failure, PlayerFailure::kHang);
  EXPECT_THAT(played.status.message(), HasSubstr("within 0.03 s: the GPU hangs"));
}

// A recording that was cut does not say how long its last frame took: that may be what hung.
TEST_F(LongWaitTest, IsAHangInAFrameThatNeverEnded) {
  PlayerOptions options;
  options.wait_as_recorded = true;
  EXPECT_EQ(PlayIt(options).failure, PlayerFailure::kHang);
}

}  // namespace
}  // namespace cairn
