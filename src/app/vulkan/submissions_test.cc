// SPDX-License-Identifier: Apache-2.0
//
// Submissions, synchronisation, frames and labels of queues, as they come to stand in the block.
#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <set>
#include <thread>

#include "app/annotations/marker_arena.h"
#include "app/vulkan/testing/device_objects_fixture.h"

namespace cairn {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// The results of the next layer, and the calls that it received.
struct NextLayer {
  VkResult result = VK_SUCCESS;
  std::function<void()> on_submit;
  std::set<uint64_t> signalled_fences;
  std::map<uint64_t, uint64_t> counters;
  std::atomic<const void*> last_chain = nullptr;
  uint32_t labels = 0;
};
NextLayer* next_layer = nullptr;

VkResult Submit() {
  if (next_layer->on_submit) next_layer->on_submit();
  return next_layer->result;
}
VkResult VKAPI_CALL NextSubmit(VkQueue, uint32_t count, const VkSubmitInfo* infos, VkFence) {
  if (count != 0 && infos != nullptr) next_layer->last_chain = infos[0].pNext;
  return Submit();
}
VkResult VKAPI_CALL NextSubmit2(VkQueue, uint32_t, const VkSubmitInfo2*, VkFence) {
  return Submit();
}
VkResult VKAPI_CALL NextBindSparse(VkQueue, uint32_t, const VkBindSparseInfo*, VkFence) {
  return Submit();
}
VkResult VKAPI_CALL NextPresent(VkQueue, const VkPresentInfoKHR*) {
  return next_layer->result;
}
VkResult VKAPI_CALL NextQueueIdle(VkQueue) {
  return next_layer->result;
}
VkResult VKAPI_CALL NextDeviceIdle(VkDevice) {
  return next_layer->result;
}
VkResult VKAPI_CALL NextWaitForFences(VkDevice, uint32_t, const VkFence*, VkBool32, uint64_t) {
  return next_layer->result;
}
VkResult VKAPI_CALL NextFenceStatus(VkDevice, VkFence fence) {
  return next_layer->signalled_fences.contains(HandleValue(fence)) ? VK_SUCCESS : VK_NOT_READY;
}
VkResult VKAPI_CALL NextCreateFence(VkDevice, const VkFenceCreateInfo*,
                                    const VkAllocationCallbacks*, VkFence*) {
  return next_layer->result;
}
VkResult VKAPI_CALL NextImportFence(VkDevice, const VkImportFenceFdInfoKHR*) {
  return next_layer->result;
}
VkResult VKAPI_CALL NextImportSemaphore(VkDevice, const VkImportSemaphoreFdInfoKHR*) {
  return next_layer->result;
}
VkResult VKAPI_CALL NextResetFences(VkDevice, uint32_t, const VkFence*) {
  return VK_SUCCESS;
}
void VKAPI_CALL NextDestroyFence(VkDevice, VkFence, const VkAllocationCallbacks*) {}
VkResult VKAPI_CALL NextCreateSemaphore(VkDevice, const VkSemaphoreCreateInfo*,
                                        const VkAllocationCallbacks*, VkSemaphore*) {
  return next_layer->result;  // The handle is what the test put there.
}
void VKAPI_CALL NextDestroySemaphore(VkDevice, VkSemaphore, const VkAllocationCallbacks*) {}
VkResult VKAPI_CALL NextCounter(VkDevice, VkSemaphore semaphore, uint64_t* value) {
  *value = next_layer->counters[HandleValue(semaphore)];
  return next_layer->result;
}
VkResult VKAPI_CALL NextWaitSemaphores(VkDevice, const VkSemaphoreWaitInfo*, uint64_t) {
  return next_layer->result;
}
VkResult VKAPI_CALL NextSignal(VkDevice, const VkSemaphoreSignalInfo*) {
  return VK_SUCCESS;
}
VkResult VKAPI_CALL NextAcquire(VkDevice, VkSwapchainKHR, uint64_t, VkSemaphore, VkFence,
                                uint32_t*) {
  return next_layer->result;
}
VkResult VKAPI_CALL NextAcquire2(VkDevice, const VkAcquireNextImageInfoKHR*, uint32_t*) {
  return next_layer->result;
}
void VKAPI_CALL NextLabel(VkQueue, const VkDebugUtilsLabelEXT*) {
  ++next_layer->labels;
}
void VKAPI_CALL NextEndLabel(VkQueue) {
  ++next_layer->labels;
}

const VkFence kFence = TestHandle<VkFence>(100);
const VkFence kOtherFence = TestHandle<VkFence>(101);
const VkSemaphore kBinary = TestHandle<VkSemaphore>(110);
const VkSemaphore kOtherBinary = TestHandle<VkSemaphore>(111);
const VkSemaphore kTimeline = TestHandle<VkSemaphore>(120);
const VkSemaphore kOtherTimeline = TestHandle<VkSemaphore>(121);

// The initial value of a new timeline semaphore.
const SeenSync kInitial = {SyncKind::kSignal, 0, kNoQueue, 0, HandleValue(kTimeline), 0};

class SubmissionsTest : public DeviceObjectsTest {
 protected:
  void SetUp() override {
    next_layer = &next_;
    Prepare();
    DeviceFunctions& vk = device_->vk;
    vk.QueueSubmit = NextSubmit;
    vk.QueueSubmit2 = NextSubmit2;
    vk.QueueSubmit2KHR = NextSubmit2;
    vk.QueueBindSparse = NextBindSparse;
    vk.QueuePresentKHR = NextPresent;
    vk.QueueWaitIdle = NextQueueIdle;
    vk.DeviceWaitIdle = NextDeviceIdle;
    vk.WaitForFences = NextWaitForFences;
    vk.GetFenceStatus = NextFenceStatus;
    vk.CreateFence = NextCreateFence;
    vk.ImportFenceFdKHR = NextImportFence;
    vk.ImportSemaphoreFdKHR = NextImportSemaphore;
    vk.ResetFences = NextResetFences;
    vk.DestroyFence = NextDestroyFence;
    vk.CreateSemaphore = NextCreateSemaphore;
    vk.DestroySemaphore = NextDestroySemaphore;
    vk.GetSemaphoreCounterValue = NextCounter;
    vk.WaitSemaphores = NextWaitSemaphores;
    vk.SignalSemaphore = NextSignal;
    vk.AcquireNextImageKHR = NextAcquire;
    vk.AcquireNextImage2KHR = NextAcquire2;
    vk.QueueBeginDebugUtilsLabelEXT = NextLabel;
    vk.QueueInsertDebugUtilsLabelEXT = NextLabel;
    vk.QueueEndDebugUtilsLabelEXT = NextEndLabel;
    Start();
  }

