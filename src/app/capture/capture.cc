// SPDX-License-Identifier: Apache-2.0
#include "app/capture/capture.h"

#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "app/capture/capture_thread.h"
#include "app/capture/imported_memory.h"
#include "app/capture/mapped_memory.h"
#include "app/settings/log.h"
#include "format/calls/model_hash.h"
#include "os/this_process.h"

namespace cairn {
namespace {

// In lines of its own: threads that make objects write it.
struct alignas(kApart) {
  std::atomic<uint64_t> number{0};
} last_object;

// Notes that the thread records the list. The program sees to it that only one thread at a time does, and so to the
// order of these loads and stores.
bool RecordedLast(std::atomic<uint32_t>& recorder, const CaptureThread& thread) {
  const uint32_t mine = thread.index() + 1;
  if (recorder.load(std::memory_order_relaxed) == mine) return true;
  recorder.store(mine, std::memory_order_relaxed);
  return false;
}

}  // namespace

alignas(kApart) constinit std::atomic<Capture*> Capture::active_{nullptr};

uint64_t NextObjectNumber() {
  return last_object.number.fetch_add(1, std::memory_order_relaxed) + 1;
}

Capture::Capture(std::unique_ptr<SharedRegion> region, const CaptureSettings& options)
    : region_(std::move(region)),
      options_(options),
      memory_on_(region_->state() == CaptureState::kOn) {}

Status Capture::Start(const CaptureSettings& options) {
  static std::mutex& mutex = *new std::mutex;
  const std::lock_guard lock(mutex);
  if (Active() != nullptr) {
    return Status(StatusCode::kInvalidArgument, "this process is captured already");
  }
  Result<std::unique_ptr<SharedRegion>> region = SharedRegion::Create();
  if (!region.ok()) return region.status();
  CaptureRegionHeader& header = (*region)->header();
  header.process_id = static_cast<uint64_t>(OwnProcessId());
  header.model_hash = ModelHash();
  header.hash_frames = options.hash_frames ? 1 : 0;
  header.start_frame = options.start_frame;
  header.stop_frame = options.stop_frame;
  header.request.store(static_cast<uint32_t>(CaptureRequest::kRecord), std::memory_order_relaxed);
  const bool armed = options.armed || options.start_frame != 0;
  header.state.store(static_cast<uint32_t>(armed ? CaptureState::kArmed : CaptureState::kOn),
                     std::memory_order_relaxed);
  CAIRN_RETURN_IF_ERROR((*region)->HandOver());
  static std::once_flag prepared;
  std::call_once(prepared,
                 [] { CallInCopies([] { active_.store(nullptr, std::memory_order_relaxed); }); });
  // Never destroyed: threads may be inside of a capture at any time.
  static std::vector<std::unique_ptr<Capture>>& captures =
      *new std::vector<std::unique_ptr<Capture>>;
  captures.emplace_back(new Capture(std::move(*region), options));
  active_.store(captures.back().get(), std::memory_order_release);
  return Status();
}

CaptureState Capture::state() const {
  return region_->state();
}
bool Capture::hash_frames() const {
  return options_.hash_frames;
}

bool Capture::hash_resources() const {
  return options_.hash_resources;
}

void Capture::NoteLoss(Method method, const char* what) try {
  if (region_->ended()) return;
  const std::string text = std::string(Describe(method).name) + ": its " + what +
                           " could not be recorded: more than " + std::to_string(kMaxRecordBytes) +
                           " bytes without bulk data, or no memory";
  LogOnce(LogLevel::kWarning, text, text);
  PutNote(NoteKind::kIncomplete, text);
} catch (const std::bad_alloc&) {
  // No exception may leave the program's call.
  PutNote(NoteKind::kIncomplete, "a call could not be recorded in full: no memory");
}

uint64_t Capture::BeginCall(Method method, uint64_t object, const void* const* arguments,
                            const EncodeContext& context, uint8_t flags,
                            std::atomic<uint32_t>* recorder) {
  CaptureThread* const thread = CaptureThread::Of(region_.get());
  if (thread == nullptr) return 0;
  if (region_->ended()) [[unlikely]] {
    Deactivate();
    return 0;
  }
  const RecordOrder order = recorder != nullptr && RecordedLast(*recorder, *thread)
                                ? RecordOrder::kThread
                                : RecordOrder::kAll;
  uint64_t number = 0;
  {
    RecordSink sink(thread, order);
    if (EncodeArguments(Describe(method), arguments, context, &sink)) {
      RecordHeader header = thread->Header(RecordKind::kCall, object);
      header.method = static_cast<uint16_t>(method);
      header.flags = flags;
      number = sink.Commit(header);
    }
  }
  if (number != 0) {
    thread->Enter(number);
  } else {
    NoteLoss(method, "arguments");
  }
  return number;
}

void Capture::EndCall(uint64_t call, Method method, uint64_t object, const void* const* arguments,
                      const void* result, const EncodeContext& context) {
  CaptureThread* const thread = CaptureThread::Of(region_.get());
  if (call == 0 || thread == nullptr) return;
  const MethodInfo& info = Describe(method);
  if (HasResults(info)) {
    uint64_t number = 0;
    {
      RecordSink sink(thread, RecordOrder::kAll);
      const ResultBody body{call};
      std::byte* const at = sink.Extend(sizeof(body));
      if (at != nullptr) std::memcpy(at, &body, sizeof(body));
      if (at != nullptr && EncodeResults(info, arguments, result, context, &sink)) {
        RecordHeader header = thread->Header(RecordKind::kResult, object);
        header.method = static_cast<uint16_t>(method);
        number = sink.Commit(header);
      }
    }
    if (number == 0) NoteLoss(method, "results");
  }
  thread->Leave(call);
}

void Capture::Returned(uint64_t call) {
  CaptureThread* const thread = CaptureThread::Current();
  if (call != 0 && thread != nullptr) thread->Leave(call);
}

uint64_t Capture::CurrentCall() {
  const CaptureThread* const thread = CaptureThread::Current();
  return thread == nullptr || Active() == nullptr ? 0 : thread->innermost_call();
}

uint64_t Capture::Put(RecordKind kind, uint64_t object, std::span<const std::byte> body,
                      std::span<const std::byte> tail, uint8_t flags) {
  CaptureThread* const thread = CaptureThread::Of(region_.get());
  if (thread == nullptr) return 0;
  RecordHeader header = thread->Header(kind, object);
  header.flags = flags;
  return thread->Write(header, RecordOrder::kAll, body, tail);
}

void Capture::PutBytes(RecordKind kind, uint64_t object, std::span<const std::byte> body,
                       std::span<const std::byte> bytes) {
  CaptureThread* const thread = CaptureThread::Of(region_.get());
  if (thread == nullptr) return;
  RecordSink sink(thread, RecordOrder::kAll);
  std::byte* at = sink.Extend(body.size());
  if (at == nullptr) return;
  if (!body.empty()) std::memcpy(at, body.data(), body.size());
  if (bytes.size() > kMaxInlineBytes) {
    if (!sink.PutBlob(bytes.data(), bytes.size())) return;
  } else {
    const uint32_t size = static_cast<uint32_t>(bytes.size());
    at = sink.Extend(sizeof(size) + size);
    if (at == nullptr) return;
    std::memcpy(at, &size, sizeof(size));
    if (size != 0) std::memcpy(at + sizeof(size), bytes.data(), size);
  }
  sink.Commit(thread->Header(kind, object));
}

void Capture::PutNote(NoteKind kind, std::string_view text) {
  text = text.substr(0, kMaxInlineBytes);
  const NoteBody body{static_cast<uint32_t>(kind), static_cast<uint32_t>(text.size())};
  Put(RecordKind::kNote, kNoObject, BytesOf(body), std::as_bytes(std::span(text)));
}

bool Capture::StopsAfter(uint64_t frame) const {
  const uint32_t request = region_->header().request.load(std::memory_order_acquire);
  return request == static_cast<uint32_t>(CaptureRequest::kStop) ||
         (on() && frame + 1 >= options_.stop_frame);
}

Capture::AtFrame Capture::FrameEnded(uint64_t frame) {
  CaptureRegionHeader& header = region_->header();
  header.frame.store(frame + 1, std::memory_order_relaxed);
  if (CaptureThread* const thread = CaptureThread::Current()) thread->LookAtName();
  if (!region_->CheckWatcher()) {
    Deactivate();
    return AtFrame::kStopped;
  }
  const auto request = static_cast<CaptureRequest>(header.request.load(std::memory_order_acquire));
  if (StopsAfter(frame)) {
    Stop();
    return AtFrame::kStopped;
  }
  const bool reached = options_.start_frame != 0 && frame + 1 >= options_.start_frame;
  if (state() == CaptureState::kArmed && (reached || request == CaptureRequest::kStart) &&
      !starting_.exchange(true)) {
    return AtFrame::kStart;
  }
  return AtFrame::kNothing;
}

void Capture::Stop() {
  if (stopping_.exchange(true)) return;
  Put(RecordKind::kStop, kNoObject, {});
  region_->SetState(CaptureState::kStopped);
  Deactivate();
}

void Capture::Deactivate() {
  Capture* self = this;  // there may be another one by now
  if (!active_.compare_exchange_strong(self, nullptr, std::memory_order_acq_rel)) return;
  // The protection of these pages would otherwise stay when the program frees them.
  MappedMemory::Get().ForgetAll();
  ImportedMemory::Get().ForgetAll();
}

void Capture::Started() {
  StartMemory();
  Put(RecordKind::kStart, kNoObject, {});
  region_->SetState(CaptureState::kOn);
}

}  // namespace cairn
