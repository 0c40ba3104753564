// SPDX-License-Identifier: Apache-2.0
//
// Checks that a program cannot tell wrappers from objects of a real device.
#include "app/d3d12/layer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "app/annotations/d3d12_types.h"
#include "app/breadcrumbs/layer_identity.h"
#include "app/breadcrumbs/testing/d3d12_test_gpu.h"
#include "app/d3d12/device.h"
#include "app/d3d12/globals.h"
#include "app/d3d12/object_kind.h"
#include "app/d3d12/testing/test_device.h"
#include "app/recorder/block_writer.h"
#include "d3d12abi/aggregates.h"
#include "os/thread.h"

namespace cairn {
namespace {

// A device of its own for each test, with one reference that is the test's.
ComPtr<ID3D12Device> WrappedDevice(uint32_t wchar_bytes = sizeof(wchar_t)) {
  DeviceOrigin origin;
  origin.wchar_bytes = wchar_bytes;
  origin.application = "layer test";
  ComPtr<ID3D12Device> device;
  *device.Receive() = WrapDevice(TestDevice().Detach(), origin);
  return device;
}

const ObjectRecord& RecordOf(IUnknown* object) {
  return *ProcessBlock()->objects().Find(AsWrapper(object)->object_index());
}

std::string NameOfRecord(IUnknown* object) {
  const ObjectRecord& record = RecordOf(object);
  return std::string(record.name, record.name_length & ~kObjectNameCut);
}

const IID& Guid(const InterfaceInfo& info) {
  return reinterpret_cast<const IID&>(info.iid);
}

bool IsTools(const InterfaceInfo& info) {
  return std::string_view(info.name).starts_with("ID3D12DeviceTools");
}

TEST(LayerTest, ADeviceIsFoundAgainByItsRealDevice) {
  ID3D12Device* const real = TestDevice().Detach();
  real->AddRef();
  ID3D12Device* const first = WrapDevice(real, {});
  EXPECT_NE(first, real);
  EXPECT_EQ(WrapDevice(real, {}), first);
  EXPECT_EQ(CountOf(first), 2u);
  EXPECT_EQ(CountOf(real), 2u) << "of the wrapper and of its breadcrumbs";
  EXPECT_EQ(RealObject(first), real);
  EXPECT_EQ(RealObject(real), real);
  EXPECT_EQ(RealObject(static_cast<ID3D12Device*>(nullptr)), nullptr);
  EXPECT_EQ(FindWrapper(real), first);
  EXPECT_EQ(WrapDevice(first, {}), first) << "a wrapper is not wrapped again";
  EXPECT_EQ(first->Release(), 1u);
  EXPECT_EQ(first->Release(), 0u);
}

TEST(LayerTest, EveryInterfaceIsGrantedAsByTheRealObjectWithOneIdentity) {
  const ComPtr<ID3D12Device> device = WrappedDevice();
  auto objects = OneOfEach(device.get());
  EXPECT_EQ(objects.size(), 10u);
  objects["device"] = {};
  for (const auto& [kind, child] : objects) {
    IUnknown* const object = child ? static_cast<IUnknown*>(child.get()) : device.get();
    SCOPED_TRACE(kind);
    IUnknown* const real = RealObject(object);
    ASSERT_NE(real, object);
    for (const InterfaceInfo& info : Interfaces()) {
      SCOPED_TRACE(info.name);
      if (IsTools(info)) continue;
      ComPtr<IUnknown> expected, got;
      const HRESULT wanted = real->QueryInterface(Guid(info), expected.Receive());
      const uint32_t count = CountOf(object);
      EXPECT_EQ(object->QueryInterface(Guid(info), got.Receive()), wanted);
      EXPECT_EQ(static_cast<bool>(got), static_cast<bool>(expected));
      if (!got) continue;
      EXPECT_EQ(CountOf(object), count + 1);
      EXPECT_EQ(got.get(), object) << "versions of one interface share their pointer";
      EXPECT_EQ(RealObject(got.get()), expected.get());
    }
  }
}

TEST(LayerTest, UnknownInterfacesAreRefusedAndThePointerIsCleared) {
  const ComPtr<ID3D12Device> device = WrappedDevice();
  constexpr GUID kNobodysInterface = {1, 2, 3, {4, 5, 6, 7, 8, 9, 10, 11}};
  void* pointer = &pointer;
  EXPECT_EQ(device->QueryInterface(kNobodysInterface, &pointer), E_NOINTERFACE);
  EXPECT_EQ(pointer, nullptr);
  EXPECT_EQ(CountOf(device.get()), 1u);
}

// The same calls on a device and on its wrapper, and all counts on the way.
std::vector<uint32_t> CountsOfALife(ID3D12Device* device) {
  std::vector<uint32_t> counts;
  const auto note = [&] { counts.push_back(CountOf(device)); };
  note();
  ComPtr<ID3D12Resource> buffer;
  counts.push_back(static_cast<uint32_t>(
      CreateBuffer(device, 1024, __uuidof(ID3D12Resource), buffer.Receive())));
  note();
  ComPtr<ID3D12Device> again;
  buffer->GetDevice(__uuidof(ID3D12Device), again.Receive());
  EXPECT_EQ(again.get(), device);
  note();
  again = {};
  // Creations that fail leave nothing behind.
  void* failed = &failed;
  counts.push_back(static_cast<uint32_t>(
      device->CreateFence(0, D3D12_FENCE_FLAG_NONE, __uuidof(ID3D12Resource), &failed)));
  EXPECT_EQ(failed, nullptr);
  note();
  D3D12_RESOURCE_DESC bad = BufferDesc(1024);
  bad.MipLevels = 2;
  D3D12_HEAP_PROPERTIES heap = {};
  heap.Type = D3D12_HEAP_TYPE_UPLOAD;
  failed = &failed;
  counts.push_back(static_cast<uint32_t>(device->CreateCommittedResource(
      &heap, D3D12_HEAP_FLAG_NONE, &bad, D3D12_RESOURCE_STATE_GENERIC_READ, nullptr,
      __uuidof(ID3D12Resource), &failed)));
  counts.push_back(failed == &failed);
  note();
  {
    auto objects = OneOfEach(device);
    note();
    for (auto& [kind, object] : objects) {
      counts.push_back(CountOf(object.get()));
      const ComPtr<ID3D12DeviceChild> second = object;
      counts.push_back(CountOf(object.get()));
      note();
    }
  }
  note();
  counts.push_back(buffer.Detach()->Release());
  note();
  return counts;
}

TEST(LayerTest, CountsAreThoseOfTheRealDevice) {
  const ComPtr<ID3D12Device> real = TestDevice();
  const std::vector<uint32_t> expected = CountsOfALife(real.get());
  const ComPtr<ID3D12Device> device = WrappedDevice();
  EXPECT_EQ(CountsOfALife(device.get()), expected);
}

TEST(LayerTest, ADeviceLivesAsLongAsItsLastChild) {
  ComPtr<ID3D12Device> device = WrappedDevice();
  ID3D12Device* const pointer = device.get();
  ComPtr<ID3D12Fence> fence;
  ASSERT_EQ(device->CreateFence(3, D3D12_FENCE_FLAG_NONE, __uuidof(ID3D12Fence), fence.Receive()),
            S_OK);
  EXPECT_EQ(device.Detach()->Release(), 1u);
  ComPtr<ID3D12Device> again;
  EXPECT_EQ(fence->GetDevice(__uuidof(ID3D12Device), again.Receive()), S_OK);
  EXPECT_EQ(again.get(), pointer);
  again = {};
  EXPECT_EQ(fence->GetCompletedValue(), 3u);
  std::thread([&] { EXPECT_EQ(fence.Detach()->Release(), 0u); }).join();
  EXPECT_EQ(Wrappers().size(), 0u);
}

TEST(LayerTest, GetDeviceAnswersToEveryInterfaceOfTheDevice) {
  const ComPtr<ID3D12Device> device = WrappedDevice();
  for (const auto& [kind, object] : OneOfEach(device.get())) {
    SCOPED_TRACE(kind);
    ComPtr<IUnknown> unknown;
    EXPECT_EQ(object->GetDevice(__uuidof(IUnknown), unknown.Receive()), S_OK);
    EXPECT_EQ(unknown.get(), device.get());
    void* refused = &refused;
    EXPECT_EQ(object->GetDevice(__uuidof(ID3D12Fence), &refused), E_NOINTERFACE);
    EXPECT_EQ(refused, nullptr);
    ComPtr<ID3D12DeviceTools2> tools;
    EXPECT_EQ(object->GetDevice(__uuidof(ID3D12DeviceTools2), tools.Receive()), S_OK);
  }
  EXPECT_EQ(CountOf(device.get()), 1u);
}

TEST(LayerTest, ToolsAreAnInterfaceOfTheDeviceAndCountWithIt) {
  const ComPtr<ID3D12Device> device = WrappedDevice();
  ComPtr<ID3D12DeviceTools2> tools = device.As<ID3D12DeviceTools2>();
  ASSERT_TRUE(tools);
  EXPECT_EQ(CountOf(device.get()), 2u);
  EXPECT_EQ(CountOf(tools.get()), 2u);
  EXPECT_EQ(tools.As<ID3D12Device>().get(), device.get());
  EXPECT_EQ(tools.As<IUnknown>().get(), device.get());
  EXPECT_EQ(tools.As<ID3D12DeviceTools>().get(), tools.get());
  EXPECT_EQ(device.As<ID3D12DeviceTools1>().get(), tools.get());
  EXPECT_EQ(tools->GetUserDefinedAnnotationMode(), D3D12_USER_DEFINED_ANNOTATION_MODE_RUNTIME_ONLY);
  EXPECT_EQ(tools->SetUserDefinedAnnotationMode(D3D12_USER_DEFINED_ANNOTATION_MODE_DRIVER_RETAIL),
            S_OK);
  EXPECT_EQ(tools->GetUserDefinedAnnotationMode(),
            D3D12_USER_DEFINED_ANNOTATION_MODE_DRIVER_RETAIL);
  tools = {};
  EXPECT_EQ(CountOf(device.get()), 1u);
}

TEST(LayerTest, FeatureOfAnnotations) {
  const ComPtr<ID3D12Device> device = WrappedDevice();
  D3D12_FEATURE_DATA_USER_DEFINED_ANNOTATION data = {};
  EXPECT_EQ(device->CheckFeatureSupport(D3D12_FEATURE_USER_DEFINED_ANNOTATION, &data, sizeof(data)),
            S_OK);
  EXPECT_EQ(data.Supported, TRUE);
  EXPECT_EQ(device->CheckFeatureSupport(D3D12_FEATURE_USER_DEFINED_ANNOTATION, &data, 3),
            E_INVALIDARG);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"
// A COM object of the program, that counts.
class Foreign final : public IUnknown {
 public:
  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID, void**) override { return E_NOINTERFACE; }
  ULONG STDMETHODCALLTYPE AddRef() override { return ++references; }
  ULONG STDMETHODCALLTYPE Release() override { return --references; }
  std::atomic<ULONG> references{1};
};
#pragma GCC diagnostic pop

TEST(LayerTest, PrivateDataIsKeptByTheRealObjectAsItIs) {
  constexpr GUID kData = {0xdddddddd, 1, 2, {3, 4, 5, 6, 7, 8, 9, 10}};
  const ComPtr<ID3D12Device> device = WrappedDevice();
  for (const auto& [kind, object] : OneOfEach(device.get())) {
    SCOPED_TRACE(kind);
    Foreign foreign;
    const uint32_t value = 0xabcdef;
    EXPECT_EQ(object->SetPrivateData(kData, sizeof(value), &value), S_OK);
    uint32_t got = 0;
    UINT size = sizeof(got);
    EXPECT_EQ(object->GetPrivateData(kData, &size, &got), S_OK);
    EXPECT_EQ(got, value);
    size = 1;
    UINT real_size = 1;
    const HRESULT too_small = RealObject(object.get())->GetPrivateData(kData, &real_size, &got);
    EXPECT_TRUE(FAILED(too_small));
    EXPECT_EQ(object->GetPrivateData(kData, &size, &got), too_small);
    EXPECT_EQ(size, real_size);
    EXPECT_EQ(object->SetPrivateDataInterface(kData, &foreign), S_OK);
    EXPECT_EQ(foreign.references, 2u);
    IUnknown* pointer = nullptr;
    size = sizeof(pointer);
    EXPECT_EQ(object->GetPrivateData(kData, &size, &pointer), S_OK);
    EXPECT_EQ(pointer, &foreign);
    EXPECT_EQ(foreign.references, 3u);
    // One of ours: the same pointer comes back.
    EXPECT_EQ(object->SetPrivateDataInterface(kData, device.get()), S_OK);
    EXPECT_EQ(foreign.references, 2u);
    EXPECT_EQ(object->GetPrivateData(kData, &size, &pointer), S_OK);
    EXPECT_EQ(pointer, device.get());
    pointer->Release();
    EXPECT_EQ(object->SetPrivateData(kData, 0, nullptr), S_OK);
  }
  EXPECT_EQ(CountOf(device.get()), 1u);
}

TEST(LayerTest, PrivateDataEndsWithTheObject) {
  constexpr GUID kData = {0xdddddddd, 1, 2, {3, 4, 5, 6, 7, 8, 9, 11}};
  Foreign foreign;
  const ComPtr<ID3D12Device> device = WrappedDevice();
  for (auto& [kind, object] : OneOfEach(device.get())) {
    SCOPED_TRACE(kind);
    ASSERT_EQ(object->SetPrivateDataInterface(kData, &foreign), S_OK);
    EXPECT_EQ(foreign.references, 2u);
    ComPtr<ID3D12DeviceChild> last = object;
    object.Detach()->Release();
    const ULONG left = last.Detach()->Release();
    if (left != 0) continue;  // A list holds its allocator in this scene.
    EXPECT_EQ(foreign.references, 1u);
    foreign.references = 1;
  }
}

TEST(LayerTest, NamesAreInTheObjectTable) {
  const ComPtr<ID3D12Device> device = WrappedDevice();
  for (const auto& [kind, object] : OneOfEach(device.get())) {
    SCOPED_TRACE(kind);
    EXPECT_EQ(object->SetName(L"Größe \U0001F525"), S_OK);
    EXPECT_EQ(NameOfRecord(object.get()), "Größe \U0001F525");
    const HRESULT expected = RealObject(object.get())->SetName(nullptr);
    EXPECT_EQ(object->SetName(nullptr), expected);
    EXPECT_EQ(NameOfRecord(object.get()), "");
    constexpr GUID kNameUtf8 = {
        0x429b8c22, 0x9188, 0x4b0c, {0x87, 0x42, 0xac, 0xb0, 0xbf, 0x85, 0xc2, 0x00}};
    EXPECT_EQ(object->SetPrivateData(kNameUtf8, 6, "shadow"), S_OK);
    EXPECT_EQ(NameOfRecord(object.get()), "shadow");
    constexpr GUID kNameWide = {
        0x4cca5fd8, 0x921f, 0x42c8, {0x85, 0x66, 0x70, 0xca, 0xf2, 0xa9, 0xb7, 0x41}};
    EXPECT_EQ(object->SetPrivateData(kNameWide, sizeof(L"light"), L"light"), S_OK);
    EXPECT_EQ(NameOfRecord(object.get()), "light");
  }
  EXPECT_EQ(device->SetName(L"the device"), S_OK);
  EXPECT_EQ(NameOfRecord(device.get()), "the device");
}

TEST(LayerTest, RecordsOfObjects) {
  const ComPtr<ID3D12Device> device = WrappedDevice();
  ComPtr<ID3D12Resource> buffer;
  ASSERT_EQ(CreateBuffer(device.get(), 12345, __uuidof(ID3D12Resource), buffer.Receive()), S_OK);
  const ObjectRecord& record = RecordOf(buffer.get());
  EXPECT_EQ(record.kind, 34u);
  EXPECT_EQ(record.native_handle, reinterpret_cast<uintptr_t>(buffer.get()));
  EXPECT_EQ(record.gpu_address, buffer->GetGPUVirtualAddress());
  EXPECT_EQ(record.size_bytes, 12345u);
  EXPECT_EQ(record.state, static_cast<uint32_t>(ObjectState::kAlive));
  BlockWriter& block = *ProcessBlock();
  buffer = {};
  EXPECT_EQ(record.state, static_cast<uint32_t>(ObjectState::kDestroyed));
  const std::span destructions(reinterpret_cast<const DestructionRecord*>(
                                   block.data() + block.header()->destructions_offset),
                               kDestructionRing);
  const auto destruction = std::find_if(
      destructions.begin(), destructions.end(),
      [&record](const DestructionRecord& end) { return end.object_serial == record.serial; });
  ASSERT_NE(destruction, destructions.end()) << "who ended it is known";
  EXPECT_EQ(destruction->thread_id, CurrentThreadId());
  ComPtr<ID3D12Fence> fence;
  ASSERT_EQ(device->CreateFence(5, D3D12_FENCE_FLAG_NONE, __uuidof(ID3D12Fence), fence.Receive()),
            S_OK);
  const ObjectRecord& values = RecordOf(fence.get());
  EXPECT_EQ(values.kind, 23u);
  EXPECT_EQ(values.completed, 5u);
  EXPECT_EQ(fence->Signal(9), S_OK);
  EXPECT_EQ(values.signalled, 9u);
  EXPECT_EQ(fence->GetCompletedValue(), 9u);
  EXPECT_EQ(values.completed, 9u);
}

TEST(LayerTest, AResourceThatIsHeldOutlivesItsReferences) {
  ComPtr<ID3D12Device> device = WrappedDevice();
  ComPtr<ID3D12Resource> buffer;
  ASSERT_EQ(CreateBuffer(device.get(), 1024, __uuidof(ID3D12Resource), buffer.Receive()), S_OK);
  ID3D12Resource* const pointer = buffer.get();
  ULONG count = 0;
  EXPECT_TRUE(HoldResource(pointer, &count));
  EXPECT_EQ(count, 2u);
  EXPECT_EQ(CountOf(pointer), 1u);
  EXPECT_EQ(buffer.Detach()->Release(), 0u);
  EXPECT_EQ(CountOf(device.get()), 1u);
  EXPECT_EQ(pointer->AddRef(), 1u) << "it can be brought back";
  EXPECT_EQ(CountOf(device.get()), 2u);
  EXPECT_EQ(pointer->Release(), 0u);
  EXPECT_EQ(Wrappers().size(), 2u);
  EXPECT_TRUE(DropResource(pointer, &count));
  EXPECT_EQ(count, 0u);
  EXPECT_EQ(Wrappers().size(), 1u);
  EXPECT_FALSE(HoldResource(nullptr, &count));
}

TEST(LayerTest, AResourceFromOutsideIsWrappedOnce) {
  const ComPtr<ID3D12Device> device = WrappedDevice();
  ComPtr<ID3D12Resource> real;
  ASSERT_EQ(CreateBuffer(RealObject(device.get()), 1024, __uuidof(ID3D12Resource), real.Receive()),
            S_OK);
  ID3D12Resource* const pointer = real.get();
  ID3D12Resource* const wrapper = WrapResource(device.get(), real.Detach());
  EXPECT_NE(wrapper, pointer);
  EXPECT_EQ(RealObject(wrapper), pointer);
  pointer->AddRef();
  EXPECT_EQ(WrapResource(device.get(), pointer), wrapper);
  EXPECT_EQ(wrapper->Release(), 1u);
  EXPECT_EQ(wrapper->Release(), 0u);
  EXPECT_EQ(CountOf(device.get()), 1u);
}

TEST(LayerTest, LibcairnRecognisesWrappers) {
  const ComPtr<ID3D12Device> device = WrappedDevice();
  const auto ask = [](IUnknown* object, const InterfaceId& id) {
    void* answer = nullptr;
    object->QueryInterface(reinterpret_cast<const IID&>(id), &answer);
    return answer;
  };
  const auto* facts = static_cast<const LayerDevice*>(ask(device.get(), kLayerDeviceId));
  ASSERT_NE(facts, nullptr);
  EXPECT_EQ(facts->token, LayerToken());
  EXPECT_EQ(facts->real, RealObject(device.get()));
  EXPECT_NE(facts->context, nullptr);
  EXPECT_EQ(CountOf(device.get()), 1u) << "without a reference";
  EXPECT_EQ(ask(device.get(), kLayerListId), nullptr);
  auto objects = OneOfEach(device.get());
  const auto* list = static_cast<const LayerList*>(ask(objects["list"].get(), kLayerListId));
  ASSERT_NE(list, nullptr);
  EXPECT_EQ(list->token, LayerToken());
  EXPECT_EQ(list->real, RealObject(objects["list"].get()));
  EXPECT_NE(list->recording, nullptr);
  EXPECT_EQ(ask(objects["fence"].get(), kLayerListId), nullptr);
  IUnknown* const real = static_cast<IUnknown*>(ask(objects["fence"].get(), kRealObjectId));
  EXPECT_EQ(real, RealObject(objects["fence"].get()));
  EXPECT_EQ(real->Release(), 1u) << "with a reference";
}

TEST(LayerTest, DescriptionsAndMemoryPassThrough) {
  const ComPtr<ID3D12Device> device = WrappedDevice();
  ComPtr<ID3D12Resource> buffer;
  ASSERT_EQ(CreateBuffer(device.get(), 4096, __uuidof(ID3D12Resource), buffer.Receive()), S_OK);
  EXPECT_EQ(GetDesc(buffer.get()).Width, 4096u);
  void* memory = nullptr;
  void* same = nullptr;
  EXPECT_EQ(buffer->Map(0, nullptr, &memory), S_OK);
  EXPECT_EQ(RealObject(buffer.get())->Map(0, nullptr, &same), S_OK);
  EXPECT_EQ(memory, same);
  std::memset(memory, 7, 4096);
  buffer->Unmap(0, nullptr);
  EXPECT_EQ(buffer->GetGPUVirtualAddress(), RealObject(buffer.get())->GetGPUVirtualAddress());
  EXPECT_EQ(GetAdapterLuid(device.get()).LowPart, GetAdapterLuid(RealObject(device.get())).LowPart);
}

TEST(LayerTest, PlacedResourcesOutliveTheirHeap) {
  const ComPtr<ID3D12Device> device = WrappedDevice();
  auto objects = OneOfEach(device.get());
  const ComPtr<ID3D12Heap> heap = objects["heap"].As<ID3D12Heap>();
  ASSERT_TRUE(heap);
  const D3D12_RESOURCE_DESC desc = BufferDesc(1024);
  ComPtr<ID3D12Resource> placed;
  EXPECT_EQ(device->CreatePlacedResource(heap.get(), 0, &desc, D3D12_RESOURCE_STATE_GENERIC_READ,
                                         nullptr, __uuidof(ID3D12Resource), placed.Receive()),
            S_OK);
  objects.clear();
  EXPECT_EQ(GetDesc(placed.get()).Width, 1024u);
}

TEST(LayerTest, ArraysOfObjectsOfSeveralKinds) {
  const ComPtr<ID3D12Device> device = WrappedDevice();
  auto objects = OneOfEach(device.get());
  const ComPtr<ID3D12Pageable> first = objects["resource"].As<ID3D12Pageable>();
  const ComPtr<ID3D12Pageable> second = objects["heap"].As<ID3D12Pageable>();
  const ComPtr<ID3D12Pageable> third = objects["descriptor heap"].As<ID3D12Pageable>();
  ID3D12Pageable* const pageables[] = {first.get(), second.get(), third.get()};
  EXPECT_EQ(device->MakeResident(3, pageables), S_OK);
  EXPECT_EQ(device->Evict(3, pageables), S_OK);
}

TEST(LayerTest, ManyThreadsCreateNameAndReleaseOnOneDevice) {
  ComPtr<ID3D12Device> device = WrappedDevice();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        ComPtr<ID3D12Fence> fence;
        ASSERT_EQ(device->CreateFence(static_cast<UINT64>(i), D3D12_FENCE_FLAG_NONE,
                                      __uuidof(ID3D12Fence), fence.Receive()),
                  S_OK);
        EXPECT_EQ(fence->SetName(t % 2 == 0 ? L"even" : L"odd"), S_OK);
        EXPECT_EQ(NameOfRecord(fence.get()), t % 2 == 0 ? "even" : "odd");
        ComPtr<ID3D12Device> mine;
        EXPECT_EQ(fence->GetDevice(__uuidof(ID3D12Device), mine.Receive()), S_OK);
        EXPECT_EQ(mine.get(), device.get());
        EXPECT_TRUE(mine.As<ID3D12DeviceTools2>());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(CountOf(device.get()), 1u);
  EXPECT_EQ(Wrappers().size(), 1u);
}

// Where DXGI knows the adapter. On Linux the Vulkan layer tells its heaps, if it lies below.
TEST(LayerTest, ALossNotesTheMemoryOfTheAdapter) {
  const ComPtr<ID3D12Device> device = WrappedDevice();
  auto* const wrapper = static_cast<WrappedID3D12Device*>(AsWrapper(device.get()));
  const MemoryRecord& memory = ProcessBlock()->memory()[wrapper->context_index()];
  wrapper->NoteResult(E_INVALIDARG, "a call of no matter");
  EXPECT_FALSE(IsPublished(memory.state));
  wrapper->NoteResult(static_cast<HRESULT>(0x887A0005), "a call");
#ifdef _WIN32
  ASSERT_TRUE(IsPublished(memory.state));
  EXPECT_EQ(memory.result, 0);
  ASSERT_GE(memory.heap_count, 1u);
  EXPECT_EQ(memory.heaps[0].flags, kHeapTellsUse | kHeapDeviceLocal);
  EXPECT_GT(memory.heaps[0].budget_bytes, 0u);
#else
  EXPECT_FALSE(IsPublished(memory.state));
#endif
}

TEST(LayerTest, NamesWithCharactersOfTwoBytes) {
  // The real device counts in four: only what the layer notes is looked at, through private data.
  const ComPtr<ID3D12Device> device = WrappedDevice(2);
  auto objects = OneOfEach(device.get());
  constexpr GUID kNameWide = {
      0x4cca5fd8, 0x921f, 0x42c8, {0x85, 0x66, 0x70, 0xca, 0xf2, 0xa9, 0xb7, 0x41}};
  EXPECT_EQ(objects["fence"]->SetPrivateData(kNameWide, sizeof(u"Größe"), u"Größe"), S_OK);
  EXPECT_EQ(NameOfRecord(objects["fence"].get()), "Größe");
}

}  // namespace
}  // namespace cairn
