// SPDX-License-Identifier: Apache-2.0
#include "app/d3d12/device_tools.h"

#include "app/d3d12/device.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

DeviceTools::DeviceTools(WrappedID3D12Device& device) : device_(device) {
  const auto ask = [&](REFIID riid, void** tools) {
    return SUCCEEDED(device.real_unknown()->QueryInterface(riid, tools));
  };
  if (!ask(__uuidof(ID3D12DeviceTools), tools_.Receive())) tools_ = {};
  if (!ask(__uuidof(ID3D12DeviceTools1), tools1_.Receive())) tools1_ = {};
}

HRESULT DeviceTools::QueryInterface(REFIID riid, void** object) {
  return device_.Query(riid, object);
}

ULONG DeviceTools::AddRef() {
  return device_.AddReference();
}

ULONG DeviceTools::Release() {
  return device_.ReleaseReference();
}

void DeviceTools::SetNextAllocationAddress(D3D12_GPU_VIRTUAL_ADDRESS address) {
  if (tools_) tools_->SetNextAllocationAddress(address);
}

HRESULT DeviceTools::GetApplicationSpecificDriverState(ID3DBlob** blob) {
  if (tools1_) return tools1_->GetApplicationSpecificDriverState(blob);
  if (blob == nullptr) return E_INVALIDARG;
  *blob = nullptr;
  return E_NOTIMPL;
}

D3D12_APPLICATION_SPECIFIC_DRIVER_BLOB_STATUS
DeviceTools::GetApplicationSpecificDriverBlobStatus() {
  if (tools1_) return tools1_->GetApplicationSpecificDriverBlobStatus();
  return D3D12_APPLICATION_SPECIFIC_DRIVER_BLOB_UNKNOWN;
}

HRESULT DeviceTools::SetUserDefinedAnnotationMode(D3D12_USER_DEFINED_ANNOTATION_MODE mode) {
  return device_.annotations().SetMode(static_cast<uint32_t>(mode)) ? S_OK : E_INVALIDARG;
}

D3D12_USER_DEFINED_ANNOTATION_MODE DeviceTools::GetUserDefinedAnnotationMode() {
  return static_cast<D3D12_USER_DEFINED_ANNOTATION_MODE>(device_.annotations().mode());
}

bool AddToInfoQueue(ID3D12Device* real, uint32_t id, const char* text) {
  ComPtr<ID3D12InfoQueue> queue;
  if (FAILED(real->QueryInterface(__uuidof(ID3D12InfoQueue), queue.Receive()))) return false;
  return SUCCEEDED(queue->AddMessage(D3D12_MESSAGE_CATEGORY_STATE_SETTING,
                                     D3D12_MESSAGE_SEVERITY_ERROR,
                                     static_cast<D3D12_MESSAGE_ID>(id), text));
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
