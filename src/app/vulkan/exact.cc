// SPDX-License-Identifier: Apache-2.0
#include "app/vulkan/exact.h"

#include <new>
#include <unordered_map>

#include "app/vulkan/handle_map.h"

namespace cairn {
namespace {

constinit HandleMap<VkCommandBuffer, ExactCommands> exact_commands;

template <typename Visit>
void VisitFunctions(Visit visit) {
  for (const std::span<const ExactFunction> table :
       {ExactWorkFunctions(), ExactCommandFunctions(), ExactPassFunctions(),
        ExactRenderPassFunctions()}) {
    for (const ExactFunction& function : table) visit(function);
  }
}

}  // namespace

ExactDevice::ExactDevice(const DeviceState& device)
    : device_(device), next_(device.vk), render_passes_(device.handle, next_) {}

ExactCommands::ExactCommands(ExactDevice& device, VkCommandBuffer handle, bool secondary,
                             void* owner, void (*changed)(void* owner))
    : device_(device), handle_(handle), secondary_(secondary), owner_(owner), changed_(changed) {
  if (!exact_commands.Set(handle, this)) throw std::bad_alloc();
}

ExactCommands::~ExactCommands() {
  exact_commands.Erase(handle_);
}

void ExactCommands::Begin(const VkCommandBufferBeginInfo& info) {
  const bool continues =
      secondary_ && (info.flags & VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT) != 0;
  holds_ = 0;
  suspends_ = false;
  suspended_ = false;
  in_video_ = false;
  SetPass(continues ? Pass::kWhole : Pass::kNone);
}

void ExactCommands::Serialise() {
  if (!serial()) return;
  const VkMemoryBarrier barrier = {VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr,
                                   VK_ACCESS_MEMORY_WRITE_BIT,
                                   VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT};
  next().CmdPipelineBarrier(handle_, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                            VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 1, &barrier, 0, nullptr, 0,
                            nullptr);
}

void ExactCommands::SetPass(Pass pass) {
  pass_ = pass;
  if (changed_ != nullptr) changed_(owner_);
}

// What a pass does as it begins, to clear its attachments say, is a piece of its own.
void ExactCommands::EnterParts() {
  parts_.Begin(next(), handle_, PassPart::kFirst);
  SetPass(Pass::kOpen);
  ClosePart();
}

void ExactCommands::EnterWhole(bool suspends) {
  suspends_ = suspends;
  SetPass(Pass::kWhole);
}

// So is what it does as it ends.
bool ExactCommands::LeaveParts() {
  if (pass_ != Pass::kOpen && pass_ != Pass::kClosed) return false;
  holds_ = 0;
  ClosePart();
  parts_.Begin(next(), handle_, PassPart::kLast);
  parts_.End(next(), handle_);
  SetPass(Pass::kNone);
  Serialise();
  return true;
}

void ExactCommands::LeaveWhole() {
  suspended_ = suspends_;
  suspends_ = false;
  SetPass(Pass::kNone);
  Serialise();
}

void ExactCommands::OpenPart() {
  if (pass_ != Pass::kClosed) return;
  parts_.Begin(next(), handle_, PassPart::kMiddle);
  SetPass(Pass::kOpen);
}

void ExactCommands::ClosePart() {
  if (pass_ != Pass::kOpen || holds_ != 0) return;
  parts_.End(next(), handle_);
  SetPass(Pass::kClosed);
  Serialise();
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
  device.exact = std::make_unique<ExactDevice>(device);
  VisitFunctions(
      [&](const ExactFunction& function) { function.install(device.vk, function.function); });
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
