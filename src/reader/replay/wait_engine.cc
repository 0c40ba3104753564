// SPDX-License-Identifier: Apache-2.0
#include "reader/replay/wait_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>

#include "d3d12abi/aggregates.h"
#include "os/clock.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {

// The value of fences of lost devices; a program may set that value, too.
constexpr uint64_t kLost = std::numeric_limits<uint64_t>::max();

// Polls faster at first: most waits are short, and no implementation can wait with a limit. On a
// busy machine a thread that sleeps is woken soon, one that yields is not.
class Poll {
 public:
  void Next() {
    constexpr uint32_t kAtOnce = 32;
    constexpr uint32_t kShort = 1000;
    if (++polls_ < kAtOnce) return;
    std::this_thread::sleep_for(std::chrono::microseconds(polls_ < kShort ? 20 : 500));
  }
  bool now_and_then() const { return polls_ % 128 == 0; }

 private:
  uint32_t polls_ = 0;
};

}  // namespace

bool WaitEngine::Awaited::Reached(uint64_t now) const {
  return now >= value && (now != kLost || may_be_most);
}

// Finds out if all queues that are not waiting have done their work: enqueues a signal once and
// checks it later.
class WaitEngine::IdleQueues {
 public:
  explicit IdleQueues(WaitEngine* engine) : engine_(engine) {}

  bool Look() {
    if (!asked_) Ask();
    return !unknown_ && std::all_of(until_.begin(), until_.end(), [](const auto& entry) {
      return entry.first->GetCompletedValue() >= entry.second;
    });
  }

 private:
  void Ask() {
    asked_ = true;
    for (const auto& [number, context] : engine_->devices_->all()) {
      if (context->lost) continue;
      for (const auto& [queue, idle] : context->queues) {
        if (engine_->fences_.Blocked(queue)) continue;
        if (!engine_->AskIdle(queue, context.get()).ok()) {
          unknown_ = true;
        } else {
          until_.emplace_back(context->queues[queue].fence, context->queues[queue].value);
        }
      }
    }
  }

  WaitEngine* const engine_;
  bool asked_ = false;
  bool unknown_ = false;
  std::vector<std::pair<ComPtr<ID3D12Fence>, uint64_t>> until_;
};

Status WaitEngine::AwaitWhenReachable(const std::vector<FenceValue>& any) {
  if (!fences_.Await(any)) {
    log_->LeaveOut(log_->record(),
                   fmt::format("a wait for fence {}: {} values are waited for already",
                               any.front().fence, FenceModel::kMostAwaited));
  }
  return AwaitReachable();
}

Status WaitEngine::AwaitReachable() {
  for (const std::vector<FenceValue>& any : fences_.TakeReachable()) {
    CAIRN_RETURN_IF_ERROR(Await(any));
  }
  return Status();
}

Status WaitEngine::Await(std::span<const FenceValue> any) {
  std::vector<Awaited> awaited;
  for (const FenceValue& wait : any) {
    ReplayObject* const object = objects_->Find(wait.fence);
    // A fence that is not here may be the one that was signalled.
    if (object == nullptr || object->chain != Chain::kID3D12Fence) return Status();
    awaited.push_back({object->As<ID3D12Fence>(), wait.fence, wait.value,
                       devices_->Find(object->device), fences_.Reachable(wait.fence, kLost)});
  }
  if (awaited.empty()) return Status();
  return WaitFor(awaited, fmt::format("fence {}", awaited.front().number));
}

// Sets `over` if the awaited value can no longer come. A fence with kLost means that the device
// must be lost.
Status WaitEngine::LookForLoss(std::span<const Awaited> any, const std::string& what, bool* over) {
  CAIRN_RETURN_IF_ERROR(devices_->CheckLosses());
  for (const Awaited& awaited : any) {
    DeviceContext* const context = awaited.context;
    const bool says_lost = !awaited.may_be_most && awaited.fence->GetCompletedValue() == kLost;
    if (says_lost && context != nullptr && !context->lost) {
      CAIRN_RETURN_IF_ERROR(devices_->Lose(
          context, fmt::format("{} has the value that says that the device is lost", what)));
    }
    *over = *over || (context != nullptr && context->lost);
  }
  *over = *over || log_->Interrupted();
  return Status();
}

