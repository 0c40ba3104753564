// SPDX-License-Identifier: Apache-2.0
//
// What the process that measures barriers tells its parent, in memory that outlives it: one line of
// FormatDeviceWitnesses when it begins with a device, as if that had hung, and one when it is done with it. Before
// it starts, its parent leaves lines of the devices that are known.
#ifndef CAIRN_CLI_WITNESS_TELLING_H_
#define CAIRN_CLI_WITNESS_TELLING_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "format/witness/witnesses.h"

namespace cairn::cli {

class WitnessTelling {
 public:
  // Without room the line is left out.
  void Add(const DeviceWitnesses& device) {
    const std::string line = FormatDeviceWitnesses(device) + '\n';
    const size_t used = size();
    if (line.size() <= sizeof(text_) - used) {
      std::memcpy(text_ + used, line.data(), line.size());
      used_.store(static_cast<uint32_t>(used + line.size()), std::memory_order_release);
    }
    Step();
  }
  void Step() { steps_.fetch_add(1, std::memory_order_relaxed); }

  // Changes as long as something happens.
  uint32_t steps() const { return steps_.load(std::memory_order_relaxed); }
  // Whoever wrote it may have died while a driver wrote wildly: lines that are none are left out.
  std::vector<DeviceWitnesses> Read() const {
    const std::string copy(text_, size());
    std::vector<DeviceWitnesses> devices;
    for (std::string_view rest = copy; !rest.empty();) {
      const size_t end = std::min(rest.find('\n'), rest.size());
      Result<DeviceWitnesses> device = ParseDeviceWitnesses(rest.substr(0, end));
      if (device.ok()) devices.push_back(std::move(*device));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return devices;
  }

 private:
  size_t size() const {
    return std::min<size_t>(used_.load(std::memory_order_acquire), sizeof(text_));
  }

  std::atomic<uint32_t> steps_{0};
  std::atomic<uint32_t> used_{0};
  char text_[65536] = {};
};

}  // namespace cairn::cli

#endif  // CAIRN_CLI_WITNESS_TELLING_H_
