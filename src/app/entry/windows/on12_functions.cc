// SPDX-License-Identifier: Apache-2.0
//
// Direct3D 11 on a device of Direct3D 12. Its own work is not seen; but it is given our wrappers, which it does not
// know: it gets the real objects, and the program what it knows.
#include <algorithm>
#include <array>

#include "app/d3d12/layer.h"
#include "app/entry/windows/functions.h"
#include "app/replacement/methods.h"
#include "app/replacement/replacement.h"
#include "app/settings/log.h"
#include "d3d12abi/com_ptr.h"

namespace cairn {
namespace {

// Definitions of d3d11on12.h, which mingw-w64 has in part.
constexpr IID kOn12Device = {
    0x85611e73, 0x70a9, 0x490e, {0x96, 0x14, 0xa9, 0xe3, 0x02, 0x77, 0x79, 0x04}};
constexpr IID kOn12Device1 = {
    0xbdb64df4, 0xea2f, 0x4c70, {0xb8, 0x61, 0xaa, 0xab, 0x12, 0x58, 0xbb, 0x5d}};
constexpr IID kOn12Device2 = {
    0xdc90f331, 0x4740, 0x43fa, {0x86, 0x6e, 0x67, 0xf1, 0x2c, 0xb5, 0x82, 0x23}};

// More than a program can use at once; what is beyond is not looked at.
constexpr UINT kMostObjects = 64;
template <typename T>
class RealObjects {
 public:
  RealObjects(T* const* objects, UINT count) : given_(objects), count_(count) {
    if (given_ == nullptr || count_ > kMostObjects) return;
    std::transform(given_, given_ + count_, real_.begin(),
                   [](T* object) { return RealObject(object); });
  }
  T* const* get() const {
    return given_ == nullptr || count_ > kMostObjects ? given_ : real_.data();
  }

 private:
  T* const* const given_;
  const UINT count_;
  std::array<T*, kMostObjects> real_ = {};
};

// `object` as the program knows it: the reference goes over to that.
HRESULT GiveKnown(ComPtr<IUnknown> object, HRESULT result, const IID& iid, void** given) {
  IUnknown* const wrapper = object.get() == nullptr ? nullptr : FindWrapper(object.get());
  if (wrapper != nullptr) return wrapper->QueryInterface(iid, given);
  *given = object.Detach();
  return result;
}

HRESULT OnCreateWrappedResource(HRESULT (*next)(IUnknown*, IUnknown*, const void*, UINT, UINT,
                                                const IID&, void**),
                                IUnknown* self, IUnknown* resource, const void* flags, UINT in,
                                UINT out, const IID& iid, void** made) {
  return next(self, RealObject(resource), flags, in, out, iid, made);
}

HRESULT OnGetDevice12(HRESULT (*next)(IUnknown*, const IID&, void**), IUnknown* self,
                      const IID& iid, void** device) {
  if (device == nullptr) return next(self, iid, device);
  ComPtr<IUnknown> real;
  const HRESULT result = next(self, iid, real.Receive());
  return GiveKnown(std::move(real), result, iid, device);
}

HRESULT OnUnwrapResource(HRESULT (*next)(IUnknown*, IUnknown*, ID3D12CommandQueue*, const IID&,
                                         void**),
                         IUnknown* self, IUnknown* resource11, ID3D12CommandQueue* queue,
                         const IID& iid, void** resource) {
  if (resource == nullptr) return next(self, resource11, RealObject(queue), iid, resource);
  ComPtr<IUnknown> real;
  const HRESULT result = next(self, resource11, RealObject(queue), iid, real.Receive());
  return GiveKnown(std::move(real), result, iid, resource);
}

HRESULT OnReturnResource(HRESULT (*next)(IUnknown*, IUnknown*, UINT, UINT64*, ID3D12Fence* const*),
                         IUnknown* self, IUnknown* resource11, UINT count, UINT64* values,
                         ID3D12Fence* const* fences) {
  const RealObjects<ID3D12Fence> real(fences, count);
  return next(self, resource11, count, values, real.get());
}

constexpr ReplacedMethod kOn12Methods[] = {{3, &Replacement<&OnCreateWrappedResource>::Over}};
constexpr ReplacedMethod kOn12Methods1[] = {{6, &Replacement<&OnGetDevice12>::Over}};
constexpr ReplacedMethod kOn12Methods2[] = {{7, &Replacement<&OnUnwrapResource>::Over},
                                            {8, &Replacement<&OnReturnResource>::Over}};

using CreateOn12 = HRESULT (*)(IUnknown* device, UINT flags, const D3D_FEATURE_LEVEL* levels,
                               UINT level_count, IUnknown* const* queues, UINT queue_count,
                               UINT node_mask, IUnknown** made, void** context,
                               D3D_FEATURE_LEVEL* level);

HRESULT OnCreateOn12(CreateOn12 next, IUnknown* device, UINT flags, const D3D_FEATURE_LEVEL* levels,
                     UINT level_count, IUnknown* const* queues, UINT queue_count, UINT node_mask,
                     IUnknown** made, void** context, D3D_FEATURE_LEVEL* level) {
  const InsideScope inside;
  const RealObjects<IUnknown> real(queues, queue_count);
  const HRESULT result = next(RealObject(device), flags, levels, level_count, real.get(),
                              queue_count, node_mask, made, context, level);
  if (FAILED(result) || made == nullptr || *made == nullptr || RealObject(device) == device) {
    return result;
  }
  LogOnce(LogLevel::kInfo, "D3D11On12CreateDevice",
          "this program uses Direct3D 11 on its Direct3D 12 device: what that submits is not seen");
  for (const IID* const newer : {&kOn12Device, &kOn12Device1, &kOn12Device2}) {
    ReplaceMethodsAs(*made, *newer, kOn12Methods);
  }
  for (const IID* const newer : {&kOn12Device1, &kOn12Device2}) {
    ReplaceMethodsAs(*made, *newer, kOn12Methods1);
  }
  ReplaceMethodsAs(*made, kOn12Device2, kOn12Methods2);
  return result;
}

}  // namespace

void* OverCreateOn12(void* function) {
  return Replacement<&OnCreateOn12>::Over(function);
}

}  // namespace cairn
