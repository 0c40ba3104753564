// SPDX-License-Identifier: Apache-2.0
//
// The work around every call, written once: the generated thin classes (d3d12gen/) only name the
// parts that a method needs, and their arguments.
#ifndef CAIRN_APP_D3D12_POLICY_H_
#define CAIRN_APP_D3D12_POLICY_H_

#include <bit>
#include <utility>

#include "cairn/marker_types.h"

#include "app/d3d12/capture/call_capture.h"
#include "app/d3d12/capture/creation.h"
#include "app/d3d12/scratch.h"
#include "app/d3d12/work.h"
#include "app/d3d12/wrapper.h"
#include "app/recorder/call_ring.h"
#include "d3d12gen/methods.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

// The index of the first method in the block's table of functions.
extern std::atomic<uint32_t> first_method;

// From the first line of a method to its return: the call is in the thread's ring, and in the capture.
//
//   CallScope call(*this, Method::ID3D12Fence_Signal, value);
//   const HRESULT returned = real()->Signal(value);
//   return call.Returns(returned, value);
//
// Cost without a capture: d3d12_work_bench.
class CallScope {
 public:
  // `arguments`: all that the method was given, as the application passed them.
  template <typename... Arguments>
  CallScope(const Wrapper& wrapper, Method method, const Arguments&... arguments)
      : call_(CallRing::Begin(
            first_method.load(std::memory_order_relaxed) + static_cast<uint32_t>(method),
            wrapper.interface_pointer(), arguments...)),
        wrapper_(wrapper),
        method_(method) {
    if (Capture::Active() != nullptr) [[unlikely]] {
      captured_ = CaptureArguments(wrapper, method, AsCaptured(arguments)...);
    }
  }
  ~CallScope() {
    CallRing::End(call_);
    if (captured_ != 0) [[unlikely]]
      CapturedCallReturned(captured_);
  }
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

  // Call it with the method's result and the same arguments: records the outputs that they point
  // to. Returns `result`.
  template <typename Result, typename... Arguments>
  Result Returns(Result result, const Arguments&... arguments) {
    if (captured_ != 0) [[unlikely]] {
      CaptureResults(wrapper_, method_, std::exchange(captured_, 0), &result,
                     AsCaptured(arguments)...);
    }
    return result;
  }
  // The same for methods whose result is a struct behind a pointer.
  template <typename Result, typename... Arguments>
  Result* ReturnsAt(Result* result, const Arguments&... arguments) {
    if (captured_ != 0) [[unlikely]] {
      CaptureResults(wrapper_, method_, std::exchange(captured_, 0), result,
                     AsCaptured(arguments)...);
    }
    return result;
  }
  // The same for methods that return nothing but have outputs.
  template <typename... Arguments>
  void Outputs(const Arguments&... arguments) {
    if (captured_ != 0) [[unlikely]] {
      CaptureResults(wrapper_, method_, std::exchange(captured_, 0), nullptr,
                     AsCaptured(arguments)...);
    }
  }

 private:
  CallRecord* const call_;
  const Wrapper& wrapper_;
  const Method method_;
  uint64_t captured_ = 0;
};

// Around the real call that records work of the GPU: a breadcrumb of this type.
class WorkScope {
 public:
  WorkScope(const Wrapper& list, CairnMarkerType type)
      : breadcrumbs_(list.breadcrumbs()),
        is_barrier_(type == CAIRN_MARKER_RESOURCE_BARRIER || type == CAIRN_MARKER_BARRIER) {
    if (breadcrumbs_ != nullptr) breadcrumbs_->BeginWork(type);
  }
  ~WorkScope() {
    if (breadcrumbs_ == nullptr) return;
    if (is_barrier_) {
      breadcrumbs_->EndBarrier();
    } else {
      breadcrumbs_->EndWork();
    }
  }
  // The numbers that it was recorded with: work_arguments.h.
  void NoteArguments(const WorkArguments& arguments) {
    if (breadcrumbs_ != nullptr) breadcrumbs_->NoteArguments(arguments);
  }
  // The real call is not to be made: CommandList::left_out.
  bool left_out() const { return breadcrumbs_ != nullptr && breadcrumbs_->left_out(); }
  WorkScope(const WorkScope&) = delete;
  WorkScope& operator=(const WorkScope&) = delete;

