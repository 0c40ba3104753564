// SPDX-License-Identifier: Apache-2.0
//
// Fences, what waits for them, and devices that stop answering.
#include <fmt/format.h>

#include <chrono>
#include <limits>
#include <thread>

#include "base/clock.h"
#include "replay/player_impl.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {

constexpr uint64_t kLost = std::numeric_limits<uint64_t>::max();  // what fences of lost devices say

// Polls faster at first: most waits are short, and no implementation can wait with a limit.
class Poll {
 public:
  void Next() {
    if (++polls_ < 200) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(polls_ < 2000 ? 20 : 500));
    }
  }
  bool now_and_then() const { return polls_ % 256 == 255; }

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
  return WaitFor(object->As<ID3D12Fence>(), value, fmt::format("fence {}", fence));
}

Status PlayerImpl::WaitFor(ID3D12Fence* fence, uint64_t value, const std::string& what) {
  uint64_t reached = fence->GetCompletedValue();
  if (reached >= value && reached != kLost) return Status();
  const uint64_t start_ns = MonotonicNs();
  for (Poll poll; reached < value || reached == kLost; reached = fence->GetCompletedValue()) {
    if (poll.now_and_then() || reached == kLost) {
      for (const auto& [number, context] : devices_) {
        CAIRN_RETURN_IF_ERROR(CheckLoss(context.get()));
      }
      if (reached == kLost) return Status();
      if (Interrupted()) return Status();
      if (MonotonicNs() - start_ns > options_.wait_timeout_ns) {
        return Fail(
            PlayerFailure::kHang, current_,
            fmt::format("{} came to {}, not to {}, within {:.1f} s: the GPU hangs", what, reached,
                        value, static_cast<double>(options_.wait_timeout_ns) / 1e9),
            StatusCode::kDeviceLost);
      }
    }
    poll.Next();
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

Status PlayerImpl::WaitForQueue(ReplayObject* queue) {
  // It waits for something that comes later in the trace, or never.
  if (fences_.Blocked(queue->number)) return Status();
  DeviceContext* const context = ContextOf(queue->device);
  if (context == nullptr) return Status();
  if (!context->idle_fence &&
      FAILED(context->device->CreateFence(0, D3D12_FENCE_FLAG_NONE, __uuidof(ID3D12Fence),
                                          context->idle_fence.Receive()))) {
    return CheckLoss(context);
  }
  const uint64_t value = ++context->idle_value;
  if (FAILED(queue->As<ID3D12CommandQueue>()->Signal(context->idle_fence.get(), value))) {
    return CheckLoss(context);
  }
  return WaitFor(context->idle_fence.get(), value, fmt::format("queue {}", queue->number));
}

Status PlayerImpl::WaitForDevice(uint64_t device) {
  for (const auto& [number, object] : objects_.all()) {
    if (object->chain != Chain::kID3D12CommandQueue || object->device != device) continue;
    CAIRN_RETURN_IF_ERROR(WaitForQueue(object.get()));
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

// A fault may surface one dispatch late: then this one does not come to its end.
Status PlayerImpl::RunCanary(uint64_t device) {
  DeviceContext* const context = ContextOf(device);
  if (context == nullptr) return Status();
  Result<ID3D12CommandQueue*> queue = OwnQueue(context);
  Status status = queue.status();
  if (status.ok()) {
    if (context->canary == nullptr) {
      context->canary = std::make_unique<Canary>(context->device.get(), library_);
    }
    status = context->canary->Run(*queue,
                                  std::chrono::milliseconds(options_.wait_timeout_ns / 1'000'000));
  }
  if (status.ok()) return Status();
  if (status.code() != StatusCode::kDeviceLost) {
    Note("no canary after submissions: " + status.message());
    return Status();
  }
  CAIRN_RETURN_IF_ERROR(CheckLoss(context));
  return Fail(PlayerFailure::kHang, current_,
              "the canary after this submission did not come to its end: " + status.message(),
              StatusCode::kDeviceLost);
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
