// SPDX-License-Identifier: Apache-2.0
//
// layered.exe STEP...: does these one after the other, and says in a line each what came of it.
//   load:NAME   loads a library
//   import      makes a device by the function that it imports
//   lookup      by the one that GetProcAddress gives for its name
//   number      by the one that GetProcAddress gives for its number
//   late        in late-user.dll, which is loaded now
//   factory     by a device factory
//   sdk         by a device factory of a version of Direct3D 12
//   on12        uses objects with Direct3D 11 on Direct3D 12: those that it gives back, and how many wrappers it got
//   ask         asks whether a device could be made
//   fail        asks for a device that cannot be made
//   overlay     how many calls overlay.dll has seen
//   made        how many calls the implementation got
#include <cstdio>
#include <cstring>
#include <string>

#include "tests/windows/layered/use_device.h"

namespace cairn {
namespace {

template <typename Function>
Function Find(const char* library, const char* name) {
  return reinterpret_cast<Function>(
      reinterpret_cast<void*>(GetProcAddress(LoadLibraryA(library), name)));
}

std::string Number(unsigned (*count)()) {
  return count == nullptr ? "not there" : std::to_string(count());
}

std::string HresultText(HRESULT result) {
  char text[16];
  std::snprintf(text, sizeof(text), "0x%08lx", result);
  return text;
}

using GetInterface = HRESULT(WINAPI*)(REFCLSID, REFIID, void**);
template <typename Interface>
ComPtr<Interface> Configured() {
  ComPtr<Interface> object;
  Find<GetInterface>("d3d12.dll", "D3D12GetInterface")(GUID{}, __uuidof(Interface),
                                                       object.Receive());
  return object;
}

std::string WhoseDeviceOf(ID3D12DeviceFactory* factory) {
  ComPtr<ID3D12Device> device;
  factory->CreateDevice(nullptr, D3D_FEATURE_LEVEL_11_0, __uuidof(ID3D12Device), device.Receive());
  return Whose(device.get());
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"  // as all interfaces

// ID3D11On12Device2, as far as its methods go.
struct On12Device : public IUnknown {
  virtual HRESULT STDMETHODCALLTYPE CreateWrappedResource(IUnknown* resource, const void*, UINT,
                                                          UINT, REFIID riid, void** made) = 0;
  virtual void STDMETHODCALLTYPE ReleaseWrappedResources(IUnknown* const*, UINT) = 0;
  virtual void STDMETHODCALLTYPE AcquireWrappedResources(IUnknown* const*, UINT) = 0;
  virtual HRESULT STDMETHODCALLTYPE GetD3D12Device(REFIID riid, void** device) = 0;
  virtual HRESULT STDMETHODCALLTYPE UnwrapUnderlyingResource(IUnknown*, ID3D12CommandQueue* queue,
                                                             REFIID riid, void** resource) = 0;
  virtual HRESULT STDMETHODCALLTYPE ReturnUnderlyingResource(IUnknown*, UINT count, UINT64*,
                                                             ID3D12Fence* const* fences) = 0;
};
#pragma GCC diagnostic pop

using CreateOn12 = HRESULT(WINAPI*)(IUnknown*, UINT, const D3D_FEATURE_LEVEL*, UINT,
                                    IUnknown* const*, UINT, UINT, IUnknown**, void**,
                                    D3D_FEATURE_LEVEL*);

std::string UseOn12() {
  ComPtr<ID3D12Device> device;
  D3D12CreateDevice(nullptr, D3D_FEATURE_LEVEL_11_0, __uuidof(ID3D12Device), device.Receive());
  ComPtr<ID3D12CommandQueue> queue;
  ComPtr<ID3D12Fence> fence;
  const D3D12_COMMAND_QUEUE_DESC desc = {};
  device->CreateCommandQueue(&desc, __uuidof(ID3D12CommandQueue), queue.Receive());
  device->CreateFence(0, D3D12_FENCE_FLAG_NONE, __uuidof(ID3D12Fence), fence.Receive());
  IUnknown* const queues[] = {queue.get()};
  IUnknown* made = nullptr;
  Find<CreateOn12>("d3d11.dll", "D3D11On12CreateDevice")(device.get(), 0, nullptr, 0, queues, 1, 0,
                                                         &made, nullptr, nullptr);
  auto* const on12 = static_cast<On12Device*>(made);
  // Any object is as good as a resource there.
  ComPtr<IUnknown> resource11;
  on12->CreateWrappedResource(fence.get(), nullptr, 0, 0, __uuidof(IUnknown), resource11.Receive());
  ComPtr<ID3D12Device> same_device;
  on12->GetD3D12Device(__uuidof(ID3D12Device), same_device.Receive());
  ComPtr<ID3D12Fence> resource;
  on12->UnwrapUnderlyingResource(resource11.get(), queue.get(), __uuidof(ID3D12Fence),
                                 resource.Receive());
  UINT64 value = 1;
  ID3D12Fence* const fences[] = {fence.get()};
  on12->ReturnUnderlyingResource(resource11.get(), 1, &value, fences);
  const bool same = same_device.get() == device.get() && resource.get() == fence.get();
  return std::string(same ? "ours" : "others") + ", " +
         Number(Find<unsigned (*)()>("d3d11.dll", "FakeWrappersSeen"));
}

std::string Do(const std::string& step) {
  constexpr uintptr_t kNumber = 101;
  if (step.starts_with("load:"))
    return LoadLibraryA(step.substr(5).c_str()) != nullptr ? "yes" : "no";
  if (step == "import") return WhoseDevice(&D3D12CreateDevice);
  if (step == "lookup") return WhoseDevice(Find<CreateDevice>("d3d12.dll", "D3D12CreateDevice"));
  if (step == "number") {
    return WhoseDevice(Find<CreateDevice>("d3d12.dll", reinterpret_cast<const char*>(kNumber)));
  }
  if (step == "late") return Find<const char* (*)()>("late-user.dll", "UseDevice")();
  if (step == "factory") return WhoseDeviceOf(Configured<ID3D12DeviceFactory>().get());
  if (step == "sdk") {
    ComPtr<ID3D12DeviceFactory> factory;
    Configured<ID3D12SDKConfiguration1>()->CreateDeviceFactory(
        D3D12_SDK_VERSION, "", __uuidof(ID3D12DeviceFactory), factory.Receive());
    return WhoseDeviceOf(factory.get());
  }
  if (step == "on12") return UseOn12();
  if (step == "ask") {
    return HresultText(
        D3D12CreateDevice(nullptr, D3D_FEATURE_LEVEL_11_0, __uuidof(ID3D12Device), nullptr));
  }
  if (step == "fail") {
    int untouched = 0;
    void* device = &untouched;
    const HRESULT result =
        D3D12CreateDevice(nullptr, D3D_FEATURE_LEVEL_12_2, __uuidof(ID3D12Device), &device);
    return HresultText(result) + (device == &untouched ? ", untouched" : ", changed");
  }
  if (step == "overlay") return Number(Find<unsigned (*)()>("overlay.dll", "OverlayCalls"));
  if (step == "made") return Number(Find<unsigned (*)()>("d3d12.dll", "FakeCalls"));
  return "unknown step";
}

}  // namespace
}  // namespace cairn

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    std::printf("%s: %s\n", argv[i], cairn::Do(argv[i]).c_str());
    std::fflush(stdout);
  }
}
