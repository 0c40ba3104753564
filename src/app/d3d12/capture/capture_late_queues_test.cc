// SPDX-License-Identifier: Apache-2.0
//
// A capture that begins at a later frame, of a program that neither presents nor marks frames and works on
// two queues: so many submissions are a frame, on whichever queue, and what both have done is there when
// the recording begins.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <vector>

#include "app/breadcrumbs/d3d12_submitter.h"
#include "app/d3d12/capture/testing/recorded_program.h"
#include "app/d3d12/device.h"
#include "app/d3d12/testing/test_device.h"
#include "app/d3d12/wrapper.h"
#include "d3d12abi/com_ptr.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {
namespace {

constexpr uint32_t kBytes = 256;
constexpr uint32_t kRounds = WrappedID3D12Device::kSubmissionsPerFrame / 2;

uint64_t direct_copy, compute_copy;  // numbers of the buffers that the queues write

ComPtr<ID3D12Resource> MakeBuffer(ID3D12Device* device, D3D12_HEAP_TYPE type) {
  ComPtr<ID3D12Resource> buffer;
  EXPECT_EQ(CreateBuffer(device, kBytes, __uuidof(ID3D12Resource), buffer.Receive(), type), S_OK);
  return buffer;
}

void Copy(D3D12Submitter& submitter, ID3D12Resource* to, ID3D12Resource* from) {
  const Result<ID3D12GraphicsCommandList*> list = submitter.Begin();
  ASSERT_TRUE(list.ok());
  (*list)->CopyBufferRegion(to, 0, from, 0, kBytes);
  ASSERT_TRUE(submitter.Submit().ok());
  ASSERT_TRUE(submitter.Wait(kTestLimit).ok());
}

void RunProgram(ID3D12Device* device) {
  const ComPtr<ID3D12Resource> upload = MakeBuffer(device, D3D12_HEAP_TYPE_UPLOAD);
  const ComPtr<ID3D12Resource> first = MakeBuffer(device, D3D12_HEAP_TYPE_DEFAULT);
  const ComPtr<ID3D12Resource> second = MakeBuffer(device, D3D12_HEAP_TYPE_DEFAULT);
  direct_copy = AsWrapper(first.get())->capture_number();
  compute_copy = AsWrapper(second.get())->capture_number();
  D3D12Submitter direct, compute;
  ASSERT_TRUE(direct.Create(device, D3D12_COMMAND_LIST_TYPE_DIRECT).ok());
  ASSERT_TRUE(compute.Create(device, D3D12_COMMAND_LIST_TYPE_COMPUTE).ok());
  void* data = nullptr;
  ASSERT_EQ(upload->Map(0, nullptr, &data), S_OK);
  // One round more than a frame.
  for (uint32_t i = 0; i <= kRounds; ++i) {
    std::memset(data, static_cast<int>(2 * i), kBytes);
    ASSERT_NO_FATAL_FAILURE(Copy(direct, first.get(), upload.get()));
    std::memset(data, static_cast<int>(2 * i + 1), kBytes);
    ASSERT_NO_FATAL_FAILURE(Copy(compute, second.get(), upload.get()));
  }
}

const RecordedProgram program("on,frames=1-", RunProgram);

size_t IndexOf(RecordKind kind) {
  const std::vector<size_t> places = program.PlacesOf(kind);
  return places.empty() ? program.records().size() : places[0];
}

TEST(LateQueuesTest, SubmissionsOfAllQueuesAreAFrame) {
  const size_t end = IndexOf(RecordKind::kFrame);
  ASSERT_LT(end, program.records().size());
  EXPECT_EQ(program.records()[end].As<FrameBody>().how,
            static_cast<uint32_t>(FrameEndKind::kSubmissions));
  std::map<uint64_t, uint32_t> submissions;  // by queue
  for (const size_t i : program.CallsOf(Method::ID3D12CommandQueue_ExecuteCommandLists)) {
    if (i < end) ++submissions[program.records()[i].header.object];
  }
  ASSERT_EQ(submissions.size(), 2u);
  for (const auto& [queue, count] : submissions) EXPECT_EQ(count, kRounds) << queue;
}

TEST(LateQueuesTest, ContentsHaveWhatBothQueuesDidUntilThen) {
  constexpr auto kLast = static_cast<std::byte>(2 * (kRounds - 1));
  constexpr auto kLastOfCompute = static_cast<std::byte>(2 * (kRounds - 1) + 1);
  EXPECT_EQ(program.ContentsOf(direct_copy), std::vector<std::byte>(kBytes, kLast));
  EXPECT_EQ(program.ContentsOf(compute_copy), std::vector<std::byte>(kBytes, kLastOfCompute));
}

TEST(LateQueuesTest, WhatComesAfterTheFrameStandsBehindTheStart) {
  const size_t start = IndexOf(RecordKind::kStart);
  ASSERT_LT(start, program.records().size());
  EXPECT_LT(IndexOf(RecordKind::kFrame), start);
  std::vector<std::byte> written;  // the first byte of each record
  for (const size_t i : program.PlacesOf(RecordKind::kMemory)) {
    EXPECT_GT(i, start);
    written.push_back(
        TestWatcher::Bytes(program.records(), program.records()[i], sizeof(MemoryBody))[0]);
  }
  EXPECT_THAT(written, testing::ElementsAre(static_cast<std::byte>(2 * kRounds),
                                            static_cast<std::byte>(2 * kRounds + 1)));
}

}  // namespace
}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
