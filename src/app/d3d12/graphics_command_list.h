// SPDX-License-Identifier: Apache-2.0
//
// The wrapper of graphics command lists, bundles among them. The generated class passes the calls on,
// with a breadcrumb around each that is work of the GPU; here is what needs more than that:
//   - where a recording begins and ends: creation, Reset, Close;
//   - annotations: BeginEvent, EndEvent, SetMarker;
//   - the pipeline and what is bound, so that a report can name what a draw that hangs uses;
//   - where nothing may be written: render passes and some queries; predication.
// Every method calls the generated one, which makes the real call: what is noted here changes neither
// arguments nor results. Arguments that make no sense are the real list's affair, and are noted as far
// as they can be read without risk.
#ifndef CAIRN_APP_D3D12_GRAPHICS_COMMAND_LIST_H_
#define CAIRN_APP_D3D12_GRAPHICS_COMMAND_LIST_H_

#include <memory>

#include "app/d3d12/bindings.h"
#include "app/d3d12/capture/structure_capture.h"
#include "app/d3d12/work_graphs.h"
#include "app/d3d12/work_list.h"
#include "d3d12abi/pending_copies.h"
#include "d3d12abi/resource_states.h"
#include "d3d12gen/thin.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

// A capture's state of a recording.
struct ListCapture {
  ListStates states;
  ListCopies copies;
  ListStructures structures;
  RecordBytes record_bytes;  // of the work graph that is set

  void Reset() {
    states.Reset();
    copies.Reset();
    structures.Reset();
    record_bytes = nullptr;
  }
};

class WrappedID3D12GraphicsCommandList final : public ThinID3D12GraphicsCommandList {
 public:
  WrappedID3D12GraphicsCommandList(WrappedID3D12Device& device, void* real);

  // graphics_command_list.cc
  HRESULT STDMETHODCALLTYPE Close() override;
  HRESULT STDMETHODCALLTYPE Reset(ID3D12CommandAllocator* allocator,
                                  ID3D12PipelineState* initial_state) override;
  void STDMETHODCALLTYPE ClearState(ID3D12PipelineState* state) override;
  void STDMETHODCALLTYPE SetPipelineState(ID3D12PipelineState* state) override;
  void STDMETHODCALLTYPE SetPipelineState1(ID3D12StateObject* state_object) override;
  void STDMETHODCALLTYPE SetProgram(const D3D12_SET_PROGRAM_DESC* desc) override;
  void STDMETHODCALLTYPE DispatchGraph(const D3D12_DISPATCH_GRAPH_DESC* desc) override;
  void STDMETHODCALLTYPE ExecuteBundle(ID3D12GraphicsCommandList* bundle) override;
  void STDMETHODCALLTYPE BeginEvent(UINT metadata, const void* data, UINT size) override;
  void STDMETHODCALLTYPE EndEvent() override;
  void STDMETHODCALLTYPE SetMarker(UINT metadata, const void* data, UINT size) override;
  void STDMETHODCALLTYPE BeginQuery(ID3D12QueryHeap* heap, D3D12_QUERY_TYPE type,
                                    UINT index) override;
  void STDMETHODCALLTYPE EndQuery(ID3D12QueryHeap* heap, D3D12_QUERY_TYPE type,
                                  UINT index) override;
  void STDMETHODCALLTYPE SetPredication(ID3D12Resource* buffer, UINT64 offset,
                                        D3D12_PREDICATION_OP operation) override;
  void STDMETHODCALLTYPE BeginRenderPass(UINT target_count,
                                         const D3D12_RENDER_PASS_RENDER_TARGET_DESC* targets,
                                         const D3D12_RENDER_PASS_DEPTH_STENCIL_DESC* depth_stencil,
                                         D3D12_RENDER_PASS_FLAGS flags) override;
  void STDMETHODCALLTYPE EndRenderPass() override;

