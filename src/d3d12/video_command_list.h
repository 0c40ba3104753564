// SPDX-License-Identifier: Apache-2.0
//
// The wrappers of video lists: decoding, processing, encoding. Their commands and events are noted;
// the GPU writes nothing, for no backend has a way to write in such a list.
#ifndef CAIRN_D3D12_VIDEO_COMMAND_LIST_H_
#define CAIRN_D3D12_VIDEO_COMMAND_LIST_H_

#include "d3d12/device.h"
#include "d3d12/work_list.h"
#include "d3d12gen/thin.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

// The three interfaces have these methods in common, but no base that declares them.
template <typename Thin>
class WrappedVideoCommandList : public Thin {
 public:
  HRESULT STDMETHODCALLTYPE Close() override {
    work_.Closing();
    const HRESULT result = Thin::Close();
    work_.Closed(result);
    return result;
  }
  HRESULT STDMETHODCALLTYPE Reset(ID3D12CommandAllocator* allocator) override {
    const HRESULT result = Thin::Reset(allocator);
    if (SUCCEEDED(result)) work_.Opened(allocator, nullptr);
    return result;
  }
  void STDMETHODCALLTYPE BeginEvent(UINT metadata, const void* data, UINT size) override {
    work_.BeginEvent(metadata, data, size);
    Thin::BeginEvent(metadata, data, size);
  }
  void STDMETHODCALLTYPE EndEvent() override {
    Thin::EndEvent();
    work_.EndEvent();
  }
  void STDMETHODCALLTYPE SetMarker(UINT metadata, const void* data, UINT size) override {
    work_.SetMarker(metadata, data, size);
    Thin::SetMarker(metadata, data, size);
  }

  WorkList& work() { return work_; }
  const LayerList* layer_list() const override { return work_.identity(); }

 protected:
  WrappedVideoCommandList(WrappedID3D12Device& device, void* real)
      : Thin(real), work_(device, *this, Thin::real()) {
    this->breadcrumbs_ = work_.notes_if_on();
    this->Join(device);
  }
  AnnotatedChild* annotated() override { return &work_.annotations(); }
  void OnNamed(std::string_view name) override { work_.SetName(name); }
  void OnEnd() override { work_.Ended(); }

 private:
  WorkList work_;
};

class WrappedID3D12VideoDecodeCommandList final
    : public WrappedVideoCommandList<ThinID3D12VideoDecodeCommandList> {
 public:
  WrappedID3D12VideoDecodeCommandList(WrappedID3D12Device& device, void* real)
      : WrappedVideoCommandList(device, real) {}
};

class WrappedID3D12VideoProcessCommandList final
    : public WrappedVideoCommandList<ThinID3D12VideoProcessCommandList> {
 public:
  WrappedID3D12VideoProcessCommandList(WrappedID3D12Device& device, void* real)
      : WrappedVideoCommandList(device, real) {}
};

class WrappedID3D12VideoEncodeCommandList final
    : public WrappedVideoCommandList<ThinID3D12VideoEncodeCommandList> {
 public:
  WrappedID3D12VideoEncodeCommandList(WrappedID3D12Device& device, void* real)
      : WrappedVideoCommandList(device, real) {}
};

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_D3D12_VIDEO_COMMAND_LIST_H_
