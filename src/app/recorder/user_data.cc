// SPDX-License-Identifier: Apache-2.0
#include "app/recorder/user_data.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace cairn {
namespace {

std::string_view KeyOf(const UserDataRecord& record) {
  return {record.key, record.key_length};
}

uint64_t StateOf(const UserDataRecord& record) {
  return record.state.load(std::memory_order_relaxed);
}

UserDataBytes& InEffect(UserDataRecord& record) {
  return record.bytes[StateOf(record) % 2];
}

Status CheckKey(std::string_view key) {
  if (!key.empty() && key.size() <= kMaxUserDataKeyBytes) return Status();
  return Status(StatusCode::kInvalidArgument, "the key has " + std::to_string(key.size()) +
                                                  " bytes: use 1 to " +
                                                  std::to_string(kMaxUserDataKeyBytes));
}

}  // namespace

UserDataTable* UserDataWriter::Table() {
  auto& place = *reinterpret_cast<std::atomic<uint64_t>*>(block_.data() + kUserDataTableOffset);
  uint64_t offset = place.load(std::memory_order_relaxed);
  if (offset == 0) {
    offset = block_.TryAllocateRange(sizeof(UserDataTable));
    if (offset == 0) return nullptr;
    place.store(offset, std::memory_order_release);
  }
  return reinterpret_cast<UserDataTable*>(block_.data() + offset);
}

UserDataRecord* UserDataWriter::Find(std::string_view key) {
  UserDataTable* const table = Table();
  if (table == nullptr) return nullptr;
  const auto found = std::find_if(
      std::begin(table->records), std::end(table->records),
      [key](const UserDataRecord& record) { return StateOf(record) != 0 && KeyOf(record) == key; });
  return found == std::end(table->records) ? nullptr : found;
}

void UserDataWriter::Free(UserDataBytes& bytes) {
  if (bytes.offset != 0) block_.FreeRange({bytes.offset, bytes.size_bytes});
  bytes = {};
}

Status UserDataWriter::Set(std::string_view key, std::span<const std::byte> bytes) {
  CAIRN_RETURN_IF_ERROR(CheckKey(key));
  if (bytes.size() > kMaxUserDataBytes) {
    return Status(StatusCode::kInvalidArgument, std::to_string(bytes.size()) +
                                                    " bytes: an entry has " +
                                                    std::to_string(kMaxUserDataBytes) + " at most");
  }
  const std::lock_guard lock(mutex_);
  const auto full = [](const std::string& why) { return Status(StatusCode::kOutOfMemory, why); };
  UserDataTable* const table = Table();
  if (table == nullptr) return full("the shared block is full");
  UserDataRecord* record = Find(key);
  const uint64_t before = record == nullptr ? 0 : InEffect(*record).size_bytes;
  const uint64_t after = kept_bytes_ - before + bytes.size();
  if (after > kMaxUserDataBytes) {
    return full("all entries together would have " + std::to_string(after) + " bytes: they have " +
                std::to_string(kMaxUserDataBytes) + " at most");
  }
  if (record == nullptr) {
    record = std::find_if(std::begin(table->records), std::end(table->records),
                          [](const UserDataRecord& one) { return StateOf(one) == 0; });
    if (record == std::end(table->records)) {
      return full("there are " + std::to_string(kMaxUserData) + " other entries: remove one");
    }
  }
  UserDataBytes written{0, bytes.size()};
  if (!bytes.empty()) {
    written.offset = block_.TryAllocateRange(bytes.size());
    if (written.offset == 0) return full("the shared block is full");
    std::memcpy(block_.data() + written.offset, bytes.data(), bytes.size());
  }
  const uint64_t old = StateOf(*record);
  const uint64_t place = 1 - old % 2;
  if (old == 0) {
    record->key_length = static_cast<uint32_t>(key.size());
    key.copy(record->key, key.size());
  }
  record->bytes[place] = written;
  record->state.store(++serial_ * 2 + place, std::memory_order_release);
  // A reader that finds something else in this memory finds the new state behind it.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  Free(record->bytes[1 - place]);
  kept_bytes_ = after;
  return Status();
}

Status UserDataWriter::Remove(std::string_view key) {
  CAIRN_RETURN_IF_ERROR(CheckKey(key));
  const std::lock_guard lock(mutex_);
  UserDataRecord* const record = Find(key);
  if (record == nullptr) return Status();
  UserDataBytes& bytes = InEffect(*record);
  record->state.store(0, std::memory_order_release);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  kept_bytes_ -= bytes.size_bytes;
  Free(bytes);
  return Status();
}

}  // namespace cairn
