// SPDX-License-Identifier: Apache-2.0
#include "reader/replay/structure_map.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace cairn {

uint64_t StructureMap::Room(uint64_t place, uint64_t end) const {
  if (place >= end) return 0;
  const auto next = in_place_.upper_bound(place);
  if (next != in_place_.end()) end = std::min(end, next->first);
  const auto here = in_place_.lower_bound(place);
  if (here != in_place_.begin()) {
    const auto& [begin, before] = *std::prev(here);
    if (before.size_bytes > place - begin) return 0;
  }
  return end - place;
}

void StructureMap::SetOwner(uint64_t place, Entry* entry, uint64_t owner) {
  if (entry->owner == owner) return;
  const auto before = of_owners_.find(entry->owner);
  if (before != of_owners_.end()) {
    before->second.erase(place);
    if (before->second.empty()) of_owners_.erase(before);
  }
  entry->owner = owner;
  of_owners_[owner].insert(place);
}

void StructureMap::Take(uint64_t place, uint64_t size_bytes, uint64_t owner) {
  Entry& entry = in_place_[place];
  entry.size_bytes = size_bytes;
  SetOwner(place, &entry, owner);
}

bool StructureMap::Move(uint64_t place, uint64_t size_bytes, uint64_t owner, uint64_t own) {
  const auto [found, is_new] = own_.try_emplace(place);
  Entry& entry = found->second;
  if (const auto before = in_place_.find(place); before != in_place_.end()) {
    entry.owner = before->second.owner;
    in_place_.erase(before);
  }
  SetOwner(place, &entry, owner);
  entry.size_bytes = size_bytes;
  if (entry.own.empty() || entry.own.back() != own) entry.own.push_back(own);
  places_[own] = place;
  return is_new;
}

const StructureMap::Entry* StructureMap::Find(uint64_t place) const {
  const auto moved = own_.find(place);
  if (moved != own_.end()) return &moved->second;
  const auto found = in_place_.find(place);
  return found == in_place_.end() ? nullptr : &found->second;
}

uint64_t StructureMap::Now(uint64_t address) const {
  const auto place = places_.find(address);
  const auto moved = own_.find(place == places_.end() ? address : place->second);
  return moved == own_.end() ? address : moved->second.own.back();
}

uint64_t StructureMap::SizeAt(uint64_t place) const {
  const Entry* const entry = Find(place);
  return entry == nullptr ? 0 : entry->size_bytes;
}

uint64_t StructureMap::OwnerAt(uint64_t place) const {
  const Entry* const entry = Find(place);
  return entry == nullptr ? 0 : entry->owner;
}

void StructureMap::Remove(uint64_t owner, const Heir& heir) {
  const auto all = of_owners_.find(owner);
  if (all == of_owners_.end()) return;
  const std::unordered_set<uint64_t> places = std::move(all->second);
  of_owners_.erase(all);
  for (const uint64_t place : places) {
    const auto moved = own_.find(place);
    const auto lies = in_place_.find(place);
    if (const uint64_t next = heir ? heir(place) : 0; next != 0) {
      SetOwner(place, moved != own_.end() ? &moved->second : &lies->second, next);
      continue;
    }
    if (moved == own_.end()) {
      in_place_.erase(lies);
      continue;
    }
    for (const uint64_t own : moved->second.own) places_.erase(own);
    own_.erase(moved);
  }
}

}  // namespace cairn
