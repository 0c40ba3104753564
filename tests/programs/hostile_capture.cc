// SPDX-License-Identifier: Apache-2.0
//
// Hands over the region of a capture, and makes of it what its watcher must bear:
//   hostile_capture armed          claims to be armed, and writes what would have to be kept, for some time
//   hostile_capture regions N      N regions, one after the other, as a program does that replaces itself N times
// On Linux, too, with a child that it forks:
//   hostile_capture fill           ends; a child of it goes on writing into the region for ever
//   hostile_capture left           as armed, but ends while its watcher is stopped, before that reads of it
//   hostile_capture feed WHAT      ends; a child writes for ever what never comes out: old (numbers that were used), late
//                                  (numbers that nobody has taken), damaged (records that name too few blocks)
//   hostile_capture linger         as fill, but the child hands over the region and ignores SIGTERM
#if !defined(_WIN32)
#include <signal.h>
#include <unistd.h>
#endif

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "app/recorder/watcher_link.h"
#include "watcher/testing/test_region.h"

namespace {

using cairn::RecordKind;
using cairn::TestRegion;

int Armed() {
  TestRegion region;
  region.header().state = static_cast<uint32_t>(cairn::CaptureState::kArmed);
  region.UseRing(0, 0, "main");
  if (!cairn::HandOverCapture(region.memory()).ok()) return 71;
  const auto* const reader = &region.header().reader;
  while (reader->load() != static_cast<uint32_t>(cairn::CaptureReader::kLeft)) {
    std::this_thread::yield();
  }
  return 0;
}

int Regions(int count) {
  for (int i = 0; i < count; ++i) {
    TestRegion region;
    region.UseRing(0, 0, "main");
    region.Write(0, RecordKind::kCall, 1);
    if (!cairn::HandOverCapture(region.memory()).ok()) return 71;
  }
  return 0;
}

#if !defined(_WIN32)

// Each record is some bytes, and stands for a megabyte that was not there before; and by the number that was
// taken last there are more of them to come than anybody can wait for.
void FillForEver(TestRegion& region) {
  struct Body {
    cairn::BlobBody blob{cairn::kMaxBlobBytes, 16};
    uint32_t blocks[16] = {};
  } body;
  for (uint32_t i = 0; i < 16; ++i) body.blocks[i] = i;
  region.header().spill_used[0] = ~uint64_t{0};
  region.header().next_number = uint64_t{1} << 62;
  cairn::RecordHeader record{};
  record.kind = RecordKind::kBlob;
  record.flags = cairn::kRecordSpilled;
  for (;;) {
    ++record.number;
    std::memcpy(region.spill_block(0), &record.number, sizeof(record.number));
    while (region.ring(0).head - region.ring(0).tail > cairn::kCaptureRingBytes - 1024) {
      std::this_thread::yield();
    }
    region.Write(0, record, std::as_bytes(std::span(&body, 1)));
  }
}

int Fill(bool child_hands_over) {
  TestRegion region;
  region.UseRing(0, 0, "main");
  int ready[2];
  if (pipe(ready) != 0) return 70;
  if (!child_hands_over && !cairn::HandOverCapture(region.memory()).ok()) return 71;
  if (fork() == 0) {
    signal(SIGTERM, SIG_IGN);
    if (child_hands_over && !cairn::HandOverCapture(region.memory()).ok()) _exit(72);
    if (write(ready[1], "x", 1) != 1) _exit(73);
    if (child_hands_over) {
      for (;;) pause();
    }
    FillForEver(region);
  }
  char byte = 0;
  return read(ready[0], &byte, 1) == 1 ? 0 : 74;
}

// In each case the ring is never empty, and nothing that is in it comes out. How far it was read shows in the blocks of
// the spill that are freed: it is never overrun.
[[noreturn]] void FeedForEver(TestRegion& region, const std::string& what) {
  struct Body {
    cairn::BlobBody blob{1, 1};
    uint32_t block = 0;
  } body;
  if (what == "damaged") body.blob.size_bytes = cairn::kMaxBlobBytes;  // more than its blocks hold
  cairn::RecordHeader record{};
  record.kind = RecordKind::kBlob;
  record.flags = cairn::kRecordSpilled;
  record.number = what == "late" ? ~uint64_t{0} : 1;
  for (uint32_t i = 0;; ++i) {
    body.block = i % cairn::kSpillBlocks;
    std::atomic<uint64_t>& used = region.header().spill_used[body.block / 64];
    const uint64_t bit = uint64_t{1} << (body.block % 64);
    while ((used.load() & bit) != 0) std::this_thread::yield();
    used.fetch_or(bit);
    if (what == "damaged") record.number = region.TakeNumber();
    region.Write(0, record, std::as_bytes(std::span(&body, 1)));
  }
}

int Feed(const std::string& what) {
  TestRegion region;
  region.UseRing(0, 0, "main");
  region.Write(0, RecordKind::kCall, 1);
  if (!cairn::HandOverCapture(region.memory()).ok()) return 71;
  if (fork() == 0) {
    signal(SIGTERM, SIG_IGN);
    FeedForEver(region, what);
  }
  // The watcher is about it.
  const std::atomic<uint64_t>& tail = region.ring(0).tail;
  while (tail.load() < 10u * sizeof(cairn::RecordHeader)) std::this_thread::yield();
  std::printf("ready %d\n", static_cast<int>(getpid()));
  std::fflush(stdout);
  return 0;
}

int Left() {
  TestRegion region;
  if (kill(getppid(), SIGSTOP) != 0) return 70;
  return cairn::HandOverCapture(region.memory()).ok() ? 0 : 71;
}

#endif  // _WIN32

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "armed") return Armed();
  if (mode == "regions" && argc > 2) return Regions(std::atoi(argv[2]));
#if !defined(_WIN32)
  if (mode == "fill") return Fill(false);
  if (mode == "linger") return Fill(true);
  if (mode == "left") return Left();
  if (mode == "feed" && argc > 2) return Feed(argv[2]);
#endif
  return 69;
}
