// SPDX-License-Identifier: Apache-2.0
//
// A queue of our own, to run one short list after the other and wait for each: for the self-test,
// which must not disturb the application's queues.
#ifndef CAIRN_APP_BREADCRUMBS_D3D12_SUBMITTER_H_
#define CAIRN_APP_BREADCRUMBS_D3D12_SUBMITTER_H_

#include <chrono>
#include <cstdint>

#include "app/breadcrumbs/driver_half.h"
#include "base/status.h"
#include "d3d12abi/com_ptr.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

// Waits until the fence's value is at least `value`, looking at it again and again: an event handle
// would be something of the operating system. kDeviceLost if the limit passes or the device says so.
Status WaitForFence(ID3D12Device* device, ID3D12Fence* fence, uint64_t value,
                    std::chrono::milliseconds limit);

class D3D12Submitter {
 public:
  D3D12Submitter() = default;
  D3D12Submitter(const D3D12Submitter&) = delete;
  D3D12Submitter& operator=(const D3D12Submitter&) = delete;
  // Leaks the objects after a failed wait, because the GPU may still be using them.
  ~D3D12Submitter();

  Status Create(ID3D12Device* device, D3D12_COMMAND_LIST_TYPE type);

  // The list, open for recording.
  Result<ID3D12GraphicsCommandList*> Begin();
  // Closes the list, executes it `execution_count` times and returns at once.
  Status Submit(uint32_t execution_count = 1);
  // Waits for everything submitted.
  Status Wait(std::chrono::milliseconds limit);

  ID3D12CommandQueue* queue() const { return queue_.get(); }
  // Returns the result of the last Begin().
  ID3D12GraphicsCommandList* list() const { return list_.get(); }
  D3D12_COMMAND_LIST_TYPE type() const { return type_; }
  // Returns where the Vulkan layer records the list's commands, as it saw Begin().
  const DriverList& driver_list() const { return driver_list_; }
  // Everything submitted so far has finished.
  bool Finished() const { return fence_->GetCompletedValue() >= submitted_; }

 private:
  ComPtr<ID3D12Device> device_;
  D3D12_COMMAND_LIST_TYPE type_ = D3D12_COMMAND_LIST_TYPE_DIRECT;
  ComPtr<ID3D12CommandQueue> queue_;
  ComPtr<ID3D12CommandAllocator> allocator_;
  ComPtr<ID3D12GraphicsCommandList> list_;
  ComPtr<ID3D12Fence> fence_;
  DriverList driver_list_;
  uint64_t submitted_ = 0;
  bool abandoned_ = false;
};

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_APP_BREADCRUMBS_D3D12_SUBMITTER_H_
