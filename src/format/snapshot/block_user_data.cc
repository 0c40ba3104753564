// SPDX-License-Identifier: Apache-2.0
#include "format/snapshot/block_user_data.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <string_view>
#include <vector>

#include "format/block/user_data.h"

namespace cairn {
namespace {

// Of each entry that changes while it is read.
constexpr int kTries = 64;
// Of all entries, over all tries: a block may claim the same bytes for each.
constexpr uint64_t kMaxCopiedBytes = 16 * kMaxUserDataBytes;

class UserDataReader {
 public:
  UserDataReader(const BlockReader& block, bool keep_bytes, Snapshot* snapshot)
      : block_(block), keep_bytes_(keep_bytes), snapshot_(*snapshot) {}

  uint64_t Read(uint64_t table) {
    std::array<Found, kMaxUserData> found;
    found.fill(Found::kChanged);
    // Entries that change come again behind all others, which have their bytes by then.
    for (int t = 0; t < kTries; ++t) {
      for (uint32_t i = 0; i < kMaxUserData; ++i) {
        if (found[i] != Found::kChanged) continue;
        found[i] = ReadEntry(table + i * sizeof(UserDataRecord));
      }
    }
    left_out_ += static_cast<uint64_t>(std::count_if(found.begin(), found.end(), [](Found one) {
      return one == Found::kChanged || one == Found::kBad;
    }));
    Sort();
    return left_out_;
  }

 private:
  enum class Found { kValue, kNothing, kBad, kChanged };

  // The entry, as it was at one moment.
  Found ReadEntry(uint64_t offset) {
    const uint64_t state = block_.Load64(offset);
    if (state == 0) return Found::kNothing;
    UserDataRecord record;
    block_.Copy(offset, &record);
    const UserDataBytes& place = record.bytes[state % 2];
    const size_t blobs = snapshot_.blobs.size();
    const bool good =
        record.key_length != 0 && record.key_length <= kMaxUserDataKeyBytes && IsReadable(place);
    const bool keep = good && keep_bytes_ && place.size_bytes <= kMaxUserDataBytes - kept_bytes_ &&
                      place.size_bytes <= kMaxCopiedBytes - copied_bytes_;
    if (keep) CopyBytes(place);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (block_.Load64(offset) != state) {
      snapshot_.blobs.resize(blobs);
      return Found::kChanged;
    }
    if (!good) return Found::kBad;
    UserData data;
    data.key = snapshot_.AddText({record.key, record.key_length});
    data.size_bytes = place.size_bytes;
    if (keep && place.size_bytes != 0) data.bytes = {blobs, place.size_bytes};
    if (keep) kept_bytes_ += place.size_bytes;
    if (keep_bytes_ && !keep) ++left_out_;
    snapshot_.user_data.push_back(data);
    return Found::kValue;
  }

  bool IsReadable(const UserDataBytes& place) const {
    if (place.size_bytes == 0) return true;
    // Whole pages are read.
    return place.offset % kPageBytes == 0 && place.offset >= block_.pages_offset() &&
           place.size_bytes <= kMaxUserDataBytes &&
           block_.Contains(place.offset, (place.size_bytes + 7) / 8 * 8);
  }

  void CopyBytes(const UserDataBytes& place) {
    const size_t first = snapshot_.blobs.size();
    const uint64_t whole = (place.size_bytes + 7) / 8 * 8;
    snapshot_.blobs.resize(first + whole);
    block_.Copy(place.offset, snapshot_.blobs.data() + first, whole);
    snapshot_.blobs.resize(first + place.size_bytes);
    copied_bytes_ += place.size_bytes;
  }

  void Sort() {
    std::vector<UserData>& rows = snapshot_.user_data;
    const auto key = [this](const UserData& data) { return snapshot_.Text(data.key); };
    std::stable_sort(rows.begin(), rows.end(), [&](const UserData& one, const UserData& other) {
      return key(one) < key(other);
    });
    const auto same = std::unique(
        rows.begin(), rows.end(),
        [&](const UserData& one, const UserData& other) { return key(one) == key(other); });
    left_out_ += static_cast<uint64_t>(rows.end() - same);
    rows.erase(same, rows.end());
  }

  const BlockReader& block_;
  const bool keep_bytes_;
  Snapshot& snapshot_;
  uint64_t kept_bytes_ = 0;
  uint64_t copied_bytes_ = 0;
  uint64_t left_out_ = 0;
};

}  // namespace

uint64_t ReadUserData(const BlockReader& block, bool keep_bytes, Snapshot* snapshot) {
  const uint64_t table = block.Load64(kUserDataTableOffset);
  if (table == 0) return 0;
  if (table % kPageBytes != 0 || table < block.pages_offset() ||
      !block.Contains(table, sizeof(UserDataTable))) {
    return 1;
  }
  return UserDataReader(block, keep_bytes, snapshot).Read(table);
}

}  // namespace cairn
