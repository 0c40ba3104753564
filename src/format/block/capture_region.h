// SPDX-License-Identifier: Apache-2.0
//
// The memory through which a captured program hands its calls to the watcher: a ring for each thread,
// and blocks for bulk data, the spill. A sparse file in memory, made by the program, handed over once
// (app/recorder/watcher_link.h, kCapture). The program writes records (format/calls/record.h) and `head`; the watcher
// reads them, writes `tail`, and frees blocks. Neither trusts what the other wrote: indices are reduced
// before they are used.
//
//   page 0      CaptureRegionHeader
//   rings       CaptureRing[kCaptureRings], each a page, and behind them their bytes
//   spill       kSpillBlocks blocks of kSpillBlockBytes
//
// A record lies in one piece: where it would reach over the end of the ring, a pad (a header with
// size_bytes, kind 0 and number 0) fills the rest. Sizes are multiples of kRecordAlignment, so that a
// header never reaches over the end. A record's number is taken when the record is complete, a moment
// before `head` says so: numbers rise in each ring, and every number that was taken is written, or is said
// to be unused. So a reader that has seen all numbers up to n has all that happened before, and a number
// that is missing comes without waiting for anybody, or is leased. (A process that dies may leave gaps: at
// its end they are passed over.)
//
// Leases. A thread that records commands of its own lists takes up to kMostLeased numbers at once, says so in
// `lease`, and uses one after the other there. `last_ordered` changes with each record whose place others can see (all
// but commands of lists that the same thread recorded last): before each of its records a thread whose lease is older
// than the last such change gives the rest back, so that a record that was made after another one, by any chain
// of such events, has a larger number. (Threads that store there at once may do so in another order than that of their
// numbers. Each number is taken before its store, by an addition to `next_number` that acquires and releases, and a
// lease is taken so behind its look at `last_ordered`: a lease with smaller numbers than those of a store cannot have
// seen what was stored behind it.) What is given back stands in the ring as a header of kind 0 whose number is the first
// of these and whose `object` is the last. The watcher takes the rest of a lease that others wait for
// (kLeaseRevoked); its owner finds that when it wants the next number.
//
// Waiting. The program: sets `waiting` (or counts `spill_waiting`), reads `drained`, looks again for
// room, waits on `drained`. The watcher, after it wrote tails or freed blocks: counts `drained`, and
// wakes all who wait on it if a ring is `waiting` or somebody is `spill_waiting`; also when it comes or goes
// (`reader`). It clears nothing.
// The program counts `doorbell` and wakes the watcher when a ring has kDoorbellBytes more, when it waits
// for room, and when the capture starts or stops; the watcher looks every few milliseconds all the same.
//
// Rings. A thread takes a ring by changing `state` from kEntryFree to kEntryPublished; its end makes it
// kEntryRetired. The watcher makes that kEntryFree when it has read all that is in it, and has noted `thread` and `name`. head and tail go on
// counting from thread to thread. Threads that find no ring share the last one.
#ifndef CAIRN_FORMAT_BLOCK_CAPTURE_REGION_H_
#define CAIRN_FORMAT_BLOCK_CAPTURE_REGION_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "format/block/entry_state.h"

namespace cairn {

inline constexpr uint64_t kCaptureMagic = 0x31504143'4e524143;  // "CARNCAP1"
inline constexpr uint32_t kCaptureVersion = 3;
inline constexpr uint32_t kCaptureRings = 128;  // threads beyond share the last one, under a lock
inline constexpr uint32_t kCaptureRingBytes = 1u << 20;
inline constexpr uint32_t kSpillBlockBytes = 64u << 10;
inline constexpr uint32_t kSpillBlocks = 4096;  // 256 MiB
inline constexpr uint32_t kMaxRecordBytes =
    kCaptureRingBytes / 2;  // what is larger is not recorded
inline constexpr uint32_t kRecordAlignment = 32;
inline constexpr uint32_t kDoorbellBytes = kCaptureRingBytes / 4;

// The watcher's request. The watcher writes it, the program reads it at the end of each frame.
enum class CaptureRequest : uint32_t {
  kRecord = 1,  // record from now on; if `start_frame` is not reached: arm
  kStart = 2,   // an armed capture: start at the next end of a frame, whatever `start_frame` says
  kStop = 3,    // stop at the next end of a frame
};

// The program waits for room while a reader is active, and for a while before a reader begins.
enum class CaptureReader : uint32_t {
  kNotYet = 0,
  kReads = 1,
  kLeft = 2,  // nothing is read any more: the capture ends
};

enum class CaptureState : uint32_t {
  kOff = 0,    // nothing is recorded
  kArmed = 1,  // everything is written to the rings, and the watcher keeps what a later start needs
  kOn = 2,
  kStopped = 3,
};

// The word `lease` of a ring: the first number, how many, and how many of these are used.
inline constexpr uint32_t kMostLeased = 64;
inline constexpr uint64_t kLeaseRevoked = 0x80;
struct Lease {
  uint64_t first = 0;  // below 2^48
  uint32_t count = 0;  // at most kMostLeased; 0: there is none
  uint32_t used = 0;
  bool revoked = false;

