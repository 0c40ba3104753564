// SPDX-License-Identifier: Apache-2.0
//
// A capture that begins at a later frame, of a program that presents. Nothing can be read while it
// holds the queue for that: the recording begins with the next submission. The program's calls in
// between are part of the restored state.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "app/breadcrumbs/d3d12_submitter.h"
#include "app/d3d12/capture/device_capture.h"
#include "app/d3d12/capture/testing/recorded_program.h"
#include "app/d3d12/device.h"
#include "app/d3d12/testing/test_device.h"
#include "app/d3d12/wrapper.h"
#include "d3d12abi/com_ptr.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {
namespace {

constexpr uint32_t kBytes = 256;

uint64_t upload_number, copy_number, late_number;

void RunProgram(ID3D12Device* device) {
  ComPtr<ID3D12Resource> upload, copy, late;
  ASSERT_EQ(CreateBuffer(device, kBytes, __uuidof(ID3D12Resource), upload.Receive()), S_OK);
  ASSERT_EQ(CreateBuffer(device, kBytes, __uuidof(ID3D12Resource), copy.Receive(),
                         D3D12_HEAP_TYPE_DEFAULT),
            S_OK);
  upload_number = AsWrapper(upload.get())->capture_number();
  copy_number = AsWrapper(copy.get())->capture_number();
  void* data = nullptr;
  ASSERT_EQ(upload->Map(0, nullptr, &data), S_OK);
  std::memset(data, 0x11, kBytes);
  D3D12Submitter submitter;
  ASSERT_TRUE(submitter.Create(device, D3D12_COMMAND_LIST_TYPE_DIRECT).ok());
  ID3D12GraphicsCommandList* list = *submitter.Begin();
  list->CopyBufferRegion(copy.get(), 0, upload.get(), 0, kBytes);
  ASSERT_TRUE(submitter.Submit().ok());
  ASSERT_TRUE(submitter.Wait(kTestLimit).ok());

  static_cast<WrappedID3D12Device*>(AsWrapper(device))->capture()->EndFrame(FrameEndKind::kPresent);

  std::memset(data, 0x22, kBytes);
  ASSERT_EQ(CreateBuffer(device, kBytes, __uuidof(ID3D12Resource), late.Receive(),
                         D3D12_HEAP_TYPE_DEFAULT),
            S_OK);
  late_number = AsWrapper(late.get())->capture_number();
  list = *submitter.Begin();
  list->CopyBufferRegion(late.get(), 0, upload.get(), 0, kBytes);
  ASSERT_TRUE(submitter.Submit().ok());
  ASSERT_TRUE(submitter.Wait(kTestLimit).ok());
}

const RecordedProgram program("on,frames=1-", RunProgram);

TEST(LatePresentTest, TheRecordingBeginsWithTheNextSubmission) {
  ASSERT_EQ(program.PlacesOf(RecordKind::kStart).size(), 1u);
  const size_t start = program.PlacesOf(RecordKind::kStart)[0];
  const std::vector<size_t> submissions =
      program.CallsOf(Method::ID3D12CommandQueue_ExecuteCommandLists);
  ASSERT_EQ(submissions.size(), 2u);
  EXPECT_LT(submissions[0], program.PlacesOf(RecordKind::kFrame)[0]);
  EXPECT_LT(program.PlacesOf(RecordKind::kFrame)[0], start);
  EXPECT_LT(start, submissions[1]);
}

TEST(LatePresentTest, CallsInBetweenStandBeforeTheContents) {
  const std::vector<size_t> contents = program.PlacesOf(RecordKind::kContents);
  ASSERT_FALSE(contents.empty());
  const std::vector<size_t> copies =
      program.CallsOf(Method::ID3D12GraphicsCommandList_CopyBufferRegion);
  ASSERT_EQ(copies.size(), 2u);
  EXPECT_LT(program.PlacesOf(RecordKind::kFrame)[0], copies[1]);
  EXPECT_LT(copies[1], contents[0]);
  const std::vector<size_t> creations =
      program.CallsOf(Method::ID3D12Device_CreateCommittedResource);
  ASSERT_EQ(creations.size(), 3u);
  EXPECT_LT(creations[2], contents[0]);
}

TEST(LatePresentTest, WhatWasWrittenInBetweenIsInTheContents) {
  EXPECT_EQ(program.ContentsOf(upload_number), std::vector<std::byte>(kBytes, std::byte{0x22}));
  EXPECT_EQ(program.ContentsOf(copy_number), std::vector<std::byte>(kBytes, std::byte{0x11}));
  EXPECT_EQ(program.ContentsOf(late_number).size(), kBytes);
  EXPECT_THAT(program.PlacesOf(RecordKind::kMemory), testing::IsEmpty());
}

}  // namespace
}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
