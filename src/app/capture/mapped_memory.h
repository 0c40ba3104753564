// SPDX-License-Identifier: Apache-2.0
//
// Finds what the CPU wrote into mapped memory, which no call tells. Each mapping gets the first of these
// that works with its memory, and none of which a program can notice:
//   userfaultfd   the kernel notes writes (WP_ASYNC with PAGEMAP_SCAN); on Windows GetWriteWatch, for
//                 stand-ins alone
//   stand-in      where only the CPU writes, and the memory is a driver's, of which the kernel tells nothing:
//                 the program gets memory of ours (stand_in.h), which is tracked or compared, and copied
//   compare       with a copy
// `CAIRN_CAPTURE_TRACKING=userfaultfd|stand-in|mprotect|compare` chooses by hand; what that does not work
// with is compared (on Windows GetWriteWatch and VirtualProtect are the names of the first and the third).
// mprotect (write-protection and a signal handler) is only used then: programs that let
// the kernel write into such memory, read() for example, get EFAULT. Costs: docs/performance.md, bench
// TrackMapped.
//
// All methods keep a copy of what was reported, and tell the bytes that differ from it. So a value that
// the program writes again while the GPU has changed it in between is not told: with memory that both
// write (heaps of the type CUSTOM), Map must come after the GPU wrote.
#ifndef CAIRN_APP_CAPTURE_MAPPED_MEMORY_H_
#define CAIRN_APP_CAPTURE_MAPPED_MEMORY_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace cairn {

// The result of Map.
struct MappedPlace {
  void* data = nullptr;
  size_t size_bytes = 0;
  // True if a replay knows the memory's contents.
  bool known = false;
  // The GPU does not write here for the CPU to read: another memory may stand in for this one. It stays
  // mapped until Forget.
  bool may_stand_in = false;
  // The memory that this is a part of, and that others may share; none: this alone.
  void* block = nullptr;
  size_t block_bytes = 0;
  // False: nothing is captured any more. Only what shares a block with a stand-in gets one.
  bool track = true;
};

// Any thread.
class MappedMemory {
 public:
  static MappedMemory& Get();  // of the process; never destroyed

  // Subresource `subresource` of `object` is mapped at `data`. Maps count: further ones of the same
  // subresource change nothing. The current contents count as known only if `known`; otherwise the
  // first Flush reports all that differs from zero, the content of new memory: whole pages if they
  // held data when they were mapped. Memory that a replay must not write (readback heaps) is not
  // tracked. The memory stays mapped until Unmap or Forget.
  void Map(uint64_t object, uint32_t subresource, void* data, size_t size_bytes,
           bool known = false) {
    Map(object, subresource, {.data = data, .size_bytes = size_bytes, .known = known});
  }
  // The same. Where the program is to write: `place.data`, or a stand-in, which stays the same until Forget.
  void* Map(uint64_t object, uint32_t subresource, const MappedPlace& place);
  // The last Unmap reports what was written since, then forgets; a stand-in stays, for programs that keep
  // the pointer. `report` as below.
  using Report = std::function<void(uint64_t object, uint32_t subresource, uint64_t offset_bytes,
                                    std::span<const std::byte> bytes)>;
  void Unmap(uint64_t object, uint32_t subresource, const Report& report);
  // The object ends: every mapping of it.
  void Forget(uint64_t object, const Report& report);
  // Call it when the capture has ended: stops tracking, except for stand-ins, and does not report
  // the last writes.
  void ForgetAll();

  // Reports everything written since the last time, in ranges with at most `kMergeBytes` between changes,
  // from all mappings, and goes on tracking.
  // (Of mappings that were known, whole pages the first time.) A write that races with this is reported
  // the next time. Aliased mappings of the same pages are reported for each. `report` may not call back; it
  // may be empty: then stand-ins are copied, and that is all.
  void Flush(const Report& report);

  // Call it when the GPU or another writer changes the real memory behind the stand-in of `object`:
  // copies the changes into the stand-in, now with Refresh, or with each RefreshWritten() from now
  // on.
  void Refresh(uint64_t object);
  void NoteWrittenByOthers(uint64_t object);
  void RefreshWritten();

  // "userfaultfd (write-protection without faults)", ...: for the note in the trace; all that were used,
  // "" before the first mapping.
  std::string Method() const;
  uint64_t mapped_bytes() const;
  // Cost one load each. While there is a stand-in, call Flush() before any call that lets the GPU
  // read, with or without a capture.
  bool has_stand_ins() const { return has_stand_ins_.load(std::memory_order_relaxed); }
  bool has_written_by_others() const { return written_by_others_.load(std::memory_order_relaxed); }

  static constexpr size_t kMergeBytes = 64;

 private:
  struct State;
  MappedMemory();
  std::atomic<bool> has_stand_ins_{false};
  std::atomic<bool> written_by_others_{false};
  std::unique_ptr<State> state_;
};

}  // namespace cairn

#endif  // CAIRN_APP_CAPTURE_MAPPED_MEMORY_H_
