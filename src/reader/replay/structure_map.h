// SPDX-License-Identifier: Apache-2.0
//
// Where acceleration structures lie on a device that needs more memory for them than the recorded one: at their places
// in the program's memory, or in memory of the player's; and which of the program's memory builds have for scratch.
#ifndef CAIRN_READER_REPLAY_STRUCTURE_MAP_H_
#define CAIRN_READER_REPLAY_STRUCTURE_MAP_H_

#include <cstdint>
#include <functional>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace cairn {

// Of one device, by its addresses. One thread.
class StructureMap {
 public:
  // Returns how many bytes there are from `place` to `end`, or to the next one that lies at its place; 0: one that
  // begins before `place` reaches it.
  uint64_t Room(uint64_t place, uint64_t end) const;
  // Keeps one at its place. There was room. `owner`: a number; it ends with that. `size_bytes` 0: nobody knows.
  void Take(uint64_t place, uint64_t size_bytes, uint64_t owner);
  // Keeps one in memory of the player's. Returns true if it lay at its place, or nowhere.
  bool Move(uint64_t place, uint64_t size_bytes, uint64_t owner, uint64_t own);

  // Returns where the one lies that is, or was, at an address; the address itself if it did not move. Addresses that one
  // had in memory of the player's mean its place when it has ended.
  uint64_t Now(uint64_t address) const;
  // The program has memory at these addresses: no structure was there.
  void Reuse(uint64_t begin, uint64_t end);
  // True if one is, or was, there.
  bool Knows(uint64_t address) const {
    return places_.contains(address) || Find(address) != nullptr;
  }
  // Return 0 if it is unknown. Its size: at most.
  uint64_t SizeAt(uint64_t place) const;
  uint64_t OwnerAt(uint64_t place) const;

  // An owner ends, and with it those for whose place `heir` returns 0. The others go on with the owner that it returns.
  // Returns those that ended in memory of the player's.
  struct Ended {
    uint64_t place = 0;
    uint64_t own = 0;
  };
  using Heir = std::function<uint64_t(uint64_t place)>;
  std::vector<Ended> Remove(uint64_t owner, const Heir& heir);

 private:
  struct Entry {
    uint64_t size_bytes = 0;
    uint64_t owner = 0;
    uint64_t own = 0;  // where it lies in memory of the player's
  };
  const Entry* Find(uint64_t place) const;
  void SetOwner(uint64_t place, Entry* entry, uint64_t owner);

  std::map<uint64_t, Entry> in_place_;  // none reaches the next one
  std::unordered_map<uint64_t, Entry> own_;
  std::map<uint64_t, uint64_t>
      places_;  // by all addresses that structures had in memory of the player's
  std::unordered_map<uint64_t, std::unordered_set<uint64_t>> of_owners_;  // places
};

// Scratch memory of builds, at places in the program's memory. Lists that have the same place have it until each of them
// ends. Of one device, by its addresses. One thread.
class ScratchMap {
 public:
  // As StructureMap::Room. The place that a list has may be that of another one.
  uint64_t Room(uint64_t place, uint64_t end) const;
  void Take(uint64_t place, uint64_t size_bytes, uint64_t list);
  // A list ends, or is reset.
  void Remove(uint64_t list);

 private:
  struct Entry {
    uint64_t size_bytes = 0;  // of the largest that was there since it is in use
    std::unordered_set<uint64_t> lists;
  };
  std::map<uint64_t, Entry> entries_;
  std::unordered_map<uint64_t, std::vector<uint64_t>> of_lists_;  // places
};

}  // namespace cairn

#endif  // CAIRN_READER_REPLAY_STRUCTURE_MAP_H_
