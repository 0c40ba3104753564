// SPDX-License-Identifier: Apache-2.0
//
// The contents of the descriptors in a program's heaps: the call that made each view, with copies
// followed to where the view was made.
#ifndef CAIRN_FORMAT_MODEL_LIVE_DESCRIPTORS_H_
#define CAIRN_FORMAT_MODEL_LIVE_DESCRIPTORS_H_

#include <cstdint>
#include <map>
#include <memory>

#include "format/calls/record.h"
#include "format/model/call_values.h"
#include "format/model/descriptor_table.h"
#include "format/model/live_objects.h"

namespace cairn {

// One thread.
class LiveDescriptors {
 public:
  // `objects` must outlive it.
  explicit LiveDescriptors(const LiveObjects* objects) : objects_(*objects) {}

  bool AddHeap(uint64_t heap, const DescriptorHeapFacts& facts) {
    return table_.AddHeap(heap, facts);
  }
  void RemoveHeap(const DescriptorHeapFacts& facts) { table_.RemoveHeap(facts); }
  // Calls that have returned. `records`: the call with its blobs.
  void OnView(const Record& call, const Records& records);
  void OnCopies(const Record& call, bool simple);

  const std::map<uint64_t, Slot>& slots() const { return table_.contents(); }  // by handle
  // The heap that a handle lies in now, and how far its descriptors are apart; 0 for others.
  uint64_t HeapAt(uint64_t handle) const { return table_.HeapAt(handle); }
  uint64_t IncrementAt(uint64_t handle) const { return table_.IncrementAt(handle); }
  // Number of the kObject record of the heap that a handle is in; 0 for others.
  uint64_t HeapCreated(uint64_t handle) const;

 private:
  const LiveObjects& objects_;
  CallValuesReader reader_;
  DescriptorTable<Slot> table_;
};

}  // namespace cairn

#endif  // CAIRN_FORMAT_MODEL_LIVE_DESCRIPTORS_H_
