// SPDX-License-Identifier: Apache-2.0
//
// The functions of cairn/compat/amd_ags.h that make devices: AGS knows those of Windows.
#include "app/api/compat_ags.h"

namespace {

AGSReturnCode NotOnThisPlatform(const char* instead) {
  return cairn::FailAgs(AGS_EXTENSION_NOT_SUPPORTED, instead);
}

constexpr char kAttach[] =
    "there is no Direct3D 11 on this platform; use cairnAgsAttach with Direct3D 12 or Vulkan";
constexpr char kPix[] =
    "AGS has Direct3D 12 on Windows only; cairn/pix.h sets markers on this platform";

}  // namespace

AGSReturnCode agsDriverExtensionsDX11_CreateDevice(
    AGSContext* context, const AGSDX11DeviceCreationParams* creationParams,
    const AGSDX11ExtensionParams*, AGSDX11ReturnedParams* returnedParams) {
  if (returnedParams != nullptr) *returnedParams = {};
  if (context == nullptr || creationParams == nullptr || returnedParams == nullptr) {
    return cairn::FailAgs(AGS_INVALID_ARGS, "the context or its parameters are NULL");
  }
  return NotOnThisPlatform(kAttach);
}

AGSReturnCode agsDriverExtensionsDX11_DestroyDevice(AGSContext* context, ID3D11Device*,
                                                    unsigned int*, ID3D11DeviceContext*,
                                                    unsigned int*) {
  if (context == nullptr) return cairn::FailAgs(AGS_INVALID_ARGS, "the context is NULL");
  return cairn::FailAgs(AGS_D3DDEVICE_NOT_CREATED, kAttach);
}

AGSReturnCode agsDriverExtensionsDX12_CreateDevice(AGSContext*, const AGSDX12DeviceCreationParams*,
                                                   const AGSDX12ExtensionParams*,
                                                   AGSDX12ReturnedParams* returnedParams) {
  if (returnedParams != nullptr) *returnedParams = {};
  return NotOnThisPlatform(kPix);
}

AGSReturnCode agsDriverExtensionsDX12_DestroyDevice(AGSContext*, ID3D12Device*, unsigned int*) {
  return NotOnThisPlatform(kPix);
}

AGSReturnCode agsDriverExtensionsDX12_PushMarker(AGSContext*, ID3D12GraphicsCommandList*,
                                                 const char*) {
  return NotOnThisPlatform(kPix);
}

AGSReturnCode agsDriverExtensionsDX12_PopMarker(AGSContext*, ID3D12GraphicsCommandList*) {
  return NotOnThisPlatform(kPix);
}

AGSReturnCode agsDriverExtensionsDX12_SetMarker(AGSContext*, ID3D12GraphicsCommandList*,
                                                const char*) {
  return NotOnThisPlatform(kPix);
}
