// SPDX-License-Identifier: Apache-2.0
//
// Fences, what waits for them, and devices that stop answering.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>

#include "base/clock.h"
#include "d3d12abi/aggregates.h"
#include "replay/player_impl.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {

constexpr uint64_t kLost = std::numeric_limits<uint64_t>::max();  // what fences of lost devices say

// Polls faster at first: most waits are short, and no implementation can wait with a limit. Who sleeps
// is woken soon on a busy machine, who yields is not.
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

Status PlayerImpl::RememberWait(CallInProgress* call) {
  std::vector<FenceValue> waits;
  if (TreatmentOf(call->method) == Treatment::kAwait) {
    waits.push_back({call->record.object, call->At<UINT64>(0)});
  } else {
    constexpr UINT kAny = 1;                               // D3D12_MULTIPLE_FENCE_WAIT_FLAG_ANY
    if ((call->At<UINT>(3) & kAny) != 0) return Status();  // which one is not known
    auto* const* const fences = call->At<ID3D12Fence**>(0);
    const UINT64* const values = call->At<const UINT64*>(1);
    for (UINT i = 0; i < call->At<UINT>(2); ++i) {
      if (values != nullptr) waits.push_back({objects_.NumberOf(fences[i]), values[i]});
    }
  }
  if (!values_.had_event()) {
    // The call itself waited: so does its result.
    Pending& pending = pending_[call->record.number];
    pending.method = call->method;
    pending.waits = std::move(waits);
    return Status();
  }
  for (const FenceValue& wait : waits) fences_.Await(wait.fence, wait.value);
  return AwaitReachable();
}

Status PlayerImpl::AwaitReachable() {
  for (const FenceValue& wait : fences_.TakeReachable()) {
    CAIRN_RETURN_IF_ERROR(Await(wait.fence, wait.value));
  }
  return Status();
}

Status PlayerImpl::Await(uint64_t fence, uint64_t value) {
  ReplayObject* const object = objects_.Find(fence);
  if (object == nullptr || object->chain != Chain::kID3D12Fence) return Status();
  // Signalled by the program itself, this value is one like any other.
  if (fences_.Reachable(fence, kLost) && object->As<ID3D12Fence>()->GetCompletedValue() == kLost) {
    return Status();
  }
  return WaitFor(object->As<ID3D12Fence>(), value, fmt::format("fence {}", fence));
}

Status PlayerImpl::WaitFor(ID3D12Fence* fence, uint64_t value, const std::string& what,
                           uint64_t since_ns) {
  uint64_t reached = fence->GetCompletedValue();
  WaitTime time(since_ns == 0 ? MonotonicNs() : since_ns, options_.wait_timeout_ns);
  for (Poll poll; reached < value || reached == kLost; reached = fence->GetCompletedValue()) {
    if (poll.now_and_then() || reached == kLost) {
      for (const auto& [number, context] : devices_) {
        CAIRN_RETURN_IF_ERROR(CheckLoss(context.get()));
      }
      if (reached == kLost) {
        return Fail(PlayerFailure::kLost, current_,
                    fmt::format("{} has the value that says that the device is lost", what),
                    StatusCode::kDeviceLost);
      }
      if (Interrupted()) return Status();
    }
    time.Look(MonotonicNs());
    CAIRN_RETURN_IF_ERROR(CheckPunctuality(time, what, fence->GetCompletedValue(), value));
    poll.Next();
  }
  time.Look(MonotonicNs());
  return CheckPunctuality(time, what, reached, value);
}

