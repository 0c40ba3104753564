// SPDX-License-Identifier: Apache-2.0
//
// TlsAlloc gives out the 64 slots that lie in the block of each thread first, where compilers look for them as well:
// https://learn.microsoft.com/windows/win32/api/winternl/ns-winternl-teb
#include "os/quick_thread_slot.h"

#include "os/windows/system.h"

namespace cairn {
namespace {

constexpr uint64_t kFirstPlace = 0x1480;  // TEB::TlsSlots, of 64 bits

}  // namespace

void QuickThreadSlot::Open() {
  const DWORD index = TlsAlloc();
  if (index == TLS_OUT_OF_INDEXES) return;
  if (index < TLS_MINIMUM_AVAILABLE) {
    place_.store(kFirstPlace + index * sizeof(void*), std::memory_order_relaxed);
  } else {
    TlsFree(index);
  }
}

void QuickThreadSlot::Set(void* value) const {
  if (!is_open()) return;
  const uint64_t place = place_.load(std::memory_order_relaxed);
  TlsSetValue(static_cast<DWORD>((place - kFirstPlace) / sizeof(void*)), value);
}

}  // namespace cairn
