// SPDX-License-Identifier: Apache-2.0
//
// The experiment "serial-queues", on a next layer of the test's own: a machine whose queues run side by side, each in
// order, and that ends work only while somebody waits. vulkan_experiments_test has it on a device.
#include "app/vulkan/serial_queues.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "app/vulkan/device_creation.h"
#include "app/vulkan/run_experiment.h"
#include "app/vulkan/testing/run_board.h"

namespace cairn {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

template <typename Handle>
Handle Numbered(uint64_t number) {
  return reinterpret_cast<Handle>(static_cast<uintptr_t>(number * 0x100));
}

using Point = BatchSemaphores::Point;

class Machine {
 public:
  struct Work {
    uint64_t number = 0;  // from 1 on; 0: nothing but a fence
    VkQueue queue = VK_NULL_HANDLE;
    std::vector<Point> waits;
    std::vector<Point> signals;
    VkFence fence = VK_NULL_HANDLE;
    bool stuck = false;  // never ends
  };

  VkResult Submit(Work work, bool is_work) {
    const std::lock_guard lock(mutex_);
    if (lost) return VK_ERROR_DEVICE_LOST;
    if (refuse && is_work) return VK_ERROR_OUT_OF_HOST_MEMORY;
    if (is_work) {
      work.number = ++submitted;
      work.stuck = stick == work.number;
      // The promise of the experiment.
      for (const Work& one : waiting_) {
        if (one.number != 0 && MayRun(one)) beside.emplace_back(one.number, work.number);
      }
      if (Blocked(work)) ++blocked;
      fences_of_program.push_back(work.fence);
    }
    waiting_.push_back(std::move(work));
    return VK_SUCCESS;
  }

  VkResult Wait(VkFence fence, uint64_t timeout) {
    const std::lock_guard lock(mutex_);
    if (lose_in_wait) lost = true;
    if (lost) return VK_ERROR_DEVICE_LOST;
    longest_wait = std::max(longest_wait, timeout);
    while (!signalled_.contains(fence)) {
      if (!RunOne()) {
        ++in_vain;
        return VK_TIMEOUT;
      }
    }
    return VK_SUCCESS;
  }
  VkResult Status(VkFence fence) {
    const std::lock_guard lock(mutex_);
    if (lost) return VK_ERROR_DEVICE_LOST;
    EXPECT_TRUE(fences.contains(fence));
    return signalled_.contains(fence) ? VK_SUCCESS : VK_NOT_READY;
  }
  void Reset(VkFence fence) {
    const std::lock_guard lock(mutex_);
    EXPECT_TRUE(signalled_.erase(fence)) << "a fence in use is reset";
  }
  uint64_t Value(VkSemaphore semaphore) {
    const std::lock_guard lock(mutex_);
    EXPECT_TRUE(values.contains(semaphore)) << "there is no such semaphore";
    return values[semaphore];
  }
  void Signal(VkSemaphore semaphore, uint64_t value) {
    const std::lock_guard lock(mutex_);
    values[semaphore] = value;
  }
  void RunAll() {
    const std::lock_guard lock(mutex_);
    while (RunOne()) {
    }
  }
  bool idle() {
    const std::lock_guard lock(mutex_);
    return waiting_.empty();
  }

  std::map<VkSemaphore, uint64_t> values;             // of timelines
  std::set<VkFence> fences;                           // that exist
  std::vector<VkFence> fences_of_program;             // as they came with work
  std::vector<std::pair<uint64_t, uint64_t>> beside;  // could run when the second one came
  std::vector<uint64_t> ended;
  uint64_t submitted = 0;
  uint64_t blocked = 0;
  uint64_t in_vain = 0;  // waits for what cannot end
  uint64_t longest_wait = 0;
  uint64_t stick = 0;  // the number of a work
  bool refuse = false;
  bool lost = false;
  bool lose_in_wait = false;

