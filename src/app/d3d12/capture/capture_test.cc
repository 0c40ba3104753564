// SPDX-License-Identifier: Apache-2.0
//
// The records of a program's calls.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "app/breadcrumbs/context.h"
#include "app/breadcrumbs/d3d12_submitter.h"
#include "app/d3d12/capture/testing/recorded_program.h"
#include "app/d3d12/testing/test_device.h"
#include "app/d3d12/work.h"
#include "app/d3d12/wrapper.h"
#include "app/recorder/block_writer.h"
#include "d3d12abi/com_ptr.h"
#include "d3d12abi/testing/test_target.h"
#include "d3d12gen/chains.h"
#include "format/calls/value_decoder.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {
namespace {

constexpr uint32_t kBytes = 64 << 10;
constexpr uint64_t kSignalled = 41;
constexpr uint32_t kTargetSize = 16;  // width and height

template <typename T>
void** Receive(ComPtr<T>& object) {
  return object.Receive();
}

ComPtr<ID3D12Resource> MakeBuffer(ID3D12Device* device, D3D12_HEAP_TYPE type) {
  ComPtr<ID3D12Resource> buffer;
  EXPECT_EQ(CreateBuffer(device, kBytes, __uuidof(ID3D12Resource), Receive(buffer), type), S_OK);
  return buffer;
}

ComPtr<ID3D12Resource> MakeTarget(ID3D12Device* device) {
  ComPtr<ID3D12Resource> target;
  EXPECT_EQ(CreateTestTarget(device, kTargetSize, __uuidof(ID3D12Resource), Receive(target)), S_OK);
  return target;
}

// The calls to which the list's breadcrumbs after the clear belong.
std::vector<uint32_t> noted_calls;

void NoteEvents(ID3D12GraphicsCommandList* list) {
  const CommandList& recording = *AsWrapper(list)->breadcrumbs()->recording();
  const BlockWriter& block = *recording.context()->block();
  const auto* const chunk =
      reinterpret_cast<const EventChunk*>(block.Page(recording.slot()->first_event_page));
  for (uint32_t i = 0; i < recording.slot()->event_count.load(); ++i) {
    const EventRecord& event = chunk->events[EventPosition(recording.slot_index(), i)];
    if (event.kind == EventKind::kBegin) noted_calls.push_back(event.match);
  }
}

constexpr uint64_t kPart = 256;      // what is copied to the start of the buffer
constexpr uint64_t kPlacedAt = 512;  // where the target is copied to
constexpr uint32_t kRowPitch = 256;

void CopyTarget(ID3D12GraphicsCommandList* list, ID3D12Resource* target, ID3D12Resource* to) {
  D3D12_RESOURCE_BARRIER barrier = {};
  barrier.Type = D3D12_RESOURCE_BARRIER_TYPE_TRANSITION;
  barrier.Transition = {target, 0, D3D12_RESOURCE_STATE_RENDER_TARGET,
                        D3D12_RESOURCE_STATE_COPY_SOURCE};
  list->ResourceBarrier(1, &barrier);
  D3D12_TEXTURE_COPY_LOCATION from = {};
  from.pResource = target;
  from.Type = D3D12_TEXTURE_COPY_TYPE_SUBRESOURCE_INDEX;
  D3D12_TEXTURE_COPY_LOCATION placed = {};
  placed.pResource = to;
  placed.Type = D3D12_TEXTURE_COPY_TYPE_PLACED_FOOTPRINT;
  placed.PlacedFootprint = {kPlacedAt,
                            {DXGI_FORMAT_R8G8B8A8_UNORM, kTargetSize, kTargetSize, 1, kRowPitch}};
  list->CopyTextureRegion(&placed, 0, 0, 0, &from, nullptr);
}

// Reads like programs that map a resource once: they read when a fence is signalled, which they
// need not query through the layer.
void ReadWhatStaysMapped(ID3D12Device* device, D3D12Submitter& submitter, ID3D12Resource* upload,
                         ID3D12Resource* target) {
  ComPtr<ID3D12Resource> kept = MakeBuffer(device, D3D12_HEAP_TYPE_READBACK);
  void* memory = nullptr;
  const D3D12_RANGE nothing = {0, 0};
  ASSERT_EQ(kept->Map(0, &nothing, &memory), S_OK);
  const auto submit = [&](bool with_target) {
    ID3D12GraphicsCommandList* const list = *submitter.Begin();
    list->CopyBufferRegion(kept.get(), 0, upload, 0, kPart);
    if (with_target) CopyTarget(list, target, kept.get());
    ASSERT_TRUE(submitter.Submit().ok());
  };
  submit(true);
  ASSERT_TRUE(submitter.Wait(kTestLimit).ok());
  submit(false);
  ComPtr<ID3D12Fence> fence;
  ASSERT_EQ(device->CreateFence(0, D3D12_FENCE_FLAG_NONE, __uuidof(ID3D12Fence), Receive(fence)),
            S_OK);
  ASSERT_EQ(submitter.queue()->Signal(fence.get(), 1), S_OK);
  ASSERT_TRUE(WaitForFence(static_cast<ID3D12Device*>(AsWrapper(device)->real_pointer()),
                           static_cast<ID3D12Fence*>(AsWrapper(fence.get())->real_pointer()), 1,
                           kTestLimit)
                  .ok());
  // Over what is there and was not asked for.
  submit(false);
  ASSERT_TRUE(submitter.Wait(kTestLimit).ok());
  EXPECT_EQ(static_cast<const unsigned char*>(memory)[kPart - 1], 0x5A);
  kept->Unmap(0, &nothing);
}

// Copies what the CPU wrote to a buffer that the CPU reads; clears a target.
void RunProgram(ID3D12Device* device) {
  ComPtr<ID3D12Resource> upload = MakeBuffer(device, D3D12_HEAP_TYPE_UPLOAD);
  ComPtr<ID3D12Resource> readback = MakeBuffer(device, D3D12_HEAP_TYPE_READBACK);
  ComPtr<ID3D12Resource> target = MakeTarget(device);
  upload->SetName(L"Upload");
  D3D12_DESCRIPTOR_HEAP_DESC heap_desc = {};
  heap_desc.Type = D3D12_DESCRIPTOR_HEAP_TYPE_RTV;
  heap_desc.NumDescriptors = 4;
  ComPtr<ID3D12DescriptorHeap> views;
  ASSERT_EQ(
      device->CreateDescriptorHeap(&heap_desc, __uuidof(ID3D12DescriptorHeap), Receive(views)),
      S_OK);
  D3D12_CPU_DESCRIPTOR_HANDLE view = {};
  views->GetCPUDescriptorHandleForHeapStart(&view);
  device->CreateRenderTargetView(target.get(), nullptr, view);

  void* data = nullptr;
  ASSERT_EQ(upload->Map(0, nullptr, &data), S_OK);
  std::memset(data, 0x5A, kBytes);

  D3D12Submitter submitter;
  ASSERT_TRUE(submitter.Create(device, D3D12_COMMAND_LIST_TYPE_DIRECT).ok());
  ID3D12GraphicsCommandList* const list = *submitter.Begin();
  const float colour[4] = {0.25f, 0.5f, 0.75f, 1};
  list->ClearRenderTargetView(view, colour, 0, nullptr);
  NoteEvents(list);
  list->CopyBufferRegion(readback.get(), 0, upload.get(), 0, kBytes);
  ASSERT_TRUE(submitter.Submit().ok());
  ComPtr<ID3D12Fence> fence;
  ASSERT_EQ(device->CreateFence(0, D3D12_FENCE_FLAG_NONE, __uuidof(ID3D12Fence), Receive(fence)),
            S_OK);
  ASSERT_EQ(submitter.queue()->Signal(fence.get(), kSignalled), S_OK);
  ASSERT_TRUE(WaitForFence(device, fence.get(), kSignalled, kTestLimit).ok());

  // Markers without new work end nothing.
  constexpr char kMark[] = "cairn:frame";
  constexpr UINT kAnsi = 1;
  submitter.queue()->SetMarker(kAnsi, kMark, sizeof(kMark));
  submitter.queue()->SetMarker(kAnsi, kMark, sizeof(kMark));
  ASSERT_TRUE(submitter.Begin().ok());
  ASSERT_TRUE(submitter.Submit().ok());
  ASSERT_TRUE(submitter.Wait(kTestLimit).ok());
  ReadWhatStaysMapped(device, submitter, upload.get(), target.get());

  void* result = nullptr;
  ASSERT_EQ(readback->Map(0, nullptr, &result), S_OK);
  EXPECT_EQ(static_cast<const unsigned char*>(result)[kBytes - 1], 0x5A);
  const D3D12_RANGE nothing = {0, 0};
  readback->Unmap(0, &nothing);
  // Fails, and leaves what it is given alone.
  void* nobody = reinterpret_cast<void*>(uintptr_t{0x10});
  EXPECT_NE(device->CreateDescriptorHeap(&heap_desc, __uuidof(ID3D12Fence), &nobody), S_OK);
}

const RecordedProgram program("on,hash", RunProgram);

size_t ResultOf(uint64_t call) {
  for (const size_t i : program.PlacesOf(RecordKind::kResult)) {
    if (program.records()[i].As<ResultBody>().call == call) return i;
  }
  ADD_FAILURE() << "call " << call << " has no result";
  return 0;
}

// The number of the first object of a kind that came to be after record `from`.
std::optional<TestRecord> ObjectMadeBy(uint64_t call) {
  for (const size_t i : program.PlacesOf(RecordKind::kObject)) {
    if (program.records()[i].As<ObjectBody>().creator == call) return program.records()[i];
  }
  return std::nullopt;
}

DecodedCall ArgumentsOf(size_t place, Arena* arena) {
  const TestRecord& record = program.records()[place];
  DecodedCall call;
  const Status status = DecodeArguments(Describe(static_cast<Method>(record.header.method)),
                                        record.body, {}, arena, &call);
  EXPECT_TRUE(status.ok()) << status.message();
  return call;
}

template <typename T>
T Argument(const DecodedCall& call, size_t index) {
  T value;
  std::memcpy(&value, call.arguments[index], sizeof(value));
  return value;
}

TEST(CaptureTest, EachNumberIsThatOfARecordOrIsLeftUnused) {
  const size_t count = program.records().size();
  EXPECT_GT(count, 50u);
  EXPECT_EQ(program.records().back().header.number, count + program.unused());
  EXPECT_GT(program.unused(), 0u);
}

TEST(CaptureTest, TheDeviceComesFirst) {
  ASSERT_GE(program.records().size(), 2u);
  EXPECT_EQ(program.records()[0].header.kind, RecordKind::kDevice);
  EXPECT_EQ(program.records()[0].As<DeviceBody>().wchar_bytes, sizeof(WCHAR));
  EXPECT_EQ(program.records()[1].header.kind, RecordKind::kObject);
  EXPECT_EQ(program.records()[1].header.object, program.records()[0].header.object);
  const auto body = program.records()[1].As<ObjectBody>();
  EXPECT_EQ(body.chain, static_cast<uint32_t>(Chain::kID3D12Device));
  EXPECT_EQ(body.device, program.records()[1].header.object);
  EXPECT_EQ(body.creator, 0u);
}

TEST(CaptureTest, AnObjectStandsBetweenItsCallAndTheResult) {
  const std::vector<size_t> calls = program.CallsOf(Method::ID3D12Device_CreateCommandQueue);
  ASSERT_EQ(calls.size(), 1u);
  const uint64_t number = program.records()[calls[0]].header.number;
  const std::optional<TestRecord> object = ObjectMadeBy(number);
  ASSERT_TRUE(object.has_value());
  EXPECT_EQ(object->As<ObjectBody>().chain, static_cast<uint32_t>(Chain::kID3D12CommandQueue));
  EXPECT_GT(object->header.number, number);
  const size_t result = ResultOf(number);
  EXPECT_GT(program.records()[result].header.number, object->header.number);
  // The result names the object that the program got.
  Arena arena;
  DecodedCall decoded;
  const MethodInfo& method = Describe(Method::ID3D12Device_CreateCommandQueue);
  const std::span<const std::byte> body(program.records()[result].body);
  ASSERT_TRUE(DecodeResults(method, body.subspan(sizeof(ResultBody)), {}, &arena, &decoded).ok());
  uint64_t* place = nullptr;
  std::memcpy(&place, decoded.arguments[method.object_parameter], sizeof(place));
  ASSERT_NE(place, nullptr);
  EXPECT_EQ(*place, object->header.object);
}

TEST(CaptureTest, BuffersAndHeapsHaveTheirFacts) {
  std::vector<ResourceFacts> resources;
  for (const size_t call : program.CallsOf(Method::ID3D12Device_CreateCommittedResource)) {
    const std::optional<TestRecord> object = ObjectMadeBy(program.records()[call].header.number);
    ASSERT_TRUE(object.has_value());
    ASSERT_EQ(object->As<ObjectBody>().facts, kResourceFacts);
    resources.push_back(object->As<ResourceFacts>(sizeof(ObjectBody)));
  }
  ASSERT_EQ(resources.size(), 4u);
  EXPECT_NE(resources[0].gpu_address, 0u);
  EXPECT_EQ(resources[0].size_bytes, kBytes);
  EXPECT_EQ(resources[0].heap_type, static_cast<uint32_t>(D3D12_HEAP_TYPE_UPLOAD));
  EXPECT_EQ(resources[1].heap_type, static_cast<uint32_t>(D3D12_HEAP_TYPE_READBACK));
  EXPECT_EQ(resources[2].gpu_address, 0u);
  D3D12_RESOURCE_DESC desc;
  std::memcpy(&desc, resources[2].desc, sizeof(desc));
  EXPECT_EQ(desc.Width, 16u);
  EXPECT_EQ(desc.Format, DXGI_FORMAT_R8G8B8A8_UNORM);

  const std::vector<size_t> heaps = program.CallsOf(Method::ID3D12Device_CreateDescriptorHeap);
  ASSERT_EQ(heaps.size(), 2u);
  const std::optional<TestRecord> heap = ObjectMadeBy(program.records()[heaps[0]].header.number);
  ASSERT_TRUE(heap.has_value());
  const auto facts = heap->As<DescriptorHeapFacts>(sizeof(ObjectBody));
  EXPECT_EQ(facts.count, 4u);
  EXPECT_EQ(facts.gpu_start, 0u);
  // The view was made at the start of the heap.
  Arena arena;
  const std::vector<size_t> views = program.CallsOf(Method::ID3D12Device_CreateRenderTargetView);
  ASSERT_EQ(views.size(), 1u);
  EXPECT_EQ(Argument<uint64_t>(ArgumentsOf(views[0], &arena), 2), facts.cpu_start);
}

TEST(CaptureTest, ObjectsInArgumentsAreNumbers) {
  const std::vector<size_t> copies =
      program.CallsOf(Method::ID3D12GraphicsCommandList_CopyBufferRegion);
  ASSERT_EQ(copies.size(), 4u);
  const std::vector<size_t> made = program.CallsOf(Method::ID3D12Device_CreateCommittedResource);
  Arena arena;
  const DecodedCall call = ArgumentsOf(copies[0], &arena);
  EXPECT_EQ(Argument<uint64_t>(call, 0),
            ObjectMadeBy(program.records()[made[1]].header.number)->header.object);
  EXPECT_EQ(Argument<uint64_t>(call, 2),
            ObjectMadeBy(program.records()[made[0]].header.number)->header.object);
  EXPECT_EQ(Argument<uint64_t>(call, 4), kBytes);
}

TEST(CaptureTest, BreadcrumbsNoteTheirCall) {
  const std::vector<size_t> clears =
      program.CallsOf(Method::ID3D12GraphicsCommandList_ClearRenderTargetView);
  ASSERT_EQ(clears.size(), 1u);
  EXPECT_THAT(noted_calls, testing::ElementsAre(program.records()[clears[0]].header.number));
}

TEST(CaptureTest, AMarkerOfAQueueEndsAFrame) {
  const std::vector<size_t> frames = program.PlacesOf(RecordKind::kFrame);
  ASSERT_EQ(frames.size(), 2u);
  const auto body = program.records()[frames[0]].As<FrameBody>();
  EXPECT_EQ(body.frame, 0u);
  EXPECT_EQ(body.how, static_cast<uint32_t>(FrameEndKind::kMarker));
  EXPECT_EQ(body.hashed, 1u);
}

TEST(CaptureTest, WhatTheCpuWroteStandsBeforeTheSubmission) {
  const std::vector<size_t> submissions =
      program.CallsOf(Method::ID3D12CommandQueue_ExecuteCommandLists);
  ASSERT_FALSE(submissions.empty());
  const std::vector<size_t> made = program.CallsOf(Method::ID3D12Device_CreateCommittedResource);
  const uint64_t upload = ObjectMadeBy(program.records()[made[0]].header.number)->header.object;
  std::vector<std::byte> seen(kBytes);
  for (const size_t i : program.PlacesOf(RecordKind::kMemory)) {
    if (i > submissions[0]) break;
    EXPECT_EQ(program.records()[i].header.object, upload);
    const std::vector<std::byte> bytes =
        TestWatcher::Bytes(program.records(), program.records()[i], sizeof(MemoryBody));
    const uint64_t offset = program.records()[i].As<MemoryBody>().offset_bytes;
    ASSERT_LE(offset + bytes.size(), kBytes);
    std::copy(bytes.begin(), bytes.end(), seen.begin() + static_cast<ptrdiff_t>(offset));
  }
  EXPECT_EQ(seen, std::vector<std::byte>(kBytes, std::byte{0x5A}));
}

// Places of the hashes of the buffer that was the n-th resource.
std::vector<size_t> HashesOf(size_t resource) {
  const std::vector<size_t> made = program.CallsOf(Method::ID3D12Device_CreateCommittedResource);
  const uint64_t number =
      ObjectMadeBy(program.records()[made[resource]].header.number)->header.object;
  std::vector<size_t> found;
  for (const size_t i : program.PlacesOf(RecordKind::kReadback)) {
    if (program.records()[i].header.object == number) found.push_back(i);
  }
  return found;
}

bool IsHashOf(const ReadbackBody& body, const std::vector<unsigned char>& bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return body.hash_low == hash.low64 && body.hash_high == hash.high64;
}

TEST(CaptureTest, WhatTheCpuReadIsHashed) {
  const std::vector<size_t> hashes = HashesOf(1);
  ASSERT_EQ(hashes.size(), 1u);
  const auto body = program.records()[hashes[0]].As<ReadbackBody>();
  EXPECT_EQ(body.offset_bytes, 0u);
  EXPECT_EQ(body.row_count, 1u);
  EXPECT_EQ(body.row_bytes, kBytes);
  EXPECT_NE(body.fence, 0u);
  EXPECT_TRUE(IsHashOf(body, std::vector<unsigned char>(kBytes, 0x5A)));
  // The program mapped it here.
  const std::vector<size_t> maps = program.CallsOf(Method::ID3D12Resource_Map);
  ASSERT_EQ(maps.size(), 3u);
  EXPECT_GT(hashes[0], maps[2]);
}

TEST(CaptureTest, WhatStaysMappedIsHashedWhenItIsThere) {
  const std::vector<size_t> hashes = HashesOf(3);
  ASSERT_EQ(hashes.size(), 4u);
  std::vector<unsigned char> pixels;
  for (uint32_t i = 0; i < kTargetSize * kTargetSize; ++i) {
    pixels.insert(pixels.end(), {0x40, 0x80, 0xBF, 0xFF});
  }
  for (const size_t place : hashes) {
    const auto body = program.records()[place].As<ReadbackBody>();
    if (body.offset_bytes == kPlacedAt) {
      EXPECT_EQ(body.row_count, kTargetSize);
      EXPECT_EQ(body.row_bytes, kTargetSize * 4u);
      EXPECT_EQ(body.row_pitch_bytes, kRowPitch);
      EXPECT_TRUE(IsHashOf(body, pixels));
    } else {
      EXPECT_EQ(body.offset_bytes, 0u);
      EXPECT_TRUE(IsHashOf(body, std::vector<unsigned char>(kPart, 0x5A)));
    }
  }
  // Each after its submission and before the next one.
  const std::vector<size_t> submissions =
      program.CallsOf(Method::ID3D12CommandQueue_ExecuteCommandLists);
  ASSERT_EQ(submissions.size(), 5u);
  EXPECT_GT(hashes[0], submissions[2]);
  EXPECT_LT(hashes[1], submissions[3]);
  EXPECT_GT(hashes[2], submissions[3]);
  EXPECT_LT(hashes[2], submissions[4]);
  EXPECT_GT(hashes[3], submissions[4]);
}

TEST(CaptureTest, AFrameEndsWithTheLastTarget) {
  const std::vector<size_t> frames = program.PlacesOf(RecordKind::kFrame);
  ASSERT_EQ(frames.size(), 2u);
  const auto body = program.records()[frames[1]].As<FrameBody>();
  EXPECT_EQ(body.frame, 1u);
  EXPECT_EQ(body.how, static_cast<uint32_t>(FrameEndKind::kEnd));
  EXPECT_EQ(body.hashed, 1u);
  const std::vector<size_t> made = program.CallsOf(Method::ID3D12Device_CreateCommittedResource);
  const uint64_t target = ObjectMadeBy(program.records()[made[2]].header.number)->header.object;
  EXPECT_EQ(program.records()[frames[1]].header.object, target);
  // The same image as in the frame before, in which it was cleared.
  const auto first = program.records()[frames[0]].As<FrameBody>();
  EXPECT_EQ(program.records()[frames[0]].header.object, target);
  EXPECT_EQ(first.hash_low, body.hash_low);
  EXPECT_EQ(first.hash_high, body.hash_high);
}

TEST(CaptureTest, ACallThatFailsHasNoOutputs) {
  const std::vector<size_t> heaps = program.CallsOf(Method::ID3D12Device_CreateDescriptorHeap);
  ASSERT_EQ(heaps.size(), 2u);
  const size_t result = ResultOf(program.records()[heaps[1]].header.number);
  Arena arena;
  DecodedCall decoded;
  const MethodInfo& method = Describe(Method::ID3D12Device_CreateDescriptorHeap);
  const std::span<const std::byte> body(program.records()[result].body);
  ASSERT_TRUE(DecodeResults(method, body.subspan(sizeof(ResultBody)), {}, &arena, &decoded).ok());
  int32_t code = 0;
  std::memcpy(&code, decoded.result, sizeof(code));
  EXPECT_LT(code, 0);
}

TEST(CaptureTest, EveryObjectEnds) {
  std::vector<uint64_t> made;
  std::vector<uint64_t> ended;
  for (const TestRecord& record : program.records()) {
    if (record.header.kind == RecordKind::kObject) made.push_back(record.header.object);
    if (record.header.kind == RecordKind::kObjectEnd) ended.push_back(record.header.object);
  }
  EXPECT_THAT(ended, testing::UnorderedElementsAreArray(made));
  // The device is the last.
  EXPECT_EQ(ended.back(), program.records()[0].header.object);
}

}  // namespace
}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
