// SPDX-License-Identifier: Apache-2.0
//
// The status of the process that measures barriers (os/child_status.h): one line of FormatDeviceWitnesses when it
// begins with a device, as if that had hung, and one when it is done with it. Before it starts, its parent leaves
// lines of the devices that are known.
#ifndef CAIRN_CLI_WITNESS_STATUS_H_
#define CAIRN_CLI_WITNESS_STATUS_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "format/witness/witnesses.h"
#include "os/child_status.h"

namespace cairn::cli {

struct WitnessStatus {
  // Leaves the line out if it has no room.
  void Add(const DeviceWitnesses& device) {
    lines.AppendWhole(FormatDeviceWitnesses(device) + '\n');
    ++steps;
  }
  // Leaves out what is no line: whoever wrote it may have died while a driver wrote wildly.
  std::vector<DeviceWitnesses> Read() const {
    const std::string copy = lines.Bytes();
    std::vector<DeviceWitnesses> devices;
    for (std::string_view rest = copy; !rest.empty();) {
      const size_t end = std::min(rest.find('\n'), rest.size());
      Result<DeviceWitnesses> device = ParseDeviceWitnesses(rest.substr(0, end));
      if (device.ok()) devices.push_back(std::move(*device));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return devices;
  }

  std::atomic<uint32_t> steps{0};  // changes as long as something happens
  StatusText<65536> lines;
};

}  // namespace cairn::cli

#endif  // CAIRN_CLI_WITNESS_STATUS_H_