// Gives up: no remaining GPU work can bring these values.
void WaitEngine::GiveUp(std::span<const Awaited> any) {
  for (const Awaited& awaited : any) {
    const uint64_t reached = awaited.fence->GetCompletedValue();
    log_->LeaveOut(log_->record(),
                   fmt::format("a wait for fence {}: it reached {}, not {}, when all queues "
                               "had finished",
                               awaited.number, reached, awaited.value));
    fences_.Correct(awaited.number, reached);
  }
}

Status WaitEngine::WaitFor(std::span<const Awaited> any, const std::string& what,
                           uint64_t since_ns) {
  constexpr uint64_t kPatienceNs = 1'000'000'000;
  const uint64_t patience_ns = std::min(kPatienceNs, options_.wait_timeout_ns / 2);
  const uint64_t start_ns = MonotonicNs();
  WaitTime time(since_ns == 0 ? start_ns : since_ns, options_.wait_timeout_ns);
  const Awaited* reached = nullptr;
  const auto look = [&] {
    for (const Awaited& awaited : any) {
      if (reached == nullptr && awaited.Reached(awaited.fence->GetCompletedValue())) {
        reached = &awaited;
      }
    }
    return reached != nullptr;
  };
  IdleQueues idle(this);
  uint32_t idle_looks = 0;
  for (Poll poll; !look(); poll.Next()) {
    const Awaited& first = any.front();
    if (poll.now_and_then() || first.fence->GetCompletedValue() == kLost) {
      bool over = false;
      CAIRN_RETURN_IF_ERROR(LookForLoss(any, what, &over));
      if (over) return Status();
      // Signals of a queue arrive in their order, but not at one moment.
      const bool can_give_up = !options_.canary && first.number != kNoObject;
      if (can_give_up && MonotonicNs() - start_ns > patience_ns && idle.Look() &&
          ++idle_looks > 2 && !look()) {
        GiveUp(any);
        return Status();
      }
    }
    time.Look(MonotonicNs());
    CAIRN_RETURN_IF_ERROR(CheckPunctuality(time, what, first));
  }
  if (reached->number != kNoObject) unfinished_.Reached(reached->number, reached->value);
  time.Look(MonotonicNs());
  return CheckPunctuality(time, what, *reached);
}

uint64_t WaitEngine::LimitNs() const {
  constexpr uint64_t kTimesRecorded = 3;
  // The limit for recorded times, which may be forged.
  constexpr uint64_t kMostNs = uint64_t{600} * 1'000'000'000;
  if (!options_.wait_as_recorded || options_.canary) return options_.wait_timeout_ns;
  return std::max(options_.wait_timeout_ns,
                  std::min(recorded_frame_ns_(), kMostNs / kTimesRecorded) * kTimesRecorded);
}

// A search wants to know what took too long, a playback only what does not end.
Status WaitEngine::CheckPunctuality(const WaitTime& time, const std::string& what,
                                    const Awaited& awaited) {
  const uint64_t reached = awaited.fence->GetCompletedValue();
  const bool ended = awaited.Reached(reached);
  if (ended && !options_.canary) return Status();
  uint64_t limit_ns = options_.wait_timeout_ns;
  if (PunctualityOf(time, ended, limit_ns) == Punctuality::kTooLate) limit_ns = LimitNs();
  const double timeout_s = static_cast<double>(limit_ns) / 1e9;
  switch (PunctualityOf(time, ended, limit_ns)) {
    case Punctuality::kInTime: break;
    case Punctuality::kTooLate:
      return log_->Fail(
          PlayerFailure::kHang, log_->record(),
          ended ? fmt::format("{} took more than {:.7g} s: that is a hang", what, timeout_s)
                : fmt::format("{} reached {}, not {}, within {:.7g} s: the GPU hangs", what,
                              reached, awaited.value, timeout_s),
          StatusCode::kDeviceLost);
    case Punctuality::kUnknown:
      return log_->Fail(
          PlayerFailure::kUnclear, log_->record(),
          fmt::format(
              "{} was waited for {:.3f} s, in which the playback itself ran for only {:.3f} "
              "s: it cannot tell whether the GPU took more than {:.7g} s; try with less "
              "load on the machine, or a longer time-out",
              what, static_cast<double>(time.passed_ns()) / 1e9,
              static_cast<double>(time.seen_ns()) / 1e9, timeout_s));
  }
  return Status();
}

