// SPDX-License-Identifier: Apache-2.0
#include "reader/replay/device.h"

#include <fmt/format.h>

#include <cstdlib>

#include "os/environment.h"
#include "os/library.h"
#include "os/wine.h"

namespace cairn {

#if defined(_WIN32)

const char kNextWithoutDevice[] = "check with `dxdiag` that a driver with Direct3D 12 is installed";
constexpr char kNextForDefault[] = "; it comes with Windows 10, and with Wine";
constexpr char kNextForOthers[] = "; name a d3d12.dll";

bool HasWindowsCalls(const std::string&) {
  return true;
}

static bool IsLibvkd3d(const std::string&, const Library& library) {
  return library.IsOfWine();
}

// Wine has libvkd3d inside its d3d12.dll, which does not report its version: Wine 11 has 1.17 or a
// later one.
static bool TakesNull(const Library&) {
  const char* const version = WineVersion();
  return version != nullptr && std::atoi(version) >= 11;
}

#else

const char kNextWithoutDevice[] = "check with `vulkaninfo` that a Vulkan driver is installed";
constexpr char kNextForDefault[] = "; install libvkd3d-utils1, or name another library";
constexpr char kNextForOthers[] = "; name a library that exports D3D12CreateDevice";

bool HasWindowsCalls(const std::string& library) {
  return library.find("libvkd3d-utils.so") != std::string::npos ||
         library.find("libvkd3d.so") != std::string::npos;
}

// Only libvkd3d has functions of the Windows convention here.
static bool IsLibvkd3d(const std::string& name, const Library&) {
  return HasWindowsCalls(name);
}

// libvkd3d-shader, which stands below, is of the same release.
static bool TakesNull(const Library& library) {
  const auto version =
      library.Find<const char* (*)(unsigned*, unsigned*)>("vkd3d_shader_get_version");
  unsigned major = 0;
  unsigned minor = 0;
  if (version != nullptr) version(&major, &minor);
  return Libvkd3dTakesNull(major, minor);
}

#endif

Result<D3D12Library> LoadD3D12(const std::string& name) {
  // Traces contain calls of stubs; libvkd3d would print a line for each. Errors still show.
  SetMissingVariable("VKD3D_DEBUG", "err");
  const Result<Library> library = Library::Load(name);
  if (!library.ok()) {
    const char* const next = name == kDefaultD3D12Library ? kNextForDefault : kNextForOthers;
    return Status(StatusCode::kNotFound, fmt::format("Direct3D 12 is not available: {}{}",
                                                     library.status().message(), next));
  }
  D3D12Library result;
  result.create_device = library->Find<void*>("D3D12CreateDeviceVKD3D");
  result.takes_api_version = result.create_device != nullptr;
  if (result.create_device == nullptr) {
    result.create_device = library->Find<void*>("D3D12CreateDevice");
  }
  result.is_libvkd3d = IsLibvkd3d(name, *library);
  result.takes_null = !result.is_libvkd3d || TakesNull(*library);
  // libvkd3d-utils was built with wchar_t for WCHAR, and tells libvkd3d; others use Windows's size.
  result.wchar_bytes = result.takes_api_version ? sizeof(wchar_t) : sizeof(char16_t);
  result.serialize_root_signature = library->Find<void*>("D3D12SerializeRootSignature");
  if (result.create_device == nullptr) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("{} exports no D3D12CreateDevice; name a library that does", name));
  }
  return result;
}

}  // namespace cairn
