// SPDX-License-Identifier: Apache-2.0
//
// The Direct3D 12 of this machine: which library it is, and devices of it. Loaded, never linked, so that
// a layer that is preloaded sees what a replay does.
#ifndef CAIRN_READER_REPLAY_DEVICE_H_
#define CAIRN_READER_REPLAY_DEVICE_H_

#include <cstdint>
#include <string>

#include "base/status.h"

namespace cairn {

inline constexpr char kDefaultD3D12Library[] = "libvkd3d-utils.so.1";

// The library's calling convention of COM methods: that of Windows for libvkd3d and its utilities, the
// platform's own for everything else (vkd3d-proton, built natively). By the name of the file.
bool HasWindowsCalls(const std::string& library);

// Its function that creates devices, as an address. Never unloaded: devices must not outlive it.
// Errors: kNotFound with the package that has it; kUnsupported if the library has no such function.
struct D3D12Library {
  void* create_device = nullptr;
  void* serialize_root_signature = nullptr;  // D3D12SerializeRootSignature; null if it has none
  bool takes_api_version = false;            // libvkd3d-utils: one more argument
  uint32_t wchar_bytes = sizeof(wchar_t);    // of a WCHAR in its wide strings
};
Result<D3D12Library> LoadD3D12(const std::string& library);

// Which device it is, the same each time and, but for the paths, on each machine that has the like: no
// addresses, no LUID. What is not known is "".
struct DeviceFacts {
  std::string name;     // "llvmpipe (LLVM 15.0.6, 256 bits), 10005:0000"
  std::string driver;   // "llvmpipe Mesa 22.3.6 (LLVM 15.0.6), version 0x1"
  std::string library;  // the file of the implementation: "libvkd3d-utils.so.1.4.4"
  // Where that was loaded from, and what it stands on, links followed: two builds may have the same name.
  std::string library_paths = {};

  bool operator==(const DeviceFacts&) const = default;
};
// `device`: an ID3D12Device of this library. Asks Vulkan below libvkd3d; of other implementations the
// library alone is told.
DeviceFacts DescribeDevice(const D3D12Library& library, void* device);

}  // namespace cairn

#endif  // CAIRN_READER_REPLAY_DEVICE_H_
