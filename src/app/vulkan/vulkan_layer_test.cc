// SPDX-License-Identifier: Apache-2.0
//
// The layer between a program and a driver: what it notes of command buffers, and what the GPU writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "cairn/markers.h"

#include "app/breadcrumbs/context.h"
#include "app/breadcrumbs/driver_half.h"
#include "app/breadcrumbs/layer_identity.h"
#include "app/breadcrumbs/raw_marker_text.h"
#include "app/breadcrumbs/vulkan_loader.h"
#include "app/vulkan/checkpoint_marker.h"
#include "app/vulkan/exact.h"
#include "app/vulkan/intercept.h"
#include "app/vulkan/testing/test_loader.h"
#include "format/block/raw_marker_binds.h"
#include "format/block/work_arguments.h"
#include "os/library.h"

namespace cairn {
namespace {

using testing::ElementsAre;

class VulkanLayerTest : public testing::Test {
 protected:
  void Make(MarkerMode mode = MarkerMode::kTop) {
    const Status status = loader_.Create(mode);
    ASSERT_TRUE(status.ok()) << status.message();
    buffer_ = loader_.MakeBuffer();
  }
  const DeviceFunctions& vk() const { return loader_.vk(); }
  void Fill(VkCommandBuffer commands) { vk().CmdFillBuffer(commands, buffer_, 0, 64, 7); }
  void Copy(VkCommandBuffer commands) {
    const VkBufferCopy region = {192, 128, 32};  // nothing that Fill writes
    vk().CmdCopyBuffer(commands, buffer_, buffer_, 1, &region);
  }
  uint32_t Reached(VkCommandBuffer commands) {
    return loader_.SequenceOfWork(commands, loader_.Words(commands).reached.load());
  }
  uint32_t Passed(VkCommandBuffer commands) {
    return loader_.SequenceOfWork(commands, loader_.Words(commands).passed.load());
  }
  // The types of the events that begin something.
  std::vector<int> Begun(VkCommandBuffer commands) {
    std::vector<int> types;
    for (const EventRecord& event : loader_.EventsOfWork(commands)) {
      if (event.kind == EventKind::kBegin) types.push_back(event.type);
    }
    return types;
  }
  std::string Name(NameRef ref) {
    return ref == 0 ? "" : std::string(loader_.state().block->Name(ref)->bytes);
  }

