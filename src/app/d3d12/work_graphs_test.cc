// SPDX-License-Identifier: Apache-2.0
#include "app/d3d12/work_graphs.h"

#include <gtest/gtest.h>

#include <cstring>
#include <utility>
#include <vector>

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {
namespace {

// The numbers in `count` records of `size` bytes.
std::vector<uint32_t> NumbersIn(const D3D12_NODE_CPU_INPUT& input, size_t size) {
  std::vector<uint32_t> numbers;
  for (uint64_t i = 0; i < input.NumRecords; ++i) {
    for (size_t at = 0; at < size; at += sizeof(uint32_t)) {
      uint32_t number;
      std::memcpy(
          &number,
          static_cast<const std::byte*>(input.pRecords) + i * input.RecordStrideInBytes + at,
          sizeof(number));
      numbers.push_back(number);
    }
  }
  return numbers;
}

using Numbers = std::vector<uint32_t>;

// An address that a wrapper could have.
struct alignas(Wrapper) Place {};

D3D12_DISPATCH_GRAPH_DESC OneNode(UINT entry, UINT count, const void* records, UINT64 stride) {
  D3D12_DISPATCH_GRAPH_DESC desc = {};
  desc.Mode = D3D12_DISPATCH_MODE_NODE_CPU_INPUT;
  desc.NodeCPUInput = {entry, count, records, stride};
  return desc;
}

TEST(WorkGraphsTest, TheLastRecordMayEndWhereItsBytesDo) {
  // Two records of 12 bytes, 16 apart: 28 bytes, of which the 4 between them are not the program's to say.
  const UINT sizes[2] = {0, 12};
  const std::vector<uint32_t> records = {1, 2, 3, 99, 4, 5, 6};
  const D3D12_DISPATCH_GRAPH_DESC desc = OneNode(1, 2, records.data(), 16);
  Scratch scratch;
  const D3D12_DISPATCH_GRAPH_DESC* const copy = RecordableInputs(scratch, &desc, sizes);
  ASSERT_NE(copy, nullptr);
  EXPECT_EQ(copy->NodeCPUInput.EntrypointIndex, 1u);
  EXPECT_EQ(copy->NodeCPUInput.RecordStrideInBytes, 16u);
  EXPECT_EQ(NumbersIn(copy->NodeCPUInput, 12), (Numbers{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(NumbersIn(copy->NodeCPUInput, 16), (Numbers{1, 2, 3, 0, 4, 5, 6, 0}));
  EXPECT_EQ(desc.NodeCPUInput.pRecords, records.data()) << "the program's own stays";
}

TEST(WorkGraphsTest, AStrideOfZeroRepeatsARecord) {
  const UINT sizes[1] = {4};
  const uint32_t record = 7;
  const D3D12_DISPATCH_GRAPH_DESC desc = OneNode(0, 3, &record, 0);
  Scratch scratch;
  const D3D12_DISPATCH_GRAPH_DESC* const copy = RecordableInputs(scratch, &desc, sizes);
  EXPECT_EQ(copy->NodeCPUInput.RecordStrideInBytes, 8u);
  EXPECT_EQ(NumbersIn(copy->NodeCPUInput, 4), (Numbers{7, 7, 7}));
}

TEST(WorkGraphsTest, WhatHasNoKnownSizeIsNotRead) {
  const void* const nowhere = reinterpret_cast<const void*>(16);
  const UINT sizes[2] = {4, 0};
  const std::pair<D3D12_DISPATCH_GRAPH_DESC, const char*> inputs[] = {
      {OneNode(2, 1, nowhere, 4), "no such entry point"},
      {OneNode(1, 1, nowhere, 4), "records without bytes"},
      {OneNode(0, 0, nowhere, 4), "no records"},
      {OneNode(0, 1u << 31, nowhere, 4), "too many"},
      {OneNode(0, 2, nowhere, UINT64{1} << 60), "too far apart"},
  };
  for (const auto& [desc, what] : inputs) {
    Scratch scratch;
    const D3D12_DISPATCH_GRAPH_DESC* const copy = RecordableInputs(scratch, &desc, sizes);
    ASSERT_NE(copy, nullptr);
    EXPECT_EQ(copy->NodeCPUInput.pRecords, nullptr) << what;
    EXPECT_EQ(copy->NodeCPUInput.NumRecords, desc.NodeCPUInput.NumRecords) << what;
  }
}

TEST(WorkGraphsTest, InputsOfSeveralNodes) {
  struct Spaced {
    D3D12_NODE_CPU_INPUT input;
    uint64_t between;
  };
  const UINT sizes[2] = {4, 8};
  const uint32_t records[] = {1, 2, 3};
  const Spaced inputs[2] = {{{1, 1, records, 8}, 0}, {{0, 1, &records[2], 4}, 0}};
  D3D12_DISPATCH_GRAPH_DESC desc = {};
  desc.Mode = D3D12_DISPATCH_MODE_MULTI_NODE_CPU_INPUT;
  desc.MultiNodeCPUInput = {2, &inputs[0].input, sizeof(Spaced)};
  Scratch scratch;
  const D3D12_MULTI_NODE_CPU_INPUT& nodes =
      RecordableInputs(scratch, &desc, sizes)->MultiNodeCPUInput;
  EXPECT_EQ(nodes.NodeInputStrideInBytes, sizeof(D3D12_NODE_CPU_INPUT));
  EXPECT_EQ(NumbersIn(nodes.pNodeInputs[0], 8), (Numbers{1, 2}));
  EXPECT_EQ(NumbersIn(nodes.pNodeInputs[1], 4), (Numbers{3}));

  desc.MultiNodeCPUInput.NodeInputStrideInBytes = 0;  // the first, again
  const D3D12_MULTI_NODE_CPU_INPUT& again =
      RecordableInputs(scratch, &desc, sizes)->MultiNodeCPUInput;
  EXPECT_EQ(NumbersIn(again.pNodeInputs[1], 8), (Numbers{1, 2}));
}

TEST(WorkGraphsTest, WhatTheGpuReadsStays) {
  D3D12_DISPATCH_GRAPH_DESC desc = {};
  desc.Mode = D3D12_DISPATCH_MODE_NODE_GPU_INPUT;
  desc.NodeGPUInput = 0x1000;
  Scratch scratch;
  EXPECT_EQ(RecordableInputs(scratch, &desc, {}), &desc);
  EXPECT_EQ(RecordableInputs(scratch, nullptr, {}), nullptr);
}

TEST(WorkGraphsTest, ProgramsAreFoundByTheirIdentifiersUntilTheirStateObjectsEnd) {
  NotedPrograms programs;
  const int device = 0;
  Place places[2];
  auto* const first = reinterpret_cast<Wrapper*>(&places[0]);
  auto* const second = reinterpret_cast<Wrapper*>(&places[1]);
  const D3D12_PROGRAM_IDENTIFIER one = {{1, 0, 0, 4}};
  const D3D12_PROGRAM_IDENTIFIER other = {{1, 0, 0, 5}};
  programs.Add(&device, one, {first, std::make_shared<const std::vector<UINT>>(1, 12u)});
  programs.Add(&device, other, {second, nullptr});
  EXPECT_EQ(programs.Find(&device, one).state_object, first);
  EXPECT_EQ(programs.Find(&device, one).record_bytes->at(0), 12u);
  programs.Remove(*first);
  EXPECT_EQ(programs.Find(&device, one).state_object, nullptr);
  EXPECT_EQ(programs.Find(&device, other).state_object, second);
  programs.Add(&device, other, {first, nullptr});  // an implementation may give one again
  EXPECT_EQ(programs.Find(&device, other).state_object, first);
}

TEST(WorkGraphsTest, EqualIdentifiersOfTwoDevicesAreTwoPrograms) {
  NotedPrograms programs;
  const int devices[2] = {};
  Place places[2];
  auto* const first = reinterpret_cast<Wrapper*>(&places[0]);
  auto* const second = reinterpret_cast<Wrapper*>(&places[1]);
  const D3D12_PROGRAM_IDENTIFIER same = {{1, 2, 3, 4}};
  programs.Add(&devices[0], same, {first, std::make_shared<const std::vector<UINT>>(1, 4u)});
  EXPECT_EQ(programs.Find(&devices[1], same).state_object, nullptr);
  programs.Add(&devices[1], same, {second, std::make_shared<const std::vector<UINT>>(1, 8u)});
  EXPECT_EQ(programs.Find(&devices[0], same).state_object, first);
  EXPECT_EQ(programs.Find(&devices[0], same).record_bytes->at(0), 4u);
  EXPECT_EQ(programs.Find(&devices[1], same).state_object, second);
  EXPECT_EQ(programs.Find(&devices[1], same).record_bytes->at(0), 8u);
  programs.Remove(*second);
  EXPECT_EQ(programs.Find(&devices[0], same).state_object, first);
  EXPECT_EQ(programs.Find(&devices[1], same).state_object, nullptr);
}

}  // namespace
}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
