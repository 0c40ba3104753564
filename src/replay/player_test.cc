// SPDX-License-Identifier: Apache-2.0
//
// Plays traces that are written here: on a device of our own, and where one is there on a real one.
#include "replay/player.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <functional>

#include "d3d12abi/fake_device.h"
#include "replay/test_script.h"

namespace cairn {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::byte> Bytes(size_t count, int first = 1) {
  std::vector<std::byte> bytes(count);
  for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(first + i);
  return bytes;
}

PlayerOptions OnFakeDevice() {
  PlayerOptions options;
  options.create_device = [](uint32_t) -> void* { return CreateFakeDevice(); };
  options.wait_timeout_ns = 50'000'000;
  return options;
}

struct Played {
  Status status;
  PlayerFailure failure = PlayerFailure::kNone;
  uint64_t failed_call = 0;
  PlayerResult result;
};

Played Play(TestScript* script, PlayerOptions options) {
  EXPECT_TRUE(script->ok) << "arguments that do not fit";
  EXPECT_TRUE(script->trace.status().ok()) << script->trace.status().message();
  TraceReader trace = script->trace.Open();
  Result<std::unique_ptr<Player>> player = Player::Create(&trace, std::move(options));
  if (!player.ok()) {
    ADD_FAILURE() << player.status().message();
    return {};
  }
  Played played;
  played.status = (*player)->Run();
  played.failure = (*player)->failure();
  played.failed_call = (*player)->failed_call();
  played.result = (*player)->result();
  return played;
}

class PlayerTest : public testing::Test {
 protected:
  // After a hang nothing is given back: an implementation might wait for ever.
  void TearDown() override {
    if (!hangs_) {
      EXPECT_EQ(FakeObjectCount(), before_);
    }
  }

