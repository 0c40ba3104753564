// SPDX-License-Identifier: Apache-2.0
//
// What happens around every call, written once: the generated thin classes (d3d12gen/) say only which
// of these a method needs, and with what.
#ifndef CAIRN_D3D12_POLICY_H_
#define CAIRN_D3D12_POLICY_H_

#include "cairn/marker_types.h"

#include "d3d12/scratch.h"
#include "d3d12/work.h"
#include "d3d12/wrapper.h"
#include "d3d12gen/methods.h"
#include "recorder/call_ring.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

// From the first line of a method to its return: the call is in the thread's ring.
class CallScope {
 public:
  CallScope(const Wrapper& wrapper, Method method)
      : call_(CallRing::Begin(static_cast<uint32_t>(method), wrapper.interface_pointer())) {}
  ~CallScope() { CallRing::End(call_); }
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

 private:
  CallRecord* const call_;
};

// Around the real call that records work of the GPU: a breadcrumb of this type.
class WorkScope {
 public:
  WorkScope(const Wrapper& list, CairnMarkerType type) : breadcrumbs_(list.breadcrumbs()) {
    if (breadcrumbs_ != nullptr) breadcrumbs_->BeginWork(type);
  }
  ~WorkScope() {
    if (breadcrumbs_ != nullptr) breadcrumbs_->EndWork();
  }
  WorkScope(const WorkScope&) = delete;
  WorkScope& operator=(const WorkScope&) = delete;

 private:
  ListBreadcrumbs* const breadcrumbs_;
};

// Wraps `real`, a new object of the chain's base interface with one reference, and gives out its
// interface `riid`. Consumes the reference in every case.
HRESULT WrapCreated(Wrapper& parent, Chain chain, void* real, REFIID riid, void** out);

// The same for an object that may have been there before: its wrapper is found again.
HRESULT WrapExisting(Wrapper& parent, Chain chain, void* real, REFIID riid, void** out);

// A method that creates an object: `create(iid, out)` calls the real method. Without `out` the real
// method only checks its arguments, and sees the caller's `riid`.
template <typename Base, typename Call>
HRESULT Create(Wrapper& parent, REFIID riid, void** out, Call create) {
  if (out == nullptr) return create(riid, out);
  void* real = nullptr;
  const HRESULT result = create(__uuidof(Base), &real);
  if (FAILED(result) || real == nullptr) return result;
  const HRESULT wrapped = WrapCreated(parent, InterfaceTraits<Base>::kChains[0], real, riid, out);
  return FAILED(wrapped) ? wrapped : result;
}

// A method that gives out an object that exists already.
template <typename Base, typename Call>
HRESULT WrapReturned(Wrapper& parent, REFIID riid, void** out, Call get) {
  if (out == nullptr) return get(riid, out);
  void* real = nullptr;
  const HRESULT result = get(__uuidof(Base), &real);
  if (FAILED(result) || real == nullptr) return result;
  const HRESULT wrapped = WrapExisting(parent, InterfaceTraits<Base>::kChains[0], real, riid, out);
  return FAILED(wrapped) ? wrapped : result;
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_D3D12_POLICY_H_
