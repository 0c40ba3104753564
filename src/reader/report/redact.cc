// SPDX-License-Identifier: Apache-2.0
#include "reader/report/redact.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <unordered_map>

namespace cairn {
namespace {

constexpr uint64_t kLowestGpuAddress = 0x10000;
constexpr uint64_t kNullPages =
    0x10000;  // Nothing lies below: an address there is a null pointer's.
constexpr uint64_t kFaultAlignment = (uint64_t{1} << 21) - 1;  // No driver's pages are larger.

class Redactor {
 public:
  explicit Redactor(const Snapshot& original) : original_(original), copy_(original) {}

  Snapshot Run() {
    copy_.text.clear();
    Hide(&copy_.process.program);
    Hide(&copy_.process.command_line);
    Keep(&copy_.process.library_version);
    for (Incident& incident : copy_.incidents) {
      Hide(&incident.detail);
      incident.address = 0;
    }
    for (Device& device : copy_.devices) {
      Keep(&device.name);
      Keep(&device.driver);
      Keep(&device.notes);
      Hide(&device.application);
      if (IsPath(original_.Text(device.annotation_driver))) {
        Hide(&device.annotation_driver);
      } else {
        Keep(&device.annotation_driver);
      }
    }
    for (Source& source : copy_.sources) {
      Keep(&source.name);
      Keep(&source.reason);
    }
    for (Queue& queue : copy_.queues) {
      Hide(&queue.name);
      queue.native_handle = 0;
    }
    for (Pipeline& pipeline : copy_.pipelines) {
      Hide(&pipeline.name);
      for (TextRef& shader : pipeline.shader_names) Hide(&shader);
      pipeline.native_handle = 0;
    }
    for (Recording& recording : copy_.recordings) {
      Hide(&recording.name);
      recording.native_handle = 0;
    }
    for (Event& event : copy_.events) Hide(&event.name);
    HideTables();
    for (TextRef& loss : copy_.losses) Keep(&loss);
    return std::move(copy_);
  }

 private:
  static bool IsPath(std::string_view text) {
    return text.find_first_of("/\\") != std::string_view::npos;
  }

  void HideTables() {
    for (Annotation& annotation : copy_.annotations) {
      Hide(&annotation.name);
      annotation.payload = TextRef{};
    }
    uint64_t lowest = UINT64_MAX;
    for (const Object& object : copy_.objects) {
      if (object.gpu_address != 0) lowest = std::min(lowest, object.gpu_address);
    }
    uint64_t distance = lowest == UINT64_MAX ? 0 : lowest - std::min(lowest, kLowestGpuAddress);
    // The range that a faulting address stands for is aligned: it has to move as a whole.
    if (!copy_.fault_addresses.empty()) distance &= ~kFaultAlignment;
    HideDiagnostics(lowest == UINT64_MAX, distance);
    for (Object& object : copy_.objects) {
      Hide(&object.name);
      HideHandle(&object.native_handle);
      object.gpu_address = Moved(object.gpu_address, lowest == UINT64_MAX, distance);
    }
    for (Bind& bind : copy_.binds) {
      // What lies in no object is no less telling where it is, and may have nothing to be moved by.
      if (bind.is_address) bind.value = Moved(bind.value, lowest == UINT64_MAX, distance);
    }
    for (Thread& thread : copy_.threads) Hide(&thread.name);
    for (Call& call : copy_.calls) {
      Keep(&call.function);
      HideHandle(&call.object);
    }
    for (QueueMarker& marker : copy_.queue_markers) HideHandle(&marker.native_handle);
  }

  void HideDiagnostics(bool no_object_has_an_address, uint64_t distance) {
    for (Sync& sync : copy_.syncs) HideHandle(&sync.native_handle);
    for (FaultAddress& address : copy_.fault_addresses) {
      address.address = Moved(address.address, no_object_has_an_address, distance);
    }
    for (Fault& fault : copy_.faults) {
      Keep(&fault.source);
      Keep(&fault.description);
      fault.vendor_binary = BlobRef{};
    }
    for (VendorInfo& info : copy_.vendor_infos) {
      Keep(&info.description);
      info.data = 0;
    }
    for (Shader& shader : copy_.shaders) shader.bytes = BlobRef{};
    copy_.blobs.clear();
  }

  // An address near null tells nothing, and it is what tells that a pointer was null. One below all objects must
  // not wrap: what it became would tell the distance.
  static uint64_t Moved(uint64_t address, bool no_object_has_an_address, uint64_t distance) {
    if (address < kNullPages) return address;
    if (no_object_has_an_address || address < distance) return kLowestGpuAddress;
    return std::max(address - distance, kLowestGpuAddress);
  }

  void HideHandle(uint64_t* handle) {
    if (*handle != 0) *handle = handles_.try_emplace(*handle, handles_.size() + 1).first->second;
  }

  void Keep(TextRef* text) { *text = copy_.AddText(original_.Text(*text)); }

  void Hide(TextRef* text) {
    if (text->empty()) {
      *text = TextRef{};
      return;
    }
    const std::string_view name = original_.Text(*text);
    const uint64_t hash = XXH3_64bits(name.data(), name.size());
    const auto [known, is_new] = hidden_.try_emplace(hash);
    if (is_new) known->second = copy_.AddText(fmt::format("name-{:016x}", hash));
    *text = known->second;
  }

  const Snapshot& original_;
  Snapshot copy_;
  std::unordered_map<uint64_t, TextRef> hidden_;
  std::unordered_map<uint64_t, uint64_t> handles_;
};

}  // namespace

Snapshot Redact(const Snapshot& snapshot) {
  return Redactor(snapshot).Run();
}

}  // namespace cairn
