// SPDX-License-Identifier: Apache-2.0
#include "reader/replay/structure_map.h"

#include <algorithm>
#include <iterator>

namespace cairn {

uint64_t StructureMap::Room(uint64_t address, uint64_t end) const {
  if (address >= end) return 0;
  const auto next = in_place_.upper_bound(address);
  if (next != in_place_.end()) end = std::min(end, next->first);
  const auto here = in_place_.lower_bound(address);
  if (here != in_place_.begin()) {
    const auto& [begin, before] = *std::prev(here);
    if (before.size_bytes > address - begin) return 0;
  }
  return end - address;
}

void StructureMap::Take(uint64_t address, uint64_t size_bytes, uint64_t buffer) {
  in_place_[address] = {size_bytes, buffer, {}};
}

bool StructureMap::Move(uint64_t address, uint64_t size_bytes, uint64_t buffer, uint64_t own) {
  in_place_.erase(address);
  const auto [found, is_new] = own_.try_emplace(address);
  Entry& entry = found->second;
  entry.size_bytes = size_bytes;
  entry.buffer = buffer;
  if (entry.own.empty() || entry.own.back() != own) entry.own.push_back(own);
  addresses_[own] = address;
  return is_new;
}

uint64_t StructureMap::OwnOf(uint64_t address) const {
  const auto found = own_.find(address);
  return found == own_.end() ? 0 : found->second.own.back();
}

uint64_t StructureMap::SizeOf(uint64_t address) const {
  for (const auto* const all : {&own_, &in_place_}) {
    const auto found = all->find(address);
    if (found != all->end()) return found->second.size_bytes;
  }
  return 0;
}

std::optional<StructureMap::Place> StructureMap::PlaceOf(uint64_t own) const {
  const auto found = addresses_.find(own);
  if (found == addresses_.end()) return std::nullopt;
  return Place{found->second, own_.at(found->second).buffer};
}

void StructureMap::Remove(uint64_t begin, uint64_t end, uint64_t buffer) {
  for (auto* const all : {&own_, &in_place_}) {
    for (auto entry = all->lower_bound(begin); entry != all->end() && entry->first < end;) {
      if (entry->second.buffer != buffer) {
        ++entry;
        continue;
      }
      for (const uint64_t own : entry->second.own) addresses_.erase(own);
      entry = all->erase(entry);
    }
  }
}

}  // namespace cairn
