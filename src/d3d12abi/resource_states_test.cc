// SPDX-License-Identifier: Apache-2.0
#include "d3d12abi/resource_states.h"

#include <gtest/gtest.h>

#include "d3d12abi/d3d12_api.h"

namespace cairn {
namespace {

constexpr uint64_t kImage = 7;

void Execute(ResourceStates* states, const ListStates& list, bool copy_queue = false) {
  const ListStates* const lists[] = {&list};
  states->Execute(lists, copy_queue);
}

TEST(ResourceStatesTest, NamesMeanTheHeadersValues) {
  EXPECT_EQ(kStateRenderTarget, uint32_t{D3D12_RESOURCE_STATE_RENDER_TARGET});
  EXPECT_EQ(kStateUnorderedAccess, uint32_t{D3D12_RESOURCE_STATE_UNORDERED_ACCESS});
  EXPECT_EQ(kStateCopyDest, uint32_t{D3D12_RESOURCE_STATE_COPY_DEST});
  EXPECT_EQ(kStateCopySource, uint32_t{D3D12_RESOURCE_STATE_COPY_SOURCE});
  EXPECT_EQ(kAllSubresources, uint32_t{D3D12_RESOURCE_BARRIER_ALL_SUBRESOURCES});
}

TEST(ResourceStatesTest, LayoutsStandForStates) {
  const auto of = [](D3D12_BARRIER_LAYOUT layout) {
    return StateOfLayout(static_cast<uint32_t>(layout));
  };
  EXPECT_EQ(of(D3D12_BARRIER_LAYOUT_UNDEFINED), uint32_t{D3D12_RESOURCE_STATE_COMMON});
  EXPECT_EQ(of(D3D12_BARRIER_LAYOUT_PRESENT), uint32_t{D3D12_RESOURCE_STATE_PRESENT});
  EXPECT_EQ(of(D3D12_BARRIER_LAYOUT_GENERIC_READ), uint32_t{D3D12_RESOURCE_STATE_GENERIC_READ});
  EXPECT_EQ(of(D3D12_BARRIER_LAYOUT_RENDER_TARGET), uint32_t{D3D12_RESOURCE_STATE_RENDER_TARGET});
  EXPECT_EQ(of(D3D12_BARRIER_LAYOUT_DEPTH_STENCIL_WRITE),
            uint32_t{D3D12_RESOURCE_STATE_DEPTH_WRITE});
  EXPECT_EQ(of(D3D12_BARRIER_LAYOUT_DEPTH_STENCIL_READ), uint32_t{D3D12_RESOURCE_STATE_DEPTH_READ});
  EXPECT_EQ(of(D3D12_BARRIER_LAYOUT_RESOLVE_SOURCE), uint32_t{D3D12_RESOURCE_STATE_RESOLVE_SOURCE});
  EXPECT_EQ(of(D3D12_BARRIER_LAYOUT_RESOLVE_DEST), uint32_t{D3D12_RESOURCE_STATE_RESOLVE_DEST});
  EXPECT_EQ(of(D3D12_BARRIER_LAYOUT_VIDEO_DECODE_READ),
            uint32_t{D3D12_RESOURCE_STATE_VIDEO_DECODE_READ});
  EXPECT_EQ(of(D3D12_BARRIER_LAYOUT_VIDEO_ENCODE_WRITE),
            uint32_t{D3D12_RESOURCE_STATE_VIDEO_ENCODE_WRITE});
  EXPECT_EQ(of(D3D12_BARRIER_LAYOUT_DIRECT_QUEUE_COPY_DEST), kStateCopyDest);
  EXPECT_EQ(of(D3D12_BARRIER_LAYOUT_COMPUTE_QUEUE_UNORDERED_ACCESS), kStateUnorderedAccess);
  EXPECT_EQ(of(D3D12_BARRIER_LAYOUT_VIDEO_QUEUE_COMMON), kStateCommon);
}

TEST(ResourceStatesTest, BarriersHoldFromTheirSubmissionOn) {
  ResourceStates states;
  states.Add(kImage, {.initial_state = kStateCopyDest});
  ListStates list;
  list.Transition(kImage, kAllSubresources, kStateRenderTarget);
  EXPECT_EQ(states.State(kImage, 0), kStateCopyDest);
  Execute(&states, list);
  EXPECT_EQ(states.State(kImage, 0), kStateRenderTarget);
  // A list that was reset says nothing any more.
  list.Reset();
  Execute(&states, list);
  EXPECT_EQ(states.State(kImage, 0), kStateRenderTarget);
}

TEST(ResourceStatesTest, SubresourcesAreApart) {
  ResourceStates states;
  states.Add(kImage, {.mips = 3, .array_size = 2});
  ListStates list;
  list.Transition(kImage, 4, kStateUnorderedAccess);
  list.Transition(kImage, 6, kStateRenderTarget);  // there is none
  Execute(&states, list);
  EXPECT_EQ(states.State(kImage, 3), kStateCommon);
  EXPECT_EQ(states.State(kImage, 4), kStateUnorderedAccess);
  EXPECT_EQ(states.State(kImage, 5), kStateCommon);
  list.Reset();
  list.Transition(kImage, kAllSubresources, kStateCopySource);
  Execute(&states, list);
  for (uint32_t i = 0; i < 6; ++i) EXPECT_EQ(states.State(kImage, i), kStateCopySource);
}

TEST(ResourceStatesTest, RangesNameMipsSlicesAndPlanes) {
  ResourceStates states;
  states.Add(kImage, {.mips = 2, .array_size = 2, .planes = 2});
  ListStates list;
  list.Transition(kImage, SubresourceRange{1, 1, 0, 100, 1, 1}, kStateCopySource);
  Execute(&states, list);
  for (uint32_t i = 0; i < 8; ++i) {
    EXPECT_EQ(states.State(kImage, i), i == 5 || i == 7 ? kStateCopySource : kStateCommon) << i;
  }
}

TEST(ResourceStatesTest, BuffersAndSimultaneousTexturesDecay) {
  ResourceStates states;
  states.Add(1, {.buffer = true});
  states.Add(2, {.simultaneous_access = true});
  states.Add(3, {});
  ListStates list;
  for (uint64_t object = 1; object <= 3; ++object) {
    list.Transition(object, kAllSubresources, kStateUnorderedAccess);
  }
  Execute(&states, list);
  EXPECT_EQ(states.State(1, 0), kStateCommon);
  EXPECT_EQ(states.State(2, 0), kStateCommon);
  EXPECT_EQ(states.State(3, 0), kStateUnorderedAccess);
}

TEST(ResourceStatesTest, CopiesPromoteWhatIsCommon) {
  ResourceStates states;
  states.Add(1, {});
  states.Add(2, {.initial_state = kStateUnorderedAccess});
  ListStates list;
  list.CopiedInto(1, 0);
  list.CopiedInto(2, 0);
  Execute(&states, list);
  EXPECT_EQ(states.State(1, 0), kStateCopyDest);
  EXPECT_EQ(states.State(2, 0), kStateUnorderedAccess);
}

TEST(ResourceStatesTest, WhatACopyQueueUsedDecays) {
  ResourceStates states;
  states.Add(1, {});
  ListStates list;
  list.CopiedInto(1, kAllSubresources);
  Execute(&states, list, /*copy_queue=*/true);
  EXPECT_EQ(states.State(1, 0), kStateCommon);
}

TEST(ResourceStatesTest, TheImageThatWasShownLastIsKnown) {
  ResourceStates states;
  states.Add(1, {.is_image = true});
  states.Add(2, {.is_image = true, .present_state = kStateCopySource});
  states.Add(3, {});
  ListStates list;
  list.Transition(1, kAllSubresources, kStateRenderTarget);
  EXPECT_EQ(states.LastPresented(), 0u);
  list.Transition(1, kAllSubresources, kStatePresent);
  list.Transition(3, kAllSubresources, kStatePresent);
  Execute(&states, list);
  EXPECT_EQ(states.LastPresented(), 1u);
  list.Reset();
  list.Transition(2, kAllSubresources, kStateCopySource);
  Execute(&states, list);
  EXPECT_EQ(states.LastPresented(), 2u);
  states.Remove(2);
  EXPECT_EQ(states.LastPresented(), 0u);
}

TEST(ResourceStatesTest, TheQueueThatUsedAnObjectLastIsKnown) {
  ResourceStates states;
  states.Add(1, {});
  states.Add(2, {});
  ListStates list;
  list.Transition(1, 0, kStateCopySource);
  const ListStates* const lists[] = {&list};
  states.Execute(lists, /*copy_queue=*/false, 40);
  EXPECT_EQ(states.LastQueue(1), 40u);
  EXPECT_EQ(states.LastQueue(2), 0u);
  EXPECT_EQ(states.LastQueue(3), 0u);
}

TEST(ResourceStatesTest, TheLastTargetIsKnown) {
  ResourceStates states;
  states.Add(1, {});
  states.Add(2, {.mips = 4});
  ListStates list;
  list.Target(1, 0);
  list.Target(2, 3);
  list.Target(2, 3);
  list.Target(9, 0);  // not known
  Execute(&states, list);
  EXPECT_EQ(states.LastTarget().object, 2u);
  EXPECT_EQ(states.LastTarget().subresource, 3u);
  states.Remove(2);
  EXPECT_EQ(states.LastTarget().object, 0u);
}

// A trace may say anything.
TEST(ResourceStatesTest, AbsurdDimensionsTakeNoMemory) {
  ResourceStates states;
  states.Add(1, {.mips = 0xFFFF, .array_size = 0xFFFFFFFF, .planes = 2});
  ListStates list;
  list.Transition(1, 5, kStateCopySource);
  list.Transition(1, SubresourceRange{0, ~0u, ~0u, ~0u, 0, ~0u}, kStateCopyDest);
  list.CopiedInto(1, ~0u - 1);
  Execute(&states, list);
  EXPECT_EQ(states.State(1, 0), kStateCopyDest);
  EXPECT_EQ(states.State(1, 0xFFFFFFF0), kStateCopyDest);
}

uint64_t NumberOf(const ID3D12Resource* resource) {
  return reinterpret_cast<uintptr_t>(resource);
}

TEST(ResourceStatesTest, BarriersOfTheInterface) {
  ResourceStates states;
  states.Add(kImage, {.mips = 2});
  D3D12_RESOURCE_BARRIER barriers[3] = {};
  auto* const image = reinterpret_cast<ID3D12Resource*>(uintptr_t{kImage});
  barriers[0].Type = D3D12_RESOURCE_BARRIER_TYPE_UAV;
  barriers[0].UAV.pResource = image;
  barriers[1].Type = D3D12_RESOURCE_BARRIER_TYPE_TRANSITION;
  barriers[1].Transition = {image, 1, D3D12_RESOURCE_STATE_COMMON,
                            D3D12_RESOURCE_STATE_UNORDERED_ACCESS};
  barriers[2] = barriers[1];
  barriers[2].Flags = D3D12_RESOURCE_BARRIER_FLAG_BEGIN_ONLY;
  barriers[2].Transition.StateAfter = D3D12_RESOURCE_STATE_COPY_SOURCE;
  ListStates list;
  NoteBarriers(&list, barriers, 3, NumberOf);
  Execute(&states, list);
  EXPECT_EQ(states.State(kImage, 0), kStateCommon);
  EXPECT_EQ(states.State(kImage, 1), kStateUnorderedAccess);
}

TEST(ResourceStatesTest, EnhancedBarriersOfTheInterface) {
  ResourceStates states;
  states.Add(kImage, {.mips = 3});
  D3D12_TEXTURE_BARRIER textures[2] = {};
  textures[0].pResource = reinterpret_cast<ID3D12Resource*>(uintptr_t{kImage});
  textures[0].LayoutAfter = D3D12_BARRIER_LAYOUT_RENDER_TARGET;
  textures[0].Subresources.IndexOrFirstMipLevel = kAllSubresources;
  textures[1] = textures[0];
  textures[1].LayoutAfter = D3D12_BARRIER_LAYOUT_COPY_SOURCE;
  textures[1].Subresources = {1, 2, 0, 1, 0, 1};
  D3D12_BARRIER_GROUP groups[2] = {};
  groups[0].Type = D3D12_BARRIER_TYPE_GLOBAL;
  groups[1].Type = D3D12_BARRIER_TYPE_TEXTURE;
  groups[1].NumBarriers = 2;
  groups[1].pTextureBarriers = textures;
  ListStates list;
  NoteBarrierGroups(&list, groups, 2, NumberOf);
  Execute(&states, list);
  EXPECT_EQ(states.State(kImage, 0), kStateRenderTarget);
  EXPECT_EQ(states.State(kImage, 1), kStateCopySource);
  EXPECT_EQ(states.State(kImage, 2), kStateCopySource);
}

}  // namespace
}  // namespace cairn
