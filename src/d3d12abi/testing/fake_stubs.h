// SPDX-License-Identifier: Apache-2.0
//
// Objects of Direct3D 12 that implement nothing, for fakes in tests to derive from: every method fails
// or does nothing. IUnknown is left to them.
#ifndef CAIRN_D3D12ABI_TESTING_FAKE_STUBS_H_
#define CAIRN_D3D12ABI_TESTING_FAKE_STUBS_H_

#include "d3d12abi/d3d12_api.h"

// The interfaces have no destructors; who derives from these adds a virtual one.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

// The methods that all children of a device share.
template <typename Interface>
class NoChild : public Interface {
 public:
  HRESULT STDMETHODCALLTYPE GetPrivateData(REFGUID, UINT*, void*) override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE SetPrivateData(REFGUID, UINT, const void*) override {
    return E_NOTIMPL;
  }
  HRESULT STDMETHODCALLTYPE SetPrivateDataInterface(REFGUID, const IUnknown*) override {
    return E_NOTIMPL;
  }
  HRESULT STDMETHODCALLTYPE SetName(LPCWSTR) override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE GetDevice(REFIID, void**) override { return E_NOTIMPL; }

 protected:
  ~NoChild() = default;
};

class NoResource : public NoChild<ID3D12Resource> {
 public:
  HRESULT STDMETHODCALLTYPE Map(UINT, const D3D12_RANGE*, void**) override { return E_NOTIMPL; }
  void STDMETHODCALLTYPE Unmap(UINT, const D3D12_RANGE*) override {}
  D3D12_RESOURCE_DESC* STDMETHODCALLTYPE GetDesc(D3D12_RESOURCE_DESC*) override { return {}; }
  D3D12_GPU_VIRTUAL_ADDRESS STDMETHODCALLTYPE GetGPUVirtualAddress() override { return {}; }
  HRESULT STDMETHODCALLTYPE WriteToSubresource(UINT, const D3D12_BOX*, const void*, UINT,
                                               UINT) override {
    return E_NOTIMPL;
  }
  HRESULT STDMETHODCALLTYPE ReadFromSubresource(void*, UINT, UINT, UINT,
                                                const D3D12_BOX*) override {
    return E_NOTIMPL;
  }
  HRESULT STDMETHODCALLTYPE GetHeapProperties(D3D12_HEAP_PROPERTIES*, D3D12_HEAP_FLAGS*) override {
    return E_NOTIMPL;
  }

 protected:
  ~NoResource() = default;
};

class NoAllocator : public NoChild<ID3D12CommandAllocator> {
 public:
  HRESULT STDMETHODCALLTYPE Reset() override { return E_NOTIMPL; }

 protected:
  ~NoAllocator() = default;
};

class NoFence : public NoChild<ID3D12Fence1> {
 public:
  UINT64 STDMETHODCALLTYPE GetCompletedValue() override { return {}; }
  HRESULT STDMETHODCALLTYPE SetEventOnCompletion(UINT64, HANDLE) override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE Signal(UINT64) override { return E_NOTIMPL; }
  D3D12_FENCE_FLAGS STDMETHODCALLTYPE GetCreationFlags() override { return {}; }

 protected:
  ~NoFence() = default;
};

