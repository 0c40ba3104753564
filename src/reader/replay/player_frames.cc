// SPDX-License-Identifier: Apache-2.0
//
// The ends of frames: their images, marks and pace.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "os/clock.h"
#include "reader/replay/player_impl.h"

namespace cairn {
inline namespace CAIRN_D3D12_NAMESPACE {

// The first frame of a trace that began late may lie behind all of them.
bool PlayerImpl::IsAskedFor(uint64_t frame) const {
  return frame >= options_.first_frame && frame < options_.frame_end;
}

Status PlayerImpl::OnFrame(const Record& record) {
  std::span<const std::byte> rest = record.body;
  Result<FrameBody> body = DecodeBody<FrameBody>(&rest);
  if (!body.ok()) {
    log_.LeaveOut(record.number, "the end of a frame: " + body.status().message());
    return Status();
  }
  ++log_.result().frames;
  const bool compare = options_.validate && body->hashed != 0;
  const bool wanted = IsAskedFor(body->frame) && (options_.images || compare);
  next_frame_ = body->frame + 1;
  if (wanted && compare && record.object == kNoObject) {
    log_.NotCompared("images of frames: the recorded one is of no resource");
  } else if (wanted && record.object != kNoObject) {
    Result<FrameImage> image = memory_.ReadImage(record.object, body->frame);
    if (!image.ok()) {
      if (log_.failed()) return image.status();
      if (compare) {
        log_.NotCompared("images of frames: " + image.status().message());
      } else {
        log_.LeaveOut(record.number, "images of frames: " + image.status().message());
      }
    } else if (compare && !log_.result().interrupted) {
      ++log_.result().compared_frames;
      if (image->hash_low != body->hash_low || image->hash_high != body->hash_high) {
        return log_.Fail(
            PlayerFailure::kMismatch, record.number,
            fmt::format("the image of frame {} is not the one that was recorded", body->frame));
      }
    }
    if (image.ok() && options_.images && options_.on_image) {
      options_.on_image(std::move(*image));
    }
  }
  for (const auto& [number, context] : devices_.all()) {
    CAIRN_RETURN_IF_ERROR(waits_.SweepEnded(context.get()));
  }
  frame_began_ns_ = body->time_ns;
  recorded_frame_ns_.reset();
  if (options_.mark_frames) CAIRN_RETURN_IF_ERROR(MarkFrame());
  if (options_.on_frame) options_.on_frame(body->frame);
  if (options_.original_pace) Pace(body->time_ns);
  if (body->frame + 1 >= options_.frame_end) stop_ = true;
  (void)log_.Interrupted();
  return Status();
}

uint64_t PlayerImpl::RecordedFrameNs() {
  if (recorded_frame_ns_) return *recorded_frame_ns_;
  recorded_frame_ns_ = 0;
  TraceCursor cursor(*trace_);
  if (frame_began_ns_ == 0 || !cursor.SeekNumber(log_.record()).ok()) return 0;
  Record record;
  while (cursor.Next(&record)) {
    if (record.kind != RecordKind::kFrame) continue;
    std::span<const std::byte> rest = record.body;
    const Result<FrameBody> body = DecodeBody<FrameBody>(&rest);
    if (body.ok() && body->time_ns > frame_began_ns_) {
      recorded_frame_ns_ = body->time_ns - frame_began_ns_;
    }
    break;
  }
  return *recorded_frame_ns_;
}

Status PlayerImpl::MarkFrame() {
  constexpr char kMark[] = "cairn:frame";
  for (const auto& [number, context] : devices_.all()) {
    if (context->lost) continue;
    Result<ID3D12CommandQueue*> queue = context->OwnQueue();
    if (!queue.ok()) return queue.status();
    (*queue)->SetMarker(1, kMark, sizeof(kMark));
  }
  return Status();
}

// Sleeps until as much time has passed since the first frame as when it was recorded.
void PlayerImpl::Pace(uint64_t time_ns) {
  const uint64_t now_ns = MonotonicNs();
  if (pace_played_ns_ == 0) {
    pace_recorded_ns_ = time_ns;
    pace_played_ns_ = now_ns;
    return;
  }
  constexpr uint64_t kLongestPauseNs = uint64_t{10} * 1'000'000'000;
  const uint64_t recorded_ns = time_ns > pace_recorded_ns_ ? time_ns - pace_recorded_ns_ : 0;
  const uint64_t played_ns = now_ns - pace_played_ns_;
  if (recorded_ns <= played_ns) return;
  std::this_thread::sleep_for(
      std::chrono::nanoseconds(std::min(recorded_ns - played_ns, kLongestPauseNs)));
}

}  // namespace CAIRN_D3D12_NAMESPACE
}  // namespace cairn
