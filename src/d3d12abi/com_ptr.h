// SPDX-License-Identifier: Apache-2.0
//
// ComPtr: holds one public reference of a COM object. Copying adds a reference, moving and
// destruction do what they say; Receive() and QueryInterface results come in already counted.
#ifndef CAIRN_D3D12ABI_COM_PTR_H_
#define CAIRN_D3D12ABI_COM_PTR_H_

#include <utility>

#include "d3d12abi/d3d12_api.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

template <typename T>
class ComPtr {
 public:
  ComPtr() = default;
  // Adds a reference of its own to `object`, which may be null.
  explicit ComPtr(T* object) : object_(object) {
    if (object_ != nullptr) object_->AddRef();
  }
  ComPtr(const ComPtr& other) : ComPtr(other.object_) {}
  ComPtr(ComPtr&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  ComPtr& operator=(ComPtr other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~ComPtr() {
    if (object_ != nullptr) object_->Release();
  }

  T* get() const { return object_; }
  T* operator->() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }

  // Gives up the object and returns where a function stores a new one, already counted:
  // device->CreateFence(0, flags, __uuidof(ID3D12Fence), fence.Receive()).
  void** Receive() {
    *this = ComPtr();
    return reinterpret_cast<void**>(&object_);
  }

  // The object's interface U; empty if it has none.
  template <typename U>
  ComPtr<U> As() const {
    ComPtr<U> result;
    if (object_ == nullptr || FAILED(object_->QueryInterface(__uuidof(U), result.Receive()))) {
      return {};
    }
    return result;
  }

  // Hands the reference to the caller.
  T* Detach() { return std::exchange(object_, nullptr); }

 private:
  T* object_ = nullptr;
};

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_D3D12ABI_COM_PTR_H_