// `Interface`: ID3D12GraphicsCommandList4, or one that derives from it.
template <typename Interface>
class NoCommandListOf : public NoChild<Interface> {
 public:
  D3D12_COMMAND_LIST_TYPE STDMETHODCALLTYPE GetType() override { return {}; }
  HRESULT STDMETHODCALLTYPE Close() override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE Reset(ID3D12CommandAllocator*, ID3D12PipelineState*) override {
    return E_NOTIMPL;
  }
  void STDMETHODCALLTYPE ClearState(ID3D12PipelineState*) override {}
  void STDMETHODCALLTYPE DrawInstanced(UINT, UINT, UINT, UINT) override {}
  void STDMETHODCALLTYPE DrawIndexedInstanced(UINT, UINT, UINT, INT, UINT) override {}
  void STDMETHODCALLTYPE Dispatch(UINT, UINT, UINT) override {}
  void STDMETHODCALLTYPE CopyBufferRegion(ID3D12Resource*, UINT64, ID3D12Resource*, UINT64,
                                          UINT64) override {}
  void STDMETHODCALLTYPE CopyTextureRegion(const D3D12_TEXTURE_COPY_LOCATION*, UINT, UINT, UINT,
                                           const D3D12_TEXTURE_COPY_LOCATION*,
                                           const D3D12_BOX*) override {}
  void STDMETHODCALLTYPE CopyResource(ID3D12Resource*, ID3D12Resource*) override {}
  void STDMETHODCALLTYPE CopyTiles(ID3D12Resource*, const D3D12_TILED_RESOURCE_COORDINATE*,
                                   const D3D12_TILE_REGION_SIZE*, ID3D12Resource*, UINT64,
                                   D3D12_TILE_COPY_FLAGS) override {}
  void STDMETHODCALLTYPE ResolveSubresource(ID3D12Resource*, UINT, ID3D12Resource*, UINT,
                                            DXGI_FORMAT) override {}
  void STDMETHODCALLTYPE IASetPrimitiveTopology(D3D12_PRIMITIVE_TOPOLOGY) override {}
  void STDMETHODCALLTYPE RSSetViewports(UINT, const D3D12_VIEWPORT*) override {}
  void STDMETHODCALLTYPE RSSetScissorRects(UINT, const D3D12_RECT*) override {}
  void STDMETHODCALLTYPE OMSetBlendFactor(const FLOAT*) override {}
  void STDMETHODCALLTYPE OMSetStencilRef(UINT) override {}
  void STDMETHODCALLTYPE SetPipelineState(ID3D12PipelineState*) override {}
  void STDMETHODCALLTYPE ResourceBarrier(UINT, const D3D12_RESOURCE_BARRIER*) override {}
  void STDMETHODCALLTYPE ExecuteBundle(ID3D12GraphicsCommandList*) override {}
  void STDMETHODCALLTYPE SetDescriptorHeaps(UINT, ID3D12DescriptorHeap* const*) override {}
  void STDMETHODCALLTYPE SetComputeRootSignature(ID3D12RootSignature*) override {}
  void STDMETHODCALLTYPE SetGraphicsRootSignature(ID3D12RootSignature*) override {}
  void STDMETHODCALLTYPE SetComputeRootDescriptorTable(UINT, D3D12_GPU_DESCRIPTOR_HANDLE) override {
  }
  void STDMETHODCALLTYPE SetGraphicsRootDescriptorTable(UINT,
                                                        D3D12_GPU_DESCRIPTOR_HANDLE) override {}
  void STDMETHODCALLTYPE SetComputeRoot32BitConstant(UINT, UINT, UINT) override {}
  void STDMETHODCALLTYPE SetGraphicsRoot32BitConstant(UINT, UINT, UINT) override {}
  void STDMETHODCALLTYPE SetComputeRoot32BitConstants(UINT, UINT, const void*, UINT) override {}
  void STDMETHODCALLTYPE SetGraphicsRoot32BitConstants(UINT, UINT, const void*, UINT) override {}
  void STDMETHODCALLTYPE SetComputeRootConstantBufferView(UINT,
                                                          D3D12_GPU_VIRTUAL_ADDRESS) override {}
  void STDMETHODCALLTYPE SetGraphicsRootConstantBufferView(UINT,
                                                           D3D12_GPU_VIRTUAL_ADDRESS) override {}
  void STDMETHODCALLTYPE SetComputeRootShaderResourceView(UINT,
                                                          D3D12_GPU_VIRTUAL_ADDRESS) override {}
  void STDMETHODCALLTYPE SetGraphicsRootShaderResourceView(UINT,
                                                           D3D12_GPU_VIRTUAL_ADDRESS) override {}
  void STDMETHODCALLTYPE SetComputeRootUnorderedAccessView(UINT,
                                                           D3D12_GPU_VIRTUAL_ADDRESS) override {}
  void STDMETHODCALLTYPE SetGraphicsRootUnorderedAccessView(UINT,
                                                            D3D12_GPU_VIRTUAL_ADDRESS) override {}
  void STDMETHODCALLTYPE IASetIndexBuffer(const D3D12_INDEX_BUFFER_VIEW*) override {}
  void STDMETHODCALLTYPE IASetVertexBuffers(UINT, UINT, const D3D12_VERTEX_BUFFER_VIEW*) override {}
  void STDMETHODCALLTYPE SOSetTargets(UINT, UINT, const D3D12_STREAM_OUTPUT_BUFFER_VIEW*) override {
  }
  void STDMETHODCALLTYPE OMSetRenderTargets(UINT, const D3D12_CPU_DESCRIPTOR_HANDLE*, BOOL,
                                            const D3D12_CPU_DESCRIPTOR_HANDLE*) override {}
  void STDMETHODCALLTYPE ClearDepthStencilView(D3D12_CPU_DESCRIPTOR_HANDLE, D3D12_CLEAR_FLAGS,
                                               FLOAT, UINT8, UINT, const D3D12_RECT*) override {}
  void STDMETHODCALLTYPE ClearRenderTargetView(D3D12_CPU_DESCRIPTOR_HANDLE, const FLOAT*, UINT,
                                               const D3D12_RECT*) override {}
  void STDMETHODCALLTYPE ClearUnorderedAccessViewUint(D3D12_GPU_DESCRIPTOR_HANDLE,
                                                      D3D12_CPU_DESCRIPTOR_HANDLE, ID3D12Resource*,
                                                      const UINT*, UINT,
                                                      const D3D12_RECT*) override {}
  void STDMETHODCALLTYPE ClearUnorderedAccessViewFloat(D3D12_GPU_DESCRIPTOR_HANDLE,
                                                       D3D12_CPU_DESCRIPTOR_HANDLE, ID3D12Resource*,
                                                       const FLOAT*, UINT,
                                                       const D3D12_RECT*) override {}
  void STDMETHODCALLTYPE DiscardResource(ID3D12Resource*, const D3D12_DISCARD_REGION*) override {}
  void STDMETHODCALLTYPE BeginQuery(ID3D12QueryHeap*, D3D12_QUERY_TYPE, UINT) override {}
  void STDMETHODCALLTYPE EndQuery(ID3D12QueryHeap*, D3D12_QUERY_TYPE, UINT) override {}
  void STDMETHODCALLTYPE ResolveQueryData(ID3D12QueryHeap*, D3D12_QUERY_TYPE, UINT, UINT,
                                          ID3D12Resource*, UINT64) override {}
  void STDMETHODCALLTYPE SetPredication(ID3D12Resource*, UINT64, D3D12_PREDICATION_OP) override {}
  void STDMETHODCALLTYPE SetMarker(UINT, const void*, UINT) override {}
  void STDMETHODCALLTYPE BeginEvent(UINT, const void*, UINT) override {}
  void STDMETHODCALLTYPE EndEvent() override {}
  void STDMETHODCALLTYPE ExecuteIndirect(ID3D12CommandSignature*, UINT, ID3D12Resource*, UINT64,
                                         ID3D12Resource*, UINT64) override {}

