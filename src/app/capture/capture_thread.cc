// SPDX-License-Identifier: Apache-2.0
#include "app/capture/capture_thread.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>

#include "os/this_process.h"
#include "os/thread.h"

namespace cairn {
namespace {

// Smaller blobs are stored in the ring: a block of the spill would be mostly empty.
constexpr size_t kSmallestSpill = 32u << 10;
// A record begins in place only where most calls fit.
constexpr size_t kRoomInPlace = 1024;
constexpr size_t kFirstMemory = 4096;
constexpr size_t kMostBlocks = kMaxBlobBytes / kSpillBlockBytes;

constinit ThreadSlot thread_end;
std::atomic<uint32_t> threads_seen{0};

void CopyTo(std::byte*& at, std::span<const std::byte> bytes) {
  if (!bytes.empty()) std::memcpy(at, bytes.data(), bytes.size());
  at += bytes.size();
}

}  // namespace

void CaptureThread::PrepareProcess() {
  static std::once_flag once;
  std::call_once(once, [] {
    thread_end.Open(&CaptureThread::End);
    CallInCopies(&CaptureThread::ForgetInForkedChild);
  });
}

// The ring is the parent's, which goes on writing it.
void CaptureThread::ForgetInForkedChild() {
  thread_end.Set(nullptr);
  this_thread_ = nullptr;
}

uint32_t CaptureThread::TakeRing(SharedRegion* region) {
  for (uint32_t i = 0; i + 1 < kCaptureRings; ++i) {
    uint32_t state = kEntryFree;
    if (region->ring(i).state.load(std::memory_order_relaxed) == kEntryFree &&
        region->ring(i).state.compare_exchange_strong(state, kEntryPublished,
                                                      std::memory_order_acq_rel)) {
      return i;
    }
  }
  return kCaptureRings - 1;
}

CaptureThread* CaptureThread::Make(SharedRegion* region) {
  PrepareProcess();
  if (this_thread_ != nullptr) End(this_thread_);  // of a capture before this one
  auto* const thread = new (std::nothrow) CaptureThread(region, TakeRing(region));
  if (thread == nullptr) return nullptr;
  thread->index_ = threads_seen.fetch_add(1, std::memory_order_relaxed);
  thread->Introduce();
  this_thread_ = thread;
  thread_end.Set(thread);
  return thread;
}

void CaptureThread::Introduce() {
  const auto lock = LockIfShared();
  CaptureRing& ring = writer_.ring();
  ring.thread = index_;
  ring.thread_id = CurrentThreadId();
  LookAtName();
  Publish(ring.state);
}

void CaptureThread::LookAtName() {
  static_assert(sizeof(CaptureRing::name) == kThreadNameBytes &&
                offsetof(CaptureRing, name) % 4 == 0);
  const auto words = std::bit_cast<std::array<uint32_t, 4>>(CurrentThreadName());
  for (int i = 0; i < 4; ++i) {
    std::atomic_ref<uint32_t>(reinterpret_cast<uint32_t*>(writer_.ring().name)[i])
        .store(words[i], std::memory_order_relaxed);
  }
}

// Calls of later destructors of this thread go into another ring.
void CaptureThread::End(void* value) {
  auto* const thread = static_cast<CaptureThread*>(value);
  this_thread_ = nullptr;
  if (thread->shares_) {
    if (thread->depth_ != 0) thread->Leave(thread->calls_[0]);
  } else {
    thread->LookAtName();
    thread->writer_.ring().in_call.store(0, std::memory_order_relaxed);
    thread->writer_.ring().state.store(kEntryRetired, std::memory_order_release);
  }
  delete thread;
}

uint64_t CaptureThread::Write(RecordHeader header, RecordOrder order,
                              std::span<const std::byte> first, std::span<const std::byte> second) {
  const size_t body_bytes = first.size() + second.size();
  if (body_bytes > kMaxRecordBytes - sizeof(header) || region_->ended()) return 0;
  if (sink_ != nullptr && !sink_->LeaveRing()) return 0;
  const auto lock = LockIfShared();
  order = OrderOf(order);
  if (!writer_.Begin(order)) return 0;
  std::byte* at = writer_.WaitForRoom(RingWriter::RecordBytes(body_bytes));
  if (at == nullptr) return 0;
  at += sizeof(header);
  CopyTo(at, first);
  CopyTo(at, second);
  return writer_.Publish(header, body_bytes, order);
}

bool CaptureThread::WriteBlobs(std::span<const std::byte> bytes, uint64_t* numbers) {
  RecordHeader header = Header(RecordKind::kBlob, kNoObject);
  while (!bytes.empty()) {
    const std::span<const std::byte> part =
        bytes.first(std::min<size_t>(bytes.size(), kMaxBlobBytes));
    bytes = bytes.subspan(part.size());
    BlobBody body{static_cast<uint32_t>(part.size()), 0};
    if (part.size() < kSmallestSpill) {
      header.flags = 0;
      *numbers = Write(header, RecordOrder::kThread, BytesOf(body), part);
    } else {
      uint32_t blocks[kMostBlocks];
      body.block_count =
          static_cast<uint32_t>((part.size() + kSpillBlockBytes - 1) / kSpillBlockBytes);
      const std::span<uint32_t> taken(blocks, body.block_count);
      if (!region_->TakeBlocks(taken)) return false;
      for (size_t i = 0; i < taken.size(); ++i) {
        const size_t begin = i * kSpillBlockBytes;
        std::memcpy(region_->spill_block(taken[i]), part.data() + begin,
                    std::min<size_t>(kSpillBlockBytes, part.size() - begin));
      }
      header.flags = kRecordSpilled;
      *numbers = Write(header, RecordOrder::kThread, BytesOf(body), std::as_bytes(taken));
    }
    if (*numbers++ == 0) return false;
  }
  return true;
}

void CaptureThread::Enter(uint64_t call) {
  if (depth_ == kDeepestCall) return;
  calls_[depth_++] = call;
  if (shares_) {
    const auto lock = LockIfShared();
    region_->EnterInLastRing(call);
    return;
  }
  writer_.ring().in_call.store(call, std::memory_order_release);
}

void CaptureThread::Leave(uint64_t call) {
  uint32_t place = depth_;
  while (place != 0 && calls_[place - 1] != call) --place;
  if (place == 0) return;
  if (shares_) {
    const auto lock = LockIfShared();
    for (uint32_t i = place - 1; i < depth_; ++i) region_->LeaveInLastRing(calls_[i]);
    depth_ = place - 1;
    return;
  }
  depth_ = place - 1;
  writer_.ring().in_call.store(innermost_call(), std::memory_order_release);
}

RecordSink::RecordSink(CaptureThread* thread, RecordOrder order)
    : EncodeSink(nullptr, nullptr), thread_(thread), outer_(thread->sink_), order_(order) {
  // If that fails, the outer record finds no memory when it continues.
  if (outer_ != nullptr) (void)outer_->LeaveRing();
  thread_->sink_ = this;
  if (thread_->shares_ || !thread_->writer_.Begin(order_)) return;
  std::span<std::byte> room = thread_->writer_.RoomNow(kRoomInPlace);
  if (room.empty()) return;
  room = room.first(std::min<size_t>(room.size(), kMaxRecordBytes)).subspan(sizeof(RecordHeader));
  begin_ = next_ = room.data();
  end_ = begin_ + room.size();
  in_ring_ = true;
}

RecordSink::~RecordSink() {
  thread_->sink_ = outer_;
  if (memory_bytes_ > thread_->spare_bytes_) {
    thread_->spare_ = std::move(memory_);
    thread_->spare_bytes_ = memory_bytes_;
  }
}

bool RecordSink::Move(size_t capacity) {
  const size_t size = size_bytes();
  std::unique_ptr<std::byte[]> memory;
  if (memory_ == nullptr && thread_->spare_ != nullptr && thread_->spare_bytes_ >= capacity) {
    memory = std::move(thread_->spare_);
    capacity = std::exchange(thread_->spare_bytes_, 0);
  } else {
    capacity = std::max(capacity, kFirstMemory);
    memory.reset(new (std::nothrow) std::byte[capacity]);
  }
  in_ring_ = false;
  if (memory == nullptr) {
    begin_ = next_ = end_ = nullptr;
    no_room_ = true;
    return false;
  }
  if (size != 0) std::memcpy(memory.get(), begin_, size);
  memory_ = std::move(memory);
  memory_bytes_ = capacity;
  begin_ = memory_.get();
  next_ = begin_ + size;
  end_ = begin_ + capacity;
  return true;
}

std::byte* RecordSink::Grow(size_t bytes) {
  constexpr size_t kMost = kMaxRecordBytes - sizeof(RecordHeader);
  const size_t size = size_bytes();
  if (no_room_ || bytes > kMost - size) {
    no_room_ = true;
    return nullptr;
  }
  if (!Move(std::min(kMost, std::max(size + bytes, 2 * memory_bytes_)))) return nullptr;
  std::byte* const room = next_;
  next_ += bytes;
  return room;
}

bool RecordSink::PutBlob(const void* bytes, uint64_t size_bytes) {
  const uint64_t count = CaptureThread::BlobCount(size_bytes);
  const uint32_t parts = static_cast<uint32_t>(count);
  if (count * sizeof(uint64_t) > kMaxRecordBytes) {
    no_room_ = true;
    return false;
  }
  const std::unique_ptr<uint64_t[]> numbers(new (std::nothrow) uint64_t[parts]);
  if (numbers == nullptr || !LeaveRing()) return false;
  if (!thread_->WriteBlobs({static_cast<const std::byte*>(bytes), size_bytes}, numbers.get()))
    return false;
  std::byte* at =
      Extend(sizeof(kBytesInBlobs) + sizeof(size_bytes) + sizeof(parts) + parts * sizeof(uint64_t));
  if (at == nullptr) return false;
  CopyTo(at, BytesOf(kBytesInBlobs));
  CopyTo(at, BytesOf(size_bytes));
  CopyTo(at, BytesOf(parts));
  CopyTo(at, std::as_bytes(std::span(numbers.get(), parts)));
  return true;
}

uint64_t RecordSink::Commit(const RecordHeader& header) {
  if (no_room_ || thread_->region_->ended()) return 0;
  const size_t size = size_bytes();
  if (in_ring_) {
    in_ring_ = false;
    return thread_->writer_.Publish(header, size, order_);
  }
  return thread_->Write(header, order_, {begin_, size});
}

}  // namespace cairn
