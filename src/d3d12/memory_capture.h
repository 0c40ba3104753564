// SPDX-License-Identifier: Apache-2.0
//
// What the CPU does with mapped memory, for a capture: writes are found by capture/mapped_memory.h and
// recorded before the GPU can see them; what the CPU finds in readback heaps is recorded as a hash, for
// a replay to compare with.
//
// Threads: any. Without a capture only what ends tracking is called.
#ifndef CAIRN_D3D12_MEMORY_CAPTURE_H_
#define CAIRN_D3D12_MEMORY_CAPTURE_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>

#include "capture/capture.h"
#include "d3d12/wrapper.h"
#include "d3d12abi/d3d12_api.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

// A member of resources: which subresources are mapped, and what is there.
class MappingCapture {
 public:
  // After a Map that succeeded, or after OpenExistingHeap...; `data` is what the program got, which may
  // be null.
  void Mapped(const Wrapper& resource, uint32_t subresource, const D3D12_RANGE* read_range,
              void* data);
  // Before an Unmap.
  void Unmapping(const Wrapper& resource, uint32_t subresource);

  // A command list writes to the resource: a copy of results, which a replay repeats, or of what differs
  // from run to run (timestamps): then its contents are not compared.
  void NoteCopiedInto() { copied_into_.store(true, std::memory_order_relaxed); }
  void NoteUnpredictable() { unpredictable_.store(true, std::memory_order_relaxed); }

 private:
  struct Mapping {
    uint32_t count = 0;
    void* data = nullptr;
    uint64_t size_bytes = 0;
    bool was_mapped = false;  // before: what it holds is known since
  };
  enum class Access : uint8_t { kUnknown, kNone, kWritten, kReadBack };

  void FindAccess(ID3D12Resource* real);
  void HashReadback(const Wrapper& resource, uint32_t subresource, const Mapping& mapping,
                    uint64_t begin, uint64_t end);

  std::mutex mutex_;
  std::map<uint32_t, Mapping> mappings_;
  Access access_ = Access::kUnknown;
  std::atomic<bool> copied_into_{false};
  std::atomic<bool> unpredictable_{false};
};

// Records what the CPU wrote to mapped memory since the last time: before a submission, and before the
// CPU signals a fence that a queue may wait for.
void FlushMappedMemory(Capture& capture);
// The resource ends with everything that is still mapped. Without a capture nobody is told.
void ForgetMappedMemory(Capture* capture, const Wrapper& resource);

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn

#endif  // CAIRN_D3D12_MEMORY_CAPTURE_H_
