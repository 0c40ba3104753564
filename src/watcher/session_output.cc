// SPDX-License-Identifier: Apache-2.0
#include "watcher/session_output.h"

#include <utility>

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

}  // namespace

Status FileOutput::WriteReport(const DumpSubject& subject, const WatchedBlock& block,
                               const std::function<std::string()>& other_name, Place* place) {
  Result<OutputFile> file = CreateOutput(place->path, other_name);
  if (!file.ok()) return file.status();
  *place = {file->path, file->why_not};
  return WriteDump(&file->writer, subject, block);
}

std::unique_ptr<SessionCapture> FileOutput::StartCapture(SharedMemory region,
                                                         CaptureDrainSettings settings) {
  return std::make_unique<DrainedCapture>(std::move(region), std::move(settings));
}

void FileOutput::RefuseCapture(SharedMemory region) {
  (void)RegionReader::Open(std::move(region)).ok();
}

}  // namespace cairn
