// SPDX-License-Identifier: Apache-2.0
#include "format/model/unneeded_contents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <vector>

#include "format/calls/call_builder.h"
#include "format/trace/testing/test_trace.h"

namespace cairn {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

struct Guid {
  uint8_t bytes[16];
};
constexpr Guid kIid{};
constexpr uint64_t kDevice = 1;
constexpr uint64_t kQueue = 2;
constexpr uint64_t kOtherQueue = 3;
constexpr uint64_t kList = 4;
constexpr uint64_t kOtherList = 5;
constexpr uint64_t kAllocator = 6;
// Descriptors: render targets, depth, and those that shaders see.
constexpr uint64_t kTargets = 0x10000, kDepths = 0x20000, kViews = 0x30000, kCopies = 0x40000;
constexpr uint64_t kIncrement = 32;
// Heaps with these.
constexpr uint64_t kTargetHeap = 7, kDepthHeap = 8, kViewHeap = 9, kCopyHeap = 10;
// Resources that a test makes.
constexpr uint64_t kFirst = 20, kSecond = 21;

// D3D12_RESOURCE_DIMENSION, DXGI_FORMAT, D3D12_RESOURCE_STATES.
constexpr uint32_t kBuffer = 1, kTexture2D = 3, kTexture3D = 4;
constexpr uint32_t kRgba8 = 28, kDepthFloat = 40, kDepthStencil = 45, kBc1 = 71, kRg32 = 16;
constexpr uint32_t kTarget = 0x4, kShaderResource = 0x80;
constexpr uint32_t kDefaultMemory = 1, kReadbackMemory = 3;

// Mirrors of structs of Direct3D 12.
struct ResourceDesc {
  uint32_t dimension = kTexture2D, padding = 0;
  uint64_t alignment = 0, width = 64;
  uint32_t height = 64;
  uint16_t slices = 1, mips = 1;
  uint32_t format = kRgba8, samples = 1, quality = 0, layout = 0, flags = 0, end = 0;
};
struct TargetDesc {
  uint32_t format, dimension, parts[4];
};
struct DepthDesc {
  uint32_t format, dimension, flags, parts[3];
};
constexpr uint32_t kRtv2D = 4, kRtvArray = 5, kRtv3D = 8;
struct Rect {
  int32_t left, top, right, bottom;
};
struct Barrier {
  uint32_t type = 0, flags = 0;
  void* resource;
  uint32_t subresource = kAll, before = 0, after = 0, end = 0;
  static constexpr uint32_t kAll = 0xFFFFFFFF;
};
struct CopyLocation {
  void* resource;
  uint32_t type = 0, padding = 0;
  uint32_t subresource = 0;
  uint32_t rest[7] = {};
};
struct Box {
  uint32_t left, top, front, right, bottom, back;
};
constexpr float kColour[4] = {};

// A trace that starts late: a device, queues, two lists in recording and heaps; and what a test adds.
class UnneededContentsTest : public testing::Test {
 protected:
  UnneededContentsTest() {
    PutObject(kDevice, Chain::kNone);
    PutObject(kQueue, Chain::kID3D12CommandQueue);
    PutObject(kOtherQueue, Chain::kID3D12CommandQueue);
    PutObject(kList, Chain::kID3D12GraphicsCommandList);
    PutObject(kOtherList, Chain::kID3D12GraphicsCommandList);
    CreateHeap(kTargetHeap, kTargets, 2);
    CreateHeap(kDepthHeap, kDepths, 3);
    CreateHeap(kViewHeap, kViews, 0);
    CreateHeap(kCopyHeap, kCopies, 0);
  }

