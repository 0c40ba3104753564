// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <fmt/format.h>
#include <stdlib.h>

#include "replay/device.h"

namespace cairn {

bool HasWindowsCalls(const std::string& library) {
  return library.find("libvkd3d-utils.so") != std::string::npos ||
         library.find("libvkd3d.so") != std::string::npos;
}

Result<D3D12Library> LoadD3D12(const std::string& library) {
  // Traces contain calls of stubs; libvkd3d would print a line for each. Errors still show.
  setenv("VKD3D_DEBUG", "err", /*overwrite=*/0);
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const next = library == kDefaultD3D12Library
                                 ? "; install libvkd3d-utils1, or name another library"
                                 : "; name a library that exports D3D12CreateDevice";
    const char* const reason = dlerror();
    return Status(StatusCode::kNotFound,
                  fmt::format("Direct3D 12 is not available: {}{}",
                              reason == nullptr ? library : std::string(reason), next));
  }
  D3D12Library result;
  result.create_device = dlsym(handle, "D3D12CreateDeviceVKD3D");
  result.takes_api_version = result.create_device != nullptr;
  if (result.create_device == nullptr) result.create_device = dlsym(handle, "D3D12CreateDevice");
  result.serialize_root_signature = dlsym(handle, "D3D12SerializeRootSignature");
  if (result.create_device == nullptr) {
    return Status(
        StatusCode::kUnsupported,
        fmt::format("{} exports no D3D12CreateDevice; name a library that does", library));
  }
  return result;
}

}  // namespace cairn
