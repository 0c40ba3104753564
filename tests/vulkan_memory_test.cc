// SPDX-License-Identifier: Apache-2.0
//
// Work that is still running leads to something that was destroyed: the report names it, with who destroyed it
// when.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "format/snapshot/testing/snapshot_dump.h"
#include "os/thread.h"
#include "reader/report/redact.h"
#include "vulkan_memory_fixture.h"

namespace cairn::testing {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(VulkanMemoryTest, ABufferThatAnotherThreadDestroyedBehindADescriptorIsNamed) {
  const Buffer kept = MakeBuffer("Lights");
  const Buffer lost = MakeBuffer("Particles");
  const VkDescriptorSet set = SetWith(0, kept.handle);
  Write(set, 1, lost.handle);
  HangWith(set);
  loader_.state().context->BeginLayerFrame();
  const uint64_t frame = loader_.state().block->contexts()[loader_.state().context->index()].frame;
  uint32_t thread_id = 0;
  StartInnerThread("streaming", [&] {
    thread_id = CurrentThreadId();
    Destroy(lost);
  }).join();
  const Json report = ReportOf(Take());
  const std::vector<Json> bindings = Bindings(report);
  ASSERT_EQ(bindings.size(), 1u) << report.at("verdicts");
  const Json& binding = bindings[0];
  EXPECT_EQ(binding.at("point"), "descriptor set");
  EXPECT_EQ(binding.at("slot"), 1);
  EXPECT_EQ(binding.at("binding"), 0);
  EXPECT_EQ(binding.at("element"), 1);
  EXPECT_EQ(binding.at("state"), "destroyed");
  EXPECT_GT(binding.at("destroyed_after_ns").get<int64_t>(), 0);
  EXPECT_EQ(binding.at("since_submission"), true);
  const Json destruction = binding.at("destruction");
  EXPECT_EQ(destruction.at("kind"), "buffer");
  EXPECT_TRUE(destruction.at("cause").is_null());
  EXPECT_EQ(destruction.at("thread"), thread_id);
  EXPECT_EQ(destruction.at("thread_name"), "streaming");
  EXPECT_GT(destruction.at("before_incident_ns").get<int64_t>(), 0);
  EXPECT_EQ(destruction.at("frame"), frame);
  EXPECT_EQ(destruction.at("queue"), loader_.state().context->QueueIndex(loader_.queue()));
  EXPECT_EQ(destruction.at("submission"), 1);
  const Json object = report.at("objects").at(binding.at("object").get<uint32_t>());
  EXPECT_EQ(object.at("name"), "Particles");
  EXPECT_EQ(object.at("state"), "destroyed");
  EXPECT_THAT(
      Sentence(report),
      HasSubstr("; bound: descriptor set 1 binding 0[1]: buffer \"Particles\", destroyed "));
  EXPECT_THAT(Sentence(report), HasSubstr("destroyed by thread \"streaming\" ("));
  EXPECT_THAT(Sentence(report), HasSubstr("after submission 1 of queue "));
  Release();
  Destroy(kept);
}

TEST_F(VulkanMemoryTest, NamesAreRedactedAndWhoAndWhenStay) {
  const Buffer lost = MakeBuffer("Secret weapon");
  HangWith(SetWith(0, lost.handle));
  StartInnerThread("secret thread", [&] { Destroy(lost); }).join();
  const std::string text = JsonReport(Redact(Take()), AnalyseDump(Redact(Take())));
  EXPECT_THAT(text, Not(HasSubstr("Secret weapon")));
  EXPECT_THAT(text, Not(HasSubstr("secret thread")));
  const std::vector<Json> bindings = Bindings(Json::Parse(text));
  ASSERT_EQ(bindings.size(), 1u);
  EXPECT_EQ(bindings[0].at("binding"), 0);
  EXPECT_THAT(bindings[0].at("destruction").at("thread_name").get<std::string>(),
              HasSubstr("name-"));
  EXPECT_EQ(bindings[0].at("destruction").at("submission"), 1);
}

TEST_F(VulkanMemoryTest, WhatIsDestroyedBehindFinishedWorkIsNotTold) {
  const Buffer lost = MakeBuffer("Finished");
  const VkDescriptorSet set = SetWith(0, lost.handle);
  const VkCommandBuffer done = Begin();
  Bind(done, 1, set);
  Dispatch(done);
  loader_.End(done);
  ASSERT_EQ(loader_.Run(done), VK_SUCCESS);
  Destroy(lost);
  // The work that hangs has another set.
  const Buffer alive = MakeBuffer("Alive");
  HangWith(SetWith(0, alive.handle));
  EXPECT_TRUE(Bindings().empty());
  Release();
  Destroy(alive);
}

// The GPU may have gone on behind a wrong access.
TEST_F(VulkanMemoryTest, OfALostDeviceFinishedWorkIsLookedIntoToo) {
  const Buffer lost = MakeBuffer("Finished");
  const VkDescriptorSet set = SetWith(1, lost.handle);
  const VkCommandBuffer done = Begin();
  Bind(done, 1, set);
  Dispatch(done);
  loader_.End(done);
  ASSERT_EQ(loader_.Run(done), VK_SUCCESS);
  Destroy(lost);
  loader_.state().block->contexts()[loader_.state().context->index()].device_lost = 1;
  Snapshot snapshot = Take();
  loader_.state().block->contexts()[loader_.state().context->index()].device_lost = 0;
  // Like on a driver that reports addresses, with a kernel that names one of them.
  for (Object& object : snapshot.objects) {
    if (snapshot.Text(object.name) != "Finished") continue;
    object.gpu_address = 0x10000;
    object.size_bytes = 4096;
  }
  snapshot.kernel_lines = {{.names_process = true,
                            .tells_fault = true,
                            .text = snapshot.AddText("MMU Fault: faulted @ 0x0_00010000.")}};
  snapshot.kernel_logs = {{.line_count = 1}};
  const Json report = ReportOf(snapshot);
  const Json verdict = report.at("verdict");
  EXPECT_EQ(verdict.at("kind"), "GPU fault");
  EXPECT_EQ(verdict.at("how_sure"), "likely");
  ASSERT_EQ(verdict.at("suspects").size(), 1u) << verdict;
  const Json suspect = verdict.at("suspects").at(0);
  EXPECT_EQ(suspect.at("reason"), "leads to the fault");
  EXPECT_EQ(report.at("scopes").at(suspect.at("scope").get<size_t>()).at("type"), "DISPATCH");
  const Json binding = suspect.at("binding");
  EXPECT_EQ(binding.at("point"), "descriptor set");
  EXPECT_EQ(binding.at("element"), 1);
  EXPECT_EQ(binding.at("state"), "destroyed");
  EXPECT_EQ(report.at("objects").at(binding.at("object").get<size_t>()).at("name"), "Finished");
}

// No bind names the buffer: the address may be in a push constant, or in another buffer.
TEST_F(VulkanMemoryTest, ABufferThatShadersReachByAddressIsNamedIfItIsDestroyedInFlight) {
  const Buffer before = MakeBuffer("Before", true);
  const Buffer kept = MakeBuffer("Kept", true);
  const Buffer lost = MakeBuffer("Particles", true);
  const Buffer unreachable = MakeBuffer("Unreachable");
  Destroy(before);
  HangWith(AllocateSet());
  Destroy(unreachable);
  uint32_t thread_id = 0;
  StartInnerThread("streaming", [&] {
    thread_id = CurrentThreadId();
    Destroy(lost);
  }).join();
  Snapshot snapshot = Take();
  const Json report = ReportOf(snapshot);
  const Json freed = report.at("freed_in_flight");
  ASSERT_EQ(freed.size(), 1u) << freed;
  EXPECT_EQ(report.at("objects").at(freed.at(0).at("object").get<size_t>()).at("name"),
            "Particles");
  EXPECT_EQ(freed.at(0).at("submission"), 1);
  EXPECT_GT(freed.at(0).at("after_submission_ns").get<int64_t>(), 0);
  EXPECT_EQ(freed.at(0).at("destruction").at("thread"), thread_id);
  EXPECT_THAT(freed.at(0).at("words").get<std::string>(),
              ::testing::StartsWith("buffer \"Particles\" (4 KiB at 0x"));
  // Like a read by the shader: lavapipe's addresses are those of the process.
  const auto is_lost = [&](const Object& object) {
    return snapshot.Text(object.name) == "Particles" && object.gpu_address != 0;
  };
  const auto object = std::find_if(snapshot.objects.begin(), snapshot.objects.end(), is_lost);
  ASSERT_NE(object, snapshot.objects.end());
  snapshot.incidents = {
      {.kind = IncidentKind::kSignal, .value = 11, .address = object->gpu_address + 0x40}};
  const Json crash = ReportOf(snapshot);
  ASSERT_EQ(crash.at("crash_addresses").size(), 1u);
  EXPECT_EQ(crash.at("crash_addresses").at(0).at("state"), "freed");
  EXPECT_THAT(crash.at("verdict").at("sentence").get<std::string>(),
              HasSubstr("in buffer \"Particles\" + 0x40 of 4 KiB, destroyed"));
  Destroy(kept);
}

// The block has the calls of every thread, with what they were given.
TEST_F(VulkanMemoryTest, CallsAreNotedWithTheirArguments) {
  HangWith(AllocateSet());
  const Json report = ReportOf(Take());
  bool found = false;
  const Json threads = report.at("threads");
  for (const Json thread : threads) {
    const Json calls = thread.at("calls");
    for (const Json call : calls) {
      if (call.at("function") != "vkCmdDispatch") continue;
      found = true;
      EXPECT_EQ(call.at("returned"), true);
      EXPECT_EQ(call.at("arguments"), Json::Parse(R"([{"name": "groupCountX", "value": "1"},
                                {"name": "groupCountY", "value": "1"},
                                {"name": "groupCountZ", "value": "1"}])"));
    }
  }
  EXPECT_TRUE(found);
}

// In the middle of a call into the driver, by way of the memory that it asks for, while a list is being recorded.
TEST_F(VulkanMemoryTest, ACrashInACallNamesThatAndNoWorkThatWasOnlyRecorded) {
#ifdef _WIN32
  GTEST_SKIP() << "Wine passes no allocation callbacks on to the driver";
#endif
  const VkCommandBuffer commands = Begin();
  Bind(commands, 1, AllocateSet());
  Dispatch(commands);
  std::string sentence;
  std::function<void()> crash = [&] {
    BlockHeader& header = *loader_.state().block->header();
    header.crash_thread = CurrentThreadId();
    header.crash_signal = 11;
    sentence = ReportOf(Take()).at("verdict").at("sentence").get<std::string>();
    header.crash_signal = 0;
  };
  VkAllocationCallbacks callbacks = {};
  callbacks.pUserData = &crash;
  callbacks.pfnAllocation = [](void* data, size_t size, size_t alignment, VkSystemAllocationScope) {
    std::function<void()>& inside = *static_cast<std::function<void()>*>(data);
    if (inside) std::exchange(inside, nullptr)();
    // Before the memory stands what is to be freed.
    void* const raw = std::malloc(size + alignment + sizeof(void*));
    const uintptr_t place = reinterpret_cast<uintptr_t>(raw) + sizeof(void*) + alignment - 1;
    void** const memory = reinterpret_cast<void**>(place / alignment * alignment);
    memory[-1] = raw;
    return static_cast<void*>(memory);
  };
  callbacks.pfnReallocation = [](void*, void*, size_t, size_t, VkSystemAllocationScope) {
    return static_cast<void*>(nullptr);
  };
  callbacks.pfnFree = [](void*, void* memory) {
    if (memory != nullptr) std::free(static_cast<void**>(memory)[-1]);
  };
  VkBufferCreateInfo info = {VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  info.size = 64;
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
  VkBuffer buffer = VK_NULL_HANDLE;
  ASSERT_EQ(vk().CreateBuffer(device(), &info, &callbacks, &buffer), VK_SUCCESS);
  EXPECT_THAT(sentence,
              ::testing::StartsWith("The program died of SIGSEGV in this call (proven); call: "
                                    "vkCreateBuffer(pCreateInfo = 0x"));
  EXPECT_THAT(sentence,
              HasSubstr(", which did not return, on thread " + std::to_string(CurrentThreadId())));
  EXPECT_THAT(sentence, EndsWith("; running: nothing on the GPU"));
  vk().DestroyBuffer(device(), buffer, &callbacks);
}

TEST_F(VulkanMemoryTest, AHandleThatIsUsedAgainIsNotConfused) {
  const Buffer first = MakeBuffer("First");
  Destroy(first);
  Buffer second = MakeBuffer("Second");
  std::vector<Buffer> others;
  while (second.handle != first.handle && others.size() < 1000) {
    others.push_back(second);
    second = MakeBuffer("Second");
  }
  if (second.handle != first.handle) {
    for (const Buffer& other : others) Destroy(other);
    Destroy(second);
    GTEST_SKIP() << "this driver, or its memory under a sanitizer, does not give a handle again";
  }
  HangWith(SetWith(0, second.handle));
  EXPECT_TRUE(Bindings().empty()) << "the one with this handle that was destroyed is an older one";
  Destroy(second);
  const Buffer third = MakeBuffer("Third");
  const Json report = ReportOf(Take());
  const std::vector<Json> bindings = Bindings(report);
  ASSERT_EQ(bindings.size(), 1u);
  EXPECT_EQ(report.at("objects").at(bindings[0].at("object").get<uint32_t>()).at("name"), "Second")
      << "whoever has the handle now";
  Release();
  Destroy(third);
  for (const Buffer& other : others) Destroy(other);
}

TEST_F(VulkanMemoryTest, FreedMemoryUnderALivingBufferIsTheCause) {
  const Buffer buffer = MakeBuffer("Skinned vertices");
  SetName(VK_OBJECT_TYPE_DEVICE_MEMORY, Value(buffer.memory), "Heap A");
  HangWith(SetWith(0, buffer.handle));
  FreeMemory(buffer.memory);
  const Json report = ReportOf(Take());
  const std::vector<Json> bindings = Bindings(report);
  ASSERT_EQ(bindings.size(), 1u);
  const Json cause = bindings[0].at("destruction").at("cause");
  EXPECT_EQ(cause.at("kind"), "device memory");
  EXPECT_EQ(report.at("objects").at(cause.at("object").get<uint32_t>()).at("name"), "Heap A");
  EXPECT_THAT(Sentence(report),
              HasSubstr("buffer \"Skinned vertices\", whose device memory \"Heap A\" was freed "));
  Release();
  DestroyBuffer(buffer.handle);
}

TEST_F(VulkanMemoryTest, ADestroyedImageIsFoundThroughItsView) {
  const Image image = MakeImage();
  SetName(VK_OBJECT_TYPE_IMAGE, Value(image.handle), "Albedo");
  const VkDescriptorSet set = AllocateSet();
  WriteImage(set, image.view);
  HangWith(set);
  DestroyImage(image.handle);
  const Json report = ReportOf(Take());
  const std::vector<Json> bindings = Bindings(report);
  ASSERT_EQ(bindings.size(), 1u);
  EXPECT_EQ(bindings[0].at("binding"), 2);
  EXPECT_EQ(bindings[0].at("destruction").at("kind"), "image view");
  EXPECT_EQ(bindings[0].at("destruction").at("cause").at("kind"), "image");
  EXPECT_THAT(Sentence(report), HasSubstr("whose image \"Albedo\" was destroyed "));
  Release();
  DestroyView(image.view);
  FreeMemory(image.memory);
}

// Destroys the view first, like most programs. The view has no name, the image has.
TEST_F(VulkanMemoryTest, ADestroyedViewIsToldWithItsImage) {
  if (DriverWaitsBeforeViewsGo()) GTEST_SKIP() << "this driver waits for its queue there, for ever";
  const Image image = MakeImage();
  SetName(VK_OBJECT_TYPE_IMAGE, Value(image.handle), "Normals");
  const VkDescriptorSet set = AllocateSet();
  WriteImage(set, image.view);
  HangWith(set);
  DestroyView(image.view);
  DestroyImage(image.handle);
  FreeMemory(image.memory);
  const Json report = ReportOf(Take());
  const std::vector<Json> bindings = Bindings(report);
  ASSERT_EQ(bindings.size(), 1u);
  const Json destruction = bindings[0].at("destruction");
  EXPECT_TRUE(destruction.at("cause").is_null());
  EXPECT_EQ(destruction.at("owner").at("kind"), "image");
  EXPECT_THAT(Sentence(report), HasSubstr(" of image \"Normals\", destroyed "));
}

TEST_F(VulkanMemoryTest, FreedMemoryUnderALivingImageIsTheCause) {
  const Image image = MakeImage();
  const VkDescriptorSet set = AllocateSet();
  WriteImage(set, image.view);
  HangWith(set);
  FreeMemory(image.memory);
  const std::vector<Json> bindings = Bindings();
  ASSERT_EQ(bindings.size(), 1u);
  EXPECT_EQ(bindings[0].at("destruction").at("cause").at("kind"), "device memory");
  EXPECT_EQ(bindings[0].at("destruction").at("owner").at("kind"), "image");
  Release();
  DestroyView(image.view);
  DestroyImage(image.handle);
}

TEST_F(VulkanMemoryTest, TheSetThatWasBoundLastCounts) {
  const Buffer lost = MakeBuffer("Lost");
  const Buffer alive = MakeBuffer("Alive");
  const VkDescriptorSet stale = AllocateSet();
  const VkDescriptorSet fresh = AllocateSet();
  Write(stale, 0, lost.handle);
  Write(fresh, 0, alive.handle);
  const VkCommandBuffer commands = Begin();
  Bind(commands, 0, fresh);
  Bind(commands, 1, stale);
  Bind(commands, 1, fresh);
  Dispatch(commands);
  Hang(commands);
  Destroy(lost);
  EXPECT_TRUE(Bindings().empty());
  Release();
  Destroy(alive);
}

TEST_F(VulkanMemoryTest, ADescriptorThatIsWrittenAnewLeadsToWhatItNames) {
  const Buffer lost = MakeBuffer("Lost");
  const Buffer alive = MakeBuffer("Alive");
  const VkDescriptorSet set = SetWith(0, lost.handle);
  Destroy(lost);
  Write(set, 0, alive.handle);
  HangWith(set);
  EXPECT_TRUE(Bindings().empty());
  Release();
  Destroy(alive);
}

// In arrays that may be partially bound stale descriptors are no mistake.
TEST_F(VulkanMemoryTest, ArraysThatMayBePartiallyBoundAreSaidToBeUnseen) {
  constexpr uint32_t kMany = 8;  // lavapipe takes few
  vk().DestroyPipeline(device(), pipeline_, nullptr);
  vk().DestroyPipelineLayout(device(), pipeline_layout_, nullptr);
  vk().DestroyDescriptorSetLayout(device(), layout_, nullptr);
  const VkDescriptorSetLayoutBinding bindings[] = {
      {1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, kMany, VK_SHADER_STAGE_COMPUTE_BIT, nullptr},
      {0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 2, VK_SHADER_STAGE_COMPUTE_BIT, nullptr}};
  const VkDescriptorBindingFlags flags[] = {VK_DESCRIPTOR_BINDING_PARTIALLY_BOUND_BIT, 0};
  VkDescriptorSetLayoutBindingFlagsCreateInfo of_bindings = {
      VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_BINDING_FLAGS_CREATE_INFO, nullptr, 2, flags};
  VkDescriptorSetLayoutCreateInfo info = {VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                          &of_bindings};
  info.bindingCount = 2;
  info.pBindings = bindings;
  vk().CreateDescriptorSetLayout(device(), &info, nullptr, &layout_);
  MakePipeline(ShaderThatDeclares({{1, 0}, {1, 1}}));
  vk().DestroyDescriptorPool(device(), pool_, nullptr);
  MakePool(kMany, 0);
  const Buffer lost = MakeBuffer("Lost");
  const VkDescriptorSet set = AllocateSet();
  // Behind the end of binding 0 an array goes on in binding 1.
  const VkDescriptorBufferInfo infos[] = {{lost.handle, 0, VK_WHOLE_SIZE},
                                          {lost.handle, 0, VK_WHOLE_SIZE}};
  VkWriteDescriptorSet write = {VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
  write.dstSet = set;
  write.dstArrayElement = 1;
  write.descriptorCount = 2;
  write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
  write.pBufferInfo = infos;
  vk().UpdateDescriptorSets(device(), 1, &write, 0, nullptr);
  HangWith(set);
  Destroy(lost);
  const std::vector<Json> found = Bindings();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].at("state"), "destroyed");
  EXPECT_EQ(found[0].at("binding"), 0);
  EXPECT_EQ(found[0].at("element"), 1);
  EXPECT_EQ(found[1].at("state"), "not seen");
  EXPECT_EQ(found[1].at("unseen"), kMany);
  EXPECT_TRUE(found[1].at("binding").is_null());
}

// Set 1 is still bound from work before, but this pipeline cannot use it.
TEST_F(VulkanMemoryTest, WhatNoShaderOfThePipelineDeclaresIsNotMeant) {
  vk().DestroyPipeline(device(), pipeline_, nullptr);
  vk().DestroyPipelineLayout(device(), pipeline_layout_, nullptr);
  MakePipeline(ShaderThatDeclares({{0, 0}, {1, 2}}));
  const Buffer lost = MakeBuffer("Lost");
  const VkDescriptorSet set = SetWith(0, lost.handle);
  const VkCommandBuffer commands = Begin();
  Bind(commands, 0, set);
  Bind(commands, 1, set);
  Dispatch(commands);
  Hang(commands);
  Destroy(lost);
  const std::vector<Json> bindings = Bindings();
  ASSERT_EQ(bindings.size(), 1u) << "binding 0 of set 0 is declared, of set 1 it is not";
  EXPECT_EQ(bindings[0].at("slot"), 0);
  EXPECT_EQ(bindings[0].at("binding"), 0);
}

TEST_F(VulkanMemoryTest, CopiesAndTemplatesWriteDescriptors) {
  const Buffer lost = MakeBuffer("Lost");
  VkBufferViewCreateInfo view_info = {VK_STRUCTURE_TYPE_BUFFER_VIEW_CREATE_INFO};
  view_info.buffer = lost.handle;
  view_info.format = VK_FORMAT_R32_UINT;
  view_info.range = VK_WHOLE_SIZE;
  VkBufferView view = VK_NULL_HANDLE;
  vk().CreateBufferView(device(), &view_info, nullptr, &view);
  struct Data {
    uint64_t before = 0;
    VkDescriptorBufferInfo buffer;
    VkBufferView view;
  } data = {0, {lost.handle, 0, VK_WHOLE_SIZE}, view};
  const VkDescriptorUpdateTemplateEntry entries[] = {
      {0, 1, 1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, offsetof(Data, buffer), 0},
      {5, 0, 1, VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER, offsetof(Data, view), 0}};
  VkDescriptorUpdateTemplateCreateInfo info = {
      VK_STRUCTURE_TYPE_DESCRIPTOR_UPDATE_TEMPLATE_CREATE_INFO};
  info.descriptorUpdateEntryCount = 2;
  info.pDescriptorUpdateEntries = entries;
  info.templateType = VK_DESCRIPTOR_UPDATE_TEMPLATE_TYPE_DESCRIPTOR_SET;
  info.descriptorSetLayout = layout_;
  VkDescriptorUpdateTemplate update = VK_NULL_HANDLE;
  vk().CreateDescriptorUpdateTemplate(device(), &info, nullptr, &update);
  const VkDescriptorSet source = AllocateSet();
  const VkDescriptorSet set = AllocateSet();
  vk().UpdateDescriptorSetWithTemplate(device(), source, update, &data);
  VkCopyDescriptorSet copies[2] = {{VK_STRUCTURE_TYPE_COPY_DESCRIPTOR_SET},
                                   {VK_STRUCTURE_TYPE_COPY_DESCRIPTOR_SET}};
  copies[0].srcSet = source;
  copies[0].srcArrayElement = 1;
  copies[0].dstSet = set;
  copies[0].descriptorCount = 1;
  copies[1].srcSet = source;
  copies[1].srcBinding = 5;
  copies[1].dstSet = set;
  copies[1].dstBinding = 5;
  copies[1].descriptorCount = 1;
  vk().UpdateDescriptorSets(device(), 0, nullptr, 2, copies);
  HangWith(set);
  DestroyBuffer(lost.handle);
  const std::vector<Json> bindings = Bindings();
  ASSERT_EQ(bindings.size(), 2u);
  EXPECT_EQ(bindings[0].at("binding"), 0);
  EXPECT_EQ(bindings[0].at("element"), 0);
  EXPECT_EQ(bindings[0].at("destruction").at("kind"), "buffer");
  EXPECT_EQ(bindings[1].at("binding"), 5);
  EXPECT_EQ(bindings[1].at("destruction").at("kind"), "buffer view");
  EXPECT_EQ(bindings[1].at("destruction").at("cause").at("kind"), "buffer");
  Release();
  vk().DestroyBufferView(device(), view, nullptr);
  vk().DestroyDescriptorUpdateTemplate(device(), update, nullptr);
  FreeMemory(lost.memory);
}

// A program that takes everything down while the GPU still runs: sets go first.
TEST_F(VulkanMemoryTest, AFreedSetStillSaysWhatItHeld) {
  const Buffer lost = MakeBuffer("Torn down");
  HangWith(SetWith(0, lost.handle));
  vk().DestroyDescriptorPool(device(), pool_, nullptr);
  pool_ = VK_NULL_HANDLE;
  Destroy(lost);
  const std::vector<Json> bindings = Bindings();
  ASSERT_EQ(bindings.size(), 1u);
  EXPECT_EQ(bindings[0].at("destruction").at("kind"), "buffer");
}

// Reset and allocated again, a pool gives out the same handles: what was bound before does not lead to what
// they hold now.
TEST_F(VulkanMemoryTest, ASetOfAPoolThatWasResetIsAnother) {
  const Buffer alive = MakeBuffer("Alive");
  const Buffer lost = MakeBuffer("Lost");
  HangWith(SetWith(0, alive.handle));
  vk().ResetDescriptorPool(device(), pool_, 0);
  SetWith(0, lost.handle);
  Destroy(lost);
  EXPECT_TRUE(Bindings().empty());
  Release();
  Destroy(alive);
}

TEST_F(VulkanMemoryTest, ABufferThatOnlyBindsIsSeenToFinish) {
  const VkCommandBuffer commands = Begin();
  Bind(commands, 0, AllocateSet());
  loader_.End(commands);
  const std::vector<EventRecord> events = loader_.Events(commands);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].kind, EventKind::kBind);
  ASSERT_EQ(loader_.Run(commands), VK_SUCCESS);
  EXPECT_EQ(
      ProgressSequence(loader_.Words(commands).passed.load(), loader_.Slot(commands).generation),
      1u);
}

