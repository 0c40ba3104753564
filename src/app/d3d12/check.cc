// SPDX-License-Identifier: Apache-2.0
#include "app/d3d12/check.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "app/d3d12/device.h"
#include "app/d3d12/globals.h"
#include "app/d3d12/object_kind.h"
#include "app/settings/log.h"
#include "app/settings/own_settings.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {

constinit CheckCounts counts;

void Say(const std::string& text) {
  LogAlways("cairn check: " + text);
}

// "resource 'Shadow map'", "fence without a name"
std::string Describe(const Wrapper& wrapper) {
  const std::string name = wrapper.Name();
  const std::string_view kind = ObjectKindName(NameOf(wrapper.chain()));
  return name.empty() ? fmt::format("{} without a name", kind) : fmt::format("{} '{}'", kind, name);
}

// Objects of `device` that are alive, or of all devices for null; by what they are and their names.
// Devices count where no device is asked for.
std::map<std::string, uint32_t> AliveOf(const WrappedID3D12Device* device) {
  std::vector<std::string> alive;
  Wrappers().ForEach([&](const Wrapper* wrapper) {
    // The program has given it up; if the implementation keeps it, that is not the program's leak.
    if (wrapper->rests()) return;
    const bool is_device = wrapper->chain() == Chain::kID3D12Device;
    if (device == nullptr || (!is_device && wrapper->device() == device)) {
      alive.push_back(Describe(*wrapper));
    }
  });
  std::map<std::string, uint32_t> by_text;
  for (const std::string& text : alive) ++by_text[text];
  return by_text;
}

// Returns how many there are.
uint64_t ReportLeaks(const WrappedID3D12Device* device, const char* when) {
  uint64_t total = 0;
  for (const auto& [text, count] : AliveOf(device)) {
    Say(fmt::format("leak: {} x {}, still alive when {}", count, text, when));
    total += count;
  }
  counts.leaked.fetch_add(total, std::memory_order_relaxed);
  return total;
}

void ReportSummary(const char* when) {
  const uint64_t problems = counts.wrong_wrappers + counts.references_left + counts.leaked;
  const std::string looked_at = fmt::format("{} arguments and {} ended objects checked",
                                            counts.unwraps.load(), counts.objects_ended.load());
  if (problems == 0) {
    Say(fmt::format("{}: all is well; {}", when, looked_at));
    return;
  }
  Say(fmt::format(
      "{}: {} problems: {} objects leaked, {} reference counts left, {} arguments with a "
      "wrong wrapper; {}",
      when, problems, counts.leaked.load(), counts.references_left.load(),
      counts.wrong_wrappers.load(), looked_at));
}

void CheckProcessEnds() {
  try {
    ReportLeaks(nullptr, "the process ended");
    ReportSummary("end of the process");
  } catch (...) {  // Without memory for a report the process ends as usual.
  }
}

}  // namespace

void StartSelfCheck() {
  if (!*Settings().check) return;
  static std::once_flag once;
  std::call_once(once, [] {
    self_check_is_on.store(true, std::memory_order_relaxed);
    // Runs before the destructors of everything that was there already.
    atexit(CheckProcessEnds);
  });
}

const CheckCounts& SelfCheckCounts() {
  return counts;
}

void CheckUnwrap(const Wrapper& wrapper) {
  counts.unwraps.fetch_add(1, std::memory_order_relaxed);
  if (&wrapper.owner() != &wrapper) return;  // Tear-offs are not registered themselves.
  const Wrapper* const known = Wrappers().Find(wrapper.real_pointer());
  if (known == &wrapper) return;
  counts.wrong_wrappers.fetch_add(1, std::memory_order_relaxed);
  try {
    Say(fmt::format("an argument is the wrapper {} of real object {}, for which {}",
                    wrapper.interface_pointer(), wrapper.real_pointer(),
                    known == nullptr
                        ? std::string("none is registered: it was released before")
                        : fmt::format("{} is registered", known->interface_pointer())));
  } catch (...) {
  }
}

void CheckEnded(const Wrapper& wrapper, ULONG references_left) {
  counts.objects_ended.fetch_add(1, std::memory_order_relaxed);
  if (references_left == 0) return;
  counts.references_left.fetch_add(1, std::memory_order_relaxed);
  try {
    Say(fmt::format(
        "{}: {} references to the real object are left after the last one of the program",
        Describe(wrapper), references_left));
  } catch (...) {
  }
}

void CheckDeviceEnds(const WrappedID3D12Device& device) {
  try {
    ReportLeaks(&device, "their device ended");
    ReportSummary("end of a device");
  } catch (...) {
  }
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
