// SPDX-License-Identifier: Apache-2.0
#include "reader/replay/replay_devices.h"

#include <fmt/format.h>

#include <chrono>

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

Result<ID3D12CommandQueue*> DeviceContext::OwnQueue() {
  if (!queue_) {
    D3D12_COMMAND_QUEUE_DESC desc = {};
    desc.Type = D3D12_COMMAND_LIST_TYPE_DIRECT;
    const HRESULT result =
        device->CreateCommandQueue(&desc, __uuidof(ID3D12CommandQueue), queue_.Receive());
    CAIRN_RETURN_IF_ERROR(CheckHresult(result, "CreateCommandQueue of a queue for copies"));
  }
  return queue_.get();
}

TextureReadback& DeviceContext::Readback() {
  if (readback_ == nullptr) {
    readback_ = std::make_unique<TextureReadback>(
        device.get(), std::chrono::milliseconds(wait_timeout_ns / 1'000'000));
  }
  return *readback_;
}

DeviceContext* ReplayDevices::Add(uint64_t number, ComPtr<ID3D12Device> device) {
  recent_.Forget(number);
  std::unique_ptr<DeviceContext>& context = devices_[number];
  context = std::make_unique<DeviceContext>();
  context->number = number;
  context->device = std::move(device);
  context->wait_timeout_ns = options_.wait_timeout_ns;
  return context.get();
}

bool ReplayDevices::Remove(uint64_t number) {
  const auto found = devices_.find(number);
  if (found == devices_.end()) return false;
  const bool lost = found->second->lost;
  if (lost) (void)found->second.release();
  recent_.Forget(number);
  devices_.erase(found);
  return lost;
}

void ReplayDevices::Abandon() {
  for (auto& [number, context] : devices_) (void)context.release();
  recent_.Clear();
  devices_.clear();
}

DeviceContext* ReplayDevices::LookUp(uint64_t number) {
  const auto found = devices_.find(number);
  return found == devices_.end() ? nullptr : recent_.Keep(number, found->second.get());
}

Status ReplayDevices::CheckLoss(DeviceContext* context) {
  if (context->lost) return Status();
  const HRESULT reason = context->device->GetDeviceRemovedReason();
  if (SUCCEEDED(reason)) return Status();
  return Lose(
      context,
      fmt::format("the device is lost: GetDeviceRemovedReason says 0x{:08X}; cairn bisect finds "
                  "the call",
                  static_cast<uint32_t>(reason)));
}

Status ReplayDevices::CheckLosses() {
  for (const auto& [number, context] : devices_) CAIRN_RETURN_IF_ERROR(CheckLoss(context.get()));
  return Status();
}

// Others may follow: a suite of tests makes a device for each, and some are about devices that are lost.
Status ReplayDevices::Lose(DeviceContext* context, const std::string& what) {
  if (options_.canary) {
    return log_->Fail(PlayerFailure::kLost, log_->record(), what, StatusCode::kDeviceLost);
  }
  if (std::exchange(context->lost, true)) return Status();
  for (const auto& [number, other] : devices_) {
    if (other.get() == context) losses_[number] = {log_->record(), what};
  }
  return Status();
}

Status ReplayDevices::Judge() {
  for (const auto& [device, loss] : losses_) {
    if (recorded_.contains(device)) continue;
    return log_->Fail(PlayerFailure::kLost, loss.record, loss.what, StatusCode::kDeviceLost);
  }
  return Status();
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
