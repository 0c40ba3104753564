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

#if defined(_WIN32)
inline constexpr char kDefaultD3D12Library[] = "d3d12.dll";
#else
inline constexpr char kDefaultD3D12Library[] = "libvkd3d-utils.so.1";
#endif

// The next step for the user if a device cannot be made.
extern const char kNextWithoutDevice[];

// The library's calling convention of COM methods: that of Windows for libvkd3d and its utilities, the
// platform's own for everything else (vkd3d-proton, built natively). By the name of the file. On Windows there is
// one convention, and this is true of every library.
bool HasWindowsCalls(const std::string& library);

// The library with its function that creates devices, as an address. Never unloaded: devices must
// not outlive it.
// Errors: kNotFound with the package that has it; kUnsupported if the library has no such function.
struct D3D12Library {
  void* create_device = nullptr;
  void* serialize_root_signature = nullptr;  // D3D12SerializeRootSignature; null if it has none
  bool takes_api_version = false;            // libvkd3d-utils: one more argument
  uint32_t wchar_bytes = sizeof(wchar_t);    // of a WCHAR in its wide strings
  // True for libvkd3d and Wine's copy of it: it reads the descriptors of tables on the CPU at
  // draws, its command lists end with their allocators, and its queues do not wait for values that
  // were not signalled before. Elsewhere only the GPU reads tables, and queues wait.
  bool is_libvkd3d = true;
  // True if null is accepted in place of a root view's address, of the indices' address, and of an
  // array of vertex buffers: all but older releases of libvkd3d accept it, of which the first ones
  // follow the pointer. Those get an equivalent argument.
  bool takes_null = false;
};
Result<D3D12Library> LoadD3D12(const std::string& library);

// Returns true if release MAJOR.MINOR of libvkd3d is known to take null (D3D12Library::takes_null).
constexpr bool Libvkd3dTakesNull(unsigned major, unsigned minor) {
  return major > 1 || (major == 1 && minor >= 17);
}

// The part of this machine that a trace is played on, as the user says it; "": the default.
struct PlayOn {
  std::string library;  // PlayerOptions::library
  std::string adapter;  // PlayerOptions::adapter

  bool operator==(const PlayOn&) const = default;
};

// Identifies the device: equal each time and, except for the paths, on each machine with the same
// kind of device, so that it has no addresses and no LUID. Unknown values are "".
struct DeviceFacts {
  std::string name;    // "llvmpipe (LLVM 15.0.6, 256 bits), 10005:0000"
  std::string driver;  // "llvmpipe Mesa 22.3.6 (LLVM 15.0.6), version 0x1"
  std::string
      library;  // the file of the implementation: "libvkd3d-utils.so.1.4.4", "d3d12.dll 10.0.19041.1"
  // The paths of the library and of those that it uses, links followed: two builds may have the
  // same name.
  std::string library_paths = {};

  bool operator==(const DeviceFacts&) const = default;
};
// `device`: an ID3D12Device of this library; `adapter_luid`: the result of its GetAdapterLuid. Asks
// Vulkan below libvkd3d, and on Windows the system, for the adapter; for other implementations
// returns the library only.
DeviceFacts DescribeDevice(const D3D12Library& library, void* device, uint64_t adapter_luid);

}  // namespace cairn

#endif  // CAIRN_READER_REPLAY_DEVICE_H_
