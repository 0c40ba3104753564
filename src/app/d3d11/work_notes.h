// SPDX-License-Identifier: Apache-2.0
//
// The two ways in which a context's work becomes known to a report (docs/reference/d3d11-layer.md): labels for the Vulkan layer
// below, whose words are in the order of the GPU, or lists of ours, which the GPU writes nothing for.
#ifndef CAIRN_APP_D3D11_WORK_NOTES_H_
#define CAIRN_APP_D3D11_WORK_NOTES_H_

#include <d3d11_4.h>

#include <memory>

#include "cairn/breadcrumbs.h"

#include "format/block/work_arguments.h"

namespace cairn {

class CommandList;
class D3D11Device;
struct RawMarker;

// Threads: one at a time.
class WorkNotes {
 public:
  virtual ~WorkNotes() = default;

  virtual void BeginWork(CairnMarkerType type, CairnPipeline pipeline) = 0;
  // Records the arguments of the work that has begun, where the Vulkan layer below cannot see the
  // implementation's commands.
  virtual void NoteArguments(const WorkArguments& arguments) { static_cast<void>(arguments); }
  virtual void EndWork() = 0;
  // Forwards the program's events to implementations that do not receive them by themselves.
  virtual void BeginEvent(const wchar_t* name) { static_cast<void>(name); }
  virtual void EndEvent() {}
  virtual void SetMarker(const wchar_t* name) { static_cast<void>(name); }
  // A raw marker whose slot lies in another context, where the Vulkan layer below does not write it.
  virtual void NoteRawMarker(uint32_t slots, const RawMarker& marker) {
    static_cast<void>(slots), static_cast<void>(marker);
  }
  // Same meaning as in D3D11Context.
  virtual void Submit() {}
  virtual void Look() {}
  // Only what is kept here still refers to the device.
  virtual void Drop() {}
  virtual CommandList* Finish() { return nullptr; }
  // Inside of a BeginWork of EXECUTE_COMMAND_LIST: a finished recording runs here; null if nothing is known of it.
  virtual void Execute(CommandList* recording) { static_cast<void>(recording); }
};

// The program's own annotations reach the Vulkan layer as labels, too. Null if the context has no annotations.
std::unique_ptr<WorkNotes> MakeLabelNotes(ID3D11DeviceContext* real);
// The immediate context's recordings are submitted where the program submits, and followed by event queries.
std::unique_ptr<WorkNotes> MakeListNotes(D3D11Device& device, ID3D11DeviceContext* real,
                                         bool deferred);

}  // namespace cairn

#endif  // CAIRN_APP_D3D11_WORK_NOTES_H_
