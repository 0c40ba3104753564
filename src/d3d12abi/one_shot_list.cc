// SPDX-License-Identifier: Apache-2.0
#include "d3d12abi/one_shot_list.h"

#include <algorithm>
#include <cstdio>
#include <string>
#include <thread>

#include "d3d12abi/aggregates.h"
#include "d3d12abi/buffer_desc.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {
namespace {

constexpr uint32_t kDeviceRemoved = 0x887A0005;
constexpr uint32_t kDeviceHung = 0x887A0006;
constexpr uint32_t kDeviceReset = 0x887A0007;
constexpr uint64_t kLargestDimension = 1u << 16;

Status WaitFor(ID3D12Device* device, ID3D12Fence* fence, uint64_t value,
               std::chrono::milliseconds limit) {
  // Only the maker of the device knows the type of events: with vkd3d_create_device it is unknown
  // here. So poll.
  constexpr std::chrono::microseconds kPollInterval(50);
  // While this process does not run (stopped, suspended) the time does not count: no more than a quarter of the
  // limit between two looks.
  using Time = std::chrono::steady_clock::duration;
  const Time most = std::clamp<Time>(Time(limit) / 4, Time(1), std::chrono::milliseconds(250));
  auto last = std::chrono::steady_clock::now();
  Time seen{};
  while (true) {
    const uint64_t completed = fence->GetCompletedValue();
    if (completed == UINT64_MAX) {
      CAIRN_RETURN_IF_ERROR(
          CheckHresult(device->GetDeviceRemovedReason(), "the device was lost: it"));
      return {StatusCode::kDeviceLost, "the device was lost"};
    }
    if (completed >= value) return {};
    const auto now = std::chrono::steady_clock::now();
    seen += std::min<Time>(now - last, most);
    last = now;
    if (seen >= limit) {
      return {StatusCode::kDeviceLost,
              "the GPU did not finish a copy within " + std::to_string(limit.count()) + " ms"};
    }
    std::this_thread::sleep_for(kPollInterval);
  }
}

}  // namespace

Status CheckHresult(HRESULT result, const char* what) {
  if (SUCCEEDED(result)) return {};
  const auto value = static_cast<uint32_t>(result);
  char text[160];
  std::snprintf(text, sizeof(text), "%s failed with 0x%08x", what, value);
  StatusCode code = StatusCode::kUnsupported;
  if (value == kDeviceRemoved || value == kDeviceHung || value == kDeviceReset) {
    code = StatusCode::kDeviceLost;
  } else if (result == E_OUTOFMEMORY) {
    code = StatusCode::kOutOfMemory;
  }
  return {code, text};
}

OneShotList::~OneShotList() {
  (void)AwaitStarted();
  if (!abandoned_) return;
  readback_.buffer.Detach();
  upload_.buffer.Detach();
  fence_.Detach();
  list_.Detach();
  allocator_.Detach();
  device_.Detach();
}

Result<ID3D12GraphicsCommandList*> OneShotList::Begin(ID3D12CommandQueue* queue) {
  if (abandoned_) return Status(StatusCode::kDeviceLost, "the GPU did not finish an earlier copy");
  CAIRN_RETURN_IF_ERROR(AwaitStarted());
  if (open_) {
    open_ = false;
    CAIRN_RETURN_IF_ERROR(CheckHresult(list_->Close(), "ID3D12GraphicsCommandList::Close"));
  }
  const D3D12_COMMAND_LIST_TYPE type = GetDesc(queue).Type;
  if (!fence_) {
    CAIRN_RETURN_IF_ERROR(CheckHresult(
        device_->CreateFence(0, D3D12_FENCE_FLAG_NONE, __uuidof(ID3D12Fence), fence_.Receive()),
        "ID3D12Device::CreateFence"));
  }
  if (list_ && type_ == type) {
    CAIRN_RETURN_IF_ERROR(CheckHresult(allocator_->Reset(), "ID3D12CommandAllocator::Reset"));
    CAIRN_RETURN_IF_ERROR(
        CheckHresult(list_->Reset(allocator_.get(), nullptr), "ID3D12GraphicsCommandList::Reset"));
  } else {
    list_ = {};
    type_ = type;
    CAIRN_RETURN_IF_ERROR(
        CheckHresult(device_->CreateCommandAllocator(type, __uuidof(ID3D12CommandAllocator),
                                                     allocator_.Receive()),
                     "ID3D12Device::CreateCommandAllocator"));
    CAIRN_RETURN_IF_ERROR(CheckHresult(
        device_->CreateCommandList(0, type, allocator_.get(), nullptr,
                                   __uuidof(ID3D12GraphicsCommandList), list_.Receive()),
        "ID3D12Device::CreateCommandList"));
  }
  open_ = true;
  return list_.get();
}

