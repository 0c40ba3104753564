// SPDX-License-Identifier: Apache-2.0
//
// Keeps the effects of calls on their objects: names, recordings of lists, values of fences,
// mappings of tiles and of memory.
#ifndef CAIRN_FORMAT_MODEL_LIVE_CALLS_H_
#define CAIRN_FORMAT_MODEL_LIVE_CALLS_H_

#include <cstdint>

#include "format/calls/record.h"
#include "format/model/call_kinds.h"
#include "format/model/call_values.h"
#include "format/model/live_descriptors.h"
#include "format/model/live_objects.h"

namespace cairn {

// A call that has not returned yet.
struct OpenCall {
  Records records;
  uint64_t object = 0;
  uint16_t method = 0;
};

// One thread.
class LiveCalls {
 public:
  // Both must outlive it.
  LiveCalls(LiveObjects* objects, LiveDescriptors* descriptors)
      : objects_(*objects), descriptors_(*descriptors) {}

  // A call of a list, which returns nothing; `before`: its blobs.
  void OnListWork(const Record& call, KeptRecords before);
  // The call is complete; `result` is null for methods without results.
  void Finish(const OpenCall& call, const Record* result);

 private:
  // Keeps in `recording` the descriptors that a call reads while it is recorded.
  void ReadDescriptors(const Record& call, BlobSource* blobs, ListRecording* recording);
  void ReadDescriptor(uint64_t handle, uint64_t call, ListRecording* recording);
  void HoldHeap(uint64_t heap, ListRecording* recording);
  void ReadBundle(const Record& call, ListRecording* recording);
  void OnSignal(uint64_t fence, const OpenCall& call);
  void OnTileMapping(const Record& record, const OpenCall& call);
  static void OnMap(LiveObject* resource, const Record& record, const Records& records);
  static void OnUnmap(LiveObject* resource, const Record& record);

  LiveObjects& objects_;
  LiveDescriptors& descriptors_;
  CallValuesReader reader_;
  CallValues values_;
};

}  // namespace cairn

#endif  // CAIRN_FORMAT_MODEL_LIVE_CALLS_H_