  uint64_t Put(RecordKind kind, uint64_t object, std::span<const std::byte> body,
               uint16_t method = 0) {
    return trace_.Add(kind, object, body, method, started_ ? 0 : kRecordRestores);
  }
  void PutObject(uint64_t object, Chain chain, uint64_t creator = 0, FactsKind kind = kNoFacts,
                 std::span<const std::byte> facts = {}) {
    const ObjectBody body{kDevice, creator, static_cast<uint32_t>(chain), kind};
    Put(RecordKind::kObject, object, BodyBytes(body, facts));
  }
  template <typename... Arguments>
  uint64_t Call(Method method, uint64_t object, const Arguments&... arguments) {
    CallBuilder builder;
    const CallBuilder::Body body = builder.Call(method, arguments...);
    EXPECT_TRUE(body.ok) << Describe(method).name;
    return Put(RecordKind::kCall, object, body.bytes, static_cast<uint16_t>(method));
  }
  void CreateHeap(uint64_t object, uint64_t start, uint32_t type) {
    DescriptorHeapFacts facts{};
    facts.cpu_start = start;
    facts.type = type;
    facts.count = 64;
    facts.increment_bytes = kIncrement;
    PutObject(object, Chain::kID3D12DescriptorHeap, 0, kDescriptorHeapFacts, BodyBytes(facts));
  }

  // With contents for each subresource, in a state.
  void Create(uint64_t object, const ResourceDesc& desc, uint32_t state = kTarget,
              uint32_t memory = kDefaultMemory) {
    CreateBy(Method::ID3D12Device_CreateCommittedResource, object, desc, memory);
    const uint32_t planes = desc.format == kDepthStencil ? 2 : 1;
    const uint32_t slices = desc.dimension == kTexture3D ? 1 : desc.slices;
    for (uint32_t i = 0; i < desc.mips * slices * planes; ++i) PutContents(object, i, state);
  }
  void CreateBy(Method method, uint64_t object, const ResourceDesc& desc, uint32_t memory) {
    // The arguments of the creation do not matter here.
    const uint64_t call = Call(method, kDevice, nullptr, 0, nullptr, 0, nullptr, kIid, nullptr);
    ResourceFacts facts{};
    std::memcpy(facts.desc, &desc, sizeof(facts.desc));
    facts.heap_type = memory;
    if (desc.dimension == kBuffer) {
      facts.gpu_address = object << 20;
      facts.size_bytes = desc.width;
    }
    PutObject(object, Chain::kID3D12Resource, call, kResourceFacts, BodyBytes(facts));
  }
  void PutContents(uint64_t object, uint32_t subresource, uint32_t state) {
    ContentsBody body{};
    body.subresource = subresource;
    body.state = state;
    body.row_pitch = 4;
    body.total_bytes = 4;
    const uint32_t bytes[2] = {4, 0x01020304};
    Put(RecordKind::kContents, object, BodyBytes(body, std::as_bytes(std::span(bytes))));
    all_.insert({object, subresource});
  }
  static ResourceDesc Buffer(uint64_t width) {
    ResourceDesc desc;
    desc.dimension = kBuffer;
    desc.width = width;
    desc.height = 1;
    desc.format = 0;
    return desc;
  }

  // Views, by their place in their heap.
  void ViewTarget(uint64_t resource, int place, const TargetDesc* desc = nullptr) {
    Call(Method::ID3D12Device_CreateRenderTargetView, kDevice, ObjectPointer(resource), desc,
         kTargets + place * kIncrement);
  }
  void ViewDepth(uint64_t resource, int place, const DepthDesc* desc = nullptr) {
    Call(Method::ID3D12Device_CreateDepthStencilView, kDevice, ObjectPointer(resource), desc,
         kDepths + place * kIncrement);
  }
  void View(uint64_t resource, uint64_t handle = kViews) {
    Call(Method::ID3D12Device_CreateShaderResourceView, kDevice, ObjectPointer(resource), nullptr,
         handle);
  }