 private:
  bool Blocked(const Work& work) const {
    for (const Point& wait : work.waits) {
      const auto timeline = values.find(wait.semaphore);
      const bool there = timeline != values.end() ? timeline->second >= wait.value
                                                  : binary_.contains(wait.semaphore);
      if (!there) return true;
    }
    return false;
  }
  bool MayRun(const Work& work) const {
    for (const Work& one : waiting_) {
      if (&one == &work) break;
      if (one.queue == work.queue) return false;
    }
    return !work.stuck && !Blocked(work);
  }
  bool RunOne() {
    for (size_t i = 0; i < waiting_.size(); ++i) {
      if (!MayRun(waiting_[i])) continue;
      const Work work = waiting_[i];
      waiting_.erase(waiting_.begin() + static_cast<ptrdiff_t>(i));
      for (const Point& wait : work.waits) binary_.erase(wait.semaphore);
      for (const Point& signal : work.signals) {
        if (values.contains(signal.semaphore)) {
          uint64_t& value = values[signal.semaphore];
          value = std::max(value, signal.value);
        } else {
          binary_.insert(signal.semaphore);
        }
      }
      if (work.fence != VK_NULL_HANDLE) signalled_.insert(work.fence);
      if (work.number != 0) ended.push_back(work.number);
      return true;
    }
    return false;
  }

  std::mutex mutex_;
  std::deque<Work> waiting_;
  std::set<VkSemaphore> binary_;  // that are signalled
  std::set<VkFence> signalled_;
};
Machine* machine = nullptr;

// ---- The next layer --------------------------------------------------------------------------------------------

std::vector<Point> Points(const VkSemaphore* semaphores, uint32_t count, const uint64_t* values) {
  std::vector<Point> points;
  for (uint32_t i = 0; i < count; ++i) {
    points.push_back({semaphores[i], values == nullptr ? 0 : values[i]});
  }
  return points;
}
std::vector<Point> Points(const VkSemaphoreSubmitInfo* infos, uint32_t count) {
  std::vector<Point> points;
  for (uint32_t i = 0; i < count; ++i) points.push_back({infos[i].semaphore, infos[i].value});
  return points;
}

template <typename Info>
Machine::Work WorkOf(const Info& info) {
  const auto* const values = static_cast<const VkTimelineSemaphoreSubmitInfo*>(info.pNext);
  Machine::Work work;
  work.waits = Points(info.pWaitSemaphores, info.waitSemaphoreCount,
                      values == nullptr ? nullptr : values->pWaitSemaphoreValues);
  work.signals = Points(info.pSignalSemaphores, info.signalSemaphoreCount,
                        values == nullptr ? nullptr : values->pSignalSemaphoreValues);
  return work;
}
Machine::Work WorkOf(const VkSubmitInfo2& info) {
  Machine::Work work;
  work.waits = Points(info.pWaitSemaphoreInfos, info.waitSemaphoreInfoCount);
  work.signals = Points(info.pSignalSemaphoreInfos, info.signalSemaphoreInfoCount);
  return work;
}

template <typename Info>
VkResult VKAPI_CALL NextSubmitOf(VkQueue queue, uint32_t count, const Info* infos, VkFence fence) {
  EXPECT_LE(count, 1u) << "one at a time";
  Machine::Work work;
  if (count != 0) work = WorkOf(infos[0]);
  work.queue = queue;
  work.fence = fence;
  return machine->Submit(std::move(work), count != 0);
}
VkResult VKAPI_CALL NextPresentOf(VkQueue, const VkPresentInfoKHR*) {
  EXPECT_TRUE(machine->idle()) << "work runs while an image is presented";
  return VK_SUBOPTIMAL_KHR;
}
VkResult VKAPI_CALL NextWait(VkDevice, uint32_t count, const VkFence* fences, VkBool32,
                             uint64_t timeout) {
  for (uint32_t i = 0; i < count; ++i) {
    const VkResult result = machine->Wait(fences[i], timeout);
    if (result != VK_SUCCESS) return result;
  }
  return VK_SUCCESS;
}
VkResult VKAPI_CALL NextStatus(VkDevice, VkFence fence) {
  return machine->Status(fence);
}
VkResult VKAPI_CALL NextReset(VkDevice, uint32_t count, const VkFence* fences) {
  for (uint32_t i = 0; i < count; ++i) machine->Reset(fences[i]);
  return VK_SUCCESS;
}
VkResult VKAPI_CALL NextMakeFence(VkDevice, const VkFenceCreateInfo*, const VkAllocationCallbacks*,
                                  VkFence* fence) {
  static uint64_t number = 10'000;
  *fence = Numbered<VkFence>(++number);
  machine->fences.insert(*fence);
  return VK_SUCCESS;
}
void VKAPI_CALL NextEndFence(VkDevice, VkFence fence, const VkAllocationCallbacks*) {
  EXPECT_EQ(machine->fences.erase(fence), 1u);
}
VkResult VKAPI_CALL NextMakeSemaphore(VkDevice, const VkSemaphoreCreateInfo* info,
                                      const VkAllocationCallbacks*, VkSemaphore* semaphore) {
  static uint64_t number = 0;
  *semaphore = Numbered<VkSemaphore>(++number);
  if (info->pNext != nullptr) machine->values[*semaphore] = 0;
  return VK_SUCCESS;
}
void VKAPI_CALL NextEndSemaphore(VkDevice, VkSemaphore semaphore, const VkAllocationCallbacks*) {
  machine->values.erase(semaphore);
}
VkResult VKAPI_CALL NextValue(VkDevice, VkSemaphore semaphore, uint64_t* value) {
  *value = machine->Value(semaphore);
  return VK_SUCCESS;
}

// ---- A program -------------------------------------------------------------------------------------------------

class SerialQueuesTest : public ::testing::Test {
 protected:
  static constexpr size_t kQueues = 3;

