// SPDX-License-Identifier: Apache-2.0
#include "watcher/region_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "os/futex.h"

namespace cairn {
namespace {

constexpr uint32_t kPadKind = 0;
constexpr uint32_t kThreadsKept = 65536;

// The bytes of the region that are read before its pages are forgotten.
constexpr uint64_t kMostTouchedBytes = 16u << 20;

bool IsRecordKind(RecordKind kind) {
  return kind >= RecordKind::kCall && kind <= RecordKind::kStructure;
}

uint64_t BlocksOf(uint64_t bytes) {
  return (bytes + kSpillBlockBytes - 1) / kSpillBlockBytes;
}

}  // namespace

Result<RegionReader> RegionReader::Open(SharedMemory region) {
  if (region.size_bytes() != kCaptureRegionBytes) {
    return Status(
        StatusCode::kUnsupported,
        fmt::format("the region of the capture has {} bytes, not {}: the layer in the program "
                    "is of another version of Cairn",
                    region.size_bytes(), kCaptureRegionBytes));
  }
  CaptureRegionHeader header;
  static_assert(sizeof(header) == 4096);
  std::memcpy(static_cast<void*>(&header), region.data(), sizeof(header));
  if (header.magic != kCaptureMagic) {
    return Status(StatusCode::kCorrupt, "the memory that the program handed over is no capture");
  }
  const uint64_t ring_bytes_offset =
      sizeof(CaptureRegionHeader) + uint64_t{kCaptureRings} * sizeof(CaptureRing);
  const uint64_t spill_offset = ring_bytes_offset + uint64_t{kCaptureRings} * kCaptureRingBytes;
  if (header.version != kCaptureVersion || header.header_bytes != sizeof(CaptureRegionHeader) ||
      header.region_bytes != kCaptureRegionBytes ||
      header.rings_offset != sizeof(CaptureRegionHeader) ||
      header.ring_bytes_offset != ring_bytes_offset || header.spill_offset != spill_offset) {
    return Status(
        StatusCode::kUnsupported,
        fmt::format("the capture in the program is of version {}, this Cairn reads {}: use "
                    "libcairn-d3d12.so and cairn of the same release",
                    header.version, kCaptureVersion));
  }
  RegionReader reader(std::move(region));
  reader.model_hash_ = header.model_hash;
  reader.start_frame_ = header.start_frame;
  reader.SetReads(CaptureReader::kReads);
  return reader;
}

RegionReader::~RegionReader() {
  if (region_.data() != nullptr) SetReads(CaptureReader::kLeft);
}

void RegionReader::SetReads(CaptureReader reader) const {
  header().reader.store(static_cast<uint32_t>(reader), std::memory_order_release);
  const uint32_t was = header().drained.fetch_add(1, std::memory_order_seq_cst);
  FutexWake(region_, header().drained, was);
}

RegionReader::RegionReader(SharedMemory region) : region_(std::move(region)) {
  body_.resize(kMaxRecordBytes);
}

CaptureRegionHeader& RegionReader::header() const {
  return *reinterpret_cast<CaptureRegionHeader*>(region_.data());
}

CaptureRing& RegionReader::ring(uint32_t index) const {
  return reinterpret_cast<CaptureRing*>(region_.data() + sizeof(CaptureRegionHeader))[index];
}

const std::byte* RegionReader::ring_bytes(uint32_t index) const {
  return region_.data() + sizeof(CaptureRegionHeader) +
         uint64_t{kCaptureRings} * sizeof(CaptureRing) + uint64_t{index} * kCaptureRingBytes;
}

void RegionReader::SkipDamage(Ring* ring) {
  ++damaged_rings_;
  ring->position = ring->head;
  ring->has_front = false;
  gap_free_until_ = last_taken_number();
}

// Returns true if the reader may look at another entry that is no record. The data at the program's
// end are finite and need no limit.
bool RegionReader::MayStep() {
  if (end_.reached) return true;
  if (steps_ == 0) return false;
  --steps_;
  return true;
}

// Looks at the program's counter only where it has to: a thread that takes a number waits for its line.
bool RegionReader::WasTaken(uint64_t number) {
  if (end_.reached) return number <= end_.number;
  if (number > taken_) taken_ = last_taken_number();
  return number <= taken_;
}

bool RegionReader::FindFront(uint32_t index) {
  Ring& mine = rings_[index];
  if (mine.has_front) return true;
  for (;;) {
    if (mine.position == mine.head) {
      const uint64_t head =
          end_.reached ? end_.heads[index] : ring(index).head.load(std::memory_order_acquire);
      if (head == mine.position) return false;
      // A ring whose thread changed its mind about what it wrote is not followed.
      if (head < mine.position || head - mine.position > kCaptureRingBytes) {
        mine.head = head;
        SkipDamage(&mine);
        return false;
      }
      mine.head = head;
      if (mine.noted_thread != ring(index).thread) NoteThread(index);
    }
    const uint64_t available = mine.head - mine.position;
    const uint32_t offset = static_cast<uint32_t>(mine.position % kCaptureRingBytes);
    const uint64_t in_one_piece = std::min<uint64_t>(available, kCaptureRingBytes - offset);
    RecordHeader front{};
    if (in_one_piece < sizeof(front)) {
      SkipDamage(&mine);
      return false;
    }
    std::memcpy(&front, ring_bytes(index) + offset, sizeof(front));
    if (front.size_bytes < sizeof(front) || front.size_bytes % kRecordAlignment != 0 ||
        front.size_bytes > in_one_piece) {
      SkipDamage(&mine);
      return false;
    }
    if (static_cast<uint32_t>(front.kind) == kPadKind && front.number == 0) {
      mine.position += front.size_bytes;
      if (!MayStep()) return false;
      continue;
    }
    mine.front = front;
    // A record gets its number before the ring's head includes it, so that a larger number is
    // damage.
    if (!WasTaken(front.number)) {
      ++damaged_records_;
      DropUnread(index);
      gap_free_until_ = last_taken_number();
      if (!MayStep()) return false;
      continue;
    }
    mine.has_front = true;
    front_numbers_[index] = front.number;
    return true;
  }
}

// Drops a front that will never be read, and frees its blocks of the spill.
void RegionReader::DropUnread(uint32_t index) {
  const Ring& mine = rings_[index];
  if (mine.front.kind == RecordKind::kBlob && (mine.front.flags & kRecordSpilled) != 0) {
    const uint32_t offset = static_cast<uint32_t>(mine.position % kCaptureRingBytes);
    FreeBlocks(
        std::span(ring_bytes(index) + offset, mine.front.size_bytes).subspan(sizeof(RecordHeader)));
  }
  DropFront(index);
}

void RegionReader::FreeBlocks(std::span<const std::byte> body) {
  BlobBody blob;
  if (body.size() < sizeof(blob)) return;
  std::memcpy(&blob, body.data(), sizeof(blob));
  body = body.subspan(sizeof(blob));
  const uint64_t count = std::min<uint64_t>(
      {blob.block_count, BlocksOf(kMaxBlobBytes), body.size() / sizeof(uint32_t)});
  for (uint64_t i = 0; i < count; ++i) {
    uint32_t block = 0;
    std::memcpy(&block, body.data() + i * sizeof(block), sizeof(block));
    if (block < kSpillBlocks) FreeBlock(block);
  }
}

void RegionReader::FreeBlock(uint32_t block) {
  header().spill_used[block / 64].fetch_and(~(uint64_t{1} << (block % 64)));
  blocks_freed_ = true;
}

void RegionReader::DropFront(uint32_t index) {
  touched_bytes_ += rings_[index].front.size_bytes;
  rings_[index].position += rings_[index].front.size_bytes;
  rings_[index].has_front = false;
  front_numbers_[index] = 0;
}

void RegionReader::SkipUnused() {
  while (!unused_.empty() && unused_.begin()->first <= next_) {
    if (next_ != 0) next_ = std::max(next_, unused_.begin()->second + 1);
    unused_.erase(unused_.begin());
  }
}

bool RegionReader::RevokeLease(uint32_t index) {
  // A hostile program gives leases for as long as it likes.
  if (unused_.size() >= 2 * kCaptureRings) return false;
  if (!Lease::Of(ring(index).lease.load(std::memory_order_relaxed)).rest()) return false;
  const Lease lease =
      Lease::Of(ring(index).lease.fetch_or(kLeaseRevoked, std::memory_order_acq_rel));
  const uint64_t last = std::min(lease.last(), last_taken_number());
  if (!lease.rest() || lease.next() > last) return false;
  unused_.emplace(lease.next(), last);
  return lease.next() <= next_ && next_ <= last;
}

uint64_t RegionReader::HoldingLease() const {
  for (uint32_t index = 0; index < kCaptureRings; ++index) {
    const Lease lease = Lease::Of(ring(index).lease.load(std::memory_order_acquire));
    if (lease.rest() && lease.next() <= next_ && next_ <= lease.last()) return lease.first;
  }
  return 0;
}

bool RegionReader::TakeBackLeases() {
  bool has_next = false;
  for (uint32_t index = 0; index < kCaptureRings; ++index) {
    has_next = RevokeLease(index) || has_next;
  }
  return has_next;
}

// The ring whose front has the number `next_`, or -1.
int RegionReader::RingWithNext() {
  if (next_ == 0) return -1;  // behind the last number that there is
  // Mostly the ring of the record before, or another whose front is known already.
  if (front_numbers_[last_ring_] == next_) return static_cast<int>(last_ring_);
  const auto known = std::find(front_numbers_.begin(), front_numbers_.end(), next_);
  if (known != front_numbers_.end()) return static_cast<int>(known - front_numbers_.begin());
  for (uint32_t index = 0; index < kCaptureRings; ++index) {
    while (FindFront(index) && front_numbers_[index] < next_) {
      // Passed over before it came, or a number that was used twice.
      if (static_cast<uint32_t>(rings_[index].front.kind) != kPadKind) ++late_records_;
      DropUnread(index);
      if (!MayStep()) return -1;
    }
    if (front_numbers_[index] == next_) return static_cast<int>(index);
  }
  return -1;
}

RegionReader::Found RegionReader::Take(Record* record) {
  for (;;) {
    SkipUnused();
    const int index = RingWithNext();
    if (index < 0) {
      if (steps_ == 0 && !end_.reached) return Found::kPaused;
      if (taken_ >= next_) return Found::kHeldBack;
      // What was taken meanwhile may be there: look at the rings once more.
      taken_ = last_taken_number();
      if (taken_ < next_) return Found::kNothing;
      continue;
    }
    last_ring_ = static_cast<uint32_t>(index);
    ++next_;
    if (TakeFront(last_ring_, record)) return Found::kRecord;
    if (!MayStep()) return Found::kPaused;
  }
}

bool RegionReader::TakeFront(uint32_t index, Record* record) {
  Ring& mine = rings_[index];
  const RecordHeader front = mine.front;
  const uint32_t offset = static_cast<uint32_t>(mine.position % kCaptureRingBytes);
  DropFront(index);
  if (static_cast<uint32_t>(front.kind) == kPadKind) {
    // The rest of a lease, if it can be one.
    if (front.object > front.number && front.object - front.number < kMostLeased &&
        front.object <= last_taken_number()) {
      next_ = front.object + 1;
    }
    return false;
  }
  if (!IsRecordKind(front.kind) || front.body_bytes > front.size_bytes - sizeof(front) ||
      front.body_bytes > kMaxRecordBytes) {
    ++damaged_records_;
    return false;
  }
  // Copy before reading: the program may still change it.
  if (body_.size() < front.body_bytes) body_.resize(front.body_bytes);
  std::memcpy(body_.data(), ring_bytes(index) + offset + sizeof(front), front.body_bytes);
  record->kind = front.kind;
  record->flags = static_cast<uint8_t>(front.flags & ~(kRecordSpilled | kRecordRestores));
  record->method = front.method;
  record->thread = front.thread;
  record->number = front.number;
  record->object = front.object;
  record->body = std::span(body_).first(front.body_bytes);
  FindFront(index);
  if (front.kind == RecordKind::kBlob && (front.flags & kRecordSpilled) != 0 &&
      !GatherBlob(record)) {
    ++damaged_records_;
    return false;
  }
  return true;
}

// Puts the bytes in the spill behind the record's BlobBody, and frees the blocks.
bool RegionReader::GatherBlob(Record* record) {
  BlobBody body;
  if (record->body.size() < sizeof(body)) return false;
  std::memcpy(&body, record->body.data(), sizeof(body));
  const uint64_t blocks = BlocksOf(body.size_bytes);
  if (body.size_bytes > kMaxBlobBytes || body.block_count != blocks ||
      record->body.size() - sizeof(body) < blocks * sizeof(uint32_t)) {
    FreeBlocks(record->body);
    return false;
  }
  const auto block_at = [&](uint64_t i) {
    uint32_t block = 0;
    std::memcpy(&block, record->body.data() + sizeof(body) + i * sizeof(block), sizeof(block));
    return block;
  };
  bool good = true;
  for (uint64_t i = 0; i < blocks; ++i) good = UseBlock(block_at(i)) && good;
  if (!good) {
    FreeBlocks(record->body);
    return false;
  }
  blob_.resize(sizeof(body) + body.size_bytes);
  const std::byte* const spill = ring_bytes(0) + uint64_t{kCaptureRings} * kCaptureRingBytes;
  for (uint64_t i = 0; i < blocks; ++i) {
    const uint32_t block = block_at(i);
    const uint64_t done = i * kSpillBlockBytes;
    std::memcpy(blob_.data() + sizeof(body) + done, spill + uint64_t{block} * kSpillBlockBytes,
                std::min<uint64_t>(kSpillBlockBytes, body.size_bytes - done));
    FreeBlock(block);
  }
  touched_bytes_ += body.size_bytes;
  body.block_count = 0;
  std::memcpy(blob_.data(), &body, sizeof(body));
  record->body = blob_;
  return true;
}

bool RegionReader::UseBlock(uint32_t block) {
  if (block >= kSpillBlocks) return false;
  if (!end_.reached) return true;
  const uint64_t bit = uint64_t{1} << (block % 64);
  const bool unread = (end_.blocks[block / 64] & bit) != 0;
  end_.blocks[block / 64] &= ~bit;
  return unread;
}

void RegionReader::TakeWhatIsThere() {
  if (end_.reached) return;
  end_.reached = true;
  end_.number = last_taken_number();
  for (uint32_t i = 0; i < kCaptureRings; ++i) {
    end_.heads[i] = ring(i).head.load(std::memory_order_acquire);
  }
  for (uint32_t i = 0; i < kSpillBlocks / 64; ++i) end_.blocks[i] = header().spill_used[i].load();
}

bool RegionReader::PassOverGap() {
  if (next_ == 0) return false;
  uint64_t smallest = ~uint64_t{0};
  for (uint32_t i = 0; i < kCaptureRings; ++i) {
    if (FindFront(i) && front_numbers_[i] >= next_) {
      smallest = std::min(smallest, front_numbers_[i]);
    }
  }
  if (smallest == ~uint64_t{0}) return false;
  // Their records would come too late.
  for (uint32_t i = 0; i < kCaptureRings; ++i) {
    const Lease lease = Lease::Of(ring(i).lease.load(std::memory_order_acquire));
    if (lease.rest() && lease.next() < smallest) RevokeLease(i);
  }
  passed_over_ += smallest - next_;
  next_ = smallest;
  return true;
}

// A ring whose thread has ended, and of which all was taken, is for another thread.
void RegionReader::FreeEndedRing(uint32_t index) {
  CaptureRing& theirs = ring(index);
  uint32_t state = theirs.state.load(std::memory_order_acquire);
  if (state != kEntryRetired || rings_[index].published != rings_[index].position ||
      theirs.head.load(std::memory_order_acquire) != rings_[index].position) {
    return;
  }
  NoteThread(index);
  RevokeLease(index);
  theirs.state.compare_exchange_strong(state, kEntryFree);
}

void RegionReader::GiveBack() {
  if (touched_bytes_ >= kMostTouchedBytes) {
    touched_bytes_ = 0;
    region_.ForgetPages();
  }
  if (end_.reached) return;
  bool given = blocks_freed_;
  blocks_freed_ = false;
  bool waited = false;
  for (uint32_t i = 0; i < kCaptureRings; ++i) {
    Ring& mine = rings_[i];
    FreeEndedRing(i);
    if (mine.published == mine.position) continue;
    ring(i).tail.store(mine.position, std::memory_order_seq_cst);
    mine.published = mine.position;
    given = true;
    waited = waited || ring(i).waiting.load(std::memory_order_seq_cst) != 0;
  }
  if (!given) return;
  const uint32_t was = header().drained.fetch_add(1, std::memory_order_seq_cst);
  if (!waited && header().spill_waiting.load(std::memory_order_seq_cst) == 0) return;
  FutexWake(region_, header().drained, was);
}

uint32_t RegionReader::Doorbell() const {
  return header().doorbell.load(std::memory_order_acquire);
}

void RegionReader::WaitForDoorbell(uint32_t doorbell, uint64_t timeout_ns) const {
  FutexWait(region_, header().doorbell, doorbell, timeout_ns);
}

void RegionReader::Request(CaptureRequest request) {
  header().request.store(static_cast<uint32_t>(request), std::memory_order_release);
}

CaptureState RegionReader::state() const {
  const uint32_t state = header().state.load(std::memory_order_acquire);
  return state <= static_cast<uint32_t>(CaptureState::kStopped) ? static_cast<CaptureState>(state)
                                                                : CaptureState::kOff;
}

uint64_t RegionReader::last_taken_number() const {
  return header().next_number.load(std::memory_order_acquire);
}

void RegionReader::NoteThread(uint32_t index) {
  CaptureRing& theirs = ring(index);
  if (theirs.state.load(std::memory_order_acquire) == kEntryFree) return;
  Thread thread;
  thread.index = rings_[index].noted_thread = theirs.thread;
  if (threads_.size() >= kThreadsKept && threads_.count(thread.index) == 0) ForgetAnEndedThread();
  thread.thread_id = theirs.thread_id;
  char name[sizeof(theirs.name)];
  std::memcpy(name, theirs.name, sizeof(name));
  thread.name.assign(name, strnlen(name, sizeof(name)));
  thread.in_call = theirs.in_call.load(std::memory_order_acquire);
  threads_.insert_or_assign(thread.index, std::move(thread));
}

// The oldest one that has no ring. Fewer have one than are kept.
void RegionReader::ForgetAnEndedThread() {
  const auto lives = [this](uint32_t thread) {
    for (uint32_t i = 0; i < kCaptureRings; ++i) {
      if (rings_[i].noted_thread == thread && ring(i).state.load() != kEntryFree) return true;
    }
    return false;
  };
  for (auto thread = threads_.begin(); thread != threads_.end(); ++thread) {
    if (lives(thread->first)) continue;
    threads_.erase(thread);
    return;
  }
}

std::vector<RegionReader::Thread> RegionReader::Threads() {
  // A ring that went on to another thread says nothing about the one before it any more.
  for (auto& [index, thread] : threads_) thread.in_call = 0;
  for (uint32_t i = 0; i < kCaptureRings; ++i) NoteThread(i);
  std::vector<Thread> threads;
  threads.reserve(threads_.size());
  for (const auto& [index, thread] : threads_) threads.push_back(thread);
  return threads;
}

std::vector<std::string> RegionReader::Losses() const {
  std::vector<std::string> losses;
  const auto note = [&losses](uint64_t count, const char* what) {
    if (count != 0) losses.push_back(fmt::format("{} {}", count, what));
  };
  note(damaged_rings_, "times a thread's ring was damaged; its records are lost");
  note(damaged_records_, "records were damaged and are skipped");
  note(late_records_, "records came too late and are skipped");
  if (header().gave_up.load(std::memory_order_relaxed) != 0) {
    losses.push_back(
        "the program waited 10 s for a watcher that took nothing (it was stopped, or had no time), "
        "and went on without being captured: what it did from there on is not in the file");
  }
  if (cut_)
    losses.push_back(
        "there was no time for all records that the program left: the trace is truncated");
  return losses;
}

}  // namespace cairn
