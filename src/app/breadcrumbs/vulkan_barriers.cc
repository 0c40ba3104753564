// SPDX-License-Identifier: Apache-2.0
#include "app/breadcrumbs/vulkan_barriers.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>

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
constexpr int kAttempts = 5;
constexpr int kSightings = 2;  // of one kind of barrier, all alike

struct Barrier {
  VkPipelineStageFlags source = 0;  // 0: there is none
  VkPipelineStageFlags destination = 0;
  bool of_memory = false;  // what was written is seen by all
};
constexpr Barrier kNoBarrier;
constexpr Barrier kOfExecution = {VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                                  VK_PIPELINE_STAGE_ALL_COMMANDS_BIT};
constexpr Barrier kOfMemory = {VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                               VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, true};

// One that the specification lets begin at once, for the work has no such stage.
constexpr Barrier Unrelated(BusyKind kind, VkQueueFlags family) {
  if (kind == BusyKind::kDraw) {
    return {VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT};
  }
  if ((family & VK_QUEUE_GRAPHICS_BIT) != 0) {
    return {VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT, VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT};
  }
  return {VK_PIPELINE_STAGE_DRAW_INDIRECT_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT};
}

enum Word : uint32_t { kBegan, kBehind, kEnded, kWordCount };

// What the CPU saw, which may have been called away in between.
struct Sighting {
  uint64_t began_ns = 0;
  uint64_t last_without_ns =
      0;                   // the last look at which neither the write behind nor the end had come
  uint64_t behind_ns = 0;  // the first look that saw the write behind
  uint64_t ended_ns = 0;

  uint64_t length_ns() const { return ended_ns - began_ns; }
  // Seen long before the end.
  bool WentOn() const { return ended_ns - behind_ns >= kShortestNs / 4; }
  // Not seen yet when half of the work was done.
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
    return Calibrate();
  }

  // Whether a barrier of this kind held in all sightings. kUnsupported: the CPU did not see enough.
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
  // Until the work is long enough, or as long as can be.
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
          Write(commands, PipeLocation::kTop, kBehind);
          Write(commands, PipeLocation::kBottom, kEnded);
        },
        [&] { LookOn(&sighting); });
    if (status.code() == StatusCode::kDeviceLost) {
      words_.Abandon();
      work_->Abandon();
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
  uint32_t trips_ = 0;
};

// Behind which barriers the GPU goes on once this kind of work has ended: a clause.
Result<const char*> Measure(const VulkanDevice& device, WriteMethod method, BusyKind kind) {
  BarrierTest test(device, method, kind);
  CAIRN_RETURN_IF_ERROR(test.Prepare());
  const std::pair<Barrier, const char*> weakest_first[] = {
      {kNoBarrier, "with no barrier behind it, too"},
      {Unrelated(kind, device.queue_families[device.queue_family].queueFlags),
       "behind any barrier, also one that need not wait for it"},
      {kOfExecution, "behind barriers for its stages"},
      {kOfMemory, "behind barriers of memory for all stages"}};
  for (const auto& [barrier, clause] : weakest_first) {
    Result<bool> holds = test.Holds(barrier);
    if (!holds.ok()) return holds.status();
    if (*holds) return clause;
  }
  return nullptr;
}

}  // namespace

Status TestBarriers(const VulkanDevice& device, WriteMethod method,
                    std::vector<SourceFinding>* findings) {
  struct Kind {
    BusyKind kind;
    VkQueueFlags needed;
    const char* word;
  };
  for (const Kind& kind : {Kind{BusyKind::kDispatch, VK_QUEUE_COMPUTE_BIT, "a dispatch"},
                           Kind{BusyKind::kDraw, VK_QUEUE_GRAPHICS_BIT, "a draw"}}) {
    if ((device.queue_families[device.queue_family].queueFlags & kind.needed) == 0) continue;
    SourceFinding finding = {fmt::format("witnesses of the end of {}", kind.word),
                             SourceState::kFailed, ""};
    const Result<const char*> where = Measure(device, method, kind.kind);
    if (where.status().code() == StatusCode::kDeviceLost) return where.status();
    if (!where.ok()) {
      finding.reason = "not measured: " + where.status().message();
    } else if (*where == nullptr) {
      finding.state = SourceState::kAbsent;
      finding.reason = "behind every barrier the GPU goes on while it still runs";
    } else {
      finding.state = SourceState::kPresent;
      finding.reason = fmt::format("the GPU goes on once it has ended {}", *where);
    }
    findings->push_back(std::move(finding));
  }
  return Status();
}

}  // namespace cairn
