// SPDX-License-Identifier: Apache-2.0
//
// UserDataWriter: keeps bytes of the program in its block, under names (format/block/user_data.h).
//
// Threads: any; one lock. Under Wine only the half that the program calls writes user data.
#ifndef CAIRN_APP_RECORDER_USER_DATA_H_
#define CAIRN_APP_RECORDER_USER_DATA_H_

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string_view>

#include "app/recorder/block_writer.h"
#include "base/status.h"
#include "format/block/user_data.h"

namespace cairn {

// kInvalidArgument for a key of 0 or more than kMaxUserDataKeyBytes bytes and for more than kMaxUserDataBytes.
Status CheckUserData(std::string_view key, uint64_t size_bytes);

class UserDataWriter {
 public:
  // The block outlives the writer, and has no other one.
  explicit UserDataWriter(BlockWriter& block) : block_(block) {}
  UserDataWriter(const UserDataWriter&) = delete;
  UserDataWriter& operator=(const UserDataWriter&) = delete;

  BlockWriter& block() const { return block_; }

  // Errors: CheckUserData's; kOutOfMemory for an entry beyond the bounds of the table, or if the block is full. The
  // entry is what it was then. An entry keeps the memory of its older value, up to the size of the current one: a value
  // that fits into it needs none of the block's.
  Status Set(std::string_view key, std::span<const std::byte> bytes);
  Status Remove(std::string_view key);

 private:
  // Null if there is none yet.
  UserDataTable* FindTable() const;
  // Makes it at the first call; null if the block has no room.
  UserDataTable* Table();
  UserDataRecord* Find(std::string_view key) const;
  // Memory behind the first `size_bytes` serves something else from now on.
  void Shrink(UserDataBytes& bytes, uint64_t size_bytes);

  BlockWriter& block_;
  std::mutex mutex_;
  uint64_t serial_ = 0;      // of the latest state
  uint64_t kept_bytes_ = 0;  // of all entries
};

}  // namespace cairn

#endif  // CAIRN_APP_RECORDER_USER_DATA_H_
