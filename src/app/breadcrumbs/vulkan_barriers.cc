// SPDX-License-Identifier: Apache-2.0
#include "app/breadcrumbs/vulkan_barriers.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

#include "app/breadcrumbs/vulkan_busy_work.h"
#include "app/breadcrumbs/vulkan_memory.h"
#include "app/breadcrumbs/vulkan_selftest.h"
#include "app/breadcrumbs/vulkan_writes.h"
#include "os/clock.h"

namespace cairn {
namespace {

// Long enough that the CPU, which may be called away, sees what comes before the end of the work.
constexpr uint64_t kWantedNs = 2'000'000;
constexpr uint64_t kShortestNs = 500'000;
constexpr uint64_t kLongestWatchNs = 500'000'000;
constexpr int kAttempts = 6;
constexpr int kSightings = 3;  // of one kind of barrier, all alike

// The barrier behind the work.
struct Barrier {
  VkPipelineStageFlags source = 0;  // 0: there is none
  VkPipelineStageFlags destination = 0;
  bool of_memory = false;  // what was written is seen by all
  bool dispatch = false;   // a short dispatch instead
};
constexpr Barrier kNoBarrier;
constexpr Barrier kDispatch = {.dispatch = true};
constexpr Barrier kOfExecution = {VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                                  VK_PIPELINE_STAGE_ALL_COMMANDS_BIT};
constexpr Barrier kOfMemory = {VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                               VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, true};

// Returns barriers at which the specification lets some kind of work, which has no such stage,
// begin at once, or at which nothing on the GPU waits. If these hold, every barrier of a program is
// taken to hold.
std::vector<Barrier> WeakBarriers(VkQueueFlags family) {
  std::vector<Barrier> barriers = {
      {VK_PIPELINE_STAGE_DRAW_INDIRECT_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT},
      {VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT},
      {VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT}};
  if ((family & VK_QUEUE_COMPUTE_BIT) != 0) {
    barriers.push_back(
        {VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT});
  }
  if ((family & VK_QUEUE_GRAPHICS_BIT) != 0) {
    barriers.push_back({VK_PIPELINE_STAGE_VERTEX_INPUT_BIT, VK_PIPELINE_STAGE_VERTEX_SHADER_BIT});
    barriers.push_back(
        {VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT, VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT});
  }
  return barriers;
}

// For the stage in which this work ends, to whatever may wait. Others of the kind are taken to hold if these do.
std::vector<Barrier> OwnBarriers(BusyKind kind, VkQueueFlags family) {
  std::vector<Barrier> barriers;
  const auto add = [&barriers](VkPipelineStageFlags source,
                               std::initializer_list<VkPipelineStageFlags> destinations) {
    for (const VkPipelineStageFlags destination : destinations) {
      barriers.push_back({source, destination});
    }
  };
  constexpr VkPipelineStageFlags kTransfer = VK_PIPELINE_STAGE_TRANSFER_BIT;
  constexpr VkPipelineStageFlags kHost = VK_PIPELINE_STAGE_HOST_BIT;
  constexpr VkPipelineStageFlags kEnd = VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT;
  VkPipelineStageFlags source = kTransfer;
  if (kind == BusyKind::kDispatch) source = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
  if (kind == BusyKind::kDraw) source = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT;
  add(source, {kTransfer, kHost, kEnd});
  if ((family & VK_QUEUE_COMPUTE_BIT) != 0) add(source, {VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT});
  if ((family & VK_QUEUE_GRAPHICS_BIT) != 0) add(source, {VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT});
  return barriers;
}

enum Word : uint32_t { kBegan, kBehind, kEnded, kWordCount };

// The CPU's observations. The CPU may have done other work in between.
struct Sighting {
  uint64_t began_ns = 0;
  uint64_t last_without_ns =
      0;                   // the last look at which neither the write behind nor the end had come
  uint64_t behind_ns = 0;  // the first look that saw the write behind
  uint64_t ended_ns = 0;

  uint64_t length_ns() const { return ended_ns - began_ns; }
  // Seen long before the end.
  bool WentOn() const { return ended_ns - behind_ns >= kShortestNs / 4; }
  // Returns true if the write behind was not seen yet when half of the work was done.
  bool Held() const { return !WentOn() && last_without_ns - began_ns >= length_ns() / 2; }
};

class BarrierTest {
 public:
  BarrierTest(const VulkanDevice& device, WriteMethod method, BusyKind kind)
      : device_(device), method_(method), kind_(kind) {}

