// SPDX-License-Identifier: Apache-2.0
//
// What exists at a place of a trace: objects with names, addresses and descriptors, found by going
// through the records from the beginning. No graphics API.
#ifndef CAIRN_TRACE_TRACE_STATE_H_
#define CAIRN_TRACE_TRACE_STATE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "calls/record.h"
#include "calls/value_printer.h"
#include "trace/trace_reader.h"

namespace cairn {

struct TracedObject {
  uint64_t number = 0;
  Chain chain = Chain::kNone;
  uint64_t device = 0;
  uint64_t creator = 0;   // call number
  uint64_t created = 0;   // number of the kObject record
  uint64_t ended = 0;     // 0: alive
  uint64_t created_frame = 0;
  std::string name;       // UTF-8, as SetName said last
  std::optional<ResourceFacts> resource;
  std::optional<DescriptorHeapFacts> heap;
};

// An address in the recording process -> what it is in, at this place of the trace. Addresses are used
// again: an entry lives as long as its object.
class AddressMap {
 public:
  void Add(uint64_t start, uint64_t size_bytes, uint64_t object);
  void Remove(uint64_t object);
  struct Place {
    uint64_t object = 0;
    uint64_t offset_bytes = 0;
  };
  std::optional<Place> Find(uint64_t address) const;

 private:
  std::map<uint64_t, std::pair<uint64_t, uint64_t>> ranges_;  // start -> (end, object)
  std::unordered_map<uint64_t, uint64_t> starts_;             // object -> start
};

class TraceState final : public ValueNames {
 public:
  explicit TraceState(const TraceReader& trace) : trace_(trace) {}

  // Every record in order. Errors: kCorrupt with the record's number.
  Status Apply(const Record& record);

  const TracedObject* Find(uint64_t number) const;  // ended ones too
  const std::unordered_map<uint64_t, TracedObject>& objects() const { return objects_; }
  const AddressMap& gpu_addresses() const { return gpu_addresses_; }
  // (heap, index) of a descriptor handle.
  struct Descriptor {
    uint64_t heap = 0;
    uint32_t index = 0;
  };
  std::optional<Descriptor> CpuDescriptorAt(uint64_t handle) const;
  std::optional<Descriptor> GpuDescriptorAt(uint64_t handle) const;

  std::string Object(uint64_t number) const override;  // "ID3D12Resource #12 \"Depth\""
  std::string GpuAddress(uint64_t address) const override;
  std::string CpuDescriptor(uint64_t handle) const override;
  std::string GpuDescriptor(uint64_t handle) const override;

 private:
  const TraceReader& trace_;
  std::unordered_map<uint64_t, TracedObject> objects_;
  AddressMap gpu_addresses_;
  AddressMap cpu_descriptors_;
  AddressMap gpu_descriptors_;
};

}  // namespace cairn

#endif  // CAIRN_TRACE_TRACE_STATE_H_
