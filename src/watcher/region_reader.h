// SPDX-License-Identifier: Apache-2.0
//
// The watcher's end of a capture's region (format/block/capture_region.h): takes the records of all rings
// in the one order of their numbers, and gives the room back. Trusts nothing in the region: whatever
// the program writes there, while it is read too, nothing outside of it is touched.
#ifndef CAIRN_WATCHER_REGION_READER_H_
#define CAIRN_WATCHER_REGION_READER_H_

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "format/block/capture_region.h"
#include "format/calls/record.h"
#include "os/shared_memory.h"

namespace cairn {

// One thread at a time.
class RegionReader {
 public:
  // Errors: kCorrupt, kUnsupported (made by another version of Cairn's layer).
  static Result<RegionReader> Open(SharedMemory region);

  // Tells the program that nothing is read any more: it records no longer.
  ~RegionReader();
  RegionReader(RegionReader&&) noexcept = default;
  RegionReader& operator=(RegionReader&&) noexcept = default;

  enum class Found {
    kRecord,
    kNothing,   // every number that was taken has been seen
    kHeldBack,  // a number was taken whose record is not there yet: what comes behind it waits
    kPaused,    // the allowed steps are used up: there may be more
  };
  // Sets the number of entries that may be examined until the next call: a program that keeps
  // filling the rings with entries that are no records does not block the reader. Initially
  // kFirstSteps.
  static constexpr uint32_t kFirstSteps = 1u << 20;
  void AllowSteps(uint32_t steps) { steps_ = steps; }
  // `record->body` is valid until the next call. kBlob records come with their bytes, wherever those
  // were. Cost: bench of capture_drain.
  Found Take(Record* record);

  // Takes back what is left of all leases. Call it when others have waited for a while. False: the next number is
  // in none of them, or its record is about to come.
  bool TakeBackLeases();
  // Returns the first number of the lease that holds back what comes behind it; 0: there is none.
  uint64_t HoldingLease() const;

  // Call it when the missing records will not come any more: goes on with the next existing ones.
  // False if there are none.
  bool PassOverGap();

  // The program has ended: from here on only the data that are there now are taken, even if another
  // process goes on writing, and no room is given back. The reader gives at most the region's size
  // afterwards: each block of the spill serves one more blob.
  void TakeWhatIsThere();

  // Tells the program what room it has again. Call often; costs a system call only if a thread waits, and one for
  // each 16 MiB that were read, so that they no longer count as this process's memory.
  void GiveBack();

  // Returns when the program rang, or after the time.
  void WaitForDoorbell(uint32_t doorbell, uint64_t timeout_ns) const;
  uint32_t Doorbell() const;

  void Request(CaptureRequest request);
  CaptureState state() const;
  uint32_t model_hash() const { return model_hash_; }
  uint64_t start_frame() const { return start_frame_; }
  uint64_t last_taken_number() const;  // by the program
  // The same when TakeWhatIsThere() was called.
  uint64_t end_number() const { return end_.number; }
  uint64_t next_number() const { return next_; }
  // Records with numbers up to this one may have been lost with a damaged ring; 0: none.
  uint64_t gap_free_until() const { return gap_free_until_; }

  struct Thread {
    uint32_t index = 0;
    uint32_t thread_id = 0;
    std::string name;
    uint64_t in_call = 0;  // the call that it is in now, 0: none
  };
  // The threads that were seen, by index: all that live, and as many others as there is room for.
  std::vector<Thread> Threads();

  // Sentences, one for each kind of damage.
  std::vector<std::string> Losses() const;
  // Adds one sentence to Losses(): there was no time for all that was there at the end.
  void NoteCut() { cut_ = true; }
  uint64_t passed_over() const { return passed_over_; }

 private:
  struct Ring {
    uint64_t position = 0;   // bytes taken
    uint64_t published = 0;  // what `tail` says
    uint64_t head = 0;       // as seen last, checked
    uint32_t noted_thread = ~uint32_t{0};
    RecordHeader front{};    // at `position`, if has_front
    bool has_front = false;  // and its number stands in front_numbers_
  };

  // The state of the region when the program had ended.
  struct End {
    bool reached = false;
    uint64_t number = 0;
    std::array<uint64_t, kCaptureRings> heads{};
    std::array<uint64_t, kSpillBlocks / 64> blocks{};  // that hold something not read yet
  };

  explicit RegionReader(SharedMemory region);
  void SetReads(CaptureReader reader) const;
  CaptureRegionHeader& header() const;
  CaptureRing& ring(uint32_t index) const;
  const std::byte* ring_bytes(uint32_t index) const;
  // Makes `front` the ring's next record, if there is one.
  bool FindFront(uint32_t index);
  bool MayStep();
  // Returns true if the program has taken the number.
  bool WasTaken(uint64_t number);
  void DropFront(uint32_t index);
  void SkipDamage(Ring* ring);
  void DropUnread(uint32_t index);
  // Frees the blocks of a spilled blob that will not be read. `body`: of its record.
  void FreeBlocks(std::span<const std::byte> body);
  void FreeBlock(uint32_t block);
  void ForgetAnEndedThread();
  int RingWithNext();
  void SkipUnused();
  bool RevokeLease(uint32_t index);
  void NoteThread(uint32_t index);
  void FreeEndedRing(uint32_t index);
  // Moves the ring behind its front, which goes to `record`. False: it was not usable.
  bool TakeFront(uint32_t index, Record* record);
  bool GatherBlob(Record* record);
  // Returns true if the block may be read; after the end only once.
  bool UseBlock(uint32_t block);

  SharedMemory region_;
  uint32_t model_hash_ = 0;
  uint64_t start_frame_ = 0;
  uint64_t next_ = 1;   // the number that is taken next
  uint64_t taken_ = 0;  // last_taken_number() as seen last
  std::map<uint64_t, uint64_t>
      unused_;  // first and last numbers of what was left of leases; from next_ on
  End end_;
  uint32_t last_ring_ = 0;
  std::array<Ring, kCaptureRings> rings_;
  std::array<uint64_t, kCaptureRings> front_numbers_{};  // of their fronts, 0: none known
  std::map<uint32_t, Thread> threads_;
  std::vector<std::byte> body_;
  std::vector<std::byte> blob_;
  bool blocks_freed_ = false;
  uint32_t steps_ = kFirstSteps;
  uint64_t touched_bytes_ = 0;  // since GiveBack last forgot them
  bool cut_ = false;
  uint64_t gap_free_until_ = 0;
  uint64_t damaged_rings_ = 0;
  uint64_t damaged_records_ = 0;
  uint64_t late_records_ = 0;
  uint64_t passed_over_ = 0;
};

}  // namespace cairn

#endif  // CAIRN_WATCHER_REGION_READER_H_
