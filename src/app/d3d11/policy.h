// SPDX-License-Identifier: Apache-2.0
//
// The work around every call, written once: the generated functions (d3d11gen/thin.cc) only name
// the parts that a method needs, and their arguments.
#ifndef CAIRN_APP_D3D11_POLICY_H_
#define CAIRN_APP_D3D11_POLICY_H_

#include <d3d11_4.h>

#include <cstddef>
#include <cstdint>

#include "app/d3d11/device.h"
#include "app/d3d11/device_context.h"
#include "app/d3d11/resource_descriptions.h"
#include "app/recorder/call_ring.h"
#include "d3d11gen/methods.h"

namespace cairn {

// The number of replacement functions for one method: implementations have a class for each kind of
// context, and for each kind of child of a device.
template <typename Interface>
inline constexpr size_t kMost = 4;
template <>
inline constexpr size_t kMost<ID3D11DeviceChild> = 48;

// The scope of a method's call, from its first line to its return: the call is in the thread's
// ring.
class D3D11Call {
 public:
  D3D11Call(const void* self, D3D11Method method)
      : call_(CallRing::Begin(
            first_d3d11_method.load(std::memory_order_relaxed) + static_cast<uint32_t>(method),
            self)) {}
  ~D3D11Call() { CallRing::End(call_); }
  D3D11Call(const D3D11Call&) = delete;
  D3D11Call& operator=(const D3D11Call&) = delete;

 private:
  CallRecord* const call_;
};

// Around the real call that gives the GPU work.
class D3D11Work {
 public:
  D3D11Work(ID3D11DeviceContext* self, CairnMarkerType type, const WorkArguments& arguments = {})
      : context_(D3D11Context::Find(self)) {
    if (context_ != nullptr) context_->BeginWork(type, arguments);
  }
  ~D3D11Work() {
    if (context_ != nullptr) context_->EndWork();
  }
  D3D11Work(const D3D11Work&) = delete;
  D3D11Work& operator=(const D3D11Work&) = delete;

 private:
  D3D11Context* const context_;
};

inline void NoteShader(ID3D11DeviceContext* self, ShaderStage stage, ID3D11DeviceChild* shader) {
  if (D3D11Context* const context = D3D11Context::Find(self)) context->SetShader(stage, shader);
}

// A method has created an object, or not. An object that is known already is left as it is: states of equal contents are
// the same object.
template <typename Interface>
void NoteCreated(ID3D11Device* self, HRESULT result, D3D11Kind kind, Interface** made,
                 const CreatedFacts& facts) {
  if (FAILED(result) || made == nullptr || *made == nullptr) return;
  if (D3D11Device* const device = D3D11Device::Find(self)) device->NoteChild(kind, *made, facts);
}

// The implementation may have said that the device is lost, which is noted once, or that it has no memory.
inline void NoteResult(ID3D11Device* self, HRESULT result, D3D11Method method) {
  if (SUCCEEDED(result)) [[likely]]
    return;
  if (D3D11Device* const device = D3D11Device::Find(self))
    device->NoteFailure(result, Describe(method).name);
}
inline void NoteResult(ID3D11DeviceContext* self, HRESULT result, D3D11Method method) {
  if (SUCCEEDED(result)) [[likely]]
    return;
  if (D3D11Context* const context = D3D11Context::Find(self)) {
    context->device().NoteFailure(result, Describe(method).name);
  }
}

}  // namespace cairn

#endif  // CAIRN_APP_D3D11_POLICY_H_