  TestLoader loader_;
  VkBuffer buffer_ = VK_NULL_HANDLE;
};

// Loaders before 1.3.204 crash when a layer asks for what it has enabled itself.
TEST_F(VulkanLayerTest, AnOlderLoaderIsNotAskedForWhatItCannotCall) {
  const Result<VulkanGetInstanceProcAddr> system = LoadVulkanLoader();
  ASSERT_TRUE(system.ok());
  const Result<Library> older = Library::Load(CAIRN_OLDER_LOADER);
  ASSERT_TRUE(older.ok()) << older.status().message();
  older->Find<void (*)(VulkanGetInstanceProcAddr)>("SetSystemLoader")(*system);
  const VkPhysicalDeviceFeatures2 none = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
  const auto has_properties2 = [&](uint32_t api_version, PFN_vkGetInstanceProcAddr next) {
    TestLoader loader;
    const Status status = loader.Create(
        MarkerMode::kTop, {.chain = &none, .api_version = api_version, .next_of_instance = next});
    EXPECT_TRUE(status.ok()) << status.message();
    if (!status.ok()) return false;
    const InstanceState& instance = *loader.state().instance;
    const bool has = instance.GetPhysicalDeviceProperties2 != nullptr;
    EXPECT_EQ(instance.Next("vkGetPhysicalDeviceProperties2") != nullptr ||
                  instance.Next("vkGetPhysicalDeviceProperties2KHR") != nullptr,
              has);
    return has;
  };
  const auto its = older->Find<PFN_vkGetInstanceProcAddr>("vkGetInstanceProcAddr");
  EXPECT_FALSE(has_properties2(VK_API_VERSION_1_0, its));
  EXPECT_TRUE(has_properties2(VK_API_VERSION_1_1, its));
  EXPECT_TRUE(has_properties2(VK_API_VERSION_1_0, nullptr));
}

// Under both of its names, where the user orders the layers.
TEST_F(VulkanLayerTest, TwiceInAChainItMarksOnce) {
  const Status status = loader_.Create(MarkerMode::kTop, {.twice = true});
  ASSERT_TRUE(status.ok()) << status.message();
  buffer_ = loader_.MakeBuffer();
  const VkCommandBuffer commands = loader_.Allocate();
  loader_.Begin(commands);
  Fill(commands);
  vk().EndCommandBuffer(commands);
  EXPECT_THAT(Begun(commands), ElementsAre(CAIRN_MARKER_FILL_BUFFER));
}

TEST_F(VulkanLayerTest, WordsHaveTheLastValuesAfterASubmission) {
  Make();
  const VkCommandBuffer commands = loader_.Allocate();
  loader_.Begin(commands);
  Fill(commands);
  Copy(commands);
  loader_.End(commands);
  EXPECT_THAT(Begun(commands), ElementsAre(CAIRN_MARKER_FILL_BUFFER, CAIRN_MARKER_COPY_BUFFER));
  EXPECT_EQ(Reached(commands), 0u);
  ASSERT_EQ(loader_.Run(commands), VK_SUCCESS);
  EXPECT_EQ(Reached(commands), 3u) << "the copy's begin";
  EXPECT_EQ(Passed(commands), 4u) << "the end of the buffer";
  EXPECT_EQ(loader_.Slot(commands).submit_count.load(), 1u);
  EXPECT_EQ(loader_.Slot(commands).native_handle, reinterpret_cast<uintptr_t>(commands));
}

TEST_F(VulkanLayerTest, ModesDifferInWhatIsWrittenAtEnds) {
  for (const MarkerMode mode : {MarkerMode::kTop, MarkerMode::kPass, MarkerMode::kFull}) {
    TestLoader loader;
    ASSERT_TRUE(loader.Create(mode).ok());
    const VkBuffer buffer = loader.MakeBuffer();
    const VkCommandBuffer commands = loader.Allocate();
    loader.Begin(commands);
    VkDebugUtilsLabelEXT label = {VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT, nullptr, "Shadow", {}};
    loader.vk().CmdBeginDebugUtilsLabelEXT(commands, &label);
    loader.vk().CmdFillBuffer(commands, buffer, 0, 64, 7);
    loader.vk().CmdEndDebugUtilsLabelEXT(commands);
    loader.vk().CmdFillBuffer(commands, buffer, 0, 64, 7);
    loader.End(commands);
    std::vector<int> bottoms;
    for (const EventRecord& event : loader.EventsOfWork(commands)) {
      bottoms.push_back((event.flags & kEventWritesBottom) != 0 ? 1 : 0);
    }
    // label, fill, end of fill, end of label, fill, end of fill
    const bool full = mode == MarkerMode::kFull;
    EXPECT_THAT(bottoms, ElementsAre(0, 0, full ? 1 : 0, mode == MarkerMode::kTop ? 0 : 1, 0, 1))
        << static_cast<int>(mode);
    ASSERT_EQ(loader.Run(commands), VK_SUCCESS);
    EXPECT_EQ(loader.state().mode, mode);
  }
}

// Calls of AGS by a program of Direct3D 11 arrive as labels: the GPU writes their markers, and they
// are no labels.
TEST_F(VulkanLayerTest, LabelsThatAreRawMarkersAreWritten) {
  RawMarkerScope scope(2000, 2);
  Make();
  ASSERT_NE(scope.slots(), nullptr);
  EXPECT_EQ(scope.method(), loader_.state().raw_marker_method);
  const VkCommandBuffer commands = loader_.Allocate();
  loader_.Begin(commands);
  const auto insert = vk().CmdInsertDebugUtilsLabelEXT;
  for (const RawMarker& marker :
       {RawMarker{PipeLocation::kTop, 1999, 0xDEADCAFE},
        RawMarker{PipeLocation::kBottom, 5, 0x1122334455667788},
        RawMarker{PipeLocation::kTop, 2001, 7}, RawMarker{PipeLocation::kTop, 2002, 8}}) {
    const auto text = RawMarkerText(marker);
    const VkDebugUtilsLabelEXT label = {
        VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT, nullptr, text.data(), {}};
    insert(commands, &label);
    Fill(commands);
  }
  loader_.End(commands);
  EXPECT_THAT(Begun(commands), ElementsAre(CAIRN_MARKER_FILL_BUFFER, CAIRN_MARKER_FILL_BUFFER,
                                           CAIRN_MARKER_FILL_BUFFER, CAIRN_MARKER_FILL_BUFFER));
  std::vector<BindPoint> markers;
  for (const EventRecord& event : loader_.EventsOfWork(commands)) {
    if (event.kind == EventKind::kBind) markers.push_back(static_cast<BindPoint>(event.type));
  }
  EXPECT_THAT(markers, ElementsAre(kBindRawMarkerTop, kBindRawMarkerBottom));
  EXPECT_EQ(scope.slots()[1999], CAIRN_MARKER_UNWRITTEN);
  ASSERT_EQ(loader_.Run(commands), VK_SUCCESS);
  EXPECT_EQ(scope.slots()[1999], 0xDEADCAFEu);
  EXPECT_EQ(scope.slots()[5], 0x1122334455667788u);
  EXPECT_EQ(scope.slots()[2001], 7u) << "written, and not noted";
  EXPECT_EQ(scope.slots()[0], CAIRN_MARKER_UNWRITTEN);
}

TEST_F(VulkanLayerTest, OtherDevicesHaveLabelsOnly) {
  Make();
  EXPECT_EQ(loader_.state().raw_marker_method, WriteMethod::kNone);
  const VkCommandBuffer commands = loader_.Allocate();
  loader_.Begin(commands);
  const auto text = RawMarkerText({PipeLocation::kTop, 0, 7});
  const VkDebugUtilsLabelEXT label = {
      VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT, nullptr, text.data(), {}};
  vk().CmdInsertDebugUtilsLabelEXT(commands, &label);
  loader_.End(commands);
  EXPECT_THAT(Begun(commands), ElementsAre(CAIRN_MARKER_SET_MARKER));
  ASSERT_EQ(loader_.Run(commands), VK_SUCCESS);
  EXPECT_EQ(loader_.state().context->raw_markers()[0], CAIRN_MARKER_UNWRITTEN);
}

// The Direct3D 11 layer labels a command: the label includes the implementation's commands for it
// and their labels.
TEST_F(VulkanLayerTest, AWorkLabelIsTheCommandThatItNames) {
  Make();
  const auto begin = vk().CmdBeginDebugUtilsLabelEXT;
  const auto insert = vk().CmdInsertDebugUtilsLabelEXT;
  const auto end = vk().CmdEndDebugUtilsLabelEXT;
  const VkDebugUtilsLabelEXT work = {
      VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT, nullptr, "cairn:work:0051:00000007", {}};
  const VkDebugUtilsLabelEXT inner = {
      VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT, nullptr, "Color pass", {}};
  const VkCommandBuffer commands = loader_.Allocate();
  loader_.Begin(commands);
  begin(commands, &work);
  Fill(commands);
  begin(commands, &inner);
  insert(commands, &inner);
  Copy(commands);
  end(commands);
  Fill(commands);
  end(commands);
  begin(commands, &inner);
  Copy(commands);
  end(commands);
  loader_.End(commands);
  EXPECT_THAT(Begun(commands),
              ElementsAre(CAIRN_MARKER_DRAW_INDEXED, CAIRN_MARKER_PASS, CAIRN_MARKER_COPY_BUFFER));
  EXPECT_EQ(loader_.EventsOfWork(commands).front().pipeline, 7u);
  EXPECT_EQ(loader_.EventsOfWork(commands).back().pipeline, 0u);
}

// An inserted label of a draw or dispatch names the next one of them, and no command before it.
TEST_F(VulkanLayerTest, AnInsertedWorkLabelNamesTheNextDispatch) {
  Make();
  const auto insert = vk().CmdInsertDebugUtilsLabelEXT;
  const auto say = [&](VkCommandBuffer commands, const char* text) {
    const VkDebugUtilsLabelEXT label = {VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT, nullptr, text, {}};
    insert(commands, &label);
  };
  const auto dispatch = vk().CmdDispatch;
  const VkCommandBuffer commands = loader_.Allocate();
  loader_.Begin(commands);
  say(commands, "cairn:work:0051:00000006");  // a draw that the implementation left out
  say(commands, "cairn:work:004f:00000007");
  say(commands, "[CS_1234]");
  Fill(commands);
  dispatch(commands, 1, 1, 1);
  dispatch(commands, 1, 1, 1);
  say(commands, "Scene");
  loader_.End(commands);
  EXPECT_THAT(Begun(commands), ElementsAre(CAIRN_MARKER_FILL_BUFFER, CAIRN_MARKER_DISPATCH_INDIRECT,
                                           CAIRN_MARKER_DISPATCH, CAIRN_MARKER_SET_MARKER));
  std::vector<uint32_t> pipelines;
  for (const EventRecord& event : loader_.EventsOfWork(commands)) {
    if (event.kind == EventKind::kBegin) pipelines.push_back(event.pipeline);
  }
  EXPECT_THAT(pipelines, ElementsAre(0u, 7u, 0u, 0u));
}

TEST_F(VulkanLayerTest, OffAddsNothingBetweenTheProgramAndTheDriver) {
  Make(MarkerMode::kOff);
  EXPECT_EQ(loader_.state().kind, DeviceKind::kOff);
  EXPECT_EQ(loader_.state().context, nullptr);
  EXPECT_TRUE(loader_.state().enabled_extensions.empty());
  for (const auto& table :
       {CommandPoolIntercepts(), CommandBufferIntercepts(), WorkIntercepts(), SecondaryIntercepts(),
        RenderPassIntercepts(), LabelIntercepts(), ObjectIntercepts()}) {
    for (const Intercept& intercept : table) {
      EXPECT_EQ(loader_.Get<PFN_vkVoidFunction>(intercept.name), loader_.Next(intercept.name))
          << intercept.name;
    }
  }
  EXPECT_EQ(CommandBufferOf(loader_.Allocate()), nullptr);
}

TEST_F(VulkanLayerTest, FunctionsOfExtensionsThatAreNotEnabledAreNotThere) {
  Make();
  EXPECT_EQ(loader_.Get<PFN_vkVoidFunction>("vkCmdDrawMeshTasksNV"), nullptr);
  EXPECT_EQ(loader_.Get<PFN_vkVoidFunction>("vkThereIsNoSuchFunction"), nullptr);
  EXPECT_NE(loader_.Get<PFN_vkVoidFunction>("vkCmdDraw"), loader_.Next("vkCmdDraw"));
  EXPECT_NE(loader_.Get<PFN_vkVoidFunction>("vkCmdSetViewport"), loader_.Next("vkCmdSetViewport"))
      << "its calls are noted";
  for (const char* answers : {"vkGetBufferMemoryRequirements", "vkGetDeviceQueue2"}) {
    EXPECT_EQ(loader_.Get<PFN_vkVoidFunction>(answers), loader_.Next(answers));
  }
}

TEST_F(VulkanLayerTest, SubmittedAgainTheWordsStartAnew) {
  Make();
  const VkCommandBuffer commands = loader_.Allocate();
  loader_.Begin(commands);
  Fill(commands);
  loader_.End(commands);
  for (uint32_t run = 1; run <= 3; ++run) {
    ASSERT_EQ(loader_.Run(commands), VK_SUCCESS);
    EXPECT_EQ(loader_.Slot(commands).submit_count.load(), run);
    EXPECT_EQ(loader_.Slot(commands).reset_run.load(), run - 1) << "the words were cleared";
    EXPECT_EQ(Reached(commands), 1u);
    EXPECT_EQ(Passed(commands), 2u);
  }
}

TEST_F(VulkanLayerTest, TheGpuCountsTheRunsOfASimultaneousBuffer) {
  Make();
  const VkCommandBuffer commands = loader_.Allocate();
  loader_.Begin(commands, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT);
  Fill(commands);
  loader_.End(commands);
  EXPECT_EQ(loader_.Slot(commands).flags, kRecordingReusable);
  for (uint32_t run = 1; run <= 3; ++run) {
    ASSERT_EQ(loader_.Run(commands), VK_SUCCESS);
    EXPECT_EQ(loader_.Words(commands).runs.load(), run);
  }
}

TEST_F(VulkanLayerTest, SecondariesHaveRecordingsOfTheirOwnInsideThePrimary) {
  Make();
  const VkCommandBuffer alone = loader_.Allocate(VK_COMMAND_BUFFER_LEVEL_SECONDARY);
  loader_.BeginSecondary(alone);
  Fill(alone);
  loader_.End(alone);
  const VkCommandBuffer several = loader_.Allocate(VK_COMMAND_BUFFER_LEVEL_SECONDARY);
  loader_.BeginSecondary(several, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT);
  Fill(several);
  loader_.End(several);
  const VkCommandBuffer primary = loader_.Allocate();
  loader_.Begin(primary);
  const VkCommandBuffer both[] = {alone, several};
  vk().CmdExecuteCommands(primary, 2, both);
  loader_.End(primary);

  EXPECT_EQ(loader_.Slot(alone).flags, kRecordingSecondary);
  const std::vector<EventRecord> events = loader_.EventsOfWork(primary);
  ASSERT_EQ(events.size(), 4u);
  EXPECT_EQ(events[0].type, CAIRN_MARKER_EXECUTE_COMMANDS);
  EXPECT_EQ(events[1].kind, EventKind::kBind);
  EXPECT_EQ(events[1].type, static_cast<uint16_t>(BindPoint::kSecondary));
  EXPECT_EQ(events[1].pipeline | uint64_t{events[1].match} << 32, loader_.Slot(alone).recording_id);
  EXPECT_EQ(events[2].pipeline, loader_.Slot(several).recording_id);
  for (uint32_t run = 1; run <= 2; ++run) {
    ASSERT_EQ(loader_.Run(primary), VK_SUCCESS);
    EXPECT_EQ(Reached(alone), 1u);
    EXPECT_EQ(loader_.Slot(alone).submit_count.load(), run);
    EXPECT_EQ(loader_.Slot(alone).reset_run.load(), run - 1);
    EXPECT_EQ(Reached(several), 0u) << "it could run twice at once";
    EXPECT_EQ(Passed(primary), 4u);
  }
}

TEST_F(VulkanLayerTest, LabelsAreTheTreeAndEndsWithoutBeginsAreIgnored) {
  Make();
  const VkCommandBuffer commands = loader_.Allocate();
  loader_.Begin(commands);
  const auto begin = vk().CmdBeginDebugUtilsLabelEXT;
  const auto end = vk().CmdEndDebugUtilsLabelEXT;
  const auto insert = vk().CmdInsertDebugUtilsLabelEXT;
  VkDebugUtilsLabelEXT label = {VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT, nullptr, "Frame", {}};
  // Legal where another command buffer of the queue began it; Mesa reads what is not there then.
  loader_.state().vk.CmdEndDebugUtilsLabelEXT = [](VkCommandBuffer) {};
  end(commands);
  begin(commands, &label);
  label.pLabelName = "Here";
  insert(commands, &label);
  Fill(commands);
  end(commands);
  end(commands);
  loader_.End(commands);
  EXPECT_THAT(Begun(commands),
              ElementsAre(CAIRN_MARKER_PASS, CAIRN_MARKER_SET_MARKER, CAIRN_MARKER_FILL_BUFFER));
  const std::vector<EventRecord> events = loader_.EventsOfWork(commands);
  ASSERT_EQ(events.size(), 6u);
  EXPECT_EQ(Name(events[0].name), "Frame");
  EXPECT_EQ(Name(events[1].name), "Here");
  EXPECT_EQ(events[5].match, 1u);
}

struct BoundBuffer {
  BindPoint point;
  uint32_t slot;
  uint64_t handle;  // of the entry that it leads to
  bool operator==(const BoundBuffer&) const = default;
};
void PrintTo(const BoundBuffer& bound, std::ostream* out) {
  *out << "point " << static_cast<int>(bound.point) << " slot " << bound.slot << " handle "
       << bound.handle;
}

std::vector<BoundBuffer> BoundBuffers(const TestLoader& loader, VkCommandBuffer commands) {
  std::vector<BoundBuffer> bound;
  for (const EventRecord& event : loader.EventsOfWork(commands)) {
    if (event.kind != EventKind::kBind ||
        event.type == static_cast<uint16_t>(BindPoint::kSecondary))
      continue;
    EXPECT_EQ(event.flags & kEventBindsAddress, 0);
    EXPECT_EQ(event.match, 0u);
    const ObjectRecord* const entry = loader.state().block->objects().Find(event.pipeline - 1);
    bound.push_back({static_cast<BindPoint>(event.type), event.name,
                     entry == nullptr ? 0 : entry->native_handle});
  }
  return bound;
}

TEST_F(VulkanLayerTest, VertexAndIndexBuffersAreNotedWhereTheyChange) {
  Make();
  const VkBuffer a = buffer_;
  const VkBuffer b = loader_.MakeBuffer();
  const auto bind_vertices = vk().CmdBindVertexBuffers;
  const auto bind_indices = vk().CmdBindIndexBuffer;
  const VkBuffer both[] = {a, b};
  const VkDeviceSize offsets[] = {0, 64};
  const VkCommandBuffer secondary = loader_.Allocate(VK_COMMAND_BUFFER_LEVEL_SECONDARY);
  loader_.BeginSecondary(secondary);
  loader_.End(secondary);
  const VkCommandBuffer commands = loader_.Allocate();
  for (int recording = 0; recording < 2; ++recording) {
    loader_.Begin(commands);
    bind_vertices(commands, 2, 2, both, offsets);
    bind_vertices(commands, 2, 2, both, offsets);
    bind_vertices(commands, 2, 1, &b, offsets);
    bind_vertices(commands, 20, 1, &a, offsets);
    bind_vertices(commands, 20, 1, &a, offsets);
    bind_indices(commands, a, 0, VK_INDEX_TYPE_UINT32);
    bind_indices(commands, a, 4, VK_INDEX_TYPE_UINT16);
    vk().CmdExecuteCommands(commands, 1, &secondary);
    bind_indices(commands, a, 0, VK_INDEX_TYPE_UINT32);
    bind_vertices(commands, 3, 1, &b, offsets);
    loader_.End(commands);
    const uint64_t of_a = reinterpret_cast<uintptr_t>(a);
    const uint64_t of_b = reinterpret_cast<uintptr_t>(b);
    EXPECT_THAT(BoundBuffers(loader_, commands),
                ElementsAre(BoundBuffer{BindPoint::kVertexBuffer, 2, of_a},
                            BoundBuffer{BindPoint::kVertexBuffer, 3, of_b},
                            BoundBuffer{BindPoint::kVertexBuffer, 2, of_b},
                            BoundBuffer{BindPoint::kVertexBuffer, 20, of_a},
                            BoundBuffer{BindPoint::kVertexBuffer, 20, of_a},
                            BoundBuffer{BindPoint::kIndexBuffer, 0, of_a},
                            // A secondary leaves nothing bound.
                            BoundBuffer{BindPoint::kIndexBuffer, 0, of_a},
                            BoundBuffer{BindPoint::kVertexBuffer, 3, of_b}));
  }
}

// By the argument points of work_arguments.h, and operands by their handle.
struct Told {
  uint16_t point;
  uint32_t first;
  uint64_t rest;
  bool operator==(const Told&) const = default;
};
void PrintTo(const Told& told, std::ostream* out) {
  *out << "point " << told.point << ": " << told.first << ", " << told.rest;
}
Told Of(const ArgumentNumbers& numbers) {
  return {static_cast<uint16_t>(numbers.point), numbers.first, numbers.rest};
}
Told Of(BindPoint point, uint32_t slot, VkBuffer buffer) {
  return {static_cast<uint16_t>(point), slot, reinterpret_cast<uintptr_t>(buffer)};
}

TEST_F(VulkanLayerTest, CommandsAreNotedWithTheirArguments) {
  Make();
  const VkCommandBuffer commands = loader_.Allocate();
  loader_.Begin(commands);
  vk().CmdFillBuffer(commands, buffer_, 0, 64, 7);
  const VkBufferCopy regions[] = {{0, 128, 32}, {64, 192, 16}};
  vk().CmdCopyBuffer(commands, buffer_, buffer_, 2, regions);
  // Recorded without a pipeline and never run.
  vk().CmdDispatch(commands, 300, 2, 1);
  vk().CmdDispatchIndirect(commands, buffer_, 16);
  loader_.End(commands);
  std::vector<Told> told;
  for (const EventRecord& event : loader_.Events(commands)) {
    if (event.kind != EventKind::kBind) continue;
    const uint64_t value = uint64_t{event.match} << 32 | event.pipeline;
    if ((event.flags & kEventBindsAddress) != 0) {
      told.push_back({event.type, event.name, value});
    } else {
      told.push_back({event.type, event.name,
                      loader_.state().block->objects().Find(event.pipeline - 1)->native_handle});
    }
  }
  EXPECT_THAT(told, ElementsAre(Of(BindPoint::kDestination, 0, buffer_),
                                Of(ByteArguments(1, 64).main),                  // the fill
                                Of(BindPoint::kDestination, 0, buffer_),        //
                                Of(BindPoint::kSource, 0, buffer_),             //
                                Of(ByteArguments(2, 48).main),                  // the copy
                                Of(GroupArguments(300, 2, 1).main),             //
                                Of(BindPoint::kIndirectArguments, 0, buffer_),  //
                                Of(IndirectArguments(1, 16).main)));
}

TEST_F(VulkanLayerTest, NewerCommandsBindBuffersAlike) {
  Make();
  const VkDeviceSize offset = 0;
  const VkCommandBuffer commands = loader_.Allocate();
  loader_.Begin(commands);
  const auto bind = vk().CmdBindVertexBuffers2;
  ASSERT_NE(bind, nullptr);
  bind(commands, 1, 1, &buffer_, &offset, nullptr, nullptr);
  loader_.End(commands);
  EXPECT_THAT(
      BoundBuffers(loader_, commands),
      ElementsAre(BoundBuffer{BindPoint::kVertexBuffer, 1, reinterpret_cast<uintptr_t>(buffer_)}));
}

TEST_F(VulkanLayerTest, FillsStayOutOfRenderPassesAndOfSuspendedOnes) {
  Make(MarkerMode::kFull);
  const VkCommandBuffer commands = loader_.Allocate();
  loader_.Begin(commands);
  VkRenderingInfo info = {VK_STRUCTURE_TYPE_RENDERING_INFO};
  info.flags = VK_RENDERING_SUSPENDING_BIT;
  info.renderArea.extent = {16, 16};
  info.layerCount = 1;
  const auto begin = vk().CmdBeginRendering;
  const auto end = vk().CmdEndRendering;
  begin(commands, &info);
  end(commands);
  info.flags = VK_RENDERING_RESUMING_BIT;
  begin(commands, &info);
  end(commands);
  Fill(commands);
  loader_.End(commands);
  std::vector<int> flags;
  for (const EventRecord& event : loader_.EventsOfWork(commands)) flags.push_back(event.flags);
  EXPECT_THAT(Begun(commands), ElementsAre(CAIRN_MARKER_BEGIN_RENDERING, CAIRN_MARKER_END_RENDERING,
                                           CAIRN_MARKER_BEGIN_RENDERING, CAIRN_MARKER_END_RENDERING,
                                           CAIRN_MARKER_FILL_BUFFER));
  // Only before the first, behind the last, and around the fill.
  EXPECT_THAT(flags, ElementsAre(kEventWritesTop, 0, 0, 0, 0, 0, 0, kEventWritesBottom,
                                 kEventWritesTop, kEventWritesBottom));
  ASSERT_EQ(loader_.Run(commands), VK_SUCCESS);
  EXPECT_EQ(Passed(commands), 10u);
}

// An end records a full barrier behind all work; render passes are cut, so that words are written
// in between.
TEST_F(VulkanLayerTest, InModeExactEndsDrain) {
  Make(MarkerMode::kExact);
  const auto begin = vk().CmdBeginRendering;
  const auto end = vk().CmdEndRendering;
  const VkCommandBuffer commands = loader_.Allocate();
  loader_.Begin(commands);
  Fill(commands);
  VkRenderingInfo info = {VK_STRUCTURE_TYPE_RENDERING_INFO};
  info.renderArea.extent = {16, 16};
  info.layerCount = 1;
  begin(commands, &info);
  EXPECT_FALSE(CommandBufferOf(commands)->exact->inside_pass())
      << "closed until something is drawn";
  end(commands);
  info.flags = VK_RENDERING_SUSPENDING_BIT;
  begin(commands, &info);
  EXPECT_TRUE(CommandBufferOf(commands)->exact->inside_pass()) << "not cut";
  end(commands);
  info.flags = VK_RENDERING_RESUMING_BIT;
  begin(commands, &info);
  end(commands);
  loader_.End(commands);
  constexpr int kEnd = kEventWritesBottom | kEventDrains;
  std::vector<int> flags;
  for (const EventRecord& event : loader_.EventsOfWork(commands)) flags.push_back(event.flags);
  EXPECT_THAT(flags, ElementsAre(kEventWritesTop, kEnd,     // fill
                                 kEventWritesTop, kEnd,     // begin of the pass that is cut
                                 kEventWritesTop, kEnd,     // its end
                                 kEventWritesTop, 0, 0, 0,  // suspended
                                 0, 0, 0, kEnd));           // resumed, and its end
  ASSERT_EQ(loader_.Run(commands), VK_SUCCESS);
  EXPECT_EQ(Passed(commands), 14u);
}

// The canary counts its runs in memory.
TEST_F(VulkanLayerTest, InModeExactACanaryRunsBehindEachPieceOfWork) {
  Make(MarkerMode::kExact);
  const ExactCanary* const canary = loader_.state().exact->canary();
  ASSERT_NE(canary, nullptr);
  const VkCommandBuffer commands = loader_.Allocate();
  const auto runs = [&](auto record) {
    const uint32_t before = canary->runs();
    loader_.Begin(commands);
    record();
    loader_.End(commands);
    EXPECT_EQ(loader_.Run(commands), VK_SUCCESS);
    return canary->runs() - before;
  };
  EXPECT_EQ(runs([] {}), 0u);
  EXPECT_EQ(runs([&] {
              Fill(commands);
              Copy(commands);
            }),
            2u);
  const VkMemoryBarrier barrier = {VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr,
                                   VK_ACCESS_MEMORY_WRITE_BIT, VK_ACCESS_MEMORY_READ_BIT};
  EXPECT_EQ(runs([&] {
              vk().CmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                                      VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 1, &barrier, 0,
                                      nullptr, 0, nullptr);
            }),
            0u);
  VkRenderingInfo pass = {VK_STRUCTURE_TYPE_RENDERING_INFO};
  pass.renderArea.extent = {16, 16};
  pass.layerCount = 1;
  const auto rendering = [&] {
    vk().CmdBeginRendering(commands, &pass);
    vk().CmdEndRendering(commands);
  };
  EXPECT_EQ(runs(rendering), 2u) << "its begin and its end";
  pass.flags = VK_RENDERING_CONTENTS_SECONDARY_COMMAND_BUFFERS_BIT;
  EXPECT_EQ(runs(rendering), 1u) << "not cut: behind it";
  EXPECT_EQ(runs([&] {
              ExactCommandsOf(commands)->compute().GiveUp();
              Fill(commands);
            }),
            0u)
      << "what is bound could not be bound again";
  EXPECT_EQ(runs([&] {
              ExactCommandsOf(commands)->BeginQuery();
              Fill(commands);
              ExactCommandsOf(commands)->EndQuery();
              Fill(commands);
            }),
            1u);
}

// A command buffer that is begun anew has forgotten the pass that was left open.
TEST_F(VulkanLayerTest, InModeExactARecordingStartsOutsideOfPasses) {
  Make(MarkerMode::kExact);
  const VkCommandBuffer commands = loader_.Allocate();
  loader_.Begin(commands);
  VkRenderingInfo info = {VK_STRUCTURE_TYPE_RENDERING_INFO};
  info.flags = VK_RENDERING_SUSPENDING_BIT;
  info.renderArea.extent = {16, 16};
  info.layerCount = 1;
  vk().CmdBeginRendering(commands, &info);
  EXPECT_FALSE(IsSerial(commands));
  vk().CmdEndRendering(commands);
  EXPECT_FALSE(IsSerial(commands)) << "nothing may stand before it is resumed";
  loader_.End(commands);
  loader_.Begin(commands);
  EXPECT_TRUE(IsSerial(commands));
  loader_.End(commands);
}

TEST_F(VulkanLayerTest, ASubpassOfSecondariesTakesNothingElse) {
  Make();
  const VkCommandBuffer commands = loader_.Allocate();
  loader_.Begin(commands);
  const CommandList& list = *CommandBufferOf(commands)->open;
  VkRenderingInfo info = {VK_STRUCTURE_TYPE_RENDERING_INFO};
  info.renderArea.extent = {16, 16};
  info.layerCount = 1;
  const auto begin = vk().CmdBeginRendering;
  const auto end = vk().CmdEndRendering;
  begin(commands, &info);
  EXPECT_FALSE(list.silent()) << "buffer markers may go on";
  end(commands);
  info.flags = VK_RENDERING_CONTENTS_SECONDARY_COMMAND_BUFFERS_BIT;
  begin(commands, &info);
  EXPECT_TRUE(list.silent());
  end(commands);
  EXPECT_FALSE(list.silent());
  loader_.End(commands);
}

TEST_F(VulkanLayerTest, CheckpointsSayWhatTheWordsSay) {
  Make(MarkerMode::kFull);
  static std::vector<const void*> checkpoints;
  checkpoints.clear();
  loader_.state().vk.CmdSetCheckpointNV = [](VkCommandBuffer, const void* marker) {
    checkpoints.push_back(marker);
  };
  const VkCommandBuffer commands = loader_.Allocate();
  CommandBufferOf(commands)->checkpoints = true;
  loader_.Begin(commands);
  Fill(commands);
  Copy(commands);
  loader_.End(commands);
  ASSERT_EQ(checkpoints.size(), 2u);
  const CheckpointMarker second = DecodeCheckpoint(checkpoints[1]);
  EXPECT_EQ(second.slot, CommandBufferOf(commands)->list->slot_index());
  EXPECT_EQ(loader_.SequenceOfWork(commands, second.progress_value), 3u);
  EXPECT_EQ(loader_.SequenceOfWork(commands, DecodeCheckpoint(checkpoints[0]).progress_value), 1u);
}

TEST_F(VulkanLayerTest, NothingIsWrittenWhileAQueryCounts) {
  Make(MarkerMode::kFull);
  VkQueryPoolCreateInfo info = {VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
  info.queryType = VK_QUERY_TYPE_PIPELINE_STATISTICS;
  info.queryCount = 1;
  info.pipelineStatistics = VK_QUERY_PIPELINE_STATISTIC_COMPUTE_SHADER_INVOCATIONS_BIT;
  VkQueryPool pool = VK_NULL_HANDLE;
  ASSERT_EQ(vk().CreateQueryPool(loader_.device(), &info, nullptr, &pool), VK_SUCCESS);
  const VkCommandBuffer commands = loader_.Allocate();
  loader_.Begin(commands);
  vk().CmdBeginQuery(commands, pool, 0, 0);
  Fill(commands);
  vk().CmdEndQuery(commands, pool, 0);
  Fill(commands);
  loader_.End(commands);
  std::vector<int> flags;
  for (const EventRecord& event : loader_.EventsOfWork(commands)) flags.push_back(event.flags);
  EXPECT_THAT(flags, ElementsAre(0, 0, kEventWritesTop, kEventWritesBottom));
  vk().DestroyQueryPool(loader_.device(), pool, nullptr);
}

TEST_F(VulkanLayerTest, ABufferBegunAgainIsAnotherRecording) {
  Make();
  const VkCommandBuffer commands = loader_.Allocate();
  loader_.Begin(commands);
  Fill(commands);
  loader_.End(commands);
  ASSERT_EQ(loader_.Run(commands), VK_SUCCESS);
  const CommandList* const first = CommandBufferOf(commands)->list;
  const uint64_t first_id = first->slot()->recording_id;
  loader_.Begin(commands);
  EXPECT_NE(loader_.Slot(commands).recording_id, first_id);
  EXPECT_EQ(first->slot()->recording_id, first_id) << "what ran is kept for a report";
  loader_.End(commands);
  ASSERT_EQ(vk().ResetCommandBuffer(commands, 0), VK_SUCCESS);
  EXPECT_EQ(CommandBufferOf(commands)->list, nullptr);
}

TEST_F(VulkanLayerTest, ThreadsRecordAtOnce) {
  Make();
  constexpr uint32_t kCommands = 3000;
  VkCommandBuffer buffers[2] = {loader_.Allocate(), loader_.Allocate()};
  std::vector<std::thread> threads;
  for (const VkCommandBuffer commands : buffers) {
    threads.emplace_back([&, commands] {
      loader_.Begin(commands);
      for (uint32_t i = 0; i < kCommands; ++i) Fill(commands);
      loader_.End(commands);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const VkCommandBuffer commands : buffers) {
    EXPECT_EQ(loader_.EventsOfWork(commands).size(), 2 * kCommands);
    EXPECT_EQ(loader_.Slot(commands).dropped_count.load(), 0u);
    ASSERT_EQ(loader_.Run(commands), VK_SUCCESS);
    EXPECT_EQ(Reached(commands), 2 * kCommands - 1);
    EXPECT_EQ(Passed(commands), 2 * kCommands);
  }
}

TEST_F(VulkanLayerTest, LibcairnFindsTheDeviceAndTheRecording) {
  Make();
  const LayerDevice* const device = FindVulkanLayerDevice(loader_.device());
  ASSERT_NE(device, nullptr);
  EXPECT_EQ(device->context, loader_.state().context);
  const VkCommandBuffer commands = loader_.Allocate();
  loader_.Begin(commands);
  const LayerList* const list = FindVulkanLayerList(commands);
  ASSERT_NE(list, nullptr);
  EXPECT_EQ(list->recording, CommandBufferOf(commands)->list);
  loader_.End(commands);
  EXPECT_EQ(FindVulkanLayerList(this), nullptr);
}

TEST_F(VulkanLayerTest, TheApplicationIsNamedAndTheLayerIsATool) {
  Make();
  const ContextRecord& record = loader_.state().block->contexts()[loader_.state().context->index()];
  EXPECT_EQ(Name(record.application), "layer test");
  EXPECT_EQ(record.api, Api::kVulkan);
  const auto get = loader_.GetOfInstance<PFN_vkGetPhysicalDeviceToolProperties>(
      "vkGetPhysicalDeviceToolProperties");
  ASSERT_NE(get, nullptr);
  uint32_t count = 0;
  ASSERT_EQ(get(loader_.physical_device(), &count, nullptr), VK_SUCCESS);
  ASSERT_GE(count, 1u);
  std::vector<VkPhysicalDeviceToolProperties> tools(
      count, {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TOOL_PROPERTIES});
  ASSERT_EQ(get(loader_.physical_device(), &count, tools.data()), VK_SUCCESS);
  EXPECT_STREQ(tools[0].layer, kVulkanLayerName);
}

}  // namespace
}  // namespace cairn