  // graphics_command_list_bindings.cc: what stays bound
  void STDMETHODCALLTYPE
  OMSetRenderTargets(UINT count, const D3D12_CPU_DESCRIPTOR_HANDLE* targets, BOOL single_range,
                     const D3D12_CPU_DESCRIPTOR_HANDLE* depth_stencil) override;
  void STDMETHODCALLTYPE IASetVertexBuffers(UINT start, UINT count,
                                            const D3D12_VERTEX_BUFFER_VIEW* views) override;
  void STDMETHODCALLTYPE IASetIndexBuffer(const D3D12_INDEX_BUFFER_VIEW* view) override;
  void STDMETHODCALLTYPE SOSetTargets(UINT start, UINT count,
                                      const D3D12_STREAM_OUTPUT_BUFFER_VIEW* views) override;
  void STDMETHODCALLTYPE SetGraphicsRootSignature(ID3D12RootSignature* signature) override;
  void STDMETHODCALLTYPE SetComputeRootSignature(ID3D12RootSignature* signature) override;
  void STDMETHODCALLTYPE
  SetGraphicsRootConstantBufferView(UINT parameter, D3D12_GPU_VIRTUAL_ADDRESS address) override;
  void STDMETHODCALLTYPE
  SetComputeRootConstantBufferView(UINT parameter, D3D12_GPU_VIRTUAL_ADDRESS address) override;
  void STDMETHODCALLTYPE
  SetGraphicsRootShaderResourceView(UINT parameter, D3D12_GPU_VIRTUAL_ADDRESS address) override;
  void STDMETHODCALLTYPE
  SetComputeRootShaderResourceView(UINT parameter, D3D12_GPU_VIRTUAL_ADDRESS address) override;
  void STDMETHODCALLTYPE
  SetGraphicsRootUnorderedAccessView(UINT parameter, D3D12_GPU_VIRTUAL_ADDRESS address) override;
  void STDMETHODCALLTYPE
  SetComputeRootUnorderedAccessView(UINT parameter, D3D12_GPU_VIRTUAL_ADDRESS address) override;

  // graphics_command_list_bindings.cc: what one command uses
  void STDMETHODCALLTYPE CopyBufferRegion(ID3D12Resource* to, UINT64 to_offset,
                                          ID3D12Resource* from, UINT64 from_offset,
                                          UINT64 bytes) override;
  void STDMETHODCALLTYPE CopyTextureRegion(const D3D12_TEXTURE_COPY_LOCATION* to, UINT x, UINT y,
                                           UINT z, const D3D12_TEXTURE_COPY_LOCATION* from,
                                           const D3D12_BOX* box) override;
  void STDMETHODCALLTYPE CopyResource(ID3D12Resource* to, ID3D12Resource* from) override;
  void STDMETHODCALLTYPE CopyTiles(ID3D12Resource* tiled,
                                   const D3D12_TILED_RESOURCE_COORDINATE* start,
                                   const D3D12_TILE_REGION_SIZE* size, ID3D12Resource* buffer,
                                   UINT64 offset, D3D12_TILE_COPY_FLAGS flags) override;
  void STDMETHODCALLTYPE ResolveSubresource(ID3D12Resource* to, UINT to_subresource,
                                            ID3D12Resource* from, UINT from_subresource,
                                            DXGI_FORMAT format) override;
  void STDMETHODCALLTYPE ResolveSubresourceRegion(ID3D12Resource* to, UINT to_subresource, UINT x,
                                                  UINT y, ID3D12Resource* from,
                                                  UINT from_subresource, D3D12_RECT* rectangle,
                                                  DXGI_FORMAT format,
                                                  D3D12_RESOLVE_MODE mode) override;
  void STDMETHODCALLTYPE ClearDepthStencilView(D3D12_CPU_DESCRIPTOR_HANDLE view,
                                               D3D12_CLEAR_FLAGS flags, FLOAT depth, UINT8 stencil,
                                               UINT count, const D3D12_RECT* rectangles) override;
  void STDMETHODCALLTYPE ClearRenderTargetView(D3D12_CPU_DESCRIPTOR_HANDLE view,
                                               const FLOAT colour[4], UINT count,
                                               const D3D12_RECT* rectangles) override;
  void STDMETHODCALLTYPE ClearUnorderedAccessViewUint(D3D12_GPU_DESCRIPTOR_HANDLE gpu_view,
                                                      D3D12_CPU_DESCRIPTOR_HANDLE cpu_view,
                                                      ID3D12Resource* resource,
                                                      const UINT values[4], UINT count,
                                                      const D3D12_RECT* rectangles) override;
  void STDMETHODCALLTYPE ClearUnorderedAccessViewFloat(D3D12_GPU_DESCRIPTOR_HANDLE gpu_view,
                                                       D3D12_CPU_DESCRIPTOR_HANDLE cpu_view,
                                                       ID3D12Resource* resource,
                                                       const FLOAT values[4], UINT count,
                                                       const D3D12_RECT* rectangles) override;
  void STDMETHODCALLTYPE DiscardResource(ID3D12Resource* resource,
                                         const D3D12_DISCARD_REGION* region) override;
  void STDMETHODCALLTYPE ResolveQueryData(ID3D12QueryHeap* heap, D3D12_QUERY_TYPE type, UINT start,
                                          UINT count, ID3D12Resource* to, UINT64 offset) override;
  void STDMETHODCALLTYPE ExecuteIndirect(ID3D12CommandSignature* signature, UINT max_count,
                                         ID3D12Resource* arguments, UINT64 offset,
                                         ID3D12Resource* counter, UINT64 counter_offset) override;
  void STDMETHODCALLTYPE AtomicCopyBufferUINT(
      ID3D12Resource* to, UINT64 to_offset, ID3D12Resource* from, UINT64 from_offset, UINT count,
      ID3D12Resource* const* dependencies, const D3D12_SUBRESOURCE_RANGE_UINT64* ranges) override;
  void STDMETHODCALLTYPE AtomicCopyBufferUINT64(
      ID3D12Resource* to, UINT64 to_offset, ID3D12Resource* from, UINT64 from_offset, UINT count,
      ID3D12Resource* const* dependencies, const D3D12_SUBRESOURCE_RANGE_UINT64* ranges) override;
  void STDMETHODCALLTYPE
  WriteBufferImmediate(UINT count, const D3D12_WRITEBUFFERIMMEDIATE_PARAMETER* parameters,
                       const D3D12_WRITEBUFFERIMMEDIATE_MODE* modes) override;
  void STDMETHODCALLTYPE BuildRaytracingAccelerationStructure(
      const D3D12_BUILD_RAYTRACING_ACCELERATION_STRUCTURE_DESC* desc, UINT info_count,
      const D3D12_RAYTRACING_ACCELERATION_STRUCTURE_POSTBUILD_INFO_DESC* infos) override;
  void STDMETHODCALLTYPE CopyRaytracingAccelerationStructure(
      D3D12_GPU_VIRTUAL_ADDRESS to, D3D12_GPU_VIRTUAL_ADDRESS from,
      D3D12_RAYTRACING_ACCELERATION_STRUCTURE_COPY_MODE mode) override;