// A search wants to know what took too long, a playback only what does not end.
Status PlayerImpl::CheckPunctuality(const WaitTime& time, const std::string& what, uint64_t reached,
                                    uint64_t value) {
  const bool ended = reached >= value;
  if (ended && !options_.canary) return Status();
  const double timeout_s = static_cast<double>(options_.wait_timeout_ns) / 1e9;
  switch (PunctualityOf(time, ended, options_.wait_timeout_ns)) {
    case Punctuality::kInTime: break;
    case Punctuality::kTooLate:
      return Fail(PlayerFailure::kHang, current_,
                  ended ? fmt::format("{} took more than {:.7g} s: that is a hang", what, timeout_s)
                        : fmt::format("{} came to {}, not to {}, within {:.7g} s: the GPU hangs",
                                      what, reached, value, timeout_s),
                  StatusCode::kDeviceLost);
    case Punctuality::kUnknown:
      return Fail(
          PlayerFailure::kUnclear, current_,
          fmt::format("{} was waited for {:.3f} s, of which the playback itself ran {:.3f} s: "
                      "whether the GPU took more than {:.7g} s nobody saw; try with less "
                      "load on the machine, or another time-out",
                      what, static_cast<double>(time.passed_ns()) / 1e9,
                      static_cast<double>(time.seen_ns()) / 1e9, timeout_s));
  }
  return Status();
}

Status PlayerImpl::CheckLoss(DeviceContext* context) {
  const HRESULT reason = context->device->GetDeviceRemovedReason();
  if (SUCCEEDED(reason)) return Status();
  return Fail(
      PlayerFailure::kLost, current_,
      fmt::format("the device is lost: GetDeviceRemovedReason says 0x{:08X}; cairn bisect finds "
                  "the call",
                  static_cast<uint32_t>(reason)),
      StatusCode::kDeviceLost);
}

// Asks the queue to say when it has done all that it has.
Status PlayerImpl::AskIdle(uint64_t queue, DeviceContext* context) {
  DeviceContext::Idle& idle = context->queues[queue];
  if (!idle.fence && FAILED(context->device->CreateFence(
                         0, D3D12_FENCE_FLAG_NONE, __uuidof(ID3D12Fence), idle.fence.Receive()))) {
    return Status(StatusCode::kUnsupported, "a fence could not be made");
  }
  auto* const real = objects_.Find(queue)->As<ID3D12CommandQueue>();
  if (FAILED(real->Signal(idle.fence.get(), ++idle.value))) {
    return Status(StatusCode::kUnsupported, "a queue could not signal a fence");
  }
  return Status();
}

Status PlayerImpl::WaitForQueue(uint64_t queue, DeviceContext* context, uint64_t since_ns) {
  // It waits for something that comes later in the trace, or never.
  if (fences_.Blocked(queue)) return Status();
  if (const Status asked = AskIdle(queue, context); !asked.ok()) {
    CAIRN_RETURN_IF_ERROR(CheckLoss(context));
    // There is nothing to wait with, so nobody knows whether the work has ended.
    if (!options_.canary) return Status();
    return Fail(PlayerFailure::kUnclear, current_,
                fmt::format("queue {} cannot be waited for: {}", queue, asked.message()));
  }
  const DeviceContext::Idle& idle = context->queues[queue];
  return WaitFor(idle.fence.get(), idle.value, fmt::format("queue {}", queue), since_ns);
}

Status PlayerImpl::WaitForSubmission(uint64_t queue, DeviceContext* context, uint64_t since_ns) {
  CAIRN_RETURN_IF_ERROR(WaitForQueue(queue, context, since_ns));
  const uint64_t took_ns = MonotonicNs() - since_ns;
  if (!fences_.Blocked(queue) && took_ns > result_.slowest_submission_ns) {
    result_.slowest_submission = current_;
    result_.slowest_submission_ns = took_ns;
  }
  return RunCanary(queue, context);
}

Status PlayerImpl::WaitForDevice(uint64_t device) {
  DeviceContext* const context = ContextOf(device);
  if (context == nullptr) return Status();
  bool all = true;
  for (const auto& [queue, idle] : context->queues) {
    all = all && !fences_.Blocked(queue);
    CAIRN_RETURN_IF_ERROR(WaitForQueue(queue, context));
  }
  if (!all || result_.interrupted) return Status();
  context->busy = false;
  context->ended.clear();
  context->batches.clear();
  return Status();
}