  static void SetUpTestSuite() { RunBoard::OfProcess().header(); }
  void SetUp() override { Start(); }
  void TearDown() override { End(); }

  void Start() {
    machine = &gpu_.emplace();
    experiment_.change = Change::kSerialQueues;
    ReplaceRunExperiment(&experiment_);
    device_ = std::make_unique<DeviceState>();
    device_->handle = Numbered<VkDevice>(1);
    device_->kind = DeviceKind::kDriven;
    for (uint64_t i = 0; i < kQueues; ++i) {
      auto queue = std::make_unique<QueueState>();
      queue->handle = Numbered<VkQueue>(2 + i);
      queue->device = device_.get();
      device_->queues.push_back(std::move(queue));
    }
    DeviceFunctions& vk = device_->vk;
    vk.QueueSubmit = NextSubmitOf<VkSubmitInfo>;
    vk.QueueSubmit2 = NextSubmitOf<VkSubmitInfo2>;
    vk.QueueBindSparse = NextSubmitOf<VkBindSparseInfo>;
    vk.QueuePresentKHR = NextPresentOf;
    vk.WaitForFences = NextWait;
    vk.GetFenceStatus = NextStatus;
    vk.ResetFences = NextReset;
    vk.CreateFence = NextMakeFence;
    vk.DestroyFence = NextEndFence;
    vk.CreateSemaphore = NextMakeSemaphore;
    vk.DestroySemaphore = NextEndSemaphore;
    vk.GetSemaphoreCounterValueKHR = NextValue;  // under this name only
    ASSERT_TRUE(RememberDevice(*device_) && RememberQueues(*device_));
    StartSerialQueues(*device_);
    ASSERT_NE(device_->serial, nullptr);
    RunBoard::OfProcess().header().changes = 0;
    RunBoard::OfProcess().header().not_changed = 0;
  }
  void End() {
    ForgetDevice(*device_);
    device_.reset();
    ReplaceRunExperiment(nullptr);
  }

