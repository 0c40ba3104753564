// SPDX-License-Identifier: Apache-2.0
//
// Values that were looked up by their numbers not long ago: a call of a trace asks for the same list, allocator
// and device as the one before, several times each.
#ifndef CAIRN_READER_REPLAY_RECENT_VALUES_H_
#define CAIRN_READER_REPLAY_RECENT_VALUES_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace cairn {

// Stands before a table whose values keep their addresses. Owns nothing. One thread.
template <typename Value>
class RecentValues {
 public:
  // Null: not known here; the table may have it.
  Value* Find(uint64_t number) const {
    const Place& place = places_[number % kPlaces];
    return place.number == number ? place.value : nullptr;
  }
  // Takes the place of another value. Returns `value`.
  Value* Keep(uint64_t number, Value* value) {
    places_[number % kPlaces] = {number, value};
    return value;
  }
  // Has to be called before a value leaves its table.
  void Forget(uint64_t number) {
    Place& place = places_[number % kPlaces];
    if (place.number == number) place = {};
  }
  void Clear() { places_ = {}; }

 private:
  static constexpr size_t kPlaces = 64;
  struct Place {
    uint64_t number = 0;
    Value* value = nullptr;
  };
  std::array<Place, kPlaces> places_;
};

}  // namespace cairn

#endif  // CAIRN_READER_REPLAY_RECENT_VALUES_H_
