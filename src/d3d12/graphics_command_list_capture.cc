// SPDX-License-Identifier: Apache-2.0
//
// What a list does to the states of resources, and what it draws and copies into: for captures, which
// look at images at the end of a frame and at everything when a recording begins late.
#include <new>

#include "d3d12/device.h"
#include "d3d12/device_capture.h"
#include "d3d12/graphics_command_list.h"
#include "d3d12/objects.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {
namespace {

uint64_t NumberOfResource(ID3D12Resource* resource) {
  const Wrapper* const wrapper = AsWrapper(resource);
  return wrapper == nullptr ? kNoObject : wrapper->capture_number();
}

// Without memory the list says less of states than it does to them; nothing may leave the program's call.
template <typename Note>
void NoteIfPossible(const Note& note) {
  try {
    note();
  } catch (const std::bad_alloc&) {
  }
}

}  // namespace

void WrappedID3D12GraphicsCommandList::ResetStates() {
  if (work_.device().capture() == nullptr) return;
  if (states_ == nullptr) states_.reset(new (std::nothrow) ListStates);
  if (states_ != nullptr) states_->Reset();
}

void WrappedID3D12GraphicsCommandList::ResourceBarrier(UINT count,
                                                       const D3D12_RESOURCE_BARRIER* barriers) {
  Thin::ResourceBarrier(count, barriers);
  if (states_ == nullptr) return;
  NoteIfPossible([&] { NoteBarriers(states_.get(), barriers, count, NumberOfResource); });
}

void WrappedID3D12GraphicsCommandList::Barrier(UINT32 group_count,
                                               const D3D12_BARRIER_GROUP* groups) {
  Thin::Barrier(group_count, groups);
  if (states_ == nullptr) return;
  NoteIfPossible([&] { NoteBarrierGroups(states_.get(), groups, group_count, NumberOfResource); });
}

void WrappedID3D12GraphicsCommandList::NoteCopiedInto(ID3D12Resource* to, uint32_t subresource) {
  if (states_ == nullptr) return;
  Wrapper* const wrapper = AsWrapper(to);
  if (wrapper == nullptr) return;
  NoteIfPossible([&] { states_->CopiedInto(wrapper->capture_number(), subresource); });
  static_cast<WrappedID3D12Resource*>(wrapper)->mappings().NoteCopiedInto();
}

void WrappedID3D12GraphicsCommandList::NoteTargets(UINT count,
                                                   const D3D12_CPU_DESCRIPTOR_HANDLE* targets,
                                                   BOOL single_range) {
  if (states_ == nullptr || targets == nullptr) return;
  const WrappedID3D12Device& device = work_.device();
  for (UINT slot = 0; slot < count && slot < ListBreadcrumbs::kRenderTargets; ++slot) {
    D3D12_CPU_DESCRIPTOR_HANDLE target = targets[single_range ? 0 : slot];
    if (single_range) target.ptr += SIZE_T{slot} * device.render_target_increment();
    NoteIfPossible([&] { device.capture()->NoteTarget(states_.get(), target.ptr); });
  }
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
