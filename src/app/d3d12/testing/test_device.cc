// SPDX-License-Identifier: Apache-2.0
#include "app/d3d12/testing/test_device.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {

// An empty root signature of version 1.0, in its container: what D3D12SerializeRootSignature makes of
// a description without parameters. The checksum is the container's.
HRESULT CreateEmptyRootSignature(ID3D12Device* device, REFIID riid, void** out) {
  static constexpr uint32_t kContainer[] = {
      0x43425844,                                      // "DXBC"
      0xd64afc1d, 0x5dc27735, 0x9edacb4a, 0x6bd8a7fa,  // checksum
      1,          68,         1,          36,          // version, size, one part at 36
      0x30535452, 24,                                  // "RTS0"
      1,          0,          24,         0,          24, 0,
  };
  return device->CreateRootSignature(0, kContainer, sizeof(kContainer), riid, out);
}

}  // namespace

std::map<std::string, ComPtr<ID3D12DeviceChild>> OneOfEach(ID3D12Device* device) {
  std::map<std::string, ComPtr<ID3D12DeviceChild>> objects;
  const IID iid = __uuidof(ID3D12DeviceChild);
  const auto note = [&](const char* kind, auto create) {
    ComPtr<ID3D12DeviceChild> object;
    if (SUCCEEDED(create(object.Receive()))) objects[kind] = object;
  };
  constexpr D3D12_COMMAND_LIST_TYPE kDirect = D3D12_COMMAND_LIST_TYPE_DIRECT;
  ComPtr<ID3D12CommandAllocator> allocator;
  if (FAILED(device->CreateCommandAllocator(kDirect, __uuidof(ID3D12CommandAllocator),
                                            allocator.Receive()))) {
    return objects;
  }
  note("allocator", [&](void** out) { return allocator.get()->QueryInterface(iid, out); });
  note("list", [&](void** out) {
    return device->CreateCommandList(0, kDirect, allocator.get(), nullptr, iid, out);
  });
  note("queue", [&](void** out) {
    D3D12_COMMAND_QUEUE_DESC desc = {};
    return device->CreateCommandQueue(&desc, iid, out);
  });
  note("fence",
       [&](void** out) { return device->CreateFence(7, D3D12_FENCE_FLAG_NONE, iid, out); });
  note("resource", [&](void** out) { return CreateBuffer(device, 4096, iid, out); });
  note("heap", [&](void** out) {
    D3D12_HEAP_DESC desc = {};
    desc.SizeInBytes = 65536;
    desc.Properties.Type = D3D12_HEAP_TYPE_UPLOAD;
    desc.Flags = D3D12_HEAP_FLAG_ALLOW_ONLY_BUFFERS;
    return device->CreateHeap(&desc, iid, out);
  });
  note("descriptor heap", [&](void** out) {
    D3D12_DESCRIPTOR_HEAP_DESC desc = {};
    desc.Type = D3D12_DESCRIPTOR_HEAP_TYPE_RTV;
    desc.NumDescriptors = 4;
    return device->CreateDescriptorHeap(&desc, iid, out);
  });
  note("query heap", [&](void** out) {
    D3D12_QUERY_HEAP_DESC desc = {};
    desc.Type = D3D12_QUERY_HEAP_TYPE_TIMESTAMP;
    desc.Count = 2;
    return device->CreateQueryHeap(&desc, iid, out);
  });
  note("command signature", [&](void** out) {
    D3D12_INDIRECT_ARGUMENT_DESC argument = {};
    argument.Type = D3D12_INDIRECT_ARGUMENT_TYPE_DISPATCH;
    D3D12_COMMAND_SIGNATURE_DESC desc = {};
    desc.ByteStride = sizeof(D3D12_DISPATCH_ARGUMENTS);
    desc.NumArgumentDescs = 1;
    desc.pArgumentDescs = &argument;
    return device->CreateCommandSignature(&desc, nullptr, iid, out);
  });
  note("root signature", [&](void** out) { return CreateEmptyRootSignature(device, iid, out); });
  return objects;
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
