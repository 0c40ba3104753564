// SPDX-License-Identifier: Apache-2.0
//
// From what was kept of the time before a recording to the records that make that state again.
#ifndef CAIRN_FORMAT_MODEL_LIVE_RESTORE_H_
#define CAIRN_FORMAT_MODEL_LIVE_RESTORE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/status.h"
#include "format/calls/record.h"
#include "format/model/call_values.h"
#include "format/model/live_descriptors.h"
#include "format/model/live_objects.h"
#include "format/trace/address_map.h"

namespace cairn {

// Collects records and gives them in the order of their numbers. The records that are added must
// outlive it.
class Restorer {
 public:
  // All numbers will be smaller than `next_number`.
  explicit Restorer(uint64_t next_number) : next_number_(next_number) {}

  void Add(const KeptRecords& records);
  void AddIf(const Records& records) {
    if (records != nullptr) Add(*records);
  }
  void AddOwned(std::unique_ptr<KeptRecords> records) {
    made_.push_back(std::move(records));
    Add(*made_.back());
  }
  // `record` with another number and its last 8 bytes replaced.
  void AddMade(Record record, uint64_t number, uint64_t handle);

  uint64_t next_number() const { return next_number_; }
  bool IsUsed(uint64_t number) const { return used_.count(number) != 0; }
  // Takes the number that is free and next to `wanted`, below it if there is one, above `floor` and below
  // `ceiling`; 0 if there is none.
  uint64_t TakeFree(uint64_t floor, uint64_t wanted, uint64_t ceiling);

  // Ends with the first error of `write`.
  Status Write(const std::function<Status(const Record&)>& write);

 private:
  struct Out {
    uint64_t number;
    const KeptRecords* records;
    size_t place;
  };
  // Maps a used number to one that may be free, in steps of `step`: each search shortens the next.
  using Steps = std::unordered_map<uint64_t, uint64_t>;
  uint64_t NextFree(uint64_t number, uint64_t step, Steps* steps) const;

  uint64_t next_number_;
  std::vector<Out> out_;
  std::unordered_set<uint64_t> used_;
  Steps below_;
  Steps above_;
  std::vector<std::unique_ptr<KeptRecords>> made_;
};

// The objects that exist when the recording starts: only these may be referred to.
class Living {
 public:
  // `objects` must outlive it.
  explicit Living(const LiveObjects& objects);

  bool Has(uint64_t number) const;
  // For a call with that number: an address may have belonged to another object then. Descriptors by their
  // CPU handles aside, which are read when the call is made.
  bool HasAll(const CallValues& values, uint64_t call) const;
  // The number of the youngest object that the values refer to.
  uint64_t Youngest(const CallValues& values) const;

 private:
  const LiveObjects& objects_;
  AddressMap addresses_;
};

// Adds what is kept of the objects, and of what they hold. Gives what lists hold that can still be submitted.
std::vector<const ListRecording*> RestoreObjects(LiveObjects* objects, const Living& living,
                                                 Restorer* restorer);
// Adds the views in descriptors, and those that the recordings read there; behind everything else. Gives how
// many found no number of their own.
uint64_t RestoreDescriptors(const LiveObjects& objects, const LiveDescriptors& descriptors,
                            const std::vector<const ListRecording*>& recordings,
                            const Living& living, Restorer* restorer);

}  // namespace cairn

#endif  // CAIRN_FORMAT_MODEL_LIVE_RESTORE_H_
