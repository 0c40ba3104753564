// SPDX-License-Identifier: Apache-2.0
#include "app/vulkan/witnesses.h"

#include <fmt/format.h>

#include <optional>

#include "app/breadcrumbs/vulkan_witnesses.h"
#include "app/settings/log.h"
#include "app/vulkan/layer.h"
#include "format/settings/layer_settings.h"
#include "os/environment.h"

namespace cairn {
namespace {

// The device's, or a clause that says why there is nothing.
Result<DeviceWitnesses> Choose(const InstanceState& instance, VkPhysicalDevice physical_device) {
  const auto nothing = [](std::string why) {
    return Status(StatusCode::kNotFound, std::move(why));
  };
  constexpr const char* kVariable = kVariableOf<&LayerSettings::witnesses>;
  const Setting<std::string> told = ReadSetting<&LayerSettings::witnesses>(OwnVariable);
  if (told->empty()) {
    return nothing(fmt::format("not measured: {} is not set; `cairn run` sets it", kVariable));
  }
  Result<WitnessSet> set = ParseWitnessSet(*told);
  if (!set.ok()) {
    const std::string why = fmt::format("{} is not used: {}", kVariable, set.status().message());
    LogOnce(LogLevel::kWarning, "witnesses", why);
    return nothing(why);
  }
  if (set->off) return nothing("switched off");
  if (!set->reason.empty()) return nothing("not measured: " + set->reason);
  const std::optional<WitnessKey> key =
      WitnessKeyOf(instance.GetPhysicalDeviceProperties2, physical_device);
  if (!key.has_value()) return nothing("not known: the driver reports no UUID of this device");
  const DeviceWitnesses* const found = set->Find(*key);
  if (found == nullptr) return nothing("not measured on this device with this driver");
  return *found;
}

}  // namespace

DeviceBarriers::DeviceBarriers(const InstanceState& instance, VkPhysicalDevice physical_device) {
  Result<DeviceWitnesses> device = Choose(instance, physical_device);
  if (!device.ok()) {
    why_not_ = device.status().message();
    return;
  }
  device_ = std::move(*device);
  if (!HasWitnesses(device_)) return;
  for (const FamilyWitnesses& family : device_.families) families_.push_back(FlagsOf(family));
}

bool DeviceBarriers::ServeFor(WriteMethod method) const {
  return any() && WitnessMethodOf(method) == device_.method;
}

SourceFinding DeviceBarriers::Describe(WriteMethod method) const {
  SourceFinding finding = {kWitnessSource, SourceState::kAbsent, why_not_};
  if (!why_not_.empty()) return finding;
  finding.reason = DescribeWitnesses(device_);
  if (ServeFor(method)) {
    finding.state = SourceState::kPresent;
  } else if (any()) {
    finding.reason = "measured for another way of writing words than the one that is used here";
  }
  return finding;
}

const WitnessFlags* DeviceBarriers::Of(uint32_t family) const {
  for (size_t i = 0; i < families_.size(); ++i) {
    if (device_.families[i].family == family && families_[i].any()) return &families_[i];
  }
  return nullptr;
}

}  // namespace cairn
