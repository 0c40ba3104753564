// SPDX-License-Identifier: Apache-2.0
//
// A program that uses libcairn on a Vulkan device of the layer: both write the same command buffers.
// The layer is played by its hooks, which know one device and one command buffer; the GPU is simulated.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "cairn/breadcrumbs.h"
#include "cairn/compat/ffx_breadcrumbs.h"
#include "cairn/compat/ffx_vk.h"
#include "cairn/markers.h"

#include "app/breadcrumbs/context.h"
#include "app/breadcrumbs/layer_identity.h"
#include "app/breadcrumbs/testing/simulated_gpu.h"
#include "app/breadcrumbs/testing/test_context_desc.h"
#include "format/block/raw_marker_binds.h"
#include "format/snapshot/snapshot_from_block.h"

namespace cairn {
namespace {

// Handles: only their addresses mean something.
int g_device;
int g_other_device;
int g_queue;
int g_something;

// The layer's data. The one command buffer is `g_native`.
LayerDevice g_layer_device;
LayerList g_layer_list;
SimulatedList g_native;

const LayerDevice* FindDevice(void* device) {
  return device == &g_device ? &g_layer_device : nullptr;
}
const LayerList* FindList(void* command_buffer) {
  return command_buffer == &g_native ? &g_layer_list : nullptr;
}

class LayerSharingVulkanTest : public testing::Test {
 protected:
  void SetUp() override {
    block_ = *BlockWriter::OfThisProcess(kDefaultBlockBytes);
    g_native = {};
    g_layer_device = {LayerToken(), &g_device, nullptr};
    g_layer_list = {LayerToken(), &g_native, nullptr};
    SetVulkanLayerHooks({FindDevice, FindList});
  }
  void TearDown() override {
    SetVulkanLayerHooks({});
    if (g_layer_device.context != nullptr) Context::Destroy(g_layer_device.context);
  }

  void StartLayer() {
    const CairnContextDesc desc = TestContextDesc(CAIRN_MODE_TOP, 64, 0);
    g_layer_device.context =
        *Context::CreateDeferred(desc, block_, std::make_unique<SimulatedBackend>());
  }
  // vkBeginCommandBuffer in the layer.
  void RecordInLayer() {
    CairnCommandListDesc desc{};
    desc.flags = CAIRN_LIST_HELD;
    desc.native = &g_native;
    ASSERT_TRUE(g_layer_device.context->BeginCommandList(desc, &g_layer_list.recording).ok());
  }
  static CairnResult Create(void* device, CairnContext** context) {
    const CairnContextDesc desc = TestContextDesc();
    CairnVulkanDesc vulkan{};
    vulkan.struct_size = sizeof(vulkan);
    vulkan.instance = &g_something;
    vulkan.physical_device = &g_something;
    vulkan.device = device;
    vulkan.queue = &g_queue;
    // There is no Vulkan behind it: a context of its own cannot be made.
    vulkan.get_instance_proc_addr = [](void*, const char*) -> CairnVoidFunction { return nullptr; };
    return cairnCreateContextVulkan(&desc, &vulkan, context);
  }
  static CairnContext* CreateShared() {
    CairnContext* context = nullptr;
    EXPECT_EQ(Create(&g_device, &context), CAIRN_OK) << cairnGetLastErrorMessage();
    return context;
  }
  static CairnCommandListDesc ListDesc() {
    CairnCommandListDesc desc{};
    desc.struct_size = sizeof(desc);
    desc.native = &g_native;
    desc.name = "Shadows";
    return desc;
  }