  VkResult Submit(const std::vector<VkSubmitInfo>& infos, VkFence fence = VK_NULL_HANDLE,
                  size_t index = 0) {
    return ours().QueueSubmit(queue(index), static_cast<uint32_t>(infos.size()), infos.data(),
                              fence);
  }
  static VkSubmitInfo Batch(const std::vector<VkCommandBuffer>& buffers) {
    VkSubmitInfo info = {VK_STRUCTURE_TYPE_SUBMIT_INFO};
    info.commandBufferCount = static_cast<uint32_t>(buffers.size());
    info.pCommandBuffers = buffers.data();
    return info;
  }
  void MakeTimeline(VkSemaphore semaphore, uint64_t initial_value = 0) {
    VkSemaphoreTypeCreateInfo type = {VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO};
    type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
    type.initialValue = initial_value;
    VkSemaphoreCreateInfo info = {VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, &type};
    EXPECT_EQ(ours().CreateSemaphore(device(), &info, nullptr, &semaphore), VK_SUCCESS);
  }
  // A submission that signals the timeline semaphore.
  void SubmitSignal(VkSemaphore semaphore, uint64_t value, size_t index = 0,
                    VkPipelineStageFlags2 stages = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT) {
    VkSemaphoreSubmitInfo signal = {VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO};
    signal.stageMask = stages;
    signal.semaphore = semaphore;
    signal.value = value;
    VkSubmitInfo2 info = {VK_STRUCTURE_TYPE_SUBMIT_INFO_2};
    info.signalSemaphoreInfoCount = 1;
    info.pSignalSemaphoreInfos = &signal;
    ours().QueueSubmit2(queue(index), 1, &info, VK_NULL_HANDLE);
  }
  VkResult WaitForFences(const std::vector<VkFence>& fences, bool all, uint64_t timeout = 1) {
    return ours().WaitForFences(device(), static_cast<uint32_t>(fences.size()), fences.data(), all,
                                timeout);
  }

