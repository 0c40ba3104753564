// SPDX-License-Identifier: Apache-2.0
#include "app/breadcrumbs/d3d12_probe.h"

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

#include "app/breadcrumbs/d3d12_backend.h"
#include "app/breadcrumbs/d3d12_devices.h"
#include "d3d12abi/com_ptr.h"

namespace cairn {

namespace {

// Enough for one list and one page of raw markers; what a context has in its block. Aligned as
// OpenExistingHeapFromAddress wants its memory.
constexpr size_t kRegionBytes = 65536;

struct FreeRegion {
  void operator()(std::byte* memory) const {
    ::operator delete (memory, std::align_val_t{kRegionBytes});
  }
};

// A context in small: the backend chooses as it would for an application.
void Test(ID3D12Device* device, D3D12Probe* probe) {
  std::unique_ptr<std::byte, FreeRegion> memory(
      static_cast<std::byte*>(::operator new (kRegionBytes, std::align_val_t{kRegionBytes})));
  std::fill_n(memory.get(), kRegionBytes, std::byte{0});
  WordRegion region;
  region.base = memory.get();
  region.size_bytes = kRegionBytes;
  region.recording_capacity = 1;

  BackendDescription description;
  std::unique_ptr<Backend> backend = CreateD3D12Backend(device);
  probe->status = backend->Initialize(region, &description);
  if (!description.device_name.empty()) probe->device_name = description.device_name;
  probe->driver_name = description.driver_name;
  probe->notes = description.device_notes;
  probe->vendor_id = description.vendor_id;
  probe->device_id = description.device_id;
  probe->method = description.method;
  probe->memory = description.memory;
  probe->findings = std::move(description.sources);
  if (probe->status.code() == StatusCode::kDeviceLost) {
    backend.release();  // NOLINT: the GPU may still be writing, and waiting for it may never end.
    memory.release();   // NOLINT
  }
}

}  // namespace

Result<std::vector<D3D12Probe>> ProbeD3D12Devices() {
  Result<std::vector<D3D12CreatedDevice>> devices = CreateD3D12Devices();
  if (!devices.ok()) return devices.status();
  std::vector<D3D12Probe> probes;
  for (const D3D12CreatedDevice& created : *devices) {
    D3D12Probe probe;
    probe.device_name = created.name;
    probe.status = created.status;
    if (created.device != nullptr) {
      auto* const device = static_cast<ID3D12Device*>(created.device);
      Test(device, &probe);
      if (probe.status.code() != StatusCode::kDeviceLost) device->Release();
    }
    probes.push_back(std::move(probe));
  }
  return probes;
}

}  // namespace cairn
