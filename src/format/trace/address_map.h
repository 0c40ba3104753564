// SPDX-License-Identifier: Apache-2.0
//
// Finds the objects that have a GPU address or a descriptor of the recording process. Addresses are used
// again, and resources that share a heap overlap.
#ifndef CAIRN_FORMAT_TRACE_ADDRESS_MAP_H_
#define CAIRN_FORMAT_TRACE_ADDRESS_MAP_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>

namespace cairn {

// One thread. Memory: 100 bytes for each object.
class AddressMap {
 public:
  struct Range {
    uint64_t end = 0;
    uint64_t object = 0;
    uint64_t created = 0;  // number of its kObject record, if it was given
  };
  struct Place {
    uint64_t object = 0;
    uint64_t offset_bytes = 0;
  };

  AddressMap() = default;
  // No copies: `places_` leads into `ranges_`.
  AddressMap(AddressMap&&) = default;
  AddressMap& operator=(AddressMap&&) = default;

  // Gives the object this range, in the place of its earlier one. Null, an empty range, and one that ends
  // beyond 2^64 leave it without any.
  void Add(uint64_t start, uint64_t size_bytes, uint64_t object, uint64_t created = 0) {
    Remove(object);
    uint64_t end = 0;
    if (start == 0 || size_bytes == 0 || __builtin_add_overflow(start, size_bytes, &end)) return;
    places_[object] = ranges_.emplace(start, Range{end, object, created});
    largest_ = std::max(largest_, size_bytes);
  }
  void Remove(uint64_t object) {
    const auto place = places_.find(object);
    if (place == places_.end()) return;
    ranges_.erase(place->second);
    places_.erase(place);
  }

  // Returns the object whose range has the address in it, and begins nearest; of several the latest. Looks at
  // kMostOverlaps ranges.
  std::optional<Place> Find(uint64_t address) const {
    std::optional<Place> found;
    Search(address, kMostOverlaps, [&](uint64_t start, const Range& range) {
      found = Place{range.object, address - start};
      return false;
    });
    return found;
  }
  // Calls `visit` with each range that has the address in it, the one that begins nearest first. Looks at
  // kMostLooked ranges.
  template <typename Visit>
  void ForEachAt(uint64_t address, const Visit& visit) const {
    Search(address, kMostLooked, [&](uint64_t, const Range& range) {
      visit(range);
      return true;
    });
  }
  size_t size() const { return places_.size(); }
  static constexpr int kMostLooked = 4096;

 private:
  static constexpr int kMostOverlaps = 256;

  // `visit` returns true to go on.
  template <typename Visit>
  void Search(uint64_t address, int most, const Visit& visit) const {
    auto range = ranges_.upper_bound(address);
    for (int looked = 0; looked < most && range != ranges_.begin(); ++looked) {
      --range;
      if (address - range->first >= largest_) return;
      if (address < range->second.end && !visit(range->first, range->second)) return;
    }
  }

  using Ranges = std::multimap<uint64_t, Range>;  // by start
  Ranges ranges_;
  std::unordered_map<uint64_t, Ranges::iterator> places_;  // by object
  uint64_t largest_ = 0;                                   // of all that were ever added
};

}  // namespace cairn

#endif  // CAIRN_FORMAT_TRACE_ADDRESS_MAP_H_
