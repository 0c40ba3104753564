// SPDX-License-Identifier: Apache-2.0
#include "app/breadcrumbs/d3d12_drain.h"

#include <cstring>
#include <utility>

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {
constexpr size_t kZeroBytes = 256;
constexpr size_t kDrainBytes = 256;
}  // namespace

D3D12_RESOURCE_BARRIER BufferTransition(ID3D12Resource* buffer, D3D12_RESOURCE_STATES before,
                                        D3D12_RESOURCE_STATES after) {
  D3D12_RESOURCE_BARRIER barrier = {};
  barrier.Type = D3D12_RESOURCE_BARRIER_TYPE_TRANSITION;
  barrier.Transition.pResource = buffer;
  barrier.Transition.Subresource = D3D12_RESOURCE_BARRIER_ALL_SUBRESOURCES;
  barrier.Transition.StateBefore = before;
  barrier.Transition.StateAfter = after;
  return barrier;
}

Status D3D12Drain::Initialize(ID3D12Device* device) {
  Result<D3D12MappedBuffer> zeros = CreateMappedBuffer(device, MappedHeap::kUpload, kZeroBytes);
  if (!zeros.ok()) return zeros.status();
  zeros_ = std::move(*zeros);
  std::memset(zeros_.memory, 0, kZeroBytes);
  Result<ComPtr<ID3D12Resource>> buffer = CreateDeviceBuffer(device, kDrainBytes);
  if (!buffer.ok()) return buffer.status();
  buffer_ = std::move(*buffer);
  return {};
}

void D3D12Drain::Prepare(ID3D12GraphicsCommandList* list) const {
  list->CopyBufferRegion(buffer_.get(), 0, zeros(), 0, sizeof(uint32_t));
}

void D3D12Drain::Wait(ID3D12GraphicsCommandList* list, D3D12_COMMAND_LIST_TYPE type) const {
  // Two calls, because one call may hold only one transition of a buffer.
  if (type == D3D12_COMMAND_LIST_TYPE_COPY) {
    const D3D12_RESOURCE_BARRIER away = BufferTransition(
        buffer_.get(), D3D12_RESOURCE_STATE_COPY_DEST, D3D12_RESOURCE_STATE_COPY_SOURCE);
    const D3D12_RESOURCE_BARRIER back = BufferTransition(
        buffer_.get(), D3D12_RESOURCE_STATE_COPY_SOURCE, D3D12_RESOURCE_STATE_COPY_DEST);
    list->ResourceBarrier(1, &away);
    list->ResourceBarrier(1, &back);
    return;
  }
  D3D12_RESOURCE_BARRIER away[2] = {};
  away[0].Type = D3D12_RESOURCE_BARRIER_TYPE_UAV;
  away[1] = BufferTransition(buffer_.get(), D3D12_RESOURCE_STATE_COPY_DEST,
                             D3D12_RESOURCE_STATE_UNORDERED_ACCESS);
  const D3D12_RESOURCE_BARRIER back = BufferTransition(
      buffer_.get(), D3D12_RESOURCE_STATE_UNORDERED_ACCESS, D3D12_RESOURCE_STATE_COPY_DEST);
  list->ResourceBarrier(2, away);
  list->ResourceBarrier(1, &back);
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
