// SPDX-License-Identifier: Apache-2.0
//
// Functions of AGS that are here so that programs link: none of them is about breadcrumbs. A program that looks at the
// bits of AGSDX11ReturnedParams::extensionsSupported calls none.
#include "app/api/compat_ags.h"

namespace {

AGSReturnCode NotHere() {
  return cairn::FailAgs(AGS_EXTENSION_NOT_SUPPORTED,
                        "of AGS only breadcrumbs and markers are here");
}

}  // namespace

AGSDriverVersionResult agsCheckDriverVersion(const char*, unsigned int) {
  return AGS_SOFTWAREVERSIONCHECK_UNDEFINED;
}

AGSReturnCode agsSetDisplayMode(AGSContext*, int, int, const AGSDisplaySettings*) {
  return NotHere();
}

AGSReturnCode agsDriverExtensionsDX11_IASetPrimitiveTopology(AGSContext*, CairnAgsTopology) {
  return NotHere();
}

AGSReturnCode agsDriverExtensionsDX11_BeginUAVOverlap(AGSContext*, ID3D11DeviceContext*) {
  return NotHere();
}

AGSReturnCode agsDriverExtensionsDX11_EndUAVOverlap(AGSContext*, ID3D11DeviceContext*) {
  return NotHere();
}

AGSReturnCode agsDriverExtensionsDX11_SetDepthBounds(AGSContext*, ID3D11DeviceContext*, bool, float,
                                                     float) {
  return NotHere();
}

AGSReturnCode agsDriverExtensionsDX11_MultiDrawInstancedIndirect(AGSContext*, ID3D11DeviceContext*,
                                                                 unsigned int, ID3D11Buffer*,
                                                                 unsigned int, unsigned int) {
  return NotHere();
}

AGSReturnCode agsDriverExtensionsDX11_MultiDrawIndexedInstancedIndirect(
    AGSContext*, ID3D11DeviceContext*, unsigned int, ID3D11Buffer*, unsigned int, unsigned int) {
  return NotHere();
}

AGSReturnCode agsDriverExtensionsDX11_MultiDrawInstancedIndirectCountIndirect(
    AGSContext*, ID3D11DeviceContext*, ID3D11Buffer*, unsigned int, ID3D11Buffer*, unsigned int,
    unsigned int) {
  return NotHere();
}

AGSReturnCode agsDriverExtensionsDX11_MultiDrawIndexedInstancedIndirectCountIndirect(
    AGSContext*, ID3D11DeviceContext*, ID3D11Buffer*, unsigned int, ID3D11Buffer*, unsigned int,
    unsigned int) {
  return NotHere();
}

AGSReturnCode agsDriverExtensionsDX11_SetMaxAsyncCompileThreadCount(AGSContext*, unsigned int) {
  return NotHere();
}

AGSReturnCode agsDriverExtensionsDX11_NumPendingAsyncCompileJobs(AGSContext*, unsigned int*) {
  return NotHere();
}

AGSReturnCode agsDriverExtensionsDX11_SetDiskShaderCacheEnabled(AGSContext*, int) {
  return NotHere();
}

AGSReturnCode agsDriverExtensionsDX11_SetViewBroadcastMasks(AGSContext*, unsigned long long,
                                                            unsigned long long, int) {
  return NotHere();
}

AGSReturnCode agsDriverExtensionsDX11_GetMaxClipRects(AGSContext*, unsigned int*) {
  return NotHere();
}

AGSReturnCode agsDriverExtensionsDX11_SetClipRects(AGSContext*, unsigned int, const AGSClipRect*) {
  return NotHere();
}

AGSReturnCode agsDriverExtensionsDX11_CreateBuffer(AGSContext*, const D3D11_BUFFER_DESC*,
                                                   const D3D11_SUBRESOURCE_DATA*, ID3D11Buffer**,
                                                   AGSAfrTransferType, AGSAfrTransferEngine) {
  return NotHere();
}

AGSReturnCode agsDriverExtensionsDX11_CreateTexture1D(AGSContext*, const D3D11_TEXTURE1D_DESC*,
                                                      const D3D11_SUBRESOURCE_DATA*,
                                                      ID3D11Texture1D**, AGSAfrTransferType,
                                                      AGSAfrTransferEngine) {
  return NotHere();
}

AGSReturnCode agsDriverExtensionsDX11_CreateTexture2D(AGSContext*, const D3D11_TEXTURE2D_DESC*,
                                                      const D3D11_SUBRESOURCE_DATA*,
                                                      ID3D11Texture2D**, AGSAfrTransferType,
                                                      AGSAfrTransferEngine) {
  return NotHere();
}

AGSReturnCode agsDriverExtensionsDX11_CreateTexture3D(AGSContext*, const D3D11_TEXTURE3D_DESC*,
                                                      const D3D11_SUBRESOURCE_DATA*,
                                                      ID3D11Texture3D**, AGSAfrTransferType,
                                                      AGSAfrTransferEngine) {
  return NotHere();
}

AGSReturnCode agsDriverExtensionsDX11_NotifyResourceEndWrites(AGSContext*, ID3D11Resource*,
                                                              const tagRECT*, const unsigned int*,
                                                              unsigned int) {
  return NotHere();
}

AGSReturnCode agsDriverExtensionsDX11_NotifyResourceBeginAllAccess(AGSContext*, ID3D11Resource*) {
  return NotHere();
}

AGSReturnCode agsDriverExtensionsDX11_NotifyResourceEndAllAccess(AGSContext*, ID3D11Resource*) {
  return NotHere();
}
