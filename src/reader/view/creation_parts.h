// SPDX-License-Identifier: Apache-2.0
//
// Finds the parts of objects (object_parts.h), which only the calls that create them show.
#ifndef CAIRN_READER_VIEW_CREATION_PARTS_H_
#define CAIRN_READER_VIEW_CREATION_PARTS_H_

#include <cstdint>
#include <utility>

#include "d3d12abi/d3d12_api.h"
#include "format/calls/record.h"
#include "format/calls/value_decoder.h"
#include "format/trace/trace_reader.h"
#include "reader/view/object_parts.h"

namespace cairn::cli {

SignatureParts PartsOf(const D3D12_COMMAND_SIGNATURE_DESC& desc);
StateObjectParts PartsOf(const D3D12_STATE_OBJECT_DESC& desc);

// Collects the parts of all objects of a trace, which it takes record by record. Memory: at most 16 MiB of
// texts; later objects have none. Calls that cannot be decoded neither.
class CreationParts {
 public:
  explicit CreationParts(TraceReader* trace) : trace_(*trace) {}

  void Look(const Record& record);
  ObjectParts Take() { return std::move(parts_); }

 private:
  static constexpr uint64_t kMostTextBytes = uint64_t{16} << 20;
  static constexpr uint64_t kMostDecodedBytes = uint64_t{64} << 20;
  void OnCall(const Record& record);
  void OnObject(const Record& record);
  void OnResult(const Record& record);

  TraceReader& trace_;
  Arena arena_{kMostDecodedBytes};
  uint64_t text_budget_ = kMostTextBytes;
  ObjectParts new_;  // by the calls that are making them
  ObjectParts parts_;
};

}  // namespace cairn::cli

#endif  // CAIRN_READER_VIEW_CREATION_PARTS_H_
