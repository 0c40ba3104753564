// SPDX-License-Identifier: Apache-2.0
#include "app/api/compat_ffx_history.h"

#include <cstring>

namespace cairn {
namespace {

// Lists of a few markers allocate once.
constexpr size_t kFirstMarkers = 16;

}  // namespace

const char* KeepFfxName(const FfxBreadcrumbsNameTag& tag, std::pmr::memory_resource* memory) {
  if (tag.pName == nullptr || tag.isNameExternallyOwned) return tag.pName;
  const size_t bytes = std::strlen(tag.pName) + 1;
  void* const copy = memory->allocate(bytes, 1);
  std::memcpy(copy, tag.pName, bytes);
  return static_cast<const char*>(copy);
}

FfxFrame::FfxFrame(std::pmr::memory_resource* memory)
    : memory_(memory), lists_(memory), names_(memory) {}

void FfxFrame::Start(uint32_t number) {
  number_ = number;
  list_count_ = 0;
  names_.release();
}

FfxList* FfxFrame::AddList() {
  if (list_count_ == lists_.size()) lists_.emplace_back(memory_).markers.reserve(kFirstMarkers);
  FfxList& list = lists_[list_count_++];
  list.markers.clear();
  list.depth = 0;
  return &list;
}

const char* FfxFrame::Keep(const FfxBreadcrumbsNameTag& tag) {
  if (tag.pName == nullptr || tag.isNameExternallyOwned) return tag.pName;
  const std::lock_guard lock(names_mutex_);
  return KeepFfxName(tag, &names_);
}

FfxHistory::FfxHistory(std::pmr::memory_resource* memory, uint32_t frame_count)
    : memory_(memory), frame_count_(frame_count), frames_(memory) {
  frames_.emplace_back(memory_).Start(UINT32_MAX);
}

void FfxHistory::StartFrame() {
  const uint32_t number = current().number() + 1;
  if (frames_.size() < frame_count_) {
    // The history is not full yet: the newest frame comes last.
    frames_.emplace_back(memory_);
    current_ = frames_.size() - 1;
  } else {
    current_ = (current_ + 1) % frames_.size();
  }
  current().Start(number);
}

}  // namespace cairn
