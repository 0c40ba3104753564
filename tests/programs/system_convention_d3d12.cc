// SPDX-License-Identifier: Apache-2.0
//
// A Direct3D 12 implementation whose methods have the platform's own calling convention, as a native
// vkd3d-proton has them: just enough of one to see that calls arrive whole. It insists on its own
// objects as arguments. Everything that it lacks answers E_NOTIMPL.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "d3d12abi/d3d12_api.h"

namespace {

using Method = void*;

HRESULT NotImplemented() {
  return E_NOTIMPL;
}

struct Object {
  const Method* methods;
  std::atomic<ULONG> references{1};
  Object* device = nullptr;  // which it keeps alive
  UINT64 value = 0;          // of a fence
};

template <typename Function>
Method Address(Function* function) {
  return reinterpret_cast<Method>(function);
}

extern const Method* const kDeviceMethods;
extern const Method* const kFenceMethods;
extern const Method* const kQueueMethods;

bool Answers(const Object& object, REFIID iid) {
  if (iid == __uuidof(IUnknown) || iid == __uuidof(ID3D12Object)) return true;
  if (object.methods == kDeviceMethods) return iid == __uuidof(ID3D12Device);
  if (iid == __uuidof(ID3D12DeviceChild) || iid == __uuidof(ID3D12Pageable)) return true;
  return iid ==
         (object.methods == kFenceMethods ? __uuidof(ID3D12Fence) : __uuidof(ID3D12CommandQueue));
}

ULONG AddRef(Object* object) {
  return ++object->references;
}

ULONG Release(Object* object) {
  const ULONG left = --object->references;
  if (left != 0) return left;
  if (object->device != nullptr) Release(object->device);
  delete object;
  return 0;
}

HRESULT QueryInterface(Object* object, REFIID iid, void** out) {
  *out = nullptr;
  if (!Answers(*object, iid)) return E_NOINTERFACE;
  AddRef(object);
  *out = object;
  return S_OK;
}

HRESULT Accept() {
  return S_OK;
}

HRESULT Give(Object* object, REFIID iid, void** out) {
  const HRESULT result = QueryInterface(object, iid, out);
  Release(object);
  return result;
}

Object* NewChild(Object* device, const Method* methods) {
  auto* const child = new Object{methods};
  child->device = device;
  AddRef(device);
  return child;
}

// ID3D12Device.
UINT GetNodeCount(Object*) {
  return 1;
}
HRESULT CreateQueue(Object* device, const D3D12_COMMAND_QUEUE_DESC*, REFIID iid, void** out) {
  return Give(NewChild(device, kQueueMethods), iid, out);
}
HRESULT CreateFence(Object* device, UINT64 value, D3D12_FENCE_FLAGS, REFIID iid, void** out) {
  Object* const fence = NewChild(device, kFenceMethods);
  fence->value = value;
  return Give(fence, iid, out);
}
LUID* GetAdapterLuid(Object*, LUID* luid) {
  luid->LowPart = 0x1234;
  luid->HighPart = 0x56;
  return luid;
}

// Implements GetDevice of every child.
HRESULT GetDevice(Object* child, REFIID iid, void** out) {
  return QueryInterface(child->device, iid, out);
}

// ID3D12Fence.
UINT64 GetCompletedValue(Object* fence) {
  return fence->value;
}
HRESULT SignalFence(Object* fence, UINT64 value) {
  fence->value = value;
  return S_OK;
}

// ID3D12CommandQueue.
HRESULT SignalFromQueue(Object*, Object* fence, UINT64 value) {
  if (fence->methods != kFenceMethods) {
    std::fputs("a foreign fence was passed\n", stderr);
    std::abort();
  }
  fence->value = value;
  return S_OK;
}

constexpr int kMostMethods = 128;
struct Methods {
  Method entries[kMostMethods];
  Methods() {
    for (Method& entry : entries) entry = Address(&NotImplemented);
    entries[0] = Address(&QueryInterface);
    entries[1] = Address(&AddRef);
    entries[2] = Address(&Release);
    entries[6] = Address(&Accept);  // SetName
  }
  Methods& Set(int index, Method method) {
    entries[index] = method;
    return *this;
  }
};

// At their places in the tables of d3d12.h.
const Methods device_methods = Methods()
                                   .Set(7, Address(&GetNodeCount))
                                   .Set(8, Address(&CreateQueue))
                                   .Set(36, Address(&CreateFence))
                                   .Set(37, Address(&Accept))  // GetDeviceRemovedReason
                                   .Set(43, Address(&GetAdapterLuid));
const Methods fence_methods = Methods()
                                  .Set(7, Address(&GetDevice))
                                  .Set(8, Address(&GetCompletedValue))
                                  .Set(10, Address(&SignalFence));
const Methods queue_methods =
    Methods().Set(7, Address(&GetDevice)).Set(14, Address(&SignalFromQueue));

const Method* const kDeviceMethods = device_methods.entries;
const Method* const kFenceMethods = fence_methods.entries;
const Method* const kQueueMethods = queue_methods.entries;

}  // namespace

// Declared by d3d12.h.
__attribute__((visibility("default"))) HRESULT WINAPI D3D12CreateDevice(IUnknown*,
                                                                        D3D_FEATURE_LEVEL level,
                                                                        REFIID iid, void** device) {
  if (level != D3D_FEATURE_LEVEL_12_1) return E_INVALIDARG;
  if (device == nullptr) return S_FALSE;
  return Give(new Object{kDeviceMethods}, iid, device);
}
