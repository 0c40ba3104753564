// SPDX-License-Identifier: Apache-2.0
//
// A Direct3D 12 program that knows AGS and nothing else of Cairn: its device and its events are those of amd_ags_x64.dll.
#include <d3d12.h>

#include <cstdio>

#include "cairn/compat/amd_ags.h"

namespace {

template <typename Interface>
void** As(Interface** object) {
  return reinterpret_cast<void**>(object);
}

}  // namespace

int main() {
  AGSContext* ags = nullptr;
  if (agsInitialize(AGS_CURRENT_VERSION, nullptr, &ags, nullptr) != AGS_SUCCESS) return 1;
  AGSDX12DeviceCreationParams creation = {};
  creation.iid = __uuidof(ID3D12Device);
  creation.FeatureLevel = D3D_FEATURE_LEVEL_11_0;
  AGSDX12ReturnedParams returned = {};
  if (agsDriverExtensionsDX12_CreateDevice(ags, &creation, nullptr, &returned) != AGS_SUCCESS) {
    return 2;
  }
  ID3D12Device& device = *returned.pDevice;
  constexpr D3D12_COMMAND_LIST_TYPE kType = D3D12_COMMAND_LIST_TYPE_DIRECT;
  const D3D12_COMMAND_QUEUE_DESC desc = {kType, 0, D3D12_COMMAND_QUEUE_FLAG_NONE, 0};
  ID3D12CommandQueue* queue = nullptr;
  ID3D12CommandAllocator* allocator = nullptr;
  ID3D12GraphicsCommandList* list = nullptr;
  if (FAILED(device.CreateCommandQueue(&desc, __uuidof(ID3D12CommandQueue), As(&queue))) ||
      FAILED(
          device.CreateCommandAllocator(kType, __uuidof(ID3D12CommandAllocator), As(&allocator))) ||
      FAILED(device.CreateCommandList(0, kType, allocator, nullptr,
                                      __uuidof(ID3D12GraphicsCommandList), As(&list)))) {
    return 3;
  }
  agsDriverExtensionsDX12_PushMarker(ags, list, "Shadows by AGS");
  agsDriverExtensionsDX12_PopMarker(ags, list);
  list->Close();
  ID3D12CommandList* const lists[] = {list};
  queue->ExecuteCommandLists(1, lists);
  return 0;
}