  static constexpr Lease Of(uint64_t word) {
    Lease lease{word >> 16, static_cast<uint32_t>(word >> 8 & 0xFF),
                static_cast<uint32_t>(word & 0x7F), (word & kLeaseRevoked) != 0};
    if (lease.count > kMostLeased || lease.used > lease.count) return {};
    return lease;
  }
  constexpr uint64_t Word() const { return first << 16 | count << 8 | used; }
  constexpr uint64_t next() const { return first + used; }
  constexpr uint64_t last() const { return first + count - 1; }
  constexpr bool rest() const { return !revoked && used < count; }
};

// Members that different threads write lie in different pairs of cache lines: processors fetch two together. `in_call`
// changes twice a call, and the watcher looks at `head` all the time.
inline constexpr size_t kApart = 128;

struct alignas(4096) CaptureRing {
  std::atomic<uint32_t> state;  // EntryState; retired: its thread has ended (see above)
  uint32_t thread;              // index of the thread in the capture, from 0
  uint32_t thread_id;           // of the operating system
  char name[16];                // of the thread, zero-terminated; may change at any time
  alignas(kApart) std::atomic<uint64_t> head;  // bytes ever written; published with release
  // The number of the innermost call that the thread is executing; 0: none. A nonzero value after a
  // crash is a call that never returned. If several threads share the last ring, it is the call
  // that began last.
  alignas(kApart) std::atomic<uint64_t> in_call;
  alignas(kApart) std::atomic<uint64_t> lease;  // Lease
  alignas(kApart) std::atomic<uint64_t> tail;   // bytes ever read; the watcher's
  std::atomic<uint32_t> waiting;                // 1: the program waits on `drained` for room
};

struct alignas(4096) CaptureRegionHeader {
  uint64_t magic;
  uint32_t version;
  uint32_t header_bytes;  // sizeof(CaptureRegionHeader)
  uint64_t region_bytes;
  uint64_t rings_offset;
  uint64_t ring_bytes_offset;
  uint64_t spill_offset;
  uint64_t process_id;
  uint32_t model_hash;   // of the names of methods and chains: reader and writer must mean the same
  uint32_t hash_frames;  // 1: FrameBody has hashes
  uint64_t start_frame;  // 0: from the beginning
  uint64_t stop_frame;   // the first that is not recorded; ~0: none
  std::atomic<uint32_t> request;                       // CaptureRequest
  std::atomic<uint32_t> state;                         // CaptureState
  alignas(kApart) std::atomic<uint64_t> next_number;   // the last number that was taken
  alignas(kApart) std::atomic<uint64_t> last_ordered;  // the number of a record: see Leases
  alignas(
      kApart) std::atomic<uint32_t> doorbell;     // counts; the watcher waits on it (futex, shared)
  alignas(kApart) std::atomic<uint32_t> drained;  // counts; the program waits on it for room
  std::atomic<uint32_t> spill_waiting;            // threads that wait for blocks
  std::atomic<uint32_t> reader;                   // CaptureReader; the watcher's
  std::atomic<uint64_t> frame;                    // frames ended
  alignas(kApart)
      std::atomic<uint64_t> spill_used[kSpillBlocks / 64];  // a bit a block; set by the program
  // 1: the program has waited too long for room, and goes on without recording. Set by the program.
  std::atomic<uint32_t> gave_up;
};
static_assert(sizeof(CaptureRegionHeader) == 4096 && sizeof(CaptureRing) == 4096 &&
              offsetof(CaptureRing, state) == 0);

inline constexpr uint64_t kCaptureRegionBytes =
    sizeof(CaptureRegionHeader) +
    uint64_t{kCaptureRings} * (sizeof(CaptureRing) + kCaptureRingBytes) +
    uint64_t{kSpillBlocks} * kSpillBlockBytes;

}  // namespace cairn

#endif  // CAIRN_FORMAT_BLOCK_CAPTURE_REGION_H_
