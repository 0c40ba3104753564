// SPDX-License-Identifier: Apache-2.0
//
// The objects that exist at a place of a trace, with names, addresses and descriptors, found by
// going through the records from the beginning. No graphics API.
#ifndef CAIRN_FORMAT_TRACE_TRACE_STATE_H_
#define CAIRN_FORMAT_TRACE_TRACE_STATE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "format/calls/record.h"
#include "format/calls/value_printer.h"
#include "format/trace/address_map.h"
#include "format/trace/trace_reader.h"

namespace cairn {

struct TracedObject {
  uint64_t number = 0;
  Chain chain = Chain::kNone;
  uint64_t device = 0;
  uint64_t creator = 0;  // call number
  uint64_t created = 0;  // number of the kObject record
  uint64_t ended = 0;    // 0: alive
  uint64_t created_frame = 0;
  uint64_t ended_frame = 0;
  std::string name;  // UTF-8, as SetName or SetPrivateData said last
  std::optional<ResourceFacts> resource;
  std::optional<DescriptorHeapFacts> heap;
};

// Memory: 300 bytes for each object that the trace has made so far, ended ones too, and their names; of
// both no more than a file of its size may have (format/file/file_cost.h): later objects are refused, later
// names left out. `trace` must outlive the state.
class TraceState final : public ValueNames {
 public:
  explicit TraceState(const TraceReader& trace);

  // Every record in order. Errors: kCorrupt, without the record's number; the state is then as it was, and
  // may be told the next record.
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
  uint64_t alive_count() const { return alive_count_; }
  uint64_t frame() const { return frame_; }  // ends of frames so far

  std::string Object(uint64_t number) const override;  // `resource 12 "Depth"`
  std::string GpuAddress(uint64_t address) const override;
  std::string CpuDescriptor(uint64_t handle) const override;
  std::string GpuDescriptor(uint64_t handle) const override;

 private:
  Status Create(const Record& record);
  Status End(const Record& record);
  void Rename(const Record& record, Method method);
  std::optional<Descriptor> DescriptorIn(const AddressMap& map, uint64_t handle) const;

  void SetName(TracedObject* object, std::string name);

  const TraceReader& trace_;
  const uint64_t most_objects_;
  uint64_t name_budget_;  // bytes
  uint64_t frame_ = 0;
  uint64_t alive_count_ = 0;
  std::unordered_map<uint64_t, TracedObject> objects_;
  AddressMap gpu_addresses_;
  AddressMap cpu_descriptors_;
  AddressMap gpu_descriptors_;
};

}  // namespace cairn

#endif  // CAIRN_FORMAT_TRACE_TRACE_STATE_H_
