// SPDX-License-Identifier: Apache-2.0
#include "app/breadcrumbs/d3d12_submitter.h"

#include <fmt/format.h>

#include <thread>

#include "app/breadcrumbs/d3d12_buffers.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

Status WaitForFence(ID3D12Device* device, ID3D12Fence* fence, uint64_t value,
                    std::chrono::milliseconds limit) {
  constexpr std::chrono::microseconds kPollInterval(50);
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (true) {
    // A removed device completes every fence with the largest value there is.
    const uint64_t completed = fence->GetCompletedValue();
    if (completed == UINT64_MAX) {
      return StatusFromHresult(device->GetDeviceRemovedReason(), "the device was removed:");
    }
    if (completed >= value) return {};
    if (std::chrono::steady_clock::now() >= deadline) {
      return {StatusCode::kDeviceLost, fmt::format("the fence shows {} instead of {} after {} ms",
                                                   completed, value, limit.count())};
    }
    std::this_thread::sleep_for(kPollInterval);
  }
}

D3D12Submitter::~D3D12Submitter() {
  if (!abandoned_) return;
  fence_.Detach();
  list_.Detach();
  allocator_.Detach();
  queue_.Detach();
  device_.Detach();
}

Status D3D12Submitter::Create(ID3D12Device* device, D3D12_COMMAND_LIST_TYPE type) {
  device_ = ComPtr<ID3D12Device>(device);
  type_ = type;
  D3D12_COMMAND_QUEUE_DESC desc = {};
  desc.Type = type;
  CAIRN_RETURN_IF_ERROR(StatusFromHresult(
      device->CreateCommandQueue(&desc, __uuidof(ID3D12CommandQueue), queue_.Receive()),
      "CreateCommandQueue"));
  CAIRN_RETURN_IF_ERROR(StatusFromHresult(
      device->CreateCommandAllocator(type, __uuidof(ID3D12CommandAllocator), allocator_.Receive()),
      "CreateCommandAllocator"));
  return StatusFromHresult(
      device->CreateFence(0, D3D12_FENCE_FLAG_NONE, __uuidof(ID3D12Fence), fence_.Receive()),
      "CreateFence");
}

Result<ID3D12GraphicsCommandList*> D3D12Submitter::Begin() {
  const ListOpenScope opening;
  if (!list_) {
    CAIRN_RETURN_IF_ERROR(StatusFromHresult(
        device_->CreateCommandList(0, type_, allocator_.get(), nullptr,
                                   __uuidof(ID3D12GraphicsCommandList), list_.Receive()),
        "CreateCommandList"));
    driver_list_ = opening.list();
    return list_.get();
  }
  CAIRN_RETURN_IF_ERROR(StatusFromHresult(allocator_->Reset(), "ID3D12CommandAllocator::Reset"));
  CAIRN_RETURN_IF_ERROR(StatusFromHresult(list_->Reset(allocator_.get(), nullptr),
                                          "ID3D12GraphicsCommandList::Reset"));
  driver_list_ = opening.list();
  return list_.get();
}

Status D3D12Submitter::Submit(uint32_t execution_count) {
  CAIRN_RETURN_IF_ERROR(StatusFromHresult(list_->Close(), "ID3D12GraphicsCommandList::Close"));
  ID3D12CommandList* const lists[] = {list_.get()};
  for (uint32_t i = 0; i < execution_count; ++i) queue_->ExecuteCommandLists(1, lists);
  return StatusFromHresult(queue_->Signal(fence_.get(), ++submitted_),
                           "ID3D12CommandQueue::Signal");
}

Status D3D12Submitter::Wait(std::chrono::milliseconds limit) {
  Status status = WaitForFence(device_.get(), fence_.get(), submitted_, limit);
  abandoned_ = !status.ok();
  return status;
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
