// SPDX-License-Identifier: Apache-2.0
//
// The breadcrumb driver: makes the GPU write a progress word for every event and marker of a list, and
// notes its EventID with it, so that a dump tells which of them the GPU reached. It ignores names and
// what queues say: the first are in the object table, the second in the queue's arena.
#include "app/annotations/driver.h"
#include "app/breadcrumbs/command_list.h"

namespace cairn {
namespace {

const DriverObject& ObjectOf(D3D12DDI_HCOMMANDLIST list) {
  return *static_cast<const DriverObject*>(list.pDrvPrivate);
}

CommandList* Breadcrumbs(D3D12DDI_HCOMMANDLIST list) {
  return ObjectOf(list).breadcrumbs;
}

void CAIRN_DDI_CALL ListBeginEvent(D3D12DDI_HCOMMANDLIST list, uint32_t metadata, const void* data,
                                   uint32_t size, uint64_t event_id) {
  if (CommandList* breadcrumbs = Breadcrumbs(list)) {
    // An event without room is counted in the recording.
    breadcrumbs->BeginAnnotation(event_id, metadata, data, size, CAIRN_MARKER_PASS);
  }
}

void CAIRN_DDI_CALL ListEndEvent(D3D12DDI_HCOMMANDLIST list, uint64_t) {
  CommandList* breadcrumbs = Breadcrumbs(list);
  // An end without a begin must not end another marker.
  if (breadcrumbs != nullptr && ObjectOf(list).ends_event) breadcrumbs->EndMarker();
}

void CAIRN_DDI_CALL ListSetMarker(D3D12DDI_HCOMMANDLIST list, uint32_t metadata, const void* data,
                                  uint32_t size, uint64_t event_id) {
  CommandList* breadcrumbs = Breadcrumbs(list);
  if (breadcrumbs == nullptr) return;
  breadcrumbs->BeginAnnotation(event_id, metadata, data, size, CAIRN_MARKER_SET_MARKER);
  breadcrumbs->EndMarker();
}

void CAIRN_DDI_CALL QueueAnnotation(D3D12DDI_HCOMMANDQUEUE, uint32_t, const void*, uint32_t,
                                    uint64_t) {}
void CAIRN_DDI_CALL QueueEndEvent(D3D12DDI_HCOMMANDQUEUE, uint64_t) {}
void CAIRN_DDI_CALL SetName(D3D12DDI_HANDLE_AND_TYPE, const wchar_t*) {}

}  // namespace

Driver BreadcrumbDriver() {
  Driver driver;
  driver.name = "breadcrumb";
  driver.supported = true;
  driver.records_breadcrumbs = true;
  driver.functions = {QueueAnnotation, QueueEndEvent, QueueAnnotation, ListBeginEvent,
                      ListEndEvent,    ListSetMarker, SetName};
  return driver;
}

}  // namespace cairn
