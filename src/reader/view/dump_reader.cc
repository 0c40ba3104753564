// SPDX-License-Identifier: Apache-2.0
#include "reader/view/dump_reader.h"

#include <algorithm>
#include <thread>
#include <utility>

namespace cairn {
namespace {

// A small dump takes as long as a thread takes to begin.
constexpr size_t kBatchFiles = 8;

size_t ThreadsFor(size_t wanted) {
  if (wanted != 0) return wanted;
  return std::clamp<size_t>(std::thread::hardware_concurrency(), 1, DumpReader::kMostThreads);
}

}  // namespace

DumpReader::DumpReader(const std::vector<std::string>& files, size_t threads, DumpNames names)
    : files_(files), threads_(ThreadsFor(threads)), names_(names) {
  ReadAhead();
}

DumpReader::~DumpReader() {
  ending_ = true;
}

DumpReader::Batch DumpReader::Read(size_t begin, size_t end) const {
  Batch batch;
  for (size_t i = begin; i < end && !ending_; ++i)
    batch.push_back(SummariseDump(files_[i], names_));
  return batch;
}

void DumpReader::ReadAhead() {
  while (coming_.size() < threads_ && begun_ < files_.size()) {
    const size_t begin = std::exchange(begun_, std::min(begun_ + kBatchFiles, files_.size()));
    // Deferred: where no thread is to be had.
    coming_.push_back(std::async(std::launch::async | std::launch::deferred,
                                 [this, begin, end = begun_] { return Read(begin, end); }));
  }
}

std::optional<Result<DumpSummary>> DumpReader::Next(std::chrono::milliseconds wait) {
  if (given_ == batch_.size()) {
    if (coming_.front().wait_for(wait) == std::future_status::timeout) return std::nullopt;
    std::future<Batch> read = std::move(coming_.front());
    coming_.pop_front();
    batch_ = read.get();
    given_ = 0;
    ReadAhead();
  }
  return std::move(batch_[given_++]);
}

}  // namespace cairn
