// SPDX-License-Identifier: Apache-2.0
// Any text is a set of witnesses, or a cache of them, or an error that says why; what is read is written the same.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "format/witness/witness_cache.h"
#include "format/witness/witnesses.h"

namespace {

void CheckRefusal(const cairn::Status& status) {
  if (status.code() != cairn::StatusCode::kCorrupt &&
      status.code() != cairn::StatusCode::kUnsupported) {
    std::abort();
  }
  if (status.message().empty()) std::abort();
}

void CheckSet(std::string_view text) {
  const cairn::Result<cairn::WitnessSet> set = cairn::ParseWitnessSet(text);
  if (!set.ok()) return CheckRefusal(set.status());
  if (set->devices.size() > cairn::kMostWitnessDevices) std::abort();
  // A reason is cut where it is long.
  if (set->reason.empty() && cairn::FormatWitnessSet(*set) != text) std::abort();
  for (const cairn::DeviceWitnesses& device : set->devices) {
    if (cairn::DescribeWitnesses(device).empty()) std::abort();
    if (device.outcome != cairn::WitnessOutcome::kMeasured && cairn::HasWitnesses(device)) {
      std::abort();
    }
  }
}

void CheckCache(std::string_view text) {
  const cairn::Result<cairn::WitnessCache> cache = cairn::ParseWitnessCache(text);
  if (!cache.ok()) return CheckRefusal(cache.status());
  if (cairn::FormatWitnessCache(*cache) != text) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  CheckSet(text);
  CheckCache(text);
  return 0;
}
