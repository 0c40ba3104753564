// SPDX-License-Identifier: Apache-2.0
#include "format/witness/witness_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace cairn {
namespace {

constexpr std::string_view kFirstLine = "cairn-witnesses ";
constexpr std::string_view kMachine = "machine ";
constexpr std::string_view kDevice = "device ";
constexpr size_t kMachineDigits = 16;
constexpr uint64_t kDay_s = 86'400;

bool IsTransient(const DeviceWitnesses& device) {
  if (device.outcome != WitnessOutcome::kMeasured) return device.outcome == WitnessOutcome::kUnseen;
  return std::any_of(device.families.begin(), device.families.end(), [](const auto& family) {
    return family.dispatches.barrier == HoldingBarrier::kNotMeasured ||
           family.draws.barrier == HoldingBarrier::kNotMeasured ||
           family.copies.barrier == HoldingBarrier::kNotMeasured;
  });
}

Status CorruptLine(size_t line) {
  return Status(StatusCode::kCorrupt, fmt::format("line {} is none that Cairn writes", line));
}

Status ReadMachine(std::string_view digits, size_t line, WitnessCache* cache) {
  uint64_t machine = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stopped, error] = std::from_chars(digits.data(), end, machine, 16);
  if (digits != fmt::format("{:0{}x}", machine, kMachineDigits) || error != std::errc() ||
      stopped != end || cache->Knows(machine) || cache->machines.size() == kMostWitnessMachines ||
      !cache->devices.empty()) {
    return CorruptLine(line);
  }
  cache->machines.push_back(machine);
  return Status();
}

Status ReadDevice(std::string_view text, size_t line, WitnessCache* cache) {
  Result<DeviceWitnesses> device = ParseDeviceWitnesses(text);
  if (!device.ok()) return device.status().WithContext(fmt::format("line {}", line));
  const bool is_known =
      std::any_of(cache->devices.begin(), cache->devices.end(),
                  [&](const DeviceWitnesses& known) { return known.key == device->key; });
  if (is_known || cache->devices.size() == kMostWitnessDevices) return CorruptLine(line);
  cache->devices.push_back(std::move(*device));
  return Status();
}

}  // namespace

bool WitnessCache::Knows(uint64_t machine) const {
  return std::find(machines.begin(), machines.end(), machine) != machines.end();
}

void WitnessCache::Add(uint64_t machine) {
  std::erase(machines, machine);
  machines.push_back(machine);
  if (machines.size() > kMostWitnessMachines) machines.erase(machines.begin());
}

void WitnessCache::Add(DeviceWitnesses device) {
  std::erase_if(devices, [&](const DeviceWitnesses& known) { return known.key == device.key; });
  devices.push_back(std::move(device));
  if (devices.size() > kMostWitnessDevices) devices.erase(devices.begin());
}

void WitnessCache::DropTransient(uint64_t now_s) {
  std::erase_if(devices, [now_s](const DeviceWitnesses& device) {
    // A time in the future counts as old: the clock was set back.
    return IsTransient(device) &&
           (device.measured_s > now_s || now_s - device.measured_s >= kDay_s);
  });
}

std::string FormatWitnessCache(const WitnessCache& cache) {
  std::string text = fmt::format("{}{}\n", kFirstLine, kWitnessVersion);
  for (const uint64_t machine : cache.machines) {
    text += fmt::format("{}{:0{}x}\n", kMachine, machine, kMachineDigits);
  }
  for (const DeviceWitnesses& device : cache.devices) {
    text += fmt::format("{}{}\n", kDevice, FormatDeviceWitnesses(device));
  }
  return text;
}

Result<WitnessCache> ParseWitnessCache(std::string_view text) {
  if (text.size() > kMostWitnessCacheBytes) {
    return Status(StatusCode::kCorrupt, fmt::format("it has {} bytes, of at most {}", text.size(),
                                                    kMostWitnessCacheBytes));
  }
  WitnessCache cache;
  size_t line = 1;
  for (; !text.empty(); ++line) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return CorruptLine(line);
    const std::string_view words = text.substr(0, end);
    text.remove_prefix(end + 1);
    Status status;
    if (line == 1) {
      if (!words.starts_with(kFirstLine)) return CorruptLine(line);
      if (words.substr(kFirstLine.size()) != fmt::format("{}", kWitnessVersion)) {
        return Status(StatusCode::kUnsupported, "another version of Cairn wrote it");
      }
    } else if (words.starts_with(kMachine)) {
      status = ReadMachine(words.substr(kMachine.size()), line, &cache);
    } else if (words.starts_with(kDevice)) {
      status = ReadDevice(words.substr(kDevice.size()), line, &cache);
    } else {
      status = CorruptLine(line);
    }
    CAIRN_RETURN_IF_ERROR(status);
  }
  if (line == 1) return CorruptLine(line);
  return cache;
}

}  // namespace cairn
