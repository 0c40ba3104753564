// SPDX-License-Identifier: Apache-2.0
#include "reader/replay/replay_programs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace cairn {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"

// A state object with the work graph "Graph", whose entry points take 12 bytes and none.
class WorkGraphs final : public ID3D12WorkGraphProperties {
 public:
  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID riid, void** object) override {
    const GUID own = __uuidof(ID3D12WorkGraphProperties);
    const bool known = std::memcmp(&riid, &own, sizeof(own)) == 0;
    *object = known ? this : nullptr;
    if (known) ++references;
    return known ? S_OK : E_NOINTERFACE;
  }
  ULONG STDMETHODCALLTYPE AddRef() override { return ++references; }
  ULONG STDMETHODCALLTYPE Release() override { return --references; }
  UINT STDMETHODCALLTYPE GetNumWorkGraphs() override { return 3; }
  LPCWSTR STDMETHODCALLTYPE GetProgramName(UINT) override { return nullptr; }
  UINT STDMETHODCALLTYPE GetWorkGraphIndex(LPCWSTR name) override {
    return std::memcmp(name, L"Graph", sizeof(L"Graph")) == 0 ? 2 : ~0u;
  }
  UINT STDMETHODCALLTYPE GetNumNodes(UINT) override { return 0; }
#if defined(_MSC_VER)
  D3D12_NODE_ID STDMETHODCALLTYPE GetNodeID(UINT, UINT) override {
    return {};
  }
  D3D12_NODE_ID STDMETHODCALLTYPE GetEntrypointID(UINT, UINT) override {
    return {};
  }
#else
  D3D12_NODE_ID* STDMETHODCALLTYPE GetNodeID(D3D12_NODE_ID* id, UINT, UINT) override {
    return id;
  }
  D3D12_NODE_ID* STDMETHODCALLTYPE GetEntrypointID(D3D12_NODE_ID* id, UINT, UINT) override {
    return id;
  }
#endif
  UINT STDMETHODCALLTYPE GetNodeIndex(UINT, D3D12_NODE_ID) override {
    return 0;
  }
  UINT STDMETHODCALLTYPE GetNodeLocalRootArgumentsTableIndex(UINT, UINT) override {
    return 0;
  }
  UINT STDMETHODCALLTYPE GetNumEntrypoints(UINT graph) override {
    return graph == 2 ? 2 : 0;
  }
  UINT STDMETHODCALLTYPE GetEntrypointIndex(UINT, D3D12_NODE_ID) override {
    return 0;
  }
  UINT STDMETHODCALLTYPE GetEntrypointRecordSizeInBytes(UINT, UINT entry) override {
    return entry == 0 ? 12 : 0;
  }
  void STDMETHODCALLTYPE GetWorkGraphMemoryRequirements(
      UINT graph, D3D12_WORK_GRAPH_MEMORY_REQUIREMENTS* requirements) override {
    *requirements = {graph == 2 ? 4096u : 0u, 8192, 64};
  }
  UINT STDMETHODCALLTYPE GetEntrypointRecordAlignmentInBytes(UINT, UINT) override {
    return 4;
  }

  ULONG references = 0;
};
#pragma GCC diagnostic pop

constexpr D3D12_PROGRAM_IDENTIFIER kHere = {{1, 2, 3, 4}};
constexpr D3D12_PROGRAM_IDENTIFIER kThere = {{5, 6, 7, 8}};

TEST(ReplayProgramsTest, WhatAWorkGraphNeedsIsAskedAnew) {
  WorkGraphs real;
  const ReplayProgram graph = DescribeProgram(&real, L"Graph", 9, kHere);
  EXPECT_TRUE(graph.is_work_graph);
  EXPECT_EQ(graph.state_object, 9u);
  EXPECT_EQ(graph.least_backing_bytes, 4096u);
  EXPECT_THAT(graph.record_bytes, ElementsAre(12, 0));
  const ReplayProgram other = DescribeProgram(&real, L"Other", 9, kHere);
  EXPECT_FALSE(other.is_work_graph);
  EXPECT_EQ(other.identifier.OpaqueData[3], 4u);
  EXPECT_FALSE(DescribeProgram(&real, nullptr, 9, kHere).is_work_graph);
  EXPECT_EQ(real.references, 0u);
}

TEST(ReplayProgramsTest, RecordedIdentifiersLeadToThoseOfThisDevice) {
  ReplayPrograms programs;
  ReplayProgram program;
  program.identifier = kHere;
  program.device = 1;
  program.state_object = 9;
  programs.Asked(100, program);
  EXPECT_TRUE(programs.IsAwaited(100));
  EXPECT_EQ(programs.Find(1, kThere), nullptr) << "its result has not come";
  programs.Recorded(100, kThere);
  EXPECT_FALSE(programs.IsAwaited(100));
  ASSERT_NE(programs.Find(1, kThere), nullptr);
  EXPECT_EQ(programs.Find(1, kThere)->identifier.OpaqueData[0], 1u);
  EXPECT_EQ(programs.Find(1, kHere), nullptr) << "one that the trace does not have";

  ReplayProgram none;  // an implementation that has no such program
  none.state_object = 9;
  programs.Asked(101, none);
  EXPECT_FALSE(programs.IsAwaited(101));

  programs.Remove(8);
  EXPECT_NE(programs.Find(1, kThere), nullptr);
  programs.Asked(102, program);
  programs.Remove(9);
  EXPECT_EQ(programs.Find(1, kThere), nullptr);
  EXPECT_FALSE(programs.IsAwaited(102));
}

