// SPDX-License-Identifier: Apache-2.0
//
// The files of a session: reports, and captures that go on beside it.
#ifndef CAIRN_WATCHER_SESSION_OUTPUT_H_
#define CAIRN_WATCHER_SESSION_OUTPUT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "os/file.h"
#include "os/shared_memory.h"
#include "os/spare_space.h"
#include "watcher/capture_drain.h"
#include "watcher/watched_block.h"

namespace cairn {

// A capture, and the file that it is written to; capture_drain.h says what each call does.
class SessionCapture {
 public:
  virtual ~SessionCapture() = default;
  virtual const std::string& path() const = 0;
  virtual const std::string& why_not_there() const = 0;
  virtual bool failed() const = 0;
  virtual void Trigger() = 0;
  virtual void BeginEnd() = 0;
  virtual bool ended() const = 0;
  virtual Status AppendReport(const DumpSubject& subject, const WatchedBlock& block) = 0;
  virtual Result<CaptureSummary> Finish() = 0;
};

// One thread.
class SessionOutput {
 public:
  virtual ~SessionOutput() = default;

  struct Place {
    std::string path;     // of the report, once its file was created
    std::string why_not;  // it has another name than the one that was asked for
    // The bytes of a report whose file could not be written, at most kMostUnwrittenBytes.
    std::vector<std::byte> unwritten;
  };
  // Writes a report to `place->path`, or to another name (output_file.h).
  virtual Status WriteReport(const DumpSubject& subject, const WatchedBlock& block,
                             const std::function<std::string()>& other_name, Place* place) = 0;
  virtual std::unique_ptr<SessionCapture> StartCapture(SharedMemory region,
                                                       CaptureDrainSettings settings) = 0;
  // Tells the program that the region has no reader, so that it does not wait for one.
  virtual void RefuseCapture(SharedMemory region) = 0;
};

// The bytes reserved for a report on a full disk: enough for the work in flight without the code of
// shaders.
inline constexpr uint64_t kSpareReportBytes = uint64_t{2} << 20;
inline constexpr size_t kMostUnwrittenBytes = size_t{64} << 20;

// Writes files.
class FileOutput final : public SessionOutput {
 public:
  // Takes space in this folder, "" for the working directory, for the next report; each one that is written takes some
  // for the next. False if the disk is too full for that.
  bool TakeSpace(const FilePath& folder);

  Status WriteReport(const DumpSubject& subject, const WatchedBlock& block,
                     const std::function<std::string()>& other_name, Place* place) override;
  std::unique_ptr<SessionCapture> StartCapture(SharedMemory region,
                                               CaptureDrainSettings settings) override;
  void RefuseCapture(SharedMemory region) override;

 private:
  bool takes_space_ = false;
  FilePath folder_{""};
  SpareSpace space_;
};

}  // namespace cairn

#endif  // CAIRN_WATCHER_SESSION_OUTPUT_H_