// Asks the queue to say when it has done all that it has.
Status WaitEngine::AskIdle(uint64_t queue, DeviceContext* context) {
  DeviceContext::Idle& idle = context->queues[queue];
  if (!idle.fence && FAILED(context->device->CreateFence(
                         0, D3D12_FENCE_FLAG_NONE, __uuidof(ID3D12Fence), idle.fence.Receive()))) {
    return Status(StatusCode::kUnsupported, "a fence could not be made");
  }
  auto* const real = objects_->Find(queue)->As<ID3D12CommandQueue>();
  if (FAILED(real->Signal(idle.fence.get(), ++idle.value))) {
    return Status(StatusCode::kUnsupported, "a queue could not signal a fence");
  }
  return Status();
}

Status WaitEngine::WaitForQueue(uint64_t queue, DeviceContext* context, uint64_t since_ns) {
  // The queue waits for a value that comes later in the trace, or never.
  if (fences_.Blocked(queue) || context->lost) return Status();
  if (const Status asked = AskIdle(queue, context); !asked.ok()) {
    CAIRN_RETURN_IF_ERROR(devices_->CheckLoss(context));
    // The end of the work cannot be found out without a fence.
    if (!options_.canary) return Status();
    return log_->Fail(PlayerFailure::kUnclear, log_->record(),
                      fmt::format("queue {} cannot be waited for: {}", queue, asked.message()));
  }
  const DeviceContext::Idle& idle = context->queues[queue];
  const Awaited awaited = {idle.fence.get(), kNoObject, idle.value, context};
  CAIRN_RETURN_IF_ERROR(WaitFor({&awaited, 1}, fmt::format("queue {}", queue), since_ns));
  if (!context->lost && !log_->result().interrupted) unfinished_.Idle(queue);
  return Status();
}

Status WaitEngine::WaitForSubmission(uint64_t queue, DeviceContext* context, uint64_t since_ns) {
  CAIRN_RETURN_IF_ERROR(WaitForQueue(queue, context, since_ns));
  const uint64_t took_ns = MonotonicNs() - since_ns;
  if (!fences_.Blocked(queue) && took_ns > log_->result().slowest_submission_ns) {
    log_->result().slowest_submission = log_->record();
    log_->result().slowest_submission_ns = took_ns;
  }
  return RunCanary(queue, context);
}

Status WaitEngine::WaitForDevice(uint64_t device) {
  DeviceContext* const context = devices_->Find(device);
  if (context == nullptr || context->lost) return Status();
  bool all = true;
  for (const auto& [queue, idle] : context->queues) {
    all = all && !fences_.Blocked(queue);
    CAIRN_RETURN_IF_ERROR(WaitForQueue(queue, context));
  }
  if (!all || log_->result().interrupted || context->lost) return Status();
  context->ended.clear();
  context->batches.clear();
  return Status();
}

Status WaitEngine::WaitForDevices() {
  for (const auto& [number, context] : devices_->all())
    CAIRN_RETURN_IF_ERROR(WaitForDevice(number));
  return Status();
}

