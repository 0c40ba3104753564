// SPDX-License-Identifier: Apache-2.0
//
// The base of all objects of the fake device.
#ifndef CAIRN_D3D12ABI_TESTING_FAKE_BASE_H_
#define CAIRN_D3D12ABI_TESTING_FAKE_BASE_H_

#include <atomic>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "d3d12abi/d3d12_api.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

inline std::atomic<int> fake_object_count{0};

inline bool IsSame(REFIID a, REFIID b) {
  return std::memcmp(&a, &b, sizeof(a)) == 0;
}

// Returns a name of ASCII, whose characters are of two bytes with the platform's own convention, and wchar_t with
// that of Windows.
inline std::string NarrowName(LPCWSTR name) {
#if defined(CAIRN_D3D12_SYSV_ABI)
  const auto* character = reinterpret_cast<const char16_t*>(name);
#else
  const wchar_t* character = name;
#endif
  std::string narrow;
  for (; character != nullptr && *character != 0; ++character) {
    narrow += static_cast<char>(*character);
  }
  return narrow;
}

// IUnknown of an object that answers to `Interfaces` and IUnknown, and its private data as far as they are
// interfaces. Children hold their device. Other objects may keep one without a reference that counts, as
// implementations do.
template <typename Base, typename... Interfaces>
class Fake : public Base {
 public:
  explicit Fake(ID3D12Device* device) : device_(device) {
    fake_object_count.fetch_add(1);
    if (device_ != nullptr) device_->AddRef();
  }
  virtual ~Fake() {
    for (const auto& [guid, data] : private_data_) data->Release();
    fake_object_count.fetch_sub(1);
    if (device_ != nullptr) device_->Release();
  }

  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID riid, void** object) override {
    if (object == nullptr) return E_POINTER;
    *object = nullptr;
    if (!(IsSame(riid, __uuidof(Interfaces)) || ...) && !IsSame(riid, __uuidof(IUnknown))) {
      return E_NOINTERFACE;
    }
    this->AddRef();
    *object = static_cast<Base*>(this);  // each derives from the one before
    return S_OK;
  }
  ULONG STDMETHODCALLTYPE AddRef() override {
    const ULONG before = references_.fetch_add(1);
    if (before == 0) Keep();
    return before + 1;
  }
  ULONG STDMETHODCALLTYPE Release() override {
    const ULONG left = references_.fetch_sub(1) - 1;
    if (left == 0) LetGo();
    return left;
  }
  HRESULT STDMETHODCALLTYPE SetPrivateDataInterface(REFGUID guid, const IUnknown* data) override {
    const std::lock_guard lock(mutex_);
    if (data == nullptr) return E_NOTIMPL;
    auto* const kept = const_cast<IUnknown*>(data);
    kept->AddRef();
    private_data_.emplace_back(guid, kept);
    return S_OK;
  }

  void Keep() { keepers_.fetch_add(1); }
  void LetGo() {
    if (keepers_.fetch_sub(1) == 1) delete this;
  }

 protected:
  ID3D12Device* device() const { return device_; }

 private:
  ID3D12Device* const device_;
  std::atomic<ULONG> references_{1};
  std::atomic<uint32_t> keepers_{1};  // 1 for all references
  std::mutex mutex_;
  std::vector<std::pair<GUID, IUnknown*>> private_data_;
};

// Gives the caller interface `riid` of a new object, in place of the creator's reference.
template <typename T>
HRESULT GiveOut(T* object, REFIID riid, void** out) {
  const HRESULT result = object->QueryInterface(riid, out);
  object->Release();
  return result;
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_D3D12ABI_TESTING_FAKE_BASE_H_