  const DeviceFunctions& vk() const { return device_->vk; }
  VkQueue queue(size_t index) const { return device_->queues[index]->handle; }
  VkSemaphore MakeSemaphore(bool timeline) {
    VkSemaphoreTypeCreateInfo type = {VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO};
    type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
    const VkSemaphoreCreateInfo info = {VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                        timeline ? &type : nullptr, 0};
    VkSemaphore semaphore = VK_NULL_HANDLE;
    EXPECT_EQ(vk().CreateSemaphore(device_->handle, &info, nullptr, &semaphore), VK_SUCCESS);
    return semaphore;
  }

  VkResult Submit(size_t to, const std::vector<Point>& waits = {},
                  const std::vector<Point>& signals = {}, VkFence fence = VK_NULL_HANDLE) {
    std::vector<VkSemaphoreSubmitInfo> infos;
    for (const auto* const points : {&waits, &signals}) {
      for (const Point& point : *points) {
        infos.push_back({VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO, nullptr, point.semaphore,
                         point.value, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, 0});
      }
    }
    VkSubmitInfo2 info = {VK_STRUCTURE_TYPE_SUBMIT_INFO_2};
    info.waitSemaphoreInfoCount = static_cast<uint32_t>(waits.size());
    info.pWaitSemaphoreInfos = infos.data();
    info.signalSemaphoreInfoCount = static_cast<uint32_t>(signals.size());
    info.pSignalSemaphoreInfos = infos.data() + waits.size();
    return vk().QueueSubmit2(queue(to), 1, &info, fence);
  }
  static uint32_t changes() { return RunBoard::OfProcess().header().changes; }
  static uint32_t not_changed() { return RunBoard::OfProcess().header().not_changed; }

