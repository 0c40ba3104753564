// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "os/graphics_adapter.h"
#include "os/library.h"
#include "reader/replay/device.h"

namespace cairn {
namespace {

// "d3d12.dll 10.0.19041.1"
std::string InWords(const void* code) {
  const std::string version = LibraryVersionOf(code);
  return LibraryNameOf(code) + (version.empty() ? "" : " " + version);
}

}  // namespace

DeviceFacts DescribeDevice(const D3D12Library& library, void* device, uint64_t adapter_luid) {
  DeviceFacts facts;
  facts.library = InWords(library.create_device);
  facts.library_paths = LibraryPathOf(library.create_device);
  // The library that is asked may leave the work to another one.
  const void* const method = **static_cast<void***>(device);
  const std::string implementation = LibraryPathOf(method);
  if (!implementation.empty() && implementation != facts.library_paths) {
    facts.library += ", " + InWords(method);
    facts.library_paths += ", " + implementation;
  }
  const Result<GraphicsAdapter> adapter = FindGraphicsAdapter(adapter_luid);
  if (!adapter.ok()) return facts;
  facts.name = fmt::format("{}, {:04x}:{:04x}", adapter->name, adapter->vendor, adapter->device);
  if (!adapter->driver_version.empty()) facts.driver = "version " + adapter->driver_version;
  return facts;
}

}  // namespace cairn
