// SPDX-License-Identifier: Apache-2.0
//
// OneShotList: some commands on somebody's queue, now, with a wait until they are done. For copies to
// and from resources, where speed is of no matter.
#ifndef CAIRN_D3D12ABI_ONE_SHOT_LIST_H_
#define CAIRN_D3D12ABI_ONE_SHOT_LIST_H_

#include <chrono>
#include <cstdint>
#include <optional>

#include "base/status.h"
#include "d3d12abi/com_ptr.h"
#include "d3d12abi/image_formats.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

// kDeviceLost where the result says so, kOutOfMemory, otherwise kUnsupported: "`what` failed with
// 0x80070057".
Status CheckHresult(HRESULT result, const char* what);

// One thread at a time. Its objects are made at first use and used again.
class OneShotList {
 public:
  explicit OneShotList(ID3D12Device* device) : device_(device) {}
  // Leaks objects that a GPU without an answer may still use.
  ~OneShotList();
  OneShotList(const OneShotList&) = delete;
  OneShotList& operator=(const OneShotList&) = delete;

  // An open list for queues of this one's type; Run() comes next, or another Begin().
  Result<ID3D12GraphicsCommandList*> Begin(ID3D12CommandQueue* queue);
  // Closes and executes it, and waits until the GPU is done. Errors: kDeviceLost, also if that
  // takes longer than `limit`; after that Begin() always fails.
  Status Run(ID3D12CommandQueue* queue, std::chrono::milliseconds limit);
  // The same without the wait: the next Begin() or Staging() waits.
  Status Start(ID3D12CommandQueue* queue, std::chrono::milliseconds limit);
  // Waits for what was started last. Errors: as of Run().
  Status AwaitStarted();

  ID3D12Device* device() const { return device_.get(); }
  // A buffer in an upload or readback heap with at least this size, the same one until it is too small.
  // Errors: kOutOfMemory, kUnsupported.
  Result<ID3D12Resource*> Staging(D3D12_HEAP_TYPE type, uint64_t size_bytes);

 private:
  struct StagingBuffer {
    ComPtr<ID3D12Resource> buffer;
    uint64_t size_bytes = 0;
  };

  ComPtr<ID3D12Device> device_;
  D3D12_COMMAND_LIST_TYPE type_ = D3D12_COMMAND_LIST_TYPE_DIRECT;
  ComPtr<ID3D12CommandAllocator> allocator_;
  ComPtr<ID3D12GraphicsCommandList> list_;
  bool open_ = false;
  ComPtr<ID3D12Fence> fence_;
  uint64_t fence_value_ = 0;
  StagingBuffer upload_;
  StagingBuffer readback_;
  std::optional<std::chrono::milliseconds> started_limit_;  // of what nobody has waited for
  bool abandoned_ = false;
};

// Records a transition from `before` to `after` and, with the arguments swapped, back. Records
// nothing where `before` already allows the uses of `after`.
void RecordTransition(ID3D12GraphicsCommandList* list, ID3D12Resource* resource,
                      uint32_t subresource, D3D12_RESOURCE_STATES before,
                      D3D12_RESOURCE_STATES after);

// A buffer that the CPU can map by itself.
bool IsMappable(ID3D12Resource* buffer);

// The layout of a subresource in a buffer.
struct SubresourceLayout {
  D3D12_PLACED_SUBRESOURCE_FOOTPRINT placed = {};  // Offset is 0
  uint32_t row_count = 0;    // of a slice; rows of blocks for compressed formats
  uint64_t row_bytes = 0;    // without padding
  uint64_t total_bytes = 0;  // with padding
  // Without padding.
  uint64_t packed_bytes() const { return row_bytes * row_count * placed.Footprint.Depth; }
};
// Errors: kInvalidArgument: no such subresource; kUnsupported: the implementation cannot copy it (planes
// of depth-stencil formats in libvkd3d).
Result<SubresourceLayout> LayoutOf(ID3D12Device* device, const D3D12_RESOURCE_DESC& desc,
                                   uint32_t subresource);

// Returns the bytes of memory, of these pitches, that WriteToSubresource reads or ReadFromSubresource writes. `box`:
// null for all of the subresource; 0 for an empty one. It is not checked against the subresource.
uint64_t BytesOfBox(const SubresourceLayout& layout, const D3D12_BOX* box, UINT row_pitch,
                    UINT slice_pitch);
bool IsEmpty(const D3D12_BOX& box);

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_D3D12ABI_ONE_SHOT_LIST_H_
