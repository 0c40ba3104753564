// SPDX-License-Identifier: Apache-2.0
#include "watcher/session_output.h"

#include <span>
#include <system_error>
#include <utility>

#include "format/file/byte_sink.h"
#include "format/file/file_writer.h"
#include "watcher/output_file.h"
#include "watcher/region_reader.h"

namespace cairn {
namespace {

class DrainedCapture final : public SessionCapture {
 public:
  DrainedCapture(SharedMemory region, CaptureDrainSettings settings)
      : drain_(std::move(region), std::move(settings)) {}

  const std::string& path() const override { return drain_.path(); }
  const std::string& why_not_there() const override { return drain_.why_not_there(); }
  bool failed() const override { return drain_.failed(); }
  void Trigger() override { drain_.Trigger(); }
  void BeginEnd() override { drain_.BeginEnd(); }
  bool ended() const override { return drain_.ended(); }
  Status AppendReport(const DumpSubject& subject, const WatchedBlock& block) override {
    return drain_.Append([&](FileWriter* file) {
      return AppendDump(file, subject, block, [&] { return drain_.LastNumber(); });
    });
  }
  Result<CaptureSummary> Finish() override { return drain_.Finish(); }

 private:
  CaptureDrain drain_;
};

// A file that is shown instead of written.
class MemorySink final : public ByteSink {
 public:
  explicit MemorySink(std::vector<std::byte>* bytes) : bytes_(*bytes) {}

  Status Write(std::span<const std::byte> bytes) override {
    if (bytes.size() > kMostUnwrittenBytes - bytes_.size()) {
      return Status(StatusCode::kOutOfMemory, "the report is too large to be kept in memory");
    }
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return Status();
  }
  void CutBack(uint64_t size_bytes) override { bytes_.resize(static_cast<size_t>(size_bytes)); }
  Status Sync() override { return Status(); }
  Status Commit() override { return Status(); }

 private:
  std::vector<std::byte>& bytes_;
};

// Writes as much as possible: each chunk can be read by itself.
std::vector<std::byte> ReportInMemory(const DumpSubject& subject, const WatchedBlock& block) {
  std::vector<std::byte> bytes;
  Result<FileWriter> writer = FileWriter::CreateOn(std::make_unique<MemorySink>(&bytes));
  if (writer.ok()) (void)WriteDump(&*writer, subject, block).ok();
  return bytes;
}

}  // namespace

bool FileOutput::TakeSpace(const FilePath& folder) {
  takes_space_ = true;
  folder_ = folder;
  std::error_code error;
  if (!space_.valid()) space_ = SpareSpace::Take(folder_, kSpareReportBytes, error);
  return !IsOutOfSpace(error);
}

Status FileOutput::WriteReport(const DumpSubject& subject, const WatchedBlock& block,
                               const std::function<std::string()>& other_name, Place* place) {
  Status written = [&] {
    Result<OutputFile> file = CreateOutput(place->path, other_name, &space_);
    if (!file.ok()) return file.status();
    place->path = file->path;
    place->why_not = file->why_not;
    return WriteDump(&file->writer, subject, block);
  }();
  if (takes_space_) (void)TakeSpace(folder_);
  if (!written.ok()) place->unwritten = ReportInMemory(subject, block);
  return written;
}

std::unique_ptr<SessionCapture> FileOutput::StartCapture(SharedMemory region,
                                                         CaptureDrainSettings settings) {
  return std::make_unique<DrainedCapture>(std::move(region), std::move(settings));
}

void FileOutput::RefuseCapture(SharedMemory region) {
  (void)RegionReader::Open(std::move(region)).ok();
}

}  // namespace cairn
