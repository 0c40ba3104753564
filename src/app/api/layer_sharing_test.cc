// SPDX-License-Identifier: Apache-2.0
//
// A program that uses libcairn runs under the Direct3D 12 layer: both write the same lists. The layer
// is played by wrappers that do nothing but say who they are. Compiled once for each calling convention.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "cairn/breadcrumbs.h"
#include "cairn/markers.h"

#include "app/breadcrumbs/d3d12_backend.h"
#include "app/breadcrumbs/d3d12_submitter.h"
#include "app/breadcrumbs/testing/test_context_desc.h"
#include "d3d12abi/com_ptr.h"
#include "d3d12abi/testing/fake_device.h"
#include "d3d12abi/testing/fake_stubs.h"

// Behind those of Direct3D, whose convention it tells.
#include "app/breadcrumbs/d3d12_abi.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {
namespace {

constexpr D3D12Abi kThisAbi = kThisD3D12Abi;

// Answers one private identifier, and counts its references without dying from them.
template <typename Base>
class Wrapped final : public Base {
 public:
  virtual ~Wrapped() = default;
  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID riid, void** object) override {
    const bool mine = std::memcmp(&riid, &id, sizeof(riid)) == 0;
    *object = mine ? answer : nullptr;
    return mine ? S_OK : E_NOINTERFACE;
  }
  ULONG STDMETHODCALLTYPE AddRef() override { return ++references; }
  ULONG STDMETHODCALLTYPE Release() override { return --references; }

  InterfaceId id{};
  void* answer = nullptr;
  ULONG references = 1;
};

class LayerSharingTest : public testing::Test {
 protected:
  void SetUp() override {
    real_ = ComPtr<ID3D12Device>(CreateFakeDevice());
    real_->Release();
    NoteLayerVtable(*reinterpret_cast<void**>(real_.get()), kThisAbi);
    NoteLayerVtable(*reinterpret_cast<void**>(&device_), kThisAbi);
    ASSERT_TRUE(submitter_.Create(real_.get(), D3D12_COMMAND_LIST_TYPE_DIRECT).ok());
    Result<ID3D12GraphicsCommandList*> native = submitter_.Begin();
    ASSERT_TRUE(native.ok());
    layer_list_ = {LayerToken(), *native, nullptr};
    list_.id = kLayerListId;
    list_.answer = &layer_list_;
    layer_device_ = {LayerToken(), real_.get(), nullptr};
    device_.id = kLayerDeviceId;
    device_.answer = &layer_device_;
    block_ = *BlockWriter::OfThisProcess(kDefaultBlockBytes);
  }
  void TearDown() override {
    if (layer_device_.context != nullptr) Context::Destroy(layer_device_.context);
  }

  // The layer has breadcrumbs, and records the list.
  void StartLayer(CairnMode mode = CAIRN_MODE_TOP) {
    const CairnContextDesc desc = TestContextDesc(mode, 64, 0);
    layer_device_.context = *Context::CreateDeferred(desc, block_, CreateD3D12Backend(real_.get()));
  }
  void RecordInLayer() {
    CairnCommandListDesc desc{};
    desc.flags = CAIRN_LIST_HELD;
    desc.native = layer_list_.real;
    ASSERT_TRUE(layer_device_.context->BeginCommandList(desc, &layer_list_.recording, &list_).ok());
  }
  CairnContext* CreateShared(const CairnContextDesc& desc = TestContextDesc()) {
    CairnD3D12Desc d3d12{sizeof(d3d12), &device_};
    CairnContext* context = nullptr;
    EXPECT_EQ(cairnCreateContextD3D12(&desc, &d3d12, &context), CAIRN_OK)
        << cairnGetLastErrorMessage();
    return context;
  }
  CairnCommandListDesc ListDesc() {
    CairnCommandListDesc desc{};
    desc.struct_size = sizeof(desc);
    desc.native = &list_;
    desc.name = "Shadow list";
    return desc;
  }

  ComPtr<ID3D12Device> real_;
  D3D12Submitter submitter_;
  Wrapped<NoDevice> device_;
  Wrapped<NoCommandList> list_;
  LayerDevice layer_device_{};
  LayerList layer_list_{};
  BlockWriter* block_ = nullptr;
};