Status OneShotList::Start(ID3D12CommandQueue* queue, std::chrono::milliseconds limit) {
  open_ = false;
  CAIRN_RETURN_IF_ERROR(CheckHresult(list_->Close(), "ID3D12GraphicsCommandList::Close"));
  ID3D12CommandList* const lists[] = {list_.get()};
  queue->ExecuteCommandLists(1, lists);
  const Status status =
      CheckHresult(queue->Signal(fence_.get(), ++fence_value_), "ID3D12CommandQueue::Signal");
  abandoned_ = !status.ok();
  if (status.ok()) started_limit_ = limit;
  return status;
}

Status OneShotList::Run(ID3D12CommandQueue* queue, std::chrono::milliseconds limit) {
  CAIRN_RETURN_IF_ERROR(Start(queue, limit));
  return AwaitStarted();
}

Status OneShotList::AwaitStarted() {
  if (!started_limit_) return {};
  const Status status = WaitFor(device_.get(), fence_.get(), fence_value_, *started_limit_);
  started_limit_.reset();
  abandoned_ = !status.ok();
  return status;
}

Result<ID3D12Resource*> OneShotList::Staging(D3D12_HEAP_TYPE type, uint64_t size_bytes) {
  CAIRN_RETURN_IF_ERROR(AwaitStarted());
  StagingBuffer& staging = type == D3D12_HEAP_TYPE_UPLOAD ? upload_ : readback_;
  if (staging.buffer && staging.size_bytes >= size_bytes) return staging.buffer.get();
  constexpr uint64_t kGranularity = 65536;
  D3D12_HEAP_PROPERTIES heap = {};
  heap.Type = type;
  const D3D12_RESOURCE_DESC desc = BufferDesc(
      (std::max<uint64_t>(size_bytes, 1) + kGranularity - 1) / kGranularity * kGranularity);
  staging = {};
  CAIRN_RETURN_IF_ERROR(CheckHresult(
      device_->CreateCommittedResource(&heap, D3D12_HEAP_FLAG_NONE, &desc,
                                       type == D3D12_HEAP_TYPE_UPLOAD
                                           ? D3D12_RESOURCE_STATE_GENERIC_READ
                                           : D3D12_RESOURCE_STATE_COPY_DEST,
                                       nullptr, __uuidof(ID3D12Resource), staging.buffer.Receive()),
      "a buffer for a copy: ID3D12Device::CreateCommittedResource"));
  staging.size_bytes = desc.Width;
  return staging.buffer.get();
}

void RecordTransition(ID3D12GraphicsCommandList* list, ID3D12Resource* resource,
                      uint32_t subresource, D3D12_RESOURCE_STATES before,
                      D3D12_RESOURCE_STATES after) {
  // A combination of reads that holds the other one needs no barrier in either direction.
  const auto contains = [](D3D12_RESOURCE_STATES all, D3D12_RESOURCE_STATES one) {
    return all == one || (one != D3D12_RESOURCE_STATE_COMMON && (all & one) == one);
  };
  if (contains(before, after) || contains(after, before)) return;
  D3D12_RESOURCE_BARRIER barrier = {};
  barrier.Type = D3D12_RESOURCE_BARRIER_TYPE_TRANSITION;
  barrier.Transition.pResource = resource;
  barrier.Transition.Subresource = subresource;
  barrier.Transition.StateBefore = before;
  barrier.Transition.StateAfter = after;
  list->ResourceBarrier(1, &barrier);
}

