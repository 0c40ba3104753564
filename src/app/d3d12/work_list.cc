// SPDX-License-Identifier: Apache-2.0
#include "app/d3d12/work_list.h"

#include "app/d3d12/device.h"
#include "app/d3d12/graphics_command_list.h"
#include "app/d3d12/objects.h"
#include "app/d3d12/video_command_list.h"
#include "app/settings/own_settings.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

WorkList::WorkList(WrappedID3D12Device& device, Wrapper& list, ID3D12CommandList* real)
    : device_(device),
      list_(list),
      real_(real),
      type_(real->GetType()),
      events_are_annotations_(type_ != D3D12_COMMAND_LIST_TYPE_VIDEO_DECODE &&
                              type_ != D3D12_COMMAND_LIST_TYPE_VIDEO_ENCODE),
      keeps_all_events_(*Settings().all_events),
      context_(*Settings().breadcrumbs == MarkerMode::kOff ? nullptr : device.StartBreadcrumbs()),
      identity_{LayerToken(), real, nullptr},
      annotations_(device.annotations(), D3D12DDI_HT_COMMAND_LIST, real) {}

void WorkList::Opened(ID3D12CommandAllocator* allocator, Wrapper* pipeline) {
  if (context_ != nullptr) {
    ListStart start;
    start.real = real_;
    start.application = list_.interface_pointer();
    start.type = type_;
    start.pipeline = NumberOf(pipeline);
    const std::lock_guard lock(name_mutex_);
    start.name = name_.c_str();
    notes_.Start(context_, start);
  }
  identity_.recording = notes_.recording();
  annotations_.OnOpen(ArenaOf(allocator), notes_.recording());
}

void WorkList::SetName(std::string_view name) {
  const std::lock_guard lock(name_mutex_);
  name_ = name;
}

CairnPipeline WorkList::NumberOf(Wrapper* pipeline) {
  if (context_ == nullptr || pipeline == nullptr) return 0;
  return UsePipeline(*context_, *pipeline);
}

uint32_t NotedWrapper(const Wrapper* object) {
  // Entries are numbered from 0, bindings from 1: an object without an entry becomes 0.
  return object == nullptr ? 0 : object->object_index() + 1;
}

void NoteListCreatedOpen(Wrapper& list, ID3D12CommandAllocator* allocator,
                         ID3D12PipelineState* pipeline) {
  switch (list.chain()) {
    case Chain::kID3D12GraphicsCommandList:
      static_cast<WrappedID3D12GraphicsCommandList&>(list).work().Opened(allocator,
                                                                         AsWrapper(pipeline));
      break;
    case Chain::kID3D12VideoDecodeCommandList:
      static_cast<WrappedID3D12VideoDecodeCommandList&>(list).work().Opened(allocator, nullptr);
      break;
    case Chain::kID3D12VideoProcessCommandList:
      static_cast<WrappedID3D12VideoProcessCommandList&>(list).work().Opened(allocator, nullptr);
      break;
    case Chain::kID3D12VideoEncodeCommandList:
      static_cast<WrappedID3D12VideoEncodeCommandList&>(list).work().Opened(allocator, nullptr);
      break;
    default: break;
  }
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
