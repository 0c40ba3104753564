// SPDX-License-Identifier: Apache-2.0
//
// A conformance suite makes a device for each of its tests, one after the other.
#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "app/breadcrumbs/context.h"
#include "app/breadcrumbs/d3d12_backend.h"
#include "app/breadcrumbs/d3d12_selftest.h"
#include "app/breadcrumbs/d3d12_submitter.h"
#include "app/breadcrumbs/testing/d3d12_test_gpu.h"

namespace cairn {
namespace {

// More than the block has room for: places of what was destroyed are used again.
constexpr int kDevices = kMaxContexts + 16;

CairnContextDesc Desc() {
  CairnContextDesc desc{};
  desc.struct_size = sizeof(desc);
  desc.flags = CAIRN_CONTEXT_NO_SIGNAL_HANDLER;
  desc.mode = CAIRN_MODE_TOP;
  desc.frame_history_length = 4;
  desc.max_command_lists = 4096;
  return desc;
}

TEST(D3D12ManyDevices, OneAfterTheOther) {
  const auto block = std::move(BlockWriter::Create(uint64_t{64} << 20).value());
  for (int i = 0; i < kDevices; ++i) {
    const ComPtr<ID3D12Device> device = TestDevice();
    Result<Context*> context =
        Context::CreateDeferred(Desc(), block.get(), CreateD3D12Backend(device.get()));
    ASSERT_TRUE(context.ok()) << i << ": " << context.status().message();
    {
      D3D12Submitter submitter;
      ASSERT_TRUE(submitter.Create(device.get(), D3D12_COMMAND_LIST_TYPE_DIRECT).ok());
      Result<ID3D12GraphicsCommandList*> native = submitter.Begin();
      ASSERT_TRUE(native.ok());
      CairnCommandListDesc desc{};
      desc.flags = CAIRN_LIST_HELD;
      desc.native = *native;
      CommandList* list = nullptr;
      const Status begun = (*context)->BeginCommandList(desc, &list);
      ASSERT_TRUE(begun.ok()) << i << ": " << begun.message();
      list->BeginWork(CAIRN_MARKER_DISPATCH);
      list->EndWork();
      ASSERT_EQ(list->End(), CAIRN_OK);
      ASSERT_TRUE((*context)->NotifySubmit(submitter.queue(), &list, 1).ok());
      ASSERT_TRUE(submitter.Submit().ok());
      ASSERT_TRUE(submitter.Wait(kTestLimit).ok());
      (*context)->Mirror();
      ASSERT_TRUE(list->ProvenFinished()) << i;
      ASSERT_TRUE((*context)->ReleaseCommandList(list).ok());
    }
    Context::Destroy(*context);
  }
  // The adapter was tested once.
  EXPECT_EQ(D3D12SelfTestCount(), 1u);
  EXPECT_EQ(block->header()->context_count.load(), kMaxContexts);
}

}  // namespace
}  // namespace cairn
