// SPDX-License-Identifier: Apache-2.0
//
// The frames, lists and markers as the application described them, which the FidelityFX spelling
// prints beside the states. Names are copied, or read in place where the application keeps them
// alive.
#ifndef CAIRN_APP_API_COMPAT_FFX_HISTORY_H_
#define CAIRN_APP_API_COMPAT_FFX_HISTORY_H_

#include <cstdint>
#include <deque>
#include <memory_resource>
#include <mutex>
#include <vector>

#include "cairn/compat/ffx_breadcrumbs.h"

namespace cairn {

struct FfxMarker {
  FfxBreadcrumbsMarkerType type;
  uint32_t depth;
  const char* name;      // null: none
  FfxPipeline pipeline;  // null: none
  // The recording and the position of the marker's begin among its events; 0 if it found no room.
  uint64_t recording_id;
  uint32_t sequence;
};

// One registration of a list. A thread that records into the list must be the only one, or hold
// `mutex`.
struct FfxList {
  explicit FfxList(std::pmr::memory_resource* memory) : markers(memory) {}

  uint32_t queue_type = 0;
  uint16_t submission_index = 0;
  const char* name = nullptr;      // null: none
  FfxPipeline pipeline = nullptr;  // of the markers that follow
  uint32_t depth = 0;              // open markers
  std::pmr::vector<FfxMarker> markers;
  std::mutex mutex;
};

class FfxFrame {
 public:
  explicit FfxFrame(std::pmr::memory_resource* memory);

  // Forgets its lists and names; memory of lists is kept for those to come.
  void Start(uint32_t number);
  FfxList* AddList();
  // The one that was added last was none.
  void RemoveLastList() { --list_count_; }
  // Returns the name of `tag`: the application's own pointer if it owns the name, otherwise a copy
  // that lives as long as the frame's content. Any thread.
  const char* Keep(const FfxBreadcrumbsNameTag& tag);

  uint32_t number() const { return number_; }
  size_t list_count() const { return list_count_; }
  const FfxList& list(size_t index) const { return lists_[index]; }

 private:
  std::pmr::memory_resource* memory_;
  uint32_t number_ = 0;
  std::pmr::deque<FfxList> lists_;  // those in use first
  size_t list_count_ = 0;
  std::mutex names_mutex_;
  std::pmr::monotonic_buffer_resource names_;
};

// The last frames, as many as the application asked for.
class FfxHistory {
 public:
  // Frames count from 0; before the first one is started, the number is UINT32_MAX, as in the original.
  FfxHistory(std::pmr::memory_resource* memory, uint32_t frame_count);

  void StartFrame();
  FfxFrame& current() { return frames_[current_]; }
  // The oldest first.
  template <typename Visit>
  void VisitFrames(Visit&& visit) const {
    for (size_t i = 1; i <= frames_.size(); ++i) {
      const FfxFrame& frame = frames_[(current_ + i) % frames_.size()];
      // Work from before the first frame is shown only until that frame starts.
      if (frame.number() != UINT32_MAX || i == frames_.size()) visit(frame);
    }
  }

 private:
  std::pmr::memory_resource* memory_;
  size_t frame_count_;
  std::pmr::deque<FfxFrame> frames_;  // a ring once it is full
  size_t current_ = 0;
};

// Returns the name of `tag`, copied into `memory` if the tag demands a copy. The copy lives as long
// as `memory`.
const char* KeepFfxName(const FfxBreadcrumbsNameTag& tag, std::pmr::memory_resource* memory);

}  // namespace cairn

#endif  // CAIRN_APP_API_COMPAT_FFX_HISTORY_H_
