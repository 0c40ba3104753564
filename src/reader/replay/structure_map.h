// SPDX-License-Identifier: Apache-2.0
//
// Where acceleration structures, or the scratch memory of builds, lie on a device that needs more memory for them than
// the recorded one: where the program put them, or in memory of the player's. A program knows them by their addresses;
// buffers that share a heap may both have one.
#ifndef CAIRN_READER_REPLAY_STRUCTURE_MAP_H_
#define CAIRN_READER_REPLAY_STRUCTURE_MAP_H_

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

namespace cairn {

// Addresses are those of the recording, except where `own` stands. One thread.
class StructureMap {
 public:
  // Returns how many bytes there are from `address` to `end`, or to the next one that lies where the program put it;
  // 0: one that begins before `address` reaches it.
  uint64_t Room(uint64_t address, uint64_t end) const;
  // Keeps one where the program put it. There was room. `buffer`: a number; it ends with that.
  void Take(uint64_t address, uint64_t size_bytes, uint64_t buffer);
  // Keeps one in memory of the player's. Returns true if it lay where the program put it, or nowhere.
  bool Move(uint64_t address, uint64_t size_bytes, uint64_t buffer, uint64_t own);

  // Returns the address in memory of the player's; 0: it is not there.
  uint64_t OwnOf(uint64_t address) const;
  // Returns what it takes at most; 0: unknown.
  uint64_t SizeOf(uint64_t address) const;
  // Returns what is, or was, at an address of the player's.
  struct Place {
    uint64_t address = 0;
    uint64_t buffer = 0;
  };
  std::optional<Place> PlaceOf(uint64_t own) const;
  bool any_own() const { return !own_.empty(); }

  // A buffer ends, which had these addresses.
  void Remove(uint64_t begin, uint64_t end, uint64_t buffer);

 private:
  struct Entry {
    uint64_t size_bytes = 0;
    uint64_t buffer = 0;
    std::vector<uint64_t> own;  // all that it had; the last one is where it lies
  };
  std::map<uint64_t, Entry> in_place_;  // none reaches the next one
  std::map<uint64_t, Entry> own_;
  std::unordered_map<uint64_t, uint64_t> addresses_;  // by those of the player's
};

}  // namespace cairn

#endif  // CAIRN_READER_REPLAY_STRUCTURE_MAP_H_
