// SPDX-License-Identifier: Apache-2.0
//
// FakeDevice: a small Direct3D 12 that runs on the CPU at once, for tests of code that is compiled for
// both calling conventions: no implementation with the platform's own is at hand. It has buffers,
// CopyBufferRegion, WriteBufferImmediate, lists, queues and fences of ID3D12Device, and of what is newer pipeline libraries that
// are empty. Copies take place when their list is executed. Textures, descriptor heaps, root signatures,
// compute pipelines, query heaps and command signatures exist, and nothing happens with them. A placed
// resource keeps its heap alive, also when that has no reference left. Ranges of a call that do not agree on how much there is
// abort: an implementation may go by either. Memory that the CPU writes is
// not zero at first. All fake devices together have 16 MiB of memory.
#ifndef CAIRN_D3D12ABI_TESTING_FAKE_DEVICE_H_
#define CAIRN_D3D12ABI_TESTING_FAKE_DEVICE_H_

#include <cstdint>

#include "d3d12abi/d3d12_api.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

// The device's result of GetAdapterLuid.
inline constexpr uint32_t kFakeLuidLow = 0x12345678;
inline constexpr int32_t kFakeLuidHigh = 0x0abcdef0;

// A device with one reference.
ID3D12Device* CreateFakeDevice();

// Bytes of each heap that a newer device opens at an address, which is a multiple of 4096, or from a file
// mapping, which is that address.
inline constexpr uint64_t kFakeImportedBytes = 65536;

// Makes a device with ID3D12Device5, whose lists have ID3D12GraphicsCommandList4, and which can be
// removed. It has one meta command, which copies: its parameters are FakeCopy.
ID3D12Device* CreateNewerFakeDevice();
inline constexpr GUID kFakeMetaCommand = {
    0x6d657461, 0x636f, 0x7079, {0x43, 0x61, 0x69, 0x72, 0x6e, 0x30, 0x30, 0x31}};
struct FakeCopy {
  D3D12_GPU_VIRTUAL_ADDRESS from = 0;
  UINT64 size_bytes = 0;  // a multiple of 4
  D3D12_GPU_VIRTUAL_ADDRESS to = 0;
};

// Makes a newer device with programs of state objects, whose lists have ID3D12GraphicsCommandList10 (fake_programs.h).
ID3D12Device* CreateFakeDeviceWithPrograms();

// While they are held, what queues signal does not reach its fences: as if the GPU were at work. When they are let
// go it does, in its order. Any thread.
void HoldFakeSignals(bool held);

// Makes all fake devices ask for so many more bytes for each resource and acceleration structure, and for that alignment
// of resources, as another GPU would. 0 and 65536 at first.
void SetFakeSizes(uint64_t more_bytes, uint64_t alignment);
// Makes builds and updates of acceleration structures need so much scratch memory. 0 at first.
void SetFakeScratch(uint64_t bytes);

// Objects of all fake devices that are alive, the devices among them.
int FakeObjectCount();

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_D3D12ABI_TESTING_FAKE_DEVICE_H_
