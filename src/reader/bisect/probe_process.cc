// SPDX-License-Identifier: Apache-2.0
#include "reader/bisect/probe_process.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <exception>

#include "os/child.h"
#include "os/child_status.h"
#include "os/clock.h"
#include "reader/replay/wait_time.h"

namespace cairn {
namespace {

constexpr uint64_t kLookNs = 200'000'000;

uint64_t TimeLeft(uint64_t since_ns, uint64_t timeout_ns) {
  const uint64_t passed = MonotonicNs() - since_ns;
  return passed >= timeout_ns ? 0 : timeout_ns - passed;
}

// True if the process has ended before the time was up.
bool WaitForEnd(const Child& child, uint64_t timeout_ns) {
  const uint64_t start_ns = MonotonicNs();
  for (;;) {
    const uint64_t left_ns = TimeLeft(start_ns, timeout_ns);
    if (child.WaitForEnd(std::min(left_ns, kLookNs))) return true;
    if (left_ns == 0) return false;
  }
}

// Up to the first that is no pair of digits.
std::vector<std::byte> BytesOf(const std::string& digits) {
  std::vector<std::byte> bytes;
  for (size_t i = 0; i + 2 <= digits.size(); i += 2) {
    uint8_t value = 0;
    const char* const pair = digits.data() + i;
    if (std::from_chars(pair, pair + 2, value, 16).ptr != pair + 2) break;
    bytes.push_back(std::byte{value});
  }
  return bytes;
}

enum class Watched { kEnded, kStalled, kInterrupted };

Watched Watch(const Child& child, const ProbeStatus& status, const ProbeLimits& limits) {
  const uint64_t timeout_ns = limits.stall_timeout_ns;
  // Often enough that the time between two looks counts in full.
  const uint64_t look_ns =
      timeout_ns == 0 ? kLookNs : std::clamp<uint64_t>(timeout_ns / 8, 1'000'000, kLookNs);
  uint64_t steps = status.steps;
  WaitTime still(MonotonicNs(), timeout_ns);
  for (;;) {
    const bool ended = child.WaitForEnd(look_ns);
    // Asked also when it has ended: plays may be shorter than the time between two looks.
    if (limits.keep_on && !limits.keep_on()) return Watched::kInterrupted;
    if (ended) return Watched::kEnded;
    if (const uint64_t now = status.steps; now != steps) {
      steps = now;
      still = WaitTime(MonotonicNs(), timeout_ns);
    }
    // While this process does not run, mostly the child does not, either.
    still.Look(MonotonicNs());
    if (timeout_ns != 0 && still.seen_ns() >= timeout_ns) return Watched::kStalled;
  }
}

// What the child's last word and its end say together.
void Judge(Watched watched, const ProcessEnd& end, ProbeRun* run) {
  run->interrupted = watched == Watched::kInterrupted;
  if (watched == Watched::kStalled) {
    run->end = ProbeEnd::kHang;
    return;
  }
  // Whatever it said before: a driver's thread that dies at the end is a death, too.
  if (end.kind == EndKind::kSignalled && !run->interrupted) {
    run->end = ProbeEnd::kDied;
    run->signal = end.value;
  } else if (end.kind == EndKind::kUnknown && !run->interrupted) {
    run->end = ProbeEnd::kUnclear;
    run->message = "how the playback ended cannot be found out";
  }
}

}  // namespace

void ProbeStatus::On(const DeviceFacts& device) {
  name.Set(device.name);
  driver.Set(device.driver);
  library.Set(device.library);
  library_paths.Set(device.library_paths);
  devices.fetch_add(1, std::memory_order_release);
}

void ProbeStatus::End(ProbeEnd how, std::string_view why) {
  message.Set(why);
  end.Set(how);
}

ProbeRun RunOf(const ProbeStatus& status) {
  ProbeRun run;
  run.end = status.end.Get();
  run.call = status.call;
  run.message = run.end == ProbeEnd::kNone ? "" : status.message.Get();
  run.devices = status.devices;
  run.device = status.device();
  run.left_out = status.left_out.Get();
  run.skipped = status.skipped;
  run.slowest_call = status.slowest_call;
  run.slowest_ns = status.slowest_ns;
  run.bytes = BytesOf(status.bytes.Bytes());
  if (run.end == ProbeEnd::kNone) run.end = ProbeEnd::kDied;
  return run;
}

Result<ProbeRun> RunProbe(const ProbeLimits& limits, const std::vector<std::string>& arguments,
                          std::span<const std::byte> question) {
  const Result<ChildStatus<ProbeStatus>> status =
      ChildStatus<ProbeStatus>::Create("cairn-probe", question);
  if (!status.ok()) return status.status();
  const uint64_t start_ns = MonotonicNs();
  Result<Child> child = Child::Start({.purpose = "the probe",
                                      .arguments = arguments,
                                      .memory = &status->memory(),
                                      .silent = true});
  if (!child.ok()) return child.status();
  const Watched watched = Watch(*child, **status, limits);
  if (watched != Watched::kEnded) {
    CAIRN_RETURN_IF_ERROR(child->Kill());
    if (!WaitForEnd(*child, limits.kill_timeout_ns)) {
      return Status(StatusCode::kUnsupported,
                    fmt::format("probe process {} cannot be killed: it is stuck in the kernel's "
                                "driver; the machine may need a restart",
                                child->number()));
    }
  }
  ProbeRun run = RunOf(**status);
  Judge(watched, child->End(), &run);
  run.duration_ns = MonotonicNs() - start_ns;
  return run;
}

Status AnswerProbe(const ProbeBody& body) {
  Result<ChildStatus<ProbeStatus>> status = ChildStatus<ProbeStatus>::OfThisProcess();
  if (!status.ok()) return status.status();
  // Its death is expected: nobody wants the memory of each probe on disk.
  LeaveNoDump();
  try {
    body(status->question(), **status);
  } catch (const std::exception& error) {
    (*status)->End(ProbeEnd::kError, error.what());
  }
  std::_Exit(0);
}

}  // namespace cairn
