// SPDX-License-Identifier: Apache-2.0
#include "format/snapshot/block_diagnostics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "cairn/marker_types.h"

#include "format/snapshot/object_kinds.h"
#include "format/snapshot/snapshot_from_block.h"
#include "format/snapshot/testing/sample_block.h"
#include "format/snapshot/testing/snapshot_dump.h"

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Snapshot Take(const TestBlock& block) {
  Snapshot snapshot = std::move(SnapshotFromBlock(block.bytes(), 1, Binaries::kKeep).value());
  EXPECT_EQ(FindInconsistency(snapshot), "");
  return snapshot;
}

std::string_view BlobText(const Snapshot& snapshot, BlobRef ref) {
  const std::span<const std::byte> blob = snapshot.Blob(ref);
  return {reinterpret_cast<const char*>(blob.data()), blob.size()};
}

std::vector<std::string> Losses(const Snapshot& snapshot) {
  std::vector<std::string> losses;
  for (TextRef loss : snapshot.losses) losses.emplace_back(snapshot.Text(loss));
  return losses;
}

TEST(BlockDiagnostics, ReadsTheSample) {
  TestBlock block;
  FillVulkanBlock(&block);
  const Snapshot s = Take(block);
  EXPECT_THAT(Losses(s), IsEmpty());
  ASSERT_THAT(s.syncs, SizeIs(7));
  EXPECT_EQ(s.syncs[0].queue, kNone);
  EXPECT_EQ(s.syncs[0].flags, kSyncBinary | kSyncAcquire);
  const Sync& wait = s.syncs[4];
  EXPECT_EQ(wait.kind, SyncKind::kWait);
  EXPECT_EQ(wait.queue, 1u);
  EXPECT_EQ(wait.submission_number, 1u);
  EXPECT_EQ(wait.value, 7u);
  EXPECT_EQ(wait.time_ns, 5'000'000u);
  EXPECT_EQ(s.Text(s.objects.at(wait.object).name), "Frame timeline");
  EXPECT_EQ(s.objects.at(s.syncs[3].object).kind, kVulkanFenceKind);
  ASSERT_THAT(s.faults, SizeIs(1));
  EXPECT_EQ(s.Text(s.faults[0].source), "VK_EXT_device_fault");
  EXPECT_EQ(s.Text(s.faults[0].description), "page fault");
  EXPECT_EQ(s.faults[0].address_count, 2u);
  EXPECT_EQ(s.fault_addresses[0].type, FaultAddressType::kReadInvalid);
  EXPECT_EQ(s.fault_addresses[0].precision, 0x1000u);
  EXPECT_EQ(s.Text(s.vendor_infos.at(0).description), "MMU status");
  EXPECT_EQ(s.vendor_infos[0].data, 0xFEEDu);
  EXPECT_EQ(BlobText(s, s.faults[0].vendor_binary), std::string("\x38\0\0\0vendor data", 15));
  ASSERT_THAT(s.checkpoints, SizeIs(2));
  EXPECT_EQ(s.checkpoints[0].recording, 0u);
  EXPECT_EQ(s.checkpoints[0].stage, PipeStage::kTop);
  ASSERT_THAT(s.shaders, SizeIs(3));
  EXPECT_EQ(s.shaders[0].hash, 0xC1u);
  EXPECT_EQ(BlobText(s, s.shaders[0].bytes), "SPIR-V of cull");
  EXPECT_EQ(s.shaders[2].code, ShaderCode::kDxbc);
  EXPECT_EQ(s.shaders[2].size_bytes, 100u);
  EXPECT_TRUE(s.shaders[2].bytes.empty());
  EXPECT_EQ(s.pipelines[0].shader_hashes[kStageVertex], 0xA1u);
}

TEST(BlockDiagnostics, BinariesAreLeftOutUnlessAskedFor) {
  TestBlock block;
  FillVulkanBlock(&block);
  const Snapshot s = std::move(SnapshotFromBlock(block.bytes(), 1).value());
  EXPECT_EQ(FindInconsistency(s), "");
  EXPECT_TRUE(s.blobs.empty());
  EXPECT_EQ(s.faults[0].vendor_binary_bytes, 15u);
  EXPECT_THAT(s.shaders, SizeIs(3));
}

TEST(BlockDiagnostics, OfARingTheLatestAreRead) {
  TestBlock block;
  const uint32_t queue = block.AddQueue(block.AddContext(), 0, "");
  for (uint64_t i = 1; i <= kSyncRing + 10; ++i) {
    block.AddSync(SyncKind::kSignal, queue, i, 0x10, i);
  }
  const Snapshot s = Take(block);
  ASSERT_THAT(s.syncs, SizeIs(kSyncRing));
  EXPECT_EQ(s.syncs.front().value, 11u);
  EXPECT_EQ(s.syncs.back().value, kSyncRing + 10u);
}

