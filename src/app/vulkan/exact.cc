// SPDX-License-Identifier: Apache-2.0
#include "app/vulkan/exact.h"

#include <new>
#include <optional>
#include <unordered_map>
#include <utility>

#include "app/settings/log.h"
#include "app/vulkan/experiment_counts.h"
#include "app/vulkan/handle_map.h"
#include "app/vulkan/run_experiment.h"

namespace cairn {
namespace {

constinit HandleMap<VkCommandBuffer, ExactCommands> exact_commands;

std::optional<ExactUse> UseOf(const DeviceState& device) {
  if (device.instance->mode == MarkerMode::kExact) return ExactUse::kMode;
  const Experiment* const experiment = RunExperimentOfProcess();
  if (experiment == nullptr) return std::nullopt;
  if (experiment->change == Change::kBarrierBefore) return ExactUse::kBarrierBefore;
  if (experiment->change == Change::kBarrierAfter) return ExactUse::kBarrierAfter;
  if (experiment->change == Change::kLimitCounts && RecordedExperiment::WithBoard() != nullptr) {
    return ExactUse::kCounts;
  }
  return std::nullopt;
}

template <typename Visit>
void VisitFunctions(Visit visit) {
  for (const std::span<const ExactFunction> table :
       {ExactWorkFunctions(), ExactCommandFunctions(), ExactPassFunctions(),
        ExactRenderPassFunctions(), ExactNewerFunctions()}) {
    for (const ExactFunction& function : table) visit(function);
  }
}

}  // namespace

ExactDevice::ExactDevice(const DeviceState& device, ExactUse use)
    : device_(device), use_(use), next_(device.vk), render_passes_(device.handle, next_) {
  if (use == ExactUse::kCounts) {
    counts_ = std::make_unique<CountLimits>(*RecordedExperiment::WithBoard(), device, next_);
  }
  if (use != ExactUse::kMode) return;
  Result<std::unique_ptr<ExactCanary>> canary = ExactCanary::Make(device, next_);
  if (canary.ok()) {
    canary_ = std::move(*canary);
  } else {
    Log(LogLevel::kWarning, "mode exact runs without canaries: " + canary.status().message());
  }
}

bool ExactDevice::MayRunCanary(const VkCommandPoolCreateInfo& pool) const {
  return (canary_ != nullptr || (counts_ != nullptr && counts_->can_dispatch())) &&
         (pool.flags & VK_COMMAND_POOL_CREATE_PROTECTED_BIT) == 0 &&
         pool.queueFamilyIndex < device_.queue_families.size() &&
         (device_.queue_families[pool.queueFamilyIndex].queueFlags & VK_QUEUE_COMPUTE_BIT) != 0;
}

ExactCommands::ExactCommands(ExactDevice& device, const ExactCommandsDesc& desc)
    : device_(device), desc_(desc) {
  if (!exact_commands.Set(desc.handle, this)) throw std::bad_alloc();
}

ExactCommands::~ExactCommands() {
  exact_commands.Erase(desc_.handle);
}

void ExactCommands::Begin(const VkCommandBufferBeginInfo& info) {
  const VkCommandBufferInheritanceInfo* const inherited =
      desc_.secondary ? info.pInheritanceInfo : nullptr;
  const bool continues =
      desc_.secondary && (info.flags & VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT) != 0;
  holds_ = 0;
  queries_ = 0;
  inherits_queries_ = inherited != nullptr && (inherited->occlusionQueryEnable != VK_FALSE ||
                                               inherited->pipelineStatistics != 0);
  compute_.Clear();
  places_.Clear();
  suspends_ = false;
  suspended_ = false;
  in_video_ = false;
  SetPass(continues ? Pass::kWhole : Pass::kNone);
}

void ExactCommands::Barrier() {
  const VkMemoryBarrier barrier = {VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr,
                                   VK_ACCESS_MEMORY_WRITE_BIT,
                                   VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT};
  next().CmdPipelineBarrier(desc_.handle, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                            VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 1, &barrier, 0, nullptr, 0,
                            nullptr);
}

void ExactCommands::Precede() {
  if (device_.use() != ExactUse::kBarrierBefore || !serial()) return;
  Barrier();
  CountChange();
}

void ExactCommands::Serialise(Behind behind) {
  if (!serial() || device_.use() == ExactUse::kBarrierBefore ||
      device_.use() == ExactUse::kCounts) {
    return;
  }
  if (device_.use() == ExactUse::kBarrierAfter) {
    if (behind != Behind::kWork) return;
    CountChange();
  }
  Barrier();
  if (behind != Behind::kWork || !CanaryMayRun()) return;
  device_.canary()->Record(desc_.handle);
  compute_.Restore(next(), desc_.handle);
  Barrier();
}

void ExactCommands::SetPass(Pass pass) {
  pass_ = pass;
  if (desc_.changed != nullptr) desc_.changed(desc_.owner);
}

// The begin of a render pass, which may clear attachments, becomes a piece of its own.
void ExactCommands::EnterParts() {
  parts_.Begin(next(), desc_.handle, PassPart::kFirst);
  SetPass(Pass::kOpen);
  ClosePart();
}

void ExactCommands::EnterWhole(bool suspends) {
  suspends_ = suspends;
  SetPass(Pass::kWhole);
}

// The end of a render pass becomes a piece of its own as well.
bool ExactCommands::LeaveParts() {
  if (pass_ != Pass::kOpen && pass_ != Pass::kClosed) return false;
  holds_ = 0;
  ClosePart();
  parts_.Begin(next(), desc_.handle, PassPart::kLast);
  parts_.End(next(), desc_.handle);
  SetPass(Pass::kNone);
  Serialise(Behind::kWork);
  return true;
}

void ExactCommands::LeaveWhole() {
  suspended_ = suspends_;
  suspends_ = false;
  SetPass(Pass::kNone);
  Serialise(Behind::kWork);
}

void ExactCommands::OpenPart() {
  if (pass_ != Pass::kClosed) return;
  parts_.Begin(next(), desc_.handle, PassPart::kMiddle);
  SetPass(Pass::kOpen);
}

void ExactCommands::ClosePart() {
  if (pass_ != Pass::kOpen || holds_ != 0) return;
  parts_.End(next(), desc_.handle);
  SetPass(Pass::kClosed);
  Serialise(Behind::kWork);
}

void ExactCommands::Hold() {
  OpenPart();
  if (pass_ == Pass::kOpen) ++holds_;
}

void ExactCommands::Release() {
  if (holds_ == 0) return;
  --holds_;
  ClosePart();
}

ExactCommands* ExactCommandsOf(VkCommandBuffer commands) {
  return exact_commands.Find(commands);
}

bool IsSerial(void* commands) {
  const ExactCommands* const exact = ExactCommandsOf(static_cast<VkCommandBuffer>(commands));
  return exact != nullptr && exact->serial();
}

void StartExact(DeviceState& device) {
  const std::optional<ExactUse> use = UseOf(device);
  if (!use) return;
  device.exact = std::make_unique<ExactDevice>(device, *use);
  VisitFunctions(
      [&](const ExactFunction& function) { function.install(device.vk, function.function); });
  if (device.exact->counts() == nullptr) return;
  for (const ExactFunction& function : CountFunctions()) {
    function.install(device.vk, function.function);
  }
}

PFN_vkVoidFunction FindExactFunction(std::string_view name) {
  // Never destroyed: programs may call Vulkan while their static objects end.
  static const auto& by_name = *[] {
    auto* const all = new std::unordered_map<std::string_view, PFN_vkVoidFunction>;
    VisitFunctions([all](const ExactFunction& one) { all->emplace(one.name, one.function); });
    return all;
  }();
  const auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : found->second;
}

}  // namespace cairn
