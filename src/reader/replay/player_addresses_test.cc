// SPDX-License-Identifier: Apache-2.0
//
// Addresses in buffers, on a device of our own: the arguments of ExecuteIndirect, as the GPU finds them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "d3d12abi/testing/fake_names.h"
#include "reader/replay/testing/player_hostile_script.h"

namespace cairn {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;

// Commands that set a root constant buffer and dispatch.
class IndirectScript : public HostileScript {
 public:
  IndirectScript() {
    const std::vector<std::byte> blob = RootSignature();
    root_signature_ = CreateRootSignature(blob);
    D3D12_INDIRECT_ARGUMENT_DESC arguments[2] = {};
    arguments[0].Type = D3D12_INDIRECT_ARGUMENT_TYPE_CONSTANT_BUFFER_VIEW;
    arguments[0].ConstantBufferView.RootParameterIndex = 2;
    arguments[1].Type = D3D12_INDIRECT_ARGUMENT_TYPE_DISPATCH;
    D3D12_COMMAND_SIGNATURE_DESC desc = {};
    desc.ByteStride = kCommandBytes;
    desc.NumArgumentDescs = 2;
    desc.pArgumentDescs = arguments;
    signature_ = Create(Method::ID3D12Device_CreateCommandSignature, Chain::kID3D12CommandSignature,
                        &desc, ObjectPointer(root_signature_), __uuidof(ID3D12CommandSignature));
    queue = CreateQueue();
    list = CreateList();
    target = CreateBuffer(D3D12_HEAP_TYPE_DEFAULT, 65536);
  }
  // The fake device keeps what the address means there: LastFakeRootView().
  void SetView(uint64_t recorded) {
    Call(Method::ID3D12GraphicsCommandList_SetComputeRootSignature, list,
         ObjectPointer(root_signature_));
    Call(Method::ID3D12GraphicsCommandList_SetComputeRootConstantBufferView, list, 2u, recorded);
  }
  uint64_t CreateBundle() {
    return Create(Method::ID3D12Device_CreateCommandList, Chain::kID3D12GraphicsCommandList, 0u,
                  D3D12_COMMAND_LIST_TYPE_BUNDLE, ObjectPointer(CreateAllocator()), nullptr,
                  __uuidof(ID3D12GraphicsCommandList));
  }
  void Bundle(uint64_t on, uint64_t bundle) {
    Call(Method::ID3D12GraphicsCommandList_ExecuteBundle, on, ObjectPointer(bundle));
  }
  void CreateSignature(D3D12_INDIRECT_ARGUMENT_TYPE first) {
    D3D12_INDIRECT_ARGUMENT_DESC arguments[2] = {};
    std::memcpy(&arguments[0].Type, &first, sizeof(first));
    arguments[1].Type = D3D12_INDIRECT_ARGUMENT_TYPE_DISPATCH;
    D3D12_COMMAND_SIGNATURE_DESC desc = {};
    desc.ByteStride = kCommandBytes;
    desc.NumArgumentDescs = 2;
    desc.pArgumentDescs = arguments;
    Create(Method::ID3D12Device_CreateCommandSignature, Chain::kID3D12CommandSignature, &desc,
           nullptr, __uuidof(ID3D12CommandSignature));
  }
  uint64_t Indirect(uint64_t on, uint64_t arguments, uint64_t offset = 0, uint32_t count = 1) {
    return Call(Method::ID3D12GraphicsCommandList_ExecuteIndirect, on, ObjectPointer(signature_),
                count, ObjectPointer(arguments), offset, nullptr, uint64_t{0});
  }
  void Copy(uint64_t on, uint64_t to, uint64_t from) {
    Call(Method::ID3D12GraphicsCommandList_CopyBufferRegion, on, ObjectPointer(to), uint64_t{0},
         ObjectPointer(from), uint64_t{0}, uint64_t{kCommandBytes});
  }
  // Stands for a shader: the GPU writes both halves of a recorded address.
  void WriteOnGpu(uint64_t on, uint64_t buffer, uint64_t recorded) {
    const D3D12_WRITEBUFFERIMMEDIATE_PARAMETER words[] = {
        {AddressOf(buffer), static_cast<UINT>(recorded)},
        {AddressOf(buffer) + 4, static_cast<UINT>(recorded >> 32)}};
    Call(Method::ID3D12GraphicsCommandList2_WriteBufferImmediate, on, 2u, words, nullptr);
  }
  void WriteOnCpu(uint64_t buffer, uint64_t recorded) {
    Write(buffer, 0, std::as_bytes(std::span(&recorded, 1)));
  }
  void ExecuteBoth(uint64_t first, uint64_t second) {
    void* lists[] = {ObjectPointer(first), ObjectPointer(second)};
    Call(Method::ID3D12CommandQueue_ExecuteCommandLists, queue, 2u, lists);
  }

