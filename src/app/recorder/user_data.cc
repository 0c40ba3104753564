// SPDX-License-Identifier: Apache-2.0
#include "app/recorder/user_data.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <string>

#include "base/text.h"

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

// Memory of a value: whole pages.
constexpr uint64_t RoomOf(uint64_t size_bytes) {
  return (size_bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
}

std::atomic<uint64_t>& TableOffset(const BlockWriter& block) {
  return *reinterpret_cast<std::atomic<uint64_t>*>(block.data() + kUserDataTableOffset);
}

}  // namespace

Status CheckUserData(std::string_view key, uint64_t size_bytes) {
  if (key.empty() || key.size() > kMaxUserDataKeyBytes) {
    return Status(StatusCode::kInvalidArgument, "the key has " + std::to_string(key.size()) +
                                                    " bytes: use 1 to " +
                                                    std::to_string(kMaxUserDataKeyBytes));
  }
  if (!IsValidUtf8(key)) return Status(StatusCode::kInvalidArgument, "the key is not UTF-8");
  if (size_bytes > kMaxUserDataBytes) {
    return Status(StatusCode::kInvalidArgument, std::to_string(size_bytes) +
                                                    " bytes: an entry has " +
                                                    std::to_string(kMaxUserDataBytes) + " at most");
  }
  return Status();
}

UserDataTable* UserDataWriter::FindTable() const {
  const uint64_t offset = TableOffset(block_).load(std::memory_order_relaxed);
  return offset == 0 ? nullptr : reinterpret_cast<UserDataTable*>(block_.data() + offset);
}

UserDataTable* UserDataWriter::Table() {
  if (UserDataTable* const table = FindTable(); table != nullptr) return table;
  const uint64_t offset = block_.TryAllocateRange(sizeof(UserDataTable));
  if (offset != 0) TableOffset(block_).store(offset, std::memory_order_release);
  return FindTable();
}

UserDataRecord* UserDataWriter::Find(std::string_view key) const {
  UserDataTable* const table = FindTable();
  if (table == nullptr) return nullptr;
  const auto found = std::find_if(
      std::begin(table->records), std::end(table->records),
      [key](const UserDataRecord& record) { return StateOf(record) != 0 && KeyOf(record) == key; });
  return found == std::end(table->records) ? nullptr : found;
}

void UserDataWriter::Shrink(UserDataBytes& bytes, uint64_t size_bytes) {
  const uint64_t kept = RoomOf(size_bytes), had = RoomOf(bytes.size_bytes);
  if (kept >= had) return;
  const BlockWriter::Range rest{bytes.offset + kept, had - kept};
  bytes = kept == 0 ? UserDataBytes{} : UserDataBytes{bytes.offset, size_bytes};
  try {
    block_.FreeRange(rest);
  } catch (const std::bad_alloc&) {
    // Nothing uses these pages again.
  }
}

Status UserDataWriter::Set(std::string_view key, std::span<const std::byte> bytes) {
  CAIRN_RETURN_IF_ERROR(CheckUserData(key, bytes.size()));
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
  const uint64_t old = StateOf(*record);
  const uint64_t place = 1 - old % 2;
  // Memory of the older value, which is out of effect.
  UserDataBytes& written = record->bytes[place];
  if (RoomOf(written.size_bytes) < bytes.size()) {
    const uint64_t offset = block_.TryAllocateRange(bytes.size());
    if (offset == 0) return full("the shared block is full");
    Shrink(written, 0);
    written = {offset, bytes.size()};
  }
  Shrink(written, bytes.size());
  written.size_bytes = bytes.size();
  if (!bytes.empty()) {
    std::memcpy(block_.data() + written.offset, bytes.data(), bytes.size());
  }
  if (old == 0) {
    record->key_length = static_cast<uint32_t>(key.size());
    key.copy(record->key, key.size());
  }
  record->state.store(++serial_ * 2 + place, std::memory_order_release);
  // A reader that finds something else in this memory finds the new state behind it.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  kept_bytes_ = after;
  Shrink(record->bytes[1 - place], bytes.size());
  return Status();
}

Status UserDataWriter::Remove(std::string_view key) {
  CAIRN_RETURN_IF_ERROR(CheckUserData(key, 0));
  const std::lock_guard lock(mutex_);
  UserDataRecord* const record = Find(key);
  if (record == nullptr) return Status();
  kept_bytes_ -= InEffect(*record).size_bytes;
  record->state.store(0, std::memory_order_release);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  for (UserDataBytes& bytes : record->bytes) Shrink(bytes, 0);
  return Status();
}

}  // namespace cairn
