// SPDX-License-Identifier: Apache-2.0
//
// WorkList: what the wrappers of all kinds of command lists have in common, as a member of each: the
// breadcrumbs and the annotations of the recording, and when a recording begins and ends.
#ifndef CAIRN_D3D12_WORK_LIST_H_
#define CAIRN_D3D12_WORK_LIST_H_

#include <cstdint>
#include <memory>

#include "annotations/runtime.h"
#include "d3d12/work.h"
#include "d3d12/wrapper.h"

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

  // A recording begins: the list was created open, or Reset succeeded. `allocator` and `pipeline` as
  // the application passed them.
  void Opened(ID3D12CommandAllocator* allocator, IUnknown* pipeline);
  // Around the real Close().
  void Closing() { notes_.End(); }
  void Closed(HRESULT result) {
    if (SUCCEEDED(result)) annotations_.OnClose();
  }

  // The pipeline state or state object for the work that follows; null for none.
  void SetPipeline(IUnknown* pipeline);

  void BeginEvent(UINT metadata, const void* data, UINT size) {
    const AnnotationCall call = annotations_.BeginEvent(metadata, data, size);
    if (!call.recorded) notes_.BeginEvent(call.event_id, metadata, data, size);
  }
  void EndEvent() {
    if (!annotations_.EndEvent().recorded) notes_.EndEvent();
  }
  void SetMarker(UINT metadata, const void* data, UINT size) {
    const AnnotationCall call = annotations_.SetMarker(metadata, data, size);
    if (!call.recorded) notes_.SetMarker(call.event_id, metadata, data, size);
  }

 private:
  WrappedID3D12Device& device_;
  Wrapper& list_;
  ID3D12CommandList* const real_;
  const D3D12_COMMAND_LIST_TYPE type_;
  ListBreadcrumbs notes_;
  AnnotatedList annotations_;
};

// The number under which an object's record is noted with a command: 1 + its index in the block's
// table; 0 for null, for objects that are not ours, and where the table was full.
uint32_t NotedObject(const Wrapper* object);
template <typename T>
uint32_t NotedObject(T* object) {
  return NotedObject(AsWrapper(object));
}

// Copies the name that the application gave to an object: "" if none. At most `bytes` with the zero
// that ends it.
void CopyNotedName(const Wrapper& object, char* name, size_t bytes);

// What the device does after it created a list: the first recording begins, unless the list was
// created closed (CreateCommandList1), when this is not called.
void NoteListCreatedOpen(IUnknown* list, ID3D12CommandAllocator* allocator, IUnknown* pipeline);

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_D3D12_WORK_LIST_H_
