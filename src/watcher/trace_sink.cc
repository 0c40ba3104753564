// SPDX-License-Identifier: Apache-2.0
#include "watcher/trace_sink.h"

#include <fmt/format.h>

#include <cstring>
#include <exception>

namespace cairn {
namespace {

// A chunk or two every quarter of a second: the program has a minute to reach the end of a frame, and
// the end of the trace and a report have their place whatever it does.
constexpr uint32_t kNearlyFullChunks = kMaxChunkCount - 1024;
constexpr uint32_t kFullChunks = kMaxChunkCount - 256;

}  // namespace

TraceSink::TraceSink(Result<FileWriter> file, const TraceFacts& facts, bool armed,
                     size_t most_kept_bytes) {
  if (armed) {
    kept_.emplace(most_kept_bytes);
    summary_.started = false;
  }
  if (!file.ok()) {
    Fail(file.status());
    return;
  }
  file_ = std::move(file).value();
  writer_.emplace(&*file_);
  Status begun = writer_->Begin(facts);
  if (!begun.ok()) Fail(std::move(begun));
}

TraceSink::~TraceSink() = default;

void TraceSink::Fail(Status status) {
  if (!status_.ok()) return;
  status_ = std::move(status);
  kept_.reset();  // nobody will ask for it
  writer_.reset();
  file_.reset();
}

bool TraceSink::nearly_full() const {
  return file_.has_value() && file_->chunk_count() >= kNearlyFullChunks;
}

void TraceSink::Add(const Record& record) {
  last_number_ = record.number;
  if (!status_.ok() || stopped()) return;
  try {
    if (kept_.has_value()) {
      if (record.kind != RecordKind::kContents && record.kind != RecordKind::kStructure &&
          record.kind != RecordKind::kStart) {
        kept_->Keep(record);
        if (kept_->too_large()) {
          Fail(Status(StatusCode::kOutOfMemory,
                      fmt::format("what is alive in the program before the recording begins takes "
                                  "more than {} MiB; begin earlier, or record from the start",
                                  kept_->most_bytes() >> 20)));
        }
        return;
      }
      BeginRecording(record.number);
    }
    Write(record);
  } catch (const std::exception& error) {
    Fail(Status(StatusCode::kOutOfMemory, error.what()));
  }
}

// The program begins to record the contents of its resources: write the kept records before these.
void TraceSink::BeginRecording(uint64_t first_number) {
  summary_.started = true;
  start_losses_.emplace();
  LiveState kept = std::move(*kept_);
  kept_.reset();
  Status written = kept.WriteTo(first_number, [this](const Record& record) {
    Write(record);
    return status_;
  });
  if (!written.ok()) Fail(std::move(written));
  if (kept.left_out() != 0) {
    restore_losses_.push_back(fmt::format("{} descriptors could not be restored", kept.left_out()));
  }
}

void TraceSink::Write(const Record& record) {
  if (!status_.ok()) return;
  Status added = writer_->Add(record);
  if (added.code() == StatusCode::kInvalidArgument) {
    ++refused_;
    return;
  }
  if (!added.ok()) {
    Fail(std::move(added));
    return;
  }
  if (start_losses_.has_value()) start_losses_->Look(record);
  unflushed_ = true;
  ++summary_.records;
  if (record.kind == RecordKind::kCall) ++summary_.calls;
  if (record.kind == RecordKind::kFrame) ++summary_.frames;
  if (record.kind == RecordKind::kStop) stop_number_ = record.number;
  if (stop_number_ == 0 && file_->chunk_count() >= kFullChunks) {
    stop_number_ = record.number;
    full_ = true;
  }
}

void TraceSink::Flush() {
  unflushed_ = false;
  if (!status_.ok()) return;
  try {
    Status flushed = writer_->Flush();
    if (!flushed.ok()) Fail(std::move(flushed));
  } catch (const std::exception& error) {
    Fail(Status(StatusCode::kOutOfMemory, error.what()));
  }
}

void TraceSink::Note(NoteKind kind, const std::string& text) {
  const NoteBody body{static_cast<uint32_t>(kind), static_cast<uint32_t>(text.size())};
  std::vector<std::byte> bytes(sizeof(body) + text.size());
  std::memcpy(bytes.data(), &body, sizeof(body));
  std::memcpy(bytes.data() + sizeof(body), text.data(), text.size());
  Record note;
  note.kind = RecordKind::kNote;
  note.flags = kRecordRestores;
  note.number = ++last_number_;
  note.body = bytes;
  Write(note);
}

void TraceSink::End(std::span<const TraceThread> threads, std::span<const std::string> losses) {
  try {
    WriteEnd(threads, losses);
  } catch (const std::exception& error) {
    Fail(Status(StatusCode::kOutOfMemory, error.what()));
  }
}

void TraceSink::WriteEnd(std::span<const TraceThread> threads,
                         std::span<const std::string> losses) {
  summary_.losses = restore_losses_;
  if (start_losses_.has_value()) {
    const std::vector<std::string> missed = start_losses_->Told();
    summary_.losses.insert(summary_.losses.end(), missed.begin(), missed.end());
    start_losses_.reset();
  }
  summary_.losses.insert(summary_.losses.end(), losses.begin(), losses.end());
  if (refused_ != 0) {
    summary_.losses.push_back(
        fmt::format("{} records are not allowed in a trace and are skipped", refused_));
  }
  if (full_)
    summary_.losses.push_back("the file has as many chunks as it may: it is truncated here");
  for (const std::string& loss : summary_.losses) Note(NoteKind::kIncomplete, loss);
  if (!status_.ok()) return;
  std::vector<TraceThread> known(threads.begin(), threads.end());
  for (TraceThread& thread : known) {
    // Calls behind the end of the recording are not in the file.
    if (stopped() && thread.unreturned_call > stop_number_) thread.unreturned_call = 0;
  }
  Status ended = writer_->Finish(known);
  if (!ended.ok()) Fail(std::move(ended));
}

Status TraceSink::Append(const std::function<Status(FileWriter*)>& write) {
  CAIRN_RETURN_IF_ERROR(status_);
  Status written = write(&*file_);
  // A chunk that could not be written ends the file for everybody; anything else is the caller's.
  if (written.code() == StatusCode::kIo) Fail(written);
  return written;
}

Result<CaptureSummary> TraceSink::Finish() {
  CAIRN_RETURN_IF_ERROR(status_);
  CAIRN_RETURN_IF_ERROR(file_->Finish());
  summary_.file_bytes = file_->size_bytes();
  return summary_;
}

}  // namespace cairn
