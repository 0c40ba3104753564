// SPDX-License-Identifier: Apache-2.0
//
// Features of a Vulkan device with which an access outside of a buffer or an image, or through a null descriptor, does no
// harm, and what became of each of them in a run with the experiment "robust" (Change::kRobust).
#ifndef CAIRN_FORMAT_EXPERIMENT_ROBUST_FEATURES_H_
#define CAIRN_FORMAT_EXPERIMENT_ROBUST_FEATURES_H_

#include <cstdint>
#include <string_view>
#include <vector>

namespace cairn {

enum RobustFeature : uint8_t {
  kRobustBufferAccess = 1,
  kRobustBufferAccess2 = 2,
  kRobustImageAccess = 4,
  kRobustImageAccess2 = 8,
  kNullDescriptor = 16,
};
using RobustFeatures = uint32_t;  // a set of RobustFeature
inline constexpr RobustFeatures kAllRobustFeatures = 31;

// "robustBufferAccess2", as the structures of Vulkan spell it, in the order of RobustFeature.
std::vector<std::string_view> NamesOf(RobustFeatures features);

// A feature may stand in several sets, if a run has several devices.
struct RobustDevices {
  RobustFeatures enabled = 0;  // by the layer: the device has it, and the program left it off
  RobustFeatures own = 0;      // the program enabled it
  RobustFeatures missing = 0;  // the device does not have it
  RobustFeatures left =
      0;  // the device has it or could not be asked, and the layer could not enable it

  bool operator==(const RobustDevices&) const = default;
};

// The content of BoardHeader::changes on the board of the run. Those of two devices are joined by |.
constexpr uint32_t WordOf(const RobustDevices& devices) {
  return devices.enabled | devices.own << 8 | devices.missing << 16 | devices.left << 24;
}
// Reads any word: what no feature has is left out.
constexpr RobustDevices RobustDevicesOf(uint64_t word) {
  const auto at = [word](int shift) {
    return static_cast<RobustFeatures>(word >> shift & kAllRobustFeatures);
  };
  return {at(0), at(8), at(16), at(24)};
}

}  // namespace cairn

#endif  // CAIRN_FORMAT_EXPERIMENT_ROBUST_FEATURES_H_
