// SPDX-License-Identifier: Apache-2.0
//
// The objects of a program that a capture which starts late has to make again, with what their calls left
// in them (live_calls.h), and which of them need which.
#ifndef CAIRN_FORMAT_MODEL_LIVE_OBJECTS_H_
#define CAIRN_FORMAT_MODEL_LIVE_OBJECTS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "format/calls/record.h"
#include "format/model/call_kinds.h"
#include "format/model/kept_records.h"
#include "format/model/live_recording.h"

namespace cairn {

struct LiveObject {
  Records creation;
  uint64_t created = 0;
  KeptRecords end;             // its kObjectEnd, while others still need what it was
  std::vector<uint64_t> uses;  // objects that cannot be forgotten before this one
  uint32_t users = 0;
  std::optional<ResourceFacts> resource;
  std::optional<DescriptorHeapFacts> heap;

  std::map<std::pair<uint16_t, NameKind>, Records> settings;  // by method
  std::map<std::string, Records> identifiers;                 // by the arguments
  // For a list: the Close that ended the recording begun at its creation, and the current
  // recording.
  KeptRecords first_close;
  std::shared_ptr<ListRecording> recording;  // null: nothing
  bool closed = false;
  bool was_reset = false;
  // For a fence: the last signal of a fence.
  Records signal;
  // For a resource: the open mappings of a resource.
  struct Maps {
    std::vector<Records> first;  // kMapsKept at most
    uint64_t more = 0;
  };
  std::map<uint32_t, Maps> maps;  // by subresource
  // The mappings by tiles: a mapping of the same tiles replaces the earlier one, as long as none
  // was copied.
  std::map<std::string, Records> tile_mappings;
  bool tiles_copied = false;

  bool ended() const { return !end.empty(); }
};

// One thread.
class LiveObjects {
 public:
  // Finds an object; null for an unknown number.
  LiveObject* Find(uint64_t number);
  const LiveObject* Find(uint64_t number) const;
  // Null if there is one already, or `number` is none.
  LiveObject* Add(uint64_t number);
  // `user` needs the object with that number; UseOnce() says so only once.
  void Use(LiveObject* user, uint64_t number);
  void UseOnce(LiveObject* user, uint64_t number);
  // The same for a user that is no object. False: there is no such object to hold.
  bool Hold(uint64_t number);
  void LetGo(uint64_t number);
  // Forgets the recording of the list, and lets go of the heaps that it held.
  void ForgetRecording(LiveObject* list);
  // Forgets an object that has ended and that no other object needs, and those that only it needed.
  void Release(uint64_t number);

  std::unordered_map<uint64_t, LiveObject>& all() { return objects_; }
  const std::unordered_map<uint64_t, LiveObject>& all() const { return objects_; }
  size_t size() const { return objects_.size(); }

 private:
  std::unordered_map<uint64_t, LiveObject> objects_;
};

}  // namespace cairn

#endif  // CAIRN_FORMAT_MODEL_LIVE_OBJECTS_H_
