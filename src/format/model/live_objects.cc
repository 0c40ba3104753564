// SPDX-License-Identifier: Apache-2.0
#include "format/model/live_objects.h"

#include <algorithm>

namespace cairn {

LiveObject* LiveObjects::Find(uint64_t number) {
  const auto found = objects_.find(number);
  return found == objects_.end() ? nullptr : &found->second;
}

const LiveObject* LiveObjects::Find(uint64_t number) const {
  const auto found = objects_.find(number);
  return found == objects_.end() ? nullptr : &found->second;
}

LiveObject* LiveObjects::Add(uint64_t number) {
  if (number == kNoObject) return nullptr;
  const auto [place, is_new] = objects_.try_emplace(number);
  return is_new ? &place->second : nullptr;
}

void LiveObjects::Use(LiveObject* user, uint64_t number) {
  LiveObject* const used = Find(number);
  if (used == nullptr || used == user) return;
  ++used->users;
  user->uses.push_back(number);
}

void LiveObjects::UseOnce(LiveObject* user, uint64_t number) {
  if (std::find(user->uses.begin(), user->uses.end(), number) != user->uses.end()) return;
  Use(user, number);
}

bool LiveObjects::Hold(uint64_t number) {
  LiveObject* const object = Find(number);
  if (object == nullptr) return false;
  ++object->users;
  return true;
}

void LiveObjects::LetGo(uint64_t number) {
  LiveObject* const object = Find(number);
  if (object != nullptr && --object->users == 0 && object->ended()) Release(number);
}

void LiveObjects::ForgetRecording(LiveObject* list) {
  const std::shared_ptr<ListRecording> recording = std::move(list->recording);
  if (recording == nullptr) return;
  for (const uint64_t heap : recording->heaps) LetGo(heap);
}

void LiveObjects::Release(uint64_t number) {
  std::vector<uint64_t> unneeded = {number};
  while (!unneeded.empty()) {
    const auto found = objects_.find(unneeded.back());
    unneeded.pop_back();
    const std::vector<uint64_t> uses = std::move(found->second.uses);
    objects_.erase(found);
    for (const uint64_t used : uses) {
      LiveObject* const object = Find(used);
      if (object != nullptr && --object->users == 0 && object->ended()) unneeded.push_back(used);
    }
  }
}

}  // namespace cairn
