// SPDX-License-Identifier: Apache-2.0
#include "reader/replay/list_bindings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "reader/replay/testing/test_call.h"

namespace cairn {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr uint64_t kHeap = 10;  // 8 descriptors
constexpr uint64_t kSamplers = 11;
constexpr uint64_t kSignature = 20;
constexpr uint64_t kAllocator = 30;
constexpr uint64_t kList = 31;
constexpr uint64_t kPipeline = 40;
constexpr uint64_t kOther = 41;

constexpr char kUnknown[] =
    "its pipeline, root signature, descriptor heaps or targets were not set here";

class ListBindingsTest : public testing::Test {
 protected:
  explicit ListBindingsTest(bool is_libvkd3d = true)
      : bindings_(&objects_.table, is_libvkd3d, [this](uint64_t device, ComPtr<IUnknown> object) {
          EXPECT_EQ(device, TestObjects::kDevice);
          retired_.push_back(std::move(object));
        }) {
    using Kind = RootParameter::Kind;
    objects_.AddHeap(kHeap, D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV, 8);
    objects_.AddHeap(kSamplers, D3D12_DESCRIPTOR_HEAP_TYPE_SAMPLER, 8);
    objects_.AddSignature(kSignature, {{.kind = Kind::kTable, .descriptors = 4},
                                       {.kind = Kind::kConstants, .constants = 4},
                                       {.kind = Kind::kConstantBuffer}});
    objects_.AddList(kList, kAllocator);
    objects_.AddPipeline(kPipeline);
    objects_.AddPipeline(kOther);
    CreationFacts facts;
    facts.allocator = kAllocator;
    bindings_.Begin(kList, &facts);
  }

  // Makes a call of the list if it is ok. Returns the reason to skip it, or nothing.
  template <typename... Arguments>
  std::string Make(Method method, const std::vector<ReplayDescriptor>& descriptors,
                   Arguments... arguments) {
    TestCall call(&objects_.table, method, kList, arguments...);
    const Status status = bindings_.Check(&call.call, descriptors);
    if (status.ok()) bindings_.Note(&call.call, descriptors, lost_pipeline_);
    return status.message();
  }
  std::string SetSignature() {
    return Make(Method::ID3D12GraphicsCommandList_SetComputeRootSignature, {},
                objects_.Real(kSignature));
  }
  std::string SetTable(UINT parameter, const ReplayDescriptor& start) {
    return Make(Method::ID3D12GraphicsCommandList_SetComputeRootDescriptorTable, {start}, parameter,
                D3D12_GPU_DESCRIPTOR_HANDLE{0});
  }
  std::string SetPipeline(uint64_t pipeline) {
    return Make(Method::ID3D12GraphicsCommandList_SetPipelineState, {}, objects_.Real(pipeline));
  }
  std::string Dispatch() {
    return Make(Method::ID3D12GraphicsCommandList_Dispatch, {}, UINT{1}, UINT{1}, UINT{1});
  }
  std::string Draw() {
    return Make(Method::ID3D12GraphicsCommandList_DrawInstanced, {}, UINT{3}, UINT{1}, UINT{0},
                UINT{0});
  }
  std::string Reset(IUnknown* pipeline = nullptr) {
    return Make(Method::ID3D12GraphicsCommandList_Reset, {}, objects_.Real(kAllocator), pipeline);
  }
  std::string ClearState() {
    return Make(Method::ID3D12GraphicsCommandList_ClearState, {}, nullptr);
  }
  void ResetAllocator() {
    TestCall call(&objects_.table, Method::ID3D12CommandAllocator_Reset, kAllocator);
    bindings_.Note(&call.call, {}, false);
  }
  // The program releases the object: bindings alone hold it. Returns what it was.
  IUnknown* End(uint64_t object) {
    IUnknown* const real = objects_.Real(object);
    objects_.table.Remove(object);
    return real;
  }
  std::vector<IUnknown*> Retired() {
    std::vector<IUnknown*> all;
    for (const ComPtr<IUnknown>& object : retired_) all.push_back(object.get());
    return all;
  }

