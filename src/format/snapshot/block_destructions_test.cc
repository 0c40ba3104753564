// SPDX-License-Identifier: Apache-2.0
#include "format/snapshot/block_destructions.h"

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

using ::testing::IsEmpty;

Snapshot Take(const TestBlock& block, Moment moment = Moment::kNow) {
  Result<Snapshot> snapshot =
      SnapshotFromBlock(block.bytes(), 1'700'000'005'000'000'000, Binaries::kLeaveOut, moment);
  EXPECT_TRUE(snapshot.ok());
  EXPECT_EQ(FindInconsistency(*snapshot), "");
  return std::move(*snapshot);
}

// A dispatch in flight that binds one set.
class BlockDestructions : public ::testing::Test {
 protected:
  BlockDestructions() {
    context_ = block_.AddContext(16);
    queue_ = block_.AddQueue(context_, 0, "Graphics");
  }
  void Bind(DescriptorSetPlace place) {
    list_ = block_.AddList(context_, queue_, 0, "Main");
    block_.BindAddress(list_, BindPoint::kDescriptorSet, kBindSlotOfCompute, place);
    block_.Scope(list_, CAIRN_MARKER_DISPATCH);
    block_.Close(list_);
    block_.Submit(queue_, list_);
    block_.SetProgress(list_, 2, 0);
  }
  DescriptorSetPlace AddSet(DescriptorKind kind, uint64_t handle, uint32_t stamp) {
    const TestBlock::TestDescriptor descriptor = {0, kind, handle, stamp};
    return block_.AddDescriptorSet(context_, 0xD1, std::span(&descriptor, 1));
  }

  TestBlock block_;
  uint32_t context_ = 0;
  uint32_t queue_ = 0;
  TestBlock::List list_{};
};

TEST(BlockDestructionsSample, SaysWhatADescriptorLeadsTo) {
  TestBlock block;
  FillMemoryBlock(&block);
  const Snapshot s = Take(block);
  ASSERT_EQ(s.descriptor_sets.size(), 1u);
  const DescriptorSet& set = s.descriptor_sets[0];
  EXPECT_EQ(set.native_handle, 0xD1u);
  EXPECT_EQ(set.unseen_count, 1024u);
  EXPECT_FALSE(set.in_buffers);
  ASSERT_EQ(set.descriptor_count, 2u) << "buffer 0xB0 lives, and an empty descriptor leads nowhere";
  const Descriptor& buffer = s.descriptors[set.first_descriptor];
  EXPECT_EQ(buffer.binding, 2u);
  EXPECT_EQ(buffer.element, 1u);
  EXPECT_EQ(buffer.kind, kVulkanBufferKind);
  EXPECT_EQ(buffer.native_handle, 0xB1u);
  ASSERT_EQ(s.destructions.size(), 2u) << "of the first one with this handle nothing is kept";
  const Destruction& destroyed = s.destructions[buffer.destruction];
  EXPECT_EQ(destroyed.serial, 2u);
  EXPECT_EQ(s.Text(s.objects[destroyed.object].name), "Particles");
  EXPECT_EQ(s.Text(destroyed.thread_name), "streaming");
  EXPECT_EQ(destroyed.thread_id, 23u);
  EXPECT_EQ(destroyed.time_ns, 4'000'000u);
  EXPECT_EQ(destroyed.frame, 3u);
  EXPECT_EQ(destroyed.submission_serial, 1u);
  EXPECT_EQ(destroyed.cause_kind, 0u);
  const Descriptor& view = s.descriptors[set.first_descriptor + 1];
  EXPECT_EQ(view.binding, 3u);
  EXPECT_EQ(view.element, 0u);
  const Destruction& freed = s.destructions[view.destruction];
  EXPECT_EQ(freed.kind, kVulkanImageViewKind);
  EXPECT_EQ(freed.cause_kind, kVulkanMemoryKind);
  EXPECT_EQ(s.Text(s.objects[freed.cause_object].name), "Heap A");
}

TEST_F(BlockDestructions, OnlyWhatWasDestroyedLaterIsMeant) {
  for (int i = 0; i < 3; ++i) block_.AddDestruction(context_, kVulkanBufferKind, 0xB1, 0, "");
  Bind(AddSet(DescriptorKind::kBuffer, 0xB1, 1));
  const Snapshot s = Take(block_);
  ASSERT_EQ(s.descriptors.size(), 1u);
  EXPECT_EQ(s.destructions[s.descriptors[0].destruction].serial, 2u)
      << "the first behind it: what came later were other buffers";
}

