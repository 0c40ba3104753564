// SPDX-License-Identifier: Apache-2.0
//
// The wrapper of a device, and what all its children share: breadcrumbs, annotations, descriptors.
#ifndef CAIRN_APP_D3D12_DEVICE_H_
#define CAIRN_APP_D3D12_DEVICE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>

#include "app/annotations/d3d12_types.h"
#include "app/annotations/runtime.h"
#include "app/breadcrumbs/layer_identity.h"
#include "app/d3d12/adapter_memory.h"
#include "app/d3d12/bindings.h"
#include "app/d3d12/capture/import_capture.h"
#include "app/d3d12/layer.h"
#include "app/d3d12/submission_fences.h"
#include "d3d12gen/thin.h"

namespace cairn {

class BlockWriter;
class Context;

inline namespace CAIRN_D3D12_NAMESPACE {

class DeviceCapture;
class DeviceTools;

class WrappedID3D12Device final : public ThinID3D12Device {
 public:
  // Takes over a reference on `real`.
  WrappedID3D12Device(ID3D12Device* real, const DeviceOrigin& origin);
  ~WrappedID3D12Device() override;

  // The block of this process; null if there is none: then nothing is recorded.
  BlockWriter* block() const { return block_; }
  // The device's record in the block and its recordings. Null where breadcrumbs could not start: one
  // message said why.
  Context* context() const { return context_; }
  // Returns the index of the device's context; AnnotationOptions::kNoContext without one.
  uint32_t context_index() const;
  // The same context, ready for lists: what needs the GPU happens at the first call. Null if breadcrumbs
  // are off. Any thread.
  Context* StartBreadcrumbs();
  AnnotationRuntime& annotations() const { return *annotations_; }
  DescriptorShadow& descriptor_shadow() { return descriptors_; }
  SubmissionFences& submission_fences() { return submission_fences_; }
  uint32_t render_target_increment() const { return render_target_increment_; }
  uint32_t depth_stencil_increment() const { return depth_stencil_increment_; }
  // The size of wchar_t in names of this device and its children.
  uint32_t wchar_bytes() const { return wchar_bytes_; }

  // A queue was given work. Without presents, kSubmissionsPerFrame of them count as a frame.
  void CountSubmission();
  static constexpr uint32_t kSubmissionsPerFrame = 64;
  // A frame was presented. From now on submissions are not counted.
  void EndFrame();

  // Returns the device's capture; null without one.
  DeviceCapture* capture() const { return capture_.get(); }

  // Returns the origin that the entry points passed.
  const DeviceOrigin& origin() const { return origin_; }

  const LayerDevice* layer_device() const override { return &layer_device_; }

  // The implementation may have said that the device is lost, which is noted once. `function` is a
  // literal.
  void NoteResult(HRESULT result, const char* function) {
    if (FAILED(result)) [[unlikely]]
      NoteFailure(result, function);
  }

  // The implementation had no memory for an object of this interface.
  void NoteNoMemory(std::string_view interface_name);

  HRESULT STDMETHODCALLTYPE CheckFeatureSupport(D3D12_FEATURE feature, void* data,
                                                UINT size_bytes) override;
  HRESULT STDMETHODCALLTYPE GetDeviceRemovedReason() override;
  HRESULT STDMETHODCALLTYPE CreateCommandList(UINT node_mask, D3D12_COMMAND_LIST_TYPE type,
                                              ID3D12CommandAllocator* allocator,
                                              ID3D12PipelineState* initial_state, REFIID riid,
                                              void** list) override;
  HRESULT STDMETHODCALLTYPE CreateCommandList1(UINT node_mask, D3D12_COMMAND_LIST_TYPE type,
                                               D3D12_COMMAND_LIST_FLAGS flags, REFIID riid,
                                               void** list) override;
  HRESULT STDMETHODCALLTYPE CreateSharedHandle(ID3D12DeviceChild* object,
                                               const SECURITY_ATTRIBUTES* attributes, DWORD access,
                                               const WCHAR* name, HANDLE* handle) override;
  HRESULT STDMETHODCALLTYPE OpenSharedHandle(HANDLE handle, REFIID riid, void** object) override;
  HRESULT STDMETHODCALLTYPE OpenSharedHandleByName(const WCHAR* name, DWORD access,
                                                   HANDLE* handle) override;
  HRESULT STDMETHODCALLTYPE OpenExistingHeapFromAddress(const void* address, REFIID riid,
                                                        void** heap) override;
  HRESULT STDMETHODCALLTYPE OpenExistingHeapFromAddress1(const void* address, SIZE_T size_bytes,
                                                         REFIID riid, void** heap) override;
  HRESULT STDMETHODCALLTYPE OpenExistingHeapFromFileMapping(HANDLE mapping, REFIID riid,
                                                            void** heap) override;

  // Record the shaders of pipelines.
  HRESULT STDMETHODCALLTYPE CreateGraphicsPipelineState(
      const D3D12_GRAPHICS_PIPELINE_STATE_DESC* desc, REFIID riid, void** pipeline) override;
  HRESULT STDMETHODCALLTYPE CreateComputePipelineState(
      const D3D12_COMPUTE_PIPELINE_STATE_DESC* desc, REFIID riid, void** pipeline) override;
  HRESULT STDMETHODCALLTYPE CreatePipelineState(const D3D12_PIPELINE_STATE_STREAM_DESC* desc,
                                                REFIID riid, void** pipeline) override;

  // Record the resources behind descriptors.
  void STDMETHODCALLTYPE CreateRenderTargetView(ID3D12Resource* resource,
                                                const D3D12_RENDER_TARGET_VIEW_DESC* desc,
                                                D3D12_CPU_DESCRIPTOR_HANDLE descriptor) override;
  void STDMETHODCALLTYPE CreateDepthStencilView(ID3D12Resource* resource,
                                                const D3D12_DEPTH_STENCIL_VIEW_DESC* desc,
                                                D3D12_CPU_DESCRIPTOR_HANDLE descriptor) override;
  void STDMETHODCALLTYPE CopyDescriptors(UINT destination_count,
                                         const D3D12_CPU_DESCRIPTOR_HANDLE* destinations,
                                         const UINT* destination_sizes, UINT source_count,
                                         const D3D12_CPU_DESCRIPTOR_HANDLE* sources,
                                         const UINT* source_sizes,
                                         D3D12_DESCRIPTOR_HEAP_TYPE type) override;
  void STDMETHODCALLTYPE CopyDescriptorsSimple(UINT count, D3D12_CPU_DESCRIPTOR_HANDLE destination,
                                               D3D12_CPU_DESCRIPTOR_HANDLE source,
                                               D3D12_DESCRIPTOR_HEAP_TYPE type) override;

  // Methods that report failure. A successful one is recorded as the method without "Try", which
  // every reader of a trace knows.
  HRESULT STDMETHODCALLTYPE
  TryCreateShaderResourceView(ID3D12Resource* resource, const D3D12_SHADER_RESOURCE_VIEW_DESC* desc,
                              D3D12_CPU_DESCRIPTOR_HANDLE descriptor) override;
  HRESULT STDMETHODCALLTYPE
  TryCreateUnorderedAccessView(ID3D12Resource* resource, ID3D12Resource* counter,
                               const D3D12_UNORDERED_ACCESS_VIEW_DESC* desc,
                               D3D12_CPU_DESCRIPTOR_HANDLE descriptor) override;
  HRESULT STDMETHODCALLTYPE TryCreateConstantBufferView(
      const D3D12_CONSTANT_BUFFER_VIEW_DESC* desc, D3D12_CPU_DESCRIPTOR_HANDLE descriptor) override;
  HRESULT STDMETHODCALLTYPE TryCreateSampler2(const D3D12_SAMPLER_DESC2* desc,
                                              D3D12_CPU_DESCRIPTOR_HANDLE descriptor) override;
  HRESULT STDMETHODCALLTYPE
  TryCreateRenderTargetView(ID3D12Resource* resource, const D3D12_RENDER_TARGET_VIEW_DESC* desc,
                            D3D12_CPU_DESCRIPTOR_HANDLE descriptor) override;
  HRESULT STDMETHODCALLTYPE
  TryCreateDepthStencilView(ID3D12Resource* resource, const D3D12_DEPTH_STENCIL_VIEW_DESC* desc,
                            D3D12_CPU_DESCRIPTOR_HANDLE descriptor) override;
  HRESULT STDMETHODCALLTYPE
  TryCreateSamplerFeedbackUnorderedAccessView(ID3D12Resource* targeted, ID3D12Resource* feedback,
                                              D3D12_CPU_DESCRIPTOR_HANDLE descriptor) override;

 protected:
  bool QueryOwn(REFIID riid, void** object) override;
  void OnEnd() override;

 private:
  using Thin = ThinID3D12Device;

  HRESULT OpenShared(HANDLE handle, REFIID riid, void** object);
  void NoteOpened(void* object, const Import& import);
  void NoteFailure(HRESULT result, const char* function);
  void NoteLoss(HRESULT result, const char* function);
  void NoteRenderTarget(ID3D12Resource* resource, const D3D12_RENDER_TARGET_VIEW_DESC* desc,
                        D3D12_CPU_DESCRIPTOR_HANDLE descriptor);
  void NoteDepthStencil(ID3D12Resource* resource, D3D12_CPU_DESCRIPTOR_HANDLE descriptor);
  uint32_t ViewIncrement(D3D12_DESCRIPTOR_HEAP_TYPE type) const;
  void StartAnnotations();
  void Forget();

  const DeviceOrigin origin_;
  const uint32_t wchar_bytes_;
  LayerDevice layer_device_;
  KeptAdapter adapter_;  // tells the memory when calls fail
  uint32_t render_target_increment_ = 0;
  uint32_t depth_stencil_increment_ = 0;
  BlockWriter* block_ = nullptr;
  Context* context_ = nullptr;
  std::once_flag breadcrumbs_once_;
  bool breadcrumbs_started_ = false;
  std::unique_ptr<AnnotationRuntime> annotations_;
  DescriptorShadow descriptors_;
  std::unique_ptr<DeviceCapture> capture_;
  std::unique_ptr<DeviceTools> tools_;
  std::atomic<bool> presents_{false};
  std::atomic<uint32_t> submissions_{0};
  std::atomic<bool> lost_{false};
  SubmissionFences submission_fences_;
};

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_APP_D3D12_DEVICE_H_