  void Start() {
    Put(RecordKind::kStart, 0, {});
    started_ = true;
  }
  // Binds render target number `target` on a list.
  void Bind(int target, uint64_t list = kList) {
    const uint64_t handle = kTargets + target * kIncrement;
    Call(Method::ID3D12GraphicsCommandList_OMSetRenderTargets, list, 1, &handle, 0, nullptr);
  }
  void Clear(int target, uint64_t list = kList) {
    Call(Method::ID3D12GraphicsCommandList_ClearRenderTargetView, list,
         kTargets + target * kIncrement, kColour, 0, nullptr);
  }
  void ClearDepth(uint32_t aspects, const Rect* rect = nullptr) {
    Call(Method::ID3D12GraphicsCommandList_ClearDepthStencilView, kList, kDepths, aspects, 1.0f, 0,
         rect == nullptr ? 0 : 1, rect);
  }
  void Draw(uint64_t list = kList) {
    Call(Method::ID3D12GraphicsCommandList_DrawInstanced, list, 3, 1, 0, 0);
  }
  void BindViews(uint64_t heap = kViewHeap, uint64_t list = kList) {
    void* const heaps[] = {ObjectPointer(heap)};
    Call(Method::ID3D12GraphicsCommandList_SetDescriptorHeaps, list, 1, heaps);
  }
  void Transition(uint64_t resource, uint32_t after, uint32_t flags = 0) {
    const Barrier barrier{.flags = flags, .resource = ObjectPointer(resource), .after = after};
    Call(Method::ID3D12GraphicsCommandList_ResourceBarrier, kList, 1, &barrier);
  }
  void Reset(int32_t result) {
    constexpr Method kReset = Method::ID3D12GraphicsCommandList_Reset;
    const uint64_t call = Call(kReset, kList, ObjectPointer(kAllocator), nullptr);
    CallBuilder builder;
    const auto body = builder.Result(kReset, call, result, ObjectPointer(kAllocator), nullptr);
    Put(RecordKind::kResult, kList, body.bytes, static_cast<uint16_t>(kReset));
  }
  void Copy(uint64_t to, uint64_t from, uint32_t x = 0, const Box* box = nullptr) {
    const CopyLocation destination{.resource = ObjectPointer(to)};
    const CopyLocation source{.resource = ObjectPointer(from)};
    Call(Method::ID3D12GraphicsCommandList_CopyTextureRegion, kList, &destination, x, 0, 0, &source,
         box);
  }
  void Execute(uint64_t list = kList, uint64_t queue = kQueue) {
    void* const lists[] = {ObjectPointer(list)};
    Call(Method::ID3D12CommandQueue_ExecuteCommandLists, queue, 1, lists);
  }

  // The subresources whose contents are of no use.
  std::set<std::pair<uint64_t, uint32_t>> Unneeded() {
    TraceReader trace = trace_.Open();
    EXPECT_TRUE(trace_.status().ok()) << trace_.status().message();
    const Result<UnneededContents> found = UnneededContents::Find(&trace);
    EXPECT_TRUE(found.ok());
    std::set<std::pair<uint64_t, uint32_t>> unneeded;
    for (const auto& [object, subresource] : all_) {
      if (!found->IsNeeded(object, subresource)) unneeded.insert({object, subresource});
    }
    return unneeded;
  }

