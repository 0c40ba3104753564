// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "app/breadcrumbs/work_label.h"
#include "app/d3d11/work_notes.h"
#include "app/replacement/methods.h"
#include "d3d11gen/methods.h"
#include "format/block/marker_kinds.h"

namespace cairn {
namespace {

class LabelNotes final : public WorkNotes {
  using Begin = INT (*)(ID3DUserDefinedAnnotation*, LPCWSTR);
  using End = INT (*)(ID3DUserDefinedAnnotation*);
  using Insert = void (*)(ID3DUserDefinedAnnotation*, LPCWSTR);

 public:
  // The annotation is a part of its context. Its own functions, for these are no calls of the program's.
  explicit LabelNotes(ID3DUserDefinedAnnotation* annotation)
      : annotation_(annotation),
        begin_(reinterpret_cast<Begin>(MethodBehind(
            annotation, Describe(D3D11Method::kID3DUserDefinedAnnotation_BeginEvent).slot))),
        end_(reinterpret_cast<End>(MethodBehind(
            annotation, Describe(D3D11Method::kID3DUserDefinedAnnotation_EndEvent).slot))),
        insert_(reinterpret_cast<Insert>(MethodBehind(
            annotation, Describe(D3D11Method::kID3DUserDefinedAnnotation_SetMarker).slot))) {
    label_.Write(text_.data());
  }

  void BeginWork(CairnMarkerType type, CairnPipeline pipeline) override {
    // Usually equal to that of the last call.
    if (type != label_.type || pipeline != label_.pipeline) {
      label_ = {type, pipeline};
      is_region_ = !IsDraw(type) && !IsDispatch(type);
      label_.Write(text_.data());
    }
    if (is_region_) {
      begin_(annotation_, text_.data());
    } else {
      insert_(annotation_, text_.data());
    }
  }
  void EndWork() override {
    if (is_region_) end_(annotation_);
  }

 private:
  ID3DUserDefinedAnnotation* const annotation_;
  const Begin begin_;
  const End end_;
  const Insert insert_;
  WorkLabel label_;
  bool is_region_ = true;
  std::array<wchar_t, WorkLabel::kLength + 1> text_{};
};

}  // namespace

std::unique_ptr<WorkNotes> MakeLabelNotes(ID3D11DeviceContext* real) {
  ID3DUserDefinedAnnotation* annotation = nullptr;
  if (FAILED(real->QueryInterface(__uuidof(ID3DUserDefinedAnnotation),
                                  reinterpret_cast<void**>(&annotation)))) {
    return nullptr;
  }
  annotation->Release();
  return std::make_unique<LabelNotes>(annotation);
}

}  // namespace cairn
