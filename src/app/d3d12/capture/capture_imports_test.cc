// SPDX-License-Identifier: Apache-2.0
//
// Heaps over memory of the program: a capture has their properties, the bytes of the buffers in them, and what the
// CPU writes there without a call. Objects that are opened from handles: what they stand for, and what they hold.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/capture/testing/test_watcher.h"
#include "app/d3d12/capture/import_capture.h"
#include "app/d3d12/capture/testing/queue_and_list.h"
#include "app/d3d12/layer.h"
#include "app/d3d12/testing/test_device.h"
#include "app/d3d12/wrapper.h"
#include "base/testing/leaks_are_meant.h"
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
  void PlaceTexture() {
    D3D12_RESOURCE_DESC desc = {};
    desc.Dimension = D3D12_RESOURCE_DIMENSION_TEXTURE2D;
    desc.Width = 4;
    desc.Height = 4;
    desc.DepthOrArraySize = 1;
    desc.MipLevels = 1;
    desc.Format = DXGI_FORMAT_R8G8B8A8_UNORM;
    desc.SampleDesc.Count = 1;
    ASSERT_EQ(device_->CreatePlacedResource(heap.get(), kOffset, &desc, D3D12_RESOURCE_STATE_COMMON,
                                            nullptr, __uuidof(ID3D12Resource), texture_.Receive()),
              S_OK);
  }
  // The last reference goes, while the implementation keeps the buffer; then the program has it again.
  void ReleaseAndWake() {
    ID3D12Resource* const pointer = buffer.get();
    ComPtr<IUnknown> kept(RealObject(pointer));
    EXPECT_EQ(buffer.Detach()->Release(), 0u);
    EXPECT_EQ(pointer->AddRef(), 1u);
    *buffer.Receive() = pointer;
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
  ComPtr<ID3D12Resource> texture_;
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

TEST_P(CaptureImportsTest, ABufferThatIsBroughtBackIsFollowedAgain) {
  Begin();
  Open();
  Place();
  program_->Submit();
  program_->ReleaseAndWake();
  program_->Write(100, 7);
  program_->Submit();
  EXPECT_THAT(End().writes,
              ElementsAre("0+8192: 5", "submission", "0+8192: 5", "100+1: 7", "submission"));
}

TEST_P(CaptureImportsTest, ALateRecordingReadsNoMemoryOfABufferThatWasBroughtBack) {
  CaptureSettings late;
  late.start_frame = 1;
  Begin(late);
  Open();
  Place();
  program_->Submit();
  program_->ReleaseAndWake();
  program_->memory = SparseMemory();
  program_->EndFrame();
  EXPECT_THAT(End().contents, ElementsAre("0+8192: 5")) << "as they were seen last";
}

TEST_P(CaptureImportsTest, ATextureIsNamed) {
  Begin();
  Open();
  program_->PlaceTexture();
  EXPECT_THAT(End().notes, ElementsAre(HasSubstr("is a texture in a heap that the program")));
}

std::vector<ImportFacts> OpenedIn(const std::vector<TestRecord>& records, Chain chain) {
  std::vector<ImportFacts> found;
  for (const TestRecord& record : records) {
    if (record.header.kind != RecordKind::kObject) continue;
    const auto body = record.As<ObjectBody>();
    if (body.chain != static_cast<uint32_t>(chain)) continue;
    const bool is_resource = body.facts == kResourceFacts;
    const size_t at = sizeof(ObjectBody) + (is_resource ? sizeof(ResourceFacts) : 0);
    if (record.body.size() >= at + sizeof(ImportFacts)) found.push_back(record.As<ImportFacts>(at));
  }
  return found;
}

// Objects of a device without the layer stand for those of another process: here a handle is the object.
TEST(CaptureHandlesTest, WhatAnotherProcessSharesIsRecordedWithWhatItHolds) {
  TestWatcher watcher;
  ASSERT_TRUE(Capture::Start({}).ok());
  ComPtr<ID3D12Device> other;
  *other.Receive() = CreateNewerFakeDevice();
  const ComPtr<ID3D12Fence> shared_fence = MakeFence(other.get(), D3D12_FENCE_FLAG_SHARED);
  EXPECT_EQ(shared_fence->Signal(4), S_OK);
  ComPtr<ID3D12Resource> shared_buffer;
  ASSERT_EQ(CreateBuffer(other.get(), kBytes, __uuidof(ID3D12Resource), shared_buffer.Receive()),
            S_OK);
  std::memset(reinterpret_cast<void*>(shared_buffer->GetGPUVirtualAddress()), 9, kBytes);
  const ComPtr<ID3D12Fence> known_fence = MakeFence(other.get(), D3D12_FENCE_FLAG_SHARED);
  const auto handle_of = [&](ID3D12DeviceChild* object) {
    HANDLE handle = {};
    EXPECT_EQ(other->CreateSharedHandle(object, nullptr, 0, nullptr, &handle), S_OK);
    return handle;
  };
  uint64_t buffer_number = 0;
  {
    ComPtr<ID3D12Device> device;
    *device.Receive() = WrapDevice(CreateNewerFakeDevice(), {});
    ComPtr<ID3D12Fence> fence, known;
    ComPtr<ID3D12Resource> buffer;
    EXPECT_EQ(device->OpenSharedHandle(handle_of(shared_fence.get()), __uuidof(ID3D12Fence),
                                       fence.Receive()),
              S_OK);
    EXPECT_EQ(device->OpenSharedHandle(handle_of(shared_buffer.get()), __uuidof(ID3D12Resource),
                                       buffer.Receive()),
              S_OK);
    buffer_number = AsWrapper(buffer.get())->capture_number();
    SharedHandles::Get().Created(handle_of(known_fence.get()), nullptr, 2, 77);
    EXPECT_EQ(device->OpenSharedHandle(handle_of(known_fence.get()), __uuidof(ID3D12Fence),
                                       known.Receive()),
              S_OK);
  }
  const std::vector<TestRecord> records = watcher.Finish();
  const std::vector<ImportFacts> fences = OpenedIn(records, Chain::kID3D12Fence);
  ASSERT_EQ(fences.size(), 2u);
  EXPECT_EQ(fences[0].source, static_cast<uint32_t>(ImportSource::kHandle));
  EXPECT_EQ(fences[0].place, HandleValue(handle_of(shared_fence.get())));
  EXPECT_EQ(fences[0].value, 4u);
  EXPECT_EQ(fences[0].original, 0u);
  EXPECT_EQ(fences[1].original, 77u);
  EXPECT_EQ(OpenedIn(records, Chain::kID3D12Resource).size(), 1u);
  const Told told = Look(records, buffer_number);
  EXPECT_THAT(told.contents, ElementsAre("0+8192: 9"));
  EXPECT_THAT(told.notes, ElementsAre(HasSubstr("was opened from a handle of another process"),
                                      HasSubstr("was opened from a handle of another process")));
}

// A device without the layer, as one of another process, with buffers and a heap full of nines.
class Others {
 public:
  Others() {
    *device_.Receive() = CreateNewerFakeDevice();
    committed = Buffer();
    D3D12_HEAP_DESC desc = {};
    desc.SizeInBytes = kBytes;
    desc.Properties.Type = D3D12_HEAP_TYPE_DEFAULT;
    EXPECT_EQ(device_->CreateHeap(&desc, __uuidof(ID3D12Heap), heap.Receive()), S_OK);
    placed = Place(device_.get(), heap.get());
    for (ID3D12Resource* const buffer : {committed.get(), placed.get()}) {
      std::memset(reinterpret_cast<void*>(buffer->GetGPUVirtualAddress()), 9, kBytes);
    }
  }
  ComPtr<ID3D12Resource> Buffer() const {
    ComPtr<ID3D12Resource> buffer;
    EXPECT_EQ(CreateBuffer(device_.get(), kBytes, __uuidof(ID3D12Resource), buffer.Receive(),
                           D3D12_HEAP_TYPE_DEFAULT),
              S_OK);
    return buffer;
  }
  static ComPtr<ID3D12Resource> Place(ID3D12Device* device, ID3D12Heap* heap) {
    const D3D12_RESOURCE_DESC desc = BufferDesc(kBytes);
    ComPtr<ID3D12Resource> buffer;
    EXPECT_EQ(device->CreatePlacedResource(heap, 0, &desc, D3D12_RESOURCE_STATE_COMMON, nullptr,
                                           __uuidof(ID3D12Resource), buffer.Receive()),
              S_OK);
    return buffer;
  }
  HANDLE HandleOf(ID3D12DeviceChild* object) const {
    HANDLE handle = {};
    EXPECT_EQ(device_->CreateSharedHandle(object, nullptr, 0, nullptr, &handle), S_OK);
    return handle;
  }
  static int FirstByte(ID3D12Resource* buffer) {
    return *reinterpret_cast<const unsigned char*>(buffer->GetGPUVirtualAddress());
  }

  ComPtr<ID3D12Resource> committed;
  ComPtr<ID3D12Heap> heap;
  ComPtr<ID3D12Resource> placed;

 private:
  ComPtr<ID3D12Device> device_;
};

TEST(CaptureHandlesTest, HashesOfResourcesWriteNothingIntoMemoryOfOthers) {
  TestWatcher watcher;
  CaptureSettings settings;
  settings.hash_resources = true;
  ASSERT_TRUE(Capture::Start(settings).ok());
  const Others others;
  uint64_t committed_number = 0;
  uint64_t placed_number = 0;
  {
    ComPtr<ID3D12Device> device;
    *device.Receive() = WrapDevice(CreateNewerFakeDevice(), {});
    ComPtr<ID3D12Resource> committed;
    EXPECT_EQ(device->OpenSharedHandle(others.HandleOf(others.committed.get()),
                                       __uuidof(ID3D12Resource), committed.Receive()),
              S_OK);
    committed_number = AsWrapper(committed.get())->capture_number();
    ComPtr<ID3D12Heap> heap;
    EXPECT_EQ(device->OpenSharedHandle(others.HandleOf(others.heap.get()), __uuidof(ID3D12Heap),
                                       heap.Receive()),
              S_OK);
    const ComPtr<ID3D12Resource> placed = Others::Place(device.get(), heap.get());
    placed_number = AsWrapper(placed.get())->capture_number();
  }
  EXPECT_EQ(Others::FirstByte(others.committed.get()), 9);
  EXPECT_EQ(Others::FirstByte(others.placed.get()), 9);
  const std::vector<TestRecord> records = watcher.Finish();
  EXPECT_THAT(Look(records, committed_number).contents, ElementsAre("0+8192: 9"));
  EXPECT_THAT(Look(records, placed_number).contents, ElementsAre("0+8192: 9"));
  for (const TestRecord& record : records) {
    EXPECT_NE(record.header.kind, RecordKind::kResourceHash) << record.header.object;
  }
}

TEST(CaptureHandlesTest, AGpuWithoutAnAnswerIsNotWaitedForAgainAndAgain) {
  const LeaksAreMeant left_behind;
  TestWatcher watcher;
  ASSERT_TRUE(Capture::Start({}).ok());
  const Others others;
  {
    ComPtr<ID3D12Device> device;
    *device.Receive() = WrapDevice(CreateNewerFakeDevice(), {});
    const auto open = [&] {
      const ComPtr<ID3D12Resource> shared = others.Buffer();
      ComPtr<ID3D12Resource> buffer;
      EXPECT_EQ(device->OpenSharedHandle(others.HandleOf(shared.get()), __uuidof(ID3D12Resource),
                                         buffer.Receive()),
                S_OK);
    };
    HoldsNativeQueue(true);
    open();
    HoldsNativeQueue(false);
    HoldFakeSignals(true);
    for (int i = 0; i < 4; ++i) open();
    HoldFakeSignals(false);
    open();
  }
  std::vector<std::string> notes = Look(watcher.Finish(), 0).notes;
  std::erase_if(notes, [](const std::string& note) { return !note.starts_with("what resource"); });
  EXPECT_THAT(
      notes, ElementsAre(HasSubstr("the program holds the Vulkan queue"),
                         HasSubstr("did not finish a copy within 500 ms"),
                         HasSubstr("did not finish a copy within 500 ms"),
                         HasSubstr("did not finish a copy within 500 ms"),
                         HasSubstr("did not answer earlier"), HasSubstr("did not answer earlier")));
}

TEST(CaptureHandlesTest, AScopeWithinAnotherEndsByItself) {
  EXPECT_FALSE(ImportScope::Current().has_value());
  const ImportScope outer({ImportSource::kHandle, 5});
  {
    const ImportScope inner({ImportSource::kAddress, 6});
    ImportScope::NoteRecorded();
    EXPECT_EQ(ImportScope::Current()->place, 6u);
    EXPECT_TRUE(inner.recorded());
  }
  EXPECT_EQ(ImportScope::Current()->place, 5u);
  EXPECT_FALSE(outer.recorded());
  ImportScope::NoteRecorded();
  EXPECT_TRUE(outer.recorded());
}

TEST(CaptureHandlesTest, HandlesAndNamesStandForTheObjectThatWasSharedLast) {
  SharedHandles handles;
  int places[3] = {};
  const auto handle = [&](int i) {
    HANDLE value = {};
    int* const place = &places[i];
    std::memcpy(&value, &place, sizeof(value));
    return value;
  };
  EXPECT_EQ(handles.Find(handle(0)), 0u);
  handles.Created(handle(0), u"Shared", 2, 5);
  EXPECT_EQ(handles.Find(handle(0)), 5u);
  handles.Opened(handle(1), u"Shared", 2);
  EXPECT_EQ(handles.Find(handle(1)), 5u);
  handles.Opened(handle(1), u"Other", 2);
  EXPECT_EQ(handles.Find(handle(1)), 0u) << "the number of a closed handle came again";
  handles.Created(handle(0), nullptr, 2, 6);
  EXPECT_EQ(handles.Find(handle(0)), 6u);
  handles.Opened(handle(2), u"", 2);
  EXPECT_EQ(handles.Find(handle(2)), 0u);
}

INSTANTIATE_TEST_SUITE_P(Sources, CaptureImportsTest,
                         testing::Values(ImportSource::kAddress, ImportSource::kFileMapping));

}  // namespace
}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