bool IsMappable(ID3D12Resource* buffer) {
  D3D12_HEAP_PROPERTIES heap = {};
  D3D12_HEAP_FLAGS flags = D3D12_HEAP_FLAG_NONE;
  if (FAILED(buffer->GetHeapProperties(&heap, &flags))) return false;  // a reserved resource
  return heap.Type == D3D12_HEAP_TYPE_UPLOAD || heap.Type == D3D12_HEAP_TYPE_READBACK ||
         (heap.Type == D3D12_HEAP_TYPE_CUSTOM &&
          heap.CPUPageProperty != D3D12_CPU_PAGE_PROPERTY_UNKNOWN &&
          heap.CPUPageProperty != D3D12_CPU_PAGE_PROPERTY_NOT_AVAILABLE);
}

Result<SubresourceLayout> LayoutOf(ID3D12Device* device, const D3D12_RESOURCE_DESC& desc,
                                   uint32_t subresource) {
  const uint32_t planes = PlaneCount(desc.Format);
  const uint32_t slices =
      desc.Dimension == D3D12_RESOURCE_DIMENSION_TEXTURE3D ? 1u : desc.DepthOrArraySize;
  const uint64_t count = uint64_t{desc.MipLevels} * slices * planes;
  if (subresource >= count) {
    return Status(StatusCode::kInvalidArgument, "subresource " + std::to_string(subresource) +
                                                    " of a texture that has " +
                                                    std::to_string(count));
  }
  SubresourceLayout layout;
  layout.total_bytes = UINT64_MAX;
  device->GetCopyableFootprints(&desc, subresource, 1, 0, &layout.placed, &layout.row_count,
                                &layout.row_bytes, &layout.total_bytes);
  const D3D12_SUBRESOURCE_FOOTPRINT& footprint = layout.placed.Footprint;
  if (layout.total_bytes == UINT64_MAX || layout.placed.Offset != 0) {
    return Status(StatusCode::kUnsupported,
                  "the device knows no layout for copies of format " + std::to_string(desc.Format));
  }
  // An implementation that knows planes gives each a format of its own.
  if (planes > 1 && footprint.Format == desc.Format) {
    return Status(StatusCode::kUnsupported, "the device does not copy single planes of format " +
                                                std::to_string(desc.Format));
  }
  // Checks the values that are multiplied and used as indices below.
  if (footprint.Width == 0 || footprint.Width > kLargestDimension || footprint.Height == 0 ||
      footprint.Height > kLargestDimension || footprint.Depth == 0 ||
      footprint.Depth > kLargestDimension || layout.row_count == 0 ||
      layout.row_count > footprint.Height || layout.row_bytes == 0 ||
      layout.row_bytes > footprint.RowPitch) {
    return Status(StatusCode::kUnsupported, "the device's layout for copies of format " +
                                                std::to_string(desc.Format) + " makes no sense");
  }
  const uint64_t rows = uint64_t{layout.row_count} * footprint.Depth;
  layout.total_bytes =
      std::max(layout.total_bytes, (rows - 1) * footprint.RowPitch + layout.row_bytes);
  return layout;
}

bool IsEmpty(const D3D12_BOX& box) {
  return box.right <= box.left || box.bottom <= box.top || box.back <= box.front;
}

uint64_t BytesOfBox(const SubresourceLayout& layout, const D3D12_BOX* box, UINT row_pitch,
                    UINT slice_pitch) {
  const D3D12_SUBRESOURCE_FOOTPRINT& footprint = layout.placed.Footprint;
  uint64_t row_bytes = layout.row_bytes;
  uint64_t rows = layout.row_count;
  uint64_t slices = footprint.Depth;
  if (box != nullptr) {
    if (IsEmpty(*box)) return 0;
    // Blocks of compressed formats are rows, and rounded up.
    row_bytes = (uint64_t{box->right - box->left} * row_bytes + footprint.Width - 1) /
                std::max(footprint.Width, 1u);
    rows = (uint64_t{box->bottom - box->top} * rows + footprint.Height - 1) /
           std::max(footprint.Height, 1u);
    slices = box->back - box->front;
  }
  if (rows == 0 || slices == 0) return 0;
  return (slices - 1) * slice_pitch + (rows - 1) * row_pitch + row_bytes;
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
