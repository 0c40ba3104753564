// SPDX-License-Identifier: Apache-2.0
//
// Heaps over memory of the program: a capture has their properties, the bytes of the buffers in them, and what the
// CPU writes there without a call.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/capture/testing/test_watcher.h"
#include "app/d3d12/capture/testing/queue_and_list.h"
#include "app/d3d12/layer.h"
#include "app/d3d12/testing/test_device.h"
#include "app/d3d12/wrapper.h"
#include "d3d12abi/buffer_desc.h"
#include "d3d12abi/testing/fake_device.h"
#include "format/calls/import_facts.h"
#include "os/environment.h"
#include "os/memory.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr uint64_t kBytes = 8192;
constexpr uint64_t kOffset = 4096;

// A program with a buffer in a heap over its own memory.
class Program {
 public:
  explicit Program(ID3D12Device* device)
      : memory(SparseMemory::Reserve(kFakeImportedBytes)), device_(device), commands_(device) {
    memory.data()[kOffset] = std::byte{5};
  }

  void OpenAddress() {
    ComPtr<ID3D12Device3> device;
    ASSERT_EQ(device_->QueryInterface(__uuidof(ID3D12Device3),
                                      reinterpret_cast<void**>(device.Receive())),
              S_OK);
    ASSERT_EQ(
        device->OpenExistingHeapFromAddress(memory.data(), __uuidof(ID3D12Heap), heap.Receive()),
        S_OK);
    EXPECT_EQ(device->OpenExistingHeapFromAddress(memory.data() + 1, __uuidof(ID3D12Heap),
                                                  refused_.Receive()),
              E_INVALIDARG);
  }
  void OpenMapping() {
    ComPtr<ID3D12Device3> device;
    ASSERT_EQ(device_->QueryInterface(__uuidof(ID3D12Device3),
                                      reinterpret_cast<void**>(device.Receive())),
              S_OK);
    HANDLE mapping = {};
    std::byte* const data = memory.data();
    std::memcpy(&mapping, &data, sizeof(mapping));
    ASSERT_EQ(
        device->OpenExistingHeapFromFileMapping(mapping, __uuidof(ID3D12Heap), heap.Receive()),
        S_OK);
  }
  void Place() {
    const D3D12_RESOURCE_DESC desc = BufferDesc(kBytes);
    ASSERT_EQ(device_->CreatePlacedResource(heap.get(), kOffset, &desc, D3D12_RESOURCE_STATE_COMMON,
                                            nullptr, __uuidof(ID3D12Resource), buffer.Receive()),
              S_OK);
  }
  // Without Map.
  void Write(uint64_t offset, int value) const {
    memory.data()[kOffset + offset] = static_cast<std::byte>(value);
  }
  void Submit() const {
    ID3D12CommandList* const list = commands_.list.get();
    ASSERT_EQ(commands_.list->Close(), S_OK);
    commands_.queue->ExecuteCommandLists(1, &list);
    ASSERT_EQ(commands_.list->Reset(commands_.allocator.get(), nullptr), S_OK);
  }
  void EndFrame() const {
    constexpr char kFrame[] = "cairn:frame";
    commands_.queue->SetMarker(1, kFrame, sizeof(kFrame));  // PIX_EVENT_ANSI_VERSION
  }

  SparseMemory memory;
  ComPtr<ID3D12Heap> heap;
  ComPtr<ID3D12Resource> buffer;

 private:
  ID3D12Device* const device_;
  const QueueAndList commands_;
  ComPtr<ID3D12Heap> refused_;
};

struct Told {
  std::vector<ImportFacts> heaps;
  std::vector<std::string> writes;    // "OFFSET+SIZE: first byte", "submission"
  std::vector<std::string> contents;  // "OFFSET+SIZE: first byte"
  std::vector<std::string> notes;
};

Told Look(const std::vector<TestRecord>& records, uint64_t buffer) {
  Told told;
  const auto bytes_at = [&](const TestRecord& record, size_t head, uint64_t offset) {
    const std::vector<std::byte> bytes = TestWatcher::Bytes(records, record, head);
    return std::to_string(offset) + "+" + std::to_string(bytes.size()) + ": " +
           std::to_string(bytes.empty() ? -1 : static_cast<int>(bytes[0]));
  };
  for (const TestRecord& record : records) {
    switch (record.header.kind) {
      case RecordKind::kObject:
        if (record.As<ObjectBody>().facts == kImportFacts) {
          told.heaps.push_back(record.As<ImportFacts>(sizeof(ObjectBody)));
        }
        break;
      case RecordKind::kMemory:
        EXPECT_EQ(record.header.object, buffer);
        told.writes.push_back(
            bytes_at(record, sizeof(MemoryBody), record.As<MemoryBody>().offset_bytes));
        break;
      case RecordKind::kContents:
        if (record.header.object != buffer) break;
        told.contents.push_back(
            bytes_at(record, sizeof(ContentsBody), record.As<ContentsBody>().offset_bytes));
        break;
      case RecordKind::kCall:
        if (record.header.method ==
            static_cast<uint16_t>(Method::ID3D12CommandQueue_ExecuteCommandLists)) {
          told.writes.emplace_back("submission");
        }
        break;
      case RecordKind::kNote:
        told.notes.emplace_back(
            reinterpret_cast<const char*>(record.body.data()) + sizeof(NoteBody),
            record.As<NoteBody>().text_bytes);
        break;
      default: break;
    }
  }
  return told;
}