TEST(BlockDiagnostics, TornAndHostileSyncsAreLeftOut) {
  TestBlock block;
  const uint32_t queue = block.AddQueue(block.AddContext(), 0, "");
  for (int i = 0; i < 5; ++i) block.AddSync(SyncKind::kSignal, queue, 1, 0x10, 1);
  block.sync(1).serial = 0;
  block.sync(2).serial = 3;
  block.sync(3).queue = 77;
  block.sync(4).kind = static_cast<SyncKind>(9);
  block.sync(5).context = 99;
  const Snapshot s = Take(block);
  ASSERT_THAT(s.syncs, SizeIs(1));
  EXPECT_EQ(s.syncs[0].device, kNone);
  EXPECT_THAT(Losses(s), ElementsAre("4 waits and signals of semaphores and fences could not be "
                                     "read."));
}

// Handles are used again, also by objects of another kind.
TEST(BlockDiagnostics, AHandleLeadsToTheObjectOfItsTime) {
  TestBlock block;
  const uint32_t context = block.AddContext();
  const uint32_t queue = block.AddQueue(context, 0, "");
  const auto add = [&](uint32_t kind, uint64_t created, uint64_t destroyed) {
    block.object(block.AddObject(context, kind, "", created, destroyed) - 1).native_handle = 0x10;
  };
  add(kVulkanSemaphoreKind, 100, 1'500'000);
  add(kVulkanBufferKind, 100, 0);
  add(kVulkanFenceKind, 100, 0);
  add(kVulkanSemaphoreKind, 1'600'000, 0);
  block.AddSync(SyncKind::kSignal, queue, 1, 0x10, 1);              // at 1,000,000
  block.AddSync(SyncKind::kSignal, queue, 1, 0x10, 1);              // at 2,000,000
  block.AddSync(SyncKind::kSignal, queue, 1, 0x10, 0, kSyncFence);  // at 3,000,000
  block.AddSync(SyncKind::kSignal, queue, 1, 0x11, 0);
  const Snapshot s = Take(block);
  EXPECT_EQ(s.syncs[0].object, 0u);
  EXPECT_EQ(s.syncs[1].object, 3u);
  EXPECT_EQ(s.syncs[2].object, 2u);
  EXPECT_EQ(s.syncs[3].object, kNone);
}

TEST(BlockDiagnostics, HostileFaultsAreBounded) {
  TestBlock block;
  const uint32_t context = block.AddContext();
  FaultRecord& record = block.AddFault(context, "source", "description");
  std::memset(record.source, 'x', sizeof(record.source));
  std::memset(record.description, 'y', sizeof(record.description));
  record.address_count = 0xFFFFFFFF;
  record.vendor_info_count = 0xFFFFFFFF;
  record.vendor_binary_offset = 64;
  record.vendor_binary_bytes = UINT64_MAX;
  Snapshot s = Take(block);
  EXPECT_EQ(s.faults.at(0).address_count, kMaxFaultAddresses);
  EXPECT_EQ(s.faults[0].vendor_info_count, kMaxFaultVendorInfos);
  EXPECT_EQ(s.faults[0].source.length, sizeof(record.source));
  EXPECT_TRUE(s.faults[0].vendor_binary.empty());
  EXPECT_THAT(Losses(s), ElementsAre("1 binaries of the driver could not be kept."));
  // A question that failed told nothing, whatever its counts say.
  record.result = -4;
  s = Take(block);
  EXPECT_EQ(s.faults.at(0).result, -4);
  EXPECT_EQ(s.faults[0].address_count, 0u);
  EXPECT_EQ(s.faults[0].vendor_binary_bytes, 0u);
}

TEST(BlockDiagnostics, StaleAndHostileCheckpointsAreLeftOut) {
  TestBlock block;
  const uint32_t context = block.AddContext();
  const uint32_t queue = block.AddQueue(context, 0, "");
  const TestBlock::List list = block.AddList(context, queue, 0, "");
  block.Scope(list, CAIRN_MARKER_DRAW);
  block.AddCheckpoint(queue, PipeStage::kTop, list, 1);
  block.AddCheckpoint(queue, PipeStage::kTop, list, 3);
  block.AddCheckpoint(77, PipeStage::kTop, list, 1);
  block.AddCheckpoint(queue, PipeStage::kTop, {context, 63}, 1);
  block.AddCheckpoint(queue, static_cast<PipeStage>(99), list, 2);
  Snapshot s = Take(block);
  ASSERT_THAT(s.checkpoints, SizeIs(2));
  EXPECT_EQ(s.checkpoints[1].stage, PipeStage::kOther);
  EXPECT_THAT(Losses(s), ElementsAre(HasSubstr("3 checkpoints of the driver name")));
  ++block.slot(list).generation;
  EXPECT_THAT(Take(block).checkpoints, IsEmpty());
  block.checkpoints(context).count = 0xFFFFFFFF;
  EXPECT_THAT(Take(block).checkpoints, IsEmpty());
}

