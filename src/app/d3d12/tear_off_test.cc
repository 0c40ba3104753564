// SPDX-License-Identifier: Apache-2.0
//
// Further interfaces of objects, on a device of our own: libvkd3d has none. Compiled for both calling
// conventions.
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstring>
#include <cwchar>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "app/annotations/d3d12_types.h"
#include "app/d3d12/device.h"
#include "app/d3d12/globals.h"
#include "app/d3d12/layer.h"
#include "app/d3d12/testing/test_device.h"
#include "app/settings/log.h"
#include "d3d12abi/testing/fake_device.h"
#include "d3d12abi/testing/fake_info_queue.h"
#include "d3d12abi/testing/fake_stubs.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {
namespace {

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"

constexpr GUID kInterfaceOfNobody = {0xabcdef01, 2, 3, {4, 5, 6, 7, 8, 9, 10, 11}};

bool IsSame(REFIID a, REFIID b) {
  return std::memcmp(&a, &b, sizeof(a)) == 0;
}

class RichDevice;

// DRED as an implementation has it: nodes with its own objects.
class Dred final : public ID3D12DeviceRemovedExtendedData2 {
 public:
  explicit Dred(RichDevice& device) : device_(device) {}

  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID riid, void** object) override;
  ULONG STDMETHODCALLTYPE AddRef() override;
  ULONG STDMETHODCALLTYPE Release() override;
  HRESULT STDMETHODCALLTYPE
  GetAutoBreadcrumbsOutput(D3D12_DRED_AUTO_BREADCRUMBS_OUTPUT* output) override {
    if (breadcrumbs.empty()) return E_NOTIMPL;
    output->pHeadAutoBreadcrumbNode = breadcrumbs.data();
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE
  GetAutoBreadcrumbsOutput1(D3D12_DRED_AUTO_BREADCRUMBS_OUTPUT1* output) override {
    output->pHeadAutoBreadcrumbNode = breadcrumbs1.empty() ? nullptr : breadcrumbs1.data();
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE GetPageFaultAllocationOutput(D3D12_DRED_PAGE_FAULT_OUTPUT*) override {
    return E_NOTIMPL;
  }
  HRESULT STDMETHODCALLTYPE
  GetPageFaultAllocationOutput1(D3D12_DRED_PAGE_FAULT_OUTPUT1* output) override {
    output->PageFaultVA = 0x1234;
    output->pHeadExistingAllocationNode = allocations.empty() ? nullptr : allocations.data();
    output->pHeadRecentFreedAllocationNode = nullptr;
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE GetPageFaultAllocationOutput2(D3D12_DRED_PAGE_FAULT_OUTPUT2*) override {
    return E_NOTIMPL;
  }
  D3D12_DRED_DEVICE_STATE STDMETHODCALLTYPE GetDeviceState() override {
    return D3D12_DRED_DEVICE_STATE_HUNG;
  }

  std::vector<D3D12_AUTO_BREADCRUMB_NODE> breadcrumbs;
  std::vector<D3D12_AUTO_BREADCRUMB_NODE1> breadcrumbs1;
  std::vector<D3D12_DRED_ALLOCATION_NODE1> allocations;

 private:
  RichDevice& device_;
};

// Makes what the fake device makes, and has more interfaces.
class RichDevice final : public NoDevice {
 public:
  RichDevice() : dred(*this), info_queue(*this) { *inner_.Receive() = CreateFakeDevice(); }

  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID riid, void** object) override {
    if (object == nullptr) return E_POINTER;
    *object = nullptr;
    if (IsSame(riid, __uuidof(ID3D12DeviceRemovedExtendedData)) ||
        IsSame(riid, __uuidof(ID3D12DeviceRemovedExtendedData1)) ||
        IsSame(riid, __uuidof(ID3D12DeviceRemovedExtendedData2))) {
      *object = &dred;
    } else if (IsSame(riid, __uuidof(ID3D12InfoQueue)) && has_info_queue) {
      *object = &info_queue;
    } else if (IsSame(riid, __uuidof(ID3D12Device)) || IsSame(riid, __uuidof(IUnknown)) ||
               IsSame(riid, kInterfaceOfNobody)) {
      *object = this;
    } else {
      return E_NOINTERFACE;
    }
    AddRef();
    return S_OK;
  }
  ULONG STDMETHODCALLTYPE AddRef() override { return references.fetch_add(1) + 1; }
  // Lives on after its last reference: tests look at it.
  ULONG STDMETHODCALLTYPE Release() override { return references.fetch_sub(1) - 1; }

  UINT STDMETHODCALLTYPE
  GetDescriptorHandleIncrementSize(D3D12_DESCRIPTOR_HEAP_TYPE type) override {
    return inner_->GetDescriptorHandleIncrementSize(type);
  }
  HRESULT STDMETHODCALLTYPE CreateCommandQueue(const D3D12_COMMAND_QUEUE_DESC* desc, REFIID riid,
                                               void** out) override {
    return inner_->CreateCommandQueue(desc, riid, out);
  }
  HRESULT STDMETHODCALLTYPE CreateCommandAllocator(D3D12_COMMAND_LIST_TYPE type, REFIID riid,
                                                   void** out) override {
    return inner_->CreateCommandAllocator(type, riid, out);
  }
  HRESULT STDMETHODCALLTYPE CreateCommandList(UINT mask, D3D12_COMMAND_LIST_TYPE type,
                                              ID3D12CommandAllocator* allocator,
                                              ID3D12PipelineState* state, REFIID riid,
                                              void** out) override {
    if (allocator_seen == nullptr) allocator_seen = allocator;  // Later ones are the self-test's.
    return inner_->CreateCommandList(mask, type, allocator, state, riid, out);
  }
  HRESULT STDMETHODCALLTYPE CreateFence(UINT64 value, D3D12_FENCE_FLAGS flags, REFIID riid,
                                        void** out) override {
    if (out == nullptr) {
      iid_seen_without_output = riid;
      return S_FALSE;
    }
    if (value == kSameFence) {
      const std::lock_guard lock(fence_mutex_);
      // The same object every time, as pipeline libraries do.
      if (!fence_) inner_->CreateFence(value, flags, __uuidof(ID3D12Fence), fence_.Receive());
      return fence_.get()->QueryInterface(riid, out);
    }
    return inner_->CreateFence(value, flags, riid, out);
  }
  HRESULT STDMETHODCALLTYPE OpenSharedHandle(HANDLE handle, REFIID riid, void** out) override {
    if (handle == nullptr) return E_INVALIDARG;
    return inner_->CreateFence(11, D3D12_FENCE_FLAG_NONE, riid, out);
  }
  HRESULT STDMETHODCALLTYPE CreateCommittedResource(const D3D12_HEAP_PROPERTIES* heap,
                                                    D3D12_HEAP_FLAGS flags,
                                                    const D3D12_RESOURCE_DESC* desc,
                                                    D3D12_RESOURCE_STATES state,
                                                    const D3D12_CLEAR_VALUE* clear, REFIID riid,
                                                    void** out) override {
    return inner_->CreateCommittedResource(heap, flags, desc, state, clear, riid, out);
  }

  static constexpr UINT64 kSameFence = 4711;
  std::atomic<ULONG> references{1};
  Dred dred;
  bool has_info_queue = true;
  FakeInfoQueue info_queue;
  IID iid_seen_without_output = {};
  ID3D12CommandAllocator* allocator_seen = nullptr;

 private:
  ComPtr<ID3D12Device> inner_;
  std::mutex fence_mutex_;
  ComPtr<ID3D12Fence> fence_;
};

#pragma GCC diagnostic pop

HRESULT Dred::QueryInterface(REFIID riid, void** object) {
  return device_.QueryInterface(riid, object);
}
ULONG Dred::AddRef() {
  return device_.AddRef();
}
ULONG Dred::Release() {
  return device_.Release();
}

class TearOffTest : public testing::Test {
 protected:
  TearOffTest() { *device_.Receive() = WrapDevice(&real_, {}); }
  ~TearOffTest() override {
    device_ = {};
    EXPECT_EQ(real_.references, 0u) << "the layer gave everything back";
    EXPECT_EQ(Wrappers().size(), 0u);
  }

  RichDevice real_;
  ComPtr<ID3D12Device> device_;
};

TEST_F(TearOffTest, CountsWithItsObjectAndLeadsBackToIt) {
  auto dred = device_.As<ID3D12DeviceRemovedExtendedData>();
  ASSERT_TRUE(dred);
  EXPECT_NE(static_cast<void*>(dred.get()), static_cast<void*>(&real_.dred));
  EXPECT_EQ(CountOf(device_.get()), 2u);
  EXPECT_EQ(CountOf(dred.get()), 2u);
  EXPECT_EQ(dred.As<ID3D12Device>().get(), device_.get());
  EXPECT_EQ(dred.As<IUnknown>().get(), device_.get());
  EXPECT_EQ(dred.As<ID3D12DeviceRemovedExtendedData2>().get(), dred.get());
  EXPECT_EQ(device_.As<ID3D12DeviceRemovedExtendedData1>().get(), dred.get());
  EXPECT_FALSE(dred.As<ID3D12Fence>());
  // The tear-off keeps the device alive by itself.
  device_.Detach()->Release();
  EXPECT_EQ(dred.As<ID3D12DeviceRemovedExtendedData2>()->GetDeviceState(),
            D3D12_DRED_DEVICE_STATE_HUNG);
  EXPECT_EQ(dred.Detach()->Release(), 0u);
}

TEST_F(TearOffTest, ManyThreadsAskForItAtOnce) {
  std::vector<std::thread> threads;
  std::vector<void*> seen(8);
  for (size_t t = 0; t < seen.size(); ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        seen[t] = device_.As<ID3D12DeviceRemovedExtendedData>().get();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (void* const pointer : seen) EXPECT_EQ(pointer, seen[0]);
  EXPECT_EQ(CountOf(device_.get()), 1u);
}

TEST_F(TearOffTest, AnInterfaceThatNobodyKnowsIsRefusedAlthoughTheRealObjectHasIt) {
  testing::internal::CaptureStderr();
  void* pointer = &pointer;
  EXPECT_EQ(device_->QueryInterface(kInterfaceOfNobody, &pointer), E_NOINTERFACE);
  EXPECT_EQ(pointer, nullptr);
  EXPECT_EQ(device_->QueryInterface(kInterfaceOfNobody, &pointer), E_NOINTERFACE);
  const std::string said = testing::internal::GetCapturedStderr();
  const std::string id = "{abcdef01-0002-0003-0405-060708090a0b}";
  // The message comes once in the process's life, in whichever test is first.
  EXPECT_EQ(said.find(id), said.rfind(id));
}

TEST_F(TearOffTest, DredNodesHaveTheObjectsOfTheProgram) {
  constexpr D3D12_COMMAND_LIST_TYPE kDirect = D3D12_COMMAND_LIST_TYPE_DIRECT;
  ComPtr<ID3D12CommandAllocator> allocator;
  ASSERT_EQ(device_->CreateCommandAllocator(kDirect, __uuidof(ID3D12CommandAllocator),
                                            allocator.Receive()),
            S_OK);
  ComPtr<ID3D12GraphicsCommandList> list;
  ASSERT_EQ(device_->CreateCommandList(0, kDirect, allocator.get(), nullptr,
                                       __uuidof(ID3D12GraphicsCommandList), list.Receive()),
            S_OK);
  EXPECT_EQ(real_.allocator_seen, RealObject(allocator.get()));
  ComPtr<ID3D12CommandQueue> queue;
  const D3D12_COMMAND_QUEUE_DESC desc = {};
  ASSERT_EQ(device_->CreateCommandQueue(&desc, __uuidof(ID3D12CommandQueue), queue.Receive()),
            S_OK);
  int stranger = 0;
  real_.dred.breadcrumbs.resize(2);
  real_.dred.breadcrumbs[0].pCommandList = RealObject(list.get());
  real_.dred.breadcrumbs[0].pCommandQueue = RealObject(queue.get());
  real_.dred.breadcrumbs[0].BreadcrumbCount = 42;
  real_.dred.breadcrumbs[0].pNext = &real_.dred.breadcrumbs[1];
  real_.dred.breadcrumbs[1].pCommandList = reinterpret_cast<ID3D12GraphicsCommandList*>(&stranger);
  const auto dred = device_.As<ID3D12DeviceRemovedExtendedData>();
  D3D12_DRED_AUTO_BREADCRUMBS_OUTPUT output = {};
  ASSERT_EQ(dred->GetAutoBreadcrumbsOutput(&output), S_OK);
  const D3D12_AUTO_BREADCRUMB_NODE* node = output.pHeadAutoBreadcrumbNode;
  ASSERT_NE(node, nullptr);
  EXPECT_EQ(node->pCommandList, list.get());
  EXPECT_EQ(node->pCommandQueue, queue.get());
  EXPECT_EQ(node->BreadcrumbCount, 42u);
  ASSERT_NE(node->pNext, nullptr);
  EXPECT_EQ(node->pNext->pCommandList, nullptr) << "an object that has no wrapper any more";
  EXPECT_EQ(node->pNext->pNext, nullptr);
  EXPECT_EQ(real_.dred.breadcrumbs[0].pCommandList, RealObject(list.get())) << "only copies change";

  real_.dred.allocations.resize(1);
  real_.dred.allocations[0].pObject = RealObject(queue.get());
  D3D12_DRED_PAGE_FAULT_OUTPUT1 fault = {};
  ASSERT_EQ(dred.As<ID3D12DeviceRemovedExtendedData1>()->GetPageFaultAllocationOutput1(&fault),
            S_OK);
  EXPECT_EQ(fault.PageFaultVA, 0x1234u);
  ASSERT_NE(fault.pHeadExistingAllocationNode, nullptr);
  EXPECT_EQ(fault.pHeadExistingAllocationNode->pObject, queue.get());
  EXPECT_EQ(fault.pHeadRecentFreedAllocationNode, nullptr);
}

// The context of the event at `index` of the history, as text of the implementation's characters.
std::wstring ContextText(const D3D12_AUTO_BREADCRUMB_NODE1& node, UINT index) {
  for (UINT i = 0; i < node.BreadcrumbContextsCount; ++i) {
    if (node.pBreadcrumbContexts[i].BreadcrumbIndex == index) {
      return node.pBreadcrumbContexts[i].pContextString;
    }
  }
  return L"(none)";
}

std::wstring Hex(uint64_t number) {
  wchar_t text[32];
  swprintf(text, 32, L"%#llx", static_cast<unsigned long long>(number));
  return text;
}

TEST_F(TearOffTest, DredNodesCarryTheEventIdsOfTheirEvents) {
  constexpr D3D12_COMMAND_LIST_TYPE kDirect = D3D12_COMMAND_LIST_TYPE_DIRECT;
  ComPtr<ID3D12CommandAllocator> allocator;
  ASSERT_EQ(device_->CreateCommandAllocator(kDirect, __uuidof(ID3D12CommandAllocator),
                                            allocator.Receive()),
            S_OK);
  ASSERT_EQ(device_.As<ID3D12DeviceTools2>()->SetUserDefinedAnnotationMode(
                D3D12_USER_DEFINED_ANNOTATION_MODE_DRIVER_RETAIL),
            S_OK);
  ComPtr<ID3D12GraphicsCommandList> list;
  ASSERT_EQ(device_->CreateCommandList(0, kDirect, allocator.get(), nullptr,
                                       __uuidof(ID3D12GraphicsCommandList), list.Receive()),
            S_OK);
  list->BeginEvent(1, "Frame", 5);
  list->SetMarker(1, "Here", 4);
  list->EndEvent();
  list->BeginEvent(1, "Next", 4);

  const D3D12_AUTO_BREADCRUMB_OP history[] = {
      D3D12_AUTO_BREADCRUMB_OP_BEGINEVENT, D3D12_AUTO_BREADCRUMB_OP_DISPATCH,
      D3D12_AUTO_BREADCRUMB_OP_SETMARKER, D3D12_AUTO_BREADCRUMB_OP_ENDEVENT,
      D3D12_AUTO_BREADCRUMB_OP_BEGINEVENT};
  D3D12_DRED_BREADCRUMB_CONTEXT contexts[] = {
      {0, L"Frame"}, {1, L"no event"}, {2, L"Here"}, {4, nullptr}, {77, L"out of range"}};
  real_.dred.breadcrumbs1.resize(2);
  D3D12_AUTO_BREADCRUMB_NODE1& node = real_.dred.breadcrumbs1[0];
  node.pCommandList = RealObject(list.get());
  node.BreadcrumbCount = 5;
  node.pCommandHistory = history;
  node.BreadcrumbContextsCount = 5;
  node.pBreadcrumbContexts = contexts;
  node.pNext = &real_.dred.breadcrumbs1[1];
  // The list is not ours: its contexts stay as they are.
  real_.dred.breadcrumbs1[1] = node;
  real_.dred.breadcrumbs1[1].pCommandList = nullptr;
  real_.dred.breadcrumbs1[1].pNext = nullptr;

  std::vector<uint64_t> ids;
  const LayerList* const layer = AsWrapper(list.get())->layer_list();
  ASSERT_NE(layer, nullptr);
  ASSERT_NE(layer->recording, nullptr);
  layer->recording->AnnotationEventIds(&ids);
  ASSERT_EQ(ids.size(), 3u);
  EXPECT_NE(ids[0], 0u);
  D3D12_DRED_AUTO_BREADCRUMBS_OUTPUT1 output = {};
  ASSERT_EQ(device_.As<ID3D12DeviceRemovedExtendedData1>()->GetAutoBreadcrumbsOutput1(&output),
            S_OK);
  const D3D12_AUTO_BREADCRUMB_NODE1* copy = output.pHeadAutoBreadcrumbNode;
  ASSERT_NE(copy, nullptr);
  EXPECT_EQ(copy->pCommandList, list.get());
  EXPECT_EQ(ContextText(*copy, 0), L"Frame (EventID " + Hex(ids[0]) + L")");
  EXPECT_EQ(ContextText(*copy, 1), L"no event");
  EXPECT_EQ(ContextText(*copy, 2), L"Here (EventID " + Hex(ids[1]) + L")");
  EXPECT_EQ(ContextText(*copy, 4), L"(EventID " + Hex(ids[2]) + L")");
  EXPECT_EQ(ContextText(*copy, 77), L"out of range");
  EXPECT_STREQ(contexts[0].pContextString, L"Frame") << "only copies change";
  ASSERT_NE(copy->pNext, nullptr);
  EXPECT_EQ(ContextText(*copy->pNext, 0), L"Frame");
}

// ---- Messages ------------------------------------------------------------------------------------

constexpr auto kNoMode = static_cast<D3D12_USER_DEFINED_ANNOTATION_MODE>(2);

TEST_F(TearOffTest, AnInvalidModeIsAMessageOfTheInfoQueue) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(device_.As<ID3D12DeviceTools2>()->SetUserDefinedAnnotationMode(kNoMode), E_INVALIDARG);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << "who has a queue reads it there";
  FakeInfoQueue& queue = real_.info_queue;
  ASSERT_EQ(queue.GetNumStoredMessages(), 1u);
  SIZE_T size = 0;
  ASSERT_EQ(queue.GetMessage(0, nullptr, &size), S_FALSE);
  std::vector<std::max_align_t> memory(size / sizeof(std::max_align_t) + 1);
  auto* const message = reinterpret_cast<D3D12_MESSAGE*>(memory.data());
  ASSERT_EQ(queue.GetMessage(0, message, &size), S_OK);
  EXPECT_EQ(message->Category, D3D12_MESSAGE_CATEGORY_STATE_SETTING);
  EXPECT_EQ(message->Severity, D3D12_MESSAGE_SEVERITY_ERROR);
  EXPECT_EQ(static_cast<int>(message->ID), 1465);
  EXPECT_NE(std::string(message->pDescription).find("Mode 2 is not a"), std::string::npos)
      << message->pDescription;
  // A valid mode is none.
  EXPECT_EQ(device_.As<ID3D12DeviceTools2>()->SetUserDefinedAnnotationMode(
                D3D12_USER_DEFINED_ANNOTATION_MODE_DRIVER_RETAIL),
            S_OK);
  EXPECT_EQ(queue.GetNumStoredMessages(), 1u);
}

TEST_F(TearOffTest, TheInfoQueuesFiltersDecideOnTheMessage) {
  D3D12_MESSAGE_CATEGORY category = D3D12_MESSAGE_CATEGORY_STATE_SETTING;
  D3D12_INFO_QUEUE_FILTER filter = {};
  filter.DenyList.NumCategories = 1;
  filter.DenyList.pCategoryList = &category;
  ASSERT_EQ(real_.info_queue.PushStorageFilter(&filter), S_OK);
  const auto tools = device_.As<ID3D12DeviceTools2>();
  EXPECT_EQ(tools->SetUserDefinedAnnotationMode(kNoMode), E_INVALIDARG);
  EXPECT_EQ(real_.info_queue.GetNumStoredMessages(), 0u);
  EXPECT_EQ(real_.info_queue.GetNumMessagesDeniedByStorageFilter(), 1u);
  real_.info_queue.PopStorageFilter();
  EXPECT_EQ(tools->SetUserDefinedAnnotationMode(kNoMode), E_INVALIDARG);
  EXPECT_EQ(real_.info_queue.GetNumStoredMessages(), 1u);
}

TEST_F(TearOffTest, WithoutAnInfoQueueTheMessageGoesToStderr) {
  real_.has_info_queue = false;
  testing::internal::CaptureStderr();
  EXPECT_EQ(device_.As<ID3D12DeviceTools2>()->SetUserDefinedAnnotationMode(kNoMode), E_INVALIDARG);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("STATE_SETTING ERROR #1465"),
            std::string::npos);
}

TEST_F(TearOffTest, WithoutAnOutputTheRealMethodSeesWhatTheProgramPassed) {
  EXPECT_EQ(device_->CreateFence(0, D3D12_FENCE_FLAG_NONE, kInterfaceOfNobody, nullptr), S_FALSE);
  EXPECT_TRUE(IsSame(real_.iid_seen_without_output, kInterfaceOfNobody));
  EXPECT_EQ(device_->QueryInterface(__uuidof(ID3D12Device), nullptr), E_POINTER);
  EXPECT_EQ(CountOf(device_.get()), 1u);
}

TEST_F(TearOffTest, AnObjectThatIsHandedOutAgainKeepsItsWrapper) {
  ComPtr<ID3D12Fence> first, second;
  ASSERT_EQ(device_->CreateFence(RichDevice::kSameFence, D3D12_FENCE_FLAG_NONE,
                                 __uuidof(ID3D12Fence), first.Receive()),
            S_OK);
  ASSERT_EQ(device_->CreateFence(RichDevice::kSameFence, D3D12_FENCE_FLAG_NONE,
                                 __uuidof(ID3D12Fence), second.Receive()),
            S_OK);
  EXPECT_EQ(first.get(), second.get());
  EXPECT_EQ(CountOf(first.get()), 2u);
  EXPECT_EQ(CountOf(device_.get()), 2u);
}

TEST_F(TearOffTest, SharedHandlesBecomeWhatTheyAre) {
  ComPtr<ID3D12Fence> fence;
  ASSERT_EQ(device_->OpenSharedHandle(&fence, __uuidof(ID3D12Fence), fence.Receive()), S_OK);
  EXPECT_NE(RealObject(fence.get()), fence.get());
  EXPECT_EQ(fence->GetCompletedValue(), 11u);
  ComPtr<IUnknown> unknown;
  ASSERT_EQ(device_->OpenSharedHandle(&fence, __uuidof(IUnknown), unknown.Receive()), S_OK);
  EXPECT_TRUE(unknown.As<ID3D12Fence>());
  void* refused = nullptr;
  EXPECT_EQ(device_->OpenSharedHandle(nullptr, __uuidof(IUnknown), &refused), E_INVALIDARG);
}

TEST_F(TearOffTest, ForeignObjectsArePassedAsTheyAre) {
  ComPtr<ID3D12Device> other;
  *other.Receive() = CreateFakeDevice();
  EXPECT_EQ(RealObject(other.get()), other.get());
  EXPECT_EQ(AsWrapper(other.get()), nullptr);
  ULONG count = 77;
  ComPtr<ID3D12Resource> buffer;
  ASSERT_EQ(CreateBuffer(other.get(), 64, __uuidof(ID3D12Resource), buffer.Receive()), S_OK);
  EXPECT_FALSE(HoldResource(buffer.get(), &count));
  EXPECT_FALSE(DropResource(buffer.get(), &count));
  EXPECT_EQ(count, 77u);
  EXPECT_EQ(WrapResource(other.get(), buffer.get()), buffer.get());
}

TEST_F(TearOffTest, FencesAndTheirDeviceFromManyThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        ComPtr<ID3D12Fence> fence;
        ASSERT_EQ(
            device_->CreateFence(RichDevice::kSameFence + (i % 3 == 0 ? 1 : 0),
                                 D3D12_FENCE_FLAG_NONE, __uuidof(ID3D12Fence), fence.Receive()),
            S_OK);
        ComPtr<ID3D12Device> device;
        EXPECT_EQ(fence->GetDevice(__uuidof(ID3D12Device), device.Receive()), S_OK);
        EXPECT_EQ(device.get(), device_.get());
        fence->SetName(L"shared");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(CountOf(device_.get()), 1u);
}

}  // namespace
}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