  void STDMETHODCALLTYPE AtomicCopyBufferUINT(ID3D12Resource*, UINT64, ID3D12Resource*, UINT64,
                                              UINT, ID3D12Resource* const*,
                                              const D3D12_SUBRESOURCE_RANGE_UINT64*) override {}
  void STDMETHODCALLTYPE AtomicCopyBufferUINT64(ID3D12Resource*, UINT64, ID3D12Resource*, UINT64,
                                                UINT, ID3D12Resource* const*,
                                                const D3D12_SUBRESOURCE_RANGE_UINT64*) override {}
  void STDMETHODCALLTYPE OMSetDepthBounds(FLOAT, FLOAT) override {}
  void STDMETHODCALLTYPE SetSamplePositions(UINT, UINT, D3D12_SAMPLE_POSITION*) override {}
  void STDMETHODCALLTYPE ResolveSubresourceRegion(ID3D12Resource*, UINT, UINT, UINT,
                                                  ID3D12Resource*, UINT, D3D12_RECT*, DXGI_FORMAT,
                                                  D3D12_RESOLVE_MODE) override {}
  void STDMETHODCALLTYPE SetViewInstanceMask(UINT) override {}
  void STDMETHODCALLTYPE WriteBufferImmediate(UINT, const D3D12_WRITEBUFFERIMMEDIATE_PARAMETER*,
                                              const D3D12_WRITEBUFFERIMMEDIATE_MODE*) override {}
  void STDMETHODCALLTYPE SetProtectedResourceSession(ID3D12ProtectedResourceSession*) override {}
  void STDMETHODCALLTYPE BeginRenderPass(UINT, const D3D12_RENDER_PASS_RENDER_TARGET_DESC*,
                                         const D3D12_RENDER_PASS_DEPTH_STENCIL_DESC*,
                                         D3D12_RENDER_PASS_FLAGS) override {}
  void STDMETHODCALLTYPE EndRenderPass() override {}
  void STDMETHODCALLTYPE InitializeMetaCommand(ID3D12MetaCommand*, const void*, SIZE_T) override {}
  void STDMETHODCALLTYPE ExecuteMetaCommand(ID3D12MetaCommand*, const void*, SIZE_T) override {}
  void STDMETHODCALLTYPE BuildRaytracingAccelerationStructure(
      const D3D12_BUILD_RAYTRACING_ACCELERATION_STRUCTURE_DESC*, UINT,
      const D3D12_RAYTRACING_ACCELERATION_STRUCTURE_POSTBUILD_INFO_DESC*) override {}
  void STDMETHODCALLTYPE EmitRaytracingAccelerationStructurePostbuildInfo(
      const D3D12_RAYTRACING_ACCELERATION_STRUCTURE_POSTBUILD_INFO_DESC*, UINT,
      const D3D12_GPU_VIRTUAL_ADDRESS*) override {}
  void STDMETHODCALLTYPE
  CopyRaytracingAccelerationStructure(D3D12_GPU_VIRTUAL_ADDRESS, D3D12_GPU_VIRTUAL_ADDRESS,
                                      D3D12_RAYTRACING_ACCELERATION_STRUCTURE_COPY_MODE) override {}
  void STDMETHODCALLTYPE SetPipelineState1(ID3D12StateObject*) override {}
  void STDMETHODCALLTYPE DispatchRays(const D3D12_DISPATCH_RAYS_DESC*) override {}

