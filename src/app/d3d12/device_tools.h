// SPDX-License-Identifier: Apache-2.0
//
// ID3D12DeviceTools2, which every device has here: the mode of annotations. Methods of older
// versions are passed to the real device if it has them.
#ifndef CAIRN_APP_D3D12_DEVICE_TOOLS_H_
#define CAIRN_APP_D3D12_DEVICE_TOOLS_H_

#include "app/annotations/d3d12_types.h"
#include "d3d12abi/com_ptr.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

class WrappedID3D12Device;

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"
#endif

// Counts with its device.
class DeviceTools final : public ID3D12DeviceTools2 {
 public:
  explicit DeviceTools(WrappedID3D12Device& device);

  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID riid, void** object) override;
  ULONG STDMETHODCALLTYPE AddRef() override;
  ULONG STDMETHODCALLTYPE Release() override;

  void STDMETHODCALLTYPE SetNextAllocationAddress(D3D12_GPU_VIRTUAL_ADDRESS address) override;
  HRESULT STDMETHODCALLTYPE GetApplicationSpecificDriverState(ID3DBlob** blob) override;
  D3D12_APPLICATION_SPECIFIC_DRIVER_BLOB_STATUS STDMETHODCALLTYPE
  GetApplicationSpecificDriverBlobStatus() override;
  HRESULT STDMETHODCALLTYPE
  SetUserDefinedAnnotationMode(D3D12_USER_DEFINED_ANNOTATION_MODE mode) override;
  D3D12_USER_DEFINED_ANNOTATION_MODE STDMETHODCALLTYPE GetUserDefinedAnnotationMode() override;

 private:
  WrappedID3D12Device& device_;
  // The tools of the real device; null where it has none.
  ComPtr<ID3D12DeviceTools> tools_;
  ComPtr<ID3D12DeviceTools1> tools1_;
};

#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

// Adds a debug message to the real device's ID3D12InfoQueue; false if it has none.
bool AddToInfoQueue(ID3D12Device* real, uint32_t id, const char* text);

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_APP_D3D12_DEVICE_TOOLS_H_