  NextLayer next_;
};

TEST_F(SubmissionsTest, EveryBatchHasANumberBeforeTheNextLayerGetsIt) {
  const std::vector<VkCommandBuffer> first = {Record(20), Record(21)};
  const std::vector<VkCommandBuffer> second = {Record(22)};
  uint64_t noted = 0;
  next_.on_submit = [&] { noted = Submitted(); };
  EXPECT_EQ(Submit({Batch(first), Batch(second)}, kFence), VK_SUCCESS);
  EXPECT_EQ(noted, 2u);
  EXPECT_THAT(Submissions(), ElementsAre(SeenSubmission{0, 1, RecordingId(first[0])},
                                         SeenSubmission{0, 1, RecordingId(first[1])},
                                         SeenSubmission{0, 2, RecordingId(second[0])}));
  EXPECT_THAT(Syncs(),
              ElementsAre(SeenSync{SyncKind::kSignal, kSyncFence, 0, 2, HandleValue(kFence), 0}));
}

TEST_F(SubmissionsTest, OddSubmissionsAreNotedAsFarAsTheyGo) {
  EXPECT_EQ(Submit({}), VK_SUCCESS);
  EXPECT_EQ(Submitted(), 0u) << "nothing was submitted";
  EXPECT_EQ(Submit({}, kFence), VK_SUCCESS);
  EXPECT_EQ(Submitted(), 1u) << "a fence alone";
  EXPECT_EQ(ours().QueueSubmit(queue(), 0, nullptr, kFence), VK_SUCCESS);
  EXPECT_EQ(Submitted(), 2u);
  // Buffers that were never begun, or are of another layer's making, have no recording.
  const std::vector<VkCommandBuffer> unknown = {TestHandle<VkCommandBuffer>(999)};
  EXPECT_EQ(Submit({Batch({}), Batch(unknown)}), VK_SUCCESS);
  EXPECT_EQ(Submitted(), 4u);
  VkSubmitInfo no_pointers = {VK_STRUCTURE_TYPE_SUBMIT_INFO};
  no_pointers.commandBufferCount = 3;
  no_pointers.waitSemaphoreCount = 2;
  no_pointers.signalSemaphoreCount = 2;
  EXPECT_EQ(Submit({no_pointers}), VK_SUCCESS);
  EXPECT_EQ(Submitted(), 5u);
  EXPECT_THAT(Submissions(), IsEmpty());
}

TEST_F(SubmissionsTest, OneRecordingTwiceInOneBatch) {
  const std::vector<VkCommandBuffer> twice = {Record(20), buffers_.back()->handle};
  Submit({Batch(twice)});
  EXPECT_THAT(Submissions(), ElementsAre(SeenSubmission{0, 1, RecordingId(twice[0])},
                                         SeenSubmission{0, 1, RecordingId(twice[0])}));
}

TEST_F(SubmissionsTest, SemaphoresOfSubmitWithTheirValues) {
  MakeTimeline(kTimeline);
  const VkSemaphore waits[] = {kBinary, kTimeline, VK_NULL_HANDLE};
  const VkSemaphore signals[] = {kTimeline, kOtherBinary};
  const uint64_t wait_values[] = {99, 7};
  const uint64_t signal_values[] = {8};  // Too few: the rest counts as binary.
  VkTimelineSemaphoreSubmitInfo values = {VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO};
  values.waitSemaphoreValueCount = 2;
  values.pWaitSemaphoreValues = wait_values;
  values.signalSemaphoreValueCount = 1;
  values.pSignalSemaphoreValues = signal_values;
  const VkBaseInStructure unknown = {static_cast<VkStructureType>(0x7ffffff0),
                                     reinterpret_cast<const VkBaseInStructure*>(&values)};
  VkSubmitInfo info = {VK_STRUCTURE_TYPE_SUBMIT_INFO, &unknown};
  info.waitSemaphoreCount = 3;
  info.pWaitSemaphores = waits;
  info.signalSemaphoreCount = 2;
  info.pSignalSemaphores = signals;
  Submit({info}, VK_NULL_HANDLE, 1);
  EXPECT_EQ(next_.last_chain, &unknown);
  EXPECT_THAT(
      Syncs(),
      ElementsAre(kInitial, SeenSync{SyncKind::kWait, kSyncBinary, 1, 1, HandleValue(kBinary), 0},
                  SeenSync{SyncKind::kWait, 0, 1, 1, HandleValue(kTimeline), 7},
                  SeenSync{SyncKind::kSignal, 0, 1, 1, HandleValue(kTimeline), 8},
                  SeenSync{SyncKind::kSignal, kSyncBinary, 1, 1, HandleValue(kOtherBinary), 0}));
}

TEST_F(SubmissionsTest, Submit2AndItsExtensionsName) {
  MakeTimeline(kTimeline);
  VkSemaphoreSubmitInfo wait = {VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO};
  wait.semaphore = kTimeline;
  wait.value = 3;
  VkSemaphoreSubmitInfo signal = {VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO};
  signal.semaphore = kBinary;
  signal.value = 17;  // Means nothing.
  VkCommandBufferSubmitInfo buffer = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO};
  buffer.commandBuffer = Record(20);
  VkSubmitInfo2 info = {VK_STRUCTURE_TYPE_SUBMIT_INFO_2};
  info.waitSemaphoreInfoCount = 1;
  info.pWaitSemaphoreInfos = &wait;
  info.commandBufferInfoCount = 1;
  info.pCommandBufferInfos = &buffer;
  info.signalSemaphoreInfoCount = 1;
  info.pSignalSemaphoreInfos = &signal;
  for (const auto submit : {ours().QueueSubmit2, ours().QueueSubmit2KHR}) {
    EXPECT_EQ(submit(queue(), 1, &info, VK_NULL_HANDLE), VK_SUCCESS);
  }
  EXPECT_THAT(Submissions(), ElementsAre(SeenSubmission{0, 1, RecordingId(buffer.commandBuffer)},
                                         SeenSubmission{0, 2, RecordingId(buffer.commandBuffer)}));
  EXPECT_THAT(Syncs(),
              ElementsAre(kInitial, SeenSync{SyncKind::kWait, 0, 0, 1, HandleValue(kTimeline), 3},
                          SeenSync{SyncKind::kSignal, kSyncBinary, 0, 1, HandleValue(kBinary), 0},
                          SeenSync{SyncKind::kWait, 0, 0, 2, HandleValue(kTimeline), 3},
                          SeenSync{SyncKind::kSignal, kSyncBinary, 0, 2, HandleValue(kBinary), 0}));
}

TEST_F(SubmissionsTest, FencesTellWhatHasFinished) {
  Submit({Batch({})}, kFence);
  Submit({Batch({}), Batch({})}, kOtherFence);
  EXPECT_EQ(Completed(), 0u);
  next_.result = VK_TIMEOUT;
  EXPECT_EQ(WaitForFences({kFence}, true), VK_TIMEOUT);
  EXPECT_EQ(Completed(), 0u);
  next_.result = VK_SUCCESS;
  WaitForFences({kFence}, true);
  EXPECT_EQ(Completed(), 1u);
  const auto status = ours().GetFenceStatus;
  EXPECT_EQ(status(device(), kOtherFence), VK_NOT_READY);
  EXPECT_EQ(Completed(), 1u);
  next_.signalled_fences.insert(HandleValue(kOtherFence));
  EXPECT_EQ(status(device(), kOtherFence), VK_SUCCESS);
  EXPECT_EQ(Completed(), 3u);
}