 protected:
  ~NoCommandListOf() = default;
};
using NoCommandList = NoCommandListOf<ID3D12GraphicsCommandList4>;

class NoQueue : public NoChild<ID3D12CommandQueue> {
 public:
  void STDMETHODCALLTYPE UpdateTileMappings(ID3D12Resource*, UINT,
                                            const D3D12_TILED_RESOURCE_COORDINATE*,
                                            const D3D12_TILE_REGION_SIZE*, ID3D12Heap*, UINT,
                                            const D3D12_TILE_RANGE_FLAGS*, const UINT*, const UINT*,
                                            D3D12_TILE_MAPPING_FLAGS) override {}
  void STDMETHODCALLTYPE CopyTileMappings(ID3D12Resource*, const D3D12_TILED_RESOURCE_COORDINATE*,
                                          ID3D12Resource*, const D3D12_TILED_RESOURCE_COORDINATE*,
                                          const D3D12_TILE_REGION_SIZE*,
                                          D3D12_TILE_MAPPING_FLAGS) override {}
  void STDMETHODCALLTYPE ExecuteCommandLists(UINT, ID3D12CommandList* const*) override {}
  void STDMETHODCALLTYPE SetMarker(UINT, const void*, UINT) override {}
  void STDMETHODCALLTYPE BeginEvent(UINT, const void*, UINT) override {}
  void STDMETHODCALLTYPE EndEvent() override {}
  HRESULT STDMETHODCALLTYPE Signal(ID3D12Fence*, UINT64) override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE Wait(ID3D12Fence*, UINT64) override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE GetTimestampFrequency(UINT64*) override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE GetClockCalibration(UINT64*, UINT64*) override { return E_NOTIMPL; }
  D3D12_COMMAND_QUEUE_DESC* STDMETHODCALLTYPE GetDesc(D3D12_COMMAND_QUEUE_DESC*) override {
    return {};
  }

 protected:
  ~NoQueue() = default;
};