  static constexpr uint32_t kCommandBytes = 20;
  uint64_t queue = 0;
  uint64_t list = 0;
  uint64_t target = 0;

 private:
  uint64_t root_signature_ = 0;
  uint64_t signature_ = 0;
};

Played PlayNewer(TestScript* script) {
  PlayerOptions options;
  options.create_device = [](uint32_t) -> void* { return CreateNewerFakeDevice(); };
  Played played = Play(script, std::move(options));
  EXPECT_TRUE(played.status.ok()) << played.status.message();
  return played;
}

TEST(PlayerAddressesTest, ArgumentsOfTheCpuAreReplacedWithoutTheGpu) {
  IndirectScript script;
  const uint64_t upload = script.CreateBuffer(D3D12_HEAP_TYPE_UPLOAD, 65536);
  const uint64_t arguments = script.CreateBuffer(D3D12_HEAP_TYPE_DEFAULT, 65536);
  const uint64_t recorded = TestScript::AddressOf(script.target) + 64;
  script.SetView(recorded);
  script.Copy(script.list, arguments, upload);
  script.Indirect(script.list, arguments);
  script.Close(script.list);
  script.WriteOnCpu(upload, recorded);
  script.Execute(script.queue, script.list);
  const uint64_t before = FakeExecutions();
  ExpectPlayed(&script);
  EXPECT_NE(LastFakeIndirectWord(), recorded);
  EXPECT_EQ(LastFakeIndirectWord(), LastFakeRootView());
  EXPECT_EQ(FakeExecutions() - before, 1u) << "the program's own";
}

TEST(PlayerAddressesTest, CommandsThatAreNotKeptAreNotExecuted) {
  for (const KeptParts& kept : {KeptParts{0, 0, 64}, KeptParts{0, 0, 2}, KeptParts{0, 3, 5},
                                KeptParts{0, 3, 900}, KeptParts{0, 0, 0}, KeptParts{0, 90, 95}}) {
    IndirectScript script;
    const uint64_t arguments = script.CreateBuffer(D3D12_HEAP_TYPE_UPLOAD, 65536);
    const uint64_t first = script.Indirect(script.list, arguments, 40, 1);
    const uint64_t call = script.Indirect(script.list, arguments, 0, 10);
    script.Close(script.list);
    for (uint64_t i = 0; i < 10; ++i) {
      const uint64_t word = 1000 + i;
      script.Write(arguments, i * IndirectScript::kCommandBytes,
                   std::as_bytes(std::span(&word, 1)));
    }
    script.Execute(script.queue, script.list);
    PlayerOptions options;
    options.create_device = [](uint32_t) -> void* { return CreateNewerFakeDevice(); };
    options.kept_parts = {call, kept.first, kept.end, IndirectScript::kCommandBytes};
    EXPECT_TRUE(Play(&script, std::move(options)).status.ok());
    const uint64_t end = std::min<uint64_t>(kept.end, 10);
    // Without a command it is the call in front of it that was executed last.
    const bool skipped = kept.end == 0;
    EXPECT_NE(first, call);
    EXPECT_EQ(LastFakeIndirectCount(), skipped ? 1 : end - std::min(end, kept.first));
    if (skipped || kept.first < 10) {
      EXPECT_EQ(LastFakeIndirectWord(), skipped ? 1002 : 1000 + kept.first);
    }
  }
}

// The same arguments are executed in two submissions: the second one finds addresses of this device.
TEST(PlayerAddressesTest, BytesAreGivenAsTheyWereRecorded) {
  IndirectScript script;
  const uint64_t arguments = script.CreateBuffer(D3D12_HEAP_TYPE_UPLOAD, 65536);
  const uint64_t recorded = TestScript::AddressOf(script.target) + 64;
  script.Indirect(script.list, arguments);
  script.Close(script.list);
  script.WriteOnCpu(arguments, recorded);
  script.Execute(script.queue, script.list);
  const uint64_t second = script.Execute(script.queue, script.list);
  PlayerOptions options;
  options.create_device = [](uint32_t) -> void* { return CreateNewerFakeDevice(); };
  options.canary = true;
  options.bytes_to_read = {second, arguments, 0, sizeof(uint64_t)};
  uint64_t given = 0;
  options.on_bytes = [&](std::span<const std::byte> bytes) {
    if (bytes.size() == sizeof(given)) std::memcpy(&given, bytes.data(), sizeof(given));
  };
  EXPECT_TRUE(Play(&script, std::move(options)).status.ok());
  EXPECT_NE(LastFakeIndirectWord(), recorded);
  EXPECT_EQ(given, recorded);
}

// Nothing in the list needs addresses of this device: the tables that were to change lie in no buffer.
TEST(PlayerAddressesTest, PartsThatLieInNoBufferAreRefused) {
  IndirectScript script;
  D3D12_DISPATCH_RAYS_DESC desc = {};
  desc.HitGroupTable = {0, 64, 32};
  const uint64_t call =
      script.Call(Method::ID3D12GraphicsCommandList4_DispatchRays, script.list, &desc);
  script.Close(script.list);
  script.Execute(script.queue, script.list);
  PlayerOptions options;
  options.create_device = [](uint32_t) -> void* { return CreateNewerFakeDevice(); };
  options.kept_parts = {call, 0, 0, 0};
  const Played played = Play(&script, std::move(options));
  EXPECT_EQ(played.failure, PlayerFailure::kRefused);
  EXPECT_THAT(played.status.message(), HasSubstr("cannot be skipped: they lie in no buffer"));
}

// A list executes one bundle twice, before and behind a copy into its arguments.
TEST(PlayerAddressesTest, ABundleReadsWhatItsListCopied) {
  IndirectScript script;
  const uint64_t upload = script.CreateBuffer(D3D12_HEAP_TYPE_UPLOAD, 65536);
  const uint64_t arguments = script.CreateBuffer(D3D12_HEAP_TYPE_DEFAULT, 65536);
  const uint64_t bundle = script.CreateBundle();
  const uint64_t recorded = TestScript::AddressOf(script.target) + 64;
  script.Indirect(bundle, arguments);
  script.Close(bundle);
  script.SetView(recorded);
  script.Bundle(script.list, bundle);
  script.Copy(script.list, arguments, upload);
  script.Bundle(script.list, bundle);
  script.Close(script.list);
  script.WriteOnCpu(upload, recorded);
  script.Execute(script.queue, script.list);
  ExpectPlayed(&script);
  EXPECT_NE(LastFakeIndirectWord(), recorded);
  EXPECT_EQ(LastFakeIndirectWord(), LastFakeRootView());
}

TEST(PlayerAddressesTest, UnknownTypesOfArgumentsAreNamed) {
  IndirectScript script;
  script.CreateSignature(static_cast<D3D12_INDIRECT_ARGUMENT_TYPE>(99));
  const Played played = Play(&script);
  EXPECT_TRUE(played.status.ok()) << played.status.message();
  EXPECT_EQ(played.result.skipped, 1u);
  EXPECT_THAT(
      played.result.left_out,
      ElementsAre(
          Field(&LeftOut::what,
                HasSubstr("CreateCommandSignature: type 99 of its arguments is unknown: addresses "
                          "from there on stay as they were recorded"))));
}

TEST(PlayerAddressesTest, ASubmissionIsReadOnceAndWrittenOnce) {
  IndirectScript script;
  const uint64_t upload = script.CreateBuffer(D3D12_HEAP_TYPE_UPLOAD, 65536);
  const uint64_t first = script.CreateBuffer(D3D12_HEAP_TYPE_DEFAULT, 65536);
  const uint64_t second = script.CreateBuffer(D3D12_HEAP_TYPE_DEFAULT, 65536);
  const uint64_t copies = script.CreateList();
  const uint64_t recorded = TestScript::AddressOf(script.target) + 64;
  script.Copy(copies, first, upload);
  script.Copy(copies, second, upload);
  script.Close(copies);
  script.SetView(recorded);
  script.Indirect(script.list, first);
  script.Indirect(script.list, second);
  script.Close(script.list);
  script.WriteOnCpu(upload, recorded);
  script.Execute(script.queue, copies);
  script.Execute(script.queue, script.list);
  const uint64_t before = FakeExecutions();
  ExpectPlayed(&script);
  EXPECT_EQ(LastFakeIndirectWord(), LastFakeRootView());
  EXPECT_EQ(FakeExecutions() - before, 4u) << "two of the program; a read; a write";
}

// A capture has the bytes that changed.
TEST(PlayerAddressesTest, OneByteOfAnAddressChanges) {
  IndirectScript script;
  const uint64_t other = script.CreateBuffer(D3D12_HEAP_TYPE_DEFAULT, 65536);
  const uint64_t upload = script.CreateBuffer(D3D12_HEAP_TYPE_UPLOAD, 65536);
  const uint64_t recorded = TestScript::AddressOf(script.target);
  const uint64_t next = TestScript::AddressOf(other);
  script.SetView(next);
  script.Indirect(script.list, upload);
  script.Close(script.list);
  script.WriteOnCpu(upload, recorded);
  script.Execute(script.queue, script.list);
  constexpr uint64_t kByte = 3;
  ASSERT_EQ((recorded ^ next) & ~(uint64_t{0xFF} << (8 * kByte)), 0u);
  script.Write(upload, kByte, std::as_bytes(std::span(&next, 1)).subspan(kByte, 1));
  script.Execute(script.queue, script.list);
  ExpectPlayed(&script);
  EXPECT_EQ(LastFakeIndirectWord(), LastFakeRootView());
}

TEST(PlayerAddressesTest, ASubmissionIsSplitBeforeWhatItsFirstListWrote) {
  IndirectScript script;
  const uint64_t arguments = script.CreateBuffer(D3D12_HEAP_TYPE_DEFAULT, 65536);
  const uint64_t writer = script.CreateList();
  const uint64_t recorded = TestScript::AddressOf(script.target) + 64;
  script.WriteOnGpu(writer, arguments, recorded);
  script.Close(writer);
  script.SetView(recorded);
  script.Indirect(script.list, arguments);
  script.Close(script.list);
  script.ExecuteBoth(writer, script.list);
  const Played played = PlayNewer(&script);
  EXPECT_EQ(LastFakeIndirectWord(), LastFakeRootView());
  EXPECT_EQ(played.result.skipped, 0u);
}

TEST(PlayerAddressesTest, WhatAListWritesAndUsesItselfIsCounted) {
  IndirectScript script;
  const uint64_t arguments = script.CreateBuffer(D3D12_HEAP_TYPE_DEFAULT, 65536);
  const uint64_t recorded = TestScript::AddressOf(script.target) + 64;
  script.WriteOnGpu(script.list, arguments, recorded);
  script.Indirect(script.list, arguments);
  script.Close(script.list);
  script.Execute(script.queue, script.list);
  const Played played = PlayNewer(&script);
  EXPECT_EQ(LastFakeIndirectWord(), recorded);
  EXPECT_EQ(played.result.skipped, 1u);
  EXPECT_THAT(played.result.left_out,
              ElementsAre(Field(&LeftOut::what,
                                HasSubstr("ExecuteCommandLists: 1 of its addresses were used as "
                                          "they were recorded"))));
}

// A barrier says that shaders have written; here they have not.
TEST(PlayerAddressesTest, AListWhoseShadersWriteOtherWordsIsPlayed) {
  IndirectScript script;
  const uint64_t upload = script.CreateBuffer(D3D12_HEAP_TYPE_UPLOAD, 65536);
  const uint64_t arguments = script.CreateBuffer(D3D12_HEAP_TYPE_DEFAULT, 65536);
  const uint64_t recorded = TestScript::AddressOf(script.target) + 64;
  D3D12_RESOURCE_BARRIER barrier = {};
  barrier.Transition.pResource = static_cast<ID3D12Resource*>(ObjectPointer(arguments));
  barrier.Transition.StateBefore = D3D12_RESOURCE_STATE_UNORDERED_ACCESS;
  barrier.Transition.StateAfter = D3D12_RESOURCE_STATE_INDIRECT_ARGUMENT;
  script.SetView(recorded);
  script.Copy(script.list, arguments, upload);
  script.Call(Method::ID3D12GraphicsCommandList_ResourceBarrier, script.list, 1u, &barrier);
  script.Indirect(script.list, arguments);
  script.Close(script.list);
  script.WriteOnCpu(upload, recorded);
  script.Execute(script.queue, script.list);
  ExpectPlayed(&script);
  EXPECT_EQ(LastFakeIndirectWord(), LastFakeRootView());
}

// Nothing looks at what a queue that waits has written: the buffer may have ended when it is next asked.
TEST(PlayerAddressesTest, ABufferEndsBehindAQueueThatWaits) {
  IndirectScript script;
  const uint64_t arguments = script.CreateBuffer(D3D12_HEAP_TYPE_DEFAULT, 65536);
  const uint64_t recorded = TestScript::AddressOf(script.target) + 64;
  const uint64_t fence = script.CreateFence();
  const uint64_t other = script.CreateQueue();
  const uint64_t empty = script.CreateList();
  script.Close(empty);
  script.WriteOnGpu(script.list, arguments, recorded);
  script.Indirect(script.list, arguments);
  script.Close(script.list);
  script.Call(Method::ID3D12CommandQueue_Wait, script.queue, ObjectPointer(fence), uint64_t{5});
  script.Execute(script.queue, script.list);
  script.trace.Add(RecordKind::kObjectEnd, arguments, {});
  script.Execute(other, empty);
  script.Signal(other, fence, 5);
  const Played played = PlayNewer(&script);
  EXPECT_THAT(played.result.left_out, testing::IsEmpty());
}

}  // namespace
}  // namespace cairn