  Status Prepare() {
    Result<VulkanBuffer> words = VulkanBuffer::CreateHostVisible(device_, kPageBytes);
    if (!words.ok()) return words.status();
    words_ = std::move(*words);
    Result<std::unique_ptr<VulkanBusyWork>> work = VulkanBusyWork::Create(device_, kind_);
    if (!work.ok()) return work.status();
    work_ = std::move(*work);
    if (kind_ == BusyKind::kDraw) {
      Result<std::unique_ptr<VulkanBusyWork>> dispatch =
          VulkanBusyWork::Create(device_, BusyKind::kDispatch);
      if (dispatch.ok()) dispatch_ = std::move(*dispatch);
    }
    return Calibrate();
  }

  bool has_dispatch() const { return dispatch_ != nullptr; }

  // Returns true if a barrier of this kind held in all sightings. kUnsupported: the CPU did not see
  // enough.
  Result<bool> Holds(const Barrier& barrier) {
    int held = 0;
    for (int attempts = 0; attempts < kAttempts && held < kSightings; ++attempts) {
      Result<Sighting> sighting = Watch(barrier);
      if (!sighting.ok()) return sighting.status();
      if (sighting->WentOn()) return false;
      held += sighting->Held() ? 1 : 0;
    }
    if (held == kSightings) return true;
    return Status(StatusCode::kUnsupported, "other work kept the CPU from watching");
  }

 private:
  // Increases the work until it is long enough, or as long as possible.
  Status Calibrate() {
    for (trips_ = 64;; trips_ = std::min(trips_ * 4, VulkanBusyWork::kMostTrips)) {
      uint64_t shortest_ns = UINT64_MAX;  // the CPU may see the end late
      for (int i = 0; i < kSightings; ++i) {
        Result<Sighting> sighting = Watch(kNoBarrier);
        if (!sighting.ok()) return sighting.status();
        shortest_ns = std::min(shortest_ns, sighting->length_ns());
      }
      if (shortest_ns >= kWantedNs) return Status();
      if (trips_ < VulkanBusyWork::kMostTrips) continue;
      if (shortest_ns >= kShortestNs) return Status();
      return Status(StatusCode::kUnsupported,
                    fmt::format("the longest work takes {} µs", shortest_ns / 1000));
    }
  }

  std::atomic<uint32_t>& word(Word which) {
    return reinterpret_cast<std::atomic<uint32_t>*>(words_.mapped())[which];
  }

  void Write(VkCommandBuffer commands, PipeLocation where, Word which) const {
    const VkDeviceSize offset = which * sizeof(uint32_t);
    if (method_ == WriteMethod::kVulkanBufferMarker) {
      RecordMarkerWrite(device_.vk, commands, where, words_.buffer(), offset, 1);
    } else {
      RecordFillWrite(device_.vk, commands, where, words_.buffer(), offset, 1);
    }
  }

  void RecordBarrier(VkCommandBuffer commands, const Barrier& barrier) const {
    VkMemoryBarrier memory = {VK_STRUCTURE_TYPE_MEMORY_BARRIER};
    memory.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT;
    memory.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
    device_.vk.CmdPipelineBarrier(commands, barrier.source, barrier.destination, 0,
                                  barrier.of_memory ? 1 : 0, &memory, 0, nullptr, 0, nullptr);
  }

  Result<Sighting> Watch(const Barrier& barrier) {
    for (uint32_t i = 0; i < kWordCount; ++i) word(static_cast<Word>(i)) = 0;
    Sighting sighting;
    const Status status = RunOnce(
        device_,
        [&](VkCommandBuffer commands) {
          Write(commands, PipeLocation::kTop, kBegan);
          work_->Record(commands, trips_);
          if (barrier.source != 0) RecordBarrier(commands, barrier);
          if (barrier.dispatch) dispatch_->Record(commands, 1);
          Write(commands, PipeLocation::kTop, kBehind);
          Write(commands, PipeLocation::kBottom, kEnded);
        },
        [&] { LookOn(&sighting); });
    if (status.code() == StatusCode::kDeviceLost) {
      words_.Abandon();
      work_->Abandon();
      if (dispatch_ != nullptr) dispatch_->Abandon();
    }
    CAIRN_RETURN_IF_ERROR(status);
    if (sighting.ended_ns == 0) {
      return Status(StatusCode::kUnsupported, "the work did not end while it was watched");
    }
    return sighting;
  }

