// SPDX-License-Identifier: Apache-2.0
#include "reader/replay/creation_facts.h"

#include <gtest/gtest.h>

#include "reader/replay/buffer_addresses.h"
#include "reader/replay/testing/test_call.h"

namespace cairn {
namespace {

constexpr uint64_t kSignature = 20;

TestObjects& WithSignature(TestObjects* objects) {
  using Kind = RootParameter::Kind;
  objects->AddSignature(kSignature,
                        {{.kind = Kind::kConstants, .constants = 4}, {.kind = Kind::kTable}});
  return *objects;
}

// Creates a command signature of one argument, before the commands that it ends with.
Status Create(TestObjects* objects, const D3D12_INDIRECT_ARGUMENT_DESC& argument,
              IUnknown* signature, bool* dispatches, D3D12_INDIRECT_ARGUMENT_TYPE last) {
  D3D12_INDIRECT_ARGUMENT_DESC arguments[2] = {argument, {}};
  arguments[1].Type = last;
  D3D12_COMMAND_SIGNATURE_DESC desc = {};
  desc.NumArgumentDescs = 2;
  desc.pArgumentDescs = arguments;
  TestCall call(&objects->table, Method::ID3D12Device_CreateCommandSignature, TestObjects::kDevice,
                &desc, signature, GUID{}, nullptr);
  *dispatches = FactsOf(&call.call, false).dispatches;
  return CheckCreation(&call.call);
}

TEST(CreationFactsTest, CommandsFitTheirRootSignature) {
  TestObjects objects;
  IUnknown* const signature = WithSignature(&objects).Real(kSignature);
  D3D12_INDIRECT_ARGUMENT_DESC constants = {};
  constants.Type = D3D12_INDIRECT_ARGUMENT_TYPE_CONSTANT;
  constants.Constant = {0, 1, 3};
  bool dispatches = false;
  constexpr auto kDispatch = D3D12_INDIRECT_ARGUMENT_TYPE_DISPATCH;
  EXPECT_TRUE(Create(&objects, constants, signature, &dispatches, kDispatch).ok());
  EXPECT_TRUE(dispatches);
  EXPECT_EQ(Create(&objects, constants, nullptr, &dispatches, kDispatch).message(),
            "root arguments of commands without a root signature");
  constants.Constant = {0, 2, 3};
  EXPECT_EQ(Create(&objects, constants, signature, &dispatches, D3D12_INDIRECT_ARGUMENT_TYPE_DRAW)
                .message(),
            "3 root constants from 2 on, where there are 4");
  EXPECT_FALSE(dispatches);
  constants.Constant = {1, 0, 1};
  EXPECT_EQ(Create(&objects, constants, signature, &dispatches, kDispatch).message(),
            "root parameter 1 is a descriptor table, not constants");
  constants.Type = static_cast<D3D12_INDIRECT_ARGUMENT_TYPE>(kIncrementingConstant);
  constants.Constant = {0, 3, 99};  // has no number of constants
  EXPECT_TRUE(Create(&objects, constants, signature, &dispatches, kDispatch).ok());
  constants.Constant = {0, 4, 0};
  EXPECT_EQ(Create(&objects, constants, signature, &dispatches, kDispatch).message(),
            "1 root constants from 4 on, where there are 4");
  constants.Constant = {2, 0, 1};
  EXPECT_EQ(Create(&objects, constants, signature, &dispatches, kDispatch).message(),
            "root parameter 2 of a root signature that has 2");
}

TEST(CreationFactsTest, ListHasTheAllocatorAndThePipelineThatItBeganWith) {
  TestObjects objects;
  objects.AddList(30, 31);
  objects.AddPipeline(40);
  objects.table.Find(31)->resets = 5;
  TestCall call(&objects.table, Method::ID3D12Device_CreateCommandList, TestObjects::kDevice,
                UINT{0}, D3D12_COMMAND_LIST_TYPE_DIRECT, objects.Real(31), objects.Real(40), GUID{},
                nullptr);
  const CreationFacts facts = FactsOf(&call.call, /*lost_pipeline=*/true);
  EXPECT_EQ(facts.allocator, 31u);
  EXPECT_EQ(facts.allocator_resets, 5u);
  EXPECT_EQ(facts.pipeline.get(), objects.Real(40));
  EXPECT_TRUE(facts.lost_pipeline);
}

}  // namespace
}  // namespace cairn