bool WaitEngine::Settle() {
  constexpr uint64_t kMostNs = uint64_t{5} * 1'000'000'000;
  const uint64_t limit_ns = std::min(options_.wait_timeout_ns, kMostNs);
  const uint64_t start_ns = MonotonicNs();
  for (const auto& [number, context] : devices_->all()) {
    if (context->lost) return false;
    for (const auto& [queue, idle] : context->queues) {
      // A queue that waits for a value that never comes does not run.
      if (fences_.Blocked(queue)) continue;
      if (!AskIdle(queue, context.get()).ok()) return false;
      for (Poll poll; idle.fence->GetCompletedValue() < idle.value; poll.Next()) {
        if (MonotonicNs() - start_ns > limit_ns) return false;
      }
      if (idle.fence->GetCompletedValue() == kLost) return false;
    }
  }
  return true;
}

bool WaitEngine::AnyBlocked() const {
  const auto& all = devices_->all();
  return std::any_of(all.begin(), all.end(),
                     [&](const auto& entry) { return AnyBlocked(*entry.second); });
}

bool WaitEngine::AnyBlocked(const DeviceContext& context) const {
  return std::any_of(context.queues.begin(), context.queues.end(),
                     [&](const auto& entry) { return fences_.Blocked(entry.first); });
}

// Gives back what the GPU cannot use any longer.
Status WaitEngine::SweepEnded(DeviceContext* context) {
  constexpr size_t kMostBatches = 16;
  if (context->lost) return Status();
  if (!context->ended.empty()) {
    DeviceContext::Ended batch;
    batch.objects = std::move(context->ended);
    context->ended.clear();
    for (auto& [queue, idle] : context->queues) {
      if (!AskIdle(queue, context).ok()) return devices_->CheckLoss(context);
      batch.until.emplace_back(idle.fence, idle.value);
    }
    context->batches.push_back(std::move(batch));
  }
  while (!context->batches.empty()) {
    const DeviceContext::Ended& oldest = context->batches.front();
    for (const auto& [fence, value] : oldest.until) {
      if (fence->GetCompletedValue() >= value) continue;
      // A queue that waits for what comes later in the trace would be waited for in vain.
      if (context->batches.size() <= kMostBatches || AnyBlocked(*context)) return Status();
      const Awaited awaited = {fence.get(), kNoObject, value, context};
      CAIRN_RETURN_IF_ERROR(WaitFor({&awaited, 1}, "a queue"));
      if (context->lost) return Status();
    }
    context->batches.pop_front();
  }
  return Status();
}

// A fault may surface one dispatch late: then this one does not come to its end. It runs where the
// submission ran, if that queue can dispatch and does not wait for something that comes later.
Status WaitEngine::RunCanary(uint64_t submitted_to, DeviceContext* context) {
  auto* const real = objects_->Find(submitted_to)->As<ID3D12CommandQueue>();
  const D3D12_COMMAND_LIST_TYPE type = GetDesc(real).Type;
  const bool here = !fences_.Blocked(submitted_to) && (type == D3D12_COMMAND_LIST_TYPE_DIRECT ||
                                                       type == D3D12_COMMAND_LIST_TYPE_COMPUTE);
  Result<ID3D12CommandQueue*> queue =
      here ? Result<ID3D12CommandQueue*>(real) : context->OwnQueue();
  Status status = queue.status();
  if (status.ok()) {
    if (context->canary == nullptr) {
      context->canary = std::make_unique<Canary>(context->device.get(), library_);
    }
    status = context->canary->Run(*queue,
                                  std::chrono::milliseconds(options_.wait_timeout_ns / 1'000'000));
  }
  if (status.ok()) return Status();
  CAIRN_RETURN_IF_ERROR(devices_->CheckLoss(context));
  if (status.code() != StatusCode::kDeviceLost) {
    // A canary that this implementation never supports fails the first time.
    const bool never = status.code() != StatusCode::kOutOfMemory &&
                       (context->canary == nullptr || context->canary->runs() == 0);
    if (!never) {
      return log_->Fail(PlayerFailure::kUnclear, log_->record(),
                        "a canary after this submission could not be made: " + status.message());
    }
    log_->Note("no canary after submissions: " + status.message());
    return Status();
  }
  return log_->Fail(PlayerFailure::kHang, log_->record(),
                    "the canary after this submission did not come to its end: " + status.message(),
                    StatusCode::kDeviceLost);
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
