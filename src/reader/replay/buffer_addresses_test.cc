// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstring>
#include <span>

#include "reader/replay/testing/buffer_addresses_fixture.h"

namespace cairn {
namespace {

using BufferAddressesTest = BufferAddressesFixture;

TEST_F(BufferAddressesTest, SignaturesSayWhereAddressesAre) {
  D3D12_INDIRECT_ARGUMENT_DESC arguments[] = {
      Argument(D3D12_INDIRECT_ARGUMENT_TYPE_VERTEX_BUFFER_VIEW),
      Argument(D3D12_INDIRECT_ARGUMENT_TYPE_CONSTANT),
      Argument(D3D12_INDIRECT_ARGUMENT_TYPE_INDEX_BUFFER_VIEW),
      Argument(D3D12_INDIRECT_ARGUMENT_TYPE_UNORDERED_ACCESS_VIEW),
      Argument(D3D12_INDIRECT_ARGUMENT_TYPE_DRAW_INDEXED)};
  arguments[1].Constant.Num32BitValuesToSet = 3;
  const IndirectLayout layout = LayoutOfSignature({72, 5, arguments, 0});
  EXPECT_EQ(layout.stride_bytes, 72u);
  EXPECT_EQ(layout.addresses, (std::vector<uint32_t>{0, 28, 44}));
  // A stride that is too small, and a type from the future, end it.
  EXPECT_EQ(LayoutOfSignature({32, 5, arguments, 0}).addresses, (std::vector<uint32_t>{0}));
  EXPECT_EQ(layout.unknown_type, std::nullopt);
  arguments[2].Type = static_cast<D3D12_INDIRECT_ARGUMENT_TYPE>(99);
  EXPECT_EQ(LayoutOfSignature({72, 5, arguments, 0}).addresses, (std::vector<uint32_t>{0}));
  EXPECT_EQ(LayoutOfSignature({72, 5, arguments, 0}).unknown_type, 99u);
  EXPECT_TRUE(LayoutOfSignature({72, 5, nullptr, 0}).addresses.empty());
}

// The GPU counts; the arguments hold nothing of it.
TEST_F(BufferAddressesTest, IncrementingConstantsTakeNoBytes) {
  const D3D12_INDIRECT_ARGUMENT_DESC arguments[] = {
      Argument(static_cast<D3D12_INDIRECT_ARGUMENT_TYPE>(kIncrementingConstant)),
      Argument(D3D12_INDIRECT_ARGUMENT_TYPE_CONSTANT_BUFFER_VIEW),
      Argument(D3D12_INDIRECT_ARGUMENT_TYPE_DRAW)};
  const IndirectLayout layout = LayoutOfSignature({24, 3, arguments, 0});
  EXPECT_EQ(layout.addresses, (std::vector<uint32_t>{0}));
  EXPECT_EQ(layout.unknown_type, std::nullopt);
}

TEST_F(BufferAddressesTest, IndirectArgumentsAreReplaced) {
  AddSignature();
  for (uint64_t i = 0; i < 3; ++i) memory_.Put(10, 64 + i * 28 + 4, FakeMemory::Recorded(11) + i);
  addresses_.Indirect(kList, kSignature, 10, 64, 3);
  Patch();
  for (uint64_t i = 0; i < 3; ++i) {
    EXPECT_EQ(memory_.Get(10, 64 + i * 28 + 4), FakeMemory::Real(11) + i);
  }
  EXPECT_EQ(addresses_.patched(), 3u);
  EXPECT_EQ(memory_.writes, 1);
}

// Other memory may have had the address of a structure that moved.
TEST_F(BufferAddressesTest, OnlyWhatMayBeAStructureMovesWithIt) {
  const D3D12_INDIRECT_ARGUMENT_DESC arguments[] = {
      Argument(D3D12_INDIRECT_ARGUMENT_TYPE_CONSTANT_BUFFER_VIEW),
      Argument(D3D12_INDIRECT_ARGUMENT_TYPE_SHADER_RESOURCE_VIEW),
      Argument(D3D12_INDIRECT_ARGUMENT_TYPE_UNORDERED_ACCESS_VIEW),
      Argument(D3D12_INDIRECT_ARGUMENT_TYPE_DRAW)};
  addresses_.AddSignature(kSignature, LayoutOfSignature({40, 4, arguments, 0}));
  const uint64_t recorded = FakeMemory::Recorded(11) + 8;
  const uint64_t real = FakeMemory::Real(11) + 8;
  memory_.moved = {{real, 0x77000}, {0x76000, 0x77000}};
  for (uint64_t i = 0; i < 3; ++i) memory_.Put(10, 8 * i, recorded);
  memory_.Put(12, 56, recorded);
  memory_.Put(12, 64 + 56, 0x76000);
  addresses_.Indirect(kList, kSignature, 10, 0, 1);
  addresses_.Instances(kList, 12, 0, 2, false);
  Patch();
  EXPECT_EQ(memory_.Get(10, 0), real);
  EXPECT_EQ(memory_.Get(10, 8), 0x77000u);
  EXPECT_EQ(memory_.Get(10, 16), real);
  EXPECT_EQ(memory_.Get(12, 56), 0x77000u);
  EXPECT_EQ(memory_.Get(12, 64 + 56), 0x77000u) << "the GPU copied it before";
}

// Real addresses of one buffer look like recorded ones of another.
TEST_F(BufferAddressesTest, NothingIsReplacedTwice) {
  AddSignature();
  memory_.Put(10, 4, FakeMemory::Recorded(11));
  addresses_.Indirect(kList, kSignature, 10, 0, 1);
  Patch();
  Patch();
  EXPECT_EQ(memory_.Get(10, 4), FakeMemory::Real(11));
  EXPECT_EQ(addresses_.patched(), 1u);
  // The program writes it anew.
  memory_.Put(10, 4, FakeMemory::Recorded(11));
  Patch();
  EXPECT_EQ(memory_.Get(10, 4), FakeMemory::Real(11));
  EXPECT_EQ(addresses_.patched(), 2u);
}

TEST_F(BufferAddressesTest, CopiesAreFollowedBack) {
  AddSignature();
  memory_.Put(12, 0x204, FakeMemory::Recorded(11) + 8);
  addresses_.Copy(kList, 11, 0x80, 12, 0x200, 28);  // upload -> first
  addresses_.Copy(kList, 10, 0x100, 11, 0x80, 28);  // first -> arguments
  addresses_.Indirect(kList, kSignature, 10, 0x100, 1);
  addresses_.Copy(kList, 10, 0x100, 11, 0x400, 28);  // too late
  Patch();
  EXPECT_EQ(memory_.Get(12, 0x204), FakeMemory::Real(11) + 8);
  EXPECT_EQ(memory_.Get(10, 0x104), 0u);
}

TEST_F(BufferAddressesTest, ValuesThatAreNoAddressesStay) {
  AddSignature();
  memory_.Put(10, 4, 0x123456789);
  addresses_.Indirect(kList, kSignature, 10, 0, 1);
  Patch();
  EXPECT_EQ(memory_.Get(10, 4), 0x123456789u);
  EXPECT_EQ(memory_.writes, 0);
}

TEST_F(BufferAddressesTest, ListsForgetWhenTheyAreReset) {
  AddSignature();
  memory_.Put(10, 4, FakeMemory::Recorded(11));
  addresses_.Indirect(kList, kSignature, 10, 0, 1);
  addresses_.Reset(kList);
  Patch();
  EXPECT_EQ(memory_.writes, 0);
}

TEST_F(BufferAddressesTest, Instances) {
  memory_.Put(10, 0x100 + 56, FakeMemory::Recorded(12));
  memory_.Put(10, 0x140 + 56, FakeMemory::Recorded(12) + 0x100);
  addresses_.Instances(kList, 10, 0x100, 2, /*pointers=*/false);
  Patch();
  EXPECT_EQ(memory_.Get(10, 0x100 + 56), FakeMemory::Real(12));
  EXPECT_EQ(memory_.Get(10, 0x140 + 56), FakeMemory::Real(12) + 0x100);
}

TEST_F(BufferAddressesTest, InstancesBehindPointers) {
  memory_.Put(10, 0, FakeMemory::Recorded(11) + 64);
  memory_.Put(11, 64 + 56, FakeMemory::Recorded(12));
  addresses_.Instances(kList, 10, 0, 1, /*pointers=*/true);
  Patch();
  Patch();  // the pointer is known although it was replaced
  EXPECT_EQ(memory_.Get(10, 0), FakeMemory::Real(11) + 64);
  EXPECT_EQ(memory_.Get(11, 64 + 56), FakeMemory::Real(12));
  EXPECT_EQ(addresses_.patched(), 2u);
}

// The memory that has the pointer's address is no structure.
TEST_F(BufferAddressesTest, StructuresOfInstancesBehindPointersMove) {
  memory_.Put(10, 0, FakeMemory::Recorded(11) + 64);
  memory_.Put(11, 64 + 56, FakeMemory::Recorded(12));
  memory_.moved = {{FakeMemory::Real(12), 0x77000}, {FakeMemory::Real(11) + 64, 0x78000}};
  addresses_.Instances(kList, 10, 0, 1, /*pointers=*/true);
  Patch();
  EXPECT_EQ(memory_.Get(10, 0), FakeMemory::Real(11) + 64);
  EXPECT_EQ(memory_.Get(11, 64 + 56), 0x77000u);
}

TEST_F(BufferAddressesTest, StructuresInShaderRecordsMove) {
  ShaderIdentifier recorded = {};
  recorded.fill(std::byte{0x11});
  addresses_.AddIdentifier(recorded, recorded);
  auto& table = memory_.Add(13, 0x100);
  std::memcpy(table.data(), recorded.data(), 32);
  memory_.Put(13, 32, FakeMemory::Recorded(12));
  memory_.Put(13, 40, FakeMemory::Recorded(12) + 4);
  memory_.Put(13, 48, 0x76000);
  memory_.moved = {{FakeMemory::Real(12), 0x77000}, {0x76000, 0x78000}};
  addresses_.ShaderTable(kList, 13, 0, 64, 64);
  Patch();
  EXPECT_EQ(memory_.Get(13, 32), 0x77000u);
  EXPECT_EQ(memory_.Get(13, 40), FakeMemory::Real(12) + 4);
  EXPECT_EQ(memory_.Get(13, 48), 0x78000u) << "the GPU copied it before";
}

TEST_F(BufferAddressesTest, ShaderTables) {
  ShaderIdentifier recorded = {};
  ShaderIdentifier real = {};
  recorded.fill(std::byte{0x11});
  real.fill(std::byte{0x22});
  addresses_.AddIdentifier(recorded, real);
  auto& table = memory_.Add(13, 0x200);
  for (uint64_t record = 0; record < 2; ++record) {
    std::memcpy(table.data() + 0x40 + record * 64, recorded.data(), 32);
    memory_.Put(13, 0x40 + record * 64 + 32, FakeMemory::Recorded(12) + 4);
    memory_.Put(13, 0x40 + record * 64 + 40, 0xD0000020);
    memory_.Put(13, 0x40 + record * 64 + 48, 77);
  }
  addresses_.ShaderTable(kList, 13, 0x40, 128, 64);
  Patch();
  for (uint64_t record = 0; record < 2; ++record) {
    EXPECT_EQ(std::memcmp(table.data() + 0x40 + record * 64, real.data(), 32), 0);
    EXPECT_EQ(memory_.Get(13, 0x40 + record * 64 + 32), FakeMemory::Real(12) + 4);
    EXPECT_EQ(memory_.Get(13, 0x40 + record * 64 + 40), 0xE0000020u);
    EXPECT_EQ(memory_.Get(13, 0x40 + record * 64 + 48), 77u);
  }
}

TEST_F(BufferAddressesTest, LocalRootArgumentsOfNodes) {
  memory_.Add(13, 0x100);
  for (uint64_t record = 0; record < 2; ++record) {
    memory_.Put(13, 0x40 + record * 24, FakeMemory::Recorded(12) + record);
    memory_.Put(13, 0x40 + record * 24 + 8, 0xD0000020);
    memory_.Put(13, 0x40 + record * 24 + 16, 77);
  }
  memory_.Put(13, 0x40 + 48, FakeMemory::Recorded(12));  // behind the table
  addresses_.RootArguments(kList, 13, 0x40, 48, 24);
  Patch();
  for (uint64_t record = 0; record < 2; ++record) {
    EXPECT_EQ(memory_.Get(13, 0x40 + record * 24), FakeMemory::Real(12) + record);
    EXPECT_EQ(memory_.Get(13, 0x40 + record * 24 + 8), 0xE0000020u);
    EXPECT_EQ(memory_.Get(13, 0x40 + record * 24 + 16), 77u);
  }
  EXPECT_EQ(memory_.Get(13, 0x40 + 48), FakeMemory::Recorded(12));
}

TEST_F(BufferAddressesTest, InputsOfNodesInBuffers) {
  memory_.Put(10, 0x20 + 8, FakeMemory::Recorded(12) + 4);
  addresses_.NodeInput(kList, 10, 0x20, /*several=*/false);
  Patch();
  EXPECT_EQ(memory_.Get(10, 0x20 + 8), FakeMemory::Real(12) + 4);
  EXPECT_EQ(addresses_.patched(), 1u);
}

TEST_F(BufferAddressesTest, InputsOfSeveralNodesInBuffers) {
  memory_.Put(10, 0, uint64_t{0xABCD0000} << 32 | 2);  // two inputs; padding
  memory_.Put(10, 8, FakeMemory::Recorded(11) + 0x100);
  memory_.Put(10, 16, 32);
  for (uint64_t input = 0; input < 3; ++input) {
    memory_.Put(11, 0x100 + input * 32 + 8, FakeMemory::Recorded(12) + input);
  }
  addresses_.NodeInput(kList, 10, 0, /*several=*/true);
  Patch();
  Patch();  // the pointer is known although it was replaced
  EXPECT_EQ(memory_.Get(10, 8), FakeMemory::Real(11) + 0x100);
  EXPECT_EQ(memory_.Get(11, 0x100 + 8), FakeMemory::Real(12));
  EXPECT_EQ(memory_.Get(11, 0x100 + 32 + 8), FakeMemory::Real(12) + 1);
  EXPECT_EQ(memory_.Get(11, 0x100 + 64 + 8), FakeMemory::Recorded(12) + 2) << "one too many";
  EXPECT_EQ(addresses_.patched(), 3u);
}

// A read may wait for the GPU.
TEST_F(BufferAddressesTest, InputsOfSeveralNodesAreReadAtOnce) {
  memory_.Put(10, 0, 1);
  memory_.Put(10, 8, FakeMemory::Recorded(11));
  memory_.Put(10, 16, 24);
  addresses_.NodeInput(kList, 10, 0, /*several=*/true);
  Patch();
  EXPECT_EQ(memory_.reads, 2) << "the input; then what stands behind it";
}

// Each field comes from a place of its own.
TEST_F(BufferAddressesTest, InputsOfSeveralNodesThatCopiesBring) {
  memory_.Put(12, 0x80, 1);
  memory_.Put(12, 0x40, FakeMemory::Recorded(11));
  memory_.Put(12, 0xFF8, 24);
  memory_.Put(11, 8, FakeMemory::Recorded(12));
  addresses_.Copy(kList, 10, 0, 12, 0x80, 8);
  addresses_.Copy(kList, 10, 8, 12, 0x40, 8);
  addresses_.Copy(kList, 10, 16, 12, 0xFF8, 8);
  addresses_.NodeInput(kList, 10, 0, /*several=*/true);
  Patch();
  EXPECT_EQ(memory_.Get(12, 0x40), FakeMemory::Real(11));
  EXPECT_EQ(memory_.Get(11, 8), FakeMemory::Real(12));
  EXPECT_EQ(addresses_.patched(), 2u);
}

// The same words again and again are work, although few are to be patched.
TEST_F(BufferAddressesTest, WordsCountAsOftenAsTheyAreRead) {
  constexpr uint64_t kWords = 1u << 17;
  constexpr uint64_t kTimes = BufferAddresses::kMostWords / kWords;
  memory_.Add(13, kWords * 8);
  memory_.Put(13, 8, FakeMemory::Recorded(12));
  const uint64_t lists[] = {kList};
  for (uint64_t i = 0; i < kTimes; ++i) addresses_.RootArguments(kList, 13, 0, kWords * 8, 64);
  EXPECT_TRUE(addresses_.Patch(lists, &memory_).ok()) << "as many as there may be";
  EXPECT_EQ(memory_.Get(13, 8), FakeMemory::Real(12));
  addresses_.RootArguments(kList, 13, 0, 8, 8);
  const Status status = addresses_.Patch(lists, &memory_);
  EXPECT_EQ(status.code(), StatusCode::kCorrupt);
  EXPECT_EQ(status.message(), "a submission reads more than 4194304 addresses from buffers");
  const uint64_t other = kList + 1;
  addresses_.RootArguments(other, 13, 0, 8, 8);
  EXPECT_TRUE(addresses_.Patch(std::span(&other, 1), &memory_).ok()) << "each submission anew";
}

TEST_F(BufferAddressesTest, CopiesBeforeAWordCount) {
  // Each word is looked for in so many copies that 4096 words are too many.
  constexpr uint64_t kCopies = 64 * BufferAddresses::kMostWords / 4096;
  for (uint64_t i = 0; i < kCopies; ++i) addresses_.Copy(kList, 10, 0xFFC, 12, 0, 4);
  const uint64_t lists[] = {kList};
  for (int i = 0; i < 7; ++i) addresses_.RootArguments(kList, 10, 0, 0x1000, 8);  // 512 words each
  EXPECT_TRUE(addresses_.Patch(lists, &memory_).ok());
  addresses_.RootArguments(kList, 10, 0, 0x1000, 8);
  EXPECT_EQ(addresses_.Patch(lists, &memory_).code(), StatusCode::kCorrupt);
}

TEST_F(BufferAddressesTest, MoreInputsThanTheirBufferHas) {
  memory_.Put(10, 0, 0xFFFFFFFF);
  memory_.Put(10, 8, FakeMemory::Recorded(11));
  addresses_.NodeInput(kList, 10, 0, /*several=*/true);  // all in one place
  addresses_.NodeInput(kList, 10, ~uint64_t{0} - 4, /*several=*/true);
  addresses_.NodeInput(kList, 10, 0x1000 - 8, /*several=*/false);
  addresses_.RootArguments(kList, 10, 0, ~uint64_t{0}, 8);
  addresses_.RootArguments(kList, 10, 0, 16, 0xFFFFFFFFFFFFFFF0);
  memory_.Put(11, 8, FakeMemory::Recorded(12));
  Patch();
  EXPECT_EQ(memory_.Get(11, 8), FakeMemory::Real(12));
}

TEST_F(BufferAddressesTest, RaysThatAreDispatchedIndirectly) {
  const D3D12_INDIRECT_ARGUMENT_DESC argument =
      Argument(D3D12_INDIRECT_ARGUMENT_TYPE_DISPATCH_RAYS);
  addresses_.AddSignature(kSignature,
                          LayoutOfSignature({sizeof(D3D12_DISPATCH_RAYS_DESC), 1, &argument, 0}));
  ShaderIdentifier recorded = {};
  ShaderIdentifier real = {};
  recorded.fill(std::byte{0x11});
  real.fill(std::byte{0x22});
  addresses_.AddIdentifier(recorded, real);
  auto& table = memory_.Add(13, 0x100);
  std::memcpy(table.data() + 0x80, recorded.data(), 32);
  memory_.Put(10, 0, FakeMemory::Recorded(13) + 0x80);
  memory_.Put(10, 8, 32);
  addresses_.Indirect(kList, kSignature, 10, 0, 1);
  Patch();
  EXPECT_EQ(memory_.Get(10, 0), FakeMemory::Real(13) + 0x80);
  EXPECT_EQ(std::memcmp(table.data() + 0x80, real.data(), 32), 0);
}

// A trace may say anything.
TEST_F(BufferAddressesTest, AbsurdValuesTouchNothing) {
  AddSignature();
  constexpr uint64_t kHuge = ~uint64_t{0} - 3;
  addresses_.Indirect(kList, kSignature, 10, kHuge, 0xFFFFFFFF);
  addresses_.Indirect(kList, kSignature, 99, 0, 5);
  addresses_.Indirect(kList, kSignature, 10, 0xFFF, 0xFFFFFFFF);
  addresses_.Instances(kList, 10, kHuge, 0xFFFFFFFF, false);
  addresses_.Instances(kList, 10, kHuge, 0xFFFFFFFF, true);
  addresses_.ShaderTable(kList, 10, kHuge, kHuge, 1);
  addresses_.ShaderTable(kList, 10, 0, kHuge, 64);
  addresses_.ShaderTable(kList, 10, 0, 0x1000, 0);
  addresses_.ShaderTable(kList, 10, 0, 0x1000, kHuge);
  addresses_.Copy(kList, 10, kHuge, 11, kHuge, kHuge);
  addresses_.Copy(kList, 10, 0, 11, kHuge, kHuge);
  addresses_.Indirect(kList, kSignature, 10, 0, 0xFFFFFFFF);
  Patch();
  EXPECT_EQ(memory_.writes, 0);
}

TEST_F(BufferAddressesTest, WhatEndsIsForgotten) {
  AddSignature();
  memory_.Put(10, 4, FakeMemory::Recorded(11));
  addresses_.Indirect(kList, kSignature, 10, 0, 1);
  Patch();
  addresses_.Remove(10);
  // Another buffer with the same bytes: a real address of old, which is a recorded one here.
  Patch();
  EXPECT_EQ(memory_.Get(10, 4), FakeMemory::Real(12) + 0x100);
  addresses_.Remove(kSignature);
  memory_.Put(10, 4, FakeMemory::Recorded(11));
  Patch();
  EXPECT_EQ(memory_.Get(10, 4), FakeMemory::Recorded(11));
}

// ---- Bundles -------------------------------------------------------------------------------------

// A bundle's commands are those of the list that executes it, as they were then.
TEST_F(BufferAddressesTest, BundlesReadAddressesWhereTheyAreExecuted) {
  AddSignature();
  memory_.Put(10, 4, FakeMemory::Recorded(11) + 8);
  memory_.Put(12, 4, FakeMemory::Recorded(11) + 16);
  addresses_.Indirect(kBundle, kSignature, 10, 0, 1);
  addresses_.Bundle(kList, kBundle);
  addresses_.Bundle(kList, kList);  // is none
  addresses_.Bundle(kList, 99);
  addresses_.Reset(kBundle);
  addresses_.Indirect(kBundle, kSignature, 12, 0, 1);
  Patch();
  EXPECT_EQ(memory_.Get(10, 4), FakeMemory::Real(11) + 8);
  EXPECT_EQ(memory_.Get(12, 4), FakeMemory::Recorded(11) + 16) << "not executed";
  EXPECT_EQ(addresses_.patched(), 1u);
  addresses_.Reset(kList);
  addresses_.Bundle(kList, kBundle);
  addresses_.Remove(kBundle);
  Patch();
  EXPECT_EQ(memory_.Get(12, 4), FakeMemory::Real(11) + 16);
}

// The bundle reads what the list has copied by then: twice, from two places.
TEST_F(BufferAddressesTest, ABundleThatIsExecutedTwiceReadsWhatWasCopiedBefore) {
  AddSignature();
  memory_.Put(12, 0x104, FakeMemory::Recorded(11));
  memory_.Put(12, 0x204, FakeMemory::Recorded(11) + 4);
  addresses_.Indirect(kBundle, kSignature, 10, 0, 1);
  addresses_.Copy(kList, 10, 0, 12, 0x100, 28);
  addresses_.Bundle(kList, kBundle);
  addresses_.Copy(kList, 10, 0, 12, 0x200, 28);
  addresses_.Bundle(kList, kBundle);
  Patch();
  EXPECT_EQ(memory_.Get(12, 0x104), FakeMemory::Real(11));
  EXPECT_EQ(memory_.Get(12, 0x204), FakeMemory::Real(11) + 4);
  EXPECT_EQ(addresses_.patched(), 2u);
  EXPECT_EQ(memory_.reads, 1);
}

TEST_F(BufferAddressesTest, TwoListsOfASubmissionExecuteOneBundle) {
  AddSignature();
  memory_.Put(10, 4, FakeMemory::Recorded(11));
  addresses_.Indirect(kBundle, kSignature, 10, 0, 1);
  const uint64_t lists[] = {8, 9};
  for (const uint64_t list : lists) addresses_.Bundle(list, kBundle);
  EXPECT_EQ(addresses_.CountTogether(lists, &memory_), 2u);
  EXPECT_TRUE(addresses_.Patch(lists, &memory_).ok());
  EXPECT_EQ(memory_.Get(10, 4), FakeMemory::Real(11));
  EXPECT_EQ(addresses_.patched(), 1u);
  // The first list writes what the bundle reads in the second.
  addresses_.ShadersWrote(8, 10);
  EXPECT_EQ(addresses_.CountTogether(lists, &memory_), 1u);
}

TEST_F(BufferAddressesTest, WhatABundleWritesIsWrittenByItsList) {
  AddSignature();
  addresses_.ShadersWrote(kBundle, 10);
  const uint64_t lists[] = {8, 9};
  addresses_.Bundle(8, kBundle);
  addresses_.Indirect(9, kSignature, 10, 0, 1);
  EXPECT_EQ(addresses_.CountTogether(lists, &memory_), 1u);
}

TEST_F(BufferAddressesTest, ManyExecutionsOfABundleAreRefused) {
  AddSignature();
  for (int i = 0; i < 4096; ++i) addresses_.Indirect(kBundle, kSignature, 10, 0, 1);
  constexpr uint64_t kMost = BufferAddresses::kMostWords / 4096;
  for (uint64_t i = 0; i < kMost + 1; ++i) addresses_.Bundle(kList, kBundle);
  const uint64_t lists[] = {kList, kList};
  EXPECT_EQ(addresses_.CountTogether(lists, &memory_), 1u);
  const Status status = addresses_.Patch(std::span(lists).first(1), &memory_);
  EXPECT_EQ(status.code(), StatusCode::kCorrupt);
  EXPECT_EQ(status.message(),
            "a submission has more than 4194304 commands that read, write or copy addresses");
  EXPECT_EQ(memory_.reads, 0);
}

// A trace may submit one list very often.
TEST_F(BufferAddressesTest, ManyExecutionsOfAListAreSplit) {
  AddSignature();
  for (int i = 0; i < 65536; ++i) addresses_.Copy(kList, 10, 0, 12, 0, 28);
  addresses_.Indirect(kList, kSignature, 10, 0, 1);
  const std::vector<uint64_t> lists(1000, kList);
  constexpr size_t kTogether = BufferAddresses::kMostWords / 65537;
  EXPECT_EQ(addresses_.CountTogether(lists, &memory_), kTogether);
  EXPECT_TRUE(addresses_.Patch(std::span(lists).first(kTogether), &memory_).ok());
  EXPECT_EQ(addresses_.Patch(lists, &memory_).code(), StatusCode::kCorrupt);
}

// Bundles execute no bundles: neither depth nor cycles come of it.
TEST_F(BufferAddressesTest, AChainOfBundlesEndsBehindTheFirst) {
  AddSignature();
  constexpr uint64_t kMany = 200000;
  memory_.Put(10, 4, FakeMemory::Recorded(11));
  memory_.Put(10, 32, FakeMemory::Recorded(11));
  for (uint64_t i = 0; i < kMany; ++i) {
    addresses_.Indirect(100 + i, kSignature, 10, i == 1 ? 28 : 0, 1);
  }
  for (uint64_t i = 0; i + 1 < kMany; ++i) addresses_.Bundle(100 + i, 101 + i);
  addresses_.Bundle(100 + kMany - 1, 100);
  addresses_.Indirect(101, kSignature, 10, 56, 1);  // was executed: it is closed
  memory_.Put(10, 60, FakeMemory::Recorded(11));
  Patch(100);
  EXPECT_EQ(memory_.Get(10, 4), FakeMemory::Real(11));
  EXPECT_EQ(memory_.Get(10, 32), FakeMemory::Real(11));
  EXPECT_EQ(memory_.Get(10, 60), FakeMemory::Recorded(11));
  EXPECT_EQ(addresses_.patched(), 2u);
}

// ---- At once -------------------------------------------------------------------------------------

// Everything that a submission reads, wherever it lies.
TEST_F(BufferAddressesTest, ASubmissionIsReadAndWrittenOnce) {
  AddSignature();
  memory_.Add(13, 0x4000);
  memory_.Add(14, 0x4000);
  for (uint64_t i = 0; i < 50; ++i) {
    memory_.Put(10, i * 28 + 4, FakeMemory::Recorded(12) + i);
    memory_.Put(13, i * 64 + 56, FakeMemory::Recorded(11) + i);
    memory_.Put(14, i * 64 + 56, FakeMemory::Recorded(12) + i);
  }
  addresses_.Indirect(kList, kSignature, 10, 0, 50);
  addresses_.Instances(kList, 13, 0, 50, false);
  addresses_.Instances(kList, 14, 0, 50, false);
  Patch();
  EXPECT_EQ(memory_.reads, 1);
  EXPECT_EQ(memory_.writes, 1);
  EXPECT_EQ(addresses_.patched(), 150u);
  for (uint64_t i = 0; i < 50; ++i) {
    EXPECT_EQ(memory_.Get(10, i * 28 + 4), FakeMemory::Real(12) + i);
    EXPECT_EQ(memory_.Get(13, i * 64 + 56), FakeMemory::Real(11) + i);
    EXPECT_EQ(memory_.Get(14, i * 64 + 56), FakeMemory::Real(12) + i);
  }
}

// The player knows what the CPU wrote.
TEST_F(BufferAddressesTest, MemoryOfTheCpuIsReadWhereItWasWritten) {
  memory_.of_cpu = {10};
  memory_.Put(10, 0x100 + 56, FakeMemory::Recorded(12));
  memory_.Put(10, 0x140 + 56, 77);
  addresses_.Instances(kList, 10, 0x100, 2, false);
  Patch();
  EXPECT_EQ(memory_.reads, 1);
  Patch();
  EXPECT_EQ(memory_.reads, 1) << "nothing was written";
  const uint64_t next = FakeMemory::Recorded(11) + 8;
  CpuWrites(10, 0x140 + 56, std::as_bytes(std::span(&next, 1)));
  Patch();
  EXPECT_EQ(memory_.reads, 2);
  EXPECT_EQ(memory_.Get(10, 0x100 + 56), FakeMemory::Real(12));
  EXPECT_EQ(memory_.Get(10, 0x140 + 56), FakeMemory::Real(11) + 8);
  EXPECT_EQ(addresses_.patched(), 2u);
}

// A capture has the bytes that changed: here two of an address, in the middle.
TEST_F(BufferAddressesTest, APartOfAnAddressIsWritten) {
  memory_.Put(10, 56, FakeMemory::Recorded(11));  // 0xB0000
  memory_.Put(10, 64 + 56, FakeMemory::Recorded(11));
  addresses_.Instances(kList, 10, 0, 2, false);
  Patch();
  ASSERT_EQ(memory_.Get(10, 56), FakeMemory::Real(11));
  const std::byte changed[] = {std::byte{0x02}, std::byte{0x0C}};
  CpuWrites(10, 57, changed);  // 0xC0200
  EXPECT_EQ(memory_.Get(10, 56), FakeMemory::Recorded(12) + 0x200);
  Patch();
  EXPECT_EQ(memory_.Get(10, 56), FakeMemory::Real(12) + 0x200);
  EXPECT_EQ(memory_.Get(10, 64 + 56), FakeMemory::Real(11));
}

TEST_F(BufferAddressesTest, APartOfAnIdentifierIsWritten) {
  ShaderIdentifier recorded[2] = {};
  ShaderIdentifier real[2] = {};
  recorded[1][30] = std::byte{1};
  for (int i = 0; i < 2; ++i) {
    real[i].fill(static_cast<std::byte>(0x20 + i));
    addresses_.AddIdentifier(recorded[i], real[i]);
  }
  addresses_.ShaderTable(kList, 10, 0, 32, 32);
  Patch();
  ASSERT_EQ(memory_.Get(10, 0), 0x2020202020202020u);
  CpuWrites(10, 30, std::span(recorded[1]).subspan(30, 1));
  Patch();
  EXPECT_EQ(memory_.Get(10, 0), 0x2121212121212121u);
  EXPECT_EQ(memory_.Get(10, 24), 0x2121212121212121u);
}

// ---- What shaders write --------------------------------------------------------------------------

TEST_F(BufferAddressesTest, AListThatUsesWhatOthersWroteIsExecutedAlone) {
  AddSignature();
  const uint64_t lists[] = {7, 8, 9};
  EXPECT_EQ(addresses_.CountTogether(lists, &memory_), 3u);
  addresses_.ShadersWrote(7, 10);
  addresses_.Indirect(8, kSignature, 11, 0, 1);
  EXPECT_EQ(addresses_.CountTogether(lists, &memory_), 3u) << "another buffer";
  addresses_.Indirect(9, kSignature, 10, 0, 1);
  EXPECT_EQ(addresses_.CountTogether(lists, &memory_), 2u);
  EXPECT_EQ(addresses_.CountTogether(std::span(lists).subspan(2), &memory_), 1u);
}

TEST_F(BufferAddressesTest, CopiesOfWhatShadersWroteCountToo) {
  AddSignature();
  const uint64_t lists[] = {7, 8, 9};
  addresses_.ShadersWrote(7, 12);
  addresses_.Copy(8, 10, 0, 12, 0, 28);
  addresses_.Indirect(9, kSignature, 10, 0, 1);
  EXPECT_EQ(addresses_.CountTogether(lists, &memory_), 2u);
}

TEST_F(BufferAddressesTest, ABarrierForAllIsAboutWhatShadersMayWrite) {
  AddSignature();
  const uint64_t lists[] = {7, 8};
  addresses_.ShadersWrote(7, BufferAddresses::kAnyBuffer);
  addresses_.Indirect(8, kSignature, 10, 0, 1);
  EXPECT_EQ(addresses_.CountTogether(lists, &memory_), 2u);
  memory_.of_shaders = {10};
  EXPECT_EQ(addresses_.CountTogether(lists, &memory_), 1u);
}

// The shader passes on an address of the recording, after the patch and before the use.
TEST_F(BufferAddressesTest, RecordedAddressesThatShadersWroteAreCounted) {
  AddSignature();
  memory_.Put(10, 4, FakeMemory::Recorded(11));
  memory_.Put(10, 32, FakeMemory::Recorded(11));
  addresses_.ShadersWrote(kList, 10);
  addresses_.Indirect(kList, kSignature, 10, 0, 2);
  Patch();
  EXPECT_TRUE(addresses_.MayBeStale());
  EXPECT_EQ(memory_.Get(10, 4), FakeMemory::Real(11)) << "perhaps the shader writes something else";
  memory_.Put(10, 4, FakeMemory::Recorded(12));
  EXPECT_EQ(CountStale(), 1u);
  EXPECT_EQ(CountStale(), 0u) << "once";
}

TEST_F(BufferAddressesTest, ShadersThatWriteOtherWordsDoNoHarm) {
  AddSignature();
  memory_.Put(12, 4, FakeMemory::Recorded(11));
  addresses_.Copy(kList, 10, 0, 12, 0, 28);
  addresses_.ShadersWrote(kList, 10);
  addresses_.Indirect(kList, kSignature, 10, 0, 1);
  Patch();
  memory_.Put(10, 4, memory_.Get(12, 4));  // the copy
  EXPECT_EQ(CountStale(), 0u);
  EXPECT_EQ(memory_.Get(10, 4), FakeMemory::Real(11));
}

// An address that a shader takes from where it was patched means something here.
TEST_F(BufferAddressesTest, PatchedAddressesThatShadersPassOnDoNoHarm) {
  memory_.Put(12, 56, FakeMemory::Recorded(11));
  addresses_.Instances(kList, 12, 0, 1, false);
  addresses_.ShadersWrote(kList, 10);
  addresses_.Instances(kList, 10, 0, 1, false);
  Patch();
  memory_.Put(10, 56, memory_.Get(12, 56));  // is a recorded address of buffer 12, too
  EXPECT_EQ(CountStale(), 0u);
}

TEST_F(BufferAddressesTest, WhatACopyBroughtSinceIsNotTheShaders) {
  AddSignature();
  memory_.Put(12, 4, FakeMemory::Recorded(11));
  addresses_.ShadersWrote(kList, 10);
  addresses_.Copy(kList, 10, 0, 12, 0, 28);
  addresses_.Indirect(kList, kSignature, 10, 0, 1);
  Patch();
  EXPECT_FALSE(addresses_.MayBeStale());
}

}  // namespace
}  // namespace cairn
