// SPDX-License-Identifier: Apache-2.0
//
// AdapterMemory: the heaps of an adapter as DXGI tells them, for Direct3D 11 and 12: heap 0 is the adapter's own memory,
// heap 1 the system's that it uses. Of linked adapters the first is told. No Direct3D: compiled once.
// KeptAdapter: an adapter that is found once, so that a failure makes no factory of DXGI before it asks.
#ifndef CAIRN_APP_D3D12_ADAPTER_MEMORY_H_
#define CAIRN_APP_D3D12_ADAPTER_MEMORY_H_

#include <cstdint>
#include <span>

#include "format/block/block.h"

struct IUnknown;

namespace cairn {

class AdapterMemory {
 public:
  // Asks this adapter of DXGI. Windows alone.
  static AdapterMemory Of(IUnknown* adapter);

  std::span<const MemoryHeapRecord> heaps() const { return {heaps_, count_}; }

 private:
  MemoryHeapRecord heaps_[2] = {};
  uint32_t count_ = 0;
};

// Holds at most one reference. Find and Keep come first, on one thread; then Ask may be called by any.
class KeptAdapter {
 public:
  KeptAdapter() = default;
  ~KeptAdapter();
  KeptAdapter(const KeptAdapter&) = delete;
  KeptAdapter& operator=(const KeptAdapter&) = delete;

  // Keeps the adapter of this LUID. Without DXGI, as on Linux, or for one that DXGI does not know: none.
  void Find(uint32_t luid_low, int32_t luid_high);
  // Keeps this adapter, which may be null, with a reference of its own. Windows alone.
  void Keep(IUnknown* adapter);
  // Returns the heaps as they are now; none without an adapter.
  AdapterMemory Ask() const;

 private:
  IUnknown* adapter_ = nullptr;
};

}  // namespace cairn

#endif  // CAIRN_APP_D3D12_ADAPTER_MEMORY_H_