class NoDevice : public ID3D12Device5 {
 public:
  HRESULT STDMETHODCALLTYPE GetPrivateData(REFGUID, UINT*, void*) override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE SetPrivateData(REFGUID, UINT, const void*) override {
    return E_NOTIMPL;
  }
  HRESULT STDMETHODCALLTYPE SetPrivateDataInterface(REFGUID, const IUnknown*) override {
    return E_NOTIMPL;
  }
  HRESULT STDMETHODCALLTYPE SetName(LPCWSTR) override { return E_NOTIMPL; }
  UINT STDMETHODCALLTYPE GetNodeCount() override { return {}; }
  HRESULT STDMETHODCALLTYPE CreateCommandQueue(const D3D12_COMMAND_QUEUE_DESC*, REFIID,
                                               void**) override {
    return E_NOTIMPL;
  }
  HRESULT STDMETHODCALLTYPE CreateCommandAllocator(D3D12_COMMAND_LIST_TYPE, REFIID,
                                                   void**) override {
    return E_NOTIMPL;
  }
  HRESULT STDMETHODCALLTYPE CreateGraphicsPipelineState(const D3D12_GRAPHICS_PIPELINE_STATE_DESC*,
                                                        REFIID, void**) override {
    return E_NOTIMPL;
  }
  HRESULT STDMETHODCALLTYPE CreateComputePipelineState(const D3D12_COMPUTE_PIPELINE_STATE_DESC*,
                                                       REFIID, void**) override {
    return E_NOTIMPL;
  }
  HRESULT STDMETHODCALLTYPE CreateCommandList(UINT, D3D12_COMMAND_LIST_TYPE,
                                              ID3D12CommandAllocator*, ID3D12PipelineState*, REFIID,
                                              void**) override {
    return E_NOTIMPL;
  }
  HRESULT STDMETHODCALLTYPE CheckFeatureSupport(D3D12_FEATURE, void*, UINT) override {
    return E_NOTIMPL;
  }
  HRESULT STDMETHODCALLTYPE CreateDescriptorHeap(const D3D12_DESCRIPTOR_HEAP_DESC*, REFIID,
                                                 void**) override {
    return E_NOTIMPL;
  }
  UINT STDMETHODCALLTYPE GetDescriptorHandleIncrementSize(D3D12_DESCRIPTOR_HEAP_TYPE) override {
    return {};
  }
  HRESULT STDMETHODCALLTYPE CreateRootSignature(UINT, const void*, SIZE_T, REFIID,
                                                void**) override {
    return E_NOTIMPL;
  }
  void STDMETHODCALLTYPE CreateConstantBufferView(const D3D12_CONSTANT_BUFFER_VIEW_DESC*,
                                                  D3D12_CPU_DESCRIPTOR_HANDLE) override {}
  void STDMETHODCALLTYPE CreateShaderResourceView(ID3D12Resource*,
                                                  const D3D12_SHADER_RESOURCE_VIEW_DESC*,
                                                  D3D12_CPU_DESCRIPTOR_HANDLE) override {}
  void STDMETHODCALLTYPE CreateUnorderedAccessView(ID3D12Resource*, ID3D12Resource*,
                                                   const D3D12_UNORDERED_ACCESS_VIEW_DESC*,
                                                   D3D12_CPU_DESCRIPTOR_HANDLE) override {}
  void STDMETHODCALLTYPE CreateRenderTargetView(ID3D12Resource*,
                                                const D3D12_RENDER_TARGET_VIEW_DESC*,
                                                D3D12_CPU_DESCRIPTOR_HANDLE) override {}
  void STDMETHODCALLTYPE CreateDepthStencilView(ID3D12Resource*,
                                                const D3D12_DEPTH_STENCIL_VIEW_DESC*,
                                                D3D12_CPU_DESCRIPTOR_HANDLE) override {}
  void STDMETHODCALLTYPE CreateSampler(const D3D12_SAMPLER_DESC*,
                                       D3D12_CPU_DESCRIPTOR_HANDLE) override {}
  void STDMETHODCALLTYPE CopyDescriptors(UINT, const D3D12_CPU_DESCRIPTOR_HANDLE*, const UINT*,
                                         UINT, const D3D12_CPU_DESCRIPTOR_HANDLE*, const UINT*,
                                         D3D12_DESCRIPTOR_HEAP_TYPE) override {}
  void STDMETHODCALLTYPE CopyDescriptorsSimple(UINT, D3D12_CPU_DESCRIPTOR_HANDLE,
                                               D3D12_CPU_DESCRIPTOR_HANDLE,
                                               D3D12_DESCRIPTOR_HEAP_TYPE) override {}
  D3D12_RESOURCE_ALLOCATION_INFO* STDMETHODCALLTYPE GetResourceAllocationInfo(
      D3D12_RESOURCE_ALLOCATION_INFO*, UINT, UINT, const D3D12_RESOURCE_DESC*) override {
    return {};
  }
  D3D12_HEAP_PROPERTIES* STDMETHODCALLTYPE GetCustomHeapProperties(D3D12_HEAP_PROPERTIES*, UINT,
                                                                   D3D12_HEAP_TYPE) override {
    return {};
  }
  HRESULT STDMETHODCALLTYPE CreateCommittedResource(const D3D12_HEAP_PROPERTIES*, D3D12_HEAP_FLAGS,
                                                    const D3D12_RESOURCE_DESC*,
                                                    D3D12_RESOURCE_STATES, const D3D12_CLEAR_VALUE*,
                                                    REFIID, void**) override {
    return E_NOTIMPL;
  }
  HRESULT STDMETHODCALLTYPE CreateHeap(const D3D12_HEAP_DESC*, REFIID, void**) override {
    return E_NOTIMPL;
  }
  HRESULT STDMETHODCALLTYPE CreatePlacedResource(ID3D12Heap*, UINT64, const D3D12_RESOURCE_DESC*,
                                                 D3D12_RESOURCE_STATES, const D3D12_CLEAR_VALUE*,
                                                 REFIID, void**) override {
    return E_NOTIMPL;
  }
  HRESULT STDMETHODCALLTYPE CreateReservedResource(const D3D12_RESOURCE_DESC*,
                                                   D3D12_RESOURCE_STATES, const D3D12_CLEAR_VALUE*,
                                                   REFIID, void**) override {
    return E_NOTIMPL;
  }
  HRESULT STDMETHODCALLTYPE CreateSharedHandle(ID3D12DeviceChild*, const SECURITY_ATTRIBUTES*,
                                               DWORD, LPCWSTR, HANDLE*) override {
    return E_NOTIMPL;
  }
  HRESULT STDMETHODCALLTYPE OpenSharedHandle(HANDLE, REFIID, void**) override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE OpenSharedHandleByName(LPCWSTR, DWORD, HANDLE*) override {
    return E_NOTIMPL;
  }
  HRESULT STDMETHODCALLTYPE MakeResident(UINT, ID3D12Pageable* const*) override {
    return E_NOTIMPL;
  }
  HRESULT STDMETHODCALLTYPE Evict(UINT, ID3D12Pageable* const*) override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE CreateFence(UINT64, D3D12_FENCE_FLAGS, REFIID, void**) override {
    return E_NOTIMPL;
  }
  HRESULT STDMETHODCALLTYPE GetDeviceRemovedReason() override { return E_NOTIMPL; }
  void STDMETHODCALLTYPE GetCopyableFootprints(const D3D12_RESOURCE_DESC*, UINT, UINT, UINT64,
                                               D3D12_PLACED_SUBRESOURCE_FOOTPRINT*, UINT*, UINT64*,
                                               UINT64*) override {}
  HRESULT STDMETHODCALLTYPE CreateQueryHeap(const D3D12_QUERY_HEAP_DESC*, REFIID, void**) override {
    return E_NOTIMPL;
  }
  HRESULT STDMETHODCALLTYPE SetStablePowerState(BOOL) override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE CreateCommandSignature(const D3D12_COMMAND_SIGNATURE_DESC*,
                                                   ID3D12RootSignature*, REFIID, void**) override {
    return E_NOTIMPL;
  }
  void STDMETHODCALLTYPE GetResourceTiling(ID3D12Resource*, UINT*, D3D12_PACKED_MIP_INFO*,
                                           D3D12_TILE_SHAPE*, UINT*, UINT,
                                           D3D12_SUBRESOURCE_TILING*) override {}
  LUID* STDMETHODCALLTYPE GetAdapterLuid(LUID*) override { return {}; }

