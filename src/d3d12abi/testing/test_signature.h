// SPDX-License-Identifier: Apache-2.0
#ifndef CAIRN_D3D12ABI_TESTING_TEST_SIGNATURE_H_
#define CAIRN_D3D12ABI_TESTING_TEST_SIGNATURE_H_

#include "d3d12abi/com_ptr.h"
#include "d3d12abi/d3d12_api.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

// For tests: a root signature of version 1.0.
inline HRESULT CreateTestSignature(ID3D12Device* device, const D3D12_ROOT_SIGNATURE_DESC& desc,
                                   REFIID iid, void** signature) {
  ComPtr<ID3DBlob> blob;
  const HRESULT result = D3D12SerializeRootSignature(
      &desc, D3D_ROOT_SIGNATURE_VERSION_1_0, reinterpret_cast<ID3DBlob**>(blob.Receive()), nullptr);
  if (FAILED(result)) return result;
  return device->CreateRootSignature(0, blob->GetBufferPointer(), blob->GetBufferSize(), iid,
                                     signature);
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_D3D12ABI_TESTING_TEST_SIGNATURE_H_
