// SPDX-License-Identifier: Apache-2.0
#include "app/d3d12/real_end.h"

#include "app/d3d12/wrapper.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {

// An identifier that no other code uses.
constexpr GUID kRealEnd = {
    0x6d0a1c94, 0x55d1, 0x4e0f, {0x9b, 0x2e, 0x31, 0xc7, 0x5a, 0x84, 0xe6, 0x17}};

}  // namespace

bool RealEnd::Watch(ID3D12Object* real) {
  // Some say that it worked, and keep nothing.
  return SUCCEEDED(real->SetPrivateDataInterface(kRealEnd, this)) &&
         references_.load(std::memory_order_acquire) != 0;
}

HRESULT RealEnd::QueryInterface(REFIID riid, void** object) {
  if (object == nullptr) return E_POINTER;
  *object = nullptr;
  if (riid != __uuidof(IUnknown)) return E_NOINTERFACE;
  AddRef();
  *object = this;
  return S_OK;
}

ULONG RealEnd::AddRef() {
  return references_.fetch_add(1, std::memory_order_relaxed) + 1;
}

ULONG RealEnd::Release() {
  const ULONG left = references_.fetch_sub(1, std::memory_order_acq_rel) - 1;
  if (left == 0) wrapper_.RealEnded();
  return left;
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