TEST(ReplayProgramsTest, EqualIdentifiersOfTwoDevicesAreTwoPrograms) {
  ReplayPrograms programs;
  for (const uint64_t device : {1, 2}) {
    ReplayProgram program;
    program.identifier = {{device, 0, 0, 7}};
    program.device = device;
    program.state_object = device + 8;
    programs.Asked(device + 100, program);
    programs.Recorded(device + 100, kThere);
  }
  ASSERT_NE(programs.Find(1, kThere), nullptr);
  EXPECT_EQ(programs.Find(1, kThere)->identifier.OpaqueData[0], 1u);
  ASSERT_NE(programs.Find(2, kThere), nullptr);
  EXPECT_EQ(programs.Find(2, kThere)->identifier.OpaqueData[0], 2u);
  EXPECT_EQ(programs.Find(3, kThere), nullptr);
}

class InputsTest : public testing::Test {
 protected:
  InputsTest() { program_.record_bytes = {12, 0}; }
  Status Check(UINT entry, UINT count, const void* records, UINT64 stride) {
    desc_ = {};
    desc_.Mode = D3D12_DISPATCH_MODE_NODE_CPU_INPUT;
    desc_.NodeCPUInput = {entry, count, records, stride};
    return CheckInputs(program_, &desc_);
  }

  ReplayProgram program_;
  D3D12_DISPATCH_GRAPH_DESC desc_ = {};
  const uint32_t records_[8] = {};
};

TEST_F(InputsTest, RecordsThatTheTraceHas) {
  EXPECT_TRUE(Check(0, 2, records_, 12).ok());
  EXPECT_EQ(desc_.NodeCPUInput.pRecords, records_);
  EXPECT_EQ(Check(0, 2, nullptr, 12).code(), StatusCode::kUnsupported);
  EXPECT_EQ(Check(0, 2, records_, 8).code(), StatusCode::kCorrupt);
  EXPECT_EQ(Check(0, 2, records_, 0).code(), StatusCode::kCorrupt);
  EXPECT_THAT(Check(2, 1, records_, 12).message(), HasSubstr("entry point 2 of a work graph"));
}

TEST_F(InputsTest, NothingIsReadWhereThereIsNothing) {
  EXPECT_TRUE(Check(1, 1u << 31, records_, UINT64{1} << 40).ok());
  EXPECT_EQ(desc_.NodeCPUInput.pRecords, nullptr);
  EXPECT_EQ(desc_.NodeCPUInput.RecordStrideInBytes, 0u);
  EXPECT_TRUE(Check(0, 0, records_, 12).ok());
  EXPECT_EQ(desc_.NodeCPUInput.pRecords, nullptr);
}

TEST_F(InputsTest, InputsOfSeveralNodes) {
  D3D12_NODE_CPU_INPUT inputs[2] = {{0, 1, records_, 12}, {1, 1, records_, 4}};
  desc_.Mode = D3D12_DISPATCH_MODE_MULTI_NODE_CPU_INPUT;
  const auto check = [&](UINT count, const D3D12_NODE_CPU_INPUT* all, UINT64 stride) {
    desc_.MultiNodeCPUInput = {count, all, stride};
    return CheckInputs(program_, &desc_).code();
  };
  EXPECT_EQ(check(2, inputs, sizeof(inputs[0])), StatusCode::kOk);
  EXPECT_EQ(inputs[1].pRecords, nullptr);
  EXPECT_EQ(check(2, inputs, 16), StatusCode::kCorrupt);
  EXPECT_EQ(check(2, nullptr, sizeof(inputs[0])), StatusCode::kUnsupported);
  EXPECT_EQ(check(0, nullptr, 0), StatusCode::kOk);
  inputs[1] = {5, 1, records_, 12};
  EXPECT_EQ(check(2, inputs, sizeof(inputs[0])), StatusCode::kCorrupt);
}

TEST_F(InputsTest, ModesThatNobodyKnows) {
  const uint32_t future = 77;
  std::memcpy(&desc_.Mode, &future, sizeof(future));
  EXPECT_EQ(CheckInputs(program_, &desc_).code(), StatusCode::kUnsupported);
  desc_.Mode = D3D12_DISPATCH_MODE_MULTI_NODE_GPU_INPUT;
  EXPECT_TRUE(CheckInputs(program_, &desc_).ok());
}

}  // namespace
}  // namespace cairn