TEST_F(SubmissionsTest, OfSeveralFencesOnlyThoseThatAreSignalledCount) {
  Submit({Batch({})}, kFence, 0);
  Submit({Batch({})}, kOtherFence, 1);
  next_.signalled_fences.insert(HandleValue(kOtherFence));
  WaitForFences({kFence, kOtherFence}, false);
  EXPECT_EQ(Completed(0), 0u);
  EXPECT_EQ(Completed(1), 1u);
  WaitForFences({kFence, kOtherFence}, true);
  EXPECT_EQ(Completed(0), 1u);
}

TEST_F(SubmissionsTest, AFenceThatWasResetOrDestroyedSaysNothingOfBefore) {
  Submit({Batch({})}, kFence);
  EXPECT_EQ(ours().ResetFences(device(), 1, &kFence), VK_SUCCESS);
  WaitForFences({kFence}, true);
  EXPECT_EQ(Completed(), 0u);
  Submit({Batch({})}, kFence);
  ours().DestroyFence(device(), kFence, nullptr);
  WaitForFences({kFence}, true);  // The same handle again, never submitted.
  EXPECT_EQ(Completed(), 0u);
  ours().DestroyFence(device(), VK_NULL_HANDLE, nullptr);
  EXPECT_EQ(ours().ResetFences(device(), 0, nullptr), VK_SUCCESS);
  EXPECT_EQ(ours().WaitForFences(device(), 0, nullptr, VK_TRUE, 1), VK_SUCCESS);
}

TEST_F(SubmissionsTest, TheCpusWaitsAreNotedOnceHoweverOftenItAsks) {
  MakeTimeline(kTimeline);
  Submit({Batch({})}, kFence);
  next_.result = VK_TIMEOUT;
  for (int i = 0; i < 1000; ++i) WaitForFences({kFence}, true);
  WaitForFences({kOtherFence}, true, 0);  // A question, no wait.
  VkSemaphoreWaitInfo wait = {VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO};
  const uint64_t values[] = {5, 6};
  wait.semaphoreCount = 1;
  wait.pSemaphores = &kTimeline;
  const auto wait_semaphores = ours().WaitSemaphores;
  for (const uint64_t& value : values) {
    wait.pValues = &value;
    for (int i = 0; i < 3; ++i) wait_semaphores(device(), &wait, 1);
    wait_semaphores(device(), &wait, 0);
  }
  const SeenSync cpu_fence = {SyncKind::kWait, kSyncFence, kNoQueue, 0, HandleValue(kFence), 0};
  EXPECT_THAT(
      Syncs(),
      ElementsAre(kInitial, SeenSync{SyncKind::kSignal, kSyncFence, 0, 1, HandleValue(kFence), 0},
                  cpu_fence, SeenSync{SyncKind::kWait, 0, kNoQueue, 0, HandleValue(kTimeline), 5},
                  SeenSync{SyncKind::kWait, 0, kNoQueue, 0, HandleValue(kTimeline), 6}));
  next_.result = VK_SUCCESS;
  Submit({Batch({})}, kFence);
  WaitForFences({kFence}, true);
  SeenSync over = cpu_fence;
  over.flags |= kSyncOver;
  EXPECT_EQ(Syncs().back(), over) << "another submission, another wait";
}

TEST_F(SubmissionsTest, TimelineSemaphoresTellWhatHasFinishedOnEachQueue) {
  MakeTimeline(kTimeline);
  SubmitSignal(kTimeline, 1, 0);
  SubmitSignal(kTimeline, 2, 1);
  SubmitSignal(kTimeline, 5, 0);
  next_.counters[HandleValue(kTimeline)] = 3;
  uint64_t value = 0;
  EXPECT_EQ(ours().GetSemaphoreCounterValue(device(), kTimeline, &value), VK_SUCCESS);
  EXPECT_EQ(value, 3u);
  EXPECT_EQ(Completed(0), 1u);
  EXPECT_EQ(Completed(1), 1u);
  VkSemaphoreWaitInfo wait = {VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO};
  const uint64_t five = 5;
  wait.semaphoreCount = 1;
  wait.pSemaphores = &kTimeline;
  wait.pValues = &five;
  ours().WaitSemaphores(device(), &wait, UINT64_MAX);
  EXPECT_EQ(Completed(0), 2u);
}

// Such a signal waits for some stages of the submission only.
TEST_F(SubmissionsTest, ASignalOfSomeStagesDoesNotSayThatTheSubmissionHasFinished) {
  MakeTimeline(kTimeline);
  SubmitSignal(kTimeline, 1, 0, VK_PIPELINE_STAGE_2_COPY_BIT);
  next_.counters[HandleValue(kTimeline)] = 1;
  uint64_t value = 0;
  const auto ask = ours().GetSemaphoreCounterValue;
  EXPECT_EQ(ask(device(), kTimeline, &value), VK_SUCCESS);
  EXPECT_EQ(Completed(0), 0u);
  EXPECT_EQ(Syncs().back().kind, SyncKind::kSignal);
  SubmitSignal(kTimeline, 2, 0, VK_PIPELINE_STAGE_2_BOTTOM_OF_PIPE_BIT);
  next_.counters[HandleValue(kTimeline)] = 2;
  EXPECT_EQ(ask(device(), kTimeline, &value), VK_SUCCESS);
  EXPECT_EQ(Completed(0), 2u);
}