  const int before_ = FakeObjectCount();
  bool hangs_ = false;
  TestScript script_;
};

TEST_F(PlayerTest, CopyOfWhatTheCpuWroteIsReadBack) {
  const CopyProgram program(&script_, Bytes(64), Bytes(64));
  PlayerOptions options = OnFakeDevice();
  options.validate = true;
  std::vector<uint64_t> submissions;
  options.on_submission = [&](uint64_t call) { submissions.push_back(call); };
  const Played played = Play(&script_, options);
  EXPECT_TRUE(played.status.ok()) << played.status.message();
  EXPECT_EQ(played.result.compared_readbacks, 1u);
  EXPECT_EQ(played.result.frames, 1u);
  EXPECT_EQ(played.result.skipped, 0u);
  EXPECT_THAT(played.result.notes, IsEmpty());
  EXPECT_THAT(submissions, ElementsAre(program.execute));
}

TEST_F(PlayerTest, OtherBytesAreTheFirstDifference) {
  const CopyProgram program(&script_, Bytes(64), Bytes(64, 2));
  PlayerOptions options = OnFakeDevice();
  options.validate = true;
  const Played played = Play(&script_, options);
  EXPECT_EQ(played.failure, PlayerFailure::kMismatch);
  EXPECT_EQ(played.failed_call, program.readback);
  EXPECT_THAT(played.status.message(), HasSubstr("64 bytes at 512 of resource 7"));
}

TEST_F(PlayerTest, WithoutValidationNothingIsCompared) {
  const CopyProgram program(&script_, Bytes(64), Bytes(64, 2));
  EXPECT_TRUE(Play(&script_, OnFakeDevice()).status.ok());
}

// What is left out did not happen: each of the three ways.
TEST_F(PlayerTest, OmissionsAreNotMade) {
  const CopyProgram program(&script_, Bytes(64), std::vector<std::byte>(64));
  PlayerOptions options = OnFakeDevice();
  options.validate = true;
  EXPECT_EQ(Play(&script_, options).failure, PlayerFailure::kMismatch);
  options.omissions.calls = {program.execute};
  EXPECT_EQ(Play(&script_, options).failure, PlayerFailure::kNone);
  options.omissions.calls.clear();
  options.omissions.lists = {Omissions::ListKey(program.execute, 0)};
  EXPECT_EQ(Play(&script_, options).failure, PlayerFailure::kNone);
}

TEST_F(PlayerTest, StopsBeforeTheCallThatIsNotWanted) {
  const CopyProgram program(&script_, Bytes(64), Bytes(64, 2));
  PlayerOptions options = OnFakeDevice();
  options.validate = true;
  options.last_call = program.execute - 1;
  int submissions = 0;
  options.on_submission = [&](uint64_t) { ++submissions; };
  EXPECT_TRUE(Play(&script_, options).status.ok());
  EXPECT_EQ(submissions, 0);
}

TEST_F(PlayerTest, FenceThatNeverComesIsAHang) {
  hangs_ = true;
  const uint64_t fence = script_.CreateFence();
  script_.Completed(fence, 3);
  const Played played = Play(&script_, OnFakeDevice());
  EXPECT_EQ(played.failure, PlayerFailure::kHang);
  EXPECT_EQ(played.status.code(), StatusCode::kDeviceLost);
  EXPECT_THAT(played.status.message(), HasSubstr("fence 2 came to 0, not to 3"));
}

// The event is waited for when its signal is there, however early the program registered it.
TEST_F(PlayerTest, EventIsWaitedForAfterItsSignal) {
  const uint64_t queue = script_.CreateQueue();
  const uint64_t fence = script_.CreateFence();
  const Method method = Method::ID3D12Fence_SetEventOnCompletion;
  const uint64_t call =
      script_.Call(method, fence, uint64_t{5}, reinterpret_cast<void*>(uintptr_t{77}));
  script_.Return(method, call, HRESULT{S_OK}, uint64_t{5}, reinterpret_cast<void*>(uintptr_t{77}));
  script_.Signal(queue, fence, 5);
  EXPECT_TRUE(Play(&script_, OnFakeDevice()).status.ok());
}

// Without an event the call itself waits: it returned when its signal was there.
TEST_F(PlayerTest, CallThatWaitsIsMadeWhereItReturned) {
  const uint64_t queue = script_.CreateQueue();
  const uint64_t fence = script_.CreateFence();
  const Method method = Method::ID3D12Fence_SetEventOnCompletion;
  script_.trace.thread = 1;
  const uint64_t call = script_.Call(method, fence, uint64_t{5}, nullptr);
  script_.trace.thread = 0;
  script_.Signal(queue, fence, 5);
  script_.trace.thread = 1;
  script_.Return(method, call, HRESULT{S_OK}, uint64_t{5}, nullptr);
  EXPECT_TRUE(Play(&script_, OnFakeDevice()).status.ok());
}

// A call that never returned is made all the same: it may be the one that hangs.
TEST_F(PlayerTest, UnreturnedCallIsMade) {
  const uint64_t fence = script_.CreateFence();
  script_.Call(Method::ID3D12Fence_Signal, fence, uint64_t{9});
  script_.Completed(fence, 9);
  EXPECT_TRUE(Play(&script_, OnFakeDevice()).status.ok());
}

TEST_F(PlayerTest, ObjectsThatEndAreGivenBack) {
  const uint64_t fence = script_.CreateFence();
  script_.trace.ObjectEnd(fence);
  const uint64_t call = script_.Call(Method::ID3D12Fence_Signal, fence, uint64_t{9});
  const Played played = Play(&script_, OnFakeDevice());
  EXPECT_EQ(played.failure, PlayerFailure::kCorrupt);
  EXPECT_EQ(played.failed_call, call);
  EXPECT_THAT(played.status.message(), HasSubstr("call " + std::to_string(call) +
                                                 ", ID3D12Fence::Signal: there is no "
                                                 "object 2 here"));
}

TEST_F(PlayerTest, RefusedCreationNamesTheCall) {
  D3D12_DESCRIPTOR_HEAP_DESC desc = {};
  desc.NumDescriptors = 1;
  // Our device has no descriptor heaps.
  script_.Create(Method::ID3D12Device_CreateDescriptorHeap, Chain::kID3D12DescriptorHeap, &desc,
                 __uuidof(ID3D12DescriptorHeap));
  const Played played = Play(&script_, OnFakeDevice());
  EXPECT_EQ(played.failure, PlayerFailure::kRefused);
  EXPECT_THAT(played.status.message(),
              HasSubstr("ID3D12Device::CreateDescriptorHeap: this device refuses it with 0x"));
}

TEST_F(PlayerTest, NewerInterfaceThanTheDeviceHasIsLeftOut) {
  const uint64_t list = script_.CreateList(script_.CreateAllocator());
  script_.Call(Method::ID3D12GraphicsCommandList6_DispatchMesh, list, 1u, 1u, 1u);
  script_.Call(Method::ID3D12GraphicsCommandList6_DispatchMesh, list, 2u, 1u, 1u);
  const Played played = Play(&script_, OnFakeDevice());
  EXPECT_TRUE(played.status.ok()) << played.status.message();
  EXPECT_EQ(played.result.skipped, 2u);
  EXPECT_THAT(played.result.notes, ElementsAre(HasSubstr("DispatchMesh")));
}

// ---- Traces that lie ----

TEST_F(PlayerTest, WriteBehindABufferIsRefused) {
  const uint64_t buffer = script_.CreateBuffer(D3D12_HEAP_TYPE_UPLOAD, 65536);
  script_.Write(buffer, 65536 - 8, Bytes(9));
  const Played played = Play(&script_, OnFakeDevice());
  EXPECT_EQ(played.failure, PlayerFailure::kCorrupt);
  EXPECT_THAT(played.status.message(), HasSubstr("9 bytes at 65528 are written into a buffer of "
                                                 "65536"));
}

TEST_F(PlayerTest, ObjectOfAnotherKindIsRefused) {
  const uint64_t queue = script_.CreateQueue();
  const uint64_t fence = script_.CreateFence();
  script_.Execute(queue, fence);
  const Played played = Play(&script_, OnFakeDevice());
  EXPECT_EQ(played.failure, PlayerFailure::kCorrupt);
  EXPECT_THAT(played.status.message(), HasSubstr("object 3 is of another kind: ID3D12Fence"));
}

TEST_F(PlayerTest, MethodOfAnotherKindOfObjectIsRefused) {
  const uint64_t fence = script_.CreateFence();
  script_.Call(Method::ID3D12CommandAllocator_Reset, fence);
  const Played played = Play(&script_, OnFakeDevice());
  EXPECT_EQ(played.failure, PlayerFailure::kCorrupt);
  EXPECT_THAT(played.status.message(), HasSubstr("object 2 is a ID3D12Fence"));
}

TEST_F(PlayerTest, ObjectThatIsNotWhatTheTraceSaysIsRefused) {
  void* place = nullptr;
  const uint64_t call = script_.Call(Method::ID3D12Device_CreateFence, script_.device, uint64_t{0},
                                     D3D12_FENCE_FLAG_NONE, __uuidof(ID3D12Fence), &place);
  script_.trace.Object(50, Chain::kID3D12GraphicsCommandList, script_.device, call);
  const Played played = Play(&script_, OnFakeDevice());
  EXPECT_EQ(played.failure, PlayerFailure::kCorrupt);
  EXPECT_THAT(played.status.message(), HasSubstr("object 50 is no ID3D12GraphicsCommandList"));
}

TEST_F(PlayerTest, FactsThatAreLargerThanTheBufferAreRefused) {
  TestScript script;
  const uint64_t buffer = script.CreateBuffer(D3D12_HEAP_TYPE_UPLOAD, 4096);
  (void)buffer;
  ResourceFacts facts = {};
  facts.gpu_address = 0x1000;
  facts.size_bytes = 8192;
  D3D12_HEAP_PROPERTIES heap = {};
  heap.Type = D3D12_HEAP_TYPE_UPLOAD;
  D3D12_RESOURCE_DESC desc = {};
  desc.Dimension = D3D12_RESOURCE_DIMENSION_BUFFER;
  desc.Width = 4096;
  desc.Height = desc.DepthOrArraySize = desc.MipLevels = 1;
  desc.SampleDesc.Count = 1;
  desc.Layout = D3D12_TEXTURE_LAYOUT_ROW_MAJOR;
  void* place = nullptr;
  const uint64_t call = script.Call(
      Method::ID3D12Device_CreateCommittedResource, script.device, &heap, D3D12_HEAP_FLAG_NONE,
      &desc, D3D12_RESOURCE_STATE_GENERIC_READ, nullptr, __uuidof(ID3D12Resource), &place);
  script.trace.Resource(60, script.device, call, facts);
  const Played played = Play(&script, OnFakeDevice());
  EXPECT_EQ(played.failure, PlayerFailure::kCorrupt);
  EXPECT_THAT(played.status.message(), HasSubstr("8192 bytes at address 0x1000"));
}

TEST(PlayerCreateTest, MissingLibraryIsNamed) {
  TestScript script;
  TraceReader trace = script.trace.Open();
  PlayerOptions options;
  options.library = "libno-such-d3d12.so";
  const auto player = Player::Create(&trace, options);
  ASSERT_FALSE(player.ok());
  EXPECT_EQ(player.status().code(), StatusCode::kNotFound);
  EXPECT_THAT(player.status().message(), HasSubstr("libno-such-d3d12.so"));
}

}  // namespace
}  // namespace cairn
