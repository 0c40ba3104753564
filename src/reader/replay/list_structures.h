// SPDX-License-Identifier: Apache-2.0
//
// The addresses of acceleration structures that command lists were given on a device where structures move: those in
// root arguments can be set again, the others stay as they were when the list was recorded.
#ifndef CAIRN_READER_REPLAY_LIST_STRUCTURES_H_
#define CAIRN_READER_REPLAY_LIST_STRUCTURES_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "reader/replay/structure_map.h"

namespace cairn {

// Of one device, by its addresses. One thread. Memory: some 50 bytes for each root argument, and for each address that a
// list has of a known structure.
class ListStructures {
 public:
  struct Root {
    bool computes = false;  // for dispatches and rays, and not for draws
    uint32_t index = 0;
    auto operator<=>(const Root&) const = default;
  };

  // A list was given the address of a structure. `instead_of`: an address that it had until this call of the list.
  void Give(uint64_t list, uint64_t address, uint64_t instead_of = 0) {
    Given& given = lists_[list];
    given.addresses.erase(instead_of);
    given.addresses.insert(address);
  }
  // A root argument was set to the address of what may be one, or of another buffer.
  void Set(uint64_t list, Root root, uint64_t address, const StructureMap& map) {
    if (map.Knows(address)) Give(list, address);
    lists_[list].roots[root] = address;
  }
  // The root arguments of a list are no longer known.
  void ForgetRoots(uint64_t list, bool computes) {
    const auto found = lists_.find(list);
    if (found == lists_.end()) return;
    std::erase_if(found->second.roots,
                  [computes](const auto& root) { return root.first.computes == computes; });
  }
  // Calls `set_again(root, address)` for each root argument of a list that names a structure which has moved since.
  // Returns how many it looked at.
  template <typename SetAgain>
  uint64_t FollowRoots(uint64_t list, const StructureMap& map, const SetAgain& set_again) {
    const auto found = lists_.find(list);
    if (found == lists_.end()) return 0;
    for (auto& [root, address] : found->second.roots) {
      const uint64_t now = map.Now(address);
      if (now == address) continue;
      set_again(root, now);
      address = now;
    }
    return found->second.roots.size();
  }
  // Returns how many addresses IsStale looks at.
  uint64_t CountOf(uint64_t list) const {
    const auto found = lists_.find(list);
    return found == lists_.end() ? 0 : found->second.addresses.size() + found->second.roots.size();
  }
  // True if a list was given the address of a structure that has moved since.
  bool IsStale(uint64_t list, const StructureMap& map) const {
    const auto found = lists_.find(list);
    return found != lists_.end() &&
           (std::any_of(found->second.addresses.begin(), found->second.addresses.end(),
                        [&](uint64_t address) { return map.Now(address) != address; }) ||
            std::any_of(found->second.roots.begin(), found->second.roots.end(),
                        [&](const auto& root) { return map.Now(root.second) != root.second; }));
  }
  // A list ends, or is reset.
  void Remove(uint64_t list) { lists_.erase(list); }

 private:
  struct Given {
    std::map<Root, uint64_t> roots;
    std::set<uint64_t> addresses;
  };
  std::unordered_map<uint64_t, Given> lists_;
};

}  // namespace cairn

#endif  // CAIRN_READER_REPLAY_LIST_STRUCTURES_H_
