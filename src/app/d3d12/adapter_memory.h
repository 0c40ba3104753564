// SPDX-License-Identifier: Apache-2.0
//
// AdapterMemory: the heaps of an adapter as DXGI tells them, for Direct3D 11 and 12: heap 0 is the adapter's own memory,
// heap 1 the system's that it uses. Of linked adapters the first is told. No Direct3D: compiled once.
#ifndef CAIRN_APP_D3D12_ADAPTER_MEMORY_H_
#define CAIRN_APP_D3D12_ADAPTER_MEMORY_H_

#include <cstdint>
#include <span>

#include "format/block/block.h"

struct IUnknown;

namespace cairn {

class AdapterMemory {
 public:
  // Asks the adapter of this LUID. Without DXGI, as on Linux, or for one that DXGI does not know: no heaps.
  static AdapterMemory Of(uint32_t luid_low, int32_t luid_high);
  // Asks this adapter of DXGI. Windows alone.
  static AdapterMemory Of(IUnknown* adapter);

  std::span<const MemoryHeapRecord> heaps() const { return {heaps_, count_}; }

 private:
  MemoryHeapRecord heaps_[2] = {};
  uint32_t count_ = 0;
};

}  // namespace cairn

#endif  // CAIRN_APP_D3D12_ADAPTER_MEMORY_H_
