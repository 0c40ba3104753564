// SPDX-License-Identifier: Apache-2.0
//
// Records the CPU's use of mapped memory, for a capture: writes are found by
// app/capture/mapped_memory.h and recorded before the GPU can see them. Its reads are recorded by
// readback_capture.h.
//
// Threads: any. Without a capture only what ends tracking is called, and, where one has ended and left
// stand-ins in the program's hands, what brings their contents to the GPU.
#ifndef CAIRN_APP_D3D12_CAPTURE_MEMORY_CAPTURE_H_
#define CAIRN_APP_D3D12_CAPTURE_MEMORY_CAPTURE_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "app/capture/capture.h"
#include "app/capture/mapped_memory.h"
#include "app/d3d12/capture/call_capture.h"
#include "app/d3d12/capture/import_capture.h"
#include "app/d3d12/wrapper.h"
#include "d3d12abi/d3d12_api.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

// A member of resources: the mapped subresources, and their memory.
class MappingCapture {
 public:
  explicit MappingCapture(const Creation& creation);

  // Call it when the resource has been recorded. If it lies in an imported heap, its bytes are recorded, and
  // from now on what the CPU writes there, mapped or not.
  // Throws nothing.
  void FollowImport(const Wrapper& resource);
  // Call it when a resource that had ended has a reference again. The GPU is not asked: any thread may wake it.
  void FollowImportAgain(const Wrapper& resource);
  // Returns true if its memory belongs to the program, which may free it at any time: it is read with guards only.
  bool is_memory_of_program() const { return import_ && import_->source != ImportSource::kHandle; }

  // Call it after a Map that succeeded. `data`: the pointer that Map returned, null if the program
  // did not ask for it. Returns the pointer for the program.
  void* Mapped(const Wrapper& resource, uint32_t subresource, void* data);
  // Call it before an Unmap.
  void Unmapping(const Wrapper& resource, uint32_t subresource);
  // Call it before the resource is released, after ForgetMappedMemory().
  void Ends(const Wrapper& resource);
  // A list writes into it.
  void WrittenByGpu(const Wrapper& resource);

  // Returns true for a resource of a readback heap, through which the CPU reads data that the GPU
  // wrote.
  bool reads_back(const Wrapper& resource);
  // Returns true once: at the first copy.
  bool FirstCopy() { return !copied_into_.exchange(true, std::memory_order_relaxed); }
  // Calls look(const std::byte* memory, uint64_t size_bytes) and returns true if a buffer is
  // mapped. The memory stays mapped during the call.
  template <typename Look>
  bool WithMemory(const Look& look) {
    const std::lock_guard lock(mutex_);
    const auto found = mappings_.find(0);
    if (found == mappings_.end() || found->second.data == nullptr) return false;
    look(static_cast<const std::byte*>(found->second.data), found->second.size_bytes);
    return true;
  }

 private:
  struct Mapping {
    uint32_t count = 0;
    void* data = nullptr;
    uint64_t size_bytes = 0;
    bool was_mapped = false;  // before: what it holds is known since
    bool stands_in = false;  // `data` is a stand-in; the resource is mapped once more until it ends
  };
  // kOnlyWritten: as a rule the CPU does not read here.
  enum class Access : uint8_t { kUnknown, kNone, kWritten, kOnlyWritten, kReadBack };

  Access FindAccess(const Wrapper& resource);
  // Returns true for a resource in an opened heap that the GPU alone reaches.
  bool IsOfGpuAlone(const Wrapper& resource) const;
  // `resource`: a buffer that the CPU reaches.
  void FollowMemory(Capture& capture, const Wrapper& resource);
  MappedPlace PlaceOf(const Wrapper& resource, const Mapping& mapping);

  std::mutex mutex_;
  std::map<uint32_t, Mapping> mappings_;
  // Size of the shared heap, which other resources may use, too; 0 without a capture, and for a
  // heap of its own.
  const uint64_t heap_bytes_;
  const uint64_t heap_offset_bytes_;
  const std::optional<Import> import_;  // of the heap
  bool is_mapped_for_import_ = false;
  std::atomic<bool> written_by_gpu_{false};
  std::atomic<Access> access_{Access::kUnknown};
  std::atomic<bool> copied_into_{false};
};

// Records what the CPU wrote to mapped memory since the last time: before a submission, and before the
// CPU signals a fence that a queue may wait for. Stand-ins are copied, also without a capture (null).
void FlushMappedMemory(Capture* capture);
// Call it before any other call that lets the GPU go on. Mostly one load.
void FlushStandIns();
// The program comes to know what the GPU has done: where it writes what the CPU was to write only, stand-ins
// follow. Mostly one load.
void RefreshStandIns();
// Forgets everything that is still mapped of a resource that ends. Without a capture nothing is
// reported.
void ForgetMappedMemory(Capture* capture, const Wrapper& resource);

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_APP_D3D12_CAPTURE_MEMORY_CAPTURE_H_
