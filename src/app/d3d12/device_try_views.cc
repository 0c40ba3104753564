// SPDX-License-Identifier: Apache-2.0
//
// ID3D12Device15: descriptors whose making may fail.
#include "app/d3d12/capture/device_capture.h"
#include "app/d3d12/device.h"
#include "app/d3d12/policy.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

namespace {

// Records the call in the thread's ring while it is made; and in the capture afterwards, as the
// method that cannot fail.
template <typename Make, typename... Arguments>
HRESULT TryView(const Wrapper& device, Method plain, Make make, const Arguments&... arguments) {
  CallRecord* const call =
      CallRing::Begin(first_method.load(std::memory_order_relaxed) + static_cast<uint32_t>(plain),
                      device.interface_pointer(), arguments...);
  const HRESULT result = make();
  CallRing::End(call);
  if (SUCCEEDED(result) && Capture::Active() != nullptr) [[unlikely]] {
    CapturedCallReturned(CaptureArguments(device, plain, Arguments(arguments)...));
  }
  return result;
}

}  // namespace

HRESULT WrappedID3D12Device::TryCreateShaderResourceView(
    ID3D12Resource* resource, const D3D12_SHADER_RESOURCE_VIEW_DESC* desc,
    D3D12_CPU_DESCRIPTOR_HANDLE descriptor) {
  return TryView(
      *this, Method::ID3D12Device_CreateShaderResourceView,
      [&] { return real()->TryCreateShaderResourceView(Unwrap(resource), desc, descriptor); },
      resource, desc, descriptor);
}

HRESULT WrappedID3D12Device::TryCreateUnorderedAccessView(
    ID3D12Resource* resource, ID3D12Resource* counter, const D3D12_UNORDERED_ACCESS_VIEW_DESC* desc,
    D3D12_CPU_DESCRIPTOR_HANDLE descriptor) {
  return TryView(
      *this, Method::ID3D12Device_CreateUnorderedAccessView,
      [&] {
        return real()->TryCreateUnorderedAccessView(Unwrap(resource), Unwrap(counter), desc,
                                                    descriptor);
      },
      resource, counter, desc, descriptor);
}

HRESULT WrappedID3D12Device::TryCreateConstantBufferView(
    const D3D12_CONSTANT_BUFFER_VIEW_DESC* desc, D3D12_CPU_DESCRIPTOR_HANDLE descriptor) {
  return TryView(
      *this, Method::ID3D12Device_CreateConstantBufferView,
      [&] { return real()->TryCreateConstantBufferView(desc, descriptor); }, desc, descriptor);
}

HRESULT WrappedID3D12Device::TryCreateSampler2(const D3D12_SAMPLER_DESC2* desc,
                                               D3D12_CPU_DESCRIPTOR_HANDLE descriptor) {
  return TryView(
      *this, Method::ID3D12Device11_CreateSampler2,
      [&] { return real()->TryCreateSampler2(desc, descriptor); }, desc, descriptor);
}

HRESULT WrappedID3D12Device::TryCreateRenderTargetView(ID3D12Resource* resource,
                                                       const D3D12_RENDER_TARGET_VIEW_DESC* desc,
                                                       D3D12_CPU_DESCRIPTOR_HANDLE descriptor) {
  const HRESULT result = TryView(
      *this, Method::ID3D12Device_CreateRenderTargetView,
      [&] { return real()->TryCreateRenderTargetView(Unwrap(resource), desc, descriptor); },
      resource, desc, descriptor);
  if (SUCCEEDED(result)) NoteRenderTarget(resource, desc, descriptor);
  return result;
}

HRESULT WrappedID3D12Device::TryCreateDepthStencilView(ID3D12Resource* resource,
                                                       const D3D12_DEPTH_STENCIL_VIEW_DESC* desc,
                                                       D3D12_CPU_DESCRIPTOR_HANDLE descriptor) {
  const HRESULT result = TryView(
      *this, Method::ID3D12Device_CreateDepthStencilView,
      [&] { return real()->TryCreateDepthStencilView(Unwrap(resource), desc, descriptor); },
      resource, desc, descriptor);
  if (SUCCEEDED(result)) NoteDepthStencil(resource, descriptor);
  return result;
}

HRESULT WrappedID3D12Device::TryCreateSamplerFeedbackUnorderedAccessView(
    ID3D12Resource* targeted, ID3D12Resource* feedback, D3D12_CPU_DESCRIPTOR_HANDLE descriptor) {
  return TryView(
      *this, Method::ID3D12Device8_CreateSamplerFeedbackUnorderedAccessView,
      [&] {
        return real()->TryCreateSamplerFeedbackUnorderedAccessView(Unwrap(targeted),
                                                                   Unwrap(feedback), descriptor);
      },
      targeted, feedback, descriptor);
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
