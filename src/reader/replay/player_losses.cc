// SPDX-License-Identifier: Apache-2.0
//
// Devices that are lost.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "reader/replay/player_impl.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

Status PlayerImpl::CheckLoss(DeviceContext* context) {
  if (context->lost) return Status();
  const HRESULT reason = context->device->GetDeviceRemovedReason();
  if (SUCCEEDED(reason)) return Status();
  return LoseDevice(
      context,
      fmt::format("the device is lost: GetDeviceRemovedReason says 0x{:08X}; cairn bisect finds "
                  "the call",
                  static_cast<uint32_t>(reason)));
}

Status PlayerImpl::CheckLosses() {
  for (const auto& [number, context] : devices_) CAIRN_RETURN_IF_ERROR(CheckLoss(context.get()));
  return Status();
}

// Others may follow: a suite of tests makes a device for each, and some are about devices that are lost.
Status PlayerImpl::LoseDevice(DeviceContext* context, const std::string& what) {
  if (options_.canary) {
    return log_.Fail(PlayerFailure::kLost, log_.record(), what, StatusCode::kDeviceLost);
  }
  if (std::exchange(context->lost, true)) return Status();
  for (const auto& [number, other] : devices_) {
    if (other.get() == context) losses_[number] = {log_.record(), what};
  }
  return Status();
}

// The program gives the device up. An implementation that takes it at its word does nothing for it any more, here
// as there; others do as if nothing had been said.
Status PlayerImpl::RemoveDevice(CallInProgress* call, void* target) {
  // The program may still read results of the work that the GPU has by now.
  CAIRN_RETURN_IF_ERROR(WaitForDevice(call->record.object));
  DeviceContext* const context = ContextOf(call->record.object);
  if (context == nullptr || context->lost || log_.result().interrupted) return Status();
  CAIRN_RETURN_IF_ERROR(Make(call, target));
  if (SUCCEEDED(context->device->GetDeviceRemovedReason())) return Status();
  recorded_losses_.insert(call->record.object);
  context->lost = true;
  return Status();
}

// Results that say that a device is lost.
void PlayerImpl::NoteRecordedLoss(const Record& record, HRESULT recorded) {
  constexpr HRESULT kLosses[] = {DXGI_ERROR_DEVICE_REMOVED, DXGI_ERROR_DEVICE_HUNG,
                                 DXGI_ERROR_DEVICE_RESET};
  const bool asked =
      trace_->MethodOf(record) == Method::ID3D12Device_GetDeviceRemovedReason && FAILED(recorded);
  if (!asked && std::find(std::begin(kLosses), std::end(kLosses), recorded) == std::end(kLosses)) {
    return;
  }
  const ReplayObject* const object = objects_.Find(record.object);
  if (object == nullptr) return;
  recorded_losses_.insert(object->chain == Chain::kID3D12Device ? object->number : object->device);
}

Status PlayerImpl::JudgeLosses() {
  for (const auto& [device, loss] : losses_) {
    if (recorded_losses_.contains(device)) continue;
    return log_.Fail(PlayerFailure::kLost, loss.record, loss.what, StatusCode::kDeviceLost);
  }
  return Status();
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
