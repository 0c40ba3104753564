// SPDX-License-Identifier: Apache-2.0
//
// Arguments at the edge: nothing where an object belongs, sizes that do not fit, unknown enumerators.
#include <array>
#include <cstring>

#include "embedded/fill.cs.dxbc.h"
#include "invisible/observer.h"

namespace observe {
namespace {

D3D12_RESOURCE_DESC TextureDesc() {
  D3D12_RESOURCE_DESC desc = {};
  desc.Dimension = D3D12_RESOURCE_DIMENSION_TEXTURE2D;
  desc.Width = 32;
  desc.Height = 16;
  desc.DepthOrArraySize = 2;
  desc.MipLevels = 3;
  desc.Format = DXGI_FORMAT_R8G8B8A8_UNORM;
  desc.SampleDesc.Count = 1;
  return desc;
}

void ObserveCreation(Observer& out, Scene& scene) {
  ID3D12Device* device = scene.device.get();
  ComPtr<ID3D12GraphicsCommandList> list;
  out.NoteResult("list without an allocator",
                 device->CreateCommandList(0, D3D12_COMMAND_LIST_TYPE_DIRECT, nullptr, nullptr,
                                           __uuidof(ID3D12GraphicsCommandList), list.Receive()));
  for (const uint32_t mask : {0u, 1u, 2u, 0xFFFFFFFFu}) {
    ComPtr<ID3D12CommandAllocator> allocator;
    device->CreateCommandAllocator(D3D12_COMMAND_LIST_TYPE_DIRECT, __uuidof(ID3D12CommandAllocator),
                                   allocator.Receive());
    out.NoteResult("node mask", device->CreateCommandList(
                                    mask, D3D12_COMMAND_LIST_TYPE_DIRECT, allocator.get(), nullptr,
                                    __uuidof(ID3D12GraphicsCommandList), list.Receive()));
  }
  for (const int type : {-1, 4, 5, 6, 100}) {
    ComPtr<ID3D12CommandAllocator> allocator;
    out.NoteResult("allocator type", device->CreateCommandAllocator(
                                         static_cast<D3D12_COMMAND_LIST_TYPE>(type),
                                         __uuidof(ID3D12CommandAllocator), allocator.Receive()));
    out.NoteBool("allocator", static_cast<bool>(allocator));
  }
  for (const uint32_t flags : {0u, 1u, 7u}) {
    for (const uint32_t type : {0u, 1u, 2u, 3u, 9u}) {
      const D3D12_DESCRIPTOR_HEAP_DESC desc = {static_cast<D3D12_DESCRIPTOR_HEAP_TYPE>(type), 4,
                                               static_cast<D3D12_DESCRIPTOR_HEAP_FLAGS>(flags), 0};
      ComPtr<ID3D12DescriptorHeap> heap;
      out.NoteResult("descriptor heap", device->CreateDescriptorHeap(
                                            &desc, __uuidof(ID3D12DescriptorHeap), heap.Receive()));
      if (!heap) continue;
      const D3D12_DESCRIPTOR_HEAP_DESC got = cairn::GetDesc(heap.get());
      out.Note("descriptor heap desc", HashBytes(&got, sizeof(got)));
    }
  }
  ComPtr<ID3D12RootSignature> signature;
  const uint8_t garbage[64] = {'D', 'X', 'B', 'C'};
  out.NoteResult("root signature of garbage",
                 device->CreateRootSignature(0, garbage, sizeof(garbage),
                                             __uuidof(ID3D12RootSignature), signature.Receive()));
  out.NoteResult("root signature of a shader",
                 device->CreateRootSignature(0, kFillCsDxbc, sizeof(kFillCsDxbc),
                                             __uuidof(ID3D12RootSignature), signature.Receive()));
  D3D12_COMPUTE_PIPELINE_STATE_DESC compute = {};
  compute.CS = {kFillCsDxbc, sizeof(kFillCsDxbc)};
  ComPtr<ID3D12PipelineState> pipeline;
  out.NoteResult("pipeline without a root signature",
                 device->CreateComputePipelineState(&compute, __uuidof(ID3D12PipelineState),
                                                    pipeline.Receive()));
  for (const uint64_t size : {uint64_t{0}, uint64_t{1} << 20}) {
    D3D12_HEAP_DESC desc = {};
    desc.SizeInBytes = size;
    desc.Properties.Type = D3D12_HEAP_TYPE_DEFAULT;
    ComPtr<ID3D12Heap> heap;
    out.NoteResult("heap", device->CreateHeap(&desc, __uuidof(ID3D12Heap), heap.Receive()));
  }
  ComPtr<ID3D12QueryHeap> queries;
  const D3D12_QUERY_HEAP_DESC query_desc = {static_cast<D3D12_QUERY_HEAP_TYPE>(88), 1, 0};
  out.NoteResult(
      "query heap of no type",
      device->CreateQueryHeap(&query_desc, __uuidof(ID3D12QueryHeap), queries.Receive()));
  ComPtr<ID3D12CommandSignature> command;
  D3D12_COMMAND_SIGNATURE_DESC command_desc = {};
  out.NoteResult("empty command signature",
                 device->CreateCommandSignature(
                     &command_desc, nullptr, __uuidof(ID3D12CommandSignature), command.Receive()));
  out.Note("device count", CountOf(device));
}

void ObserveSharing(Observer& out, Scene& scene) {
  HANDLE handle = nullptr;
  out.NoteResult("shared handle", scene.device->CreateSharedHandle(scene.fence.get(), nullptr,
                                                                   0x10000000, nullptr, &handle));
  ComPtr<ID3D12Fence> opened;
  out.NoteResult("open shared handle",
                 scene.device->OpenSharedHandle(nullptr, __uuidof(ID3D12Fence), opened.Receive()));
  out.NoteResult("open by name", scene.device->OpenSharedHandleByName(L"name", 0, &handle));
  out.NoteResult("stable power", scene.device->SetStablePowerState(FALSE));
}

void ObserveResources(Observer& out, Scene& scene) {
  ID3D12Device* device = scene.device.get();
  const D3D12_HEAP_PROPERTIES properties = {.Type = D3D12_HEAP_TYPE_DEFAULT};
  D3D12_RESOURCE_DESC desc = TextureDesc();
  ComPtr<ID3D12Resource> texture;
  out.NoteResult("texture",
                 device->CreateCommittedResource(&properties, D3D12_HEAP_FLAG_NONE, &desc,
                                                 D3D12_RESOURCE_STATE_COPY_DEST, nullptr,
                                                 __uuidof(ID3D12Resource), texture.Receive()));
  const D3D12_RESOURCE_DESC got = cairn::GetDesc(texture.get());
  out.Note("texture width", got.Width);
  out.Note("texture mips", got.MipLevels);
  out.Note("texture address", texture->GetGPUVirtualAddress());
  D3D12_HEAP_PROPERTIES heap = {};
  D3D12_HEAP_FLAGS flags = {};
  out.NoteResult("heap properties", texture->GetHeapProperties(&heap, &flags));
  out.Note("heap properties", HashBytes(&heap, sizeof(heap)) + flags);
  out.NoteResult("heap properties into nothing", texture->GetHeapProperties(nullptr, nullptr));
  std::array<uint8_t, 4096> bytes{};
  out.NoteResult("write subresource", texture->WriteToSubresource(0, nullptr, bytes.data(), 4, 4));
  out.NoteResult("read subresource", texture->ReadFromSubresource(bytes.data(), 4, 4, 0, nullptr));
  void* memory = nullptr;
  out.NoteResult("map texture", texture->Map(0, nullptr, &memory));
  std::array<D3D12_PLACED_SUBRESOURCE_FOOTPRINT, 6> footprints{};
  std::array<UINT, 6> rows{};
  std::array<UINT64, 6> row_bytes{};
  UINT64 total = 0;
  device->GetCopyableFootprints(&desc, 0, 6, 512, footprints.data(), rows.data(), row_bytes.data(),
                                &total);
  out.Note("footprints", HashBytes(footprints.data(), sizeof(footprints)));
  out.Note("rows", HashBytes(rows.data(), sizeof(rows)));
  out.Note("total", total);
  device->GetCopyableFootprints(&desc, 0, 6, 0, nullptr, nullptr, nullptr, &total);
  out.Note("total alone", total);
  device->GetCopyableFootprints(&desc, 5, 6, 0, nullptr, nullptr, nullptr, &total);
  out.Note("total of too many", total);
  desc.MipLevels = 40;
  ComPtr<ID3D12Resource> impossible;
  out.NoteResult("too many mips",
                 device->CreateCommittedResource(&properties, D3D12_HEAP_FLAG_NONE, &desc,
                                                 D3D12_RESOURCE_STATE_COPY_DEST, nullptr,
                                                 __uuidof(ID3D12Resource), impossible.Receive()));
  desc = TextureDesc();
  desc.Format = static_cast<DXGI_FORMAT>(1234);
  out.NoteResult("no format",
                 device->CreateCommittedResource(&properties, D3D12_HEAP_FLAG_NONE, &desc,
                                                 D3D12_RESOURCE_STATE_COPY_DEST, nullptr,
                                                 __uuidof(ID3D12Resource), impossible.Receive()));
  out.NoteBool("nothing came", !impossible);
  out.Note("device count", CountOf(device));
}

void ObserveDescriptors(Observer& out, Scene& scene) {
  ID3D12Device* device = scene.device.get();
  const D3D12_DESCRIPTOR_HEAP_DESC desc = {D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV, 16,
                                           D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE, 0};
  ComPtr<ID3D12DescriptorHeap> first;
  ComPtr<ID3D12DescriptorHeap> second;
  device->CreateDescriptorHeap(&desc, __uuidof(ID3D12DescriptorHeap), first.Receive());
  device->CreateDescriptorHeap(&desc, __uuidof(ID3D12DescriptorHeap), second.Receive());
  const auto buffer = scene.Buffer(D3D12_HEAP_TYPE_DEFAULT, 65536, D3D12_RESOURCE_STATE_COMMON,
                                   D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS);
  const uint32_t step =
      device->GetDescriptorHandleIncrementSize(D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV);
  D3D12_CPU_DESCRIPTOR_HANDLE handle = cairn::GetCpuStart(first.get());
  D3D12_CONSTANT_BUFFER_VIEW_DESC constants = {buffer->GetGPUVirtualAddress(), 256};
  device->CreateConstantBufferView(&constants, handle);
  device->CreateConstantBufferView(nullptr, handle);
  handle.ptr += step;
  D3D12_UNORDERED_ACCESS_VIEW_DESC access = {};
  access.Format = DXGI_FORMAT_R32_UINT;
  access.ViewDimension = D3D12_UAV_DIMENSION_BUFFER;
  access.Buffer.NumElements = 64;
  device->CreateUnorderedAccessView(buffer.get(), nullptr, &access, handle);
  device->CreateUnorderedAccessView(nullptr, nullptr, &access, handle);
  handle.ptr += step;
  D3D12_SHADER_RESOURCE_VIEW_DESC read = {};
  read.Format = DXGI_FORMAT_R32_UINT;
  read.ViewDimension = D3D12_SRV_DIMENSION_BUFFER;
  read.Shader4ComponentMapping = D3D12_DEFAULT_SHADER_4_COMPONENT_MAPPING;
  read.Buffer.NumElements = 64;
  device->CreateShaderResourceView(buffer.get(), &read, handle);
  device->CreateShaderResourceView(nullptr, &read, handle);
  D3D12_CPU_DESCRIPTOR_HANDLE from = cairn::GetCpuStart(first.get());
  D3D12_CPU_DESCRIPTOR_HANDLE to = cairn::GetCpuStart(second.get());
  device->CopyDescriptorsSimple(4, to, from, D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV);
  device->CopyDescriptors(1, &to, nullptr, 1, &from, nullptr,
                          D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV);
  out.Note("buffer count", CountOf(buffer.get()));
  out.Note("heap count", CountOf(first.get()));
  const D3D12_GPU_DESCRIPTOR_HANDLE gpu = cairn::GetGpuStart(first.get());
  out.NoteBool("GPU start", gpu.ptr != 0);
  ID3D12DescriptorHeap* const heaps[] = {first.get()};
  scene.list->SetDescriptorHeaps(1, heaps);
  const UINT clear[4] = {7, 7, 7, 7};
  D3D12_CPU_DESCRIPTOR_HANDLE target = cairn::GetCpuStart(first.get());
  target.ptr += step;
  device->CreateUnorderedAccessView(buffer.get(), nullptr, &access, target);
  D3D12_GPU_DESCRIPTOR_HANDLE gpu_target = gpu;
  gpu_target.ptr += step;
  scene.Transition(buffer.get(), D3D12_RESOURCE_STATE_COMMON,
                   D3D12_RESOURCE_STATE_UNORDERED_ACCESS);
  scene.list->ClearUnorderedAccessViewUint(gpu_target, target, buffer.get(), clear, 0, nullptr);
  scene.Transition(buffer.get(), D3D12_RESOURCE_STATE_UNORDERED_ACCESS,
                   D3D12_RESOURCE_STATE_COPY_SOURCE);
  out.Note("cleared", scene.HashBuffer(buffer.get(), 256));
}

void ObserveSerialisation(Observer& out) {
  D3D12_ROOT_SIGNATURE_DESC desc = {};
  ComPtr<ID3DBlob> blob;
  out.NoteResult("serialise", D3D12SerializeRootSignature(
                                  &desc, D3D_ROOT_SIGNATURE_VERSION_1_0,
                                  reinterpret_cast<ID3DBlob**>(blob.Receive()), nullptr));
  out.Note("blob", HashBytes(blob->GetBufferPointer(), blob->GetBufferSize()));
  ComPtr<ID3D12RootSignatureDeserializer> deserializer;
  out.NoteResult("deserialise",
                 D3D12CreateRootSignatureDeserializer(
                     blob->GetBufferPointer(), blob->GetBufferSize(),
                     __uuidof(ID3D12RootSignatureDeserializer), deserializer.Receive()));
  if (deserializer) out.Note("flags", deserializer->GetRootSignatureDesc()->Flags);
  ComPtr<IUnknown> debug;
  out.NoteResult("debug interface", D3D12GetDebugInterface(__uuidof(IUnknown), debug.Receive()));
}

}  // namespace

void ObserveArguments(Observer& out) {
  Scene scene;
  ObserveCreation(out, scene);
  ObserveSharing(out, scene);
  ObserveResources(out, scene);
  ObserveDescriptors(out, scene);
  ObserveSerialisation(out);
  out.NoteResult("removed", scene.device->GetDeviceRemovedReason());
}

}  // namespace observe
