// SPDX-License-Identifier: Apache-2.0
//
// The notes about one device context, immediate or deferred, while it is used.
#ifndef CAIRN_APP_D3D11_DEVICE_CONTEXT_H_
#define CAIRN_APP_D3D11_DEVICE_CONTEXT_H_

#include <d3d11_4.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "cairn/breadcrumbs.h"

#include "app/d3d11/device.h"
#include "app/d3d11/work_notes.h"
#include "format/block/work_arguments.h"

namespace cairn {

// Threads: like the context, one at a time; where the program has asked for protection, under the implementation's lock.
class D3D11Context {
 public:
  // `real` outlives it. May throw std::bad_alloc.
  D3D11Context(D3D11Device& device, ID3D11DeviceContext* real, bool deferred);
  ~D3D11Context();
  D3D11Context(const D3D11Context&) = delete;
  D3D11Context& operator=(const D3D11Context&) = delete;

  // Finds a context by the interface that the program calls, or by its ID3DUserDefinedAnnotation.
  // Null for unknown contexts.
  static D3D11Context* Find(const void* self);

  D3D11Device& device() const { return device_; }
  bool deferred() const { return deferred_; }

  // Around one call. An implementation may go by its own methods: what it calls inside of one is part of that.
  void BeginWork(CairnMarkerType type, const WorkArguments& arguments = {}) {
    Enter();
    if (depth_++ != 0) return;
    notes_->BeginWork(type, PipelineFor(type));
    if (arguments.main.point != ArgumentsPoint::kNone) notes_->NoteArguments(arguments);
  }
  void EndWork() {
    if (--depth_ == 0) notes_->EndWork();
    Leave();
  }

  void SetShader(ShaderStage stage, ID3D11DeviceChild* shader) {
    if (depth_ != 0 || shaders_[stage] == shader) return;
    shaders_[stage] = shader;
    (stage == kStageCompute ? compute_ : graphics_).known = false;
  }
  void ForgetShaders();

  // The program's annotations; null is no name.
  void BeginEvent(const wchar_t* name);
  void EndEvent();
  void SetMarker(const wchar_t* name);
  // D3D11LayerHooks.
  void NoteRawMarker(uint32_t slots, const RawMarker& marker);
  // Around calls that are no work of the program's.
  void BeginOwnCalls() {
    Enter();
    ++depth_;
  }
  void EndOwnCalls() {
    --depth_;
    Leave();
  }

  // Called on the immediate context when earlier work is about to be handed to the GPU, or may be.
  void Submit();
  // Called on the immediate context when the GPU may have made progress.
  void Look();

  // Only objects of ours still refer to the device: they go.
  void Drop() { notes_->Drop(); }

  // FinishCommandList of a deferred context: what was recorded, for ExecuteCommandList; null if nothing is kept of it.
  CommandList* Finish();
  // Around ExecuteCommandList.
  void BeginExecute(CommandList* recording);
  void EndExecute() { EndWork(); }

 private:
  // The pipeline of draws, or that of dispatches.
  struct BoundPipeline {
    CairnPipeline number = 0;
    bool known = true;
  };

  void Enter() {
    if (ID3D11Multithread* const protection = device_.protection()) [[unlikely]]
      protection->Enter();
  }
  void Leave() {
    if (ID3D11Multithread* const protection = device_.protection()) [[unlikely]]
      protection->Leave();
  }
  CairnPipeline PipelineFor(CairnMarkerType type);

  D3D11Device& device_;
  const bool deferred_;
  uint32_t depth_ = 0;
  BoundShaders shaders_ = {};
  BoundPipeline graphics_;
  BoundPipeline compute_;
  std::unique_ptr<WorkNotes> notes_;
  std::vector<const void*> interfaces_;  // by which it is found
};

}  // namespace cairn

#endif  // CAIRN_APP_D3D11_DEVICE_CONTEXT_H_