 private:
  ListBreadcrumbs* const breadcrumbs_;
  const bool is_barrier_;
};

// Wraps `real`, an object of the chain with one reference, and gives out its interface `riid`. An object
// that has a wrapper already keeps it. Consumes the reference in every case.
HRESULT WrapCreated(Wrapper& parent, Chain chain, void* real, REFIID riid, void** out);
// The same in two steps: the wrapper first, with a reference; null if there is no memory, and then the
// reference on `real` is gone.
Wrapper* WrapNew(Wrapper& parent, Chain chain, void* real, const Creation& creation = {});
// Without an identifier: the interface that all versions have.
HRESULT GiveInterface(Wrapper* made, REFIID riid, void** out);

// Stands for a result that the real method did not touch: then the application's is not touched
// either. A reader of it, such as a capture, finds an object without a table.
inline const void* untouched_result = nullptr;

// Notes that the implementation had no memory for an object of the chain.
void NoteNoMemory(Wrapper& parent, Chain chain);

// A method that creates an object: `create(iid, out)` calls the real method, with the interface
// that all versions have. Without `out` the real method only checks its arguments, and sees the
// caller's `riid`. Calls `made` with the wrapper before any other thread can see it. If the caller
// passes no identifier, the real method gets none either.
template <typename Call, typename Made>
HRESULT CreateAs(Wrapper& parent, Chain chain, REFIID base, REFIID riid, void** out, Call create,
                 Made made, const Creation& creation = {}) {
  if (out == nullptr) return create(riid, out);
  void* real = &untouched_result;
  const HRESULT result = create(PointerTo(riid) != nullptr ? base : riid, &real);
  if (result == E_OUTOFMEMORY) [[unlikely]]
    NoteNoMemory(parent, chain);
  if (real == &untouched_result) return result;
  if (FAILED(result) || real == nullptr) {
    *out = real;
    return result;
  }
  Wrapper* const wrapper = WrapNew(parent, chain, real, creation);
  if (wrapper != nullptr) made(*wrapper);
  const HRESULT given = GiveInterface(wrapper, riid, out);
  return FAILED(given) ? given : result;
}

template <typename Base, typename Call>
HRESULT Create(Wrapper& parent, REFIID riid, void** out, Call create,
               const Creation& creation = {}) {
  // __uuidof would know interfaces of video only if their headers were included first.
  constexpr Chain kChain = InterfaceTraits<Base>::kChains[0];
  const IID base = std::bit_cast<IID>(Describe(kChain).first->iid);
  return CreateAs(
      parent, kChain, base, riid, out, create, [](Wrapper&) {}, creation);
}

// The same for a method whose output's type says what it creates.
template <typename Base, typename Call>
HRESULT CreateTyped(Wrapper& parent, Base** out, Call create, const Creation& creation = {}) {
  constexpr Chain kChain = InterfaceTraits<Base>::kChains[0];
  const IID base = std::bit_cast<IID>(Describe(kChain).first->iid);
  const auto create_base = [&](REFIID, void** real_object) {
    return create(reinterpret_cast<Base**>(real_object));
  };
  return Create<Base>(parent, base, reinterpret_cast<void**>(out), create_base, creation);
}

// A method that gives out an object that exists already.
template <typename Base, typename Call>
HRESULT WrapReturned(Wrapper& parent, REFIID riid, void** out, Call get,
                     const Creation& creation = {}) {
  return Create<Base>(parent, riid, out, get, creation);
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_APP_D3D12_POLICY_H_
