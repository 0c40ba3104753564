// SPDX-License-Identifier: Apache-2.0
#include "app/d3d11/device_context.h"

#include <utility>

#include "app/d3d11/thin.h"
#include "app/d3d12/registry.h"
#include "app/settings/own_settings.h"
#include "format/block/marker_kinds.h"

namespace cairn {
namespace {

Registry<D3D11Context>& Contexts() {
  static auto& contexts = *new Registry<D3D11Context>;
  return contexts;
}

// CAIRN_BREADCRUMBS=off.
class NoNotes final : public WorkNotes {
  void BeginWork(CairnMarkerType, CairnPipeline) override {}
  void EndWork() override {}
};

std::unique_ptr<WorkNotes> MakeNotes(D3D11Device& device, ID3D11DeviceContext* real,
                                     bool deferred) {
  if (*Settings().breadcrumbs == MarkerMode::kOff) return std::make_unique<NoNotes>();
  std::unique_ptr<WorkNotes> labels = device.labelled() ? MakeLabelNotes(real) : nullptr;
  return labels != nullptr ? std::move(labels) : MakeListNotes(device, real, deferred);
}

}  // namespace

D3D11Context::D3D11Context(D3D11Device& device, ID3D11DeviceContext* real, bool deferred)
    : device_(device), deferred_(deferred), notes_(MakeNotes(device, real, deferred)) {
  const auto note = [&](std::span<const D3D11Interface> versions) {
    for (size_t version = 0; version < versions.size(); ++version) {
      void* as = nullptr;
      if (FAILED(real->QueryInterface(versions[version].iid, &as))) continue;
      interfaces_.push_back(as);
      Contexts().Add(as, this);
      for (size_t older = 0; older <= version; ++older) {
        ReplaceMethods(as, versions[older].methods);
      }
      static_cast<IUnknown*>(as)->Release();
    }
  };
  // The first is what no object is asked for.
  note(ContextInterfaces().subspan(1));
  note(AnnotationInterfaces());
}

D3D11Context::~D3D11Context() {
  for (const void* const as : interfaces_) Contexts().Remove(as, this);
}

D3D11Context* D3D11Context::Find(const void* self) {
  return Contexts().Find(self);
}

void D3D11Context::ForgetShaders() {
  if (depth_ != 0) return;
  shaders_ = {};
  graphics_ = {};
  compute_ = {};
}

CairnPipeline D3D11Context::PipelineFor(CairnMarkerType type) {
  if (IsDispatch(type)) {
    if (!compute_.known) {
      BoundShaders bound = {};
      bound[kStageCompute] = shaders_[kStageCompute];
      compute_ = {bound[kStageCompute] == nullptr ? 0 : device_.PipelineOf(bound), true};
    }
    return compute_.number;
  }
  if (IsDraw(type)) {
    if (!graphics_.known) {
      BoundShaders bound = shaders_;
      bound[kStageCompute] = nullptr;
      graphics_ = {device_.PipelineOf(bound), true};
    }
    return graphics_.number;
  }
  return 0;
}

void D3D11Context::BeginEvent(const wchar_t* name) {
  Enter();
  if (depth_ == 0) notes_->BeginEvent(name);
  Leave();
}

void D3D11Context::EndEvent() {
  Enter();
  if (depth_ == 0) notes_->EndEvent();
  Leave();
}

void D3D11Context::SetMarker(const wchar_t* name) {
  Enter();
  if (depth_ == 0) notes_->SetMarker(name);
  Leave();
}

void D3D11Context::NoteRawMarker(uint32_t slots, const RawMarker& marker) {
  Enter();
  if (depth_ == 0) notes_->NoteRawMarker(slots, marker);
  Leave();
}

void D3D11Context::Submit() {
  Enter();
  if (depth_ == 0) notes_->Submit();
  Leave();
}

void D3D11Context::Look() {
  Enter();
  if (depth_ == 0) notes_->Look();
  Leave();
}

CommandList* D3D11Context::Finish() {
  return depth_ == 0 ? notes_->Finish() : nullptr;
}

void D3D11Context::BeginExecute(CommandList* recording) {
  BeginWork(CAIRN_MARKER_EXECUTE_COMMAND_LIST);
  if (depth_ == 1) notes_->Execute(recording);
}

}  // namespace cairn