  TestObjects objects_;
  std::vector<ComPtr<IUnknown>> retired_;
  ListBindings bindings_;
  bool lost_pipeline_ = false;
};

class OtherListBindingsTest : public ListBindingsTest {
 protected:
  OtherListBindingsTest() : ListBindingsTest(/*is_libvkd3d=*/false) {}
};

// ---- Root arguments ----

TEST_F(ListBindingsTest, RootArgumentsFitTheSignature) {
  const Method constants = Method::ID3D12GraphicsCommandList_SetComputeRoot32BitConstants;
  const UINT words[4] = {};
  const void* const data = words;
  EXPECT_EQ(Make(constants, {}, UINT{1}, UINT{4}, data, UINT{0}),
            "the command list has no root signature for it");
  EXPECT_EQ(SetSignature(), "");
  EXPECT_EQ(Make(constants, {}, UINT{1}, UINT{4}, data, UINT{0}), "");
  EXPECT_EQ(Make(constants, {}, UINT{1}, UINT{2}, data, UINT{3}),
            "2 root constants from 3 on, where there are 4");
  EXPECT_EQ(Make(constants, {}, UINT{0}, UINT{1}, data, UINT{0}),
            "root parameter 0 is a descriptor table, not constants");
  EXPECT_EQ(Make(Method::ID3D12GraphicsCommandList_SetComputeRoot32BitConstant, {}, UINT{1},
                 UINT{7}, UINT{4}),
            "1 root constants from 4 on, where there are 4");
  EXPECT_EQ(Make(Method::ID3D12GraphicsCommandList_SetComputeRootConstantBufferView, {}, UINT{3},
                 UINT64{0}),
            "root parameter 3 of a root signature that has 3");
  // Graphics have a signature of their own.
  EXPECT_EQ(Make(Method::ID3D12GraphicsCommandList_SetGraphicsRoot32BitConstant, {}, UINT{1},
                 UINT{7}, UINT{0}),
            "the command list has no root signature for it");
}

TEST_F(ListBindingsTest, TableInAHeapOfAnotherType) {
  SetSignature();
  EXPECT_EQ(SetTable(0, objects_.At(kSamplers, 0)),
            "a table in heap 11, which holds descriptors of type 1, not 0");
}

// The last of the four descriptors lies behind the heap, until the table is set elsewhere.
TEST_F(ListBindingsTest, TableThatReachesBeyondItsHeap) {
  SetSignature();
  EXPECT_EQ(SetTable(0, objects_.At(kHeap, 5)), "");
  EXPECT_EQ(Dispatch(),
            "root parameter 0 has 4 descriptors, and begins at 5 in heap 10, which has 8");
  EXPECT_EQ(Draw(), "");
  SetTable(0, objects_.At(kHeap, 4));
  EXPECT_EQ(Dispatch(), "");
  SetTable(0, {.heap = kNoObject, .outside = 0x1234});
  EXPECT_EQ(Dispatch(), "root parameter 0 begins at descriptor 0x1234, which was in no heap");
}

TEST_F(OtherListBindingsTest, TableThatReachesBeyondItsHeap) {
  SetSignature();
  SetTable(0, objects_.At(kHeap, 5));
  EXPECT_EQ(Dispatch(), "");
}

// ---- Skipped calls ----

TEST_F(ListBindingsTest, WorkAfterASkippedBindingIsUnknownUntilItIsBound) {
  EXPECT_EQ(Dispatch(), "");
  bindings_.Forget(kList, Method::ID3D12GraphicsCommandList_SetPipelineState);
  EXPECT_EQ(Dispatch(), kUnknown);
  SetPipeline(kPipeline);
  EXPECT_EQ(Dispatch(), "");
  bindings_.Forget(kList, Method::ID3D12GraphicsCommandList_SetComputeRootSignature);
  EXPECT_EQ(Dispatch(), kUnknown);
  EXPECT_EQ(Draw(), "");
  EXPECT_EQ(SetTable(0, objects_.At(kHeap, 0)), "its root signature was not set here");
  SetSignature();
  EXPECT_EQ(Dispatch(), "");
  bindings_.Forget(kList, Method::ID3D12GraphicsCommandList_SetDescriptorHeaps);
  EXPECT_EQ(Dispatch(), kUnknown);
  Reset();
  EXPECT_EQ(Dispatch(), "");
}

// Dispatches have no targets.
TEST_F(ListBindingsTest, DrawsToSkippedTargetsAreUnknown) {
  bindings_.Forget(kList, Method::ID3D12GraphicsCommandList_OMSetRenderTargets);
  EXPECT_EQ(Draw(), kUnknown);
  EXPECT_EQ(Dispatch(), "");
  EXPECT_EQ(Make(Method::ID3D12GraphicsCommandList_OMSetRenderTargets, {}, UINT{0}, nullptr, FALSE,
                 nullptr),
            "");
  EXPECT_EQ(Draw(), "");
}

TEST_F(ListBindingsTest, ListWhoseResetOrCloseWasSkipped) {
  bindings_.Forget(kList, Method::ID3D12GraphicsCommandList_Close);
  EXPECT_TRUE(bindings_.IsUnknown(kList));
  EXPECT_EQ(bindings_.CheckRecorded(kList).code(), StatusCode::kUnsupported);
  EXPECT_EQ(Dispatch(), "its command list was not reset or closed here: that call was skipped");
  bindings_.SetKnown(kList);
  EXPECT_EQ(Dispatch(), "");
  bindings_.Forget(kList, Method::ID3D12GraphicsCommandList_Reset);
  EXPECT_EQ(Reset(), "");
  EXPECT_FALSE(bindings_.IsUnknown(kList));
  // Other objects have no bindings.
  bindings_.Forget(kAllocator, Method::ID3D12GraphicsCommandList_Close);
  EXPECT_FALSE(bindings_.IsUnknown(kAllocator));
}

TEST_F(ListBindingsTest, PipelineThatCouldNotBeMade) {
  lost_pipeline_ = true;
  Reset();
  EXPECT_EQ(Dispatch(), kUnknown);
  lost_pipeline_ = false;
  SetPipeline(kPipeline);
  EXPECT_EQ(Dispatch(), "");
}

// ---- Allocators ----

TEST_F(ListBindingsTest, AllocatorThatWasResetUnderItsList) {
  ResetAllocator();
  const char* const gist = "command list 31 was recorded in allocator 30, which was reset since";
  EXPECT_EQ(Dispatch(), gist);
  EXPECT_EQ(bindings_.CheckRecorded(kList).message(), gist);
  Reset();
  EXPECT_EQ(Dispatch(), "");
}

TEST_F(ListBindingsTest, AllocatorThatHasEnded) {
  objects_.table.Remove(kAllocator);
  EXPECT_EQ(bindings_.CheckRecorded(kList).message(),
            "command list 31 was recorded in allocator 30, which has ended since");
}

TEST_F(OtherListBindingsTest, AllocatorThatHasEnded) {
  objects_.table.Remove(kAllocator);
  EXPECT_TRUE(bindings_.CheckRecorded(kList).ok());
}

// ---- Lives of bound objects ----

TEST_F(ListBindingsTest, BoundObjectThatHasEndedIsHandedOverWhenAnotherIsBound) {
  SetPipeline(kPipeline);
  SetPipeline(kOther);
  EXPECT_THAT(retired_, IsEmpty());  // the table has it
  IUnknown* const other = End(kOther);
  EXPECT_THAT(retired_, IsEmpty());  // the list has it
  SetPipeline(kPipeline);
  EXPECT_THAT(Retired(), ElementsAre(other));
}

TEST_F(ListBindingsTest, ResetAndEndHandOverAllThatHasEnded) {
  SetPipeline(kPipeline);
  SetSignature();
  SetTable(0, objects_.At(kHeap, 0));
  IUnknown* const signature = End(kSignature);
  IUnknown* const heap = End(kHeap);
  IUnknown* const pipeline = End(kPipeline);
  Reset(objects_.Real(kOther));
  EXPECT_THAT(Retired(), ElementsAre(signature, heap, pipeline));
  IUnknown* const other = End(kOther);
  bindings_.End(*objects_.table.Find(kList));
  EXPECT_EQ(retired_.back().get(), other);
}

// Objects stay bound: libvkd3d uses them until others are.
TEST_F(ListBindingsTest, ClearStateReleasesNothing) {
  SetPipeline(kPipeline);
  SetSignature();
  End(kPipeline);
  EXPECT_EQ(ClearState(), "");
  EXPECT_THAT(retired_, IsEmpty());
  EXPECT_EQ(SetTable(0, objects_.At(kHeap, 0)), "the command list has no root signature for it");
}

TEST_F(OtherListBindingsTest, ClearStateReleasesWhatIsBound) {
  ResetAllocator();
  Reset();
  SetPipeline(kPipeline);
  IUnknown* const pipeline = End(kPipeline);
  EXPECT_EQ(ClearState(), "");
  EXPECT_THAT(Retired(), ElementsAre(pipeline));
  // The list still has its allocator, as it was.
  EXPECT_EQ(Dispatch(), "");
  ResetAllocator();
  EXPECT_FALSE(bindings_.CheckRecorded(kList).ok());
}

TEST_F(ListBindingsTest, PipelineThatTheListWasCreatedWith) {
  CreationFacts facts;
  facts.pipeline = ComPtr<IUnknown>(objects_.Real(kPipeline));
  bindings_.Begin(kList, &facts);
  EXPECT_EQ(facts.pipeline.get(), nullptr);
  IUnknown* const pipeline = End(kPipeline);
  Reset();
  EXPECT_THAT(Retired(), ElementsAre(pipeline));
}

}  // namespace
}  // namespace cairn