TEST_F(LayerSharingTest, ContextIsTheLayersAndHoldsTheWrapper) {
  StartLayer();
  CairnContext* const context = CreateShared();
  EXPECT_EQ(reinterpret_cast<Context*>(context), layer_device_.context);
  EXPECT_EQ(device_.references, 2u);
  CairnContext* const second = CreateShared();
  EXPECT_EQ(second, context);
  EXPECT_EQ(device_.references, 3u);
  EXPECT_EQ(cairnDestroyContext(second), CAIRN_OK);
  EXPECT_EQ(cairnDestroyContext(context), CAIRN_OK);
  EXPECT_EQ(device_.references, 1u);
  // The layer's own hold on it is not the application's to end.
  EXPECT_EQ(cairnDestroyContext(context), CAIRN_ERROR_INVALID_ARGUMENT);
  RecordInLayer();
  EXPECT_TRUE(layer_list_.recording->open());
}

TEST_F(LayerSharingTest, BothWriteTheSameRecording) {
  StartLayer();
  CairnContext* const context = CreateShared();
  RecordInLayer();
  layer_list_.recording->BeginWork(CAIRN_MARKER_DISPATCH);
  layer_list_.recording->EndWork();
  const CairnCommandListDesc desc = ListDesc();
  CairnCommandList* list = nullptr;
  ASSERT_EQ(cairnBeginCommandList(context, &desc, &list), CAIRN_OK);
  EXPECT_EQ(reinterpret_cast<CommandList*>(list), layer_list_.recording);
  EXPECT_EQ(cairnBeginMarker(list, CAIRN_MARKER_PASS, "Explicit", CAIRN_NAME_COPY), CAIRN_OK);
  EXPECT_EQ(cairnEnterRenderPass(list), CAIRN_OK);
  EXPECT_EQ(cairnLeaveRenderPass(list), CAIRN_OK);
  EXPECT_EQ(cairnEndMarker(list), CAIRN_OK);
  EXPECT_EQ(cairnEndCommandList(list), CAIRN_OK);
  EXPECT_EQ(cairnReleaseCommandList(list), CAIRN_OK);
  // Still the layer's, and open.
  layer_list_.recording->BeginWork(CAIRN_MARKER_DISPATCH);
  layer_list_.recording->EndWork();
  const RecordingSlot& slot = *layer_list_.recording->slot();
  EXPECT_EQ(slot.event_count.load(), 6u);
  EXPECT_STREQ(block_->Name(slot.name)->bytes, "Shadow list");
  EXPECT_EQ(slot.native_handle, reinterpret_cast<uintptr_t>(&list_));

  // The submission is the layer's to count.
  int queue;
  CommandList* const lists[] = {layer_list_.recording};
  EXPECT_EQ(cairnNotifySubmit(context, &queue, &list, 1), CAIRN_OK);
  EXPECT_EQ(slot.submit_count.load(), 0u);
  ASSERT_TRUE(layer_device_.context->NotifySubmit(&queue, lists, 1).ok());
  EXPECT_EQ(slot.submit_count.load(), 1u);
  uint64_t submission = 0;
  EXPECT_EQ(cairnGetLastSubmission(context, &queue, &submission), CAIRN_OK);
  EXPECT_EQ(submission, 1u);
  EXPECT_EQ(layer_list_.recording->End(), CAIRN_OK);
  EXPECT_EQ(cairnEndCommandList(list), CAIRN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(cairnBeginCommandList(context, &desc, &list), CAIRN_ERROR_INVALID_ARGUMENT);
  ASSERT_TRUE(submitter_.Submit().ok());
  layer_device_.context->Mirror();
  EXPECT_TRUE(layer_list_.recording->ProvenFinished());
  EXPECT_EQ(cairnDestroyContext(context), CAIRN_OK);
}

TEST_F(LayerSharingTest, ApplicationsWishesAreMetBeforeTheStart) {
  StartLayer();
  CairnContext* const context = CreateShared();
  const ContextRecord& record = block_->contexts()[layer_device_.context->index()];
  EXPECT_EQ(record.mode, MarkerMode::kFull);
  EXPECT_EQ(record.raw_marker_count, 8u);
  EXPECT_EQ(cairnWriteMarker(context, &list_, CAIRN_TOP_OF_PIPE, 3, 77), CAIRN_OK)
      << cairnGetLastErrorMessage();
  ASSERT_TRUE(submitter_.Submit().ok());
  const volatile uint64_t* slots = nullptr;
  uint32_t count = 0;
  ASSERT_EQ(cairnGetMarkers(context, &slots, &count), CAIRN_OK);
  cairnRefresh(context);
  EXPECT_EQ(count, 8u);
  EXPECT_EQ(slots[3], 77u);
  EXPECT_EQ(cairnDestroyContext(context), CAIRN_OK);
}

TEST_F(LayerSharingTest, FramesAreTheApplicationsOnceItCountsThem) {
  StartLayer();
  CairnContext* const context = CreateShared();
  const ContextRecord& record = block_->contexts()[layer_device_.context->index()];
  layer_device_.context->BeginLayerFrame();
  EXPECT_EQ(record.frame.load(), 1u);
  EXPECT_EQ(cairnBeginFrame(context), CAIRN_OK);
  layer_device_.context->BeginLayerFrame();
  EXPECT_EQ(record.frame.load(), 2u);
  EXPECT_EQ(cairnDestroyContext(context), CAIRN_OK);
  layer_device_.context->BeginLayerFrame();
  EXPECT_EQ(record.frame.load(), 3u);
}

TEST_F(LayerSharingTest, StatusIsAllocatedByTheApplication) {
  StartLayer();
  static int allocations = 0;
  static int releases = 0;
  CairnContextDesc desc = TestContextDesc();
  desc.allocation.allocate = [](size_t size, void*) {
    ++allocations;
    return std::malloc(size);
  };
  desc.allocation.reallocate = [](void* memory, size_t size, void*) {
    return std::realloc(memory, size);
  };
  desc.allocation.release = [](void* memory, void*) {
    ++releases;
    std::free(memory);
  };
  CairnContext* const context = CreateShared(desc);
  char* text = nullptr;
  size_t size = 0;
  ASSERT_EQ(cairnPrintStatus(context, 0, &text, &size), CAIRN_OK) << cairnGetLastErrorMessage();
  EXPECT_EQ(allocations, 1);
  EXPECT_NE(std::string(text, size).find("0abcdef0:12345678"), std::string::npos);
  desc.allocation.release(text, nullptr);
  EXPECT_EQ(cairnDestroyContext(context), CAIRN_OK);
  // The library holds no other object of the device.
  EXPECT_EQ(releases, 1);
}

TEST_F(LayerSharingTest, WithoutBreadcrumbsOfTheLayerTheContextIsOnTheRealDevice) {
  CairnContext* const context = CreateShared();
  EXPECT_EQ(device_.references, 1u);
  const CairnCommandListDesc desc = ListDesc();
  CairnCommandList* list = nullptr;
  ASSERT_EQ(cairnBeginCommandList(context, &desc, &list), CAIRN_OK) << cairnGetLastErrorMessage();
  EXPECT_EQ(cairnBeginMarker(list, CAIRN_MARKER_DRAW, nullptr, CAIRN_NAME_STATIC), CAIRN_OK);
  EXPECT_EQ(cairnEndMarker(list), CAIRN_OK);
  EXPECT_EQ(cairnEndCommandList(list), CAIRN_OK);
  EXPECT_EQ(cairnEndCommandList(list), CAIRN_ERROR_INVALID_ARGUMENT);
  ASSERT_TRUE(submitter_.Submit().ok());
  reinterpret_cast<Context*>(context)->Mirror();
  EXPECT_TRUE(reinterpret_cast<CommandList*>(list)->ProvenFinished());
  EXPECT_EQ(cairnDestroyContext(context), CAIRN_OK);
}

TEST_F(LayerSharingTest, AnotherCopysWrapperIsADeviceLikeOthers) {
  StartLayer();
  layer_device_.token = this;
  EXPECT_EQ(FindLayerDevice(&device_), nullptr);
  layer_list_.token = this;
  EXPECT_EQ(FinderOfLists(kThisAbi)(&list_), nullptr);
  // The other fields are not read: this device supports nothing, and the error says so.
  CairnD3D12Desc d3d12{sizeof(d3d12), &device_};
  const CairnContextDesc desc = TestContextDesc();
  CairnContext* context = nullptr;
  EXPECT_NE(cairnCreateContextD3D12(&desc, &d3d12, &context), CAIRN_OK);
  EXPECT_EQ(context, nullptr);
}

TEST_F(LayerSharingTest, ListWithoutARecordingIsAnError) {
  StartLayer();
  CairnContext* const context = CreateShared();
  const CairnCommandListDesc desc = ListDesc();
  CairnCommandList* list = nullptr;
  EXPECT_EQ(cairnBeginCommandList(context, &desc, &list), CAIRN_ERROR_OUT_OF_MEMORY);
  EXPECT_NE(std::string(cairnGetLastErrorMessage()), "");
  EXPECT_EQ(cairnDestroyContext(context), CAIRN_OK);
}

}  // namespace
}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
