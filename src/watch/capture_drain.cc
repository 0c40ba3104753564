// SPDX-License-Identifier: Apache-2.0
#include "watch/capture_drain.h"

#include <unistd.h>

#include <utility>

#include "base/clock.h"
#include "calls/model_hash.h"

namespace cairn {
namespace {

// How long the lock is held at once: what takes it besides is an incident.
constexpr size_t kBatch = 1024;
// The program rings when it has much to give; otherwise this is how late the file may be.
constexpr uint64_t kLookNs = 10'000'000;
// A number is taken a moment before its record is there. One that is missing for so long, while others
// come, belongs to a thread that was ended inside of the layer.
constexpr uint64_t kMissingNs = 2'000'000'000;

}  // namespace

CaptureDrain::CaptureDrain(SharedMemory region, CaptureDrainSettings settings)
    : settings_(std::move(settings)) {
  Result<RegionReader> reader = RegionReader::Open(std::move(region));
  if (!reader.ok()) {
    open_error_ = reader.status();
    return;
  }
  reader_ = std::move(reader).value();
  const bool armed = reader_->start_frame() != 0 || reader_->state() == CaptureState::kArmed;
  sink_.emplace(settings_.path, settings_.facts, armed);
  if (reader_->model_hash() != ModelHash()) {
    sink_->Fail(Status(StatusCode::kUnsupported,
                       "the layer in the program knows other functions of Direct3D 12: use "
                       "libcairn-d3d12.so and cairn of the same release"));
  }
  thread_ = std::thread([this] { Run(); });
}

CaptureDrain::~CaptureDrain() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
}

Status CaptureDrain::status() const {
  const std::lock_guard lock(mutex_);
  return sink_.has_value() ? sink_->status() : open_error_;
}

void CaptureDrain::Run() {
  uint64_t flushed_ns = MonotonicNs();
  while (!stop_) {
    const uint32_t doorbell = reader_->Doorbell();
    bool found = false;
    {
      const std::lock_guard lock(mutex_);
      WatchTrigger();
      found = Pump(kBatch);
      const uint64_t now_ns = MonotonicNs();
      if (sink_->HasUnflushed() && now_ns - flushed_ns >= kFlushNs) {
        sink_->Flush();
        flushed_ns = now_ns;
      }
      if (!sink_->status().ok()) reader_->Request(CaptureRequest::kStop);
    }
    if (!found) reader_->WaitForDoorbell(doorbell, kLookNs);
  }
}

bool CaptureDrain::Pump(size_t limit) {
  size_t count = 0;
  Record record;
  while (count < limit) {
    const RegionReader::Found found = reader_->Take(&record);
    if (found == RegionReader::Found::kRecord) {
      sink_->Add(record);
      ++count;
      held_back_since_ns_ = 0;
      continue;
    }
    if (found == RegionReader::Found::kNothing) {
      held_back_since_ns_ = 0;
      break;
    }
    const uint64_t now_ns = MonotonicNs();
    if (held_back_since_ns_ == 0) held_back_since_ns_ = now_ns;
    if (now_ns - held_back_since_ns_ < kMissingNs || !reader_->PassOverGap()) break;
    held_back_since_ns_ = 0;
  }
  reader_->GiveBack();
  return count != 0;
}

void CaptureDrain::WatchTrigger() {
  if (settings_.trigger_path.empty() || triggers_ >= 2) return;
  const bool there = access(settings_.trigger_path.c_str(), F_OK) == 0;
  if (there == (triggers_ == 0)) TriggerLocked();
}

void CaptureDrain::Trigger() {
  const std::lock_guard lock(mutex_);
  TriggerLocked();
}

void CaptureDrain::TriggerLocked() {
  if (!reader_.has_value() || triggers_ >= 2) return;
  reader_->Request(triggers_ == 0 ? CaptureRequest::kStart : CaptureRequest::kStop);
  ++triggers_;
}

void CaptureDrain::EndTrace() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
  const std::lock_guard lock(mutex_);
  if (ended_ || !sink_.has_value()) return;
  ended_ = true;
  // Nobody writes any more: what is missing will not come.
  do {
    while (Pump(kBatch)) {
    }
  } while (reader_->PassOverGap());
  std::vector<TraceThread> threads;
  for (const RegionReader::Thread& thread : reader_->Threads()) {
    threads.push_back({thread.index, thread.thread_id, thread.name, thread.in_call});
  }
  const std::vector<std::string> losses = reader_->Losses();
  sink_->End(threads, losses);
  // Its memory is no longer needed; writing the report may need some.
  reader_.reset();
}

Status CaptureDrain::Append(const std::function<Status(FileWriter*)>& write) {
  const std::lock_guard lock(mutex_);
  if (!sink_.has_value()) return open_error_;
  return sink_->Append(write);
}

Result<CaptureSummary> CaptureDrain::Finish() {
  EndTrace();
  const std::lock_guard lock(mutex_);
  if (!sink_.has_value()) return open_error_;
  return sink_->Finish();
}

}  // namespace cairn
