// SPDX-License-Identifier: Apache-2.0
#ifndef CAIRN_APP_ANNOTATIONS_OPEN_EVENTS_H_
#define CAIRN_APP_ANNOTATIONS_OPEN_EVENTS_H_

#include <cstdint>
#include <exception>
#include <vector>

namespace cairn {

// EventIDs of the events that are open, innermost last. An application that never ends its events must
// not use up the memory: events deeper than kMaxDepth are counted only, and their ends have no EventID.
class OpenEvents {
 public:
  static constexpr size_t kMaxDepth = 65536;

  void Push(uint64_t event_id) noexcept {
    if (deeper_ == 0 && event_ids_.size() < kMaxDepth) {
      try {
        event_ids_.push_back(event_id);
        return;
      } catch (const std::exception&) {
      }
    }
    ++deeper_;
  }

  // The EventID of the innermost event, which is open no more; 0 if it has none or none is open.
  uint64_t Pop() noexcept {
    if (deeper_ != 0) {
      --deeper_;
      return 0;
    }
    if (event_ids_.empty()) return 0;
    const uint64_t event_id = event_ids_.back();
    event_ids_.pop_back();
    return event_id;
  }

  bool empty() const { return deeper_ == 0 && event_ids_.empty(); }
  void Clear() {
    event_ids_.clear();
    deeper_ = 0;
  }

 private:
  std::vector<uint64_t> event_ids_;
  uint64_t deeper_ = 0;
};

}  // namespace cairn

#endif  // CAIRN_APP_ANNOTATIONS_OPEN_EVENTS_H_
