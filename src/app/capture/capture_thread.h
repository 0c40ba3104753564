// SPDX-License-Identifier: Apache-2.0
//
// A thread's way into its ring: records that are made up in place, and such that are there already.
#ifndef CAIRN_APP_CAPTURE_CAPTURE_THREAD_H_
#define CAIRN_APP_CAPTURE_CAPTURE_THREAD_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "app/capture/ring_writer.h"
#include "format/calls/record.h"
#include "format/calls/value_encoder.h"

namespace cairn {

class RecordSink;

class CaptureThread {
 public:
  // Returns the calling thread's object, with a ring of `region`; makes it at the first call. Null:
  // no memory.
  static CaptureThread* Of(SharedRegion* region) {
    CaptureThread* const thread = this_thread_;
    if (thread != nullptr && thread->region_ == region) [[likely]]
      return thread;
    return Make(region);
  }
  // The same, if it was made; for any region.
  static CaptureThread* Current() { return this_thread_; }

  // Writes a record with the body `first`, `second`. Its number; 0 if it was not written: it is larger
  // than kMaxRecordBytes, or the capture has ended.
  uint64_t Write(RecordHeader header, RecordOrder order, std::span<const std::byte> first,
                 std::span<const std::byte> second = {});
  // Writes `bytes` into kBlob records and their numbers to `numbers`, BlobCount() of them. False: the
  // capture has ended.
  bool WriteBlobs(std::span<const std::byte> bytes, uint64_t* numbers);
  static uint64_t BlobCount(uint64_t size_bytes) {
    return (size_bytes + kMaxBlobBytes - 1) / kMaxBlobBytes;
  }

  // Records that the thread is in `call`; leaving it also leaves all calls that began after it.
  // Calls nested deeper than kDeepestCall are not recorded.
  void Enter(uint64_t call);
  void Leave(uint64_t call);
  uint32_t index() const { return index_; }
  uint64_t innermost_call() const { return depth_ == 0 ? 0 : calls_[depth_ - 1]; }

  // Copies the thread's name into the ring: threads are named at any time.
  void LookAtName();

  RecordHeader Header(RecordKind kind, uint64_t object) const {
    RecordHeader header{};
    header.kind = kind;
    header.thread = index_;
    header.object = object;
    return header;
  }

 private:
  friend class RecordSink;
  static constexpr uint32_t kDeepestCall = 16;

  CaptureThread(SharedRegion* region, uint32_t ring)
      : region_(region), writer_(region, ring), shares_(ring == kCaptureRings - 1) {}
  static CaptureThread* Make(SharedRegion* region);
  static uint32_t TakeRing(SharedRegion* region);
  static void PrepareProcess();
  static void ForgetInForkedChild();
  static void End(void* thread);  // the thread ends
  void Introduce();

  // Threads that share a ring take each number alone.
  RecordOrder OrderOf(RecordOrder order) const { return shares_ ? RecordOrder::kAll : order; }
  std::unique_lock<std::mutex> LockIfShared() {
    return shares_ ? std::unique_lock(region_->last_ring_mutex()) : std::unique_lock<std::mutex>();
  }

  SharedRegion* region_;
  RingWriter writer_;
  bool shares_;
  uint32_t index_ = 0;
  uint32_t depth_ = 0;
  uint64_t calls_[kDeepestCall] = {};
  RecordSink* sink_ = nullptr;  // the record that is being made up
  std::unique_ptr<std::byte[]> spare_;
  size_t spare_bytes_ = 0;

#if defined(__GNUC__) && !defined(_WIN32)
  // The library is there when the program starts: no call is needed to find the variable.
  [[gnu::tls_model("initial-exec")]]
#endif
  static inline constinit thread_local CaptureThread* this_thread_ = nullptr;
};

// The body of a record while it is made up: in the ring itself as long as it fits, otherwise in memory
// of the thread. Other records may be written meanwhile; they stand before this one.
class RecordSink final : public EncodeSink {
 public:
  RecordSink(CaptureThread* thread, RecordOrder order);
  ~RecordSink();
  RecordSink(const RecordSink&) = delete;
  RecordSink& operator=(const RecordSink&) = delete;

  bool PutBlob(const void* bytes, uint64_t size_bytes) override;
  // Writes the record; as CaptureThread::Write.
  uint64_t Commit(const RecordHeader& header);

 protected:
  std::byte* Grow(size_t bytes) override;

 private:
  friend class CaptureThread;
  // Something else goes to where this record was to stand.
  bool LeaveRing() { return !in_ring_ || Move(size_bytes()); }
  bool Move(size_t capacity);

  CaptureThread* thread_;
  RecordSink* outer_;
  RecordOrder order_;
  std::unique_ptr<std::byte[]> memory_;
  size_t memory_bytes_ = 0;
  bool in_ring_ = false;
  bool no_room_ = false;  // too large, or no memory
};

}  // namespace cairn

#endif  // CAIRN_APP_CAPTURE_CAPTURE_THREAD_H_