  HRESULT STDMETHODCALLTYPE CreatePipelineLibrary(const void*, SIZE_T, REFIID, void**) override {
    return E_NOTIMPL;
  }
  HRESULT STDMETHODCALLTYPE SetEventOnMultipleFenceCompletion(ID3D12Fence* const*, const UINT64*,
                                                              UINT, D3D12_MULTIPLE_FENCE_WAIT_FLAGS,
                                                              HANDLE) override {
    return E_NOTIMPL;
  }
  HRESULT STDMETHODCALLTYPE SetResidencyPriority(UINT, ID3D12Pageable* const*,
                                                 const D3D12_RESIDENCY_PRIORITY*) override {
    return E_NOTIMPL;
  }
  HRESULT STDMETHODCALLTYPE CreatePipelineState(const D3D12_PIPELINE_STATE_STREAM_DESC*, REFIID,
                                                void**) override {
    return E_NOTIMPL;
  }
  HRESULT STDMETHODCALLTYPE OpenExistingHeapFromAddress(const void*, REFIID, void**) override {
    return E_NOTIMPL;
  }
  HRESULT STDMETHODCALLTYPE OpenExistingHeapFromFileMapping(HANDLE, REFIID, void**) override {
    return E_NOTIMPL;
  }
  HRESULT STDMETHODCALLTYPE EnqueueMakeResident(D3D12_RESIDENCY_FLAGS, UINT, ID3D12Pageable* const*,
                                                ID3D12Fence*, UINT64) override {
    return E_NOTIMPL;
  }
  HRESULT STDMETHODCALLTYPE CreateCommandList1(UINT, D3D12_COMMAND_LIST_TYPE,
                                               D3D12_COMMAND_LIST_FLAGS, REFIID, void**) override {
    return E_NOTIMPL;
  }
  HRESULT STDMETHODCALLTYPE CreateProtectedResourceSession(
      const D3D12_PROTECTED_RESOURCE_SESSION_DESC*, REFIID, void**) override {
    return E_NOTIMPL;
  }
  HRESULT STDMETHODCALLTYPE CreateCommittedResource1(const D3D12_HEAP_PROPERTIES*, D3D12_HEAP_FLAGS,
                                                     const D3D12_RESOURCE_DESC*,
                                                     D3D12_RESOURCE_STATES,
                                                     const D3D12_CLEAR_VALUE*,
                                                     ID3D12ProtectedResourceSession*, REFIID,
                                                     void**) override {
    return E_NOTIMPL;
  }
  HRESULT STDMETHODCALLTYPE CreateHeap1(const D3D12_HEAP_DESC*, ID3D12ProtectedResourceSession*,
                                        REFIID, void**) override {
    return E_NOTIMPL;
  }
  HRESULT STDMETHODCALLTYPE CreateReservedResource1(const D3D12_RESOURCE_DESC*,
                                                    D3D12_RESOURCE_STATES, const D3D12_CLEAR_VALUE*,
                                                    ID3D12ProtectedResourceSession*, REFIID,
                                                    void**) override {
    return E_NOTIMPL;
  }
  D3D12_RESOURCE_ALLOCATION_INFO* STDMETHODCALLTYPE GetResourceAllocationInfo1(
      D3D12_RESOURCE_ALLOCATION_INFO*, UINT, UINT, const D3D12_RESOURCE_DESC*,
      D3D12_RESOURCE_ALLOCATION_INFO1*) override {
    return {};
  }
  HRESULT STDMETHODCALLTYPE CreateLifetimeTracker(ID3D12LifetimeOwner*, REFIID, void**) override {
    return E_NOTIMPL;
  }
  void STDMETHODCALLTYPE RemoveDevice() override {}
  HRESULT STDMETHODCALLTYPE EnumerateMetaCommands(UINT*, D3D12_META_COMMAND_DESC*) override {
    return E_NOTIMPL;
  }
  HRESULT STDMETHODCALLTYPE
  EnumerateMetaCommandParameters(REFGUID, D3D12_META_COMMAND_PARAMETER_STAGE, UINT*, UINT*,
                                 D3D12_META_COMMAND_PARAMETER_DESC*) override {
    return E_NOTIMPL;
  }
  HRESULT STDMETHODCALLTYPE CreateMetaCommand(REFGUID, UINT, const void*, SIZE_T, REFIID,
                                              void**) override {
    return E_NOTIMPL;
  }
  HRESULT STDMETHODCALLTYPE CreateStateObject(const D3D12_STATE_OBJECT_DESC*, REFIID,
                                              void**) override {
    return E_NOTIMPL;
  }
  void STDMETHODCALLTYPE GetRaytracingAccelerationStructurePrebuildInfo(
      const D3D12_BUILD_RAYTRACING_ACCELERATION_STRUCTURE_INPUTS*,
      D3D12_RAYTRACING_ACCELERATION_STRUCTURE_PREBUILD_INFO*) override {}
  D3D12_DRIVER_MATCHING_IDENTIFIER_STATUS STDMETHODCALLTYPE
  CheckDriverMatchingIdentifier(D3D12_SERIALIZED_DATA_TYPE,
                                const D3D12_SERIALIZED_DATA_DRIVER_MATCHING_IDENTIFIER*) override {
    return {};
  }

 protected:
  ~NoDevice() = default;
};

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#pragma GCC diagnostic pop

#endif  // CAIRN_D3D12ABI_TESTING_FAKE_STUBS_H_
