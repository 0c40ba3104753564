// SPDX-License-Identifier: Apache-2.0
//
// The values in a buffer that were replaced: recorded ones by what they mean on this device. A capture has the
// bytes that the CPU changed, so a write may cover a part of a value, and the other part has to be of the
// recorded value, too.
#ifndef CAIRN_READER_REPLAY_PATCHED_VALUES_H_
#define CAIRN_READER_REPLAY_PATCHED_VALUES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace cairn {

// One thread. Memory: 32 bytes for each word.
template <typename Value>
class PatchedValues {
 public:
  struct Entry {
    uint64_t offset = 0;
    Value recorded = {};
    Value real = {};
    bool valid = false;  // not overwritten since
  };

  // Returns the entry at an offset, valid or not; null: there is none. Offsets in ascending order are found at
  // once. The entry is there until the next Add().
  Entry* Find(uint64_t offset) {
    const auto before = [](const Entry& entry, uint64_t value) { return entry.offset < value; };
    if (next_ >= entries_.size() || entries_[next_].offset != offset) {
      next_ = static_cast<size_t>(
          std::lower_bound(entries_.begin(), entries_.end(), offset, before) - entries_.begin());
    }
    if (next_ >= entries_.size() || entries_[next_].offset != offset) return nullptr;
    return &entries_[next_++];
  }
  // Adds entries in ascending order of their offsets, in the place of those that are there.
  void Add(const std::vector<Entry>& added) {
    if (added.empty()) return;
    const auto less = [](const Entry& a, const Entry& b) { return a.offset < b.offset; };
    std::vector<Entry> all;
    all.reserve(entries_.size() + added.size());
    auto old = entries_.begin();
    for (const Entry& entry : added) {
      while (old != entries_.end() && less(*old, entry)) all.push_back(*old++);
      if (old != entries_.end() && old->offset == entry.offset) ++old;
      all.push_back(entry);
    }
    all.insert(all.end(), old, entries_.end());
    entries_ = std::move(all);
    next_ = 0;
  }
  // The CPU writes these bytes next: calls `restore(offset, bytes)` for the values that they cover in part.
  template <typename Restore>
  void Overwrite(uint64_t offset, uint64_t size_bytes, const Restore& restore) {
    if (size_bytes == 0) return;
    const uint64_t end = offset + size_bytes;
    const uint64_t first = offset - std::min<uint64_t>(offset, sizeof(Value) - 1);
    const auto before = [](const Entry& entry, uint64_t value) { return entry.offset < value; };
    for (auto entry = std::lower_bound(entries_.begin(), entries_.end(), first, before);
         entry != entries_.end() && entry->offset < end; ++entry) {
      if (!entry->valid) continue;
      entry->valid = false;
      const bool covered = entry->offset >= offset && end - entry->offset >= sizeof(Value);
      if (!covered) restore(entry->offset, std::as_bytes(std::span(&entry->recorded, 1)));
    }
  }
  // Calls `look(entry)` for all that are valid.
  template <typename Look>
  void ForEach(const Look& look) const {
    for (const Entry& entry : entries_) {
      if (entry.valid) look(entry);
    }
  }

 private:
  std::vector<Entry> entries_;
  size_t next_ = 0;  // the one behind the last that was found
};

}  // namespace cairn

#endif  // CAIRN_READER_REPLAY_PATCHED_VALUES_H_
