// SPDX-License-Identifier: Apache-2.0
#include "app/vulkan/count_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "app/settings/log.h"
#include "app/vulkan/experiment_counts.h"
#include "app/vulkan/importer.h"
#include "app/vulkan/intercept.h"
#include "embedded/limit_counts.comp.spv.h"

namespace cairn {
namespace {

// The push constants of limit_counts.comp.
struct LimitConstants {
  uint32_t record;
  uint32_t most;
};
constexpr VkDeviceSize kArgumentsBytes = sizeof(VkDispatchIndirectCommand);

void Barrier(const DeviceFunctions& next, VkCommandBuffer commands, VkPipelineStageFlags from,
             VkAccessFlags written, VkPipelineStageFlags to, VkAccessFlags used) {
  const VkMemoryBarrier barrier = {VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr, written, used};
  next.CmdPipelineBarrier(commands, from, to, 0, 1, &barrier, 0, nullptr, 0, nullptr);
}

}  // namespace

void CommandPlaces::Clear() {
  labels.clear();
  indirect = 0;
  may_run_at_once = false;
}

std::string CommandPlaces::Path() const {
  return fmt::format("{}", fmt::join(labels, " > "));
}

CountLimits::CountLimits(const RecordedExperiment& run, const DeviceState& device,
                         const DeviceFunctions& next)
    : run_(run), device_(device.handle), next_(next) {
  const Status made = MakeOwn(device);
  can_dispatch_ = made.ok();
  if (!made.ok()) Log(LogLevel::kWarning, "indirect counts are not limited: " + made.message());
}

CountLimits::~CountLimits() {
  limiter_.Destroy(next_, device_);
}

Status CountLimits::MakeOwn(const DeviceState& device) {
  const std::string why_not = MakeImporter(device, &importer_);
  if (!why_not.empty()) return Status(StatusCode::kUnsupported, why_not);
  const std::span<std::byte> memory = run_.board.record_bytes();
  Result<VulkanBuffer> records = VulkanBuffer::ImportHost(
      importer_, memory.data(), memory.size(),
      VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT);
  if (!records.ok()) return records.status();
  records_ = std::move(*records);
  return limiter_.Create(next_, device.handle, kLimitCountsCompSpv, sizeof(kLimitCountsCompSpv),
                         records_.buffer(), sizeof(LimitConstants));
}

std::optional<uint32_t> CountLimits::RecordOf(const std::string& key, const CountNote& note) {
  const std::lock_guard lock(mutex_);
  const auto known = places_.find(key);
  if (known != places_.end()) return known->second;
  const std::optional<uint32_t> at = run_.board.Reserve(1);
  if (!at) return at;
  auto& record = reinterpret_cast<CountRecord&>(run_.board.records()[*at]);
  std::ranges::copy(note.record.used, record.used);
  std::ranges::copy(note.record.given, record.given);
  run_.board.Describe(*at, note);
  places_.emplace(key, *at);
  return at;
}

void CountLimits::NoteBuffer(VkBuffer buffer, bool can_be_copied) noexcept {
  Quietly([&] {
    const std::lock_guard lock(mutex_);
    if (can_be_copied) {
      uncopyable_.erase(buffer);  // an earlier one of this handle
    } else {
      uncopyable_.insert(buffer);
    }
  });
}

void CountLimits::Limit(const char* command, const CommandPlaces& places,
                        std::span<uint32_t> counts) noexcept {
  CountNote note;
  note.count = static_cast<uint32_t>(counts.size());
  std::copy(counts.begin(), counts.end(), note.record.given);
  if (most() == Experiment::kOnlyCount || !LimitCounts(counts, most())) return;
  CountChange();
  std::copy(counts.begin(), counts.end(), note.record.used);
  Quietly([&] {
    note.command = command;
    note.label = places.Path();
    const std::optional<uint32_t> at = RecordOf(
        fmt::format("{} {} {}", command, fmt::join(note.record.given, " "), note.label), note);
    if (!at) return;
    auto& record = reinterpret_cast<CountRecord&>(run_.board.records()[*at]);
    std::atomic_ref(record.limited).fetch_add(1, std::memory_order_release);
  });
}

// The copy waits for earlier indirect commands alone, so that arguments for which the program has no barrier stay as wrong
// as they are without it. A record belongs to one command of one command buffer: executions at once would write it for
// each other, so none is copied where those are allowed.
std::optional<VkDeviceSize> CountLimits::CopyArguments(VkCommandBuffer commands,
                                                       CommandPlaces& places, VkBuffer from,
                                                       VkDeviceSize offset) noexcept {
  if (places.may_run_at_once) return std::nullopt;
  std::optional<uint32_t> at;
  Quietly([&] {
    {
      const std::lock_guard lock(mutex_);
      if (uncopyable_.contains(from)) return;
    }
    CountNote note;
    note.command = "vkCmdDispatchIndirect";
    note.label = places.Path();
    note.count = 3;
    note.is_indirect = true;
    at = RecordOf(
        fmt::format("{} {} {}", static_cast<void*>(commands), places.indirect++, note.label), note);
  });
  if (!at) return std::nullopt;
  const VkDeviceSize place = VkDeviceSize{*at} * sizeof(CountRecord);
  Barrier(next_, commands, VK_PIPELINE_STAGE_DRAW_INDIRECT_BIT, 0, VK_PIPELINE_STAGE_TRANSFER_BIT,
          VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT);
  const VkBufferCopy region = {offset, place, kArgumentsBytes};
  next_.CmdCopyBuffer(commands, from, records_.buffer(), 1, &region);
  Barrier(next_, commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
          VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
          VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT);
  limiter_.Bind(next_, commands);
  const LimitConstants constants = {static_cast<uint32_t>(place / sizeof(uint32_t)), most()};
  next_.CmdPushConstants(commands, limiter_.layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0,
                         sizeof(constants), &constants);
  next_.CmdDispatch(commands, 1, 1, 1);
  Barrier(next_, commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT,
          VK_PIPELINE_STAGE_DRAW_INDIRECT_BIT | VK_PIPELINE_STAGE_HOST_BIT,
          VK_ACCESS_INDIRECT_COMMAND_READ_BIT | VK_ACCESS_HOST_READ_BIT);
  return place;
}

}  // namespace cairn