TEST_F(SubmissionsTest, AWaitForAnyOfSeveralSemaphoresCountsWhatTheyHaveReached) {
  MakeTimeline(kTimeline);
  MakeTimeline(kOtherTimeline);
  SubmitSignal(kTimeline, 4, 0);
  SubmitSignal(kOtherTimeline, 9, 1);
  next_.counters[HandleValue(kTimeline)] = 0;
  next_.counters[HandleValue(kOtherTimeline)] = 10;
  const VkSemaphore both[] = {kTimeline, kOtherTimeline};
  const uint64_t values[] = {4, 9};
  VkSemaphoreWaitInfo wait = {VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO};
  wait.flags = VK_SEMAPHORE_WAIT_ANY_BIT;
  wait.semaphoreCount = 2;
  wait.pSemaphores = both;
  wait.pValues = values;
  ours().WaitSemaphores(device(), &wait, UINT64_MAX);
  EXPECT_EQ(Completed(0), 0u);
  EXPECT_EQ(Completed(1), 1u);
}

TEST_F(SubmissionsTest, ADestroyedTimelineSemaphoresHandleMayBeABinaryOnes) {
  MakeTimeline(kTimeline);
  SubmitSignal(kTimeline, 1);
  ours().DestroySemaphore(device(), kTimeline, nullptr);
  SubmitSignal(kTimeline, 1);
  EXPECT_EQ(Syncs().back(),
            (SeenSync{SyncKind::kSignal, kSyncBinary, 0, 2, HandleValue(kTimeline), 0}));
  next_.counters[HandleValue(kTimeline)] = 1;
  uint64_t value = 0;
  ours().GetSemaphoreCounterValue(device(), kTimeline, &value);
  EXPECT_EQ(Completed(), 0u);
}

TEST_F(SubmissionsTest, ASemaphoreThatOnlyQueuesWaitForKeepsItsNewestSignals) {
  MakeTimeline(kTimeline);
  for (uint64_t value = 1; value <= 5000; ++value) SubmitSignal(kTimeline, value);
  next_.counters[HandleValue(kTimeline)] = 4999;
  uint64_t value = 0;
  ours().GetSemaphoreCounterValue(device(), kTimeline, &value);
  EXPECT_EQ(Completed(), 4999u);
}

