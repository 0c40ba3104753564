// SPDX-License-Identifier: Apache-2.0
#include "app/capture/stand_in.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <utility>

namespace cairn {
namespace {

// Programs rely on how Direct3D 12 places buffers.
constexpr uintptr_t kAlignment = 64 << 10;

// Into memory that is zero: what stays so is not touched, and costs nothing.
void CopyWhatIsNotZero(std::byte* to, const std::byte* from, size_t size) {
  static constexpr std::byte kZeros[4096] = {};
  for (size_t at = 0; at < size; at += sizeof(kZeros)) {
    const size_t piece = std::min(sizeof(kZeros), size - at);
    if (std::memcmp(from + at, kZeros, piece) != 0) std::memcpy(to + at, from + at, piece);
  }
}

}  // namespace

StandIns::Blocks::iterator StandIns::Find(std::byte* place) {
  const auto after = blocks_.upper_bound(place);
  if (after == blocks_.begin()) return blocks_.end();
  const auto found = std::prev(after);
  return place < found->first + found->second.bytes ? found : blocks_.end();
}

bool StandIns::Has(std::byte* place, size_t size) const {
  const auto found = const_cast<StandIns*>(this)->Find(place);
  return found != blocks_.end() && place + size <= found->first + found->second.bytes;
}

StandIns::Blocks::iterator StandIns::Make(std::byte* block, size_t bytes) {
  const auto next = blocks_.lower_bound(block);
  if (next != blocks_.end() && next->first < block + bytes) return blocks_.end();
  Block made;
  made.bytes = bytes;
  made.reserved = SparseMemory::ReserveForTracking(bytes + kAlignment);
  if (made.reserved.data() == nullptr) return blocks_.end();
  const auto reserved = reinterpret_cast<uintptr_t>(made.reserved.data());
  const uintptr_t shift = (reinterpret_cast<uintptr_t>(block) - reserved) & (kAlignment - 1);
  made.memory = made.reserved.data() + shift;
  return blocks_.emplace_hint(next, block, std::move(made));
}

void StandIns::Fill(std::byte* real, Block& block, size_t begin, size_t end) {
  size_t at = begin;
  auto next = block.filled.upper_bound(at);
  if (next != block.filled.begin()) at = std::max(at, std::prev(next)->second);
  while (at < end) {
    const size_t gap_end = next == block.filled.end() ? end : std::min(end, next->first);
    if (at < gap_end) CopyWhatIsNotZero(block.memory + at, real + at, gap_end - at);
    if (next == block.filled.end() || next->first >= end) break;
    at = std::max(gap_end, next->second);
    ++next;
  }
  // Merges the ranges that it touches.
  auto first = block.filled.upper_bound(begin);
  if (first != block.filled.begin() && std::prev(first)->second >= begin) --first;
  while (first != block.filled.end() && first->first <= end) {
    begin = std::min(begin, first->first);
    end = std::max(end, first->second);
    first = block.filled.erase(first);
  }
  block.filled.emplace(begin, end);
}

std::byte* StandIns::Take(std::byte* place, size_t size, std::byte* block, size_t block_bytes) {
  auto found = Find(place);
  if (found == blocks_.end()) found = Make(block, block_bytes);
  if (found == blocks_.end()) return nullptr;
  const auto begin = static_cast<size_t>(place - found->first);
  if (place < found->first || begin + size > found->second.bytes) return nullptr;
  Fill(found->first, found->second, begin, begin + size);
  ++found->second.users;
  return found->second.memory + begin;
}

void StandIns::GiveBack(std::byte* place) {
  const auto found = Find(place);
  if (found == blocks_.end() || --found->second.users != 0) return;
  blocks_.erase(found);
}

}  // namespace cairn
