// SPDX-License-Identifier: Apache-2.0
//
// A playback of a trace that is asked for images again and again, and keeps its place: it plays forward only. A
// question about what it has passed starts another one. It is a process of its own, which may die with the driver.
#ifndef CAIRN_READER_SERVE_KEPT_PLAYBACK_H_
#define CAIRN_READER_SERVE_KEPT_PLAYBACK_H_

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "reader/view/picture_place.h"

namespace cairn {

struct PictureQuestion {
  uint64_t call = 0;
  cli::PictureMoment moment = cli::PictureMoment::kSubmitted;
  bool only_completed = false;    // plays no work that had not ended when the program failed
  std::vector<uint64_t> objects;  // textures beside the targets; kMostPictureObjects at most
};

// One thread at a time.
class KeptPlayback {
 public:
  // The images of so many answers stay.
  static constexpr uint32_t kKeptAnswers = 24;

  // `folder`: for images; it is made when it is needed.
  KeptPlayback(std::string trace, std::filesystem::path folder);
  ~KeptPlayback();
  KeptPlayback(const KeptPlayback&) = delete;
  KeptPlayback& operator=(const KeptPlayback&) = delete;

  // Waits for the list of the images, the JSON of `cairn images`, whose files lie in the folder. Asks `goes_on` now
  // and then.
  // Errors, for people: kIo: it was told not to go on, or the process cannot be made; kUnsupported: see
  // only_completed; kInternal: the playback died; others: what it says.
  Result<std::string> Ask(const PictureQuestion& question, const std::function<bool()>& goes_on);
  // Ends the playback, if there is one.
  void End();

 private:
  struct Process;
  Status Start();
  // Returns the list; kInterrupted: the playback has passed the place, and is gone.
  Result<std::string> Wait(uint32_t question, const std::function<bool()>& goes_on);
  Result<std::string> ReadList(uint32_t question) const;
  void RemoveOldImages(uint32_t question) const;

  const std::string trace_;
  const std::filesystem::path folder_;
  std::unique_ptr<Process> process_;
  uint32_t asked_ = 0;
};

}  // namespace cairn

#endif  // CAIRN_READER_SERVE_KEPT_PLAYBACK_H_