TEST_F(BlockDestructions, HandlesOfOtherKindsAreOthers) {
  block_.AddDestruction(context_, kVulkanImageViewKind, 0xB1, 0, "");
  Bind(AddSet(DescriptorKind::kBuffer, 0xB1, 0));
  const Snapshot s = Take(block_);
  EXPECT_THAT(s.descriptors, IsEmpty());
  EXPECT_THAT(s.descriptor_sets, IsEmpty());
  EXPECT_THAT(s.destructions, IsEmpty());
  EXPECT_EQ(s.binds.at(0).value, 0u);
}

TEST_F(BlockDestructions, StampsGoOnBeyond32Bits) {
  block_.destruction_count(0xB1) = 0xFFFF'FFFF;
  const uint64_t serial = block_.AddDestruction(context_, kVulkanBufferKind, 0xB1, 0, "");
  Bind(AddSet(DescriptorKind::kBuffer, 0xB1, 0xFFFF'FFFF));
  const Snapshot s = Take(block_);
  ASSERT_EQ(s.descriptors.size(), 1u);
  EXPECT_EQ(s.destructions.at(0).serial, serial);
}

TEST_F(BlockDestructions, HandlesOfOtherCountersDoNotCount) {
  constexpr uint64_t kOther = 0x7F00'0000'0000;
  ASSERT_NE(DestructionCounterOf(kOther), DestructionCounterOf(0xB1));
  for (int i = 0; i < 5; ++i) block_.AddDestruction(context_, kVulkanBufferKind, 0xB1, 0, "");
  block_.AddDestruction(context_, kVulkanBufferKind, kOther, 0, "");
  block_.AddDestruction(context_, kVulkanBufferKind, kOther, 0, "");
  Bind(AddSet(DescriptorKind::kBuffer, kOther, 1));
  const Snapshot s = Take(block_);
  ASSERT_EQ(s.descriptors.size(), 1u);
  EXPECT_EQ(s.destructions.at(s.descriptors[0].destruction).serial, 7u);
}

// Threads take places in blocks: the first in the ring may be the last in time.
TEST_F(BlockDestructions, TheyAreInTheOrderOfTheirTimes) {
  Bind(AddSet(DescriptorKind::kBuffer, 0xB1, 0));
  Bind(AddSet(DescriptorKind::kBuffer, 0xB2, 0));
  Bind(AddSet(DescriptorKind::kBuffer, 0xB3, 0));
  for (const uint64_t handle : {0xB1, 0xB2, 0xB3}) {
    block_.AddDestruction(context_, kVulkanBufferKind, handle, 0, "");
  }
  block_.destruction(1).time_ns = 9'000'000;
  const Snapshot s = Take(block_);
  ASSERT_EQ(s.destructions.size(), 3u);
  EXPECT_EQ(s.destructions[0].native_handle, 0xB2u);
  EXPECT_EQ(s.destructions[0].serial, 1u);
  EXPECT_EQ(s.destructions[2].native_handle, 0xB1u);
  EXPECT_EQ(s.destructions[2].serial, 3u);
  EXPECT_EQ(s.destructions[s.descriptors[0].destruction].native_handle, 0xB1u);
}

TEST_F(BlockDestructions, PlacesThatNoThreadHasComeToAreNoLoss) {
  block_.header().destruction_serial = kDestructionBlock;
  block_.destruction(1).serial = 0;
  EXPECT_THAT(Take(block_).losses, IsEmpty());
}

TEST_F(BlockDestructions, OfAFullRingTheLastAreKnown) {
  const DescriptorSetPlace early = AddSet(DescriptorKind::kBuffer, 1, 0);
  const DescriptorSetPlace late = AddSet(DescriptorKind::kBuffer, kDestructionRing, 0);
  for (uint64_t i = 1; i <= kDestructionRing + 10; ++i) {
    block_.AddDestruction(context_, kVulkanBufferKind, i, 0, "");
  }
  Bind(early);
  Bind(late);
  const Snapshot s = Take(block_);
  ASSERT_EQ(s.descriptors.size(), 1u);
  EXPECT_EQ(s.descriptors[0].native_handle, kDestructionRing);
}

TEST_F(BlockDestructions, BehindFinishedWorkNothingIsLookedFor) {
  block_.AddDestruction(context_, kVulkanBufferKind, 0xB1, 0, "");
  Bind(AddSet(DescriptorKind::kBuffer, 0xB1, 0));
  EXPECT_EQ(Take(block_).descriptors.size(), 1u);
  block_.SetProgress(list_, 2, 3);
  EXPECT_THAT(Take(block_).descriptors, IsEmpty());
}

// The arguments of an indirect dispatch, by a storage buffer and by one that shaders only read.
TEST_F(BlockDestructions, WhereArgumentsCanBeWrittenIsKeptOfAllWork) {
  const uint32_t buffer = block_.AddObject(context_, kVulkanBufferKind, "Arguments", 1);
  const uint64_t handle = block_.object(buffer - 1).native_handle;
  const TestBlock::TestDescriptor descriptors[] = {{1, DescriptorKind::kBuffer, handle, 0, false},
                                                   {2, DescriptorKind::kBuffer, 0xB1, 0, true},
                                                   {3, DescriptorKind::kBuffer, handle, 0, true}};
  Bind(block_.AddDescriptorSet(context_, 0xD1, descriptors, 5));
  block_.SetProgress(list_, 2, 3);
  EXPECT_THAT(Take(block_).descriptor_sets, IsEmpty()) << "nobody reads arguments there";
  const TestBlock::List other = block_.AddList(context_, queue_, 0, "Main");
  block_.BindObject(other, BindPoint::kIndirectArguments, 0, buffer);
  block_.Scope(other, CAIRN_MARKER_DISPATCH_INDIRECT);
  block_.Close(other);
  block_.Submit(queue_, other);
  const Snapshot s = Take(block_);
  ASSERT_EQ(s.descriptor_sets.size(), 1u);
  EXPECT_EQ(s.descriptor_sets[0].unseen_count, 0u) << "no faults are looked for";
  ASSERT_EQ(s.descriptor_sets[0].descriptor_count, 1u);
  const Descriptor& descriptor = s.descriptors[s.descriptor_sets[0].first_descriptor];
  EXPECT_EQ(descriptor.binding, 3u);
  EXPECT_EQ(descriptor.native_handle, handle);
  EXPECT_EQ(descriptor.destruction, kNone);
  // The handle was another buffer's when it was written.
  block_.AddDestruction(context_, kVulkanBufferKind, handle, 0, "");
  EXPECT_THAT(Take(block_).descriptor_sets, IsEmpty());
}

TEST_F(BlockDestructions, WhatWasDestroyedAfterAFaultOfTheCpuIsNotMeant) {
  block_.AddDestruction(context_, kVulkanBufferKind, 0xB1, 0, "");
  Bind(AddSet(DescriptorKind::kBuffer, 0xB1, 0));
  block_.NoteFault(11);
  EXPECT_EQ(Take(block_, Moment::kLastFault).descriptors.size(), 1u);
  block_.destruction(1).time_ns = block_.header().crash_ns + 1;
  EXPECT_THAT(Take(block_, Moment::kLastFault).descriptors, IsEmpty());
}

TEST_F(BlockDestructions, ASetWhoseRecordServesAnotherIsNotRead) {
  block_.AddDestruction(context_, kVulkanBufferKind, 0xB1, 0, "");
  const DescriptorSetPlace set = AddSet(DescriptorKind::kBuffer, 0xB1, 0);
  Bind(set);
  block_.descriptor_set(set).generation = 8;
  EXPECT_THAT(Take(block_).descriptors, IsEmpty());
  block_.descriptor_set(set).generation = 0;
  EXPECT_THAT(Take(block_).descriptors, IsEmpty());
}

// SPIR-V that declares set 0 binding 0.
TEST_F(BlockDestructions, WhatAPipelineCanUseIsReadFromItsShaders) {
  const uint32_t code[] = {
      0x07230203,    0x10000, 0, 9, 0, 4u << 16 | 71, 8, 34, 0, 4u << 16 | 71, 8, 33, 0,
      5u << 16 | 54, 2,       1, 0, 3};
  const uint32_t pipeline = block_.AddPipeline(context_, "Simulate");
  block_.SetShaderHash(pipeline, kStageCompute, 0xC1);
  list_ = block_.AddList(context_, queue_, 0, "Main");
  block_.BindAddress(list_, BindPoint::kDescriptorSet, kBindSlotOfCompute, kDescriptorBuffers);
  block_.Scope(list_, CAIRN_MARKER_DISPATCH, "", pipeline);
  block_.Close(list_);
  block_.Submit(queue_, list_);
  EXPECT_THAT(Take(block_).pipeline_descriptors, IsEmpty()) << "without its code";
  block_.AddShader(ShaderCode::kSpirV, 0xC1,
                   std::string_view(reinterpret_cast<const char*>(code), sizeof(code)));
  const Snapshot s = Take(block_);
  ASSERT_EQ(s.pipeline_descriptors.size(), 1u);
  EXPECT_EQ(s.pipeline_descriptors[0].pipeline, pipeline - 1);
  ASSERT_EQ(s.pipeline_descriptors[0].descriptor_count, 1u);
  EXPECT_EQ(s.shader_descriptors[0], (ShaderDescriptor{0, 0}));
  block_.SetShaderHash(pipeline, kStageRayTracing, 0xC1);
  EXPECT_THAT(Take(block_).pipeline_descriptors, IsEmpty())
      << "there are shaders that are not known";
  block_.SetShaderHash(pipeline, kStageRayTracing, 0);
  block_.shader(0).offset = 0xFFFF'FFFF'FFFF'FFF0;
  EXPECT_THAT(Take(block_).pipeline_descriptors, IsEmpty());
  block_.shader(0).offset = 64;
  EXPECT_THAT(Take(block_).pipeline_descriptors, IsEmpty()) << "in the header";
}

TEST_F(BlockDestructions, DescriptorBuffersAreSaidToBeUnseen) {
  Bind(kDescriptorBuffers);
  const Snapshot s = Take(block_);
  ASSERT_EQ(s.descriptor_sets.size(), 1u);
  EXPECT_TRUE(s.descriptor_sets[0].in_buffers);
  Bind(kPushedDescriptors);
  EXPECT_TRUE(Take(block_).descriptor_sets.at(1).pushed);
}

TEST_F(BlockDestructions, WhatContradictsItselfIsLeftOut) {
  block_.AddDestruction(context_, kVulkanBufferKind, 0xB1, 0, "");
  const DescriptorSetPlace set = AddSet(DescriptorKind::kBuffer, 0xB1, 0);
  block_.descriptor_set(set).descriptor_count = kMaxSetDescriptors + 1;
  Bind(set);
  // The header, a table, the end of the block, far behind it.
  for (const uint64_t offset : {uint64_t{0}, block_.header().objects_offset,
                                uint64_t{kTestBlockBytes} - 64, uint64_t{0xFFFF'FFFF} * 64}) {
    Bind(MakeDescriptorSetPlace(offset, 7));
  }
  EXPECT_THAT(Take(block_).descriptors, IsEmpty());
  block_.descriptor_set(set).descriptor_count = 1;
  EXPECT_EQ(Take(block_).descriptors.size(), 1u);
  // An entry that is being written, one of another position, of no device and no object.
  block_.destruction(1).serial = kDestructionBeingWritten;
  const Snapshot torn = Take(block_);
  EXPECT_THAT(torn.descriptors, IsEmpty());
  ASSERT_EQ(torn.losses.size(), 1u);
  EXPECT_EQ(torn.Text(torn.losses[0]), "1 destructions of objects could not be read.");
  block_.destruction(1).serial = 2;
  EXPECT_THAT(Take(block_).descriptors, IsEmpty());
  block_.destruction(1).serial = 1;
  block_.destruction(1).context = 63;
  block_.destruction(1).object = 0xFFFF'FFFF;
  block_.destruction(1).cause_object = 1;
  const Snapshot lone = Take(block_);
  ASSERT_EQ(lone.destructions.size(), 1u);
  EXPECT_EQ(lone.destructions[0].device, kNone);
  EXPECT_EQ(lone.destructions[0].object, kNone);
  EXPECT_EQ(lone.destructions[0].cause_object, kNone);
}

TEST_F(BlockDestructions, AnEntryOfTheTableOfObjectsThatServesAnotherIsNone) {
  const uint32_t object = block_.AddObject(context_, kVulkanBufferKind, "Old", 1, 2);
  block_.object(object - 1).gpu_address = 0x1000;
  block_.AddDestruction(context_, kVulkanBufferKind, 0xB1, object, "");
  EXPECT_EQ(Take(block_).destructions.at(0).object, object - 1) << "a fault may name its address";
  block_.object(object - 1).serial += 1;
  EXPECT_THAT(Take(block_).destructions, IsEmpty());
}

}  // namespace
}  // namespace cairn
