// SPDX-License-Identifier: Apache-2.0
//
// The Vulkan layer below tells the heaps: the implementations of Linux stand on it, and have no DXGI.
#include "app/d3d12/adapter_memory.h"

namespace cairn {

KeptAdapter::~KeptAdapter() = default;

void KeptAdapter::Find(uint32_t, int32_t) {}

AdapterMemory KeptAdapter::Ask() const {
  return {};
}

}  // namespace cairn
