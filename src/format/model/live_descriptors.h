// SPDX-License-Identifier: Apache-2.0
//
// What stands in the descriptors of a program's heaps: the call that made each view, with copies followed
// to where the view was made.
#ifndef CAIRN_FORMAT_MODEL_LIVE_DESCRIPTORS_H_
#define CAIRN_FORMAT_MODEL_LIVE_DESCRIPTORS_H_

#include <cstdint>
#include <map>
#include <memory>

#include "format/calls/record.h"
#include "format/model/call_values.h"
#include "format/model/live_objects.h"

namespace cairn {

// What stands in a descriptor.
struct View {
  Records call;
  uint64_t call_number = 0;
  CallValues values;
};
struct Slot {
  std::shared_ptr<const View> view;
  uint64_t written = 0;  // number of the call that wrote it: of the view itself or of a copy
};

// One thread.
class LiveDescriptors {
 public:
  // `objects` must outlive it.
  explicit LiveDescriptors(const LiveObjects* objects) : objects_(*objects) {}

  // False for facts that cannot be a heap's, which is then as if it had no descriptors.
  bool AddHeap(uint64_t heap, const DescriptorHeapFacts& facts);
  void RemoveHeap(const DescriptorHeapFacts& facts);
  // Calls that have returned. `records`: the call with its blobs.
  void OnView(const Record& call, const Records& records);
  void OnCopies(const Record& call, bool simple);

  const std::map<uint64_t, Slot>& slots() const { return slots_; }  // by handle
  // Number of the kObject record of the heap that a handle is in; 0 for others.
  uint64_t HeapCreated(uint64_t handle) const;

 private:
  const LiveObject* HeapAt(uint64_t handle) const;
  uint64_t IncrementAt(uint64_t handle) const;
  void CopySlot(uint64_t from, uint64_t to, uint64_t number);

  const LiveObjects& objects_;
  CallValuesReader reader_;
  std::map<uint64_t, Slot> slots_;
  std::map<uint64_t, uint64_t> heap_starts_;  // handle of the first descriptor -> heap
};

}  // namespace cairn

#endif  // CAIRN_FORMAT_MODEL_LIVE_DESCRIPTORS_H_
