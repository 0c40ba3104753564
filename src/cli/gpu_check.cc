// SPDX-License-Identifier: Apache-2.0
#include "cli/gpu_check.h"

#include <fmt/format.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/breadcrumbs/vulkan_liveness.h"
#include "cli/command.h"
#include "cli/verb.h"
#include "os/child.h"
#include "os/clock.h"

namespace cairn::cli {
namespace {

constexpr uint64_t kSecondNs = 1'000'000'000;
constexpr uint64_t kLookNs = kSecondNs / 10;
constexpr uint64_t kMostKillNs = 2 * kSecondNs;
constexpr uint64_t kShortNs = 2 * kSecondNs;  // nothing is said of a wait that is over by then

// Exit codes of the child.
constexpr int kAllDid = 0;
constexpr int kNobodyThere = 10;
constexpr int kOneFailed = 11;

constexpr char kGpuCheckExamples[] =
    "Examples:\n"
    "  cairn bisect -- ./game   starts it behind runs that failed\n"
    "\n"
    "Exit code: 0 once each device has run a dispatch, and a draw without --dispatches-only, 10 "
    "if\n"
    "there is no device, 11 if\n"
    "one was lost. It waits until the work of a hanging device ends.";

int CheckGpus(bool dispatches_only) {
  LeaveNoDump();
  const Result<uint32_t> tried = TryVulkanDevices(
      dispatches_only ? LivenessWork::kDispatches : LivenessWork::kDispatchesAndDraws);
  // A device that was lost may never be done with what it was given: nothing is destroyed.
  if (!tried.ok()) {
    std::_Exit(tried.status().code() == StatusCode::kDeviceLost ? kOneFailed : kNobodyThere);
  }
  std::_Exit(*tried == 0 ? kNobodyThere : kAllDid);
}

}  // namespace

std::string GpuCheck::Words(const char* what, bool first) const {
  return fmt::format("{} a {} of Cairn's own{}", what, draws_ ? "dispatch and a draw" : "dispatch",
                     first ? "" : ", since a run failed");
}

Result<GpuCheck::Health> GpuCheck::Ask(uint64_t until_ns, bool first) {
  std::vector<std::string> arguments = {"gpu-check"};
  if (!draws_) arguments.emplace_back("--dispatches-only");
  Result<Child> child =
      Child::Start({.purpose = "trying the GPU",
                    .arguments = std::move(arguments),
                    // Disable layers between this process and the driver.
                    .environment = {"VK_INSTANCE_LAYERS=", "VK_LOADER_LAYERS_DISABLE=~all~"},
                    .silent = true});
  if (!child.ok()) return Health::kUnknown;
  const uint64_t start_ns = MonotonicNs();
  for (bool said = false; !child->WaitForEnd(kLookNs);) {
    const uint64_t now_ns = MonotonicNs();
    const bool keep_on = keep_on_();
    if (keep_on && now_ns < until_ns) {
      if (now_ns - start_ns >= kShortNs && !std::exchange(said, true)) {
        waits_(fmt::format("waits up to {} s more for a GPU, {}; --recovery 0 does not wait",
                           (until_ns - now_ns) / kSecondNs,
                           Words("which has not finished", first)));
      }
      continue;
    }
    // A child that is stuck in a driver is not waited for, now or by the destructor.
    if (!KillAndWait(*child, kMostKillNs)) new Child(std::move(*child));
    if (!keep_on) return Status(StatusCode::kInterrupted, "interrupted");
    return Health::kIll;
  }
  const ProcessEnd end = child->End();
  if (end.kind != EndKind::kExited) return Health::kIll;
  if (end.value == kAllDid) return Health::kWell;
  return end.value == kOneFailed ? Health::kIll : Health::kUnknown;
}

Status GpuCheck::BeforeRun() {
  if (off_ || most_ns_ == 0 || !std::exchange(due_, false)) return Status();
  const bool first = std::exchange(first_, false);
  const uint64_t until_ns = MonotonicNs() + most_ns_;
  for (;;) {
    const Result<Health> health = Ask(until_ns, first);
    if (!health.ok()) return health.status();
    off_ = first && *health == Health::kUnknown;
    if (off_ || *health == Health::kWell) return Status();
    if (MonotonicNs() >= until_ns) break;
  }
  return Status(
      StatusCode::kUnsupported,
      fmt::format(
          "a GPU of this machine has not finished a {} of Cairn's own for {} s{}: other work would "
          "fail there, too. Reset the GPU, or wait; then run the same command again, which "
          "resumes. "
          "With --recovery 0 it resumes at once, without this check",
          draws_ ? "dispatch and a draw" : "dispatch", most_ns_ / kSecondNs,
          first ? "" : ", since a run failed"));
}

Verb AddGpuCheckVerb(CLI::App& root) {
  Command command(root, "gpu-check", "Tries the GPUs for cairn bisect.", "cairn gpu-check",
                  kGpuCheckExamples);
  command.Hide();
  const auto dispatches_only = std::make_shared<bool>(false);
  command.Flag("--dispatches-only", dispatches_only.get(), "Try no draw");
  return {command.app(), [dispatches_only] { return CheckGpus(*dispatches_only); }};
}

}  // namespace cairn::cli