Status PlayerImpl::WaitForDevices() {
  for (const auto& [number, context] : devices_) CAIRN_RETURN_IF_ERROR(WaitForDevice(number));
  return Status();
}

bool PlayerImpl::Settle() {
  constexpr uint64_t kMostNs = uint64_t{5} * 1'000'000'000;
  const uint64_t limit_ns = std::min(options_.wait_timeout_ns, kMostNs);
  const uint64_t start_ns = MonotonicNs();
  for (const auto& [number, context] : devices_) {
    for (const auto& [queue, idle] : context->queues) {
      // What waits for something that never comes does not run.
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

bool PlayerImpl::AnyBlocked(const DeviceContext& context) const {
  return std::any_of(context.queues.begin(), context.queues.end(),
                     [&](const auto& entry) { return fences_.Blocked(entry.first); });
}

// Gives back what the GPU cannot use any longer.
Status PlayerImpl::SweepEnded(DeviceContext* context) {
  constexpr size_t kMostBatches = 16;
  if (!context->ended.empty()) {
    DeviceContext::Ended batch;
    batch.objects = std::move(context->ended);
    context->ended.clear();
    for (auto& [queue, idle] : context->queues) {
      if (!AskIdle(queue, context).ok()) return CheckLoss(context);
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
      CAIRN_RETURN_IF_ERROR(WaitFor(fence.get(), value, "a queue"));
    }
    context->batches.pop_front();
  }
  return Status();
}

Result<ID3D12CommandQueue*> PlayerImpl::OwnQueue(DeviceContext* context) {
  if (!context->queue) {
    D3D12_COMMAND_QUEUE_DESC desc = {};
    desc.Type = D3D12_COMMAND_LIST_TYPE_DIRECT;
    const HRESULT result = context->device->CreateCommandQueue(&desc, __uuidof(ID3D12CommandQueue),
                                                               context->queue.Receive());
    CAIRN_RETURN_IF_ERROR(CheckHresult(result, "CreateCommandQueue of a queue for copies"));
  }
  return context->queue.get();
}

// A fault may surface one dispatch late: then this one does not come to its end. It runs where the
// submission ran, if that queue can dispatch and does not wait for something that comes later.
Status PlayerImpl::RunCanary(uint64_t submitted_to, DeviceContext* context) {
  auto* const real = objects_.Find(submitted_to)->As<ID3D12CommandQueue>();
  const D3D12_COMMAND_LIST_TYPE type = GetDesc(real).Type;
  const bool here = !fences_.Blocked(submitted_to) && (type == D3D12_COMMAND_LIST_TYPE_DIRECT ||
                                                       type == D3D12_COMMAND_LIST_TYPE_COMPUTE);
  Result<ID3D12CommandQueue*> queue = here ? Result<ID3D12CommandQueue*>(real) : OwnQueue(context);
  Status status = queue.status();
  if (status.ok()) {
    if (context->canary == nullptr) {
      context->canary = std::make_unique<Canary>(context->device.get(), library_);
    }
    status = context->canary->Run(*queue,
                                  std::chrono::milliseconds(options_.wait_timeout_ns / 1'000'000));
  }
  if (status.ok()) return Status();
  CAIRN_RETURN_IF_ERROR(CheckLoss(context));
  if (status.code() != StatusCode::kDeviceLost) {
    // What this implementation never can is known from the first time.
    const bool never = status.code() != StatusCode::kOutOfMemory &&
                       (context->canary == nullptr || context->canary->runs() == 0);
    if (!never) {
      return Fail(PlayerFailure::kUnclear, current_,
                  "a canary after this submission could not be made: " + status.message());
    }
    Note("no canary after submissions: " + status.message());
    return Status();
  }
  return Fail(PlayerFailure::kHang, current_,
              "the canary after this submission did not come to its end: " + status.message(),
              StatusCode::kDeviceLost);
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
