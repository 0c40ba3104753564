// SPDX-License-Identifier: Apache-2.0
//
// WorkList: what the wrappers of all kinds of command lists have in common, as a member of each: the
// breadcrumbs and the annotations of the recording, and when a recording begins and ends.
#ifndef CAIRN_APP_D3D12_WORK_LIST_H_
#define CAIRN_APP_D3D12_WORK_LIST_H_

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "app/annotations/runtime.h"
#include "app/breadcrumbs/layer_identity.h"
#include "app/d3d12/work.h"
#include "app/d3d12/wrapper.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

class WrappedID3D12Device;

class WorkList {
 public:
  // `list` is the wrapper that this is a member of; `real` its real list, which must be alive.
  WorkList(WrappedID3D12Device& device, Wrapper& list, ID3D12CommandList* real);

  WrappedID3D12Device& device() const { return device_; }
  ListBreadcrumbs& notes() { return notes_; }
  AnnotatedList& annotations() { return annotations_; }
  D3D12_COMMAND_LIST_TYPE type() const { return type_; }
  // For libcairn in the same process; null where breadcrumbs are off.
  const LayerList* identity() const { return context_ != nullptr ? &identity_ : nullptr; }

  // Returns the breadcrumbs, which each call of the wrapper asks for first; null where breadcrumbs
  // are off.
  ListBreadcrumbs* notes_if_on() { return context_ != nullptr ? &notes_ : nullptr; }

  // A recording begins: the list was created open, or Reset succeeded. `allocator` as the application
  // passed it; `pipeline` is null for none.
  void Opened(ID3D12CommandAllocator* allocator, Wrapper* pipeline);
  // The wrapper is destroyed.
  void Ended() {
    notes_.Release();
    identity_.recording = nullptr;
  }
  // Around the real Close().
  void Closing() { notes_.End(); }
  void Closed(HRESULT result) {
    if (SUCCEEDED(result)) annotations_.OnClose();
  }

  // The pipeline state or state object for the work that follows; null for none.
  void SetPipeline(Wrapper* pipeline) {
    if (notes_.open()) notes_.SetPipeline(NumberOf(pipeline));
  }

  // The list got a name, for its next recordings; reports find the present one by the list itself.
  void SetName(std::string_view name);

  void BeginEvent(UINT metadata, const void* data, UINT size) {
    notes_.NoteCall();
    AnnotationCall call = {};
    if (events_are_annotations_) call = annotations_.BeginEvent(metadata, data, size);
    if (call.recorded) return;
    if (KeepsPayloads()) {
      notes_.BeginEvent(call.event_id, metadata, data, size);
    } else {
      notes_.BeginUnnamedEvent();
    }
  }
  void EndEvent() {
    AnnotationCall call = {};
    if (events_are_annotations_) call = annotations_.EndEvent();
    if (!call.recorded) notes_.EndEvent();
  }
  void SetMarker(UINT metadata, const void* data, UINT size) {
    notes_.NoteCall();
    AnnotationCall call = {};
    if (events_are_annotations_) call = annotations_.SetMarker(metadata, data, size);
    if (call.recorded) return;
    if (KeepsPayloads()) {
      notes_.SetMarker(call.event_id, metadata, data, size);
    } else {
      notes_.SetUnnamedMarker();
    }
  }

 private:
  CairnPipeline NumberOf(Wrapper* pipeline);
  // Returns true if the data of events may be kept: in DRIVER_RETAIL, or if the user asked for it.
  bool KeepsPayloads() const {
    return keeps_all_events_ || annotations_.mode() == AnnotationMode::kDriverRetail;
  }

  WrappedID3D12Device& device_;
  Wrapper& list_;
  ID3D12CommandList* const real_;
  const D3D12_COMMAND_LIST_TYPE type_;
  // True for graphics and video process lists: drivers receive events of these only.
  const bool events_are_annotations_;
  const bool keeps_all_events_;  // CAIRN_EVENTS
  Context* const context_;       // null: breadcrumbs are off
  ListBreadcrumbs notes_;
  LayerList identity_;
  AnnotatedList annotations_;
  std::mutex name_mutex_;
  std::string name_;
};

// The number under which an object's record is noted with a command: 1 + its index in the block's
// table; 0 for null, for objects that are not ours, and where the table was full.
uint32_t NotedWrapper(const Wrapper* object);
template <typename T>
uint32_t NotedObject(T* object) {
  return NotedWrapper(AsWrapper(object));
}

// Call it after the device created an open list: the first recording begins. Not called for a list
// that was created closed (CreateCommandList1).
void NoteListCreatedOpen(Wrapper& list, ID3D12CommandAllocator* allocator,
                         ID3D12PipelineState* pipeline);

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_APP_D3D12_WORK_LIST_H_
