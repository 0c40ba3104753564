// SPDX-License-Identifier: Apache-2.0
//
// What a session writes: reports, and captures that go on beside it.
#ifndef CAIRN_WATCHER_SESSION_OUTPUT_H_
#define CAIRN_WATCHER_SESSION_OUTPUT_H_

#include <functional>
#include <memory>
#include <string>

#include "base/status.h"
#include "os/shared_memory.h"
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
  };
  // Writes a report to `place->path`, or to another name (output_file.h).
  virtual Status WriteReport(const DumpSubject& subject, const WatchedBlock& block,
                             const std::function<std::string()>& other_name, Place* place) = 0;
  virtual std::unique_ptr<SessionCapture> StartCapture(SharedMemory region,
                                                       CaptureDrainSettings settings) = 0;
  // The program learns that nobody reads this, and does not wait for it.
  virtual void RefuseCapture(SharedMemory region) = 0;
};

// Writes files.
class FileOutput final : public SessionOutput {
 public:
  Status WriteReport(const DumpSubject& subject, const WatchedBlock& block,
                     const std::function<std::string()>& other_name, Place* place) override;
  std::unique_ptr<SessionCapture> StartCapture(SharedMemory region,
                                               CaptureDrainSettings settings) override;
  void RefuseCapture(SharedMemory region) override;
};

}  // namespace cairn

#endif  // CAIRN_WATCHER_SESSION_OUTPUT_H_
