// SPDX-License-Identifier: Apache-2.0
//
// The wrappers of video lists: decoding, processing, encoding. Their commands and events are noted;
// the GPU writes nothing, for no backend has a way to write in such a list.
#ifndef CAIRN_APP_D3D12_VIDEO_COMMAND_LIST_H_
#define CAIRN_APP_D3D12_VIDEO_COMMAND_LIST_H_

#include "app/d3d12/device.h"
#include "app/d3d12/policy.h"
#include "app/d3d12/work_list.h"
#include "d3d12gen/thin.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

// The three interfaces have these methods in common, but no base that declares them. An event belongs to the
// call that it is noted in, so that call begins before.
template <typename Thin, Method kBeginEvent, Method kSetMarker>
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
    const CallScope call(*this, kBeginEvent, metadata, data, size);
    work_.BeginEvent(metadata, data, size);
    this->real()->BeginEvent(metadata, data, size);
  }
  void STDMETHODCALLTYPE EndEvent() override {
    Thin::EndEvent();
    work_.EndEvent();
  }
  void STDMETHODCALLTYPE SetMarker(UINT metadata, const void* data, UINT size) override {
    const CallScope call(*this, kSetMarker, metadata, data, size);
    work_.SetMarker(metadata, data, size);
    this->real()->SetMarker(metadata, data, size);
  }

  WorkList& work() { return work_; }
  const LayerList* layer_list() const override { return work_.identity(); }

 protected:
  WrappedVideoCommandList(WrappedID3D12Device& device, void* real)
      : Thin(real), work_(device, *this, Thin::real()) {
    this->breadcrumbs_ = work_.notes_if_on();
  }
  AnnotatedChild* annotated() override { return &work_.annotations(); }
  void OnNamed(std::string_view name) override { work_.SetName(name); }
  void OnEnd() override { work_.Ended(); }

 private:
  WorkList work_;
};

class WrappedID3D12VideoDecodeCommandList final
    : public WrappedVideoCommandList<ThinID3D12VideoDecodeCommandList,
                                     Method::ID3D12VideoDecodeCommandList_BeginEvent,
                                     Method::ID3D12VideoDecodeCommandList_SetMarker> {
 public:
  WrappedID3D12VideoDecodeCommandList(WrappedID3D12Device& device, void* real)
      : WrappedVideoCommandList(device, real) {
    Join(device);
  }
};

class WrappedID3D12VideoProcessCommandList final
    : public WrappedVideoCommandList<ThinID3D12VideoProcessCommandList,
                                     Method::ID3D12VideoProcessCommandList_BeginEvent,
                                     Method::ID3D12VideoProcessCommandList_SetMarker> {
 public:
  WrappedID3D12VideoProcessCommandList(WrappedID3D12Device& device, void* real)
      : WrappedVideoCommandList(device, real) {
    Join(device);
  }
};

class WrappedID3D12VideoEncodeCommandList final
    : public WrappedVideoCommandList<ThinID3D12VideoEncodeCommandList,
                                     Method::ID3D12VideoEncodeCommandList_BeginEvent,
                                     Method::ID3D12VideoEncodeCommandList_SetMarker> {
 public:
  WrappedID3D12VideoEncodeCommandList(WrappedID3D12Device& device, void* real)
      : WrappedVideoCommandList(device, real) {
    Join(device);
  }
};

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_APP_D3D12_VIDEO_COMMAND_LIST_H_