// The next buffer may resume a dynamic render pass: until it does, the GPU may be given nothing.
TEST_F(VulkanMemoryTest, ASuspendedRenderPassMayGoOnBehindABind) {
  loader_.state().suspends_render_passes = true;
  const VkCommandBuffer commands = Begin();
  Bind(commands, 0, AllocateSet());
  VkDebugUtilsLabelEXT label = {VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT, nullptr, "Resumed", {}};
  vk().CmdBeginDebugUtilsLabelEXT(commands, &label);
  vk().CmdEndDebugUtilsLabelEXT(commands);
  Bind(commands, 1, AllocateSet());
  loader_.End(commands);
  const std::vector<EventRecord> events = loader_.Events(commands);
  ASSERT_EQ(events.size(), 4u);
  for (const EventRecord& event : events) {
    EXPECT_EQ(event.flags & (kEventWritesTop | kEventWritesBottom), 0);
  }
}

// Four threads with a pool each make, write and reset sets, and destroy what they hold, while one set of work in
// flight leads to a buffer that lives: whenever one looks, nothing is wrong.
TEST_F(VulkanMemoryTest, WhileThreadsChangeSetsSnapshotsStayTrue) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 300;
  const Buffer alive = MakeBuffer("Alive");
  HangWith(SetWith(0, alive.handle));
  std::atomic<int> running{kThreads};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      const VkDescriptorPool pool = NewPool(8, 0);
      for (int round = 0; round < kRounds; ++round) {
        const VkDescriptorSetLayout layouts[] = {layout_, layout_};
        VkDescriptorSetAllocateInfo info = {VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
        info.descriptorPool = pool;
        info.descriptorSetCount = 2;
        info.pSetLayouts = layouts;
        VkDescriptorSet sets[2] = {};
        vk().AllocateDescriptorSets(device(), &info, sets);
        const Buffer buffer = MakeBuffer(round % 2 == 0 ? "Short-lived" : nullptr);
        Write(sets[0], 0, buffer.handle);
        Write(sets[1], 1, buffer.handle);
        Destroy(buffer);
        vk().ResetDescriptorPool(device(), pool, 0);
      }
      vk().DestroyDescriptorPool(device(), pool, nullptr);
      --running;
    });
  }
  int looks = 0;
  do {
    const Snapshot snapshot = Take();
    EXPECT_EQ(FindInconsistency(snapshot), "");
    EXPECT_TRUE(snapshot.descriptors.empty());
    ++looks;
  } while (running.load() != 0);
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(looks, 0);
  Destroy(alive);
  EXPECT_EQ(Bindings().size(), 1u) << "in the end it was destroyed";
}

