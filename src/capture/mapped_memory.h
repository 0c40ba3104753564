// SPDX-License-Identifier: Apache-2.0
//
// Finds what the CPU wrote into mapped memory, which no call tells: by write-protection that the kernel
// lifts (userfaultfd WP_ASYNC with PAGEMAP_SCAN), by write-protection and a signal handler (mprotect), or
// by comparison with a copy. Each mapping gets the best that works with its memory;
// `CAIRN_CAPTURE_TRACKING=userfaultfd|mprotect|compare` chooses by hand, and what that does not work with
// is compared. Costs: docs/performance.md, bench TrackMapped.
//
// All methods keep a copy of what was reported, and tell the bytes that differ from it. So a value that
// the program writes again while the GPU has changed it in between is not told: with memory that both
// write (heaps of the type CUSTOM), Map must come after the GPU wrote.
#ifndef CAIRN_CAPTURE_MAPPED_MEMORY_H_
#define CAIRN_CAPTURE_MAPPED_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace cairn {

// Any thread.
class MappedMemory {
 public:
  static MappedMemory& Get();  // of the process; never destroyed

  // Subresource `subresource` of `object` is mapped at `data`. Maps count: further ones of the same
  // subresource change nothing. What the memory holds then is taken as known only if `known`; otherwise
  // the first Flush reports all of it that is not zero, as new memory is: whole pages where something
  // was when it was mapped. Memory that a replay
  // must not write (readback heaps) is not tracked. The memory stays mapped until Unmap or Forget.
  void Map(uint64_t object, uint32_t subresource, void* data, size_t size_bytes,
           bool known = false);
  // The last Unmap reports what was written since, then forgets. `report` as below.
  using Report = std::function<void(uint64_t object, uint32_t subresource, uint64_t offset_bytes,
                                    std::span<const std::byte> bytes)>;
  void Unmap(uint64_t object, uint32_t subresource, const Report& report);
  // The object ends: every mapping of it.
  void Forget(uint64_t object, const Report& report);
  // The capture has ended: nothing is tracked any more, and nobody is told what was written last.
  void ForgetAll();

  // Reports everything written since the last time, in ranges with at most `kMergeBytes` between changes,
  // from all mappings, and goes on tracking.
  // (Of mappings that were known, whole pages the first time.) A write that races with this is reported
  // the next time. Aliased mappings of the same pages are reported for each. `report` may not call back.
  void Flush(const Report& report);

  // "userfaultfd (write-protection without faults)", ...: for the note in the trace; all that were used,
  // "" before the first mapping.
  std::string Method() const;
  uint64_t mapped_bytes() const;

  static constexpr size_t kMergeBytes = 64;

 private:
  struct State;
  MappedMemory();
  std::unique_ptr<State> state_;
};

}  // namespace cairn

#endif  // CAIRN_CAPTURE_MAPPED_MEMORY_H_