  BlockWriter* block_ = nullptr;
};

TEST_F(LayerSharingVulkanTest, ContextIsTheLayersUntilTheApplicationsLastIsDestroyed) {
  StartLayer();
  CairnContext* const context = CreateShared();
  EXPECT_EQ(reinterpret_cast<Context*>(context), g_layer_device.context);
  CairnContext* const second = CreateShared();
  EXPECT_EQ(second, context);
  EXPECT_EQ(cairnDestroyContext(second), CAIRN_OK);
  EXPECT_EQ(cairnDestroyContext(context), CAIRN_OK);
  // The layer's own hold on it is not the application's to end.
  EXPECT_EQ(cairnDestroyContext(context), CAIRN_ERROR_INVALID_ARGUMENT);
  RecordInLayer();
  EXPECT_TRUE(g_layer_list.recording->open());
}

TEST_F(LayerSharingVulkanTest, BothWriteTheSameRecording) {
  StartLayer();
  CairnContext* const context = CreateShared();
  RecordInLayer();
  g_layer_list.recording->BeginWork(CAIRN_MARKER_DISPATCH);
  g_layer_list.recording->EndWork();
  const CairnCommandListDesc desc = ListDesc();
  CairnCommandList* list = nullptr;
  ASSERT_EQ(cairnBeginCommandList(context, &desc, &list), CAIRN_OK) << cairnGetLastErrorMessage();
  EXPECT_EQ(reinterpret_cast<CommandList*>(list), g_layer_list.recording);
  EXPECT_EQ(cairnBeginMarker(list, CAIRN_MARKER_PASS, "Explicit", CAIRN_NAME_COPY), CAIRN_OK);
  EXPECT_EQ(cairnEndMarker(list), CAIRN_OK);
  EXPECT_EQ(cairnEndCommandList(list), CAIRN_OK);
  const RecordingSlot& slot = *g_layer_list.recording->slot();
  EXPECT_EQ(slot.event_count.load(), 4u);
  EXPECT_STREQ(block_->Name(slot.name)->bytes, "Shadows");
  // The submission is the layer's to count, and the end is the layer's to see.
  EXPECT_EQ(cairnNotifySubmit(context, &g_queue, &list, 1), CAIRN_OK);
  EXPECT_EQ(slot.submit_count.load(), 0u);
  EXPECT_TRUE(g_layer_list.recording->open());
  EXPECT_EQ(g_layer_list.recording->End(), CAIRN_OK);
  EXPECT_EQ(cairnBeginCommandList(context, &desc, &list), CAIRN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(cairnDestroyContext(context), CAIRN_OK);
}

TEST_F(LayerSharingVulkanTest, RawMarkersAreWrittenIntoTheCommandBuffer) {
  StartLayer();
  CairnContext* const context = CreateShared();
  ASSERT_EQ(cairnWriteMarker(context, &g_native, CAIRN_TOP_OF_PIPE, 3, 77), CAIRN_OK)
      << cairnGetLastErrorMessage();
  SimulatedGpu::Execute(g_native);
  const volatile uint64_t* slots = nullptr;
  uint32_t count = 0;
  ASSERT_EQ(cairnGetMarkers(context, &slots, &count), CAIRN_OK);
  ASSERT_EQ(count, 8u);
  EXPECT_EQ(slots[3], 77u);
  EXPECT_EQ(cairnDestroyContext(context), CAIRN_OK);
}

// FidelityFX's interface on the layer's context.
class FfxOnLayer {
 public:
  FfxOnLayer() : scratch_(ffxGetScratchMemorySizeVK(nullptr, 1)) {
    FfxBreadcrumbsContextDescription desc{};
    desc.frameHistoryLength = 2;
    desc.maxMarkersPerMemoryBlock = 1;
    desc.usedGpuQueuesCount = 1;
    desc.pUsedGpuQueues = &family_;
    EXPECT_EQ(
        ffxGetInterfaceVK(&desc.backendInterface, &g_device, scratch_.data(), scratch_.size(), 1),
        FFX_OK);
    CairnVulkanDesc vulkan{};
    vulkan.struct_size = sizeof(vulkan);
    vulkan.instance = vulkan.physical_device = &g_something;
    vulkan.queue = &g_queue;
    vulkan.get_instance_proc_addr = [](void*, const char*) -> CairnVoidFunction { return nullptr; };
    EXPECT_EQ(cairnFfxSetVulkan(&desc.backendInterface, &vulkan), FFX_OK);
    EXPECT_EQ(ffxBreadcrumbsContextCreate(&context_, &desc), FFX_OK) << cairnGetLastErrorMessage();
    FfxBreadcrumbsPipelineStateDescription pipeline{};
    pipeline.pipeline = &g_something;
    pipeline.vertexShader = {"PhongVS", true};
    EXPECT_EQ(ffxBreadcrumbsRegisterPipeline(&context_, &pipeline), FFX_OK);
  }
  ~FfxOnLayer() { EXPECT_EQ(ffxBreadcrumbsContextDestroy(&context_), FFX_OK); }

  FfxErrorCode Register(const std::string& name) {
    FfxBreadcrumbsCommandListDescription desc{};
    desc.commandList = &g_native;
    desc.name = {name.c_str(), false};
    return ffxBreadcrumbsRegisterCommandList(&context_, &desc);
  }
  FfxErrorCode Begin() {
    const FfxBreadcrumbsNameTag tag{nullptr, true};
    return ffxBreadcrumbsBeginMarker(&context_, &g_native, FFX_BREADCRUMBS_MARKER_DRAW, &tag);
  }
  FfxErrorCode End() { return ffxBreadcrumbsEndMarker(&context_, &g_native); }
  FfxErrorCode SetPipeline() {
    return ffxBreadcrumbsSetPipeline(&context_, &g_native, &g_something);
  }
  FfxErrorCode StartFrame() { return ffxBreadcrumbsStartFrame(&context_); }
  FfxErrorCode Submit() {
    const FfxCommandList lists[] = {&g_native};
    return cairnFfxNotifySubmit(&context_, family_, lists, 1);
  }

 private:
  std::vector<std::byte> scratch_;
  uint32_t family_ = 0;
  FfxBreadcrumbsContext context_{};
};

TEST_F(LayerSharingVulkanTest, FidelityFxListsMayBeRegisteredBeforeTheyAreOpened) {
  StartLayer();
  FfxOnLayer ffx;
  ASSERT_EQ(ffx.Register("Early"), FFX_OK) << cairnGetLastErrorMessage();
  EXPECT_EQ(ffx.Register("Again"), FFX_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(ffx.SetPipeline(), FFX_OK);
  EXPECT_NE(ffx.Begin(), FFX_OK) << "nothing is open";
  RecordInLayer();
  ASSERT_EQ(ffx.Begin(), FFX_OK);
  ASSERT_EQ(ffx.End(), FFX_OK);
  const RecordingSlot& slot = *g_layer_list.recording->slot();
  EXPECT_EQ(slot.event_count.load(), 2u);
  EXPECT_STREQ(block_->Name(slot.name)->bytes, "Early");
  const auto* chunk = reinterpret_cast<const EventChunk*>(block_->Page(slot.first_event_page));
  EXPECT_NE(chunk->events[EventPosition(g_layer_list.recording->slot_index(), 0)].pipeline, 0u)
      << "the pipeline that was set before the list was opened";
  EXPECT_EQ(g_layer_list.recording->End(), CAIRN_OK);
  EXPECT_EQ(ffx.Begin(), FFX_ERROR_INVALID_ARGUMENT) << "the list is closed";
  EXPECT_EQ(ffx.Submit(), FFX_OK);
}

TEST_F(LayerSharingVulkanTest, FidelityFxListsMayBeOpenedAgainInTheSameFrame) {
  StartLayer();
  FfxOnLayer ffx;
  RecordInLayer();
  ASSERT_EQ(ffx.Register("Twice"), FFX_OK);
  ASSERT_EQ(ffx.Begin(), FFX_OK);
  ASSERT_EQ(ffx.End(), FFX_OK);
  // Another list takes the slot that the reset gives back: no marker may go there.
  CommandList* const first = g_layer_list.recording;
  EXPECT_EQ(first->End(), CAIRN_OK);
  ASSERT_TRUE(g_layer_device.context->ReleaseCommandList(first).ok());
  SimulatedList other_native;
  CommandList* other = nullptr;
  CairnCommandListDesc desc{};
  desc.flags = CAIRN_LIST_HELD;
  desc.native = &other_native;
  ASSERT_TRUE(g_layer_device.context->BeginCommandList(desc, &other).ok());
  EXPECT_EQ(other, first);
  g_layer_list.recording = nullptr;
  RecordInLayer();
  ASSERT_EQ(ffx.Begin(), FFX_OK);
  ASSERT_EQ(ffx.End(), FFX_OK);
  EXPECT_EQ(other->slot()->event_count.load(), 0u);
  EXPECT_EQ(g_layer_list.recording->slot()->event_count.load(), 2u);
  EXPECT_STREQ(block_->Name(g_layer_list.recording->slot()->name)->bytes, "Twice");
  // A new frame forgets the registration.
  ASSERT_EQ(ffx.StartFrame(), FFX_OK);
  EXPECT_EQ(ffx.Begin(), FFX_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(ffx.Register("Still open"), FFX_OK);
  EXPECT_EQ(ffx.Begin(), FFX_OK);
}

// The order of raw markers and work is kept with the recording.
TEST_F(LayerSharingVulkanTest, RawMarkersHaveTheirPlaceAmongTheWork) {
  StartLayer();
  CairnContext* const context = CreateShared();
  RecordInLayer();
  ASSERT_EQ(cairnWriteMarker(context, &g_native, CAIRN_TOP_OF_PIPE, 3, ~uint64_t{1}), CAIRN_OK);
  g_layer_list.recording->BeginWork(CAIRN_MARKER_DISPATCH);
  g_layer_list.recording->EndWork();
  ASSERT_EQ(cairnWriteMarker(context, &g_native, CAIRN_BOTTOM_OF_PIPE, 4, 5), CAIRN_OK);
  const Result<Snapshot> snapshot =
      SnapshotFromBlock(std::span(block_->data(), block_->size_bytes()), 1);
  ASSERT_TRUE(snapshot.ok());
  const Recording& recording = snapshot->recordings.back();
  ASSERT_EQ(recording.event_count, 4u);
  const Event& top = snapshot->events[recording.first_event];
  ASSERT_EQ(top.kind, EventKind::kBind);
  EXPECT_EQ(static_cast<BindPoint>(top.type), kBindRawMarkerTop);
  EXPECT_EQ(snapshot->binds[top.detail].slot, 3u);
  EXPECT_EQ(snapshot->binds[top.detail].value, ~uint64_t{1});
  const Event& bottom = snapshot->events[recording.first_event + 3];
  EXPECT_EQ(static_cast<BindPoint>(bottom.type), kBindRawMarkerBottom);
  EXPECT_EQ(snapshot->binds[bottom.detail].value, 5u);
  EXPECT_EQ(cairnDestroyContext(context), CAIRN_OK);
}

TEST_F(LayerSharingVulkanTest, CommandBufferWithoutARecordingIsAnError) {
  StartLayer();
  CairnContext* const context = CreateShared();
  const CairnCommandListDesc desc = ListDesc();
  CairnCommandList* list = nullptr;
  EXPECT_EQ(cairnBeginCommandList(context, &desc, &list), CAIRN_ERROR_OUT_OF_MEMORY);
  EXPECT_NE(std::string(cairnGetLastErrorMessage()), "");
  EXPECT_EQ(cairnDestroyContext(context), CAIRN_OK);
}

TEST_F(LayerSharingVulkanTest, OtherDevicesAndOtherCopiesHaveContextsOfTheirOwn) {
  StartLayer();
  CairnContext* context = nullptr;
  // A device that is not the layer's is tried like any other, and fails.
  EXPECT_NE(Create(&g_other_device, &context), CAIRN_OK);
  g_layer_device.token = this;
  EXPECT_NE(Create(&g_device, &context), CAIRN_OK);
  g_layer_device.token = LayerToken();
  SetVulkanLayerHooks({});
  EXPECT_NE(Create(&g_device, &context), CAIRN_OK);
  EXPECT_EQ(context, nullptr);
}

TEST_F(LayerSharingVulkanTest, WithoutBreadcrumbsOfTheLayerTheDeviceIsLikeOthers) {
  CairnContext* context = nullptr;
  EXPECT_NE(Create(&g_device, &context), CAIRN_OK);
  EXPECT_EQ(context, nullptr);
}

}  // namespace
}  // namespace cairn