class CaptureImportsTest : public testing::TestWithParam<ImportSource> {
 protected:
  void Begin(CaptureSettings settings = {}) {
    ASSERT_TRUE(Capture::Start(settings).ok());
    *device_.Receive() = WrapDevice(CreateNewerFakeDevice(), {});
    program_.emplace(device_.get());
  }
  Told End() {
    program_.reset();
    device_ = {};
    return Look(watcher_.Finish(), buffer_);
  }
  void Open() {
    GetParam() == ImportSource::kAddress ? program_->OpenAddress() : program_->OpenMapping();
  }
  void Place() {
    program_->Place();
    buffer_ = AsWrapper(program_->buffer.get())->capture_number();
  }

  TestWatcher watcher_;
  ComPtr<ID3D12Device> device_;
  std::optional<Program> program_;
  uint64_t buffer_ = 0;
};

TEST_P(CaptureImportsTest, WhatIsWrittenIsRecordedBeforeTheSubmission) {
  Begin();
  Open();
  Place();
  program_->Write(100, 7);
  program_->Submit();
  program_->Submit();
  void* data = nullptr;
  ASSERT_EQ(program_->buffer->Map(0, nullptr, &data), S_OK);
  EXPECT_EQ(data, program_->memory.data() + kOffset);
  program_->Write(101, 8);
  program_->buffer->Unmap(0, nullptr);
  program_->Submit();
  const uint64_t address = reinterpret_cast<uintptr_t>(program_->memory.data());
  const Told told = End();
  ASSERT_EQ(told.heaps.size(), 1u);
  const ImportFacts& heap = told.heaps[0];
  EXPECT_EQ(heap.source, static_cast<uint32_t>(GetParam()));
  EXPECT_EQ(heap.place, address);
  EXPECT_EQ(heap.value, kFakeImportedBytes);
  EXPECT_EQ(heap.heap_type, static_cast<uint32_t>(D3D12_HEAP_TYPE_CUSTOM));
  EXPECT_EQ(heap.cpu_page_property, static_cast<uint32_t>(D3D12_CPU_PAGE_PROPERTY_WRITE_BACK));
  EXPECT_EQ(heap.memory_pool, static_cast<uint32_t>(D3D12_MEMORY_POOL_L0));
  EXPECT_THAT(told.writes, ElementsAre("0+8192: 5", "100+1: 7", "submission", "submission",
                                       "101+1: 8", "submission"));
  EXPECT_THAT(told.notes, IsEmpty());
}

TEST_P(CaptureImportsTest, MemoryThatIsGoneIsSaidOnceAndNotRead) {
  Begin();
  Open();
  Place();
  program_->memory = SparseMemory();
  program_->Submit();
  program_->Submit();
  EXPECT_THAT(End().notes,
              ElementsAre(HasSubstr("lies in a heap that the program imported, whose memory")));
}

TEST_P(CaptureImportsTest, ALateRecordingHasTheContents) {
  CaptureSettings late;
  late.start_frame = 1;
  Begin(late);
  Open();
  Place();
  program_->Submit();
  program_->Write(0, 6);
  program_->EndFrame();
  program_->Write(1, 9);
  program_->Submit();
  const Told told = End();
  EXPECT_EQ(told.heaps.size(), 1u);
  EXPECT_THAT(told.contents, ElementsAre("0+8192: 6"));
  EXPECT_THAT(told.writes, ElementsAre("submission", "1+1: 9", "submission"));
}

TEST_P(CaptureImportsTest, ALateRecordingReadsNothingThatIsGone) {
  CaptureSettings late;
  late.start_frame = 1;
  Begin(late);
  Open();
  Place();
  program_->Submit();
  program_->memory = SparseMemory();
  program_->EndFrame();
  EXPECT_THAT(End().contents, ElementsAre("0+8192: 5")) << "as they were seen last";
}

INSTANTIATE_TEST_SUITE_P(Sources, CaptureImportsTest,
                         testing::Values(ImportSource::kAddress, ImportSource::kFileMapping));

}  // namespace
}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
