// SPDX-License-Identifier: Apache-2.0
#include "truth/why/d3d12/faults.h"

#include <fmt/format.h>

namespace cairn::truth::why::d3d12 {
namespace {

// "DXBC", and then 16 bytes of hash: reports have the first eight of them.
constexpr size_t kHashOffset = 4;
constexpr size_t kHashBytes = 8;

}  // namespace

const std::vector<Group>& Groups() {
  static const std::vector<Group> groups = {
      {"healthy", HealthyPrograms()}, {"loops", LoopFaults()},    {"other", OtherFaults()},
      {"lifetime", LifetimeFaults()}, {"memory", MemoryFaults()}, {"race", RaceFaults()},
  };
  return groups;
}

std::string LoopOf(const Fault& fault) {
  if (fault.culprit.code.empty()) return "-";
  std::string text;
  for (const unsigned char byte : fault.culprit.code.subspan(kHashOffset, kHashBytes)) {
    text += fmt::format("{:02x}", byte);
  }
  return fmt::format("{}#{}", text, fault.loop_index);
}

}  // namespace cairn::truth::why::d3d12
