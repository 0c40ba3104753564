// SPDX-License-Identifier: Apache-2.0
//
// Plays traces that are written here: on a device of our own, and where one is there on a real one.
#include "reader/replay/player.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>

#include "d3d12abi/buffer_desc.h"
#include "d3d12abi/testing/fake_device.h"
#include "reader/replay/testing/test_script.h"

namespace cairn {
namespace {

using testing::ElementsAre;
using testing::Field;
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

// Returns the skipped calls, kind by kind.
std::vector<std::string> LeftOutBy(const Played& played) {
  std::vector<std::string> kinds;
  for (const LeftOut& kind : played.result.left_out) kinds.push_back(kind.what);
  return kinds;
}

class PlayerTest : public testing::Test {
 protected:
  void TearDown() override { EXPECT_EQ(FakeObjectCount(), before_); }

  const int before_ = FakeObjectCount();
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

// Tests the three ways to omit work.
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

// No played call signals the fence: its signal is not in the trace.
TEST_F(PlayerTest, FenceThatNobodySignalsIsNotWaitedFor) {
  const uint64_t fence = script_.CreateFence();
  script_.Completed(fence, 3);
  const Played played = Play(&script_, OnFakeDevice());
  EXPECT_TRUE(played.status.ok()) << played.status.message();
  EXPECT_THAT(LeftOutBy(played), ElementsAre("a wait for fence 2: nothing here brings it to 3"));
}

// An image that cannot be read does not count as equal.
TEST_F(PlayerTest, ImageThatCannotBeReadIsNotCompared) {
  FrameBody body = {};
  body.hashed = 1;
  script_.trace.Add(RecordKind::kFrame, 77, BodyBytes(body));
  PlayerOptions options = OnFakeDevice();
  options.validate = true;
  const Played played = Play(&script_, options);
  EXPECT_TRUE(played.status.ok()) << played.status.message();
  EXPECT_EQ(played.result.compared_frames, 0u);
  EXPECT_EQ(played.result.not_compared, 1u);
  EXPECT_THAT(played.result.notes, ElementsAre(HasSubstr("not compared: images of frames")));
}

TEST_F(PlayerTest, ReadbacksBeforeTheFirstFrameAreNotCompared) {
  const CopyProgram program(&script_, Bytes(64), Bytes(64, 2));
  PlayerOptions options = OnFakeDevice();
  options.validate = true;
  options.first_frame = 1;
  const Played played = Play(&script_, options);
  EXPECT_TRUE(played.status.ok()) << played.status.message();
  EXPECT_EQ(played.result.compared_readbacks, 0u);
}

// Unwritten memory holds zeros, in the recording and in the replay.
TEST_F(PlayerTest, WhatAResourceHeldIsComparedIfAskedFor) {
  const uint64_t queue = script_.CreateQueue();
  const uint64_t list = script_.CreateList(script_.CreateAllocator());
  const uint64_t from = script_.CreateBuffer(D3D12_HEAP_TYPE_UPLOAD, 65536);
  const uint64_t to = script_.CreateBuffer(D3D12_HEAP_TYPE_DEFAULT, 65536);
  script_.Write(from, 256, Bytes(64));
  script_.Call(Method::ID3D12GraphicsCommandList_CopyBufferRegion, list, ObjectPointer(to),
               uint64_t{512}, ObjectPointer(from), uint64_t{256}, uint64_t{64});
  script_.Close(list);
  script_.Execute(queue, list);
  std::vector<std::byte> held(65536);
  std::ranges::copy(Bytes(64), held.begin() + 512);
  script_.Hash(to, held);
  held[0] = std::byte{1};
  const uint64_t other = script_.Hash(to, held);
  PlayerOptions options = OnFakeDevice();
  options.validate = true;
  const Played not_asked = Play(&script_, options);
  EXPECT_TRUE(not_asked.status.ok()) << not_asked.status.message();
  EXPECT_EQ(not_asked.result.compared_resources, 0u);
  options.validate_resources = true;
  const Played played = Play(&script_, options);
  EXPECT_EQ(played.failure, PlayerFailure::kMismatch);
  EXPECT_EQ(played.failed_call, other);
  EXPECT_EQ(played.result.compared_resources, 2u);
  EXPECT_EQ(played.status.message(), "record " + std::to_string(other) + ": resource " +
                                         std::to_string(to) +
                                         ", subresource 0, does not hold what it held");
}

TEST_F(PlayerTest, AHashOfNoResourceIsNotCompared) {
  script_.Hash(77, Bytes(64));
  script_.trace.Add(RecordKind::kResourceHash, 77, Bytes(3));
  PlayerOptions options = OnFakeDevice();
  options.validate = true;
  options.validate_resources = true;
  const Played played = Play(&script_, options);
  EXPECT_TRUE(played.status.ok()) << played.status.message();
  EXPECT_EQ(played.result.not_compared, 2u);
}

// A playback ends with the first frame that it comes to, if all that were asked for lie before.
TEST_F(PlayerTest, FrameBehindTheLastIsNotComparedAndHasNoImage) {
  FrameBody body = {};
  body.frame = 4;
  body.hashed = 1;
  script_.trace.Add(RecordKind::kFrame, 77, BodyBytes(body));
  PlayerOptions options = OnFakeDevice();
  options.validate = true;
  options.images = true;
  options.frame_end = 4;
  int images = 0;
  options.on_image = [&](const FrameImage&) { ++images; };
  const Played played = Play(&script_, options);
  EXPECT_TRUE(played.status.ok()) << played.status.message();
  EXPECT_EQ(images, 0);
  EXPECT_EQ(played.result.not_compared, 0u);
  EXPECT_THAT(played.result.notes, IsEmpty());
}

TEST_F(PlayerTest, BufferThatCannotBeLargerIsRefused) {
  const CopyProgram program(&script_, Bytes(64), Bytes(64));
  PlayerOptions options = OnFakeDevice();
  options.pad_resources_bytes = ~uint64_t{0};
  const Played played = Play(&script_, options);
  EXPECT_TRUE(played.status.ok()) << played.status.message();
  EXPECT_THAT(LeftOutBy(played),
              testing::Contains(HasSubstr(" cannot be 18446744073709551615 bytes larger")));
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

// Logs the waits for unfinished submissions: `told` gets "call N" and "unfinished A to B", in their
// order.
void Watch(PlayerOptions* options, std::vector<std::string>* told) {
  options->on_call = [told](uint64_t number) { told->push_back("call " + std::to_string(number)); };
  options->on_unfinished = [told](uint64_t first, uint64_t last) {
    told->push_back("unfinished " + std::to_string(first) + " to " + std::to_string(last));
  };
}

// A program with two frames in flight: it asks for the event of a frame at once, and waits for it when it needs
// the frame's memory again. The GPU ends nothing before both frames are submitted.
TEST_F(PlayerTest, FramesInFlightStayInFlight) {
  const uint64_t queue = script_.CreateQueue();
  const uint64_t fence = script_.CreateFence();
  uint64_t allocators[2], execute[2], event[2];
  for (uint64_t frame = 0; frame < 2; ++frame) {
    allocators[frame] = script_.CreateAllocator();
    const uint64_t list = script_.CreateList(allocators[frame]);
    script_.Close(list);
    execute[frame] = script_.Execute(queue, list);
    script_.Signal(queue, fence, frame + 1);
    event[frame] = script_.AskForEvent(fence, frame + 1, /*followed=*/true);
  }
  script_.Reached(fence, 1);
  const uint64_t reset = script_.Call(Method::ID3D12CommandAllocator_Reset, allocators[0]);
  std::vector<std::string> told;
  PlayerOptions options = OnFakeDevice();
  Watch(&options, &told);
  options.on_call = [&, watch = options.on_call](uint64_t number) {
    watch(number);
    if (number == event[1]) HoldFakeSignals(false);
  };
  HoldFakeSignals(true);
  const Played played = Play(&script_, options);
  HoldFakeSignals(false);
  EXPECT_TRUE(played.status.ok()) << played.status.message();
  EXPECT_THAT(LeftOutBy(played), IsEmpty());
  const auto call = [](uint64_t number) { return "call " + std::to_string(number); };
  const auto unfinished = [](uint64_t first, uint64_t last) {
    return fmt::format("unfinished {} to {}", first, last);
  };
  std::erase_if(told, [&](const std::string& what) {
    return what.starts_with("call ") && what != call(execute[0]) && what != call(execute[1]) &&
           what != call(reset);
  });
  EXPECT_THAT(told, ElementsAre(call(execute[0]), unfinished(execute[0], execute[0]),
                                call(execute[1]), unfinished(execute[0], execute[1]),
                                unfinished(execute[1], execute[1]), call(reset), unfinished(0, 0)));
}

// The trace says that the program had waited, and the replay waits no later than the signal allows.
TEST_F(PlayerTest, FollowedWaitsNeverBlock) {
  const uint64_t queue = script_.CreateQueue();
  const uint64_t list = script_.CreateList(script_.CreateAllocator());
  script_.Close(list);
  const uint64_t fence = script_.CreateFence();
  script_.AskForEvent(fence, 5, /*followed=*/true);
  script_.Reached(fence, 5);  // the signal comes later
  script_.Reached(fence, 9);  // nothing signals it
  script_.Reached(77, 1);     // no such fence
  const uint64_t execute = script_.Execute(queue, list);
  script_.Signal(queue, fence, 5);
  const uint64_t next = script_.Call(Method::ID3D12Fence_Signal, fence, uint64_t{6});
  const uint64_t short_one = script_.trace.Add(RecordKind::kFenceReached, fence, {});
  std::vector<std::string> told;
  PlayerOptions options = OnFakeDevice();
  Watch(&options, &told);
  const Played played = Play(&script_, options);
  EXPECT_TRUE(played.status.ok()) << played.status.message();
  EXPECT_THAT(played.result.left_out, ElementsAre(Field(&LeftOut::first, short_one)));
  const auto place = [&](const std::string& what) {
    return std::find(told.begin(), told.end(), what) - told.begin();
  };
  EXPECT_LT(place("call " + std::to_string(execute)), place("unfinished 0 to 0"));
  EXPECT_LT(place("unfinished 0 to 0"), place("call " + std::to_string(next)));
}

TEST_F(PlayerTest, SignalsOfTheStartAreWaitedFor) {
  const uint64_t queue = script_.CreateQueue();
  const uint64_t list = script_.CreateList(script_.CreateAllocator());
  script_.Close(list);
  const uint64_t fence = script_.CreateFence();
  const uint64_t gate = script_.CreateFence();
  script_.Execute(queue, list);
  script_.RestoreSignal(queue, fence, 6);
  const uint64_t next = script_.Call(Method::ID3D12Fence_Signal, gate, uint64_t{1});
  script_.Execute(queue, list);
  script_.Signal(queue, fence, 7);
  const uint64_t last = script_.Call(Method::ID3D12Fence_Signal, gate, uint64_t{2});
  std::vector<std::string> told;
  PlayerOptions options = OnFakeDevice();
  Watch(&options, &told);
  EXPECT_TRUE(Play(&script_, options).status.ok());
  const auto place = [&](const std::string& what) {
    return std::find(told.begin(), told.end(), what) - told.begin();
  };
  const std::string all_ended = "unfinished 0 to 0";
  EXPECT_LT(place(all_ended), place("call " + std::to_string(next)));
  EXPECT_NE(told[static_cast<size_t>(place("call " + std::to_string(last))) - 1], all_ended)
      << "signals of the program are not";
}

TEST_F(PlayerTest, OneOfSeveralFencesIsWaitedFor) {
  for (const bool has_event : {false, true}) {
    TestScript script;
    const uint64_t queue = script.CreateQueue();
    const uint64_t list = script.CreateList(script.CreateAllocator());
    script.Close(list);
    const uint64_t fence_numbers[] = {script.CreateFence(), script.CreateFence()};
    void* fences[] = {ObjectPointer(fence_numbers[0]), ObjectPointer(fence_numbers[1])};
    const uint64_t values[] = {5, 5};
    const uint64_t execute = script.Execute(queue, list);
    script.Signal(queue, fence_numbers[1], 5);
    const Method method = Method::ID3D12Device1_SetEventOnMultipleFenceCompletion;
    void* const event = reinterpret_cast<void*>(uintptr_t{has_event ? 77u : 0u});
    const uint64_t wait = script.Call(method, script.device, fences, values, 2u,
                                      D3D12_MULTIPLE_FENCE_WAIT_FLAG_ANY, event);
    script.Return(method, wait, HRESULT{S_OK}, fences, values, 2u,
                  D3D12_MULTIPLE_FENCE_WAIT_FLAG_ANY, event);
    const uint64_t next = script.Call(Method::ID3D12Fence_Signal, fence_numbers[0], uint64_t{1});
    std::vector<std::string> told;
    PlayerOptions options = OnFakeDevice();
    Watch(&options, &told);
    const Played played = Play(&script, options);
    EXPECT_TRUE(played.status.ok()) << played.status.message();
    EXPECT_THAT(LeftOutBy(played), IsEmpty());
    const auto place = [&](const std::string& what) {
      return std::find(told.begin(), told.end(), what) - told.begin();
    };
    const std::string number = std::to_string(execute);
    EXPECT_LT(place("call " + number), place("unfinished " + number + " to " + number));
    EXPECT_LT(place("call " + std::to_string(wait)), place("unfinished 0 to 0"));
    EXPECT_LT(place("unfinished 0 to 0"), place("call " + std::to_string(next)));
  }
}

TEST_F(PlayerTest, NoneOfSeveralFencesCanCome) {
  void* fences[] = {ObjectPointer(script_.CreateFence()), ObjectPointer(script_.CreateFence())};
  const uint64_t values[] = {5, 5};
  const Method method = Method::ID3D12Device1_SetEventOnMultipleFenceCompletion;
  const uint64_t wait = script_.Call(method, script_.device, fences, values, 2u,
                                     D3D12_MULTIPLE_FENCE_WAIT_FLAG_ANY, nullptr);
  script_.Return(method, wait, HRESULT{S_OK}, fences, values, 2u,
                 D3D12_MULTIPLE_FENCE_WAIT_FLAG_ANY, nullptr);
  const Played played = Play(&script_, OnFakeDevice());
  EXPECT_TRUE(played.status.ok()) << played.status.message();
  EXPECT_THAT(LeftOutBy(played),
              ElementsAre("a wait for one of 2 fences: nothing here brings one to its value"));
}

// This device's queues do not wait, so that the fence ends elsewhere than it would. Nothing is at work then:
// that is no hang.
TEST_F(PlayerTest, FenceThatNothingCanSignalAnyMoreIsNoHang) {
  const uint64_t queue = script_.CreateQueue();
  const uint64_t gate = script_.CreateFence();
  const uint64_t fence = script_.CreateFence();
  script_.Call(Method::ID3D12CommandQueue_Wait, queue, ObjectPointer(gate), uint64_t{1});
  script_.Signal(queue, fence, 5);
  script_.Call(Method::ID3D12Fence_Signal, fence, uint64_t{1});
  script_.Call(Method::ID3D12Fence_Signal, gate, uint64_t{1});
  script_.Completed(fence, 5);
  script_.Completed(fence, 5);
  PlayerOptions options = OnFakeDevice();
  options.wait_timeout_ns = 60'000'000'000;
  const Played played = Play(&script_, options);
  EXPECT_TRUE(played.status.ok()) << played.status.message();
  ASSERT_EQ(played.result.left_out.size(), 2u);
  EXPECT_EQ(played.result.left_out[0].what,
            "a wait for fence 4: it reached 1, not 5, when all queues had finished");
  // The reason as far as it is known by now.
  EXPECT_EQ(played.result.left_out[1].what, "a wait for fence 4: nothing here brings it to 5");
}

// The program gives it that value, which is otherwise that of a lost device.
TEST_F(PlayerTest, GreatestValueIsOneLikeAnyOther) {
  constexpr uint64_t kMost = ~uint64_t{0};
  const uint64_t queue = script_.CreateQueue();
  const uint64_t fence = script_.CreateFence();
  script_.Signal(queue, fence, kMost);
  script_.Completed(fence, kMost);
  const Played played = Play(&script_, OnFakeDevice());
  EXPECT_TRUE(played.status.ok()) << played.status.message();
  EXPECT_THAT(LeftOutBy(played), IsEmpty());
}

// Calls that failed did nothing: they are not made, whatever is wrong with them, and the rest is.
TEST_F(PlayerTest, WhatFailedWhenItWasRecordedIsNoLoss) {
  const Method create = Method::ID3D12Device_CreateCommandList;
  void* place = nullptr;
  const uint64_t failed =
      script_.Call(create, script_.device, 0u, D3D12_COMMAND_LIST_TYPE_DIRECT, nullptr, nullptr,
                   __uuidof(ID3D12GraphicsCommandList), &place);
  script_.Return(create, failed, HRESULT{E_INVALIDARG}, 0u, D3D12_COMMAND_LIST_TYPE_DIRECT, nullptr,
                 nullptr, __uuidof(ID3D12GraphicsCommandList), &place);
  // An open list cannot be reset, and stays what it is.
  const uint64_t queue = script_.CreateQueue();
  const uint64_t list = script_.CreateList(script_.CreateAllocator());
  const Method reset = Method::ID3D12GraphicsCommandList_Reset;
  const uint64_t again = script_.Call(reset, list, nullptr, nullptr);
  script_.Return(reset, again, HRESULT{E_INVALIDARG}, nullptr, nullptr);
  script_.Close(list);
  uint64_t submissions = 0;
  script_.Execute(queue, list);
  PlayerOptions options = OnFakeDevice();
  options.on_submission = [&](uint64_t) { ++submissions; };
  const Played played = Play(&script_, options);
  EXPECT_TRUE(played.status.ok()) << played.status.message();
  EXPECT_THAT(LeftOutBy(played), IsEmpty());
  EXPECT_EQ(played.result.skipped, 0u);
  EXPECT_EQ(submissions, 1u);
}

// The library of a replay is empty, and knows no name.
TEST_F(PlayerTest, PipelinesOfALibraryAreMadeFromTheirDescriptions) {
  const uint64_t library =
      script_.Create(Method::ID3D12Device1_CreatePipelineLibrary, Chain::kID3D12PipelineLibrary,
                     "1234", size_t{4}, __uuidof(ID3D12PipelineLibrary));
  const D3D12_COMPUTE_PIPELINE_STATE_DESC desc = {};
  const char16_t name[] = u"blur";
  const uint64_t pipeline =
      script_.CreateBy(library, Method::ID3D12PipelineLibrary_LoadComputePipeline,
                       Chain::kID3D12PipelineState, name, &desc, __uuidof(ID3D12PipelineState));
  const uint64_t list = script_.CreateList(script_.CreateAllocator());
  script_.Call(Method::ID3D12GraphicsCommandList_SetPipelineState, list, ObjectPointer(pipeline));
  script_.Close(list);
  const Played played = Play(&script_, OnFakeDevice());
  EXPECT_TRUE(played.status.ok()) << played.status.message();
  EXPECT_THAT(LeftOutBy(played), IsEmpty());
  EXPECT_EQ(played.result.skipped, 0u);
}

TEST_F(PlayerTest, LibrariesOfDevicesThatAreNoneLoadNothing) {
  const uint64_t queue = script_.CreateQueue();
  const uint64_t library = 500;
  void* place = nullptr;
  const uint64_t call = script_.Call(Method::ID3D12Device1_CreatePipelineLibrary, script_.device,
                                     "1234", size_t{4}, __uuidof(ID3D12PipelineLibrary), &place);
  script_.trace.Object(library, Chain::kID3D12PipelineLibrary, /*device=*/queue, call);
  const D3D12_COMPUTE_PIPELINE_STATE_DESC desc = {};
  const char16_t name[] = u"blur";
  script_.CreateBy(library, Method::ID3D12PipelineLibrary_LoadComputePipeline,
                   Chain::kID3D12PipelineState, name, &desc, __uuidof(ID3D12PipelineState));
  const Played played = Play(&script_, OnFakeDevice());
  EXPECT_TRUE(played.status.ok()) << played.status.message();
  EXPECT_THAT(LeftOutBy(played), ElementsAre(HasSubstr("its device is not there")));
}

// The same calls, without a recorded failure: one warning for each kind, however often.
TEST_F(PlayerTest, KindsOfWhatIsLeftOutAreCounted) {
  const uint64_t list = script_.CreateList(script_.CreateAllocator());
  const uint64_t from = script_.CreateBuffer(D3D12_HEAP_TYPE_UPLOAD, 4096);
  const uint64_t to = script_.CreateBuffer(D3D12_HEAP_TYPE_READBACK, 4096);
  uint64_t first = 0;
  for (uint64_t i = 0; i < 5; ++i) {
    const uint64_t call =
        script_.Call(Method::ID3D12GraphicsCommandList_CopyBufferRegion, list, ObjectPointer(to),
                     uint64_t{0}, ObjectPointer(from), 4095 + i, uint64_t{8});
    if (i == 0) first = call;
  }
  void* place = nullptr;
  const uint64_t unreturned = script_.Call(Method::ID3D12Device_CreateCommandQueue, script_.device,
                                           nullptr, __uuidof(ID3D12CommandQueue), &place);
  const Played played = Play(&script_, OnFakeDevice());
  EXPECT_TRUE(played.status.ok()) << played.status.message();
  EXPECT_EQ(played.result.skipped, 6u);
  ASSERT_EQ(played.result.left_out.size(), 2u);
  EXPECT_EQ(played.result.left_out[0].count, 5u);
  EXPECT_EQ(played.result.left_out[0].first, first);
  EXPECT_EQ(played.result.left_out[0].what,
            "ID3D12GraphicsCommandList::CopyBufferRegion: 8 bytes at 4095 of resource 4, which has "
            "4096");
  EXPECT_EQ(played.result.left_out[1].count, 1u);
  EXPECT_EQ(played.result.left_out[1].first, unreturned);
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
  EXPECT_TRUE(played.status.ok()) << played.status.message();
  EXPECT_THAT(played.result.left_out, ElementsAre(Field(&LeftOut::first, call)));
  EXPECT_THAT(LeftOutBy(played), ElementsAre("ID3D12Fence::Signal: there is no object 2 here"));
}

// A search is told, all others go on without what cannot be made here, and what would use it.
TEST_F(PlayerTest, RefusedCreationNamesTheCall) {
  D3D12_COMPUTE_PIPELINE_STATE_DESC desc = {};
  desc.NodeMask = 2;  // our device has one node
  const uint64_t pipeline =
      script_.Create(Method::ID3D12Device_CreateComputePipelineState, Chain::kID3D12PipelineState,
                     &desc, __uuidof(ID3D12PipelineState));
  const uint64_t list = script_.CreateList(script_.CreateAllocator());
  script_.Call(Method::ID3D12GraphicsCommandList_SetPipelineState, list, ObjectPointer(pipeline));
  for (int i = 0; i < 3; ++i) {
    script_.Call(Method::ID3D12GraphicsCommandList_Dispatch, list, 1u, 1u, 1u);
  }
  PlayerOptions options = OnFakeDevice();
  const Played played = Play(&script_, options);
  EXPECT_TRUE(played.status.ok()) << played.status.message();
  EXPECT_EQ(played.result.skipped, 5u);
  ASSERT_EQ(played.result.left_out.size(), 3u);
  EXPECT_THAT(
      played.result.left_out[0].what,
      HasSubstr("ID3D12Device::CreateComputePipelineState: this device refuses it with 0x"));
  EXPECT_THAT(played.result.left_out[1].what,
              HasSubstr("it uses an object whose creation this replay had to skip"));
  EXPECT_THAT(played.result.left_out[2].what, HasSubstr("Dispatch: its pipeline"));
  EXPECT_EQ(played.result.left_out[2].count, 3u);

  options.end_at_refusal = true;
  const Played searched = Play(&script_, options);
  EXPECT_EQ(searched.failure, PlayerFailure::kRefused);
  EXPECT_THAT(
      searched.status.message(),
      HasSubstr("ID3D12Device::CreateComputePipelineState: this device refuses it with 0x"));
}

// Heaps of the program's own memory, and shared objects, exist in no replay. Objects that depend on
// them are skipped, too, and each of them is reported.
TEST_F(PlayerTest, WhatIsImportedIsLeftOutAndSaid) {
  script_.trace.Note(NoteKind::kUnsupported, "a heap was made of the program's own memory");
  const void* const memory = script_.device == 0 ? nullptr : &script_;
  const uint64_t heap = script_.Create(Method::ID3D12Device3_OpenExistingHeapFromAddress,
                                       Chain::kID3D12Heap, memory, __uuidof(ID3D12Heap));
  const D3D12_RESOURCE_DESC desc = BufferDesc(65536);
  const uint64_t placed = script_.Create(
      Method::ID3D12Device_CreatePlacedResource, Chain::kID3D12Resource, ObjectPointer(heap),
      uint64_t{0}, &desc, D3D12_RESOURCE_STATE_COMMON, nullptr, __uuidof(ID3D12Resource));
  const uint64_t opened = script_.Create(Method::ID3D12Device_OpenSharedHandle, Chain::kID3D12Fence,
                                         nullptr, __uuidof(ID3D12Fence));
  const uint64_t queue = script_.CreateQueue();
  const uint64_t list = script_.CreateList(script_.CreateAllocator());
  const uint64_t to = script_.CreateBuffer(D3D12_HEAP_TYPE_READBACK, 65536);
  script_.Call(Method::ID3D12GraphicsCommandList_CopyBufferRegion, list, ObjectPointer(to),
               uint64_t{0}, ObjectPointer(placed), uint64_t{0}, uint64_t{64});
  script_.Close(list);
  script_.Execute(queue, list);
  script_.Signal(queue, opened, 1);
  PlayerOptions options = OnFakeDevice();
  const Played played = Play(&script_, options);
  EXPECT_TRUE(played.status.ok()) << played.status.message();
  EXPECT_GE(played.result.skipped, 4u);
  EXPECT_THAT(played.result.notes,
              ElementsAre("recorded: a heap was made of the program's own memory"));
  EXPECT_THAT(LeftOutBy(played),
              testing::IsSupersetOf({HasSubstr("OpenExistingHeapFromAddress"),
                                     HasSubstr("CreatePlacedResource"),
                                     HasSubstr("OpenSharedHandle"), HasSubstr("CopyBufferRegion"),
                                     HasSubstr("ID3D12CommandQueue::Signal")}));
}

// This is no fault of the trace: others may have taken the memory.
TEST_F(PlayerTest, NoMemoryIsNoRefusal) {
  script_.CreateBuffer(D3D12_HEAP_TYPE_DEFAULT, uint64_t{65} << 20);
  PlayerOptions options = OnFakeDevice();
  options.end_at_refusal = true;
  const Played played = Play(&script_, options);
  EXPECT_EQ(played.failure, PlayerFailure::kUnclear);
  EXPECT_THAT(played.status.message(), HasSubstr("refuses it with 0x8007000E"));
}

TEST_F(PlayerTest, NotesAndDevicesAreToldWhenTheyCome) {
  const uint64_t fence = script_.CreateFence();
  script_.Completed(fence, 3);
  PlayerOptions options = OnFakeDevice();
  std::vector<std::string> notes;
  std::vector<DeviceFacts> devices;
  options.on_note = [&](const std::string& note) { notes.push_back(note); };
  options.on_device = [&](const DeviceFacts& facts) { devices.push_back(facts); };
  const Played played = Play(&script_, options);
  EXPECT_THAT(played.result.notes, IsEmpty());
  EXPECT_THAT(notes, ElementsAre(HasSubstr("a wait for fence 2: nothing here brings it to 3")));
  // This is not libvkd3d's device: only the device's own library knows its name.
  ASSERT_EQ(devices.size(), 1u);
  EXPECT_EQ(devices[0].name, "");
}

TEST_F(PlayerTest, NewerInterfaceThanTheDeviceHasIsRefused) {
  const uint64_t list = script_.CreateList(script_.CreateAllocator());
  const uint64_t call =
      script_.Call(Method::ID3D12GraphicsCommandList6_DispatchMesh, list, 1u, 1u, 1u);
  const Played without = Play(&script_, OnFakeDevice());
  EXPECT_TRUE(without.status.ok()) << without.status.message();
  EXPECT_THAT(LeftOutBy(without),
              ElementsAre(HasSubstr("this device has no ID3D12GraphicsCommandList6")));
  PlayerOptions options = OnFakeDevice();
  options.end_at_refusal = true;
  const Played played = Play(&script_, options);
  EXPECT_EQ(played.failure, PlayerFailure::kRefused);
  EXPECT_EQ(played.failed_call, call);
  EXPECT_THAT(played.status.message(),
              HasSubstr("DispatchMesh: this device has no ID3D12GraphicsCommandList6"));
}

// Only what succeeded then has to succeed now.
TEST_F(PlayerTest, NewerInterfaceIsRefusedWhereItsCallSucceeded) {
  for (const bool succeeded : {false, true}) {
    TestScript script;
    const Method residency = Method::ID3D12Device3_EnqueueMakeResident;
    void* objects[] = {ObjectPointer(script.CreateBuffer(D3D12_HEAP_TYPE_UPLOAD, 4096))};
    void* const fence = ObjectPointer(script.CreateFence());
    const uint64_t call = script.Call(residency, script.device, D3D12_RESIDENCY_FLAG_NONE, 1u,
                                      objects, fence, uint64_t{1});
    script.Return(residency, call, succeeded ? HRESULT{S_OK} : HRESULT{E_FAIL},
                  D3D12_RESIDENCY_FLAG_NONE, 1u, objects, fence, uint64_t{1});
    const Played played = Play(&script, OnFakeDevice());
    EXPECT_TRUE(played.status.ok()) << played.status.message();
    EXPECT_EQ(played.result.skipped, succeeded ? 1u : 0u);
    PlayerOptions search = OnFakeDevice();
    search.end_at_refusal = true;
    const Played searched = Play(&script, search);
    EXPECT_EQ(searched.failure, succeeded ? PlayerFailure::kRefused : PlayerFailure::kNone);
    if (!succeeded) continue;
    EXPECT_THAT(LeftOutBy(played),
                ElementsAre(HasSubstr("this device has no ID3D12Device3; it succeeded")));
    EXPECT_THAT(searched.status.message(), HasSubstr("this device has no ID3D12Device3"));
  }
}

TEST(OmissionsTest, KeysOfListsAreDifferent) {
  EXPECT_NE(Omissions::ListKey(1, 0xFFFF), Omissions::ListKey(2, 0xFFFF));
  EXPECT_NE(Omissions::ListKey(1, 0x1000), Omissions::ListKey(2, 0));
}

// ---- Traces that lie ----

TEST_F(PlayerTest, WriteBehindABufferIsRefused) {
  const uint64_t buffer = script_.CreateBuffer(D3D12_HEAP_TYPE_UPLOAD, 65536);
  script_.Write(buffer, 65536 - 8, Bytes(9));
  const Played played = Play(&script_, OnFakeDevice());
  EXPECT_TRUE(played.status.ok()) << played.status.message();
  EXPECT_THAT(LeftOutBy(played),
              testing::Contains(HasSubstr("9 bytes at 65528 are written into a buffer of "
                                          "65536")));
}

TEST_F(PlayerTest, CopyBehindABufferIsRefused) {
  const uint64_t list = script_.CreateList(script_.CreateAllocator());
  const uint64_t from = script_.CreateBuffer(D3D12_HEAP_TYPE_UPLOAD, 4096);
  const uint64_t to = script_.CreateBuffer(D3D12_HEAP_TYPE_READBACK, 65536);
  script_.Call(Method::ID3D12GraphicsCommandList_CopyBufferRegion, list, ObjectPointer(to),
               uint64_t{0}, ObjectPointer(from), uint64_t{4092}, uint64_t{8});
  const Played played = Play(&script_, OnFakeDevice());
  EXPECT_TRUE(played.status.ok()) << played.status.message();
  EXPECT_THAT(LeftOutBy(played),
              testing::Contains(HasSubstr("8 bytes at 4092 of resource 4, which has 4096")));
}

TEST_F(PlayerTest, ObjectOfAnotherKindIsRefused) {
  const uint64_t queue = script_.CreateQueue();
  const uint64_t fence = script_.CreateFence();
  script_.Execute(queue, fence);
  const Played played = Play(&script_, OnFakeDevice());
  EXPECT_TRUE(played.status.ok()) << played.status.message();
  EXPECT_THAT(LeftOutBy(played),
              testing::Contains(HasSubstr("fence 3 stands where another kind of object belongs")));
}

TEST_F(PlayerTest, MethodOfAnotherKindOfObjectIsRefused) {
  const uint64_t fence = script_.CreateFence();
  script_.Call(Method::ID3D12CommandAllocator_Reset, fence);
  const Played played = Play(&script_, OnFakeDevice());
  EXPECT_TRUE(played.status.ok()) << played.status.message();
  EXPECT_THAT(LeftOutBy(played),
              testing::Contains(HasSubstr("fence 2 has no method ID3D12CommandAllocator::Reset")));
}

TEST_F(PlayerTest, ObjectThatIsNotWhatTheTraceSaysIsRefused) {
  void* place = nullptr;
  const uint64_t call = script_.Call(Method::ID3D12Device_CreateFence, script_.device, uint64_t{0},
                                     D3D12_FENCE_FLAG_NONE, __uuidof(ID3D12Fence), &place);
  script_.trace.Object(50, Chain::kID3D12GraphicsCommandList, script_.device, call);
  const Played played = Play(&script_, OnFakeDevice());
  EXPECT_TRUE(played.status.ok()) << played.status.message();
  EXPECT_THAT(LeftOutBy(played), testing::Contains(HasSubstr("object 50 is no command list")));
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
  const D3D12_RESOURCE_DESC desc = BufferDesc(4096);
  void* place = nullptr;
  const uint64_t call = script.Call(
      Method::ID3D12Device_CreateCommittedResource, script.device, &heap, D3D12_HEAP_FLAG_NONE,
      &desc, D3D12_RESOURCE_STATE_GENERIC_READ, nullptr, __uuidof(ID3D12Resource), &place);
  script.trace.Resource(60, script.device, call, facts);
  const Played played = Play(&script, OnFakeDevice());
  EXPECT_TRUE(played.status.ok()) << played.status.message();
  EXPECT_THAT(LeftOutBy(played), testing::Contains(HasSubstr("8192 bytes at address 0x1000")));
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