TEST_F(VulkanMemoryTest, ManySetsTakeBoundedMemory) {
  BlockWriter& block = *loader_.state().block;
  const uint64_t limit = block.size_bytes() / DescriptorSets::kShareOfBlock;
  const uint64_t before = block.header()->next_page.load();
  // With so many descriptors each takes 512 bytes; and there are more than the share has room for.
  constexpr uint32_t kDescriptors = 30, kLeftOut = 1000;
  const VkDescriptorSetLayout large = MakeLayoutOf(kDescriptors);
  const uint32_t count = static_cast<uint32_t>(limit / 512) + kLeftOut;
  vk().DestroyDescriptorPool(device(), pool_, nullptr);
  MakePool(count * kDescriptors / 2, 0);
  std::vector<VkDescriptorSetLayout> layouts(count, large);
  layouts.front() = layout_;
  // The page of the first has room for some of them.
  std::fill_n(layouts.rbegin(), kPageBytes / 128, layout_);
  std::vector<VkDescriptorSet> sets(count);
  VkDescriptorSetAllocateInfo info = {VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
  info.descriptorPool = pool_;
  info.descriptorSetCount = count;
  info.pSetLayouts = layouts.data();
  ASSERT_EQ(vk().AllocateDescriptorSets(device(), &info, sets.data()), VK_SUCCESS);
  EXPECT_LE((block.header()->next_page.load() - before) * kPageBytes, limit);
  EXPECT_GE(block.header()->descriptor_sets_left_out.load(), kLeftOut / 2);
  // Sets without room do no harm; the first ones are read.
  const Buffer lost = MakeBuffer("Lost");
  Write(sets.front(), 0, lost.handle);
  Write(sets.back(), 0, lost.handle);
  const VkCommandBuffer commands = Begin();
  Bind(commands, 0, sets.back());
  Bind(commands, 1, sets.front());
  Dispatch(commands);
  Hang(commands);
  Destroy(lost);
  const Json report = ReportOf(Take());
  const std::vector<Json> bindings = Bindings(report);
  ASSERT_EQ(bindings.size(), 1u);
  EXPECT_EQ(bindings[0].at("slot"), 1);
  EXPECT_THAT(report.at("losses").dump(), HasSubstr("descriptor sets found no room"));
  vk().DestroyDescriptorSetLayout(device(), large, nullptr);
}

}  // namespace
}  // namespace cairn::testing
