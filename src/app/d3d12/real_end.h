// SPDX-License-Identifier: Apache-2.0
//
// Notices the end of an object of the implementation. It does not always come with the last
// reference: a placed resource keeps its heap, a submission its lists, and the program may use such
// an object as long as it is there. Private data goes with the object: RealEnd is an interface that
// is stored there.
#ifndef CAIRN_APP_D3D12_REAL_END_H_
#define CAIRN_APP_D3D12_REAL_END_H_

#include <atomic>

#include "d3d12abi/d3d12_api.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

class Wrapper;

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"
#endif

// A member of a wrapper.
class RealEnd final : public IUnknown {
 public:
  explicit RealEnd(Wrapper& wrapper) : wrapper_(wrapper) {}
  RealEnd(const RealEnd&) = delete;
  RealEnd& operator=(const RealEnd&) = delete;

  // Calls the wrapper's RealEnded() when `real` ends, on the thread that ends it, inside the
  // implementation. False: the implementation keeps no private data.
  bool Watch(ID3D12Object* real);

  // Called by the implementation.
  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID riid, void** object) override;
  ULONG STDMETHODCALLTYPE AddRef() override;
  ULONG STDMETHODCALLTYPE Release() override;

 private:
  Wrapper& wrapper_;
  std::atomic<ULONG> references_{0};
};

#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_APP_D3D12_REAL_END_H_
