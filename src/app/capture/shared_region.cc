// SPDX-License-Identifier: Apache-2.0
#include "app/capture/shared_region.h"

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

#include "app/settings/log.h"
#include "os/clock.h"
#include "os/futex.h"

namespace cairn {
namespace {

constexpr uint64_t kLookAfterWatcherNs = 200'000'000;

}  // namespace

Result<std::unique_ptr<SharedRegion>> SharedRegion::Create() {
  Result<WatcherLine> watcher = WatcherLine::Open();
  if (!watcher.ok()) return watcher.status();
  Result<SharedMemory> memory = SharedMemory::Create("cairn-capture", kCaptureRegionBytes);
  if (!memory.ok()) return memory.status();
  return std::unique_ptr<SharedRegion>(new SharedRegion(std::move(*memory), std::move(*watcher)));
}

SharedRegion::SharedRegion(SharedMemory memory, WatcherLine watcher)
    : memory_(std::move(memory)), watcher_(std::move(watcher)) {
  CaptureRegionHeader& mine = header();
  mine.magic = kCaptureMagic;
  mine.version = kCaptureVersion;
  mine.header_bytes = sizeof(mine);
  mine.region_bytes = memory_.size_bytes();
  mine.rings_offset = sizeof(mine);
  mine.ring_bytes_offset = mine.rings_offset + uint64_t{kCaptureRings} * sizeof(CaptureRing);
  mine.spill_offset = mine.ring_bytes_offset + uint64_t{kCaptureRings} * kCaptureRingBytes;
  rings_ = reinterpret_cast<CaptureRing*>(memory_.data() + mine.rings_offset);
  ring_bytes_ = memory_.data() + mine.ring_bytes_offset;
  spill_ = memory_.data() + mine.spill_offset;
}

Status SharedRegion::HandOver() const {
  return HandOverCapture(memory_);
}

void SharedRegion::SetState(CaptureState state) {
  header().state.store(static_cast<uint32_t>(state), std::memory_order_release);
  RingDoorbell();
}

void SharedRegion::RingDoorbell() const {
  const uint32_t was = header().doorbell.fetch_add(1, std::memory_order_release);
  FutexWake(memory_, header().doorbell, was);
}

bool SharedRegion::CheckWatcher() {
  if (ended()) return false;
  const auto reader = static_cast<CaptureReader>(header().reader.load(std::memory_order_acquire));
  if (reader != CaptureReader::kLeft && !watcher_.IsCut()) return true;
  End();
  return false;
}

void SharedRegion::End() {
  SetState(CaptureState::kStopped);
  LogOnce(
      LogLevel::kWarning, "capture: no watcher",
      "nobody reads this capture any more, so nothing is recorded; if its watcher was killed, "
      "what it had read is in its file, whose name ends in .part: `cairn info FILE` says how far "
      "it goes");
}

bool SharedRegion::Sleep(uint32_t seen) {
  RingDoorbell();
  const bool woken = FutexWait(memory_, header().drained, seen, kLookAfterWatcherNs);
  if (!CheckWatcher()) return false;
  if (woken || !IsSilent()) return true;
  if (header().gave_up.exchange(1) == 0) {
    LogOnce(LogLevel::kWarning, "capture: silent watcher",
            "the watcher has taken nothing of the capture for 10 s (is it stopped?): the program "
            "goes on, and nothing more is recorded");
  }
  SetState(CaptureState::kStopped);
  return false;
}

// Counts time in which this process could have seen an answer: not that in which it was itself stopped.
bool SharedRegion::IsSilent() {
  const uint64_t now_ns = MonotonicNs();
  const uint64_t since_ns = now_ns - looked_ns_.exchange(now_ns);
  const uint32_t drained = header().drained.load(std::memory_order_acquire);
  if (answered_.exchange(drained) != drained) {
    silent_ns_ = 0;
    return false;
  }
  const uint64_t counted_ns = std::min(since_ns, 2 * kLookAfterWatcherNs);
  return silent_ns_.fetch_add(counted_ns) + counted_ns >= most_silent_ns;
}

void SharedRegion::EnterInLastRing(uint64_t call) try {
  last_ring_calls_.push_back(call);
  ring(kCaptureRings - 1)
      .in_call.store(*std::max_element(last_ring_calls_.begin(), last_ring_calls_.end()),
                     std::memory_order_release);
} catch (const std::bad_alloc&) {
  // Without memory the call is not tracked.
}

void SharedRegion::LeaveInLastRing(uint64_t call) {
  std::erase(last_ring_calls_, call);
  const auto last = std::max_element(last_ring_calls_.begin(), last_ring_calls_.end());
  ring(kCaptureRings - 1)
      .in_call.store(last == last_ring_calls_.end() ? 0 : *last, std::memory_order_release);
}

bool SharedRegion::TakeBlock(uint32_t* block) {
  // The lowest that is free: pages that were used before are used again.
  for (uint32_t word = 0; word < kSpillBlocks / 64; ++word) {
    std::atomic<uint64_t>& used = header().spill_used[word];
    uint64_t bits = used.load(std::memory_order_relaxed);
    while (bits != ~uint64_t{0}) {
      const int bit = std::countr_one(bits);
      // Acquires what freed it: the watcher has read it.
      if (used.compare_exchange_weak(bits, bits | uint64_t{1} << bit, std::memory_order_acquire,
                                     std::memory_order_relaxed)) {
        *block = word * 64 + static_cast<uint32_t>(bit);
        return true;
      }
    }
  }
  return false;
}

void SharedRegion::FreeBlocks(std::span<const uint32_t> blocks) {
  for (const uint32_t block : blocks) {
    header().spill_used[block / 64].fetch_and(~(uint64_t{1} << block % 64),
                                              std::memory_order_release);
  }
}

bool SharedRegion::TakeBlocks(std::span<uint32_t> blocks) {
  for (size_t i = 0; i < blocks.size(); ++i) {
    uint32_t* const block = &blocks[i];
    if (TakeBlock(block)) continue;
    if (!WaitUntil(header().spill_waiting, [this, block] { return TakeBlock(block); })) {
      FreeBlocks(blocks.first(i));
      return false;
    }
  }
  return true;
}

}  // namespace cairn
