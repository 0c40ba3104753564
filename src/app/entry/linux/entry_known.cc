// SPDX-License-Identifier: Apache-2.0
#include "app/entry/linux/entry_known.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <vector>

#include "app/entry/linux/entry_next.h"
#include "app/entry/linux/exports.h"
#include "os/library.h"

namespace cairn {
namespace {

using namespace std::string_view_literals;

// Functions of libvkd3d and libvkd3d-utils 1.0 to 2.1 and of vkd3d-proton without objects that have
// wrappers: instances, blobs, events of their own, settings.
constexpr std::array kWithoutOurObjects = {
    "vkd3d_instance_decref"sv,
    "vkd3d_instance_get_vk_instance"sv,
    "vkd3d_instance_incref"sv,
    "vkd3d_serialize_root_signature"sv,
    "vkd3d_serialize_versioned_root_signature"sv,
    "vkd3d_create_root_signature_deserializer"sv,
    "vkd3d_create_versioned_root_signature_deserializer"sv,
    "vkd3d_get_vk_format"sv,
    "vkd3d_get_dxgi_format"sv,
    "vkd3d_set_log_callback"sv,
    "vkd3d_utils_set_log_callback"sv,
    "vkd3d_create_event"sv,
    "vkd3d_destroy_event"sv,
    "vkd3d_signal_event"sv,
    "vkd3d_wait_event"sv,
    "D3D12CreateRootSignatureDeserializer"sv,
    "D3D12CreateVersionedRootSignatureDeserializer"sv,
    "D3D12SerializeRootSignature"sv,
    "D3D12SerializeVersionedRootSignature"sv,
    "D3D12EnableExperimentalFeatures"sv,
    "D3D12GetDebugInterface"sv,
    // Gives settings and a factory of devices, which have no wrappers.
    "D3D12GetInterface"sv,
    // Leads to vkd3d_create_device.
    "D3D12CreateDeviceVKD3D"sv,
};

constexpr std::array kPrefixes = {"vkd3d_"sv, "D3D12"sv};
// Bytes in, bytes out.
constexpr std::string_view kShaderPrefix = "vkd3d_shader_";

bool IsKnown(std::string_view name, std::span<const std::string_view> ours) {
  return name.starts_with(kShaderPrefix) ||
         std::find(ours.begin(), ours.end(), name) != ours.end() ||
         std::find(kWithoutOurObjects.begin(), kWithoutOurObjects.end(), name) !=
             kWithoutOurObjects.end();
}

}  // namespace

std::string UnknownFunction(void* function, std::string_view libraries,
                            std::span<const std::string_view> ours) {
  std::vector<std::string> paths = LoadedLibraries(libraries);
  const std::string of_function = LibraryPathOf(function);
  if (!of_function.empty()) paths.insert(paths.begin(), of_function);
  for (const std::string& path : paths) {
    void* const library = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) continue;
    std::string found;
    for (const std::string_view prefix : kPrefixes) {
      for (const std::string& name : ExportedFunctions(library, prefix)) {
        if (found.empty() && !IsKnown(name, ours)) {
          found = name + " of " + path.substr(path.rfind('/') + 1);
        }
      }
    }
    dlclose(library);
    if (!found.empty()) return found;
  }
  return {};
}

}  // namespace cairn