TEST(BlockDiagnostics, HostileShadersAreLeftOut) {
  TestBlock block;
  block.AddContext();
  for (int i = 0; i < 6; ++i) block.AddShader(ShaderCode::kSpirV, 0x10 + i, "code");
  block.shader(0).hash = 0;
  block.shader(1).hash = 0x12;  // twice
  block.shader(3).offset = 12;
  block.shader(4).size_bytes = UINT64_MAX;
  block.shader(5).state = 0;
  const Snapshot s = Take(block);
  ASSERT_THAT(s.shaders, SizeIs(1));
  EXPECT_EQ(s.shaders[0].hash, 0x12u);
  EXPECT_THAT(Losses(s), ElementsAre("4 shaders could not be read."));
}

// Three of 6 MiB: two fit, those of pipelines in use first.
TEST(BlockDiagnostics, CodeInUseIsKeptFirst) {
  TestBlock block(uint64_t{80} << 20);
  const uint32_t context = block.AddContext();
  const uint32_t queue = block.AddQueue(context, 0, "");
  const std::string code(6 << 20, 'c');
  const TestBlock::List list = block.AddList(context, queue, 0, "");
  for (uint64_t hash = 1; hash <= 3; ++hash) {
    block.AddShader(ShaderCode::kSpirV, hash, code);
    const uint32_t pipeline = block.AddPipeline(context, "");
    block.SetShaderHash(pipeline, kStageCompute, hash);
    if (hash == 1) block.Scope(list, CAIRN_MARKER_DISPATCH, "", pipeline);
  }
  block.Close(list);
  block.Submit(queue, list);
  const Snapshot s = Take(block);
  ASSERT_THAT(s.shaders, SizeIs(3));
  EXPECT_EQ(s.shaders[0].bytes.length, code.size());
  EXPECT_TRUE(s.shaders[1].bytes.empty());
  EXPECT_EQ(s.shaders[2].bytes.length, code.size());
  EXPECT_LE(s.blobs.size(), kMaxShaderCodeBytes);
}

TEST(BlockDiagnostics, DataOfDriversBeyondItsBoundIsLeftOut) {
  TestBlock block(uint64_t{80} << 20);
  FaultRecord& fault = block.AddFault(block.AddContext(), "driver", "");
  const auto kept = [&](uint64_t bytes) {
    fault.vendor_binary_offset = uint64_t{block.header().first_free_page} * kPageBytes;
    fault.vendor_binary_bytes = bytes;
    return Take(block);
  };
  EXPECT_EQ(kept(kMaxVendorBinaryBytes).blobs.size(), kMaxVendorBinaryBytes);
  const Snapshot s = kept(kMaxVendorBinaryBytes + 8);
  EXPECT_THAT(s.blobs, IsEmpty());
  EXPECT_THAT(Losses(s), ElementsAre("1 binaries of the driver could not be kept."));
  EXPECT_EQ(kMaxShaderCodeBytes + kMaxVendorBinaryBytes, uint64_t{32} << 20);
}

TEST(BlockDiagnostics, BlocksWithoutTheTablesHaveNone) {
  TestBlock block;
  FillVulkanBlock(&block);
  BlockHeader& header = block.header();
  header.syncs_offset = header.faults_offset = header.checkpoints_offset = header.shaders_offset =
      0;
  const Snapshot s = Take(block);
  EXPECT_THAT(s.syncs, IsEmpty());
  EXPECT_THAT(s.faults, IsEmpty());
  EXPECT_THAT(s.checkpoints, IsEmpty());
  EXPECT_THAT(s.shaders, IsEmpty());
  EXPECT_THAT(Losses(s), IsEmpty());
}

TEST(ObjectKinds, HaveWords) {
  EXPECT_EQ(ObjectKindWord(0), "object");
  EXPECT_EQ(ObjectKindWord(34), "resource");
  EXPECT_EQ(ObjectKindWord(kVulkanBufferKind), "buffer");
  EXPECT_EQ(ObjectKindWord(kVulkanPipelineKind), "pipeline");
  EXPECT_EQ(ObjectKindWord(kVulkanObject | 1000150000), "acceleration structure");
  EXPECT_EQ(ObjectKindWord(kVulkanObject | 34), "object");
  EXPECT_EQ(ObjectKindWord(0xFFFFFFFF), "object");
}

}  // namespace
}  // namespace cairn
