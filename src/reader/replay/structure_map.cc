// SPDX-License-Identifier: Apache-2.0
#include "reader/replay/structure_map.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace cairn {

namespace {

// Of entries that do not reach the next one.
template <typename Entries>
uint64_t RoomIn(const Entries& entries, uint64_t place, uint64_t end) {
  if (place >= end) return 0;
  const auto next = entries.upper_bound(place);
  if (next != entries.end()) end = std::min(end, next->first);
  const auto here = entries.lower_bound(place);
  if (here != entries.begin()) {
    const auto& [begin, before] = *std::prev(here);
    if (before.size_bytes > place - begin) return 0;
  }
  return end - place;
}

}  // namespace

uint64_t StructureMap::Room(uint64_t place, uint64_t end) const {
  return RoomIn(in_place_, place, end);
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
  entry.own = own;
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
  const auto had = places_.find(address);
  const uint64_t place = had == places_.end() ? address : had->second;
  const auto moved = own_.find(place);
  return moved == own_.end() ? place : moved->second.own;
}

void StructureMap::Reuse(uint64_t begin, uint64_t end) {
  places_.erase(places_.lower_bound(begin), places_.lower_bound(end));
}

uint64_t StructureMap::SizeAt(uint64_t place) const {
  const Entry* const entry = Find(place);
  return entry == nullptr ? 0 : entry->size_bytes;
}

uint64_t StructureMap::OwnerAt(uint64_t place) const {
  const Entry* const entry = Find(place);
  return entry == nullptr ? 0 : entry->owner;
}

std::vector<StructureMap::Ended> StructureMap::Remove(uint64_t owner, const Heir& heir) {
  std::vector<Ended> ended;
  const auto all = of_owners_.find(owner);
  if (all == of_owners_.end()) return ended;
  const std::unordered_set<uint64_t> places = std::move(all->second);
  of_owners_.erase(all);
  for (const uint64_t place : places) {
    const auto moved = own_.find(place);
    const auto lies = in_place_.find(place);
    if (const uint64_t next = heir(place); next != 0) {
      SetOwner(place, moved != own_.end() ? &moved->second : &lies->second, next);
      continue;
    }
    if (moved == own_.end()) {
      in_place_.erase(lies);
      continue;
    }
    ended.push_back({place, moved->second.own});
    own_.erase(moved);
  }
  return ended;
}

uint64_t ScratchMap::Room(uint64_t place, uint64_t end) const {
  return RoomIn(entries_, place, end);
}

void ScratchMap::Take(uint64_t place, uint64_t size_bytes, uint64_t list) {
  Entry& entry = entries_[place];
  entry.size_bytes = std::max(entry.size_bytes, size_bytes);
  if (entry.lists.insert(list).second) of_lists_[list].push_back(place);
}

void ScratchMap::Remove(uint64_t list) {
  const auto all = of_lists_.find(list);
  if (all == of_lists_.end()) return;
  for (const uint64_t place : all->second) {
    const auto entry = entries_.find(place);
    entry->second.lists.erase(list);
    if (entry->second.lists.empty()) entries_.erase(entry);
  }
  of_lists_.erase(all);
}

}  // namespace cairn
