// SPDX-License-Identifier: Apache-2.0
//
// A capture that begins at a later frame, on a real device: what every resource holds stands before the
// beginning, and what is written to memory afterwards behind it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

#include "app/breadcrumbs/d3d12_submitter.h"
#include "app/d3d12/capture/testing/recorded_program.h"
#include "app/d3d12/testing/test_device.h"
#include "app/d3d12/wrapper.h"
#include "d3d12abi/com_ptr.h"
#include "d3d12abi/testing/test_target.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {
namespace {

constexpr uint32_t kBytes = 64 << 10;
constexpr uint32_t kChanged = 16;  // bytes, in the frame that is recorded
constexpr uint32_t kSize = 16;     // of the target

// Numbers of what the program makes.
uint64_t upload_number, copy_number, target_number;

ComPtr<ID3D12Resource> MakeTarget(ID3D12Device* device) {
  ComPtr<ID3D12Resource> target;
  EXPECT_EQ(CreateTestTarget(device, kSize, __uuidof(ID3D12Resource), target.Receive()), S_OK);
  return target;
}

void EndFrame(D3D12Submitter& submitter) {
  ASSERT_TRUE(submitter.Submit().ok());
  constexpr char kMark[] = "cairn:frame";
  constexpr UINT kAnsi = 1;
  submitter.queue()->SetMarker(kAnsi, kMark, sizeof(kMark));
}

void RunProgram(ID3D12Device* device) {
  ComPtr<ID3D12Resource> upload, copy;
  ASSERT_EQ(CreateBuffer(device, kBytes, __uuidof(ID3D12Resource), upload.Receive()), S_OK);
  ASSERT_EQ(CreateBuffer(device, kBytes, __uuidof(ID3D12Resource), copy.Receive(),
                         D3D12_HEAP_TYPE_DEFAULT),
            S_OK);
  ComPtr<ID3D12Resource> target = MakeTarget(device);
  upload_number = AsWrapper(upload.get())->capture_number();
  copy_number = AsWrapper(copy.get())->capture_number();
  target_number = AsWrapper(target.get())->capture_number();
  D3D12_DESCRIPTOR_HEAP_DESC heap_desc = {};
  heap_desc.Type = D3D12_DESCRIPTOR_HEAP_TYPE_RTV;
  heap_desc.NumDescriptors = 1;
  ComPtr<ID3D12DescriptorHeap> views;
  ASSERT_EQ(
      device->CreateDescriptorHeap(&heap_desc, __uuidof(ID3D12DescriptorHeap), views.Receive()),
      S_OK);
  D3D12_CPU_DESCRIPTOR_HANDLE view = {};
  views->GetCPUDescriptorHandleForHeapStart(&view);
  device->CreateRenderTargetView(target.get(), nullptr, view);
  void* data = nullptr;
  ASSERT_EQ(upload->Map(0, nullptr, &data), S_OK);
  std::memset(data, 0x11, kBytes);

  D3D12Submitter submitter;
  ASSERT_TRUE(submitter.Create(device, D3D12_COMMAND_LIST_TYPE_DIRECT).ok());
  ID3D12GraphicsCommandList* list = *submitter.Begin();
  const float red[4] = {1, 0, 0, 1};
  list->ClearRenderTargetView(view, red, 0, nullptr);
  list->CopyBufferRegion(copy.get(), 0, upload.get(), 0, kBytes);
  EndFrame(submitter);

  std::memset(static_cast<char*>(data) + kBytes / 2, 0x22, kChanged);
  list = *submitter.Begin();
  list->CopyBufferRegion(copy.get(), 0, upload.get(), 0, kBytes);
  EndFrame(submitter);
  ASSERT_TRUE(submitter.Wait(kTestLimit).ok());
}

const RecordedProgram program("on,frames=1-", RunProgram);

size_t Start() {
  const std::vector<size_t> starts = program.PlacesOf(RecordKind::kStart);
  EXPECT_LE(starts.size(), 1u);
  return starts.empty() ? program.records().size() : starts[0];
}

TEST(LateCaptureTest, ContentsStandBeforeTheStart) {
  const size_t start = Start();
  ASSERT_LT(start, program.records().size());
  for (const size_t i : program.PlacesOf(RecordKind::kContents)) EXPECT_LT(i, start);
  EXPECT_EQ(program.ContentsOf(upload_number), std::vector<std::byte>(kBytes, std::byte{0x11}));
  EXPECT_EQ(program.ContentsOf(copy_number), std::vector<std::byte>(kBytes, std::byte{0x11}));
  const std::vector<std::byte> pixels = program.ContentsOf(target_number);
  ASSERT_EQ(pixels.size(), size_t{kSize} * kSize * 4);
  for (size_t i = 0; i < pixels.size(); i += 4) {
    EXPECT_EQ(pixels[i], std::byte{0xFF});
    EXPECT_EQ(pixels[i + 1], std::byte{0});
  }
}

TEST(LateCaptureTest, CallsAreThereFromTheBeginning) {
  // The watcher needs them: it keeps what made the present state.
  ASSERT_FALSE(program.records().empty());
  EXPECT_EQ(program.records()[0].header.kind, RecordKind::kDevice);
}

TEST(LateCaptureTest, MemoryIsRecordedFromTheStartOn) {
  const size_t start = Start();
  uint64_t bytes = 0;
  for (const size_t i : program.PlacesOf(RecordKind::kMemory)) {
    const TestRecord& record = program.records()[i];
    EXPECT_GT(i, start);
    EXPECT_EQ(record.header.object, upload_number);
    EXPECT_EQ(record.As<MemoryBody>().offset_bytes, kBytes / 2);
    for (const std::byte byte : TestWatcher::Bytes(program.records(), record, sizeof(MemoryBody))) {
      EXPECT_EQ(byte, std::byte{0x22});
      ++bytes;
    }
  }
  EXPECT_EQ(bytes, kChanged);
}

TEST(LateCaptureTest, FramesAreCountedFromTheBeginning) {
  std::vector<uint64_t> before, after;
  for (const size_t i : program.PlacesOf(RecordKind::kFrame)) {
    (i < Start() ? before : after).push_back(program.records()[i].As<FrameBody>().frame);
  }
  EXPECT_THAT(before, testing::ElementsAre(0));
  EXPECT_THAT(after, testing::ElementsAre(1));
}

}  // namespace
}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
