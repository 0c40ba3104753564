// SPDX-License-Identifier: Apache-2.0
#include "watcher/capture_drain.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <filesystem>
#include <system_error>
#include <utility>

#include "format/calls/model_hash.h"
#include "os/clock.h"
#include "watcher/output_file.h"

namespace cairn {
namespace {

// The records and bytes that are written before others get the lock, at most: an incident takes it too.
constexpr size_t kBatchRecords = 1024;
constexpr size_t kBatchBytes = 4u << 20;
// The steps of the reader meanwhile, at most, whether they find records or not: some milliseconds.
constexpr uint32_t kBatchSteps = 1u << 16;
// The program rings when it has much to give; otherwise this is how late the file may be.
constexpr uint64_t kLookNs = 10'000'000;
// A number is taken a moment before its record is there. One that is missing for so long, while others
// come, belongs to a thread that was ended inside of the layer.
constexpr uint64_t kMissingNs = 2'000'000'000;
// The same where a ring was damaged: the records that were in it will never come, and those that other
// threads were about to write are there after so long.
constexpr uint64_t kDamageNs = 100'000'000;
// A thread that does not use up its lease in this time gives the rest back: a busy one fills its ring in about as long.
constexpr uint64_t kLeaseNs = 1'000'000;

}  // namespace

CaptureDrain::CaptureDrain(SharedMemory region, CaptureDrainSettings settings)
    : settings_(std::move(settings)) {
  Result<RegionReader> reader = RegionReader::Open(std::move(region));
  if (!reader.ok()) {
    open_error_ = reader.status();
    failed_ = true;
    ended_ = true;
    return;
  }
  reader_ = std::move(reader).value();
  const bool armed = reader_->start_frame() != 0 || reader_->state() == CaptureState::kArmed;
  Result<OutputFile> file = CreateOutput(settings_.path, settings_.other_name);
  if (file.ok()) {
    settings_.path = file->path;
    why_not_there_ = file->why_not;
    sink_.emplace(std::move(file->writer), settings_.facts, armed, settings_.most_kept_bytes);
  } else {
    sink_.emplace(file.status(), settings_.facts, armed, settings_.most_kept_bytes);
  }
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
  const auto lock = Lock();
  return sink_.has_value() ? sink_->status() : open_error_;
}

std::unique_lock<std::mutex> CaptureDrain::Lock() const {
  ++waiters_;
  std::unique_lock lock(mutex_);
  --waiters_;
  return lock;
}

void CaptureDrain::Run() {
  uint64_t flushed_ns = MonotonicNs();
  while (!stop_ && !ends_) {
    const uint32_t doorbell = reader_->Doorbell();
    bool waits = false;
    {
      const std::lock_guard lock(mutex_);
      WatchTrigger();
      // A reader at a thread's heels would take the lines that it is about to write.
      waits = !Pump(~uint64_t{0}) || caught_up_;
      const uint64_t now_ns = MonotonicNs();
      if (sink_->HasUnflushed() && now_ns - flushed_ns >= kFlushNs) {
        sink_->Flush();
        flushed_ns = now_ns;
      }
      failed_ = !sink_->status().ok();
      if (failed_ || sink_->nearly_full()) reader_->Request(CaptureRequest::kStop);
    }
    LetOthersIn();
    if (waits) reader_->WaitForDoorbell(doorbell, holding_lease_ != 0 ? kLeaseNs : kLookNs);
  }
  if (ends_) TakeTheRest();
}

// A mutex does not go to the thread that waited longest.
void CaptureDrain::LetOthersIn() const {
  while (waiters_ != 0 && !stop_) std::this_thread::sleep_for(std::chrono::microseconds(100));
}

bool CaptureDrain::Pump(uint64_t last) {
  size_t count = 0;
  paused_ = false;
  caught_up_ = false;
  reader_->AllowSteps(kBatchSteps);
  try {
    PumpInto(last, &count);
  } catch (const std::exception& error) {
    sink_->Fail(Status(StatusCode::kOutOfMemory, error.what()));
  }
  reader_->GiveBack();
  return count != 0 || paused_;
}

void CaptureDrain::PumpInto(uint64_t last, size_t* count) {
  Record record;
  size_t bytes = 0;
  while (*count < kBatchRecords && bytes < kBatchBytes && reader_->next_number() <= last) {
    const RegionReader::Found found = reader_->Take(&record);
    if (found == RegionReader::Found::kRecord) {
      ++*count;
      bytes += record.body.size();
      held_back_since_ns_ = 0;
      sink_->Add(record);
      continue;
    }
    if (found == RegionReader::Found::kPaused) {
      paused_ = true;
      break;
    }
    if (found == RegionReader::Found::kNothing) {
      held_back_since_ns_ = 0;
      holding_lease_ = 0;
      caught_up_ = true;
      break;
    }
    const uint64_t now_ns = MonotonicNs();
    if (!TakeBackLeases(now_ns) && (!IsLost(now_ns) || !reader_->PassOverGap())) {
      caught_up_ = true;
      break;
    }
    held_back_since_ns_ = 0;
  }
}

bool CaptureDrain::TakeBackLeases(uint64_t now_ns) {
  const uint64_t lease = reader_->HoldingLease();
  if (lease != holding_lease_) {
    holding_lease_ = lease;
    holding_since_ns_ = now_ns;
    held_back_since_ns_ = 0;  // it was leased until now, not missing
  }
  if (lease == 0 || now_ns - holding_since_ns_ < kLeaseNs || !reader_->TakeBackLeases())
    return false;
  holding_lease_ = 0;
  return true;
}

bool CaptureDrain::IsLost(uint64_t now_ns) {
  if (held_back_since_ns_ == 0) held_back_since_ns_ = now_ns;
  if (reader_->gap_free_until() != gap_free_until_) {
    gap_free_until_ = reader_->gap_free_until();
    gap_free_since_ns_ = now_ns;
  }
  if (reader_->next_number() <= gap_free_until_) return now_ns - gap_free_since_ns_ >= kDamageNs;
  return now_ns - held_back_since_ns_ >= kMissingNs;
}

void CaptureDrain::WatchTrigger() {
  if (!settings_.trigger_path.empty() && triggers_ < 2) {
    std::error_code error;
    const bool there = std::filesystem::exists(settings_.trigger_path, error);
    if (there == (triggers_ == 0)) ++triggers_wanted_;
  }
  while (triggers_ < std::min(triggers_wanted_.load(), 2)) {
    reader_->Request(triggers_ == 0 ? CaptureRequest::kStart : CaptureRequest::kStop);
    ++triggers_;
  }
}

void CaptureDrain::BeginEnd() {
  ends_ = true;
}

void CaptureDrain::EndTrace() {
  BeginEnd();
  if (thread_.joinable()) thread_.join();
}

void CaptureDrain::TakeTheRest() {
  const uint64_t begun_ns = MonotonicNs();
  {
    const std::lock_guard lock(mutex_);
    // Missing records will not come. Records that are written from now on, by a child that has the memory as well, are
    // not the program's.
    reader_->TakeWhatIsThere();
  }
  const uint64_t last = reader_->end_number();
  for (bool more = true; more && !stop_;) {
    {
      const std::lock_guard lock(mutex_);
      more = reader_->next_number() <= last && (Pump(last) || reader_->PassOverGap());
      if (more && MonotonicNs() - begun_ns >= settings_.most_end_ns) {
        reader_->NoteCut();
        more = false;
      }
    }
    LetOthersIn();
  }
  const std::lock_guard lock(mutex_);
  WriteTheRest();
  last_number_ = std::max(last, reader_->last_taken_number());
  // The region's memory is no longer needed; writing the report may need some.
  reader_.reset();
  ended_ = true;
}

void CaptureDrain::WriteTheRest() {
  try {
    WriteEnd();
  } catch (const std::exception& error) {
    sink_->Fail(Status(StatusCode::kOutOfMemory, error.what()));
  }
  failed_ = !sink_->status().ok();
}

void CaptureDrain::WriteEnd() {
  std::vector<TraceThread> threads;
  for (const RegionReader::Thread& thread : reader_->Threads()) {
    threads.push_back({thread.index, thread.thread_id, thread.name, thread.in_call});
  }
  const std::vector<std::string> losses = reader_->Losses();
  sink_->End(threads, losses);
}

Status CaptureDrain::Append(const std::function<Status(FileWriter*)>& write) {
  const auto lock = Lock();
  if (!sink_.has_value()) return open_error_;
  return sink_->Append(write);
}

Result<CaptureSummary> CaptureDrain::Finish() {
  EndTrace();
  const auto lock = Lock();
  if (!sink_.has_value()) return open_error_;
  return sink_->Finish();
}

}  // namespace cairn
