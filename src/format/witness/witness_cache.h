// SPDX-License-Identifier: Apache-2.0
//
// The file in which a user's measurements are kept, one line each:
//
//   cairn-witnesses 1
//   machine 0011223344556677    on which every device was looked at
//   device ...                  FormatDeviceWitnesses
#ifndef CAIRN_FORMAT_WITNESS_WITNESS_CACHE_H_
#define CAIRN_FORMAT_WITNESS_WITNESS_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "format/witness/witnesses.h"

namespace cairn {

inline constexpr size_t kMostWitnessCacheBytes = 65536;
inline constexpr size_t kMostWitnessMachines = 16;

struct WitnessCache {
  // Fingerprints of the drivers and devices that a machine had, the latest last.
  std::vector<uint64_t> machines;
  std::vector<DeviceWitnesses> devices;  // the latest last

  bool Knows(uint64_t machine) const;
  // The latest; the oldest goes if there are too many.
  void Add(uint64_t machine);
  // Replaces the measurement of this device.
  void Add(DeviceWitnesses device);
  // Removes devices whose measurement other work disturbed and that may be measured again by
  // `now_s`: once a day.
  void DropTransient(uint64_t now_s);
  bool operator==(const WitnessCache&) const = default;
};

std::string FormatWitnessCache(const WitnessCache& cache);
// kCorrupt for anything that FormatWitnessCache does not write; kUnsupported for another version.
Result<WitnessCache> ParseWitnessCache(std::string_view text);

}  // namespace cairn

#endif  // CAIRN_FORMAT_WITNESS_WITNESS_CACHE_H_
