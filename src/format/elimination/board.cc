// SPDX-License-Identifier: Apache-2.0
#include "format/elimination/board.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/text.h"

namespace cairn {
namespace {

constexpr size_t kLengthBytes = 2;

Status Damaged(const char* what) {
  return Status(StatusCode::kCorrupt, std::string("the board of cairn bisect is damaged: ") + what);
}

}  // namespace

size_t Board::BytesFor(size_t listed_count, size_t entry_count, size_t text_bytes) {
  return sizeof(BoardHeader) + listed_count * sizeof(uint64_t) + entry_count * sizeof(WorkEntry) +
         text_bytes;
}

Board Board::Make(std::span<std::byte> memory, const BoardQuestion& question, uint32_t entry_count,
                  uint32_t text_bytes) {
  auto& header = *reinterpret_cast<BoardHeader*>(memory.data());
  header.magic = BoardHeader::kMagic;
  header.version = BoardHeader::kVersion;
  header.listed_count = static_cast<uint32_t>(question.listed.size());
  header.entry_count = entry_count;
  header.text_bytes = text_bytes;
  for (size_t i = 0; i < kLeaveOutClasses; ++i) {
    header.rules[i] = static_cast<uint8_t>(question.rules[i]);
  }
  const auto listed = std::as_bytes(std::span(question.listed));
  std::copy(listed.begin(), listed.end(), memory.data() + sizeof(BoardHeader));
  return std::move(Over(memory)).value();
}

Result<Board> Board::Over(std::span<std::byte> memory) {
  if (memory.size() < sizeof(BoardHeader)) return Damaged("it is too small");
  if (reinterpret_cast<uintptr_t>(memory.data()) % alignof(BoardHeader) != 0) {
    return Damaged("it lies askew");
  }
  Board board;
  board.header_ = reinterpret_cast<BoardHeader*>(memory.data());
  BoardHeader& header = *board.header_;
  const uint32_t listed_count = header.listed_count;
  const uint32_t entry_count = header.entry_count;
  const uint32_t text_bytes = header.text_bytes;
  if (header.magic != BoardHeader::kMagic || header.version != BoardHeader::kVersion) {
    return Damaged("it is none, or of another version");
  }
  if (listed_count > kMostListed || entry_count > kMostEntries || text_bytes > kMostTextBytes ||
      memory.size() != BytesFor(listed_count, entry_count, text_bytes)) {
    return Damaged("its size is not what it says");
  }
  for (size_t i = 0; i < kLeaveOutClasses; ++i) {
    const uint8_t rule = header.rules[i];
    if (rule > static_cast<uint8_t>(LeaveOut::kUnlisted)) return Damaged("an unknown rule");
    board.rules_[i] = static_cast<LeaveOut>(rule);
  }
  if (board.rule(LeaveOutClass::kStays) != LeaveOut::kNothing) {
    return Damaged("it skips what must stay");
  }
  std::byte* at = memory.data() + sizeof(BoardHeader);
  board.listed_ = {reinterpret_cast<const uint64_t*>(at), listed_count};
  at += board.listed_.size_bytes();
  board.entries_ = {reinterpret_cast<WorkEntry*>(at), entry_count};
  at += board.entries_.size_bytes();
  board.texts_ = {at, text_bytes};
  return board;
}

bool Board::LeavesOut(LeaveOutClass work, uint64_t scope, uint64_t group, uint64_t key) const {
  switch (rule(work)) {
    case LeaveOut::kNothing: return false;
    case LeaveOut::kAll: return true;
    case LeaveOut::kListed:
    case LeaveOut::kUnlisted: break;
  }
  const auto is_listed = [this](uint64_t hash) {
    return std::binary_search(listed_.begin(), listed_.end(), hash);
  };
  const bool listed = is_listed(key) || is_listed(group) || is_listed(scope);
  return listed == (rule(work) == LeaveOut::kListed);
}

WorkEntry* Board::FindOrAdd(uint64_t key, bool* is_new) const {
  *is_new = false;
  const size_t count = entries_.size();
  for (size_t i = 0; i < count; ++i) {
    WorkEntry& entry = entries_[(key % count + i) % count];
    uint64_t there = entry.key.load(std::memory_order_acquire);
    if (there == 0 && entry.key.compare_exchange_strong(there, key)) {
      *is_new = true;
      return &entry;
    }
    if (there == key) return &entry;
  }
  return nullptr;
}

TextOffset Board::AddText(std::string_view text) const {
  const std::string_view kept = Utf8Prefix(text, kMaxBoardText);
  const size_t bytes = kLengthBytes + kept.size();
  // The first bytes stay unused: their offset means that there is none.
  uint32_t used = header_->text_used.load(std::memory_order_relaxed);
  do {
    if (used > texts_.size() || texts_.size() - used < bytes + kLengthBytes) return 0;
  } while (!header_->text_used.compare_exchange_weak(used, used + static_cast<uint32_t>(bytes)));
  const uint32_t offset = used + kLengthBytes;
  const auto length = static_cast<uint16_t>(kept.size());
  std::memcpy(texts_.data() + offset, &length, sizeof(length));
  const auto bytes_of_text = std::as_bytes(std::span(kept));
  std::copy(bytes_of_text.begin(), bytes_of_text.end(), texts_.data() + offset + kLengthBytes);
  return offset;
}

std::string Board::TextAt(TextOffset offset) const {
  if (offset == 0 || offset > texts_.size() || texts_.size() - offset < kLengthBytes) return "";
  uint16_t length = 0;
  std::memcpy(&length, texts_.data() + offset, sizeof(length));
  if (length > kMaxBoardText || texts_.size() - offset - kLengthBytes < length) return "";
  return {reinterpret_cast<const char*>(texts_.data()) + offset + kLengthBytes, length};
}

}  // namespace cairn
