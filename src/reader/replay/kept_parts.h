// SPDX-License-Identifier: Apache-2.0
//
// The parts of one call that a playback keeps; the other parts of this call do nothing.
#ifndef CAIRN_READER_REPLAY_KEPT_PARTS_H_
#define CAIRN_READER_REPLAY_KEPT_PARTS_H_

#include <cstdint>

namespace cairn {

// Parts of an ExecuteIndirect are its commands. Those of a BuildRaytracingAccelerationStructure are the
// instances of a top level; others have a null address. Those of a DispatchRays are the records of its
// tables for misses, hits and callables, in this order; others have a null identifier.
struct KeptParts {
  uint64_t call = 0;
  uint64_t first = 0;
  uint64_t end = 0;           // behind the last; first: none is kept
  uint32_t stride_bytes = 0;  // of an ExecuteIndirect: of its command signature

  bool Has(uint64_t part) const { return part >= first && part < end; }
  bool operator==(const KeptParts&) const = default;
};

// Bytes of a buffer that a playback gives once a submission has ended.
struct BytesToRead {
  static constexpr uint64_t kMostBytes = 480;

  uint64_t submission = 0;  // number of the ExecuteCommandLists call
  uint64_t buffer = 0;      // object
  uint64_t offset_bytes = 0;
  uint64_t size_bytes = 0;  // no more than kMostBytes

  bool operator==(const BytesToRead&) const = default;
};

}  // namespace cairn

#endif  // CAIRN_READER_REPLAY_KEPT_PARTS_H_
