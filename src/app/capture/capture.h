// SPDX-License-Identifier: Apache-2.0
//
// Capture: the recording side, in the program. The Direct3D 12 layer calls it before and after the
// real calls. Everything goes into the thread's ring of the region (format/block/capture_region.h);
// nothing here opens a file, compresses, or waits for anything but room in the ring.
//
//   if (Capture* const capture = Capture::Active()) {
//     const uint64_t call = capture->BeginCall(Method::ID3D12Device_CreateFence, number, arguments, ...);
//     ... the real call; kObject records of what it created ...
//     capture->EndCall(call, method, number, arguments, &result, ...);
//   }
//
// Without a capture, Active() is one load.
#ifndef CAIRN_APP_CAPTURE_CAPTURE_H_
#define CAIRN_APP_CAPTURE_CAPTURE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "app/capture/ring_writer.h"
#include "base/status.h"
#include "format/block/capture_region.h"
#include "format/calls/record.h"
#include "format/calls/value_encoder.h"
#include "format/settings/layer_settings.h"

namespace cairn {

class SharedRegion;

class Capture {
 public:
  // Null: nothing is recorded in this process (yet, or any more).
  static Capture* Active() { return active_.load(std::memory_order_acquire); }

  // Makes the region, hands it to the watcher, and begins. The object lives forever; another one
  // can be started when it has stopped. A forked child records nothing. Captures that record from
  // the beginning have no kStart. Errors: kNotFound (no watcher), kIo, kOutOfMemory,
  // kInvalidArgument (a capture is active).
  // Armed it waits for the watcher's request, also if start_frame is 0. With hash_resources new
  // memory begins as zeros, so that all that resources hold is defined.
  static Status Start(const CaptureSettings& options);

  // Writes the kCall record and marks the thread as being in this call. The call's number; 0 if it could
  // not be recorded (noted once), which EndCall takes as well.
  // `context.object_number` records nothing itself. `flags`: of the record. `recorder`: for a command that goes into
  // a list, which only the thread can tell that records that list, a word of that list, 0 at first; null for others.
  uint64_t BeginCall(Method method, uint64_t object, const void* const* arguments,
                     const EncodeContext& context, uint8_t flags = 0,
                     std::atomic<uint32_t>* recorder = nullptr);
  // Writes the kResult record if the method has results and `recorded` is not 0.
  void EndCall(uint64_t call, Method method, uint64_t object, const void* const* arguments,
               const void* result, const EncodeContext& context);
  // The call returned; for methods without results instead of EndCall. Calls nest. Also when the capture
  // has ended meanwhile: what stays in the ring counts as a call that never returned.
  static void Returned(uint64_t call);

  // The number of the innermost call that this thread is in, 0 for none: what breadcrumbs note.
  static uint64_t CurrentCall();

  // Any other record: `body`, then `tail` as they are.
  uint64_t Put(RecordKind kind, uint64_t object, std::span<const std::byte> body,
               std::span<const std::byte> tail = {}, uint8_t flags = 0);
  // kMemory or kContents: `body`, then `bytes` as a byte value, cut into blobs where it is large.
  void PutBytes(RecordKind kind, uint64_t object, std::span<const std::byte> body,
                std::span<const std::byte> bytes);
  void PutNote(NoteKind kind, std::string_view text);

  // The request of the watcher or the options at the end of a frame, after its kFrame record.
  // kStart: the layer must write kContents of all resources and then call Started().
  enum class AtFrame { kNothing, kStart, kStopped };
  AtFrame FrameEnded(uint64_t frame);
  // Returns true if FrameEnded(frame) will end the capture, unless the watcher asks for the end
  // only later.
  bool StopsAfter(uint64_t frame) const;
  // Starts recording the CPU's writes to memory. Called before the first contents are written, so
  // that no write is lost in between.
  void StartMemory() { memory_on_.store(true, std::memory_order_release); }
  bool memory_on() const { return memory_on_.load(std::memory_order_acquire); }
  // All contents are written: kStart.
  void Started();
  // Armed captures keep calls, but no hashes, and no memory before StartMemory().
  bool on() const { return state() == CaptureState::kOn; }
  CaptureState state() const;
  bool hash_frames() const;
  bool hash_resources() const;

 private:
  Capture(std::unique_ptr<SharedRegion> region, const CaptureSettings& options);
  void NoteLoss(Method method, const char* what);
  void Stop();
  void Deactivate();

  alignas(kApart) static std::atomic<Capture*> active_;  // all threads look at it
  const std::unique_ptr<SharedRegion> region_;
  const CaptureSettings options_;
  std::atomic<bool> memory_on_;
  std::atomic<bool> starting_{false};
  std::atomic<bool> stopping_{false};
};

// A number for a new object of the layer; never used again. Counts whether or not a capture is active.
uint64_t NextObjectNumber();

}  // namespace cairn

#endif  // CAIRN_APP_CAPTURE_CAPTURE_H_