  Experiment experiment_;
  std::optional<Machine> gpu_;
  std::unique_ptr<DeviceState> device_;
};

TEST_F(SerialQueuesTest, EachSubmissionWaitsForTheOnesBefore) {
  for (const size_t to : {0, 1, 0, 2}) EXPECT_EQ(Submit(to), VK_SUCCESS);
  EXPECT_THAT(gpu_->ended, ElementsAre(1, 2, 3));
  EXPECT_THAT(gpu_->beside, IsEmpty());
  EXPECT_EQ(changes(), 3u);
  EXPECT_EQ(not_changed(), 0u);
  EXPECT_EQ(gpu_->longest_wait, SerialQueues::kMostWaitNs);
}

// The program waits by itself, as between frames.
TEST_F(SerialQueuesTest, NothingIsChangedWhereNothingOverlaps) {
  for (const size_t to : {0, 1, 2}) {
    EXPECT_EQ(Submit(to), VK_SUCCESS);
    gpu_->RunAll();
  }
  EXPECT_EQ(changes(), 0u);
  EXPECT_EQ(gpu_->fences.size(), 1u) << "it serves again";
}

// In one call, of any kind; the program's fence comes with the last one.
TEST_F(SerialQueuesTest, TheBatchesOfACallAreSubmittedOneByOne) {
  const VkFence fence = Numbered<VkFence>(1);
  const VkSemaphore timeline = MakeSemaphore(true);
  const uint64_t value = 5;
  VkTimelineSemaphoreSubmitInfo values = {VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO};
  values.signalSemaphoreValueCount = 1;
  values.pSignalSemaphoreValues = &value;
  VkSubmitInfo submits[3] = {{VK_STRUCTURE_TYPE_SUBMIT_INFO}, {VK_STRUCTURE_TYPE_SUBMIT_INFO}, {}};
  submits[2] = {VK_STRUCTURE_TYPE_SUBMIT_INFO, &values};
  submits[2].signalSemaphoreCount = 1;
  submits[2].pSignalSemaphores = &timeline;
  EXPECT_EQ(vk().QueueSubmit(queue(0), 3, submits, fence), VK_SUCCESS);
  EXPECT_EQ(gpu_->submitted, 3u);
  EXPECT_EQ(gpu_->fences_of_program[2], fence);
  EXPECT_NE(gpu_->fences_of_program[0], fence);
  const VkBindSparseInfo binds[2] = {{VK_STRUCTURE_TYPE_BIND_SPARSE_INFO},
                                     {VK_STRUCTURE_TYPE_BIND_SPARSE_INFO}};
  EXPECT_EQ(vk().QueueBindSparse(queue(1), 2, binds, VK_NULL_HANDLE), VK_SUCCESS);
  EXPECT_EQ(gpu_->values[timeline], value);
  EXPECT_THAT(gpu_->ended, ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(gpu_->beside, IsEmpty());
  EXPECT_EQ(changes(), 4u);
  // A fence alone is no work: nobody waits.
  EXPECT_EQ(vk().QueueSubmit(queue(0), 0, nullptr, VK_NULL_HANDLE), VK_SUCCESS);
  EXPECT_EQ(changes(), 4u);
}

TEST_F(SerialQueuesTest, ImagesArePresentedWhenAllHasEnded) {
  EXPECT_EQ(Submit(0), VK_SUCCESS);
  EXPECT_EQ(Submit(1), VK_SUCCESS);
  const VkPresentInfoKHR info = {VK_STRUCTURE_TYPE_PRESENT_INFO_KHR};
  EXPECT_EQ(vk().QueuePresentKHR(queue(2), &info), VK_SUBOPTIMAL_KHR);
  EXPECT_THAT(gpu_->ended, ElementsAre(1, 2));
}

// ---- What cannot be waited for -----------------------------------------------------------------------------------

TEST_F(SerialQueuesTest, AWaitForASignalThatIsSubmittedLater) {
  const VkSemaphore timeline = MakeSemaphore(true);
  EXPECT_EQ(Submit(0, {{timeline, 2}}), VK_SUCCESS);
  EXPECT_EQ(Submit(0), VK_SUCCESS) << "its queue is held up as well";
  EXPECT_EQ(Submit(1, {}, {{timeline, 1}}), VK_SUCCESS) << "not far enough";
  EXPECT_THAT(gpu_->ended, IsEmpty());
  EXPECT_EQ(changes(), 0u);
  EXPECT_EQ(not_changed(), 2u);
  EXPECT_EQ(Submit(1, {}, {{timeline, 2}}), VK_SUCCESS);
  EXPECT_EQ(not_changed(), 3u);
  EXPECT_EQ(Submit(2), VK_SUCCESS) << "now all can end, and do";
  EXPECT_EQ(gpu_->ended.size(), 4u);
  EXPECT_EQ(not_changed(), 3u);
  EXPECT_EQ(gpu_->in_vain, 0u);
  EXPECT_THAT(gpu_->beside, IsEmpty());
}

TEST_F(SerialQueuesTest, ASignalOfTheProgramItself) {
  const VkSemaphore timeline = MakeSemaphore(true);
  EXPECT_EQ(Submit(0, {{timeline, 7}}), VK_SUCCESS);
  EXPECT_EQ(Submit(1), VK_SUCCESS);
  EXPECT_EQ(Submit(1), VK_SUCCESS);
  EXPECT_THAT(gpu_->ended, ElementsAre(2));
  gpu_->Signal(timeline, 7);
  EXPECT_EQ(Submit(1), VK_SUCCESS);
  EXPECT_EQ(gpu_->ended.size(), 3u);
  EXPECT_EQ(gpu_->in_vain, 0u);
}

// A binary semaphore carries it on, and so does a timeline whose signal is submitted but held up.
TEST_F(SerialQueuesTest, WhatWaitsForSomethingHeldUpIsHeldUp) {
  const VkSemaphore first = MakeSemaphore(true);
  const VkSemaphore second = MakeSemaphore(true);
  const VkSemaphore binary = MakeSemaphore(false);
  EXPECT_EQ(Submit(0, {{first, 1}}, {{second, 1}, {binary, 0}}), VK_SUCCESS);
  EXPECT_EQ(Submit(1, {{second, 1}}), VK_SUCCESS);
  EXPECT_EQ(Submit(2, {{binary, 0}}), VK_SUCCESS);
  const VkSubmitInfo none = {VK_STRUCTURE_TYPE_SUBMIT_INFO};
  EXPECT_EQ(vk().QueueSubmit(queue(2), 1, &none, VK_NULL_HANDLE), VK_SUCCESS);
  EXPECT_THAT(gpu_->ended, IsEmpty());
  EXPECT_EQ(gpu_->in_vain, 0u);
  gpu_->Signal(first, 1);
  EXPECT_EQ(Submit(0), VK_SUCCESS);
  EXPECT_EQ(gpu_->ended.size(), 4u);
}

// The semaphore of a swapchain's image has no submission.
TEST_F(SerialQueuesTest, ABinarySemaphoreOfSomebodyElseIsWaitedFor) {
  const VkSemaphore acquired = MakeSemaphore(false);
  EXPECT_EQ(Submit(0, {{acquired, 0}}), VK_SUCCESS);
  EXPECT_EQ(Submit(1), VK_SUCCESS);
  EXPECT_EQ(gpu_->in_vain, 1u) << "for a while";
  EXPECT_EQ(not_changed(), 1u);
  EXPECT_EQ(Submit(1), VK_SUCCESS);
  EXPECT_EQ(gpu_->in_vain, 1u) << "and not again";
  EXPECT_THAT(gpu_->ended, ElementsAre(2));
}

TEST_F(SerialQueuesTest, ASubmissionThatHangsIsWaitedForOnce) {
  gpu_->stick = 1;
  for (const size_t to : {0, 0, 1, 2}) EXPECT_EQ(Submit(to), VK_SUCCESS);
  EXPECT_EQ(gpu_->in_vain, 1u);
  EXPECT_THAT(gpu_->ended, ElementsAre(3)) << "others still take turns";
  EXPECT_EQ(not_changed(), 3u);
}

TEST_F(SerialQueuesTest, ADestroyedSemaphoreIsNotAskedForItsValue) {
  const VkSemaphore timeline = MakeSemaphore(true);
  EXPECT_EQ(Submit(0, {{timeline, 1}}), VK_SUCCESS);
  gpu_->Signal(timeline, 1);
  vk().DestroySemaphore(device_->handle, timeline, nullptr);
  EXPECT_THAT(gpu_->values, IsEmpty());
  EXPECT_EQ(Submit(1), VK_SUCCESS);
  EXPECT_EQ(changes(), 1u);
}

// ---- Failures ----------------------------------------------------------------------------------------------------

TEST_F(SerialQueuesTest, ALostDeviceIsLeftToTheProgram) {
  EXPECT_EQ(Submit(0), VK_SUCCESS);
  gpu_->lose_in_wait = true;
  EXPECT_EQ(Submit(1), VK_ERROR_DEVICE_LOST) << "the driver's own answer";
  EXPECT_EQ(Submit(1), VK_ERROR_DEVICE_LOST);
  EXPECT_EQ(changes(), 0u);
  End();
  EXPECT_THAT(gpu_->fences, IsEmpty());
  Start();
}

TEST_F(SerialQueuesTest, ARefusedSubmissionIsNotWaitedFor) {
  gpu_->refuse = true;
  EXPECT_EQ(Submit(0), VK_ERROR_OUT_OF_HOST_MEMORY);
  gpu_->refuse = false;
  EXPECT_EQ(Submit(0), VK_SUCCESS);
  EXPECT_EQ(changes(), 0u);
  EXPECT_EQ(gpu_->in_vain, 0u);
  const VkSubmitInfo2 both[2] = {{VK_STRUCTURE_TYPE_SUBMIT_INFO_2},
                                 {VK_STRUCTURE_TYPE_SUBMIT_INFO_2}};
  gpu_->refuse = true;
  EXPECT_EQ(vk().QueueSubmit2(queue(0), 2, both, VK_NULL_HANDLE), VK_ERROR_OUT_OF_HOST_MEMORY);
  EXPECT_EQ(gpu_->submitted, 1u) << "the second batch does not go without the first";
}

TEST_F(SerialQueuesTest, ADeviceTakesItsFencesWithIt) {
  for (const size_t to : {0, 1, 2}) EXPECT_EQ(Submit(to), VK_SUCCESS);
  End();
  EXPECT_THAT(gpu_->fences, IsEmpty());
  Start();
}

// ---- Any order -----------------------------------------------------------------------------------------------------

// Programs as a timeline allows them: signals rise, and waits are for any value, submitted or not.
TEST_F(SerialQueuesTest, RandomPrograms) {
  uint64_t held_up = 0;
  for (uint32_t seed = 0; seed < 400; ++seed) {
    End();
    Start();
    std::mt19937 random(seed);
    const auto below = [&](uint32_t count) { return static_cast<uint32_t>(random() % count); };
    VkSemaphore timelines[2] = {MakeSemaphore(true), MakeSemaphore(true)};
    uint64_t next_value[2] = {1, 1};
    uint64_t fences = 0;
    for (uint32_t i = 0; i < 40; ++i) {
      std::vector<Point> waits;
      std::vector<Point> signals;
      const uint32_t waited = below(2);
      if (below(2) == 0) waits.push_back({timelines[waited], next_value[waited] + below(3) - 1});
      const uint32_t signalled = 1 - waited;
      if (below(2) == 0) signals.push_back({timelines[signalled], next_value[signalled]++});
      const VkFence fence = below(3) == 0 ? Numbered<VkFence>(++fences) : VK_NULL_HANDLE;
      ASSERT_EQ(Submit(below(kQueues), waits, signals, fence), VK_SUCCESS);
      if (below(8) == 0) gpu_->RunAll();
    }
    ASSERT_EQ(gpu_->in_vain, 0u) << "seed " << seed << ": waits for what cannot end";
    ASSERT_THAT(gpu_->beside, IsEmpty()) << "seed " << seed;
    ASSERT_EQ(gpu_->submitted, 40u);
    held_up += gpu_->blocked;
    // Whatever is missing comes from the program in the end.
    for (const VkSemaphore timeline : timelines) gpu_->Signal(timeline, 1000);
    gpu_->RunAll();
    ASSERT_TRUE(gpu_->idle());
    ASSERT_EQ(gpu_->ended.size(), 40u);
  }
  EXPECT_GT(held_up, 100u) << "the programs of this test are too simple";
}

TEST_F(SerialQueuesTest, Threads) {
  const VkSemaphore timeline = MakeSemaphore(true);
  std::vector<std::thread> threads;
  for (size_t to = 0; to < kQueues; ++to) {
    threads.emplace_back([this, to, timeline] {
      for (uint64_t i = 1; i <= 50; ++i) {
        // The last queue waits for what the first one signals, perhaps later.
        std::vector<Point> waits;
        std::vector<Point> signals;
        if (to == 2) waits.push_back({timeline, i});
        if (to == 0) signals.push_back({timeline, i});
        EXPECT_EQ(Submit(to, waits, signals), VK_SUCCESS);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  gpu_->RunAll();
  EXPECT_EQ(gpu_->ended.size(), 150u);
  EXPECT_EQ(gpu_->in_vain, 0u);
  EXPECT_THAT(gpu_->beside, IsEmpty());
}

}  // namespace
}  // namespace cairn
