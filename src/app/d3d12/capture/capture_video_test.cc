// SPDX-License-Identifier: Apache-2.0
//
// Checks the calls of a capture that the events of video lists belong to: on a device of our own,
// with lists that do nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "app/breadcrumbs/context.h"
#include "app/capture/testing/test_watcher.h"
#include "app/d3d12/globals.h"
#include "app/d3d12/layer.h"
#include "app/d3d12/policy.h"
#include "app/d3d12/testing/test_video_list.h"
#include "app/recorder/block_writer.h"
#include "d3d12abi/com_ptr.h"
#include "d3d12abi/testing/fake_device.h"
#include "d3d12gen/chains.h"
#include "d3d12gen/methods.h"
#include "os/environment.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {
namespace {

std::vector<uint32_t> NotedCalls(ListBreadcrumbs& notes) {
  std::vector<uint32_t> calls;
  const CommandList& recording = *notes.recording();
  const BlockWriter& block = *recording.context()->block();
  const auto* const chunk =
      reinterpret_cast<const EventChunk*>(block.Page(recording.slot()->first_event_page));
  for (uint32_t i = 0; i < recording.slot()->event_count.load(); ++i) {
    const EventRecord& event = chunk->events[EventPosition(recording.slot_index(), i)];
    if (event.kind == EventKind::kBegin) calls.push_back(event.match);
  }
  return calls;
}

TEST(CaptureVideo, EventsBelongToTheirOwnCalls) {
  SetVariable("CAIRN_CAPTURE", "on");
  TestWatcher watcher;
  ID3D12Device* const device = WrapDevice(CreateFakeDevice(), {});
  ASSERT_NE(device, nullptr);
  std::vector<int> real;
  std::vector<uint32_t> noted;
  {
    ComPtr<ID3D12CommandAllocator> allocator;
    ASSERT_EQ(device->CreateCommandAllocator(D3D12_COMMAND_LIST_TYPE_DIRECT,
                                             __uuidof(ID3D12CommandAllocator), allocator.Receive()),
              S_OK);
    ComPtr<ID3D12VideoProcessCommandList> list;
    ASSERT_EQ(WrapCreated(*AsWrapper(device), Chain::kID3D12VideoProcessCommandList,
                          new TestVideoProcessList(&real), __uuidof(ID3D12VideoProcessCommandList),
                          list.Receive()),
              S_OK);
    ASSERT_EQ(list->Reset(allocator.get()), S_OK);
    list->BeginEvent(1, "a", 2);
    list->SetMarker(1, "b", 2);
    list->EndEvent();
    ListBreadcrumbs* const notes = AsWrapper(list.get())->breadcrumbs();
    ASSERT_NE(notes, nullptr);
    noted = NotedCalls(*notes);
  }
  device->Release();
  EXPECT_THAT(real, testing::ElementsAre(1, 1, -1));

  std::vector<uint32_t> begin;
  std::vector<uint32_t> marker;
  for (const TestRecord& record : watcher.Finish()) {
    if (record.header.kind != RecordKind::kCall) continue;
    const auto number = static_cast<uint32_t>(record.header.number);
    const auto method = static_cast<Method>(record.header.method);
    if (method == Method::ID3D12VideoProcessCommandList_BeginEvent) begin.push_back(number);
    if (method == Method::ID3D12VideoProcessCommandList_SetMarker) marker.push_back(number);
  }
  // Each was recorded once.
  ASSERT_EQ(begin.size(), 1u);
  ASSERT_EQ(marker.size(), 1u);
  EXPECT_THAT(noted, testing::ElementsAre(begin[0], marker[0]));
}

}  // namespace
}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