  // Looks at the words until the last one has come.
  void LookOn(Sighting* sighting) {
    const uint64_t start = MonotonicNs();
    for (uint64_t now = start; now - start < kLongestWatchNs; now = MonotonicNs()) {
      // From the last to the first: what comes between two reads counts as not there.
      const bool ended = word(kEnded).load(std::memory_order_acquire) != 0;
      const bool behind = word(kBehind).load(std::memory_order_acquire) != 0;
      const bool began = word(kBegan).load(std::memory_order_acquire) != 0;
      if (began && sighting->began_ns == 0) sighting->began_ns = now;
      if (behind && sighting->behind_ns == 0) sighting->behind_ns = now;
      if (began && !behind && !ended) sighting->last_without_ns = now;
      if (!ended) continue;
      sighting->ended_ns = now;
      if (sighting->behind_ns == 0) sighting->behind_ns = now;
      if (sighting->began_ns == 0) sighting->began_ns = sighting->last_without_ns = now;
      return;
    }
  }

  const VulkanDevice& device_;
  const WriteMethod method_;
  const BusyKind kind_;
  VulkanBuffer words_;
  std::unique_ptr<VulkanBusyWork> work_;
  std::unique_ptr<VulkanBusyWork> dispatch_;  // null: the family takes none
  uint32_t trips_ = 0;
};

// All of these.
Result<bool> AllHold(BarrierTest* test, const std::vector<Barrier>& barriers) {
  for (const Barrier& barrier : barriers) {
    Result<bool> holds = test->Holds(barrier);
    if (!holds.ok() || !*holds) return holds;
  }
  return true;
}

Status Measure(const VulkanDevice& device, WriteMethod method, BusyKind kind,
               WorkWitnesses* witnesses) {
  BarrierTest test(device, method, kind);
  CAIRN_RETURN_IF_ERROR(test.Prepare());
  const VkQueueFlags family = device.queue_families[device.queue_family].queueFlags;
  const std::pair<HoldingBarrier, std::vector<Barrier>> strongest_first[] = {
      {HoldingBarrier::kMemory, {kOfMemory}},
      {HoldingBarrier::kExecution, {kOfExecution}},
      {HoldingBarrier::kStages, OwnBarriers(kind, family)},
      {HoldingBarrier::kAny, WeakBarriers(family)},
      {HoldingBarrier::kAlways, {kNoBarrier}}};
  for (const auto& [barrier, barriers] : strongest_first) {
    const Result<bool> holds = AllHold(&test, barriers);
    if (!holds.ok()) return holds.status();
    if (!*holds) {
      if (barrier == HoldingBarrier::kMemory) witnesses->barrier = HoldingBarrier::kNever;
      break;
    }
    witnesses->barrier = barrier;
  }
  if (!test.has_dispatch()) return Status();
  const Result<bool> holds = test.Holds(kDispatch);
  if (holds.ok()) witnesses->other_work = *holds;
  return holds.status();
}

SourceFinding FindingOf(const char* work, const WorkWitnesses& witnesses, const Status& status) {
  SourceFinding finding = {fmt::format("waits at barriers behind {}", work), SourceState::kPresent,
                           ""};
  if (witnesses.barrier == HoldingBarrier::kNotMeasured) {
    finding.state = SourceState::kFailed;
    finding.reason = "not measured: " + status.message();
  } else if (witnesses.barrier == HoldingBarrier::kNever && !witnesses.other_work) {
    finding.state = SourceState::kAbsent;
    finding.reason = "behind every barrier the GPU goes on while it still runs";
  } else {
    finding.reason = "the GPU goes on once it has ended, behind " + DescribeHolding(witnesses);
  }
  return finding;
}

}  // namespace

Result<FamilyWitnesses> MeasureWitnesses(const VulkanDevice& device, WriteMethod method,
                                         std::vector<SourceFinding>* findings) {
  struct Kind {
    BusyKind kind;
    VkQueueFlags needed;
    const char* word;
    WorkWitnesses FamilyWitnesses::*witnesses;
  };
  constexpr VkQueueFlags kAnyFamily = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT;
  FamilyWitnesses family;
  family.family = device.queue_family;
  for (const Kind& kind :
       {Kind{BusyKind::kDispatch, VK_QUEUE_COMPUTE_BIT, "a dispatch", &FamilyWitnesses::dispatches},
        Kind{BusyKind::kDraw, VK_QUEUE_GRAPHICS_BIT, "a draw", &FamilyWitnesses::draws},
        Kind{BusyKind::kCopy, kAnyFamily, "a copy", &FamilyWitnesses::copies}}) {
    WorkWitnesses& witnesses = family.*kind.witnesses;
    if ((device.queue_families[device.queue_family].queueFlags & kind.needed) == 0) {
      witnesses.barrier = HoldingBarrier::kNoWork;
      continue;
    }
    const Status status = Measure(device, method, kind.kind, &witnesses);
    if (status.code() == StatusCode::kDeviceLost) return status;
    if (findings != nullptr) findings->push_back(FindingOf(kind.word, witnesses, status));
  }
  return family;
}

}  // namespace cairn
