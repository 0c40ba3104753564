// SPDX-License-Identifier: Apache-2.0
//
// Finds uses of data from before a late recording that the recording cannot have: results of
// queries, which cannot be written back into their heap, and contents of images of swap chains,
// which may be on their way to the screen when the recording begins. A program that makes its
// queries anew and clears its images needs neither.
#ifndef CAIRN_FORMAT_MODEL_START_LOSSES_H_
#define CAIRN_FORMAT_MODEL_START_LOSSES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "d3d12gen/methods.h"
#include "format/calls/record.h"
#include "format/model/call_values.h"
#include "format/model/resource_uses.h"

namespace cairn {

// One thread. Looks at images until each was used, for kImageFrames frames at most: every call of a list is
// decoded until then. At queries to the end, if there were heaps of them. Gives up, and says so, when there is
// too much to hold.
class StartLosses {
 public:
  static constexpr uint32_t kImageFrames = 16;
  // Entries that are held of lists, objects and views; some 32 bytes each, 256 of the last two.
  static constexpr size_t kMostHeld = 4u << 20;

  explicit StartLosses(size_t most_held = kMostHeld) : most_held_(most_held) {}

  // Every record of the file in order: those that are restored, then those of the recording.
  void Look(const Record& record);

  // A line for each heap, and each image, of which something is missing.
  std::vector<std::string> Told() const;

 private:
  struct QueryStep {
    uint64_t heap = 0;
    uint32_t first = 0;
    uint32_t count = 0;
    bool resolves = false;  // otherwise they get a result
  };
  struct QueryHeap {
    std::set<uint32_t> made;          // since the start
    std::optional<uint32_t> missing;  // the first that was resolved all the same
  };
  enum class Image : uint8_t { kUnused, kOverwritten, kMissing };

  void OnObject(const Record& record);
  void OnCall(const Record& record);
  void OnResult(const Record& record);
  void OnObjectEnd(const Record& record);
  void OnListCall(const Record& record, Method method);
  void OnQueries(const Record& record, Method method);
  void OnExecute();
  void OnFrame(const Record& record);
  void Step(const QueryStep& step);
  void UseImage(uint64_t image, bool overwritten);
  // Returns the number of queries and uses that the list holds.
  size_t HeldOf(uint64_t list) const;
  void ForgetList(uint64_t list);
  void StopUses();
  void GiveUpIfTooMuch();

  bool started_ = false;
  CallValuesReader reader_;
  CallValues values_;
  DecodedCall call_;
  std::map<uint64_t, QueryHeap> query_heaps_;
  std::unordered_map<uint64_t, std::vector<QueryStep>> query_steps_;  // by list
  std::map<uint64_t, Image> images_;
  std::optional<ListUses> uses_{std::in_place};  // while there are images to look at
  uint32_t unused_images_ = 0;
  uint32_t frames_ = 0;
  size_t most_held_;
  size_t held_by_lists_ = 0;
  size_t queries_made_ = 0;
  bool gave_up_ = false;
};

}  // namespace cairn

#endif  // CAIRN_FORMAT_MODEL_START_LOSSES_H_
