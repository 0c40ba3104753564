// SPDX-License-Identifier: Apache-2.0
//
// A dispatch of our own that cannot fail: where it does not come to its end, the work before it did
// harm. On some devices a faulting dispatch ends as if nothing were, and the next one hangs.
#ifndef CAIRN_READER_REPLAY_CANARY_H_
#define CAIRN_READER_REPLAY_CANARY_H_

#include <chrono>

#include "base/status.h"
#include "d3d12abi/com_ptr.h"
#include "d3d12abi/one_shot_list.h"
#include "reader/replay/device.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

// One thread.
class Canary {
 public:
  Canary(ID3D12Device* device, const D3D12Library& library) : list_(device), library_(library) {}

  // Dispatches on a direct or compute queue, waits, and looks what was written. Errors: kDeviceLost: it
  // did not end within `limit`, or wrote something else; kUnsupported: it could not be made.
  Status Run(ID3D12CommandQueue* queue, std::chrono::milliseconds limit);
  // Returns the runs with the expected result.
  uint32_t runs() const { return good_runs_; }

 private:
  Status Prepare();

  OneShotList list_;
  const D3D12Library library_;
  ComPtr<ID3D12RootSignature> root_signature_;
  ComPtr<ID3D12PipelineState> pipeline_;
  ComPtr<ID3D12Resource> buffer_;
  uint32_t runs_ = 0;
  uint32_t good_runs_ = 0;
};

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_READER_REPLAY_CANARY_H_