  TestTrace trace_;
  bool started_ = false;
  std::set<std::pair<uint64_t, uint32_t>> all_;
};

TEST_F(UnneededContentsTest, WhatIsClearedBeforeItIsDrawnInto) {
  Create(kFirst, {});
  Create(kSecond, {});
  ViewTarget(kFirst, 0);
  ViewTarget(kSecond, 1);
  Start();
  Bind(0);
  Clear(0);
  Draw();
  Bind(1);
  Draw();
  Clear(1);
  Execute();
  EXPECT_THAT(Unneeded(), ElementsAre(Pair(kFirst, 0)));
}

TEST_F(UnneededContentsTest, WhatNothingUses) {
  Create(kFirst, {});
  Create(kSecond, Buffer(256));
  ViewTarget(kFirst, 0);
  View(kSecond);
  Start();
  Draw();
  Execute();
  EXPECT_THAT(Unneeded(), ElementsAre(Pair(kFirst, 0), Pair(kSecond, 0)));
}

TEST_F(UnneededContentsTest, AListThatWasRecordedBeforeTheStartCounts) {
  Create(kFirst, {});
  ViewTarget(kFirst, 0);
  Bind(0);
  Clear(0);
  Draw();
  Start();
  Execute();
  EXPECT_THAT(Unneeded(), ElementsAre(Pair(kFirst, 0)));
}

TEST_F(UnneededContentsTest, OnlyWhatIsExecutedCountsInThatOrder) {
  Create(kFirst, {});
  ViewTarget(kFirst, 0);
  Start();
  Clear(0);
  Bind(0, kOtherList);
  Draw(kOtherList);
  Execute(kOtherList);
  Execute(kList);
  EXPECT_THAT(Unneeded(), IsEmpty());
}

TEST_F(UnneededContentsTest, ARecordingEndsWithTheReset) {
  Create(kFirst, {});
  ViewTarget(kFirst, 0);
  Start();
  Clear(0);
  Reset(0);
  Bind(0);
  Draw();
  Execute();
  EXPECT_THAT(Unneeded(), IsEmpty());
}

TEST_F(UnneededContentsTest, ARefusedResetEndsNothing) {
  Create(kFirst, {});
  ViewTarget(kFirst, 0);
  Start();
  Clear(0);
  constexpr int32_t kFailed = -1;
  Reset(kFailed);
  Bind(0);
  Draw();
  Execute();
  EXPECT_THAT(Unneeded(), ElementsAre(Pair(kFirst, 0)));
}

TEST_F(UnneededContentsTest, APartialClearIsNone) {
  Create(kFirst, {.format = kDepthFloat});
  ViewDepth(kFirst, 0);
  Start();
  const Rect rect{0, 0, 8, 8};
  ClearDepth(1, &rect);
  ClearDepth(1);
  Execute();
  EXPECT_THAT(Unneeded(), IsEmpty());
}

TEST_F(UnneededContentsTest, DepthAndStencilAreClearedEach) {
  Create(kFirst, {.format = kDepthStencil});
  ViewDepth(kFirst, 0);
  Start();
  ClearDepth(1);
  const uint64_t handle = kDepths;
  Call(Method::ID3D12GraphicsCommandList_OMSetRenderTargets, kList, 0, nullptr, 0, &handle);
  Draw();
  Execute();
  EXPECT_THAT(Unneeded(), ElementsAre(Pair(kFirst, 0)));
}

TEST_F(UnneededContentsTest, AViewClearsItsSubresources) {
  Create(kFirst, {.slices = 2, .mips = 2});
  const TargetDesc second_mip{kRgba8, kRtv2D, {1}};
  const TargetDesc second_slice{kRgba8, kRtvArray, {0, 1, 0xFFFFFFFF}};
  ViewTarget(kFirst, 0, &second_mip);
  ViewTarget(kFirst, 1, &second_slice);
  View(kFirst);
  Start();
  Clear(0);
  Clear(1);
  Transition(kFirst, kShaderResource);
  BindViews();
  Draw();
  Execute();
  // Mips of slice 0, then those of slice 1.
  EXPECT_THAT(Unneeded(), ElementsAre(Pair(kFirst, 1), Pair(kFirst, 2)));
}

TEST_F(UnneededContentsTest, ViewsOfVolumesAndWithoutADescriptionOfArraysAreNotTrusted) {
  Create(kFirst, {.dimension = kTexture3D, .slices = 4});
  Create(kSecond, {.slices = 2});
  const TargetDesc volume{kRgba8, kRtv3D, {0, 0, 4}};
  ViewTarget(kFirst, 0, &volume);
  ViewTarget(kSecond, 1);
  Start();
  Clear(0);
  Clear(1);
  Execute();
  EXPECT_THAT(Unneeded(), IsEmpty());
}

TEST_F(UnneededContentsTest, WhatABoundHeapShowsIsReadUnlessItIsDrawnInto) {
  Create(kFirst, {}, kTarget);
  Create(kSecond, {}, kShaderResource);
  View(kFirst, kViews);
  View(kSecond, kViews + kIncrement);
  ViewTarget(kFirst, 0);
  ViewTarget(kSecond, 1);
  Start();
  BindViews();
  Draw();
  Clear(0);
  Transition(kSecond, kTarget);
  Clear(1);
  Execute();
  EXPECT_THAT(Unneeded(), ElementsAre(Pair(kFirst, 0)));
}

TEST_F(UnneededContentsTest, AHeapMayShowWhatIsMadeLater) {
  Create(kFirst, {}, kShaderResource);
  View(kFirst);
  Start();
  BindViews();
  Draw();
  Execute();
  for (const uint64_t made : {30, 31}) {
    CreateBy(Method::ID3D12Device_CreateCommittedResource, made,
             made == 30 ? ResourceDesc() : Buffer(256), kDefaultMemory);
    View(made, kViews + (made - 29) * kIncrement);
  }
  Draw();
  Execute();
  EXPECT_THAT(Unneeded(), IsEmpty());
}

TEST_F(UnneededContentsTest, BetweenTheHalvesOfATransitionAHeapMayShowIt) {
  Create(kFirst, {}, kTarget);
  View(kFirst);
  ViewTarget(kFirst, 0);
  Start();
  constexpr uint32_t kBeginOnly = 1;
  Transition(kFirst, kTarget, kBeginOnly);
  BindViews();
  Draw();
  Execute();
  EXPECT_THAT(Unneeded(), IsEmpty());
}

TEST_F(UnneededContentsTest, CopiedDescriptorsShowWhatTheirSourcesDo) {
  Create(kFirst, {}, kShaderResource);
  View(kFirst);
  Start();
  Call(Method::ID3D12Device_CopyDescriptorsSimple, kDevice, 1, kCopies, kViews, 0);
  BindViews(kCopyHeap);
  Draw();
  Execute();
  EXPECT_THAT(Unneeded(), IsEmpty());
}

TEST_F(UnneededContentsTest, CopiedTargetsAreFollowed) {
  Create(kFirst, {});
  Create(kSecond, {});
  ViewTarget(kFirst, 0);
  ViewTarget(kSecond, 1);
  Start();
  constexpr uint32_t kTargetType = 2;
  Call(Method::ID3D12Device_CopyDescriptorsSimple, kDevice, 1, kTargets + 2 * kIncrement, kTargets,
       kTargetType);
  Bind(2);
  Draw();
  Clear(1);
  Execute();
  EXPECT_THAT(Unneeded(), ElementsAre(Pair(kSecond, 0)));
}

TEST_F(UnneededContentsTest, ATargetThatIsNotKnownMakesAllNeeded) {
  Create(kFirst, {});
  Create(kSecond, {});
  ViewTarget(kFirst, 0);
  Start();
  Clear(0);
  Clear(9);
  Execute();
  EXPECT_THAT(Unneeded(), IsEmpty());
}

TEST_F(UnneededContentsTest, CopiesOfTheWhole) {
  Create(kFirst, {});
  Create(kSecond, {});
  Create(30, Buffer(256));
  Create(31, Buffer(256));
  Start();
  Copy(kFirst, kSecond);
  Call(Method::ID3D12GraphicsCommandList_CopyBufferRegion, kList, ObjectPointer(30), 0,
       ObjectPointer(31), 0, 256);
  Execute();
  EXPECT_THAT(Unneeded(), ElementsAre(Pair(kFirst, 0), Pair(30, 0)));
}

TEST_F(UnneededContentsTest, CopiesOfParts) {
  Create(kFirst, {});
  Create(kSecond, {});
  Create(30, Buffer(256));
  Create(31, Buffer(256));
  Create(32, {});
  Start();
  Copy(kFirst, 32, 1);
  const Box part{0, 0, 0, 64, 63, 1};
  Copy(kSecond, 32, 0, &part);
  Call(Method::ID3D12GraphicsCommandList_CopyBufferRegion, kList, ObjectPointer(30), 0,
       ObjectPointer(31), 0, 255);
  Execute();
  EXPECT_THAT(Unneeded(), IsEmpty());
}

TEST_F(UnneededContentsTest, TexelsOfBlockFormatsAreOthers) {
  // 64 texels of 4x4 blocks are 16 of the other format.
  Create(kFirst, {.width = 64, .height = 64, .format = kRg32});
  Create(kSecond, {.width = 64, .height = 64, .format = kBc1});
  Start();
  Copy(kFirst, kSecond);
  Execute();
  EXPECT_THAT(Unneeded(), IsEmpty());
}

TEST_F(UnneededContentsTest, DiscardsAndResolves) {
  Create(kFirst, {.mips = 2});
  Create(kSecond, {});
  Create(30, {.samples = 4});
  Start();
  Call(Method::ID3D12GraphicsCommandList_DiscardResource, kList, ObjectPointer(kFirst), nullptr);
  Call(Method::ID3D12GraphicsCommandList_ResolveSubresource, kList, ObjectPointer(kSecond), 0,
       ObjectPointer(30), 0, kRgba8);
  Execute();
  EXPECT_THAT(Unneeded(), ElementsAre(Pair(kFirst, 0), Pair(kFirst, 1), Pair(kSecond, 0)));
}

TEST_F(UnneededContentsTest, WhatIsDoneUnderAPredicateMayNotBeDone) {
  Create(kFirst, {});
  Create(kSecond, Buffer(8));
  ViewTarget(kFirst, 0);
  Start();
  Call(Method::ID3D12GraphicsCommandList_SetPredication, kList, ObjectPointer(kSecond), 0, 0);
  Clear(0);
  Execute();
  EXPECT_THAT(Unneeded(), IsEmpty());
}

TEST_F(UnneededContentsTest, TwoQueuesHaveNoOrder) {
  Create(kFirst, {});
  Create(kSecond, {});
  ViewTarget(kFirst, 0);
  ViewTarget(kSecond, 1);
  Start();
  Clear(0);
  Clear(1);
  Execute(kList, kQueue);
  Bind(0, kOtherList);
  Draw(kOtherList);
  Execute(kOtherList, kOtherQueue);
  EXPECT_THAT(Unneeded(), ElementsAre(Pair(kSecond, 0)));
}

TEST_F(UnneededContentsTest, ABundleReadsWhatItsListHasBound) {
  Create(kFirst, {});
  Create(kSecond, Buffer(256));
  ViewTarget(kFirst, 0);
  Start();
  Call(Method::ID3D12GraphicsCommandList_SetGraphicsRootConstantBufferView, kOtherList, 0,
       kSecond << 20);
  Draw(kOtherList);
  Bind(0);
  Call(Method::ID3D12GraphicsCommandList_ExecuteBundle, kList, ObjectPointer(kOtherList));
  Execute();
  EXPECT_THAT(Unneeded(), IsEmpty());
}

TEST_F(UnneededContentsTest, AListThatIsItsOwnBundleIsGivenUp) {
  Create(kFirst, {});
  ViewTarget(kFirst, 0);
  Start();
  Clear(0);
  for (int i = 0; i < 64; ++i) {
    Call(Method::ID3D12GraphicsCommandList_ExecuteBundle, kList, ObjectPointer(kList));
  }
  Execute();
  EXPECT_THAT(Unneeded(), IsEmpty());
}

TEST_F(UnneededContentsTest, BuffersAreReadByTheirAddresses) {
  Create(kFirst, Buffer(256));
  Create(kSecond, Buffer(256));
  Start();
  Call(Method::ID3D12GraphicsCommandList_SetComputeRootShaderResourceView, kList, 0,
       (kFirst << 20) + 128);
  Execute();
  EXPECT_THAT(Unneeded(), ElementsAre(Pair(kSecond, 0)));
}

TEST_F(UnneededContentsTest, WhereTheGpuReadsAddressesAllBuffersAreNeeded) {
  Create(kFirst, Buffer(256));
  Create(kSecond, {});
  Start();
  Call(Method::ID3D12GraphicsCommandList_ExecuteIndirect, kList, ObjectPointer(11), 1, nullptr, 0,
       nullptr, 0);
  Execute();
  EXPECT_THAT(Unneeded(), ElementsAre(Pair(kSecond, 0)));
}

TEST_F(UnneededContentsTest, ParametersOfMetaCommandsMayHoldAddresses) {
  Create(kFirst, Buffer(256));
  Create(kSecond, {});
  Start();
  const uint64_t parameters[] = {(kFirst << 20) + 128};
  Call(Method::ID3D12GraphicsCommandList4_ExecuteMetaCommand, kList, ObjectPointer(11),
       &parameters[0], sizeof(parameters));
  Execute();
  EXPECT_THAT(Unneeded(), ElementsAre(Pair(kSecond, 0)));
}

TEST_F(UnneededContentsTest, MemoryThatIsMadeResidentKeepsWhatItHolds) {
  Create(kFirst, {});
  Start();
  const uint64_t resources[] = {kFirst};
  Call(Method::ID3D12Device_MakeResident, 1, 1, &resources[0]);
  EXPECT_THAT(Unneeded(), ElementsAre(Pair(kFirst, 0)));
}

class ViewOfASceneContentsTest : public UnneededContentsTest,
                                 public testing::WithParamInterface<Method> {};
INSTANTIATE_TEST_SUITE_P(Methods, ViewOfASceneContentsTest,
                         testing::Values(Method::ID3D12Device_CreateShaderResourceView,
                                         Method::ID3D12Device15_TryCreateShaderResourceView));

TEST_P(ViewOfASceneContentsTest, WhereAShaderFollowsRaysAllBuffersAreNeeded) {
  Create(kFirst, Buffer(256));
  Create(kSecond, {});
  // D3D12_SHADER_RESOURCE_VIEW_DESC of an acceleration structure, which is in no buffer of the trace.
  const uint64_t scene[5] = {uint64_t{11} << 32, 0, 1u << 16};
  Call(GetParam(), kDevice, nullptr, &scene, kViews);
  Start();
  Draw();
  Execute();
  EXPECT_THAT(Unneeded(), ElementsAre(Pair(kSecond, 0)));
}

TEST_F(UnneededContentsTest, TheImageOfAFrameIsLookedAt) {
  Create(kFirst, {});
  Start();
  trace_.Frame(FrameEndKind::kMarker, kFirst);
  EXPECT_THAT(Unneeded(), IsEmpty());
}

TEST_F(UnneededContentsTest, MemoryOfTheCpuAndOfHeapsStays) {
  Create(kFirst, Buffer(256), 0, kReadbackMemory);
  CreateBy(Method::ID3D12Device_CreatePlacedResource, kSecond, {}, kDefaultMemory);
  PutContents(kSecond, 0, kTarget);
  Start();
  EXPECT_THAT(Unneeded(), IsEmpty());
}

TEST_F(UnneededContentsTest, CallsOfAResourceNeedIt) {
  Create(kFirst, {});
  Create(kSecond, {});
  Start();
  Call(Method::ID3D12Resource_WriteToSubresource, kFirst, 0, nullptr, nullptr, 4, 4);
  Call(Method::ID3D12Object_SetName, kSecond, u"only a name");
  EXPECT_THAT(Unneeded(), ElementsAre(Pair(kSecond, 0)));
}

TEST_F(UnneededContentsTest, TheCopyKeepsStatesOfTexturesWithoutBytes) {
  Create(kFirst, {});
  Create(kSecond, Buffer(256));
  Start();
  TraceReader trace = trace_.Open();
  Result<UnneededContents> unneeded = UnneededContents::Find(&trace);
  ASSERT_TRUE(unneeded.ok());
  TraceCursor cursor(trace);
  Record record;
  std::vector<std::vector<std::byte>> kept;
  while (cursor.Next(&record)) {
    if (record.kind != RecordKind::kContents || !unneeded->Keep(&record, 0)) continue;
    EXPECT_EQ(record.object, kFirst);
    kept.emplace_back(record.body.begin(), record.body.end());
  }
  ContentsBody body{};
  body.state = kTarget;
  EXPECT_THAT(kept, ElementsAre(BodyBytes(body, std::as_bytes(std::span(&kNullBytes, 1)))));
}

}  // namespace
}  // namespace cairn
