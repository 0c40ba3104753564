// SPDX-License-Identifier: Apache-2.0
//
// User data (cairn/user_data.h) in the block: a table of keys, made when the first one is set, and their bytes in pages
// of their own.
//
// An entry has two places for bytes. `state` says which of them is in effect, and a new value is written to the other
// one first: whoever reads after a crash finds the old value or the new one. A reader of a living program that finds
// another `state` behind its copy than before has to read again: memory that is out of effect is used for something
// else.
#ifndef CAIRN_FORMAT_BLOCK_USER_DATA_H_
#define CAIRN_FORMAT_BLOCK_USER_DATA_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "format/block/block.h"

namespace cairn {

inline constexpr uint32_t kMaxUserData = 64;
inline constexpr uint32_t kMaxUserDataKeyBytes = 63;
inline constexpr uint64_t kMaxUserDataBytes = uint64_t{2} << 20;  // of all entries together

// Behind the header of the block there is an std::atomic<uint64_t>, the table's offset; 0: there is none.
inline constexpr uint64_t kUserDataTableOffset = 2048;
static_assert(sizeof(BlockHeader) <= kUserDataTableOffset && kUserDataTableOffset % 8 == 0);

struct UserDataBytes {
  uint64_t offset;  // page-aligned; 0 where there are no bytes
  uint64_t size_bytes;
};
struct UserDataRecord {
  // 0: unused, or being written. Otherwise 2 * a number that no other state had + the index of the bytes in effect.
  std::atomic<uint64_t> state;
  uint32_t key_length;
  uint32_t reserved;
  char key[kMaxUserDataKeyBytes + 1];
  UserDataBytes bytes[2];
};
static_assert(sizeof(UserDataRecord) == 112);

struct UserDataTable {
  UserDataRecord records[kMaxUserData];
};

}  // namespace cairn

#endif  // CAIRN_FORMAT_BLOCK_USER_DATA_H_