  // graphics_command_list_capture.cc: in which states resources are left, for captures
  void STDMETHODCALLTYPE ResourceBarrier(UINT count,
                                         const D3D12_RESOURCE_BARRIER* barriers) override;
  void STDMETHODCALLTYPE Barrier(UINT32 group_count, const D3D12_BARRIER_GROUP* groups) override;

  WorkList& work() { return work_; }
  // Null without a capture.
  const ListCapture* captured() const { return captured_.get(); }
  // The program records into the Vulkan command buffer behind the list (vkd3d-proton), from the moment that it asked
  // for it until it says that it is done. By the thread that records.
  void SetVulkanTaken(bool taken) { vulkan_taken_ = taken; }
  const LayerList* layer_list() const override { return work_.identity(); }

 protected:
  AnnotatedChild* annotated() override { return &work_.annotations(); }
  void OnNamed(std::string_view name) override { work_.SetName(name); }
  void OnEnd() override { work_.Ended(); }

 private:
  using Thin = ThinID3D12GraphicsCommandList;

  ListBreadcrumbs& notes() { return work_.notes(); }
  uint32_t ObjectBehind(D3D12_CPU_DESCRIPTOR_HANDLE view) const;
  // Notes source and destination of the next command.
  void Use(ID3D12Resource* to, ID3D12Resource* from);

  // A recording begins.
  void ResetCapture();
  // For captures: what a command writes. Null resources are noted as nothing.
  void NoteCopiedInto(ID3D12Resource* to, uint32_t subresource);
  void NoteBytesCopied(ID3D12Resource* to, uint64_t offset_bytes, uint64_t size_bytes,
                       ID3D12Resource* from);
  void NoteResourceCopied(ID3D12Resource* to, ID3D12Resource* from);
  void NoteTextureCopied(const D3D12_TEXTURE_COPY_LOCATION& to, UINT x, UINT y, UINT z,
                         const D3D12_TEXTURE_COPY_LOCATION& from, const D3D12_BOX* box);
  void NoteStructureBuilt(const D3D12_BUILD_RAYTRACING_ACCELERATION_STRUCTURE_DESC* desc);
  void NoteStructureCopied(D3D12_GPU_VIRTUAL_ADDRESS to, D3D12_GPU_VIRTUAL_ADDRESS from,
                           D3D12_RAYTRACING_ACCELERATION_STRUCTURE_COPY_MODE mode);
  void NoteQueriesResolved(ID3D12Resource* to, uint64_t offset_bytes, uint64_t size_bytes);
  // The rows' buffer is the one that the CPU is to read, if `to` is one; no buffer (0) otherwise.
  CopiedRows ReadByCpu(ID3D12Resource* to, ID3D12Resource* from);
  // Records a copy whose bytes in `to` are unknown.
  void NoteUnknownCopy(ID3D12Resource* to);
  void NoteTargets(UINT count, const D3D12_CPU_DESCRIPTOR_HANDLE* targets, BOOL single_range);

  WorkList work_;
  std::unique_ptr<ListCapture> captured_;  // null without a capture
  bool vulkan_taken_ = false;
};

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_APP_D3D12_GRAPHICS_COMMAND_LIST_H_
