// SPDX-License-Identifier: Apache-2.0
#include "reader/bisect/probe_process.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

#include "base/text.h"
#include "os/child.h"
#include "os/clock.h"
#include "os/shared_memory.h"
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

enum class Watched { kEnded, kStalled, kInterrupted };

Watched Watch(const Child& child, const ProbeTelling& telling, const ProbeLimits& limits) {
  const uint64_t timeout_ns = limits.stall_timeout_ns;
  // Often enough that the time between two looks counts in full.
  const uint64_t look_ns =
      timeout_ns == 0 ? kLookNs : std::clamp<uint64_t>(timeout_ns / 8, 1'000'000, kLookNs);
  uint64_t steps = telling.steps();
  WaitTime still(MonotonicNs(), timeout_ns);
  for (;;) {
    const bool ended = child.WaitForEnd(look_ns);
    // Asked also when it has ended: plays may be shorter than the time between two looks.
    if (limits.keep_on && !limits.keep_on()) return Watched::kInterrupted;
    if (ended) return Watched::kEnded;
    if (const uint64_t now = telling.steps(); now != steps) {
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

void ProbeText::Append(std::string_view text, std::string_view between) {
  const size_t used = bytes_.load(std::memory_order_relaxed);
  if (used == 0) between = "";
  if (kMaxBytes - used <= between.size()) return;
  const std::string_view cut = Utf8Prefix(text, kMaxBytes - used - between.size());
  std::memcpy(text_ + used, between.data(), between.size());
  std::memcpy(text_ + used + between.size(), cut.data(), cut.size());
  bytes_.store(static_cast<uint32_t>(used + between.size() + cut.size()),
               std::memory_order_release);
}

std::string ProbeText::Get() const {
  const size_t bytes = std::min<size_t>(bytes_.load(std::memory_order_acquire), kMaxBytes);
  // It may change while it is looked at.
  return VisibleText(std::string(text_, bytes));
}

void ProbeTelling::End(ProbeEnd end, std::string_view message) {
  message_.Set(message);
  end_.store(static_cast<uint32_t>(end), std::memory_order_release);
}

void ProbeTelling::On(const DeviceFacts& device) {
  name_.Set(device.name);
  driver_.Set(device.driver);
  library_.Set(device.library);
  library_paths_.Set(device.library_paths);
  devices_.fetch_add(1, std::memory_order_release);
}

ProbeEnd ProbeTelling::end() const {
  const uint32_t end = end_.load(std::memory_order_acquire);
  return end > static_cast<uint32_t>(ProbeEnd::kUnclear) ? ProbeEnd::kNone
                                                         : static_cast<ProbeEnd>(end);
}

std::string ProbeTelling::message() const {
  if (end() == ProbeEnd::kNone) return "";
  return message_.Get();
}

ProbeRun ReadTelling(const ProbeTelling& telling) {
  ProbeRun run;
  run.end = telling.end();
  run.call = telling.call();
  run.message = telling.message();
  run.devices = telling.devices();
  run.device = telling.device();
  run.left_out = telling.left_out();
  run.skipped = telling.skipped();
  run.slowest_call = telling.slowest_call();
  run.slowest_ns = telling.slowest_ns();
  if (run.end == ProbeEnd::kNone) run.end = ProbeEnd::kDied;
  return run;
}

Result<ProbeRun> RunProbe(const ProbeLimits& limits, const std::vector<std::string>& arguments,
                          std::span<const std::byte> question) {
  // The question stands behind what is told.
  Result<SharedMemory> memory =
      SharedMemory::Create("cairn-probe", sizeof(ProbeTelling) + question.size());
  if (!memory.ok()) return memory.status();
  const auto* const telling = new (memory->data()) ProbeTelling;
  std::copy(question.begin(), question.end(), memory->data() + sizeof(ProbeTelling));
  const uint64_t start_ns = MonotonicNs();
  Result<Child> child = Child::Start(
      {.purpose = "the probe", .arguments = arguments, .memory = &*memory, .silent = true});
  if (!child.ok()) return child.status();
  const Watched watched = Watch(*child, *telling, limits);
  if (watched != Watched::kEnded) {
    CAIRN_RETURN_IF_ERROR(child->Kill());
    if (!WaitForEnd(*child, limits.kill_timeout_ns)) {
      return Status(StatusCode::kUnsupported,
                    fmt::format("probe process {} cannot be killed: it is stuck in the kernel's "
                                "driver; the machine may need a restart",
                                child->number()));
    }
  }
  ProbeRun run = ReadTelling(*telling);
  Judge(watched, child->End(), &run);
  run.duration_ns = MonotonicNs() - start_ns;
  return run;
}

Status AnswerProbe(const ProbeBody& body) {
  Result<SharedMemory> memory = TakeMemoryOfParent();
  if (!memory.ok()) return memory.status();
  if (memory->size_bytes() < sizeof(ProbeTelling)) {
    return Status(StatusCode::kCorrupt, "the memory of a probe is too small");
  }
  // Its death is expected: nobody wants the memory of each probe on disk.
  LeaveNoDump();
  auto* const telling = std::launder(reinterpret_cast<ProbeTelling*>(memory->data()));
  try {
    body({memory->data() + sizeof(ProbeTelling), memory->size_bytes() - sizeof(ProbeTelling)},
         *telling);
  } catch (const std::exception& error) {
    telling->End(ProbeEnd::kError, error.what());
  }
  std::_Exit(0);
}

}  // namespace cairn
