// SPDX-License-Identifier: Apache-2.0
//
// Direct3D 12 for the modern samples on Linux is a natively built vkd3d-proton: libvkd3d has no shader model 6 on
// Debian 12, nor ray tracing or mesh shaders anywhere. No package has it, so that it is opened when a sample runs.
#include <dlfcn.h>
#include <fmt/format.h>

#include "d3d12_device.h"

namespace {

constexpr char kLibrary[] = "libvkd3d-proton-d3d12.so";

// Never null.
void* Function(const char* name) {
  static void* const library = dlopen(kLibrary, RTLD_NOW);
  if (library == nullptr) {
    sample::Fail(fmt::format(
        "{}; a natively built vkd3d-proton has it, and LD_LIBRARY_PATH is to name its folder",
        dlerror()));
  }
  void* const function = dlsym(library, name);
  if (function == nullptr) sample::Fail(fmt::format("{} has no {}", kLibrary, name));
  return function;
}

}  // namespace

// What d3d12.h declares and d3d12_device.cc calls.
HRESULT WINAPI D3D12SerializeRootSignature(const D3D12_ROOT_SIGNATURE_DESC* desc,
                                           D3D_ROOT_SIGNATURE_VERSION version, ID3DBlob** blob,
                                           ID3DBlob** error) {
  return reinterpret_cast<PFN_D3D12_SERIALIZE_ROOT_SIGNATURE>(
      Function("D3D12SerializeRootSignature"))(desc, version, blob, error);
}

namespace sample {

// It takes no adapter, and has one device at a time.
ComPtr<ID3D12Device> CreateDevice(uint32_t /*adapter*/) {
  const auto create = reinterpret_cast<PFN_D3D12_CREATE_DEVICE>(Function("D3D12CreateDevice"));
  ComPtr<ID3D12Device> device;
  const HRESULT result =
      create(nullptr, D3D_FEATURE_LEVEL_11_0, __uuidof(ID3D12Device), device.Receive());
  if (FAILED(result)) {
    Fail(
        fmt::format("vkd3d-proton found no Vulkan device with what it needs (0x{:08X}); "
                    "VKD3D_DEBUG=warn makes it say why",
                    static_cast<uint32_t>(result)));
  }
  return device;
}

}  // namespace sample
