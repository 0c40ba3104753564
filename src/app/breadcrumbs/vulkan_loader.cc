// SPDX-License-Identifier: Apache-2.0
#include "app/breadcrumbs/vulkan_loader.h"

#include <fmt/format.h>

#include <string>

#include "os/library.h"

namespace cairn {
namespace {

std::string Loader() {
  return LibraryFile("vulkan", 1);
}

}  // namespace

Result<VulkanGetInstanceProcAddr> LoadVulkanLoader() {
  const Result<Library> library = Library::Load(Loader());
  if (!library.ok()) {
    return Status(StatusCode::kNotFound,
                  fmt::format("no Vulkan loader ({}); install one (Debian: the package libvulkan1)",
                              library.status().message()));
  }
  const auto function = library->Find<VulkanGetInstanceProcAddr>("vkGetInstanceProcAddr");
  if (function == nullptr) {
    return Status(StatusCode::kNotFound,
                  fmt::format("{} is no loader: it exports no vkGetInstanceProcAddr", Loader()));
  }
  return function;
}

VulkanVoidFunction FindVulkanLoaderFunction(const char* name) {
  static const Result<Library> library = Library::Load(Loader());
  return library.ok() ? library->Find<VulkanVoidFunction>(name) : nullptr;
}

}  // namespace cairn