TEST_F(SubmissionsTest, WaitsForWhatHasComeAreNotNoted) {
  MakeTimeline(kTimeline, 7);
  VkFenceCreateInfo create = {VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
  create.flags = VK_FENCE_CREATE_SIGNALED_BIT;
  VkFence fence = kFence;
  const auto create_fence = ours().CreateFence;
  EXPECT_EQ(create_fence(device(), &create, nullptr, &fence), VK_SUCCESS);
  VkImportFenceFdInfoKHR import = {VK_STRUCTURE_TYPE_IMPORT_FENCE_FD_INFO_KHR};
  import.fence = kOtherFence;
  EXPECT_EQ(ours().ImportFenceFdKHR(device(), &import), VK_SUCCESS);
  WaitForFences({kFence, kOtherFence}, true);
  VkSemaphoreWaitInfo wait = {VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO};
  const uint64_t values[] = {7, 9, 8};
  wait.semaphoreCount = 1;
  wait.pSemaphores = &kTimeline;
  for (const uint64_t& value : values) {
    wait.pValues = &value;
    ours().WaitSemaphores(device(), &wait, UINT64_MAX);
  }
  const SeenSync initial = {SyncKind::kSignal, 0, kNoQueue, 0, HandleValue(kTimeline), 7};
  const SeenSync waited = {SyncKind::kWait, kSyncOver, kNoQueue, 0, HandleValue(kTimeline), 9};
  EXPECT_THAT(Syncs(), ElementsAre(initial, waited));
  ours().ResetFences(device(), 1, &kFence);
  create.flags = 0;
  create_fence(device(), &create, nullptr, &fence);
  next_.result = VK_TIMEOUT;
  WaitForFences({kFence}, true);
  EXPECT_THAT(Syncs(), ElementsAre(initial, waited,
                                   SeenSync{SyncKind::kWait, kSyncFence, kNoQueue, 0,
                                            HandleValue(kFence), 0}));
}

// The flags of the waits of the CPU, in the order in which they began.
TEST_F(SubmissionsTest, AWaitOfTheCpuIsOverWhenWhatItWaitsForHasCome) {
  const auto over = [this] {
    std::vector<bool> seen;
    for (const SeenSync& sync : Syncs()) {
      if (sync.kind == SyncKind::kWait) seen.push_back((sync.flags & kSyncOver) != 0);
    }
    return seen;
  };
  const auto acquire = ours().AcquireNextImageKHR;
  uint32_t image = 0;
  for (size_t frame = 1; frame <= 3; ++frame) {
    acquire(device(), VK_NULL_HANDLE, 0, VK_NULL_HANDLE, kFence, &image);
    next_.result = VK_TIMEOUT;
    WaitForFences({kFence}, true);
    EXPECT_FALSE(over().back()) << "the call gave up, the program still wants it";
    next_.result = VK_SUCCESS;
    WaitForFences({kFence}, true);
    ours().ResetFences(device(), 1, &kFence);
    EXPECT_EQ(over(), std::vector<bool>(frame, true));
  }
  // Polled after a time-out, reset, destroyed: nobody waits any longer.
  next_.result = VK_TIMEOUT;
  WaitForFences({kFence, kOtherFence}, true);
  EXPECT_THAT(over(), ElementsAre(true, true, true, false, false));
  next_.signalled_fences.insert(HandleValue(kFence));
  ours().GetFenceStatus(device(), kFence);
  EXPECT_THAT(over(), ElementsAre(true, true, true, true, false));
  ours().ResetFences(device(), 1, &kOtherFence);
  WaitForFences({kOtherFence}, true);
  EXPECT_THAT(over(), ElementsAre(true, true, true, true, true, false));
  ours().DestroyFence(device(), kOtherFence, nullptr);
  EXPECT_THAT(over(), ElementsAre(true, true, true, true, true, true));
}

TEST_F(SubmissionsTest, AWaitForAnyIsOverWithTheFirst) {
  MakeTimeline(kTimeline);
  MakeTimeline(kOtherTimeline);
  Submit({Batch({})}, kFence, 0);
  Submit({Batch({})}, kOtherFence, 1);
  next_.signalled_fences.insert(HandleValue(kOtherFence));
  next_.counters[HandleValue(kTimeline)] = 2;
  const VkSemaphore both[] = {kTimeline, kOtherTimeline};
  const uint64_t values[] = {5, 9};
  VkSemaphoreWaitInfo wait = {VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO};
  wait.flags = VK_SEMAPHORE_WAIT_ANY_BIT;
  wait.semaphoreCount = 2;
  wait.pSemaphores = both;
  wait.pValues = values;
  next_.counters[HandleValue(kOtherTimeline)] = 9;
  const auto current = [this] {
    std::vector<uint64_t> handles;
    for (const SeenSync& sync : Syncs()) {
      if (sync.kind == SyncKind::kWait && (sync.flags & kSyncOver) == 0) {
        handles.push_back(sync.handle);
      }
    }
    return handles;
  };
  WaitForFences({kFence, kOtherFence}, false);
  ours().WaitSemaphores(device(), &wait, UINT64_MAX);
  EXPECT_THAT(current(), IsEmpty());
  // What did not come is waited for again: that is news.
  next_.result = VK_TIMEOUT;
  WaitForFences({kFence, kOtherFence}, false);
  ours().WaitSemaphores(device(), &wait, 1);
  EXPECT_THAT(current(), ElementsAre(HandleValue(kFence), HandleValue(kTimeline)));
  ours().DestroySemaphore(device(), kTimeline, nullptr);
  EXPECT_THAT(current(), ElementsAre(HandleValue(kFence)));
}

TEST_F(SubmissionsTest, AnImportedBinarySemaphoreIsSignalledByOthers) {
  MakeTimeline(kTimeline);
  const auto import = ours().ImportSemaphoreFdKHR;
  VkImportSemaphoreFdInfoKHR info = {VK_STRUCTURE_TYPE_IMPORT_SEMAPHORE_FD_INFO_KHR};
  info.semaphore = kBinary;
  next_.result = VK_ERROR_INVALID_EXTERNAL_HANDLE;
  import(device(), &info);
  next_.result = VK_SUCCESS;
  EXPECT_EQ(import(device(), &info), VK_SUCCESS);
  info.semaphore = kTimeline;  // Who knows with which value.
  EXPECT_EQ(import(device(), &info), VK_SUCCESS);
  EXPECT_EQ(Syncs().size(), 2u);
  EXPECT_EQ(Syncs().back(),
            (SeenSync{SyncKind::kSignal, kSyncBinary, kNoQueue, 0, HandleValue(kBinary), 0}));
}

TEST_F(SubmissionsTest, SignalsOfTheCpu) {
  VkSemaphoreSignalInfo signal = {VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO};
  signal.semaphore = kTimeline;
  signal.value = 12;
  EXPECT_EQ(ours().SignalSemaphore(device(), &signal), VK_SUCCESS);
  EXPECT_THAT(Syncs(),
              ElementsAre(SeenSync{SyncKind::kSignal, 0, kNoQueue, 0, HandleValue(kTimeline), 12}));
}

TEST_F(SubmissionsTest, WhatAQueueRefusesIsNeverTakenForFinished) {
  MakeTimeline(kTimeline);
  Submit({Batch({})});
  next_.result = VK_ERROR_OUT_OF_DEVICE_MEMORY;
  EXPECT_EQ(Submit({Batch({})}, kFence), VK_ERROR_OUT_OF_DEVICE_MEMORY);
  SubmitSignal(kTimeline, 3);
  next_.result = VK_SUCCESS;
  WaitForFences({kFence}, true);
  next_.counters[HandleValue(kTimeline)] = 3;
  uint64_t value = 0;
  ours().GetSemaphoreCounterValue(device(), kTimeline, &value);
  EXPECT_EQ(Completed(), 0u);
  EXPECT_EQ(context_record().device_lost.load(), 0u);
}

TEST_F(SubmissionsTest, WhatAQueueRefusesIsNotWaitedFor) {
  const std::vector<VkCommandBuffer> buffers = {Record(20), Record(21)};
  const std::vector<VkCommandBuffer> first = {buffers[0]};
  const RecordingSlot& slot = *CommandBufferOf(buffers[0])->list->slot();
  EXPECT_EQ(Submit({Batch(buffers)}), VK_SUCCESS);
  next_.result = VK_ERROR_OUT_OF_DEVICE_MEMORY;
  EXPECT_EQ(Submit({Batch(first), Batch(buffers)}), VK_ERROR_OUT_OF_DEVICE_MEMORY);
  EXPECT_EQ(slot.submit_count.load(), 1u);
  EXPECT_EQ(slot.flags & kRecordingRefused, kRecordingRefused);
  const auto* const ring = reinterpret_cast<const SubmissionRecord*>(
      block_->data() + block_->header()->submissions_offset);
  std::vector<uint32_t> refused;
  for (uint64_t i = 0; i < Submissions().size(); ++i) refused.push_back(ring[i].refused.load());
  EXPECT_THAT(refused, ElementsAre(0, 0, 1, 1, 1));
  next_.result = VK_SUCCESS;
  EXPECT_EQ(Submit({Batch(first)}), VK_SUCCESS);
  EXPECT_EQ(slot.submit_count.load(), 2u);
  EXPECT_EQ(slot.flags & kRecordingRefused, 0u);
  // A loss refuses nothing: who knows what had begun.
  next_.result = VK_ERROR_DEVICE_LOST;
  EXPECT_EQ(Submit({Batch(first)}), VK_ERROR_DEVICE_LOST);
  EXPECT_EQ(slot.submit_count.load(), 3u);
  EXPECT_EQ(slot.flags & kRecordingRefused, 0u);
}

TEST_F(SubmissionsTest, AnIdleQueueHasFinishedEverythingOfItsOwn) {
  Submit({Batch({}), Batch({})}, VK_NULL_HANDLE, 0);
  Submit({Batch({})}, VK_NULL_HANDLE, 1);
  const auto idle = ours().QueueWaitIdle;
  next_.result = VK_ERROR_OUT_OF_HOST_MEMORY;
  EXPECT_EQ(idle(queue(0)), VK_ERROR_OUT_OF_HOST_MEMORY);
  EXPECT_EQ(Completed(0), 0u);
  next_.result = VK_SUCCESS;
  EXPECT_EQ(idle(queue(0)), VK_SUCCESS);
  EXPECT_EQ(Completed(0), 2u);
  EXPECT_EQ(Completed(1), 0u);
  EXPECT_EQ(ours().DeviceWaitIdle(device()), VK_SUCCESS);
  EXPECT_EQ(Completed(1), 1u);
}

TEST_F(SubmissionsTest, SparseBindingSaysNothingOfWhatCameBefore) {
  const auto bind = ours().QueueBindSparse;
  VkBindSparseInfo info = {VK_STRUCTURE_TYPE_BIND_SPARSE_INFO};
  info.waitSemaphoreCount = 1;
  info.pWaitSemaphores = &kBinary;
  info.signalSemaphoreCount = 1;
  info.pSignalSemaphores = &kOtherBinary;
  EXPECT_EQ(bind(queue(), 1, &info, kFence), VK_SUCCESS);
  EXPECT_THAT(
      Syncs(),
      ElementsAre(SeenSync{SyncKind::kWait, kSyncBinary, 0, 1, HandleValue(kBinary), 0},
                  SeenSync{SyncKind::kSignal, kSyncBinary, 0, 1, HandleValue(kOtherBinary), 0},
                  SeenSync{SyncKind::kSignal, kSyncFence, 0, 1, HandleValue(kFence), 0}));
  WaitForFences({kFence}, true);
  EXPECT_EQ(Completed(), 1u) << "there was nothing before";
  Submit({Batch({})});  // Not known to have finished.
  bind(queue(), 1, &info, kFence);
  WaitForFences({kFence}, true);
  EXPECT_EQ(Completed(), 1u);
  Submit({Batch({})}, kOtherFence);
  WaitForFences({kOtherFence}, true);
  EXPECT_EQ(Completed(), 4u);
}

TEST_F(SubmissionsTest, PresentsEndFrames) {
  VkPresentInfoKHR present = {VK_STRUCTURE_TYPE_PRESENT_INFO_KHR};
  present.waitSemaphoreCount = 1;
  present.pWaitSemaphores = &kBinary;
  Submit({Batch({})});
  const auto queue_present = ours().QueuePresentKHR;
  next_.result = VK_ERROR_OUT_OF_DATE_KHR;
  EXPECT_EQ(queue_present(queue(), &present), VK_ERROR_OUT_OF_DATE_KHR);
  next_.result = VK_SUCCESS;
  EXPECT_EQ(context_record().frame.load(), 1u);
  EXPECT_THAT(Syncs(), ElementsAre(SeenSync{SyncKind::kWait, kSyncBinary | kSyncPresent, 0, 1,
                                            HandleValue(kBinary), 0}));
  present = {VK_STRUCTURE_TYPE_PRESENT_INFO_KHR};
  queue_present(queue(), &present);
  for (int i = 0; i < 200; ++i) Submit({Batch({})});
  EXPECT_EQ(context_record().frame.load(), 2u);
}

TEST_F(SubmissionsTest, WithoutPresentsSubmissionsCountAsFrames) {
  for (int i = 0; i < 63; ++i) Submit({Batch({})});
  EXPECT_EQ(context_record().frame.load(), 0u);
  Submit({Batch({})}, VK_NULL_HANDLE, 1);
  EXPECT_EQ(context_record().frame.load(), 1u);
}

TEST_F(SubmissionsTest, AcquiredImagesSignal) {
  uint32_t image = 0;
  const auto acquire = ours().AcquireNextImageKHR;
  next_.result = VK_NOT_READY;
  acquire(device(), VK_NULL_HANDLE, 0, kBinary, kFence, &image);
  EXPECT_THAT(Syncs(), IsEmpty());
  next_.result = VK_SUBOPTIMAL_KHR;
  Submit({Batch({})}, kFence);
  acquire(device(), VK_NULL_HANDLE, 0, kBinary, kFence, &image);
  next_.result = VK_SUCCESS;
  VkAcquireNextImageInfoKHR info = {VK_STRUCTURE_TYPE_ACQUIRE_NEXT_IMAGE_INFO_KHR};
  info.semaphore = kOtherBinary;
  ours().AcquireNextImage2KHR(device(), &info, &image);
  EXPECT_THAT(Syncs(),
              ElementsAre(SeenSync{SyncKind::kSignal, kSyncFence, 0, 1, HandleValue(kFence), 0},
                          SeenSync{SyncKind::kSignal, kSyncBinary | kSyncAcquire, kNoQueue, 0,
                                   HandleValue(kBinary), 0},
                          SeenSync{SyncKind::kSignal, kSyncFence | kSyncAcquire, kNoQueue, 0,
                                   HandleValue(kFence), 0},
                          SeenSync{SyncKind::kSignal, kSyncBinary | kSyncAcquire, kNoQueue, 0,
                                   HandleValue(kOtherBinary), 0}));
  WaitForFences({kFence}, true);
  EXPECT_EQ(Completed(), 0u) << "the fence was the presentation engine's";
}

TEST_F(SubmissionsTest, LabelsOfQueuesStandBetweenSubmissions) {
  VkDebugUtilsLabelEXT label = {VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT};
  label.pLabelName = "Frame";
  const auto end = ours().QueueEndDebugUtilsLabelEXT;
  end(queue());  // Was never begun.
  EXPECT_EQ(MarkerArena::EntriesInUse(*block_), 0u);
  Submit({Batch({})});
  ours().QueueBeginDebugUtilsLabelEXT(queue(), &label);
  label.pLabelName = nullptr;
  ours().QueueInsertDebugUtilsLabelEXT(queue(), &label);
  end(queue());
  EXPECT_EQ(next_.labels, 4u);
  ASSERT_EQ(MarkerArena::EntriesInUse(*block_), 1u);
  const ArenaRecord* arena = block_->arenas();
  while (arena->state.load() != 1) ++arena;
  EXPECT_EQ(arena->is_queue, 1u);
  EXPECT_EQ(arena->native_handle, HandleValue(queue()));
  EXPECT_EQ(arena->end_index.load() - arena->first_index.load(), 3u);
  const auto& directory = *reinterpret_cast<const MarkerDirectoryPage*>(
      block_->Page(arena->first_directory_page.load()));
  const auto marker = [&](uint32_t index) {
    const uint32_t place = directory.places[index].load();
    const auto& page =
        *reinterpret_cast<const MarkerDataPage*>(block_->Page(MarkerPlacePage(place)));
    return reinterpret_cast<const MarkerRecord*>(page.bytes + MarkerPlaceOffset(place));
  };
  EXPECT_EQ(marker(0)->metadata, 1u);
  EXPECT_EQ(marker(0)->size, 6u);
  EXPECT_EQ(marker(0)->submission, 1u);
  EXPECT_STREQ(reinterpret_cast<const char*>(marker(0) + 1), "Frame");
  EXPECT_EQ(marker(1)->size, 1u);
  EXPECT_EQ(MarkerPlaceKind(directory.places[2].load()),
            static_cast<uint32_t>(MarkerKind::kEndEvent));
}

TEST_F(SubmissionsTest, TwoQueuesOfTwoThreads) {
  MakeTimeline(kTimeline);
  constexpr uint64_t kCount = 2000;
  std::atomic<uint64_t> failures{0};
  const auto work = [&](size_t index, VkFence fence) {
    for (uint64_t i = 0; i < kCount; ++i) {
      if (Submit({Batch({})}, fence, index) != VK_SUCCESS) ++failures;
      SubmitSignal(kTimeline, i + 1, index);
      WaitForFences({fence}, true);
      ours().ResetFences(device(), 1, &fence);
    }
  };
  std::thread other([&] { work(1, kOtherFence); });
  work(0, kFence);
  other.join();
  EXPECT_EQ(failures.load(), 0u);
  for (size_t index : {0, 1}) {
    EXPECT_EQ(Submitted(index), 2 * kCount);
    EXPECT_EQ(Completed(index), 2 * kCount - 1);
  }
}

}  // namespace
}  // namespace cairn
