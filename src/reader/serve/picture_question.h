// SPDX-License-Identifier: Apache-2.0
//
// The memory in which `cairn view` asks its playback for images, and is answered: a `cairn pictures` that keeps its
// place in the trace (kept_playback.h). The parent writes `asked` last, the child `answered`; both count.
#ifndef CAIRN_READER_SERVE_PICTURE_QUESTION_H_
#define CAIRN_READER_SERVE_PICTURE_QUESTION_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "os/child_status.h"

namespace cairn {

// The end of an answer.
enum class PictureEnd : uint32_t {
  kNone,
  kImages,  // the answer and its images are files
  kError,   // see `message`; the playback may go on
  kBehind,  // the playback has come further already, and ends
};

// The most textures beside the targets of which a question asks the images.
inline constexpr size_t kMostPictureObjects = 16;

struct PictureMemory {
  // ---- The question ----
  std::atomic<uint32_t> asked{0};
  std::atomic<uint64_t> call{0};
  std::atomic<uint32_t> moment{0};  // PictureMoment of reader/view/picture_place.h
  std::atomic<bool> only_completed{false};
  std::array<std::atomic<uint64_t>, kMostPictureObjects>
      objects;  // textures beside the targets; 0: none
  // ---- The answer ----
  std::atomic<uint32_t> answered{0};  // which question it answers
  StatusWord<PictureEnd, PictureEnd::kBehind> end;
  StatusText<> message;
  // ---- At any time ----
  std::atomic<uint64_t> at{0};  // the call that was made last
};

// Names in the folder of images: what the files of an answer begin with, and its list, which is JSON of `cairn
// images`.
inline std::string PicturePrefix(uint32_t question) {
  return std::to_string(question) + "-";
}
inline std::string PictureList(uint32_t question) {
  return PicturePrefix(question) + "list.json";
}

}  // namespace cairn

#endif  // CAIRN_READER_SERVE_PICTURE_QUESTION_H_
