// SPDX-License-Identifier: Apache-2.0
#include "report/redact.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <unordered_map>

namespace cairn {
namespace {

constexpr uint64_t kLowestGpuAddress = 0x10000;
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
    uint64_t distance = lowest == UINT64_MAX ? 0 : lowest - kLowestGpuAddress;
    // The range that a faulting address stands for is aligned: it has to move as a whole.
    if (!copy_.fault_addresses.empty()) distance &= ~kFaultAlignment;
    HideDiagnostics(lowest == UINT64_MAX, distance);
    for (Object& object : copy_.objects) {
      Hide(&object.name);
      HideHandle(&object.native_handle);
      if (object.gpu_address != 0) object.gpu_address -= distance;
    }
    for (Bind& bind : copy_.binds) {
      // What lies in no object is no less telling where it is, and may have nothing to be moved by.
      if (bind.is_address && bind.value != 0) {
        bind.value = lowest == UINT64_MAX ? kLowestGpuAddress : bind.value - distance;
      }
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
      if (address.address == 0) continue;
      address.address = no_object_has_an_address ? kLowestGpuAddress : address.address - distance;
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
