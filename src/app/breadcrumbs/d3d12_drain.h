// SPDX-License-Identifier: Apache-2.0
//
// D3D12Drain: makes the copies that follow wait until everything recorded before has finished, so
// that a copied word is a bottom-of-pipe write.
//
// A null UAV barrier alone orders shaders after shaders, not copies after shaders. Transitions of a
// small buffer close the gap: COPY_DEST to UNORDERED_ACCESS waits for earlier copies, and
// UNORDERED_ACCESS to COPY_DEST makes later copies wait for earlier shaders, the pixel shaders of
// draws among them. Copy lists know copy states only and go through COPY_SOURCE instead.
#ifndef CAIRN_APP_BREADCRUMBS_D3D12_DRAIN_H_
#define CAIRN_APP_BREADCRUMBS_D3D12_DRAIN_H_

#include "app/breadcrumbs/d3d12_buffers.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

class D3D12Drain {
 public:
  // Call it once, before anything else; it must succeed.
  Status Initialize(ID3D12Device* device);

  // Records what Wait() rests on: a copy that promotes the buffer to COPY_DEST. Once in every list,
  // because the state at the start of a list depends on the lists executed before it.
  void Prepare(ID3D12GraphicsCommandList* list) const;

  // Records the wait, in a list of `type`. Outside of render passes.
  void Wait(ID3D12GraphicsCommandList* list, D3D12_COMMAND_LIST_TYPE type) const;

  // 256 bytes of zeros to copy from.
  ID3D12Resource* zeros() const { return zeros_.resource.get(); }

 private:
  D3D12MappedBuffer zeros_;
  ComPtr<ID3D12Resource> buffer_;
};

// A transition of a whole buffer.
D3D12_RESOURCE_BARRIER BufferTransition(ID3D12Resource* buffer, D3D12_RESOURCE_STATES before,
                                        D3D12_RESOURCE_STATES after);

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_APP_BREADCRUMBS_D3D12_DRAIN_H_
